"""Frames: what is seen at one time, as shapes that can be drawn later and elsewhere."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from difftile.viewer.primitives import Bytes, Circles, Image, Markers, Mesh, Primitive
from difftile.viewer.raster import draw
from difftile.viewer.screen import Projection
from difftile.viewer.surface import Surface
from difftile.viewer.theme import BACKGROUND


@dataclass(frozen=True)
class Layer:
    """Shapes that are looked at in one way.

    Args:
        projection: Where they are on the screen.
        shapes: In the order of drawing; they know of no fields, as those do not leave a process.
    """

    projection: Projection
    shapes: tuple[Primitive, ...]

    @classmethod
    def of(cls, projection: Projection, shapes: Iterable[Primitive]) -> Layer:
        """Return a layer of shapes, without the fields that they were made from."""
        return cls(projection, tuple(_bare(one) for one in shapes))

    def draw(self, surface: Surface) -> None:
        """Draw the shapes."""
        draw(surface, self.shapes, self.projection)


@dataclass(frozen=True)
class Frame:
    """All layers of a picture. It stays as it is, can be pickled, and is drawn when asked for.

    Args:
        width: Of the picture [px].
        height: Likewise.
        scene: The layers of the scene, the last on top.
        panel: The controls, which cover what is below them; the same object as in the frame before
            if they look the same. None where there are none in the picture.
        notices: What lies over all of it.
    """

    width: int
    height: int
    scene: tuple[Layer, ...]
    panel: Layer | None
    notices: Layer

    def image(self) -> Bytes:
        """Return the picture, shape (height, width, 3), row 0 at the top; for reading only."""
        return self._image

    @cached_property
    def _image(self) -> Bytes:
        return Easel().image(self)


class Easel:
    """Where frames are drawn one after the other; the panel only when it looks different."""

    def __init__(self) -> None:
        self._panel: Layer | None = None
        self._strip: npt.NDArray[np.uint32] | None = None  # its pixels

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
        """Return a picture, without its scene if that cannot be drawn, and why it cannot."""
        try:
            return self.image(frame), None
        except Exception as error:
            traceback.print_exc()
            return self.image(replace(frame, scene=())), f"{type(error).__name__}: {error}"


def _bare(one: Primitive) -> Primitive:
    match one:
        case Image() | Markers() | Circles() | Mesh() if one.source is not None:
            return replace(one, source=None)
        case _:
            return one
