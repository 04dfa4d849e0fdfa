"""Optimisers: their steps, their state, and their errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.optim.update import move
from tests.device_arrays import counted, device_arrays
from tests.torch_iterates import DATA, RUNS, START, STEPS

CLASSES = {
    "SGD": dt.optim.SGD,
    "Adam": dt.optim.Adam,
    "AdamW": dt.optim.AdamW,
    "RMSprop": dt.optim.RMSProp,
}
TORCH = json.loads(DATA.read_text(encoding="utf-8"))


@dt.kernel
def wavy(x, loss):
    n = x.shape[0]
    for k in x:
        after = x[(k + 1) % n]
        loss[None] += (1 - x[k]) ** 2 / (k + 1) + 3 * ti.sin(x[k]) * after + 0.1 * x[k] ** 4


def slope(x: np.ndarray) -> np.ndarray:
    """Return the gradient of the sum that `wavy` computes."""
    k = np.arange(1, x.size + 1)
    return 2 * (x - 1) / k + 3 * np.cos(x) * np.roll(x, -1) + 3 * np.roll(np.sin(x), 1) + 0.4 * x**3


@pytest.mark.parametrize("name", RUNS)
def test_iterates_are_those_of_torch(name: str) -> None:
    optimiser, options = RUNS[name]
    x = dt.from_numpy(np.array(START), grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    steps = CLASSES[optimiser](x, **options)
    for step in range(1, max(STEPS) + 1):
        loss.fill(0.0)
        with dt.Tape(loss):
            wavy(x, loss)
        assert steps.step()
        if step in STEPS:
            np.testing.assert_allclose(x.to_numpy(), TORCH[name][STEPS.index(step)], rtol=1e-9)
    assert steps.steps == 100


@pytest.mark.parametrize("name", ["sgd_nesterov", "adam", "adamw_amsgrad", "rmsprop_all"])
def test_iterates_in_single_precision_are_near_those_of_torch(name: str) -> None:
    optimiser, options = RUNS[name]
    x = dt.from_numpy(np.array(START, np.float32), grad=True)
    steps = CLASSES[optimiser](x, **options)
    for _ in range(100):
        x.grad.from_numpy(slope(x.to_numpy().astype(np.float64)))
        steps.step()
    np.testing.assert_allclose(x.to_numpy(), TORCH[name][-1], rtol=1e-5)


SHAPES: dict[str, Any] = {
    "matrix of shape ()": lambda: dt.zeros((), dt.mat(2, 3, ti.f64), grad=True),
    "vectors": lambda: dt.zeros(2, dt.vec(3, ti.f64), grad=True),
    "two dimensions": lambda: dt.zeros((3, 2), ti.f64, grad=True),
    "another shape": lambda: dt.zeros(6, ti.f64, grad=True).view(2, 3),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_elements_of_any_shape_make_the_same_steps(shape: str) -> None:
    x = SHAPES[shape]()
    x.from_numpy(np.reshape(START, x.to_numpy().shape))
    optimiser, options = RUNS["adamw_amsgrad"]
    steps = CLASSES[optimiser](x, **options)
    for _ in range(10):
        x.grad.from_numpy(slope(x.to_numpy().ravel()).reshape(x.to_numpy().shape))
        steps.step()
    found = x.to_numpy().ravel()
    np.testing.assert_allclose(found, TORCH["adamw_amsgrad"][STEPS.index(10)], rtol=1e-9)


def test_single_numbers_make_the_same_steps_and_share_a_norm() -> None:
    xs = [dt.full((), start, ti.f64, grad=True) for start in START]
    steps = dt.optim.SGD(xs, lr=0.05, clip_norm=1.0)
    for _ in range(10):
        gradient = slope(np.array([x[None] for x in xs]))
        for x, value in zip(xs, gradient, strict=True):
            x.grad[None] = value
        steps.step()
        assert steps.grad_norm == pytest.approx(np.linalg.norm(gradient))
    found = [x[None] for x in xs]
    np.testing.assert_allclose(found, TORCH["sgd_clip_norm"][STEPS.index(10)], rtol=1e-9)


def test_half_precision_has_its_state_in_single() -> None:
    x = dt.zeros(3, ti.f16, grad=True)
    steps = dt.optim.Adam(x, lr=0.25)
    assert steps.state["0"]["mean"].dtype == ti.f32
    x.grad.fill(1e-5)  # its square is no number of half precision
    steps.step()
    np.testing.assert_allclose(x.to_numpy(), -0.25, rtol=2e-3)


def test_members_of_structs_are_moved_by_name() -> None:
    particle = ti.types.struct(pos=ti.types.vector(2, ti.f64), kind=ti.i32, mass=ti.f64)
    p, x = dt.field(particle, 3, grad=True), dt.zeros(2, ti.f64, grad=True)
    steps = dt.optim.SGD({"p": p, "x": x}, lr={p: 0.5, x: lambda t: 0.25 * (t + 1)}, momentum=0.9)
    assert list(steps.state) == ["p.pos", "p.mass", "x"]
    for one in (p.pos, p.mass, x):
        one.grad.fill(1.0)
    steps.step()
    assert (p.pos.to_numpy() == -0.5).all()
    assert (p.mass.to_numpy() == -0.5).all()
    assert x.to_numpy().tolist() == [-0.25, -0.25]
    assert p.kind.to_numpy().tolist() == [0, 0, 0]
    steps.zero_grads()
    assert not p.pos.grad.to_numpy().any()


def test_a_member_may_have_a_rate_of_its_own() -> None:
    p = dt.field(ti.types.struct(a=ti.f64, b=ti.f64), 2, grad=True)
    steps = dt.optim.SGD({"p": p}, lr={p: 0.5, "p.b": 0.0}, weight_decay={p.a: 0.0, p: 1.0})
    p.a.grad.fill(1.0)
    p.b.grad.fill(1.0)
    steps.step()
    assert (p.a.to_numpy() == -0.5).all()
    assert not p.b.to_numpy().any()


def test_steps_stay_within_bounds() -> None:
    x, y = dt.zeros(3, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    steps = dt.optim.SGD((x, y), lr=1.0, low={x: -0.5, y: None}, high=0.25)
    x.grad.from_numpy(np.array([2.0, -2.0, 0.1]))
    y.grad.fill(3.0)
    steps.step()
    assert x.to_numpy().tolist() == [-0.5, 0.25, -0.1]
    assert y[None] == -3.0


def test_a_rate_that_is_set_anew_compiles_nothing() -> None:
    x = dt.zeros(2, ti.f64, grad=True)
    x.grad.fill(1.0)
    steps = dt.optim.SGD(x, lr=1)
    steps.step()
    compiled = sum(map(len, move._specialisations.values()))
    steps.lr = 0.125
    steps.step()
    steps.lr = dt.optim.schedules.linear(1.0, 0.0, 4)
    steps.step()
    assert x.to_numpy().tolist() == [-1.625, -1.625]
    assert sum(map(len, move._specialisations.values())) == compiled


# State


@pytest.mark.parametrize("name", ["sgd_momentum", "adam_amsgrad", "rmsprop_all"])
def test_a_run_goes_on_exactly_where_it_was_saved(name: str, tmp_path: Path) -> None:
    def run(steps: Any, x: dt.Field, times: int) -> None:
        for _ in range(times):
            x.grad.from_numpy(slope(x.to_numpy().ravel()).reshape(2, 3))
            steps.step()

    optimiser, options = RUNS[name]
    start = np.array(START, np.float32).reshape(2, 3)
    x = dt.from_numpy(start, grad=True)
    steps = CLASSES[optimiser]({"x": x}, **options)
    run(steps, x, 7)
    np.savez(tmp_path / "saved.npz", x=x.to_numpy())
    np.savez(tmp_path / "state.npz", **steps.state_dict())
    run(steps, x, 7)

    y = dt.from_numpy(np.load(tmp_path / "saved.npz")["x"], grad=True)
    again = CLASSES[optimiser]({"x": y}, **options)
    with np.load(tmp_path / "state.npz") as state:
        again.load_state_dict(state)
    assert again.steps == 7
    run(again, y, 7)
    assert (x.to_numpy() == y.to_numpy()).all()


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    x, y = dt.zeros(2, ti.f64, grad=True), dt.zeros(3, ti.f64, grad=True)
    x.grad.fill(1.0)
    steps = dt.optim.Adam({"x": x}, lr=0.1)
    steps.step()
    saved = steps.state_dict()
    for other in (dt.optim.AdamW({"x": x}), dt.optim.Adam({"y": x}), dt.optim.Adam({"x": y})):
        with pytest.raises(dt.LaunchError):
            other.load_state_dict(saved)
        assert other.steps == 0
        assert not any(array.any() for key, array in other.state_dict().items() if "." in key)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("x.mean", [0.0, np.nan], "'x.mean' is nan at index (1,), which no valid state has"),
        ("x.mean", [np.inf, 0.0], "'x.mean' is inf at index (0,)"),
        ("x.mean", [1e300, 0.0], "'x.mean' is 1e+300 at index (0,)"),  # in single precision
        ("x.square", [-1.0, 1.0], "'x.square' is -1 at index (0,)"),
        ("x.square", [1, 1], "'x.square' has the shape (2,) of int64, not (2,) of floats"),
        (
            "x.square",
            [[1.0, 1.0]],
            "'x.square' has the shape (1, 2) of float64, not (2,) of floats",
        ),
        ("steps", -1, "'steps' is a whole number from 0, not -1"),
        ("steps", 1.5, "'steps' is a whole number from 0, not 1.5"),
        ("steps", [1, 2], "'steps' is a whole number from 0, not [1 2]"),
        ("rule", 3, "is given the state of 3"),
    ],
)
def test_a_state_that_none_can_be_changes_nothing(key: str, value: Any, said: str) -> None:
    x = dt.zeros(2, ti.f32, grad=True)
    x.grad.fill(1.0)
    steps = dt.optim.Adam({"x": x}, lr=0.1)
    steps.step()
    before = steps.state_dict()
    with pytest.raises(dt.LaunchError) as caught:
        steps.load_state_dict({**before, "steps": np.array(7), key: np.array(value)})
    assert said in str(caught.value)
    for name, array in before.items():
        np.testing.assert_array_equal(steps.state_dict()[name], array)


def test_states_as_files(tmp_path: Path) -> None:
    steps = dt.optim.Adam({"x": dt.zeros(2, ti.f32, grad=True)})
    path = tmp_path / "state.npz"
    dt.optim.write_state(path, steps.state_dict())
    steps.load_state_dict(dt.optim.read_state(path))
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"NUMPY", raw.index(b"x.mean")) + 130] ^= 1  # the first number
    path.write_bytes(raw)
    with pytest.raises(dt.DatasetError, match=r"state.npz: cannot be read \(Bad CRC-32"):
        dt.optim.read_state(path)
    with np.load(path) as lazy, pytest.raises(dt.DatasetError, match="cannot be read"):
        steps.load_state_dict(lazy)
    path.write_bytes(raw[:-9])
    with pytest.raises(dt.DatasetError, match=r"cannot be read \(File is not a zip file\)"):
        dt.optim.read_state(path)


# Gradients that are not finite


def broken(value: float, **options: Any) -> tuple[dt.Field, dt.Field, Any]:
    x, y = dt.ones(3, ti.f32, grad=True), dt.ones((2, 2), ti.math.vec2, grad=True)
    steps = dt.optim.Adam({"x": x, "y": y}, **options)
    x.grad.fill(1.0)
    gradient = np.ones((2, 2, 2))
    gradient[1, 0, 1] = value
    y.grad.from_numpy(gradient)
    return x, y, steps


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_moves_nothing(value: float) -> None:
    x, y, steps = broken(value)
    with pytest.raises(dt.SolverError, match=r"'y', .* is -?(nan|inf) at index \(1, 0\), comp.*1"):
        steps.step()
    x, y, steps = broken(value, nonfinite="skip", clip_norm=1.0)
    assert not steps.step()
    assert (steps.steps, steps.skipped) == (0, 1)
    assert (x.to_numpy() == 1.0).all()
    assert (y.to_numpy() == 1.0).all()
    assert not steps.state["x"]["mean"].to_numpy().any()
    y.grad.fill(1.0)
    assert steps.step()
    assert steps.steps == 1


def test_who_ignores_such_gradients_gets_them() -> None:
    x, y, steps = broken(math.nan, nonfinite="ignore")
    assert steps.step()
    assert np.isfinite(x.to_numpy()).all()
    assert np.isnan(y.to_numpy()).sum() == 1


def test_large_gradients_have_a_norm() -> None:
    x = dt.zeros(2, ti.f64, grad=True)
    x.grad.from_numpy(np.array([3e200, -4e200]))
    steps = dt.optim.SGD(x, lr=1.0, clip_norm=5.0)
    steps.step()
    assert steps.grad_norm == pytest.approx(5e200)
    np.testing.assert_allclose(x.to_numpy(), [-3.0, 4.0])


def test_gradients_too_large_for_a_norm_are_finite_still() -> None:
    x = dt.zeros(4, ti.f64, grad=True)
    x.grad.fill(1.7e308)
    assert dt.optim.SGD(x, lr=1e-308, clip_norm=1.0).step()
    assert np.isfinite(x.to_numpy()).all()


# Several fields in one launch


def several(seed: int = 0) -> list[dt.Field]:
    """Return fields of six rows, of two precisions and several types, with gradients."""
    rng = np.random.default_rng(seed)
    kinds = [
        ((6,), dt.vec(3, ti.f32)),
        ((6,), ti.f32),
        ((6,), ti.f64),
        ((6, 4), dt.vec(3, ti.f32)),
        ((6,), dt.mat(2, 2, ti.f32)),
        ((6, 2, 3), ti.f64),
    ]
    found: list[dt.Field] = []
    for shape, element in kinds:
        x = dt.zeros(shape, element, grad=True)
        x.from_numpy(rng.normal(size=x.to_numpy().shape))
        x.grad.from_numpy(rng.normal(size=x.to_numpy().shape))
        found.append(x)
    return found


def bits(fields: list[dt.Field]) -> list[bytes]:
    return [x.to_numpy().tobytes() for x in fields]


@pytest.mark.parametrize("name", ["sgd_nesterov", "adamw_amsgrad", "rmsprop_all"])
def test_fields_together_make_the_steps_of_fields_alone(name: str) -> None:
    optimiser, options = RUNS[name]
    together, alone = several(), several()
    rates = [0.1 * (k + 1) for k in range(len(together))]
    steps = CLASSES[optimiser](
        together, **{**options, "lr": dict(zip(together, rates, strict=True))}
    )
    singles = [
        CLASSES[optimiser](x, **{**options, "lr": r}) for x, r in zip(alone, rates, strict=True)
    ]
    for turn in range(3):
        for x, y in zip(together, alone, strict=True):
            gradient = np.random.default_rng(turn).normal(size=x.to_numpy().shape)
            x.grad.from_numpy(gradient)
            y.grad.from_numpy(gradient)
        steps.step()
        for one in singles:
            one.step()
    assert bits(together) == bits(alone)


@pytest.mark.compiled
def test_fields_of_one_precision_move_in_one_launch() -> None:
    with device_arrays():
        xs = [dt.ones(k + 3, dt.vec(2, ti.f32), grad=True) for k in range(6)]
        for options, wanted in (({"nonfinite": "ignore"}, 1), ({}, 2)):
            steps = dt.optim.Adam(xs, **options)
            steps.step()
            with counted() as counts:
                steps.step()
            assert counts["launch"] == wanted
        many = [dt.ones(2, ti.f32, grad=True) for _ in range(20)]  # at most 16 in a launch
        steps = dt.optim.SGD(many, lr=1.0, nonfinite="ignore")
        steps.step()
        with counted() as counts:
            steps.step()
        assert counts["launch"] == 2


def test_rows_that_are_not_visible_stay_with_their_state() -> None:
    seen = np.array([1, 0, 3, 0, 0, -1], np.int32)
    fields, all_of_them = several(), several()
    sparse, dense = (dt.optim.Adam(xs, lr=0.1) for xs in (fields, all_of_them))
    visible = dt.from_numpy(seen)
    before = [x.to_numpy() for x in fields]
    for steps, options in ((sparse, {"visible": visible}), (dense, {})):
        steps.step(**options)
    at = seen != 0
    for k, (x, y) in enumerate(zip(fields, all_of_them, strict=True)):
        assert (x.to_numpy()[at] == y.to_numpy()[at]).all()
        assert (x.to_numpy()[~at] == before[k][~at]).all()
        for slot, state in sparse.state[str(k)].items():
            assert (state.to_numpy()[at] == dense.state[str(k)][slot].to_numpy()[at]).all()
            assert not state.to_numpy()[~at].any()


def test_what_visible_refuses() -> None:
    steps = dt.optim.SGD([dt.ones((4, 2), ti.f32, grad=True)], lr=1.0)
    for wrong, said in (
        (dt.ones(4, ti.f32), "visible is a field of integers of shape"),
        (dt.ones((4, 1), ti.i32), "visible is a field of integers of shape"),
        (dt.ones(3, ti.i32), "visible has 3 rows, and '0', .* has other rows"),
    ):
        with pytest.raises(dt.FieldError, match=said):
            steps.step(visible=wrong)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_may_count_as_zero(value: float) -> None:
    x, y, steps = broken(value, nonfinite="zero", clip_value=0.5)
    a, b, others = broken(0.0, nonfinite="ignore", clip_value=0.5)
    assert steps.step()
    assert others.step()
    assert bits([x, y]) == bits([a, b])
    with pytest.raises(dt.LaunchError, match="clip_value with nonfinite='zero'"):
        dt.optim.SGD(x, lr=1.0, nonfinite="zero", clip_norm=1.0)


# With tapes


def test_a_step_before_the_replay_does_not_change_the_gradient() -> None:
    x, loss = dt.full(6, 0.5, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    steps = dt.optim.SGD(x, lr=0.5)
    x.grad.fill(1.0)
    with dt.Tape(loss, accumulate=True) as tape:
        wavy(x, loss)
    once = x.grad.to_numpy() - 1.0
    np.testing.assert_allclose(once, slope(np.full(6, 0.5)))
    loss.fill(0.0)
    with dt.Tape() as tape:
        wavy(x, loss)
    x.grad.fill(1.0)
    steps.step()
    x.grad.fill(0.0)
    tape.backward(loss)
    np.testing.assert_allclose(x.grad.to_numpy(), once)


def test_a_field_that_the_loss_does_not_use_keeps_no_old_gradient() -> None:
    x, y = (dt.ones(6, ti.f64, grad=True) for _ in range(2))
    loss = dt.zeros((), ti.f64, grad=True)
    steps = dt.optim.SGD([x, y], lr=0.5)
    for used in (x, y, y):
        before = [field.to_numpy() for field in (x, y)]
        with dt.Tape(loss):
            loss.fill(0.0)
            wavy(used, loss)
        steps.step()
        for field, old in zip((x, y), before, strict=True):
            assert (field.to_numpy() == old).all() == (field is not used)
    y.grad.fill(1.0)  # set by the user, without a backward pass
    before = y.to_numpy()
    steps.step()
    np.testing.assert_allclose(y.to_numpy(), before - 0.5)


def test_a_step_inside_a_tape_is_refused() -> None:
    x, loss = dt.ones(6, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    steps = dt.optim.SGD(x, lr=0.5)
    with dt.Tape(loss):
        wavy(x, loss)
        with pytest.raises(dt.TapeError, match="one is open"):
            steps.step()
    assert (x.to_numpy() == 1.0).all()


# Schedules


def test_schedules() -> None:
    by_name = dt.optim.schedules
    assert [by_name.constant(0.5)(t) for t in (0, 9)] == [0.5, 0.5]
    assert [by_name.linear(1.0, 0.5, 4)(t) for t in (0, 1, 4, 9)] == [1.0, 0.875, 0.5, 0.5]
    assert [by_name.exponential(1.0, 0.25, 2)(t) for t in (0, 1, 4)] == [1.0, 0.5, 0.0625]
    assert [by_name.step(1.0, 0.5, 3)(t) for t in (0, 2, 3, 7)] == [1.0, 1.0, 0.5, 0.25]
    cosine = by_name.cosine(1.0, 10, end=0.2)
    np.testing.assert_allclose([cosine(t) for t in (0, 5, 10, 11)], [1.0, 0.6, 0.2, 0.2])
    rising = by_name.warmup(4, by_name.linear(1.0, 0.0, 2))
    assert [rising(t) for t in range(7)] == [0.25, 0.5, 0.75, 1.0, 1.0, 0.5, 0.0]
    assert [by_name.warmup(2, 0.5)(t) for t in range(3)] == [0.25, 0.5, 0.5]


def test_a_schedule_counts_steps_and_not_calls() -> None:
    x = dt.zeros(1, ti.f64, grad=True)
    x.grad.fill(1.0)
    asked: list[int] = []

    def rate(t: int) -> float:
        asked.append(t)
        return 1.0

    steps = dt.optim.SGD(x, lr=rate)
    for _ in range(3):
        steps.step()
    assert asked == [0, 1, 2]


def test_steps_under_debug_are_the_same() -> None:
    dt.init(arch="cpu", debug=True)
    try:
        x = dt.from_numpy(np.array(START).reshape(3, 2), grad=True)
        optimiser, options = RUNS["rmsprop_all"]
        steps = CLASSES[optimiser](x, **options)
        for _ in range(2):
            x.grad.from_numpy(slope(x.to_numpy().ravel()).reshape(3, 2))
            steps.step()
        np.testing.assert_allclose(x.to_numpy().ravel(), TORCH["rmsprop_all"][1], rtol=1e-9)
    finally:
        dt.init(arch="cpu")


def test_a_gradient_that_never_changes_has_no_deviation() -> None:
    """Its square and the square of its mean differ by rounding, in either direction."""
    x = dt.full(64, 1.0, grad=True)
    optimiser = dt.optim.RMSProp(x, lr=1e-6, alpha=0.5, centered=True)
    for _ in range(40):
        x.grad.from_numpy(np.linspace(0.1, 0.9, 64, dtype=np.float32))
        optimiser.step()
    assert np.isfinite(x.to_numpy()).all()
