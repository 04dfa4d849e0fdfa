"""Fields and parts of fields as arguments: which of them may have elements in common.

Arguments that may share elements are one array of the program, so that the checks for races and the
gradients see it. Parts of one field that have no element in common are arrays of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TypeAlias

from difftile.compile.arguments import Arguments
from difftile.compile.meanings import field_meaning
from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.fields.view import View
from difftile.fields.window import whole
from difftile.frontend.parameters import SameAs, ViewOf
from difftile.ir.types import FieldType
from difftile.ir.views import ViewKind
from difftile.ops.vocabulary import FieldMeaning
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """A field, or a part of one, as an argument.

    Args:
        value: The field or the part.
        same: Position of an earlier argument that is the same.
        shares: Position of the first argument that it may have elements in common with.
    """

    value: ArrayLike
    same: int | None = None
    shares: int | None = None

    @property
    def kind(self) -> ViewKind | None:
        """The kind of a part; None for a whole field."""
        return self.value.kind if isinstance(self.value, View) else None

    @property
    def key(self) -> Hashable:
        """The key by which a kernel is specialised on the argument."""
        if self.same is not None:
            return ("same", self.same)
        if self.shares is not None:
            return ("shares", self.shares, self.kind)
        own = id(self.value.base.type)
        return own if self.kind is None else (own, self.kind)

    @property
    def run_time(self) -> Arguments:
        """The run-time values: the field if it is met first, and the numbers of a part."""
        if self.same is not None:
            return []
        own: Arguments = [] if self.shares is not None else [self.value.base]
        return [*own, *self.value.numbers] if isinstance(self.value, View) else own

    def given(self, names: Sequence[str]) -> FieldType | SameAs | ViewOf:
        """Return the argument in the words of the frontend."""
        if self.same is not None:
            return SameAs(names[self.same])
        if self.shares is not None:
            return ViewOf(names[self.shares], self.kind)
        own = self.value.base.type
        return own if self.kind is None else ViewOf(own, self.kind)


ArrayArguments: TypeAlias = dict[int, ArrayArgument]


def array_arguments(args: Sequence[object]) -> ArrayArguments:
    """Return the fields and parts of fields among some arguments, by position.

    Raises:
        LaunchError: Two share memory under different shapes.
    """
    found: ArrayArguments = {}
    by_storage: dict[Storage, dict[int, ArrayLike]] = {}
    for position, arg in enumerate(args):
        if isinstance(arg, ArrayLike):
            found[position] = ArrayArgument(arg)
            by_storage.setdefault(arg.base.storage, {})[position] = arg
    for together in by_storage.values():
        if len(together) > 1:
            found |= _related(together)
    return found


def _related(values: dict[int, ArrayLike]) -> ArrayArguments:
    """Return the arguments that share one memory."""
    shapes = {value.base.shape for value in values.values()}
    if len(shapes) > 1:
        first, *_ = values.values()
        raise LaunchError(
            f"{first!r} and other arguments share memory under different shapes; "
            "pass them under one shape, or copy one of them."
        )
    windows = {
        k: whole(value.base.shape) if value.window is None else value.window
        for k, value in values.items()
    }
    leaders: dict[int, int] = {}
    for k, window in windows.items():
        met = {leaders[j] for j in leaders if window.shares(windows[j])}
        leader = min(met, default=k)
        leaders[k] = leader
        leaders |= {j: leader for j, of in leaders.items() if of in met}
    found: ArrayArguments = {}
    for k, value in values.items():
        same = next((j for j in found if windows[j] == windows[k]), None)
        shares = leaders[k] if leaders[k] != k else None
        found[k] = ArrayArgument(value, same, shares)
    return found


def first_given(fields: ArrayArguments) -> dict[int, Field]:
    """Return the field of each argument that is an array of its own, by position."""
    return {
        k: one.value.base for k, one in fields.items() if one.same is None and one.shares is None
    }


def meanings_of(fields: ArrayArguments) -> dict[int, FieldMeaning]:
    """Return the meanings of those fields; a field that is passed in parts is not one of them."""
    first = first_given(fields)
    storages = [field.storage for field in first.values()]
    found: dict[int, FieldMeaning] = {}
    for k, field in first.items():
        meaning = field_meaning(field)
        in_parts = storages.count(field.storage) > 1
        found[k] = replace(meaning, identity=("part", k)) if in_parts else meaning
    return found
