"""The forms of the code of iterations on a CPU, which LLVM can make vector instructions of.

One table, in the order in which they are applied: each looks for loops that those before it have
left innermost. A form is legal for a loop where its pass changes the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from difftile.ir.nodes import ParallelFor, Program
from difftile.ir.walk import parallel_loops
from difftile.passes.split_index_sets import split_index_sets
from difftile.passes.unroll_and_jam import unroll_and_jam
from difftile.passes.unroll_loops import unroll_loops
from difftile.schedule.steps import Form, Jam, SplitEnds, Strips, Unroll, VectorMath
from difftile.schedule.strips import in_strips, length_of
from difftile.schedule.vectorise_functions import Vectorised

WHY: dict[type[Form], str] = {
    Unroll: "its short inner loops are written out, so that the loop around them can be vectors",
    Jam: "two iterations at a time fill the time in which each waits for its own results",
    SplitEnds: "between its ends, indices that wrap or stop there are sums",
    Strips: "local arrays alias no other memory, so that loads at computed places can be vectors",
    VectorMath: "calls of the library would keep its loops from being vectors",
}
"""Why a loop has a form."""

_PASSES: tuple[tuple[Unroll | Jam | SplitEnds, Callable[..., Program]], ...] = (
    # Loops of a few iterations leave others innermost, of which the other passes take care.
    (Unroll(), unroll_loops),
    (Jam(), unroll_and_jam),
    # Before strips: indices that are sums need none.
    (SplitEnds(), split_index_sets),
)

Forms: TypeAlias = Sequence[tuple[Form, ...]]
"""The forms of the code of each loop."""

Wanted: TypeAlias = Forms | None
"""The forms that loops are to have; None for all that are legal."""


class Formed:
    """A program whose parallel loops are given forms.

    Args:
        program: The program.
        numbers: The number in the schedule of the loop that each parallel loop is made of.
        wanted: The forms.

    Attributes:
        program: The program so far.
    """

    def __init__(self, program: Program, numbers: Sequence[int], wanted: Wanted) -> None:
        self.program, self.numbers = program, numbers
        self._wanted = wanted
        self._found: dict[tuple[int, type[Form]], Form] = {}

    def forms(self, count: int) -> Forms:
        """Return the forms that have changed something in each of so many loops."""
        return [
            tuple(self._found[k, kind] for kind in WHY if (k, kind) in self._found)
            for k in range(count)
        ]

    def follow(self, program: Program, numbers: Sequence[int]) -> None:
        """Continue with the program after other steps, which may have made more loops."""
        self.program, self.numbers = program, numbers

    def write_out(self) -> None:
        """Give loops the forms that need to know nothing else."""
        for form, change in _PASSES:
            for k, _ in self._changed(change(self.program, self._with(type(form)))):
                self._note(k, form)

    def strip(
        self, functions: Collection[str], *, atomics: bool, only: Collection[int] | None = None
    ) -> None:
        """Let loops run in strips.

        Args:
            functions: The functions that are polynomials there.
            atomics: Iterations add to elements that they share by atomics.
            only: The numbers in the schedule of the loops to look at; all by default.
        """
        lengths = {
            k: self._length(k)
            for k in self._with(Strips)
            if only is None or self.numbers[k] in only
        }
        after = in_strips(self.program, functions, atomics=atomics, lengths=lengths)
        for k, loop in self._changed(after):
            self._note(k, Strips(length_of(loop)))

    def compute(self, vectorise: Callable[[Program, Collection[int]], Vectorised]) -> Vectorised:
        """Let loops compute functions as polynomials."""
        made = vectorise(self.program, self._with(VectorMath))
        for k in made.loops:
            self._note(k, VectorMath())
        self.program = made.program
        return made

    def _with(self, kind: type[Form]) -> list[int]:
        """Return the numbers in the program of the loops that are to have a form."""
        return [
            k
            for k, number in enumerate(self.numbers)
            if self._wanted is None or any(isinstance(s, kind) for s in self._wanted[number])
        ]

    def _length(self, number: int) -> int | None:
        steps = () if self._wanted is None else self._wanted[self.numbers[number]]
        return next((step.length for step in steps if isinstance(step, Strips)), None)

    def _changed(self, after: Program) -> list[tuple[int, ParallelFor]]:
        """Continue with another program; return which of its parallel loops are other ones."""
        pairs = zip(parallel_loops(self.program), parallel_loops(after), strict=True)
        self.program = after
        return [(k, new) for k, (old, new) in enumerate(pairs) if new is not old]

    def _note(self, number: int, form: Form) -> None:
        self._found.setdefault((self.numbers[number], type(form)), form)
