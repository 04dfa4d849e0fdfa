"""Where a number went wrong in a launch or an adjoint, found by running it once more, aside."""

from __future__ import annotations

import math
from collections.abc import Iterable

from difftile.diagnosis.origins import Growth, Origin, Origins
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
from difftile.ir.nodes import Array, Program
from difftile.passes.instrument import LAST, beginning, iteration, marked


class Search:
    """Runs programs again in the interpreter: all of one, or the iteration at fault.

    Args:
        aside: What runs them to find that iteration.
    """

    def __init__(self, aside: Sandbox) -> None:
        self._aside = aside

    def origin(
        self,
        program: Program,
        contents: Contents,
        arrays: Iterable[Array],
        adjoints: tuple[Array, ...],
    ) -> tuple[Array, tuple[int, ...], Origin] | None:
        """Return the first element of some arrays that is not finite, and where it comes from."""
        watched = set(arrays)
        chosen = self._chosen(program, contents, watched, math.inf)
        if chosen is None:
            return None
        part, state = chosen
        origins = Origins(part, state, adjoints)
        interpret(part, state, origins)
        for (array, index), origin in origins.found.items():
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
            contents: What its parameters hold before it.
            bars: The gradients among them.
            limit: An iteration that writes a number beyond it is looked at; with infinity a loop is
                wanted that makes numbers small.
            least: By what factor, at least.
        """
        chosen = self._chosen(program, contents, set(bars), limit)
        if chosen is None:
            return None
        part, state = chosen
        growth = Growth(part, (*bars, *part.temps))
        interpret(part, state, growth)
        logs = {span: math.log(f) for span, f in growth.factors.items() if 0 < f < math.inf}
        choose = min if limit == math.inf else max
        worst = choose(logs, key=lambda span: logs[span], default=None)
        return worst if worst is not None and abs(logs[worst]) > math.log(least) else None

    def _chosen(
        self, program: Program, contents: Contents, arrays: set[Array], limit: float
    ) -> tuple[Program, Contents] | None:
        """Return what the interpreter can follow: all of a program, or the iteration at fault.

        That is the first that writes a number beyond a limit. The contents are those before it.
        """
        state = copies(contents)
        add_temps(program, state)
        if work(program, state) <= FEW_STEPS:
            return program, state
        marks = marked(program, arrays, limit)
        noted = copies(state)
        try:
            self._aside.run(marks.program, noted)
        except CompileError:  # too many arguments, with the marks
            return None
        for position, cell in marks.cells.items():
            mark = int(noted[cell][()])
            if mark:
                self._aside.run(beginning(program, position), state)
                return iteration(program, position, LAST - mark), state
        return None
