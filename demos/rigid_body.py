"""A robot of rigid boxes, springs and joints learns to reach a goal.

A small neural network changes the rest lengths of the springs. Corners of the boxes may hit the
floor in the middle of a step, and friction holds them there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.bodies import (
    Motion,
    boxes,
    from_body,
    save_body_animation,
    save_body_strip,
)
from demos.support.options import make_parser, start
from demos.support.panels import Window
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile import ti
from scenes.rigid_body import ROBOT_NAMES, RigidBodies, RigidBodyScene, make_network, make_scene

# Contacts magnify the gradient by orders of magnitude, at times: it says where to go, not how far.
# As in the paper, one that is longer than this is scaled down to it.
CLIP_NORM = 0.2
FRAME_EVERY = 32  # simulation steps from one frame of the animation to the next


def watch(bodies: RigidBodies, label: str) -> Motion:
    """Simulate once more without a tape, and keep the state of every few steps."""
    robot, places, activations = bodies.scene.robot, [], []
    times = [*range(0, bodies.steps, FRAME_EVERY), bodies.steps]
    w2, b2 = bodies.w2.to_numpy(), bodies.b2.to_numpy()
    bodies.start()
    for t in range(bodies.steps):
        if t % FRAME_EVERY == 0:
            places.append(bodies.x.to_numpy())
        bodies.step(t)
        if t % FRAME_EVERY == 0:
            activations.append(np.tanh(w2 @ bodies.hidden.to_numpy() + b2))
    places, activations = np.array([*places, bodies.x.to_numpy()]), [*activations, activations[-1]]
    springs = robot.material[:, 0] > 0
    miss = np.linalg.norm(places[:, robot.head, :2] - bodies.scene.goal, axis=1)
    return Motion(
        label=label,
        result=f"{miss[0]:.2f} m from the goal at the start, {miss[-1]:.2f} m at the end",
        times=bodies.h * np.array(times),
        outlines=boxes(places, robot.halves),
        colours=["#7fa8ad" if k == robot.head else "#d3d7db" for k in range(bodies.n)],
        tracked=robot.head,
        springs=from_body(places[:, robot.ends], robot.anchors)[:, springs],
        activations=np.array(activations)[:, springs],
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("rigid-body", __doc__, steps=2048, iterations=60)
    parser.add_argument("--robot", choices=ROBOT_NAMES, default="A", help="default: %(default)s")
    parser.add_argument(
        "--no-toi", action="store_true", help="ignore times of impact: corners stop at once"
    )
    parser.add_argument(
        "--original",
        action="store_true",
        help="do not lift corners out of the floor, as in the paper's program",
    )
    options = start(parser, argv)
    scene = make_scene(options.robot, **({"penalty": 0.0} if options.original else {}))
    network, impacts = make_network(scene, options.seed), not options.no_toi
    if options.check:
        short = min(options.steps, 200)
        return print_check(RigidBodies(scene, network, short, ti.f64, impacts=impacts), "b2")

    bodies = RigidBodies(scene, network, options.steps, impacts=impacts)
    before = watch(bodies, "before")
    if not options.no_pictures:
        draw_bodies(options.out, scene, [before])
    descent = dt.optim.SGD(bodies.parameters, 1.0, clip_norm=CLIP_NORM, nonfinite="skip")
    training = train(
        bodies, descent, options.iterations, "learning to crawl", memory=options.memory
    )
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = watch(bodies, f"after {len(training.losses) - 1} iterations")
    print(training)
    print(f"the head is {after.result}; untrained it is {before.result}")
    if not options.no_pictures:
        draw(options.out, scene, training, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: RigidBodyScene, training: Training, motions: list[Motion]) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "distance from the goal [m]")
    window, goal = draw_bodies(out, scene, motions)
    save_body_animation(out / "crawl.gif", motions, window, goal, scene.floor)


def draw_bodies(
    out: Path, scene: RigidBodyScene, motions: list[Motion]
) -> tuple[Window, tuple[float, float]]:
    """Draw the strip of all motions; return its window and the goal."""
    goal = (scene.goal[0], scene.goal[1])
    corners = np.concatenate([motion.outlines.reshape(-1, 2) for motion in motions])
    right, top = np.maximum(corners.max(axis=0), goal) + 0.04
    window = (corners[:, 0].min() - 0.04, right, scene.floor - 0.06, top)
    save_body_strip(out / "before_after.png", motions, window, goal, scene.floor)
    return window, goal


if __name__ == "__main__":
    sys.exit(main())
