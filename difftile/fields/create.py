"""Making fields: `dt.field`, `from_numpy`, `zeros` and their like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import Shape, as_array, as_integer, as_shape, float_element
from difftile.fields.field import Field, make
from difftile.fields.numbers import numbers_in, plain_numbers
from difftile.fields.split import Split
from difftile.fields.structs import Member, StructField, has_floats
from difftile.ir.types import (
    F64,
    Matrix,
    Scalar,
    Type,
    Vector,
    is_float,
    scalar_from_numpy,
    shape_of,
    with_scalar,
)
from difftile.lang.meanings import dtype_of
from difftile.lang.structs import StructTypeLike, is_struct_type, member_types, methods_of
from difftile.lang.type_objects import has_own_scalar, value_type
from difftile.substrate import default_float
from difftile.tracebacks import boundary


class Creation:
    """How fields are made: in the type asked for, or floats in double precision throughout."""

    in_double = False


CREATION = Creation()
_SUPPORTED = "a type such as ti.f32, ti.math.vec3, dt.vec(5), dt.mat(2, 2) or np.float32"


def element_type(dtype: Any) -> Type:
    """Return the element type that a user's dtype stands for.

    Raises:
        FieldError: The value is not an element type.
    """
    found = dtype if isinstance(dtype, (Scalar, Vector, Matrix)) else value_type(dtype)
    if found is None and dtype is not None:
        try:
            found = scalar_from_numpy(cast(Any, np).dtype(dtype))  # its stubs differ by version
        except (TypeError, ValueError):
            found = None
    if found is None and is_struct_type(dtype):
        raise FieldError("A field of structs is made by dt.field(P, shape), or dt.from_numpy().")
    if found is None:
        shown = f"A {type(dtype).__name__}"
        if isinstance(dtype, (str, int, float)):
            shown = repr(dtype)
        elif isinstance(dtype, type):
            shown = dtype.__name__
        note = ""
        if isinstance(dtype, int):  # a size: dt.zeros(2, 3), dt.field(4, ti.f32)
            note = " A shape is one argument: dt.zeros((2, 3)), dt.field(ti.f32, (2, 3))."
        raise FieldError(f"{shown} is no element type; use {_SUPPORTED}.{note}")
    if is_float(found) and not has_own_scalar(dtype):
        return with_scalar(found, default_float())
    return found


@overload
def field(dtype: StructTypeLike, shape: Shape, *, grad: bool = False) -> StructField: ...
@overload
def field(dtype: Any, shape: Shape, *, grad: bool = False) -> Field: ...
@boundary
def field(dtype: Any, shape: Shape, *, grad: bool = False) -> Field | StructField:
    """Return a field of zeros.

    Args:
        dtype: Element type: `ti.f32`, `ti.i32`, `ti.math.vec3`, `dt.vec(5)`, `dt.mat(2, 3)`, or a
            type of structs: `ti.types.struct(pos=ti.math.vec3, m=ti.f32)`.
        shape: Elements along each dimension; `()` for a single element.
        grad: Attach a gradient buffer.

    Raises:
        FieldError: Fields cannot have the type or the shape.
    """
    if is_struct_type(dtype):
        members: dict[str, Member] = {
            name: field(type_, shape) for name, type_ in member_types(dtype).items()
        }
        return _of_structs(dtype, members, grad)
    return _filled(element_type(dtype), shape, 0, grad)


def _of_structs(dtype: StructTypeLike, members: dict[str, Member], grad: bool) -> StructField:
    """Return the field of structs with some members; integers among them have no gradient."""
    made = StructField(members, methods_of(dtype))
    if grad and not has_floats(made):
        raise FieldError(f"{made!r} holds integers, which have no derivative.")
    return made.with_grads() if grad else made


@boundary
def zeros(shape: Shape, dtype: Any = float, *, grad: bool = False) -> Field:
    """Return a field of zeros; see `field`."""
    return _filled(element_type(dtype), shape, 0, grad)


@boundary
def ones(shape: Shape, dtype: Any = float, *, grad: bool = False) -> Field:
    """Return a field of ones; see `field`."""
    return _filled(element_type(dtype), shape, 1, grad)


@boundary
def full(shape: Shape, value: npt.ArrayLike, dtype: Any = float, *, grad: bool = False) -> Field:
    """Return a field with one value in every element; see `field`."""
    return _filled(element_type(dtype), shape, value, grad)


@boundary
def empty(shape: Shape, dtype: Any = float, *, grad: bool = False) -> Field:
    """Return a field with any contents; its gradient, if asked for, is zero; see `field`."""
    made = _make(element_type(dtype), as_shape(shape))
    return made.with_grads() if grad else made


@boundary
def zeros_like(other: ArrayLike, *, grad: bool | None = None) -> Field:
    """Return a field of zeros like another, with a gradient if that has one or `grad` says so."""
    return _like(other, 0, grad)


@boundary
def ones_like(other: ArrayLike, *, grad: bool | None = None) -> Field:
    """Return a field of ones like another; see `zeros_like`."""
    return _like(other, 1, grad)


@boundary
def full_like(other: ArrayLike, value: npt.ArrayLike, *, grad: bool | None = None) -> Field:
    """Return a field with one value in every element, like another; see `zeros_like`."""
    return _like(other, value, grad)


@boundary
def empty_like(other: ArrayLike, *, grad: bool | None = None) -> Field:
    """Return a field with any contents, like another; see `zeros_like`."""
    wants_grad = _wants_grad(other, grad)
    made = _make(other.element, other.shape)
    made.storage.split = _split_of(other)
    return made.with_grads() if wants_grad else made


@overload
def from_numpy(
    values: Mapping[str, Any], dtype: StructTypeLike, *, grad: bool = False
) -> StructField: ...
@overload
def from_numpy(values: npt.ArrayLike, dtype: Any = None, *, grad: bool = False) -> Field: ...
@boundary
def from_numpy(values: Any, dtype: Any = None, *, grad: bool = False) -> Field | StructField:
    """Return a field with a copy of an array; any strides will do.

    Args:
        values: The array; its last axes are the axes of a vector or matrix element. For structs an
            array for each member by name.
        dtype: Element type; by default scalars of the array's own type. A vector type without a
            number type of its own, such as `ti.math.vec3`, takes the type of an array of floats.
        grad: Attach a gradient buffer.

    Raises:
        FieldError: The array has no such elements, no elements at all, or a type fields lack.
    """
    if is_struct_type(dtype):
        return _structs_from_numpy(values, dtype, grad)
    carried = numbers_in(values)
    array = as_array(plain_numbers(values) if carried else values)
    if dtype is None:
        scalar = scalar_from_numpy(array.dtype)
        if scalar is None:
            raise FieldError(f"Fields cannot hold {array.dtype}; cast the array first.")
        element: Type = scalar
    else:
        element = element_type(dtype)
        if not has_own_scalar(dtype):
            element = float_element(element, array)
    inner = shape_of(element)
    outer = array.shape[: array.ndim - len(inner)]
    if array.ndim < len(inner) or array.shape[len(outer) :] != inner:
        raise FieldError(
            f"An array of shape {array.shape} does not end in the shape {inner} of {element}."
        )
    made = _make(element, outer)
    if grad and carried:  # derivatives pass into it
        made = made.with_grads()
    made.from_numpy(values if carried else array)
    return made.with_grads() if grad else made


def _structs_from_numpy(values: Any, dtype: StructTypeLike, grad: bool) -> StructField:
    names = list(member_types(dtype))
    if not isinstance(values, Mapping) or sorted(cast("Mapping[str, Any]", values)) != sorted(
        names
    ):
        raise FieldError(f"A field of structs takes an array for each of {', '.join(names)}.")
    given = cast("Mapping[str, Any]", values)
    members: dict[str, Member] = {
        name: from_numpy(given[name], type_) for name, type_ in member_types(dtype).items()
    }
    return _of_structs(dtype, members, grad)


def _filled(element: Type, shape: Shape, value: npt.ArrayLike, grad: bool) -> Field:
    made = _make(element, as_shape(shape))
    if grad and numbers_in(value):  # into which derivatives pass
        made = made.with_grads()
    _fill(made, value)
    return made.with_grads() if grad else made


def _fill(made: Field, value: npt.ArrayLike) -> None:
    """Give a new field its contents, by no launch unless derivatives pass."""
    (made.fill if numbers_in(value) else made.fill_at_once)(value)


def _make(element: Type, shape: tuple[int, ...]) -> Field:
    if CREATION.in_double and is_float(element):
        element = with_scalar(element, F64)
    return make(element, shape)


def _like(other: ArrayLike, value: npt.ArrayLike, grad: bool | None) -> Field:
    made = empty_like(other, grad=False)
    _fill(made, value)
    return made.with_grads() if _wants_grad(other, grad) else made


def _split_of(other: ArrayLike) -> Split | None:
    """Return the division of a field among ranks; None for parts and other shapes of it."""
    split = other.split if isinstance(other, Field) else None
    return split if split is not None and split.shape == other.shape else None


def _wants_grad(other: ArrayLike, grad: bool | None) -> bool:
    if not isinstance(other, ArrayLike):  # user input
        raise FieldError(f"A field is wanted here, not {type(other).__name__}.")
    return other.has_grads if grad is None else grad


@boundary
def vec(n: int, dtype: Any = float) -> Any:
    """Return the type of vectors of n numbers."""
    return dtype_of(Vector(_size(n), _number_type(dtype)))


@boundary
def mat(n: int, m: int, dtype: Any = float) -> Any:
    """Return the type of matrices of n rows and m columns."""
    return dtype_of(Matrix(_size(n), _size(m), _number_type(dtype)))


def _size(n: int) -> int:
    size = as_integer(n)
    if size is None or size <= 0:
        raise FieldError(f"A vector or matrix has 1 component or more, not {n!r}.")
    return size


def _number_type(dtype: Any) -> Scalar:
    element = element_type(dtype)
    if not isinstance(element, Scalar):
        raise FieldError(f"The components of a vector or matrix are numbers, not {element}.")
    return element
