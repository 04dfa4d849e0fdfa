"""Gaussians as a camera of a viewer sees them, in several ways, and cameras as shapes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import matplotlib
import numpy as np

import difftile as dt
from difftile import ti

MODES = ("colours", "alpha", "depth", "ellipsoids", "centres")
WORDS = {
    "colours": "in colour",
    "alpha": "how much of each pixel they cover",
    "depth": "from near, bright, to far, dark",
    "ellipsoids": "as bodies that hide each other",
    "centres": "their centres (g: gradients)",
}
BACKGROUND = np.array([0.078, 0.09, 0.11])  # as in the viewer
DIM = 0.3  # of the picture with centres
COVERED = 0.5  # alpha from which on a pixel hides shapes
COARSE, FINE = 120_000, 600_000  # pixels of a picture while things change, and when they stay
LONGEST = 1.0  # without a new picture, as after the first one, which compiles [s]
Picture: TypeAlias = np.ndarray | tuple[np.ndarray, np.ndarray]  # colours, and depths that hide
_DEPTHS = matplotlib.colormaps["magma_r"](np.linspace(0.0, 1.0, 256))[:, :3]


@dataclass(slots=True)
class _Renderers:
    """A renderer for pictures of one size, with its fields."""

    splatter: dt.render.Splatter
    ellipsoids: dt.render.Ellipsoids
    splatted: dt.render.Rendering | None = None
    solid: dt.render.Rendering | None = None


class SplatView:
    """Pictures of Gaussians for the camera of a viewer.

    While Gaussians, camera or mode change, pictures are small, so that they take little of the
    time that steps need. When the view stays the same, it is drawn once more at full size.

    Args:
        gaussians: The Gaussians to show.
        share: Largest fraction of time spent on pictures of changed Gaussians while the camera
            stays: the latest picture is shown meanwhile. None for a picture of each version, so
            that a run repeats exactly.

    Attributes:
        mode: One of `MODES`.
        level: The size of ellipsoids, in standard deviations.
        version: Of the Gaussians; must change when they do.
    """

    def __init__(self, gaussians: dt.Rows, share: float | None = None) -> None:
        self.gaussians, self.share = gaussians, share
        self.mode, self.level, self.version = MODES[0], 1.5, 0
        self._renderers: dict[tuple[int, int], _Renderers] = {}
        self._latest: tuple[object, ...] = ()
        self._picture: Picture = np.zeros((1, 1, 3), np.uint8)
        self._fine = False
        self._due = -np.inf  # when there may be a picture of another version [s]

    def __call__(self, view: dt.viewer.View) -> Picture:
        """Return colours, and depths if they hide shapes; `App.backdrop` calls this."""
        pose = view.world_to_camera.tobytes()
        wanted = (pose, view.width, view.height, self.mode, self.level, self.version)
        if wanted != self._latest:
            learnt = wanted[:-1] == self._latest[:-1]
            if not (learnt and time.perf_counter() < self._due):
                self._latest, self._fine = wanted, False
                self._render(view, COARSE)
        elif not self._fine:
            self._fine = True
            self._render(view, FINE)
        return self._picture

    def _render(self, view: dt.viewer.View, most: int) -> None:
        """Make the latest picture, of no more than so many pixels."""
        begun = time.perf_counter()
        image, depth = self._draw(resized(view, most))
        pixels = (255.0 * np.clip(image, 0.0, 1.0) + 0.5).astype(np.uint8)
        self._picture = pixels if depth is None else (pixels, depth)
        if self.share is not None:
            now = time.perf_counter()
            self._due = now + min((now - begun) * (1.0 / self.share - 1.0), LONGEST)

    def _draw(self, view: dt.viewer.View) -> tuple[np.ndarray, np.ndarray | None]:
        size = view.width, view.height
        if size not in self._renderers:
            if len(self._renderers) > 3:  # the window has had many sizes
                self._renderers.clear()
            splatter = dt.render.Splatter(*size, sh_degree=0, background=BACKGROUND)
            ellipsoids = dt.render.Ellipsoids(*size, sh_degree=0, background=BACKGROUND)
            self._renderers[size] = _Renderers(splatter, ellipsoids)
        renderers = self._renderers[size]
        cameras = dt.render.Cameras(view.world_to_camera, view.intrinsics, *size, dtype=ti.f32)
        if self.mode == "ellipsoids":
            renderers.ellipsoids.level = self.level
            solid = renderers.ellipsoids(self.gaussians, cameras, renderers.solid)
            renderers.solid = solid
            return solid.image.to_numpy()[0], depths(solid)
        with dt.no_grad():
            drawn = renderers.splatter(self.gaussians, cameras, renderers.splatted)
        renderers.splatted = drawn
        image, alpha = drawn.image.to_numpy()[0], drawn.alpha.to_numpy()[0]
        if self.mode == "centres":
            return BACKGROUND + DIM * (image - BACKGROUND), None
        depth = np.where(alpha > COVERED, depths(drawn), np.inf)
        if self.mode == "alpha":
            image = np.repeat(alpha[..., None], 3, axis=2)
        elif self.mode == "depth":
            image = BACKGROUND + alpha[..., None] * (shaded(depth) - BACKGROUND)
        return image, depth


def depths(drawn: dt.render.Rendering) -> np.ndarray:
    """Return the depths that the first camera sees, shape (rows, columns)."""
    assert drawn.depth is not None
    return drawn.depth.to_numpy()[0]


def resized(view: dt.viewer.View, most: int) -> dt.viewer.View:
    """Return a view of no more than so many pixels."""
    share = min(1.0, np.sqrt(most / (view.width * view.height)))
    width, height = max(1, int(view.width * share)), max(1, int(view.height * share))
    factors = np.array([width / view.width, height / view.height] * 2)
    return replace(view, intrinsics=view.intrinsics * factors, width=width, height=height)


def shaded(depth: np.ndarray) -> np.ndarray:
    """Return depths as colours, near ones bright; infinite depths count as the farthest."""
    finite = depth[np.isfinite(depth)]
    near, far = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    share = (np.minimum(depth, far) - near) / max(far - near, 1e-9)
    return _DEPTHS[(255 * share).astype(np.uint8)]


def frusta(cameras: dt.render.Cameras, length: float) -> np.ndarray:
    """Return the edges of the view frustums of cameras, shape (cameras, 8, 2, 3).

    Args:
        cameras: The cameras.
        length: From the eye to the picture [scene units].
    """
    poses = cameras.world_to_camera()
    fx, fy, cx, cy = cameras.intrinsics.to_numpy().T[..., None]
    x = (np.array([0.0, 1.0, 1.0, 0.0]) * cameras.width - cx) / fx
    y = (np.array([0.0, 0.0, 1.0, 1.0]) * cameras.height - cy) / fy
    rims = length * np.stack([x, y, np.ones_like(x)], axis=2)
    inverse = poses[:, :3, :3].transpose(0, 2, 1)
    eyes = -np.einsum("cij,cj->ci", inverse, poses[:, :3, 3])[:, None]
    corners = eyes + np.einsum("cij,ckj->cki", inverse, rims)
    sides = np.stack([np.broadcast_to(eyes, corners.shape), corners], axis=2)
    return np.concatenate([sides, np.stack([corners, np.roll(corners, -1, 1)], axis=2)], axis=1)


def nearest(eyes: Sequence[np.ndarray] | np.ndarray, eye: np.ndarray) -> int:
    """Return the index of the camera whose viewing direction is closest to that of an eye."""
    ways = np.asarray(eyes) / np.linalg.norm(eyes, axis=1, keepdims=True)
    return int(np.argmax(ways @ eye))
