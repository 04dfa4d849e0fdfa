"""Names from outside a kernel: found while lowering, and looked up again at each launch.

A captured float is passed at run time, so it is never stale. A captured integer, bool, function or other
object is part of what a compiled kernel is specialised on; a captured field is passed like a parameter.
"""

from __future__ import annotations

import builtins
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.frontend.items import Path
from difftile.ir.nodes import Array, Var


class Missing:
    """The value of a name that is not there any more."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Capture:
    """Something a kernel takes from outside.

    Args:
        path: Where it is found.
        param: The parameter it is passed in; None for what the kernel is specialised on.
        key: What the kernel was specialised on, when `param` is None.
    """

    path: Path
    param: Array | Var | None
    key: Hashable = None


def look_up(path: Path) -> Any:
    """Return the object a path leads to now, or MISSING."""
    value: Any = MISSING
    for kind, key in path.steps:
        if kind == "name":
            value = _by_name(path, key)
        elif kind == "attribute":
            value = getattr(value, key, MISSING)
        else:
            try:
                value = value[key]
            except (LookupError, TypeError):
                value = MISSING
        if value is MISSING:
            return MISSING
    return value


def _by_name(path: Path, name: str) -> Any:
    function = path.function
    free = function.__code__.co_freevars
    if name in free and function.__closure__ is not None:
        try:
            return function.__closure__[free.index(name)].cell_contents
        except ValueError:  # an empty cell
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)


def visible_names(path_function: Any) -> list[str]:
    """Return the names a function can capture, for 'did you mean'."""
    return [*path_function.__code__.co_freevars, *path_function.__globals__]


def key_of(value: Any) -> Hashable:
    """Return what a kernel is specialised on for a captured object that is no float and no field."""
    if isinstance(value, (bool, int, str, np.integer, np.bool_)):
        return (type(value).__name__, value.item() if isinstance(value, np.generic) else value)
    return ("object", id(value))
