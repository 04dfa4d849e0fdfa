"""The watch of ranks among other programs, which connect to its port and write anything."""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from difftile.ranks import watch
from difftile.ranks.watch import Watch

_LONG = 30.0  # [s]
NASTY = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"[1]\n",
    b"1\n",
    b"null\n",
    b"{}\n",
    b"\n" * 9,
    b"\xff\xfe\n",
    b'"' + b"9" * 5000 + b"\n",
    b"9" * 5000 + b"\n",
    b"[" * 100_000 + b"\n",
    b"x" * 300_000,
    b'{"kind": "hello"}\n',
    b'{"kind": "hello", "rank": 1, "token": 5}\n',
    b'{"kind": "hello", "rank": 1, "token": "\xc3\xa4\\ud800"}\n',
    b'{"kind": "hello", "rank": [1], "token": null}\n',
    b'{"kind": "failed", "rank": 1, "text": "not me"}\n',
    b'{"kind": "bye", "rank": 1, "joined": 9}\n',
    b'{"kind": "at", "rank": 1, "to": {}}\n',
    b"",
]


def until(condition: Callable[[], bool]) -> None:
    """Wait for an event."""
    limit = time.monotonic() + _LONG
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.002)


@contextmanager
def watched(size: int = 2) -> Generator[tuple[list[Watch], int, str]]:
    """Yield the watches of some ranks in this process, and the port and secret of rank 0."""
    watches = [Watch(rank, size, lambda: "is here") for rank in range(size)]
    port, token = watches[0].open("127.0.0.1")
    watches[0].start()
    try:
        for one in watches[1:]:
            one.join("127.0.0.1", port, token)
            one.start()
        yield watches, port, token
    finally:
        for one in watches:
            one._said = one._ended = True  # the thread would end this process
        for one in watches:
            one._forget()


def said(port: int, data: bytes) -> socket.socket:
    """Return a connection of another program that has sent something."""
    other = socket.create_connection(("127.0.0.1", port), timeout=_LONG)
    try:
        other.sendall(data)
    except OSError:  # it was closed while it sent
        pass
    return other


def is_closed(other: socket.socket) -> bool:
    """Wait until rank 0 has closed a connection; return whether it said nothing before."""
    with other:
        other.settimeout(_LONG)
        try:
            return other.recv(1) == b""
        except ConnectionError:
            return True


@pytest.mark.parametrize("seed", range(3))
def test_a_line_of_another_program_does_not_end_the_thread_that_hears_failures(seed: int) -> None:
    rng = random.Random(seed)
    lines = [rng.choice(NASTY) + rng.randbytes(rng.randrange(40)) for _ in range(30)]
    with watched() as (watches, port, _):
        others = [said(port, one) for one in [*NASTY, *lines]]
        answers = watches[1].ask(_LONG)
        assert answers == {0: "is here"}
        watches[1].fail("the mesh is empty")
        until(lambda: watches[0].failure is not None)
        assert watches[0].failure == "rank 1 failed: the mesh is empty"
        assert watches[0].left == {} and watches[0].warned == {}
        for one in others:
            one.close()


def test_a_malformed_line_of_a_rank_is_left_out() -> None:
    with watched() as (watches, _, _):
        line = watches[1]._lines[0]
        for one in NASTY[:-3]:
            if b"hello" not in one:
                line.socket.sendall(one.replace(b"failed", b"fallen") + b"\n")
        for kind in ("bye", "warned", "at", "ask", "failed"):
            for more in ({}, {"rank": 7}, {"rank": "x"}, {"rank": 1, "to": []}, {"text": 3}):
                line.send({"kind": kind, **more})
        assert watches[1].ask(_LONG) == {0: "is here"}
        watches[1].leave(5)
        until(lambda: 1 in watches[0].left)
        assert watches[0].left[1][0] == 5 and watches[0].failure is None


def test_only_who_knows_the_secret_is_a_rank() -> None:
    with watched(3) as (_, port, token):
        for rank, secret in ((0, token), (1, token), (3, token), (-1, token), (True, token)):
            hello = {"kind": "hello", "rank": rank, "token": secret}
            assert is_closed(said(port, json.dumps(hello).encode() + b"\n"))
        for secret in ("", token[:-1], token + "0", token.upper() + "a", "\0" * len(token)):
            hello = {"kind": "hello", "rank": 2, "token": secret}
            assert is_closed(said(port, json.dumps(hello).encode() + b"\n"))


def test_programs_that_connect_and_say_nothing_are_few_and_do_not_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "_HELLO", 0.05)
    monkeypatch.setattr(watch, "_TICK", 0.02)
    with watched() as (watches, port, _):
        silent = [said(port, b"") for _ in range(2 * watch._STRANGERS)]
        until(lambda: len(watches[0]._strangers) <= watch._STRANGERS)
        assert all(map(is_closed, silent))
        until(lambda: not watches[0]._strangers)
        assert watches[1].ask(_LONG) == {0: "is here"}


def test_a_rank_joins_among_many_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_STRANGERS", 2)
    with watched(3) as (watches, port, _):
        others = [said(port, b"") for _ in range(20)]
        until(lambda: 2 in watches[0]._lines)
        assert watches[2].ask(_LONG) == {0: "is here", 1: "is here"}
        monkeypatch.setattr(watch, "_JOINING", 0.1)
        late = Watch(2, 3, lambda: "is late")
        late.join("127.0.0.1", port, "another job")
        assert late._lines == {}
        for one in others:
            one.close()


def test_a_line_without_an_end_takes_little_memory() -> None:
    with watched() as (watches, _, _):
        line = watches[1]._lines[0]
        for _ in range(40):
            line.socket.sendall(b"x" * watch._LINE)
            assert all(len(one._rest) <= 2 * watch._LINE for one in watches[0]._lines.values())
        line.socket.sendall(b"\n")
        assert watches[1].ask(_LONG) == {0: "is here"}
