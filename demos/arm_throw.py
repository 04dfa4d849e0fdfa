"""Arms learn to bat balls into rings, from plans that miss the balls altogether.

Where the hand passes the ball by, the exact gradient is exactly 0, and nothing is learned. With
gradients from a distance (`contact_gradient="distance"`) the hand is drawn to the ball; once all
balls are hit, exact gradients lead them into the rings. Both are shown, from the same plans. With
`--view window` the arms of both kinds throw again and again, with a gradient in between.
"""

import argparse
import sys
from collections.abc import Sequence

import numpy as np

import difftile as dt
from demos.support.hoops import Hoops, save_misses, save_strip
from demos.support.options import make_parser, start
from demos.support.training import print_check
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti
from difftile.arguments import positive_int
from difftile.progress import progress_bar
from difftile.worlds.robots import LOOK, BodyPoses, poses
from scenes.arm_throw import BALL, END, RING, Arms, Learner

NEAR, LONGEST = 1.5, 60  # misses [m], or gradients from a distance, after which exact ones go on
KINDS = "distance, then exact", "exact alone"  # gradients
AGAIN = 10  # pictures for which the last moment stays in the viewer
SHOW = 2  # decisions from one picture to the next, in the viewer


class Pupil:
    """A learner that begins with gradients from a distance, and goes on with exact ones.

    Args:
        count: Worlds.
        seed: Of the first plans.
        reaches: Whether it begins with gradients from a distance; otherwise all are exact.

    Attributes:
        arms: Those with the exact gradients, and the plans.
        misses: How far the balls passed the rings before each gradient [m].
        largest: The largest entry of all gradients so far.
        reached: The number of gradients from a distance.
    """

    def __init__(self, count: int, seed: int, reaches: bool) -> None:
        self.arms = Arms(count, seed)
        self.misses: list[np.ndarray] = []
        self.largest, self.reached = 0.0, 0
        finer = dt.optim.schedules.cosine(0.01, steps=80, end=0.0005)
        self._exact = Learner(self.arms, finer)
        self._afar = Learner(Arms(count, seed, "distance")) if reaches else None

    def improve(self) -> None:
        """Take one gradient."""
        learner = self._exact if self._afar is None else self._afar
        found = learner.improve()
        self.largest = max(self.largest, float(np.abs(found).max()))
        self.misses.append(learner.arms.misses.to_numpy())
        if self._afar is not None:
            self.reached += 1
            self.arms.plans.copy_from(self._afar.arms.plans)
            if self.misses[-1].max() < NEAR or self.reached == LONGEST:
                self._afar = None


def fly(arms: Arms) -> np.ndarray:
    """Throw the balls to the end; return coordinates after each decision, (steps, worlds, nq)."""
    arms.begin()
    motion = [arms.sim.qpos.to_numpy()]
    for k in range(round(END / arms.step_seconds)):
        arms.step(k)
        motion.append(arms.sim.qpos.to_numpy())
    return np.array(motion)


def passes(motion: np.ndarray, rings: np.ndarray) -> np.ndarray:
    """Return how far from the middle balls fall through the planes of their rings [m], (worlds,).

    Infinity for those that never do.
    """
    balls = motion[:, :, BALL : BALL + 3] - rings
    found = np.full(balls.shape[1], np.inf)
    for world in range(len(found)):
        heights = balls[:, world, 2]
        for k in np.flatnonzero((heights[:-1] > 0.0) & (heights[1:] <= 0.0)):
            share = heights[k] / (heights[k] - heights[k + 1])
            at = balls[k, world] + share * (balls[k + 1, world] - balls[k, world])
            found[world] = np.hypot(at[0], at[1])
    return found


def view(pupils: Sequence[Pupil], options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which arms of both kinds throw again and again, and learn."""
    app = make_app("arm-throw", options, speed=1.0)
    both = [pupil.arms for pupil in pupils]
    hoops = Hoops(both[0].sim.model, both[0].rings.to_numpy(), RING[2], groups=len(both))
    first, last = hoops.places[len(hoops.places) // len(both)], hoops.places[-1]
    middle = 0.5 * (last + np.array([1.7, 0.0, 0.8]))
    app.look(**{**LOOK, "yaw": 0.2, "pitch": 0.3}, at=middle.tolist(), distance=13.0)
    throw = round(END / both[0].step_seconds / SHOW)
    for arms in both:
        arms.begin()

    @app.step
    def go_on() -> None:
        k = app.steps % (throw + AGAIN)
        if k == 0:
            for pupil, name in zip(pupils, KINDS, strict=True):
                pupil.improve()
                app.plot(f"{name} [m]", float(pupil.misses[-1].mean()))
                pupil.arms.begin()
        if k < throw:
            for arms, j in ((arms, j) for arms in both for j in range(SHOW)):
                arms.step(SHOW * k + j)

    @app.draw
    def draw() -> None:
        found = [poses(arms.sim) for arms in both]
        xpos, xquat = (np.concatenate([getattr(p, n) for p in found]) for n in ("xpos", "xquat"))
        hoops.draw(app, BodyPoses(xpos, xquat))
        for name, place in zip(KINDS, (hoops.places[0], first), strict=True):
            app.text(place + np.array([0.0, -0.5, 0.0]), name)

    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("arm-throw", __doc__, iterations=120, memory=False)
    parser.add_argument("--worlds", type=positive_int, default=4, help="default: %(default)s")
    add_view_options(parser)
    options = start(parser, argv)
    if options.check:
        return print_check(hitting(Arms(2, options.seed, dtype=ti.f64)), "plans", 1e-6)

    pupils = [Pupil(options.worlds, options.seed, reaches) for reaches in (True, False)]
    if is_viewed(options):
        return show(view(pupils, options), options)
    motions, misses = {}, {}
    for label, pupil in zip(KINDS, pupils, strict=True):
        learn(pupil, options.iterations, label)
        motions[label], misses[label] = fly(pupil.arms), pupil.misses
        away = passes(motions[label], pupil.arms.rings.to_numpy())
        down = away[np.isfinite(away)]
        said = ", ".join(f"{one:.3f}" for one in down) + " m off the middle"
        print(
            f"{label}: {np.sum(away < RING[2])} of {len(away)} balls in their rings "
            f"({said if len(down) else 'none gets there'}); {pupil.reached} of "
            f"{len(pupil.misses)} gradients from a distance, the largest entry of a gradient "
            f"{pupil.largest:.3g}"
        )
    if not options.no_pictures:
        arms = pupils[0].arms
        hoops = Hoops(arms.sim.model, arms.rings.to_numpy(), RING[2])
        save_strip(options.out / "strip.png", hoops, arms.sim.model, motions, arms.step_seconds)
        save_misses(options.out / "misses.png", misses, RING[2])
        print(f"pictures in {options.out}")
    return 0


def learn(pupil: Pupil, iterations: int, label: str) -> None:
    """Take gradients; Ctrl-C ends them."""
    with progress_bar(total=iterations, desc=label, unit="run") as bar:
        try:
            for _ in range(iterations):
                pupil.improve()
                bar.set_postfix(miss=f"{pupil.misses[-1].mean():.3f}", refresh=False)
                bar.update()
        except KeyboardInterrupt:
            bar.set_description("interrupted")


def hitting(arms: Arms) -> Arms:
    """Return arms with larger swings, which hit the balls."""
    plans = arms.plans.to_numpy()
    plans[:, :, 1] += np.clip((np.arange(plans.shape[1]) - 1.0) / 3.0, 0.0, 1.0) * 0.7
    arms.plans.from_numpy(plans)
    return arms


if __name__ == "__main__":
    sys.exit(main())
