"""Initial gaussians: one for each known point of a scene."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError
from difftile.tracebacks import boundary
from difftile.training.numbers import logit

SH0 = 0.28209479177387814  # the harmonic of band 0
NEIGHBOURS = 3
_AT_ONCE = 2_000_000  # pairs of points whose distances are computed together
_ASKED = 256  # sample points whose neighbours give the size of the first cells


@boundary
def gaussians_at(
    points: npt.ArrayLike,
    colours: npt.ArrayLike,
    *,
    degree: int = 3,
    opacity: float = 0.1,
    size: float = 1.0,
) -> dict[str, npt.NDArray[np.float32]]:
    """Return parameters for `render.make_gaussians`, of gaussians at points.

    The gaussians are round, as wide as the average distance of their three nearest neighbours, and
    have the same colour in all directions.

    Args:
        points: Positions [scene units], shape (n, 3).
        colours: Their colours in 0..1, shape (n, 3).
        degree: The last band of harmonics, 0 to 3; "shN" is left out for 0.
        opacity: The opacity of all gaussians.
        size: A factor of their scales.

    Raises:
        LaunchError: The shapes do not fit, or all points are in one place.
    """
    places, shades = np.asarray(points, np.float64), np.asarray(colours, np.float64)
    if places.ndim != 2 or places.shape[1] != 3 or shades.shape != places.shape:
        raise LaunchError(
            f"gaussians_at() takes points and colours of shape (n, 3), not {places.shape} and "
            f"{shades.shape}."
        )
    # Points that single precision tells apart are not so near that their distance rounds to zero.
    with np.errstate(over="ignore"):  # infinite then, and refused
        places = places.astype(np.float32).astype(np.float64)
    wide = distances_of_neighbours(places).mean(axis=1) * size
    made = {
        "means": places,
        "scales": np.repeat(np.log(wide)[:, None], 3, axis=1),
        "quaternions": np.tile([1.0, 0.0, 0.0, 0.0], (len(places), 1)),
        "opacities": np.full(len(places), logit(opacity)),
        "sh0": (shades - 0.5) / SH0,
    }
    if degree:
        made["shN"] = np.zeros((len(places), (degree + 1) ** 2 - 1, 3))
    return {name: values.astype(np.float32) for name, values in made.items()}


def distances_of_neighbours(
    points: npt.NDArray[np.float64], count: int = NEIGHBOURS
) -> npt.NDArray[np.float64]:
    """Return the distances of the nearest points in other places.

    Points are sorted into the cells of a grid. A point with enough neighbours within the width of a
    cell has found the nearest ones in the cells around its own; the search is repeated for the
    others with cells of twice the width.

    Args:
        points: Shape (n, 3).
        count: The number of neighbours.

    Returns:
        Distances in ascending order, shape (n, count), or fewer if there are not so many places.

    Raises:
        LaunchError: All points are in one place, or a coordinate is not finite.
    """
    if not np.isfinite(points).all():
        raise LaunchError("Some coordinates of points are not finite. Drop those points first.")
    places, back = np.unique(points, axis=0, return_inverse=True)
    count = min(count, len(places) - 1)
    if count < 1:
        raise LaunchError("Neighbours need points in at least two places. Pass more points.")
    found = np.full((len(places), count), np.inf)
    # At first the distance of the last neighbour, the lower quartile over a sample of points.
    last = [
        np.partition(((places - place) ** 2).sum(axis=1), count)[count]
        for place in places[:: -(-len(places) // _ASKED)]
    ]
    width = float(np.sqrt(np.quantile(last, 0.25)))
    left = np.arange(len(places))
    while len(left):
        cells = _Cells(places, width)
        for some in np.array_split(left, 1 + cells.pairs(left) // _AT_ONCE):
            found[some] = cells.nearest(some, count)
        left = left[found[left, -1] > width]
        width *= 2.0
    return found[back.reshape(-1)]


class _Cells:
    """Points sorted into cubes.

    Args:
        places: Shape (n, 3).
        width: The side of a cube.
    """

    def __init__(self, places: npt.NDArray[np.float64], width: float) -> None:
        self._places = places
        cells = np.floor((places - places.min(axis=0)) / width)
        # Of the empty rows between cells that are far apart one is kept, so that numbers stay small
        # and only adjacent rows stay adjacent.
        self._cells = np.empty(cells.shape, np.intp)
        for axis in range(3):
            present, back = np.unique(cells[:, axis], return_inverse=True)
            steps = np.minimum(np.diff(present, prepend=present[0] - 1), 2.0)
            self._cells[:, axis] = np.cumsum(steps)[back.reshape(-1)]
        self._strides = np.array([1, *np.cumprod(self._cells.max(axis=0)[:2] + 2)])
        keys = self._cells @ self._strides
        self._order = np.argsort(keys, kind="stable")
        self._keys, self._starts, self._counts = np.unique(
            keys[self._order], return_index=True, return_counts=True
        )

    def _around(self, which: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], ...]:
        """Return the start and the number of the points in each of the 27 cells around some."""
        steps = np.array(list(itertools.product((-1, 0, 1), repeat=3))) @ self._strides
        keys = (self._cells[which] @ self._strides)[:, None] + steps
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return self._starts[at], np.where(self._keys[at] == keys, self._counts[at], 0)

    def pairs(self, which: npt.NDArray[np.intp]) -> int:
        """Return the number of pairs of some points and the points around them."""
        return int(self._around(which)[1].sum())

    def nearest(self, which: npt.NDArray[np.intp], count: int) -> npt.NDArray[np.float64]:
        """Return the distances of the nearest points around some; infinite for missing ones.

        Args:
            which: Some points, shape (m,).
            count: The number of neighbours.

        Returns:
            Shape (m, count).
        """
        starts, counts = (part.ravel() for part in self._around(which))
        ends = np.cumsum(counts)
        there = np.arange(ends[-1]) + np.repeat(starts - ends + counts, counts)
        other = self._order[there]
        owner = np.repeat(np.arange(len(which)), counts.reshape(len(which), -1).sum(axis=1))
        far = np.sqrt(((self._places[other] - self._places[which[owner]]) ** 2).sum(axis=1))
        far[other == which[owner]] = np.inf
        order = np.lexsort((far, owner))
        firsts = np.searchsorted(owner, np.arange(len(which)))
        ends = np.searchsorted(owner, np.arange(len(which)), side="right")
        places = firsts[:, None] + np.arange(count)
        sorted_far = np.append(far[order], np.inf)
        return np.where(places < ends[:, None], sorted_far[np.minimum(places, len(far))], np.inf)
