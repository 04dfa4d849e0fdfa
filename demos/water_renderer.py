"""Waves in a pool meet above an emblem on its bottom, and magnify it.

Light comes up from the bottom through the water: where the surface slopes, the bottom appears
shifted along the slope. The gradient runs from the colours through the refraction and all steps of
the waves back to the initial water.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.images import Panel, save_images, save_images_animation
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train
from demos.wave import Wave, watch
from difftile.arguments import positive_int
from scenes.water import WaterScene, make_scene
from scenes.wave import WaveScene

STEP_SIZE, MOMENTUM = 5.0, 0.95
BENDING = 2.0  # cells to a unit of slope

vec2 = ti.math.vec2


@dt.data_oriented
class WaterRenderer:
    """A pool: `wave` is the water, `image` the bottom seen through it, shape (n, n).

    Args:
        scene: The bottom of the pool, and its desired image.
        steps: States of the water in a run, the initial one included.
        dtype: Of the numbers.
    """

    def __init__(self, scene: WaterScene, steps: int, dtype=ti.f32):
        self.n, color = len(scene.bottom), dt.vec(3, dtype)
        self.wave = Wave(WaveScene(target=np.zeros((self.n, self.n))), steps, dtype)
        self.bottom, self.target = (
            dt.from_numpy(image, dtype=color) for image in (scene.bottom, scene.target)
        )
        self.image = dt.zeros((self.n, self.n), color, grad=True)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = self.wave.parameters

    @dt.kernel
    def refract(self):
        """Look at the bottom through the water."""
        p = self.wave.p
        for i, j in self.image:
            rise = vec2(p[i + 2, j + 1] - p[i, j + 1], p[i + 1, j + 2] - p[i + 1, j])
            at = ti.math.clamp(vec2(i, j) - BENDING * self.n / 2 * rise, 0.0, self.n - 2.0)
            a = ti.cast(at, ti.i32)
            f = at - a
            near = ti.math.mix(self.bottom[a], self.bottom[a + ti.Vector([0, 1])], f.y)
            far = ti.math.mix(self.bottom[a + ti.Vector([1, 0])], self.bottom[a + 1], f.y)
            self.image[i, j] = ti.math.mix(near, far, f.x)

    @dt.kernel
    def measure(self):
        """The mean squared error of the colours."""
        self.loss[None] = 0.0
        for i, j in self.image:
            self.loss[None] += (self.image[i, j] - self.target[i, j]).norm_sqr() / (3 * self.n**2)

    def run(self) -> None:
        """Move the water, look through it and measure the loss."""
        self.wave.start()
        for _ in dt.steps(2, self.wave.steps):
            self.wave.step()
        self.refract()
        self.measure()


def seen_through(renderer: WaterRenderer, water: np.ndarray) -> np.ndarray:
    """Return the images seen through water of given heights, shape (frames, n, n, 3)."""
    images = []
    for height in water:
        renderer.wave.p[1:-1, 1:-1] = height
        renderer.refract()
        images.append(renderer.image.to_numpy())
    return np.clip(images, 0.0, 1.0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("water-renderer", __doc__, steps=256, iterations=120)
    say = "default: %(default)s"
    parser.add_argument(
        "--size", type=positive_int, default=256, help=f"cells and pixels along each axis; {say}"
    )
    options = start(parser, argv)
    scene = make_scene(min(options.size, 64) if options.check else options.size)
    if options.check:
        renderer = WaterRenderer(scene, options.steps, ti.f64)
        # Through flat water each pixel shows one of the bottom: a kink of the interpolation.
        ripples = np.random.default_rng(options.seed).normal(0.0, 0.01, renderer.image.shape)
        renderer.wave.initial.from_numpy(ripples)
        return print_check(renderer, "initial", eps=1e-7)

    renderer = WaterRenderer(scene, options.steps)
    descent = dt.optim.SGD(renderer.parameters, STEP_SIZE, momentum=MOMENTUM, nesterov=True)
    training = train(renderer, descent, options.iterations, "making waves", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    print(training)
    gone = 1.0 - min(training.losses) / training.losses[0]
    print(f"the waves remove {gone:.1%} of the squared error of flat water")
    if not options.no_pictures:
        draw(options.out, scene, renderer, training.losses)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: WaterScene, renderer: WaterRenderer, losses: list[float]) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", losses, "mean square off the picture", "log")
    times, water = watch(renderer.wave)
    seen = seen_through(renderer, water)
    picks = np.linspace(0, len(times) - 1, 4).round().astype(int)
    after = [Panel(f"after: step {times[k]}", seen[k]) for k in picks]
    before, wanted = Panel("before: all steps", scene.bottom), Panel("wanted", scene.target)
    save_images(out / "before_after.png", [("", [before, *after, wanted])])
    panels = [Panel("through the water", seen), Panel("wanted", scene.target[None])]
    captions = [f"step {t}" for t in times]
    save_images_animation(out / "water.gif", panels, captions=captions)


if __name__ == "__main__":
    sys.exit(main())
