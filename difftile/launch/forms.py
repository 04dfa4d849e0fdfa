"""The forms of arguments: which single values an argument has as parts, and where they belong.

A part is a number, a field or anything else that is one value to a kernel. Parts come after the
arguments of the call, so that later steps see single values only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Protocol, TypeAlias

from difftile.compile.annotations import FieldOf, Kind
from difftile.compile.arguments import CallArgs
from difftile.compile.methods import is_frozen
from difftile.diagnostics import FieldError
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import field_of, is_array
from difftile.frontend.parameters import Given, StructOf
from difftile.launch.structs import Methods, members_of
from difftile.records import dataclass

Parts: TypeAlias = list[object]


class Misfit(Exception):
    """An argument does not fit its parameter.

    Args:
        reason: The end of a sentence that begins with the parameter.
        path: The way to the part that does not fit, as it is written after the parameter.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


class NotShared(Misfit):
    """Fields cannot share the memory of an array."""


class ArgumentForm(Protocol):
    """The form of an argument, which is part of the key by which a kernel is specialised."""

    @property
    def kind(self) -> Kind:
        """The kind of the parameter."""
        ...

    def parts(self, name: str) -> Iterator[tuple[str, Kind]]:
        """Yield the name and the kind of each part, given the name of the parameter."""
        ...

    def refill(self, found: Parts, value: object) -> bool:
        """Append the parts of another value to a list; return False if it has another form.

        Raises:
            Misfit: The value does not fit the parameter.
        """
        ...

    def given(self, take: Callable[[], Given]) -> Given:
        """Return the argument as the frontend sees it; `take` returns its next part."""
        ...


@dataclass(frozen=True, slots=True)
class Single:
    """The form of an argument, or of a part of one, that is one value of some kind."""

    kind: Kind

    def parts(self, name: str) -> Iterator[tuple[str, Kind]]:
        """Yield the value itself."""
        yield name, self.kind

    def refill(self, found: Parts, value: object) -> bool:
        """Append the value; the caller checks whether it is still of its kind."""
        found.append(shared(value, self.kind) if is_array(value) else value)
        return True

    def given(self, take: Callable[[], Given]) -> Given:
        """Return the value as the frontend sees it."""
        return take()


single = lru_cache(256)(Single)
"""Returns the form of one value; equal ones are the same object, and are compared at no cost."""


@dataclass(frozen=True, slots=True)
class Members:
    """The form of a struct, whose parts are the parts of its members."""

    kind: Kind
    members: tuple[tuple[str, ArgumentForm], ...]
    methods: Methods

    def parts(self, name: str) -> Iterator[tuple[str, Kind]]:
        """Yield the parts of all members."""
        for key, member in self.members:
            yield from member.parts(f"{name}.{key}")

    def refill(self, found: Parts, value: object) -> bool:
        """Append the parts of the members of a struct that has the same ones."""
        struct = members_of(value, self.kind)
        if struct is None or len(struct[0]) != len(self.members) or struct[1] != self.methods:
            return False
        given = struct[0]
        return all(key in given and one.refill(found, given[key]) for key, one in self.members)

    def given(self, take: Callable[[], Given]) -> Given:
        """Return the struct as the frontend sees it."""
        return StructOf(tuple([(key, one.given(take)) for key, one in self.members]), self.methods)


@dataclass(frozen=True, slots=True)
class Opened:
    """An argument of several values in the form and the parts that were found in it."""

    form: ArgumentForm
    parts: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class OpenedArgument:
    """An argument in whose place its parts are passed: its position, and its form in a launch.

    The parts of a struct that cannot change are kept with it.
    """

    position: int
    form: ArgumentForm
    value: object = field(default=None, compare=False)
    parts: Parts | None = field(default=None, compare=False)

    @staticmethod
    def of(position: int, form: ArgumentForm, value: object, parts: Parts) -> OpenedArgument:
        """Return an argument with its parts, if these stay the same."""
        known = _opened_argument(position, form)
        may_last = isinstance(form, Members) and is_frozen(value)
        members = members_of(value, form.kind) if may_last else None
        if members is not None and all(isinstance(one, ArrayLike) for one in members[0].values()):
            return OpenedArgument(position, known.form, value, parts)
        return known


@lru_cache(1024)
def _opened_argument(position: int, form: ArgumentForm) -> OpenedArgument:
    """Return an argument; equal ones are the same object, which launches compare."""
    return OpenedArgument(position, form)


def opened_again(several: Sequence[OpenedArgument], args: CallArgs) -> CallArgs | None:
    """Return the arguments of a launch and their parts; None if one has another form now.

    The caller checks whether single parts are still of their kind.
    """
    if not several:
        return args
    if several[-1].position >= len(args):  # the rest has defaults
        return None
    found = list(args)
    try:
        for one in several:
            value = args[one.position]
            if one.parts is not None and value is one.value:
                found += one.parts
            elif isinstance(value, Opened):
                if value.form != one.form:
                    return None
                found += value.parts
            elif not one.form.refill(found, value):
                return None
    except Misfit:
        return None
    return tuple(found)


def shared(array: object, kind: Kind) -> ArrayLike:
    """Return the field over the memory of an array of another library.

    Raises:
        NotShared: Fields cannot share it.
    """
    try:
        return field_of(array, kind.dtype if isinstance(kind, FieldOf) else None)
    except FieldError as error:
        raise NotShared(f"makes no field. {error}") from None
