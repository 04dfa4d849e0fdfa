"""A soft robot on four legs learns to walk in three dimensions, or to get out of water.

Elastic bodies and liquid are particles that move over a grid (MLS-MPM: Hu et al., SIGGRAPH 2018):
in each step, particles transfer mass and momentum to the nodes around them, gravity and walls act
on the grid, and particles read the velocities back. All of it is updated in place.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import difftile as dt
from demos.diffmpm import watch
from demos.support.options import make_parser, start
from demos.support.particles import Swarm
from demos.support.perspective import save_perspective_animation, save_perspective_strip
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile import ti
from difftile.arguments import positive_int
from scenes.mpm import PER_CELL, SCENE_NAMES_3D, Mpm3d, make_controller, make_scene_3d

LEARNING_RATES = {"robot": 0.2, "liquid": 0.6}  # of Adam


def look(mpm: Mpm3d, label: str) -> Swarm:
    """Simulate once more without a tape, and keep the state of every few steps."""
    return replace(watch(mpm, label), spacing=1.0 / PER_CELL / mpm.n)


def learn(mpm: Mpm3d, iterations: int, memory: str | None = None) -> Training:
    """Train the controller; the one that got farthest is left in the fields."""
    rate = LEARNING_RATES[mpm.scene.name]
    optimiser = dt.optim.Adam(mpm.parameters, rate, nonfinite="skip")
    return train(mpm, optimiser, iterations, "learning to walk", memory=memory)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("diffmpm3d", __doc__, steps=512, iterations=25)
    parser.add_argument("--scene", choices=SCENE_NAMES_3D, default="robot", help="default: robot")
    say = "cells along a side, 64 in the paper; default: %(default)s"
    parser.add_argument("--grid", type=positive_int, default=32, help=say)
    say = "keep a mistake of the paper's program: a floor that everything sticks to"
    parser.add_argument("--original", action="store_true", help=say)
    options = start(parser, argv)

    try:
        scene = make_scene_3d(options.scene, options.grid, options.seed, options.original)
    except ValueError as error:
        parser.error(f"argument --grid: {error}")
    controller = make_controller(scene, options.seed)
    if options.check:
        short = Mpm3d(scene, controller, min(options.steps, 100), ti.f64)
        return print_check(short, "weights", eps=1e-4)

    mpm = Mpm3d(scene, controller, options.steps)
    before = look(mpm, "before")
    if not options.no_pictures:
        save_perspective_strip(options.out / "before_after.png", [before])
    training = learn(mpm, options.iterations, options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = look(mpm, f"after {len(training.losses) - 1} iterations")
    print(training)
    print(
        f"the robot walks {after.distance:.2f} m in {after.times[-1]:.1f} s, "
        f"{after.distance / scene.width:.1f} body lengths; untrained it got {before.distance:.2f} m"
    )
    if not options.no_pictures:
        draw(options.out, training.losses, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, losses: list[float], swarms: list[Swarm]) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", losses, "loss: minus x of the centre [m]")
    save_perspective_strip(out / "before_after.png", swarms)
    save_perspective_animation(out / "motion.gif", swarms)


if __name__ == "__main__":
    sys.exit(main())
