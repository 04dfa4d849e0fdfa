"""Launches among the work that another library has on a stream of CUDA."""

from __future__ import annotations

from difftile.substrate import current_session, let_wait


class Among:
    """In the block, launches wait for earlier work on a stream; later work there waits for them.

    Launches are on the legacy null stream, unless `dt.init` was given another one. Where that is
    the stream itself, nothing has to wait.

    Args:
        stream: The handle of the stream.
    """

    __slots__ = ("_launches", "_stream")

    def __init__(self, stream: int) -> None:
        self._stream = stream
        self._launches = current_session().stream

    def __enter__(self) -> None:
        let_wait(self._launches, self._stream)

    def __exit__(self, *_: object) -> None:
        let_wait(self._stream, self._launches)
