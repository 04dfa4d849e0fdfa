"""Small kernels, forward and backward: difftile, Taichi's autodiff, adjoints by hand, arrays.

All run in one process, turn by turn, on the CPU, without the offline cache, and the figures are
ratios: the median over the turns of difftile's time over the other's. The target, the largest
acceptable ratio, follows '<=' or '>'. Forward is a launch without a tape, compared with plain
Taichi over ti.field; recorded is one inside a tape; backward is the replay of that one launch,
compared with Taichi's own gradient kernel at its best settings and with an adjoint written by hand
in Taichi. Setting gradients to zero and to their seeds is not measured for any of them.

A second table has the libraries over arrays that are installed: NumPy with adjoints written by
hand, torch.compile, whose reverse returns new tensors, and JAX, which computes values and gradients
together: 'both' is recorded plus backward to that. They return new arrays, and the system clears
the pages of large ones each time; with --keep-memory the C library keeps what it frees, and those
peers are faster. All outputs and gradients are compared before the measurements.

With --threads each number of threads has a process of its own, and as many cores; without it there
are as many threads as cores. --json writes milliseconds, and --compare prints the ratios of this
run's to those of such a file, with those of plain Taichi, which show what else the machine did.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import difftile as dt
from benchmarks.kernel_rows.cases import CASES
from benchmarks.kernel_rows.figures import (
    TAICHI,
    Figure,
    Measured,
    arrays_header,
    beside_arrays,
    beside_taichi,
    comparison,
    further,
    milliseconds,
    summary,
)
from benchmarks.kernel_rows.sides import (
    PEERS,
    InTaichi,
    Ours,
    check,
    installed,
    keep_memory,
    seeds_of,
)
from difftile.arguments import Parser, positive_float, positive_int

LONG, FEW = 10.0, 3  # seconds after which a row takes no more turns, and turns that all rows take


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.kernels", __doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="KERNEL", help=", ".join(CASES))
    parser.add_argument(
        "--peers", nargs="*", choices=PEERS, metavar="PEER", help=f"of {', '.join(PEERS)}"
    )
    parser.add_argument(
        "--repetitions", type=positive_int, default=15, help="turns at most; default: %(default)s"
    )
    parser.add_argument(
        "--size", type=positive_float, default=1.0, help="factor for sizes; default: %(default)s"
    )
    parser.add_argument(
        "--threads", nargs="+", type=positive_int, metavar="N", help="default: one per core"
    )
    parser.add_argument("--keep-memory", action="store_true", help="for peers over arrays")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write milliseconds")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="an earlier --json")
    options = parser.parse_args(argv)
    before = json.loads(options.compare.read_text("utf-8")) if options.compare else {}
    measured: Measured = {}
    if options.threads and os.environ.get(ALONE) != str(options.threads[0]):
        for threads in options.threads:
            measured |= in_a_process(threads, options)
    else:
        threads = options.threads[0] if options.threads else os.cpu_count() or 1
        measured[str(threads)] = measure(threads, options)
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1), "utf-8")
    for line in comparison(measured, before):
        print(line)
    return 0


ALONE = "DIFFTILE_KERNELS_THREADS"  # set for a process that has its number of threads


def in_a_process(threads: int, options: Any) -> Measured:
    """Measure in a process whose libraries have that many threads, and as many cores if there are.

    Raises:
        SystemExit: The process failed.
    """
    names = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC", ALONE
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measured.json"
        command = [sys.executable, "-m", "benchmarks.kernels", f"--threads={threads}"]
        command += [f"--repetitions={options.repetitions}", f"--size={options.size}"]
        command += [f"--json={path}"]
        command += ["--keep-memory"] * options.keep_memory
        for name in ("only", "peers"):
            if (chosen := getattr(options, name)) is not None:
                command += [f"--{name}", *chosen]
        with subprocess.Popen(command, env=environment) as child:
            if hasattr(os, "sched_setaffinity"):  # on Linux; JAX obeys nothing else
                cores = sorted(os.sched_getaffinity(0))
                os.sched_setaffinity(child.pid, cores[:threads])
        if child.returncode:
            raise SystemExit(child.returncode)
        return json.loads(path.read_text("utf-8"))


def measure(threads: int, options: Any) -> dict[str, dict[str, float]]:
    """Measure all rows and print their tables; return milliseconds by row and name of the time."""
    warnings.simplefilter("ignore", dt.GradientCut)  # the seed of a backward pass is artificial
    if options.keep_memory:
        keep_memory()
    peers = installed() if options.peers is None else options.peers
    print(f"ratios of difftile's time to the other's, f32; medians; threads: {threads}")
    print(TAICHI)
    found: list[Figure] = []
    lines: list[str] = []
    measured: dict[str, dict[str, float]] = {}
    for name in options.only or CASES:
        dt.init(
            arch="cpu",
            offline_cache=False,
            force_scalarize_matrix=True,
            cpu_max_num_threads=threads,
        )
        case = CASES[name](options.size)
        seeds = seeds_of(case)
        ours = Ours(case, seeds)
        others = [InTaichi(case, seeds), *(PEERS[peer](name, case, seeds) for peer in peers)]
        check(name, case, ours, others)
        turns = take_turns([*others, ours], options.repetitions)
        line, figures = beside_taichi(name, case, turns, threads)
        absolute = threads == 1 and options.size == 1
        found += figures + further(name, case.targets, turns, absolute)
        print(line, flush=True)
        lines.append(beside_arrays(name, turns))
        measured[name] = {of: milliseconds(turns, of) for of in turns[0]}
    if peers:
        print("", arrays_header(next(iter(measured.values()))), *lines, sep="\n")
    print("", summary(found), sep="\n")
    return measured


def take_turns(sides: Sequence[Any], most: int) -> list[dict[str, float]]:
    """Have the sides measure themselves turn by turn, fewer times if that takes long."""
    turns: list[dict[str, float]] = []
    started = time.perf_counter()
    while len(turns) < most and (len(turns) < FEW or time.perf_counter() - started < LONG):
        turns.append({name: seconds for side in sides for name, seconds in side.turn().items()})
    return turns


if __name__ == "__main__":
    sys.exit(main())
