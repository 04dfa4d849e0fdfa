"""Tensors as arrays whose memory has an address."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.interop.foreign_stream import Among
from difftile.interop.operation import ArrayLayout
from difftile.torch.library import Tensor, torch

NUMPY_DTYPES: dict[Any, np.dtype[Any]] = {
    torch.float16: np.dtype(np.float16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.uint8: np.dtype(np.uint8),
    torch.uint16: np.dtype(np.uint16),
    torch.uint32: np.dtype(np.uint32),
    torch.uint64: np.dtype(np.uint64),
    torch.bool: np.dtype(np.bool_),
}
TORCH_DTYPES = {numpy: torch_ for torch_, numpy in NUMPY_DTYPES.items()}


def layout_of(tensor: Tensor, title: str) -> ArrayLayout:
    """Return the layout of a tensor.

    Raises:
        LaunchError: Fields have no such elements, or are not on such a device; the message begins
            with the title.
    """
    if tensor.layout is not torch.strided:
        raise LaunchError(f"{title} is a sparse tensor; pass its parts, or x.to_dense().")
    dtype = NUMPY_DTYPES.get(tensor.dtype)
    if dtype is None:
        advice = "convert it: x.float()" if tensor.is_floating_point() else "pass its parts"
        if tensor.is_complex():
            advice = "pass torch.view_as_real(x), whose last axis has the two parts"
        raise LaunchError(f"{title} is of {tensor.dtype}, which fields do not have; {advice}.")
    device = tensor.device
    if device.type not in ("cpu", "cuda"):
        raise LaunchError(f"{title} is on the device '{device}'; move it to the CPU, or to CUDA.")
    ordinal = None if device.type == "cpu" else device.index
    return ArrayLayout(tuple(map(int, tensor.shape)), dtype, ordinal)


_ON_HOST = nullcontext()


def on_current_stream(tensor: Tensor) -> AbstractContextManager[None]:
    """Return a block whose launches wait for torch's current stream, and torch for the launches."""
    if not tensor.is_cuda:
        return _ON_HOST
    # torch.cuda.current_stream() takes 20 us.
    return Among(torch._C._cuda_getCurrentRawStream(tensor.device.index))


def plain(tensor: Tensor) -> Tensor:
    """Return a tensor with the same values in contiguous memory, itself if it is there already."""
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % tensor.element_size() else tensor
