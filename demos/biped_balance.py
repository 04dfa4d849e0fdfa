"""Pushed bipeds keep their balance while a goal is dragged, by a gradient for each picture.

Each joint has a servo. For each picture the angles that they hold move along one gradient of a
short rollout, through the contacts of box feet with the floor, so that the trunk comes to the goal
and stays upright. The last biped holds still instead, without gradients. With `--view window` you
drag the goal, and push; otherwise both happen by themselves.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import INK, PALE, make_figure
from demos.support.training import print_check
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti
from difftile.arguments import positive_int
from difftile.worlds.robots import LOOK, BodyPoses, Robots, poses
from scenes.balance import TRUNK, Bipeds, sway

SUBSTEPS = 4  # of the bipeds, for each picture
FRAME = 0.016  # of their time, for each picture [s]
EVERY, LASTS = 125, 6  # pictures from push to push, and of each
PUSH = 50.0  # [N]
APART = 0.9  # from one biped to the next [m]
SHOWN = 4  # moments in the strip
GREY = "#8d959e"  # the biped without gradients
COLOURS = ("#4db6ac", "#f2a65a", "#7aa6f0", GREY)


def ways(count: int, number: int) -> np.ndarray:
    """Return the directions of a push, which differ from biped to biped, (count, 3)."""
    angle = 0.5 * np.pi * (np.arange(count) + number)
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=1)


def frame(bipeds: Bipeds, gradients: int) -> None:
    """Go on by one picture."""
    for _ in range(gradients):
        bipeds.improve()
    bipeds.step(SUBSTEPS)


def make(options: argparse.Namespace) -> Bipeds:
    """Return the bipeds, of which the last one holds still if there are several."""
    bipeds = Bipeds(options.bipeds, options.steps)
    if options.bipeds > 1:
        bipeds.learns[options.bipeds - 1] = 0.0
    return bipeds


def colours(count: int) -> list[str]:
    """Return the colour of each biped."""
    return [COLOURS[k % 3] for k in range(count - 1)] + [GREY if count > 1 else COLOURS[0]]


def places(count: int) -> np.ndarray:
    """Return where the bipeds are shown [m]: the first one at the goal, the last one behind."""
    return APART * np.arange(count)[:, None] * np.array([0.0, 1.0, 0.0])


def view(bipeds: Bipeds, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which bipeds follow a goal that can be dragged, and are pushed."""
    app = make_app("biped-balance", options, speed=1.0)
    alone = options.view == "none"  # without a hand the goal sways
    count = len(bipeds.push)
    robots = Robots(
        bipeds.model, places(count), colours=colours(count), floor=(-1.5, -1.5, 1.5, 4.0)
    )
    app.look(**{**LOOK, "yaw": 1.15}, at=(0.0, 0.5 * APART * (count - 1), 0.5), distance=6.4)
    strength = app.slider("push [N]", min=0.0, max=120.0, value=PUSH)
    by_itself = app.checkbox("push every two seconds", value=True)
    left, number = 0, 0

    def push() -> None:
        nonlocal left, number
        left, number = LASTS, number + 1

    app.button("push", push)
    app.handle(bipeds.goal)

    @app.step
    def go_on() -> None:
        nonlocal left
        if by_itself.value and app.steps % EVERY == EVERY - 1:
            push()
        bipeds.push[:] = strength.value * ways(count, number) if left > 0 else 0.0
        left -= 1
        bipeds.aim(sway(FRAME * app.steps) if alone else bipeds.goal.to_numpy())
        frame(bipeds, options.gradients)
        fallen = bipeds.fallen()
        if fallen.any():
            bipeds.start(dt.from_numpy(fallen.astype(np.int32)))
        off = np.linalg.norm(bipeds.trunks()[0] - bipeds.goal.to_numpy())
        app.plot("off the goal [m]", float(off))

    @app.draw
    def draw() -> None:
        robots.draw(app, poses(bipeds.sim))

    @app.reset
    def again() -> None:
        bipeds.start()
        bipeds.aim(np.array(TRUNK))

    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("biped-balance", __doc__, steps=15, iterations=500, memory=False)
    say = "default: %(default)s"
    parser.add_argument(
        "--gradients", type=int, choices=range(1, 9), default=1, help=f"for each picture; {say}"
    )
    parser.add_argument("--bipeds", type=positive_int, default=4, help=f"side by side; {say}")
    add_view_options(parser)
    options = start(parser, argv)
    if options.check:
        return print_check(Bipeds(1, options.steps, ti.f64), "servos")

    bipeds = make(options)
    if is_viewed(options):
        return show(view(bipeds, options), options)
    count = options.bipeds
    moments = set(np.linspace(0, options.iterations - 1, SHOWN).astype(int))
    trunks, goals, seconds, shown = [], [], [], []
    falls = np.zeros(count, int)
    for k in range(options.iterations):
        begun = time.perf_counter()
        pushed = k % EVERY >= EVERY - LASTS
        bipeds.push[:] = PUSH * ways(count, k // EVERY) if pushed else 0.0
        bipeds.aim(sway(FRAME * k))
        frame(bipeds, options.gradients)
        fallen = bipeds.fallen()
        seconds.append(time.perf_counter() - begun)
        trunks.append(bipeds.trunks())
        goals.append(bipeds.goal.to_numpy())
        if k in moments:
            shown.append(poses(bipeds.sim))
        falls += fallen
        if fallen.any():
            bipeds.start(dt.from_numpy(fallen.astype(np.int32)))
    off = np.linalg.norm(np.array(trunks) - np.array(goals)[:, None], axis=2)
    with_them = bipeds.learns.to_numpy() > 0.0
    print(
        f"with gradients: {100.0 * off[:, with_them].mean():.1f} cm off the goal in the mean, "
        f"{falls[with_them].sum()} falls"
    )
    if not with_them.all():
        print(
            f"without: {100.0 * off[:, ~with_them].mean():.1f} cm, {falls[~with_them].sum()} falls"
        )
    print(f"a picture takes {1e3 * np.median(seconds):.1f} ms, without drawing")
    if not options.no_pictures:
        save_strip(options.out / "strip.png", bipeds, shown, sorted(moments))
        save_curves(options.out / "curve.png", np.array(trunks), np.array(goals), with_them)
        print(f"pictures in {options.out}")
    return 0


def save_strip(path: Path, bipeds: Bipeds, shown: list[BodyPoses], moments: Sequence[int]) -> None:
    """Draw all bipeds at a few moments."""
    count = len(bipeds.push)
    robots = Robots(
        bipeds.model, places(count), colours=colours(count), floor=(-1.2, -1.0, 1.2, 3.6)
    )
    look = {**LOOK, "yaw": 1.15, "at": (0.0, 0.5 * APART * (count - 1), 0.5), "distance": 4.6}
    figure = make_figure(12.0, 2.6)
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    for one, now, k in zip(axes, shown, moments, strict=True):
        one.imshow(robots.image(now, (560, 340), **look))
        one.set_title(f"{FRAME * k:.1f} s")
        one.set_axis_off()
    figure.savefig(path)


def save_curves(path: Path, trunks: np.ndarray, goals: np.ndarray, with_them: np.ndarray) -> None:
    """Draw where the trunks and the goal are over time, by axis, and when they are pushed."""
    figure = make_figure(9.0, 6.0)
    times = FRAME * np.arange(len(trunks))
    panels = figure.subplots(3, 1, sharex=True)
    for axis, (axes, name) in enumerate(zip(panels, ("ahead", "aside", "up"), strict=True)):
        for k, colour in enumerate(colours(trunks.shape[1])):
            said = f"biped {k + 1}" if with_them[k] else "without gradients"
            axes.plot(times, 100.0 * trunks[:, k, axis], color=colour, linewidth=1.2, label=said)
        axes.plot(times, 100.0 * goals[:, axis], color=INK, linewidth=1.0, label="goal")
        for k in range(EVERY - LASTS, len(trunks), EVERY):
            axes.axvspan(FRAME * k, FRAME * (k + LASTS), color=PALE, alpha=0.4, linewidth=0)
        centre, reach = 100.0 * TRUNK[axis], 22.0
        axes.set_ylim(centre - reach, centre + reach)
        axes.set_ylabel(f"{name} [cm]")
        axes.grid(color=PALE, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, labelcolor=INK, ncols=5, loc="upper left", fontsize=8)
    panels[-1].set_xlabel("time [s]; grey: pushed")
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
