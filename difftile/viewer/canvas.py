"""Shapes from users' fields and arrays: permanent ones, and shapes for a single frame."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from difftile.diagnostics import ViewerError
from difftile.tracebacks import boundaries
from difftile.viewer.checks import (
    as_array,
    as_box,
    as_indices,
    as_number,
    as_size,
    calling_line,
)
from difftile.viewer.conversions import (
    Colour,
    ColourMap,
    Data,
    as_bytes,
    as_colours,
    as_floats,
    as_positions,
    colour_table,
    mapped,
    refuse_large_integers,
    source_of,
)
from difftile.viewer.primitives import (
    Arrows,
    Box,
    Circles,
    Facets,
    Image,
    Lines,
    Markers,
    Primitive,
    Text,
)


@boundaries("image", "points", "lines", "circles", "arrows", "mesh", "text")
class Canvas:
    """A collection of shapes.

    A shape that is added while a frame is drawn belongs to that frame. A shape that is added before
    is permanent, and is made from the current contents of its fields for each frame. Either way,
    arguments that no shape can be made from raise `ViewerError` at the call.

    Args:
        view: The part of the plane that is shown at first: left, bottom, right, top; y is up.
    """

    def __init__(self, view: Box) -> None:
        self.view = view
        self._permanent: list[tuple[Callable[[], Primitive], str]] = []
        self._frame: list[Primitive] | None = None

    def begin(self) -> list[Primitive]:
        """Begin a frame; return the list of its shapes, which grows as the frame is drawn."""
        self._frame = []
        return self._frame

    def add_permanent(self) -> None:
        """Add the permanent shapes to the frame.

        Raises:
            ViewerError: A shape cannot be made from its fields any more.
        """
        assert self._frame is not None
        for make, line in self._permanent:
            try:
                self._frame.append(make())
            except ViewerError as error:
                raise ViewerError(f"{error}; the shape is added at {line}") from None

    def end(self) -> None:
        """End a frame: shapes that are added from now on are permanent."""
        self._frame = None

    def _add(self, make: Callable[[], Primitive]) -> None:
        made = make()  # also if it is permanent: an error belongs to the line that has caused it
        if self._frame is None:
            self._permanent.append((make, calling_line()))
        else:
            self._frame.append(made)

    def image(
        self,
        values: Data,
        *,
        low: float | None = None,
        high: float | None = None,
        colours: ColourMap = "viridis",
        box: Box | None = None,
        smooth: bool = False,
    ) -> None:
        """Show an image.

        Args:
            values: Field or array of colours, shape (h, w, 3), floats from 0 to 1 or bytes,
                or of numbers, shape (h, w), shown in a colour map. Row 0 is at the top.
            low: The number that gets the first colour; None for the least value.
            high: The number that gets the last colour; None for the greatest value.
            colours: A colour map of matplotlib, or the name of one.
            box: The position: left, bottom, right, top; None for the largest box with the same
                proportions in the view.
            smooth: Interpolate between pixels.

        Raises:
            ViewerError: The values are not an image, or another argument is invalid.
        """
        least = None if low is None else as_number(low, "low")
        most = None if high is None else as_number(high, "high")
        if least is not None and most is not None and least > most:
            raise ViewerError(f"low is at most high, not {least:g} and {most:g}")
        table = colour_table(colours)
        given = None if box is None else as_box(box, "box")

        def make() -> Image:
            array = as_array(values, "pixels")
            if array.ndim == 3 and array.shape[2] == 1:
                array = array[..., 0]
            if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)):
                raise ViewerError(
                    f"an image has the shape (h, w), (h, w, 3) or (h, w, 4), not {array.shape}"
                )
            if array.size == 0:
                raise ViewerError(f"an image of the shape {array.shape} has no pixels")
            if array.ndim == 2 and array.dtype != np.uint8:
                pixels = mapped(array, least, most, table)
            else:
                refuse_large_integers(array, "pixels")
                pixels = as_bytes(array)
                pixels = np.repeat(pixels[..., None], 3, 2) if array.ndim == 2 else pixels[..., :3]
            place = given
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

        Raises:
            ViewerError: An argument is invalid, or the numbers of elements do not fit.
        """
        size = as_size(radius, "radius")

        def make() -> Markers:
            places = as_positions(positions)
            return Markers(places, as_colours(colour, len(places)), size, source_of(positions))

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

        Raises:
            ViewerError: An argument is invalid, or the numbers of elements do not fit.
        """
        rim = as_size(outline, "outline")

        def make() -> Circles:
            places, each = as_positions(centers), as_floats(radii, "radii").reshape(-1)
            if len(each) not in (1, len(places)):
                raise ViewerError(f"{len(each)} radii do not fit {len(places)} circles")
            each = np.broadcast_to(each, len(places))
            return Circles(places, each, as_colours(colour, len(places)), rim, source_of(centers))

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

        Raises:
            ViewerError: An argument is invalid, or the numbers of elements do not fit.
        """
        thickness = as_size(width, "width")
        if ends is not None and edges is not None:
            raise ViewerError("lines take either ends or edges")

        def make() -> Lines:
            places = as_positions(begins)
            if ends is not None:
                first, last = places, as_positions(ends)
            elif edges is not None:
                pairs = as_indices(edges, 2, len(places), "edges", "positions")
                first, last = places[pairs[:, 0]], places[pairs[:, 1]]
            else:
                first, last = places[:-1], places[1:]
            if first.shape != last.shape:
                raise ViewerError(
                    f"lines begin at positions of the shape {first.shape} and end at {last.shape}"
                )
            return Lines(first, last, as_colours(colour, len(first)), thickness)

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

        Raises:
            ViewerError: An argument is invalid, or the numbers of elements do not fit.
        """
        factor, thickness = as_number(scale, "scale"), as_size(width, "width")

        def make() -> Arrows:
            places, ways = as_positions(begins), as_positions(vectors) * np.float32(factor)
            if places.shape != ways.shape:
                raise ViewerError(
                    f"arrows begin at positions of the shape {places.shape} and have vectors of "
                    f"the shape {ways.shape}"
                )
            return Arrows(places, ways, as_colours(colour, len(places)), thickness)

        self._add(make)

    def mesh(self, vertices: Data, faces: Data, *, colour: Colour = "#7aa6f0") -> None:
        """Show triangles, shaded by their angle to the eye.

        Args:
            vertices: Positions as for `points`.
            faces: Three indices each, shape (m, 3).
            colour: As for `points`, one for all or one per face.

        Raises:
            ViewerError: An argument is invalid, or the numbers of elements do not fit.
        """

        def make() -> Facets:
            places = as_positions(vertices)
            corners = as_indices(faces, 3, len(places), "faces", "vertices")
            return Facets(places, corners, as_colours(colour, len(corners)), source_of(vertices))

        self._add(make)

    def text(
        self, at: Data, words: object, *, colour: Colour = "#e6e9ed", size: float = 13.0
    ) -> None:
        """Show text.

        Args:
            at: The upper left corner, two or three numbers.
            words: The text, or an object that `str` turns into text.
            colour: As for `points`.
            size: Of the letters [px].

        Raises:
            ViewerError: `at` is not one position, or another argument is invalid.
        """
        letters = as_size(size, "size", zero=False)

        def make() -> Text:
            places = as_positions(at)
            if len(places) != 1:
                raise ViewerError(f"text stands at one position, not at {len(places)}")
            return Text(places[0], str(words), as_colours(colour, 1).reshape(-1, 3)[0], letters)

        self._add(make)
