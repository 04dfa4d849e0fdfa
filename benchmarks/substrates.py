"""Taichi and Quadrants side by side: the same programs, each substrate in a process of its own.

The sides take turns, and a row has the median of each and the median of the ratios of Quadrants to
Taichi. What they compute is compared first. 'start' is a whole program, from `python program.py` to
its end, and its parts: cold without compiled kernels on disk, which is the first run in a new
folder, and warm with them. 'launch' is one of a small kernel through difftile, and through the
compiler's own call from Python. 'compile' is what a first turn of a row takes more than the second,
of the process's time and without the cache on disk; then come the kernels of `benchmarks.kernels`,
forward, recorded on a tape and in reverse, and runs of `benchmarks.fused` over `dt.steps`. Python
writes byte code in the first start of all, which does not count.

Targets, for Quadrants, follow '<=' or '>'.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.substrate_rows import program
from benchmarks.substrate_rows.side import Figures, serve
from difftile.arguments import Parser, positive_int

ROOT = Path(__file__).parents[1]
SUBSTRATES = ("taichi", "quadrants")
KERNELS = (
    "elementwise",
    "multiply-adds",
    "map",
    "stencil",
    "transpose",
    "gather",
    "scatter-add",
    "sum",
    "matvec",
    "compositing",
    "p2g",
    "g2p",
    "n-body",
    "texture",
)
ROWS = ("start", "launch", *KERNELS, "pendula", "wave")
TARGETS = {("start", "whole, warm"): 0.5, ("launch", "the same"): 4e-6}  # seconds
TOLERANCE = 5e-3  # of the norm of what is computed: f32, and sums in another order

Turns = dict[str, dict[str, list[float]]]  # by figure and substrate


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if the substrates compute different things."""
    parser = Parser("python -m benchmarks.substrates", __doc__)
    parser.add_argument("--rows", nargs="+", choices=ROWS, metavar="ROW", help=", ".join(ROWS))
    parser.add_argument(
        "--arch", choices=("cpu", "cuda", "vulkan"), default="cpu", help="default: %(default)s"
    )
    parser.add_argument(
        "--threads", nargs="+", type=positive_int, metavar="N", help="default: 1, and all cores"
    )
    parser.add_argument("--turns", type=positive_int, help="default: 11, and 2 with --quick")
    parser.add_argument("--quick", action="store_true", help="small sizes, few turns")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write seconds")
    options = parser.parse_args(argv)
    missing = [name for name in SUBSTRATES if find_spec(name) is None]
    if missing:
        parser.error(f"not installed: {', '.join(missing)}; this compares both substrates")
    turns = options.turns or (2 if options.quick else 11)
    rows = options.rows or ROWS
    print(", ".join(f"{name} {of}" for name, of in libraries().items()))
    found: dict[str, dict[str, dict[str, float]]] = {}
    wrong: list[str] = []
    if "start" in rows:
        print(heading("start", "ms"))
        found["start"] = table("start", start(options.arch, turns), 1e3)
    others = [name for name in rows if name != "start"]
    cores = os.cpu_count() or 1
    for threads in options.threads or ([1, cores] if options.arch == "cpu" and cores > 1 else [1]):
        if not others:
            break
        print(heading(f"threads: {threads}" if options.arch == "cpu" else options.arch, "ms"))
        sides = Sides(options.arch, threads, options.quick)
        for name in others:
            times, different = sides.measure(name, turns)
            wrong += [f"{name}, {threads} threads: {text}" for text in different]
            key = f"{name}, {threads} threads" if options.arch == "cpu" else name
            found[key] = table(name, times, 1e3)
        sides.close()
    if options.json:
        written = {"machine": libraries(), "turns": turns, "rows": found}
        options.json.write_text(json.dumps(written, indent=1), "utf-8")
    for text in wrong:
        print(text)
    return 1 if wrong else 0


class Sides:
    """A process for each substrate."""

    def __init__(self, arch: str, threads: int, quick: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self._made = context, arch, threads, quick
        self._processes: dict[str, Any] = {}
        self._pipes: dict[str, Any] = {}

    def measure(self, name: str, turns: int) -> tuple[Turns, list[str]]:
        """Return the seconds of a row, and in words what its results differ in."""
        times: Turns = {}
        results: dict[str, Mapping[str, np.ndarray]] = {}
        words: list[str] = []
        for turn in range(turns + 1):
            for substrate in SUBSTRATES:
                figures, found = self._ask(substrate, "" if turn else name)
                if isinstance(figures, str):
                    words.append(f"{substrate}: {figures}")
                    self._stop(substrate)
                    return times, words
                results.setdefault(substrate, found)
                for figure, seconds in figures.items():
                    of = times.setdefault(figure, {one: [] for one in SUBSTRATES})
                    of[substrate].append(seconds)
        return times, words + differences(*(results[one] for one in SUBSTRATES))

    def close(self) -> None:
        """End the processes."""
        for substrate in list(self._pipes):
            self._pipes[substrate].send(None)
            self._processes[substrate].join(30)
            self._stop(substrate)

    def _ask(self, substrate: str, name: str) -> tuple[Figures | str, Mapping[str, np.ndarray]]:
        if substrate not in self._pipes:
            context, arch, threads, quick = self._made
            ours, theirs = context.Pipe()
            arguments = (theirs, substrate, arch, threads, quick)
            process = context.Process(target=serve, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._pipes[substrate], self._processes[substrate] = ours, process
        try:
            self._pipes[substrate].send(name)
            return self._pipes[substrate].recv()
        except (EOFError, ConnectionError):
            self._processes[substrate].join()
            return f"the process ended ({self._processes[substrate].exitcode})", {}

    def _stop(self, substrate: str) -> None:
        self._pipes.pop(substrate).close()
        self._processes.pop(substrate).kill()


def start(arch: str, turns: int) -> Turns:
    """Return the seconds of whole programs and of their parts."""
    times: Turns = {}

    def note(figure: str, substrate: str, value: float) -> None:
        times.setdefault(figure, {one: [] for one in SUBSTRATES})[substrate].append(value)

    with tempfile.TemporaryDirectory() as folder:
        for substrate in SUBSTRATES:
            run_program(substrate, arch, os.path.join(folder, "byte code", substrate))
        for turn in range(turns):
            for substrate in SUBSTRATES:
                caches = os.path.join(folder, str(turn), substrate)
                whole, cold = run_program(substrate, arch, caches)
                note("whole, cold", substrate, whole)
                note("first launch, cold", substrate, cold["seconds"]["first launch"])
                note("first gradient, cold", substrate, cold["seconds"]["first gradient"])
                whole, warm = run_program(substrate, arch, caches)
                note("whole, warm", substrate, whole)
                for part, seconds in warm["seconds"].items():
                    note(f"{part}, warm", substrate, seconds)
                if warm["megabytes"] is not None:
                    note("memory [MB]", substrate, warm["megabytes"] / 1e3)
    return times


def run_program(substrate: str, arch: str, caches: str) -> tuple[float, Any]:
    """Return the seconds of a program, and what it printed."""
    environment = {**os.environ, "DIFFTILE_SUBSTRATE": substrate, "XDG_CACHE_HOME": caches}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]  # without an installation
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    command = [sys.executable, str(Path(program.__file__)), arch]
    started = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"{substrate}: the program failed\n{done.stderr}")
    return seconds, json.loads(done.stdout.splitlines()[-1])


def differences(taichi: Mapping[str, np.ndarray], quadrants: Mapping[str, np.ndarray]) -> list[str]:
    """Return in words what the substrates do not compute alike."""
    words: list[str] = []
    for name, one in taichi.items():
        off = np.linalg.norm(np.asarray(quadrants[name] - one, np.float64))
        norm = np.linalg.norm(np.asarray(one, np.float64))
        if not off <= TOLERANCE * norm:
            words.append(f"{name} differs by {off / norm if norm else off:.1e} of its norm")
    return words


def heading(what: str, unit: str) -> str:
    """Return the first line of a table."""
    return f"\n{what:38}{'Taichi':>10}{'Quadrants':>11}{'ratio':>8}  [{unit}]"


def table(row: str, times: Turns, scale: float) -> dict[str, dict[str, float]]:
    """Print the lines of a row; return medians, in seconds."""
    medians: dict[str, dict[str, float]] = {}
    for figure, of in times.items():
        if not all(of.values()):
            continue
        taichi, quadrants = (median(of[one]) for one in SUBSTRATES)
        ratios = [b / a for a, b in zip(*(of[one] for one in SUBSTRATES), strict=False) if a]
        ratio = median(ratios) if ratios else float("nan")
        line = (
            f"{row + ': ' + figure:38}{scale * taichi:10.4g}{scale * quadrants:11.4g}{ratio:8.2f}"
        )
        if (most := TARGETS.get((row, figure))) is not None:
            line += f"  {'<=' if quadrants <= most else '> '} {scale * most:g}"
        print(line, flush=True)
        medians[figure] = {"taichi": taichi, "quadrants": quadrants, "ratio": ratio}
    return medians


def libraries() -> dict[str, str]:
    """Return the versions of the libraries that are there."""
    found = {"Python": platform.python_version()}
    for package in ("numpy", *SUBSTRATES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
