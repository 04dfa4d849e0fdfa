"""The search for the statement or loop at fault, by running a program again on copies."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from difftile.ad.activity import active_values
from difftile.diagnosis.not_finite import largest
from difftile.diagnosis.origins import FaultOrigin, OriginTracker
from difftile.diagnosis.sandbox import (
    FEW_STEPS,
    Contents,
    Sandbox,
    add_temps,
    copies,
    interpret,
    work,
)
from difftile.diagnostics import CompileError, Span
from difftile.ir.nodes import Array, For, Program, Stmt, While
from difftile.meaning import Machine
from difftile.passes.instrument import LAST, beginning, iteration, marked


class FaultSearch:
    """Runs programs again as Python: in whole, or only the iteration at fault.

    Args:
        sandbox: Runs the instrumented programs that find this iteration.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def origin(
        self,
        program: Program,
        contents: Contents,
        arrays: Iterable[Array],
        adjoints: tuple[Array, ...],
    ) -> tuple[Array, tuple[int, ...], FaultOrigin] | None:
        """Return the first element of some arrays that is not finite, and its origin."""
        watched = set(arrays)
        part = self._part_at_fault(program, contents, watched, math.inf)
        if part is None:
            return None
        tracker = OriginTracker(*part, adjoints)
        interpret(*part, tracker)
        for (array, index), origin in tracker.found.items():
            if array in watched:
                return array, index, origin
        return None

    def loop(
        self,
        program: Program,
        contents: Contents,
        bars: tuple[Array, ...],
        limit: float,
        least: float,
    ) -> Span | None:
        """Return the loop in which the numbers of an adjoint grow most, or shrink most.

        Args:
            program: The adjoint.
            contents: The contents of its parameters before it runs.
            bars: The gradients among them.
            limit: The first iteration that writes a larger number is examined; infinity asks for a
                loop in which numbers shrink.
            least: The least factor of growth, or the inverse of the largest of decay.
        """
        part = self._part_at_fault(program, contents, set(bars), limit)
        if part is None:
            return None
        growth = LoopGrowth(part[0], (*bars, *part[0].temps))
        interpret(*part, growth)
        logs = {span: math.log(f) for span, f in growth.factors.items() if 0 < f < math.inf}
        choose = min if limit == math.inf else max
        worst = choose(logs, key=lambda span: logs[span], default=None)
        return worst if worst is not None and abs(logs[worst]) > math.log(least) else None

    def _part_at_fault(
        self, program: Program, contents: Contents, arrays: set[Array], limit: float
    ) -> tuple[Program, Contents] | None:
        """Return the part of a program to run as Python, and the contents before it.

        A short program is returned in whole; of others the first iteration that writes a number
        beyond the limit into one of the arrays.
        """
        state = copies(contents)
        add_temps(program, state)
        if work(program, state) <= FEW_STEPS:
            return program, state
        marks = marked(program, arrays, limit)
        noted = copies(state)
        try:
            self._sandbox.run(marks.program, noted)
        except CompileError:  # too many arguments, with the marks
            return None
        for position, cell in marks.cells.items():
            mark = int(noted[cell][()])
            if mark:
                self._sandbox.run(beginning(program, position), state)
                return iteration(program, position, LAST - mark), state
        return None


class LoopGrowth:
    """Watches a program and notes by which factors numbers grow in its loops.

    Args:
        program: The program.
        adjoints: Only values that vary with these arrays are measured.
    """

    def __init__(self, program: Program, adjoints: Collection[Array]) -> None:
        self.factors: dict[Span, float] = {}
        self._active = active_values(program, adjoints)

    def __call__(self, stmt: Stmt, machine: Machine) -> None:
        """Note the growth of carried values in a loop that has run."""
        if not isinstance(stmt, (For, While)) or stmt.span is None:
            return
        pairs = zip(stmt.carries, stmt.inits, stmt.outs, strict=True)
        carried = [(init, out) for carry, init, out in pairs if carry in self._active]
        size = max((largest(machine.value(init)) for init, _ in carried), default=0.0)
        if size > 0:
            factor = max(largest(machine.value(out)) for _, out in carried) / size
            self.factors[stmt.span] = max(self.factors.get(stmt.span, 0.0), factor)
