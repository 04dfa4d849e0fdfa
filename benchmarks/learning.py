"""Returns over seconds: what gradients through the simulation are worth to policies.

Each task is learned by SHAC and by PPO, several seeds side by side in one batch, for the same
seconds. Every few seconds, which do not count, an episode without noise is played. The table has
the mean return of the seeds at the end, the worst and the best of them, and the seconds until the
mean reached 90 % of the better end. Rows of earlier calls with the same --json are kept, so that
a call may take one task.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile import worlds
from difftile.arguments import Parser, positive_float, positive_int
from difftile.worlds.learn import evaluate, learner

ALGORITHMS = ("shac", "ppo")
NEAR = 0.9  # of the better end


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print the table."""
    say = "default: %(default)s"
    parser = Parser("python -m benchmarks.learning", __doc__)
    names = worlds.tasks.NAMES
    parser.add_argument("--tasks", nargs="+", choices=names, default=names, metavar="TASK")
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument("--seconds", type=positive_float, default=60.0, help=f"of each; {say}")
    parser.add_argument("--seeds", type=positive_int, default=5, help=say)
    parser.add_argument("--worlds", type=positive_int, default=4096, help=f"of each seed; {say}")
    parser.add_argument("--arch", choices=("cuda", "cpu"), default="cuda", help=say)
    parser.add_argument(
        "--points", type=positive_int, default=20, help=f"episodes that are played; {say}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write curves, and keep others")
    options = parser.parse_args(argv)
    try:
        dt.init(arch=options.arch)
    except dt.FieldError as error:
        parser.error(f"argument --arch: {error}")
    found: dict[str, Any] = {}
    if options.json and options.json.exists():
        found = json.loads(options.json.read_text("utf-8"))
    for task in options.tasks:
        for algorithm in options.algorithms:
            print(f"{task} by {algorithm} ...", flush=True)
            found[f"{task} {algorithm}"] = course(task, algorithm, options)
            gc.collect()  # fields of learners, which refer to each other
            if options.json:
                options.json.write_text(json.dumps(found, indent=1), "utf-8")
    print(*table(found), sep="\n")
    return 0


def course(task: str, algorithm: str, options: Any) -> dict[str, Any]:
    """Return seconds, updates, and returns of the seeds over the course of a training."""
    started = time.perf_counter()
    mine = learner(task, algorithm, count=options.worlds, seeds=[*range(options.seeds)])
    rows = [(0.0, 0, *evaluate(mine).returns.tolist())]
    used, updates = 0.0, 0
    for point in range(1, options.points + 1):
        until = options.seconds * point / options.points
        while used < until:
            rate = max(0.1, 1.0 - used / options.seconds)
            begun = time.perf_counter()
            mine.improve(rate)  # which ends by reading what it did
            updates += 1
            if updates > 2:  # which compile
                used += time.perf_counter() - begun
        rows.append((used, updates, *evaluate(mine).returns.tolist()))
        print(f"  {used:5.1f} s, {updates:5d} updates: {np.mean(rows[-1][2:]):.1f}", flush=True)
    whole_time = time.perf_counter() - started
    return {"rows": rows, "seconds": whole_time, "decisions": mine.rollouts.horizon}


def table(found: dict[str, Any]) -> list[str]:
    """Return the lines of the table."""
    lines = [
        f"{'':22}{'return':>9}{'worst':>9}{'best':>9}{'updates':>9}{f's to {NEAR:.0%}':>10}",
    ]
    for task in worlds.tasks.NAMES:
        courses = {a: found[f"{task} {a}"]["rows"] for a in ALGORITHMS if f"{task} {a}" in found}
        ends = {a: float(np.mean(rows[-1][2:])) for a, rows in courses.items()}
        for algorithm, rows in courses.items():
            wanted = NEAR * max(ends.values())
            reached = [row[0] for row in rows if np.mean(row[2:]) >= wanted]
            seconds = f"{reached[0]:.1f}" if reached else "never"
            last = rows[-1][2:]
            lines.append(
                f"{task + ', ' + algorithm:22}{ends[algorithm]:9.1f}{min(last):9.1f}"
                f"{max(last):9.1f}{rows[-1][1]:9d}{seconds:>10}"
            )
    return lines


if __name__ == "__main__":
    sys.exit(main())
