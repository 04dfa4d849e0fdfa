"""What an expression of a kernel can stand for while it is lowered."""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias

from difftile.ir.nodes import Array, Const, Value, Var


@dataclass(frozen=True, slots=True)
class Path:
    """Where a captured object was found, so that each launch can look there again.

    Args:
        function: The function whose globals and closure hold the first name.
        steps: The name, then attribute names and subscripts, each marked.
    """

    function: FunctionType
    steps: tuple[tuple[str, Any], ...]

    def then(self, kind: str, key: Any) -> Path:
        """Return the path one step further."""
        return Path(self.function, (*self.steps, (kind, key)))

    @property
    def name(self) -> str:
        """The path as it is written in Python."""
        text = ""
        for kind, key in self.steps:
            text += {"name": f"{key}", "attribute": f".{key}", "item": f"[{key!r}]"}[kind]
        return text


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A Python object known while compiling: a number, a type, a function, a module ..."""

    value: Any
    path: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FieldRef:
    """A field, to be indexed."""

    array: Array


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """`x.shape` of a field."""

    array: Array


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """A tuple or list of items."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """`x[i]`, not yet read: its components can still be picked before the load."""

    array: Array
    index: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Unbound:
    """A name whose binding ended with a block, and why."""

    reason: str


Item: TypeAlias = Var | Const | Static | FieldRef | Shape | Several | Element | Unbound
