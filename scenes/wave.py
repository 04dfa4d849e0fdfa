"""A square of water whose waves should show a picture when they stop.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "wave"). The initial height of the water is
sought. This module holds only data; the simulation is in `demos/wave.py`.
"""

from dataclasses import dataclass

import numpy as np

from scenes.drawings import draw_disc, draw_yin_yang


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


def make_drop(n: int, x: float, y: float, radius: float = 0.025) -> np.ndarray:
    """Return the height of a drop on the water, 1 in its middle, shape (n, n).

    Args:
        n: Number of cells along each axis.
        x: Its middle, from 0 at the left to 1 at the right.
        y: Likewise, from the bottom to the top.
        radius: At which its height is 1/e.
    """
    place = (np.arange(n) + 0.5) / n
    across, down = (
        np.exp(-(((place - x) / radius) ** 2)),
        np.exp(-(((1 - place - y) / radius) ** 2)),
    )
    return down[:, None] * across


def make_scene(n: int = 256) -> WaveScene:
    """Return the scene in which the waves should show yin and yang in a ring.

    Args:
        n: Number of cells along each axis.
    """
    radius = 0.36
    y, x = np.meshgrid(*[((np.arange(n) + 0.5) / n - 0.5) / radius] * 2, indexing="ij")
    edge = 3 / (n * radius)  # three cells: shorter waves do not keep their shape on the grid
    ring = draw_disc(y, x, 1.17, edge) - draw_disc(y, x, 1.06, edge)
    picture = draw_yin_yang(y, x, edge) * draw_disc(y, x, 1.0, edge) + ring
    return WaveScene(target=picture - picture.mean())
