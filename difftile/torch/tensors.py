"""Fields as tensors, and tensors as the contents of fields."""

from __future__ import annotations

import numpy as np

from difftile.fields.array_like import ArrayLike
from difftile.fields.recording import note_read
from difftile.ir.types import Type, numpy_dtype, scalar_of
from difftile.torch.library import Tensor, torch


def tensor_over(value: ArrayLike) -> Tensor:
    """Return the contents of a field as a tensor; components of vectors are trailing axes.

    The tensor of a whole field shares its memory, for as long as the field holds these contents.
    The tensor of a part is a copy; so is the tensor of memory of others, who may write it or take
    it back, and of memory of a device, by way of the host.
    """
    note_read(value.base)
    window, buffer = value.window, value.base.buffer
    if window is not None or buffer.device is not None:
        values = buffer.array() if window is None else np.array(window.of(buffer.array()))
        return torch.from_numpy(values).to("cpu" if buffer.device is None else "cuda")
    if buffer.is_shared or buffer.lender is not None:
        return torch.from_numpy(buffer.read())
    return torch.from_numpy(buffer.array())


def tensor_of(value: ArrayLike) -> Tensor:
    """Return a tensor with a copy of the contents of a field."""
    return tensor_over(value).clone()


def write_tensor(target: ArrayLike, tensor: Tensor) -> None:
    """Set the contents of a field from a tensor of its shape and number type."""
    target.from_numpy(tensor.detach().cpu().numpy())


def add_tensor(target: ArrayLike, tensor: Tensor) -> None:
    """Add a tensor to the contents of a field, or of a part of one."""
    target.add_numpy(tensor.detach().cpu().numpy())


def as_scalar(tensor: Tensor, element: Type) -> Tensor:
    """Return a tensor in the number type of an element; derivatives pass."""
    return tensor.to(getattr(torch, numpy_dtype(scalar_of(element)).name))
