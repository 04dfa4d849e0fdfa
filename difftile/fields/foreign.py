"""Fields over memory of others: `dt.from_dlpack`, and what operations on arrays of others use."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from difftile.diagnostics import FieldError
from difftile.fields.create import element_type, from_numpy
from difftile.fields.exchange import as_shape, float_element
from difftile.fields.field import Field
from difftile.fields.pending import run_pending
from difftile.fields.storage import Storage
from difftile.ir.types import Type, numpy_dtype, scalar_from_numpy, scalar_of, shape_of
from difftile.lang.structs import is_struct_type
from difftile.substrate import Buffer, ForeignBlock, Terms, block_of, current_session
from difftile.tracebacks import boundary

# One storage for each memory that both sides write: two would not hear of each other's writes.
_shared: weakref.WeakValueDictionary[tuple[int, Type, tuple[int, ...], bool], Storage] = (
    weakref.WeakValueDictionary()
)


@boundary
def from_dlpack(
    x: Any, dtype: Any = None, *, grad: bool = False, copy: bool | None = None
) -> Field:
    """Return a field that shares the memory of an array of NumPy, torch, JAX, CuPy and others.

    Either side sees what the other one writes. The memory stays where it is, and lives as long as
    the field does. A field over read-only memory, such as JAX's, is not written.

    Args:
        x: The array, whose elements follow each other without gaps, in memory of the session's
            device. Anything with `__dlpack__` will do.
        dtype: Element type; by default scalars of the array's own type. The last axes of the array
            are the axes of a vector or matrix element.
        grad: Attach a gradient buffer, in memory of the field's own.
        copy: True copies the contents into memory of the field's own, whatever the array is like.

    Raises:
        FieldError: Fields cannot hold such numbers, or cannot share such memory.
    """
    if isinstance(x, Field):
        raise FieldError(f"{x!r} is a field; x.detach() is another one over its memory.")
    block = block_of(x)
    if copy:
        return _copied(x, block, dtype, grad)
    made = field_of_block(x, block, dtype)
    return made.with_grads() if grad else made


def field_of_block(x: Any, block: ForeignBlock, dtype: Any) -> Field:
    """Return a field that shares the memory of an array.

    Args:
        x: The array.
        block: Its memory.
        dtype: The element type; None for scalars of the array's own type.

    Raises:
        FieldError: Fields cannot hold such numbers, or cannot share such memory.
    """
    element, shape = _elements(block, dtype)
    _check(block)
    # Arrays of JAX never change, but their capsules do not say so. Other arrays that are read-only
    # may be views of memory that somebody writes.
    steady = type(x).__module__.partition(".")[0] in ("jax", "jaxlib")
    if steady:
        return field_over(element, shape, block.address, block.keeper, Terms.READ_ONLY)
    return shared_field(element, shape, block.address, block.keeper, block.read_only)


def shared_field(
    element: Type, shape: tuple[int, ...], address: int, lender: object, read_only: bool
) -> Field:
    """Return a field over memory that others may write at any time.

    Fields over the same memory that are written, or are not, have one storage.

    Args:
        element: The type of its elements.
        shape: Its shape.
        address: See `field_over`.
        lender: Keeps the memory alive.
        read_only: Whether the field is not written.
    """
    run_pending()
    known = _shared.get((address, element, shape, read_only))
    if known is not None and known.memory.is_shared and known.memory.address == address:
        return Field(element, shape, known)
    made = field_over(element, shape, address, lender, Terms.SHARED)
    made.storage.read_only = read_only
    _shared[address, element, shape, read_only] = made.storage
    return made


def field_over(
    element: Type, shape: tuple[int, ...], address: int, lender: object, terms: Terms
) -> Field:
    """Return a field over memory that others have lent; nothing is checked.

    Args:
        element: The type of its elements.
        shape: Its shape.
        address: Where the memory begins, a multiple of the size of a number. The elements follow
            each other without gaps.
        lender: Keeps the memory alive.
        terms: What becomes of the memory.
    """
    buffer = current_session().pool.lent(element, shape, address, lender, terms)
    storage = Storage(buffer)
    storage.read_only = terms is Terms.READ_ONLY
    return Field(element, shape, storage)


def point_at(field: Field, address: int, lender: object, terms: Terms) -> None:
    """Let a field go on over other memory of others, and let go of what it has been over.

    Args:
        field: The field, which stands for others of its kind in turn.
        address: Where the memory begins; for the rest see `field_over`.
        lender: Keeps the memory alive.
        terms: What becomes of the memory.
    """
    storage = field.storage
    old = storage.buffer
    fresh = Buffer.lent(old, address, lender, terms)
    fresh.own()
    storage.memory = fresh
    old.disown()


def _elements(block: ForeignBlock, dtype: Any) -> tuple[Type, tuple[int, ...]]:
    """Return the element type and the shape of a field over a block.

    Raises:
        FieldError: The numbers of the block are no such elements.
    """
    if is_struct_type(dtype):
        raise FieldError(
            "A field of structs is made of an array for each member: share them one by one, or "
            "copy them, dt.from_numpy({...}, P)."
        )
    scalar = scalar_from_numpy(block.dtype)
    assert scalar is not None
    element: Type = scalar
    if dtype is not None:
        element = element_type(dtype)
        element = float_element(element, np.empty(0, block.dtype))
    inner = shape_of(element)
    if numpy_dtype(scalar_of(element)) != block.dtype:
        raise FieldError(
            f"An array of {block.dtype} is not shared as a field of {element}. Copy it: "
            "dt.from_numpy(x, dtype), or cast the array first."
        )
    outer = block.shape[: len(block.shape) - len(inner)]
    if len(block.shape) < len(inner) or block.shape[len(outer) :] != inner:
        raise FieldError(
            f"An array of shape {block.shape} does not end in the shape {inner} of {element}."
        )
    return element, as_shape(outer)


def _check(block: ForeignBlock) -> None:
    """Check that a field can share a block.

    Raises:
        FieldError: It cannot.
    """
    if not block.is_contiguous:
        raise FieldError(
            f"An array of strides {block.strides} is not shared: its elements do not follow each "
            "other. Copy it, dt.from_dlpack(x, copy=True), or share a contiguous array and take "
            "views of the field."
        )
    if block.address % block.dtype.itemsize:
        raise FieldError(
            f"An array at address {block.address:#x} is not shared, as it is not aligned to its "
            "numbers. Copy it: dt.from_dlpack(x, copy=True)."
        )
    check_device(block)


def check_device(block: ForeignBlock) -> None:
    """Check that a block is where fields are.

    Raises:
        FieldError: It is elsewhere.
    """
    on_host = current_session().on_host
    if on_host != (block.device is None):
        here, there = ("the CPU", "a GPU") if on_host else ("a GPU", "the CPU")
        raise FieldError(
            f"Fields are on {here}, and the array is on {there}. Copy it, "
            "dt.from_dlpack(x, copy=True), or move the array first."
        )


def _copied(x: Any, block: ForeignBlock, dtype: Any, grad: bool) -> Field:
    """Return a field of its own with the contents of a block."""
    if block.device is None:
        return from_numpy(block.array(), dtype, grad=grad)
    cpu = x.cpu if hasattr(x, "cpu") else getattr(x, "get", None)
    if cpu is None:
        raise FieldError("Copy the array to the host first, and then dt.from_numpy(x).")
    return from_numpy(np.asarray(cpu()), dtype, grad=grad)
