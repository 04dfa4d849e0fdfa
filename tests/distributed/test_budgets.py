"""Tapes with a limit on several ranks: they run again what the others run again, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.distributed.transfer import Part, transfer
from difftile.ranks import agree, current
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.uses import Use
from difftile.substrate import current_session
from tests.ranks import ranks


@dt.kernel
def mix(x: Any, came: Any, a: float) -> None:
    """Change each number by those beside it, the first ones by what came from another rank."""
    ti.loop_config(serialize=True)
    for k in range(1, x.shape[0]):
        x[k] += a * ti.sin(x[k - 1] * x[k])
    x[0] += a * came[0] * x[0]


@dt.kernel
def turn(x: Any, a: float) -> None:
    """Change each number by itself."""
    for k in x:
        x[k] += a * x[k] * x[k]


@dt.kernel
def weigh(x: Any, loss: Any) -> None:
    """Add the squares."""
    for k in x:
        loss[None] += x[k] * x[k]


def ring(steps: int, between: int, before: int, limits: list[dict[str, Any]]) -> list[Any]:
    """Return the gradient of a program for each limit, the bytes kept, and what ran again.

    Args:
        steps: Times that each rank sends its last number to the next one.
        between: Launches after each, and one more on every rank than on the one before it.
        before: Launches before the first.
        limits: Arguments of tapes; memory in units of a field.
    """
    engine = current()
    rank, size = engine.rank, engine.size
    n = 40 + 10 * rank
    found: list[Any] = []
    for limit in limits:
        x = dt.from_numpy(0.5 + 0.01 * np.arange(n) + rank, dtype=ti.f64, grad=True)
        came = dt.zeros(1, dtype=ti.f64, grad=True)
        loss = dt.zeros((), dtype=ti.f64, grad=True)
        sends, receives = [Part((rank + 1) % size, n - 1, n)], [Part((rank - 1) % size, 0, 1)]
        given = {k: int(v * 8 * n) if k == "memory" else v for k, v in limit.items()}
        base = current_session().pool.kept
        with dt.Tape(**given) as tape:
            for _ in range(before + rank):
                turn(x, 0.001)
            for _ in range(steps):
                transfer(x, sends, came, receives, f"the ring of {n} numbers")
                mix(x, came, 0.01)
                for _ in range(between + rank):
                    turn(x, -0.001)
            weigh(x, loss)
        passes = 2 if limit.get("memory") == 9 else 1
        for k in range(passes):
            tape.backward({loss: 1.0 / passes}, keep=k + 1 < passes)
        assert current_session().pool.kept == base
        if "memory" in given:
            assert tape.peak_nbytes <= given["memory"]
        found.append((x.grad.to_numpy().tolist(), tape.recomputed))
    return found


LIMITS = [{}, *({"memory": k} for k in (5, 9, 15, 100)), {"snapshots": 4}]


@pytest.mark.parametrize(
    ("size", "steps", "between", "before"), [(2, 20, 0, 0), (3, 12, 0, 5), (2, 4, 30, 40)]
)
def test_gradients_within_any_memory(size: int, steps: int, between: int, before: int) -> None:
    for results in ranks(size).run(ring, steps, between, before, LIMITS):
        wanted, recomputed = results[0]
        assert recomputed == 0
        assert np.linalg.norm(wanted) > 1.0
        for gradient, _ in results[1:]:
            np.testing.assert_allclose(gradient, wanted, rtol=1e-14)
        assert results[1][1] > 0
        assert results[1][1] >= results[-2][1]


@dt.kernel
def step(before: Any, now: Any, after: Any) -> None:
    """Take a step of a nonlinear wave."""
    for i, j in ti.ndrange((1, now.shape[0] - 1), (1, now.shape[1] - 1)):
        around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4.0 * now[i, j]
        after[i, j] = 2.0 * now[i, j] - before[i, j] + 0.2 * around - 0.01 * now[i, j] ** 3


def wave(cells: int, steps: int, limits: list[dict[str, int]]) -> list[Any]:
    """Return the gradient of a wave's energy on the whole grid and the bytes kept, by limit."""
    found: list[Any] = []
    for limit in limits:
        grid = dist.Grid((cells, cells), halo=1, periodic=True)
        before, now, after = (grid.field(ti.f64, grad=True) for _ in range(3))
        start = np.random.default_rng(0).normal(size=(cells, cells))
        now.from_global(start)
        first = now
        given = {k: v // current().size for k, v in limit.items()}
        with dt.Tape(**given) as tape:
            for _ in range(steps):
                now.exchange()
                step(before, now, after)
                before, now, after = now, after, before
        tape.backward({now.inner: now.inner.to_numpy()})
        gradient = dist.Grid((cells, cells), halo=1, periodic=True).field(ti.f64)
        gradient.inner.from_numpy(first.grad.to_numpy()[1:-1, 1:-1])
        found.append((gradient.to_global(), tape.peak_nbytes))
    return found


def test_memory_of_the_backward_pass_is_divided_among_ranks() -> None:
    cells, steps = 96, 40
    limits = [{}, {"memory": 10 * 8 * (cells + 2) ** 2}]
    alone = ranks(1).run(wave, cells, steps, limits)[0]
    assert alone[0][1] > 3 * alone[1][1]
    for size in (2, 4):
        for results in ranks(size).run(wave, cells, steps, limits):
            for (wanted, most), (found, peak) in zip(alone, results, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * abs(wanted).max())
                assert peak <= 1.1 * most / size


class Hidden(OpaqueStep):
    """A step that communicates and does not say so, as one that calls functions of users."""

    def __init__(self, x: dt.Field) -> None:
        super().__init__("hidden", [Use(x, True, True)])
        self.x = x

    def run(self) -> None:
        """Scale numbers by one that all ranks agree on."""
        self.x.from_numpy(self.x.to_numpy() * (agree(1.0) / current().size - 0.01))

    def reverse(self, then: Any, saved: Any) -> None:
        """Scale the gradient."""
        x = then[self.x]
        x.grad_out.from_numpy(0.99 * x.grad_in.to_numpy())


@dt.kernel
def matrix(x: Any, y: Any) -> None:
    """Apply a matrix of three diagonals."""
    for i in range(1, x.shape[0] - 1):
        y[i] = 2.1 * x[i] - x[i - 1] - x[i + 1]


def exchanged(x: Any, y: Any) -> None:
    """Apply the matrix to a field that is split."""
    x.exchange()
    matrix(x, y)


def hidden(fields: list[int | None]) -> list[Any]:
    """Return gradients of a program whose steps communicate inside, and what ran again.

    Args:
        fields: Limits in copies of a field, of rank 0; of rank 1 they are larger.
    """
    found: list[Any] = []
    for count in fields:
        grid = dist.Grid(30, halo=1)
        x, y = (grid.field(ti.f64, grad=True) for _ in range(2))
        start = x
        x.from_global(0.1 + np.arange(30) / 50.0)
        limit = count and {"memory": count * (1 + 9 * current().rank) * x.storage.memory.nbytes}
        with dt.Tape(**(limit or {})) as tape:
            for k in range(12):
                turn(x, 0.1)
                perform(Hidden(x))
                if k % 4 == 0:
                    dt.linear_solve(exchanged, x, y, tol=1e-13)
                    x, y = y, x
        tape.backward({x: 1.0})
        found.append((start.grad.to_numpy()[1:-1], tape.recomputed))
    return found


def test_steps_that_communicate_inside_run_again_together() -> None:
    for (wanted, none), *limited in ranks(2).run(hidden, [None, 12]):
        assert none == 0
        for gradient, recomputed in limited:
            np.testing.assert_allclose(gradient, wanted, rtol=1e-11)
            assert recomputed > 0
