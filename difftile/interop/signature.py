"""Functions of another library's arrays as functions of fields, and their signatures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from difftile.fields.numbers import take_constants


class Signature:
    """The names of a function's parameters, for errors.

    Args:
        function: The function, or a module with a `forward`.
        shown: The wrapped function, for errors.
    """

    def __init__(self, function: Callable[..., Any], shown: str) -> None:
        self._shown = shown
        try:
            signature = inspect.signature(getattr(function, "forward", function))
        except (TypeError, ValueError):  # a function of an extension module
            self._names: list[str] = []
            return
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._names = [one.name for one in signature.parameters.values() if one.kind in kinds]

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name, in order."""
        more = (f"args[{k}]" for k in range(len(self._names), len(args)))
        return {**dict(zip((*self._names, *more), args, strict=False)), **kwargs}

    def announce(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tell the open recorder of numbers among the arguments, which take no gradient."""
        take_constants(self._shown, self.named(args, kwargs))


class WrappedFunction:
    """A function of another library's arrays that takes and returns fields.

    Args:
        function: The function.
        dtype: The element types of the fields that it returns: None, one for all, or in the
            structure of the result.
    """

    def __init__(self, function: Callable[..., Any], dtype: Any) -> None:
        self.function = function
        self.dtype = dtype
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self.signature = Signature(function, repr(self))

    def __repr__(self) -> str:
        return f"<wrapped {self.name}>"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return the function as a method of an object."""
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Call the function; on an open tape the call is recorded."""
        raise NotImplementedError
