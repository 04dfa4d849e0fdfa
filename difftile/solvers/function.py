"""The user's function that a solver calls and linearises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import difftile as dt
from difftile.fields.halos import up_to_date
from difftile.fields.storage import Storage
from difftile.linearization.pullback import Pullback
from difftile.solvers.state import State
from difftile.solvers.vectors import Vector, read, write


@dataclass(frozen=True, slots=True)
class Function:
    """A function that reads the fields `x` and others, and writes the fields `out`.

    The call is `call(*x, *out, *args)` with `out` all zero; in place, `call(*out, *args)` with a
    copy of `x` in `out`. Where the fields are split among ranks, the halos of `x` follow from what
    the ranks own, so vectors leave them out: exchanging them is a part of the function.

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
        """Call the function, which sets `out`; the halos of x are filled first."""
        with self.x.refreshed():
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

    def touched(self) -> tuple[list[dt.Field], set[Storage]]:
        """Return the fields that the function touches, and the memory that it writes."""
        return touched(self, self.x)

    def linearise(self, *, of_tape: bool = False) -> Pullback:
        """Call the function, ready to be differentiated: now, or in the reverse of a tape."""
        return Pullback(self, of_tape=of_tape)


def touched(call: Callable[[], object], x: State) -> tuple[list[dt.Field], set[Storage]]:
    """Return the fields that a function touches, and the memory that it writes.

    Filling the halos of its unknown does not count as writing the unknown.

    Args:
        call: The function, which fills the halos of its unknown first.
        x: The unknown.
    """
    own = {leaf.storage for leaf in x.leaves}
    refreshing = Pullback(x.refresh)
    fields = {one.storage: one for one in refreshing.fields if one.storage not in own}
    written = {one.storage for one in refreshing.written} - own
    with up_to_date(x.leaves):
        launches = Pullback(call)
    launches.rewind()
    fields |= {one.storage: one for one in launches.fields}
    written |= {one.storage for one in launches.written}
    launches.release()
    refreshing.rewind()
    refreshing.release()
    return list(fields.values()), written
