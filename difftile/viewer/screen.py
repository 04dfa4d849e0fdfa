"""Areas of the screen, and the mapping of positions in the plane to pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from difftile.viewer.primitives import Box, Floats


@dataclass(frozen=True)
class Area:
    """A rectangle of the screen [px], y down."""

    left: float
    top: float
    width: float
    height: float

    @staticmethod
    def between(left: float, top: float, right: float, bottom: float) -> Area:
        """Return the rectangle between two corners."""
        return Area(left, top, right - left, bottom - top)

    def holds(self, x: float, y: float) -> bool:
        """Return whether a pixel is inside."""
        return self.left <= x < self.left + self.width and self.top <= y < self.top + self.height

    def pixels(self) -> tuple[slice, slice]:
        """Return the rows and columns of the pixels."""
        rows = slice(round(self.top), round(self.top + self.height))
        return rows, slice(round(self.left), round(self.left + self.width))

    @property
    def center(self) -> tuple[float, float]:
        """The pixel in its middle."""
        return self.left + self.width / 2, self.top + self.height / 2


class Projection(Protocol):
    """A mapping of positions to pixels."""

    @property
    def area(self) -> Area:
        """The area of the screen."""
        ...

    def project(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the pixels of positions.

        Args:
            positions: Shape (n, 2) in the plane, (n, 3) in space.

        Returns:
            Pixels, shape (n, 2), not finite for a position behind the eye; depths, shape (n,),
            larger is farther; pixels per unit of length at each position, shape (n,).
        """
        ...

    def unproject(self, x: float, y: float, depth: float = 0.0) -> Floats:
        """Return the position at a pixel and a depth."""
        ...


@dataclass(frozen=True)
class Pixels:
    """Positions that are pixels already, y down, as of panel and notices."""

    area: Area

    def project(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """See `Projection`."""
        n = len(positions)
        return positions, np.zeros(n, np.float32), np.ones(n, np.float32)

    def unproject(self, x: float, y: float, depth: float = 0.0) -> Floats:
        """See `Projection`."""
        return np.array([x, y], np.float32)


@dataclass(frozen=True)
class PlaneBox:
    """A box of the plane, y up, scaled to fit into the area without distortion."""

    area: Area
    box: Box = (0.0, 0.0, 1.0, 1.0)

    @property
    def scale(self) -> float:
        """Pixels per unit of length."""
        left, bottom, right, top = self.box
        return min(self.area.width / (right - left), self.area.height / (top - bottom))

    def project(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """See `Projection`; a third component is ignored."""
        left, bottom, right, top = self.box
        middle = np.array([(left + right) / 2, (bottom + top) / 2], np.float32)
        flip = np.array([self.scale, -self.scale], np.float32)
        pixels = (positions[:, :2] - middle) * flip + np.array(self.area.center, np.float32)
        n = len(positions)
        return pixels, np.zeros(n, np.float32), np.full(n, self.scale, np.float32)

    def unproject(self, x: float, y: float, depth: float = 0.0) -> Floats:
        """See `Projection`."""
        left, bottom, right, top = self.box
        center_x, center_y = self.area.center
        return np.array(
            [
                (left + right) / 2 + (x - center_x) / self.scale,
                (bottom + top) / 2 - (y - center_y) / self.scale,
            ],
            np.float32,
        )
