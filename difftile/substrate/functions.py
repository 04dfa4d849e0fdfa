"""Taichi functions for the ops that are formulas; a kernel defines the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping

from difftile.ir.facts import count_uses
from difftile.ir.nodes import Block, Let, Var
from difftile.ir.printer import Names
from difftile.ir.walk import walk
from difftile.ops.build import OpBuilder
from difftile.ops.formula import value
from difftile.ops.table import OPS
from difftile.substrate.expressions import Expressions
from difftile.substrate.spellings import Formula, Spelling
from difftile.substrate.syntax import RESERVED, function_name


def functions_of(
    block: Block, guarded: bool, spellings: Mapping[str, Spelling]
) -> dict[str, list[str]]:
    """Return the lines of each function that a block needs, by name; those called come first.

    Args:
        block: The body of the kernel.
        guarded: The compiler of the device takes it that no number is NaN.
        spellings: How the backend writes each op.
    """
    found: dict[str, list[str]] = {}
    for let in walk(block):
        if not isinstance(let, Let) or not isinstance(spellings[let.op], Formula):
            continue
        if function_name(let) not in found:
            b = OpBuilder()
            params = [Var(name, arg.type) for name, arg in zip("abc", let.args, strict=False)]
            result = value(b, OPS[let.op], tuple(params))
            body = Block(b.block().stmts, (*params, result))
            found |= functions_of(body, guarded, spellings)
            found[function_name(let)] = _lines(let, body, guarded, spellings)
    return found


def _lines(let: Let, body: Block, guarded: bool, spellings: Mapping[str, Spelling]) -> list[str]:
    """Return the source of a function whose block results in its parameters and its value."""
    *parameters, result = body.results
    uses = count_uses(body)
    values = Expressions(Names(RESERVED), uses, guarded, spellings)
    names = [values.text(parameter) for parameter in parameters]
    lines = ["@ti.func", f"def {function_name(let)}({', '.join(names)}):"]
    for stmt in body.stmts:
        assert isinstance(stmt, Let)
        expression = values.let(stmt)
        values.consumed(stmt.args)
        lines += [f"    {line}" for line in values.define(stmt.out, expression, uses)]
    return [*lines, f"    return {values.text(result)}", "", ""]
