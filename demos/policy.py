"""A network of PyTorch learns to drive the robot of `mass-spring`, through the simulation.

Fifty times a second the network sees a clock and the robot's masses, and tells each muscle how long
to be. `dt.torch.wrap` makes it a step of the tape: gradients pass from the distance walked, through
a thousand updates in place, into the network, and `torch.optim` moves its weights, which are saved
as torch does it. With `--view window` the robot walks while it learns, and you can shove it.
"""

import argparse
import copy
import importlib
import pickle
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, slope, train
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from demos.support.walks import ACTIVATION, Motion, save_walk_animation, save_walk_strip
from difftile import ti
from scenes.mass_spring import ROBOT_NAMES, CommandedRobot, MassSpringScene, make_scene, n_senses

HIDDEN = 32
RATE, LAST_RATE, CLIP_NORM = 0.01, 0.0005, 1.0
FRAME_EVERY = 20  # steps
SHOVE = 3.0  # [m/s]
VIEW = (0.05, -0.1, 1.35, 1.05)


def pytorch() -> Any:
    """Return PyTorch, or exit with a line on how to install it: other demos do not need it."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise SystemExit(
            "difftile demo policy needs PyTorch: install it with \"pip install 'difftile[torch]'\""
        ) from None


def make_policy(scene: MassSpringScene, seed: int) -> Any:
    """Return a network from senses to commands, drawn so that the robot moves from the first."""
    torch = pytorch()
    torch.manual_seed(seed)
    senses, muscles = n_senses(scene), np.count_nonzero(scene.robot.actuation)
    first, second = torch.nn.Linear(senses, HIDDEN), torch.nn.Linear(HIDDEN, int(muscles))
    for layer, gain in ((first, 2.0), (second, 3.0)):
        torch.nn.init.xavier_normal_(layer.weight, gain)
        torch.nn.init.zeros_(layer.bias)
    return torch.nn.Sequential(first, torch.nn.Tanh(), second, torch.nn.Tanh())


class Walker(CommandedRobot):
    """A robot and its policy, a module of PyTorch."""

    parameters: ClassVar[dict[str, dt.Field]] = {}  # none: those of the policy are torch's

    def __init__(self, scene: MassSpringScene, policy: Any, steps: int, dtype=ti.f32, blind=False):
        super().__init__(scene, steps, dt.torch.wrap(policy), dtype, blind)
        self.policy = policy


class Descent:
    """Adam of torch on a policy whose gradients a tape has left; keeps the best weights."""

    def __init__(self, walker: Walker, iterations: int):
        torch = pytorch()
        self.walker, self.policy = walker, walker.policy
        self.adam = torch.optim.Adam(self.policy.parameters(), lr=RATE)
        self.schedule = torch.optim.lr_scheduler.LinearLR(
            self.adam, 1.0, LAST_RATE / RATE, iterations
        )
        self.clip = torch.nn.utils.clip_grad_norm_
        self.least, self.best = np.inf, copy.deepcopy(self.policy.state_dict())

    def step(self) -> None:
        """Move the weights along the gradients, and clear these."""
        if (loss := float(self.walker.loss[None])) < self.least:
            self.least, self.best = loss, copy.deepcopy(self.policy.state_dict())
        self.clip(self.policy.parameters(), CLIP_NORM)
        self.adam.step()
        self.schedule.step()
        self.adam.zero_grad()


def learn(walker: Walker, iterations: int, memory: str | None = None) -> Training:
    """Train the policy; the weights that walked farthest are left in it."""
    descent = Descent(walker, iterations)
    training = train(walker, descent, iterations, "learning to walk", memory=memory)
    walker.policy.load_state_dict(descent.best)
    return training


def watch(walker: Walker, label: str) -> Motion:
    """Simulate from the start, and keep the state of every few steps."""
    times = [*range(0, walker.steps, FRAME_EVERY), walker.steps]
    positions, activations = [], []
    walker.start()
    for t in range(walker.steps + 1):
        if t in times:
            positions.append(walker.x.to_numpy())
            activations.append(activation(walker))
        walker.advance(t)
    return Motion(
        label=label,
        times=walker.h * np.array(times),
        positions=np.array(positions),
        activations=np.array(activations),
        tracked=walker.head,
    )


def activation(walker: Walker) -> np.ndarray:
    """Return the commands by spring; those that are no muscles have none."""
    found = np.zeros(len(walker.scene.robot.springs))
    found[walker.muscles] = walker.commands.to_numpy()
    return found


def print_check(walker: Walker) -> int:
    """Print an entry of a gradient by the tape and by differences; return the exit code."""
    torch = pytorch()
    weights = walker.policy[2].weight
    with dt.Tape(walker.loss):
        walker.run()
    entry = np.unravel_index(int(weights.grad.abs().argmax()), weights.shape)
    by_tape = float(weights.grad[entry])

    @torch.no_grad()
    def loss(change: float) -> float:
        weights[entry] += change
        walker.run()
        weights[entry] -= change
        return walker.loss[None]

    by_differences = slope(loss, 1e-5)
    print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
    return 0 if abs(by_tape - by_differences) <= 1e-6 * abs(by_differences) else 1


def view(walker: Walker, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which the robot walks while the policy learns, and can be shoved."""
    app = make_app("policy", options, VIEW)
    robot, floor = walker.scene.robot, walker.scene.floor
    walking = Walker(walker.scene, walker.policy, walker.steps, blind=walker.is_blind)
    descent = Descent(walker, options.iterations)
    first = copy.deepcopy(walker.policy.state_dict())
    t, drawn = 0, time.perf_counter()
    app.button("shove to the right", lambda: walking.shove(SHOVE))
    app.button("shove to the left", lambda: walking.shove(-SHOVE))

    @app.step
    def improve() -> None:
        with dt.Tape(walker.loss, memory=options.memory):
            walker.run()
        app.plot("minus x of the head [m]", walker.loss)
        descent.step()

    @app.draw
    def walk() -> None:
        nonlocal t, drawn
        # The robot walks in real time, however long a gradient takes.
        now = time.perf_counter()
        passed = round((now - drawn) / walker.h) if options.view != "none" else FRAME_EVERY
        drawn = now
        for _ in range(min(max(passed, 1), 5 * FRAME_EVERY)):
            if t % walker.steps == 0:
                t = 0
                walking.start()
            walking.advance(t)
            t += 1
        places = walking.x.to_numpy()
        colours = ACTIVATION.to_rgba(activation(walking))[:, :3]
        app.lines([[-9.0, floor], [9.0, floor]], width=3.0)
        for which, width in ((robot.actuation == 0, 2.0), (robot.actuation > 0, 5.0)):
            app.lines(places, edges=robot.springs[which], colour=colours[which], width=width)
        app.points(places, colour="#e6e9ed", radius=4.0)
        app.text((0.1, 0.98), f"after {app.steps} gradients   t = {t * walker.h:.2f} s")

    @app.reset
    def forget() -> None:
        nonlocal descent, t
        walker.policy.load_state_dict(first)
        descent, t = Descent(walker, options.iterations), 0

    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("policy", __doc__, steps=1500, iterations=60)
    parser.add_argument("--robot", choices=ROBOT_NAMES, default="C", help="default: %(default)s")
    parser.add_argument("--blind", action="store_true", help="let the policy see only the clock")
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="walk with the policy of an earlier run"
    )
    add_view_options(parser)
    options = start(parser, argv)

    scene = make_scene(options.robot)
    policy = make_policy(scene, options.seed)
    if options.policy is not None:
        try:
            policy.load_state_dict(pytorch().load(options.policy, weights_only=True))
        except (OSError, RuntimeError, TypeError, pickle.UnpicklingError) as error:
            reason = getattr(error, "strerror", None) or "not a policy of this robot"
            parser.error(f"argument --policy: {options.policy}: {reason}")
    if options.check:
        steps = min(options.steps, 200)
        return print_check(Walker(scene, policy.double(), steps, ti.f64, options.blind))

    walker = Walker(scene, policy, options.steps, blind=options.blind)
    if is_viewed(options):
        return show(view(walker, options), options)
    before = watch(walker, "loaded" if options.policy else "before")
    motions, muscles = [before], scene.robot.actuation > 0
    if not options.no_pictures:
        strip = options.out / "before_after.png"
        save_walk_strip(strip, motions, scene.robot.springs, muscles, scene.floor)
    if options.policy is None:
        training = learn(walker, options.iterations, options.memory)
        if not training.losses:
            return 130  # interrupted before there was anything to show
        motions.append(watch(walker, f"after {len(training.losses) - 1} iterations"))
        print(training)
    after = motions[-1]
    print(
        f"the robot walks {after.distance:.2f} m in {after.times[-1]:.1f} s, "
        f"{after.distance / scene.robot.width:.1f} body lengths"
        + (f"; untrained it got {before.distance:.2f} m" if after is not before else "")
    )
    if not options.no_pictures:
        if options.policy is None:
            save_loss_curve(options.out / "loss.png", training.losses, "minus x of the head [m]")
            pytorch().save(policy.state_dict(), options.out / "policy.pt")
        for name, save in (
            ("before_after.png", save_walk_strip),
            ("walk.gif", save_walk_animation),
        ):
            save(options.out / name, motions, scene.robot.springs, muscles, scene.floor)
        print(f"pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
