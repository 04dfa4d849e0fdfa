"""Reports what is being read, derived or compiled to a listener, if one is set."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, int], None]
"""Gets what begins, at its end what goes on then, or '', and the programs compiled so far."""


class _Heard:
    listener: Listener | None = None
    compiled: int = 0
    current: str = ""


def watch_compiling(listener: Listener | None) -> None:
    """Have a function called before each step towards a compiled program, and after it."""
    _Heard.listener, _Heard.compiled, _Heard.current = listener, 0, ""


@contextmanager
def deriving(what: str) -> Generator[None]:
    """Tell the listener what is worked out inside the block, of which other steps may be parts."""
    listener = _Heard.listener
    if listener is None:
        yield
        return
    around, _Heard.current = _Heard.current, what
    listener(what, _Heard.compiled)
    try:
        yield
    finally:
        _Heard.current = around
        listener(around, _Heard.compiled)


@contextmanager
def compiling(name: str) -> Generator[None]:
    """Tell the listener that a program is compiled inside the block, and count it."""
    with deriving(f"compiling {name}"):
        try:
            yield
        finally:
            _Heard.compiled += 1
