"""Vectors and matrices among the arguments, in the numbers that are their components."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.compile.annotations import Kind
from difftile.diagnostics import FieldError, abbreviated, counted, with_article
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import host_values, is_array
from difftile.fields.elements import Shaped
from difftile.fields.exchange import TOO_LARGE
from difftile.fields.numbers import Number, numbers_in
from difftile.frontend.captures import plain
from difftile.frontend.parameters import Given, VectorOf, component_names
from difftile.ir.types import BOOL, FLOATS, I32, Matrix, Struct, Type, Vector, scalar_of, shape_of
from difftile.lang.meanings import vector_values
from difftile.launch.forms import Misfit, Parts
from difftile.records import dataclass

Shape: TypeAlias = tuple[int, ...]

_MOST_NUMBERS = 64  # of a vector or matrix: an 8x8 matrix
_INTEGERS = {int, bool}
_FLOATS = {float, Number}


@dataclass(frozen=True, slots=True)
class Numbers:
    """The form of a vector or matrix: its parts are its components, row after row.

    A component is a number, or a field of shape () that holds one.
    """

    kind: Kind
    shape: Shape
    component: Kind

    def parts(self, name: str) -> Iterator[tuple[str, Kind]]:
        """Yield the components."""
        for key in component_names(name, self.shape):
            yield key, self.component

    def refill(self, found: Parts, value: object) -> bool:
        """Append the components of a vector or matrix of the same shape and kind of number."""
        if not is_vector(value, self.kind):
            return False
        form, parts = open_vector(value, self.kind)
        found += parts
        return form is self

    def given(self, take: Callable[[], Given]) -> Given:
        """Return the vector or matrix as the frontend sees it."""
        return VectorOf(self.shape, tuple([take() for _ in range(math.prod(self.shape))]))


def is_vector(value: object, kind: Kind) -> bool:
    """Tell whether a value is a vector or matrix for a parameter of a kind."""
    if isinstance(kind, (Vector, Matrix)):
        return isinstance(value, (list, tuple)) or _as_array(value) is not None
    return kind == "" and (
        type(value) is list or vector_values(value) is not None or holds_numbers(value)
    )


def holds_numbers(value: object) -> bool:
    """Tell whether a value is an array of NumPy whose numbers carry derivatives."""
    return isinstance(value, np.ndarray) and bool(numbers_in(value))


def open_vector(value: object, kind: Kind) -> tuple[Numbers, Parts]:
    """Return the form of a vector or matrix, and its components.

    Raises:
        Misfit: It is none of the type that its parameter is annotated with.
    """
    if holds_numbers(value):
        value = cast("npt.NDArray[Any]", value).tolist()
    if isinstance(value, (list, tuple)):
        shape, numbers = _nested(cast("Sequence[object]", value))
    else:
        array = _as_array(value)
        assert array is not None
        shape, numbers = array.shape, _listed(array)
    if isinstance(kind, (Vector, Matrix)) and shape != shape_of(kind):
        what = f"takes {named(kind)} and is given {_shown(shape)}."
        if len(shape) > len(shape_of(kind)):
            what += " Annotate a field of such elements with 'ti.types.ndarray(dtype=...)'."
        raise Misfit(what)
    return _numbers(kind, shape, numbers)


def _numbers(kind: Kind, shape: Shape, numbers: list[Any]) -> tuple[Numbers, Parts]:
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


def named(type_: Type | Struct) -> str:
    """Return a type in words."""
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
