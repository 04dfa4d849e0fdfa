"""Reconstruct a glowing cloud from twelve pictures, and render it from new viewpoints.

Along a ray the cloud emits light and absorbs the light from farther away. The loop ends where the
ray leaves the cube, or where no light is left, which depends on the cloud. Its adjoint needs the
light that was left at each sample: `difftile` runs stretches of the loop again for it, and stores a
few numbers per ray instead of all of them. The cloud is a `dt.Texture` in three dimensions.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.fits import (
    PictureFit,
    fit_pictures,
    psnr,
    save_fit_curve,
    save_fit_strip,
)
from demos.support.images import Panel, save_images_animation
from demos.support.options import make_parser, start
from demos.support.training import print_check
from difftile.arguments import positive_int
from scenes.glow import GlowScene, around, make_scene, spread_out

STEP_SIZE, SHORTER = 0.06, 0.99  # of Adam, and its factor from step to step
COLOUR, DENSITY = 0.5, 0.03  # to begin with
LEAST_LIGHT = 1e-3  # that is followed
STRIDES, FINER = 1.0, 3.0  # samples on the width of a texel, and of the pictures that are given
HELD_OUT, TURN = 6, 1.0  # held-out pictures, and the rotation of their cameras [rad]
FRAMES = 48  # of the animation, once around the cloud

vec3 = ti.math.vec3


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("volume-grid", __doc__, iterations=100, memory=False)
    say = "default: %(default)s"
    for name, default, what in (
        ("--size", 32, "texels of the cloud along each axis"),
        ("--resolution", 64, "pixels of a picture along each axis"),
        ("--views", 12, "pictures"),
    ):
        parser.add_argument(name, type=positive_int, default=default, help=f"{what}; {say}")
    options = start(parser, argv)
    scene = make_scene(options.size, options.resolution, options.views)
    if options.check:
        grid = VolumeGrid(scene, make_guess(scene, ti.f64), dtype=ti.f64)
        grid.target.from_numpy(photograph(scene, ti.f64))
        return print_check(grid, "cloud", eps=1e-4)

    cloud = make_guess(scene)
    grid = VolumeGrid(scene, cloud)
    grid.target.from_numpy(photograph(scene))
    elsewhere = scene.seen_from(spread_out(HELD_OUT, TURN))
    seen, unseen = VolumeGrid(elsewhere, cloud), photograph(elsewhere)

    def see() -> np.ndarray:
        """Render the held-out cameras."""
        seen.render()
        return seen.image.to_numpy()

    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(grid.parameters, rate, low=0.0, high=1.0)
    fit = fit_pictures(
        grid,
        descent,
        options.iterations,
        "finding it",
        picture=see,
        quality=lambda: psnr(see(), unseen),
        every=5,
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    given = psnr(grid.image.to_numpy(), grid.target.to_numpy())
    print(f"{fit} (of held-out pictures)")
    print(f"training pictures: {given:.2f} dB")
    if not options.no_pictures:
        draw(options.out, scene, cloud, fit, unseen)
        print(f"pictures in {options.out}")
    return 0


def draw(
    out: Path, scene: GlowScene, cloud: dt.Texture, fit: PictureFit, unseen: np.ndarray
) -> None:
    """Write the pictures."""
    shown = zip(unseen[:3], fit.frames[0], fit.result, strict=False)
    rows = [(f"held out, {k}", *pictures) for k, pictures in enumerate(shown)]
    save_fit_strip(out / "strip.png", rows)
    save_fit_curve(out / "curve.png", fit, "mean square off the pictures")
    circle = scene.seen_from(around(FRAMES))
    found = VolumeGrid(circle, cloud)
    found.render()
    panels = [
        Panel("result", np.clip(found.image.to_numpy(), 0.0, 1.0)),
        Panel("the cloud", np.clip(photograph(circle), 0.0, 1.0)),
    ]
    save_images_animation(out / "turn.gif", panels)


if __name__ == "__main__":
    sys.exit(main())
