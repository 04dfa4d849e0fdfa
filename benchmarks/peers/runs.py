"""The runs that `benchmarks/fused.py` defines itself, and what every program of a run can do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from benchmarks.peers.peer import Peer

Clock: TypeAlias = Callable[[], float]  # returns seconds


@dataclass(frozen=True)
class Times:
    """The seconds that one turn took.

    Attributes:
        alone: The run, with nothing kept for a derivative.
        recorded: The run, with what its derivative needs.
        reverse: The derivative of the run that was recorded.
    """

    alone: float
    recorded: float
    reverse: float

    @property
    def both(self) -> float:
        """Recorded and reverse: the value with its gradient."""
        return self.recorded + self.reverse


class Program(Protocol):
    """A run in one of the languages."""

    def turn(self, clock: Clock) -> Times:
        """Run alone, then recorded, then in reverse."""
        ...

    def loss(self) -> float:
        """Return the loss of the last run."""
        ...

    def gradients(self) -> Mapping[str, np.ndarray]:
        """Return the gradients of the last turn by the names of the parameters."""
        ...


@dataclass(frozen=True)
class Pendula:
    """Pendula that do not know of each other; the gradient is with respect to the first angles.

    Attributes:
        angles: At the start [rad], where all are at rest, shape (n,).
        steps: Of a run.
        step: Of time [s].
        rate: Gravity by length [1/s^2].
    """

    angles: np.ndarray
    steps: int
    step: float = 0.002
    rate: float = 9.81


@dataclass(frozen=True)
class Ripples:
    """The linear wave equation on a square whose rims stay zero.

    The gradient is with respect to the displacements at the start.

    Attributes:
        pulse: Displacement at the start, where it is at rest, shape (n, n).
        steps: Of a run.
        courant: The square of the waves' way in a step, in cells.
    """

    pulse: np.ndarray
    steps: int
    courant: float = 0.2


def make_pendula(count: int, steps: int) -> Pendula:
    """Return pendula that start at angles up to 2 rad."""
    angles = np.random.default_rng(0).uniform(-2.0, 2.0, count)
    return Pendula(angles.astype(np.float32), steps)


def make_ripples(n: int, steps: int) -> Ripples:
    """Return a smooth pulse away from the centre."""
    x, y = np.meshgrid(*2 * [np.linspace(-1.0, 1.0, n)], indexing="ij")
    pulse = np.exp(-60.0 * ((x + 0.3) ** 2 + (y - 0.1) ** 2))
    return Ripples(pulse.astype(np.float32), steps)


class OfTaichi:
    """A program in plain Taichi: alone is a run outside of `ti.ad.Tape`.

    Args:
        peer: The program.
        wait: Returns when the device has done all that was asked of it.
    """

    def __init__(self, peer: Peer, wait: Callable[[], None]) -> None:
        self._peer, self._wait = peer, wait

    def turn(self, clock: Clock) -> Times:
        """Run alone, then recorded, then in reverse; clearing gradients counts as reverse."""
        started = self._now(clock)
        self._peer.run()
        alone = self._now(clock) - started
        return Times(alone, *self._peer.differentiate(lambda: self._now(clock)))

    def loss(self) -> float:
        """Return the loss of the last run."""
        return float(self._peer.loss[None])

    def gradients(self) -> Mapping[str, np.ndarray]:
        """Return the gradients of the last turn."""
        return self._peer.gradients()

    def _now(self, clock: Clock) -> float:
        self._wait()
        return clock()
