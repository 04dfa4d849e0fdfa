"""Reconstruct a cloud from pictures: a ray of light adds up the densities along its way.

Each pixel is a sum of `--steps` samples along its ray. The gradient of a picture with respect to
the cloud sends the error of each pixel back along its ray, into all the cells that it passed. The
adjoint of the loop below does that; no line of it is written in this file.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.images import Look, Panel, save_images, save_images_animation
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile.arguments import positive_int
from scenes.volume import VolumeScene, make_scene

# Steps grow with the number of cells: the more there are, the less each adds to a pixel.
STEP_SIZE, MOMENTUM = 3.0 / 32**3, 0.9
FRAMES = 60  # of the animation, once around the cloud

vec3 = ti.math.vec3


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("volume-renderer", __doc__, steps=100, iterations=120)
    say = "default: %(default)s"
    for name, default, what in (
        ("--size", 32, "cells of the cloud along each axis"),
        ("--resolution", 96, "pixels of a picture along each axis"),
        ("--views", 7, "pictures"),
    ):
        parser.add_argument(name, type=positive_int, default=default, help=f"{what}; {say}")
    options = start(parser, argv)
    scene = make_scene(options.size, options.resolution, options.steps, options.views)
    if options.check:
        return print_check(VolumeRenderer(scene, ti.f64), "density", eps=1e-3)

    renderer = VolumeRenderer(scene)
    rate = STEP_SIZE * scene.n**3
    descent = dt.optim.SGD(renderer.parameters, rate, momentum=MOMENTUM, low=0.0)
    training = train(renderer, descent, options.iterations, "finding it", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    found, true = training.best["density"], scene.density
    print(training)
    right = found[true > 0].sum() / max(found.sum(), 1e-30)
    print(f"empty space at first; now {right:.1%} of the density lies where it should")
    if not options.no_pictures:
        draw(options.out, scene, training)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: VolumeScene, training: Training) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "mean square off the pictures", "log")
    empty, found = training.first["density"], training.best["density"]
    given = scene.angles[[0, len(scene.angles) // 3, 2 * len(scene.angles) // 3]]
    angles = np.append(given, 3 * np.pi / 4)
    titles = [*[f"picture at {a:.0f}°" for a in np.degrees(given)], "side without picture, 135°"]
    clouds = {"before": empty, "after": found, "the cloud": scene.density}
    rows = []
    for name, cloud in clouds.items():
        images = seen_from(cloud, scene, angles)
        shown = titles if not rows else [""] * len(titles)
        rows.append((name, [Panel(t, i) for t, i in zip(shown, images, strict=True)]))
    look = Look(0.0, float(images.max()), "magma", "light")
    save_images(out / "before_after.png", rows, look)

    around = np.linspace(0.0, 2 * np.pi, FRAMES, endpoint=False)
    panels = [
        Panel(name, seen_from(clouds[name], scene, around)) for name in ("after", "the cloud")
    ]
    save_images_animation(out / "turn.gif", panels, look)


if __name__ == "__main__":
    sys.exit(main())
