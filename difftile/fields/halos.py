"""Exchanges of the halos of split fields, and when they are left out."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from difftile.diagnostics import FieldError
from difftile.fields.elements import WholeElements
from difftile.fields.split import Split
from difftile.fields.storage import Storage

_Field = TypeVar("_Field", bound=WholeElements)
_UP_TO_DATE: ContextVar[frozenset[Storage]] = ContextVar("difftile_up_to_date", default=frozenset())


@contextmanager
def up_to_date(fields: Iterable[WholeElements]) -> Generator[None]:
    """Leave out exchanges of some fields inside a block, whose halos are up to date there."""
    token = _UP_TO_DATE.set(_UP_TO_DATE.get() | {one.storage for one in fields})
    try:
        yield
    finally:
        _UP_TO_DATE.reset(token)


def to_exchange(fields: Iterable[_Field]) -> list[_Field]:
    """Return the fields whose halos may be out of date; all ranks find the same ones."""
    return [one for one in fields if one.storage not in _UP_TO_DATE.get()]


def exchange(fields: Sequence[WholeElements]) -> None:
    """Fill the halos of split fields, with one message between two ranks for those divided alike.

    Fields that are not split are left as they are.
    """
    found: dict[Split, list[WholeElements]] = {}
    for one in to_exchange(fields):
        if one.split is not None:
            found.setdefault(one.split, []).append(one)
    for split, some in found.items():
        split.exchange(some)


def common_split(fields: Iterable[WholeElements], what: str) -> Split | None:
    """Return the division of those among some fields of one shape that are split.

    Args:
        fields: The fields.
        what: The operation on them, for errors.

    Raises:
        FieldError: They are split in different ways.
    """
    known: WholeElements | None = None
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
