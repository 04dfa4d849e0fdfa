"""The user's function that a solver calls and linearises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from difftile.linearization.pullback import Pullback
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, read, write


@dataclass(frozen=True, slots=True)
class Function:
    """A function that reads the fields `x` and others, and writes the fields `out`.

    The call is `call(*x, *out, *args)` with `out` all zero; in place, `call(*out, *args)` with a
    copy of `x` in `out`.

    Args:
        call: A kernel, or a Python function that launches kernels.
        x: The fields that are read.
        out: The fields that are written.
        args: Further arguments.
        in_place: Whether the function works in place.
    """

    call: Callable[..., object]
    x: State
    out: State
    args: Sequence[object] = ()
    in_place: bool = False

    def __call__(self) -> None:
        """Call the function, which sets `out`."""
        if self.in_place:
            self.out.copy_from(self.x)
            self.call(*self.out.members, *self.args)
        else:
            self.out.clear()
            self.call(*self.x.members, *self.out.members, *self.args)

    def value(self) -> Vector:
        """Call the function and return the contents of `out`."""
        self()
        return read(self.out)

    def times(self, vector: Vector) -> Vector:
        """Set `x` to a vector, call the function and return the contents of `out`."""
        write(self.x, vector)
        return self.value()

    def linearise(self, *, of_tape: bool = False) -> Pullback:
        """Call the function, ready to be differentiated: now, or in the reverse of a tape."""
        return Pullback(self, of_tape=of_tape)
