"""Reconstruct a cloud from pictures: a ray of light adds up the densities along its way.

Each pixel is a sum of `--steps` samples along its ray. The gradient of a picture with respect to
the cloud sends the error of each pixel back along its ray, into all the cells that it passed. The
adjoint of the loop below does that; no line of it is written in this file.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.images import Look, Panel, save_images, save_images_animation
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile import ti
from difftile.arguments import positive_int
from scenes.volume import VolumeRenderer, VolumeScene, make_scene, seen_from

# Steps grow with the number of cells: the more there are, the less each adds to a pixel.
STEP_SIZE, MOMENTUM = 3.0 / 32**3, 0.9
FRAMES = 60  # of the animation, once around the cloud


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
