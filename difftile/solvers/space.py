"""Vectors whose numbers may be divided among ranks: dot products, norms and sizes over all of them.

Methods decide by the results of these functions alone. They are the same on all ranks to the bit,
so that all ranks make the same iterations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError, RankError
from difftile.ranks import current

Vector: TypeAlias = npt.NDArray[np.float64]


class Space:
    """The vectors of one process."""

    def totals(self, numbers: Sequence[float]) -> list[float]:
        """Return the sums over the ranks of some numbers of this rank."""
        return list(numbers)

    def greatest(self, numbers: Sequence[float]) -> list[float]:
        """Return the largest over the ranks of some numbers of this rank; NaN propagates."""
        return list(numbers)

    def size(self, v: Vector) -> int:
        """Return the number of components."""
        return len(v)

    def counted(self, v: Vector) -> Vector:
        """Return the components that this rank counts, so that each counts once."""
        return v

    def gathered(self, v: Vector) -> Vector:
        """Return the components of all ranks, in the order of the ranks."""
        return v

    def own(self, whole: Vector) -> Vector:
        """Return the components of this rank, a part of what `gathered` returns."""
        return whole

    def check_same(self, numbers: Sequence[float], message: str) -> None:
        """Check that all ranks have the same numbers.

        Raises:
            RankError: They differ; with the message.
        """

    # By those

    def dots(self, *pairs: tuple[Vector, Vector]) -> list[float]:
        """Return the dot products of several pairs of vectors, by one message."""
        return self.totals([float(self.counted(a) @ self.counted(b)) for a, b in pairs])

    def dot(self, a: Vector, b: Vector) -> float:
        """Return a dot product."""
        return self.dots((a, b))[0]

    def norm(self, v: Vector) -> float:
        """Return the Euclidean norm."""
        return math.sqrt(self.dot(v, v))

    def sum_of_magnitudes(self, v: Vector) -> float:
        """Return the sum of |v|."""
        return self.totals([float(np.sum(np.abs(self.counted(v))))])[0]

    def largest(self, v: Vector) -> float:
        """Return the largest magnitude; NaN propagates."""
        return self.greatest([largest_of(v)])[0]

    def is_finite(self, v: Vector) -> bool:
        """Tell whether all components are finite."""
        return not self.any([not np.isfinite(v).all()])[0]

    def is_zero(self, v: Vector) -> bool:
        """Tell whether all components are zero."""
        return not self.any([bool(v.any())])[0]

    def any(self, flags: Sequence[bool]) -> list[bool]:
        """Return for each flag whether it is set on some rank."""
        return [found > 0.0 for found in self.greatest([float(flag) for flag in flags])]


HERE = Space()
"""The vectors of this process alone."""


@dataclass(frozen=True, eq=False)
class DividedSpace(Space):
    """Vectors of which each rank holds a part.

    Args:
        total: The number of components of all ranks.
        counts: The slices of components that this rank counts: all that it owns. Components that
            all ranks hold are counted by the first one.
    """

    total: int
    counts: tuple[slice, ...]

    def totals(self, numbers: Sequence[float]) -> list[float]:
        """Return the sums over the ranks of some numbers of this rank."""
        return self._combined(numbers, "sum")

    def greatest(self, numbers: Sequence[float]) -> list[float]:
        """Return the largest over the ranks of some numbers of this rank; NaN propagates."""
        # Engines differ in the maximum of NaN and another number.
        nans = [float(math.isnan(one)) for one in numbers]
        plain = [-math.inf if math.isnan(one) else one for one in numbers]
        found = self._combined([*nans, *plain], "max")
        pairs = zip(found[: len(nans)], found[len(nans) :], strict=True)
        return [math.nan if nan else one for nan, one in pairs]

    def size(self, v: Vector) -> int:
        """Return the number of components of all ranks."""
        return self.total

    def counted(self, v: Vector) -> Vector:
        """Return the components that this rank counts."""
        if len(self.counts) == 1:
            return v[self.counts[0]]
        return np.concatenate([v[:0], *(v[one] for one in self.counts)])

    def gathered(self, v: Vector) -> Vector:
        """Return the components of all ranks, in the order of the ranks."""
        found = np.zeros((self.total, *v.shape[1:]))
        found[self._place] = v
        current().all_reduce(found, "sum").wait("the gathering of a vector")
        return found

    def own(self, whole: Vector) -> Vector:
        """Return the components of this rank, a part of what `gathered` returns."""
        return whole[self._place]

    def check_same(self, numbers: Sequence[float], message: str) -> None:
        """Check that all ranks have the same numbers.

        Raises:
            RankError: They differ; with the message.
        """
        found = self.greatest([*numbers, *(-one for one in numbers)])
        count = len(numbers)
        if any(high != -low for high, low in zip(found[:count], found[count:], strict=True)):
            raise RankError(message)

    @cached_property
    def _place(self) -> slice:
        """The components of this rank in the whole vector."""
        engine, own = current(), sum(one.stop - one.start for one in self.counts)
        sizes = np.zeros(engine.size)
        sizes[engine.rank] = own
        engine.all_reduce(sizes, "sum").wait("the sizes of a vector's parts")
        start = int(sizes[: engine.rank].sum())
        return slice(start, start + own)

    def _combined(self, numbers: Sequence[float], op: str) -> list[float]:
        found = np.array(numbers, np.float64)
        if len(found):
            current().all_reduce(found, op).wait("a sum or a maximum of all ranks")
        return found.tolist()


def space_of(fields: Sequence[dt.Field], *, mixed: bool = False) -> Space:
    """Return the space of the numbers of some fields.

    Args:
        fields: The fields.
        mixed: Some may be split among ranks while others are not; all ranks hold those alike.

    Raises:
        FieldError: Some are split and others not.
    """
    divided = next((one for one in fields if one.split is not None), None)
    if divided is None:
        return HERE
    total, start = 0, 0
    counts: list[slice] = []
    for one in fields:
        width = math.prod(one.element_shape)
        stop = start + one.inner.size * width
        if one.split is None and not mixed:
            raise FieldError(
                f"{divided!r} is split among ranks and {one!r} is not. A solver takes fields that "
                "are all split or all whole: make both with dt.distributed.Grid(...).field(...)."
            )
        total += (one.size if one.split is None else one.split.size) * width
        if one.split is not None or current().rank == 0:
            counts.append(slice(start, stop))
        start = stop
    every = sum(one.stop - one.start for one in counts) == start
    return DividedSpace(total, (slice(0, start),) if every else tuple(counts))


def largest_of(v: npt.NDArray[np.floating]) -> float:
    """Return the largest magnitude here, 0 of nothing; NaN propagates."""
    return float(np.max(np.abs(v), initial=0.0))
