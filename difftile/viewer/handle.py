"""Points of the scene that can be dragged."""

from __future__ import annotations

from typing import Any

import numpy as np

from difftile.diagnostics import ViewerError
from difftile.viewer.bindings import Bind, bind_to
from difftile.viewer.primitives import Bytes, Floats, Markers, Primitive
from difftile.viewer.screen import Projection
from difftile.viewer.theme import INK

_RADIUS = 8.0  # [px]
_REACH = 13.0  # within which the mouse grabs a handle [px]


class Handle:
    """A point in the plane or in space that can be dragged.

    Attributes:
        value: Its position, shape (2,) or (3,).
    """

    def __init__(self, bind: Bind, colour: Bytes) -> None:
        self._binding = bind_to(bind, (0.5, 0.5), "a handle")
        self._colour = colour
        if self.value.shape not in ((2,), (3,)):
            raise ViewerError(
                f"a handle is bound to two or three numbers, not to the shape {self.value.shape}"
            )

    @property
    def value(self) -> Floats:
        """The position."""
        return np.asarray(self._binding.get(), np.float32)

    @value.setter
    def value(self, value: Any) -> None:
        self._binding.set(np.asarray(value, np.float32))

    @property
    def spatial(self) -> bool:
        """Whether the handle is in space."""
        return len(self.value) == 3

    def near(self, projection: Projection, x: float, y: float) -> bool:
        """Return whether the mouse is near enough to grab the handle."""
        at = projection.project(self.value[None])[0][0]
        return bool(np.hypot(at[0] - x, at[1] - y) <= _REACH)

    def move(self, projection: Projection, x: float, y: float) -> None:
        """Follow the mouse, in space parallel to the picture."""
        depth = float(projection.project(self.value[None])[1][0])
        self.value = projection.unproject(x, y, depth)

    def draw(self, held: bool) -> list[Primitive]:
        """Return the shapes of the handle."""
        place = self.value[None]
        rim = Markers(place, INK, _RADIUS + (3.0 if held else 2.0))
        return [rim, Markers(place, self._colour, _RADIUS)]
