"""How a field that is split among ranks is divided: the elements that a rank owns, and halos.

A split field holds its own part of a larger field and, around it, halos: copies of elements that
other ranks own. Kernels see a plain field. Reductions, solvers and optimisers count the elements of
all ranks once, so they take only the owned ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from difftile.fields.any_field import AnyField


class Split(ABC):
    """The division of fields of one shape among ranks; fields that are divided alike share it.

    Args:
        shape: The shape of the part in this process, halos included.
        owned: The slice along each axis of the elements that this rank owns; they may be none.
        size: The number of elements that all ranks own together.

    Attributes:
        halos: Boxes of the elements that an exchange fills.
    """

    halos: Sequence[tuple[slice, ...]] = ()

    def __init__(self, shape: tuple[int, ...], owned: tuple[slice, ...], size: int) -> None:
        self.shape = shape
        self.owned = owned
        self.size = size

    @abstractmethod
    def exchange(self, fields: Sequence[AnyField]) -> None:
        """Fill the halos of fields that are divided like this; a step of the tape.

        All ranks call it with the same fields in the same order.
        """

    @abstractmethod
    def from_global(self, field: AnyField, values: npt.ArrayLike) -> None:
        """Set a field, its halos included, from the elements of all ranks, which each is given."""

    @abstractmethod
    def to_global(self, field: AnyField, root: int | None = None) -> npt.NDArray[Any] | None:
        """Return the elements of all ranks, on one rank or on all of them; all ranks call it."""

    def part(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the owned elements of the contents of such a field."""
        return array[self.owned]
