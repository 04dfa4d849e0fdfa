"""The initial value problem of `dt.odeint`, and the fields that its right-hand side uses."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import difftile as dt
from difftile.diagnostics import LaunchError
from difftile.recording.snapshots import Snapshot
from difftile.solvers.function import touched
from difftile.solvers.integrator import Integrator, OdeResult
from difftile.solvers.rungekutta import Equation, Outputs
from difftile.solvers.state import State


@dataclass(frozen=True, slots=True)
class Problem:
    """An initial value problem.

    Args:
        integrator: The method and its steps.
        rhs: The right-hand side: rhs(t, *y, *dydt, *args).
        args: Further arguments of the right-hand side.
        y: The state, which changes in place.
        t0: The time at the start.
        t1: The time at the end.
        times: The times at which to store the state on the way.
        out: The fields whose rows take these states.
        ends: The fields that t0 and t1 were read from, if they were fields.
    """

    integrator: Integrator
    rhs: Callable[..., object]
    args: Sequence[object]
    y: State
    t0: float
    t1: float
    times: Sequence[float] = ()
    out: State | None = None
    ends: tuple[dt.Field | None, dt.Field | None] = (None, None)

    def solve(self) -> OdeResult:
        """Integrate; on an open tape the steps taken are recorded."""
        equation = Equation(self.rhs, self.args)
        return self.integrator.march(
            equation, self.y, self.t0, self.t1, Outputs(self.times, self.out)
        )

    def integrate(self) -> Integrated:
        """Integrate, and keep the state at the start."""
        start = [leaf.to_numpy() for leaf in self.y.leaves]
        return Integrated(self.solve(), start)

    def rate(self, t: float, y: State) -> State:
        """Return dy/dt."""
        rate = y.like()
        Equation(self.rhs, self.args)(t, y, rate)
        return rate


@dataclass(frozen=True, slots=True)
class Integrated:
    """The record of a solution that derivatives need: its report, and the state at its start."""

    result: OdeResult
    start: list[np.ndarray[Any, Any]]

    @property
    def nbytes(self) -> int:
        """The memory of the state at the start."""
        return sum(values.nbytes for values in self.start)


def not_known(one: dt.Field, t: float) -> LaunchError:
    """Return the error of a right-hand side that uses other fields than at its first call."""
    return LaunchError(
        f"dt.odeint: the right-hand side uses {one!r} at t = {t:.6g} and did not at its first "
        "call. Pass it in 'args', so that its contents are kept."
    )


@contextmanager
def holding(fields: Iterable[dt.Field]) -> Generator[None]:
    """Restore the contents of fields after a block."""
    now = Snapshot(0)
    for one in fields:
        now.hold(one.storage)
    try:
        yield
    finally:
        now.restore()
        now.release()


def fields_of(problem: Problem) -> tuple[list[dt.Field], list[dt.Field]]:
    """Return the fields other than the state that the right-hand side reads, and that it writes.

    Raises:
        LaunchError: The right-hand side writes the state.
    """
    y, rate = problem.y, problem.y.like()
    fields, written = touched(
        lambda: problem.rhs(problem.t0, *y.members, *rate.members, *problem.args), y
    )
    found = {one.storage: one for one in (*fields_among(problem.args), *fields)}
    if any(leaf.storage in written for leaf in y.leaves):
        raise LaunchError(
            "dt.odeint: the right-hand side changes the state. Let it write only the rates."
        )
    for leaf in (*y.leaves, *rate.leaves):
        found.pop(leaf.storage, None)
    return (
        [one for storage, one in found.items() if storage not in written],
        [one for storage, one in found.items() if storage in written],
    )


def fields_among(args: Sequence[object]) -> Iterator[dt.Field]:
    """Yield the fields among some arguments."""
    for one in args:
        if isinstance(one, dt.ArrayLike):
            yield one.base.origin
        elif isinstance(one, dt.StructField):
            yield from (leaf.origin for _, leaf in one.fields())
