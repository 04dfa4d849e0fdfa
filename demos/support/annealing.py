"""Pictures whose edges are soft at first and become sharper while they are fitted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from demos.support.training import Optimiser


class Soft(Protocol):
    """What has edges that are soft over a width."""

    width: float


@dataclass(slots=True)
class Annealing:
    """An optimiser that sharpens edges with each step.

    Attributes:
        descent: What moves the parameters.
        picture: What has the edges.
        factor: Of their width from step to step.
        narrowest: The least width.
        miss: Returns how far the parameters are from those that are sought.
        misses: What it returned before each step, and after the last.
    """

    descent: Optimiser
    picture: Soft
    factor: float
    narrowest: float
    miss: Callable[[], float]
    misses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.misses.append(self.miss())

    def step(self) -> None:
        """Move the parameters and sharpen the edges."""
        self.descent.step()
        self.picture.width = max(self.factor * self.picture.width, self.narrowest)
        self.misses.append(self.miss())
