"""Memory of fields as arrays of others: `__dlpack__`, and NumPy arrays without a copy.

As long as an array of others lives, they may write the memory at any time: the field stays where it
is, and nothing is assumed about its contents (`substrate/memory`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.substrate import Buffer, capsule_of

if TYPE_CHECKING:
    from difftile.fields.array_like import ArrayLike


class _Export:
    """The owner of an array over a field's memory, as NumPy sees it.

    Args:
        buffer: The memory.
        read_only: Whether the array is not written.
    """

    __slots__ = ("__array_interface__", "_is_shared", "_lender", "buffer")

    def __init__(self, buffer: Buffer, *, read_only: bool) -> None:
        values = buffer.array()
        self._is_shared = not read_only
        if self._is_shared:
            buffer.contents.share()
        self.buffer = buffer
        self._lender = buffer.lender  # alive as long as the array, whatever becomes of the field
        self.__array_interface__ = {
            "data": (buffer.address, read_only),
            "shape": values.shape,
            "typestr": values.dtype.str,
            "version": 3,
        }

    def __del__(self) -> None:
        if self._is_shared:
            self.buffer.contents.unshare()
            if not (self.buffer.is_shared or self.buffer.owners or self.buffer.pins):
                self.buffer.free()


def shared_array(part: ArrayLike) -> npt.NDArray[Any]:
    """Return an array over the memory of a field, or of a part of one.

    Raises:
        BufferError: The memory is not on the host.
    """
    base = part.base
    run_pending()
    recording = RECORDING.get()
    if recording.trace is not None:
        recording.trace.read(base)
    if recording.observer is not None:
        recording.observer.read(base)
    storage = base.storage
    if base.buffer.device is not None:
        raise BufferError(f"{part!r} is in memory of a device; copy it with x.to_numpy().")
    read_only = storage.read_only
    if not read_only:
        for recorder in list(Recording.open):
            recorder.shares(base)
        base.fresh_if_pinned(keep=True)  # records need the memory that the field has now
    whole = np.asarray(_Export(base.buffer, read_only=read_only))
    return whole if part.window is None else part.window.of(whole)


def dlpack_of(part: ArrayLike, max_version: tuple[int, int] | None, copy: bool | None) -> Any:
    """Return the memory of a field, or of a part of one, as a DLPack capsule."""
    if copy:
        return capsule_of(np.array(part.to_numpy()), None, max_version)
    return capsule_of(shared_array(part), None, max_version)
