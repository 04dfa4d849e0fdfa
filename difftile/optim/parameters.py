"""What an optimiser moves: fields by name, and options that each of them may have its own of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.field import Field, Storage
from difftile.fields.rows import Change, Follower, Rows, rows_of
from difftile.fields.structs import Member, StructField
from difftile.fields.view import View
from difftile.ir.types import is_float

Given: TypeAlias = "Member | Rows"
FieldsLike: TypeAlias = "Given | Sequence[Given] | Mapping[str, Given]"


@dataclass(frozen=True, slots=True)
class NamedParameter:
    """A field that an optimiser moves.

    Args:
        name: What its state is called by: the user's name, or its place; "robot.pos" in structs.
        field: The field.
        given: What the user passed: the field, or the struct field or the rows that it is part of.
    """

    name: str
    field: Field
    given: Given

    @property
    def keys(self) -> tuple[Any, ...]:
        """What options by field may call it, the narrowest first."""
        return self.field, self.name, self.given

    @property
    def grad(self) -> Field:
        """Its gradient now."""
        return self.field.grad

    def __str__(self) -> str:
        return f"'{self.name}', {self.field!r}"


def parameters_of(given: Any, what: str, *, grads: bool = True) -> tuple[NamedParameter, ...]:
    """Return the fields that a user gave.

    Of fields of structs and of rows, those that hold integers are left out.

    Args:
        given: A field, a field of structs, rows, a sequence of those, or a mapping from names to
            them.
        what: Who asks, for errors.
        grads: Whether they need gradients.

    Raises:
        FieldError: One is no field of floats with a gradient, or two share their memory.
    """
    found: list[NamedParameter] = []
    for name, one in _named(given):
        if isinstance(one, View):
            raise FieldError(
                f"{what}: {one!r} is a part of a field, and whole fields are moved. Make the part "
                "a field of its own and copy it in on the tape: 'x[1:3].copy_from(part)'."
            )
        if isinstance(one, (StructField, Rows)):
            leaves = one.fields(name) if isinstance(one, StructField) else _fields_of(one, name)
            found += [NamedParameter(n, leaf, one) for n, leaf in leaves if is_float(leaf.element)]
        elif isinstance(one, Field):
            found.append(NamedParameter(name, one, one))
        else:
            raise FieldError(f"{what} takes fields, not {one!r}.")
    if not found:
        raise FieldError(f"{what} is given no field of floats.")
    known: dict[Storage, NamedParameter] = {}
    for one in found:
        _check(one.field, what, grads)
        other = known.setdefault(one.field.storage, one)
        if other is not one:
            raise FieldError(f"{what} is given the same memory twice: {other}; and {one}.")
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FieldError(f"{what} is given two fields of the name '{twice}'.")
    return tuple(found)


def _fields_of(rows: Rows, prefix: str) -> list[tuple[str, Field]]:
    return [(f"{prefix}.{name}" if prefix else name, field) for name, field in rows.items()]


def _named(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, Rows):
        return [("", given)]
    if isinstance(given, Mapping):
        return [(str(name), one) for name, one in cast("Mapping[Any, Any]", given).items()]
    fields = cast("Sequence[Any]", given) if isinstance(given, (tuple, list)) else (given,)
    return [(str(place), one) for place, one in enumerate(fields)]


def _check(field: Field, what: str, grads: bool) -> None:
    if not is_float(field.element):
        raise FieldError(f"{what}: {field!r} holds integers, which do not move by small steps.")
    if grads and field.grad_out is None:
        raise FieldError(
            f"{what}: {field!r} has no gradient to follow. "
            "Make it with grad=True, or use x = x.with_grads()."
        )


def follow_rows(parameters: Sequence[NamedParameter], follower: Follower) -> None:
    """Let someone hear when rows change that parameters belong to.

    Raises:
        FieldError: A parameter shares the memory of a field of rows, and would stay behind.
    """
    for one in parameters:
        rows = rows_of(one.field)
        if rows is None:
            continue
        if all(field is not one.field for field in rows.values()):
            raise FieldError(
                f"{follower!r}: {one} has the memory of a field of {rows!r}, and would not follow "
                "when those change. Give the field itself: 'rows.x'."
            )
        rows.followed_by(follower)


def after(parameters: Sequence[NamedParameter], change: Change) -> tuple[NamedParameter, ...]:
    """Return parameters after a change of rows."""
    found: list[NamedParameter] = []
    for one in parameters:
        field = change.fields.get(one.field.storage, one.field)
        given = field if one.given is one.field else one.given
        found.append(replace(one, field=field, given=given))
    return tuple(found)


def of_each(option: Any, parameters: Sequence[NamedParameter], what: str) -> list[Any]:
    """Return an option for each parameter: one for all, or by field.

    Args:
        option: A value, or a mapping to one from each field that was given, or from its name.
        parameters: The parameters.
        what: Who asks and for which option, for errors.

    Raises:
        LaunchError: The mapping has no value for some field, or one for a field that is not moved.
    """
    if not isinstance(option, Mapping):
        return [option] * len(parameters)
    by_field = cast("Mapping[Any, Any]", option)
    known = {key for one in parameters for key in one.keys}
    for key in by_field:
        if key not in known:
            raise LaunchError(f"{what} is given for {key!r}, which is not among the fields.")
    found: list[Any] = []
    for one in parameters:
        key = next((key for key in one.keys if key in by_field), None)
        if key is None:
            raise LaunchError(f"{what} is given by field, and there is none for {one}.")
        found.append(by_field[key])
    return found


def number(
    value: Any, what: str, *, low: float = 0.0, below: float = math.inf, above: bool = False
) -> float:
    """Return an option as a number.

    Args:
        value: What the user gave.
        what: Who asks and for which option, for errors.
        low: The least that it may be.
        below: What it must stay below.
        above: It must be more than `low`.

    Raises:
        LaunchError: It is no number, or out of range.
    """
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise LaunchError(f"{what} is a number, not {value!r}.") from None
    if not (low < found < below if above else low <= found < below):
        least = f"above {low:g}" if above else f"{low:g} or more"
        most = "" if math.isinf(below) else f" and below {below:g}"
        raise LaunchError(f"{what} is {least}{most}, not {value!r}.")
    return found
