"""Waves on a square of water run into each other and show a picture.

Two fields hold the height of the water now and one time step before. A step computes the next
height in place of the older one, and the two swap roles. The equation is linear, so the gradient
needs no old values, and `with dt.Tape(loss):` stores none, however long the simulation is. With
`--view window` you can drop water into the pool, and watch the gradient run backwards in time.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from demos.support.images import Look, Panel, save_images, save_images_animation
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.pools import Pool, make_descent, view
from demos.support.training import Training, print_check, train
from demos.support.viewing import add_view_options, is_viewed, show
from difftile import ti
from difftile.arguments import positive_int
from scenes.wave import Wave, WaveScene, make_scene

FRAMES = 64  # of the animation


def watch(wave: Wave) -> tuple[np.ndarray, np.ndarray]:
    """Simulate once more, and return some of the steps and the water at each, (frames, n, n)."""
    times = np.unique(np.linspace(0, wave.steps - 1, FRAMES).round().astype(int))
    wave.start()
    water = [wave.initial.to_numpy()]
    for t in range(1, wave.steps):
        if t > 1:
            wave.step()
        if t in times:
            water.append(wave.p.to_numpy()[1:-1, 1:-1])
    return times, np.array(water)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("wave", __doc__, steps=256, iterations=120)
    parser.add_argument(
        "--size", type=positive_int, default=256, help="cells along each axis; default: %(default)s"
    )
    add_view_options(parser)
    options = start(parser, argv)
    scene = make_scene(min(options.size, 64) if options.check else options.size)
    if options.check:
        return print_check(Wave(scene, options.steps, ti.f64), "initial")

    wave = Wave(scene, options.steps)
    if is_viewed(options):
        return show(view(Pool(wave), options), options)
    training = train(
        wave,
        make_descent(wave.parameters),
        options.iterations,
        "raising waves",
        memory=options.memory,
    )
    if not training.losses:
        return 130  # interrupted before there was anything to show
    shown = 1.0 - min(training.losses) / float(np.mean(scene.target**2))
    print(training)
    print(
        f"step {wave.steps - 1} shows {shown:.1%} of the picture's variance; at first it was flat"
    )
    if not options.no_pictures:
        draw(options.out, scene, training, *watch(wave))
        print(f"pictures in {options.out}")
    return 0


def draw(
    out: Path, scene: WaveScene, training: Training, times: np.ndarray, water: np.ndarray
) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "mean square off the picture [m²]", "log")
    high = 1.2 * float(np.abs(scene.target).max())
    look = Look(-high, high, "RdBu", "height [m]")
    picks = np.linspace(0, len(times) - 1, 4).round().astype(int)
    after = [Panel(f"after: step {times[k]}", water[k]) for k in picks]
    before = Panel("before: all steps", np.zeros_like(scene.target))
    row = [before, *after, Panel("the picture", scene.target)]
    save_images(out / "before_after.png", [("", row)], look)
    panels = [Panel("the water", water), Panel("the picture", scene.target[None])]
    captions = [f"step {t}" for t in times]
    save_images_animation(out / "wave.gif", panels, look, captions=captions)


if __name__ == "__main__":
    sys.exit(main())
