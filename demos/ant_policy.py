"""An ant learns to run, by gradients through thousands of simulated worlds.

A policy of three hidden layers drives all worlds at once. Short-horizon actor-critic (SHAC) takes
the gradient of the return over 32 decisions through contacts and friction, and leaves the rest to
a critic. Several seeds are trained side by side, in one batch. The curve, and a checkpoint from
which `--resume` goes on, are written while the ant learns. With `--view window` some of the worlds
are shown, each with the policy as it is.
"""

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import INK, PALE, make_figure, save_animation
from demos.support.robots import LOOK, PALETTE, Robots, poses, poses_of
from demos.support.shac import Rates, Shac
from demos.support.training import slope
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti, worlds
from difftile.arguments import positive_int
from scenes.gaits import GAITS, Gait, robot

SHOWN = 5  # worlds in pictures
WATCHED = 250  # decisions of the evaluation
SETTLED = 100  # of them after which speed is measured
SAVE_EVERY = 20.0  # [s]
Row = tuple[float, ...]  # seconds, iteration, and the means of each seed


def names_of(seeds: Sequence[int]) -> list[str]:
    kinds = ("speed", "reward", "falls")
    return ["seconds", "iteration", *(f"{kind}_{seed}" for kind in kinds for seed in seeds)]


class Course:
    """What a training has written so far: a table, a picture and a checkpoint.

    Args:
        folder: Where they are written, or None.
        shac: The policies.
    """

    def __init__(self, folder: Path | None, shac: Shac) -> None:
        self.folder, self.shac = folder, shac
        self.rows: list[Row] = []
        self.saved = 0.0

    def load(self) -> None:
        """Go on from the checkpoint.

        Raises:
            SystemExit: There is none, or it is of other networks.
        """
        file = (self.folder or Path()) / "checkpoint.npz"
        try:
            state = dt.optim.read_state(file)
            for name, field in self._fields().items():
                field.from_numpy(state[name])
            for name, adam in self.shac.adam.items():
                at = f"{name}.adam."
                kept = {key[len(at) :]: one for key, one in state.items() if key.startswith(at)}
                adam.load_state_dict(kept)
            self.rows = [tuple(row) for row in state["rows"]]
        except (dt.DifftileError, OSError, KeyError, ValueError) as error:
            raise SystemExit(
                f"difftile demo ant-policy: cannot go on from {file}: {error}"
            ) from None

    def _fields(self) -> dict[str, dt.Field]:
        shac = self.shac
        nets = {"actor": shac.actor, "critic": shac.critic, "slow": shac.slow}
        return {f"{n}.{k}": f for n, net in nets.items() for k, f in net.parameters.items()}

    def add(self, row: Row) -> None:
        """Append a row; now and then write picture and checkpoint too."""
        self.rows.append(row)
        if self.folder is None:
            return
        with open(self.folder / "curve.csv", "a" if len(self.rows) > 1 else "w", newline="") as f:
            writer = csv.writer(f)
            if len(self.rows) == 1:
                writer.writerow(names_of(self.shac.actor.seeds))
            writer.writerow(f"{one:.6g}" for one in row)
        if time.perf_counter() - self.saved > SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """Write picture and checkpoint."""
        if self.folder is None or not self.rows:
            return
        state = {name: field.to_numpy() for name, field in self._fields().items()}
        for name, adam in self.shac.adam.items():
            state |= {f"{name}.adam.{key}": one for key, one in adam.state_dict().items()}
        state["rows"] = np.array(self.rows)
        dt.optim.write_state(self.folder / "checkpoint.npz", state)
        save_curves(self.folder / "curve.png", np.array(self.rows), self.shac.actor.seeds)
        self.saved = time.perf_counter()


def learn(shac: Shac, course: Course, iterations: int, seconds: float) -> None:
    """Train until the iterations or the time are used up; Ctrl-C ends it as well.

    Time counts from the end of the first update, which compiles.
    """
    rates, first = shac.rates, len(course.rows)
    before = course.rows[-1][0] if course.rows else 0.0
    begun = ready = time.perf_counter()
    used = before
    try:
        for k in range(first, iterations):
            left = 1.0 - max(k / iterations, used / seconds)
            if left <= 0.0:
                break
            found = shac.improve(max(left, 0.1))
            now = time.perf_counter()
            if k == first:
                ready = now
                print(f"the first update took {now - begun:.0f} s, with compiling", flush=True)
            used = now - ready + before
            course.add((used, k, *found.speed, *found.reward, *found.falls))
            if (k - first) % 10 == 1:
                steps = len(shac.age) * rates.horizon * rates.substeps * (k - first)
                print(
                    f"{used:6.0f} s, {k:5d}: speed {_list(found.speed)} m/s, "
                    f"fell {_list(found.falls)}, {steps / (now - ready):.4g} world-steps/s",
                    flush=True,
                )
    except KeyboardInterrupt:
        pass
    course.save()


def _list(numbers: np.ndarray) -> str:
    return " ".join(f"{one:.2f}" for one in numbers)


def watch(shac: Shac) -> tuple[np.ndarray, np.ndarray]:
    """Run from the start without noise.

    Returns:
        Coordinates of the first worlds of each network at each decision, (decisions, networks,
        SHOWN, nq), and the speed of all worlds once they run, by network [m/s]. Worlds that fall
        lie where they fell.
    """
    sim, networks = shac.sim, shac.networks
    shac.begin()
    motion, places = [], []
    for _ in range(WATCHED):
        qpos = sim.qpos.to_numpy().reshape(networks, shac.count, -1)
        places.append(qpos[:, :, 0])
        motion.append(qpos[:, :SHOWN])
        shac.decide(0.0)
        sim.step(shac.rates.substeps)
    shac.begin()
    seconds = (WATCHED - 1 - SETTLED) * shac.rates.substeps * float(shac.model.timestep)
    return np.array(motion), (places[-1] - places[SETTLED]).mean(axis=1) / seconds


def save_curves(path: Path, rows: np.ndarray, seeds: Sequence[int]) -> None:
    """Draw the speeds of all seeds over time."""
    figure = make_figure(7.0, 3.6)
    axes = figure.subplots()
    for k, seed in enumerate(seeds):
        axes.plot(
            rows[:, 0],
            rows[:, 2 + k],
            color=PALETTE[k % len(PALETTE)],
            linewidth=1.5,
            label=f"seed {seed}",
        )
    axes.set_xlabel("time [s]")
    axes.set_ylabel("mean speed of the worlds [m/s]")
    axes.grid(color=PALE, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, labelcolor=INK)
    figure.savefig(path)


def save_pictures(out: Path, shac: Shac, motion: np.ndarray) -> None:
    """Draw the best policy's ants side by side, as a strip and as an animation."""
    shown = motion[:, : min(SHOWN, motion.shape[1])]
    robots = Robots(shac.model, shown.shape[1], 1.6, floor=(-3.0, -3.0, 25.0, 10.0))
    middle = shown[:, :, 0].mean(axis=1)

    def picture(t: int) -> np.ndarray:
        at = (float(middle[t]) + 0.5, 0.8 * (shown.shape[1] - 1), 0.4)
        look = {**LOOK, "at": at, "distance": 9.0}
        return robots.image(poses_of(shac.model, shown[t]), (640, 360), **look)

    figure = make_figure(6.4, 3.6)
    axes = figure.subplots()
    axes.set_axis_off()
    held = axes.imshow(picture(0))
    save_animation(
        out / "run.gif", figure, lambda t: held.set_data(picture(t)), range(0, WATCHED, 4), 12.5
    )
    figure = make_figure(12.0, 2.4)
    for axes, t in zip(figure.subplots(1, 3), (0, WATCHED // 3, WATCHED - 1), strict=True):
        axes.imshow(picture(t))
        axes.set_title(f"{t * shac.rates.substeps * float(shac.model.timestep):.1f} s")
        axes.set_axis_off()
    figure.savefig(out / "strip.png")


def view(shac: Shac, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which some worlds run while the policy learns."""
    app = make_app("ant-policy", options)
    shown = Shac(shac.model, shac.gait, SHOWN, list(shac.actor.seeds[:1]), shac.rates)
    robots = Robots(shac.model, SHOWN, floor=(-4.0, -3.0, 40.0, 9.0))
    app.look(**LOOK)
    steps = 0

    @app.step
    def improve() -> None:
        found = shac.improve()
        app.plot("speed [m/s]", float(found.speed[0]))
        for name, field in shown.actor.parameters.items():
            field.from_numpy(shac.actor.parameters[name].to_numpy()[:1])

    @app.draw
    def run() -> None:
        nonlocal steps
        if steps % WATCHED == 0:
            shown.begin()
        shown.decide(0.0)
        shown.sim.step(shac.rates.substeps)
        steps += 1
        robots.draw(app, poses(shown.sim))

    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("ant-policy", __doc__, iterations=200, memory=False)
    say = "default: %(default)s"
    parser.add_argument("--robot", choices=sorted(GAITS), default="ant", help=say)
    parser.add_argument(
        "--worlds", type=positive_int, help="of each seed; default: 256, on a GPU 4096"
    )
    parser.add_argument("--seeds", type=positive_int, default=1, help=f"number of runs; {say}")
    parser.add_argument(
        "--minutes",
        type=float,
        default=20.0,
        help=f"the longest time after the first update; {say}",
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    add_view_options(parser)
    options = start(parser, argv)

    seeds = list(range(options.seed, options.seed + options.seeds))
    count = options.worlds or (256 if options.arch == "cpu" else 4096)
    model, gait = robot(options.robot), GAITS[options.robot]
    if options.check:
        return print_check(model, gait)
    shac = Shac(model, gait, count, seeds, Rates())
    if is_viewed(options):
        return show(view(shac, options), options)
    course = Course(None if options.no_pictures else options.out, shac)
    if options.resume:
        course.load()
    learn(shac, course, options.iterations, 60.0 * options.minutes)
    if not course.rows:
        return 130  # interrupted before there was anything to show
    motion, speeds = watch(shac)
    print(
        f"{len(course.rows)} updates in {course.rows[-1][0]:.0f} s; without noise the "
        f"{options.robot} runs {_list(speeds)} m/s"
    )
    if not options.no_pictures:
        save_pictures(options.out, shac, motion[:, int(np.argmax(speeds))])
        print(f"pictures in {options.out}")
    return 0


def print_check(model: worlds.Model, gait: Gait) -> int:
    """Print the slope of the cost by a bias of the policy, by tape and by differences."""
    rates = Rates(horizon=6, noise=0.0, world_norm=np.inf)
    shac = Shac(model, gait, 4, [0], rates, ti.f64)
    bias = shac.actor.parameters["b3"]

    def roll_out() -> None:
        shac.begin()
        shac.cost.fill(0.0)
        shac.weights.fill(1.0)
        shac.roll_out()

    with dt.Tape() as tape:
        roll_out()
    tape.backward({shac.cost: 1.0})
    by_tape = float(bias.grad[0, 0, 0])

    def cost(change: float) -> float:
        bias[0, 0, 0] = change
        roll_out()
        return float(shac.cost.to_numpy().sum())

    by_differences = slope(cost, 1e-6)
    print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
    return 0 if abs(by_tape - by_differences) <= 1e-5 * abs(by_differences) else 1


if __name__ == "__main__":
    sys.exit(main())
