"""The type of each parameter of a kernel, guessed from its uses, for examples to type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from difftile.diagnostics import KernelError
from difftile.frontend.source import source_of

_NUMERIC = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign)


def examples(function: Any) -> dict[str, str]:
    """Return a type for each parameter: `f32[2d] grad`, `f32[] grad`, `float` or `int`.

    A field has as many dimensions as its indices, none where the index is None. A parameter that
    has no index and stands in arithmetic is a number. Others are fields of one dimension.
    """
    try:
        tree = source_of(function).tree
    except KernelError:
        return {}
    names = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    uses: dict[str, list[int]] = {name: [] for name in names}
    numbers: dict[str, str] = {}
    for node in ast.walk(tree):
        for name, dimensions in _indexed(node):
            if name in uses:
                uses[name].append(dimensions)
        for name, kind in _counted(node):
            numbers.setdefault(name, kind)
    found: dict[str, str] = {}
    for name, dimensions in uses.items():
        if not dimensions and name in numbers:
            found[name] = numbers[name]
            continue
        most = max(dimensions, default=1)
        found[name] = f"f32[{most}d] grad" if most else "f32[] grad"
    return found


def _indexed(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a node indexes or loops over, with the number of indices."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        index = node.slice
        if isinstance(index, ast.Constant) and index.value is None:
            yield node.value.id, 0
        else:
            yield node.value.id, len(index.elts) if isinstance(index, ast.Tuple) else 1
    elif isinstance(node, ast.For) and isinstance(node.iter, ast.Name):
        target = node.target
        yield node.iter.id, len(target.elts) if isinstance(target, ast.Tuple) else 1


def _counted(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that a node computes with, as numbers, or counts up to."""
    if isinstance(node, _NUMERIC):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                yield part.id, "float"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        for part in node.args:
            if isinstance(part, ast.Name):
                yield part.id, "int"
