"""Unknown keywords of public functions: the error names the one that was meant."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from difftile.diagnostics import UnknownArgument, render
from difftile.habits import is_habit, keyword

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def unknown_keyword(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: Exception,
) -> UnknownArgument | None:
    """Return a better error about a call that Python, or a function within, has refused.

    Args:
        function: The function that was called.
        args: Its arguments.
        kwargs: Its keywords.
        error: The error that left the call.

    Returns:
        The error, or None where another fault is reported.
    """
    if not kwargs:
        return None
    if isinstance(error, UnknownArgument):  # of a function that takes the keywords of this one
        is_own = error.name in kwargs
        known = (*_names(function)[0], *error.known)
        return _error(function, args, error.name, known) if is_own else None
    trace = error.__traceback__
    refused = type(error) is TypeError and trace is not None and trace.tb_next is None
    if not refused:  # the function has begun
        return None
    known, closed = _names(function)
    for name in kwargs:
        # Functions that pass keywords on to others do not know all of them.
        if name not in known and (closed or is_habit(name, set(known) - kwargs.keys())):
            return _error(function, args, name, known)
    return None


def _error(
    function: Callable[..., Any], args: tuple[Any, ...], name: str, known: Iterable[str]
) -> UnknownArgument:
    names = tuple(dict.fromkeys(known))
    hint = keyword(name, names) or f"it takes {', '.join(names)}."
    title = f"{_shown(function, args)} has no argument '{name}'."
    error = UnknownArgument(render(title, (), (), hint))
    error.name, error.known = name, names
    return error


def _names(function: Callable[..., Any]) -> tuple[list[str], bool]:
    """Return the arguments that a function takes by name, and whether those are all."""
    names: list[str] = []
    closed = True
    for k, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind is parameter.VAR_KEYWORD:
            others = _of_typed_dict(function, parameter.name)
            names += others
            closed = bool(others)
        elif parameter.kind in _BY_NAME and (k > 0 or parameter.name != "self"):
            names.append(parameter.name)
    return names, closed


def _of_typed_dict(function: Callable[..., Any], name: str) -> Collection[str]:
    """Return the keywords of a parameter `**options: Unpack[Options]`; none if it says none."""
    plain: Any = inspect.unwrap(function)
    found = re.fullmatch(r"Unpack\[(\w+)\]", str(plain.__annotations__.get(name)))
    options = plain.__globals__.get(found[1]) if found else None
    return getattr(options, "__annotations__", ())


def _shown(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return the public name of a function: 'dt.zeros()', 'dt.optim.Adam()', 'Tape.backward()'."""
    owner, _, name = function.__qualname__.rpartition(".")
    if name == "__init__" and args:
        kind: type[object] = args[0].__class__
        return f"{_public(kind.__module__, kind.__name__)}()"
    return f"{owner}.{name}()" if owner else f"{_public(function.__module__, name)}()"


def _public(module: str, name: str) -> str:
    """Return the name by which users know a function or class of some module."""
    library, *parts = module.split(".")
    if not parts or name in dir(sys.modules[library]):
        return f"dt.{name}"
    package = sys.modules[f"{library}.{parts[0]}"]
    return f"dt.{'.'.join(parts[:1] if name in dir(package) else parts)}.{name}"
