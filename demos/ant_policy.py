"""An ant learns to run, by gradients through thousands of simulated worlds.

A policy of three hidden layers drives all worlds at once. Short-horizon actor-critic (SHAC) takes
the gradient of the return over 16 decisions through contacts and friction, and leaves the rest to
a critic. Several seeds are trained side by side, in one batch. The curve, and a checkpoint from
which `--resume` goes on, are written while the ant learns. `--method ppo` learns without gradients
of the simulation, for comparison, and writes into the folder `ppo`. `--policy torch` takes a module
of PyTorch. With `--view window` some of the worlds are shown, each with the policy as it
is.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import make_figure, save_animation
from demos.support.training import slope
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti, worlds
from difftile.arguments import positive_int
from difftile.worlds.learn import (
    Measure,
    Networks,
    Ppo,
    Rollouts,
    Shac,
    ShacRates,
    fields_of,
    networks_of,
    train,
)
from difftile.worlds.robots import LOOK, Robots, poses, poses_of
from scenes.gaits import GAITS, robot, task

SHOWN = 5  # worlds in pictures
WATCHED = 250  # decisions of the evaluation
SETTLED = 100  # of them after which speed is measured
STARTING = 1.2  # after which a world counts as running [s]
Learner = Shac | Ppo


def policy_of(policy: str) -> Callable[..., Networks]:
    """Return what makes the networks of a policy.

    Raises:
        SystemExit: PyTorch is needed and not installed.
    """
    try:
        return networks_of(policy)
    except ImportError as fault:
        raise SystemExit(f"difftile demo ant-policy: --policy torch: {fault}") from None


def run_speed(rollouts: Rollouts) -> np.ndarray:
    """Return the speeds along x of worlds that began long enough ago, by network [m/s]."""
    settled = np.ceil(STARTING / (rollouts.horizon * rollouts.decision))
    runs = (rollouts.age.to_numpy() >= settled) & (rollouts.fell.to_numpy().max(axis=0) == 0)
    runs = runs.reshape(rollouts.networks, -1)
    speed = rollouts.sim.qvel.to_numpy()[:, 0].reshape(runs.shape)
    return (speed * runs).sum(axis=1) / np.maximum(runs.sum(axis=1), 1)


SPEED = Measure("speed [m/s]", run_speed)


def _list(numbers: np.ndarray) -> str:
    return " ".join(f"{one:.2f}" for one in numbers)


def watch(learner: Learner) -> tuple[np.ndarray, np.ndarray]:
    """Run from rest without noise.

    Returns:
        Coordinates of the first worlds of each network at each decision, (decisions, networks,
        SHOWN, nq), and the speed of all worlds once they run, by network [m/s]. Worlds that fall
        lie where they fell.
    """
    rollouts = learner.rollouts
    rollouts.begin(at_rest=True)
    motion, places = [], []
    for _ in range(WATCHED):
        qpos = rollouts.sim.qpos.to_numpy().reshape(rollouts.networks, rollouts.count, -1)
        places.append(qpos[:, :, 0])
        motion.append(qpos[:, :SHOWN])
        learner.policy.decide(0.0)
        rollouts.env.step(renew=False)
    rollouts.begin()
    seconds = (WATCHED - 1 - SETTLED) * rollouts.decision
    return np.array(motion), (places[-1] - places[SETTLED]).mean(axis=1) / seconds


def save_pictures(out: Path, rollouts: Rollouts, motion: np.ndarray) -> None:
    """Draw the best policy's ants side by side, as a strip and as an animation."""
    shown = motion[:, : min(SHOWN, motion.shape[1])]
    ahead = float(np.nanmax(shown[..., 0])) + 12.0  # of the fastest, as far as the camera sees
    robots = Robots(rollouts.model, shown.shape[1], 1.6, floor=(-3.0, -3.0, ahead, 10.0))
    middle = shown[:, :, 0].mean(axis=1)

    def picture(t: int) -> np.ndarray:
        at = (float(middle[t]) + 0.5, 0.8 * (shown.shape[1] - 1), 0.4)
        look = {**LOOK, "at": at, "distance": 9.0}
        return robots.image(poses_of(rollouts.model, shown[t]), (640, 360), **look)

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
        axes.set_title(f"{t * rollouts.decision:.1f} s")
        axes.set_axis_off()
    figure.savefig(out / "strip.png")


def view(learner: Learner, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which some worlds run while the policy learns."""
    app = make_app("ant-policy", options)
    rollouts = learner.rollouts
    shown = type(learner)(rollouts.model, rollouts.task, SHOWN, rollouts.seeds[:1], learner.rates)
    pairs = zip(fields_of(learner.policy).values(), fields_of(shown.policy).values(), strict=True)
    copied = list(pairs)
    robots = Robots(rollouts.model, SHOWN, floor=(-4.0, -3.0, 40.0, 9.0))
    app.look(**LOOK, at=(4.5, 0.75 * (SHOWN - 1), 0.4), distance=22.0)
    steps = 0

    @app.step
    def improve() -> None:
        found = learner.improve()
        app.plot("speed [m/s]", float(found.measured[0]))
        for source, field in copied:
            field.from_numpy(source.to_numpy()[:1])

    @app.draw
    def run() -> None:
        nonlocal steps
        if steps % WATCHED == 0:
            shown.rollouts.begin(at_rest=True)
        shown.policy.decide(0.0)
        shown.rollouts.env.step(renew=False)
        steps += 1
        robots.draw(app, poses(shown.rollouts.sim))

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
    parser.add_argument("--method", choices=("shac", "ppo"), default="shac", help=say)
    parser.add_argument(
        "--policy", choices=("kernel", "torch"), default="kernel", help=f"network of SHAC; {say}"
    )
    rates = ShacRates()
    parser.add_argument(
        "--horizon", type=positive_int, default=rates.horizon, help=f"decisions of SHAC; {say}"
    )
    parser.add_argument(
        "--rate", type=float, default=rates.actor.rate, help=f"step size of SHAC's policy; {say}"
    )
    parser.add_argument(
        "--bound",
        type=float,
        default=rates.world_norm,
        help=f"largest norm of SHAC's gradient by the state of a world; {say}",
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    add_view_options(parser)
    options = start(parser, argv)
    if options.method == "ppo" and options.policy == "torch":
        parser.error("--policy torch goes with --method shac")

    seeds = list(range(options.seed, options.seed + options.seeds))
    count = options.worlds or (256 if options.arch == "cpu" else 4096)
    model, aim = robot(options.robot), task(options.robot)
    if options.check:
        return print_check(model, aim, policy_of(options.policy))
    if options.method == "ppo":
        learner: Learner = Ppo(model, aim, count, seeds, measure=SPEED)
    else:
        make, rates = policy_of(options.policy), ShacRates()
        rates = replace(rates, actor=replace(rates.actor, rate=options.rate))
        rates = replace(rates, horizon=options.horizon, world_norm=options.bound)
        learner = Shac(model, aim, count, seeds, rates, make=make, measure=SPEED)
    if is_viewed(options):
        return show(view(learner, options), options)
    out = options.out / "ppo" if options.method == "ppo" else options.out
    try:
        record = train(
            learner,
            iterations=options.iterations,
            seconds=60.0 * options.minutes,
            out=None if options.no_pictures else out,
            resume=options.resume,
        )
    except dt.DatasetError as fault:
        raise SystemExit(f"difftile demo ant-policy: cannot go on: {fault}") from None
    if not record.rows:
        return 130  # interrupted before there was anything to show
    motion, speeds = watch(learner)
    print(
        f"{len(record.rows)} updates in {record.rows[-1][0]:.0f} s; without noise the "
        f"{options.robot} runs {_list(speeds)} m/s"
    )
    if not options.no_pictures:
        save_pictures(out, learner.rollouts, motion[:, int(np.argmax(speeds))])
        print(f"pictures in {out}")
    return 0


def print_check(model: worlds.Model, aim: worlds.Task, make: Callable[..., Networks]) -> int:
    """Print the slope of the cost by a bias of the policy, by tape and by differences."""
    rates = ShacRates(horizon=6, world_norm=np.inf)
    shac = Shac(model, aim, 4, [0], rates, ti.f64, make)
    bias, rollouts = shac.policy.net.parameters["b3"], shac.rollouts

    def roll_out() -> None:
        rollouts.begin()
        rollouts.open()
        shac.roll_out(noise=0.0)

    with dt.Tape() as tape:
        roll_out()
    tape.backward({rollouts.cost: 1.0})
    by_tape = float(bias.grad[0, 0, 0])

    def cost(change: float) -> float:
        bias[0, 0, 0] = change
        roll_out()
        return float(rollouts.cost.to_numpy().sum())

    by_differences = slope(cost, 1e-6)
    print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
    return 0 if abs(by_tape - by_differences) <= 1e-5 * abs(by_differences) else 1


if __name__ == "__main__":
    sys.exit(main())
