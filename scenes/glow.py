"""A glowing cloud that should be found from pictures of it, to be seen from new places.

Run this file for a few steps of the optimisation; the demo `volume-grid` does all of them.
"""

from dataclasses import dataclass, replace

import numpy as np

import difftile as dt
from difftile import ti

COLOUR, DENSITY = 0.5, 0.03  # to begin with
LEAST_LIGHT = 1e-3  # that is followed
STRIDES, FINER = 1.0, 3.0  # samples on the width of a texel, and of the pictures that are given

vec3 = ti.math.vec3


@dataclass(frozen=True, slots=True)
class GlowScene:
    """A cloud in the cube from -1 to 1, and cameras around it, directed at the origin.

    Attributes:
        cloud: Red, green, blue and density of each texel, shape (n, n, n, 4): z, y, x. All are from
            0 to 1, a density in parts of the largest.
        densest: Absorption per unit length at the largest density.
        eyes: Positions of the cameras, shape (views, 3).
        frames: Their axes to the right, down and ahead, shape (views, 3, 3).
        spread: Tangent of half the angle that a picture spans.
        resolution: Pixels of a picture along each axis.
    """

    cloud: np.ndarray
    densest: float
    eyes: np.ndarray
    frames: np.ndarray
    spread: float
    resolution: int

    @property
    def n(self) -> int:
        """Number of texels along each axis."""
        return len(self.cloud)

    def seen_from(self, eyes: np.ndarray) -> "GlowScene":
        """Return the scene with other cameras."""
        return replace(self, eyes=eyes, frames=_look_at_origin(eyes))


def make_scene(n: int = 32, resolution: int = 64, views: int = 12) -> GlowScene:
    """Return a trefoil knot whose colour changes along it.

    Args:
        n: Number of texels along each axis.
        resolution: Pixels of a picture along each axis.
        views: Number of cameras.
    """
    eyes = spread_out(views)
    return GlowScene(_knot(n), 20.0, eyes, _look_at_origin(eyes), 0.42, resolution)


def _look_at_origin(eyes: np.ndarray) -> np.ndarray:
    """Return the axes of cameras that stand upright: to the right, down and ahead.

    Args:
        eyes: Where they are, shape (views, 3) and off the y axis.

    Returns:
        Shape (views, 3, 3), an axis a row.
    """
    ahead = -eyes / np.linalg.norm(eyes, axis=1, keepdims=True)
    right = np.cross(ahead, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    return np.stack([right, np.cross(ahead, right), ahead], axis=1)


def _knot(n: int) -> np.ndarray:
    """Return the texels of a trefoil knot."""
    place = (2 * np.arange(n) + 1) / n - 1.0
    z, y, x = np.meshgrid(place, place, place, indexing="ij")
    points = np.stack([x, y, z], axis=-1)
    s = np.linspace(0.0, 2 * np.pi, 256, endpoint=False)
    curve = np.stack(
        [np.sin(s) + 2 * np.sin(2 * s), np.cos(s) - 2 * np.cos(2 * s), -1.5 * np.sin(3 * s)], axis=1
    )
    curve *= 0.25
    away = np.linalg.norm(points[..., None, :] - curve, axis=-1)
    nearest = s[away.argmin(axis=-1)]
    density = np.clip((0.24 - away.min(axis=-1)) / 0.12, 0.0, 1.0)
    shifts = np.array([0.0, 2.1, 4.2])
    colour = 0.55 + 0.4 * np.cos(nearest[..., None] + shifts)
    return np.concatenate([colour, density[..., None]], axis=-1)


def spread_out(count: int, turn: float = 0.0) -> np.ndarray:
    """Return places spread evenly over a sphere, by the golden angle, shape (count, 3)."""
    k = np.arange(count)
    return _place(0.9 * (1.0 - (2 * k + 1) / count), k * np.pi * (3.0 - np.sqrt(5.0)) + turn)


def around(count: int) -> np.ndarray:
    """Return places on a circle a little above the middle, shape (count, 3)."""
    angle = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    return _place(np.full(count, 0.35), angle)


def _place(y: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return places on a sphere, of heights from -1 to 1 and angles around the y axis [rad]."""
    side = np.sqrt(1.0 - y**2)
    return 3.6 * np.stack([side * np.sin(angle), y, side * np.cos(angle)], axis=1)


@dt.data_oriented
class VolumeGrid:
    """A cloud and pictures of it, shape (views, rows, columns).

    Args:
        scene: The cameras.
        cloud: Its texels as in the scene, but not their values.
        strides: Samples of a ray on the width of a texel.
        dtype: Of the numbers.
    """

    def __init__(self, scene: GlowScene, cloud: dt.Texture, strides: float = STRIDES, dtype=ti.f32):
        vector = dt.vec(3, dtype)
        self.spread, self.densest = scene.spread, scene.densest
        self.stride = 2.0 / (strides * scene.n)
        self.eyes = dt.from_numpy(scene.eyes, dtype=vector)
        self.frames = dt.from_numpy(scene.frames, dtype=dt.mat(3, 3, dtype))
        self.cloud = cloud
        shape = (len(scene.eyes), scene.resolution, scene.resolution)
        self.image, self.target = (dt.zeros(shape, vector, grad=True) for _ in range(2))
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"cloud": cloud.data}

    @dt.kernel
    def render(self):
        """Follow the rays of all pixels of all cameras through the cloud."""
        for view, i, j in self.image:
            half = self.image.shape[1] / 2
            x, y = self.spread * ((j + 0.5) / half - 1.0), self.spread * ((i + 0.5) / half - 1.0)
            way = (self.frames[view].transpose() @ vec3(x, y, 1.0)).normalized()
            a, b = (-1.0 - self.eyes[view]) / way, (1.0 - self.eyes[view]) / way
            near, far = ti.min(a, b), ti.max(a, b)
            t, end = ti.max(near.x, near.y, near.z) + 0.5 * self.stride, ti.min(far.x, far.y, far.z)
            colour, light = vec3(0.0), 1.0
            while t < end and light > LEAST_LIGHT:
                here = self.cloud.sample(0.5 * (self.eyes[view] + t * way) + 0.5)
                left = ti.exp(-self.densest * self.stride * here.w)
                colour += light * (1.0 - left) * here.xyz
                light *= left
                t += self.stride
            self.image[view, i, j] = colour

    @dt.kernel
    def measure(self):
        """The mean squared error of the pictures."""
        self.loss[None] = 0.0
        for view, i, j in self.image:
            off = self.image[view, i, j] - self.target[view, i, j]
            self.loss[None] += off.dot(off) / (3 * self.image.shape[0] * self.image.shape[1] ** 2)

    def run(self) -> None:
        """Render the pictures and measure the loss."""
        self.render()
        self.measure()


def photograph(scene: GlowScene, dtype=ti.f32) -> np.ndarray:
    """Return the pictures of the scene's cloud, by finer steps, (views, rows, columns, 3)."""
    grid = VolumeGrid(scene, dt.Texture(scene.cloud, dtype=dtype), FINER, dtype)
    grid.render()
    return grid.image.to_numpy()


def make_guess(scene: GlowScene, dtype=ti.f32) -> dt.Texture:
    """Return a cloud that is thin, grey, and everywhere the same."""
    texel = (COLOUR, COLOUR, COLOUR, DENSITY)
    return dt.Texture(np.broadcast_to(texel, scene.cloud.shape), dtype=dtype, grad=True)


if __name__ == "__main__":
    scene = make_scene(n=16, resolution=24, views=6)
    grid = VolumeGrid(scene, make_guess(scene))
    grid.target.from_numpy(photograph(scene))
    descent = dt.optim.Adam(grid.parameters, 0.06, low=0.0, high=1.0)
    for _ in range(8):
        with dt.Tape(grid.loss):
            grid.run()
        print(f"loss {grid.loss[None]:.6f}")
        descent.step()
