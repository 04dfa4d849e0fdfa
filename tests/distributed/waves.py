"""Nonlinear waves in two and three dimensions, on grids that are split or on plain fields."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.distributed import Grid
from difftile.ranks import agree

Array = npt.NDArray[Any]


@dt.kernel
def advance2(p: Any, older: Any, speed: Any, x0: int, x1: int, y0: int, y1: int) -> None:
    """Write the next height over the older one, in a box."""
    for i, j in ti.ndrange((x0, x1), (y0, y1)):
        around = p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1]
        bend = around - 4.0 * p[i, j] - p[i, j] ** 3
        older[i, j] = 2.0 * p[i, j] - older[i, j] + speed[i, j] ** 2 * bend


@dt.kernel
def advance3(
    p: Any, older: Any, speed: Any, x0: int, x1: int, y0: int, y1: int, z0: int, z1: int
) -> None:
    """Write the next height over the older one, in a box."""
    for i, j, k in ti.ndrange((x0, x1), (y0, y1), (z0, z1)):
        around = p[i - 1, j, k] + p[i + 1, j, k] + p[i, j - 1, k] + p[i, j + 1, k]
        bend = around + p[i, j, k - 1] + p[i, j, k + 1] - 6.0 * p[i, j, k] - p[i, j, k] ** 3
        older[i, j, k] = 2.0 * p[i, j, k] - older[i, j, k] + speed[i, j, k] ** 2 * bend


@dt.kernel
def measure(loss: Any, p: Any, target: Any) -> None:
    """Add the squared differences."""
    for at in ti.grouped(target):
        loss[None] += (p[at] - target[at]) ** 2


class Wave:
    """Waves on a grid, or in one process on plain fields with a rim of zeros."""

    def __init__(
        self, shape: tuple[int, ...], steps: int, grid: Grid | None, overlap: bool = False
    ) -> None:
        rng = np.random.default_rng(3)
        self.overlap = overlap
        self.grid, self.steps = grid, steps
        self.heights, speeds, goals = (rng.uniform(0.1, 0.5, shape) for _ in range(3))
        self.rim = tuple(n + 2 for n in shape)
        self.initial, self.speed, self.target = (self.field() for _ in range(3))
        for field, values in zip(
            (self.initial, self.speed, self.target), (self.heights, speeds, goals), strict=True
        ):
            self.set(field, values)
        self.advance = advance2 if len(shape) == 2 else advance3

    def field(self) -> Any:
        """Return a field of zeros."""
        if self.grid is None:
            return dt.zeros(self.rim, ti.f64, grad=True)
        return self.grid.field(ti.f64, grad=True)

    def inner(self, field: Any) -> Any:
        """Return the part of a field that is not its rim or halo."""
        return field[tuple(slice(1, -1) for _ in self.rim)]

    def set(self, field: Any, values: Array) -> None:
        """Set a field from the numbers of the whole grid."""
        if self.grid is None:
            self.inner(field).from_numpy(values)
        else:
            field.from_global(values)

    def whole(self, field: Any) -> Array:
        """Return the numbers of the whole grid."""
        return self.inner(field).to_numpy() if self.grid is None else self.everywhere(field)

    def everywhere(self, field: Any) -> Array:
        """Return the numbers of the whole grid from a field in the shape of this rank's."""
        assert self.grid is not None
        made = self.grid.field(ti.f64)
        made.copy_from(field)
        return made.to_global()

    def run(self, initial: Any, speed: Any) -> Any:
        """Return this rank's part of the loss."""
        p, older = self.field(), self.field()
        loss = dt.zeros((), ti.f64, grad=True)
        self.inner(p).copy_from(self.inner(initial))
        self.inner(older).copy_from(self.inner(initial))
        for _ in range(self.steps):
            if self.grid is not None and self.overlap:
                with self.grid.exchanging(p):
                    self.advance(p, older, speed, *chain(*self.grid.interior))
                for box in self.grid.rim:
                    self.advance(p, older, speed, *chain(*box))
            else:
                if self.grid is not None:
                    self.grid.exchange(p)
                self.advance(p, older, speed, *chain(*((1, n - 1) for n in p.shape)))
            p, older = older, p
        measure(loss, self.inner(p), self.inner(self.target))
        return loss


def gradients(
    shape: tuple[int, ...],
    ranks: Any = None,
    periodic: Any = False,
    steps: int = 6,
    tapes: tuple[dict[str, Any], ...] = ({},),
    *,
    plain: bool = False,
    overlap: bool = False,
    higher: bool = True,
) -> dict[str, Any]:
    """Return the loss, its gradients, and products with its Hessian, of the whole grid.

    Args:
        shape: Cells along each axis.
        ranks: Boxes along each axis.
        periodic: As for a grid.
        steps: Time steps.
        tapes: The arguments of tapes, all of which must give the same gradient.
        plain: Use plain fields, in one process.
        overlap: Compute the interior while messages travel.
        higher: Take tangents and second derivatives as well.
    """
    wave = Wave(shape, steps, None if plain else Grid(shape, ranks, periodic=periodic), overlap)
    found: dict[str, Any] = {}
    for k, options in enumerate(tapes):
        with dt.Tape(**options) as tape:
            loss = wave.run(wave.initial, wave.speed)
        tape.backward({loss: 1.0})
        assert tape.recomputed > 0 or "snapshots" not in options, tape
        found[f"again {k}"] = tape.recomputed
        found[f"kept {k}"] = tape.peak_nbytes
        found[f"loss {k}"] = agree(float(loss))
        found[f"initial {k}"] = wave.whole(wave.initial.grad)
        found[f"speed {k}"] = wave.whole(wave.speed.grad)
    if not higher:
        return found
    direction = wave.field()
    wave.set(direction, np.cos(np.arange(wave.heights.size)).reshape(shape))

    def of_speed(speed: Any) -> Any:
        return wave.run(wave.initial, speed)

    _, tangent = dt.jvp(of_speed, wave.speed, direction)
    found["tangent"] = agree(float(tangent.to_numpy()))
    found["product"] = float(np.sum(found["speed 0"] * wave.whole(direction)))
    found["hvp"] = wave.whole(dt.hvp(of_speed, wave.speed, direction))
    return found
