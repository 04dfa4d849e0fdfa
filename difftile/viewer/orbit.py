"""A camera that orbits a point: rotate, pan, zoom, frame, and where points are in the picture.

Its frame is that of `dt.render.Cameras` and of OpenCV: +x to the right, +y down, +z away from the
eye, pixels counted from the upper left corner. So points, meshes and splats share one camera:
`dt.render.Cameras(orbit.world_to_camera(), orbit.intrinsics(width, height), width, height)`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import ViewerError

Floats = npt.NDArray[np.float64]
Vec3 = tuple[float, float, float]

_TURN = math.pi  # what a drag over the height of the picture rotates by [rad]
_STEEPEST = math.radians(89.0)  # beyond, up would change sides and the picture jump
_NEAREST = 1e-3  # of the distance: what is nearer to the eye than this part of it is not seen
_LEAST, _MOST = 1e-6, 1e9  # bounds of the distance, so that a long scroll keeps numbers finite
_ROOM = 1.1  # how much larger than what is framed the picture is


@dataclass(frozen=True, slots=True)
class View:
    """What a picture of the scene in space shows, for those that render one themselves.

    Its camera is
    `dt.render.Cameras(view.world_to_camera, view.intrinsics, view.width, view.height)`.

    Attributes:
        world_to_camera: The motion from the world to the frame of the camera, shape (4, 4): +x to
            the right, +y down, +z away from the eye.
        intrinsics: Focal lengths and centre fx, fy, cx, cy [pixels], shape (4,).
        width: Of the picture [pixels].
        height: Likewise.
        near: The depth from which on things are seen [scene units].
    """

    world_to_camera: Floats
    intrinsics: Floats
    width: int
    height: int
    near: float


@dataclass(frozen=True, slots=True)
class Orbit:
    """A perspective camera that looks at a target. Every change is a new camera.

    Attributes:
        target: What it looks at, and turns around [scene units].
        distance: From the eye to the target [scene units].
        yaw: Turn around `up` [rad]; at 0 with y up, the eye is on the +z side of the target.
        pitch: How far above the target the eye is [rad], within 89 degrees.
        fov: The angle that the height of the picture covers [rad].
        up: The direction that is up in the picture; any length but 0.
    """

    target: Vec3 = (0.0, 0.0, 0.0)
    distance: float = 3.0
    yaw: float = 0.6
    pitch: float = 0.4
    fov: float = math.radians(45.0)
    up: Vec3 = (0.0, 1.0, 0.0)

    def changed(self, values: Mapping[str, Any]) -> Orbit:
        """Return a camera with some attributes replaced.

        Raises:
            ViewerError: One of them is out of its range.
        """
        try:
            made: dict[str, Any] = {
                name: tuple(map(float, value)) if name in ("target", "up") else float(value)
                for name, value in values.items()
            }
        except (TypeError, ValueError) as error:
            raise ViewerError(f"look: {error}") from None
        orbit = replace(self, **made)
        right = {
            "at is three finite numbers": _is_place(orbit.target),
            "distance is above 0": 0.0 < orbit.distance < math.inf,
            "yaw and pitch are finite": math.isfinite(orbit.yaw + orbit.pitch),
            "fov is between 0 and pi": 0.0 < orbit.fov < math.pi,
            "up is three finite numbers, not all of them 0": _is_place(orbit.up) and any(orbit.up),
        }
        if wrong := [said for said, holds in right.items() if not holds]:
            raise ViewerError(f"look: {wrong[0]}")
        return replace(orbit, pitch=min(max(orbit.pitch, -_STEEPEST), _STEEPEST))

    # What the mouse does

    def rotated(self, right: float, down: float) -> Orbit:
        """Turn around the target: a drag moves what is in front along with the mouse.

        Args:
            right: Way of the mouse to the right, in heights of the picture.
            down: Way of the mouse down, in heights of the picture.
        """
        pitch = float(np.clip(self.pitch + _TURN * down, -_STEEPEST, _STEEPEST))
        yaw = math.remainder(self.yaw - _TURN * right, 2 * math.pi)
        return replace(self, yaw=yaw, pitch=pitch)

    def panned(self, right: float, down: float) -> Orbit:
        """Move sideways: what is as far as the target stays under the mouse; heights as above."""
        x, y, _ = self.axes()
        return self._at(np.array(self.target) - self._span() * (right * x + down * y))

    def zoomed(self, factor: float, right: float = 0.0, down: float = 0.0) -> Orbit:
        """Change the distance; what is as far as the target stays where the mouse is.

        Args:
            factor: Of the distance: below 1 nearer, above 1 farther.
            right: Place of the mouse, from the middle of the picture to the right, in its heights.
            down: Likewise down.
        """
        distance = float(np.clip(self.distance * factor, _LEAST, _MOST))
        kept = 1.0 - distance / self.distance
        x, y, _ = self.axes()
        target = np.array(self.target) + kept * self._span() * (right * x + down * y)
        return replace(self._at(target), distance=distance)

    def framed(self, points: npt.ArrayLike, aspect: float = 1.0) -> Orbit:
        """Look at all of some points from the same side.

        Args:
            points: Shape (n, 3); what is not finite is left out, and where nothing is left the
                camera stays.
            aspect: Width of the picture over its height.
        """
        places = np.asarray(points, np.float64).reshape(-1, 3)
        places = places[np.isfinite(places).all(axis=1)]
        if not len(places):
            return self
        middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
        radius = float(np.linalg.norm(places - middle, axis=1).max())
        if radius == 0.0:
            return self._at(middle)
        # The sphere around the points touches the sides of the narrower of both angles.
        half = math.atan(math.tan(0.5 * self.fov) * min(aspect, 1.0))
        distance = float(np.clip(_ROOM * radius / math.sin(half), _LEAST, _MOST))
        return replace(self._at(middle), distance=distance)

    # Where it is

    def axes(self) -> Floats:
        """Return the right, the down and the forward of the picture in the world, shape (3, 3)."""
        side, back, up = self._ground()
        level = math.sin(self.yaw) * side + math.cos(self.yaw) * back
        right = math.cos(self.yaw) * side - math.sin(self.yaw) * back
        forward = -(math.cos(self.pitch) * level + math.sin(self.pitch) * up)
        return np.array([right, np.cross(forward, right), forward], np.float64)

    def eye(self) -> Floats:
        """Return where the camera is, shape (3,)."""
        return np.array(self.target) - self.distance * self.axes()[2]

    def world_to_camera(self) -> Floats:
        """Return the motion from the world to the frame of the camera, shape (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3] = self.axes()
        pose[:3, 3] = -pose[:3, :3] @ self.eye()
        return pose

    def intrinsics(self, width: float, height: float) -> Floats:
        """Return fx, fy, cx, cy of a picture of that size [pixels], shape (4,)."""
        focal = 0.5 * height / math.tan(0.5 * self.fov)
        return np.array([focal, focal, 0.5 * width, 0.5 * height])

    def view(self, width: int, height: int) -> View:
        """Return what a picture of that size shows."""
        pose, lens = self.world_to_camera(), self.intrinsics(width, height)
        return View(pose, lens, width, height, self.near)

    @property
    def near(self) -> float:
        """The depth from which on things are seen [scene units]."""
        return _NEAREST * self.distance

    # From the world to the picture, and back

    def to_camera(self, points: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return points in the frame of the camera, shape (n, 3); z is the depth.

        Single precision stays so, which is half the time where there are many points.
        """
        places = np.asarray(points).reshape(-1, 3)
        kind = np.float32 if places.dtype == np.float32 else np.float64
        # No matrix product: the threads of BLAS would take cores from what is being watched.
        return np.einsum("nk,ck->nc", places - self.eye().astype(kind), self.axes().astype(kind))

    def to_pixels(self, points: npt.NDArray[Any], width: float, height: float) -> npt.NDArray[Any]:
        """Return where points in the frame of the camera are in the picture, shape (n, 2).

        What is nearer than `near` has no place there and is not a number.
        """
        fx, fy, cx, cy = self.intrinsics(width, height).tolist()
        pixels = np.empty((len(points), 2), points.dtype)
        with np.errstate(divide="ignore", invalid="ignore"):
            pixels[:, 0] = points[:, 0] / points[:, 2] * fx + cx
            pixels[:, 1] = points[:, 1] / points[:, 2] * fy + cy
        pixels[~(points[:, 2] >= self.near)] = np.nan
        return pixels

    def project(
        self, points: npt.ArrayLike, width: float, height: float
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the pixels, shape (n, 2), and the depths, shape (n,), of points of the world."""
        seen = self.to_camera(points)
        return self.to_pixels(seen, width, height), seen[:, 2]

    def unproject(self, x: float, y: float, depth: float, width: float, height: float) -> Floats:
        """Return the point of the world under a pixel at a depth, shape (3,).

        With the depth that a point has, the point follows the mouse in the plane of the picture.
        """
        fx, fy, cx, cy = self.intrinsics(width, height)
        place: Floats = np.array([(x - cx) / fx, (y - cy) / fy, 1.0], np.float64) * depth
        return self.eye() + place @ self.axes()

    def _at(self, target: Floats) -> Orbit:
        x, y, z = target.tolist()
        return replace(self, target=(x, y, z))

    def _span(self) -> float:
        """The height of what the picture shows at the distance of the target [scene units]."""
        return 2.0 * self.distance * math.tan(0.5 * self.fov)

    def _ground(self) -> Floats:
        """Return two directions that are level, and up: orthonormal, from `up` alone."""
        up: Floats = np.array(self.up, np.float64) / np.linalg.norm(self.up)
        axis = np.eye(3)[np.argmin(np.abs(up))]
        side: Floats = axis - up * (axis @ up)
        side /= np.linalg.norm(side)
        return np.array([side, np.cross(side, up), up], np.float64)


def _is_place(numbers: tuple[float, ...]) -> bool:
    return len(numbers) == 3 and all(map(math.isfinite, numbers))


def cut_segments(segments: Floats, near: float) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Cut segments off where they come nearer to the eye than `near`.

    Args:
        segments: In the frame of a camera, shape (n, 2, 3).
        near: The least depth [scene units].

    Returns:
        What is left, shape (m, 2, 3), and of which segments, shape (m,).
    """
    depth = segments[:, :, 2]
    kept = np.flatnonzero((depth >= near).any(axis=1))
    cut = segments[kept].copy()
    for end in (0, 1):
        behind = cut[:, end, 2] < near
        cut[behind, end] = _meeting(cut[behind, end], cut[behind, 1 - end], near)
    return cut, kept


def cut_triangles(triangles: Floats, near: float) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Cut triangles off where they come nearer to the eye than `near`.

    Args:
        triangles: In the frame of a camera, shape (n, 3, 3).
        near: The least depth [scene units].

    Returns:
        What is left, shape (m, 3, 3), and of which triangles, shape (m,). One that loses a corner
        becomes two.
    """
    seen = triangles[:, :, 2] >= near
    count = seen.sum(axis=1)
    whole, one, two = (np.flatnonzero(count == k) for k in (3, 1, 2))
    # The corner that is alone on its side comes first.
    tip = _turned(triangles[one], np.argmax(seen[one], axis=1))
    gap = _turned(triangles[two], np.argmin(seen[two], axis=1))
    small = np.stack([tip[:, 0], *(_meeting(tip[:, k], tip[:, 0], near) for k in (1, 2))], axis=1)
    left, right = (_meeting(gap[:, 0], gap[:, k], near) for k in (1, 2))
    halves = [
        np.stack(ends, axis=1) for ends in ((left, gap[:, 1], gap[:, 2]), (left, gap[:, 2], right))
    ]
    kept = np.concatenate([whole, one, two, two])
    order = np.argsort(kept, kind="stable")
    return np.concatenate([triangles[whole], small, *halves])[order], kept[order]


def _turned(triangles: Floats, first: npt.NDArray[np.intp]) -> Floats:
    """Return triangles with their corners in the same turn, from another one on."""
    corners = (first[:, None] + np.arange(3)) % 3
    return np.take_along_axis(triangles, corners[..., None], axis=1)


def _meeting(behind: Floats, before: Floats, near: float) -> Floats:
    """Return where segments meet the plane of depth `near`, shape (n, 3)."""
    share = (near - behind[:, 2]) / (before[:, 2] - behind[:, 2])
    found = behind + share[:, None] * (before - behind)
    found[:, 2] = near  # exactly, not by a rounding less, which would not be seen
    return found
