"""Where positions are on the screen."""

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

    def holds(self, x: float, y: float) -> bool:
        """Tell whether a pixel is inside."""
        return self.left <= x < self.left + self.width and self.top <= y < self.top + self.height

    def pixels(self) -> tuple[slice, slice]:
        """Return the rows and columns of its pixels."""
        rows = slice(round(self.top), round(self.top + self.height))
        return rows, slice(round(self.left), round(self.left + self.width))

    @property
    def center(self) -> tuple[float, float]:
        """The pixel in its middle."""
        return self.left + self.width / 2, self.top + self.height / 2


class Projection(Protocol):
    """A way from positions to pixels."""

    @property
    def area(self) -> Area:
        """Where on the screen it draws; what is outside is cut off."""
        ...

    def project(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """Return where positions are seen.

        Args:
            positions: Shape (n, 2) or (n, 3), as the projection wants them.

        Returns:
            Pixels, shape (n, 2), not finite where a position is behind the eye; depth, shape (n,),
            larger is farther; pixels that one unit of length takes there, shape (n,).
        """
        ...

    def unproject(self, x: float, y: float, depth: float = 0.0) -> Floats:
        """Return the position that is seen at a pixel at a depth."""
        ...


@dataclass(frozen=True)
class Pixels:
    """Positions that are pixels already, y down: for what lies over the scene."""

    area: Area

    def project(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """See `Projection`."""
        n = len(positions)
        return positions, np.zeros(n, np.float32), np.ones(n, np.float32)

    def unproject(self, x: float, y: float, depth: float = 0.0) -> Floats:
        """See `Projection`."""
        return np.array([x, y], np.float32)


@dataclass(frozen=True)
class Flat:
    """A box of the plane, y up, as large as it fits into the area without distortion."""

    area: Area
    box: Box = (0.0, 0.0, 1.0, 1.0)

    @property
    def scale(self) -> float:
        """Pixels that one unit of length takes."""
        left, bottom, right, top = self.box
        return min(self.area.width / (right - left), self.area.height / (top - bottom))

    def project(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """See `Projection`; a third component is left out."""
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
