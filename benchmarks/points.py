"""Milliseconds per step of the material point simulations, on a GPU or the CPU.

The robots in two and in three dimensions at the sizes of the paper, simulated without a tape, on a
tape and differentiated. In two dimensions plain Taichi with a time axis runs too, turn by turn.
Medians of the repetitions after a first run of each.
"""

import sys
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import taichi as ti

import difftile as dt
import scenes.mpm
from benchmarks.peers.diffmpm_taichi import make_diffmpm
from difftile.arguments import Parser, positive_int
from scenes.mpm import Mpm, Mpm3d

Times = tuple[float, float, float]  # seconds without a tape, recorded, in reverse


def measure(mpm: Mpm) -> Times:
    """Run once without a tape, and once with one."""
    started = _now()
    mpm.run()
    alone = _now()
    with dt.Tape() as tape:
        mpm.run()
    recorded = _now()
    tape.backward(mpm.loss)
    return alone - started, recorded - alone, _now() - recorded


def measure_taichi(peer: Any) -> Times:
    """Run once without a tape, and once with one; clearing gradients counts as reverse."""
    started = _now()
    peer.run()
    alone = _now()
    forward, _ = peer.differentiate(_now)
    return alone - started, forward, _now() - alone - forward


def _now() -> float:
    ti.sync()
    return time.perf_counter()


def show(name: str, steps: int, runs: Sequence[Times]) -> Times:
    """Print and return the medians, in milliseconds a step."""
    alone, recorded, reverse = (1e3 * median(column) / steps for column in zip(*runs, strict=True))
    print(f"{name:34}{alone:10.3f}{recorded:10.3f}{reverse:10.3f}")
    return alone, recorded, reverse


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.points", __doc__)
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    say = "of a run; default: 1024 in 2-D and 512 in 3-D"
    parser.add_argument("--steps", type=positive_int, help=say)
    parser.add_argument(
        "--repetitions",
        type=positive_int,
        default=5,
        help="default: %(default)s, after a first one",
    )
    options = parser.parse_args(argv)
    try:
        dt.init(arch=options.arch, offline_cache=False, force_scalarize_matrix=True)
    except dt.FieldError as error:
        parser.error(str(error))
    print(f"{'ms a step':34}{'alone':>10}{'recorded':>10}{'reverse':>10}")

    steps = options.steps or 1024
    plane = scenes.mpm.make_scene("robot", 128, original=True)
    controller = scenes.mpm.make_controller(plane)
    ours, theirs = Mpm(plane, controller, steps), make_diffmpm(plane, controller, steps)
    turns = [(measure(ours), measure_taichi(theirs)) for _ in range(options.repetitions + 1)][1:]
    points = f"{len(plane.positions)} points"
    mine = show(f"2-D, 128^2, {points}", steps, [one for one, _ in turns])
    other = show("the same in Taichi", steps, [one for _, one in turns])
    ratios = (a / b for a, b in zip(mine, other, strict=True))
    print(f"{'ratio':34}" + "".join(f"{ratio:10.2f}" for ratio in ratios))

    steps = options.steps or 512
    space = scenes.mpm.make_scene_3d("robot", 64)
    robot = Mpm3d(space, scenes.mpm.make_controller(space), steps)
    runs = [measure(robot) for _ in range(options.repetitions + 1)][1:]
    show(f"3-D, 64^3, {len(space.positions)} points", steps, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
