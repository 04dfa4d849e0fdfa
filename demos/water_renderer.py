"""Waves in a pool meet above an emblem on its bottom, and magnify it.

Light comes up from the bottom through the water: where the surface slopes, the bottom appears
shifted along the slope. The gradient runs from the colours through the refraction and all steps of
the waves back to the initial water.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.images import Panel, save_images, save_images_animation
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train
from demos.wave import watch
from difftile import ti
from difftile.arguments import positive_int
from scenes.wave import WaterRenderer, WaterScene, make_pool

STEP_SIZE, MOMENTUM = 5.0, 0.95


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
    scene = make_pool(min(options.size, 64) if options.check else options.size)
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
