"""Sources: the values, arrays and conditions that values are computed from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeAlias

from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    For,
    If,
    Load,
    ParallelFor,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.walk import definitions, operands, regions

Source: TypeAlias = "Var | Array"


class Sources:
    """The sources of every value and array of a block.

    A value follows from its operands and from the conditions that it is computed under; an array
    from all that is written into it.
    """

    def __init__(self, block: Block) -> None:
        self._direct: dict[Source, list[Source]] = {}
        self._visit(block, ())

    def behind(self, wanted: Iterable[Value]) -> set[Source]:
        """Return some values, and all values and arrays that they are computed from."""
        found: set[Source] = set()
        pending: list[Source] = [one for one in wanted if isinstance(one, Var)]
        while pending:
            one = pending.pop()
            if one not in found:
                found.add(one)
                pending += self._direct.get(one, ())
        return found

    def _visit(self, block: Block, under: Collection[Value]) -> None:
        for stmt in block.stmts:
            match stmt:
                case Load(out=out, array=array):
                    self._note((out,), operands(stmt), under)
                    self._direct[out].append(array)
                case Store(array=array) | Accumulate(array=array) | Combine(array=array):
                    self._note((array, *definitions(stmt)), operands(stmt), under)
                    for out in definitions(stmt):
                        self._direct[out].append(array)
                case If(cond=cond, then=then, orelse=orelse, outs=outs):
                    for out, *results in zip(outs, then.results, orelse.results, strict=True):
                        self._note((out,), (cond, *results), under)
                    self._visit(then, (*under, cond))
                    self._visit(orelse, (*under, cond))
                case For(start=start, stop=stop, body=body):
                    self._carried(stmt, (*under, start, stop))
                    self._note((stmt.index,), (), (*under, start, stop))
                    self._visit(body, (*under, start, stop))
                case While(cond=cond, body=body):
                    self._carried(stmt, (*under, *cond.results))
                    self._visit(cond, under)
                    self._visit(body, (*under, *cond.results))
                case ParallelFor(indices=indices, starts=starts, stops=stops, body=body):
                    self._note(indices, (*starts, *stops), under)
                    self._visit(body, (*under, *starts, *stops))
                case _:
                    self._note(definitions(stmt), operands(stmt), under)
                    for region in regions(stmt):
                        self._visit(region, under)

    def _carried(self, loop: For | While, under: Collection[Value]) -> None:
        every = zip(loop.carries, loop.outs, loop.inits, loop.body.results, strict=True)
        for carry, out, init, result in every:
            self._note((carry, out), (init, result), under)

    def _note(self, made: Iterable[Source], of: Iterable[Value], under: Collection[Value]) -> None:
        behind = [one for one in (*of, *under) if isinstance(one, Var)]
        for one in made:
            self._direct.setdefault(one, []).extend(behind)
