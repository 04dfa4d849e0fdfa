"""The loops of a kernel of one world as loops over all worlds.

`for i in range(n)` becomes `for world, i in ndrange(worlds, n)`. Values between the loops that
depend on the world are computed again in each loop that uses them; statements with effects become
a loop over the worlds.
"""

from __future__ import annotations

from dataclasses import field, replace

from difftile.diagnostics import KernelError, Span
from difftile.ir.facts import arrays_written, has_effects, uses
from difftile.ir.nodes import Block, Const, Load, ParallelFor, Program, Stmt, Value, Var
from difftile.ir.types import I32
from difftile.ir.walk import Cloner, definitions, operands, walk
from difftile.records import dataclass

_HINT = "leave threads='slots' out: one thread then runs the whole kernel of a world."


def over_worlds(program: Program, world: Var, count: Value) -> Program:
    """Return the program with its loops over all worlds.

    Args:
        program: The program of one world.
        world: The index of the world, which no statement defines.
        count: The number of worlds, defined at the top level.

    Raises:
        KernelError: The bounds of a loop depend on the world, or a value passes from one loop to
            the next that cannot be computed again.
    """
    if any(temp in arrays_written(program.body) for temp in program.temps):
        raise KernelError(
            f"Kernel '{program.name}' adds up a local in a loop, and its loops run for all worlds "
            "at once.",
            next((s.span for s in program.body.stmts if isinstance(s, ParallelFor)), None),
            hint="add to a field of shape (), which has one element a world; or " + _HINT,
        )
    spreader = _Spreader(program, world, count)
    for stmt in program.body.stmts:
        spreader.add(stmt)
    return replace(program, body=Block(tuple(spreader.out)))


@dataclass
class _Spreader:
    """Rewrites the top level of a program.

    Attributes:
        out: The statements so far.
        again: The statements that compute the values which depend on the world, in order.
    """

    program: Program
    world: Var
    count: Value
    out: list[Stmt] = field(default_factory=list[Stmt])
    again: list[Stmt] = field(default_factory=list[Stmt])
    _varying: set[Var] = field(init=False)

    def __post_init__(self) -> None:
        self._varying = {self.world}
        self._written = arrays_written(self.program.body)

    def add(self, stmt: Stmt) -> None:
        one = Block((stmt,))
        if isinstance(stmt, ParallelFor):
            if not self._varying.isdisjoint(v for v in operands(stmt) if isinstance(v, Var)):
                raise KernelError(
                    "The bounds of a loop differ between worlds.",
                    stmt.span,
                    hint=_HINT,
                )
            self._loop(stmt.indices, stmt.starts, stmt.stops, stmt.body, stmt.span)
        elif self._varying.isdisjoint(uses(one)):
            self.out.append(stmt)
        elif has_effects(one):
            self._loop((), (), (), one, getattr(stmt, "span", None))
            self._keep(stmt)
        else:
            self._keep(stmt)

    def _keep(self, stmt: Stmt) -> None:
        """Note a statement whose values later loops may compute again."""
        self._varying.update(definitions(stmt))
        self.again.append(stmt)

    def _loop(
        self,
        indices: tuple[Var, ...],
        starts: tuple[Value, ...],
        stops: tuple[Value, ...],
        body: Block,
        span: Span | None,
    ) -> None:
        world = Var(self.world.name, I32)
        cloner = Cloner({self.world: world})
        own = tuple(cloner.fresh(index) for index in indices)
        stmts = [cloner.stmt(stmt) for stmt in (*self._needed(body), *body.stmts)]
        starts, stops = (Const(0, I32), *starts), (self.count, *stops)
        body = Block(tuple(stmts))
        self.out.append(ParallelFor((world, *own), starts, stops, body, span, ordered=True))

    def _needed(self, body: Block) -> list[Stmt]:
        """Return the statements between the loops that a body needs.

        Raises:
            KernelError: One of them cannot run again.
        """
        wanted, found = uses(body), list[Stmt]()
        for stmt in reversed(self.again):
            if wanted.isdisjoint(definitions(stmt)):
                continue
            one = Block((stmt,))
            loads = [s for s in walk(one) if isinstance(s, Load) and s.array in self._written]
            if has_effects(one) or loads:
                span = loads[0].span if loads else getattr(stmt, "span", None)
                raise KernelError(
                    "A value of each world passes from one loop to the next.",
                    span,
                    "the kernel writes this field" if loads else "",
                    hint="read it in the loop; or " + _HINT,
                )
            found.append(stmt)
            wanted |= uses(one)
        return found[::-1]
