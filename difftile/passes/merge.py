"""Writes to one element that follow each other become one.

The adjoint of an update in place takes an element, leaves zero and adds again: `g = a[i]; a[i] =
0; ...; a[i] += c` becomes `g = a[i]; ...; a[i] = c`, and nothing at all where c is g.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Load,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.walk import array_of, regions, walk, with_blocks
from difftile.ops.build import OpBuilder


def merge(program: Program) -> Program:
    """Return the program with such writes merged; exclusive accumulations must be marked."""
    return replace(program, body=_block(program.body))


def _block(block: Block) -> Block:
    b = OpBuilder()
    held: dict[Array, Store] = {}
    loads: dict[tuple[Array, tuple[Value, ...]], Var] = {}
    with b.region() as stmts:
        for stmt in block.stmts:
            _stmt(b, with_blocks(stmt, _block), held, loads)
        for store in held.values():
            _write(b, store, loads)
    return Block(tuple(stmts), block.results)


def _stmt(
    b: OpBuilder,
    stmt: Stmt,
    held: dict[Array, Store],
    loads: dict[tuple[Array, tuple[Value, ...]], Var],
) -> None:
    """Append a statement; a store is held back until something else touches its array."""
    inside = {array_of(s) for region in regions(stmt) for s in walk(region)}
    for array in [a for a in held if a in inside]:
        _write(b, held.pop(array), loads)
    for key in [key for key in loads if key[0] in inside]:
        del loads[key]
    match stmt:
        case Load(out, array, index):
            if array in held:
                _write(b, held.pop(array), loads)
            loads[(array, index)] = out
            b.append(stmt)
        case Store(array, index):
            before = held.pop(array, None)
            if before is not None and before.index != index:
                _write(b, before, loads)
            held[array] = stmt
        case Accumulate(array, index, value, _, atomic):
            before = held.pop(array, None)
            if before is not None and before.index == index and not atomic:
                b.span = stmt.span
                held[array] = Store(array, index, b.call("add", before.value, value), stmt.span)
                return
            if before is not None:
                _write(b, before, loads)
            _forget(loads, array)
            b.append(stmt)
        case Combine(array=array):
            before = held.pop(array, None)
            if before is not None:
                _write(b, before, loads)
            _forget(loads, array)
            b.append(stmt)
        case _:
            b.append(stmt)


def _write(b: OpBuilder, store: Store, loads: dict[tuple[Array, tuple[Value, ...]], Var]) -> None:
    """Append a store, unless it puts back what was read there and nothing changed since."""
    unchanged = loads.get((store.array, store.index)) is store.value
    if not unchanged:
        _forget(loads, store.array)
        b.append(store)


def _forget(loads: dict[tuple[Array, tuple[Value, ...]], Var], array: Array) -> None:
    for key in [key for key in loads if key[0] is array]:
        del loads[key]
