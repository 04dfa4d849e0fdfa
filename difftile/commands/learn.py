"""`difftile learn`: its arguments; learning itself is imported after they are parsed."""

from __future__ import annotations

import argparse
import importlib
import math
from collections.abc import Sequence
from pathlib import Path

from difftile.arguments import Parser, positive_int

_TASKS = ("cartpole_swingup", "hopper", "walker", "ant", "humanoid", "reach")
_ABOUT = """\
Learn a task of robots: policies of several seeds side by side, in one batch of worlds.

TASK is one of cartpole_swingup, hopper, walker, ant, humanoid and reach, or a file of Python with a
worlds.Task named TASK, as those in difftile/worlds/tasks are.
"""
_RESULTS = """\
algorithms:
  shac  short-horizon actor-critic: gradients pass through the simulation
  ppo   proximal policy optimisation: they do not
  mpc   nothing is learned: each decision is planned by gradients, for --worlds worlds

Writes curve.csv, curve.png and checkpoint.npz, which --resume continues from, into the folder given
by --out, and run.gif at the end. Whatever ends the training, a checkpoint is there.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Learn as the arguments say; return the exit code."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.algorithm == "mpc" and (options.resume or options.policy == "torch"):
        parser.error("mpc has no policy: --resume and --policy go with shac and ppo")
    if options.minutes is None and options.iterations is None:
        options.minutes = 1.0 if options.arch == "cpu" else 3.0
    if not options.task.endswith(".py") and options.task not in _TASKS:
        parser.error(f"there is no task '{options.task}'; tasks are {', '.join(_TASKS)}")
    # Imported late, since it starts Taichi: --help and mistakes are answered at once.
    run = importlib.import_module("difftile.worlds.learn.run")
    return run.run(options, parser)


def _parser() -> Parser:
    say = "default: %(default)s"
    parser = Parser("difftile learn", _ABOUT, epilog=_RESULTS)
    parser.add_argument("task", metavar="TASK", help="what is learned")
    parser.add_argument(
        "--algorithm", choices=("shac", "ppo", "mpc"), default="shac", help=f"how; {say}"
    )
    parser.add_argument(
        "--worlds",
        type=positive_int,
        help="of each seed; default: 64, on a GPU 4096, and 4 of mpc",
    )
    parser.add_argument("--seeds", type=positive_int, default=1, help=f"number of policies; {say}")
    parser.add_argument("--seed", type=_count, default=0, help=f"the first one; {say}")
    parser.add_argument(
        "--minutes",
        type=_minutes,
        help="time after the first updates; default: 1, on a GPU 3, unless --iterations is given",
    )
    parser.add_argument("--iterations", type=positive_int, help="updates, or decisions of mpc")
    parser.add_argument(
        "--policy", choices=("kernel", "torch"), default="kernel", help=f"its network; {say}"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: out/learn/TASK-ALGORITHM")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint there")
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help=f"device; {say}")
    parser.add_argument("--no-pictures", action="store_true", help="no film at the end")
    parser.add_argument(
        "--view",
        choices=("none", "window", "web"),
        default="none",
        help=f"watch some worlds while the first policy learns; {say}",
    )
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, not {text!r}")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not 0.0 < minutes < 1e5:
        raise argparse.ArgumentTypeError(f"expected a number above 0, not {text!r}")
    return minutes
