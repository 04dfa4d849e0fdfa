"""`dt.odeint`: ordinary differential equations whose right-hand side is made of kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import difftile as dt
from difftile.diagnostics import LaunchError, NotConverged, brief, did_you_mean
from difftile.fields.exchange import as_integer
from difftile.fields.numbers import plain_numbers
from difftile.fields.recording import RECORDING, may_vary
from difftile.recording.perform import perform
from difftile.solvers.continuous import ContinuousAdjoint
from difftile.solvers.integrator import Integrator, OdeResult
from difftile.solvers.problem import Problem
from difftile.solvers.state import State, StateLike, state_of
from difftile.solvers.step_size import ErrorTolerance
from difftile.solvers.tableaux import METHODS
from difftile.tracebacks import boundary
from difftile.user_line import warn_user

_ADJOINTS = ("discrete", "continuous")


@boundary
def odeint(
    rhs: Callable[..., object],
    y: StateLike,
    t0: float | dt.Field,
    t1: float | dt.Field,
    *,
    args: Sequence[object] = (),
    at: Sequence[float] = (),
    out: StateLike | None = None,
    method: str = "dopri5",
    steps: int | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    first_step: float | None = None,
    max_steps: int = 10_000,
    adjoint: str = "discrete",
) -> OdeResult:
    """Integrate dy/dt = f(t, y) from t0 to t1; afterwards y holds the solution at t1.

    `rhs(t, *y, *dydt, *args)` is a kernel, or a Python function that launches kernels: it takes the
    time, a number; the fields of the state; as many fields for the rates, which are zero at the
    call; and `args`. The function writes only the rates, and scratch fields that it overwrites
    before it reads them. The state is passed in other fields than `y` itself.

        @dt.kernel
        def pendulum(t, angle, speed, d_angle, d_speed, gravity):
            for i in angle:
                d_angle[i] = speed[i]
                d_speed[i] = -gravity[None] * ti.sin(angle[i])

        with dt.Tape(loss):
            dt.odeint(pendulum, (angle, speed), 0.0, 2.0, args=(gravity,))
            measure(angle, loss)

    Methods: "dopri5", of order 5 with steps that follow from `rtol` and `atol` (Dormand and Prince,
    A family of embedded Runge-Kutta formulae, 1980; PI control, reuse of the last stage and
    continuous extension of order 4 as in Hairer, Norsett and Wanner, Solving Ordinary Differential
    Equations I, 1993); "rk4", the classical method of order 4, and "euler", in `steps` equal steps.

    The derivative on a tape is one of two.

    * `adjoint="discrete"`: the derivative of the executed steps, to rounding errors. They are
      launches on the tape like others: it keeps about as many copies of the state for each step as
      the method has stages, or as many as its budget allows. Rejected steps are not recorded, which
      takes a second pass over the accepted ones. The sizes of the steps are held constant.
    * `adjoint="continuous"`: the derivative of the differential equation, from the adjoint
      equation, which is solved backwards by the same method (Chen, Rubanova, Bettencourt and
      Duvenaud, Neural ordinary differential equations, 2018; Kidger, On neural differential
      equations, 2021, section 5.1). This derivative has the error of that solution: it is not the
      exact derivative of the numbers in `y`, and tends to it as tolerances fall. The tape keeps the
      state at both ends and in `out`, however many steps there are. The state is integrated
      backwards, too, from each time in `at` to the one before; where the equation forgets where it
      came from (friction, diffusion, stiffness) that is unstable. The result is compared with the
      stored state, and a `NotConverged` warning reports a difference.

    Gradients go to the initial state, and to all fields with gradients that the right-hand side
    reads; with the continuous adjoint to `t0` and `t1` too, if these are fields.
    Tangents go through the steps, with either.

    Args:
        rhs: The right-hand side, a function of its arguments only.
        y: The state: a field of floats, a field of structs, or a tuple of those.
        t0: The time at which y is given.
        t1: The end time; it may be before t0.
        args: Further arguments of `rhs`.
        at: Times on the way, in order, at which to store the state.
        out: A field for each field of the state, of shape (len(at), *shape), that takes the state
            at these times. For times within a step the method's own polynomial is used.
        method: "dopri5", "rk4" or "euler".
        steps: The number of steps of "rk4" and "euler".
        rtol: The accepted error of a step, relative to the state: the root of the mean square over
            all its numbers. 1e-6 in double precision, 1e-4 otherwise.
        atol: The same in the unit of the state; 1e-8, and 1e-6.
        first_step: The size of the first step; by default it follows from two evaluations.
        max_steps: The largest number of steps to try; a `NotConverged` warning reports that it was
            reached.
        adjoint: "discrete" or "continuous".

    Returns:
        A report: steps, rejected steps, evaluations, and whether t1 was reached.

    Raises:
        LaunchError: The arguments do not go together.
        SolverError: The state ceased to be finite, or steps would have to be too small.
    """
    if adjoint not in _ADJOINTS:
        raise LaunchError(
            f"dt.odeint: adjoint is 'discrete' or 'continuous', not {brief(adjoint)}."
        )
    state = state_of(y, "The state")
    integrator = _integrator(state, method, steps, rtol, atol, first_step, max_steps)
    start, end = _time(t0, "t0"), _time(t1, "t1")
    times, rows = _outputs(state, start, end, at, out)
    ends = [
        one if isinstance(one, dt.Field) and one.numpy_dtype.kind == "f" else None
        for one in (t0, t1)
    ]
    problem = Problem(integrator, rhs, args, state, start, end, times, rows, (ends[0], ends[1]))
    recorder = RECORDING.get().recorder
    if recorder is not None and adjoint == "continuous":
        result = perform(ContinuousAdjoint(problem)).result
    else:
        if recorder is not None and any(e is not None and may_vary(e) for e in ends):
            raise LaunchError(
                "dt.odeint: the discrete adjoint takes times for constants, and t0 or t1 is a "
                "field that may vary. Use adjoint='continuous', or pass a number: t1[None]."
            )
        result = problem.solve()
    if not result.converged:
        text = (
            f"dt.odeint stopped at t = {result.t:.6g}, before {end:.6g}: {result!r}. Allow more "
            "steps, max_steps=..., or larger tolerances; the equation may be stiff."
        )
        warn_user(NotConverged(text))
    return result


def _time(value: Any, name: str) -> float:
    try:
        time = float(plain_numbers(value[None]) if isinstance(value, dt.Field) else value)
    except (TypeError, ValueError):  # a FieldError is one, too
        time = math.nan
    if not math.isfinite(time):
        raise LaunchError(
            f"dt.odeint: {name} is a finite number, or a field of one, not {brief(value)}."
        )
    return time


def _integrator(
    state: State,
    method: str,
    steps: int | None,
    rtol: float | None,
    atol: float | None,
    first_step: float | None,
    max_steps: int,
) -> Integrator:
    """Return the method and its steps.

    Raises:
        LaunchError: The arguments do not go together.
    """
    tableau = METHODS.get(method)
    if tableau is None:
        guess = did_you_mean(method, METHODS) or f"it is one of {', '.join(METHODS)}."
        raise LaunchError(f"dt.odeint: method is not {brief(method)}; {guess}")
    chosen = {"rtol": rtol, "atol": atol, "first_step": first_step}
    if tableau.embedded is None:
        given = [name for name, value in chosen.items() if value is not None]
        if given:
            raise LaunchError(
                f"dt.odeint: method {method!r} takes steps of one size and has no {given[0]}. "
                "Leave that out, or take method='dopri5'."
            )
        count = as_integer(steps)
        if count is None or count < 1:
            raise LaunchError(
                f"dt.odeint: method {method!r} takes a number of steps, steps=100, not "
                f"{brief(steps)}."
            )
    elif steps is not None:
        raise LaunchError(
            f"dt.odeint: method {method!r} chooses its steps by rtol and atol. "
            "Leave steps out, or take method='rk4'."
        )
    for name, value in chosen.items():
        if value is not None and _time(value, name) <= 0.0:
            raise LaunchError(f"dt.odeint: {name} is above 0, not {brief(value)}.")
    most = as_integer(max_steps)
    if most is None or most < 1:
        raise LaunchError(f"dt.odeint: max_steps is an integer from 1 on, not {brief(max_steps)}.")
    double = all(leaf.numpy_dtype == np.float64 for leaf in state.leaves)
    relative, absolute = (1e-6, 1e-8) if double else (1e-4, 1e-6)
    tolerance = ErrorTolerance(rtol or relative, atol or absolute)
    return Integrator(tableau, steps, tolerance, first_step, most)


def _outputs(
    state: State, t0: float, t1: float, at: Sequence[float], out: StateLike | None
) -> tuple[list[float], State | None]:
    """Return the times at which to store the state, and the fields that take it.

    Raises:
        LaunchError: The times or the fields do not fit.
    """
    times = [_time(time, "a time in 'at'") for time in at]
    if not times and out is None:
        return [], None
    if not times or out is None:
        raise LaunchError(
            "dt.odeint: 'at' says when, and 'out' where to store the state; give both."
        )
    way = [t0, *times, t1]
    if way != sorted(way, reverse=t1 < t0):
        raise LaunchError(f"dt.odeint: the times 'at' lead from t0 = {t0:g} to t1 = {t1:g}.")
    rows = state_of(out, "'out'")
    if len(rows.leaves) != len(state.leaves):
        raise LaunchError(
            f"dt.odeint: 'out' has a field for each field of the state: {len(state.leaves)}, "
            f"not {len(rows.leaves)}."
        )
    for leaf, row in zip(state.leaves, rows.leaves, strict=True):
        wanted = (len(times), *leaf.shape)
        if row.shape != wanted or row.element != leaf.element:
            raise LaunchError(
                f"dt.odeint: {row!r} cannot hold {leaf!r} at {len(times)} times; give it "
                f"elements {leaf.element} and the shape {wanted}."
            )
    return times, rows
