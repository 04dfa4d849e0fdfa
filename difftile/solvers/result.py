"""The report of a solver: whether it converged, and which derivative a tape takes."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from difftile.diagnostics import NotConverged, SolverError, counted
from difftile.user_line import warn_user

LOG = logging.getLogger("difftile.solvers")
_said: set[str] = set()


@dataclass(frozen=True, slots=True)
class SolverResult:
    """The report of a solver.

    Attributes:
        solver: The name of the solver.
        converged: Whether the tolerance was reached.
        iterations: The number of iterations.
        residual: The distance from a solution at the end, in the measure of the solver.
        target: The object that a tape differentiates: "solution", the mathematical object that the
            iterations tend to; "algorithm", the iterations that were made.
        reason: The reason why the solver did not converge.
    """

    solver: str
    converged: bool
    iterations: int
    residual: float
    target: str
    reason: str = ""

    def __repr__(self) -> str:
        done = f"{'converged' if self.converged else 'NOT converged'} after "
        done += f"{counted(self.iterations, 'iteration')}, residual {self.residual:.3g}"
        reason = f" ({self.reason})" if self.reason else ""
        return f"<{self.solver}: {done}{reason}; a tape differentiates the {self.target}>"

    def report(self, advice: str, *, strict: bool) -> None:
        """Log the report; warn, or raise an error, if the solver did not converge.

        Args:
            advice: A remedy.
            strict: Raise the error.

        Raises:
            SolverError: The solver did not converge.
        """
        LOG.info("%r", self)
        if not self.converged:
            text = f"{self!r}. {advice}"
            if strict:
                raise SolverError(text)
            warn_user(NotConverged(text))


def say_target(solver: str, target: str, other: str) -> None:
    """Log once which derivative is taken where the user did not choose."""
    if solver not in _said:
        _said.add(solver)
        LOG.warning(
            "%s differentiates the %s; diff='%s' differentiates the %s. "
            "Pass diff='%s' to choose it and to silence this message.",
            solver, target, other, other, target,
        )  # fmt: skip
