"""Arguments of several values: vectors, matrices and structs, opened into their parts.

A part is a number, a field or anything else that a kernel takes. Parts come after the arguments of
the call, so that later steps see single values only.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.compile.annotations import FieldOf, Kind, kind_of_number
from difftile.compile.arguments import CallArgs
from difftile.compile.meanings import meaning_of
from difftile.compile.methods import is_data_oriented, is_frozen
from difftile.diagnostics import FieldError, abbreviated, brief, counted, did_you_mean, with_article
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import field_of, host_values, is_array
from difftile.fields.elements import Shaped
from difftile.fields.exchange import TOO_LARGE
from difftile.fields.numbers import Number, numbers_in
from difftile.fields.structs import StructElement, StructField, values_of
from difftile.frontend.captures import plain
from difftile.ir.types import (
    BOOL,
    FLOATS,
    I32,
    Matrix,
    Scalar,
    Struct,
    Type,
    Vector,
    scalar_of,
    shape_of,
)
from difftile.lang.meanings import vector_values
from difftile.lang.structs import methods_of, struct_values
from difftile.ops.vocabulary import FuncMeaning
from difftile.records import dataclass

Methods: TypeAlias = tuple[tuple[str, Any], ...]
Shape: TypeAlias = tuple[int, ...]

_MOST_NUMBERS = 64  # of a vector or matrix: an 8x8 matrix
_SIMPLE = (float, int, str, Number)
_INTEGERS = {int, bool}
_FLOATS = {float, Number}


@dataclass(frozen=True, slots=True)
class Single:
    """The form of an argument, or of a part of one, that is one value of some kind."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Numbers:
    """The form of a vector or matrix: its parts are its components, row after row.

    A component is a number, or a field of shape () that holds one.
    """

    kind: Kind
    shape: Shape
    component: Kind


@dataclass(frozen=True, slots=True)
class Members:
    """The form of a struct, whose parts are the parts of its members."""

    kind: Kind
    members: tuple[tuple[str, Form], ...]
    methods: Methods


Form: TypeAlias = Single | Numbers | Members
Parts: TypeAlias = list[object]


@dataclass(frozen=True, slots=True)
class Opened:
    """An argument of several values in the form and the parts that were found in it."""

    form: Form
    parts: tuple[object, ...]


_Struct: TypeAlias = tuple[Mapping[str, object], Methods, Struct | None]


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


@dataclass(frozen=True, slots=True)
class OpenedArgument:
    """An argument of several values: its position, and its form in a launch.

    The parts of a struct that cannot change are kept with it.
    """

    position: int
    form: Form
    value: object = None
    parts: Parts | None = None


def kept_parts(position: int, form: Form, value: object, parts: Parts) -> OpenedArgument:
    """Return an argument of several values, with its parts if these stay the same."""
    members = _members(value, form.kind) if is_frozen(value) else None
    if members is not None and all(isinstance(one, ArrayLike) for one in members[0].values()):
        return OpenedArgument(position, form, value, parts)
    return OpenedArgument(position, form)


def opened_again(several: Sequence[OpenedArgument], args: CallArgs) -> CallArgs | None:
    """Return the arguments of a launch and their parts; None if one has another form now.

    The caller checks whether single parts are still of their kind.
    """
    found = list(args)
    try:
        for one in several:
            if one.parts is not None and args[one.position] is one.value:
                found += one.parts
            elif not _add_parts(found, args[one.position], one.form):
                return None
    except Misfit:
        return None
    return tuple(found)


def _add_parts(found: Parts, value: object, form: Form) -> bool:
    """Append the parts of a value to a list; return False if it does not have the form."""
    if isinstance(value, Opened):
        found += value.parts
        return value.form == form
    if isinstance(form, Single):
        found.append(shared(value, form.kind) if is_array(value) else value)
        return True
    if isinstance(form, Numbers):
        now, parts = opened(value, form.kind)
        found += parts
        return now is form
    members = _members(value, form.kind)
    if members is None or len(members[0]) != len(form.members) or members[1] != form.methods:
        return False
    given = members[0]
    return all(k in given and _add_parts(found, given[k], one) for k, one in form.members)


def opened(value: object, kind: Kind) -> tuple[Form, Parts]:
    """Return the form of an argument, and its parts.

    Args:
        value: The argument.
        kind: The kind of the parameter, or the type that it is annotated with. Without one, a list
            of numbers is a vector, and an array is a field.

    Raises:
        Misfit: The value does not fit the kind.
    """
    if isinstance(value, Opened):
        return value.form, [*value.parts]
    if isinstance(value, np.ndarray) and numbers_in(value):
        value = cast("npt.NDArray[Any]", value).tolist()
    if is_array(value) and not isinstance(kind, (Vector, Matrix, Struct)):
        return Single(kind), [shared(value, kind)]
    if kind == "template" or isinstance(value, (ArrayLike, StructField, *_SIMPLE)):
        if isinstance(value, _SIMPLE) and isinstance(kind, (Vector, Matrix, Struct)):
            raise Misfit(f"takes {_named(kind)}, not {brief(value)}.")
        return Single(kind), [value]
    if isinstance(kind, (Vector, Matrix)):
        return _as_declared(value, kind)
    if kind == "":
        array = vector_values(value)
        if array is not None:
            return _numbers(kind, array.shape, _listed(array))
        if type(value) is list:
            return _numbers(kind, *_nested(cast("list[object]", value)))
    if kind in ("", "field") or isinstance(kind, Struct):
        members = _members(value, kind)
        if members is not None:
            return _struct(kind, *members)
    return Single(kind), [value]


def shared(array: object, kind: Kind) -> ArrayLike:
    """Return the field over the memory of an array of another library.

    Raises:
        Misfit: Fields cannot share it.
    """
    try:
        return field_of(array, kind.dtype if isinstance(kind, FieldOf) else None)
    except FieldError as error:
        raise Misfit(f"makes no field. {error}") from None


def parts_of(value: object, kind: Kind) -> Parts:
    """Return the parts of an argument; none if it does not fit, which the launch will report."""
    try:
        return opened(value, kind)[1]
    except Misfit:
        return []


def fields_in(value: object, kind: Kind) -> list[ArrayLike | StructField]:
    """Return the fields in an argument, or the argument itself if it is one."""
    return [p for p in parts_of(value, kind) if isinstance(p, (ArrayLike, StructField))]


# Vectors and matrices


def _as_declared(value: object, type_: Vector | Matrix) -> tuple[Form, Parts]:
    """Return a vector or matrix in the type that its parameter is annotated with."""
    array = _as_array(value)
    if array is not None:
        shape, numbers = array.shape, _listed(array)
    elif isinstance(value, (list, tuple)):
        shape, numbers = _nested(cast("Sequence[object]", value))
    else:
        return Single(type_), [value]
    if shape != shape_of(type_):
        what = f"takes {_named(type_)} and is given {_shown(shape)}."
        if len(shape) > len(shape_of(type_)):
            what += " Annotate a field of such elements with 'ti.types.ndarray(dtype=...)'."
        raise Misfit(what)
    return _numbers(type_, shape, numbers)


def _numbers(kind: Kind, shape: Shape, numbers: list[Any]) -> tuple[Form, Parts]:
    """Return a vector or matrix of some numbers, row after row."""
    kinds = set(map(type, numbers))
    has_floats = not kinds.isdisjoint(_FLOATS) or any(map(_is_float_field, numbers))
    is_float = scalar_of(kind) in FLOATS if isinstance(kind, (Vector, Matrix)) else has_floats
    component: Kind = "float"
    if not is_float:
        declared = isinstance(kind, (Vector, Matrix)) and scalar_of(kind) != BOOL
        component = scalar_of(kind) if declared else I32
    if has_floats and not is_float:
        raise Misfit("holds integers and is given floats; round them: 'v.astype(int)'.")
    if is_float and not kinds <= _FLOATS:
        numbers = [_as_float(one) if type(one) in _INTEGERS else one for one in numbers]
    elif not is_float and bool in kinds:
        numbers = [int(one) for one in numbers]
    return _form(kind, shape, component), numbers


def _is_float_field(number: object) -> bool:
    return isinstance(number, ArrayLike) and scalar_of(number.element) in FLOATS


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise Misfit(f"has the component {abbreviated(number)}; {TOO_LARGE}.") from None


@cache
def _form(kind: Kind, shape: Shape, component: Kind) -> Numbers:
    """Return the form of a vector or matrix; equal forms are the same object."""
    if not 1 <= len(shape) <= 2 or not 1 <= math.prod(shape) <= _MOST_NUMBERS:
        raise Misfit(
            f"is given {_shown(shape)}; vectors and matrices have 1 to {_MOST_NUMBERS} components. "
            "Make it a field with dt.from_numpy()."
        )
    return Numbers(kind, shape, component)


def _listed(array: npt.NDArray[Any]) -> list[Any]:
    """Return the numbers of an array as Python's own, row after row.

    Raises:
        Misfit: The array does not hold numbers.
    """
    if array.dtype.kind not in "biuf" and not numbers_in(array):
        raise Misfit(f"takes an array of numbers, not of {array.dtype}.")
    return (array if array.ndim == 1 else array.ravel()).tolist()


def _nested(rows: Sequence[object]) -> tuple[Shape, list[Any]]:
    """Return the shape of a list of numbers, or of a list of rows, and all numbers in order.

    Raises:
        Misfit: There is something else in it, or the rows have different lengths.
    """
    found: list[Any] = []
    shapes: set[Shape] = set()
    for k, row in enumerate(rows):
        shape: Shape = ()
        if isinstance(row, (float, int, Number)):
            found.append(row if isinstance(row, Number) else plain(row))
        elif isinstance(row, ArrayLike) and not row.shape and not shape_of(row.element):
            found.append(row)
        elif isinstance(row, (list, tuple)):
            shape, numbers = _nested(cast("Sequence[object]", row))
            found += numbers
        elif (array := _as_array(row)) is not None and array.ndim:
            shape = array.shape
            found += _listed(array)
        else:
            number = plain(row)
            if not isinstance(number, (float, int)):
                shown = with_article(type(row).__name__)
                hint = "a list of numbers is a vector"
                if isinstance(row, Shaped):
                    hint += ", and fields are passed as a tuple"
                raise Misfit(f"is {shown}; {hint}.", f"[{k}]")
            found.append(number)
        shapes.add(shape)
    if len(shapes) > 1:
        raise Misfit("has rows of different lengths; those of a matrix are equally long.")
    return (len(rows), *shapes.pop()) if shapes else (0,), found


def _as_array(value: object) -> npt.NDArray[Any] | None:
    if not is_array(value):
        return vector_values(value)
    try:
        return host_values(value)
    except FieldError as error:
        raise Misfit(f"is no vector or matrix here. {error}") from None


# Structs


def _members(value: object, kind: Kind) -> _Struct | None:
    """Return the members of a struct by name, its methods, and its type where that is known.

    Args:
        value: The object; for others than structs the result is None.
        kind: The kind of the parameter. For one that is annotated with a type of structs, a dict
            may be one of these.
    """
    type_ = kind if isinstance(kind, Struct) else None
    found, methods = struct_values(value), ()
    if found is not None:
        methods = methods_of(value)
    elif isinstance(value, StructElement):
        found, struct = values_of(value)
        type_ = struct if type_ is None else type_
    elif type_ is not None and isinstance(value, dict):
        found = cast("dict[str, object]", value)
    else:
        names = _fields_of(type(value))
        if names is None or is_data_oriented(value):
            return None
        found, methods = {name: getattr(value, name) for name in names}, _methods_of(type(value))
    return found, methods if type_ is None else type_.methods, type_


@lru_cache(256)
def _fields_of(type_: type) -> tuple[str, ...] | None:
    """Return the members of a dataclass of Python; None for other types.

    Those of difftile are objects of their own kinds, but for `struct_of_fields`.
    """
    ours = type_.__module__.partition(".")[0] == "difftile"
    if not dataclasses.is_dataclass(type_) or (ours and not hasattr(type_, "struct_of_fields")):
        return None
    return tuple(one.name for one in dataclasses.fields(type_))


@lru_cache(256)
def _methods_of(type_: type) -> Methods:
    """Return the funcs among the methods of a class."""
    every = {name: one for base in reversed(type_.__mro__) for name, one in vars(base).items()}
    return tuple(
        (name, one) for name, one in every.items() if isinstance(meaning_of(one), FuncMeaning)
    )


def _struct(
    kind: Kind, given: Mapping[str, object], methods: Methods, type_: Struct | None
) -> tuple[Form, Parts]:
    """Return a struct of some members, checked against its type if that is known."""
    declared: Mapping[str, Kind] = dict.fromkeys(given, "")
    if type_ is not None:
        declared = {name: _kind(one) for name, one in type_.members}
        for name in given:
            if name not in declared:
                guess = did_you_mean(name, declared) or f"it has {', '.join(declared)}."
                raise Misfit(f"has no member '{name}'; {guess}")
    forms: list[tuple[str, Form]] = []
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


def _kind(type_: Type | Struct) -> Kind:
    """Return the kind of a member of a declared struct."""
    return kind_of_number(type_) if isinstance(type_, Scalar) else type_


# Words


def _named(type_: Type | Struct) -> str:
    if isinstance(type_, Struct):
        return f"a struct of {', '.join(name for name, _ in type_.members)}"
    return _shown(shape_of(type_))


def _shown(shape: Shape) -> str:
    """Return a shape in words."""
    match shape:
        case (n,):
            return f"a vector of {counted(n, 'number')}"
        case (n, m):
            return f"a {n}x{m} matrix"
        case _:
            return f"an array of shape {shape}"
