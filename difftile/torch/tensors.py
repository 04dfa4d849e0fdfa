"""Fields as tensors, and tensors as the contents of fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import element_type
from difftile.fields.recording import note_read
from difftile.ir.types import (
    Scalar,
    Type,
    is_float,
    numpy_dtype,
    scalar_from_numpy,
    scalar_of,
    shape_of,
    with_scalar,
)
from difftile.substrate import has_own_scalar
from difftile.torch.library import Tensor, torch


def tensor_over(value: ArrayLike) -> Tensor:
    """Return what a field holds as a tensor; components of vectors are trailing axes.

    The tensor of a whole field is the memory of the field, for as long as it holds these contents.
    That of a part is a copy, and so is that of memory of others, who may write it or take it back.
    """
    note_read(value.base)
    window, buffer = value.window, value.base.buffer
    if window is not None:
        return torch.from_numpy(np.array(window.of(buffer.array())))
    if buffer.is_shared or buffer.lender is not None:
        return torch.from_numpy(buffer.read())
    return torch.from_numpy(buffer.array())


def tensor_of(value: ArrayLike) -> Tensor:
    """Return a tensor with a copy of what a field holds."""
    return tensor_over(value).clone()


def write_tensor(target: ArrayLike, tensor: Tensor) -> None:
    """Set the contents of a field from a tensor of its shape and number type."""
    target.from_numpy(tensor.detach().cpu().numpy())


def add_tensor(target: ArrayLike, tensor: Tensor) -> None:
    """Add a tensor to the contents of a field, or of a part of one."""
    target.add_numpy(tensor.detach().cpu().numpy())


def scalar_of_tensor(tensor: Tensor, name: str) -> Scalar:
    """Return the number type of a tensor.

    Raises:
        LaunchError: Fields cannot hold it.
    """
    dtype = str(tensor.dtype).removeprefix("torch.")
    try:
        scalar = scalar_from_numpy(np.dtype(dtype))
    except TypeError:
        scalar = None
    if scalar is None:
        raise LaunchError(
            f"{name} is a tensor of {dtype}, which fields cannot hold. Return another type, such "
            "as y.float()."
        )
    return scalar


def element_of_tensor(tensor: Tensor, dtype: Any, name: str) -> Type:
    """Return the elements of the field that a tensor becomes.

    Args:
        tensor: The tensor.
        dtype: The element type that the user asked for, or None for numbers.
        name: The tensor, for errors.

    Raises:
        LaunchError: Fields cannot hold the tensor, or it does not end in the shape of an element.
    """
    if dtype is None:
        return scalar_of_tensor(tensor, name)
    element = element_type(dtype)
    if is_float(element) and not has_own_scalar(dtype):
        element = with_scalar(element, scalar_of_tensor(tensor, name))
    shape, inner = tuple(tensor.shape), shape_of(element)
    if len(shape) < len(inner) or shape[len(shape) - len(inner) :] != inner:
        raise LaunchError(
            f"{name} is a tensor of shape {shape}, which does not end in the shape {inner} of "
            f"{element}."
        )
    return element


def as_scalar(tensor: Tensor, element: Type) -> Tensor:
    """Return a tensor in the number type of an element; derivatives pass."""
    return tensor.to(getattr(torch, numpy_dtype(scalar_of(element)).name))


def check_fits(target: ArrayLike, tensor: Tensor, name: str) -> None:
    """Check that a tensor has the shape of a field that it is written into.

    Raises:
        LaunchError: The shape differs, or floats would be cut to integers.
    """
    wanted = (*target.shape, *shape_of(target.element))
    if tuple(tensor.shape) != wanted:
        raise LaunchError(
            f"{name} is a tensor of shape {tuple(tensor.shape)}, and its field in 'out', "
            f"{target!r}, takes {wanted}."
        )
    if tensor.dtype.is_floating_point and not is_float(target.element):
        raise LaunchError(
            f"{name} is a tensor of floats, and its field in 'out', {target!r}, holds integers. "
            "Round it in the function, y.round().int()."
        )
