"""A user's function of fields: what a solver calls, and linearises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, read, write
from difftile.tape.pullback import Pullback


@dataclass(frozen=True, slots=True)
class Function:
    """A function that reads the fields `x` and others, and writes the fields `out`.

    It is called as `call(*x, *out, *args)` with `out` all zero; or, if it works in place, as
    `call(*out, *args)` with a copy of `x` in `out`.

    Args:
        call: A kernel, or a function of Python that launches kernels.
        x: What it reads.
        out: What it writes.
        args: What it takes at its end.
        in_place: Whether it works in place.
    """

    call: Callable[..., object]
    x: State
    out: State
    args: Sequence[object] = ()
    in_place: bool = False

    def __call__(self) -> None:
        """Launch it."""
        if self.in_place:
            self.out.copy_from(self.x)
            self.call(*self.out.members, *self.args)
        else:
            self.out.clear()
            self.call(*self.x.members, *self.out.members, *self.args)

    def value(self) -> Vector:
        """Launch it and return what it writes."""
        self()
        return read(self.out)

    def times(self, vector: Vector) -> Vector:
        """Launch it on a vector and return what it writes."""
        write(self.x, vector)
        return self.value()

    def linearise(self, *, of_tape: bool = False) -> Pullback:
        """Launch it, ready to be differentiated: now, or in the reverse of a tape."""
        return Pullback(self, of_tape=of_tape)
