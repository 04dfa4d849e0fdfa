"""`@dt.checkpoint`: a function of launches of which a tape keeps only the inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from difftile.diagnostics import LaunchError, brief
from difftile.fields.recording import RECORDING
from difftile.runtime.tape_recorder import TapeRecorder
from difftile.tracebacks import boundary

_P = ParamSpec("_P")
_R = TypeVar("_R")


@overload
def checkpoint(function: Callable[_P, _R]) -> Callable[_P, _R]: ...
@overload
def checkpoint() -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
@boundary
def checkpoint(function: Any = None) -> Any:
    """Make a tape keep only the inputs of each call instead of all old values.

    In reverse the launches of the call run once more. A tape with a limit decides by itself, and a
    call inside another one belongs to the outer one.

    Args:
        function: A Python function that launches kernels.

    Raises:
        LaunchError: The object is not a function.
    """
    if function is None:
        return checkpoint
    if not callable(function):
        raise LaunchError(f"@dt.checkpoint decorates a function, not {brief(function)}.")

    @functools.wraps(function)
    @boundary
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        tape = RECORDING.get().recorder
        if not isinstance(tape, TapeRecorder):
            return function(*args, **kwargs)
        with tape.region():
            return function(*args, **kwargs)

    return wrapper
