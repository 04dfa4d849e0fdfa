"""A square of water whose waves should show a picture when they stop.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "wave"). What is sought is the height of
the water at the start. This module holds data only; how waves travel is written in `demos/wave.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class WaveScene:
    """A square of cells on which waves travel; outside of it the water stays flat.

    Attributes:
        target: Height at the end [m], its mean zero, shape (n, n).
        width: Of the square [m].
        speed: Of long waves [m/s].
    """

    target: np.ndarray
    width: float = 1.0
    speed: float = 340.0

    @property
    def n(self) -> int:
        """Number of cells along each axis."""
        return len(self.target)

    @property
    def cell(self) -> float:
        """Width of a cell [m]."""
        return self.width / self.n

    @property
    def time_step(self) -> float:
        """In which a wave travels 1/sqrt(3) of a cell [s]; above 1/sqrt(2) it would grow."""
        return self.cell / (np.sqrt(3.0) * self.speed)

    @property
    def courant(self) -> float:
        """(speed · time_step / cell)²."""
        return (self.speed * self.time_step / self.cell) ** 2


def make_scene(n: int = 256) -> WaveScene:
    """Return the scene in which the waves should show yin and yang.

    Args:
        n: Number of cells along each axis.
    """
    picture = draw_yin_yang(n)
    return WaveScene(target=picture - picture.mean())


def draw_yin_yang(n: int) -> np.ndarray:
    """Return yin (0) and yang (1) in a ring, on ground of 0, shape (n, n).

    All edges are smooth over some three cells: waves of less do not keep their shape on the grid.
    """
    y, x = np.meshgrid(*[(np.arange(n) + 0.5) / n - 0.5] * 2, indexing="ij")
    disc, head, eye = 0.36, 0.18, 0.06

    def inside(radius: float, y0: float = 0.0) -> np.ndarray:
        return _smooth(n * (radius - np.hypot(x, y - y0)) / 3.0)

    yang = _smooth(n * x / 3.0)
    yang = yang * (1 - inside(head, -head)) + inside(head, -head)
    yang = yang * (1 - inside(head, head))
    yang = yang * (1 - inside(eye, -head)) + inside(eye, head)
    ring = inside(disc + 0.06) * (1 - inside(disc + 0.02))
    return yang * inside(disc) + ring


def _smooth(signed: np.ndarray) -> np.ndarray:
    """Rise from 0 at -1/2 to 1 at 1/2 without a kink."""
    t = np.clip(signed + 0.5, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
