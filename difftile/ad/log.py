"""Logs: the values of loads whose elements are overwritten later in the same stage.

An adjoint cannot read such values again, since it runs when only the contents from before and after
the stage are left. It starts by running the stage once more, on copies of the overwritten fields,
and keeps the values that it is going to need, each load in a log of its own, at a position that
follows from the loops around it (`positions`). The reverse then reads the log where the primal read
the field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from difftile.ad.effects import without_effects
from difftile.ad.positions import Positions, with_positions
from difftile.ir.derived import Derived, Logged, Role
from difftile.ir.facts import defined_in
from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    Load,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, FieldType
from difftile.ir.walk import WRITES, Cloner, regions, walk, with_blocks, with_rules
from difftile.ops.build import OpBuilder
from difftile.passes.dce import dce
from difftile.passes.precedence import stale_loads
from difftile.passes.versions import late_loads, redirect
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Log:
    """The logs of one stage.

    Args:
        program: The primal, with the positions of the values that the logged loads find.
        fill: The statements that fill the logs.
        arrays: The log of each load, by its result.
        places: The index of the value in it.
        temps: The logs, and the copies of fields.
        lengths: The program that finds the extents of the logs.
        extents: The hidden fields in which it leaves them, by log.
        advance: The program that runs the stage on the copies and keeps nothing.
        copies: The copies, by field.
    """

    program: Program
    fill: tuple[Stmt, ...]
    arrays: Mapping[Var, Array]
    places: Mapping[Var, tuple[Value, ...]]
    temps: tuple[Array, ...]
    lengths: Program
    extents: Mapping[Array, tuple[Array, ...]]
    advance: Program
    copies: Mapping[Array, Array]

    def read(self, block: Block) -> tuple[Block, dict[Var, Var]]:
        """Return a block of the program with the logged loads reading the logs.

        The load of the field stays before the load of its log, under another name, and says where
        the adjoint of the value goes. The second result has that name for each logged load.
        """
        found: dict[Var, Var] = {}

        def changed(block: Block) -> Block:
            stmts: list[Stmt] = []
            for stmt in block.stmts:
                if isinstance(stmt, Load) and stmt.out in self.arrays:
                    out = stmt.out
                    found[out] = Var(out.name, out.type)
                    stmts.append(replace(stmt, out=found[out]))
                    stmts.append(Load(out, self.arrays[out], self.places[out], stmt.span))
                else:
                    stmts.append(with_blocks(stmt, changed))
            return replace(block, stmts=tuple(stmts))

        return changed(block), found


Derive: TypeAlias = Callable[[Program, Log | None], tuple[Derived, Sequence[Load]]]


def with_log(
    program: Program,
    derive: Derive,
    after: Mapping[Array, Array],
    *,
    before: Mapping[Array, Array] | None = None,
    carried: Collection[Array] = (),
) -> Derived:
    """Return what `derive` makes of a stage, with a log (`log_of`) of the loads that it needs."""
    found, missing = derive(program, None)
    logged: list[Load] = []
    while missing:
        logged += missing
        log = log_of(program, logged, after, before=before, carried=carried)
        found, missing = derive(log.program, log)
        lengths, advance = Derived(log.lengths, found.roles), Derived(log.advance, found.roles)
        extents: dict[Array | Var, Role] = {a: Logged(each) for a, each in log.extents.items()}
        found = replace(found.with_roles(found.program, extents), lengths=lengths, advance=advance)
    return found


def log_of(
    program: Program,
    loads: Sequence[Load],
    after: Mapping[Array, Array],
    *,
    before: Mapping[Array, Array] | None = None,
    carried: Collection[Array] = (),
) -> Log:
    """Return the logs of some loads of a stage.

    Args:
        program: The primal.
        loads: The loads to be logged.
        after: The parameters for contents from after the stage.
        before: The parameters for contents from before the stage, where fields do not have them.
        carried: Fields to be copied in any case.

    Raises:
        NoPosition: A rule reads one of the values.
    """
    before = before or {}
    late = late_loads(program.body)
    stale = stale_loads(program.body).keys() - late
    program, positions = with_positions(program, loads)
    loads_of_fields = {s.out for s in walk(program.body) if isinstance(s, Load)}
    early = loads_of_fields.difference(late, stale)

    def placed(block: Block) -> Block:
        return redirect(redirect(block, late, after), early, before)

    arrays = {
        load.out: Array(
            f"{load.array.name}_log", FieldType(load.out.type, len(positions[load.out].place))
        )
        for load in loads
    }
    cells = {
        id(found): tuple(
            Array(name, FieldType(I32, 0)) for name in ("rows", "length")[-len(found.place) :]
        )
        for found in positions.values()
    }
    extents = {log: cells[id(positions[out])] for out, log in arrays.items()}
    copied = {load.array for load in loads}.union(carried)
    while True:
        run = _Run(program, positions, arrays, copied, before)
        # Loads of fields that are not copied must find their contents from before or after.
        filled = dce(replace(program, body=placed(run.fill()), temps=()))
        loaded = (s for s in walk(filled.body) if isinstance(s, Load) and s.out in stale)
        more = {s.array for s in loaded} - {*run.copies.values()}
        if not more:
            break
        copied |= more
    temps = (*run.copies.values(), *arrays.values())
    params = (*program.params, *after.values(), *before.values())
    lengths = dce(
        replace(
            program,
            name=f"{program.name}_lengths",
            params=params,
            body=placed(run.count(extents)),
            temps=(
                *program.temps,
                *run.copies.values(),
                *(c for each in cells.values() for c in each),
            ),
        ),
        scratch=run.copies.values(),
    )
    advance = dce(
        replace(
            program,
            name=f"{program.name}_advance",
            params=params,
            body=placed(run.advance()),
            temps=(*program.temps, *run.copies.values()),
        )
    )
    return Log(
        program,
        Cloner().block(filled.body).stmts,
        arrays,
        {out: found.place for out, found in positions.items()},
        temps,
        replace(lengths, body=Cloner().block(lengths.body)),
        extents,
        replace(advance, body=Cloner().block(advance.body)),
        run.copies,
    )


class _Run:
    """The stage on copies of the fields that it overwrites."""

    def __init__(
        self,
        program: Program,
        positions: Mapping[Var, Positions],
        logs: Mapping[Var, Array],
        copied: Collection[Array],
        before: Mapping[Array, Array],
    ) -> None:
        self.program = program
        self.positions = positions
        self.logs = logs
        self.before = before
        self.copies = {
            field: Array(f"{field.name}_copy", field.type, like=field)
            for field in program.arrays
            if field in copied
        }

    def fill(self) -> Block:
        """Return the statements that fill the logs."""
        return Block((*self._copying(), *self._stmts(self.program.body, logging=True)))

    def advance(self) -> Block:
        """Return the statements that only change the copies."""
        return Block(tuple(self._stmts(self.program.body, logging=False)))

    def count(self, extents: Mapping[Array, tuple[Array, ...]]) -> Block:
        """Return the statements that find the extents of the logs."""
        stmts: list[Stmt] = [*self._copying()]
        b = OpBuilder()  # at the end, where all values of the top level are known
        for stmt in self.program.body.stmts:
            found = self._changed(stmt, logging=False)
            inside = {s.out for s in walk(Block((stmt,))) if isinstance(s, Load)}
            logs = {extents[self.logs[v]]: self.positions[v] for v in self.logs if v in inside}
            for (*rows, length), positions in logs.items():
                if positions.rows is not None:
                    b.store(rows[0], (), positions.rows)
                if not isinstance(stmt, ParallelFor) or not _varies(positions.total, stmt):
                    b.store(length, (), positions.total)
                else:
                    stmts.append(Store(length, (), Const(0, I32), stmt.span))
                    with b.region() as most:
                        b.combine("max", length, (), positions.total)
                    found = [_followed(s, most) for s in found]
            stmts += found
        return Block((*stmts, *b.stmts))

    def _copying(self) -> list[Stmt]:
        b = OpBuilder()
        for field, copy in self.copies.items():
            axes = range(field.type.ndim)
            indices = tuple(Var(f"i{axis}", I32) for axis in axes)
            sizes = tuple(b.size(field, axis) for axis in axes)
            with b.region() as stmts:
                b.store(copy, indices, b.load(self.before.get(field, field), indices))
            if not indices:
                b.extend(stmts)
                continue
            starts = (Const(0, I32),) * len(indices)
            b.append(ParallelFor(indices, starts, sizes, Block(tuple(stmts))))
        return [*b.stmts]

    def _stmts(self, block: Block, *, logging: bool) -> list[Stmt]:
        return [one for stmt in block.stmts for one in self._changed(stmt, logging=logging)]

    def _changed(self, stmt: Stmt, *, logging: bool) -> list[Stmt]:
        """Return a statement that touches copies, without its other effects."""
        if isinstance(stmt, (Load, *WRITES)) and stmt.array in self.copies:
            moved: list[Stmt] = [replace(stmt, array=self.copies[stmt.array])]
            if logging and isinstance(stmt, Load) and stmt.out in self.logs:
                log, place = self.logs[stmt.out], self.positions[stmt.out].place
                return [*moved, Store(log, place, stmt.out, stmt.span)]
            return moved
        if logging and isinstance(stmt, Load) and stmt.out in self.logs:  # of the thread's own
            log, place = self.logs[stmt.out], self.positions[stmt.out].place
            return [stmt, Store(log, place, stmt.out, stmt.span)]

        def inner(block: Block) -> Block:
            return replace(block, stmts=tuple(self._stmts(block, logging=logging)))

        if isinstance(stmt, Ruled):
            # Rules only read here: the adjoint may be differentiated again.
            ruled = with_rules(stmt, lambda rule: replace(rule, block=self._reading(rule.block)))
            return [replace(ruled, body=inner(stmt.body))]
        if regions(stmt):
            return [with_blocks(stmt, inner)]
        bare = without_effects(stmt)
        return [] if bare is None else [bare]

    def _reading(self, block: Block) -> Block:
        """Return a block that reads copies."""
        loads = [s.out for s in walk(block) if isinstance(s, Load)]
        return redirect(block, loads, self.copies)


def _varies(value: Value, loop: ParallelFor) -> bool:
    return value in defined_in(loop.body) or value in loop.indices


def _followed(stmt: Stmt, more: Iterable[Stmt]) -> Stmt:
    """Return a parallel loop with more statements at the end of each iteration."""
    if not isinstance(stmt, ParallelFor):
        return stmt
    return replace(stmt, body=replace(stmt.body, stmts=(*stmt.body.stmts, *more)))
