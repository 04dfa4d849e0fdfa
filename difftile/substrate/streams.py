"""Streams of CUDA: the handle of one, as the libraries that make streams name it."""

from __future__ import annotations

from typing import Any

from difftile.diagnostics import FieldError

NULL_STREAM = 1
"""The legacy null stream, on which launches are by default; 0 is its other name."""

_OWN = 2  # CU_STREAM_PER_THREAD, which is another stream in each thread


def handle_of(stream: Any) -> int:
    """Return the handle of a stream.

    Args:
        stream: An object with `__cuda_stream__`, a stream of torch, CuPy or Numba, the handle
            itself, or None for the null stream.

    Raises:
        FieldError: It is something else.
    """
    if stream is None:
        return NULL_STREAM
    found: Any = stream
    if hasattr(stream, "__cuda_stream__"):
        _, found = stream.__cuda_stream__()
    else:
        for name in ("cuda_stream", "ptr", "handle"):
            if hasattr(stream, name):
                found = getattr(stream, name)
                break
    found = getattr(found, "value", found)  # of ctypes, for which None is 0
    if found is None:
        return NULL_STREAM
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise FieldError(
            f"stream is a stream of torch, CuPy or Numba, or its handle, not {stream!r}."
        )
    if found == _OWN:
        raise FieldError("The stream of each thread is several streams; name one of them.")
    return found or NULL_STREAM
