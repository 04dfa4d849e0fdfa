"""Transfers between ranks: values, gradients, tangents and second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.distributed.transfer import Part, transfer
from difftile.ranks import agree, current
from tests.ranks import ranks

SIZES = [(1, "torch"), (2, "torch"), (3, "torch"), (3, "mpi")]


@dt.kernel
def weigh(x: Any, w: Any, loss: Any) -> None:
    """Add the weighted squares of the received numbers."""
    for k in x:
        loss[None] += w[k] * x[k] * x[k]


def shifted(total: int) -> tuple[float, list[float], list[float], float, list[float]]:
    """Send all to the next rank, twice; return what came, and derivatives."""
    engine = current()
    rank, size = engine.rank, engine.size
    mine = np.arange(total * rank, total * rank + total, dtype=np.float64) + 1.0
    x = dt.from_numpy(mine, grad=True)
    w = dt.from_numpy(np.linspace(1.0, 2.0, 2 * total) + rank)
    ahead, behind = (rank + 1) % size, (rank - 1) % size
    sends = [Part(ahead, 0, total), Part(ahead, 0, total)]
    receives = [Part(behind, 0, total), Part(behind, total, 2 * total)]
    received = dt.zeros(2 * total, dtype=ti.f64, grad=True)

    def run(x: dt.Field) -> dt.Field:
        loss = dt.zeros((), dtype=ti.f64, grad=True)
        transfer(x, sends, received, receives, "the shift")
        weigh(received, w, loss)
        return loss

    with dt.Tape() as tape:
        loss = run(x)
    tape.backward({loss: 1.0})
    gradient = x.grad.to_numpy()
    # Tangents along, and along gradients.
    direction = np.cos(mine)
    _, tangent = dt.jvp(run, x, direction)
    gap = agree(float(tangent.to_numpy())) - agree(float(direction @ gradient))
    return float(loss), gradient.tolist(), received.to_numpy().tolist(), gap, curvature(run, x)


def curvature(run: Callable[[dt.Field], dt.Field], x: dt.Field) -> list[float]:
    """Return the Hessian times a vector of ones on every rank."""
    return dt.hvp(run, x, np.ones(x.shape)).to_numpy().tolist()


@pytest.mark.parametrize(("size", "engine"), SIZES)
def test_gradients_travel_back(size: int, engine: str) -> None:
    total = 3
    results = ranks(size, engine).run(shifted, total)
    everything = np.arange(total * size) + 1.0
    for rank, (loss, gradient, received, gap, curved) in enumerate(results):
        behind, ahead = (rank - 1) % size, (rank + 1) % size
        came = everything[behind * total : behind * total + total]
        assert received == [*came, *came]
        w = np.linspace(1.0, 2.0, 2 * total)
        assert loss == pytest.approx(float((w + rank) @ np.tile(came, 2) ** 2), rel=1e-14)
        mine = everything[rank * total : rank * total + total]
        expected = 2.0 * ((w + ahead)[:total] + (w + ahead)[total:])
        np.testing.assert_allclose(gradient, mine * expected, rtol=1e-14)
        np.testing.assert_allclose(curved, expected, rtol=1e-14)
        assert abs(gap) < 1e-10


def test_fields_of_the_host_start_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = property(lambda _: pytest.fail("CUDA is asked for"))
    monkeypatch.setattr(type(current()), "takes_device_memory", asked)
    shifted(4)
