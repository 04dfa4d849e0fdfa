"""Activity: which values depend on a field whose gradient is wanted."""

from __future__ import annotations

from collections.abc import Collection

from difftile.ir.nodes import (
    Array,
    Block,
    Combine,
    For,
    If,
    Let,
    Load,
    Program,
    Ruled,
    Value,
    Var,
    While,
    Write,
)
from difftile.ir.types import is_float
from difftile.ir.walk import WRITES, arrays_loaded, gradients_in, regions, rules, walk
from difftile.ops.table import OPS


def active_values(program: Program, sources: Collection[Array]) -> set[Var]:
    """Return the values that vary with the contents of the source arrays.

    Args:
        program: The program.
        sources: Fields with gradients; what is computed from them and stored elsewhere carries
            activity on through fields that are sources themselves.
    """
    return active_in(program.body, (), sources)


def active_in(block: Block, variables: Collection[Var], sources: Collection[Array]) -> set[Var]:
    """Return the values of a block that vary with some variables or with the source arrays."""
    active = set(variables)
    while True:
        before = len(active)
        _block(block, active, sources)
        if len(active) == before:
            return active


def active_writes(program: Program, sources: Collection[Array]) -> list[Write]:
    """Return the writes of active values into fields that are not sources themselves."""
    active = active_values(program, sources)
    return [
        stmt
        for stmt in walk(program.body)
        if isinstance(stmt, WRITES)
        and stmt.array not in sources
        and stmt.array.gradient_of is None
        and stmt.array.size is None
        and stmt.value in active
    ]


def _is_active(value: Value, active: set[Var]) -> bool:
    return isinstance(value, Var) and value in active


def _block(block: Block, active: set[Var], sources: Collection[Array]) -> None:
    for stmt in block.stmts:
        match stmt:
            case Let(out, op, args):
                if is_float(out.type) and OPS[op].vjp and any(_is_active(a, active) for a in args):
                    active.add(out)
            case Combine(out, _, array, _, value) if out is not None and is_float(out.type):
                if array in sources or _is_active(value, active):
                    active.add(out)
            case Load(out, array):
                if array in sources and is_float(out.type):
                    active.add(out)
            case (
                For(carries=carries, inits=inits, body=body, outs=outs)
                | While(carries=carries, inits=inits, body=body, outs=outs)
            ):
                _loop(carries, inits, body, outs, active, sources)
            case If(then=then, orelse=orelse, outs=outs):
                _block(then, active, sources)
                _block(orelse, active, sources)
                for out, *results in zip(outs, then.results, orelse.results, strict=True):
                    if is_float(out.type) and any(_is_active(r, active) for r in results):
                        active.add(out)
            case Ruled(outs=outs, args=args):
                for region in regions(stmt):
                    _block(region, active, sources)
                if any(_is_active(a, active) for a in args) or fields_of(stmt) & set(sources):
                    active.update(out for out in outs if is_float(out.type))
            case _:
                for region in regions(stmt):
                    _block(region, active, sources)


def fields_of(stmt: Ruled) -> set[Array]:
    """Return the fields that the results vary with, as the rules say.

    They are those whose gradients the rules use; without rules, those that the body reads.
    """
    if not rules(stmt):
        return arrays_loaded(stmt.body)
    used = (gradients_in(rule.block) for rule in rules(stmt))
    return {one.gradient_of for found in used for one in found if one.gradient_of is not None}


def _loop(
    carries: tuple[Var, ...],
    inits: tuple[Value, ...],
    body: Block,
    outs: tuple[Var, ...],
    active: set[Var],
    sources: Collection[Array],
) -> None:
    """Grow the set of active carries until an iteration adds none."""
    while True:
        before = len(active)
        for carry, init, result in zip(carries, inits, body.results, strict=False):
            if is_float(carry.type) and (_is_active(init, active) or _is_active(result, active)):
                active.add(carry)
        _block(body, active, sources)
        if len(active) == before:
            break
    for carry, out in zip(carries, outs, strict=True):
        if carry in active:
            active.add(out)
