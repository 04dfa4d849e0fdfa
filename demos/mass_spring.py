"""A robot of masses, springs and muscles learns to walk.

A muscle is a spring whose rest length a small neural network changes. A run has about a thousand
launches that update positions and velocities in place: `with dt.Tape(loss):` records them and
computes the gradient of the distance walked with respect to the weights of the network. With
`--view window` you can watch the robot learn to reach a goal, and drag the goal meanwhile.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.adjoints import Notes, note
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train, write
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from demos.support.walks import ACTIVATION, Motion, save_walk_animation, save_walk_strip
from difftile import ti
from scenes.mass_spring import (
    ROBOT_NAMES,
    MassSpringScene,
    Network,
    Walker,
    make_network,
    make_scene,
)

STEP_SIZE = 0.08  # length of the first step of gradient descent; the last one is almost 0
MOMENTUM = 0.8  # steps in one direction add up, to five times that length
# The gradient says where to go, not how far: through contacts and some thousand steps its norm
# varies by orders of magnitude. A norm above this one, as nearly all are, is scaled down to it.
CLIP_NORM = 0.01
FRAME_EVERY = 20  # simulation steps from one frame of the animation to the next
VIEW = 0.0, -0.1, 1.1, 0.85  # left, bottom, right and top of the view [m]
VIEW_RATE = STEP_SIZE / CLIP_NORM / 2  # of steps towards a goal, which do not become smaller


def watch(walker: Walker, label: str, notes: Notes | None = None) -> Motion:
    """Simulate from the start, and keep the state of every few steps.

    A tape will store the gradients with respect to the positions in `notes`, by frame.
    """
    positions: list[np.ndarray] = []
    activations: list[np.ndarray] = []

    def keep(kept: list[np.ndarray], field: dt.Field) -> None:
        with dt.no_grad():  # for the picture only
            kept.append(field.to_numpy())

    times = [*range(0, walker.steps, FRAME_EVERY), walker.steps]
    walker.start()
    for t in range(walker.steps):
        if t % FRAME_EVERY == 0:
            if notes is not None:
                note(walker.x, notes, len(positions))
            keep(positions, walker.x)
        walker.step(t)
        if t % FRAME_EVERY == 0:
            keep(activations, walker.activation)
    if notes is not None:
        note(walker.x, notes, len(positions))
    keep(positions, walker.x)
    keep(activations, walker.activation)
    return Motion(
        label=label,
        times=walker.h * np.array(times),
        positions=np.array(positions),
        activations=np.array(activations),
        tracked=walker.head,
    )


def learn(walker: Walker, iterations: int, memory: str | None = None) -> Training:
    """Train the network; the one that walked farthest is left in the fields."""
    rate = dt.optim.schedules.linear(STEP_SIZE / CLIP_NORM, 0.0, iterations)
    optimiser = dt.optim.SGD(
        walker.parameters, rate, momentum=MOMENTUM, clip_norm=CLIP_NORM, nonfinite="skip"
    )
    return train(walker, optimiser, iterations, "learning to walk", memory=memory)


def view(walker: Walker, network: Network, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which the robot learns to reach a goal that can be dragged."""
    app = make_app("mass-spring", options, VIEW)
    optimiser = dt.optim.SGD(
        walker.parameters, VIEW_RATE, momentum=MOMENTUM, clip_norm=CLIP_NORM, nonfinite="skip"
    )
    scene, robot = walker.scene, walker.scene.robot
    muscles = robot.actuation > 0

    def walk(label: str) -> Motion:
        notes = Notes()
        with dt.Tape(walker.loss, memory=options.memory):
            motion = watch(walker, label, notes)
            walker.miss()
        app.plot("off the goal [m]", walker.loss)
        slopes = [notes.gradients[k] for k in range(len(motion.times))]
        return replace(motion, slopes=np.array(slopes))

    shown = latest = walk("untrained")
    frame, drawn = 0, time.perf_counter()
    masses = dt.zeros_like(walker.x, grad=True)  # of the frame, with their gradient
    app.handle(walker.goal)
    app.slider("step size", (optimiser, "lr"), min=0.5, max=20.0, log=True)

    @app.step
    def improve() -> None:
        nonlocal latest
        optimiser.step()
        latest = walk(f"after {app.steps + 1} iterations")

    @app.draw
    def draw_walk() -> None:
        nonlocal shown, frame, drawn
        if frame >= len(shown.times):  # each walk is shown to its end, and then the latest one
            shown, frame = latest, 0
        places, goal = shown.positions[frame], walker.goal[None]
        colours = ACTIVATION.to_rgba(shown.activations[frame])[:, :3]
        app.lines([[-9.0, scene.floor], [9.0, scene.floor]], width=3.0)
        app.lines([[goal[0], scene.floor], goal], colour="#f2a65a", width=1.0)
        for which, width in ((~muscles, 2.0), (muscles, 5.0)):
            app.lines(places, edges=robot.springs[which], colour=colours[which], width=width)
        masses.from_numpy(places)
        masses.grad.from_numpy(shown.slopes[frame])
        app.points(masses, colour="#e6e9ed", radius=4.0)
        app.points(places[[walker.head]], colour="#f2a65a", radius=6.0)
        app.text((0.02, 0.82), f"{shown.label}   t = {shown.times[frame]:.2f} s")
        # A walk takes its time, however long a step does; headless each frame is a picture.
        now = time.perf_counter()
        passed = (now - drawn) / (walker.h * FRAME_EVERY) if options.view != "none" else 1.0
        frame, drawn = frame + max(1, round(passed)), now

    @app.reset
    def forget() -> None:
        nonlocal shown, latest, frame
        write(walker, network.arrays())
        walker.goal.from_numpy(scene.goal)
        for slots in optimiser.state.values():
            for values in slots.values():
                values.fill(0.0)
        shown = latest = walk("untrained")
        frame = 0

    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("mass-spring", __doc__, steps=1500, iterations=60)
    parser.add_argument("--robot", choices=ROBOT_NAMES, default="C", help="default: %(default)s")
    add_view_options(parser)
    options = start(parser, argv)

    scene = make_scene(options.robot)
    network = make_network(scene, options.seed)
    if options.check:
        return print_check(Walker(scene, network, min(options.steps, 200), ti.f64), "b2")

    walker = Walker(scene, network, options.steps)
    if is_viewed(options):
        return show(view(walker, network, options), options)
    before = watch(walker, "before")
    if not options.no_pictures:
        draw_walks(options.out, scene, [before])
    training = learn(walker, options.iterations, options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = watch(walker, f"after {len(training.losses) - 1} iterations")
    print(training)
    print(
        f"the robot walks {after.distance:.2f} m in {after.times[-1]:.1f} s, "
        f"{after.distance / scene.robot.width:.1f} body lengths; "
        f"untrained it got {before.distance:.2f} m"
    )
    if not options.no_pictures:
        draw(options.out, scene, training.losses, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: MassSpringScene, losses: list[float], motions: list[Motion]) -> None:
    """Write the pictures."""
    robot = scene.robot
    save_loss_curve(out / "loss.png", losses, "loss: minus x of the head [m]")
    draw_walks(out, scene, motions)
    muscles = robot.actuation > 0
    save_walk_animation(out / "walk.gif", motions, robot.springs, muscles, scene.floor)


def draw_walks(out: Path, scene: MassSpringScene, motions: list[Motion]) -> None:
    """Draw the strip of all walks; the first one is there long before the second."""
    robot = scene.robot
    muscles = robot.actuation > 0
    save_walk_strip(out / "before_after.png", motions, robot.springs, muscles, scene.floor)


if __name__ == "__main__":
    sys.exit(main())
