"""Frames: the contents of a picture, as shapes that can be drawn later and in another process."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from difftile.viewer.primitives import Bytes, Circles, Facets, Image, Markers, Primitive
from difftile.viewer.raster import draw
from difftile.viewer.screen import Projection
from difftile.viewer.surface import Surface
from difftile.viewer.theme import BACKGROUND


@dataclass(frozen=True)
class Layer:
    """Shapes under one projection.

    Args:
        projection: Maps their positions to pixels.
        shapes: In the order of drawing; without fields, which cannot leave a process.
    """

    projection: Projection
    shapes: tuple[Primitive, ...]

    @classmethod
    def of(cls, projection: Projection, shapes: Iterable[Primitive]) -> Layer:
        """Return a layer of shapes, without their source fields."""
        kinds = (Image, Markers, Circles, Facets)
        bare = (replace(one, source=None) if isinstance(one, kinds) else one for one in shapes)
        return cls(projection, tuple(bare))

    def draw(self, surface: Surface) -> None:
        """Draw the shapes."""
        draw(surface, self.shapes, self.projection)


@dataclass(frozen=True)
class Frame:
    """All layers of a picture, which is drawn on demand. Frames can be pickled.

    Args:
        width: Of the picture [px].
        height: Of the picture [px].
        scene: The layers of the scene, the last on top.
        panel: The opaque controls; the same object as in the last frame if they look the same. None
            if the picture has no controls.
        notices: The topmost layer.
    """

    width: int
    height: int
    scene: tuple[Layer, ...]
    panel: Layer | None
    notices: Layer

    def image(self) -> Bytes:
        """Return the picture, read-only, shape (height, width, 3), row 0 at the top."""
        return self._image

    @cached_property
    def _image(self) -> Bytes:
        return FramePainter().image(self)


class FramePainter:
    """Draws successive frames; draws the panel only when it has changed."""

    def __init__(self) -> None:
        self._panel: Layer | None = None
        self._strip: npt.NDArray[np.uint32] | None = None  # the pixels of the panel

    def image(self, frame: Frame) -> Bytes:
        """Return the picture of a frame, shape (height, width, 3)."""
        surface = Surface(frame.width, frame.height, BACKGROUND)
        for layer in frame.scene:
            layer.draw(surface)
        if frame.panel is not None:
            rows, columns = frame.panel.projection.area.pixels()
            if frame.panel is not self._panel or self._strip is None:
                frame.panel.draw(surface)
                self._panel = frame.panel
                self._strip = surface.packed[rows, columns].copy()
            surface.packed[rows, columns] = self._strip
        frame.notices.draw(surface)
        return surface.image()

    def attempt(self, frame: Frame) -> tuple[Bytes, str | None]:
        """Return a picture, without its scene if that cannot be drawn, and the fault."""
        try:
            return self.image(frame), None
        except Exception as error:
            traceback.print_exc()
            return self.image(replace(frame, scene=())), f"{type(error).__name__}: {error}"
