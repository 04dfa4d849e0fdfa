"""What a single value among the arguments of a launch is: a table, one row a kind.

A row says which values are of the kind, and what they add to the key by which a kernel is
specialised, to the values of a launch, and to what later launches compare or fill in again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from types import FunctionType
from typing import Any, NoReturn, TypeAlias

from difftile.compile.annotations import FieldOf, Kind, check_element
from difftile.compile.arguments import Arguments
from difftile.compile.generated import CallId, Drawn, Grid
from difftile.compile.meanings import meaning_of
from difftile.compile.methods import is_data_oriented
from difftile.diagnostics import LaunchError, abbreviated, brief, with_article
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import TOO_LARGE
from difftile.fields.field import Field
from difftile.fields.number_field import NumberField
from difftile.fields.step_number import StepNumber
from difftile.fields.structs import StructField
from difftile.frontend.captures import key_of, plain
from difftile.frontend.parameters import (
    FLOAT,
    Given,
    NumberIn,
    SameAs,
    StaticArgument,
    StructOf,
    ThreadIndex,
    ViewOf,
    as_written,
)
from difftile.ir.types import (
    I32,
    I64,
    U64,
    FieldType,
    Scalar,
    integer_limits,
    is_float,
    shape_of,
)
from difftile.launch.array_arguments import ArrayArgument
from difftile.launch.open_arguments import OpenedArgument
from difftile.launch.prepared_launch import NumberSlot
from difftile.ops.vocabulary import FieldMeaning, FuncMeaning, OpName, Refused, StructName, TypeName
from difftile.records import dataclass

ArrayArguments: TypeAlias = Mapping[str, tuple[ArrayArgument, Given]]
"""The fields among the arguments by name, as arrays and in the words of the frontend."""


@dataclass
class ParsedArguments:
    """The arguments of a launch, parsed.

    Args:
        args: The arguments, followed by the parts of arguments of several values.
        several: The arguments of several values.
        key: The key by which the kernel is specialised.
        signature: The argument of each parameter in the words of the frontend, by name.
        values: Fields and numbers in the order of the parameters; structs member by member.
        numbers: The slots of the numbers among the values.
        objects: The arguments in which a launch looks names up: parameter, position, type.
        known: Those arguments, by parameter.
        statics: The arguments that are compiled in, by position.
        others: The positions of all other arguments, which are fields.
        arrays: The field passed for each array of the program, by parameter; members of structs
            as 'p.pos'.
        meanings: The meanings of those fields.
    """

    args: list[object] = field(default_factory=list[object])
    several: list[OpenedArgument] = field(default_factory=list[OpenedArgument])
    key: list[Hashable] = field(default_factory=list[Hashable])
    signature: dict[str, Given] = field(default_factory=dict[str, Given])
    values: Arguments = field(default_factory=list[Field | float])
    numbers: list[NumberSlot] = field(default_factory=list[NumberSlot])
    objects: list[tuple[str, int, type]] = field(default_factory=list[tuple[str, int, type]])
    known: dict[str, object] = field(default_factory=dict[str, object])
    statics: list[tuple[int, object]] = field(default_factory=list[tuple[int, object]])
    others: list[int] = field(default_factory=list[int])
    arrays: dict[str, Field] = field(default_factory=dict[str, Field])
    meanings: dict[str, FieldMeaning] = field(default_factory=dict[str, FieldMeaning])

    @property
    def positions(self) -> dict[str, int]:
        """The positions of the arguments in which names are looked up, by parameter."""
        return {name: position for name, position, _ in self.objects}


@dataclass(frozen=True, slots=True)
class ArgumentPart:
    """A single value among the arguments, by its position.

    Args:
        name: The parameter, and the way to the part: 'x', 'p.pos', 'v.1'.
        kind: The kind of value that the parameter takes.
        position: The position among the arguments and their parts.
        nested: Whether this is a part of an argument.
    """

    name: str
    kind: Kind
    position: int
    nested: bool = True

    @property
    def is_number(self) -> bool:
        """Whether the parameter takes a number of a type."""
        return self.kind == "float" or isinstance(self.kind, Scalar)

    @property
    def is_field(self) -> bool:
        """Whether the parameter takes fields only."""
        return self.kind == "field" or isinstance(self.kind, FieldOf)

    @property
    def integer(self) -> Scalar:
        """The type of an integer: without annotation ti.i32."""
        return self.kind if isinstance(self.kind, Scalar) else I32

    @property
    def shown(self) -> str:
        """The part as it is written in Python."""
        return as_written(self.name)


@dataclass(frozen=True, slots=True)
class Taking:
    """The arguments of a launch while they are taken one by one.

    Args:
        kernel: The kernel, for errors.
        takes_elements: The kernel is one over the elements of fields, which takes no numbers in
            fields.
        parsed: The arguments, to which each value adds its own.
        fields: The fields among them, by name.
    """

    kernel: object
    takes_elements: bool
    parsed: ParsedArguments
    fields: ArrayArguments

    def take(self, part: ArgumentPart) -> Given:
        """Add a value; return it in the words of the frontend.

        Raises:
            LaunchError: It is of no kind that a kernel takes, or does not fit its parameter.
        """
        arg = self.parsed.args[part.position]
        value = arg if isinstance(arg, (ArrayLike, StructField)) else plain(arg)
        return next(row for row in KINDS if row.accepts(value, part)).take(self, part, value)

    def refusal(self, part: ArgumentPart, what: str) -> LaunchError:
        """Return the error for a value that does not fit."""
        return LaunchError(f"{self.kernel!r}: '{part.shown}' {what}")


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of value.

    Args:
        accepts: Tells whether a value that a parameter is given is of the kind.
        take: Adds the value to the arguments.
    """

    accepts: Callable[[Any, ArgumentPart], bool]
    take: Callable[[Taking, ArgumentPart, Any], Given]


# Fields


def _take_field(taking: Taking, part: ArgumentPart, arg: ArrayLike) -> Given:
    """Add a field, or the number that it holds where the parameter is a number."""
    parsed = taking.parsed
    parsed.others.append(part.position)
    given = _given_field(taking, part.name, arg)
    if not _is_number(taking, part, arg):
        return given
    assert isinstance(given, (FieldType, SameAs, ViewOf))
    parsed.key.append("number")
    return NumberIn(given, part.kind if isinstance(part.kind, Scalar) else None)


def _is_number(taking: Taking, part: ArgumentPart, arg: ArrayLike) -> bool:
    """Tell whether a field is read where the kernel expects a number.

    Raises:
        LaunchError: The field does not hold a number.
    """
    if isinstance(arg, NumberField):
        return True
    if not part.is_number or (taking.takes_elements and not part.nested):
        return False
    if arg.shape or shape_of(arg.element):
        raise taking.refusal(part, f"is one number, not {brief(arg)}.")
    if isinstance(part.kind, Scalar) and is_float(arg.element):
        raise taking.refusal(part, f"is an integer, not {brief(arg)}.")
    check_element(taking.kernel, part.shown, part.kind, arg)
    return True


def _given_field(taking: Taking, name: str, arg: ArrayLike | StructField) -> Given:
    """Add a field, or the fields of a struct field."""
    parsed = taking.parsed
    if isinstance(arg, StructField):
        parsed.key.append((tuple(arg.members), arg.methods))
        members = [
            (key, _given_field(taking, f"{name}.{key}", one)) for key, one in arg.members.items()
        ]
        return StructOf(tuple(members), arg.methods)
    one, given = taking.fields[name]
    parsed.key.append(one.key)
    parsed.values += one.run_time
    return given


def _take_struct(taking: Taking, part: ArgumentPart, arg: StructField) -> Given:
    taking.parsed.others.append(part.position)
    return _given_field(taking, part.name, arg)


def _refuse_for_field(taking: Taking, part: ArgumentPart, arg: object) -> NoReturn:
    raise taking.refusal(part, f"is a field, not {brief(arg)}.")


# Indices of threads, and numbers


def _take_grid(taking: Taking, part: ArgumentPart, grid: Grid) -> Given:
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


def _is_static(arg: object) -> bool:
    simple = isinstance(arg, (FunctionType, str, int, float, type(None)))
    return simple or isinstance(meaning_of(arg), (OpName, FuncMeaning, TypeName, StructName))


KINDS = (
    Row(lambda arg, part: isinstance(arg, StructField), _take_struct),
    Row(lambda arg, part: isinstance(arg, ArrayLike), _take_field),
    Row(lambda arg, part: isinstance(arg, Grid) and not part.nested, _take_grid),
    Row(lambda arg, part: part.is_field, _refuse_for_field),
    Row(lambda arg, part: isinstance(arg, bool), _take_static),
    Row(
        lambda arg, part: (
            part.kind != "template"
            and isinstance(arg, (float, int) if part.kind == "float" else float)
        ),
        _take_float,
    ),
    Row(lambda arg, part: part.kind != "template" and isinstance(arg, int), _take_integer),
    Row(lambda arg, part: part.is_number and isinstance(arg, str), _refuse_text),
    Row(lambda arg, part: _is_static(arg), _take_static),
    Row(
        lambda arg, part: (
            isinstance(arg, tuple) or part.kind == "template" or is_data_oriented(arg)
        ),
        _take_followed,
    ),
    Row(lambda arg, part: True, _refuse),
)
"""The kinds of values: the first row that accepts a value takes it."""
