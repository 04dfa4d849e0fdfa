"""Loops over `dt.lanes` whose turns depend on each other: what the user is told."""

from __future__ import annotations

from collections.abc import Mapping

from difftile.diagnostics import CallMismatch, Label, Race
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    For,
    Load,
    Memory,
    Program,
    Stmt,
    Store,
    Var,
)
from difftile.ir.walk import WRITES, regions, walk
from difftile.passes.affine import definitions_of
from difftile.passes.by_warps import own_turns
from difftile.passes.reductions import reductions

_ACT = {
    Load: "read here",
    Store: "stored here",
    Accumulate: "added to here",
    Combine: "changed here",
}
_IN_ORDER = "to run the turns in order, write 'range'."


def check_lanes(program: Program) -> None:
    """Check that the turns of each loop over `dt.lanes` can run in any order.

    Args:
        program: A program in normal form.

    Raises:
        Race: They depend on each other.
        CallMismatch: A loop over `dt.lanes` is inside of another one.
    """
    _check(program.body, definitions_of(program.body), inside=False)


def _check(block: Block, defs: Mapping[Var, Stmt], *, inside: bool) -> None:
    for stmt in block.stmts:
        shared = isinstance(stmt, For) and stmt.by_lanes
        if shared:
            if inside:
                raise CallMismatch(
                    stmt.span,
                    "a loop over 'dt.lanes' is inside of another one.",
                    hint="write 'range' in one of them.",
                )
            assert isinstance(stmt, For)
            _check_carries(stmt)
            _check_memory(stmt, defs)
        for region in regions(stmt):
            _check(region, defs, inside=inside or shared)


def _check_carries(loop: For) -> None:
    """Refuse locals that a turn finds as another one has left them."""
    for k, carry in enumerate(loop.carries):
        one = loop.carries[k : k + 1], loop.inits[k : k + 1], loop.outs[k : k + 1]
        alone = For(
            loop.index,
            loop.start,
            loop.stop,
            *one[:2],
            Block(loop.body.stmts, loop.body.results[k : k + 1]),
            one[2],
        )
        if reductions(alone) is None:
            raise Race(
                loop.span,
                carry.name,
                f"'{carry.name}' depends on the order of the turns",
                None,
                f"turns may add to it, or take its maximum or minimum; {_IN_ORDER}",
                turns=True,
            )


def _check_memory(loop: For, defs: Mapping[Var, Stmt]) -> None:
    """Refuse elements that two turns touch, and one of them writes."""
    own = {s.array for s in walk(loop.body) if isinstance(s, Alloc)}
    accesses: dict[Array, list[Memory]] = {}
    for stmt in walk(loop.body):
        if isinstance(stmt, (Load, *WRITES)) and stmt.array not in own:
            accesses.setdefault(stmt.array, []).append(stmt)
    for array, here in accesses.items():
        for write in here:
            for other in here:
                if _meet(write, other, loop, defs):
                    raise _race(array, write, other)


def _meet(write: Memory, other: Memory, loop: For, defs: Mapping[Var, Stmt]) -> bool:
    """Tell whether a write may be to an element that another turn touches, in an order."""
    if isinstance(write, Load) or _adds(write) == _adds(other) != "":
        return False
    return not own_turns([(write, loop), (other, loop)], defs)


def _adds(stmt: Memory) -> str:
    """Return the op of a change whose order does not matter."""
    match stmt:
        case Accumulate():
            return "add"
        case Combine(out=None, op=op):
            return op
        case _:
            return ""


def _race(array: Array, write: Memory, other: Memory) -> Race:
    hint = f"give each turn an element of its own, or add with '+='; {_IN_ORDER}"
    if write is other:
        what = f"{_ACT[type(write)]}, and maybe in another turn"
        return Race(write.span, array.name, what, None, hint, turns=True)
    label = None
    if other.span is not None:
        label = Label(other.span, f"{_ACT[type(other)]}, maybe in another turn")
    return Race(write.span, array.name, _ACT[type(write)], label, hint, turns=True)
