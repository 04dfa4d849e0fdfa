"""The gradients and the contents that a kernel's rule names become parameters of its program."""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.derived import After, Bar, Before, Derived, Role, primal
from difftile.ir.nodes import Array, Block, Program, Ruled, Size, Stmt, Var
from difftile.ir.walk import array_of, with_blocks


def bind_gradients(program: Program) -> Derived:
    """Return the program with the gradients and contents that it names as parameters, the last."""
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
        return replace(stmt, array=memory(array))  # pyrefly: ignore[unexpected-keyword]

    def block(one: Block) -> Block:
        return replace(one, stmts=tuple(bound(stmt) for stmt in one.stmts))

    body = block(program.body)
    roles: dict[Array | Var, Role] = {}
    for array, new in known.items():
        if array.gradient_of is not None:
            roles[new] = Bar(array.gradient_of, array.incoming)
        elif array.contents_of is not None:
            roles[new] = (After if array.late else Before)(array.contents_of)
    params = (*program.params, *known.values())
    return primal(program).with_roles(replace(program, params=params, body=body), roles)
