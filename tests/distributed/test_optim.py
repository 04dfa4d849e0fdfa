"""Optimisers on ranks: states in parts, norms over all ranks, and whole states that are saved."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.ranks import current
from tests.ranks import ranks

SHAPES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "matrix": (ti.f64, (7, 5)),
    "number": (ti.f64, ()),
    "vectors": (dt.vec(3, ti.f64), (4,)),
    "single": (ti.f32, (9,)),
    "half": (ti.f16, (3,)),
    "long": (ti.f64, (41,)),
}
OPTIMISERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Adam": ("Adam", {"lr": 0.01}),
    "amsgrad": ("Adam", {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1}),
    "AdamW": ("AdamW", {"lr": dt.optim.schedules.linear(0.1, 0.0, 5), "clip_value": 0.5}),
    "SGD": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "nonfinite": "zero"}),
    "RMSProp": ("RMSProp", {"lr": 0.01, "low": -0.5, "high": 0.5, "nonfinite": "ignore"}),
    "by field": (
        "Adam",
        {
            "lr": {
                "matrix": 0.1,
                "number": 0.2,
                "vectors": 0.3,
                **dict.fromkeys(("single", "half", "long"), 0.05),
            },
            "low": {"vectors": 0.0},
            "nonfinite": "skip",
        },
    ),
    "clipped": ("Adam", {"lr": 0.01, "clip_norm": 0.5}),
}


def parameters() -> dict[str, dt.Field]:
    """Return fields of several types, with values that follow from their names."""
    found: dict[str, dt.Field] = {}
    for k, (name, (dtype, shape)) in enumerate(SHAPES.items()):
        field = dt.field(dtype, shape=shape, grad=True)
        values = field.to_numpy()
        rng = np.random.default_rng(k)
        field.from_numpy(rng.uniform(-1.0, 1.0, values.shape).astype(values.dtype))
        found[name] = field
    return found


def set_gradients(fields: dict[str, dt.Field], step: int, rank: int | None) -> None:
    """Set the gradients of a step: the part of a rank, which are eighths, or the sum of all."""
    size = current().size
    for k, field in enumerate(fields.values()):
        values = field.to_numpy()
        each = [
            np.random.default_rng((step, k, one)).integers(-8, 9, values.shape) / 8.0
            for one in range(size)
        ]
        found = sum(each) if rank is None else each[rank]
        field.grad.from_numpy(np.asarray(found, values.dtype))


def steps(name: str, how: str) -> dict[str, Any]:
    """Take steps with whole state and in parts; return both results and bytes of states.

    Args:
        name: The optimiser.
        how: "same" for gradients that are the same on all ranks, or "sum" or "mean".
    """
    kind, options = OPTIMISERS[name]
    make = getattr(dt.optim, kind)
    whole, parts = parameters(), parameters()
    one = make(whole, **options)
    reduce = None if how == "same" else how
    other = make(parts, **options, sharded=True, reduce=reduce)
    for step in range(4):
        set_gradients(whole, step, None)
        if how == "mean":
            for field in whole.values():
                field.grad.from_numpy(field.grad.to_numpy() / current().size)
        set_gradients(parts, step, None if how == "same" else current().rank)
        one.step()
        other.step()
    dist.check(parts)
    state, saved = one.state_dict(), other.state_dict()
    # Another optimiser goes on from there, whole or in parts.
    again = make(whole, **options, sharded=True)
    again.load_state_dict(saved)
    once_more = make(parts, **options)
    once_more.load_state_dict(saved)
    for fields, optimiser in ((whole, again), (parts, once_more)):
        set_gradients(fields, 9, None)
        optimiser.step()
    own = sum(field.nbytes for slots in other.state.values() for field in slots.values())
    return {
        "whole": {key: field.to_numpy() for key, field in whole.items()},
        "parts": {key: field.to_numpy() for key, field in parts.items()},
        "state": state,
        "saved": saved,
        "nbytes": own,
        "norms": (one.grad_norm, other.grad_norm),
    }


@pytest.mark.parametrize(
    ("size", "engine"),
    [(1, "torch"), (3, "torch"), pytest.param(3, "mpi", marks=pytest.mark.slow)],
)
def test_parts_move_as_the_whole(size: int, engine: str) -> None:
    hows = ("same", "sum", "mean")
    for k, name in enumerate(OPTIMISERS):
        how = hows[k % 3]
        found = ranks(size, engine).run(steps, name, how)
        # With a norm that is added up in another order, steps differ by rounding.
        exact = name != "clipped"
        total = sum(array.nbytes for array in found[0]["state"].values()) - 8
        for one in found:
            for key, wanted in one["whole"].items():
                got = one["parts"][key]
                if exact:
                    np.testing.assert_array_equal(got, wanted, err_msg=f"{name}: {key}")
                else:
                    np.testing.assert_allclose(
                        got,
                        wanted,
                        rtol=1e-6 if key == "single" else 1e-2 if key == "half" else 1e-14,
                        err_msg=key,
                    )
            assert list(one["state"]) == list(one["saved"])
            for key, wanted in one["state"].items():
                if exact:
                    np.testing.assert_array_equal(one["saved"][key], wanted, err_msg=key)
            norms = one["norms"]
            assert norms[0] == norms[1] or norms[0] == pytest.approx(norms[1], rel=1e-13)
            assert one["nbytes"] <= 1.1 * total / size + 100, name


def trouble() -> list[str]:
    """Return the messages of what optimisers on ranks refuse."""
    rank = current().rank
    fields = parameters()
    messages: list[str] = []

    def refused(run: Any) -> None:
        with pytest.raises(dt.DifftileError) as caught:
            run()
        messages.append(str(caught.value))

    refused(lambda: dt.optim.Adam(fields, reduce="sum"))
    refused(lambda: dt.optim.Adam(fields, sharded=True, reduce="max"))
    refused(lambda: dt.optim.Adam(dt.Rows(x=dt.zeros(4, grad=True)), sharded=True))
    refused(lambda: dt.optim.Adam(dt.zeros(3 + rank, grad=True), sharded=True))
    optimiser = dt.optim.Adam(fields, sharded=True)
    refused(lambda: optimiser.step(visible=dt.zeros(7, dtype=ti.i32)))
    refused(lambda: pickle.dumps(optimiser))
    set_gradients(fields, 0, rank)
    refused(optimiser.step)  # they differ
    set_gradients(fields, 0, None)
    fields["matrix"].grad[6, 4] = np.nan
    before = fields["matrix"].to_numpy()
    refused(optimiser.step)
    np.testing.assert_array_equal(fields["matrix"].to_numpy(), before)
    skipping = dt.optim.Adam(fields, sharded=True, reduce="sum", nonfinite="skip")
    set_gradients(fields, 0, rank)
    if rank == 1:
        fields["number"].grad[None] = np.inf
    assert not skipping.step()
    dist.all_reduce(fields)
    refused(skipping.step)  # added up twice
    # A state with other shapes is not loaded.
    other = dt.optim.Adam(dt.zeros(3, grad=True), sharded=True)
    refused(lambda: other.load_state_dict(optimiser.state_dict()))
    # A parameter that no rank has used since the last step does not move again.
    set_gradients(fields, 1, None)
    summing = dt.optim.SGD(
        {"x": fields["matrix"], "y": fields["long"]}, 1.0, sharded=True, reduce="sum"
    )
    summing.step()
    held = fields["long"].to_numpy()
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    if rank == 0:  # the others have nothing to do
        with dt.Tape() as tape:
            square(fields["matrix"], loss)
        tape.backward(loss)
    expected = fields["matrix"].to_numpy()
    dist.broadcast({"m": fields["matrix"]})
    summing.step()
    np.testing.assert_array_equal(fields["long"].to_numpy(), held)
    np.testing.assert_allclose(fields["matrix"].to_numpy(), -expected, rtol=1e-14)
    return messages


@dt.kernel
def square(x: Any, loss: Any) -> None:
    """Add squares."""
    for i, j in x:
        loss[None] += x[i, j] * x[i, j]


def test_what_is_refused() -> None:
    for rank, wrong in enumerate(ranks(3).run(trouble)):
        assert "reduce='sum' is for sharded=True" in wrong[0]
        assert "reduce is 'sum' or 'mean', not 'max'" in wrong[1]
        assert "belongs to rows" in wrong[2]
        assert "rank 1 has 0: f64 (4,), and rank 0 has 0: f64 (3,)" in wrong[3]
        assert "'visible' is for rows" in wrong[4]
        assert "Save state_dict()" in wrong[5]
        assert "differs by rank" in wrong[6] and "reduce='sum'" in wrong[6]
        assert "is nan at index (6, 4)" in wrong[7] or "on another rank" in wrong[7]
        assert "combined already" in wrong[8], rank
        assert "has no '0.mean'" in wrong[9]


def grid_steps() -> list[Any]:
    """Clip gradients of a split field and of one that all ranks have; return norms and numbers."""
    grid = dist.Grid((11, 6), halo=2)
    x = grid.field(ti.f64, grad=True)
    w = dt.zeros(3, dtype=ti.f64, grad=True)
    values = np.arange(66.0).reshape(11, 6)
    found: list[Any] = []
    for kind, options in (
        ("Adam", {}),
        ("SGD", {"clip_norm": 2.0}),
        ("SGD", {"nonfinite": "skip"}),
    ):
        x.from_global(np.zeros((11, 6)))
        optimiser = getattr(dt.optim, kind)([x, w], 0.1, **options)
        gradient = dt.zeros_like(x)
        gradient.from_global(values)
        x.grad.copy_from(gradient)  # the halos hold numbers of other ranks as well
        w.grad.from_numpy(np.array([3.0, -4.0, 12.0]))
        if "nonfinite" in options and current().rank == current().size - 1:
            x.grad.fill(np.inf)
        moved = optimiser.step()
        found.append((moved, optimiser.grad_norm, x.to_global(), w.to_numpy()))
    return found


@pytest.mark.parametrize("size", [1, 4])
def test_norms_count_owned_elements_once(size: int) -> None:
    total = np.sqrt(np.sum(np.arange(66.0) ** 2) + 169.0)
    for found in ranks(size).run(grid_steps):
        assert found[0][1] == pytest.approx(total, rel=1e-14)
        assert found[1][1] == pytest.approx(total, rel=1e-14)
        scale = 2.0 / (total + 1e-6)
        moved = -0.1 * scale * np.arange(66.0).reshape(11, 6)
        np.testing.assert_allclose(found[1][2], moved, rtol=1e-13)
        assert found[2][0] is False and not np.isfinite(found[2][1])
        np.testing.assert_array_equal(found[2][2], 0.0)
