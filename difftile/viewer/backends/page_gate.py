"""The gate of a page, which passes only permitted connections and messages on to viser."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from websockets.asyncio import server

from difftile.viewer.backends.page_document import Document
from difftile.viewer.backends.page_guests import Guests
from difftile.viewer.backends.page_messages import MOST_BYTES, fault_of

_MOST_LINES = 20


class RefusalLog:
    """Writes a line to stderr for each refusal, up to a limit."""

    def __init__(self) -> None:
        self._count = 0

    def write(self, words: str) -> None:
        """Write a line."""
        self._count += 1
        if self._count <= _MOST_LINES:
            print(f"difftile: the page {words}", file=sys.stderr)
        if self._count == _MOST_LINES:
            print("difftile: further messages of the page are not shown", file=sys.stderr)


class _Filtered:
    """A connection that drops messages which are not permitted."""

    def __init__(self, connection: Any, log: RefusalLog) -> None:
        self._connection, self._log = connection, log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> Any:
        """Return the next permitted message."""
        while True:
            raw = await self._connection.recv()
            fault = fault_of(raw)
            if fault is None:
                return raw
            self._log.write(f"ignored a message: {fault}")


@contextmanager
def gated(guests: Guests, log: RefusalLog, document: Document) -> Generator[None]:
    """Put a gate in front of each server that viser starts inside the block.

    Args:
        guests: The sites that may connect.
        log: Records refusals.
        document: Answers the requests for the page itself.

    Raises:
        RuntimeError: viser started no server in the known way, so that there is no gate.
    """
    serve: Any = server.serve
    started: list[bool] = []

    def serve_gated(handler: Callable[[Any], Any], *args: Any, **options: Any) -> Any:
        started.append(True)
        respond = options.pop("process_request", None)

        def let_in(connection: Any, request: Any) -> Any:
            def viser_responds() -> Any:
                return None if respond is None else respond(connection, request)

            if "Upgrade" not in request.headers:
                return document.answer(request, viser_responds)
            fault = guests.fault_of(request.headers)
            if fault is not None:
                log.write(f"refused a connection: {fault}")
                return connection.respond(403, f"Refused: {fault}.\n")
            return viser_responds()

        async def handle(connection: Any) -> None:
            await handler(_Filtered(connection, log))

        options["max_size"] = MOST_BYTES
        return serve(handle, *args, process_request=let_in, **options)

    server.serve = serve_gated  # pyrefly: ignore[bad-assignment]
    try:
        yield
    finally:
        server.serve = serve
    if not started:
        raise RuntimeError(
            "this version of viser serves pages in an unknown way; install the version that "
            "'difftile[viewer]' asks for"
        )
