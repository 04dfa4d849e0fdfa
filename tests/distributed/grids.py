"""Programs on grids for several ranks, and what the whole grid says about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, RankError
from difftile.distributed import Grid
from difftile.ranks import agree, current

Array = npt.NDArray[Any]

vec3 = dt.vec(3, ti.f64)
mat2 = dt.mat(2, 2, ti.f64)
ELEMENTS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "f32": (ti.f32, ()),
    "f64": (ti.f64, ()),
    "i32": (ti.i32, ()),
    "i64": (ti.i64, ()),
    "vec3": (vec3, (3,)),
    "mat2": (mat2, (2, 2)),
}


def weights(seed: int, rank: int, shape: tuple[int, ...]) -> Array:
    """Return numbers that follow from a rank."""
    return np.random.default_rng((seed, rank)).uniform(0.5, 1.5, shape)


def indices(grid: Grid, origin: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Any, Array]:
    """Return the cells of the whole grid for each local one, and which of them there are."""
    along: list[Array] = []
    inside = np.ones(shape, bool)
    for axis, (first, n) in enumerate(zip(origin, shape, strict=True)):
        at = np.arange(first, first + n)
        if not grid.periodic[axis]:
            valid = (at >= 0) & (at < grid.shape[axis])
            inside &= np.expand_dims(valid, [a for a in range(len(shape)) if a != axis])
        along.append(at % grid.shape[axis])
    return np.ix_(*along), inside


def exchanged(
    shape: tuple[int, ...], ranks: Any, halo: Any, periodic: Any, element: str
) -> dict[str, Any]:
    """Exchange one field; return the greatest errors of contents and gradients on this rank."""
    dtype, inner = ELEMENTS[element]
    grid = Grid(shape, ranks, halo=halo, periodic=periodic)
    engine = current()
    everything = np.random.default_rng(1).uniform(-99, 99, (*shape, *inner))
    if element[0] == "i":
        everything = everything.astype(np.int64)
    if element == "f32":
        everything = everything.astype(np.float32)
    smooth = element[0] != "i"
    x = grid.field(dtype, grad=smooth)
    x.fill(7)
    at, inside = indices(grid, grid.origin, grid.local_shape)
    owned = tuple(slice(w, w + n) for w, n in zip(grid.halo, grid.inner_shape, strict=True))
    own = dt.from_numpy(everything[at][owned], dtype, grad=smooth)
    found: dict[str, Any] = {}
    with dt.Tape() as tape:
        x.inner.copy_from(own)
        x.exchange()
    expected = np.where(inside.reshape(*inside.shape, *(1 for _ in inner)), everything[at], 7)
    found["contents"] = float(np.max(np.abs(x.to_numpy() - expected)))
    found["global"] = float(np.max(np.abs(x.to_global() - everything)))
    part = x.to_global(root=engine.size - 1)
    found["root"] = (part is None) == (engine.rank != engine.size - 1)
    y = grid.field(dtype)
    y.fill(7)
    y.from_global(everything)
    found["from"] = float(np.max(np.abs(y.to_numpy() - expected)))
    if smooth:
        # Every rank weighs its own copies of cells; a cell's gradient is the sum of its weights.
        total = np.zeros((*shape, *inner))
        boxes = []
        for rank in range(engine.size):
            other = [agree(float(one if rank == engine.rank else 0)) for one in grid.origin]
            sizes = [agree(float(n if rank == engine.rank else 0)) for n in grid.local_shape]
            boxes.append((tuple(map(int, other)), tuple(map(int, sizes))))
        for rank, (origin, sizes) in enumerate(boxes):
            w = weights(2, rank, (*sizes, *inner)).astype(np.float32 if element == "f32" else None)
            place, there = indices(grid, origin, sizes)
            np.add.at(total, place, w * there.reshape(*there.shape, *(1 for _ in inner)))
        mine = weights(2, engine.rank, (*grid.local_shape, *inner)).astype(everything.dtype)
        tape.backward({x: mine})
        gradient = own.grad.to_numpy()
        scale = 1e-5 if element == "f32" else 1e-13
        found["gradient"] = float(np.max(np.abs(gradient - total[at][owned]))) / scale
        left = x.grad.to_numpy()
        left[owned] = 0
        kept = np.where(inside.reshape(*inside.shape, *(1 for _ in inner)), 0, mine)
        kept[owned] = 0
        found["left"] = float(np.max(np.abs(left - kept), initial=0.0))
    return found


def many(cases: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Run several cases."""
    return [exchanged(*case) for case in cases]


def different() -> str:
    """Make a grid that is another one on the last rank; return the error."""
    engine = current()
    try:
        Grid((8, 8), halo=1 + (engine.rank == engine.size - 1))
    except RankError as error:
        return str(error)
    return "no error"


def too_many() -> str:
    """Make a grid with fewer cells than ranks; return the errors."""
    engine = current()
    found: list[str] = []
    for shape, boxes in (((engine.size - 1,), None), ((1, 9), (engine.size, 1)), ((9,), (1,))):
        try:
            Grid(shape, boxes)
        except (FieldError, RankError) as error:
            found.append(str(error))
    return "\n".join(found)
