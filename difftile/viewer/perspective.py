"""The projection of positions in space by an orbit camera, and its control by the mouse."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.viewer.events import Event, KeyDown, KeyUp, MouseDown, MouseMove, MouseUp, Scroll
from difftile.viewer.orbit import Orbit, cut_segments, cut_triangles
from difftile.viewer.primitives import (
    Arrows,
    Bytes,
    Circles,
    Facets,
    Floats,
    Lines,
    Markers,
    Primitive,
)
from difftile.viewer.screen import Area

_NOTCH = 0.85  # factor of the distance for one notch of the wheel
_AMBIENT = 0.35  # brightness of a face at a grazing angle


@dataclass(frozen=True)
class Perspective:
    """The `Projection` of an orbit camera: positions of three components, a depth for each.

    Depths are along the axis of view [scene units], not distances from the eye.

    Args:
        area: The area of its picture on the screen.
        orbit: The camera.
        over: Draw on top of all other shapes, regardless of depth.
    """

    area: Area
    orbit: Orbit
    over: bool = False

    def project(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """See `Projection`."""
        seen = self.orbit.to_camera(positions.astype(np.float32, copy=False))
        pixels = self.orbit.to_pixels(seen, self.area.width, self.area.height)
        pixels += np.array([self.area.left, self.area.top], np.float32)
        depth = np.ascontiguousarray(seen[:, 2])
        scale: Floats = np.maximum(depth, self.orbit.near).astype(np.float32, copy=False)
        scale = np.where(depth < self.orbit.near, np.float32(0), np.float32(self.focal) / scale)
        return pixels, depth, scale

    def unproject(self, x: float, y: float, depth: float = 0.0) -> Floats:
        """See `Projection`; a depth of 0 means the depth of the target."""
        x, y = x - self.area.left, y - self.area.top
        depth = depth or self.orbit.distance
        place = self.orbit.unproject(x, y, depth, self.area.width, self.area.height)
        return place.astype(np.float32)

    def cut(self, lines: Lines) -> Lines:
        """Clip segments that reach behind the eye, where an end has no pixel."""
        ends = np.stack([lines.begins, lines.ends], axis=1).astype(np.float64)
        seen = self.orbit.to_camera(ends).reshape(-1, 2, 3)
        if (seen[:, :, 2] >= self.orbit.near).all():
            return lines
        # Slightly beyond `near`, which rounding to single precision might fall below.
        cut, kept = cut_segments(seen, 1.01 * self.orbit.near)
        world = (cut @ self.orbit.axes() + self.orbit.eye()).astype(np.float32)
        colours = lines.colours[kept] if lines.colours.ndim == 2 else lines.colours
        return Lines(world[:, 0], world[:, 1], colours, lines.width)

    def faces(self, mesh: Facets) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
        """Return the faces of a mesh on the screen, clipped behind the eye.

        Returns:
            The pixels of the corners, shape (m, 3, 2); the pixels per unit of length there,
            shape (m, 3); and the indices of the faces, shape (m,).
        """
        pixels, depth, scale = self.project(mesh.vertices)
        if (depth >= self.orbit.near).all():
            return pixels[mesh.faces], scale[mesh.faces], np.arange(len(mesh.faces))
        seen = self.orbit.to_camera(mesh.vertices.astype(np.float64))
        cut, kept = cut_triangles(seen[mesh.faces], self.orbit.near)
        flat = cut.reshape(-1, 3)
        pixels = self.orbit.to_pixels(flat, self.area.width, self.area.height)
        pixels += (self.area.left, self.area.top)
        scale = (self.focal / cut[:, :, 2]).astype(np.float32)
        return pixels.reshape(-1, 3, 2).astype(np.float32), scale, kept

    def nearness(self, scale: Floats, thickness: float = 0.0) -> Floats | None:
        """Return the nearness of shapes, see `Fragments`; None if they are never hidden.

        Points and lines have an extent only on the screen. They count as nearer by their thickness
        there, so that points on a face remain visible even at a grazing angle.

        Args:
            scale: Pixels per unit of length.
            thickness: Of the shapes on the screen [px].
        """
        return None if self.over else self.lifted(scale, thickness)

    def lifted(self, scale: Floats, thickness: float) -> Floats:
        """Return the nearness of shapes of a thickness [px]; see `nearness`."""
        return scale * np.float32(1.0 / max(1.0 - thickness / self.focal, 0.5))

    def shade(self, mesh: Facets) -> Bytes:
        """Return the colours of faces lit from the eye, shape (m, 3).

        Lambert's law on both sides plus an ambient part; a face without area gets only the latter.
        """
        # Each corner has shape (3, m): products along axes of three take several times as long.
        first, second, third = np.take(
            mesh.vertices.T.astype(np.float64), mesh.faces.T, 1
        ).swapaxes(0, 1)
        (ax, ay, az), (bx, by, bz) = second - first, third - first
        normals = np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
        sight = (first + second + third) / 3.0 - self.orbit.eye()[:, np.newaxis]
        lengths = np.sqrt((normals**2).sum(axis=0) * (sight**2).sum(axis=0))
        cosines = np.abs((normals * sight).sum(axis=0)) / np.where(lengths > 0, lengths, 1.0)
        light = _AMBIENT + (1.0 - _AMBIENT) * cosines
        light = np.nan_to_num(light)  # of faces whose corners are not finite, which are not drawn
        return (mesh.colours * light[:, np.newaxis]).astype(np.uint8)

    @property
    def focal(self) -> float:
        """Pixels per unit of length at a depth of 1."""
        return float(self.orbit.intrinsics(self.area.width, self.area.height)[1])


class OrbitMouse:
    """The control of an orbit camera by the mouse.

    The left button rotates; the right or middle button, or the left one with shift, pans; the wheel
    zooms towards the mouse.
    """

    def __init__(self) -> None:
        self._held: str | None = None
        self._at = (0.0, 0.0)
        self._shift = False

    @property
    def dragging(self) -> bool:
        """Whether a drag is going on."""
        return self._held is not None

    def moved(self, event: Event, orbit: Orbit, area: Area) -> Orbit:
        """Return the camera of an area after an event; the same one if the event is irrelevant."""
        match event:
            case MouseDown(button, x, y) if self._held is None and area.holds(x, y):
                pans = button != "left" or self._shift
                self._held, self._at = "pan" if pans else "turn", (x, y)
            case MouseUp():
                self._held = None
            case MouseMove(x, y) if self._held is not None:
                right, down = ((x - self._at[0]) / area.height, (y - self._at[1]) / area.height)
                self._at = (x, y)
                pans = self._held == "pan"
                return orbit.panned(right, down) if pans else orbit.rotated(right, down)
            case Scroll(amount, x, y) if area.holds(x, y):
                middle_x, middle_y = area.center
                right, down = (x - middle_x) / area.height, (y - middle_y) / area.height
                return orbit.zoomed(_NOTCH**amount, right, down)
            case KeyDown("shift"):
                self._shift = True
            case KeyUp("shift"):
                self._shift = False
            case _:
                pass
        return orbit


def corners(primitives: Iterable[Primitive]) -> Floats:
    """Return positions around all shapes in space, shape (n, 3), for `Orbit.framed`."""
    found: list[Floats] = [np.empty((0, 3), np.float32)]
    for one in primitives:
        match one:
            case Markers():
                found.append(one.positions)
            case Lines():
                found += [one.begins, one.ends]
            case Arrows():
                found += [one.begins, one.begins + one.vectors]
            case Facets():
                found.append(one.vertices)
            case Circles():
                reach = one.radii[:, None]
                found += [one.centers - reach, one.centers + reach]
            case _:
                pass
    return np.concatenate([places for places in found if places.shape[1] == 3])
