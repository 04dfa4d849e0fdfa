"""Integration from one time to another by a chosen method and chosen steps, and its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from difftile.diagnostics import SolverError, counted
from difftile.fields.recording import RECORDING, Recording
from difftile.solvers.rungekutta import Equation, Outputs, RungeKutta, Terms, TimeStep
from difftile.solvers.state import State
from difftile.solvers.step_size import ErrorTolerance
from difftile.solvers.tableaux import Tableau


@dataclass(frozen=True, slots=True)
class OdeResult:
    """The report of `dt.odeint`.

    Attributes:
        method: The method.
        t: The time that the state belongs to.
        steps: The number of steps taken.
        rejected: The number of steps that were tried and found too long.
        evaluations: The number of evaluations of the right-hand side.
        converged: Whether `t` is the requested time.
    """

    method: str
    t: float
    steps: int
    rejected: int
    evaluations: int
    converged: bool

    def __repr__(self) -> str:
        rejected = f" ({self.rejected} rejected)" if self.rejected else ""
        end = "" if self.converged else ", not converged"
        return (
            f"<odeint {self.method}: t = {self.t:.6g} after {counted(self.steps, 'step')}"
            f"{rejected}, {counted(self.evaluations, 'evaluation')}{end}>"
        )


@dataclass(frozen=True, slots=True)
class Integrator:
    """A method and its steps.

    Args:
        tableau: The method.
        steps: The number of steps, if they are of one size.
        tolerance: The accepted error of a step, if they are not.
        first: The size of the first step; None to estimate it.
        most: The largest number of steps to try.
    """

    tableau: Tableau
    steps: int | None
    tolerance: ErrorTolerance
    first: float | None
    most: int

    def march(
        self,
        equation: Equation,
        y: State,
        t0: float,
        t1: float,
        outputs: Outputs,
        accept: Callable[[Terms], None] | None = None,
    ) -> OdeResult:
        """Advance a state in place from t0 to t1; on an open tape the steps taken are recorded.

        Args:
            equation: The right-hand side.
            y: The state.
            t0: The time of the state.
            t1: The time to reach.
            outputs: The states to store on the way.
            accept: Called with the terms that a step is going to add to the state.

        Raises:
            SolverError: The state ceased to be finite, or a step would have to be too small.
        """
        taped = RECORDING.get().recorder is not None
        run = RungeKutta(self.tableau, equation, y, outputs, accept=accept, grad=taped)
        rejected = 0
        if self.steps is not None:
            h = (t1 - t0) / self.steps
            taken = [TimeStep(t0 + n * h, h) for n in range(self.steps)]
            run.follow(taken)
        elif taped:
            # First find the steps on a copy: rejected ones must not be on the tape.
            with Recording():
                copy = y.work("trial")
                copy.copy_from(y)
                trial = RungeKutta(self.tableau, equation, copy, Outputs())
                taken = self._adapt(trial, t0, t1)
            rejected = trial.rejected
            run.follow(taken)
        else:
            taken = self._adapt(run, t0, t1)
            rejected = run.rejected
        if not y.is_finite():
            raise SolverError(
                f"dt.odeint ({self.tableau.name}): the state is not finite after "
                f"{counted(len(taken), 'step')}. Take more steps, or method='dopri5'."
            )
        reached = taken[-1].t + taken[-1].h if taken else t0
        converged = not taken or abs(reached - t1) <= 1e-9 * abs(t1 - t0)
        return OdeResult(
            self.tableau.name,
            t1 if converged else reached,
            len(taken),
            rejected,
            equation.evaluations,
            converged,
        )

    def _adapt(self, run: RungeKutta, t0: float, t1: float) -> list[TimeStep]:
        if t0 == t1:
            return []
        return list(run.adapt(t0, t1, self.tolerance, self.first, self.most))
