"""Fields by name: the base of rows and particles."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView
from functools import partial

from difftile.diagnostics import did_you_mean
from difftile.fields.field import Field


class NamedFields:
    """Fields by name, as attributes and as a mapping."""

    _fields: dict[str, Field]

    def __getattr__(self, name: str) -> Field:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._fields:
            raise _NoField(partial(self._missing, name))
        return self._fields[name]

    def __getitem__(self, name: str) -> Field:
        if name not in self._fields:
            raise KeyError(self._missing(name))
        return self._fields[name]

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def keys(self) -> KeysView[str]:
        """Return the names of the fields."""
        return self._fields.keys()

    def values(self) -> ValuesView[Field]:
        """Return the fields as they are now."""
        return self._fields.values()

    def items(self) -> ItemsView[str, Field]:
        """Return the fields as they are now, with their names."""
        return self._fields.items()

    def _missing(self, name: str) -> str:
        guess = did_you_mean(name, self._fields) or f"they have {', '.join(self._fields)}."
        return f"{self!r} have no field '{name}'; {guess}"


class _NoField(AttributeError):
    """A field that there is not; the message, which looks for a similar name, is made late.

    `getattr(rows, name, None)` is the way to ask for a field that rows may have.
    """

    def __init__(self, message: Callable[[], str]) -> None:
        super().__init__()
        self._message = message

    def __str__(self) -> str:
        return self._message()
