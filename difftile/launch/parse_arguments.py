"""The arguments of a launch: parsed into fields and numbers, and joined by captured values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import TypeGuard

from difftile.compile.arguments import Arguments
from difftile.compile.definition import Body
from difftile.compile.generated import Grid
from difftile.compile.meanings import meaning_of
from difftile.compile.methods import is_data_oriented
from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.number_field import NumberField
from difftile.fields.structs import StructField
from difftile.fields.tracked import TrackedFloat
from difftile.frontend.captures import Capture, key_of, look_up, plain
from difftile.frontend.lower import (
    FLOAT,
    Given,
    Members,
    NumberIn,
    SameAs,
    StaticArgument,
    Threads,
    ViewOf,
)
from difftile.ir.nodes import Array
from difftile.ir.types import I32, FieldType, is_float, shape_of
from difftile.launch.array_arguments import (
    ArrayArgument,
    array_arguments,
    first_given,
    meanings_of,
)
from difftile.launch.prepared_launch import NumberSlot
from difftile.ops.vocabulary import FieldMeaning, FuncMeaning, OpName, StructName, TypeName
from difftile.substrate import Session

_I32_LIMIT = 2**31


@dataclass
class ParsedArguments:
    """The arguments of a launch, parsed.

    Args:
        key: The key by which the kernel is specialised.
        signature: The argument of each parameter in the words of the frontend, by name.
        values: Fields and numbers in the order of the parameters; those of a struct one by one.
        numbers: The slots of the numbers among the values.
        objects: The arguments in which a launch looks names up: parameter, position, type.
        known: Those arguments, by parameter.
        others: The positions of all other arguments.
        arrays: The field passed for each array of the program, by parameter; members of struct
            fields as 'p.pos'.
        meanings: The meanings of those fields.
    """

    key: list[Hashable] = field(default_factory=list[Hashable])
    signature: dict[str, Given] = field(default_factory=dict[str, Given])
    values: Arguments = field(default_factory=list[Field | float])
    numbers: list[NumberSlot] = field(default_factory=list[NumberSlot])
    objects: list[tuple[str, int, type]] = field(default_factory=list[tuple[str, int, type]])
    known: dict[str, object] = field(default_factory=dict[str, object])
    others: list[int] = field(default_factory=list[int])
    arrays: dict[str, Field] = field(default_factory=dict[str, Field])
    meanings: dict[str, FieldMeaning] = field(default_factory=dict[str, FieldMeaning])

    @property
    def positions(self) -> dict[str, int]:
        """The positions of the arguments in which names are looked up, by parameter."""
        return {name: position for name, position, _ in self.objects}


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
    parsed, kinds = ParsedArguments(), body.kinds
    leaves: list[tuple[str, object]] = []
    for name, arg in zip(kinds, args, strict=True):
        leaves += arg.fields(name) if isinstance(arg, StructField) else [(name, arg)]
    names = [name for name, _ in leaves]
    fields = array_arguments([value for _, value in leaves])
    for one in fields.values():
        if one.value.base.storage.buffer.pool is not session.pool:
            _ = one.value.base.buffer  # raises an error that tells why
    parsed.arrays = {names[k]: one for k, one in first_given(fields).items()}
    parsed.meanings = {names[k]: one for k, one in meanings_of(fields).items()}
    by_name = {names[k]: one for k, one in fields.items()}
    for position, ((name, kind), arg) in enumerate(zip(kinds.items(), args, strict=True)):
        if isinstance(arg, (ArrayLike, StructField)):
            given = _given_field(parsed, by_name, names, name, arg)
            if _is_number(arg, kind, body):
                assert isinstance(given, (FieldType, SameAs, ViewOf))
                _check_number(kernel, name, kind, arg)
                given = NumberIn(given, integer=kind == "int")
                parsed.key.append("number")
            parsed.signature[name] = given
            parsed.others.append(position)
            continue
        if isinstance(arg, Grid):
            for other, given in parsed.signature.items():
                if isinstance(given, Threads):
                    raise LaunchError(
                        f"{kernel!r}: '{other}' and '{name}' are both a dt.grid; a thread has one "
                        "index: pass only one of them."
                    )
            parsed.key.append(("grid", len(arg.shape)))
            parsed.signature[name] = Threads(len(arg.shape))
            parsed.values += arg.shape
            parsed.others.append(position)
            continue
        given, key = _number_or_static(kernel, name, kind, arg)
        parsed.key.append(key)
        if isinstance(given, StaticArgument):
            parsed.signature[name] = given
            if given.followed:
                parsed.objects.append((name, position, type(arg)))
                parsed.known[name] = arg
            else:
                parsed.others.append(position)
            continue
        parsed.signature[name] = FLOAT if isinstance(given, float) else I32
        parsed.numbers.append(NumberSlot(position, len(parsed.values), type(arg), type(given)))
        parsed.values.append(given)
    return parsed


def _given_field(
    parsed: ParsedArguments,
    fields: Mapping[str, ArrayArgument],
    names: Sequence[str],
    name: str,
    arg: ArrayLike | StructField,
) -> Given:
    """Add a field, or the fields of a struct field, and return it in the words of the frontend."""
    if isinstance(arg, StructField):
        parsed.key.append((tuple(arg.members), arg.methods))
        given = tuple(
            (key, _given_field(parsed, fields, names, f"{name}.{key}", member))
            for key, member in arg.members.items()
        )
        return Members(given, arg.methods)
    one = fields[name]
    parsed.key.append(one.key)
    parsed.values += one.run_time
    return one.given(names)


def _is_number(arg: ArrayLike | StructField, kind: str, body: Body) -> TypeGuard[ArrayLike]:
    """Tell whether a field is read where the kernel expects a number."""
    if isinstance(arg, NumberField):
        return True
    return not body.takes_elements and kind in ("float", "int") and isinstance(arg, ArrayLike)


def _check_number(kernel: object, name: str, kind: str, arg: ArrayLike) -> None:
    """Check that a field holds the number that a parameter expects."""
    if arg.shape or shape_of(arg.element):
        raise LaunchError(f"{kernel!r}: '{name}' is one number, not {arg!r}.")
    if kind == "int" and is_float(arg.element):
        raise LaunchError(f"{kernel!r}: '{name}' is an integer, not {arg!r}.")


def _number_or_static(
    kernel: object, name: str, kind: str, arg: object
) -> tuple[StaticArgument | float | int, Hashable]:
    """Return a run-time number, or an argument that the kernel is specialised on, and the key."""
    if kind == "field":
        raise LaunchError(f"{kernel!r}: '{name}' is a field, not {arg!r}.")
    arg = plain(arg)
    if isinstance(arg, bool):
        return StaticArgument(arg), ("known", key_of(arg))
    if kind != "template":
        if isinstance(arg, float) or (isinstance(arg, int) and kind == "float"):
            if kind == "int":
                raise LaunchError(f"{kernel!r}: '{name}' is an integer, not {arg!r}.")
            return arg if isinstance(arg, TrackedFloat) else float(arg), "float"
        if isinstance(arg, int):
            if not -_I32_LIMIT <= arg < _I32_LIMIT:
                raise LaunchError(f"{kernel!r}: '{name}' = {arg} does not fit 32 bits.")
            return arg, "int"
    simple = isinstance(arg, (FunctionType, str, int, float, type(None)))
    if simple or isinstance(meaning_of(arg), (OpName, FuncMeaning, TypeName, StructName)):
        return StaticArgument(arg), ("known", key_of(arg))
    shown = type(arg)
    followed = issubclass(shown, tuple) or kind == "template" or is_data_oriented(arg)
    if followed:
        return StaticArgument(arg, followed=True), ("object", type(arg))
    hint = (
        "make it a field with dt.from_numpy()"
        if hasattr(arg, "__array__")
        else "pass a field, a number or a func"
    )
    name_of_type = shown.__name__
    article = "an" if name_of_type[0] in "aeiou" or name_of_type == "ndarray" else "a"
    raise LaunchError(f"{kernel!r}: '{name}' is {article} {name_of_type}; {hint}.")


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
            _ = value.buffer  # raises if it was made before the last start
            if value.storage in met:
                return None
            met.add(value.storage)
            at[param.name] = value
            values.append(value)
        else:
            number = plain(value)
            if not isinstance(number, int if param.type == I32 else float):
                return None
            values.append(number)
    return values
