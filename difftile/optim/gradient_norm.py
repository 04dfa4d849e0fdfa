"""The norm of the gradients of all parameters, each element of all ranks counted once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.optim.parameters import NamedParameter, owned_part
from difftile.ranks import agree
from difftile.ranks.collect import gather

_MOST = float(np.finfo(np.float64).max)


@dt.func
def _square(g: Any, i: Any, several: Any) -> Any:
    number = ti.f64(g[i])
    return (number * number).sum() if ti.static(several is not None) else number * number


@dt.kernel
def _add_squares(total: Any, gradients: Any, several: Any) -> None:
    for k in ti.static(range(len(gradients))):
        if ti.static(len(gradients[k].shape) == 0):
            total[None] += _square(gradients[k], None, several[k])
        else:
            for i in ti.grouped(gradients[k]):
                total[None] += _square(gradients[k], i, several[k])


@dataclass(frozen=True, slots=True)
class OwnedElements:
    """The elements of a gradient that this rank counts.

    Args:
        place: The index of the parameter in the optimiser.
        gradient: The elements.
        is_part: Whether other ranks count other elements; otherwise all have the same.
        start: The place of the first one in the row of all elements; None for boxes of them.
    """

    place: int
    gradient: dt.ArrayLike
    is_part: bool
    start: int | None = None


def owned_of(parameters: Sequence[NamedParameter]) -> list[OwnedElements]:
    """Return the elements of the gradients of parameters that this rank owns."""
    found: list[OwnedElements] = []
    for place, one in enumerate(parameters):
        part = owned_part(one.grad, one.field)
        if part is not None:
            found.append(OwnedElements(place, part, is_part=one.field.split is not None))
    return found


class GradientNorm:
    """Computes the norm of several gradients as one vector."""

    def __init__(self) -> None:
        self._total = dt.zeros((), ti.f64)

    def __call__(
        self,
        gradients: Sequence[OwnedElements],
        together: Iterable[Sequence[int]],
        *,
        is_divided: bool = False,
    ) -> float:
        """Return the norm; not finite exactly if a number is not.

        Args:
            gradients: The gradients.
            together: The gradients of one number type, by the indices of their parameters.
            is_divided: Whether ranks count different elements of some; all of them call it then.
        """
        groups = [set(places) for places in together]
        same = [one for one in gradients if not one.is_part]
        squared = self._squares(same, groups)
        if is_divided:
            squared += agree(self._squares([one for one in gradients if one.is_part], groups))
        if math.isfinite(squared):
            return math.sqrt(squared)
        return _scaled(gradients, is_divided=is_divided)

    def _squares(self, gradients: Sequence[OwnedElements], groups: Iterable[set[int]]) -> float:
        if not gradients:
            return 0.0
        self._total.fill(0.0)
        for places in groups:
            some = tuple(one.gradient for one in gradients if one.place in places)
            if some:
                several = (True if g.element_shape else None for g in some)
                _add_squares(self._total, some, tuple(several))
        return float(self._total[None])


def first_not_finite(
    parameters: Sequence[NamedParameter], gradients: Sequence[OwnedElements]
) -> str:
    """Return the place of the first number in the gradients that is not finite, in words."""
    for one in gradients:
        found: npt.NDArray[Any] = one.gradient.to_numpy()
        wrong = np.argwhere(~np.isfinite(found))
        if len(wrong):
            parameter = parameters[one.place]
            index, ndim = tuple(int(k) for k in wrong[0]), len(one.gradient.shape)
            at, parts = index[:ndim], index[ndim:]
            if one.start is not None:
                place = np.unravel_index(one.start + at[0], parameter.field.shape)
                at = tuple(int(k) for k in place)
            where = f"at index {at}" if at else "in its element"
            where += f", component {parts}" if parts else ""
            return f"the gradient of {parameter} is {found[index]} {where}"
    return "a gradient is not finite on another rank, which names it"


def _scaled(gradients: Sequence[OwnedElements], *, is_divided: bool) -> float:
    """Return the norm where one number is not finite, or the squares of large ones are not."""
    arrays = [(one.gradient.to_numpy().astype(np.float64), one.is_part) for one in gradients]
    largest = max((float(np.max(np.abs(array))) for array, _ in arrays), default=0.0)
    wrong = not all(bool(np.isfinite(array).all()) for array, _ in arrays)
    if is_divided:
        each = gather([0.0 if wrong else largest, wrong], "the norm of the gradients")
        largest, wrong = float(each[:, 0].max()), bool(each[:, 1].any())
    if wrong:
        return math.nan
    squared = [0.0, 0.0]
    for array, is_part in arrays:
        squared[is_part] += float(np.sum((array / largest) ** 2))
    parts = agree(squared[1]) if is_divided else squared[1]
    return min(largest * math.sqrt(squared[0] + parts), _MOST)
