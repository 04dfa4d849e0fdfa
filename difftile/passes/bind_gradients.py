"""The gradients and the contents that a kernel's rule names become parameters of its program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from difftile.ir.nodes import Array, Block, Program, Ruled, Size, Stmt
from difftile.ir.walk import array_of, with_blocks


@dataclass(frozen=True, slots=True)
class WithGradients:
    """A program whose gradients are parameters, and what they are gradients of.

    Args:
        program: Its parameters are those of before, then the gradients.
        gradients: For each of them the gradient, or the contents, as the rule wrote them.
    """

    program: Program
    gradients: Mapping[Array, Array]


def bind_gradients(program: Program) -> WithGradients:
    """Return the program with its gradients as parameters."""
    known: dict[Array, Array] = {}

    def memory(array: Array) -> Array:
        if array.in_rule is None:
            return array
        return known.setdefault(array, Array(array.name, array.type))

    def bound(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Ruled):  # the rules of funcs are not run here
            return replace(stmt, body=block(stmt.body))
        if isinstance(stmt, Size):
            return replace(stmt, array=memory(stmt.array))
        array = array_of(stmt)
        if array is None:
            return with_blocks(stmt, block)
        return replace(stmt, array=memory(array))  # pyright: ignore[reportCallIssue]

    def block(one: Block) -> Block:
        return replace(one, stmts=tuple(bound(stmt) for stmt in one.stmts))

    body = block(program.body)
    params = (*program.params, *known.values())
    back = {new: old for old, new in known.items()}
    return WithGradients(replace(program, params=params, body=body), back)
