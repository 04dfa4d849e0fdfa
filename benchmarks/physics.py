"""The standard simulations of the field in difftile and in plain Taichi with its own autodiff.

Each runs in one process, turn by turn: difftile with its state in place and a tape, Taichi with a
time axis and `ti.ad.Tape`, both without the offline cache and with `force_scalarize_matrix=True`.
Times are medians, and ratios are medians of the ratios of the turns. Compile time is the CPU time
of a first forward and backward less that of a second, in processes with only one of the two; the
growth of the process is measured there too. Saved bytes are all memory that grows with the number
of steps: for difftile the maximum that the tape holds, for Taichi the fields with a time axis and
their gradients, and in a separate row without the gradients; bytes also include all other fields
and gradients. Lines are those of the simulation, as `benchmarks/code_lines.py` counts them. For
diffmpm there is also Taichi with one grid that its adjoint fills again, and for smoke JAX, if that
is installed.
"""

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Protocol

import numpy as np

import difftile as dt
from benchmarks.code_lines import Code
from benchmarks.peers import (
    billiards_taichi,
    diffmpm_taichi,
    mass_spring_taichi,
    rigid_body_taichi,
    smoke_taichi,
    wave_taichi,
)
from benchmarks.peers.peer import Peer, clear
from benchmarks.peers.smoke_jax import SmokeJax
from demos.support.training import Simulation, read, write
from difftile.arguments import Parser, positive_int
from scenes import billiards, mass_spring, mpm, rigid_body, smoke, wave

LINES, SAVED, COMPILE, FORWARD, BACKWARD = 0.6, 0.5, 1.0, 1.0, 0.7
BACKWARD_OF_GRIDS = 0.3  # where Taichi's adjoint scatters with atomics instead of gathering
BUDGETS = (4, 16)
TOLERANCE = 1e-3  # of losses and gradients: f32, over steps that amplify rounding errors
ALONE = 3  # processes to compile in
SHORT = 4  # steps to compile with

Clock = Callable[[], float]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Rival(Protocol):
    """The peers of difftile."""

    def differentiate(self, clock: Clock) -> tuple[float, float]:
        """Run and compute the gradients; return the seconds forward and backward."""
        ...

    def gradients(self) -> Mapping[str, np.ndarray]: ...


Makers = tuple[Callable[[], Simulation], Callable[[], Peer]]


@dataclass(frozen=True)
class Case:
    """A simulation.

    Attributes:
        make: Returns the constructors of the program in difftile and in Taichi, for a number of
            steps; small ones for a quick run.
        steps: Of a full run and of a quick one.
        ours: The counted parts of difftile's program.
        theirs: The counted parts of Taichi's.
        backward: Limit of the backward time, relative to Taichi's.
        noise: Added to the parameters: if all are zero, too much of the gradient is zero.
        variant: A third program: its name, and its constructor, from the parameters too.
    """

    make: Callable[[int, bool], Makers]
    steps: tuple[int, int]
    ours: tuple[Code, ...]
    theirs: Code
    backward: float = BACKWARD
    noise: float = 0.0
    variant: tuple[str, Callable[[int, bool, Mapping[str, np.ndarray]], Rival]] | None = None


def _mass_spring(steps: int, quick: bool) -> Makers:
    scene = mass_spring.make_scene("C")
    network = mass_spring.make_network(scene)
    return (
        lambda: mass_spring.Walker(scene, network, steps),
        lambda: mass_spring_taichi.make_mass_spring(scene, network, steps),
    )


def _mpm_scene(quick: bool) -> tuple[mpm.MpmScene, mpm.Controller]:
    scene = mpm.make_scene("robot", 64 if quick else 128)
    return scene, mpm.make_controller(scene)


def _diffmpm(steps: int, quick: bool) -> Makers:
    both = _mpm_scene(quick)
    return (
        lambda: mpm.Mpm(*both, steps),
        lambda: diffmpm_taichi.make_diffmpm(*both, steps),
    )


def _one_grid(steps: int, quick: bool, parameters: Mapping[str, np.ndarray]) -> Peer:
    return diffmpm_taichi.make_diffmpm(*_mpm_scene(quick), steps, one_grid=True)


def _wave(steps: int, quick: bool) -> Makers:
    scene = wave.make_scene(64 if quick else 256)
    return lambda: wave.Wave(scene, steps), lambda: wave_taichi.make_wave(scene, steps)


def _smoke_scene(steps: int, quick: bool) -> smoke.SmokeScene:
    return smoke.make_scene(32 if quick else 128, steps)


def _smoke(steps: int, quick: bool) -> Makers:
    scene = _smoke_scene(steps, quick)
    return lambda: smoke.Smoke(scene), lambda: smoke_taichi.make_smoke(scene)


def _jax(steps: int, quick: bool, parameters: Mapping[str, np.ndarray]) -> SmokeJax:
    return SmokeJax(_smoke_scene(steps, quick), parameters["v0"])


def _billiards(steps: int, quick: bool) -> Makers:
    scene = billiards.BilliardsScene()
    return (
        lambda: billiards.Billiards(scene, steps),
        lambda: billiards_taichi.make_billiards(scene, steps),
    )


def _rigid_body(steps: int, quick: bool) -> Makers:
    scene = rigid_body.make_scene("B")
    network = rigid_body.make_network(scene)
    return (
        lambda: rigid_body.RigidBodies(scene, network, steps),
        lambda: rigid_body_taichi.make_rigid_body(scene, network, steps),
    )


_OF_BODIES = ("turned", "speed_at", "moments", "give")
CASES = {
    "mass_spring": Case(
        _mass_spring,
        (681, 200),
        (Code(mass_spring, ("Body", "Walker")),),
        Code(mass_spring_taichi, ("make_mass_spring",)),
    ),
    "diffmpm": Case(
        _diffmpm,
        (1023, 64),
        (Code(mpm, ("nodes_around", "weight_of", "spread", "collect", "corotated", "Mpm")),),
        Code(diffmpm_taichi, ("spline", "corotated", "make_diffmpm")),
        variant=("one grid", _one_grid),
    ),
    "wave": Case(
        _wave,
        (256, 64),
        (Code(wave, ("Wave",)),),
        Code(wave_taichi, ("make_wave",)),
        BACKWARD_OF_GRIDS,
        noise=0.1,
    ),
    "smoke": Case(
        _smoke,
        (100, 20),
        (Code(smoke, ("Smoke",)),),
        Code(smoke_taichi, ("make_smoke",)),
        BACKWARD_OF_GRIDS,
        noise=0.5,
        variant=("JAX", _jax),
    ),
    "billiards": Case(
        _billiards,
        (1023, 1023),
        (Code(billiards, ("Billiards",)),),
        Code(billiards_taichi, ("make_billiards",)),
    ),
    "rigid_body": Case(
        _rigid_body,
        (2047, 200),
        (Code(rigid_body, (*_OF_BODIES, "RigidBodies")),),
        Code(rigid_body_taichi, (*_OF_BODIES, "make_rigid_body")),
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
        """Median of the turns: other load of the machine affects both sides of a turn."""
        return median(one / other for one, other in zip(self.ours, self.theirs, strict=True))

    def __str__(self) -> str:
        verdict = "met" if self.target is None or self.ratio <= self.target else "not met"
        target = "" if self.target is None else f"   <= {self.target}, {verdict}"
        figures = f"{median(self.ours):12.2f}{median(self.theirs):12.2f}{self.ratio:8.2f}"
        return f"{self.label:28}{figures}{target}"


@dataclass(frozen=True)
class Gradient:
    """The cost of one gradient: seconds, and peak bytes on the tape."""

    forward: float
    backward: float
    nbytes: int = 0

    @property
    def seconds(self) -> float:
        return self.forward + self.backward


@dataclass(frozen=True)
class Comparison:
    """The rows of a table, the notes below it, and whether loss and gradients agree."""

    rows: dict[str, Row]
    notes: list[str]
    right: bool


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


def compare(name: str, steps: int, quick: bool, repetitions: int, clock: Clock) -> Comparison:
    """Run both, and the variant, turn by turn."""
    _start()
    case = CASES[name]
    make_ours, make_theirs = case.make(steps, quick)
    ours, theirs = make_ours(), make_theirs()
    for simulation in (ours, theirs):
        stir(simulation, case.noise)
    rivals, notes = {"": theirs}, list[str]()
    if case.variant is not None:
        variant, make = case.variant
        try:
            rivals[f", {variant}"] = make(steps, quick, read(ours))
        except ModuleNotFoundError:
            notes.append(f"{variant} is not installed")

    saved = differentiate(ours).nbytes
    for rival in rivals.values():
        rival.differentiate(clock)
    loss, apart = float(theirs.loss[None]), {}
    apart["loss"] = abs(float(ours.loss[None]) - loss) / abs(loss)
    apart |= {f"gradient{label}": distance(ours, rival) for label, rival in rivals.items()}
    notes.append("apart: " + ", ".join(f"{what} {value:.0e}" for what, value in apart.items()))

    mine, others = list[Gradient](), {label: list[Gradient]() for label in rivals}
    for turn in range(repetitions):
        _progress(f"{name}: turn {turn + 1} of {repetitions}")
        mine.append(differentiate(ours, clock))
        for label, rival in rivals.items():
            others[label].append(Gradient(*rival.differentiate(clock)))

    unit = "ms" if clock is time.perf_counter else "CPU ms"
    rows = {
        "lines": Row(
            "lines", [sum(code.lines() for code in case.ours)], [case.theirs.lines()], LINES
        )
    }
    for label, rival in rivals.items():
        main = not label
        if isinstance(rival, Peer):
            values, held = rival.saved_nbytes / 1e6, rival.nbytes / 1e6
            for what, theirs_saved, target in (
                ("saved", 2 * values, SAVED),
                ("values", values, None),
            ):
                row = Row(f"{what}{label} [MB]", [saved / 1e6], [theirs_saved])
                rows[f"{what}{label}"] = replace(row, target=target if main else None)
            total = (_nbytes(ours) + saved) / 1e6
            rows[f"bytes{label}"] = Row(f"bytes{label} [MB]", [total], [held])
        for which, target in (("forward", FORWARD), ("backward", case.backward)):
            runs = (mine, others[label])
            times = ([1e3 * getattr(one, which) for one in side] for side in runs)
            row = Row(f"{which}{label} [{unit}]", *times, target if main else None)
            rows[f"{which}{label}"] = row
    budgets = {f"in 1/{divisor}": saved // divisor for divisor in BUDGETS if saved}
    for label, memory in budgets.items():
        _progress(f"{name}: {label} of the memory")
        try:
            within = limited(ours, clock, memory, repetitions)
        except dt.TapeError as error:
            notes.append(f"{label}: {error}")
            continue
        peak = max(few.nbytes for _, few in within)
        full, spent = ([1e3 * one.seconds for one in side] for side in zip(*within, strict=True))
        rows[label] = Row(f"{label}: [MB] of the budget", [peak / 1e6], [memory / 1e6], 1.0)
        rows[f"{label}, time"] = Row(f"{label}: [{unit}] of full", spent, full)
    return Comparison(rows, notes, max(apart.values()) < TOLERANCE)


def limited(
    simulation: Simulation, clock: Clock, memory: int, repetitions: int
) -> list[tuple[Gradient, Gradient]]:
    """Differentiate with all old values kept and within a limit, turn by turn.

    Raises:
        TapeError: The limit is too small.
    """
    differentiate(simulation, clock, memory)  # compiles the programs that only a limit needs
    return [
        (differentiate(simulation, clock), differentiate(simulation, clock, memory))
        for _ in range(repetitions)
    ]


def stir(simulation: Simulation | Peer, noise: float) -> None:
    """Add the same normal noise to the parameters, whosever they are."""
    rng = np.random.default_rng(0)
    values = read(simulation)
    write(simulation, {k: v + noise * rng.standard_normal(v.shape) for k, v in values.items()})


def distance(ours: Simulation, theirs: Rival) -> float:
    """Return the distance of the gradients, relative to the norm of theirs."""
    gradients = theirs.gradients()
    squares = [
        (np.sum((values.grad.to_numpy() - gradients[name]) ** 2), np.sum(gradients[name] ** 2))
        for name, values in ours.parameters.items()
    ]
    apart, norm = np.sqrt(np.sum(squares, axis=0))
    return float(apart / norm)


def alone(name: str, side: int, steps: int, quick: bool) -> tuple[float, float]:
    """Return CPU seconds to compile, and MB that the process grows by over full runs if `steps`."""
    _start()
    before = _most_memory()
    run: Callable[[Any], object] = Peer.differentiate if side else differentiate
    short = CASES[name].make(SHORT, quick)[side]()
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
    _progress("")
    rows = found.rows
    rows["compile"] = Row("compile [CPU s]", *compiling, COMPILE)
    rows["process"] = Row("process grows by [MB]", *memory)
    first = ("lines", "saved", "values", "bytes", "process", "compile")
    print(f"\n{name}, {steps} steps{', small' if quick else ''}")
    print(f"{'':28}{'difftile':>12}{'Taichi':>12}{'ratio':>8}   target")
    print(*(rows.pop(key) for key in first), *rows.values(), *found.notes, sep="\n", flush=True)
    return found.right


def _nbytes(simulation: Simulation) -> int:
    """Bytes of the fields that a simulation holds, gradients included."""
    held = [*vars(simulation).values(), *simulation.parameters.values()]
    fields = {id(field.origin): field for field in held if isinstance(field, dt.Field)}
    return sum(field.nbytes * (2 if field.has_grads else 1) for field in fields.values())


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


def _start() -> None:
    """Start Taichi and run a kernel, so that the cost of the first one is not measured."""
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
        "--repetitions",
        type=positive_int,
        default=7,
        help="default: %(default)s, after a first one",
    )
    parser.add_argument(
        "--clock", choices=tuple(CLOCKS), default="wall", help="cpu: for a busy machine"
    )
    options = parser.parse_args(argv)
    right, clock = True, CLOCKS[options.clock]
    for name in [options.only] if options.only else CASES:
        steps = options.steps or CASES[name].steps[options.quick]
        right &= measure(name, steps, options.quick, options.repetitions, clock)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
