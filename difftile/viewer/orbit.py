"""A camera that orbits a point: rotation, panning, zoom, framing, and projection.

Its axes are as in `dt.render.Cameras` and OpenCV: +x to the right, +y down, +z away from the
eye, pixels counted from the upper left corner. Points, meshes and splats can share one camera:
`dt.render.Cameras(orbit.world_to_camera(), orbit.intrinsics(width, height), width, height)`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import ViewerError

Floats = npt.NDArray[np.float64]
Vec3 = tuple[float, float, float]

_TURN = math.pi  # rotation of a drag over the height of the picture [rad]
_STEEPEST = math.radians(89.0)  # limit of the pitch; beyond the pole the picture would flip
_NEAREST = 1e-3  # depth of the near plane, as a share of the distance
_LEAST, _MOST = 1e-6, 1e9  # bounds of the distance, so that a long scroll keeps numbers finite
_ROOM = 1.1  # size of the picture relative to the framed points


@dataclass(frozen=True, slots=True)
class View:
    """The camera of a picture, for programs that render the scene themselves.

    `dt.render.Cameras(view.world_to_camera, view.intrinsics, view.width, view.height)` is the same
    camera for splats.

    Attributes:
        world_to_camera: The rigid motion from world to camera axes, shape (4, 4): +x to the right,
            +y down, +z away from the eye.
        intrinsics: Focal lengths and centre fx, fy, cx, cy [pixels], shape (4,).
        width: Of the picture [pixels].
        height: Of the picture [pixels].
        near: The depth of the near plane [scene units].
    """

    world_to_camera: Floats
    intrinsics: Floats
    width: int
    height: int
    near: float


@dataclass(frozen=True, slots=True)
class Orbit:
    """A perspective camera that looks at a target. Every change returns a new camera.

    Attributes:
        target: The point that it looks at and turns around [scene units].
        distance: From the eye to the target [scene units].
        yaw: Turn around `up` [rad]; at 0 with y up, the eye is on the +z side of the target.
        pitch: Elevation of the eye above the target [rad], within 89 degrees.
        fov: Vertical field of view [rad].
        up: The upward direction of the picture; any length except 0.
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
            ViewerError: An attribute is out of its range.
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

    # Moves of the mouse

    def rotated(self, right: float, down: float) -> Orbit:
        """Turn around the target: near points follow the mouse.

        Args:
            right: Move of the mouse to the right, in heights of the picture.
            down: Move of the mouse down, in heights of the picture.
        """
        pitch = float(np.clip(self.pitch + _TURN * down, -_STEEPEST, _STEEPEST))
        yaw = math.remainder(self.yaw - _TURN * right, 2 * math.pi)
        return replace(self, yaw=yaw, pitch=pitch)

    def panned(self, right: float, down: float) -> Orbit:
        """Move sideways: points at the target's depth follow the mouse; units as `rotated`."""
        x, y, _ = self.axes()
        return self._at(np.array(self.target) - self._span() * (right * x + down * y))

    def zoomed(self, factor: float, right: float = 0.0, down: float = 0.0) -> Orbit:
        """Change the distance; the point under the mouse at the target's depth stays there.

        Args:
            factor: Of the distance: below 1 nearer, above 1 farther.
            right: Mouse from the middle of the picture to the right, in heights of the picture.
            down: Mouse from the middle of the picture down, in heights of the picture.
        """
        distance = float(np.clip(self.distance * factor, _LEAST, _MOST))
        kept = 1.0 - distance / self.distance
        x, y, _ = self.axes()
        target = np.array(self.target) + kept * self._span() * (right * x + down * y)
        return replace(self._at(target), distance=distance)

    def framed(self, points: npt.ArrayLike, aspect: float = 1.0) -> Orbit:
        """Look at points from the same direction, so that all of them are in the picture.

        Args:
            points: Shape (n, 3); non-finite points are ignored. Without points the camera stays.
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
        # The sphere around the points fits into the narrower field of view.
        half = math.atan(math.tan(0.5 * self.fov) * min(aspect, 1.0))
        distance = float(np.clip(_ROOM * radius / math.sin(half), _LEAST, _MOST))
        return replace(self._at(middle), distance=distance)

    # Pose

    def axes(self) -> Floats:
        """Return the right, down and forward directions in the world, shape (3, 3), read-only."""
        return _axes(self.up, self.yaw, self.pitch)

    def eye(self) -> Floats:
        """Return the position of the camera, shape (3,)."""
        return np.array(self.target) - self.distance * self.axes()[2]

    def world_to_camera(self) -> Floats:
        """Return the rigid motion from world to camera axes, shape (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3] = self.axes()
        pose[:3, 3] = -pose[:3, :3] @ self.eye()
        return pose

    def intrinsics(self, width: float, height: float) -> Floats:
        """Return fx, fy, cx, cy of a picture of some size [pixels], shape (4,)."""
        focal = 0.5 * height / math.tan(0.5 * self.fov)
        return np.array([focal, focal, 0.5 * width, 0.5 * height])

    def view(self, width: int, height: int) -> View:
        """Return the camera of a picture of some size."""
        pose, lens = self.world_to_camera(), self.intrinsics(width, height)
        return View(pose, lens, width, height, self.near)

    @property
    def near(self) -> float:
        """The depth of the near plane [scene units]."""
        return _NEAREST * self.distance

    # From the world to the picture, and back

    def to_camera(self, points: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return points in the axes of the camera, shape (n, 3); z is the depth.

        Single precision is kept, which takes half the time for many points.
        """
        places = np.asarray(points).reshape(-1, 3)
        kind = np.float32 if places.dtype == np.float32 else np.float64
        # Not a matrix product: the threads of BLAS would take cores from the simulation.
        return np.einsum("nk,ck->nc", places - self.eye().astype(kind), self.axes().astype(kind))

    def to_pixels(self, points: npt.NDArray[Any], width: float, height: float) -> npt.NDArray[Any]:
        """Return pixels of points in camera axes, shape (n, 2); NaN in front of the near plane."""
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
        """Return the pixels, shape (n, 2), and the depths, shape (n,), of points in the world."""
        seen = self.to_camera(points)
        return self.to_pixels(seen, width, height), seen[:, 2]

    def unproject(self, x: float, y: float, depth: float, width: float, height: float) -> Floats:
        """Return the point in the world under a pixel at a depth, shape (3,)."""
        fx, fy, cx, cy = self.intrinsics(width, height)
        place: Floats = np.array([(x - cx) / fx, (y - cy) / fy, 1.0], np.float64) * depth
        return self.eye() + place @ self.axes()

    def _at(self, target: Floats) -> Orbit:
        x, y, z = target.tolist()
        return replace(self, target=(x, y, z))

    def _span(self) -> float:
        """Return the height of the picture at the distance of the target [scene units]."""
        return 2.0 * self.distance * math.tan(0.5 * self.fov)


@lru_cache(maxsize=16)  # a picture asks several times for those of each camera
def _axes(up: tuple[float, float, float], yaw: float, pitch: float) -> Floats:
    side, back, above = _ground(up)
    level = math.sin(yaw) * side + math.cos(yaw) * back
    right = math.cos(yaw) * side - math.sin(yaw) * back
    forward = -(math.cos(pitch) * level + math.sin(pitch) * above)
    axes: Floats = np.array([right, np.cross(forward, right), forward], np.float64)
    axes.flags.writeable = False
    return axes


def _ground(upwards: tuple[float, float, float]) -> Floats:
    """Return two horizontal directions and up: orthonormal, determined by `up` only."""
    up: Floats = np.array(upwards, np.float64) / np.linalg.norm(upwards)
    axis = np.eye(3)[np.argmin(np.abs(up))]
    side: Floats = axis - up * (axis @ up)
    side /= np.linalg.norm(side)
    return np.array([side, np.cross(side, up), up], np.float64)


def _is_place(numbers: tuple[float, ...]) -> bool:
    return len(numbers) == 3 and all(map(math.isfinite, numbers))


def cut_segments(segments: Floats, near: float) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Clip segments at the near plane.

    Args:
        segments: In camera axes, shape (n, 2, 3).
        near: The depth of the near plane [scene units].

    Returns:
        The remaining parts, shape (m, 2, 3), and the indices of their segments, shape (m,).
    """
    depth = segments[:, :, 2]
    kept = np.flatnonzero((depth >= near).any(axis=1))
    cut = segments[kept].copy()
    for end in (0, 1):
        behind = cut[:, end, 2] < near
        cut[behind, end] = _meeting(cut[behind, end], cut[behind, 1 - end], near)
    return cut, kept


def cut_triangles(triangles: Floats, near: float) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Clip triangles at the near plane; a triangle that loses one corner becomes two.

    Args:
        triangles: In camera axes, shape (n, 3, 3).
        near: The depth of the near plane [scene units].

    Returns:
        The remaining parts, shape (m, 3, 3), and the indices of their triangles, shape (m,).
    """
    seen = triangles[:, :, 2] >= near
    count = seen.sum(axis=1)
    whole, one, two = (np.flatnonzero(count == k) for k in (3, 1, 2))
    # The corner on the other side than the two others comes first.
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
    """Return triangles with their corners in the same cyclic order, from another one on."""
    corners = (first[:, None] + np.arange(3)) % 3
    return np.take_along_axis(triangles, corners[..., None], axis=1)


def _meeting(behind: Floats, before: Floats, near: float) -> Floats:
    """Return the intersections of segments with the near plane, shape (n, 3)."""
    share = (near - behind[:, 2]) / (before[:, 2] - behind[:, 2])
    found = behind + share[:, None] * (before - behind)
    found[:, 2] = near  # exactly: a rounding less would be clipped
    return found
