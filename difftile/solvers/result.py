"""What a solver reports: whether it converged, and of what it gives the derivative."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass

from difftile.diagnostics import NotConverged, SolverError, counted

LOG = logging.getLogger("difftile.solvers")
_said: set[str] = set()


@dataclass(frozen=True, slots=True)
class SolverResult:
    """What a solver did.

    Attributes:
        solver: Its name.
        converged: Whether it reached the tolerance.
        iterations: The iterations it made.
        residual: How far it was from a solution in the end, in the measure of the solver.
        target: What a tape differentiates: "solution", which is the mathematical object that the
            iterations tend to; "algorithm", the iterations that were made.
        reason: Why it did not converge.
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
        """Say what was done: to the log, and as a warning or an error where it did not converge.

        Args:
            advice: What to do about it.
            strict: Raise the error.

        Raises:
            SolverError: It did not converge.
        """
        LOG.info("%r", self)
        if not self.converged:
            text = f"{self!r}. {advice}"
            if strict:
                raise SolverError(text)
            warnings.warn(NotConverged(text), stacklevel=3)


def say_target(solver: str, target: str, other: str) -> None:
    """Say once what is differentiated where the user did not."""
    if solver not in _said:
        _said.add(solver)
        LOG.warning(
            "%s differentiates the %s; diff='%s' differentiates the %s. "
            "Say diff='%s' to choose it, and to hear no more of this.",
            solver, target, other, other, target,
        )  # fmt: skip
