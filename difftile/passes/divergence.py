"""Divergence: the values that differ between concurrent iterations of a parallel loop."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import field

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Size,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.walk import definitions, operands
from difftile.records import dataclass


@dataclass
class Divergence:
    """A divergence analysis.

    Values, loop carries included, are assumed to be the same until one of their operands differs;
    the analysis repeats until it finds no more that differ.

    Args:
        loop: The parallel loop.
        written: The fields that the program writes.
        indices: The indices of the loop that differ.
        found: The values that differ, and the arrays with elements that differ.
    """

    loop: ParallelFor
    written: Set[Array]
    indices: tuple[Var, ...]
    found: set[Value | Array] = field(default_factory=set[Value | Array])

    def __post_init__(self) -> None:
        self.found.update(self.indices)
        size = 0
        while size < len(self.found):
            size = len(self.found)
            self._block(self.loop.body, alike=True)

    def in_step(self, loop: For) -> bool:
        """Tell whether the turns of a serial loop are run by all iterations at the same time."""
        return self.found.isdisjoint((loop.start, loop.stop))

    def _block(self, block: Block, *, alike: bool) -> None:
        """Look at a block, which is run for both at a time (`alike`) or for one after the other."""
        for stmt in block.stmts:
            differs = not self.found.isdisjoint(operands(stmt))
            match stmt:
                case Let() | Size():
                    self._note(differs, definitions(stmt))
                case Load(out, array):
                    self._note(differs or array in self.written or array in self.found, (out,))
                case Store(array) | Accumulate(array):
                    self._note(differs or not alike, (array,))
                case If(outs=outs):
                    pairs = zip(stmt.then.results, stmt.orelse.results, strict=True)
                    for out, pair in zip(outs, pairs, strict=True):
                        self._note(stmt.cond in self.found or self._any(pair), (out,))
                    for side in (stmt.then, stmt.orelse):
                        self._block(side, alike=False)
                case For(index, start, stop):
                    ends = self._any((start, stop))
                    self._note(ends, (index,))
                    self._loop(stmt, ends, alike=alike and self.in_step(stmt))
                case While(cond=cond):
                    self._block(cond, alike=False)
                    self._loop(stmt, self._any(cond.results), alike=False)
                case Combine(array=array):
                    self._note(True, (array, *definitions(stmt)))
                case _:
                    self._note(True, definitions(stmt))

    def _loop(self, loop: For | While, ends: bool, *, alike: bool) -> None:
        self._block(loop.body, alike=alike)
        for values in zip(loop.inits, loop.body.results, loop.carries, loop.outs, strict=True):
            self._note(ends or self._any(values), values[2:])

    def _any(self, values: Iterable[Value]) -> bool:
        return not self.found.isdisjoint(values)

    def _note(self, differs: bool, what: Iterable[Value | Array]) -> None:
        if differs:
            self.found.update(what)
