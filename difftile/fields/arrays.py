"""Arrays of other libraries in the place of fields: each is a field over its own memory.

An array is an object with `__dlpack__` that is no field: one of NumPy, torch, JAX or CuPy. The
field of an array is found again as long as somebody keeps it, so that a kernel that is launched on
the same arrays finds its launch prepared.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator
from math import prod
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import element_type, from_numpy
from difftile.fields.elements import Shaped
from difftile.fields.exchange import as_shape, float_element, refuse_mask
from difftile.fields.field import Field
from difftile.fields.foreign import check_device, field_of_block, shared_field
from difftile.fields.host_access import STANDING_IN
from difftile.fields.strides import Strided, strides_of
from difftile.fields.view import View
from difftile.fields.window import Window
from difftile.ir.types import Type, numpy_dtype, scalar_from_numpy, scalar_of, shape_of
from difftile.records import dataclass
from difftile.substrate import ForeignBlock, block_of, current_session

_IS_ARRAY: dict[type, bool] = {}


def is_array(value: object) -> bool:
    """Tell whether a value is an array of another library."""
    kind = type(value)
    known = _IS_ARRAY.get(kind)
    if known is None:
        known = hasattr(kind, "__dlpack__") and not issubclass(kind, (Shaped, np.generic))
        _IS_ARRAY[kind] = known
    return known


def is_numpy(value: object) -> TypeGuard[npt.NDArray[Any]]:
    """Tell whether a value is an array of NumPy."""
    return isinstance(value, np.ndarray)


@dataclass(slots=True, eq=False)
class _Known:
    """The field of an array, while both live.

    Args:
        array: The array.
        field: The field, or the field that has the array as a window.
        window: The window; None for the whole field.
        state: What of the array may change in place, and would make it another one.
    """

    array: weakref.ref[Any]
    field: weakref.ref[Field]
    window: Window | None
    state: object


_known: dict[tuple[int, object], _Known] = {}
# Fields that have arrays as windows, by address, shape and element: windows of one field are equal.
_bases: weakref.WeakValueDictionary[object, Field] = weakref.WeakValueDictionary()


def field_of(array: Any, dtype: Any = None) -> ArrayLike:
    """Return the field, or the part of one, that has the memory of an array.

    Args:
        array: The array.
        dtype: The element type, whose axes are the last ones of the array; None for scalars.

    Raises:
        FieldError: Fields cannot share the memory.
    """
    key = (id(array), dtype)
    known = _known.get(key)
    if known is not None and known.array() is array and known.state == _state(array):
        field = known.field()
        if field is not None and field.storage.memory.pool is current_session().pool:
            return field if known.window is None else View(field, known.window)
    found = _shared(array, dtype)
    base, window = found.base, found.window
    base.storage.is_array = True
    try:
        mine = weakref.ref(array, functools.partial(_forget, key))
    except TypeError:  # no weak references: found again by its memory
        return found
    _known[key] = _Known(mine, weakref.ref(base), window, _state(array))
    if dtype is None:
        STANDING_IN[id(array)] = _standing_in
    return found


def _forget(key: tuple[int, object], _: object) -> None:
    _known.pop(key, None)
    STANDING_IN.pop(key[0], None)


def _standing_in(array: object) -> ArrayLike | None:
    """Return the field of an array that has one already, if both still live."""
    known = _known.get((id(array), None))
    return field_of(array) if known is not None and known.array() is array else None


def _state(array: Any) -> object:
    """Return what may change in place: memory, shape, and whether it may be written."""
    if type(array) is np.ndarray:
        return array.shape, array.dtype, array.flags.writeable  # pyrefly: ignore[unknown-attribute-access]
    pointer = getattr(array, "data_ptr", None)
    if pointer is not None:
        return pointer(), array.shape, array.requires_grad
    if hasattr(array, "is_deleted"):
        return array.is_deleted()
    return array.shape


def _shared(array: Any, dtype: Any) -> ArrayLike:
    refuse_mask(array)
    if any(kind.__name__ == "Tracer" for kind in type(array).__mro__):
        raise FieldError(
            "JAX is tracing the array, which has no memory here. Make the function an operation: "
            "dt.jax.op(f, ...)."
        )
    if getattr(array, "is_deleted", bool)():
        raise FieldError("The array was deleted or donated, and has no memory any more.")
    block = block_of(array)
    if block.is_contiguous:
        made = field_of_block(array, block, dtype)
        key = (block.address, made.shape, made.element, made.storage.read_only)
        field = _bases.get(key)
        if field is None or field.storage is not made.storage:
            field = _bases[key] = made
        return field
    check_device(block)
    return _window(array, block, dtype)


def _window(array: Any, block: ForeignBlock, dtype: Any) -> View:
    """Return an array with gaps as a view of a field over the memory around it."""
    scalar = scalar_from_numpy(block.dtype)
    assert scalar is not None
    element: Type = scalar
    if dtype is not None:
        element = float_element(element_type(dtype), np.empty(0, block.dtype))
    inner = shape_of(element)
    outer = len(block.shape) - len(inner)
    size = prod(inner)
    itemsize = block.dtype.itemsize * size
    if (
        (block.shape[outer:], block.strides[outer:]) == (inner, strides_of(inner))
        and numpy_dtype(scalar_of(element)) == block.dtype
        and not any(stride % size for stride in block.strides[:outer])
    ):
        strides = tuple(stride // size for stride in block.strides[:outer])
        part = Strided(block.address, as_shape(block.shape[:outer]), strides, itemsize)
        for address, shape in (*part.grids(*_memory_of(array, part)), *_owner_of(array, inner)):
            window = part.window_in(address, shape)
            if window is not None:
                return View(_base(element, shape, address, block), window)
    copy = "x.contiguous()" if hasattr(array, "untyped_storage") else "np.ascontiguousarray(x)"
    raise FieldError(
        f"An array of shape {block.shape} and strides {block.strides} is no part of a field: no "
        f"slices of one give it. Copy it: {copy}; what a kernel writes is in the copy."
    )


def _base(element: Type, shape: tuple[int, ...], address: int, block: ForeignBlock) -> Field:
    key = (address, shape, element, block.read_only)
    found = _bases.get(key)
    if found is not None and found.storage.memory.pool is current_session().pool:
        return found
    made = shared_field(element, shape, address, block.keeper, block.read_only)
    _bases[key] = made
    return made


def _memory_of(array: Any, part: Strided) -> tuple[int, int]:
    """Return where the memory begins and ends that an array is a part of."""
    if is_numpy(array):
        owner = array
        while is_numpy(owner.base):
            owner = owner.base
        address: int = owner.__array_interface__["data"][0]
        low, high = Strided(address, owner.shape, owner.strides, 1).bounds
        return low, high + owner.itemsize - 1
    if hasattr(array, "untyped_storage"):
        memory = array.untyped_storage()
        return int(memory.data_ptr()), int(memory.data_ptr() + memory.nbytes())
    if hasattr(getattr(array, "data", None), "ptr"):  # of CuPy
        owner = array if array.base is None else array.base
        return int(owner.data.ptr), int(owner.data.ptr + owner.nbytes)
    return part.bounds


def _owner_of(array: Any, inner: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the array of NumPy that another one is a part of: address, and shape in elements."""
    owner = array
    while is_numpy(owner) and is_numpy(owner.base):
        owner = owner.base
    if is_numpy(owner) and owner.dtype == array.dtype and owner.flags.c_contiguous:
        outer = owner.ndim - len(inner)
        if outer >= 0 and owner.shape[outer:] == inner:
            yield owner.__array_interface__["data"][0], owner.shape[:outer]


# Arrays of the host, where fields are on a device


@dataclass(frozen=True, slots=True)
class Copied:
    """An array of the host whose contents are copied to a device, and back if they are written.

    Args:
        array: The array, as NumPy sees its memory.
        field: The field on the device, which is found again as long as the array lives.
    """

    array: npt.NDArray[Any]
    field: Field


_copied: dict[tuple[int, object, bool], tuple[weakref.ref[Any], Field]] = {}


def copied_to_device(array: Any, dtype: Any) -> Copied | None:
    """Return the copy of an array on the device; None where fields can share its memory.

    Raises:
        FieldError: The array is not one that a field can hold.
    """
    if current_session().on_host:
        return None
    block = block_of(array)
    if block.device is not None:
        return None
    key = (id(array), dtype, block.read_only)
    known = _copied.get(key)
    values = array if is_numpy(array) else block.array()
    if known is not None and known[0]() is array:
        field = known[1]
        fits = (*field.shape, *shape_of(field.element)) == values.shape
        if fits and field.storage.memory.pool is current_session().pool:
            return Copied(values, field)
    made = from_numpy(values, dtype)
    made.storage.read_only = block.read_only
    _copied[key] = weakref.ref(array, lambda _: _copied.pop(key, None) and None), made
    return Copied(values, made)


def host_values(array: Any) -> npt.NDArray[Any]:
    """Return an array over the memory of an array of the host.

    Raises:
        FieldError: The memory is not on the host, or is not shared.
    """
    if is_numpy(array):
        return array
    block = block_of(array)
    if block.device is not None:
        raise FieldError("The array is in memory of a GPU; copy it to the host first.")
    values = np.array(block.array())  # the block may keep what the array would not
    values.flags.writeable = False
    return values
