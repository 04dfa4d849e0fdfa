"""Rows that grow and shrink, and optimisers that follow them."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ir.types import I32
from difftile.substrate import Buffer, Pool, current_session


def some(n: int = 4, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "means": rng.normal(size=(n, 3)).astype(np.float32),
        "turns": rng.normal(size=(n, 2, 2, 3)),
        "kind": rng.integers(0, 9, n).astype(np.int32),
    }


def rows_of(arrays: dict[str, np.ndarray]) -> dt.Rows:
    return dt.Rows(
        means=dt.from_numpy(arrays["means"], ti.math.vec3, grad=True),
        turns=dt.from_numpy(arrays["turns"], dt.mat(2, 3, ti.f64), grad=True),
        kind=dt.from_numpy(arrays["kind"]),
    )


# Rows


def test_rows_are_fields_by_name() -> None:
    arrays = some()
    rows = rows_of(arrays)
    assert len(rows) == 4
    assert rows.means is rows["means"]
    assert list(rows) == list(rows.keys()) == ["means", "turns", "kind"]
    assert "means" in rows
    assert "other" not in rows
    assert dict(rows) == dict(rows.items())
    assert repr(rows).startswith("<4 rows of means: ")
    for name, values in rows.to_numpy().items():
        np.testing.assert_array_equal(values, arrays[name])


def test_changes_make_new_fields_with_gradients_of_zero() -> None:
    rows = rows_of(some())
    old = rows.means
    old.grad.fill(1.0)
    rows.take([2, 0, 2])
    assert rows.means is not old
    assert rows.means.shape == (3,)
    assert not rows.means.grad.to_numpy().any()
    assert rows.means.grad_in is rows.means.grad_out
    assert not rows.kind.has_grads
    assert (old.grad.to_numpy() == 1.0).all()
    np.testing.assert_array_equal(rows.turns.to_numpy(), some()["turns"][[2, 0, 2]])


@dt.kernel
def double(x):
    for i in x:
        x[i] *= 2.0


ON_A_FIELD: dict[str, Callable[[Any], Any]] = {
    "launch": double,
    "launch of a part": lambda x: double(x[1:]),
    "read": lambda x: x.to_numpy(),
    "read of an element": lambda x: x[0],
    "write": lambda x: x.fill(1.0),
    "write of an element": lambda x: x.__setitem__(0, 1.0),
    "copy": copy.copy,
    "optimiser": lambda x: dt.optim.SGD([x], lr=1.0).step(),
    "other rows": lambda x: dt.Rows(a=x),
}


@pytest.mark.parametrize("use", ON_A_FIELD)
def test_a_field_from_before_a_change_is_refused(use: str) -> None:
    rows = dt.Rows(x=dt.ones(4, grad=True))
    old = rows.x
    double(old)
    ON_A_FIELD[use](dt.ones(4, grad=True))
    rows.prune(np.arange(4) == 1)
    with pytest.raises(dt.FieldError, match=r"was 'x' of rows.*Read 'rows.x' anew"):
        ON_A_FIELD[use](old)
    repr(old)
    double(rows.x)
    np.testing.assert_array_equal(rows.x.to_numpy(), np.full(3, 4.0))


def test_gradients_of_two_buffers_stay_two() -> None:
    x = dt.ones(3, ti.f64)
    both = x.with_grads(dt.zeros(3, ti.f64), dt.zeros(3, ti.f64))
    one = dt.ones(3, ti.f64).with_grads(grad_out=dt.zeros(3, ti.f64))
    rows = dt.Rows(both=both, one=one)
    rows.take([0, 1])
    assert rows.both.grad_in is not rows.both.grad_out
    assert rows.one.grad_in is None
    assert rows.one.grad.shape == (2,)


def test_any_sequence_of_changes_is_that_of_arrays() -> None:
    rng = np.random.default_rng(3)
    model = some(5)
    rows = rows_of(model)
    for _ in range(60):
        count = len(rows)
        match rng.integers(4):
            case 0:
                index = rng.integers(-count, count, rng.integers(1, 8))
                rows.take(index)
                model = {name: values[index] for name, values in model.items()}
            case 1:
                mask = rng.random(count) < 0.3
                mask[rng.integers(count)] = False
                rows.prune(mask)
                model = {name: values[~mask] for name, values in model.items()}
            case 2:
                more = some(int(rng.integers(1, 4)), int(rng.integers(99)))
                rows.append(rows_of(more) if rng.random() < 0.5 else more)
                model = {name: np.concatenate((model[name], more[name])) for name in model}
            case _:
                model = some(int(rng.integers(1, 9)), int(rng.integers(99)))
                rows.from_numpy(model)
        assert len(rows) == len(model["means"])
        for name, values in rows.to_numpy().items():
            np.testing.assert_array_equal(values, model[name])
            assert rows[name].element == rows_of(model)[name].element


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64, ti.i32, ti.math.vec3, dt.mat(2, 3, ti.f64)])
@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_rows_are_taken_on_devices(dtype: Any, shape: tuple[int, ...]) -> None:
    device = Pool(current_session().backend.memory)
    element = dt.zeros(1, dtype).element
    source, index = (Buffer(kind, at, device) for kind, at in ((element, shape), (I32, (5,))))
    values = 1 + np.arange(source.nbytes // 8 * 2)[: source.read().size].reshape(
        source.read().shape
    )
    values = values.astype(source.read().dtype)
    source.write(values)
    index.write(np.array([3, -1, 0, 0, 1], np.int32))
    taken = Buffer(element, (5, *shape[1:]), device)
    taken.copy_rows(source, index)
    np.testing.assert_array_equal(taken.read(), values[[3, 3, 0, 0, 1]] * _mask(values.ndim))


def _mask(axes: int) -> np.ndarray:
    return np.array([1, 0, 1, 1, 1]).reshape((5,) + (1,) * (axes - 1))


def test_nothing_to_add_or_drop_changes_nothing() -> None:
    rows = rows_of(some())
    before = dict(rows)
    rows.append({name: values[:0] for name, values in some().items()})
    rows.prune(np.zeros(4, bool))
    assert dict(rows) == before


def test_a_tape_sees_rows_after_a_change() -> None:
    @dt.kernel
    def square(x, loss):
        for i in x:
            loss[None] += x[i] * x[i]

    rows = dt.Rows(x=dt.from_numpy(np.arange(1.0, 4.0), grad=True))
    loss = dt.zeros((), ti.f64, grad=True)
    for index in ([0, 1, 2], [2, 2, 0, 1]):
        rows.take(index)
        loss.fill(0.0)
        with dt.Tape(loss):
            square(rows.x, loss)
        np.testing.assert_array_equal(rows.x.grad.to_numpy(), 2 * rows.x.to_numpy())


def test_numbers_of_rows_that_are_gone_leave_no_memory() -> None:
    rows = dt.Rows(x=dt.zeros(10_000, ti.f64, grad=True))
    adam = dt.optim.Adam(rows)
    for count in range(9_900, 9_800, -1):
        adam.step()
        rows.take(np.arange(count))
    assert current_session().pool.held < 10 * rows.x.nbytes


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "no fields": (dt.Rows, "Rows are made of fields"),
    "lengths": (lambda: dt.Rows(a=dt.zeros(3), b=dt.zeros(2)), "'b' has 2 rows, and 'a' has 3"),
    "no axis": (lambda: dt.Rows(a=dt.zeros(())), "has no axis along which"),
    "a part": (lambda: dt.Rows(a=dt.zeros(3)[1:]), "whole fields, and 'a' is <view .*of its own"),
    "another shape": (lambda: dt.Rows(a=dt.zeros(4).view(2, 2)), "whole fields"),
    "an array": (lambda: dt.Rows(a=np.zeros(3)), "whole fields"),
    "a name that is taken": (lambda: dt.Rows(take=dt.zeros(3)), "cannot be called 'take'"),
    "index": (lambda: rows_of(some()).take([0, 4]), "has no row 4"),
    "negative index": (lambda: rows_of(some()).take([-5]), "no row -5"),
    "mask for an index": (lambda: rows_of(some()).take([True] * 4), "Drop rows by a mask"),
    "short mask": (lambda: rows_of(some()).prune(np.ones(3, bool)), r"shape \(4,\), not bool"),
    "fresh": (lambda: rows_of(some()).take([0], fresh=[0]), "fresh is booleans of shape"),
    "missing": (lambda: rows_of(some()).append(means=np.zeros((1, 3))), "is given no 'turns'"),
    "unknown": (lambda: rows_of(some()).append({**some(), "mean": 1}), "did you mean 'means'"),
    "ragged": (
        lambda: rows_of(some()).append({**some(), "kind": np.zeros(3, int)}),
        r"4 rows of 'kind' are an array of shape \(4,\), not \(3,\)",
    ),
    "kept": (lambda: setattr(rows_of(some()), "means", 1), "'means' stays a field"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_rows_refuse(case: str) -> None:
    attempt, message = WRONG[case]
    with pytest.raises(dt.FieldError, match=message):
        attempt()


def test_names_that_are_none() -> None:
    rows = rows_of(some())
    with pytest.raises(AttributeError, match="did you mean 'means'"):
        _ = rows.mean
    with pytest.raises(KeyError, match="no field 'x'"):
        _ = rows["x"]


def test_a_field_belongs_to_one_set_of_rows() -> None:
    x = dt.zeros(3)
    with pytest.raises(dt.FieldError, match="same memory"):
        dt.Rows(a=x, b=x)
    rows = dt.Rows(a=x)
    with pytest.raises(dt.FieldError, match="belongs to other rows"):
        dt.Rows(a=x)
    rows.take([0])
    dt.Rows(a=copy.copy(rows.a))
    y = rows.a
    del rows
    gc.collect()
    assert len(dt.Rows(a=y)) == 1


def test_no_row_changes_while_a_tape_is_open() -> None:
    rows = rows_of(some())
    with dt.Tape():
        for change in (
            lambda: rows.take([0]),
            lambda: rows.prune(np.zeros(4, bool)),
            lambda: rows.append(some()),
            lambda: rows.from_numpy(some()),
            rows.forget,
        ):
            with pytest.raises(dt.TapeError, match="one is open"):
                change()
    assert len(rows) == 4


def test_no_row_changes_inside_a_step_that_runs_again() -> None:
    @dt.custom_op
    def grow(x: dt.InOut) -> None:
        rows.take([0, 0])

    rows, x = rows_of(some()), dt.zeros(2, grad=True)
    with dt.Tape(), pytest.raises(dt.TapeError, match="Call it outside"):
        grow(x)


# Optimisers


def test_adam_of_rows_that_grow_and_shrink_is_adam_of_each_row() -> None:
    rng = np.random.default_rng(5)
    start = rng.normal(size=(4, 3))
    rows = dt.Rows(x=dt.from_numpy(start, dt.vec(3, ti.f64), grad=True))
    adam = dt.optim.Adam(rows, lr=0.1, amsgrad=True)
    model = [{"x": row, "m": 0.0, "v": 0.0, "most": 0.0} for row in start]

    def fresh(x: np.ndarray) -> dict[str, Any]:
        return {"x": x, "m": 0.0, "v": 0.0, "most": 0.0}

    for t in range(1, 31):
        gradient = rng.normal(size=(len(rows), 3))
        rows.x.grad.from_numpy(gradient)
        adam.step()
        for row, g in zip(model, gradient, strict=True):
            row["m"] = 0.9 * row["m"] + 0.1 * g
            row["v"] = 0.999 * row["v"] + 0.001 * g * g
            row["most"] = np.maximum(row["most"], row["v"])
            root = np.sqrt(row["most"] / (1 - 0.999**t))
            row["x"] = row["x"] - 0.1 * row["m"] / (1 - 0.9**t) / (root + 1e-8)
        np.testing.assert_allclose(rows.x.to_numpy(), [row["x"] for row in model], rtol=1e-12)
        match t % 5:
            case 0:
                more = rng.normal(size=(2, 3))
                rows.append(x=more)
                model += [fresh(x) for x in more]
            case 1:
                index = rng.permutation(len(rows))
                rows.take([*index, index[0]])
                model = [model[k] for k in index] + [fresh(model[index[0]]["x"])]
            case 2:
                rows.prune(np.arange(len(rows)) == 1)
                del model[1]
            case 3:
                mask = np.arange(len(rows)) % 2 == 0
                rows.take(np.arange(len(rows)), fresh=mask)
                model = [
                    fresh(row["x"]) if new else row for row, new in zip(model, mask, strict=True)
                ]
            case _:
                rows.forget("x")
                model = [fresh(row["x"]) for row in model]


def test_optimisers_of_some_fields_follow_as_well() -> None:
    rows, pose = rows_of(some()), dt.zeros(3, ti.f64, grad=True)
    first = dt.optim.SGD({"x": rows.means, "pose": pose}, lr={rows.means: 1.0, pose: 0.0})
    second = dt.optim.RMSProp([rows.turns], centered=True)
    third = dt.optim.Adam({"splats": rows, "pose": pose}, lr=0.5)
    assert list(third.state) == ["splats.means", "splats.turns", "pose"]
    rows.take([3, 3, 1])
    assert [one.field for one in first.parameters] == [rows.means, pose]
    assert first.parameters[0].given is rows.means
    assert third.parameters[0].given is rows
    before = rows.means.to_numpy()
    for field in (rows.means, rows.turns, pose):
        field.grad.fill(0.25)
    assert first.step()
    np.testing.assert_array_equal(rows.means.to_numpy(), before - np.float32(0.25))
    assert second.step()
    assert second.state["0"]["mean"].shape == (3, 2)
    assert third.step()
    assert third.state["pose"]["mean"].shape == (3,)
    first.lr = {rows.means: 0.5, pose: 0.0}


def test_the_memory_of_rows_under_another_field_is_refused() -> None:
    rows = rows_of(some())
    with pytest.raises(dt.FieldError, match="would not follow"):
        dt.optim.SGD(rows.turns.view(8), lr=1.0)


def test_rows_do_not_keep_optimisers_alive() -> None:
    rows = rows_of(some())
    adam = dt.optim.Adam(rows)
    assert len(rows._followers) == 1
    del adam
    gc.collect()
    rows.take([0])
    assert len(rows._followers) == 0


def test_a_run_with_other_rows_goes_on_exactly(tmp_path: Path) -> None:
    def run(rows: dt.Rows, adam: dt.optim.Adam, times: int) -> None:
        for _ in range(times):
            rows.means.grad.copy_from(rows.means)
            rows.turns.grad.fill(0.5)
            adam.step()

    rows = rows_of(some())
    adam = dt.optim.Adam(rows, lr=0.1)
    run(rows, adam, 3)
    rows.take([0, 2, 2, 3, 1, 1, 0])
    run(rows, adam, 3)
    np.savez(tmp_path / "rows.npz", **rows.to_numpy())
    np.savez(tmp_path / "adam.npz", **adam.state_dict())
    run(rows, adam, 3)

    other = rows_of(some(2, seed=1))
    again = dt.optim.Adam(other, lr=0.5)
    with np.load(tmp_path / "adam.npz") as state, pytest.raises(dt.LaunchError, match="has the sh"):
        again.load_state_dict(state)
    with np.load(tmp_path / "rows.npz") as saved:
        other.from_numpy(saved)
    with np.load(tmp_path / "adam.npz") as state:
        again.load_state_dict(state)
    again.lr = 0.1
    run(other, again, 3)
    for name, values in rows.to_numpy().items():
        np.testing.assert_array_equal(other[name].to_numpy(), values)


def test_lbfgs_begins_anew_with_other_rows() -> None:
    @dt.kernel
    def bowl(x, loss):
        for i in x:
            loss[None] += (x[i] - 1.0) ** 4 + (x[i] - 1.0) ** 2

    rows = dt.Rows(x=dt.from_numpy(np.arange(5.0), grad=True))
    loss = dt.zeros((), ti.f64, grad=True)

    def f() -> dt.Field:
        loss.fill(0.0)
        with dt.Tape(loss):
            bowl(rows.x, loss)
        return loss

    steps = dt.optim.LBFGS(rows, iterations=2)
    steps.step(f)
    rows.append(x=[7.0, 8.0])
    while not steps.finished:
        steps.step(f)
    np.testing.assert_allclose(rows.x.to_numpy(), np.ones(7), atol=1e-6)


def test_rows_are_rearranged_by_fields() -> None:
    arrays = some()
    rows = rows_of(arrays)
    steps = dt.optim.SGD(rows, lr=0.0, momentum=0.5)
    for slots in steps.state.values():
        slots["velocity"].fill(1.0)
    index, before = (dt.from_numpy(np.array(k, np.int32)) for k in ([3, 0, 0], [3, -1, 0]))
    rows.rearrange(index, before)
    for name, values in rows.to_numpy().items():
        np.testing.assert_array_equal(values, arrays[name][[3, 0, 0]])
    for slots in steps.state.values():
        kept = slots["velocity"].to_numpy().reshape(3, -1)
        assert kept.min(axis=1).tolist() == kept.max(axis=1).tolist() == [1.0, 0.0, 1.0]
    with pytest.raises(dt.FieldError, match="takes two fields of 32-bit integers"):
        rows.rearrange(index, dt.from_numpy(np.array([0, 1], np.int32)))
    with pytest.raises(dt.FieldError, match="takes two fields of 32-bit integers"):
        rows.rearrange(dt.zeros(3), before)
