"""The meanings that a Python object can have inside a kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import CellType, CodeType
from typing import Any, Protocol, TypeAlias

from difftile.diagnostics import LaunchError
from difftile.ir.types import FieldType, Struct, Type
from difftile.ir.views import ViewKind
from difftile.records import dataclass


class PythonFunction(Protocol):
    """A `FunctionType`; type checkers take a field of that type itself for a method."""

    @property
    def __name__(self) -> str: ...
    @property
    def __code__(self) -> CodeType: ...
    @property
    def __globals__(self) -> dict[str, Any]: ...
    @property
    def __closure__(self) -> tuple[CellType, ...] | None: ...
    @property
    def __defaults__(self) -> tuple[Any, ...] | None: ...
    @property
    def __kwdefaults__(self) -> dict[str, Any] | None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102


def is_lambda(function: PythonFunction) -> bool:
    """Tell whether a function was written as a lambda, under whatever name it goes."""
    return function.__code__.co_name == "<lambda>"


@dataclass(frozen=True, slots=True)
class OpName:
    """A function that is a row of the ops table or a composite of rows."""

    name: str


@dataclass(frozen=True, slots=True)
class Special:
    """A function that the frontend handles itself, such as `range` or `ti.static`."""

    name: str


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type: calling it casts or builds.

    Args:
        type: The type. None: Python's float, which is the float type of the kernel.
        follows: Its number type follows the data, as for `ti.math.vec3`.
    """

    type: Type | None
    follows: bool = False


@dataclass(frozen=True, slots=True)
class FieldMeaning:
    """A field of difftile; two with one identity have their contents in one place.

    Fields that share memory under different shapes differ in identity and agree in `memory`.
    """

    type: FieldType
    identity: Hashable
    memory: int


@dataclass(frozen=True, slots=True)
class ViewMeaning:
    """A view of a field of difftile; its `base`, `kind` and `numbers` are attributes."""

    base: FieldMeaning
    kind: ViewKind


@dataclass(frozen=True, slots=True)
class StructName:
    """A type of structs: calling it builds one."""

    type: Struct


@dataclass(frozen=True, slots=True)
class ClassName:
    """A dataclass of Python: calling it in a kernel builds a struct with its methods.

    Args:
        members: The members, in order.
        defaults: The names and values of those that may be left out.
        methods: Name and function of each method.
        reason: Why kernels cannot call it; '' if they can.
    """

    members: tuple[str, ...]
    defaults: tuple[tuple[str, Any], ...]
    methods: tuple[tuple[str, Any], ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StructMeaning:
    """A struct made in Python, or a field of structs: its members are attributes."""

    members: tuple[str, ...]
    methods: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class VectorMeaning:
    """A vector or matrix of numbers made in Python, such as `ti.Vector([0.0, -9.8])`."""

    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuleMeaning:
    """A function that computes a derivative, and whether it is approximate by its own account."""

    function: PythonFunction
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class Differences:
    """Central differences: the step is `eps`, relative to arguments that are larger than 1."""

    eps: float | None
    relative: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """A substitute for the derivative of a func.

    Args:
        backward: The adjoint, a func of the arguments and of the adjoint of the result.
        forward: The tangent, a func of the arguments and of the tangents of the float arguments.
        substitute: A func, or a function of the tables, that has the derivative.
        differences: The derivative is taken by differences.
        approximate: The substitute is not exact.
    """

    backward: RuleMeaning | None = None
    forward: RuleMeaning | None = None
    substitute: object = None
    differences: Differences | None = None
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class DerivativeOf:
    """A func or function of the tables, to be called as its adjoint or tangent."""

    function: object
    forward: bool

    def __call__(self, *args: Any) -> Any:
        """Refuse: derivatives of funcs are called in kernels and rules.

        Raises:
            LaunchError: Always.
        """
        word = "fwd_diff" if self.forward else "bwd_diff"
        raise LaunchError(f"dt.{word}({self.function!r}) is called in kernels and rules.")


@dataclass(frozen=True, slots=True)
class FuncMeaning:
    """A function decorated with `@dt.func`; a bound one is a method of some object.

    `rules` stand for its derivative; none at all in them means that it has none.
    """

    function: PythonFunction
    bound: bool = False
    rules: Rules | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A func that is given a comparison as its first argument: as a bool, and as a margin."""

    function: object


@dataclass(frozen=True, slots=True)
class Refused:
    """An object that must not be used in a kernel, and the remedy."""

    what: str
    hint: str


@dataclass(frozen=True, slots=True)
class HostOnly:
    """A function of the language's package that kernels do not call, and the remedy."""

    hint: str


@dataclass(frozen=True, slots=True)
class Library:
    """A module whose names never change, such as `math`."""


Meaning: TypeAlias = (
    OpName
    | Special
    | TypeName
    | StructName
    | ClassName
    | FieldMeaning
    | ViewMeaning
    | StructMeaning
    | VectorMeaning
    | FuncMeaning
    | DerivativeOf
    | Compared
    | Refused
    | HostOnly
    | Library
)
Meanings: TypeAlias = Callable[[object], Meaning | None]
