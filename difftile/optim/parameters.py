"""The fields that an optimiser moves, by name, and options that may differ by field."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

import difftile as dt
from difftile.diagnostics import FieldError, LaunchError, brief, counted
from difftile.fields.rows import Change, Follower, rows_of
from difftile.optim.tensors import TensorParameter, is_tensor

Tensor: TypeAlias = Any
"""A leaf tensor of torch that requires grad."""

Given: TypeAlias = "dt.Field | dt.StructField | dt.Rows | Tensor"
FieldsLike: TypeAlias = "Given | Sequence[Given] | Mapping[str, Given]"
T = TypeVar("T")
PerField: TypeAlias = Mapping[Any, T]
"""An option by field: by the field, by its name, or by the struct field or rows that hold it."""


@dataclass(frozen=True, slots=True)
class NamedParameter:
    """A field that an optimiser moves.

    Args:
        name: The key of its state: the user's name, or its place; "robot.pos" in structs.
        field: The field.
        given: The argument of the user: the field, or the struct field or the rows that hold it.
        tensor: The tensor whose memory the field is over, if the user gave one.
    """

    name: str
    field: dt.Field
    given: Given
    tensor: TensorParameter | None = None

    @property
    def keys(self) -> tuple[Any, ...]:
        """The keys for it in options by field, the narrowest first."""
        return self.field, self.name, self.given

    @property
    def grad(self) -> dt.Field:
        """The gradient of the field."""
        return self.field.grad

    @property
    def missed(self) -> int:
        """The number of steps in which it had no gradient, and stayed as it was."""
        return 0 if self.tensor is None else self.tensor.missed

    def __str__(self) -> str:
        return f"'{self.name}', {self.field!r}"


def parameters_of(
    given: Any, what: str, *, grads: bool = True, tensors: bool = False
) -> tuple[NamedParameter, ...]:
    """Return the fields that a user gave; members and rows of integers are left out.

    Args:
        given: A field, a field of structs, rows, a sequence of those, or a mapping from names to
            them.
        what: The name of the caller in errors.
        grads: Whether they need gradients.
        tensors: Whether leaf tensors of torch may stand among them.

    Raises:
        FieldError: One is not a field of floats with a gradient, or two share their memory.
    """
    found: list[NamedParameter] = []
    for name, one in _named(given):
        if isinstance(one, dt.ArrayLike) and not isinstance(one, dt.Field):
            raise FieldError(
                f"{what}: {one!r} is a part of a field, and only whole fields can move. Make the "
                "part a field of its own and copy it in on the tape: 'x[1:3].copy_from(part)'."
            )
        if isinstance(one, dt.Rows):
            prefix = f"{name}." if name else ""
            floats = ((n, field) for n, field in one.items() if field.numpy_dtype.kind == "f")
            found += [NamedParameter(prefix + n, field, one) for n, field in floats]
        elif isinstance(one, dt.StructField):
            floats = ((n, field) for n, field in one.fields(name) if field.numpy_dtype.kind == "f")
            found += [NamedParameter(n, field, one) for n, field in floats]
        elif isinstance(one, dt.Field):
            found.append(NamedParameter(name, one, one))
        elif tensors and is_tensor(one):
            tensor = TensorParameter(one)
            found.append(NamedParameter(name, tensor.field, one, tensor))
        else:
            raise FieldError(f"{what} takes fields, not {_shown(one)}")
    if not found:
        raise FieldError(f"{what} is given no field of floats.")
    known: dict[object, NamedParameter] = {}
    for one in found:
        field = one.field
        if field.numpy_dtype.kind != "f":
            raise FieldError(f"{what}: {field!r} holds integers, which do not move by small steps.")
        if grads:
            check_gradient(field, what)
        other = known.setdefault(field.storage, one)
        if other is not one:
            raise FieldError(f"{what} is given the same memory twice: {other}; and {one}.")
    names = [one.name for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FieldError(f"{what} is given two fields of the name '{twice}'; rename one of them.")
    return tuple(found)


def in_short(parameters: Sequence[NamedParameter]) -> str:
    """Return how many fields and numbers an optimiser moves: '2 fields, 1,024 numbers'."""
    size = sum(one.field.size * math.prod(one.field.element_shape) for one in parameters)
    numbers = f"{size:,} {'number' if size == 1 else 'numbers'}"
    return f"{counted(len(parameters), 'field')} with {numbers}"


def check_gradient(field: dt.Field, what: str) -> None:
    """Check that a field has a gradient.

    Raises:
        FieldError: It has none.
    """
    if field.grad_out is None:
        raise FieldError(
            f"{what}: {field!r} has no gradient to follow. "
            "Make it with grad=True, or use x = x.with_grads()."
        )


def _shown(given: object) -> str:
    """Return an argument that is no field in words, with what to write instead."""
    if isinstance(given, np.ndarray):
        return "arrays: make a field over the array, dt.from_dlpack(x, grad=True)."
    if is_tensor(given):
        return "tensors: make a field over the tensor, dt.from_dlpack(x.detach(), grad=True)."
    return f"{given!r}."


def _named(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, dt.Rows):
        return [("", given)]
    if isinstance(given, Mapping):
        return [(str(name), one) for name, one in cast("Mapping[Any, Any]", given).items()]
    if isinstance(given, Iterator):  # module.parameters()
        given = list(cast("Iterator[Any]", given))
    fields = cast("Sequence[Any]", given) if isinstance(given, (tuple, list)) else (given,)
    return [(str(place), one) for place, one in enumerate(fields)]


def follow_rows(parameters: Sequence[NamedParameter], follower: Follower) -> None:
    """Register a follower with the rows that parameters belong to.

    Raises:
        FieldError: A parameter shares the memory of a field of rows, and would miss their changes.
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


def owned_part(field: dt.Field, parameter: dt.Field) -> dt.ArrayLike | None:
    """Return the elements of a field that this rank owns, or None if it owns none.

    Args:
        field: The parameter, its gradient, or a field of its state.
        parameter: The parameter, which may be split among ranks.
    """
    if parameter.split is None:
        return field
    part = field[parameter.split.owned]
    return part if part.size else None


def after(parameters: Sequence[NamedParameter], change: Change) -> tuple[NamedParameter, ...]:
    """Return parameters after a change of rows."""
    found: list[NamedParameter] = []
    for one in parameters:
        field = change.fields.get(one.field.storage, one.field)
        given = field if one.given is one.field else one.given
        found.append(replace(one, field=field, given=given))
    return tuple(found)


def of_each(
    option: Any, parameters: Sequence[NamedParameter], what: str, *, some: bool = False
) -> list[Any]:
    """Return an option for each parameter: one for all, or by field.

    Args:
        option: A value, or a mapping to one from each field that was given, or from its name.
        parameters: The parameters.
        what: The name of the caller and of the option in errors.
        some: The mapping may leave fields out, which have None then.

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
        if key is None and not some:
            raise LaunchError(f"{what} is given by field, and there is none for {one}.")
        found.append(None if key is None else by_field[key])
    return found


def number(
    value: Any, what: str, *, low: float = 0.0, below: float = math.inf, above: bool = False
) -> float:
    """Return an option as a number.

    Args:
        value: The option.
        what: The name of the caller and of the option in errors.
        low: The least value.
        below: An upper bound, not included.
        above: The bound `low` is not included.

    Raises:
        LaunchError: The option is not a number, or is out of range.
    """
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise LaunchError(f"{what} is a number, not {brief(value)}.") from None
    if not (low < found < below if above else low <= found < below):
        least = f"above {low:g}" if above else f"{low:g} or more"
        most = "" if math.isinf(below) else f" and below {below:g}"
        raise LaunchError(f"{what} is {least}{most}, not {brief(value)}.")
    return found
