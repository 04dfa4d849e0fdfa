"""Many directions at once: some arrays of a program get one axis more, over which it repeats.

Values that do not depend on these arrays are computed once. Every loop that depends on them runs
over the new axis as well; serial statements between loops become a loop over it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace

from difftile.ir.derived import Derived, Lane, Role, Scratch, Width
from difftile.ir.facts import arrays_written, uses
from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import BOOL, I32, FieldType
from difftile.ir.walk import Substitution, array_of, definitions, substitute, walk, with_blocks
from difftile.ops.build import OpBuilder
from difftile.records import dataclass


class Unbatchable(Exception):
    """A program whose loops have bounds that differ between directions."""


def batch(derived: Derived, arrays: Collection[Array]) -> Derived:
    """Return the program for many directions, whose number is its last parameter.

    Args:
        derived: A program.
        arrays: The arrays that differ between directions, such as gradients. So do all others to
            which a top-level statement writes that touches one of these.

    Raises:
        Unbatchable: The bounds of a loop differ.
    """
    program = derived.program
    batcher = _Batcher(_varying(program.body, set(arrays)))
    batcher.run(program.body)
    new = batcher.to

    params = (new.get(p, p) if isinstance(p, Array) else p for p in program.params)
    temps = (new.get(t, t) for t in program.temps)
    made = Program(
        f"{program.name}_many",
        (*params, batcher.width),
        Block(tuple(batcher.out)),
        (*temps, *batcher.cells.values()),
    )
    roles: dict[Array | Var, Role] = {wide: Lane(derived.role(a)) for a, wide in new.items()}
    roles |= {cell: Lane(Scratch()) for cell in batcher.cells.values()}
    return derived.with_roles(made, roles | {batcher.width: Width()})


def _varying(body: Block, arrays: set[Array]) -> set[Array]:
    """Return the arrays that differ between directions if some do."""
    values: set[Var] = set()
    while True:
        before = len(arrays) + len(values)
        for stmt in body.stmts:
            one = Block((stmt,))
            touched = {array_of(s) for s in walk(one)}
            if not touched.isdisjoint(arrays) or not values.isdisjoint(uses(one)):
                arrays |= {a for a in arrays_written(one) if a.size is None}
                values.update(definitions(stmt))
        if len(arrays) + len(values) == before:
            return arrays


@dataclass
class _Batcher:
    """Rewrites the top level of a program."""

    arrays: set[Array]
    width: Var = field(default_factory=lambda: Var("width", I32))
    out: list[Stmt] = field(default_factory=list[Stmt])
    cells: dict[Var, Array] = field(default_factory=dict[Var, Array])
    to: dict[Array, Array] = field(init=False)
    _pending: list[Stmt] = field(default_factory=list[Stmt])
    _varying: dict[Var, None] = field(default_factory=dict[Var, None])

    def __post_init__(self) -> None:
        self.to = {
            a: replace(a, type=FieldType(a.type.element, a.type.ndim + 1)) for a in self.arrays
        }

    def run(self, body: Block) -> None:
        for stmt in body.stmts:
            if isinstance(stmt, Size):
                self.out.append(self._sized(stmt))
                continue
            one = Block((stmt,))
            varies = any(array_of(s) in self.arrays for s in walk(one))
            varies = varies or not self._varying.keys().isdisjoint(uses(one))
            if not varies:
                self.out.append(stmt)
            elif isinstance(stmt, ParallelFor):
                self._flush()
                self._loop(stmt)
            else:
                self._pending.append(stmt)
                self._varying |= dict.fromkeys(definitions(stmt))
        self._flush()

    def _flush(self) -> None:
        """Append the serial statements so far as a loop over directions."""
        if not self._pending:
            return
        direction = Var("direction", I32)
        own = {v for stmt in self._pending for v in definitions(stmt)}
        body = Block(tuple(self._pending))
        known = [v for v in self._varying if v not in own and v in uses(body)]
        b = OpBuilder()
        with b.region() as stmts:
            env = self._load(b, known, direction)
            for stmt in body.stmts:
                b.append(self._stmt(substitute(stmt, env), direction))
            for v in self._varying:
                if v in own:
                    value = b.cast(v, I32) if v.type == BOOL else v
                    b.append(Store(self._cell(v), (direction,), value))
        self.out.append(self._over((direction,), (), (), (), stmts, self._pending[0]))
        self._pending = []

    def _loop(self, loop: ParallelFor) -> None:
        if any(isinstance(v, Var) and v in self._varying for v in (*loop.starts, *loop.stops)):
            raise Unbatchable
        direction = Var("direction", I32)
        known = [v for v in self._varying if v in uses(loop.body)]
        b = OpBuilder()
        with b.region() as stmts:
            env = self._load(b, known, direction)
            for stmt in loop.body.stmts:
                b.append(self._stmt(substitute(stmt, env), direction))
        inner = (loop.indices, loop.starts, loop.stops)
        self.out.append(self._over((direction,), *inner, stmts, loop))

    def _over(
        self,
        direction: tuple[Var],
        indices: tuple[Var, ...],
        starts: tuple[Value, ...],
        stops: tuple[Value, ...],
        stmts: list[Stmt],
        at: Stmt,
    ) -> ParallelFor:
        return ParallelFor(
            (*direction, *indices),
            (Const(0, I32), *starts),
            (self.width, *stops),
            Block(tuple(stmts)),
            at.span,
            ordered=isinstance(at, ParallelFor) and at.ordered,
        )

    def _load(self, b: OpBuilder, variables: list[Var], direction: Var) -> Substitution:
        """Append loads of values that differ between directions."""
        env = Substitution()
        for v in variables:
            found = b.expr(b.load(self._cell(v), (direction,), v.name))
            env[v] = (found.ne(0) if v.type == BOOL else found).value
        return env

    def _cell(self, v: Var) -> Array:
        element = I32 if v.type == BOOL else v.type
        return self.cells.setdefault(v, Array(v.name or "each", FieldType(element, 1)))

    def _sized(self, stmt: Size) -> Size:
        """Return the size of an axis, counted after the axis of the directions."""
        wide = self.to.get(stmt.array)
        return stmt if wide is None else replace(stmt, array=wide, axis=stmt.axis + 1)

    def _stmt(self, stmt: Stmt, direction: Var) -> Stmt:
        if isinstance(stmt, Size):
            return self._sized(stmt)
        array = array_of(stmt)
        if array is not None and array in self.to:
            found: Load | Store = stmt  # pyrefly: ignore[bad-assignment]
            return replace(found, array=self.to[array], index=(direction, *found.index))
        return with_blocks(
            stmt,
            lambda block: replace(
                block, stmts=tuple(self._stmt(inner, direction) for inner in block.stmts)
            ),
        )
