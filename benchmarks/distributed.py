"""Waves and material points in three dimensions on several ranks, beside one rank.

Weak scaling: every rank has as much as one rank alone has, and efficiency is the time of one rank
over that of N. Strong scaling: all ranks share the work of one, and efficiency is the time of one
over N times that of N. "exchange" is the share of a run's time that is gone if the same launches
run without exchanges; "overlapped" has the messages travel during the interior's launch. An
exchange alone is also compared with one by hand, isend and irecv of torch on the same faces.
"communication" of the points is the share of their accumulation, exchange and migration, each
measured by itself. "messages" are exchanges of four sizes in a ring, in turns with those by hand.
Times are of one step: the slowest rank's, in the fastest of the turns; of messages, medians.

Started by itself, the program starts its ranks by torchrun, one group after the other. Started by
torchrun or mpiexec, it measures those ranks, and prints the efficiencies only for the groups it
has seen: give --beside the file that --json wrote for one rank. "splats" are gaussians of all ranks
drawn by several cameras, with the reverse and without an optimiser. "data" is a network with the
same parameters on all ranks, whose gradients are added up after the backward pass or during it.
"state" is the most that a tape keeps for its reverse, on the rank that keeps most, where all ranks
share the work of one. --gpus has the sizes of one GPU for each rank: 512^3 cells, 4M points, 4M
gaussians and 4 images of 1024^2, 24 layers of 2048, and then 768^3 cells. `python -m
benchmarks.reduce` has gradients over a network of a given speed, and `python -m
benchmarks.training_memory` the memory of training splats.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import taichi

import difftile as dt
from benchmarks.distributed_rows import data, messages, points, wave
from benchmarks.distributed_rows.by_hand import halo_exchange
from difftile import distributed as dist
from difftile import ti
from difftile.arguments import Parser, positive_int
from tests.distributed import splat_steps

Results = dict[str, float]
_ROWS = ["wave", "points", "splats", "data", "messages"]
_GPU_CELLS = 512, 768
_GPU_STEPS = 40  # so that the sum of the loss at the end of a run, over the host, counts little
_SIZES = "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"  # which launchers set


def _largest(number: float) -> float:
    return float(dist.max(dt.full((), number, ti.f64)))


def _timed(call: Callable[[], object], turns: int) -> float:
    """Return the least time of a call on the slowest rank [s], after one that compiles."""
    call()
    times: list[float] = []
    for _ in range(turns):
        _largest(0.0)  # all begin together
        started = time.perf_counter()
        call()
        times.append(_largest(time.perf_counter() - started))
    return min(times)


def _gradient(one: Any, way: str, turns: int) -> tuple[float, float, float]:
    """Return the time of a step and of its reverse [s], and the bytes that the tape kept."""
    spent: list[tuple[float, float]] = []
    kept = 0.0
    for turn in range(turns + 1):
        getattr(one, "prepare", lambda: None)()
        taichi.sync()
        _largest(0.0)
        started = time.perf_counter()
        with dt.Tape(reduce=one.reduce(way) if isinstance(one, data.Data) else None) as tape:
            one.run(way)
        taichi.sync()
        half = time.perf_counter()
        tape.backward(one.loss)
        getattr(one, "finish", lambda _: None)(way)
        taichi.sync()
        ended = time.perf_counter()
        if turn:  # the first one compiles
            spent.append((_largest(half - started), _largest(ended - half)))
            kept = _largest(float(tape.peak_nbytes))
    forward, backward = (min(column) / one.steps for column in zip(*spent, strict=True))
    return forward, backward, kept


def _add_passes(found: Results, name: str, one: Any, way: str, turns: int) -> None:
    """Add the times of a step and of its reverse, and what the tape kept."""
    *times, kept = _gradient(one, way, turns)
    found |= {f"{name} {way} {p}": s for p, s in zip(("forward", "backward"), times, strict=True)}
    found[f"{name} {way} state"] = kept


def measure(options: Any) -> Results:
    """Return seconds by name, for the ranks that run this together."""
    boxes = _boxes(dist.size())
    found: Results = {"ranks": float(dist.size())}
    for scaling, factors in (("weak", boxes), ("strong", (1, 1, 1))):
        for title, kind, cells in (
            ("wave", wave, options.cells),
            ("points", points, options.point_cells),
        ):
            if title not in options.rows:
                continue
            shape = tuple(cells * factor for factor in factors)
            one = (wave.Wave if kind is wave else points.Points)(shape, options.steps)
            for way in kind.WAYS:
                _add_passes(found, f"{scaling} {title}", one, way, options.turns)
            if isinstance(one, points.Points):
                for name, call in one.communication().items():
                    found[f"{scaling} points one {name}"] = _timed(call, 2 * options.turns)
            else:
                found[f"{scaling} one exchange"] = _timed(one.exchange, 4 * options.turns)
                if importlib.util.find_spec("torch") is not None:
                    by_hand = halo_exchange(one.grid, options.arch)
                    found[f"{scaling} one exchange by hand"] = _timed(by_hand, 4 * options.turns)
    if "splats" in options.rows:
        steps = splat_steps.SplatSteps(options.gaussians, options.images, options.image_size)
        for way in splat_steps.WAYS:
            _add_passes(found, "strong splats", steps, way, options.turns)
        steps.restore()
    if "data" in options.rows:
        network = data.Data(options.width, 24)
        for way in data.WAYS:
            _add_passes(found, "weak data", network, way, options.turns)
    if "messages" in options.rows and dist.size() > 1 and importlib.util.find_spec("torch"):
        found |= messages.measure(options.arch, options.turns, _largest)
    return found


def _boxes(size: int) -> tuple[int, int, int]:
    """Return the boxes along each axis, as near to a cube as they get."""
    return min(
        ((a, b, size // a // b) for a in range(1, size + 1) for b in range(1, size + 1)
         if size % (a * b) == 0),
        key=lambda box: (max(box), -box[0], -box[1]),
    )  # fmt: skip


def described(one: Results, ranks: Results) -> list[str]:
    """Return the lines of a table about some ranks, beside one."""
    size = int(ranks["ranks"])
    lines = [f"{size} ranks                        1 rank ms   {size} ranks ms  efficiency"]
    for name, seconds in ranks.items():
        if name == "ranks" or " one " in name or "no exchange" in name or "message" in name:
            continue
        before = one[name]
        if name.endswith(" state"):
            if name.startswith("strong") and before:
                share = f"{seconds / before * size:.2f}/{size}"
                lines.append(f"{name:32}{before / 1e6:6.1f} MB{seconds / 1e6:10.1f} MB{share:>12}")
            continue
        ideal = before / (size if name.startswith("strong") else 1)
        lines.append(f"{name:32}{1e3 * before:9.3f}{1e3 * seconds:13.3f}{ideal / seconds:12.2f}")
    for scaling in ("weak", "strong") if "weak one exchange" in ranks else ():
        for pass_ in ("forward", "backward"):
            without = ranks[f"{scaling} wave no exchange {pass_}"]
            shares = [
                f"{way} {1 - without / ranks[f'{scaling} wave {way} {pass_}']:.2f}"
                for way in wave.WAYS[1:]
            ]
            lines.append(f"share of the exchange, {scaling} wave {pass_}: {', '.join(shares)}")
        ours, theirs = (ranks.get(f"{scaling} one exchange{by}") for by in ("", " by hand"))
        if ours is not None and theirs is not None and size > 1:
            lines.append(
                f"one exchange, {scaling} wave: {1e6 * ours:.0f} us, by hand {1e6 * theirs:.0f} us"
            )
    for pass_ in ("forward", "backward") if "strong splats exchange forward" in ranks else ():
        with_, without = (ranks[f"strong splats {way} {pass_}"] for way in splat_steps.WAYS)
        lines.append(f"share of the exchange, strong splats {pass_}: {1 - without / with_:.2f}")
    for scaling in ("weak", "strong") if "weak points one migration" in ranks else ():
        alone, together = (
            sum(
                seconds
                for name, seconds in found.items()
                if name.startswith(f"{scaling} points one")
            )
            for found in (one, ranks)
        )
        forward = f"{scaling} points exchange forward"
        lines.append(
            f"share of communication, {scaling} points forward: {together / ranks[forward]:.2f}, "
            f"on one rank {alone / one[forward]:.2f}; migration "
            f"{1e3 * ranks[f'{scaling} points one migration']:.2f} ms"
        )
    return [*lines, *messages.described(ranks)]


def _launched(ranks: int, arguments: Sequence[str], threads: int) -> Results:
    """Measure on some ranks of this machine, which torchrun starts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        worker = ["-m", "benchmarks.distributed", *arguments, "--json", str(file)]
        command = [sys.executable, *worker]
        if ranks > 1:
            launcher = ["-m", "torch.distributed.run", f"--nproc-per-node={ranks}"]
            command = [sys.executable, *launcher, *worker]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "DIFFTILE_BENCH_RANK": "1"}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))


def _measure_groups(options: Any) -> None:
    """Measure one rank, and each group beside it; print the tables."""
    ours = [
        *("--cells", str(options.cells), "--point-cells", str(options.point_cells)),
        *("--gaussians", str(options.gaussians), "--images", str(options.images)),
        *("--image-size", str(options.image_size), "--width", str(options.width)),
        *("--steps", str(options.steps), "--turns", str(options.turns)),
        *("--rows", *options.rows),
        *("--threads", str(options.threads), "--arch", options.arch),
    ]
    print("measuring 1 rank", flush=True)
    one = _launched(1, ours, options.threads)
    for ranks in options.ranks:
        print(f"measuring {ranks} ranks", flush=True)
        print("\n".join(described(one, _launched(ranks, ours, options.threads))), flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; return the exit code."""
    parser = Parser("python -m benchmarks.distributed", __doc__)
    say = "default: %(default)s"
    parser.add_argument("--ranks", type=positive_int, nargs="+", default=[2], help=f"groups; {say}")
    parser.add_argument("--cells", type=positive_int, default=96, help=f"of a wave's side; {say}")
    parser.add_argument("--point-cells", type=positive_int, default=24, help=f"likewise; {say}")
    parser.add_argument(
        "--gaussians", type=positive_int, default=100_000, help=f"of all ranks; {say}"
    )
    parser.add_argument("--images", type=positive_int, default=4, help=f"of gaussians; {say}")
    parser.add_argument("--image-size", type=positive_int, default=256, help=f"likewise; {say}")
    parser.add_argument("--width", type=positive_int, default=128, help=f"of a layer; {say}")
    parser.add_argument("--steps", type=positive_int, default=10, help=f"of a run; {say}")
    parser.add_argument("--turns", type=positive_int, default=5, help=f"of each run; {say}")
    parser.add_argument("--threads", type=positive_int, default=1, help=f"of a rank; {say}")
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help=f"device; {say}")
    parser.add_argument("--rows", nargs="+", choices=_ROWS, default=_ROWS, help=f"programs; {say}")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try it out")
    parser.add_argument("--gpus", action="store_true", help="sizes for one GPU a rank, on CUDA")
    parser.add_argument("--json", type=Path, help="write the seconds to a file")
    parser.add_argument("--beside", type=Path, help="such a file of one rank, to compare with")
    options = parser.parse_args(argv)
    if options.gpus:
        options.arch, options.cells, options.point_cells = "cuda", _GPU_CELLS[0], 100
        options.gaussians, options.image_size, options.width = 4_000_000, 1024, 2048
        options.steps = _GPU_STEPS
    if options.quick:
        options.cells, options.point_cells, options.steps, options.turns = 16, 6, 3, 2
        options.gaussians, options.image_size, options.width = 2000, 64, 32
    if "DIFFTILE_BENCH_RANK" not in os.environ and not any(v in os.environ for v in _SIZES):
        if options.json is not None or options.beside is not None:
            parser.error("--json and --beside are for ranks that a launcher has started")
        _measure_groups(options)
        if options.gpus:
            options.cells, options.rows = _GPU_CELLS[1], ["wave"]
            print(f"\nthe wave of {options.cells}^3 cells")
            _measure_groups(options)
        return 0
    dt.init(arch=options.arch, cpu_max_num_threads=options.threads)
    found = measure(options)
    if dist.rank() == 0:
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
        if options.beside is not None:
            one = json.loads(options.beside.read_text(encoding="utf-8"))
            print("\n".join(described(one, found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
