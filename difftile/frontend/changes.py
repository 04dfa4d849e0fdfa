"""The locals that statements change: by assignment, atomics, and funcs that are handed a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from difftile.diagnostics import KernelError
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Record, Static
from difftile.frontend.joins import holds_numbers
from difftile.frontend.source import source_of
from difftile.ops.vocabulary import FuncMeaning, Meaning, Special


def bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, list[str]]]:
    """Yield each statement that binds locals or components of them, with their names."""
    for node in (node for stmt in body for node in ast.walk(stmt)):
        if isinstance(node, ast.Assign):
            yield node, [name for target in node.targets for name in _roots(target)]
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
            yield node, _roots(node.target)


def assigned(body: Sequence[ast.stmt]) -> list[str]:
    """Return the local names that statements bind again, components included, in order."""
    return list(dict.fromkeys(name for _, names in bindings(body) for name in names))


def _roots(target: ast.expr) -> list[str]:
    """Return the names that an assignment to a target changes, in whole or in part."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for part in target.elts for name in _roots(part)]
    root = root_of(target)
    return [] if root is None else [root]


def root_of(node: ast.expr) -> str | None:
    """Return the name that an expression such as `q.pos[0]` is a part of."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def changed(cx: Context, body: Sequence[ast.stmt]) -> list[str]:
    """Return the locals that statements change, through calls too."""
    found = assigned(body)
    every = (node for stmt in body for node in ast.walk(stmt))
    for node in [node for node in every if isinstance(node, ast.Call)]:
        meaning, receiver = _callee(cx, node)
        if isinstance(meaning, Special) and meaning.name.startswith("atomic_") and node.args:
            root = root_of(node.args[0])
            item = cx.env.get(root or "")
            if root is not None and item is not None and holds_numbers(item):
                found.append(root)
        if not isinstance(meaning, FuncMeaning):
            continue
        function = meaning.function
        # A func may change the locals that it is called with, itself or through its calls.
        tree = source_of(function).tree
        touched = set(assigned(tree.body))
        for inner in ast.walk(tree):
            if isinstance(inner, ast.Call):
                handed = [*inner.args, *(keyword.value for keyword in inner.keywords)]
                if isinstance(inner.func, ast.Attribute):
                    handed.append(inner.func.value)
                touched |= {root for one in handed if (root := root_of(one)) is not None}
        names = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args)]
        given = [*([] if receiver is None else [receiver]), *node.args]
        named = {k.arg: k.value for k in node.keywords if k.arg is not None}
        # In order, since loops carry them in the order in which they are found.
        for name in sorted(by_reference(tree.args, method=receiver is not None) & touched):
            place = given[names.index(name)] if name in names[: len(given)] else named.get(name)
            root = None if place is None else root_of(place)
            if root is not None and root in cx.env and not isinstance(cx.env[root], Static):
                found.append(root)
    return list(dict.fromkeys(found))


def by_reference(tree: ast.arguments, *, method: bool) -> set[str]:
    """Return the parameters that stand for the place that is passed.

    Args:
        tree: The parameters of a func.
        method: The first one is the object before the dot.
    """
    every = (*tree.posonlyargs, *tree.args, *tree.kwonlyargs)
    found = {one.arg for one in every[:1]} if method else set[str]()
    for one in every:
        annotation = one.annotation.func if isinstance(one.annotation, ast.Call) else one.annotation
        match annotation:
            case ast.Attribute(attr="template") | ast.Name(id="template"):
                found.add(one.arg)
            case _:
                pass
    return found


def _callee(cx: Context, node: ast.Call) -> tuple[Meaning | None, ast.expr | None]:
    """Return what is called, and the struct before the dot if it is a method of one."""
    found: list[tuple[Meaning | None, ast.expr | None]] = []

    def look() -> None:
        if isinstance(node.func, ast.Attribute):
            owner = cx.expr(node.func.value)
            if isinstance(owner, Record):
                found.append((method_of(cx, owner, node.func.attr), node.func.value))
                return
        found.append((cx.meaning(cx.expr(node.func)), None))

    if root_of(node.func) is None:
        return None, None
    try:
        cx.branch(look)  # nothing of it is kept: not the statements, not what it has drawn
    except KernelError:  # it is bound in the body only, or refused when its turn comes
        return None, None
    return found[0]


def method_of(cx: Context, owner: Record, name: str) -> FuncMeaning | None:
    """Return the func that is a method of a struct, or None if it has none of that name."""
    found: Item = Static(dict(owner.methods).get(name))
    meaning = cx.meaning(found)
    return meaning if isinstance(meaning, FuncMeaning) else None
