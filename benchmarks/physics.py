"""The field's yardstick simulations in difftile and in plain Taichi with its own autodiff.

Each runs in one process, turn by turn: difftile with its state in place and a tape, Taichi with a
time axis and `ti.ad.Tape`, both without the offline cache and with `force_scalarize_matrix=True`.
Forward, backward and the times within a budget are medians. Compiling is the CPU time of a first
forward and backward less that of a second, in processes with one of the two alone, and so is the
most memory that a process takes. Saved bytes are, of difftile, the most that the tape holds; of
Taichi, the values (not the gradients) along time axes. Bytes are those, all fields and gradients.
Lines are those of the simulation: no blank lines, comments, docstrings, imports. Smoke runs in JAX
too, if that is installed.
"""

import ast
import inspect
import io
import multiprocessing
import resource
import sys
import time
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np

import difftile as dt
import scenes.billiards
import scenes.mass_spring
import scenes.mpm
import scenes.smoke
import scenes.wave
from benchmarks.peers import (
    billiards_taichi,
    diffmpm_taichi,
    mass_spring_taichi,
    smoke_taichi,
    wave_taichi,
)
from benchmarks.peers.peer import Peer, clear
from benchmarks.peers.smoke_jax import SmokeJax
from demos import billiards, diffmpm, mass_spring, smoke, wave
from demos.support import material_points
from demos.support.training import Simulation
from difftile.arguments import Parser, positive_int

Clock = Callable[[], float]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

LINES, SAVED, COMPILE, FORWARD = 0.6, 0.5, 1.0, 1.0
BUDGETS = (4, 16)
TOLERANCE = 1e-3  # of losses and gradients: f32, over steps that amplify what is rounded
ALONE = 3  # processes to compile in, of which the fastest counts
SHORT = 4  # steps to compile with


@dataclass(frozen=True)
class Code:
    """Functions and classes of a module, whose lines are counted, and those of another one."""

    module: ModuleType
    names: tuple[str, ...]
    other: "Code | None" = None

    def lines(self) -> int:
        """Count lines with code on them, as ruff formats them."""
        source = inspect.getsource(self.module)
        found = {node.name: node for node in ast.parse(source).body if isinstance(node, _NAMED)}
        lines = sum(_lines_in(source, found[name]) for name in self.names)
        return lines if self.other is None else lines + self.other.lines()


@dataclass(frozen=True)
class Case:
    """A simulation.

    Attributes:
        make: Returns what makes it in difftile and what makes it in Taichi, for a number of steps;
            small for a quick run.
        steps: Of a full run and of a quick one.
        ours: What is counted of difftile's program.
        theirs: What is counted of Taichi's.
        backward: The most that the backward may take, in units of Taichi's.
        noise: Put into the parameters: where all is zero, too much of a gradient is.
    """

    make: Callable[[int, bool], tuple[Callable[[], Simulation], Callable[[], Peer]]]
    steps: tuple[int, int]
    ours: Code
    theirs: Code
    backward: float = 0.7
    noise: float = 0.0


def _mass_spring(steps: int, quick: bool) -> tuple[Callable[[], Simulation], Callable[[], Peer]]:
    scene = scenes.mass_spring.make_scene("C")
    network = scenes.mass_spring.make_network(scene)
    return (
        lambda: mass_spring.Walker(scene, network, steps),
        lambda: mass_spring_taichi.make_mass_spring(scene, network, steps),
    )


def _diffmpm(steps: int, quick: bool) -> tuple[Callable[[], Simulation], Callable[[], Peer]]:
    scene = scenes.mpm.make_scene("robot", 64 if quick else 128)
    controller = scenes.mpm.make_controller(scene)
    return (
        lambda: diffmpm.Mpm(scene, controller, steps),
        lambda: diffmpm_taichi.make_diffmpm(scene, controller, steps),
    )


def _wave(steps: int, quick: bool) -> tuple[Callable[[], Simulation], Callable[[], Peer]]:
    scene = scenes.wave.make_scene(64 if quick else 256)
    return lambda: wave.Wave(scene, steps), lambda: wave_taichi.make_wave(scene, steps)


def _smoke_scene(steps: int, quick: bool) -> scenes.smoke.SmokeScene:
    return scenes.smoke.make_scene(32 if quick else 128, steps)


def _smoke(steps: int, quick: bool) -> tuple[Callable[[], Simulation], Callable[[], Peer]]:
    scene = _smoke_scene(steps, quick)
    return lambda: smoke.Smoke(scene), lambda: smoke_taichi.make_smoke(scene)


def _billiards(steps: int, quick: bool) -> tuple[Callable[[], Simulation], Callable[[], Peer]]:
    scene = scenes.billiards.BilliardsScene()
    return (
        lambda: billiards.Billiards(scene, steps),
        lambda: billiards_taichi.make_billiards(scene, steps),
    )


_TRANSFERS = ("nodes_around", "weight_of", "spread", "collect")

CASES = {
    "mass_spring": Case(
        _mass_spring,
        (681, 200),
        Code(mass_spring, ("Walker",)),
        Code(mass_spring_taichi, ("make_mass_spring",)),
    ),
    "diffmpm": Case(
        _diffmpm,
        (1023, 64),
        Code(diffmpm, ("corotated", "Mpm"), Code(material_points, _TRANSFERS)),
        Code(diffmpm_taichi, ("spline", "corotated", "make_diffmpm")),
    ),
    "wave": Case(
        _wave, (256, 64), Code(wave, ("Wave",)), Code(wave_taichi, ("make_wave",)), 0.3, 0.1
    ),
    "smoke": Case(
        _smoke,
        (100, 20),
        Code(smoke, ("Smoke",)),
        Code(smoke_taichi, ("make_smoke",)),
        backward=0.3,
    ),
    "billiards": Case(
        _billiards,
        (1023, 200),
        Code(billiards, ("Billiards",)),
        Code(billiards_taichi, ("make_billiards",)),
    ),
}


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        label: What was measured.
        ours: Of difftile, once for every turn.
        theirs: Of Taichi, or whatever it is compared with.
        target: The most that the ratio may be.
    """

    label: str
    ours: Sequence[float]
    theirs: Sequence[float]
    target: float | None = None

    @property
    def ratio(self) -> float:
        """Median of the turns: what else the machine does falls on both of a turn."""
        return median(one / other for one, other in zip(self.ours, self.theirs, strict=True))

    def __str__(self) -> str:
        verdict = "met" if self.target is None or self.ratio <= self.target else "not met"
        target = "" if self.target is None else f"   <= {self.target}, {verdict}"
        figures = f"{median(self.ours):12.2f}{median(self.theirs):12.2f}{self.ratio:8.2f}"
        return f"{self.label:28}{figures}{target}"


@dataclass(frozen=True)
class Gradient:
    """What one gradient took: seconds, and the most bytes on the tape."""

    forward: float
    backward: float
    nbytes: int = 0

    @property
    def seconds(self) -> float:
        return self.forward + self.backward


def differentiate(
    simulation: Simulation, clock: Clock = time.perf_counter, memory: int | None = None
) -> Gradient:
    """Run on a tape and compute the gradients; clearing them counts as backward."""
    started = clock()
    with dt.Tape(simulation.loss, memory=memory) as tape:
        entered = clock()
        simulation.run()
        forward = clock() - entered
    return Gradient(forward, clock() - started - forward, tape.peak_nbytes)


@dataclass(frozen=True)
class Comparison:
    """The rows of a table, how far apart loss and gradient are, and what there is to say."""

    rows: dict[str, Row]
    apart: dict[str, float]
    notes: list[str]


def compare(name: str, steps: int, quick: bool, repetitions: int, clock: Clock) -> Comparison:
    """Run both turn by turn."""
    _start()
    case = CASES[name]
    make_ours, make_theirs = case.make(steps, quick)
    ours, theirs = make_ours(), make_theirs()
    for simulation in (ours, theirs):
        stir(simulation, case.noise)
    saved = differentiate(ours).nbytes
    theirs.differentiate()
    apart = distances(ours, theirs)
    mine, others = list[Gradient](), list[Gradient]()
    budgets = {f"within 1/{divisor}": saved // divisor for divisor in BUDGETS}
    within: dict[str, list[Gradient]] = {label: [] for label, memory in budgets.items() if memory}
    notes: list[str] = []
    for turn in range(repetitions):
        mine.append(differentiate(ours, clock))
        others.append(Gradient(*theirs.differentiate(clock)))
        for label in list(within):
            try:
                within[label].append(differentiate(ours, clock, budgets[label]))
            except dt.TapeError as error:
                notes.append(f"{label} there is no gradient: {error}")
                del within[label]
        _progress(f"{name}: turn {turn + 1} of {repetitions}")
    held, unit = _nbytes(ours) + saved, "ms" if clock is time.perf_counter else "CPU ms"
    rows = {
        "lines": Row("lines", [case.ours.lines()], [case.theirs.lines()], LINES),
        "saved": Row("saved [MB]", [saved / 1e6], [theirs.saved_nbytes / 1e6], SAVED),
        "bytes": Row("bytes [MB]", [held / 1e6], [theirs.nbytes / 1e6]),
    }
    for which, target in (("forward", FORWARD), ("backward", case.backward)):
        times = ([1e3 * getattr(one, which) for one in runs] for runs in (mine, others))
        rows[which] = Row(f"{which} [{unit}]", *times, target)
    full = [1e3 * one.seconds for one in mine]
    if name == "smoke":
        beside, note = compare_with_jax(ours, steps, quick, repetitions, clock)
        rows |= beside
        notes.append(note)
    for label, runs in within.items():
        peak, spent = max(one.nbytes for one in runs), [1e3 * one.seconds for one in runs]
        rows[label] = Row(f"{label} [MB], budget", [peak / 1e6], [budgets[label] / 1e6], 1.0)
        rows[f"{label}, time"] = Row(f"{label} [{unit}], in full", spent, full)
    return Comparison(rows, apart, notes)


def compare_with_jax(
    ours: Simulation, steps: int, quick: bool, repetitions: int, clock: Clock
) -> tuple[dict[str, Row], str]:
    """Run smoke in difftile and in JAX turn by turn; return the rows, and what there is to say."""
    v0 = ours.parameters["v0"]
    try:
        theirs = SmokeJax(_smoke_scene(steps, quick))
    except ModuleNotFoundError:
        return {}, "JAX is not installed"
    started = time.process_time()
    gradient = theirs.differentiate(v0.to_numpy())[2]
    compiling = time.process_time() - started
    differentiate(ours)
    apart = np.linalg.norm(v0.grad.to_numpy() - gradient) / np.linalg.norm(gradient)
    mine, others = list[Gradient](), list[Gradient]()
    for _ in range(repetitions):
        mine.append(differentiate(ours, clock))
        both, forward, _ = theirs.differentiate(v0.to_numpy(), clock)
        others.append(Gradient(forward, both - forward))
    unit = "ms" if clock is time.perf_counter else "CPU ms"
    rows = {
        f"JAX, {what}": Row(
            f"{what}, JAX [{unit}]",
            *([1e3 * getattr(one, what) for one in runs] for runs in (mine, others)),
        )
        for what in ("forward", "backward")
    }
    return rows, f"JAX takes {compiling:.1f} CPU s to compile; gradients differ by {apart:.0e}"


def stir(simulation: Simulation | Peer, noise: float) -> None:
    """Add the same normal noise to the parameters, whosever they are."""
    for values in simulation.parameters.values() if noise else ():
        array = values.to_numpy()
        array += noise * np.random.default_rng(0).standard_normal(array.shape)
        values.from_numpy(array)


def distances(ours: Simulation, theirs: Peer) -> dict[str, float]:
    """Return how far apart loss and gradient are, in units of those of Taichi."""
    loss = float(theirs.loss[None])
    gradients = theirs.gradients()
    square = sum(
        float(np.sum((values.grad.to_numpy() - gradients[name]) ** 2))
        for name, values in ours.parameters.items()
    )
    norm = np.sqrt(sum(float(np.sum(values**2)) for values in gradients.values()))
    return {
        "loss": abs(float(ours.loss[None]) - loss) / abs(loss),
        "gradient": float(np.sqrt(square) / max(norm, 1e-30)),
    }


def alone(name: str, side: int, steps: int, quick: bool) -> tuple[float, float]:
    """Return CPU seconds to compile, and MB that the process grows by over full runs if `steps`."""
    _start()
    before = _most_memory()
    short = CASES[name].make(SHORT, quick)[side]()
    run: Callable[[Any], object] = Peer.differentiate if side else differentiate
    spent: list[float] = []
    for _ in range(2):
        started = time.process_time()
        run(short)
        spent.append(time.process_time() - started)
    if steps:
        full = CASES[name].make(steps, quick)[side]()
        for _ in range(2):
            run(full)
    return spent[0] - spent[1], (_most_memory() - before) / 1e6


def measure(name: str, steps: int, quick: bool, repetitions: int, clock: Clock) -> bool:
    """Measure one simulation, print its table, and return whether losses and gradients agree."""
    found: Comparison = _apart(compare, name, steps, quick, repetitions, clock)
    compiling, memory = ([], []), ([], [])
    turns = 1 if quick else ALONE
    for turn in range(turns):
        for side in (0, 1):
            _progress(f"{name}: compilation {turn + 1} of {turns}")
            seconds, grown = _apart(alone, name, side, 0 if turn else steps, quick)
            compiling[side].append(seconds)
            if not turn:
                memory[side].append(grown)
    rows = found.rows
    rows["compile"] = Row("compile [CPU s]", *compiling, COMPILE)
    rows["process"] = Row("process grows by [MB]", *memory)
    first = ("lines", "saved", "bytes", "process", "compile")
    _progress("")
    print(f"\n{name}, {steps} steps{', small' if quick else ''}")
    print(f"{'':28}{'difftile':>12}{'Taichi':>12}{'ratio':>8}   target")
    print(*(rows.pop(key) for key in first), *rows.values(), *found.notes, sep="\n")
    apart = ", ".join(f"{what} by {distance:.0e}" for what, distance in found.apart.items())
    print(f"they differ in {apart}, relatively", flush=True)
    return max(found.apart.values()) < TOLERANCE


_NAMED = (ast.FunctionDef, ast.ClassDef)
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def _lines_in(source: str, node: ast.FunctionDef | ast.ClassDef) -> int:
    first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for inner in ast.walk(node):
        if isinstance(inner, _NAMED) and ast.get_docstring(inner) is not None:
            docstring = inner.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return sum(first <= line <= (node.end_lineno or 0) for line in lines)


def _nbytes(simulation: Simulation) -> int:
    """Bytes of the fields that a simulation holds, gradients included."""
    held = [*vars(simulation).values(), *simulation.parameters.values()]
    fields = {id(field.origin): field for field in held if isinstance(field, dt.Field)}
    return sum(field.nbytes * (2 if field.has_grads else 1) for field in fields.values())


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


def _start() -> None:
    """Start Taichi, and run a kernel of its, so that what the first one costs is not measured."""
    dt.init(arch="cpu", offline_cache=False, force_scalarize_matrix=True)
    clear()


def _most_memory() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if a loss or a gradient is wrong, whatever the figures are."""
    parser = Parser("python -m benchmarks.physics", __doc__)
    parser.add_argument("--only", choices=tuple(CASES), help="one of the simulations")
    parser.add_argument("--quick", action="store_true", help="small simulations, few steps")
    parser.add_argument("--steps", type=positive_int, help="of every simulation")
    parser.add_argument(
        "--repetitions", type=positive_int, default=7, help="default: %(default)s, besides a first"
    )
    parser.add_argument(
        "--clock", choices=tuple(CLOCKS), default="wall", help="cpu: for a machine that is busy"
    )
    options = parser.parse_args(argv)
    right, clock = True, CLOCKS[options.clock]
    for name in [options.only] if options.only else CASES:
        steps = options.steps or CASES[name].steps[options.quick]
        right &= measure(name, steps, options.quick, options.repetitions, clock)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
