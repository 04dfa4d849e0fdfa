"""Memory of fields as arrays of others: `__dlpack__`, and NumPy arrays without a copy.

As long as an array of others lives, they may write the memory at any time: the field stays where it
is, and nothing is assumed about its contents (`substrate/memory`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.elements import FieldElements, WholeElements
from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.substrate import NULL_STREAM, Buffer, Terms, capsule_of, current_session, let_wait


class _Export:
    """The owner of an array over a field's memory, as NumPy sees it.

    Args:
        buffer: The memory.
        read_only: Whether the array is not written.
    """

    __slots__ = ("__array_interface__", "_is_shared", "_lender", "buffer")

    def __init__(self, buffer: Buffer, *, read_only: bool) -> None:
        self._is_shared = not read_only
        if self._is_shared:
            buffer.contents.share()
        self.buffer = buffer
        self._lender = buffer.lender  # alive as long as the array, whatever becomes of the field
        self.__array_interface__ = {
            "data": (buffer.address, read_only),
            "shape": (*buffer.shape, *shape_of(buffer.element)),
            "typestr": numpy_dtype(scalar_of(buffer.element)).str,
            "version": 3,
        }

    def __del__(self) -> None:
        if self._is_shared:
            self.buffer.contents.unshare()
            if not (self.buffer.is_shared or self.buffer.owners or self.buffer.pins):
                self.buffer.free()


def shared_array(part: FieldElements) -> npt.NDArray[Any]:
    """Return an array over the memory of a field, or of a part of one.

    For memory of a device its contents are never read, only its address and its strides.

    Raises:
        BufferError: The memory is of a device that shares none.
    """
    base = part.base
    run_pending()
    recording = RECORDING.get()
    if recording.observer is not None:
        recording.observer.read(base)
    storage = base.storage
    read_only = storage.read_only
    if not read_only:
        for recorder in list(Recording.open):
            recorder.shares(base)
        base.fresh_if_pinned(keep=True)  # records need the memory that the field has now
    if storage.memory.device is not None and storage.memory.lender is None:
        _outlive_the_session(base)
    whole = np.asarray(_Export(base.buffer, read_only=read_only))
    return whole if part.window is None else part.window.of(whole)


def _outlive_the_session(field: WholeElements) -> None:
    """Let a field go on in memory of the device that does not end with the session.

    Raises:
        BufferError: The device has none that others could use.
    """
    old = field.storage.buffer
    try:
        address, owner = current_session().backend.shareable_memory(old.nbytes)
    except FieldError as error:
        raise BufferError(str(error)) from None
    fresh = Buffer.lent(old, address, owner, Terms.LENT)
    fresh.copy_from(old)
    field.storage.move(fresh)


def device_of(part: FieldElements) -> tuple[int, int]:
    """Return the device of the memory, as DLPack numbers it: the CPU, or the GPU of CUDA."""
    return (1, 0) if part.base.buffer.device is None else (2, 0)


def dlpack_of(
    part: FieldElements, max_version: tuple[int, int] | None, copy: bool | None, stream: Any
) -> Any:
    """Return the memory of a field, or of a part of one, as a DLPack capsule.

    Args:
        part: The field or the part.
        max_version: The latest version of the protocol that the consumer knows.
        copy: Whether to return a copy, in memory of the host.
        stream: The stream of CUDA on which the consumer goes on; None for the legacy null stream,
            -1 where it waits by itself.
    """
    if copy:
        return capsule_of(np.array(part.to_numpy()), None, max_version)
    array = shared_array(part)
    device = part.base.buffer.device
    if device is None:
        return capsule_of(array, None, max_version)
    _ = device.handle  # with a fill that has waited
    if stream != -1:
        let_wait(NULL_STREAM if stream is None else stream, current_session().stream)
    return capsule_of(array, 0, max_version)


def cuda_interface(part: FieldElements) -> dict[str, Any]:
    """Return the memory as `__cuda_array_interface__` describes it; it is shared from now on.

    Raises:
        AttributeError: The memory is on the host.
    """
    if part.base.buffer.device is None:
        raise AttributeError("fields on the CPU have no __cuda_array_interface__")
    array = shared_array(part)
    part.base.storage.exports = array  # the other side does not report when it is done
    return {
        "data": (array.__array_interface__["data"][0], not array.flags.writeable),
        "shape": array.shape,
        "strides": array.strides,
        "typestr": array.dtype.str,
        "stream": current_session().stream,
        "version": 3,
    }
