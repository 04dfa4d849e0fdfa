"""`kernel.schedule`: steps that users set for parallel loops, and the errors of wrong ones."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.compile.adjoint_plan import make_plans
from difftile.diagnostics import ScheduleMismatch
from difftile.ir.parse import parse as parse_program
from difftile.ir.walk import parallel_loops, walk, with_tasks
from difftile.recording import replay, windows
from difftile.runtime.schedule_report import programs_of
from difftile.runtime.set_schedule import graded_of
from difftile.runtime.vector_report import arguments_of
from difftile.schedule.analysis import analyse
from difftile.schedule.apply import apply
from difftile.schedule.choose import choose
from difftile.schedule.costs import Costs
from difftile.schedule.grids import Grids
from difftile.schedule.legal import legal
from difftile.schedule.schedule import Schedule, parse
from difftile.schedule.steps import Grid, Rows, written
from difftile.schedule.target import Target
from difftile.schedule.wishes import line_of, lines_of
from difftile.substrate.variants import Variants
from tests.ad.test_windows import gradients, rows
from tests.harness import vectors

N = 300


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    dt.init(cpu_max_num_threads=4)
    yield
    dt.init()


@dt.kernel
def scattered(x, at, y):
    for i in x:
        y[at[i]] += x[i] * x[i]


@dt.kernel
def summed(x, y):
    for i in y:
        for j in range(x.shape[1]):
            y[i] += x[i, j] * x[i, j]


@dt.kernel
def gathered(x, at, y):
    for i in at:
        y[i] = x[at[i]] * x[i]
    for i in x:
        x[i] = 0.5 * x[i]


@dt.kernel
def largest(x, at, y):
    for i, j in x:
        ti.atomic_max(y[at[j]], x[i, j])


@dt.kernel
def stencil(x, y):
    for i, j in y:
        y[i, j] = x[i, j] + x[i, j + 1]


@dt.kernel
def transposed(x, y):
    for i, j in y:
        y[i, j] = x[j, i] * x[j, i]


KERNELS = {
    "scattered": (scattered, {"x": (N,), "at": (5,), "y": (5,)}),
    "summed": (summed, {"x": (3, N), "y": (3,)}),
    "gathered": (gathered, {"x": (N,), "at": (N,), "y": (N,)}),
    "largest": (largest, {"x": (7, N), "at": (5,), "y": (5,)}),
    "transposed": (transposed, {"x": (N, 37), "y": (37, N)}),
    "stencil": (stencil, {"x": (3, N + 1), "y": (3, N)}),
}


def fields_of(name: str) -> dict[str, Any]:
    """Return fields for a kernel: `at` holds N indices below its extent here."""
    rng = np.random.default_rng(3)
    found: dict[str, Any] = {}
    for field, shape in KERNELS[name][1].items():
        if field == "at":
            found[field] = dt.from_numpy(rng.integers(0, shape[0], N).astype(np.int32))
        else:
            values = rng.uniform(0.5, 1.0, shape).astype(np.float32)
            found[field] = dt.from_numpy(values, grad=True)
    return found


def results(name: str) -> dict[str, npt.NDArray[Any]]:
    """Return the gradients of a launch, and the contents after it."""
    kernel, fields = KERNELS[name][0], fields_of(name)
    graded = {key: field for key, field in fields.items() if field.has_grads}
    for key, field in graded.items():
        field.grad.fill(1.0 if key == "y" else 0.0)
    if name != "largest":  # of which only one of equal numbers would have a gradient
        kernel.bwds(**fields)
    found = {f"{key}.grad": field.grad.to_numpy() for key, field in graded.items()}
    kernel(**fields)
    return found | {key: field.to_numpy() for key, field in fields.items()}


def alternatives(name: str) -> list[tuple[str, int, str]]:
    """Return all stages, lines and steps that the loops of a kernel can have."""
    kernel = KERNELS[name][0]
    kernel.explain(**fields_of(name))
    launch = kernel.latest_launch
    plans = () if name == "largest" else make_plans(launch.code, graded_of(launch))
    found: dict[tuple[str, int, str], None] = {}
    for stage, derived in programs_of(launch, plans):
        for loop, now, allowed in derived.code.alternatives(arguments_of(derived, launch)):
            for steps in (now, *allowed):
                if (line := line_of(loop)) is not None:
                    found[stage, line, written(steps)] = None
    return [*found]


def lines_said(kernel: Any) -> list[str]:
    """Return the lines of the explanation about steps that are set, without their loops."""
    told = [line for line in kernel.explain().splitlines() if "kernel.schedule()" in line]
    return [re.sub(r"line \d+", "line", line).strip() for line in told]


def first(kernel: Any, text: str = "for ") -> int:
    """Return the line of a kernel's first loop."""
    lines, start = inspect.getsourcelines(kernel.function)
    return start + next(k for k, line in enumerate(lines) if text in line)


@pytest.mark.compiled
@pytest.mark.parametrize("name", KERNELS)
def test_all_legal_steps_give_the_same_results(name: str) -> None:
    kernel = KERNELS[name][0]
    with vectors():
        expected = results(name)
        tried = alternatives(name)
        places = dict.fromkeys((stage, line) for stage, line, _ in tried)
        options = {p: [steps for *at, steps in tried if tuple(at) == p] for p in places}
        rounds = max(map(len, options.values()))
        assert rounds > 1
        for k in range(rounds):
            drawn = {place: steps[k % len(steps)] for place, steps in options.items()}
            for (stage, line), steps in drawn.items():
                kernel.schedule(stage, line, steps)
            found = results(name)
            assert len(lines_said(kernel)) >= len(drawn)
            for stage, line in drawn:
                kernel.schedule(stage, line, None)
            for key, values in found.items():
                what = f"{key} of {name} with {drawn}"
                if name in NO_SUMS or (name == "gathered" and key == "y"):
                    np.testing.assert_array_equal(values, expected[key], what)
                else:
                    np.testing.assert_allclose(values, expected[key], N * 1.2e-7, err_msg=what)
    assert lines_said(kernel) == []


NO_SUMS = {"largest", "stencil"}  # stencil's gradients are sums of two numbers


def test_steps_and_their_reasons_are_told() -> None:
    scattered(**fields_of("scattered"))
    loop = first(scattered)
    assert scattered.schedule("forward", loop, "threads, copies(y)") is scattered
    changes = "kernel.schedule() sets it, which changes the order of sums of floats"
    assert lines_said(scattered) == [
        f"line: threads(16): {changes}",
        f"line: small_copies(y): {changes}",
    ]
    scattered.schedule("forward", loop, "serial").schedule("adjoint", loop, "threads")
    assert lines_said(scattered) == [
        "line: serial: kernel.schedule() sets it",
        "adjoint, line: threads(16): kernel.schedule() sets it",
    ]
    scattered.schedule("forward", loop, None).schedule("adjoint", loop, None)
    assert lines_said(scattered) == []


def told(kernel: Any, *given: Any) -> str:
    """Return the error of a call of `schedule`, with lines counted from the kernel's first loop."""
    with pytest.raises(ScheduleMismatch) as caught:
        kernel.schedule(*given)
    return _counted(str(caught.value), first(kernel))


def _counted(text: str, start: int) -> str:
    text = re.sub(r'File ".*", line (\d+)', lambda at: f"line {int(at[1]) - start:+}", text)
    text = re.sub(r"(on line|lines:) (\d+)", lambda at: f"{at[1]} {int(at[2]) - start:+}", text)
    return re.sub(r"^  ( *\d+| +) \|", "  |", text, flags=re.MULTILINE)


def test_a_stage_that_is_not_there() -> None:
    assert told(scattered, "backward", first(scattered), "serial") == (
        "Wrong schedule: there is no stage 'backward'.\n"
        "  line +0\n"
        "  |     for i in x:\n"
        "  |     ^^^^^^^^^^^\n"
        "  Hint: stages are 'forward', 'adjoint', 'tangent'."
    )


def test_a_line_that_is_no_number() -> None:
    assert told(scattered, "forward", "serial", 3) == (
        "Wrong schedule: a loop is named by its line, not 'serial'.\n"
        "  line -1\n"
        "  | def scattered(x, at, y):\n"
        "  | ^^^^^^^^^^^^^^^^^^^^^^^^"
    )


def test_a_step_that_is_not_there() -> None:
    assert told(scattered, "forward", first(scattered), "threads, warp") == (
        "Wrong schedule: 'warp' is not a step; steps are serial, threads, grid, lanes, tile, flat, "
        "copies, small_copies, rows, spread, squares, unroll, jam, split_ends, strips, "
        "vector_math, plain.\n"
        "  line +0\n"
        "  |     for i in x:\n"
        "  |     ^^^^^^^^^^^ of this loop"
    )


@pytest.mark.parametrize("launched", [False, True])
@pytest.mark.parametrize("stage", ["forward", "adjoint", "tangent"])
def test_a_line_without_a_parallel_loop(stage: str, launched: bool) -> None:
    kernel, fields = dt.kernel(summed.function), fields_of("summed")
    line = first(kernel, "for j")
    if launched:
        kernel(**fields)
        said = told(kernel, stage, line, "serial")
    else:
        kernel.schedule(stage, line, "serial")
        with pytest.raises(ScheduleMismatch) as caught:
            kernel(**fields)
        said = _counted(str(caught.value), first(kernel))
        kernel.schedule(stage, line, None)
    what = "" if stage == "forward" else f"the {stage} of "
    assert said == (
        f"Wrong schedule: {what}kernel 'summed' has no parallel loop on line +1.\n"
        "  line +1\n"
        "  |         for j in range(x.shape[1]):\n"
        "  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^ no loop of its own\n"
        "  Hint: it has parallel loops on these lines: +0."
    )
    kernel(**fields)


@pytest.mark.parametrize("steps", ["threads, copies(x)", "grid, lanes(32)", "threads(5)", "spread"])
def test_steps_that_a_loop_cannot_have(steps: str) -> None:
    scattered(**fields_of("scattered"))
    assert told(scattered, "forward", first(scattered), steps) == (
        f"Wrong schedule: this loop cannot run as '{steps}' in this launch.\n"
        "  line +0\n"
        "  |     for i in x:\n"
        "  |     ^^^ not possible here\n"
        "  Hint: it can run as 'serial' or 'threads' or 'threads, small_copies(y)'."
    )
    scattered(**fields_of("scattered"))
    assert lines_said(scattered) == []


def test_steps_that_do_not_fit_a_later_shape() -> None:
    kernel = dt.kernel(summed.function)
    kernel(**fields_of("summed"))
    kernel.schedule("forward", first(kernel), "threads, spread")
    kernel(**fields_of("summed"))
    with pytest.raises(ScheduleMismatch, match="cannot run as 'threads, spread' in this launch"):
        kernel(dt.ones((17, 50)), dt.zeros(17))  # more iterations than parts
    y = dt.zeros(16)
    kernel(dt.ones((16, 50)), y)
    assert (y.to_numpy() == 50).all()


def test_sums_in_order_are_not_split() -> None:
    dt.init(cpu_max_num_threads=4, fast_math=False)
    kernel = dt.kernel(summed.function)
    kernel(**fields_of("summed"))
    assert "it can run as 'serial' or 'threads'." in told(
        kernel, "forward", first(kernel), "threads, spread"
    )


def test_steps_of_a_loop_hold_for_one_thread() -> None:
    dt.init(cpu_max_num_threads=1)
    fields = fields_of("stencil")
    kernel = dt.kernel(stencil.function).schedule("forward", first(stencil), "threads")
    kernel(**fields)
    assert lines_said(kernel) == ["line: threads(4): kernel.schedule() sets it"]
    x = fields["x"].to_numpy()
    np.testing.assert_array_equal(fields["y"].to_numpy(), x[:, :-1] + x[:, 1:])


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps of the launches of a test that choose a schedule."""
    found: list[str] = []
    get = Variants.get

    def noted(variants: Variants, schedule: Schedule) -> Any:
        found.append("; ".join(map(written, schedule.loops)))
        return get(variants, schedule)

    monkeypatch.setattr(Variants, "get", noted)
    return found


def test_launches_after_the_call_have_the_steps(launched: list[str]) -> None:
    """Also those that are bound already, and an adjoint on a tape."""
    kernel, fields = dt.kernel(scattered.function), fields_of("scattered")
    for steps in (None, "threads", None, "threads, copies(y)"):
        kernel.schedule("forward", first(kernel), steps)
        kernel.schedule("adjoint", first(kernel), steps and "threads")
        with dt.Tape() as tape:
            kernel(**fields)
        tape.backward({fields["y"]: np.ones(5)})
    assert launched == [
        *("serial", "serial", "threads", "threads"),
        *("serial", "serial", "threads, small_copies(y)", "threads"),
    ]


def test_tangents_have_steps_of_their_own(launched: list[str]) -> None:
    kernel, fields = dt.kernel(scattered.function), fields_of("scattered")
    kernel.schedule("tangent", first(kernel), "threads")
    fields["x"].grad.fill(1.0)
    kernel.fwds(**fields)
    assert launched == ["threads"]
    x, at = fields["x"].to_numpy(), fields["at"].to_numpy()
    np.testing.assert_allclose(fields["y"].grad.to_numpy(), np.bincount(at, 2 * x, 5), 1e-5)
    kernel.schedule("tangent", first(kernel), "threads, copies(z)")
    with pytest.raises(ScheduleMismatch, match="or 'threads, small_copies"):
        kernel.fwds(**fields)


@dt.kernel
def grow(x, y, n: int):
    for i in x:
        s = x[i]
        for k in range(n):
            for _ in range(k + i):
                s += 0.001 * ti.sin(3.0 * s) * x[i]
        y[i] = s


def test_all_forms_of_a_program_have_the_steps(launched: list[str]) -> None:
    """The adjoint has one for short loops, and one for all."""
    x, y = dt.ones(3, grad=True), dt.zeros(3, grad=True)
    kernel = dt.kernel(grow.function)
    for steps in ("serial", "threads"):
        kernel.schedule("adjoint", first(kernel), steps)
        for n in (5, 140):
            with dt.Tape() as tape:
                kernel(x, y, n)
            launched.clear()
            tape.backward({y: 1.0})
            assert launched == [steps]


def test_windows_of_an_adjoint_have_the_steps(
    launched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "_length", lambda count, *_: max(1, count // 3))
    monkeypatch.setattr(windows._Windows, "_check", lambda *_: None)
    monkeypatch.setattr(replay, "LOG_BYTES", 0)
    monkeypatch.setattr("difftile.recording.history.LOG_BYTES", 0)
    expected, _ = gradients(rows, 6)
    assert not any("threads" in steps for steps in launched)
    kernel = dt.kernel(rows.function).schedule("adjoint", first(rows), "threads")
    found, _ = gradients(kernel, 6)
    assert any("threads" in steps for steps in launched)
    kernel.schedule("adjoint", first(rows), "serial")
    launched.clear()
    gradients(kernel, 6)
    assert launched
    assert not any("threads" in steps for steps in launched)
    np.testing.assert_allclose(found[0], expected[0], 1e-12)


def test_launches_that_repeat_are_not_fused() -> None:
    dt.init(cpu_max_num_threads=4, fuse="always")
    kernel, fields = dt.kernel(scattered.function), fields_of("scattered")
    kernel.schedule("forward", first(kernel), "threads, copies(y)")
    before = fields["y"].to_numpy()
    for _ in dt.steps(20):
        kernel(**fields)
    assert "because kernel.schedule() sets how its loops run" in kernel.explain()
    x, at = fields["x"].to_numpy(), fields["at"].to_numpy()
    expected = before + 20 * np.bincount(at, x * x, 5)
    np.testing.assert_allclose(fields["y"].to_numpy(), expected, 1e-5)


@dt.data_oriented
class Sums:
    def __init__(self) -> None:
        self.x, self.y = dt.ones(N), dt.zeros(())

    @dt.kernel
    def add(self):
        for i in self.x:
            self.y[None] += self.x[i]


def test_methods_have_steps() -> None:
    sums = Sums()
    sums.add()
    sums.add.schedule("forward", first(Sums.add), "threads, copies(y)").schedule(
        "adjoint", first(Sums.add), "serial"
    )
    sums.add()
    assert len(lines_said(sums.add)) == 3
    assert sums.y.to_numpy() == 2 * N


@dt.kernel
def swing(angle, energy):
    for i in angle:
        energy[None] += angle[i] * angle[i]


def test_batches_of_all_sizes_have_steps_and_ordered_sums_keep_their_form() -> None:
    def kernel(worlds: int) -> Any:
        return dt.batch(swing, worlds, shared=("energy",))

    def said(kernel: Any, worlds: int) -> list[str]:
        kernel(dt.ones((worlds, 2)), dt.zeros(()))
        return lines_said(kernel)

    few = kernel(100)
    assert said(few, 100) == []
    assert "it can run as 'serial, small_copies(energy)' or 'threads, small_copies(energy)'." in (
        told_of(few, "serial")
    )
    few.schedule("forward", loop_of(few), "threads, copies(energy)")
    assert len(said(few, 100)) == 2
    assert len(said(kernel(200), 200)) == 2
    few.schedule("forward", loop_of(few), None)
    assert said(kernel(200), 200) == []


def loop_of(kernel: Any) -> int:
    """Return the line of the only loop of the latest launch."""
    (stage,) = kernel.latest_launch.code.stages
    (line,) = lines_of(stage.primal.code.program)
    return line


def told_of(kernel: Any, steps: str) -> str:
    with pytest.raises(ScheduleMismatch) as caught:
        kernel.schedule("forward", loop_of(kernel), steps)
    return str(caught.value)


def test_the_adjoint_of_a_rule_has_no_steps() -> None:
    kernel = dt.kernel(stencil.function)

    @kernel.backward
    def _(x, y):
        for i, j in y:
            x.grad_out[i, j] += y.grad_in[i, j]

    kernel.schedule("adjoint", first(kernel), "serial")
    with pytest.raises(ScheduleMismatch, match="the adjoint of kernel 'stencil' is a rule"):
        kernel(**fields_of("stencil"))


@pytest.mark.parametrize("options", [{"debug": True}, {"arch": "python"}])
def test_steps_are_for_compiled_launches(options: Any) -> None:
    dt.init(**options)
    fields = fields_of("scattered")
    kernel = dt.kernel(scattered.function)
    kernel.schedule("forward", first(kernel), "grid")
    kernel(**fields)
    assert lines_said(kernel) == []
    kernel.schedule("forward", first(kernel), "threads, copies(z)")
    with pytest.raises(ScheduleMismatch, match="no parallel loop on line"):
        kernel.schedule("forward", first(kernel) + 1, "serial")


# Tables, of which all inputs are data

CPU = Target(threads=16, vectors=True)
GPU = Target(grids=Grids.on(132, warps=True), warps=True, guarded=True)

TEXT = """
program f(x: field<f32, 2>, y: field<f32, 1>, k: field<i32, 1>, n: i32, m: i32)
  parallel for i in 0:i32..n:
    a: f32 = x[i, 0:i32]
    at: i32 = k[i]
    y[at] += a
  parallel for r in 0:i32..n:
    for j in 0:i32..m, total <- t = 1.0:f32:
      b: f32 = x[r, j]
      c: f32 = add(t, b)
      yield c
    y[r] = total
"""
ROWS = """
program f(x: field<f32, 2>, n: i32, m: i32)
  parallel for r in 0:i32..n:
    for j in 0:i32..m, total <- t = 1.0:f32:
      a: f32 = x[r, j]
      b: f32 = mul(t, a)
      x[r, j] = b
      yield b
"""
SQUARES = """
program f(x: field<f32, 2>, n: i32, m: i32)
  parallel for r in 0:i32..n:
    for j in 0:i32..m:
      a: f32 = x[r, j]
      b: f32 = mul(a, a)
      x[r, j] = b
"""


def tables(text: str, target: Target, key: tuple[Any, ...]) -> list[list[str]]:
    of = analyse(parse_program(text), target)
    return [[written(one) for one in legal(of, k, key)] for k in range(len(of.work.loops(key)))]


def test_the_table_of_a_cpu() -> None:
    shared = ["serial", "threads", "threads, small_copies(y)"]
    assert tables(TEXT, CPU, ((100,), 64, 9)) == [shared, ["serial", "threads", "threads, spread"]]
    assert tables(TEXT, CPU, ((100,), 65, 9)) == [shared, ["serial", "threads"]]
    far = ["serial", "threads", "threads, copies(y)"]
    assert tables(TEXT, CPU, ((10**6,), 65, 9))[0] == far
    assert tables(TEXT, CPU, ((10**9,), 65, 9))[0] == ["serial", "threads"]


def test_the_table_of_a_device() -> None:
    assert tables(TEXT, GPU, (64, 9)) == [["grid"], ["grid", "grid, lanes(32)", "grid, tile"]]
    assert tables(ROWS, GPU, (64, 9)) == [["grid", "grid, tile"]]
    assert tables(SQUARES, GPU, (64, 9))[0][:2] == ["grid", "grid, flat"]
    assert (
        tables(SQUARES, GPU, (2**20, 2**20))[0]
        == tables(SQUARES, GPU, (64, 9))[0][:1] + (tables(SQUARES, GPU, (64, 9))[0][2:])
    )


def test_pieces_of_sums_beside_copies() -> None:
    """Copies bring loops, which come between the loops of the schedule."""
    program = parse_program(TEXT)
    schedule = parse(
        "program\nloop 0: threads(64), copies(y)\nloop 1: threads(64), spread(64)", program
    )
    made = apply(program, schedule, CPU)
    (sums,) = made.memory.sums
    loops = parallel_loops(made.program)
    written_by = [any(getattr(s, "array", None) is sums for s in walk(one.body)) for one in loops]
    assert written_by == [False, False, True, True]


def test_ordered_loops_of_a_device_keep_their_rows() -> None:
    program = with_tasks(parse_program(TEXT), lambda loop: [replace(loop, ordered=True)])
    of = analyse(program, GPU)
    assert [legal(of, k, ((100,), 64, 9)) for k in range(2)] == [
        ((Grid(), Rows("y")),),
        ((Grid(),),),
    ]


@pytest.mark.parametrize("size", [1, 100, 10**5, 10**7])
@pytest.mark.parametrize("target", [CPU, GPU, replace(CPU, fast_math=False)])
def test_what_is_chosen_is_legal(target: Target, size: int) -> None:
    for text in (TEXT, ROWS, SQUARES):
        of = analyse(parse_program(text), target)
        keys = (size, 500), ((100,), size, 500), ((size,), size, 500)
        for key in keys:
            if len(key) == len(of.work.positions):
                found = choose(of, key, Costs).schedule
                assert all(steps in legal(of, k, key) for k, steps in enumerate(found.loops))
