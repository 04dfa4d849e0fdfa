"""Smoke forms a picture: optimise the initial velocity of an incompressible flow.

Every step carries velocities and smoke along the flow, solves for a pressure by Jacobi iterations,
and subtracts its gradient from the velocities. All of it is updated in place: `with dt.Tape(loss):`
stores the values that the adjoints read and computes the gradient with respect to the initial
velocities.
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
from scenes.smoke import Smoke, make_scene

LOOK = Look(0.0, 1.0, "Greys")
STEP_SIZE, MOMENTUM = 80.0, 0.9
# A velocity that grows without bounds gives a gradient without bounds; a step may not be that long.
CLIP_NORM = 0.02
FRAMES = 50  # of the animation


def watch(smoke: Smoke) -> tuple[np.ndarray, np.ndarray]:
    """Simulate once more, and return some of the steps and the smoke at each, (frames, n, n)."""
    times = np.unique(np.linspace(0, smoke.steps - 1, FRAMES).round().astype(int))
    smoke.start()
    found = [smoke.smoke.to_numpy()]
    for t in range(1, smoke.steps):
        smoke.step(t)
        if t in times:
            found.append(smoke.smoke.to_numpy())
    return times, np.array(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("smoke", __doc__, steps=100, iterations=150)
    say = "default: %(default)s"
    parser.add_argument(
        "--size", type=positive_int, default=128, help=f"cells along an axis; {say}"
    )
    parser.add_argument(
        "--relaxations", type=positive_int, default=10, help=f"iterations for a pressure; {say}"
    )
    parser.add_argument(
        "--original", action="store_true", help="use the pressure that the paper's program uses"
    )
    options = start(parser, argv)
    if options.check:
        scene = make_scene(min(options.size, 32), min(options.steps, 20), options.relaxations)
        smoke = Smoke(scene, options.original, ti.f64)
        # Between the cells: where a velocity is a whole number, interpolation has a kink.
        draws = np.random.default_rng(options.seed).standard_normal((scene.n, scene.n, 2))
        smoke.v0.from_numpy(draws)
        return print_check(smoke, "v0", eps=1e-6)

    scene = make_scene(options.size, options.steps, options.relaxations)
    smoke = Smoke(scene, options.original)
    descent = dt.optim.SGD(smoke.parameters, STEP_SIZE, momentum=MOMENTUM, clip_norm=CLIP_NORM)
    if not options.no_pictures:
        draw_strip(options.out, smoke, [])
    training = train(smoke, descent, options.iterations, "stirring smoke", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    print(training)
    first, best = (np.sqrt(loss) for loss in (training.losses[0], min(training.losses)))
    print(
        f"after {scene.steps - 1} steps the smoke is {best:.3f} off the picture (root mean square; "
        f"its density is 0 to 1); at rest it stays a checkerboard, {first:.3f} off"
    )
    if not options.no_pictures:
        draw(options.out, smoke, training)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, smoke: Smoke, training: Training) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "mean square off the picture", "log")
    times, found = watch(smoke)
    target = smoke.scene.target
    picks = np.linspace(0, len(times) - 1, 5).round().astype(int)[1:]
    draw_strip(out, smoke, [Panel(f"after: step {times[k]}", found[k]) for k in picks])
    panels = [Panel("smoke", found), Panel("picture", target[None])]
    captions = [f"step {t}" for t in times]
    save_images_animation(out / "smoke.gif", panels, LOOK, captions=captions)


def draw_strip(out: Path, smoke: Smoke, after: list[Panel]) -> None:
    """Draw the smoke at rest, after the training, and the picture that it is to form."""
    before = Panel("before: all steps", smoke.scene.smoke)
    row = [before, *after, Panel("picture", smoke.scene.target)]
    save_images(out / "before_after.png", [("", row)], LOOK)


if __name__ == "__main__":
    sys.exit(main())
