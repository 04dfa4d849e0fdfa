"""`@dt.func`: a function that kernels call; it is inlined there."""

from __future__ import annotations

import functools
from types import FunctionType, MethodType
from typing import Any

from difftile.diagnostics import LaunchError
from difftile.launch.methods import check_class


class Func:
    """A function of the kernel language."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: funcs run inside kernels alone."""
        raise LaunchError(
            f"func '{self.function.__name__}' is called from kernels; "
            "write a '@dt.kernel' around it."
        )

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return the func as a method of an object."""
        if instance is None:
            return self
        check_class(f"Func '{self.function.__name__}'", instance)
        return MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<func {self.function.__name__}>"


def func(function: Any) -> Func:
    """Make a function callable from kernels; the decorator `@dt.func`.

    Raises:
        LaunchError: It is not a plain Python function.
    """
    if isinstance(function, Func) or getattr(function, "_is_difftile_kernel", False):
        raise LaunchError(f"{function!r} is decorated already; remove one of the two decorators.")
    if not isinstance(function, FunctionType):
        raise LaunchError(f"@dt.func decorates a function, not {function!r}.")
    return Func(function)
