"""Shapes from users' fields and arrays, permanent ones and those of a single frame."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difftile.diagnostics import ViewerError
from difftile.viewer.conversions import (
    Colour,
    Data,
    as_bytes,
    as_colours,
    as_floats,
    as_positions,
    mapped,
    source_of,
)
from difftile.viewer.primitives import (
    Arrows,
    Box,
    Circles,
    Image,
    Ints,
    Lines,
    Markers,
    Mesh,
    Primitive,
    Text,
)


class Canvas:
    """A collection of shapes.

    A shape that is added while a frame is drawn belongs to that frame. A shape that is added before
    is permanent, and is made from the current contents of its fields for each frame.

    Args:
        view: The part of the plane that is shown at first: left, bottom, right, top; y is up.
    """

    def __init__(self, view: Box) -> None:
        self.view = view
        self._permanent: list[Callable[[], Primitive]] = []
        self._frame: list[Primitive] | None = None

    def begin(self) -> list[Primitive]:
        """Begin a frame with the permanent shapes; the list grows as the frame is drawn."""
        self._frame = [make() for make in self._permanent]
        return self._frame

    def end(self) -> None:
        """End a frame: shapes that are added from now on are permanent."""
        self._frame = None

    def _add(self, make: Callable[[], Primitive]) -> None:
        if self._frame is None:
            self._permanent.append(make)
        else:
            self._frame.append(make())

    def image(
        self,
        values: Data,
        *,
        low: float | None = None,
        high: float | None = None,
        colours: str = "viridis",
        box: Box | None = None,
        smooth: bool = False,
    ) -> None:
        """Show an image.

        Args:
            values: Field or array of colours, shape (h, w, 3), floats from 0 to 1 or bytes,
                or of numbers, shape (h, w), shown in a colour map. Row 0 is at the top.
            low: The number that gets the first colour; None for the least value.
            high: The number that gets the last colour; None for the greatest value.
            colours: A colour map of matplotlib.
            box: The position; None for the largest box with the same proportions in the view.
            smooth: Interpolate between pixels.
        """

        def make() -> Image:
            array = np.asarray(values)
            if array.ndim == 3 and array.shape[2] == 1:
                array = array[..., 0]
            if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
                raise ViewerError(
                    f"an image has the shape (h, w), (h, w, 3) or (h, w, 4), not {array.shape}"
                )
            if array.size == 0:
                raise ViewerError(f"an image of the shape {array.shape} has no pixels")
            if array.ndim == 2 and array.dtype != np.uint8:
                pixels = mapped(array, low, high, colours)
            else:
                pixels = as_bytes(array)
                pixels = np.repeat(pixels[..., None], 3, 2) if array.ndim == 2 else pixels[..., :3]
            place = box
            if place is None:
                left, bottom, right, top = self.view
                rows, columns = pixels.shape[:2]
                scale = min((right - left) / columns, (top - bottom) / rows) / 2
                x, y = (left + right) / 2, (bottom + top) / 2
                wide, high_ = scale * columns, scale * rows
                place = (x - wide, y - high_, x + wide, y + high_)
            return Image(pixels, place, smooth, source_of(values))

        self._add(make)

    def points(self, positions: Data, *, colour: Colour = "#4db6ac", radius: float = 2.5) -> None:
        """Show points.

        Args:
            positions: Field of vectors, or array, shape (n, 2) or (n, 3).
            colour: A name, "#rrggbb", three numbers from 0 to 1, one such triple each, or one
                number each, shown in a colour map.
            radius: On the screen [px].
        """

        def make() -> Markers:
            places = as_positions(positions)
            return Markers(places, as_colours(colour, len(places)), radius, source_of(positions))

        self._add(make)

    def circles(
        self, centers: Data, radii: Data, *, colour: Colour = "#4db6ac", outline: float = 0.0
    ) -> None:
        """Show discs, or rings.

        Args:
            centers: Positions as for `points`.
            radii: One for all or one each, in the units of the centers.
            colour: As for `points`.
            outline: The width of the rings [px]; 0 for discs.
        """

        def make() -> Circles:
            places, each = as_positions(centers), as_floats(radii).reshape(-1)
            if len(each) not in (1, len(places)):
                raise ViewerError(f"{len(each)} radii do not fit {len(places)} circles")
            each = np.broadcast_to(each, len(places))
            return Circles(
                places, each, as_colours(colour, len(places)), outline, source_of(centers)
            )

        self._add(make)

    def lines(
        self,
        begins: Data,
        ends: Data | None = None,
        *,
        edges: Data | None = None,
        colour: Colour = "#98a2ae",
        width: float = 1.5,
    ) -> None:
        """Show segments.

        Args:
            begins: Positions as for `points`.
            ends: The end of each. Without ends and edges, lines join consecutive positions.
            edges: Pairs of indices, shape (m, 2); each pair joins two of the positions.
            colour: As for `points`.
            width: On the screen [px].
        """

        def make() -> Lines:
            places = as_positions(begins)
            if ends is not None:
                first, last = places, as_positions(ends)
            elif edges is not None:
                pairs = np.asarray(edges).reshape(-1, 2).astype(np.intp)
                first, last = places[pairs[:, 0]], places[pairs[:, 1]]
            else:
                first, last = places[:-1], places[1:]
            if first.shape != last.shape:
                raise ViewerError(f"lines begin at {len(first)} positions and end at {len(last)}")
            return Lines(first, last, as_colours(colour, len(first)), width)

        self._add(make)

    def arrows(
        self,
        begins: Data,
        vectors: Data,
        *,
        scale: float = 1.0,
        colour: Colour = "#f2a65a",
        width: float = 1.5,
    ) -> None:
        """Show arrows.

        Args:
            begins: Positions as for `points`.
            vectors: From begin to tip, before scaling.
            scale: A factor of the vectors.
            colour: As for `points`.
            width: Of the shafts on the screen [px].
        """

        def make() -> Arrows:
            places, ways = as_positions(begins), as_positions(vectors) * np.float32(scale)
            if places.shape != ways.shape:
                raise ViewerError(
                    f"arrows begin at {len(places)} positions and have {len(ways)} vectors"
                )
            return Arrows(places, ways, as_colours(colour, len(places)), width)

        self._add(make)

    def mesh(self, vertices: Data, faces: Data, *, colour: Colour = "#7aa6f0") -> None:
        """Show triangles, shaded by their angle to the eye.

        Args:
            vertices: Positions as for `points`.
            faces: Three indices each, shape (m, 3).
            colour: As for `points`, one for all or one per face.
        """

        def make() -> Mesh:
            corners: Ints = np.asarray(faces).reshape(-1, 3).astype(np.int32)
            places, colours = as_positions(vertices), as_colours(colour, len(corners))
            if corners.size and not 0 <= corners.min() <= corners.max() < len(places):
                raise ViewerError(
                    f"faces of {len(places)} vertices have indices from 0 to {len(places) - 1}, "
                    f"not from {corners.min()} to {corners.max()}"
                )
            return Mesh(places, corners, colours, source_of(vertices))

        self._add(make)

    def text(self, at: Data, words: str, *, colour: Colour = "#e6e9ed", size: float = 13.0) -> None:
        """Show text.

        Args:
            at: The upper left corner, two or three numbers.
            words: The text.
            colour: As for `points`.
            size: Of the letters [px].
        """
        self._add(
            lambda: Text(as_positions(at)[0], words, as_colours(colour, 1).reshape(-1, 3)[0], size)
        )
