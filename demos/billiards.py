"""A cue ball breaks a triangle of balls so that the last of them ends at a goal.

The gradient of the final position of that ball with respect to the initial position and velocity
of the cue ball passes through dozens of collisions, each of which magnifies it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.bodies import Motion, discs, save_body_animation, save_body_strip
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile import ti
from scenes.billiards import Billiards, BilliardsScene

# Collisions magnify gradients by orders of magnitude, and differently from one iteration to the
# next: Adam divides by their size, and steps that shrink to nothing let it settle. What is left is
# half a centimetre: a neighbour that touches it sends the last ball along one line, wherever the
# cue ball comes from, and that line passes the goal.
STEP_SIZE = 0.01
DESCENT_RATE = 0.01  # of the paper's plain gradient descent
FRAME_EVERY = 16  # simulation steps from one frame of the animation to the next
WINDOW = (0.0, 1.15, 0.28, 0.88)  # the visible area: left, right, bottom and top [m]


def watch(billiards: Billiards, label: str) -> Motion:
    """Simulate once more without a tape, and keep the state of every few steps."""
    scene, places = billiards.scene, []
    times = [*range(0, billiards.steps, FRAME_EVERY), billiards.steps]
    billiards.start()
    for t in range(billiards.steps):
        if t % FRAME_EVERY == 0:
            places.append(billiards.balls.to_numpy()[:, :2])
        billiards.step()
    places.append(billiards.balls.to_numpy()[:, :2])
    colours = ["#ffffff", *["#9aa3ad"] * (scene.n_balls - 2), "#1f6f78"]
    miss = float(np.linalg.norm(places[-1][scene.target] - scene.goal))
    return Motion(
        label=label,
        result=f"the last ball ends {100 * miss:.1f} cm from the goal",
        times=scene.time_step * np.array(times),
        outlines=discs(np.array(places), scene.radius),
        colours=colours,
        tracked=scene.target,
        springs=np.zeros((len(times), 0, 2, 2)),
        activations=np.zeros((len(times), 0)),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("billiards", __doc__, steps=1024, iterations=200)
    parser.add_argument(
        "--descent",
        action="store_true",
        help="plain gradient descent with a constant rate, as in the paper, instead of Adam",
    )
    options = start(parser, argv)
    scene = BilliardsScene()
    if options.check:
        return print_check(Billiards(scene, options.steps, ti.f64), "init_v", eps=1e-7)

    billiards = Billiards(scene, options.steps)
    before = watch(billiards, "before")
    if options.descent:
        optimiser = dt.optim.SGD(billiards.parameters, DESCENT_RATE)
    else:
        rate = dt.optim.schedules.cosine(STEP_SIZE, options.iterations)
        optimiser = dt.optim.Adam(billiards.parameters, rate)
    training = train(billiards, optimiser, options.iterations, "aiming", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = watch(billiards, f"after {len(training.losses) - 1} iterations")
    place, speed = (value[None] for value in billiards.parameters.values())
    print(training)
    print(
        f"{after.result}; before, {before.result}\n"
        f"the cue ball starts at ({place[0]:.3f}, {place[1]:.3f}) m "
        f"with ({speed[0]:.3f}, {speed[1]:.3f}) m/s"
    )
    if not options.no_pictures:
        draw(options.out, scene, training, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: BilliardsScene, training: Training, motions: list[Motion]) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "squared distance from the goal [m²]", "log")
    goal = (scene.goal[0], scene.goal[1])
    save_body_strip(out / "before_after.png", motions, WINDOW, goal)
    save_body_animation(out / "billiards.gif", motions, WINDOW, goal, fps=20.0)


if __name__ == "__main__":
    sys.exit(main())
