"""The forms of the code of iterations: chosen, set, checked, and each for its own loop alone."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import ScheduleMismatch
from difftile.ir.parse import parse as parse_program
from difftile.ir.printer import print_program
from difftile.schedule.analysis import analyse
from difftile.schedule.apply import apply, forms_of
from difftile.schedule.schedule import Schedule, parse
from difftile.schedule.steps import Copies, Jam, SplitEnds, Strips, Threads, Unroll, VectorMath
from difftile.schedule.target import Polynomials, Target
from difftile.substrate.launchers import WithMemory

N = 100_000
CPU = Target(threads=16, vectors=True, functions=Polynomials(frozenset(("sin", "exp")), {}))

# One loop for each form, a sum into shared elements, and a loop that has none.
PROGRAM = parse_program("""
program f(x: field<f32, 1>, y: field<f32, 1>, z: field<f32, 1>, at: field<i32, 1>, n: i32)
  parallel for a in 0:i32..n:
    for k in 0:i32..3:i32, s <- t = 0.0:f32:
      u: f32 = x[k]
      v: f32 = add(t, u)
      yield v
    y[a] = s
  parallel for b in 0:i32..n:
    w: f32 = x[b]
    for l in 0:i32..n, p <- q = 1.0:f32:
      c: f32 = mul(q, w)
      d: f32 = add(c, w)
      e: f32 = mul(d, c)
      yield e
    z[b] = p
  parallel for g in 0:i32..n:
    h: i32 = add(g, 1:i32)
    i: i32 = mod(h, n)
    j: f32 = x[i]
    y[g] = j
  parallel for m in 0:i32..n:
    o: i32 = at[m]
    r: f32 = x[o]
    aa: f32 = sin(r)
    z[m] = aa
  parallel for bb in 0:i32..n:
    cc: i32 = at[bb]
    dd: f32 = x[cc]
    ee: f32 = mul(dd, dd)
    ff: f32 = mul(ee, dd)
    gg: f32 = mul(ff, ee)
    hh: f32 = mul(gg, ff)
    y[cc] += hh
  parallel for ii in 0:i32..n:
    z[ii] = 0.5:f32
""")
FORMS = [(Unroll(),), (Jam(),), (SplitEnds(),), (Strips(64), VectorMath()), (), ()]


def plain(*, copies: bool = False) -> Schedule:
    """Return a schedule without forms."""
    loops: list[Any] = [(Threads(64),)] * 6
    if copies:
        loops[4] = (Threads(64), Copies("y"))
    return Schedule(tuple(loops), outlined=True)


def test_the_forms_that_loops_can_have() -> None:
    assert forms_of(PROGRAM, plain(), CPU, None) == FORMS
    with_copies = forms_of(PROGRAM, plain(copies=True), CPU, None)
    assert with_copies == [*FORMS[:4], (Strips(64),), ()]
    # One thread needs no atomics, in place of which a strip can write.
    serial = Schedule(plain().loops, serial=True, outlined=True)
    assert forms_of(PROGRAM, serial, CPU, None) == with_copies


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("number", range(6))
def test_each_loop_has_its_own_forms_alone(number: int, copies: bool) -> None:
    schedule = plain(copies=copies)
    every = forms_of(PROGRAM, schedule, CPU, None)
    wanted = [forms if k == number else () for k, forms in enumerate(every)]
    assert forms_of(PROGRAM, schedule, CPU, wanted) == wanted
    before = apply(PROGRAM, schedule, CPU)
    after = apply(PROGRAM, schedule.with_forms(wanted), CPU)
    changed = print_program(before.program) != print_program(after.program)
    assert (changed or bool(after.polynomials)) == bool(every[number])
    assert not before.polynomials


def test_a_form_that_changes_nothing_is_none() -> None:
    wanted = [(SplitEnds(), Strips(16), VectorMath())] * 6
    found = forms_of(PROGRAM, plain(), CPU, wanted)
    assert found == [(), (), (SplitEnds(),), (Strips(16), VectorMath()), (), ()]


def test_the_text_of_a_schedule_with_forms() -> None:
    schedule = plain().with_forms(FORMS)
    text = str(schedule)
    assert text.splitlines()[2:5] == [
        "loop 1: threads(64), jam",
        "loop 2: threads(64), split_ends",
        "loop 3: threads(64), strips(64), vector_math",
    ]
    assert parse(text, PROGRAM) == schedule
    assert schedule.without_forms == plain()
    with pytest.raises(ValueError, match="for CPUs and for devices"):
        parse(text.replace("threads(64), jam", "grid, jam"), PROGRAM)


def test_forms_are_found_once_for_a_schedule() -> None:
    kept: dict[Any, Any] = {}

    def recall(key: Any, make: Any) -> Any:
        if key not in kept:
            kept[key] = make()
        return kept[key]

    of = analyse(PROGRAM, CPU, recall=recall)
    found = of.forms(plain())
    assert of.forms(plain().with_forms(found)) is found
    assert len(kept) == 1
    assert of.forms(Schedule(plain().loops)) == [()] * 6  # code that is no function has none


# Set by users


@pytest.fixture(autouse=True)
def four_threads() -> Iterator[None]:
    dt.init(cpu_max_num_threads=4)
    yield
    dt.init()


@dt.kernel
def waves(x, at, y):
    for i in y:
        y[i] = ti.sin(x[at[i]]) * ti.exp(x[i])


@dt.kernel
def scattered(x, at, y):
    for i in at:
        y[at[i]] += x[i] * x[i] * x[at[i]] * x[at[i]] * x[at[i]] * x[i]


LINE = inspect.getsourcelines(waves.function)[1] + 2


def fields() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        "x": dt.from_numpy(rng.uniform(0.1, 0.9, N).astype(np.float32)),
        "at": dt.from_numpy(rng.integers(0, N, N).astype(np.int32)),
        "y": dt.zeros(N),
    }


def said(kernel: Any) -> list[str]:
    """Return the steps of the launch and their reasons."""
    lines = [line.strip() for line in kernel.explain().splitlines()]
    place = f"line {inspect.getsourcelines(kernel.function)[1] + 2}: "
    steps = ("threads", "serial", "strips", "vector_math")
    return [
        line.removeprefix(place)
        for line in lines
        if line.startswith(tuple(place + step for step in steps))
    ]


@pytest.mark.parametrize(
    ("steps", "has"),
    [
        ("threads", ("threads", "strips(64)", "vector_math")),  # says nothing of its code
        ("threads, plain", ("threads",)),
        ("threads, strips(16)", ("threads", "strips(16)")),
        ("vector_math, threads, strips(7)", ("threads", "strips(7)", "vector_math")),
        ("serial, plain", ("serial",)),
    ],
)
def test_forms_that_are_set(steps: str, has: tuple[str, ...]) -> None:
    kernel, given = dt.kernel(waves.function), fields()
    kernel(**given)
    kernel.schedule("forward", LINE, steps)
    kernel(**given)
    told = said(kernel)
    steps_said = [line.partition(":")[0].replace("threads(16)", "threads") for line in told]
    assert steps_said == [*has]
    x, at = (given[name].to_numpy() for name in ("x", "at"))
    wanted = np.sin(x[at].astype(np.float64)) * np.exp(x.astype(np.float64))
    np.testing.assert_allclose(given["y"].to_numpy(), wanted, rtol=1e-6)
    every = all(line.endswith("kernel.schedule() sets it") for line in told)
    assert every == (steps != "threads")


def test_forms_that_a_loop_cannot_have() -> None:
    """Without strips its loads are at computed places, and its functions have to be calls."""
    kernel = dt.kernel(waves.function)
    kernel(**fields())
    for steps in ("threads, vector_math", "threads, jam", "threads, strips(64), unroll"):
        with pytest.raises(ScheduleMismatch) as caught:
            kernel.schedule("forward", LINE, steps)
        assert str(caught.value).endswith(
            "Hint: it can run as 'threads, strips(64), vector_math' or 'serial' or "
            "'threads, strips(32), vector_math' or 'threads, strips(64)' or 'threads, plain'."
        )


def test_a_small_launch_has_no_forms() -> None:
    kernel = dt.kernel(waves.function)
    kernel(dt.ones(9), dt.zeros(9, ti.i32), dt.zeros(9))
    with pytest.raises(ScheduleMismatch, match=r"as 'serial' or 'threads'\."):
        kernel.schedule("forward", LINE, "threads, strips(64)")


def test_without_memory_for_copies_a_loop_has_the_forms_of_atomics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A strip of a loop with copies writes into them; its fallback has no strips."""
    others: list[Any] = []
    make = WithMemory.__init__

    def noted(self: Any, variant: Any, wanted: Any, without: Any) -> None:
        others.append(without)
        make(self, variant, wanted, without)

    monkeypatch.setattr(WithMemory, "__init__", noted)
    kernel, given = dt.kernel(scattered.function), fields()
    line = inspect.getsourcelines(scattered.function)[1] + 2
    kernel.schedule("forward", line, "threads, copies(y)")
    kernel(**given)
    assert [line.partition(":")[0] for line in said(kernel)] == ["threads(16)", "strips(64)"]
    before = given["y"].to_numpy()
    given["y"].fill(0.0)
    (without,) = others
    without().launch([given[name].buffer for name in ("x", "at", "y")])
    np.testing.assert_allclose(given["y"].to_numpy(), before, rtol=1e-5)
