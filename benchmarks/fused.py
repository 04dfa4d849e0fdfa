"""Runs of many launches, in difftile and beside Warp, JAX and Taichi, turn by turn in one process.

Every row is a simulation: a step of one or a few launches, repeated. Alone is a run without a tape,
recorded one inside a tape, and reverse is `tape.backward`; each ends when Python can read what it
computed. Warp runs with its launches one by one, and as captured graphs of the run and of its
adjoint (on the CPU by one thread, however many there are); JAX as `lax.scan`, whose reverse is
value and gradient less the value; Taichi with a time axis and `ti.ad.Tape`, a step of a small
simulation being one kernel of serial loops. "Taichi, one kernel" has the loop over time inside too,
with the state in place, and no reverse. What is not installed is left out.

Losses and gradients are compared before the measurements and after them. Times are medians, with
minima beside them; ratios, of difftile's time to the other's, are medians over the turns. Programs
are given --warm seconds first, in which launches may be compiled together. On the CPU a process
may use as many cores as it has threads.
"""

import importlib
import inspect
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from itertools import product
from math import inf, isnan, nan
from statistics import median
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
import scenes.billiards
import scenes.cloth
import scenes.mass_spring
import scenes.mpm
import scenes.rigid_body
import scenes.smoke
from benchmarks.meter import CLOCKS
from benchmarks.peers import (
    billiards_taichi,
    cloth_taichi,
    diffmpm_taichi,
    mass_spring_loop_taichi,
    mass_spring_taichi,
    rigid_body_taichi,
    runs_taichi,
    smoke_taichi,
)
from benchmarks.peers.peer import Peer
from benchmarks.peers.runs import (
    Clock,
    OfTaichi,
    Pendula,
    Program,
    Ripples,
    Times,
    make_pendula,
    make_ripples,
)
from benchmarks.physics import stir
from demos.support.training import Simulation, read
from difftile.arguments import Parser, positive_float, positive_int
from scenes.billiards import Billiards
from scenes.cloth import FallingCloth
from scenes.mass_spring import Walker
from scenes.mpm import Mpm, Mpm3d
from scenes.rigid_body import RigidBodies
from scenes.smoke import Smoke

TOLERANCE = 1e-3  # of losses and gradients: f32, over steps that amplify rounding errors
FORMS = ("plain", "steps", "repeat", "no-graphs", "unfused")
PEERS = ("taichi", "warp", "jax")
TAICHI, PARALLEL = "Taichi", "Taichi, parallel"
WARP, GRAPH, JAX = "Warp", "Warp, graph", "JAX, scan"
PACKAGES = {"warp": "warp-lang", "jax": "jax"}  # what to install for a peer


@dataclass(frozen=True)
class Setting:
    """What the programs of a row are made for.

    Attributes:
        device: "cpu" or "cuda".
        threads: Of the CPU.
        form: How difftile's steps are written, one of `FORMS`.
        peers: The peers to run, of `PEERS`.
        quick: A small simulation.
        steps: Of a run.
        turns: Of the measurement.
        warm: Seconds that difftile is given before the measurements.
        clock: One of `CLOCKS`.
    """

    device: str
    threads: int
    form: str
    peers: tuple[str, ...]
    quick: bool
    steps: int
    turns: int
    warm: float
    clock: str

    def pick(self, cpu: int, cuda: int, quick: int) -> int:
        """Return the size of a simulation."""
        return quick if self.quick else cuda if self.device == "cuda" else cpu


@dataclass(frozen=True)
class Target:
    """The most that a row may take.

    Attributes:
        which: "recorded" or "reverse".
        most: Times the faster one of the peers, or milliseconds if there are none.
        peers: The names of their programs.
        each_step: The milliseconds are those of a step.
    """

    which: str
    most: float
    peers: tuple[str, ...] = ()
    each_step: bool = False


def below(recorded: float, reverse: float, *peers: str, **options: bool) -> tuple[Target, ...]:
    """Return both targets."""
    return (
        Target("recorded", recorded, peers, **options),
        Target("reverse", reverse, peers, **options),
    )


Makers = Mapping[str, Callable[[], Program]]


@dataclass(frozen=True)
class Case:
    """A simulation.

    Attributes:
        about: What it is.
        make: Returns difftile's program and the constructors of the others by name.
        steps: Of a run on the CPU, on a GPU, and of a quick one.
        targets: By device.
    """

    about: str
    make: Callable[[Setting], tuple[Simulation, Makers]]
    steps: tuple[int, int, int]
    targets: Mapping[str, tuple[Target, ...]]


@dt.kernel
def swing(angle, speed, h: float, rate: float):
    for i in angle:
        speed[i] -= h * rate * ti.sin(angle[i])
        angle[i] += h * speed[i]


@dt.kernel
def raise_(first, now, before):
    n = first.shape[0]
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        now[i, j] = first[i, j]
        before[i, j] = first[i, j]


@dt.kernel
def ripple(now, before, courant: float):
    """`before` becomes what comes after `now`."""
    n = now.shape[0]
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
        change = courant * (around - 4.0 * now[i, j])
        before[i, j] = 2.0 * now[i, j] - before[i, j] + change


@dt.kernel
def square_sum(x, loss):
    loss[None] = 0.0
    for i in ti.grouped(x):
        loss[None] += x[i] ** 2


class SwingingPendula:
    """Angles and speeds in place; a step is one kernel."""

    def __init__(self, pendula: Pendula, setting: Setting) -> None:
        self.pendula, self.setting = pendula, setting
        self.first = dt.from_numpy(pendula.angles, grad=True)
        self.angle, self.speed = dt.zeros_like(self.first), dt.zeros_like(self.first)
        self.loss = dt.zeros((), grad=True)
        self.parameters = {"first": self.first}

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.angle.copy_from(self.first)
        self.speed.fill(0.0)
        dt.repeat(self.step, self.pendula.steps)
        square_sum(self.angle, self.loss)

    def step(self) -> None:
        swing(self.angle, self.speed, self.pendula.step, self.pendula.rate)


class RipplingSquare:
    """Two fields that swap their roles; a step is one kernel over the interior."""

    def __init__(self, ripples: Ripples, setting: Setting) -> None:
        self.ripples, self.setting = ripples, setting
        self.first = dt.from_numpy(ripples.pulse, grad=True)
        self.u, self.v = dt.zeros_like(self.first), dt.zeros_like(self.first)
        self.loss = dt.zeros((), grad=True)
        self.parameters = {"first": self.first}

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        raise_(self.first, self.u, self.v)
        now, _ = dt.repeat(self.step, self.ripples.steps, self.u, self.v)
        square_sum(now, self.loss)

    def step(self, now: dt.Field, before: dt.Field) -> tuple[dt.Field, dt.Field]:
        ripple(now, before, self.ripples.courant)
        return before, now


class OfDifftile:
    """A program in difftile: a turn ends when its loss, then a gradient, can be read."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def turn(self, clock: Clock) -> Times:
        """Run alone, then on a tape, then in reverse."""
        one = self._simulation
        first = next(iter(one.parameters.values()))
        for old in (one.loss, *(values.grad for values in one.parameters.values())):
            old.fill(nan)  # what this turn does not compute cannot be right by the one before
            old[(0,) * len(old.shape)]
        started = self._now(clock)
        one.run()
        one.loss[None]
        alone = self._now(clock)
        with dt.Tape() as tape:
            one.run()
        one.loss[None]
        recorded = self._now(clock)
        tape.backward(one.loss)
        first.grad[(0,) * len(first.shape)]
        return Times(alone - started, recorded - alone, self._now(clock) - recorded)

    def loss(self) -> float:
        """Return the loss of the last run."""
        return float(self._simulation.loss[None])

    def gradients(self) -> Mapping[str, np.ndarray]:
        """Return the gradients of the last turn."""
        return {k: values.grad.to_numpy() for k, values in self._simulation.parameters.items()}

    def _now(self, clock: Clock) -> float:
        ti.sync()
        return clock()


class WithoutReverse(OfTaichi):
    """A program in plain Taichi of which only the run is measured."""

    def turn(self, clock: Clock) -> Times:
        """Run."""
        started = self._now(clock)
        self._peer.run()
        alone = self._now(clock) - started
        return Times(alone, alone, nan)

    def gradients(self) -> Mapping[str, np.ndarray]:
        """Return none."""
        return {}


def _of_taichi(make: Callable[[], Peer], kind: type[OfTaichi] = OfTaichi) -> Callable[[], Program]:
    return lambda: kind(make(), ti.sync)


def _of_warp(setting: Setting, name: str, *arguments: Any) -> Makers:
    """Return the constructors of both forms, launched one by one and captured."""

    def make(form: str) -> Program:
        warp = importlib.import_module("benchmarks.peers.runs_warp")
        run = getattr(warp, name)(*arguments, setting.device)
        return getattr(warp, form)(run)

    return {WARP: partial(make, "OfWarp"), GRAPH: partial(make, "GraphOfWarp")}


def _of_jax(name: str, *arguments: Any) -> Makers:
    def make() -> Program:
        return getattr(importlib.import_module("benchmarks.peers.runs_jax"), name)(*arguments)

    return {JAX: make}


def _pendula(setting: Setting) -> tuple[Simulation, Makers]:
    pendula = make_pendula(setting.pick(1024, 1024, 256), setting.steps)
    makers = {
        **_of_warp(setting, "make_pendula", pendula),
        **_of_jax("make_pendula", pendula),
    }
    if setting.device == "cpu":
        makers[TAICHI] = _of_taichi(lambda: runs_taichi.make_pendula(pendula))
    return SwingingPendula(pendula, setting), makers


def _wave(setting: Setting) -> tuple[Simulation, Makers]:
    ripples = make_ripples(setting.pick(128, 512, 32), setting.steps)
    makers = {
        **_of_warp(setting, "make_ripples", ripples),
        **_of_jax("make_ripples", ripples),
    }
    if setting.device == "cpu":
        makers[TAICHI] = _of_taichi(lambda: runs_taichi.make_ripples(ripples))
    return RipplingSquare(ripples, setting), makers


def _mass_spring(setting: Setting) -> tuple[Simulation, Makers]:
    scene = scenes.mass_spring.make_scene("C")
    given = scene, scenes.mass_spring.make_network(scene), setting.steps
    make, loop = mass_spring_taichi.make_mass_spring, mass_spring_loop_taichi.make_mass_spring
    return Walker(*given), {
        TAICHI: _of_taichi(lambda: make(*given)),
        "Taichi, one kernel": _of_taichi(lambda: loop(*given), WithoutReverse),
        **_of_warp(setting, "make_mass_spring", *given),
        **_of_jax("make_mass_spring", *given),
    }


def _mpm(setting: Setting) -> tuple[Simulation, Makers]:
    n, original = setting.pick(128, 128, 64), setting.device == "cuda"
    scene = scenes.mpm.make_scene("robot", n, original=original)
    given = scene, scenes.mpm.make_controller(scene), setting.steps
    return Mpm(*given), {TAICHI: _of_taichi(lambda: diffmpm_taichi.make_diffmpm(*given))}


def _mpm3d(setting: Setting) -> tuple[Simulation, Makers]:
    scene = scenes.mpm.make_scene_3d("robot", setting.pick(64, 64, 32))
    return Mpm3d(scene, scenes.mpm.make_controller(scene), setting.steps), {}


def _billiards(setting: Setting) -> tuple[Simulation, Makers]:
    given = scenes.billiards.BilliardsScene(), setting.steps
    return Billiards(*given), {TAICHI: _of_taichi(lambda: billiards_taichi.make_billiards(*given))}


def _rigid_body(setting: Setting) -> tuple[Simulation, Makers]:
    scene = scenes.rigid_body.make_scene("B")
    given = scene, scenes.rigid_body.make_network(scene), setting.steps
    make = rigid_body_taichi.make_rigid_body
    return RigidBodies(*given), {TAICHI: _of_taichi(lambda: make(*given))}


def _smoke(setting: Setting) -> tuple[Simulation, Makers]:
    scene = scenes.smoke.make_scene(setting.pick(128, 128, 32), setting.steps)
    smoke = Smoke(scene)
    stir(smoke, 0.5)  # of velocities of zero too much of the gradient is zero

    def make_taichi() -> Peer:
        peer = smoke_taichi.make_smoke(scene)
        stir(peer, 0.5)
        return peer

    v0 = read(smoke)["v0"]
    return smoke, {TAICHI: _of_taichi(make_taichi), **_of_jax("make_smoke", scene, v0)}


def _cloth(setting: Setting) -> tuple[Simulation, Makers]:
    side = setting.pick(25, 25, 9)
    scene, steps, every = scenes.cloth.make_scene(side, side), setting.steps, setting.steps // 5
    masses = scenes.cloth.choose_masses(scene.cloth, 2)
    parameters = scenes.cloth.draw_parameters(0)
    cloth = FallingCloth(scene, parameters, masses, every, steps)
    # Observed is where the masses are at the start, which makes the loss that of a fall.
    places = np.tile(scene.cloth.positions[masses], (steps // every, 1, 1))
    cloth.places.from_numpy(places)
    given, make = (scene, parameters, masses, places, every, steps), cloth_taichi.make_cloth
    makers: dict[str, Callable[[], Program]] = {
        TAICHI: _of_taichi(lambda: make(*given, serial=True))
    }
    if setting.threads > 1:
        makers[PARALLEL] = _of_taichi(lambda: make(*given))
    return cloth, makers


_OF_TAICHI = {"cpu": below(0.7, 0.5, TAICHI)}
_OF_BOTH = {"cpu": below(0.7, 0.5, TAICHI, PARALLEL)}
CASES = {
    "mass_spring": Case(
        "mass-spring robot C",
        _mass_spring,
        (1000, 1000, 100),
        # Of Taichi with one kernel a step, which has a gradient.
        {"cpu": (*below(0.25, 0.4, TAICHI), *below(1.0, 1.0, GRAPH))},
    ),
    "pendula": Case(
        "1,024 pendula",
        _pendula,
        (1000, 1000, 100),
        {"cpu": below(0.5, 0.5, GRAPH, JAX), "cuda": below(0.5, 1.0)},
    ),
    "wave": Case(
        "wave, 128^2 (on a GPU 512^2)",
        _wave,
        (500, 500, 50),
        {"cpu": below(1.2, 1.2, JAX), "cuda": below(3.5, 5.5)},
    ),
    "mpm": Case(
        "material points in 2-D",
        _mpm,
        (128, 256, 8),
        {"cpu": below(0.6, 0.45, TAICHI), "cuda": below(0.05, 0.08, each_step=True)},
    ),
    "mpm3d": Case(
        "material points in 3-D",
        _mpm3d,
        (16, 128, 4),
        {"cuda": below(0.08, 0.14, each_step=True)},
    ),
    "billiards": Case("billiards", _billiards, (1023, 1023, 1023), _OF_TAICHI),
    "rigid_body": Case("rigid bodies, robot B", _rigid_body, (1000, 1000, 100), _OF_TAICHI),
    "smoke": Case("smoke, 128^2", _smoke, (100, 100, 10), _OF_TAICHI),
    # After more steps the order of Taichi's atomic sums decides which masses slide.
    "cloth": Case("cloth of 25 x 25 masses", _cloth, (200, 200, 50), _OF_BOTH),
}


@dataclass
class Measured:
    """One program of a row.

    Attributes:
        program: The program.
        first: Seconds of the first turn, with compilation.
        turns: The others.
        apart: The largest relative distance of loss and gradients from difftile's.
    """

    program: Program
    first: float = 0.0
    turns: list[Times] = field(default_factory=list[Times])
    apart: float = 0.0

    def column(self, which: str) -> list[float]:
        """Return one of the times of every turn [ms]."""
        return [1e3 * getattr(turn, which) for turn in self.turns]


@dataclass(frozen=True)
class Found:
    """What a process reports of a row.

    Attributes:
        lines: The table.
        targets: A line for each target.
        right: Whether losses and gradients agree.
    """

    lines: list[str]
    targets: list[str]
    right: bool


def measure(name: str, setting: Setting) -> Found:
    """Measure one row in this process."""
    _start(setting)
    case, notes, clock = CASES[name], list[str](), CLOCKS[setting.clock]
    simulation, makers = case.make(setting)
    programs = {"difftile": _warmed(OfDifftile(simulation), clock, setting.warm)}
    for peer, make in makers.items():
        package = peer.partition(",")[0].lower()
        if package not in setting.peers:
            continue
        try:
            program = _made(package, make, setting.device)
            programs[peer] = _warmed(program, clock, 0.0)
        except ModuleNotFoundError as error:
            notes.append(f"{peer}: {error.name} is not installed")
        except (ImportError, RuntimeError) as error:
            notes.append(f"{peer}: {str(error).partition(chr(10))[0]}")
    compare(programs)
    for _ in range(setting.turns):
        for one in programs.values():
            one.turns.append(one.program.turn(clock))
    compare(programs)

    wrong = [label for label, one in programs.items() if not one.apart < TOLERANCE]
    notes += [f"{label}: another loss or gradient" for label in wrong]
    count = setting.threads
    where = "cuda" if setting.device == "cuda" else f"{count} thread{'s' if count > 1 else ''}"
    title = f"{name} ({case.about}), {setting.steps} steps, {where}, {setting.form}"
    title += ", CPU time" if setting.clock == "cpu" else ""
    targets = [_verdict(target, programs, setting) for target in case.targets[setting.device]]
    lines = [title, *_table(programs), *(f"  {note}" for note in dict.fromkeys(notes))]
    lines += [f"  {line}" for line in targets]
    return Found(lines, [f"{name:12} {where:10} {line}" for line in targets], not wrong)


def _warmed(program: Program, clock: Clock, least: float) -> Measured:
    """Return a program that has run twice, or longer than `least` seconds."""
    started = time.perf_counter()
    program.turn(clock)
    first = time.perf_counter() - started
    program.turn(clock)
    while time.perf_counter() - started < least:
        program.turn(clock)
    return Measured(program, first)


def _made(package: str, make: Callable[[], Program], device: str) -> Program:
    """Return a program of a peer.

    Raises:
        RuntimeError: The peer has no GPU.
    """
    if device == "cuda":
        if package == "jax" and importlib.import_module("jax").default_backend() != "gpu":
            raise RuntimeError("it was installed without CUDA")
        if package == "warp" and not importlib.import_module("warp").is_cuda_available():
            raise RuntimeError("it finds no CUDA")
    return make()


def _start(setting: Setting) -> None:
    """Start difftile, with as many cores as threads, and say what JAX may use."""
    options: dict[str, Any] = {}
    if setting.device == "cpu":
        options["cpu_max_num_threads"] = setting.threads
        if hasattr(os, "sched_setaffinity"):  # JAX has as many threads as it finds cores
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, cores[-setting.threads :])
        os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if setting.form == "unfused":
        options["fuse"] = False
    if setting.form not in ("repeat", "no-graphs"):  # the programs are written with dt.repeat
        dt.repeat = partial(_looped, dt.steps if setting.form == "steps" else range)
    if setting.form == "no-graphs":
        options["graphs"] = False
    dt.init(arch=setting.device, offline_cache=False, force_scalarize_matrix=True, **options)


def _looped(numbers: Callable[[int], Iterable[int]], step: Any, n: int, *fields: Any) -> Any:
    """Do what `dt.repeat` does by a loop of Python."""
    function = getattr(step, "unbound", step)
    takes_number = "t" in inspect.signature(function).parameters
    for t in numbers(n):
        given = (t, *fields) if takes_number else fields
        fields = step(*given) or fields
    return fields


def compare(programs: Mapping[str, Measured]) -> None:
    """Note how far the results of the last turn are from difftile's."""
    ours = programs["difftile"].program
    loss, gradients = ours.loss(), ours.gradients()
    for one in programs.values():
        apart = abs(one.program.loss() - loss) / abs(loss)
        theirs = one.program.gradients()
        if theirs:
            squares = [
                (np.sum((theirs[k] - g) ** 2, dtype=float), np.sum(g**2, dtype=float))
                for k, g in gradients.items()
            ]
            off, norm = np.sqrt(np.sum(squares, axis=0))
            apart = max(apart, float(off / norm)) if np.isfinite(off / norm) else nan
        one.apart = nan if isnan(apart) else max(one.apart, apart)


def _ratio(ours: Measured, theirs: Measured, which: str) -> float:
    """Return the median of the ratios of the turns; a difference of times may be negative."""
    both = zip(ours.column(which), theirs.column(which), strict=True)
    return median(nan if isnan(other) else one / other if other > 0 else inf for one, other in both)


def _table(programs: Mapping[str, Measured]) -> list[str]:
    """Return the lines of the times of all programs and of the ratios."""
    kinds = ("alone", "recorded", "reverse")
    head = f"{'[ms]':20}{'first [s]':>10}"
    head += "".join(f"{kind:>10}{'min':>9}" for kind in kinds)
    head += f"{'ratio:':>8}{'recorded':>9}{'reverse':>9}{'both':>8}{'apart':>8}"
    lines, ours = [head], programs["difftile"]
    for label, one in programs.items():
        line = f"{label:20}{one.first:10.2f}"
        for kind in kinds:
            column = one.column(kind)
            line += f"{_figure(median(column)):>10}{_figure(min(column)):>9}"
        if one is not ours:
            ratios = (_figure(_ratio(ours, one, kind)) for kind in ("recorded", "reverse", "both"))
            line += "{:>17}{:>9}{:>8}{:8.0e}".format(*ratios, one.apart)
        lines.append(line)
    return lines


def _figure(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}" if value < 1000 else f"{value:.0f}"


def _verdict(target: Target, programs: Mapping[str, Measured], setting: Setting) -> str:
    """Return a line that says whether a target is met."""
    ours, what = programs["difftile"], f"{target.which:9}<= {target.most:g}"
    if not target.peers:
        figure = median(ours.column(target.which)) / (setting.steps if target.each_step else 1)
        what += " ms a step" if target.each_step else " ms"
    else:
        others = [name for name in target.peers if name in programs]
        what += f" of {' or '.join(others or target.peers)}"
        if not others:
            return f"{what}: not measured"
        figure = max(_ratio(ours, programs[name], target.which) for name in others)
    if setting.quick:
        return f"{what}: {figure:.3g}, of a small simulation"
    return f"{what}: {figure:.3g}, {'met' if figure <= target.most else 'missed'}"


def versions(peers: Sequence[str]) -> str:
    """Return the versions of what is measured."""
    found = [f"difftile {dt.__version__}", f"Taichi {'.'.join(map(str, ti.__version__))}"]
    for package in sorted(PACKAGES.keys() & set(peers)):
        try:
            found.append(f"{PACKAGES[package]} {metadata.version(PACKAGES[package])}")
        except metadata.PackageNotFoundError:
            found.append(f"no {PACKAGES[package]}")
    return ", ".join(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if a loss or a gradient is wrong, whatever the figures are."""
    parser = Parser("python -m benchmarks.fused", __doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="default: cpu")
    say = "of the CPU; one table each; default: 1 2"
    parser.add_argument("--threads", type=positive_int, nargs="+", default=[1, 2], help=say)
    say = f"of {', '.join(CASES)}; default: those with targets for the device"
    parser.add_argument("--rows", nargs="+", choices=tuple(CASES), metavar="NAME", help=say)
    say = "plain: loops over range; steps: over dt.steps; repeat: dt.repeat; no-graphs: the same, "
    say += "with dt.init(graphs=False), for CUDA on Quadrants; unfused: dt.init(fuse=False)"
    parser.add_argument("--form", choices=FORMS, default="plain", help=f"{say}; default: plain")
    say = f"of {', '.join(PEERS)}; default: all; none without a name"
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=PEERS, help=say)
    parser.add_argument("--steps", type=positive_int, help="of a run")
    parser.add_argument("--turns", type=positive_int, help="default: 9, quick 2")
    say = "seconds of difftile before it is measured; default: 2, quick 0.1"
    parser.add_argument("--warm", type=positive_float, help=say)
    say = "cpu: for a busy machine; of all threads; default: wall"
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help=say)
    parser.add_argument("--quick", action="store_true", help="small simulations, one thread")
    options = parser.parse_args(argv)
    if options.form == "unfused" and "fuse" not in inspect.signature(dt.init).parameters:
        parser.error("argument --form: dt.init of this difftile has no fuse; measure 'plain'")
    rows = options.rows or [name for name in CASES if options.device in CASES[name].targets]
    quick, device = options.quick, options.device
    threads = [1] if quick or device == "cuda" else options.threads
    targets, right = list[str](), True
    for name, count in product(rows, threads):
        steps = CASES[name].steps
        setting = Setting(
            device=device,
            threads=count,
            form=options.form,
            peers=tuple(options.peers),
            quick=quick,
            steps=options.steps or steps[2 if quick else device == "cuda"],
            turns=options.turns or (2 if quick else 9),
            warm=options.warm or (0.1 if quick else 2.0),
            clock=options.clock,
        )
        try:
            found = _apart(measure, name, setting)
        except dt.FieldError as error:
            parser.error(str(error))
        except BrokenProcessPool:
            found = Found([f"{name}: its process was ended by a signal"], [], right=False)
        print(*found.lines, "", sep="\n", flush=True)
        targets += found.targets
        right &= found.right
    print(versions(options.peers))
    print(*targets, sep="\n")
    return 0 if right else 1


def _apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own, in which a crash of one row ends no other."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


if __name__ == "__main__":
    sys.exit(main())
