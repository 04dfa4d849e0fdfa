"""Kernels, textures, material points and splats on a GPU: difftile, torch, JAX, Warp, gsplat.

All that are installed run in one process, turn by turn, in f32, and compute the same values and
gradients, which is checked first. Times are medians, from one synchronisation with the device to
the next; 'backward' is the reverse of one launch with random gradients of its outputs, which are on
the device before, and 'total' is what values and gradients take together, which is all that JAX
has. Gradients are new ones: who adds to them clears them within the measured time. The times on the
device are sums over kernels, fills and copies, seen by torch's profiler in one more run.

A target is the largest acceptable ratio of difftile's time to the best time of the named others.
--json writes milliseconds, and --compare prints the ratios of this run's to those of such a file;
others that do not run now take part with their times of then, marked by *.
"""

from __future__ import annotations

import gc
import json
import platform
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from benchmarks.gpu_rows.clocks import DeviceClock, Times, take_turns, times_of
from benchmarks.gpu_rows.report import HEADING, Found, comparison, lines_of, summary
from benchmarks.gpu_rows.rows import ROWS, Row
from benchmarks.gpu_rows.side import DIFFTILE, Side
from benchmarks.kernel_rows.sides import SUM_TOLERANCE
from difftile.arguments import Parser, positive_int

SIDES = {  # of `rows`, by the names of peers
    "torch": ("torch",),
    "compile": ("torch.compile",),
    "jax": ("JAX",),
    "warp": ("Warp",),
    "gsplat": ("gsplat", "gsplat, packed"),
    "taichi": ("Taichi", "Taichi, by hand"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if results differ, whatever the figures are."""
    parser = Parser("python -m benchmarks.gpu", __doc__)
    parser.add_argument("--rows", nargs="+", choices=ROWS, metavar="ROW", help=", ".join(ROWS))
    parser.add_argument(
        "--peers", nargs="*", choices=SIDES, metavar="PEER", help=f"of {', '.join(SIDES)}"
    )
    parser.add_argument("--turns", type=positive_int, help="default: 11, and 3 with --quick")
    parser.add_argument("--quick", action="store_true", help="small sizes, few turns")
    parser.add_argument("--arch", choices=("cuda", "cpu"), default="cuda", help="default: cuda")
    parser.add_argument(
        "--deterministic", action="store_true", help="sums of difftile are the same in every run"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write milliseconds")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="an earlier --json")
    options = parser.parse_args(argv)
    before = json.loads(options.compare.read_text("utf-8"))["rows"] if options.compare else {}
    peers = SIDES if options.peers is None else options.peers
    wanted = {DIFFTILE, *(side for peer in peers for side in SIDES[peer])}
    turns = options.turns or (3 if options.quick else 11)
    warnings.simplefilter("ignore", dt.GradientCut)  # the seed of a backward pass is artificial
    clock = DeviceClock()
    try:
        dt.init(arch=options.arch, deterministic=options.deterministic)
    except dt.FieldError as error:
        parser.error(f"argument --arch: {error}")
    machine = described(clock)
    print(", ".join(f"{name} {of}" for name, of in machine.items()), HEADING, sep="\n")
    found: dict[str, Found] = {}
    for name in options.rows or ROWS:
        row = ROWS[name]
        scale, started = row.quick if options.quick else 1.0, time.perf_counter()
        found[name] = measure(row, scale, wanted, turns, clock if options.arch == "cuda" else None)
        add_earlier(found[name], before.get(name, {}))
        print(*lines_of(row, found[name]), sep="\n")
        print(f"  {time.perf_counter() - started:.0f} s with compilation and checks", flush=True)
        if options.json:
            rows = {of: one.wall for of, one in found.items()}
            device = {of: one.device for of, one in found.items()}
            written = {"machine": machine, "turns": turns, "rows": rows, "device": device}
            options.json.write_text(json.dumps(written, indent=1), "utf-8")
        gc.collect()  # arrays of a row that refer to each other
    if missing := sorted({library for one in found.values() for library in one.missing}):
        print(f"not installed: {', '.join(missing)}")
    print("", *summary(ROWS, found), *comparison(found, before), sep="\n")
    return 1 if any(one.apart for one in found.values()) else 0


def measure(
    row: Row, scale: float, wanted: set[str], turns: int, clock: DeviceClock | None
) -> Found:
    """Check a row and measure it; what a peer cannot do becomes a note."""
    found, sides = Found(), list[Side]()
    mine: tuple[Any, Any] = {}, {}
    for name, make in row.make(scale).items():
        if name not in wanted:
            continue
        try:
            side = make()
            times_of(side, lambda _, call: float(call() is None))  # compiles
            results = side.results()
        except ModuleNotFoundError as error:
            found.missing.append(f"{error.name}")
            continue
        except Exception as error:
            if name == DIFFTILE:
                raise
            found.notes.append(f"{name} failed: {first_line(error)}")
            continue
        if name == DIFFTILE:
            mine = results
        found.apart += differences(name, mine, results, row.tolerance)
        sides.append(side)
    found.wall = take_turns(sides, turns)
    if clock is not None and clock.works:
        found.device = {side.name: times_of(side, clock) for side in sides}
    return found


def differences(
    name: str, mine: tuple[Any, Any], theirs: tuple[Any, Any], tolerance: float
) -> list[str]:
    """Return what a side computes otherwise than difftile."""
    told: list[str] = []
    for what, ours, others, limit in (
        ("", *(results[0] for results in (mine, theirs)), SUM_TOLERANCE),
        ("gradient of ", *(results[1] for results in (mine, theirs)), tolerance),
    ):
        for of, other in others.items():
            apart = distance(ours[of], other)
            if not apart <= limit:
                told.append(f"{name}: {what}{of} is {apart:.1e} of its norm apart")
    return told


def distance(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Return how far two arrays are apart, relative to the norm of one.

    Of an output whose rim a kernel does not write, arrays of others have only the inside.
    """
    if ours.shape != theirs.shape:
        rims = [(mine - other) // 2 for mine, other in zip(ours.shape, theirs.shape, strict=True)]
        ours = ours[
            tuple(slice(rim, size - rim) for rim, size in zip(rims, ours.shape, strict=True))
        ]
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


def first_line(error: Exception) -> str:
    lines = f"{type(error).__name__}: {error}".splitlines()
    return lines[0][:100]


def add_earlier(found: Found, before: Mapping[str, Times]) -> None:
    """Add the times of an earlier run for sides that do not run now."""
    for side, times in before.items():
        if side not in found.wall:
            found.wall[side] = times
            found.earlier.append(side)


def described(clock: DeviceClock) -> dict[str, str]:
    """Return the versions of the libraries, and the name of the device."""
    found = {"Python": platform.python_version()}
    for package in ("taichi", "torch", "jax", "warp-lang", "gsplat"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    if clock.works:
        found["device"] = import_module("torch").cuda.get_device_name()
    return found


if __name__ == "__main__":
    sys.exit(main())
