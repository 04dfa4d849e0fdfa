"""The watch: by it ranks learn at once that one of them has failed, and where the others are.

Engines notice a failure only where a rank waits for the one that has failed, and NCCL not even
there. So each rank has a connection to rank 0, which passes on what it hears; a connection that
ends without a farewell belongs to a process that was killed, or has crashed.

Any program can connect to the port of rank 0. The connections of ranks begin with a secret, which
rank 0 draws and the engine carries to them. Others are closed at their first line; how many there
are, for how long and with how many bytes has limits, and nothing that arrives ends the thread.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

GRACE = 3.0
"""Time for a rank to end by itself after another one has failed [s]."""

_JOINING = 30.0  # limit for the connections at the start [s]
_BUSY = 2.0  # until ranks that are still busy are asked for a sign, at the end [s]
_TICK = 0.5  # between looks at the clock [s]
_LONGEST = 4000  # characters of a message that is passed on
_LINE = 1 << 16  # bytes of a line: such a message, each character as an escape of up to 12 bytes
_HELLO = 5.0  # limit for the first line of a connection [s]
_STRANGERS = 64  # connections that have not sent it yet
_SENDING = 5.0  # limit for a message to a process that does not read [s]
_MOST_WARNINGS = 1000  # that are remembered


class _Line:
    """A connection, over which messages go as lines of JSON.

    Args:
        connection: The socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(_SENDING)
        self.socket = connection
        self.rank = -1  # of the other side, once it has said so
        self.until = time.monotonic() + _HELLO  # for its first line
        self._rest = b""
        self._skips = False  # the rest of a line that is too long
        self._sending = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; it is lost if the other side has ended."""
        data = json.dumps(message).encode() + b"\n"
        try:
            with self._sending:
                self.socket.sendall(data)
        except OSError:
            pass

    def receive(self) -> list[dict[str, Any]] | None:
        """Return the messages that have come, or None at the end of the connection.

        A line that is not a message becomes an empty one, which is ignored.
        """
        try:
            data = self.socket.recv(_LINE)
        except OSError:
            data = b""
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines and self._skips:
            lines[0], self._skips = b"", False
        if len(self._rest) > _LINE:
            self._rest, self._skips = b"", True
            lines.append(b"")
        return [_parsed(line) for line in lines]


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class Watch:
    """The connections of one rank; rank 0 has one to each of the others.

    Args:
        rank: This rank.
        size: The number of ranks.
        whereabouts: Returns the place where this rank is; called by another thread.

    Attributes:
        failure: A sentence about the rank that has failed first, or None.
        left: The ranks that have ended as they should: how often each had taken part in a step of
            all ranks, and when that was heard, by `time.monotonic`.
        warned: The first rank that has announced a warning, by its kind and place.
    """

    def __init__(self, rank: int, size: int, whereabouts: Callable[[], str]) -> None:
        self.rank, self.size = rank, size
        self.failure: str | None = None
        self.left: dict[int, tuple[int, float]] = {}
        self.warned: dict[str, int] = {}
        self._whereabouts = whereabouts
        self._lines: dict[int, _Line] = {}
        self._strangers: list[_Line] = []  # that have not said who they are, the oldest first
        self._server: socket.socket | None = None
        self._token = ""
        self._answers: dict[int, str] = {}
        self._ends_at = float("inf")
        self._said = False  # that this rank has failed, or is at its end
        self._ended = False
        os.register_at_fork(after_in_child=self._forget)

    def open(self, host: str) -> tuple[int, str]:
        """Listen on rank 0; return the port, and the word that the others begin with.

        Args:
            host: The name by which the others find this host.
        """
        local = host == "127.0.0.1"
        backlog = self.size + _STRANGERS
        self._server = socket.create_server((host if local else "", 0), backlog=backlog)
        self._token = secrets.token_hex(16)
        return self._server.getsockname()[1], self._token

    def join(self, host: str, port: int, token: str) -> None:
        """Connect this rank, which is not rank 0; return without a watch if that does not work."""
        until = time.monotonic() + _JOINING
        while time.monotonic() < until:
            try:
                line = _Line(socket.create_connection((host, port), timeout=_JOINING))
            except OSError:
                return
            line.send({"kind": "hello", "rank": self.rank, "token": token})
            line.socket.settimeout(max(0.1, until - time.monotonic()))
            come = line.receive()
            if come is None:  # closed, since too many other programs have connected
                line.socket.close()
                time.sleep(0.02)
                continue
            line.socket.settimeout(_SENDING)
            line.rank = 0
            self._lines[0] = line
            for message in come:
                self._hear_one(message, line)
            return

    def start(self) -> None:
        """Listen to the others, in a thread of the watch's own."""
        if self._lines or self._server is not None:
            threading.Thread(target=self._run, name="difftile watch", daemon=True).start()

    def fail(self, text: str) -> None:
        """Tell the others that this rank has failed."""
        if not self._said and self.failure is None:
            self._said = self._ended = True
            self._tell({"kind": "failed", "rank": self.rank, "text": text[:_LONGEST]})

    def leave(self, joined: int) -> None:
        """Tell the others that this rank ends as it should, after so many steps of all ranks."""
        if not self._said:
            self._said = True
            self._tell({"kind": "bye", "rank": self.rank, "joined": joined})

    def outlast(self, patience: float) -> list[int]:
        """Wait for the ends of the other ranks, as long as the remaining ones answer.

        Args:
            patience: The time without an answer of some rank after which it is given up [s].

        Returns:
            The ranks that do not answer.
        """
        others = set(range(self.size)) - {self.rank}
        heard = time.monotonic()
        while self.failure is None and 0 in ({self.rank} | self._lines.keys()):
            until = time.monotonic() + min(_BUSY, patience)
            while not others <= self.left.keys() and time.monotonic() < until:
                time.sleep(0.002)
            answers = {*self.left} if others <= self.left.keys() else {*self.ask(), *self.left}
            if others <= self.left.keys():
                break
            if others <= answers:
                heard = time.monotonic()
            elif time.monotonic() - heard > patience:
                return sorted(others - answers)
        return []

    def close(self) -> None:
        """Hear nothing any more."""
        self._ended = True

    def warn(self, place: str) -> None:
        """Announce a warning to the others."""
        if self.warned.get(place, self.size) > self.rank:
            self.warned[place] = self.rank
            self._tell({"kind": "warned", "rank": self.rank, "text": place[:_LONGEST]})

    def ask(self, seconds: float = 2.0) -> dict[int, str]:
        """Return where the others are, as far as they answer in time."""
        self._answers = {}
        self._tell({"kind": "ask", "rank": self.rank})
        until = time.monotonic() + seconds
        while len(self._answers) < self.size - 1 and time.monotonic() < until:
            time.sleep(0.01)
        return dict(self._answers)

    def _tell(self, message: dict[str, Any], beside: int = -1) -> None:
        for rank, line in list(self._lines.items()):
            if rank != beside:
                line.send(message)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for line in self._lines.values():
                selector.register(line.socket, selectors.EVENT_READ, line)
            if self._server is not None:
                selector.register(self._server, selectors.EVENT_READ, None)
            while not self._ended:
                for key, _ in selector.select(_TICK):
                    if key.data is None:
                        self._accept(selector)
                    elif key.data.socket.fileno() >= 0:  # not closed in this round
                        self._hear(selector, key.data)
                now = time.monotonic()
                for line in [one for one in self._strangers if one.until < now]:
                    self._close(selector, line)
                if now > self._ends_at and not self._said:
                    end_now(self.rank, self.failure or "")

    def _accept(self, selector: selectors.BaseSelector) -> None:
        assert self._server is not None
        if len(self._strangers) >= _STRANGERS:
            self._close(selector, self._strangers[0])
        try:
            line = _Line(self._server.accept()[0])
        except OSError:  # it has gone again, or this process has too many files open
            time.sleep(0.01)
            return
        self._strangers.append(line)
        selector.register(line.socket, selectors.EVENT_READ, line)

    def _close(self, selector: selectors.BaseSelector, line: _Line) -> None:
        if line in self._strangers:
            self._strangers.remove(line)
        selector.unregister(line.socket)
        line.socket.close()

    def _hear(self, selector: selectors.BaseSelector, line: _Line) -> None:
        messages = line.receive()
        if messages is None:
            self._close(selector, line)
            if self._lines.pop(line.rank, None) is not None and line.rank not in self.left:
                self._note(line.rank, "it ended without a message: it was killed, or crashed")
            return
        for message in messages:
            if line.rank >= 0:
                self._hear_one(message, line)
            elif not self._admit(line, message):
                self._close(selector, line)
                return

    def _hear_one(self, message: dict[str, Any], line: _Line) -> None:
        # Without this thread no failure is heard, so no message may end it.
        with suppress(Exception):
            self._take(message, line.rank)

    def _admit(self, line: _Line, message: dict[str, Any]) -> bool:
        """Tell whether a connection to rank 0 is one of the ranks'."""
        token, rank = message.get("token"), message.get("rank")
        if message.get("kind") != "hello" or not isinstance(token, str):
            return False
        if not hmac.compare_digest(token.encode(errors="replace"), self._token.encode()):
            return False
        if not isinstance(rank, int) or not 0 < rank < self.size or rank in self._lines:
            return False
        self._strangers.remove(line)
        line.rank = rank
        self._lines[rank] = line
        line.send({"kind": "welcome", "rank": 0})
        if self.failure is not None:
            line.send({"kind": "failed", "rank": -1, "text": self.failure})
        return True

    def _take(self, message: dict[str, Any], source: int) -> None:
        kind, rank = message["kind"], int(message["rank"])
        if kind == "failed":
            self._note(rank, message["text"])
        elif kind == "bye":
            if self.rank == 0:  # first, as this rank may be at its end and wait for this only
                self._tell(message, beside=source)
            self.left[rank] = int(message["joined"]), time.monotonic()
        elif kind == "warned":
            place = message["text"]
            if place not in self.warned and len(self.warned) >= _MOST_WARNINGS:
                return
            self.warned[place] = min(rank, self.warned.get(place, rank))
            if self.rank == 0:
                self._tell(message, beside=source)
        elif kind == "ask":
            if self.rank == 0:
                self._tell(message, beside=source)
            answer = {"kind": "at", "rank": self.rank, "to": rank, "text": self._whereabouts()}
            self._lines[source].send(answer)
        elif kind == "at" and message["to"] == self.rank:
            self._answers[rank] = message["text"]
        elif kind == "at" and message["to"] in self._lines:
            self._lines[message["to"]].send(message)

    def _note(self, rank: int, text: str) -> None:
        """Note a failure, and pass it on from rank 0."""
        if self.failure is None:
            self.failure = text if rank < 0 else f"rank {rank} failed: {text}"
            self._ends_at = time.monotonic() + GRACE
        if self.rank == 0:
            self._tell({"kind": "failed", "rank": -1, "text": self.failure}, beside=rank)

    def _forget(self) -> None:
        """Close the connections in a forked child, which is not a rank."""
        self._said = self._ended = True
        for line in (*self._lines.values(), *self._strangers):
            line.socket.close()
        if self._server is not None:
            self._server.close()


def end_now(rank: int, why: str) -> None:
    """End this process, whatever it does."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    os.write(2, f"[rank {rank}] ended, since {why}\n".encode())
    os._exit(1)
