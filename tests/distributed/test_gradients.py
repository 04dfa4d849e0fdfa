"""Gradients over ranks: sums equal to those of one process, in any buckets, during the replay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.ranks import current
from tests.ranks import ranks

Gradients = list[np.ndarray]
ENGINES = [(1, "torch"), (2, "torch"), (3, "torch"), (3, "mpi")]
N, LAYERS = 6, 5


@dt.kernel
def layer(x: Any, w: Any, y: Any) -> None:
    """One layer of a network."""
    for i in y:
        t = 0.0
        for j in range(w.shape[1]):
            t += w[i, j] * x[j]
        y[i] = t / (1.0 + t * t)


@dt.kernel
def measure(y: Any, loss: Any) -> None:
    """Add the squares of the outputs."""
    for i in y:
        loss[None] += y[i] * y[i]


class Net:
    """A network of layers, each with a matrix of its own."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.ws = {
            f"w{k}": dt.from_numpy(rng.normal(size=(N, N)), grad=True) for k in range(LAYERS)
        }
        self.xs = [dt.zeros(N, dtype=ti.f64, grad=True) for _ in range(LAYERS + 1)]
        self.loss = dt.zeros((), dtype=ti.f64, grad=True)

    def run(self, sample: int) -> None:
        """Add the loss of a sample."""
        self.xs[0].from_numpy(np.random.default_rng(100 + sample).normal(size=N))
        for x, w, y in zip(self.xs, self.ws.values(), self.xs[1:], strict=False):
            layer(x, w, y)
        measure(self.xs[-1], self.loss)

    def gradients(self) -> Gradients:
        """Return the gradients of all matrices."""
        return [w.grad.to_numpy() for w in self.ws.values()]


def alone(samples: int) -> tuple[float, Gradients]:
    """Return loss and gradients of some samples in one process."""
    net = Net()
    with dt.Tape(net.loss):
        for k in range(samples):
            net.run(k)
    return float(net.loss[None]), net.gradients()


def all_cases(samples: int) -> dict[str, tuple[float, Gradients]]:
    """Return loss and gradients of samples divided among ranks, by the way of adding them up."""
    engine, found = current(), {}
    mine = range(engine.rank, samples, engine.size)
    each = 8 * N * N  # bytes of a matrix
    cases: dict[str, tuple[str, Any, dict[str, Any]]] = {
        "after": ("after", "25MB", {}),
        "small buckets": ("tape", 1, {}),
        "buckets of two": ("tape", 2 * each, {}),
        "one bucket": ("tape", "25MB", {}),
        "limited": ("tape", 2 * each, {"memory": 12_000}),
        "snapshots": ("tape", each, {"snapshots": 3}),
        "accumulating": ("accumulating", 2 * each, {}),
        "mean": ("mean", 2 * each, {}),
    }
    for name, (how, bucket, options) in cases.items():
        net = Net()
        dist.broadcast(net.ws)
        gradients = dist.Gradients(net.ws, "mean" if how == "mean" else "sum", bucket=bucket)
        for _ in range(2):  # the second time in memory of the first
            net.loss.fill(0.0)
            dt.zero_grads(net.ws.values())
            if how == "accumulating":  # a tape for each sample, and a last one for the sum
                for k in mine:
                    with dt.Tape(accumulate=True) as tape:
                        net.run(k)
                    tape.backward({net.loss: 1.0})
                net.loss.fill(0.0)
                with dt.Tape(net.loss, accumulate=True, reduce=gradients):
                    net.run(engine.rank + samples)
                dist.sum(net.loss)
                continue
            with dt.Tape(net.loss, reduce=None if how == "after" else gradients, **options):
                for k in mine:
                    net.run(k)
                if not options:
                    dist.sum(net.loss)
            if options:
                dist.sum(net.loss)
            if how == "after":
                dist.all_reduce(net.ws)
                dist.all_reduce(net.ws)  # changes nothing
        found[name] = float(net.loss[None]), net.gradients()
    return found


@pytest.mark.parametrize(("size", "engine"), ENGINES)
def test_sums_are_those_of_one_process(size: int, engine: str) -> None:
    found = ranks(size, engine).run(all_cases, 7)
    wanted = alone(7)
    more = alone(7 + size)
    for name, (loss, gradients) in found[0].items():
        scale = 1.0 / size if name == "mean" else 1.0
        true_loss, true_gradients = wanted if name != "accumulating" else more
        if name != "accumulating":
            assert loss == pytest.approx(true_loss, rel=1e-13)
        for own, true in zip(gradients, true_gradients, strict=True):
            np.testing.assert_allclose(own, scale * true, rtol=1e-12, atol=1e-13, err_msg=name)
        for other in found[1:]:
            for own, same in zip(gradients, other[name][1], strict=True):
                np.testing.assert_array_equal(own, same)  # to the last bit
