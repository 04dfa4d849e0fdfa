"""Formulas on NumPy values: numbers, arrays, and the complex numbers of a complex step."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy

from difftile.ops import meaning
from difftile.ops.coefficients import TABLES

np: Any = numpy  # what its stubs know differs from version to version

Function: TypeAlias = Callable[..., Any]

_OPERATORS: dict[type[ast.AST], Function] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.true_divide,
    **{
        kind: meaning.real_parts(compare)
        for kind, compare in (
            (ast.Lt, np.less),
            (ast.LtE, np.less_equal),
            (ast.Gt, np.greater),
            (ast.GtE, np.greater_equal),
            (ast.Eq, np.equal),
        )
    },
}


@cache
def parsed_lines(text: str) -> tuple[list[tuple[str, ast.expr]], ast.expr]:
    """Return the lines `name = ...` of a formula, and the expression that it ends with."""
    *lines, last = ast.parse(text).body
    assert isinstance(last, ast.Expr)
    named: list[tuple[str, ast.expr]] = []
    for line in lines:
        assert isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
        named.append((line.targets[0].id, line.value))
    return named, last.value


def evaluated(text: str, functions: Mapping[str, Function], *args: Any) -> Any:
    """Return the value of a formula in double precision, in the type of the last argument.

    Args:
        text: The formula, over `a`, `b` and `c`.
        functions: The meaning of each function in it.
        args: Its arguments.
    """
    wide = [np.asarray(arg) for arg in args]
    dtype = wide[-1].dtype if wide[-1].dtype.kind in "fc" else np.dtype(float)
    wide[-1] = wide[-1].astype(complex if dtype.kind == "c" else float)
    names: dict[str, Any] = dict(zip("abc", wide, strict=False))
    lines, last = parsed_lines(text)
    with np.errstate(all="ignore"):
        for name, line in lines:
            names[name] = _evaluate(line, names, functions)
        return np.asarray(_evaluate(last, names, functions)).astype(dtype)[()]


def _evaluate(node: ast.expr, names: Mapping[str, Any], functions: Mapping[str, Function]) -> Any:
    def value(part: ast.expr) -> Any:
        return _evaluate(part, names, functions)

    match node:
        case ast.Name(name):
            return names[name]
        case ast.Constant(float() | int() as number):
            return number
        case ast.UnaryOp(ast.USub(), operand):
            return -value(operand)
        case ast.BinOp(left, sign, right):
            return _OPERATORS[type(sign)](value(left), value(right))
        case ast.Compare(left, [sign], [right]):
            return _OPERATORS[type(sign)](value(left), value(right))
        case ast.Call(ast.Name("polynomial"), [x, ast.Name(table)]):
            return _polynomial(value(x), table)
        case ast.Call(ast.Name("fraction"), [x, ast.Name(table)]):
            return _polynomial(value(x), table) / _polynomial(value(x), f"{table}_UNDER")
        case ast.Call(ast.Name("astype" | "whole"), [number, *_]):
            return value(number)
        case ast.Call(ast.Name(function), arguments):
            return functions[function](*map(value, arguments))
        case _:
            raise ValueError(f"not part of the formula language: {ast.unparse(node)}")


def _polynomial(x: Any, table: str) -> Any:
    """Return the polynomial with the coefficients of a table, by Horner's rule."""
    *rest, total = TABLES[table]
    for number in reversed(rest):
        total = number + x * total
    return total
