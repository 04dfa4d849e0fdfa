"""Results worth reading back: values that took a loop to compute and that the launch has stored.

An adjoint that needs such a value reads it from the field's contents after the launch instead of
running the loop again: `y[i] = tanh(sum)` needs y[i], not the sum.
"""

from __future__ import annotations

from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    For,
    Let,
    Load,
    ParallelFor,
    Program,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.walk import array_of, definitions, operands, walk
from difftile.passes.exclusive import owned_arrays


def reused_results(program: Program) -> dict[Var, tuple[Array, tuple[Value, ...]]]:
    """Return where such values stand after the stage: the field and the index."""
    writes: dict[Array, int] = {}
    for stmt in walk(program.body):
        array = None if isinstance(stmt, Load) else array_of(stmt)
        if array is not None:
            writes[array] = writes.get(array, 0) + 1
    found: dict[Var, tuple[Array, tuple[Value, ...]]] = {}
    for task in program.body.stmts:
        if isinstance(task, ParallelFor):
            owned = owned_arrays(task, program)
            for store in task.body.stmts:
                if (
                    isinstance(store, Store)
                    and store.array in owned
                    and store.array.size is None
                    and writes[store.array] == 1
                    and all(isinstance(i, Const) or i in task.indices for i in store.index)
                    and isinstance(store.value, Var)
                    and _took_a_loop(store.value, task.body)
                ):
                    found[store.value] = (store.array, store.index)
    return found


def _took_a_loop(value: Var, body: Block) -> bool:
    """Tell whether a value computed in a block depends on the result of a loop in it."""
    defs: dict[Var, Stmt] = {v: stmt for stmt in body.stmts for v in definitions(stmt)}
    if not isinstance(defs.get(value), Let):
        return False
    pending, seen = [value], set[Var]()
    while pending:
        stmt = defs.get(pending.pop())
        if isinstance(stmt, (For, While)):
            return True
        if isinstance(stmt, Let):
            fresh = [v for v in operands(stmt) if isinstance(v, Var) and v not in seen]
            seen.update(fresh)
            pending += fresh
    return False
