"""The overhead of a bridge: difftile's ops in PyTorch and JAX, arrays as arguments, exchange.

A row has the microseconds of a call on difftile's own fields, of the same through the bridge, and
the difference, with the largest that is acceptable after '<=' or '>'. Then come the peers: what one
writes without the bridge. Sides take turns in one process, on one thread of the CPU, and the
figures are medians over the turns (of the difference in each turn, which is why it is not exactly
that of the medians). Arrays are small, so that overhead is what is measured. Each row compares
the results of its sides before it is timed. With `--arch cuda`, arrays are on a GPU and a side is
timed until the GPU has finished; JAX's rows wait after each call.
"""

from __future__ import annotations

import gc
import importlib
import json
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import TypeAlias

import difftile as dt
from benchmarks.interop_rows.row import Row, Sides, Timed
from difftile.arguments import Parser, positive_int

# By the name of the module in `benchmarks.interop_rows`.
GROUPS = {
    "torch_ops": "difftile in PyTorch",
    "torch_modules": "PyTorch in difftile",
    "jax_ops": "difftile in JAX",
    "arguments": "arrays as arguments",
    "exchange": "memory shared with others",
}
ON_A_DEVICE = ("torch_ops", "jax_ops")  # the others are about memory of the host
LONG = 0.02  # seconds of a turn of one side

Microseconds: TypeAlias = dict[str, list[float]]  # by side, one for each turn


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.interop", __doc__)
    parser.add_argument(
        "--groups", nargs="+", choices=GROUPS, metavar="GROUP", help=", ".join(GROUPS)
    )
    parser.add_argument(
        "--arch", choices=("cpu", "cuda"), default="cpu", help="default: %(default)s"
    )
    parser.add_argument("--turns", type=positive_int, help="default: 15, and 3 with --quick")
    parser.add_argument("--quick", action="store_true", help="few and short turns")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write microseconds")
    options = parser.parse_args(argv)
    turns = options.turns or (3 if options.quick else 15)
    if options.arch == "cuda":
        dt.init(arch="cuda")
    else:
        dt.init(arch="cpu", cpu_max_num_threads=1)
    print(", ".join(f"{name} {of}" for name, of in libraries().items()))
    found: dict[str, dict[str, dict[str, float]]] = {}
    for group in options.groups or (GROUPS if options.arch == "cpu" else ON_A_DEVICE):
        print(f"\n{GROUPS[group]:54}{'alone':>9}{'bridged':>9}{'more':>9}  [us]")
        try:
            rows: Mapping[str, Row] = rows_of(group)
            one_thread()
            found[group] = {}
            for name, row in rows.items():
                times = measure(row.make(), turns, LONG / 10 if options.quick else LONG)
                found[group][name] = {side: median(of) for side, of in times.items()}
                print(*lines_of(row, times), sep="\n", flush=True)
                gc.collect()
        except ModuleNotFoundError as error:
            print(f"not measured: {error.name} is not installed")
    if options.json:
        written = {"machine": libraries(), "turns": turns, "rows": found}
        options.json.write_text(json.dumps(written, indent=1), "utf-8")
    return 0


def rows_of(group: str) -> Mapping[str, Row]:
    """Return the rows of a group; its module may import the library that it is about."""
    return importlib.import_module(f"benchmarks.interop_rows.{group}").ROWS


def one_thread() -> None:
    """Let PyTorch compute on one thread, if it is there."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


def measure(sides: Sides, turns: int, seconds: float) -> Microseconds:
    """Let the sides take turns of that length."""
    clocks: dict[str, Timed] = {"alone": sides.alone, "bridged": sides.bridged, **sides.peers}
    calls = {name: calls_within(clock, seconds) for name, clock in clocks.items()}
    found: Microseconds = {name: [] for name in clocks}
    for _ in range(turns):
        for name, clock in clocks.items():
            found[name].append(1e6 * clock(calls[name]) / calls[name])
    return found


def calls_within(clock: Timed, seconds: float) -> int:
    """Return how many calls take about that long, after a few that do not count."""
    clock(3)
    calls = 1
    while (spent := clock(calls)) < seconds / 4:
        calls *= 2
    return max(1, round(calls * seconds / spent))


def lines_of(row: Row, times: Microseconds) -> list[str]:
    """Return the lines of a row: the bridge, and each of its peers."""
    more = median(b - a for a, b in zip(times["alone"], times["bridged"], strict=True))
    line = f"{row.title:54}{median(times['alone']):9.1f}{median(times['bridged']):9.1f}{more:9.1f}"
    if row.most is not None:
        line += f" {'<=' if more <= row.most else '> '} {row.most:g}"
    peers = [name for name in times if name not in ("alone", "bridged")]
    return [line, *(f"  {name:61}{median(times[name]):9.1f}" for name in peers)]


def libraries() -> dict[str, str]:
    """Return the versions of the libraries that are there."""
    found = {"Python": platform.python_version()}
    for package in ("numpy", "taichi", "torch", "jax"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
