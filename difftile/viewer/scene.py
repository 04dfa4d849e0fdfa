"""The scene: shapes in the plane and in space, their cameras, and handles."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from difftile.viewer.boxes import text_box
from difftile.viewer.events import Event, KeyDown, KeyUp, MouseDown, MouseMove, MouseUp, Scroll
from difftile.viewer.frame import Layer
from difftile.viewer.handle import Handle
from difftile.viewer.orbit import Orbit, View
from difftile.viewer.overlay import Overlay, overlay
from difftile.viewer.perspective import OrbitMouse, Perspective, corners
from difftile.viewer.picking import pick
from difftile.viewer.primitives import (
    Arrows,
    Backdrop,
    Box,
    Circles,
    Facets,
    Floats,
    Lines,
    Markers,
    Primitive,
    Text,
)
from difftile.viewer.screen import Area, Pixels, PlaneBox, Projection
from difftile.viewer.surface import text_width
from difftile.viewer.theme import INK

_MESSAGE = 170.0  # width of a short message, which a legend next to it leaves free [px]
_ENOUGH = 320.0  # width of a legend that may cover messages [px]
_NOTCH = 0.85  # factor of the size of the view for one notch of the wheel
_LEAST = 1e-6  # smallest size of the view, in sizes of the first one
_MOST = 1e6  # farthest distance from the first view, in its sizes


@dataclass(slots=True)
class Mouse:
    """The mouse over the scene, for steps and drawing to read.

    Attributes:
        at: Its position in the plane, x and y; None if it is not over the scene.
        down: Whether the left button is held there, and moves neither a handle nor the camera.
        clicks: The positions of such presses since the last picture, for drawing.
    """

    at: tuple[float, float] | None = None
    down: bool = False
    clicks: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])


class Scene:
    """The part of the picture to the left of the panel.

    Attributes:
        area: Its area on the screen.
        handles: Points that can be dragged.
        mouse: The mouse.
        orbit: The camera of shapes in space.
        gradients: Whether gradients are drawn over their fields.
    """

    def __init__(self, area: Area, view: Box) -> None:
        self.area = area
        self.handles: list[Handle] = []
        self.mouse = Mouse()
        self.orbit = Orbit()
        self.gradients = False
        self._home = self._view = view
        self._looked: Orbit | None = None  # the camera that `frame` returns to
        self._around: Floats | None = None  # positions to look at instead of all shapes
        self._orbiting = OrbitMouse()
        self._framed = False  # whether the camera has been framed
        self._held: Handle | None = None
        self._panned_from: tuple[float, float] | None = None
        self._at: tuple[float, float] | None = None
        self._shown: list[Primitive] = []

    @property
    def holding(self) -> bool:
        """Whether the scene holds the mouse."""
        return self._held is not None or self._orbiting.dragging or self._panned_from is not None

    def look(self, orbit: Orbit, around: Floats | None = None, *, fixed: bool) -> None:
        """Set the camera of shapes in space for the next picture and for `frame`.

        Args:
            orbit: The camera.
            around: Positions to look at from its direction, shape (n, 3); None for all shapes.
            fixed: Take the camera as it is instead.
        """
        self.orbit, self._around, self._framed = orbit, around, False
        self._looked = orbit if fixed else None

    def frame(self) -> None:
        """Look at everything: at the first view of the plane, and in space as `look` has set."""
        self._view = self._home
        if self._looked is not None:
            self.orbit = self._looked
            return
        spatial = (one for one in self._shown if is_spatial(one))
        around = corners(spatial) if self._around is None else self._around
        self.orbit = self.orbit.framed(around, self.area.width / self.area.height)

    def seen(self, shown: list[Primitive], scale: float) -> View:
        """Return the view of space in a picture with some shapes; `scale` multiplies its pixels."""
        self._meet(shown, spatial=True)
        width, height = round(self.area.width * scale), round(self.area.height * scale)
        return self.orbit.view(max(width, 1), max(height, 1))

    def take(self, event: Event) -> None:
        """Handle an event that the panel does not use."""
        match event:
            case MouseDown("left", x, y) if (handle := self._handle_at(x, y)) is not None:
                self._held = handle
                return
            case MouseMove(x, y):
                self._at = (x, y) if self.area.holds(x, y) else None
                if self._held is not None:
                    self._held.move(self._projection(self._held.spatial), x, y)
            case MouseUp():
                self._held = self._panned_from = None
                self.mouse.down = False
            case _:
                pass
        if self._spatial(self._shown):
            self.orbit = self._orbiting.moved(event, self.orbit, self.area)
        elif isinstance(event, KeyDown | KeyUp):
            self._orbiting.moved(event, self.orbit, self.area)  # which keeps track of shift
        else:
            self._move_flat(event)
        if self._at is None:
            self.mouse.at = None
        else:
            x, y = self._projection(False).unproject(*self._at).tolist()
            self.mouse.at = (x, y)

    def layers(self, shown: list[Primitive]) -> Iterator[Layer]:
        """Yield shapes, their gradients, handles and the value under the mouse, bottom first."""
        self._meet(shown, self._spatial(shown))
        self.mouse.clicks.clear()
        found = overlay(shown) if self.gradients else Overlay(shown, [], "")
        for spatial, these in groupby(found.shapes, is_spatial):
            yield Layer.of(self._projection(spatial), these)
        handles = (one for h in self.handles for one in h.draw(h is self._held))
        for spatial, these in groupby([*found.over, *handles], is_spatial):
            yield Layer.of(self._projection(spatial, over=True), these)
        if found.said:
            room = min(self.area.width - 40, max(self.area.width - _MESSAGE, _ENOUGH))
            across = int(room / text_width("m", 12.0, fixed=True))
            lines = (textwrap.fill(line, across) for line in found.said.split("\n"))
            right, bottom = self.area.left + self.area.width, self.area.top + self.area.height
            corner = label("\n".join(lines), right, bottom, self.area)  # titles are at the top
            yield Layer.of(Pixels(self.area), corner)
        if self._at is not None and not self.holding:
            yield Layer.of(Pixels(self.area), self._picked(*self._at))

    def _picked(self, x: float, y: float) -> Iterable[Primitive]:
        """Return a label with the value under the mouse."""
        for spatial in (True, False):
            projection = self._projection(spatial)
            these = [one for one in self._shown if is_spatial(one) == spatial]
            found = pick(these, projection, x, y)
            if found is not None:
                place = np.array([found.at], np.float32)
                ring = Circles(place, np.array([6.0], np.float32), INK, outline=1.5)
                return [ring, *label(str(found), x, y, self.area)]
        return []

    def _move_flat(self, event: Event) -> None:
        flat = PlaneBox(self.area, self._view)
        match event:
            case MouseDown("left", x, y) if self.area.holds(x, y):
                self.mouse.down = True
                at = flat.unproject(x, y).tolist()
                self.mouse.clicks.append((at[0], at[1]))
            case MouseDown(_, x, y) if self.area.holds(x, y):
                self._panned_from = (x, y)
            case MouseMove(x, y) if self._panned_from is not None:
                before, after = flat.unproject(*self._panned_from), flat.unproject(x, y)
                self._panned_from = (x, y)
                self._view = self._within(_around(self._view, after, before, 1.0))
            case Scroll(amount, x, y) if self.area.holds(x, y):
                width = self._home[2] - self._home[0]
                least = _LEAST * width / (self._view[2] - self._view[0])
                place = flat.unproject(x, y)
                factor = max(_NOTCH**amount, least)
                self._view = self._within(_around(self._view, place, place, factor))
            case _:
                pass

    def _within(self, view: Box) -> Box:
        """Return a view, or the current one if the new one is too far away to be exact."""
        reach = _MOST * (self._home[2] - self._home[0])
        far = any(abs(now - home) > reach for now, home in zip(view, self._home, strict=True))
        return self._view if far else view

    def _handle_at(self, x: float, y: float) -> Handle | None:
        if not self.area.holds(x, y):
            return None
        near = (
            handle
            for handle in reversed(self.handles)
            if handle.near(self._projection(handle.spatial), x, y)
        )
        return next(near, None)

    def _meet(self, shown: list[Primitive], spatial: bool) -> None:
        """Take the shapes of a picture; frame the camera when the first shapes in space appear."""
        self._shown = shown
        if spatial and not self._framed:
            self._framed = True
            self.frame()

    def _spatial(self, shown: list[Primitive]) -> bool:
        """Return whether anything is in space, so that the mouse moves the camera."""
        return any(is_spatial(one) for one in shown) or any(h.spatial for h in self.handles)

    def _projection(self, spatial: bool, *, over: bool = False) -> Projection:
        if spatial:
            return Perspective(self.area, self.orbit, over)
        return PlaneBox(self.area, self._view)


def is_spatial(one: Primitive) -> bool:
    """Return whether a shape is in space."""
    match one:
        case Markers(positions=places) | Circles(centers=places) | Facets(vertices=places):
            return places.shape[1] == 3
        case Lines(begins=places) | Arrows(begins=places):
            return places.shape[1] == 3
        case Text(at=at):
            return len(at) == 3
        case _:
            return isinstance(one, Backdrop)


def label(words: str, x: float, y: float, area: Area) -> Iterable[Primitive]:
    """Return text in a box next to a pixel, inside an area."""

    def place(width: float, height: float) -> tuple[float, float]:
        left = x + 14 if x + 14 + width <= area.left + area.width else x - 14 - width
        top = y + 14 if y + 14 + height <= area.top + area.height else y - 14 - height
        return max(left, area.left), max(top, area.top)

    return text_box(words, place, (6.0, 4.0))


def _around(view: Box, old: Floats, new: Floats, factor: float) -> Box:
    """Return a view scaled by `factor` around `old`, and moved from `old` to `new`."""
    left, bottom, right, top = view
    (x, y), (u, v) = old.tolist(), new.tolist()
    return (
        u + factor * (left - x),
        v + factor * (bottom - y),
        u + factor * (right - x),
        v + factor * (top - y),
    )
