"""How a field that is split among ranks is divided: the elements that a rank owns, and halos.

A split field holds its own part of a larger field and, around it, halos: copies of elements that
other ranks own. Kernels see a plain field. Reductions, solvers and optimisers count the elements of
all ranks once, so they take only the owned ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from difftile.diagnostics import FieldError

if TYPE_CHECKING:
    from difftile.fields.field import Field, Storage


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
    def exchange(self, fields: Sequence[Field]) -> None:
        """Fill the halos of fields that are divided like this; a step of the tape.

        All ranks call it with the same fields in the same order.
        """

    @abstractmethod
    def from_global(self, field: Field, values: npt.ArrayLike) -> None:
        """Set a field, its halos included, from the elements of all ranks, which each is given."""

    @abstractmethod
    def to_global(self, field: Field, root: int | None = None) -> npt.NDArray[Any] | None:
        """Return the elements of all ranks, on one rank or on all of them; all ranks call it."""

    def part(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the owned elements of the contents of such a field."""
        return array[self.owned]


_UP_TO_DATE: ContextVar[frozenset[Storage]] = ContextVar("difftile_up_to_date", default=frozenset())


@contextmanager
def up_to_date(fields: Iterable[Field]) -> Generator[None]:
    """Leave out exchanges of some fields inside a block, whose halos are up to date there."""
    token = _UP_TO_DATE.set(_UP_TO_DATE.get() | {one.storage for one in fields})
    try:
        yield
    finally:
        _UP_TO_DATE.reset(token)


def to_exchange(fields: Iterable[Field]) -> list[Field]:
    """Return the fields whose halos may be out of date; all ranks find the same ones."""
    return [one for one in fields if one.storage not in _UP_TO_DATE.get()]


def exchange(fields: Sequence[Field]) -> None:
    """Fill the halos of split fields, with one message between two ranks for those divided alike.

    Fields that are not split are left as they are.
    """
    found: dict[Split, list[Field]] = {}
    for one in to_exchange(fields):
        if one.split is not None:
            found.setdefault(one.split, []).append(one)
    for split, some in found.items():
        split.exchange(some)


def common_split(fields: Iterable[Field], what: str) -> Split | None:
    """Return the division of those among some fields of one shape that are split.

    Args:
        fields: The fields.
        what: The operation on them, for errors.

    Raises:
        FieldError: They are split in different ways.
    """
    known: Field | None = None
    for one in fields:
        if one.split is None:
            continue
        if known is not None and one.split is not known.split:
            raise FieldError(
                f"{what}: {known!r} and {one!r} are split among ranks in different ways. Make both "
                "with one dt.distributed.Grid."
            )
        known = one
    return None if known is None else known.split
