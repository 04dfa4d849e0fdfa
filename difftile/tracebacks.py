"""Short tracebacks: errors leave the public functions without the frames of the library.

A public function is a boundary. An error that passes it keeps the frames of the user: the frames of
the caller, which Python adds afterwards, and of functions that the user has passed in. Only
errors about the user's program are shortened: a `DifftileError`, and whatever a function of the
user raises. Any other error is a fault of the library, and its frames are the report.
"""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from difftile.diagnostics import DifftileError, FieldError, UnknownArgument
from difftile.keywords import unknown_keyword

VARIABLE = "DIFFTILE_TRACEBACK"
NOTE = '  Note: frames inside difftile are hidden; dt.init(traceback="full") shows them.'

_MODES = ("short", "full")
_LIBRARY = str(Path(__file__).parent) + os.sep
_DEMOS = _LIBRARY + "_gallery" + os.sep  # in a wheel; demos are programs like those of users
_GENERATED = "<difftile "  # the files of emitted kernels
_GLUE = tuple(
    str(Path(one.__file__)) for one in (functools, sys.modules["contextlib"]) if one.__file__
)
_REPLACES = sys.version_info >= (3, 11)
"""Whether a bare 'raise' goes on with the traceback that the error has by then."""

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Setting:
    chosen: str | None = None


def set_traceback(mode: str | None) -> None:
    """Choose how much of a traceback is shown.

    Args:
        mode: "short" or "full"; None for the mode in the environment variable DIFFTILE_TRACEBACK,
            or else "short".

    Raises:
        FieldError: The mode is unknown.
    """
    if mode is not None and mode not in _MODES:
        raise FieldError(f'traceback is "short" or "full", not {mode!r}.')
    _Setting.chosen = mode


def boundary(function: _Function) -> _Function:
    """Shorten the errors of a public function, and explain unknown keywords; a decorator."""

    @functools.wraps(function)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            unknown = unknown_keyword(function, args, kwargs, error)
            if unknown is None:
                shorten(error)
                raise
        try:
            raise unknown
        except UnknownArgument as error:
            shorten(error)
            raise

    return bounded  # pyrefly: ignore[bad-return]


def boundaries(*names: str) -> Callable[[_Class], _Class]:
    """Return a decorator of classes that makes boundaries of the methods with such names."""

    def decorate(cls: _Class) -> _Class:
        for name in names:
            setattr(cls, name, boundary(vars(cls)[name]))
        return cls

    return decorate


def shorten(error: Exception) -> None:
    """Remove the frames of the library from the traceback of an error, and of its causes.

    Called in the `except` block of a boundary, which ends with a bare `raise`.
    """
    if (_Setting.chosen or os.environ.get(VARIABLE)) == "full":
        return
    met: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in met:
        met.add(id(one))
        hides = _strip(one, is_cause=one is not error)
        if one is error and hides and NOTE not in getattr(error, "__notes__", ()):
            add_note: Callable[[str], None] | None = getattr(error, "add_note", None)
            if add_note is not None:  # from Python 3.11 on
                add_note(NOTE)
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)


def _strip(error: BaseException, *, is_cause: bool) -> bool:
    """Remove frames from the traceback of one error, and tell whether there were any.

    Python adds the frames of callers to the propagating error; a cause that has no frame of
    the user keeps its own, since Python shows it without a traceback otherwise.
    """
    entries: list[TracebackType] = []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    own = [is_own(one.tb_frame.f_code.co_filename) for one in entries]
    if True not in own or not _is_users(error, entries, own):
        return False
    short: TracebackType | None = None
    hidden = False  # whether the entry below is hidden
    for one, hides in zip(reversed(entries), reversed(own), strict=True):
        hidden = hides or (hidden and one.tb_frame.f_code.co_filename in _GLUE)
        if not hidden:
            short = TracebackType(short, one.tb_frame, one.tb_lasti, one.tb_lineno)
    if is_cause and short is None:
        return False
    error.__traceback__ = short
    if not _REPLACES:
        entries[0].tb_next = short  # the boundary's own frame remains
    return True


def _is_users(error: BaseException, entries: list[TracebackType], own: list[bool]) -> bool:
    """Tell whether an error is about the user's program.

    It is if a boundary inside has said so, if it arose in a function that the user has passed in,
    or if the function of a boundary did not take the user's arguments.
    """
    if isinstance(error, DifftileError):
        return True
    at_boundary = entries[-1].tb_frame.f_code.co_filename == __file__
    if at_boundary or NOTE in getattr(error, "__notes__", ()):
        return True
    last = len(own) - 1 - own[::-1].index(True)
    return not all(_is_of_others(one.tb_frame.f_code.co_filename) for one in entries[last + 1 :])


@cache
def is_own(file: str) -> bool:
    """Tell whether a file is the library's own."""
    return file.startswith((_LIBRARY, _GENERATED)) and not file.startswith(_DEMOS)


@cache
def _others() -> tuple[str, ...]:
    folders = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    return tuple(str(Path(one)) + os.sep for one in (*folders, *site.getsitepackages()))


@cache
def _is_of_others(file: str) -> bool:
    return file.startswith(_others()) or file.startswith("<frozen")
