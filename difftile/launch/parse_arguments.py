"""The arguments of a launch: parsed into fields and numbers, and joined by captured values."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import FunctionType
from typing import TypeAlias, TypeGuard

from difftile.compile.annotations import FieldOf, Kind, check_element
from difftile.compile.arguments import Arguments
from difftile.compile.definition import Body
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
from difftile.frontend.captures import Capture, key_of, look_up, plain
from difftile.frontend.lower import (
    FLOAT,
    Given,
    NumberIn,
    SameAs,
    StaticArgument,
    StructOf,
    ThreadIndex,
    VectorOf,
    ViewOf,
    as_written,
    component_names,
)
from difftile.ir.nodes import Array
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
from difftile.launch.array_arguments import (
    ArrayArgument,
    array_arguments,
    first_given,
    meanings_of,
)
from difftile.launch.open_arguments import (
    Form,
    Members,
    Misfit,
    Numbers,
    OpenedArgument,
    Single,
    kept_parts,
    opened,
)
from difftile.launch.overlaps import together
from difftile.launch.prepared_launch import NumberSlot
from difftile.ops.vocabulary import FieldMeaning, FuncMeaning, OpName, Refused, StructName, TypeName
from difftile.records import dataclass
from difftile.substrate import Session, current_session

_ArrayArguments: TypeAlias = Mapping[str, tuple[ArrayArgument, Given]]
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
class _Part:
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
    def shown(self) -> str:
        """The part as it is written in Python."""
        return as_written(self.name)


def parse_arguments(
    kernel: object, body: Body, args: Sequence[object], session: Session
) -> ParsedArguments:
    """Return the arguments of a launch, parsed.

    Args:
        kernel: The kernel, for errors.
        body: The body of the kernel, with the kind of each parameter.
        args: The arguments.
        session: The session, to which the fields must belong.

    Raises:
        LaunchError: An argument is not one that a kernel takes, or does not fit its parameter.
    """
    parsed = ParsedArguments([*args])
    forms: dict[str, Form] = {}
    parts: list[_Part] = []
    for position, ((name, kind), arg) in enumerate(zip(body.kinds.items(), args, strict=True)):
        try:
            forms[name], values = opened(arg, kind)
        except Misfit as misfit:
            raise LaunchError(f"{kernel!r}: '{name}{misfit.path}' {misfit.reason}") from None
        if isinstance(forms[name], Single):
            parts.append(_Part(name, kind, position, nested=False))
        else:
            first = len(parsed.args)
            parsed.args += values
            parsed.several.append(kept_parts(position, forms[name], arg, values))
            parts += _parts(name, forms[name], iter(range(first, len(parsed.args))))
    fields = _array_arguments(parsed, parts, session)
    named = dict.fromkeys(part.name for part in parts)
    body.check(kernel, named | {name: one.value for name, (one, _) in fields.items()})
    parser = _Parser(kernel, body, parsed, iter(parts), fields)
    for name, form in forms.items():
        parsed.signature[name] = parser.given(form)
    return parsed


def _parts(name: str, form: Form, positions: Iterator[int]) -> Iterator[_Part]:
    """Yield the parts of an argument."""
    match form:
        case Single(kind):
            yield _Part(name, kind, next(positions))
        case Numbers(_, shape, component):
            for key in component_names(name, shape):
                yield _Part(key, component, next(positions))
        case Members(_, members):
            for key, member in members:
                yield from _parts(f"{name}.{key}", member, positions)


def _array_arguments(
    parsed: ParsedArguments, parts: Sequence[_Part], session: Session
) -> _ArrayArguments:
    """Return the fields among the arguments by name, and note which are separate arrays.

    Raises:
        LaunchError: Two fields share memory under different shapes.
    """
    leaves: list[tuple[str, object]] = []
    for part in parts:
        value = parsed.args[part.position]
        is_struct = isinstance(value, StructField)
        leaves += value.fields(part.name) if is_struct else [(part.name, value)]
    names = [name for name, _ in leaves]
    fields = array_arguments(together([value for _, value in leaves]))
    for one in fields.values():
        if one.value.base.storage.memory.pool is not session.pool:
            _ = one.value.base.buffer  # raises an error that tells why
    parsed.arrays = {names[k]: one for k, one in first_given(fields).items()}
    parsed.meanings = {names[k]: one for k, one in meanings_of(fields).items()}
    return {names[k]: (one, one.given(names)) for k, one in fields.items()}


@dataclass
class _Parser:
    """The arguments of a launch in the words of the frontend, as they are parsed.

    Args:
        kernel: The kernel, for errors.
        body: Its body.
        parsed: The arguments, to which each part adds its own.
        parts: The parts that are left, in order.
        fields: The fields among them, by name.
    """

    kernel: object
    body: Body
    parsed: ParsedArguments
    parts: Iterator[_Part]
    fields: _ArrayArguments

    def given(self, form: Form) -> Given:
        """Return the next argument."""
        if isinstance(form, Single):
            return self._single(next(self.parts))
        self.parsed.key.append(form)
        match form:
            case Numbers(_, shape):
                parts = [next(self.parts) for _ in range(math.prod(shape))]
                return VectorOf(shape, tuple(map(self._single, parts)))
            case Members(_, members, methods):
                return StructOf(tuple((key, self.given(one)) for key, one in members), methods)

    def _single(self, part: _Part) -> Given:
        parsed, arg = self.parsed, self.parsed.args[part.position]
        if isinstance(arg, (ArrayLike, StructField)):
            parsed.others.append(part.position)
            given = self._field(part.name, arg)
            if not self._is_number(arg, part):
                return given
            assert isinstance(given, (FieldType, SameAs, ViewOf))
            parsed.key.append("number")
            return NumberIn(given, part.kind if isinstance(part.kind, Scalar) else None)
        if isinstance(arg, Grid) and not part.nested:
            parsed.statics.append((part.position, arg))
            return self._grid(part.name, arg)
        given, key = _number_or_static(self.kernel, part, arg)
        parsed.key.append(key)
        if not isinstance(given, StaticArgument):
            type_ = part.kind if isinstance(part.kind, Scalar) else I32
            slot = NumberSlot(part.position, len(parsed.values), type(arg), type(given))
            if isinstance(given, int):
                low, high = integer_limits(type_)
                slot = replace(slot, low=low, high=high + 1)
            parsed.numbers.append(slot)
            parsed.values.append(given)
            return FLOAT if isinstance(given, float) else type_
        if given.followed:
            parsed.objects.append((part.name, part.position, type(arg)))
            parsed.known[part.name] = arg
        else:
            parsed.statics.append((part.position, arg))
        return given

    def _is_number(self, arg: ArrayLike | StructField, part: _Part) -> TypeGuard[ArrayLike]:
        """Tell whether a field is read where the kernel expects a number.

        Raises:
            LaunchError: The field does not hold a number.
        """
        if isinstance(arg, NumberField):
            return True
        is_number = part.kind == "float" or isinstance(part.kind, Scalar)
        is_number = is_number and (part.nested or not self.body.takes_elements)
        if not (is_number and isinstance(arg, ArrayLike)):
            return False
        if arg.shape or shape_of(arg.element):
            raise LaunchError(f"{self.kernel!r}: '{part.shown}' is one number, not {brief(arg)}.")
        if isinstance(part.kind, Scalar) and is_float(arg.element):
            raise LaunchError(f"{self.kernel!r}: '{part.shown}' is an integer, not {brief(arg)}.")
        check_element(self.kernel, part.shown, part.kind, arg)
        return True

    def _field(self, name: str, arg: ArrayLike | StructField) -> Given:
        """Add a field, or the fields of a struct field."""
        if isinstance(arg, StructField):
            self.parsed.key.append((tuple(arg.members), arg.methods))
            given = tuple(
                (key, self._field(f"{name}.{key}", member)) for key, member in arg.members.items()
            )
            return StructOf(given, arg.methods)
        one, given = self.fields[name]
        self.parsed.key.append(one.key)
        self.parsed.values += one.run_time
        return given

    def _grid(self, name: str, grid: Grid) -> Given:
        for other, given in self.parsed.signature.items():
            if isinstance(given, ThreadIndex):
                raise LaunchError(
                    f"{self.kernel!r}: '{other}' and '{name}' are both a dt.grid; a thread has one "
                    "index: pass only one of them."
                )
        self.parsed.key.append(("grid", len(grid.shape)))
        self.parsed.values += grid.shape
        return ThreadIndex(len(grid.shape))


def _number_or_static(
    kernel: object, part: _Part, arg: object
) -> tuple[StaticArgument | float | int, Hashable]:
    """Return a run-time number, or an argument that the kernel is specialised on, and the key."""
    name, kind = part.shown, part.kind
    if kind == "field" or isinstance(kind, FieldOf):
        raise LaunchError(f"{kernel!r}: '{name}' is a field, not {brief(arg)}.")
    arg = plain(arg)
    if isinstance(arg, bool):
        return StaticArgument(arg), ("known", key_of(arg))
    if kind != "template":
        if isinstance(arg, float) or (isinstance(arg, int) and kind == "float"):
            if isinstance(kind, Scalar):
                raise LaunchError(f"{kernel!r}: '{name}' is an integer, not {brief(arg)}.")
            try:
                return float(arg), "float"
            except OverflowError:
                shown = abbreviated(arg)
                raise LaunchError(f"{kernel!r}: '{name}' = {shown}; {TOO_LARGE}.") from None
        if isinstance(arg, int):
            _check_limits(kernel, part, arg)
            return arg, "int"
        if (kind == "float" or isinstance(kind, Scalar)) and isinstance(arg, str):
            what = "a number" if kind == "float" else "an integer"
            raise LaunchError(f"{kernel!r}: '{name}' is {what}, not {brief(arg)}.")
    simple = isinstance(arg, (FunctionType, str, int, float, type(None)))
    meaning = meaning_of(arg)
    if simple or isinstance(meaning, (OpName, FuncMeaning, TypeName, StructName)):
        return StaticArgument(arg), ("known", key_of(arg))
    shown = type(arg)
    followed = issubclass(shown, tuple) or kind == "template" or is_data_oriented(arg)
    if followed:
        return StaticArgument(arg, followed=True), ("object", type(arg))
    if isinstance(meaning, Refused):
        what = meaning.what[:1].lower() + meaning.what[1:]
        raise LaunchError(f"{kernel!r}: '{name}' is {what}; {meaning.hint}")
    hint = "pass a field, a number or a func"
    if isinstance(arg, (CallId, Drawn)):
        drawn = isinstance(arg, Drawn)
        hint = f"draw in the kernel: 'dt.{arg.name}()'" if drawn else "pass dt.grid(shape)"
        raise LaunchError(f"{kernel!r}: '{name}' is {arg!r}, which funcs take; {hint}.")
    if isinstance(arg, dict):
        hint = "make it a struct with ti.Struct()"
    if isinstance(arg, StepNumber):
        hint = "pass it to a kernel that dt.repeat() launches, as an argument of its own"
    raise LaunchError(f"{kernel!r}: '{name}' is {with_article(shown.__name__)}; {hint}.")


def _check_limits(kernel: object, part: _Part, number: int) -> None:
    """Check that an integer is one of the type that its parameter has: without annotation ti.i32.

    Raises:
        LaunchError: It is not.
    """
    type_ = part.kind if isinstance(part.kind, Scalar) else I32
    if _holds(type_, number):
        return
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
    raise LaunchError(f"{kernel!r}: '{part.shown}' = {abbreviated(number)} {what}; {hint}.")


def _holds(type_: Scalar, number: int) -> bool:
    low, high = integer_limits(type_)
    return low <= number <= high


def current_captures(
    captures: tuple[Capture, ...], arrays: Mapping[str, Field], known: Mapping[str, object]
) -> Arguments | None:
    """Return the values of captured parameters now, or None if the specialisation does not fit.

    Args:
        captures: The captures of the specialisation.
        arrays: The field passed for each array. A captured field shares memory with one of them,
            or with another captured field, exactly if it did when the kernel was compiled.
        known: The arguments in which a capture may be found, by parameter.
    """
    values: Arguments = []
    met = {field.storage for field in arrays.values()}
    at = dict(arrays)
    for capture in captures:
        value = look_up(capture.path, known)
        param = capture.param
        if capture.same_as is not None:
            one = at[capture.same_as.name]
            if not isinstance(value, Field):
                return None
            if value.storage is not one.storage or value.shape != one.shape:
                return None
        elif param is None:
            if key_of(value) != capture.key:
                return None
        elif isinstance(param, Array):
            if not isinstance(value, Field) or value.type is not param.type:
                return None
            if value.storage.memory.pool is not current_session().pool:
                _ = value.buffer  # raises an error that tells why
            if value.storage in met:
                return None
            met.add(value.storage)
            at[param.name] = value
            values.append(value)
        else:
            number = plain(value, capture.path)
            if not isinstance(number, int if param.type == I32 else float):
                return None
            values.append(number)
    return values
