"""What a launch passes: arguments taken apart into fields and numbers, and what is captured."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, cast

from difftile.compile.generated import Grid
from difftile.compile.meanings import meaning_of
from difftile.compile.methods import is_data_oriented
from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.structs import StructField
from difftile.fields.tracked import TrackedFloat
from difftile.frontend.captures import Capture, key_of, look_up, plain
from difftile.frontend.lower import FLOAT, Given, Members, StaticArgument, Threads
from difftile.ir.nodes import Array
from difftile.ir.types import I32
from difftile.launch.array_arguments import ArrayArgument, first_given, meanings_of, passed
from difftile.launch.prepared_launch import NumberSlot
from difftile.ops.vocabulary import FieldMeaning, FuncMeaning, OpName, StructName, TypeName
from difftile.substrate import Session

_I32_LIMIT = 2**31


@dataclass
class ParsedArguments:
    """The arguments of a launch, taken apart.

    Args:
        key: What the kernel is specialised on.
        signature: What each parameter is given, by name.
        values: Fields and numbers in the order of the parameters; those of a struct one by one.
        numbers: Which of the values are numbers among the arguments.
        objects: The arguments of which a launch takes what is in them.
        known: Those arguments, by parameter.
        others: The positions of all other arguments.
        arrays: The field passed for each array of the program, by parameter; members of struct
            fields as 'p.pos'.
        meanings: What those fields mean.
    """

    key: list[Hashable] = field(default_factory=list[Any])
    signature: dict[str, Given] = field(default_factory=dict[str, Any])
    values: list[Any] = field(default_factory=list[Any])
    numbers: list[NumberSlot] = field(default_factory=list[NumberSlot])
    objects: list[tuple[str, int, type]] = field(default_factory=list[Any])
    known: dict[str, Any] = field(default_factory=dict[str, Any])
    others: list[int] = field(default_factory=list[int])
    arrays: dict[str, Field] = field(default_factory=dict[str, Field])
    meanings: dict[str, FieldMeaning] = field(default_factory=dict[str, FieldMeaning])


def parse_arguments(
    kernel: object, kinds: Mapping[str, str], args: Sequence[Any], session: Session
) -> ParsedArguments:
    """Return the arguments of a launch, taken apart.

    Raises:
        LaunchError: One is nothing that a kernel takes, or not what its parameter asks for.
    """
    taken = ParsedArguments()
    leaves = [leaf for name, arg in zip(kinds, args, strict=True) for leaf in _leaves(name, arg)]
    names = [name for name, _ in leaves]
    fields = passed([value for _, value in leaves])
    for one in fields.values():
        if one.value.base.storage.buffer.pool is not session.pool:
            _ = one.value.base.buffer  # raises the error that says what happened
    taken.arrays = {names[k]: one for k, one in first_given(fields).items()}
    taken.meanings = {names[k]: one for k, one in meanings_of(fields).items()}
    by_name = {names[k]: one for k, one in fields.items()}
    for position, ((name, kind), arg) in enumerate(zip(kinds.items(), args, strict=True)):
        if isinstance(arg, (ArrayLike, StructField)):
            taken.signature[name] = _take_field(taken, by_name, names, name, arg)
            taken.others.append(position)
            continue
        if isinstance(arg, Grid):
            _check_one_grid(kernel, taken, name)
            taken.key.append(("grid", len(arg.shape)))
            taken.signature[name] = Threads(len(arg.shape))
            taken.values += arg.shape
            taken.others.append(position)
            continue
        known, key = _known(kernel, name, kind, arg)
        taken.key.append(key)
        if isinstance(known, StaticArgument):
            taken.signature[name] = known
            if known.followed:
                taken.objects.append((name, position, _type(arg)))
                taken.known[name] = arg
            else:
                taken.others.append(position)
            continue
        taken.signature[name] = FLOAT if isinstance(known, float) else I32
        taken.numbers.append(NumberSlot(position, len(taken.values), _type(arg), _type(known)))
        taken.values.append(known)
    return taken


def _check_one_grid(kernel: object, taken: ParsedArguments, name: str) -> None:
    for other, given in taken.signature.items():
        if isinstance(given, Threads):
            raise LaunchError(
                f"{kernel!r}: '{other}' and '{name}' are both a dt.grid; a thread has one index."
            )


def _leaves(name: str, arg: Any) -> list[tuple[str, Any]]:
    """Return an argument, or the fields of a struct field, with the names of their parameters."""
    return list(arg.fields(name)) if isinstance(arg, StructField) else [(name, arg)]


def _take_field(
    taken: ParsedArguments,
    fields: Mapping[str, ArrayArgument],
    names: Sequence[str],
    name: str,
    arg: ArrayLike | StructField,
) -> Given:
    if isinstance(arg, StructField):
        taken.key.append((tuple(arg.members), arg.methods))
        given = tuple(
            (key, _take_field(taken, fields, names, f"{name}.{key}", member))
            for key, member in arg.members.items()
        )
        return Members(given, arg.methods)
    one = fields[name]
    taken.key.append(one.key)
    taken.values += one.run_time
    return one.given(names)


def _known(
    kernel: object, name: str, wanted: str, arg: Any
) -> tuple[StaticArgument | float | int, Hashable]:
    """Return an argument that is no field as a run-time number or as known, and its key."""
    if wanted == "field":
        raise LaunchError(f"{kernel!r}: '{name}' is a field, not {arg!r}.")
    arg = plain(arg)
    if isinstance(arg, bool):
        return StaticArgument(arg), ("known", _Identity(arg))
    if wanted != "template":
        if isinstance(arg, float) or (isinstance(arg, int) and wanted == "float"):
            if wanted == "int":
                raise LaunchError(f"{kernel!r}: '{name}' is an integer, not {arg!r}.")
            return arg if isinstance(arg, TrackedFloat) else float(arg), "float"
        if isinstance(arg, int):
            if not -_I32_LIMIT <= arg < _I32_LIMIT:
                raise LaunchError(f"{kernel!r}: '{name}' = {arg} does not fit 32 bits.")
            return arg, "int"
    simple = isinstance(arg, (FunctionType, str, int, float, type(None)))
    if simple or isinstance(meaning_of(arg), (OpName, FuncMeaning, TypeName, StructName)):
        return StaticArgument(arg), ("known", _Identity(arg))
    if isinstance(arg, tuple) or wanted == "template" or is_data_oriented(arg):
        return StaticArgument(cast(object, arg), followed=True), (
            "object",
            _type(cast(object, arg)),
        )
    shown = type(arg).__name__
    hint = (
        "make it a field with dt.from_numpy()"
        if hasattr(arg, "__array__")
        else ("pass a field, a number or a func")
    )
    article = "an" if shown[0] in "aeiou" or shown == "ndarray" else "a"
    raise LaunchError(f"{kernel!r}: '{name}' is {article} {shown}; {hint}.")


def _type(value: object) -> type:
    return type(value)


class _Identity:
    """A key for any Python object: equal values of plain types, the same object otherwise."""

    __slots__ = ("_key", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value  # kept alive, so that its id is not used again
        simple = isinstance(value, (bool, int, float, str, type(None)))
        self._key: Hashable = key_of(value) if not simple else (type(value).__name__, value)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self._key == other._key


def current_captures(
    captures: tuple[Capture, ...], arrays: Mapping[str, Field], known: Mapping[str, Any]
) -> list[Any] | None:
    """Return the values of captured parameters now, or None if the specialisation does not fit.

    Args:
        captures: What the specialisation took from outside.
        arrays: The field passed for each array. A captured field shares memory with one of them,
            or with another captured field, exactly if it did when the kernel was compiled.
        known: The arguments in which a capture may be found, by parameter.
    """
    values: list[Any] = []
    taken = {field.storage for field in arrays.values()}
    at = dict(arrays)
    for capture in captures:
        value = look_up(capture.path, known)
        param = capture.param
        if capture.same_as is not None:
            if not isinstance(value, Field) or not _is_one(value, at[capture.same_as.name]):
                return None
        elif param is None:
            if key_of(value) != capture.key:
                return None
        elif isinstance(param, Array):
            if not isinstance(value, Field) or value.type is not param.type:
                return None
            _ = value.buffer  # raises if it was made before the last start
            if value.storage in taken:
                return None
            taken.add(value.storage)
            at[param.name] = value
            values.append(value)
        else:
            number = plain(value)
            if not isinstance(number, int if param.type == I32 else float):
                return None
            values.append(number)
    return values


def _is_one(a: Field, b: Field) -> bool:
    return a.storage is b.storage and a.shape == b.shape
