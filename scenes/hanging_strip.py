"""A strip of rubber that is clamped at one end and sags under its own weight.

The strip is a plane of linear triangles in columns. Its rest shape is the shape that it would have
without gravity: columns of nodes that keep their length and distance, each turned against the one
before by an angle. The angles are sought with which the strip hangs in a given shape. This
module holds only data; the equilibrium is written in `demos/implicit_equilibrium.py`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class HangingStrip:
    """A strip, and the shape in which it should hang.

    Attributes:
        straight: Nodes of the straight strip [m], column by column from the clamped one, each from
            bottom to top, shape (n, 2).
        triangles: Nodes of the triangles, counterclockwise, shape (m, 3), int32.
        target: Desired positions of the nodes [m], shape (n, 2).
        columns: The columns after the clamped one.
        rows: The nodes of a column.
        spacing: From one column to the next [m].
        width: From the lowest to the highest node of a column [m].
        thickness: Across the plane [m].
        density: Mass per volume [kg/m^3].
        young: Young's modulus [Pa].
        poisson: Poisson's ratio.
        gravity: Acceleration, along y [m/s^2].
    """

    straight: np.ndarray
    triangles: np.ndarray
    target: np.ndarray
    columns: int
    rows: int
    spacing: float
    width: float
    thickness: float
    density: float
    young: float
    poisson: float
    gravity: float

    @property
    def length(self) -> float:
        """Of the straight strip [m]."""
        return self.columns * self.spacing

    @property
    def shear_modulus(self) -> float:
        """Lamé's second parameter, mu [Pa]."""
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def lame(self) -> float:
        """Lamé's first parameter in plane stress, lambda [Pa]."""
        return self.young * self.poisson / (1.0 - self.poisson**2)

    @property
    def weights(self) -> np.ndarray:
        """The forces of gravity on the nodes that are not clamped [N], shape (n - rows, 2)."""
        a, b, c = (self.straight[self.triangles[:, k]] for k in range(3))
        (ux, uy), (vx, vy) = (b - a).T, (c - a).T
        areas = 0.5 * (ux * vy - uy * vx)
        masses = np.zeros(len(self.straight))
        share = self.density * self.thickness * areas / 3.0
        np.add.at(masses, self.triangles, share[:, None])
        return masses[self.rows :, None] * np.array([0.0, self.gravity])


def make_strip(columns: int = 24, rows: int = 3) -> HangingStrip:
    """Return a strip of soft rubber, 40 cm long, that should hang straight.

    Args:
        columns: The columns after the clamped one.
        rows: The nodes of a column.
    """
    length, width = 0.4, 0.04
    along, across = np.arange(columns + 1) / columns, np.arange(rows) / (rows - 1) - 0.5
    x, y = np.meshgrid(length * along, width * across, indexing="ij")
    straight = np.stack([x, y], axis=-1).reshape(-1, 2)
    triangles = []
    for column in range(columns):
        for row in range(rows - 1):
            a = column * rows + row
            b, c, d = a + rows, a + rows + 1, a + 1
            # Diagonals that alternate: all in one direction would make the strip twist.
            even = (column + row) % 2 == 0
            triangles += [(a, b, c), (a, c, d)] if even else [(a, b, d), (b, c, d)]
    return HangingStrip(
        straight=straight,
        triangles=np.array(triangles, np.int32),
        target=straight,
        columns=columns,
        rows=rows,
        spacing=length / columns,
        width=width,
        thickness=0.01,
        density=1000.0,
        young=4e5,
        poisson=0.4,
        gravity=-9.81,
    )
