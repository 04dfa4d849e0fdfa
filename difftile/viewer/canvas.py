"""What an app shows: shapes of one frame, and those that stand in every frame."""

from __future__ import annotations

from collections.abc import Callable

from difftile.viewer import conversions
from difftile.viewer.conversions import Colour, Data
from difftile.viewer.primitives import Box, Image, Primitive


class Canvas:
    """Collects shapes.

    A shape that is added while a frame is drawn belongs to that frame. One that is added before
    stands in all of them, and is made anew from its fields for each.

    Args:
        view: The part of the plane that is shown at first: left, bottom, right, top; y is up.
    """

    def __init__(self, view: Box) -> None:
        self.view = view
        self._standing: list[Callable[[], Primitive]] = []
        self._frame: list[Primitive] | None = None

    def begin(self) -> list[Primitive]:
        """Begin a frame with the shapes that stand; the list grows as the frame is drawn."""
        self._frame = [make() for make in self._standing]
        return self._frame

    def end(self) -> None:
        """End a frame: what is added from now on stands."""
        self._frame = None

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
                or of numbers, shape (h, w), which a colour map shows. Row 0 is at the top.
            low: The number that gets the first colour; None for the least there is.
            high: The number that gets the last colour; None for the greatest.
            colours: A colour map of matplotlib.
            box: Where it lies; None for the largest box of its proportions in the view.
            smooth: Interpolate between pixels.
        """
        self._add(
            lambda: self._boxed(
                conversions.image(
                    values, low=low, high=high, colours=colours, box=box, smooth=smooth
                )
            )
        )

    def points(self, positions: Data, *, colour: Colour = "#4db6ac", radius: float = 2.5) -> None:
        """Show points.

        Args:
            positions: Field of vectors, or array, shape (n, 2) or (n, 3).
            colour: A name, "#rrggbb", three numbers from 0 to 1, one such triple each, or a number
                each, which a colour map shows.
            radius: On the screen [px].
        """
        self._add(lambda: conversions.points(positions, colour=colour, radius=radius))

    def circles(
        self, centers: Data, radii: Data, *, colour: Colour = "#4db6ac", outline: float = 0.0
    ) -> None:
        """Show discs, or rings.

        Args:
            centers: As for `points`.
            radii: One for all or one each, in the units of the centers.
            colour: As for `points`.
            outline: The width of the rings [px]; 0 for discs.
        """
        self._add(lambda: conversions.circles(centers, radii, colour=colour, outline=outline))

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
            begins: As for `points`.
            ends: Where each ends. With neither ends nor edges, a line goes from each to the next.
            edges: Pairs of indices, shape (m, 2): each joins two of the positions.
            colour: As for `points`.
            width: On the screen [px].
        """
        self._add(lambda: conversions.lines(begins, ends, edges=edges, colour=colour, width=width))

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
            begins: As for `points`.
            vectors: From begin to tip, before scaling.
            scale: What the vectors are multiplied by.
            colour: As for `points`.
            width: Of the shafts on the screen [px].
        """
        self._add(
            lambda: conversions.arrows(begins, vectors, scale=scale, colour=colour, width=width)
        )

    def mesh(self, vertices: Data, faces: Data, *, colour: Colour = "#7aa6f0") -> None:
        """Show triangles, shaded by how they face the eye.

        Args:
            vertices: As `positions` of `points`.
            faces: Three indices each, shape (m, 3).
            colour: As for `points`, one for all or one a face.
        """
        self._add(lambda: conversions.mesh(vertices, faces, colour=colour))

    def text(self, at: Data, words: str, *, colour: Colour = "#e6e9ed", size: float = 13.0) -> None:
        """Show text.

        Args:
            at: Its left upper corner, two or three numbers.
            words: What it says.
            colour: As for `points`.
            size: Of the letters [px].
        """
        self._add(lambda: conversions.text(at, words, colour=colour, size=size))

    def _add(self, make: Callable[[], Primitive]) -> None:
        if self._frame is None:
            self._standing.append(make)
        else:
            self._frame.append(make())

    def _boxed(self, image: Image) -> Image:
        """Give an image without a box the largest one of its proportions in the view."""
        if image.box is not None:
            return image
        left, bottom, right, top = self.view
        rows, columns = image.pixels.shape[:2]
        scale = min((right - left) / columns, (top - bottom) / rows) / 2
        x, y = (left + right) / 2, (bottom + top) / 2
        box = (x - scale * columns, y - scale * rows, x + scale * columns, y + scale * rows)
        return Image(image.pixels, box, image.smooth, image.source)
