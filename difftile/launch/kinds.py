"""What an argument of a launch is: a table, one row a kind.

A row says which values are of the kind. A single value adds to the key by which a kernel is
specialised, to the values of a launch, and to what later launches compare or fill in again; in the
place of others, such as vectors and structs, their parts are passed (`forms`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from difftile.compile.annotations import FieldOf, Kind, check_element, kind_of_number
from difftile.compile.generated import CallId, Drawn, Grid
from difftile.compile.meanings import meaning_of
from difftile.compile.methods import is_data_oriented
from difftile.diagnostics import LaunchError, abbreviated, brief, did_you_mean, with_article
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import is_array
from difftile.fields.exchange import TOO_LARGE
from difftile.fields.number_field import NumberField
from difftile.fields.numbers import Number
from difftile.fields.step_number import StepNumber
from difftile.fields.structs import Member, StructField
from difftile.frontend.captures import key_of
from difftile.frontend.parameters import (
    FLOAT,
    Given,
    NumberIn,
    StaticArgument,
    StructOf,
    ThreadIndex,
)
from difftile.ir.types import (
    I32,
    I64,
    U64,
    Matrix,
    Scalar,
    Struct,
    Type,
    Vector,
    integer_limits,
    is_float,
    shape_of,
)
from difftile.launch.array_arguments import ArrayGiven
from difftile.launch.forms import ArgumentForm, Members, Misfit, Opened, Parts, shared, single
from difftile.launch.parsed_arguments import ArgumentPart, ParsedArguments, Taking
from difftile.launch.prepared_launch import NumberSlot
from difftile.launch.structs import members_of
from difftile.launch.vectors import holds_numbers, is_vector, named, open_vector
from difftile.ops.vocabulary import (
    ClassName,
    FuncMeaning,
    OpName,
    Refused,
    StructName,
    TypeName,
)
from difftile.records import dataclass

_TYPED = (Vector, Matrix, Struct)


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of value.

    Args:
        accepts: Tells whether a value that a parameter of a kind is given is one.
        take: Adds a single value to the arguments, and returns it in the words of the frontend.
        open: Returns the form of a value in whose place others are passed, and these.
        fields: Returns the fields in a single value by name, which are looked at together.

    Raises:
        LaunchError: By `take`: the value does not fit its parameter.
        Misfit: By `open`: the same.
    """

    accepts: Callable[[Any, Kind], bool]
    take: Callable[[Taking, ArgumentPart, Any], Given] | None = None
    open: Callable[[Any, Kind], tuple[ArgumentForm, Parts]] | None = None
    fields: Callable[[str, Any], Iterable[tuple[str, ArrayLike]]] | None = None


def row_of(value: object, kind: Kind) -> Row:
    """Return the kind of a value that a parameter of a kind is given."""
    if isinstance(value, np.generic):
        value = value.item()
    return next(row for row in KINDS if row.accepts(value, kind))


def opened(value: object, kind: Kind) -> tuple[ArgumentForm, Parts]:
    """Return the form of an argument, and its parts.

    Args:
        value: The argument.
        kind: The kind of the parameter, or the type that it is annotated with. Without one, a list
            of numbers is a vector, and an array is a field.

    Raises:
        Misfit: The value does not fit the kind.
    """
    row = row_of(value, kind)
    return (single(kind), [value]) if row.open is None else row.open(value, kind)


def fields_in(value: object, kind: Kind) -> list[ArrayLike | StructField]:
    """Return the fields in an argument, or the argument itself if it is one."""
    return [p for p in parts_of(value, kind) if isinstance(p, (ArrayLike, StructField))]


def parts_of(value: object, kind: Kind) -> Parts:
    """Return the parts of an argument; none if it does not fit, which the launch will report."""
    try:
        return opened(value, kind)[1]
    except Misfit:
        return []


def is_shared(value: object, kind: Kind) -> bool:
    """Tell whether a field takes the place of an array of another library."""
    return is_array(value) and not isinstance(kind, _TYPED) and not holds_numbers(value)


# Values in whose place others are passed


def _open_array(array: object, kind: Kind) -> tuple[ArgumentForm, Parts]:
    return single(kind), [shared(array, kind)]


def _open_struct(struct: object, kind: Kind) -> tuple[ArgumentForm, Parts]:
    """Return a struct of some members, checked against its type if that is known."""
    found = members_of(struct, kind)
    assert found is not None
    given, methods, type_ = found
    declared: Mapping[str, Kind] = dict.fromkeys(given, "")
    if type_ is not None:
        declared = {name: _member_kind(one) for name, one in type_.members}
        for name in given:
            if name not in declared:
                guess = did_you_mean(name, declared) or f"it has {', '.join(declared)}."
                raise Misfit(f"has no member '{name}'; {guess}")
    forms: list[tuple[str, ArgumentForm]] = []
    parts: Parts = []
    for name, one in declared.items():
        if name not in given:
            raise Misfit(f"is given no '{name}'; each member takes a value.")
        try:
            form, own = opened(given[name], one)
        except Misfit as misfit:
            raise Misfit(misfit.reason, f".{name}{misfit.path}") from None
        forms.append((name, form))
        parts += own
    if not forms:
        raise Misfit("is a struct without members.")
    return Members(kind, tuple(forms), methods), parts


def _member_kind(type_: Type | Struct) -> Kind:
    """Return the kind of a member of a declared struct."""
    return kind_of_number(type_) if isinstance(type_, Scalar) else type_


def _refuse_for_type(value: object, kind: Kind) -> NoReturn:
    assert isinstance(kind, (Vector, Matrix, Struct))
    raise Misfit(f"takes {named(kind)}, not {brief(value)}.")


# Fields


def _take_field(taking: Taking, part: ArgumentPart, arg: ArrayLike) -> Given:
    """Add a field, or the number that it holds where the parameter is a number.

    Raises:
        LaunchError: The parameter is a number, which the field does not hold.
    """
    parsed = taking.parsed
    parsed.others.append(part.position)
    given = _given_field(taking, part.name)
    if not isinstance(arg, NumberField):
        if not _is_of_numbers(part.kind) or (taking.takes_elements and not part.nested):
            return given
        if arg.shape or shape_of(arg.element):
            raise taking.refusal(part, f"is one number, not {brief(arg)}.")
        if isinstance(part.kind, Scalar) and is_float(arg.element):
            raise taking.refusal(part, f"is an integer, not {brief(arg)}.")
        check_element(taking.kernel, part.shown, part.kind, arg)
    parsed.key.append("number")
    return NumberIn(given, part.kind if isinstance(part.kind, Scalar) else None)


def _given_field(taking: Taking, name: str) -> ArrayGiven:
    array = taking.fields[name]
    taking.parsed.key.append(array.key)
    taking.parsed.values += array.run_time
    return array.given


def _take_struct(taking: Taking, part: ArgumentPart, arg: StructField) -> Given:
    taking.parsed.others.append(part.position)
    return _given_struct(taking, part.name, arg)


def _given_struct(taking: Taking, name: str, arg: Member) -> Given:
    """Add the fields of a struct field, or a field."""
    if not isinstance(arg, StructField):
        return _given_field(taking, name)
    taking.parsed.key.append((tuple(arg.members), arg.methods))
    members = [
        (key, _given_struct(taking, f"{name}.{key}", one)) for key, one in arg.members.items()
    ]
    return StructOf(tuple(members), arg.methods)


def _refuse_for_field(taking: Taking, part: ArgumentPart, arg: object) -> NoReturn:
    raise taking.refusal(part, f"is a field, not {brief(arg)}.")


# Indices of threads, and numbers


def _take_grid(taking: Taking, part: ArgumentPart, grid: Grid) -> Given:
    if part.nested:
        return _refuse(taking, part, grid)
    parsed = taking.parsed
    parsed.statics.append((part.position, grid))
    for other, given in parsed.signature.items():
        if isinstance(given, ThreadIndex):
            raise LaunchError(
                f"{taking.kernel!r}: '{other}' and '{part.name}' are both a dt.grid; a thread has "
                "one index: pass only one of them."
            )
    parsed.key.append(("grid", len(grid.shape)))
    parsed.values += grid.shape
    return ThreadIndex(len(grid.shape))


def _take_float(taking: Taking, part: ArgumentPart, number: float) -> Given:
    if isinstance(part.kind, Scalar):
        raise taking.refusal(part, f"is an integer, not {brief(number)}.")
    try:
        number = float(number)
    except OverflowError:
        raise taking.refusal(part, f"= {abbreviated(number)}; {TOO_LARGE}.") from None
    _add_number(taking.parsed, part, number)
    return FLOAT


def _take_integer(taking: Taking, part: ArgumentPart, number: int) -> Given:
    if not _holds(part.integer, number):
        raise taking.refusal(part, f"= {abbreviated(number)} {_misfit(part, number)}.")
    low, high = integer_limits(part.integer)
    _add_number(taking.parsed, part, number, low, high + 1)
    return part.integer


def _add_number(
    parsed: ParsedArguments, part: ArgumentPart, number: float, low: int = 0, high: int = 0
) -> None:
    given = type(parsed.args[part.position])
    place = part.position, len(parsed.values)
    parsed.numbers.append(NumberSlot(*place, given, type(number), low, high))
    parsed.values.append(number)
    parsed.key.append(type(number).__name__)


def _misfit(part: ArgumentPart, number: int) -> str:
    """Return why an integer is none of the type that its parameter has, and what would be."""
    type_ = part.integer
    low, high = integer_limits(type_)
    wider = next((one for one in (I32, I64, U64) if _holds(one, number)), None)
    hint = "pass a float"
    if wider is not None:
        hint = f"annotate it as ti.{wider}"
        if part.nested:
            whole, _, _ = part.name.partition(".")
            hint = f"annotate '{whole}' with a type of ti.{wider}"
    what = "does not fit 32 bits"
    if type_ != I32:
        what = f"does not fit ti.{type_}, which goes from {low} to {high}"
    return f"{what}; {hint}"


def _holds(type_: Scalar, number: int) -> bool:
    low, high = integer_limits(type_)
    return low <= number <= high


# What a kernel is specialised on


def _take_static(taking: Taking, part: ArgumentPart, value: object) -> Given:
    parsed = taking.parsed
    parsed.statics.append((part.position, parsed.args[part.position]))
    parsed.key.append(("known", key_of(value)))
    return StaticArgument(value)


def _take_followed(taking: Taking, part: ArgumentPart, value: object) -> Given:
    """Add an object in which a launch looks names up."""
    parsed, arg = taking.parsed, taking.parsed.args[part.position]
    parsed.objects.append((part.name, part.position, type(arg)))
    parsed.known[part.name] = arg
    parsed.key.append(("object", type(value)))
    return StaticArgument(value, followed=True)


def _refuse_text(taking: Taking, part: ArgumentPart, text: str) -> NoReturn:
    what = "a number" if part.kind == "float" else "an integer"
    raise taking.refusal(part, f"is {what}, not {brief(text)}.")


def _refuse(taking: Taking, part: ArgumentPart, arg: object) -> NoReturn:
    meaning = meaning_of(arg)
    if isinstance(meaning, Refused):
        what = meaning.what[:1].lower() + meaning.what[1:]
        raise taking.refusal(part, f"is {what}; {meaning.hint}")
    if isinstance(arg, (CallId, Drawn)):
        drawn = isinstance(arg, Drawn)
        hint = f"draw in the kernel: 'dt.{arg.name}()'" if drawn else "pass dt.grid(shape)"
        raise taking.refusal(part, f"is {arg!r}, which funcs take; {hint}.")
    hint = "pass a field, a number or a func"
    if isinstance(arg, dict):
        hint = "make it a struct with ti.Struct()"
    if isinstance(arg, StepNumber):
        hint = "pass it to a kernel that dt.repeat() launches, as an argument of its own"
    raise taking.refusal(part, f"is {with_article(type(arg).__name__)}; {hint}.")


# The table

_SIMPLE = (float, int, str, Number)


def _is_of_numbers(kind: Kind) -> bool:
    """Tell whether a parameter takes a number of a type."""
    return kind == "float" or isinstance(kind, Scalar)


def _is_of_fields(kind: Kind) -> bool:
    """Tell whether a parameter takes fields only."""
    return kind == "field" or isinstance(kind, FieldOf)


def _is_static(value: object) -> bool:
    known = isinstance(value, (FunctionType, type(None)))
    meanings = OpName, FuncMeaning, TypeName, StructName, ClassName
    return known or isinstance(meaning_of(value), meanings)


def _is_struct(value: object, kind: Kind) -> bool:
    takes = kind in ("", "field") or isinstance(kind, Struct)
    return takes and members_of(value, kind) is not None


KINDS = (
    Row(
        lambda value, kind: isinstance(value, Opened), open=lambda one, _: (one.form, [*one.parts])
    ),
    Row(
        lambda value, kind: isinstance(value, ArrayLike),
        _take_field,
        fields=lambda name, field: ((name, field),),
    ),
    Row(
        lambda value, kind: isinstance(value, StructField),
        _take_struct,
        fields=lambda name, struct: struct.fields(name),
    ),
    # Numbers and texts
    Row(
        lambda value, kind: isinstance(value, _SIMPLE) and isinstance(kind, _TYPED),
        open=_refuse_for_type,
    ),
    Row(lambda value, kind: isinstance(value, _SIMPLE) and _is_of_fields(kind), _refuse_for_field),
    Row(lambda value, kind: isinstance(value, bool), _take_static),
    Row(
        lambda value, kind: (
            kind != "template"
            and isinstance(value, (float, Number) if kind != "float" else (float, int, Number))
        ),
        _take_float,
    ),
    Row(lambda value, kind: kind != "template" and isinstance(value, int), _take_integer),
    Row(lambda value, kind: _is_of_numbers(kind) and isinstance(value, str), _refuse_text),
    Row(lambda value, kind: isinstance(value, _SIMPLE), _take_static),
    # Values in whose place others are passed
    Row(is_shared, open=_open_array),
    Row(is_vector, open=open_vector),
    Row(lambda value, kind: isinstance(value, Grid), _take_grid),
    Row(_is_struct, open=_open_struct),
    # Objects
    Row(lambda value, kind: _is_of_fields(kind), _refuse_for_field),
    Row(lambda value, kind: _is_static(value), _take_static),
    Row(
        lambda value, kind: (
            isinstance(value, tuple) or kind == "template" or is_data_oriented(value)
        ),
        _take_followed,
    ),
    Row(lambda value, kind: True, _refuse),
)
"""The kinds of values: the first row that accepts a value is its kind."""
