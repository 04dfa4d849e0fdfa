"""A cloud that is seen from several sides and should be found from its pictures.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "volume renderer"), with its size as a
choice: the original has 128 cells along each axis, pictures of 512 x 512 pixels and 1000 samples on
a ray.

Run this file for a few steps of the optimisation; the demo `volume-renderer` does all of them.
"""

from dataclasses import dataclass, replace

import numpy as np

import difftile as dt
from difftile import ti

vec3 = ti.math.vec3


@dataclass(frozen=True, slots=True)
class VolumeScene:
    """A cloud in the unit cube around the origin, and cameras on a circle around it.

    Attributes:
        density: What a sample in a cell adds to a pixel, shape (n, n, n): z, y, x.
        angles: Of the cameras around the y axis [rad], shape (views,).
        resolution: Pixels of a picture along each axis.
        samples: On a ray.
        spacing: From one sample to the next [m].
    """

    density: np.ndarray
    angles: np.ndarray
    resolution: int = 96
    samples: int = 100
    spacing: float = 0.02

    @property
    def n(self) -> int:
        """Number of cells along each axis."""
        return len(self.density)


def make_scene(
    n: int = 32, resolution: int = 96, samples: int = 100, views: int = 7
) -> VolumeScene:
    """Return a torus that is seen from one half of the circle around it.

    Args:
        n: Number of cells along each axis.
        resolution: Pixels of a picture along each axis.
        samples: On a ray; 100 cross the cube.
        views: Number of pictures.
    """
    place = np.arange(n) / n - 0.5
    z, y, x = np.meshgrid(place, place, place, indexing="ij")
    inside = np.hypot(np.hypot(y, z) - 0.4, x) < 0.1
    angles = np.pi / views * np.arange(views) - np.pi / 2
    return VolumeScene(inside / n, angles, resolution, samples)


@dt.data_oriented
class VolumeRenderer:
    """A cloud, `density`, shape (n, n, n), and pictures of it, shape (views, rows, columns).

    Args:
        scene: The cloud that the pictures should show, and the cameras.
        dtype: Of the numbers.
    """

    def __init__(self, scene: VolumeScene, dtype=ti.f32):
        self.n, self.samples, self.spacing = scene.n, scene.samples, scene.spacing
        self.angles = dt.from_numpy(scene.angles, dtype=dtype)
        shape = (len(scene.angles), scene.resolution, scene.resolution)
        self.image, self.target = (dt.zeros(shape, dtype, grad=True) for _ in range(2))
        self.loss = dt.zeros((), dtype, grad=True)
        self.density = dt.from_numpy(scene.density, dtype=dtype, grad=True)
        self.render()
        self.target.copy_from(self.image)
        self.density.fill(0.0)
        self.parameters = {"density": self.density}

    @dt.kernel
    def render(self):
        """Add up the densities along the rays of all pixels of all cameras."""
        for view, y, x in self.image:
            s, c = ti.sin(self.angles[view]), ti.cos(self.angles[view])
            half = self.image.shape[1] / 2
            d = vec3(x / half - 1.0, y / half - 1.0, -1.0).normalized()
            way = self.spacing * vec3(d.x * c + d.z * s, d.y, d.z * c - d.x * s)
            total = 0.0
            for k in range(self.samples):
                p = vec3(s, 0.0, c) + (k + 1) * way
                if all(p >= -0.5) and all(p < 0.5):
                    cell = ti.min(ti.cast((p + 0.5) * self.n, ti.i32), self.n - 1)
                    total += self.density[cell.z, cell.y, cell.x]
            self.image[view, y, x] = total

    @dt.kernel
    def measure(self):
        """Add up the mean squared errors of the pictures."""
        self.loss[None] = 0.0
        for view, y, x in self.image:
            off = self.image[view, y, x] - self.target[view, y, x]
            self.loss[None] += off**2 / self.image.shape[1] ** 2

    def run(self) -> None:
        """Render the pictures and measure the loss."""
        self.render()
        self.measure()


def seen_from(density: np.ndarray, scene: VolumeScene, angles: np.ndarray) -> np.ndarray:
    """Return pictures of a cloud from other sides, shape (views, rows, columns)."""
    return VolumeRenderer(replace(scene, density=density, angles=angles)).target.to_numpy()


if __name__ == "__main__":
    cloud = VolumeRenderer(make_scene(16, resolution=32, samples=50))
    descent = dt.optim.SGD(cloud.parameters, 20.0 / 16**3, momentum=0.8)
    for _ in range(8):
        with dt.Tape(cloud.loss):
            cloud.run()
        print(f"loss {cloud.loss[None]:.6f}")
        descent.step()
