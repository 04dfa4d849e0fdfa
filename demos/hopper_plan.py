"""A hopper jumps one metre and lands on its foot: a plan of 1.2 s, by a hundred gradients.

The plan is cut into 60 pieces of 20 ms, each from a state of its own, all differentiated at once
in one batch of worlds. Gauss-Newton joins them to one motion that ends standing, 1 m ahead, first
on a soft floor. Shooting by the cross-entropy method gets several times the simulated steps, in
another batch; with `--times 50` too it falls far short. With `--view window` both are watched: the
pieces, the plan, and the best shot.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import AFTER, INK, PALE, make_figure
from demos.support.plans import Course, CrossEntropy, Planner
from demos.support.training import print_check
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti
from difftile.arguments import positive_int
from difftile.progress import progress_bar
from difftile.worlds.robots import LOOK, BodyPoses, Robots, poses
from scenes.hop import AHEAD, CONTROLS, Shots, robot, split

SHOWN, APART = 6, 0.45  # moments in the strip, and the way between them [m]
OTHER = "#d9822b"
LANE = 1.5  # between the rows of the viewer [m]


def plan_by_gradients(planner: Planner, iterations: int) -> float:
    """Take gradients until they are used up; return the seconds after the first."""
    begun = time.perf_counter()
    with progress_bar(total=iterations, desc="gradients", unit="gradient") as bar:
        while not planner.done:
            planner.step()
            if planner.gradients == 1:
                begun = time.perf_counter()
            bar.set_postfix(gap=f"{planner.gap:.2g}", loss=f"{planner.course.best:.4g}")
            bar.update()
    return time.perf_counter() - begun


def shoot(shooting: CrossEntropy, steps: int) -> float:
    """Draw plans until the steps are used up; return the seconds after the first draw."""
    begun = None
    with progress_bar(total=steps, desc="shooting", unit="step") as bar:
        while shooting.course.steps < steps:
            before = shooting.course.steps
            shooting.step()
            begun = begun or time.perf_counter()
            bar.set_postfix(loss=f"{shooting.course.best:.4g}")
            bar.update(shooting.course.steps - before)
    return time.perf_counter() - (begun or 0.0)


def motion(shots: Shots, plans: Sequence[np.ndarray]) -> tuple[np.ndarray, BodyPoses]:
    """Play up to as many plans as there are worlds.

    Returns:
        The last states, (plans, 12), and poses at all controls: (61 x plans, ...) in this order.
    """
    given = np.zeros((len(shots.losses.to_numpy()), CONTROLS, plans[0].shape[-1]))
    given[: len(plans)] = plans
    seen: list[BodyPoses] = []
    shots.play(given, lambda: seen.append(poses(shots.sim, range(len(plans)))))
    joined = (np.concatenate([getattr(one, name) for one in seen]) for name in ("xpos", "xquat"))
    return shots.states()[: len(plans)], BodyPoses(*joined)


def save_strip(path: Path, shown: BodyPoses, plans: int, titles: Sequence[str]) -> None:
    """Draw moments of each motion side by side, a motion above the other."""
    figure = make_figure(10.0, 3.4 * plans)
    moments = np.linspace(0, CONTROLS, SHOWN).astype(int)
    for row, axes in enumerate(figure.subplots(plans, 1, squeeze=False)[:, 0]):
        shades = [_mixed(AFTER if row == 0 else OTHER, 0.25 + 0.75 * k / CONTROLS) for k in moments]
        places = np.arange(SHOWN)[:, None] * np.array([APART, 0.0, 0.0])
        robots = Robots(robot(), places, colours=shades, floor=(-1.5, -0.6, 5.0, 0.7))
        at = (0.5 * AHEAD + places[:, 0].mean(), 0.0, 0.6)
        look = {**LOOK, "yaw": 0.0, "pitch": 0.12, "at": at, "distance": 3.4}
        axes.imshow(robots.image(shown[plans * moments + row], (1000, 330), **look))
        axes.set_title(titles[row])
        axes.set_axis_off()
    figure.savefig(path)


def _mixed(colour: str, share: float) -> str:
    """Return a colour mixed with white."""
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return "#" + "".join(f"{round(c):02x}" for c in 255 - share * (255 - channels))


def save_curves(path: Path, planner: Planner, shooting: Course) -> None:
    """Draw the least losses over simulated steps."""
    figure = make_figure(7.0, 3.8)
    axes = figure.subplots()
    for course, colour, style, label in (
        (planner.before, AFTER, ":", "Gauss-Newton, on a softer floor"),
        (planner.course, AFTER, "-", "Gauss-Newton"),
        (shooting, OTHER, "-", "cross-entropy method"),
    ):
        if course.points:
            steps, losses = np.array([*course.points, (course.steps, course.best)]).T
            axes.step(steps, losses, color=colour, linestyle=style, where="post", label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("simulated time steps of all worlds")
    axes.set_ylabel("least loss of a rollout")
    axes.grid(color=PALE, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, labelcolor=INK)
    figure.savefig(path)


def view(options: argparse.Namespace) -> dt.viewer.App:
    """Return an app that shows the pieces, the plan and the best shot, while both are sought."""
    app = make_app("hopper-plan", options)
    planner, shooting = Planner(options.iterations), CrossEntropy(seed=options.seed)
    shown = np.arange(0, CONTROLS, 6)  # pieces
    shots = Shots(len(shown))
    places = np.zeros((len(shown) + 2, 3))
    places[:, 1] = [2.0 * LANE] * len(shown) + [0.0, LANE]  # the pieces at the back
    colours = ["#b9d4d8"] * len(shown) + [AFTER, OTHER]
    robots = Robots(robot(), places, colours=colours, floor=(-1.0, -1.0, 2.5, 4.0))
    app.look(**LOOK, at=(0.5, LANE, 0.5), distance=6.5)
    played, moment = motion(shots, [planner.best, shooting.best])[1], 0

    @app.step
    def improve() -> None:
        if not planner.done:
            planner.step()
            app.plot("gaps", planner.gap, log=True)
            if np.isfinite(planner.course.best):
                app.plot("loss of the plan", planner.course.best, log=True)
        if shooting.course.steps < options.times * planner.course.steps:
            shooting.step()
            app.plot("loss of the best shot", shooting.course.best, log=True)

    @app.draw
    def draw() -> None:
        nonlocal played, moment
        if moment > CONTROLS + 15:  # the plans are played again, as they are now
            played, moment = motion(shots, [planner.best, shooting.best])[1], 0
        qpos, qvel = split(planner.path[shown])
        shots.sim.qpos.from_numpy(qpos.astype(np.float32))
        shots.sim.qvel.from_numpy(qvel.astype(np.float32))
        pieces, now = poses(shots.sim), played[2 * min(moment, CONTROLS) + np.arange(2)]
        both = (np.concatenate(one) for one in zip(_arrays(pieces), _arrays(now), strict=True))
        robots.draw(app, BodyPoses(*both))
        app.text((0.02, 0.95), f"{planner.gradients} gradients")
        moment += 1

    @app.reset
    def again() -> None:
        planner.start()
        shooting.start()

    return app


def _arrays(shown: BodyPoses) -> tuple[np.ndarray, np.ndarray]:
    return shown.xpos, shown.xquat


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("hopper-plan", __doc__, iterations=100, memory=False)
    parser.add_argument(
        "--times",
        type=positive_int,
        default=5,
        help="simulated steps of shooting, relative to the gradients'; default: %(default)s",
    )
    add_view_options(parser)
    options = start(parser, argv)
    if options.check:
        return print_check(Shots(1, ti.f64, controls=8), "plan")
    if is_viewed(options):
        return show(view(options), options)

    planner = Planner(options.iterations)
    seconds = plan_by_gradients(planner, options.iterations)
    print(
        f"{planner.gradients} gradients and {planner.course.steps:.3g} steps in {seconds:.1f} s "
        "after the first"
    )
    shooting = CrossEntropy(seed=options.seed)
    slower = shoot(shooting, options.times * planner.course.steps)
    print(f"cross-entropy method: {shooting.course.steps:.3g} steps in {slower:.1f} s")
    names = "Gauss-Newton", "cross-entropy"
    shots = Shots(8)
    last, shown = motion(shots, [planner.best, shooting.best])
    losses = shots.losses.to_numpy()
    for name, state, loss in zip(names, last, losses, strict=False):
        print(
            f"{name}: loss {loss:.4g}; at the end {state[0]:.2f} m ahead, {state[1]:.2f} m high, "
            f"pitch {state[2]:.2f}, {np.hypot(*state[6:8]):.2f} m/s"
        )
    if not options.no_pictures:
        titles = [f"{name}: loss {loss:.3g}" for name, loss in zip(names, losses, strict=False)]
        save_strip(options.out / "strip.png", shown, 2, titles)
        save_curves(options.out / "curve.png", planner, shooting.course)
        print(f"pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
