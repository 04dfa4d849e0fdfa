"""The check of a body of `dt.repeat`, which Python runs few times: nothing outside is set."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from difftile.diagnostics import KernelError, Label, Span, StepsError, render
from difftile.fields.array_like import ArrayLike
from difftile.frontend.source import source_of

_HINT = "write 'for t in dt.steps(n)', which runs the body in each step."


def check_stores(body: Any) -> None:
    """Check that a body assigns to nothing from outside, as far as its own code shows.

    Raises:
        StepsError: It does.
    """
    while isinstance(body, partial):
        body = body.func
    bound = body.__self__ if isinstance(body, MethodType) else None
    function = body.__func__ if isinstance(body, MethodType) else body
    if not isinstance(function, FunctionType):
        return
    first = function.__code__.co_varnames[:1] if bound is not None else ()
    for shown, span, root, container in _stores(function.__code__):
        if root in function.__code__.co_varnames and root not in first:
            continue
        if container:
            outside = inspect.getclosurevars(function)
            scope = {**outside.globals, **outside.nonlocals, **dict.fromkeys(first, bound)}
            with suppress(Exception):  # which the body will raise
                if isinstance(eval(container, scope), ArrayLike):
                    continue
        title = "The body of dt.repeat() assigns to what is outside of it."
        label = f"'{shown}' changes in a step that Python runs only a few times"
        raise StepsError(render(title, [Label(span, label)], (), _HINT))


@lru_cache(256)
def _stores(code: CodeType) -> tuple[tuple[str, Span, str, str], ...]:
    """Return where a function assigns to names from outside, and to attributes and items.

    Returns:
        The text, its place, the name at its start, and the name of the object changed in place.
    """
    cells = tuple(CellType() for _ in code.co_freevars)
    try:
        source = source_of(FunctionType(code, {}, code.co_name, None, cells))
    except (KernelError, OSError, SyntaxError):  # without a source, or decorated
        return ()
    nodes = list(_nodes(source.tree.body))
    kinds = (ast.Global, ast.Nonlocal)
    declared = {name for node in nodes if isinstance(node, kinds) for name in node.names}
    in_place = {node.target for node in nodes if isinstance(node, ast.AugAssign)}
    found: list[tuple[str, Span, str, str]] = []
    for node in nodes:
        if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            continue
        root, container = node, ""
        if isinstance(node, ast.Subscript):
            container = ast.unparse(node.value)
        elif node in in_place:
            container = ast.unparse(node)
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name) and (root is not node or root.id in declared):
            given = "" if "(" in container else container  # calls are not repeated
            found.append((ast.unparse(node), source.span(node), root.id, given))
    return tuple(found)


def _nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without nested functions and classes."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.AsyncFunctionDef)):
            todo += ast.iter_child_nodes(node)
