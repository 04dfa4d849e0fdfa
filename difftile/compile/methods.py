"""`@dt.data_oriented`: classes whose methods are kernels and funcs."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

from difftile.diagnostics import LaunchError, brief
from difftile.tracebacks import boundary, shorten

_Class = TypeVar("_Class", bound=type)


@overload
def data_oriented(cls: _Class) -> _Class: ...


@overload
def data_oriented(*, frozen: bool) -> Callable[[_Class], _Class]: ...


def data_oriented(cls: Any = None, *, frozen: bool = False) -> Any:
    """Let kernels and funcs be methods of a class; the decorator `@dt.data_oriented`.

    Kernels read fields and numbers of the object as `self.x`: numbers as they are at each launch.

    Args:
        cls: The class.
        frozen: Refuse changes of the object's attributes once it is made. A launch then takes them
            as they were at the first launch with the object, which saves time where there are many:
            `@dt.data_oriented(frozen=True)`.

    Raises:
        LaunchError: The object is not a class.
    """
    if cls is None:
        return functools.partial(data_oriented, frozen=frozen)
    if not isinstance(cls, type):
        raise LaunchError(f"@dt.data_oriented decorates a class, not {brief(cls)}.")
    # The same mark as Taichi's own decorator sets.
    cls._data_oriented = True  # pyrefly: ignore[missing-attribute]
    if frozen:
        _freeze(cls)
    return cls


def _freeze(cls: Any) -> None:
    """Refuse changes of attributes after `__init__`."""
    init, set_attribute, delete_attribute = cls.__init__, cls.__setattr__, cls.__delattr__

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if type(self) is cls:
            object.__setattr__(self, "_is_made", True)

    def refuse(self: Any, name: str) -> None:
        if getattr(self, "_is_made", False):
            raise dataclasses.FrozenInstanceError(
                f"cannot change '{name}': {type(self).__name__} is frozen."
            )

    def __setattr__(self: Any, name: str, value: Any) -> None:
        refuse(self, name)
        set_attribute(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        refuse(self, name)
        delete_attribute(self, name)

    cls.__init__, cls.__setattr__, cls.__delattr__ = __init__, __setattr__, __delattr__
    cls._frozen_class = cls


def is_frozen(value: object) -> bool:
    """Tell whether the attributes of an object stay as they are: a dataclass may be frozen too."""
    type_ = type(value)
    if vars(type_).get("_frozen_class") is type_:
        return True
    parameters = vars(type_).get("__dataclass_params__")
    return parameters is not None and parameters.frozen


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


class BoundMethod:
    """A kernel or custom op as a method of an object."""

    __slots__ = ("_instance", "_unbound")

    def __init__(self, unbound: Any, instance: object) -> None:
        self._unbound = unbound
        self._instance = instance

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the method; see `__call__` of kernels and of custom ops."""
        try:  # not a decorator, which takes as long as a launch that waits
            return self._unbound(self._instance, *args, **kwargs)
        except Exception as error:
            shorten(error)
            raise

    @property
    def unbound(self) -> Any:
        """The kernel or custom op."""
        return self._unbound

    @property
    def instance(self) -> object:
        """The object."""
        return self._instance

    @boundary
    def bwds(self, *args: object, **kwargs: object) -> None:
        """Run the adjoint of one call."""
        self._unbound.bwds(self._instance, *args, **kwargs)

    @boundary
    def fwds(self, *args: object, **kwargs: object) -> Any:
        """Run the method and push tangents through the call."""
        return self._unbound.fwds(self._instance, *args, **kwargs)

    def __reduce__(self) -> Any:
        return type(self), (self._unbound, self._instance)

    def __repr__(self) -> str:
        return f"{self._unbound!r} of {self._instance!r}"


class BoundKernel(BoundMethod):
    """A kernel as a method of an object."""

    __slots__ = ()

    _is_difftile_kernel = True

    def source(self, mode: str = "forward") -> str:
        """Return the Taichi source of the latest specialisation."""
        return self._unbound.source(mode)

    def explain(self, *args: object, **kwargs: object) -> str:
        """Return a report on the kernel's parameters and on the needs of its adjoint."""
        latest = not args and not kwargs and self.__signature__.parameters
        given = () if latest else (self._instance, *args)
        return self._unbound.explain(*given, **kwargs)

    def schedule(self, stage: str, line: int, steps: str | None) -> BoundKernel:
        """Set how a parallel loop runs, for all objects of the class."""
        self._unbound.schedule(stage, line, steps)
        return self

    @property
    def __signature__(self) -> inspect.Signature:
        own = inspect.signature(self._unbound)
        return own.replace(parameters=list(own.parameters.values())[1:])
