"""`Tape(diagnose=True)`: its findings on tapes of every kind, and cases without findings.

The texts of its findings are in `tests/wrong/diagnosis.txt`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnosis import findings
from difftile.diagnosis.influence import InfluenceAnalysis
from difftile.diagnosis.report import Finding, Report
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.uses import Keeps, Use
from difftile.runtime import backward_pass
from tests import tape_programs


@dt.kernel
def share(x, k, loss):
    for i in x:
        loss[None] += k[None] / x[i] + ti.sqrt(k[None] * x[i])


@dt.kernel
def kinks(x, v, y):
    for i in x:
        y[i] = ti.max(x[i], 1.0) + ti.min(2.0, x[i])
        y[i] += ti.abs(x[i]) + ti.math.clamp(x[i], 0.0, 2.0)
        y[i] += ti.sqrt(ti.max(x[i], 0.0)) + v[i].norm() + v[i].normalized()[0]
        y[i] += ti.max(3.0, 3.0) + dt.stop_grad(ti.abs(x[i]))


@dt.kernel
def cut_by_floor(x, y):
    for i in x:
        cell = ti.floor(4.0 * x[i])
        y[i] = cell * 0.25


@dt.kernel
def stopped(x, y):
    for i in x:
        y[i] = dt.stop_grad(3.0 * x[i]) * 2.0


@dt.kernel
def twice(x, y):
    for i in x:
        y[i] = 2.0 * x[i]


@dt.kernel
def norm_of(x) -> float:
    total = 0.0
    for i in x:
        total += x[i] * x[i]
    return total


@dt.kernel
def scale(x, factor: float):
    for i in x:
        x[i] *= factor


def reported(tape: dt.Tape, *args: Any, **options: Any) -> Report:
    """Run `backward` and return the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.GradientWarning)
        tape.backward(*args, **options)
    return tape.report()


def only(report: Report, kind: str) -> Finding:
    found = [one for one in report.findings if one.kind == kind]
    assert len(found) == 1, str(report)
    return found[0]


def line_of(kernel: Any, text: str) -> int:
    """Return the number of the line of a kernel that holds a text."""
    code = kernel.function.__code__
    with open(code.co_filename, encoding="utf-8") as file:
        lines = file.readlines()
    return next(n for n in range(code.co_firstlineno, len(lines)) if text in lines[n - 1])


# Numbers that are not finite


@pytest.mark.parametrize("options", [{}, {"memory": 4000}, {"snapshots": 5}, {"region": True}])
def test_first_launch_is_the_same_within_any_memory(options: dict[str, Any]) -> None:
    @dt.kernel
    def step(x, y, n: int):
        for i in x:
            y[i] = y[i] * 0.5 + (x[i] - n) ** 1.5 * (x[i] - n) ** -1.25

    options = dict(options)
    region = options.pop("region", False)
    x = dt.from_numpy(np.array([1000.0, 321.0, 900.0], np.float32)).with_grads()
    y = dt.zeros(3, grad=True)

    def run() -> None:
        for n in range(323):
            step(x, y, n)

    with dt.Tape(diagnose=True, **options) as tape:
        (dt.checkpoint(run) if region else run)()
    report = reported(tape, {y: 1.0})
    value = only(report, "value")
    assert (value.launch, value.kernel, value.field, value.index) == (322, "step", "y", (1,))
    assert value.line == line_of(step, "y[i] =")
    gradient = only(report, "gradient")
    assert (gradient.launch, gradient.field, gradient.index) == (323, "x", (1,))
    assert gradient.line == line_of(step, "y[i] =")
    assert report.launches == 323


@pytest.mark.parametrize("count", [3, 70_000])
def test_parameter_that_all_share(count: int) -> None:
    """One iteration of many spoils the sum; the diagnosis finds it and runs only that one."""
    values = np.ones(count, np.float32)
    values[count - 2] = 0.0
    x, k = dt.from_numpy(values).with_grads(), dt.ones((), grad=True)
    loss = dt.zeros((), grad=True)
    with dt.Tape(diagnose=True) as tape:
        share(x, k, loss)
    report = reported(tape, loss)
    value = only(report, "value")
    gradient = only(report, "gradient")
    assert value.line == gradient.line == line_of(share, "/ x[i]")
    assert "1 / 0 = inf" in value.text
    assert "x[i] = 0" in value.text
    assert gradient.field in ("x", "k")


def test_seed_that_is_not_finite() -> None:
    x, y = dt.ones(3, grad=True), dt.zeros(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        twice(x, y)
    report = reported(tape, {y: np.array([1.0, np.inf, 0.0])})
    assert only(report, "gradient").text == (
        "The seed of 'y' is inf, at [1].\n  Hint: give backward() finite numbers."
    )


def test_values_that_were_infinite_before_are_no_finding() -> None:
    x = dt.from_numpy(np.array([1.0, np.inf, 2.0], np.float32)).with_grads()
    y, loss = dt.zeros(3, grad=True), dt.zeros((), grad=True)

    @dt.kernel
    def least(x, y, loss):
        for i in x:
            y[i] = 1.0
        for i in x:
            loss[None] += ti.min(x[i], 3.0)

    with dt.Tape(loss, diagnose=True) as tape:
        least(x, y, loss)
    assert not tape.report().findings


def test_values_that_an_operation_leaves_as_they_were_are_no_finding() -> None:
    @dt.custom_op
    def touch(x: dt.InOut) -> None:
        x[0] = 2.0

    @touch.backward
    def _(x: Any) -> None:
        x.grad_out[0] = 0.0

    x = dt.from_numpy(np.array([1.0, np.inf, 2.0], np.float32)).with_grads()
    with dt.Tape(diagnose=True) as tape:
        touch(x)
    report = reported(tape, {x: np.array([1.0, 0.0, 1.0])})
    assert not [one for one in report.findings if one.kind == "value"]


def test_a_gradient_that_others_have_made_large_is_no_growth() -> None:
    @dt.kernel
    def weigh(x, factor: float, y):
        for i in x:
            y[i] += factor * x[i]

    x, y, loss = (dt.ones(3, grad=True) for _ in range(3))
    with dt.Tape(diagnose=True) as tape:
        weigh(x, 0.01, y)
        weigh(y, 1e-3, loss)
        weigh(x, 1e7, loss)
    assert not reported(tape, {loss: 1.0}).findings


def test_a_field_that_a_launch_writes_before_it_reads_it_is_no_input() -> None:
    @dt.kernel
    def through(x, y, z):
        for i in x:
            y[i] = x[i] * x[i]
        for i in x:
            z[i] = y[i] * y[(i + 1) % 3]

    x, y, z = (dt.ones(3, grad=True) for _ in range(3))
    with dt.Tape(diagnose=True) as tape:
        through(x, y, z)
    report = reported(tape, {z: 1.0})
    assert not report.findings
    assert [one.name for one in report.fields] == ["x"]


def test_a_part_that_is_copied_over_is_no_reason() -> None:
    x, y, z = (dt.ones(3, grad=True) for _ in range(3))
    with dt.Tape(diagnose=True) as tape:
        twice(x, y)
        y[1:].copy_from(dt.zeros(2))
        cut_by_floor(y, z)
    zero = only(reported(tape, {z: 1.0}), "zero")
    assert "overwritten" not in zero.text and "ti.floor" in zero.text


def test_value_that_was_nan_before() -> None:
    x = dt.from_numpy(np.array([1.0, np.nan, 2.0], np.float32)).with_grads()
    y = dt.zeros(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        twice(x, y)
    value = only(reported(tape, {y: 1.0}), "value")
    assert "x[1] = nan before the launch" in value.text


# Gradients that are zero


def test_cut_by_a_field_without_gradient() -> None:
    x, y, z = dt.ones(3, grad=True), dt.zeros(3), dt.zeros(3, grad=True)
    with pytest.warns(dt.GradientCut), dt.Tape(diagnose=True) as tape:
        twice(x, y)
        twice(y, z)
        twice(x, z)
        scale(z, 0.0)
        twice(y, z)
    zero = only(reported(tape, {z: 1.0}), "zero")
    assert zero.line == line_of(twice, "y[i] =")
    assert "'y' has no gradient" in zero.text or "which has no gradient" in zero.text
    assert zero.text.endswith("Hint: make it with grad=True, or y = y.with_grads().")


@dt.kernel
def flat(a, b, c, d, e, f, y):
    for i in y:
        s = ti.floor(a[i])
        s += ti.ceil(b[i])
        s += ti.round(c[i])
        s += ti.math.step(0.5, d[i])
        s += ti.math.sign(e[i])
        y[i] = s + (f[i] // 1.0)


def test_piecewise_constant_functions_are_named() -> None:
    fields = [dt.from_numpy(np.array([0.3, 1.7], np.float32)).with_grads() for _ in range(6)]
    y = dt.zeros(2, grad=True)
    with dt.Tape(diagnose=True) as tape:
        flat(*fields, y)
        scale(y, 2.0)
    report = reported(tape, {y: 1.0})
    texts = ("floor", "ceil", "round", "step", "sign", "//")
    found = {one.field: one.spans for one in report.findings if one.kind == "zero"}
    assert list(found) == list("abcdef")
    explained = flat.explain()
    for name, text in zip("abcdef", texts, strict=True):
        assert [span.line for span in found[name]] == [line_of(flat, text)], name
        assert f"line {line_of(flat, text)}: " in explained.split("Cut:")[1]


def test_cut_by_stop_grad() -> None:
    x, y = dt.ones(3, grad=True), dt.zeros(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        stopped(x, y)
        scale(y, 2.0)
    zero = only(reported(tape, {y: 1.0}), "zero")
    assert zero.line == line_of(stopped, "stop_grad")
    assert "by 'stop_grad'" in zero.text


def test_cut_by_copies_and_returned_numbers() -> None:
    x, y, z = dt.ones(3, grad=True), dt.zeros(3), dt.zeros(3, grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.GradientCut)
        with dt.Tape(diagnose=True) as tape:
            y.copy_from(x)
            twice(y, z)
            scale(z, float(norm_of(x)))
    assert "a copy in Python goes into a field" in only(reported(tape, {z: 1.0}), "zero").text
    other = dt.ones(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        twice(x, z)
        z.copy_from(other)
        scale(z, 2.0)
    assert "a copy in Python overwrites 'y'" in only(reported(tape, {z: 1.0}), "zero").text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.GradientCut)
        with dt.Tape(diagnose=True) as tape:
            scale(z, float(norm_of(x)))
    zero = only(reported(tape, {z: 1.0}), "zero")
    assert "returned to Python here" in zero.text
    assert zero.line == line_of(norm_of, "return total")


@dt.func
def rough(a, b):
    return ti.floor(a) * b


@rough.backward(approx=True)
def _(a, b, d_out):
    return d_out * b, 0.0


@dt.kernel
def ruled(x, k, y):
    for i in x:
        y[i] = rough(x[i] + 0.5, k[None])


def test_rules_of_funcs() -> None:
    x, k, y = dt.ones(3, grad=True), dt.ones((), grad=True), dt.zeros(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        ruled(x, k, y)
    report = reported(tape, {y: 1.0})
    zero = only(report, "zero")
    assert zero.field == "k"
    assert "decides" in zero.text
    assert zero.line == line_of(ruled, "rough(")
    assert str(report).endswith(f"line {line_of(ruled, 'rough(')}: rough(x[i] + 0.5, k[None])")
    np.testing.assert_array_equal(x.grad.to_numpy(), np.ones(3))


def test_fields_that_are_asked_for() -> None:
    x, y, other = dt.ones(3, grad=True), dt.zeros(3, grad=True), dt.ones(2, grad=True)
    with dt.Tape(diagnose=[other, x]) as tape:
        cut_by_floor(x, y)
        scale(y, 2.0)
    report = reported(tape, {y: 1.0})
    texts = [one.text.splitlines()[0] for one in report.findings]
    assert texts == [
        "The gradient of '<field f32 (2,), grad>' is zero: no launch on the tape reads the field.",
        "The gradient of 'x' is zero: every path to the differentiated outputs is cut.",
    ]
    assert report.findings[1].line == line_of(cut_by_floor, "ti.floor")


def test_state_that_python_sets_on_the_tape() -> None:
    x, y = dt.ones(3, grad=True), dt.zeros(3, grad=True)
    for asked, kinds in ((True, []), (x, ["zero"])):
        with dt.Tape(diagnose=asked) as tape:
            x.fill(2.0)
            twice(x, y)
        report = reported(tape, {y: 1.0})
        assert [one.kind for one in report.findings] == kinds
        assert [one.name for one in report.fields] == ["x"]
    assert "Python overwrites 'x' before the first launch" in str(report)


def test_intermediate_fields_are_no_finding() -> None:
    x, y, z = dt.ones(3, grad=True), dt.zeros(3, grad=True), dt.zeros(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        twice(x, y)
        twice(y, z)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tape.backward({z: 1.0}, retain=[y])
    assert not tape.report().findings
    assert [one.name for one in tape.report().fields] == ["x"]
    np.testing.assert_array_equal(y.grad.to_numpy(), np.full(3, 2.0))


# The rest of the report


def test_ties_count_where_derivatives_pass() -> None:
    values = np.array([0.0, 1.0], np.float32)
    v, y = dt.field(ti.math.vec2, 2), dt.zeros(2, grad=True)
    v.fill(1.0)
    with dt.Tape(diagnose=True) as tape:
        for grad in (False, True, False):
            kinks(dt.from_numpy(values, grad=grad), v, y)
    hits = [tie.hits for tie in reported(tape, {y: 1.0}).ties if tie.op == "abs"]
    assert hits == [1]


def test_ties_are_counted() -> None:
    values = np.array([0.0, 1.0, 2.0, 0.0, 5.0], np.float32)
    x = dt.from_numpy(values).with_grads()
    v = dt.field(ti.math.vec2, 5, grad=True)
    v[1] = (1.0, 0.0)
    y = dt.zeros(5, grad=True)
    for launches in (1, 400):  # as Python, and compiled after some time
        with dt.Tape(diagnose=True) as tape:
            for _ in range(launches):
                kinks(x, v, y)
        ties = reported(tape, {y: 1.0}).ties
        counts = {
            (tie.op, tie.span and tie.span.text[tie.span.column :][:14]): tie.hits for tie in ties
        }
        assert counts == {
            ("normalized", "v[i].normalize"): 4 * launches,
            ("norm", "v[i].norm() + "): 4 * launches,
            ("clamp", "ti.math.clamp("): 3 * launches,
            ("abs", "ti.abs(x[i]) +"): 2 * launches,
            ("sqrt", "ti.sqrt(ti.max"): 2 * launches,
            ("max", "ti.max(x[i], 0"): 2 * launches,
            ("max", "ti.max(x[i], 1"): launches,
            ("min", "ti.min(2.0, x["): launches,
        }


def test_report_of_a_sound_tape() -> None:
    x, loss = dt.from_numpy(np.array([1.0, -2.0], np.float32)).with_grads(), dt.zeros((), grad=True)

    @dt.kernel
    def energy(x, loss):
        for i in x:
            loss[None] += x[i] * x[i] * x[i]

    with dt.Tape(loss, diagnose=True) as tape:
        scale(x, 2.0)
        energy(x, loss)
    assert str(tape.report()) == (
        "No findings in 2 launches.\n\n"
        "gradient of  least  largest  mean size  zeros  not finite  of\n"
        "x (2,)          24       96         60      0           0   2\n\n"
        "Largest number in the gradients: 96 after the adjoint of launch 1.\n"
        "  Largest growth: 48 times, in launch 2, of 'energy'.\n"
        "  Smallest growth: 2 times, in launch 1, of 'scale'."
    )


class Root(OpaqueStep):
    """y = sqrt(x), in NumPy."""

    def __init__(self, x: dt.Field, y: dt.Field) -> None:
        uses = (Use(x, True, False, Keeps.BEFORE, "x"), Use(y, False, True, Keeps.AFTER, "y"))
        super().__init__("custom op 'root'", uses, approximate=True)
        self.x, self.y = x, y

    def run(self) -> None:
        with np.errstate(invalid="ignore"):
            self.y.from_numpy(np.sqrt(self.x.to_numpy()))

    def reverse(self, then: Any, saved: Any) -> None:
        with np.errstate(all="ignore"):
            slope = 0.5 / then[self.y].to_numpy()
            then[self.x].grad_out.from_numpy(slope * then[self.y].grad_in.to_numpy())


def test_steps_whose_inside_is_not_seen() -> None:
    x, y, z = (
        dt.from_numpy(np.array(v, np.float64)).with_grads() for v in ([4, 0], [0, 0], [1, 1])
    )
    out = dt.zeros(2, np.float64, grad=True)
    with dt.Tape(diagnose=[x, z]) as tape:
        twice(z, y)
        perform(Root(x, y))
        twice(y, out)
    report = reported(tape, {out: 1.0})
    assert [one.text for one in report.findings] == [
        "The gradient of 'x#2' became inf in the adjoint of custom op 'root', after launch 1 of 2, "
        "at [1].\n"
        "  Hint: keep the inputs of custom op 'root' where its gradient is finite.",
        "The gradient of 'x' is zero: values computed from it are overwritten before use.\n"
        "  Note: custom op 'root' overwrites 'y'.\n"
        "  Hint: write the new values to another field, or compute them from the old ones in a "
        "kernel.",
    ]
    assert str(report).endswith("With an approximate derivative:\n  custom op 'root'")
    x.fill(-1.0)
    with dt.Tape(diagnose=True) as tape:
        perform(Root(x, y))
    value = only(reported(tape, {y: 1.0}), "value")
    assert value.text == (
        "'y' became NaN in custom op 'root', after launch 0 of 0, at [0].\n"
        "  Hint: keep the inputs of custom op 'root' where its value is finite."
    )


def test_what_kernels_print_is_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    @dt.kernel
    def speaking(x, y):
        for i in x:
            print("at", i)
            y[i] = ti.sqrt(ti.max(x[i], 1.0) - 2.0)

    x, y = dt.ones(1, grad=True), dt.zeros(1, grad=True)
    with dt.Tape(diagnose=x) as tape:
        speaking(x, y)
    report = reported(tape, {y: 1.0})
    assert only(report, "value").line == line_of(speaking, "ti.sqrt")
    dt.Tape()  # the output of Taichi comes with the next request
    assert capfd.readouterr().out.count("at 0") == 1


def test_fields_without_gradient_are_listed() -> None:
    x, k, y = dt.ones(3, grad=True), dt.ones(()), dt.zeros(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        ruled(x, k, y)
    assert str(reported(tape, {y: 1.0})).endswith(
        "No gradient for fields made without one (use grad=True): k."
    )


def test_several_passes() -> None:
    x, y, z = dt.ones(3, grad=True), dt.zeros(3, grad=True), dt.zeros(3, grad=True)
    with dt.Tape(diagnose=True) as tape:
        cut_by_floor(x, y)
        twice(x, z)
        scale(y, 2.0)
    assert reported(tape, {y: 1.0}, keep=True).findings
    assert not reported(tape, {z: 1.0}).findings


def test_gradients_are_those_without_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random programs; values with a gradient vary smoothly with the field, for `ad.cuts`."""
    plain, conclude = dt.Tape.__init__, findings.report_of
    checked = []

    def diagnosed(self: dt.Tape, *args: Any, **options: Any) -> None:
        plain(self, *args, **options, diagnose=True)

    def concluded(seen: Any, replay: Any, outputs: Any) -> Report:
        report = conclude(seen, replay, outputs)
        apart = [s for s, field in seen.graded.items() if field.grad_in is not field.grad_out]
        outputs = [*outputs, *apart]
        ways = InfluenceAnalysis(seen.steps, seen.name)
        first = not replay.accumulate  # otherwise gradients of other passes are in the sum
        for one in report.fields if first else ():
            if one.zeros < one.size and one.field.storage not in outputs:
                checked.append(ways.of(one.field.storage, outputs).outputs.smooth)
        return report

    monkeypatch.setattr(dt.Tape, "__init__", diagnosed)
    monkeypatch.setattr(backward_pass, "report_of", concluded)
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.GradientWarning)
        assert not tape_programs.run(range(60), said.append), "\n".join(said)
    assert len(checked) > 20
    assert all(checked)


# Contents of fields from an earlier run


@dt.kernel
def log_of(x, y):
    for i in x:
        y[i] = ti.log(x[i])


@dt.kernel
def add_root(x, y):
    for i in x:
        y[i] += ti.sqrt(x[i] - 1.0)


@dt.kernel
def shifted(y, z):
    for i in range(y.shape[0] - 1):
        z[i + 1] = y[i] * y[i]


@dt.kernel
def summed(y, loss):
    for i in y:
        loss[None] += y[i]


@pytest.mark.parametrize("start", [[1.0, 0.0, 2.0], [2.0, -1.0, 0.5], [3.0, 2.0, -1.0]])
def test_what_a_field_holds_from_the_run_before_does_not_mislead(start: list[float]) -> None:
    x = dt.from_numpy(np.array(start), grad=True)
    y, z, loss = (dt.zeros(s, dtype=ti.f64, grad=True) for s in (3, 3, ()))

    def run() -> str:
        with (
            warnings.catch_warnings(),
            pytest.raises(dt.TapeError) as error,
            dt.Tape(loss, diagnose=True),
        ):
            warnings.simplefilter("ignore")
            loss.fill(0.0)
            summed(x, loss)
            log_of(x, y)
            add_root(x, y)
            shifted(y, z)
            summed(z, loss)
            summed(y, loss)
        return str(error.value)

    first = run()
    assert "of kernel 'log_of'" in first or "of kernel 'add_root'" in first
    assert run() == first
    for stale in (np.nan, np.inf, -np.inf):
        y.fill(stale)
        z.fill(stale)
        assert run() == first
