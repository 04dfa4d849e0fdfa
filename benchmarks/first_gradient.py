"""Processor time of a first value and gradient: what a user waits for before the first result.

Each program runs in a process of its own, first with an empty folder of compiled kernels (cold),
then in a second process with the folder that the first one has filled (warm). Times are those of
all threads and of processes that it starts. 'start' is up to the end of imports and of `dt.init`,
'compiler' what the compiler takes for the emitted source, or to load what it has kept, up to the
first launch of each kernel, and 'ours' all the rest up to the gradient. Taichi has a time axis and
`ti.ad.Tape`; a star marks programs that its autodiff refuses or gets wrong, of which it runs only
the value. JAX and torch.compile run where they are installed, with their own caches on disk. A
ratio is that of 'total' to the peer's, below 1 where difftile is faster; the values and gradients
of all are compared.

With `--beside FOLDER`, another checkout of difftile runs the same programs. All sides take turns,
and figures are medians over the turns.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from difftile.arguments import Parser, positive_int

ROOT = Path(__file__).parents[1]
STATES = ("cold", "warm")
PROGRAMS = ("readme", "gmm", "network", "wave", "mass_spring", "dssim", "cartpole", "hopper")
COMPARED = ("gmm", "network", "wave")
PEERS = {
    "taichi": ("readme", *COMPARED, "mass_spring"),
    "jax": COMPARED,
    "torch": COMPARED,
}
FORWARD = {("taichi", "gmm"), ("taichi", "network")}  # only the value
PARTS = ("start", "compiler", "ours", "total")
TOLERANCE = 1e-3  # of norms: f32, and sums in another order


def seconds() -> float:
    """Return the processor time of this process and of those that it has started."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def watched(program: Any) -> list[float]:
    """Return a list that gets the seconds of each call of the compiler's core.

    Code for the processor is made at the first launch of a kernel.

    Args:
        program: The class of the core whose methods compile and launch.
    """
    taken: list[float] = []
    compile_kernel, launch_kernel = program.compile_kernel, program.launch_kernel
    launched: set[int] = set()

    def timed(call: Any, *given: Any) -> Any:
        started = time.process_time()
        result = call(*given)
        taken.append(time.process_time() - started)
        return result

    def compiled(self: Any, *given: Any) -> Any:
        return timed(compile_kernel, self, *given)

    def launch(self: Any, kernel: Any, context: Any) -> Any:
        if id(kernel) in launched:
            return launch_kernel(self, kernel, context)
        launched.add(id(kernel))
        return timed(launch_kernel, self, kernel, context)

    program.compile_kernel, program.launch_kernel = compiled, launch
    return taken


def measured(side: str, program: str, quick: bool) -> dict[str, Any]:
    """Run a program to the gradient; return its times and the norms of its results."""
    taken: list[float] = []
    if side == "difftile":
        module: Any = importlib.import_module(f"benchmarks.first_rows.{program}")
        importlib.import_module("difftile").init(arch="cpu", substrate="taichi")
        taken = watched(importlib.import_module("taichi._lib").core.Program)
        run = module.run
    else:
        module = importlib.import_module(f"benchmarks.peers.first_{side}")
        module.start(program)
        run = module.PROGRAMS[program]
    start = seconds()
    results = run(quick)
    if side == "difftile":
        results = [field.to_numpy() for field in results]
    total = seconds()
    parts = {"start": start, "compiler": sum(taken), "ours": total - start - sum(taken)}
    norms = [float((result.astype(float) ** 2).sum() ** 0.5) for result in results]
    return {"parts": {**parts, "total": total}, "norms": norms}


def apart(side: str, program: str, cache: Path, quick: bool) -> dict[str, Any]:
    """Measure a program in a process of its own, with a folder of compiled code."""
    path = str(ROOT)
    if side not in ("difftile", *PEERS):  # another checkout, whose library hides ours
        hiding = cache / "beside"
        hiding.mkdir(exist_ok=True)
        if not (hiding / "difftile").exists():
            (hiding / "difftile").symlink_to(Path(side) / "difftile")
        side, path = "difftile", os.pathsep.join((str(hiding), path))
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": path}
    inside = ["--inside", side, program, *(["--quick"] if quick else [])]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_gradient", *inside],
        cwd=cache,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{program}, {side}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


Found = dict[tuple[str, str, str, str], float]  # by program, side, state and part


def measure(programs: Sequence[str], sides: Sequence[str], turns: int, quick: bool) -> Found:
    """Return medians of seconds."""
    taken: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for _ in range(turns):
        for program in programs:
            norms: list[float] = []
            for side in sides:
                if program not in PEERS.get(side, PROGRAMS):
                    continue
                with tempfile.TemporaryDirectory() as cache:
                    runs = {one: apart(side, program, Path(cache), quick) for one in STATES}
                for state, run in runs.items():
                    norms = norms or run["norms"]
                    compare(f"{program}, {side}, {state}", run["norms"], norms)
                    for part, spent in run["parts"].items():
                        taken[program, side, state, part].append(spent)
    return {key: median(values) for key, values in taken.items()}


def compare(what: str, found: Sequence[float], expected: Sequence[float]) -> None:
    """End the program if norms differ; a side that has only the value has only its norm."""
    for one, other in zip(found, expected, strict=False):
        if not abs(one - other) <= TOLERANCE * max(abs(other), 1e-6):
            raise SystemExit(f"{what}: the norms are {found}, those of difftile {expected}")


def report(found: Found, programs: Sequence[str], sides: Sequence[str]) -> str:
    """Return the table: a line for each program and state."""
    ours, *others = sides
    head = f"{'':12}{'':5}" + "".join(f"{part:>9}" for part in PARTS)
    lines = [head + "".join(f"{Path(side).name:>12}{'ratio':>7}" for side in others)]
    for program in programs:
        for state in STATES:
            line = f"{program:12}{state:5}"
            line += "".join(f"{found[program, ours, state, part]:9.2f}" for part in PARTS)
            for side in others:
                theirs = found.get((program, side, state, "total"))
                if theirs is None:
                    line += 19 * " "
                    continue
                mark = "*" if (side, program) in FORWARD else ""
                line += f"{f'{theirs:.2f}{mark}':>12}"
                line += f"{found[program, ours, state, 'total'] / theirs:7.2f}"
            lines.append(line.rstrip())
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.first_gradient", __doc__)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--turns", type=positive_int, help="default: 3, and 1 with --quick")
    parser.add_argument("--peers", nargs="*", choices=PEERS, help="default: those installed")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="another checkout")
    parser.add_argument("--quick", action="store_true", help="small sizes, to try it out")
    parser.add_argument("--inside", nargs=2, metavar=("SIDE", "PROGRAM"), help="for itself")
    options = parser.parse_args(argv)
    if options.inside:
        print(json.dumps(measured(*options.inside, options.quick)))
        return 0
    peers = options.peers
    if peers is None:
        peers = [name for name in PEERS if find_spec(name) is not None]
    beside = [str(options.beside.resolve())] if options.beside else []
    sides = ["difftile", *beside, *peers]
    turns = options.turns or (1 if options.quick else 3)
    print(report(measure(options.only, sides, turns, options.quick), options.only, sides))
    return 0


if __name__ == "__main__":
    sys.exit(main())
