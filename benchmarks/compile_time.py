"""Compile time and correctness of a kernel and its gradient: difftile compared with Taichi.

Every program of `tests/programs/` is compiled and run by difftile, and the same text by plain
Taichi with its own autodiff (`force_scalarize_matrix=True`), in turn in one process, without caches
on disk. A time is the CPU time of the first launch and the first gradient, less that of the second
ones. Taichi gets its arrays as fields and as ndarrays; the better outcome counts, and then the
faster. Of several programs with the same text only one is measured.

Taichi's gradients of all fields that the kernel reads are compared with difftile's in double
precision, which the tests compare with the complex step. A process that crashes is counted and
replaced; its program is not tried in the other form, in which it crashes as well.
"""

from __future__ import annotations

import ast
import inspect
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import numpy as np

import difftile as dt
from benchmarks.peers.programs_taichi import FORMS, NoCounterpart, TaichiProgram
from difftile.arguments import Parser, positive_int
from tests import harness, programs

TARGET = 1.5  # of the ratio of totals
RENEWED_AFTER = 100  # programs in one process: Taichi keeps every kernel and every field for ever
TIMEOUT = 60.0  # [s] for a program in one form
OUTCOMES = (
    "right gradient",
    "at a kink, or in need of double precision",
    "wrong gradient",
    "crash in the gradient",
    "no end of the gradient",
    "refuses the gradient",
    "other values",
    "crash in the kernel",
    "no end of the kernel",
    "refuses the kernel",
    "no spelling in Taichi",
)
"""From best to worst; with those up to the third, there is a time."""

TIMED = OUTCOMES[:3]
RIGHT = OUTCOMES[:2]


@dataclass(frozen=True)
class Theirs:
    """The outcome of a program in Taichi.

    Args:
        outcome: One of `OUTCOMES`.
        seconds: Compile time of kernel and gradient, if both exist.
        why: The message of a refusal, or the wrong field.
    """

    outcome: str
    seconds: float = 0.0
    why: str = ""


@dataclass
class Result:
    """Compile times of one program [s]; ours is None where difftile has failed."""

    name: str
    ours: float | None = None
    ours_why: str = ""
    theirs: dict[str, Theirs] = field(default_factory=dict[str, Theirs])

    @property
    def best(self) -> Theirs:
        return min(self.theirs.values(), key=lambda t: (OUTCOMES.index(t.outcome), t.seconds))

    @property
    def ratio(self) -> float | None:
        timed = self.ours is not None and self.best.outcome in TIMED
        return self.ours / self.best.seconds if timed and self.ours is not None else None


# One program, in a worker


@dataclass
class Reference:
    """The expected values and gradients of a program in double precision, by parameter."""

    values: harness.Values
    seeds: harness.Values
    after: harness.Values
    gradients: harness.Values


def measure_ours(one: harness.Program) -> tuple[float, Reference]:
    """Return the seconds that difftile compiles for in single precision, and the right numbers."""
    rng = np.random.default_rng(7)
    values = harness.drawn(one, rng)
    floats = [name for name, value in values.items() if value.dtype.kind == "f"]
    weights = {name: rng.uniform(0.5, 1.5, values[name].shape) for name in floats}
    kernel: Any = dt.kernel(one.function)
    first, _ = timed(lambda: harness._run(one, kernel, values, harness.F32, weights))
    second, _ = timed(lambda: harness._run(one, kernel, values, harness.F32, weights))
    run = harness._run(one, kernel, values, harness.F64, weights)
    stages = kernel._latest.stages
    loaded = {array.name for stage in stages for array in stage.loaded}
    gradients = {name: run.gradients[name] for name in run.gradients if name in loaded}
    seeds = {name: w for name, w in run.weights.items() if np.any(w) and name not in one.frozen}
    return first - second, Reference(values, seeds, run.after, gradients)


def measure_theirs(
    one: harness.Program, form: str, right: Reference, enter: Callable[[str, str], None]
) -> Theirs:
    """Return Taichi's outcome; `enter` gets the name of each phase, in case it does not return."""
    try:
        program = TaichiProgram(one, right.values, form)
    except NoCounterpart as error:
        return Theirs("no spelling in Taichi", why=str(error))
    except Exception as error:
        return Theirs("refuses the kernel", why=last_line(error))
    enter(form, "kernel")
    try:
        first, _ = timed(program.forward)
    except Exception as error:
        return Theirs("refuses the kernel", why=last_line(error))
    after = program.after()
    program.seed(right.seeds)
    enter(form, "gradient")
    try:
        first_back, _ = timed(program.backward)
    except Exception as error:
        return Theirs("refuses the gradient", why=last_line(error))
    gradients = program.gradients(list(right.gradients))
    program.reset()
    second, _ = timed(program.forward)
    program.seed(right.seeds)
    second_back, _ = timed(program.backward)
    seconds = first - second + first_back - second_back
    other = differing(after, right.after)
    wrong = differing(gradients, right.gradients)
    if not (one.smooth and one.single):
        return Theirs("at a kink, or in need of double precision", seconds)
    if other:
        return Theirs("other values", seconds, other)
    return Theirs("wrong gradient" if wrong else "right gradient", seconds, wrong)


def doubled(x, y):
    for i in x:
        y[i] = 2 * x[i]


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = run()
    return time.process_time() - started, result


def last_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1].strip() if lines else ''}"


def differing(found: harness.Values, right: harness.Values) -> str:
    """Return the first name whose values are not near, as the tests ask of single precision."""
    for name, expected in right.items():
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        if not np.allclose(found[name], expected, rtol=2e-3, atol=2e-4 * scale):
            return name
    return ""


def serve(to_parent: Connection) -> None:
    """Measure programs, one after another, as the parent names them."""
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # Taichi prints pages when it crashes
        os.dup2(silent, stream)
    by_name = {one.name: one for one in harness.PROGRAMS}
    dt.init(arch="cpu", offline_cache=False, force_scalarize_matrix=True)
    first = harness.Program(doubled, {"x": harness.floats(3), "y": harness.floats(3)})
    _, right = measure_ours(first)  # the first kernels of a process take longer
    for form in FORMS:
        measure_theirs(first, form, right, lambda *what: None)
    while True:
        one = by_name[to_parent.recv()]
        try:
            ours, right = measure_ours(one)
        except Exception as error:
            to_parent.send(("ours", None, last_line(error)))
            continue
        to_parent.send(("ours", ours, ""))
        for form in FORMS:
            theirs = measure_theirs(
                one, form, right, lambda *what: to_parent.send(("enter", *what))
            )
            to_parent.send(("theirs", form, theirs))


# All programs, from the parent


class Worker:
    """A process that measures; another takes its place when it dies."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")  # Taichi is imported, and not yet started
        self._connection, child = context.Pipe()
        self._process = context.Process(target=serve, args=(child,), daemon=True)
        self._process.start()
        child.close()
        self.measured = 0

    def measure(self, name: str) -> tuple[Result, bool]:
        """Measure a program; return also whether the process is alive."""
        result, form, doing = Result(name), FORMS[0], "kernel"
        self.measured += 1
        self._connection.send(name)
        while len(result.theirs) < len(FORMS):
            try:
                ended = not self._connection.poll(TIMEOUT)
                answer: Any = ("dead", "no end of") if ended else self._connection.recv()
            except (EOFError, ConnectionError):
                answer = ("dead", "crash in")
            match answer:
                case ("ours", seconds, why):
                    result.ours, result.ours_why = seconds, why
                    if seconds is None:
                        break
                case ("enter", form, doing):
                    pass
                case ("theirs", form, theirs):
                    result.theirs[form] = theirs
                case (_, how):
                    result.theirs[form] = Theirs(f"{how} the {doing}")
                    return result, False
        return result, True

    def stop(self) -> None:
        self._process.kill()
        self._process.join()


def measure(names: Sequence[str]) -> list[Result]:
    """Measure programs in processes, one after another."""
    results: list[Result] = []
    worker = Worker()
    for count, name in enumerate(names, 1):
        result, alive = worker.measure(name)
        if not alive or worker.measured >= RENEWED_AFTER:
            worker.stop()
            worker = Worker()
        results.append(result)
        if sys.stderr.isatty():
            print(f"\r{count}/{len(names)} {name:60}", end="", file=sys.stderr, flush=True)
    worker.stop()
    if sys.stderr.isatty():
        print("\r" + " " * 80 + "\r", end="", file=sys.stderr)
    return results


def report(results: list[Result], worst: int, details: bool) -> str:
    """Return the tables."""
    lines = [f"{len(results)} programs; Taichi, in the better of two forms:"]
    counts = Counter(result.best.outcome for result in results if result.theirs)
    lines += [f"{counts[outcome]:6}  {outcome}" for outcome in OUTCOMES if counts[outcome]]
    failed = [result for result in results if result.ours_why]
    lines += [f"difftile fails: {result.name}: {result.ours_why}" for result in failed]
    if details:
        lines += [
            f"  {result.name:50} {result.best.outcome}: {result.best.why}"
            for result in results
            if result.theirs and result.best.outcome not in RIGHT
        ]
    for outcomes, of in ((RIGHT, "right"), (TIMED, "right or wrong")):
        lines += ["", *ratios([r for r in results if r.theirs and r.best.outcome in outcomes], of)]
    lines += ["", f"{'ratio':>8}{'difftile':>10}{'Taichi':>10}  the highest ratios, times in ms"]
    timed_ones = [r for r in results if r.theirs and r.ratio is not None]
    for result in sorted(timed_ones, key=lambda r: -(r.ratio or 0.0))[:worst]:
        ours, theirs = 1e3 * (result.ours or 0.0), 1e3 * result.best.seconds
        lines.append(f"{result.ratio:8.2f}{ours:10.1f}{theirs:10.1f}  {result.name}")
    return "\n".join(lines)


def ratios(results: list[Result], of: str) -> list[str]:
    """Return the lines about programs that Taichi gives a gradient for."""
    if not results:
        return [f"none with a {of} gradient of Taichi"]
    ours = sum(result.ours or 0.0 for result in results)
    theirs = sum(result.best.seconds for result in results)
    middle = median(result.ratio or 0.0 for result in results)
    return [
        f"compile time over the {len(results)} programs whose gradient in Taichi is {of}:",
        f"  totals: difftile {ours:.1f} s, Taichi {theirs:.1f} s: {ours / theirs:.2f} "
        f"(target: at most {TARGET}); median of the ratios: {middle:.2f}",
    ]


def text_of(one: harness.Program) -> str:
    """Return the text of a kernel, without its decorators and its name."""
    tree = ast.parse(inspect.getsource(one.function)).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return "\n".join(map(ast.unparse, (tree.args, *tree.body)))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.compile_time", __doc__)
    parser.add_argument("--only", metavar="TEXT", help="programs with this in their name")
    parser.add_argument(
        "--every",
        type=positive_int,
        default=1,
        help="take every n-th program; default: %(default)s",
    )
    parser.add_argument(
        "--worst", type=positive_int, default=10, help="lines of ratios; default: %(default)s"
    )
    parser.add_argument("--details", action="store_true", help="Taichi's outcome for each program")
    options = parser.parse_args(argv)
    programs.load()
    every = {text_of(one): one.name for one in reversed(harness.PROGRAMS)}
    names = [name for name in reversed(every.values()) if (options.only or "") in name]
    if not names:
        parser.error(f"no program has {options.only!r} in its name")
    print(report(measure(names[:: options.every]), options.worst, options.details))
    return 0


if __name__ == "__main__":
    sys.exit(main())
