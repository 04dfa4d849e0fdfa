"""`@dt.data_oriented`: classes whose methods are kernels and funcs."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from difftile.diagnostics import LaunchError

_Class = TypeVar("_Class", bound=type)


def data_oriented(cls: _Class) -> _Class:
    """Let kernels and funcs be methods of a class; the decorator `@dt.data_oriented`.

    Kernels read fields and numbers of the object as `self.x`: numbers as they are at each launch.

    Raises:
        LaunchError: The object is not a class.
    """
    if not isinstance(cls, type):  # pyright: ignore[reportUnnecessaryIsInstance] - user input
        raise LaunchError(f"@dt.data_oriented decorates a class, not {cls!r}.")
    # The same mark as Taichi's own decorator sets.
    cls._data_oriented = True  # pyright: ignore[reportAttributeAccessIssue]
    return cls


def is_data_oriented(value: object) -> bool:
    """Tell whether an object's class is decorated."""
    return getattr(type(value), "_data_oriented", False) is True


def check_class(what: str, instance: object) -> None:
    """Check that kernels and funcs may be methods of an object.

    Raises:
        LaunchError: The class of the object is not decorated.
    """
    if not is_data_oriented(instance) and not isinstance(instance, type):
        name = type(instance).__name__
        raise LaunchError(
            f"{what} is a method of '{name}', which is not decorated: "
            f"put '@dt.data_oriented' above 'class {name}'."
        )


class BoundKernel:
    """A kernel as a method of an object."""

    __slots__ = ("_instance", "_kernel")

    _is_difftile_kernel = True

    def __init__(self, kernel: Any, instance: object) -> None:
        self._kernel = kernel
        self._instance = instance

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Launch the kernel."""
        return self._kernel(self._instance, *args, **kwargs)

    def bwds(self, *args: object, **kwargs: object) -> None:
        """Run the adjoint of one launch."""
        self._kernel.bwds(self._instance, *args, **kwargs)

    def fwds(self, *args: object, **kwargs: object) -> None:
        """Launch the kernel and push tangents through the launch."""
        self._kernel.fwds(self._instance, *args, **kwargs)

    def source(self, mode: str = "forward") -> str:
        """Return the Taichi source of the latest specialisation."""
        return self._kernel.source(mode)

    def explain(self, *args: object, **kwargs: object) -> str:
        """Return a report on the kernel's parameters and on the needs of its adjoint."""
        latest = not args and not kwargs and self.__signature__.parameters
        given = () if latest else (self._instance, *args)
        return self._kernel.explain(*given, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(self._kernel)
        return own.replace(parameters=list(own.parameters.values())[1:])

    def __repr__(self) -> str:
        return f"{self._kernel!r} of {self._instance!r}"
