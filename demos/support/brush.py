"""A brush with which one says where a picture counts."""

import numpy as np

import difftile as dt
from difftile import ti

_RIM = 0.5  # of the radius, over which a stroke fades


class Brush:
    """Weights of the pixels of a picture, which lies in the unit square with y up.

    Args:
        size: Pixels along each side.
        low: The weight of unpainted pixels.

    Attributes:
        weights: From `low` to 1, shape (size, size), row 0 at the top.
        used: Whether any pixel is painted.
    """

    def __init__(self, size: int, low: float) -> None:
        self.low, self.used = np.float32(low), False
        self.weights = dt.full((size, size), low, ti.f32)
        middles = (np.arange(size) + 0.5) / size
        self._x, self._y = middles, 1.0 - middles[:, None]

    def stroke(
        self,
        begin: tuple[float, float],
        end: tuple[float, float],
        radius: float,
        *,
        erase: bool = False,
    ) -> None:
        """Paint along a segment; where strokes overlap, the stronger one counts.

        Args:
            begin: Its first point, x and y in the unit square.
            end: Its last point.
            radius: Distance from its middle at which it has faded.
            erase: Remove the paint there.
        """
        (x, y), (u, v) = begin, end
        along = (self._x - x) * (u - x) + (self._y - y) * (v - y)
        t = np.clip(along / max((u - x) ** 2 + (v - y) ** 2, 1e-12), 0.0, 1.0)
        gap = np.hypot(self._x - x - t * (u - x), self._y - y - t * (v - y))
        added = (1.0 - self.low) * np.clip((radius - gap) / (_RIM * radius), 0.0, 1.0)
        before = self.weights.to_numpy()
        after = np.minimum(before, 1.0 - added) if erase else np.maximum(before, self.low + added)
        self.weights.from_numpy(after.astype(np.float32))
        self.used = bool(after.max() > self.low)

    def clear(self) -> None:
        """Give all pixels the same weight again."""
        self.weights.fill(float(self.low))
        self.used = False
