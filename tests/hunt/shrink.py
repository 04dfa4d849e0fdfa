"""The smallest program that is still wrong: statements and expressions are left out one by one."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.hunt.program import Launch, Program

BLOCKS = ("body", "orelse")


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """Return a part of a program that fails and of which no smaller part is known to fail.

    Args:
        program: A program that fails.
        fails: Whether a program fails; an invalid program does not.
    """
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(program):
            if fails(candidate):
                program, smaller = candidate, True
                break
    return _without_unused(program)


def _smaller(program: Program) -> Iterator[Program]:
    steps = program.steps
    for k in range(len(steps)):
        if len(steps) > 1:
            yield replace(program, steps=(*steps[:k], *steps[k + 1 :]))
    tree = ast.parse(program.text)
    launched = {step.kernel for step in steps if isinstance(step, Launch)}
    for number, stmt in enumerate(tree.body):
        if isinstance(stmt, ast.FunctionDef):
            if stmt.name not in launched:
                yield _with(program, _edited(tree, lambda new, n=number: new.body.pop(n)))
                continue
            yield from (_with(program, one) for one in _cut(tree, number))


def _with(program: Program, tree: ast.Module) -> Program:
    return replace(program, text=ast.unparse(ast.fix_missing_locations(tree)) + "\n")


def _edited(tree: ast.Module, edit: Callable[[ast.Module], object]) -> ast.Module:
    new = copy.deepcopy(tree)
    edit(new)
    return new


def _cut(tree: ast.Module, number: int) -> Iterator[ast.Module]:
    """Yield a module with one statement or expression less in one of its functions."""
    nodes = list(ast.walk(tree.body[number]))
    for k, node in enumerate(nodes):
        for block in BLOCKS:
            body = getattr(node, block, None)
            for at in range(len(body) if isinstance(body, list) else 0):
                yield from _without(tree, number, k, block, at)
    for k, node in enumerate(nodes):
        for name, value in ast.iter_fields(node):
            items = value if isinstance(value, list) else [value]
            for at, item in enumerate(items):
                if (
                    isinstance(item, ast.expr)
                    and isinstance(getattr(item, "ctx", None), ast.Store | ast.Del) is False
                ):
                    for simpler in _simpler(item):
                        yield _replaced(tree, number, k, name, at, simpler)


def _without(tree: ast.Module, number: int, k: int, block: str, at: int) -> Iterator[ast.Module]:
    def body_of(new: ast.Module) -> list[ast.stmt]:
        return getattr(list(ast.walk(new.body[number]))[k], block)

    new = copy.deepcopy(tree)
    body = body_of(new)
    del body[at]
    if body or block == "orelse":
        yield new
    new = copy.deepcopy(tree)
    body = body_of(new)
    stmt = body[at]
    if isinstance(stmt, (ast.If, ast.For, ast.While)):
        body[at : at + 1] = stmt.body
        yield new


def _replaced(
    tree: ast.Module, number: int, k: int, name: str, at: int, by: ast.expr
) -> ast.Module:
    new = copy.deepcopy(tree)
    node = list(ast.walk(new.body[number]))[k]
    value = getattr(node, name)
    if isinstance(value, list):
        value[at] = by
    else:
        setattr(node, name, by)
    return new


def _simpler(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Constant, ast.Name)):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(child, (ast.Constant, ast.Slice)):
            yield child
    if not isinstance(node, ast.Attribute):
        yield ast.Constant(0.5)
        yield ast.Constant(0)


def _without_unused(program: Program) -> Program:
    """Leave out the fields that no launch mentions."""
    used = {
        name
        for step in program.steps
        for text in (step.arguments if isinstance(step, Launch) else (step.field,))
        for name in re.findall(r"^[A-Za-z]+", text)
    }
    kept = {name: one for name, one in program.fields.items() if name.partition(".")[0] in used}
    return replace(program, fields=kept)
