"""Writes to one element that follow each other become one.

The adjoint of an update in place takes an element, leaves zero and adds again: `g = a[i]; a[i] =
0; ...; a[i] += c` becomes `g = a[i]; ...; a[i] = c`, and disappears where c is g.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.facts import arrays_touched
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
from difftile.ir.walk import WRITES, rebuilt, regions, with_blocks
from difftile.ops.build import OpBuilder


def merge(program: Program) -> Program:
    """Return the program with such writes merged; exclusive accumulations must be marked."""
    return replace(program, body=_block(program.body))


def _block(block: Block) -> Block:
    merging = _Merging()
    for stmt in block.stmts:
        merging.append(with_blocks(stmt, _block))
    for array in list(merging.held):
        merging.release(array)
    return rebuilt(block, merging.b.stmts, block.results)


class _Merging:
    """One block. A store is `held` until something else touches its array.

    `loads` are the values last read from elements that have not been written since. `sums` are the
    latest accumulations into elements that had been read just before: a second one makes a store of
    both.
    """

    def __init__(self) -> None:
        self.b = OpBuilder()
        self.held: dict[Array, Store] = {}
        self.loads: dict[tuple[Array, tuple[Value, ...]], Var] = {}
        self.sums: dict[Array, tuple[Accumulate, Var]] = {}

    def append(self, stmt: Stmt) -> None:
        inside = frozenset[Array]().union(*map(arrays_touched, regions(stmt)))
        for array in [a for a in self.held if a in inside]:
            self.release(array)
        for key in [key for key in self.loads if key[0] in inside]:
            del self.loads[key]
        for array in [array for array in self.sums if array in inside]:
            del self.sums[array]
        earlier = self.sums.pop(stmt.array, None) if isinstance(stmt, (Load, *WRITES)) else None
        match stmt:
            case Load(out, array, index):
                self.release(array)
                self.loads[(array, index)] = out
            case Store(array, index):
                before = self.held.get(array)
                if before is not None and before.index != index:
                    self.release(array)
                self.held.pop(array, None)
                self.held[array] = stmt
                return
            case Accumulate(array, index, value, span, atomic):
                before = self.held.get(array)
                if before is not None and before.index == index and not atomic:
                    del self.held[array]
                    self.b.span = span
                    total = self.b.call("add", before.value, value)
                    self.held[array] = Store(array, index, total, span)
                    return
                if earlier is not None and earlier[0].index == index and not atomic:
                    first, old = earlier
                    self.b.stmts[:] = [one for one in self.b.stmts if one is not first]
                    self.b.span = span
                    total = self.b.call("add", self.b.call("add", old, first.value), value)
                    self.held[array] = Store(array, index, total, span)
                    return
                self.release(array)
                old = self.loads.get((array, index))
                if old is not None and not atomic:
                    self.sums[array] = stmt, old
                self.forget(array)
            case Combine(array=array):
                self.release(array)
                self.forget(array)
            case _:
                pass
        self.b.append(stmt)

    def release(self, array: Array) -> None:
        """Append a held store, unless it puts back a value that was read there and still stands."""
        store = self.held.pop(array, None)
        if store is not None and self.loads.get((array, store.index)) is not store.value:
            self.forget(array)
            self.b.append(store)

    def forget(self, array: Array) -> None:
        for key in [key for key in self.loads if key[0] is array]:
            del self.loads[key]
