"""The locals that statements change: by assignment, atomics, and funcs that are handed a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from difftile.diagnostics import KernelError
from difftile.frontend.captures import Path, look_up
from difftile.frontend.context import Context
from difftile.frontend.items import Item, Record, Static
from difftile.frontend.joins import holds_numbers
from difftile.frontend.source import source_of
from difftile.frontend.syntax import nodes_of
from difftile.ir.nodes import Const, Var
from difftile.ops.vocabulary import (
    ClassName,
    FuncMeaning,
    Meaning,
    OpName,
    PythonFunction,
    Special,
    StructName,
    TypeName,
)

Callers: TypeAlias = tuple[PythonFunction, ...]


_BINDING = ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.Expr


def bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, list[str]]]:
    """Yield each statement that binds locals or components of them, with their names."""
    for node in (node for stmt in body for node in nodes_of(stmt, *_BINDING)):
        if isinstance(node, ast.Assign):
            yield node, [name for target in node.targets for name in _roots(target)]
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
            yield node, _roots(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and function.attr == "fill":
                yield node, _roots(function.value)


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
    for node in [node for stmt in body for node in nodes_of(stmt, ast.Call)]:
        meaning, receiver, owner = _callee(cx, node)
        if isinstance(meaning, Special) and meaning.name.startswith("atomic_") and node.args:
            root = root_of(node.args[0])
            item = cx.env.get(root or "")
            if root is not None and item is not None and holds_numbers(item):
                found.append(root)
        if not isinstance(meaning, FuncMeaning):
            continue
        function = meaning.function
        tree = source_of(function).tree
        touched = _touched(cx, function, owner)
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


def _touched(
    cx: Context, function: PythonFunction, owner: Item | None, active: Callers = ()
) -> set[str]:
    """Return the names in a func that it may change, itself or through its calls.

    Args:
        cx: The context.
        function: The func.
        owner: The object of which it is a method.
        active: The funcs that call it.
    """
    tree = source_of(function).tree
    parameters = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args)]
    if function in active:
        return {*parameters, *(one.arg for one in tree.args.kwonlyargs)}
    active = (*active, function)
    known = {} if owner is None else {parameters[0]: owner}
    found = set(assigned(tree.body))
    for node in nodes_of(tree, ast.Call):
        found |= _handed(cx, node, function, known, active)
    return found


def _handed(
    cx: Context,
    node: ast.Call,
    function: PythonFunction,
    known: Mapping[str, Item],
    active: Callers,
) -> set[str]:
    """Return the names that a call in a func may change; all that it is given, if in doubt."""
    places = [*node.args, *(keyword.value for keyword in node.keywords)]
    receiver, name = None, ""
    if isinstance(node.func, ast.Attribute):
        receiver, name = node.func.value, node.func.attr
    owner = None if receiver is None else _known(receiver, known)
    if isinstance(owner, (Var, Const)):
        return set()  # methods of vectors change nothing, but for `fill`, which is an assignment
    if isinstance(owner, Record):
        meaning = method_of(cx, owner, name)
    else:
        root = root_of(node.func)
        local = root is None or root in function.__code__.co_varnames
        path = None if local else _path(node.func, function)
        meaning = None if path is None else cx.meanings(look_up(path))
        owner = None
    match meaning:
        case OpName() | TypeName() | StructName() | ClassName():
            return set()
        case Special(name) if not name.startswith("atomic_"):
            return set()
        case FuncMeaning(callee, bound=False):
            tree = source_of(callee).tree
            method = owner is not None
            touched = _touched(cx, callee, owner, active)
            touched &= by_reference(tree.args, method=method)
            names = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args)]
            given = dict(zip(names, [receiver, *node.args] if method else node.args, strict=False))
            given |= {keyword.arg or "": keyword.value for keyword in node.keywords}
            return _roots_of([given[name] for name in touched if name in given])
        case _:
            return _roots_of([*places, receiver])


def _known(node: ast.expr, known: Mapping[str, Item]) -> Item | None:
    """Return the item of `self.pos`, given that of `self`."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = _known(node.value, known)
    if not isinstance(owner, Record) or node.attr not in owner.names:
        return None
    return owner.items[owner.names.index(node.attr)]


def _path(node: ast.expr, function: PythonFunction) -> Path | None:
    """Return the way to a name of a func's module, or to an attribute of one."""
    match node:
        case ast.Name(name):
            return Path(function, (("name", name),))
        case ast.Attribute(owner, name):
            path = _path(owner, function)
            return None if path is None else path.then("attribute", name)
        case _:
            return None


def _roots_of(nodes: Sequence[ast.expr | None]) -> set[str]:
    return {root for node in nodes if node is not None and (root := root_of(node)) is not None}


def _callee(cx: Context, node: ast.Call) -> tuple[Meaning | None, ast.expr | None, Record | None]:
    """Return the callee; of a method also the struct before the dot, as text and as item."""
    found: list[tuple[Meaning | None, ast.expr | None, Record | None]] = []

    def look() -> None:
        if isinstance(node.func, ast.Attribute):
            owner = cx.expr(node.func.value)
            if isinstance(owner, Record):
                found.append((method_of(cx, owner, node.func.attr), node.func.value, owner))
                return
        found.append((cx.meaning(cx.expr(node.func)), None, None))

    nothing = (None, None, None)
    if root_of(node.func) is None:
        return nothing
    try:
        cx.branch(look)  # nothing of it is kept: not the statements, not what it has drawn
    except KernelError:  # it is bound in the body only, or refused when its turn comes
        return nothing
    return found[0]


def method_of(cx: Context, owner: Record, name: str) -> FuncMeaning | None:
    """Return the func that is a method of a struct, or None if it has none of that name."""
    found: Item = Static(dict(owner.methods).get(name))
    meaning = cx.meaning(found)
    return meaning if isinstance(meaning, FuncMeaning) else None
