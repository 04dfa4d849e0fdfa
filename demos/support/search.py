"""Fits of known parameters: their errors from step to step."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from demos.support.training import Optimiser


@dataclass(slots=True)
class Search:
    """An optimiser that records its errors.

    Attributes:
        descent: Updates the parameters.
        miss: Returns their distance from the true parameters.
        then: Called after each step.
        misses: Results of `miss` before each step, and after the last.
    """

    descent: Optimiser
    miss: Callable[[], float]
    then: Callable[[], object] = lambda: None
    misses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.misses.append(self.miss())

    def step(self) -> None:
        """Move the parameters."""
        self.descent.step()
        self.then()
        self.misses.append(self.miss())

    def print(self, what: str, milestones: Iterable[int]) -> None:
        """Print the errors at first and after the given numbers of iterations.

        Args:
            what: Name of the quantity whose largest error is printed.
            milestones: Numbers of iterations; those that were not made are left out.
        """
        for k in (0, *milestones):
            if k < len(self.misses) - 1:
                print(f"after {k:3} iterations {what} is at most {self.misses[k]:.5f} off")
