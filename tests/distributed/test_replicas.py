"""Losses over all ranks as steps of a tape, and fields that all ranks have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.ranks import current
from tests.ranks import ranks

OPS = ("sum", "mean", "max", "min")


@dt.kernel
def cubes(x: Any, w: Any, out: Any) -> None:
    """Add weighted cubes."""
    for i in x:
        out[None] += w[i] * x[i] * x[i] * x[i]


@dt.kernel
def square(s: Any, loss: Any) -> None:
    """Square a number."""
    loss[None] = s[None] * s[None]


@dt.kernel
def share(x: Any, s: Any, loss: Any) -> None:
    """Add the part of a rank, in units of a number of all ranks."""
    for i in x:
        loss[None] += x[i] * x[i] / s[None]


def weights(rank: int) -> np.ndarray:
    """Return weights of a rank; those of ranks 0 and 1 are the same."""
    return np.array([1.0, 2.0, 0.5]) * max(rank, 1)


X = np.array([0.3, -0.4, 0.7])


def losses() -> dict[str, Any]:
    """Return values and derivatives of squares of combined numbers, at a parameter of all ranks."""
    rank = current().rank
    x = dt.from_numpy(X, grad=True)
    w = dt.from_numpy(weights(rank))
    found: dict[str, Any] = {}
    for op in OPS:
        combine = getattr(dist, op)

        def run(x: dt.Field, combine: Any = combine) -> dt.Field:
            s, loss = (dt.zeros((), dtype=ti.f64, grad=True) for _ in range(2))
            cubes(x, w, s)
            combine(s)
            square(s, loss)
            return loss

        with dt.Tape() as tape:
            loss = run(x)
        tape.backward(loss)
        dist.all_reduce([x])
        gradient = x.grad.to_numpy()
        direction = np.array([1.0, -2.0, 0.5])
        _, tangent = dt.jvp(run, x, direction)
        curvature = dt.hvp(run, x, direction).to_numpy()
        found[op] = float(loss[None]), gradient, float(tangent[None]), curvature
    return found


@pytest.mark.parametrize(("size", "engine"), [(1, "torch"), (3, "torch"), (3, "mpi")])
def test_combined_losses_and_their_derivatives(size: int, engine: str) -> None:
    found = ranks(size, engine).run(losses)
    each = np.array([weights(rank) for rank in range(size)])
    by_hand = {"sum": each.sum(axis=0), "mean": each.mean(axis=0), "max": each[-1], "min": each[0]}
    direction = np.array([1.0, -2.0, 0.5])
    for op, w in by_hand.items():
        s, slope = w @ X**3, 3 * w * X**2
        # The Hessian of s^2; on each rank its part, so the sum over ranks is compared.
        curvature = 2 * slope * (slope @ direction) + 2 * s * 6 * w * X * direction
        parts = sum(one[op][3] for one in found)
        np.testing.assert_allclose(parts, curvature, rtol=1e-12)
        for value, gradient, tangent, _ in (one[op] for one in found):
            assert value == pytest.approx(s * s, rel=1e-14)
            np.testing.assert_allclose(gradient, 2 * s * slope, rtol=1e-13)
            assert tangent == pytest.approx(2 * s * slope @ direction, rel=1e-13)


def odd_losses() -> dict[str, Any]:
    """Return what combinations of other kinds of numbers give."""
    rank = current().rank
    found: dict[str, Any] = {}
    many = dt.zeros((), dtype=ti.i32)
    many.fill(rank + 1)
    found["integers"] = int(dist.sum(many)[None])
    vector = dt.from_numpy(np.array([[1.0, -rank]]), dtype=dt.vec(2, ti.f64), grad=True)
    found["vector"] = dist.min(vector).to_numpy().tolist()
    single = dt.zeros((), dtype=ti.f32)
    single.fill(0.1)
    found["single"] = float(dist.sum(single)[None])
    found["nan"] = float(dist.max(float("nan") if rank == 0 else 1.0)[None])
    x = dt.from_numpy(X + rank, grad=True)
    with dt.Tape() as tape:
        norm = dist.sum((x * x).sum(), local=True)
        loss = dt.zeros((), dtype=ti.f64, grad=True)
        share(x, norm, loss)
        dist.sum(loss)
    tape.backward(loss)
    found["local"] = float(loss[None]), x.grad.to_numpy()
    messages: list[str] = []
    for wrong in (
        lambda: dist.sum(dt.zeros(3)),
        lambda: dist.sum(dt.zeros(3)[0:1]),
        lambda: dist.mean(many),
        lambda: dist.sum("1"),  # wrong on purpose
    ):
        with pytest.raises(dt.DifftileError) as caught:
            wrong()
        messages.append(str(caught.value))
    if current().size > 1:
        with dt.Tape() as tape:
            norm = dist.sum((x * x).sum())
            loss.fill(0.0)
            share(x, norm, loss)
            dist.sum(loss)
        with pytest.raises(dt.TapeError) as caught:
            tape.backward(loss)
        messages.append(str(caught.value))
    found["messages"] = messages
    return found


@pytest.mark.parametrize("size", [1, 3])
def test_other_numbers_and_local_use(size: int) -> None:
    found = ranks(size).run(odd_losses)
    for one in found:
        assert one["integers"] == size * (size + 1) // 2
        assert one["vector"] == [[1.0, 1.0 - size]]
        assert one["single"] == np.float32(size * float(np.float32(0.1)))
        assert np.isnan(one["nan"])
        value, gradient = one["local"]
        assert value == pytest.approx(1.0, rel=1e-14)  # the parts of a whole
        np.testing.assert_allclose(gradient, 0.0, atol=1e-15)
        wrong = one["messages"]
        assert "takes a field of one element" in wrong[0]
        assert "takes a whole field" in wrong[1]
        assert "holds integers" in wrong[2]
        assert "takes a number" in wrong[3]
        if size > 1:
            assert "local=True" in wrong[4] and "on rank 0" in wrong[4]


def replicas(root: int) -> dict[str, Any]:
    """Broadcast fields, and compare them before and after one differs."""
    rank, size = current().rank, current().size
    body = ti.types.struct(mass=ti.f64, at=dt.vec(2, ti.f32))
    fields = {
        "w": dt.from_numpy(np.full((3, 2), rank + 0.5)),
        "n": dt.from_numpy(np.arange(4, dtype=np.int32) + rank),
        "bodies": dt.field(body, shape=3),
        "rows": dt.Rows(x=dt.from_numpy(np.array([-0.0, rank]))),
    }
    fields["bodies"].mass.fill(rank)
    dist.broadcast(fields, root)
    dist.check(fields)
    found: dict[str, Any] = {"w": fields["w"].to_numpy(), "n": fields["n"].to_numpy()}
    found["mass"], found["x"] = fields["bodies"].mass[1], fields["rows"].x.to_numpy()
    messages: list[str] = []
    if size > 1:
        if rank == size - 1:
            fields["w"][2, 1] = 7.0
            fields["bodies"].at[1] = [0.0, 1.0]
        for wrong in (
            lambda: dist.check(fields),
            lambda: dist.check(fields["bodies"]),
            lambda: dist.check([dt.zeros(3 + rank)]),
            lambda: dist.broadcast([dt.zeros(3, dtype=ti.f32)] * (1 + rank)),
            lambda: dist.all_reduce([dt.zeros(3 + rank, grad=True)]),
        ):
            with pytest.raises(dt.FieldError) as caught:
                wrong()
            messages.append(str(caught.value))
    for wrong in (
        lambda: dist.broadcast(fields, size),
        lambda: dist.check(fields["w"][0:1]),
        lambda: dist.check(3),
        lambda: dist.all_reduce(fields["w"]),
    ):
        with pytest.raises(dt.FieldError) as caught:
            wrong()
        messages.append(str(caught.value))
    with pytest.raises(dt.TapeError), dt.Tape():
        dist.broadcast(fields)
    found["messages"] = messages
    return found


@pytest.mark.parametrize(("size", "engine"), [(1, "torch"), (3, "torch"), (3, "mpi")])
def test_broadcast_and_check(size: int, engine: str) -> None:
    root = size // 2
    for found in ranks(size, engine).run(replicas, root):
        np.testing.assert_array_equal(found["w"], np.full((3, 2), root + 0.5))
        np.testing.assert_array_equal(found["n"], np.arange(4) + root)
        np.testing.assert_array_equal(found["x"], [0.0, root])
        assert np.signbit(found["x"][0])
        assert found["mass"] == root
        messages = found["messages"]
        if size > 1:
            assert "'w'" in messages[0] and "at index (2, 1) it is 7 on rank 2" in messages[0]
            assert "'at'" in messages[1] and "at index 1, component 1 it is 1 on" in messages[1]
            assert "rank 1 has '0' of f64, shape (4,), and rank 0" in messages[2]
            assert "rank 1 has '1' of f32, shape (3,), and rank 0 has nothing" in messages[3]
            assert "rank 1 has 0: f64 (4,), and rank 0 has 0: f64 (3,)" in messages[4]
        assert "root is a rank from 0 to" in messages[-4]
        assert "takes whole fields" in messages[-3]
        assert "takes whole fields, not 3" in messages[-2]
        assert "has no gradient" in messages[-1]
