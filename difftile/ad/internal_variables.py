"""Internal variables: the fewest linear combinations of its inputs that a function depends on.

The energy of a spring takes two positions and depends only on their difference, the bending of a
hinge on three differences of four positions. With the inputs p and the internal variables u = C p
the Hessian is C^T (d2 psi / du2) C, which takes as many directions as there are entries in u
(Griewank and Toint, On the unconstrained optimization of partially separable functions, 1982).

The values that are linear in the inputs, with literal coefficients, are followed from the inputs to
where something else uses them: those uses are the frontier. Its rows span all that the function
knows of its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.ad.activity import active_in
from difftile.ir.nodes import Accumulate, Block, Const, Let, Stmt, Value, Var
from difftile.ir.types import is_float, shape_of
from difftile.ir.walk import (
    Substitution,
    definitions,
    operands,
    regions,
    walk,
    with_blocks,
    with_operands,
)
from difftile.ops.row import LINEAR
from difftile.ops.table import OPS
from difftile.records import dataclass

Rows: TypeAlias = npt.NDArray[np.float64]
"""A row of coefficients for each component of a value."""

# A row is a combination of others up to rounding errors, and its coefficients are moderate: large
# ones would cost digits.
_ROUNDING = 1e-13
_MODERATE = 1e3


@dataclass(frozen=True, slots=True)
class Internal:
    """The internal variables of a block, and the block as a function of small changes of them.

    Args:
        block: The block, in which a change, a free variable, is added to each value of the
            frontier.
        changes: The change of each, and its components as combinations of the internal variables.
        basis: The internal variables as combinations of the inputs.
    """

    block: Block
    changes: dict[Var, Rows]
    basis: Rows


def internal_variables(block: Block, inputs: Mapping[Var, Rows]) -> Internal:
    """Return the internal variables of a block.

    Args:
        block: Straight code, branches and loops; it adds to fields and has no other effects.
        inputs: The inputs, each with a row of unit coefficients for each of its components.
    """
    forms = _linear_forms(block, inputs)
    frontier = _frontier(block, forms)
    count = next(iter(inputs.values())).shape[1]
    stacked = np.concatenate([np.zeros((0, count)), *(forms[value] for value in frontier)])
    combinations, basis = _factored(stacked)
    changes = {value: Var(f"{value.name}_change", value.type) for value in frontier}
    ends = np.cumsum([len(forms[value]) for value in frontier])[:-1]
    parts = np.split(combinations, ends) if frontier else []
    return Internal(
        _changed(block, forms, changes),
        dict(zip(changes.values(), parts, strict=True)),
        basis,
    )


def _linear_forms(block: Block, inputs: Mapping[Var, Rows]) -> dict[Var, Rows]:
    """Return the values that are linear in the inputs with literal coefficients."""
    active = active_in(block, inputs.keys(), ())
    forms = dict(inputs)
    for stmt in walk(block):
        if isinstance(stmt, Let) and stmt.out in active:
            form = _linear_form(stmt, forms, active)
            if form is not None:
                forms[stmt.out] = form
    return forms


def _linear_form(let: Let, forms: Mapping[Var, Rows], active: Set[Var]) -> Rows | None:
    row = OPS[let.op]
    if any(isinstance(a, Var) and a in active and a not in forms for a in let.args):
        return None
    known = [a for a in let.args if isinstance(a, Var) and a in forms]
    others = [a for a in let.args if a not in known]
    integers = [a for a in others if not is_float(a.type)]
    if let.op == "cast":
        return forms[known[0]] if is_float(let.out.type) else None
    scaled = let.op == "mul" or (let.op == "div" and let.args[0] in known)
    if scaled and len(known) == 1 and len(others) == 1 and isinstance(others[0], Const):
        others = []  # the coefficient itself
    elif not (row.jvp == LINEAR or let.op in ("add", "sub", "neg")):
        return None
    if any(not isinstance(a, Const) for a in integers):
        return None
    size = prod(shape_of(let.out.type))
    columns = [
        np.ravel(row.numpy(*(_column(a, k, forms, others) for a in let.args)))
        for k in range(forms[known[0]].shape[1])
    ]
    return np.stack(columns, axis=1).astype(np.float64).reshape(size, -1)


def _column(value: Value, k: int, forms: Mapping[Var, Rows], constant: list[Value]) -> Any:
    """Return one column of the form of a value as an array of its shape; zeros for constants."""
    shape = shape_of(value.type)
    if isinstance(value, Var) and value in forms:
        return forms[value][:, k].reshape(shape)
    if value in constant and is_float(value.type):
        return np.zeros(shape)
    assert isinstance(value, Const)
    return np.full(shape, value.value) if is_float(value.type) else int(value.value)


def _is_within(stmt: Stmt, forms: Mapping[Var, Rows]) -> bool:
    """Tell whether a statement uses linear values only for others, for a sum, or for no slope."""
    match stmt:
        case Let(out=out, op=op):
            return out in forms or not OPS[op].vjp
        case Accumulate(array=array):
            return array.size is None
        case _:
            return False


def _frontier(block: Block, forms: Mapping[Var, Rows]) -> list[Var]:
    """Return the linear values that are used for anything but other linear values."""
    found: dict[Var, None] = {}

    def note(values: tuple[Value, ...]) -> None:
        found.update((v, None) for v in values if isinstance(v, Var) and v in forms)

    def visit(block: Block) -> None:
        for stmt in block.stmts:
            if not _is_within(stmt, forms):
                note(operands(stmt))
            for region in regions(stmt):
                visit(region)
        note(block.results)

    visit(block)
    return [value for value in forms if value in found and forms[value].any()]


def _changed(block: Block, forms: Mapping[Var, Rows], changes: Mapping[Var, Var]) -> Block:
    """Return the block with the changes added to the values of the frontier."""
    env = Substitution()

    def visit(block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            used = stmt if _is_within(stmt, forms) else with_operands(stmt, env)
            stmts.append(with_blocks(used, visit))
            for out in definitions(stmt):
                if out in changes:
                    env[out] = moved = Var(out.name, out.type)
                    stmts.append(Let(moved, "add", (out, changes[out]), stmt.span))
        return Block(tuple(stmts), env.all(block.results))

    return visit(block)


def _factored(rows: Rows) -> tuple[Rows, Rows]:
    """Return matrices M and C with `rows = M C`, where C has as few rows as possible."""
    count = rows.shape[1]
    chosen: list[int] = []
    combinations = np.zeros((len(rows), min(rows.shape)))
    for k, row in enumerate(rows):
        scale = np.abs(row).max(initial=0.0)
        if scale == 0.0:
            continue
        basis = rows[chosen]
        weights: Rows = np.zeros(0)
        if chosen:
            weights = np.linalg.pinv(basis.T) @ row
        whole = np.rint(weights)
        weights = np.where(np.abs(weights - whole) < 10 * _ROUNDING, whole, weights)
        if chosen and np.abs(row - weights @ basis).max() <= _ROUNDING * scale:
            combinations[k, : len(chosen)] = weights
            continue
        if len(chosen) == count - 1:  # as many as inputs: those themselves
            return rows, np.eye(count)
        combinations[k, len(chosen)] = 1.0
        chosen.append(k)
    if np.abs(combinations).max(initial=0.0) > _MODERATE:
        return rows, np.eye(count)
    return combinations[:, : len(chosen)], rows[chosen]
