"""The text of kernels, rewritten where plain Python means something else.

Locals hold values and not references, `x[i] += v` is one access, parallel loops say which iteration
runs, and draws that an expression skips are counted. Names with an underscore in the result
are defined by `plain.Interpreter`.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from tests.hunt.duals import Discard

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}


# The text

BY_REFERENCE = ("bump", "bump_if")  # funcs that change their first argument: here they return it


def _draws_in(node: ast.expr) -> int:
    """Return how many random numbers an expression draws."""
    calls = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    names = (one.func.attr for one in calls if isinstance(one.func, ast.Attribute))
    return sum(name in ("rand", "randn", "randint", "random") for name in names)


def _is_known(test: ast.expr) -> bool:
    """Tell whether a condition may be decided while compiling, so that one side is left out."""
    parts = [one for one in ast.walk(test) if isinstance(one, ast.Compare)] or [test]
    return not all(any(isinstance(n, ast.Name) for n in ast.walk(one)) for one in parts)


def _skipping(before: int, node: ast.expr, after: int) -> ast.expr:
    """Return an expression around which as many draws are counted that do not happen."""
    if not before and not after:
        return node
    parts: list[ast.expr] = [
        _call("_skip", ast.Constant(before)),
        node,
        _call("_skip", ast.Constant(after)),
    ]
    return ast.Subscript(ast.Tuple(parts, ast.Load()), ast.Constant(1), ast.Load())


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def _place(target: ast.expr) -> ast.expr:
    """Return the expression for the place of a target."""
    match target:
        case ast.Subscript(value=value, slice=key):
            return _call("_place", _base(value), key)
        case ast.Attribute(value=value, attr=name):
            return _call("_place", _base(value), ast.Constant(name))
        case _:
            raise TypeError(ast.dump(target))


def _base(node: ast.expr) -> ast.expr:
    return _place(node) if isinstance(node, (ast.Subscript, ast.Attribute)) else node


def _carries(loop: ast.For, outer: set[str]) -> bool:
    """Tell whether iterations need what those before them leave in a local from outside."""
    nodes = list(ast.walk(loop))
    for name in outer:
        named = [one for one in nodes if isinstance(one, ast.Name) and one.id == name]
        totals = {
            one.target
            for one in nodes
            if isinstance(one, ast.AugAssign) and isinstance(one.op, (ast.Add, ast.Sub))
        }
        changed = any(isinstance(one.ctx, ast.Store) for one in named)
        if changed and not totals.issuperset(named):
            return True
    return False


class Rewritten(ast.NodeTransformer):
    """A module of kernels, each of which begins with `_begin()` and marks its parallel loops."""

    def __init__(self, kernels: bool) -> None:
        self.kernels = kernels

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        is_kernel = self.kernels and not node.decorator_list
        if is_kernel:
            self.mark(node.body)
        by_reference = [one.arg for one in node.args.args if one.annotation is not None]
        if by_reference and not self.kernels:
            node.body.append(ast.Return(ast.Name(by_reference[0], ast.Load())))
        names = [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
        own: list[ast.stmt] = [
            ast.Assign([ast.Name(name, ast.Store())], _call("_own", ast.Name(name, ast.Load())))
            for name in names
        ]
        node.args.args = [ast.arg(one.arg) for one in node.args.args]
        if is_kernel and any(isinstance(one, ast.Return) for one in ast.walk(node)):
            # Loops that an early return skips have a stream of random numbers all the same.
            if any(isinstance(one, ast.If) and _is_known(one.test) for one in node.body):
                raise Discard("a known condition returns")
            drawn = any(isinstance(one, ast.expr) and _draws_in(one) for one in ast.walk(node))
            loops = ast.unparse(node).count("_parallel(")
            own.append(ast.Expr(_call("_streams", ast.Constant(loops), ast.Constant(drawn))))
        self.generic_visit(node)
        node.body[:0] = own
        return node

    def mark(self, body: list[ast.stmt]) -> None:
        """Mark the parallel loops of a kernel; unrolled loops count as top level, too."""
        serial = False
        outer: set[str] = set()
        for stmt in body:
            if isinstance(stmt, ast.For):
                if "ti.static" in ast.unparse(stmt.iter):
                    self.mark(stmt.body)
                elif not serial and not _carries(stmt, outer):
                    stmt.iter = _call("_parallel", stmt.iter)
            elif isinstance(stmt, ast.Assign):
                outer |= {one.id for one in stmt.targets if isinstance(one, ast.Name)}
            serial = isinstance(stmt, ast.Expr) and "loop_config" in ast.unparse(stmt)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        (target,) = node.targets
        value = _call("_own", node.value)
        if isinstance(target, ast.Name):
            return ast.Assign([target], value)
        if isinstance(target, ast.Tuple):
            names = [ast.Name(f"_part{k}", ast.Store()) for k in range(len(target.elts))]
            parts = [ast.Name(name.id, ast.Load()) for name in names]
            return [
                ast.Assign([ast.Tuple(list(names), ast.Store())], value),
                *(self._assign(one, part) for one, part in zip(target.elts, parts, strict=True)),
            ]
        return self._assign(target, value)

    def _assign(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        if isinstance(target, ast.Name):
            return ast.Assign([target], value)
        return ast.Expr(_call("_store", value, _place(target)))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        name = ast.Constant(_OPERATORS[type(node.op)])
        if isinstance(node.target, ast.Name):
            before = ast.Name(node.target.id, ast.Load())
            return ast.Assign([node.target], _call("_operate", name, before, node.value))
        return ast.Expr(_call("_change", name, _place(node.target), node.value))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):  # also of plain numbers
            return _call("_operate", ast.Constant(_OPERATORS[type(node.op)]), node.left, node.right)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        then, orelse = _draws_in(node.body), _draws_in(node.orelse)
        if (then or orelse) and _is_known(node.test):
            raise Discard("what a known condition skips draws")
        self.generic_visit(node)
        node.body = _skipping(0, node.body, orelse)
        node.orelse = _skipping(then, node.orelse, 0)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        *before, last = node.values
        if not any(map(_draws_in, node.values[1:])):
            return self.generic_visit(node)
        first = before[0] if len(before) == 1 else ast.BoolOp(node.op, before)
        if isinstance(node.op, ast.And):
            return self.visit_IfExp(ast.IfExp(first, last, ast.Constant(False)))
        return self.visit_IfExp(ast.IfExp(first, ast.Constant(True), last))

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            if call.func.id in BY_REFERENCE:
                target = copy.copy(call.args[0])
                assert isinstance(target, (ast.Name, ast.Subscript, ast.Attribute))
                target.ctx = ast.Store()
                return self.visit_Assign(ast.Assign([target], call))
        self.generic_visit(node)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [_call("_step"), node.test])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr.startswith("atomic_"):
            target, value = node.args
            name = ast.Constant(node.func.attr.removeprefix("atomic_"))
            if isinstance(target, ast.Name):  # a local: (old, new)[0]
                new = ast.NamedExpr(
                    ast.Name(target.id, ast.Store()), _call("_operate", name, target, value)
                )
                pair = ast.Tuple([target, new], ast.Load())
                return ast.Subscript(pair, ast.Constant(0), ast.Load())
            return _call("_change", name, _place(target), value)
        return node
