"""A chain of six links follows a goal past a post, planning sixty times a second.

For each picture the chain looks a tenth of a second ahead: a short rollout in a world of its own,
and the gradient of its end by the controls of the motors, through the contact of the links with the
post. With `--view window` you drag the goal; otherwise it swings around the post by itself.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.patches import Circle

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import AFTER, FLOOR, INK, PALE, make_figure
from demos.support.training import print_check
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti
from scenes.chain import LINK, POST, RADIUS, TOP, Follower, swing

FRAME = 0.02  # of the chain's time, for each picture [s]
SUBSTEPS = 2
VIEW = (-0.95, 0.3, 0.95, 1.55)  # left, bottom, right and top [m]
SHOWN = 6  # moments in the picture


def frame(follower: Follower, gradients: int) -> None:
    """Go on by one picture."""
    for _ in range(gradients):
        follower.improve()
    follower.step(SUBSTEPS)


def view(follower: Follower, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which the chain follows a goal that can be dragged."""
    app = make_app("chain-drape", options, VIEW, speed=1.0)
    alone = options.view == "none"  # without a hand the goal swings
    follower.aim(swing(0.0))
    app.handle(follower.goal)

    @app.step
    def go_on() -> None:
        if alone:
            follower.aim(swing(FRAME * app.steps))
        frame(follower, options.gradients)
        app.plot("off the goal [m]", float(np.linalg.norm(follower.joints()[-1] - follower.aimed)))

    @app.draw
    def draw() -> None:
        joints = follower.joints()
        app.lines([[-9.0, TOP + RADIUS], [9.0, TOP + RADIUS]], width=3.0)
        app.circles([POST[:2]], POST[2], colour="#6b7480")
        between = np.linspace(0.0, 1.0, 9)[:, None]
        links = joints[:-1, None] * (1.0 - between) + joints[1:, None] * between
        app.circles(links.reshape(-1, 2), RADIUS, colour="#4db6ac")
        app.circles(joints[1:-1], 0.4 * RADIUS, colour="#22272e")
        app.text((VIEW[0] + 0.05, VIEW[3] - 0.1), f"t = {FRAME * app.steps:.2f} s")

    @app.reset
    def again() -> None:
        follower.start()
        follower.aim(swing(0.0))

    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("chain-drape", __doc__, steps=5, iterations=350, memory=False)
    parser.add_argument(
        "--gradients", type=int, choices=range(1, 9), default=1, help="for each picture; default: 1"
    )
    add_view_options(parser)
    options = start(parser, argv)
    if options.check:
        return print_check(Follower(options.steps, ti.f64), "controls")

    follower = Follower(options.steps)
    follower.start()
    if is_viewed(options):
        return show(view(follower, options), options)
    goals = [swing(FRAME * k) for k in range(options.iterations)]
    shapes, seconds = [], []
    for goal in goals:
        started = time.perf_counter()
        follower.aim(goal)
        frame(follower, options.gradients)
        shapes.append(follower.joints())
        seconds.append(time.perf_counter() - started)
    tips = np.array(shapes)[:, -1]
    off = np.linalg.norm(tips - goals, axis=1)
    print(
        f"the tip is {100 * np.mean(off):.1f} cm off the goal in the mean; "
        f"a picture takes {1e3 * np.median(seconds):.1f} ms"
    )
    if not options.no_pictures:
        save_picture(options.out / "chain.png", np.array(shapes), np.array(goals), off)
        print(f"pictures in {options.out}")
    return 0


def save_picture(path: Path, shapes: np.ndarray, goals: np.ndarray, off: np.ndarray) -> None:
    """Draw the chain at a few moments, and how far the tip is off over time."""
    figure = make_figure(9.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1.0))
    scale = 72.0 * 2.0 * RADIUS  # roughly the width of a link [pt], for the size of this figure
    left.axhline(TOP + RADIUS, color=INK, linewidth=2)
    left.add_patch(Circle(POST[:2], POST[2], facecolor=FLOOR, edgecolor=PALE))
    for share, k in enumerate(np.linspace(0, len(shapes) - 1, SHOWN).astype(int)):
        alpha = 0.25 + 0.75 * (share + 1) / SHOWN
        left.plot(*shapes[k].T, color=AFTER, alpha=alpha, linewidth=scale, solid_capstyle="round")
        left.plot(*goals[k], "o", color="#d9822b", alpha=alpha, markersize=6)
    left.plot(*goals.T, color="#d9822b", alpha=0.4, linewidth=1)
    left.set_aspect("equal")
    left.set_xlim(-0.75, 0.75)
    left.set_ylim(TOP - 6.5 * LINK, TOP + 0.1)
    left.axis("off")
    right.plot(FRAME * np.arange(len(off)), 100.0 * off, color=AFTER)
    right.set_xlabel("time [s]")
    right.set_ylabel("tip off the goal [cm]")
    right.set_ylim(0.0)
    right.grid(color=PALE, alpha=0.3)
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
