"""Long simulations within a memory budget: gradients, bytes and time, compared with plain Taichi.

Three simulations update their state in place: the wave equation, material points whose grid is
cleared and filled again in every step, and a spring robot. Each is differentiated with all old
values stored, then within 1/4, 1/16 and 1/64 of that memory; the gradient must stay the same.
Plain Taichi runs the same with a time axis and its own autodiff, in the same process. Times
are of recording and gradient together, medians of the repetitions after a first, short run.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.peers.mass_spring_taichi import make_mass_spring
from benchmarks.peers.time_axis_taichi import PointsTaichi, WaveTaichi
from difftile.arguments import Parser, positive_int
from scenes.mass_spring import Walker, make_network, make_scene

TARGETS = {1: 1.0, 4: 2.0, 16: 2.0, 64: 3.0}  # times full storage, by the part of its memory
PEER_BYTES, PEER_TIME = 0.6, 1.0
TOLERANCE = 1e-3  # of the norm of a gradient: f32, and sums by atomics in another order

vec2 = ti.math.vec2


class Peer(Protocol):
    """The same simulation in plain Taichi, with a time axis."""

    nbytes: int

    def differentiate(self) -> object:
        """Simulate and compute the gradient."""
        ...

    def gradient(self) -> np.ndarray: ...


class Simulation(Protocol):
    """A simulation to be differentiated.

    Attributes:
        loss: What is differentiated.
        nbytes: Bytes of the fields and their gradients.
    """

    loss: dt.Field
    nbytes: int

    def start(self) -> None:
        """Set the state to that at the start."""
        ...

    def run(self) -> None:
        """Simulate and measure the loss."""
        ...

    def gradient(self) -> np.ndarray: ...

    def peer(self) -> Peer: ...


@dt.kernel
def wave_step(u, v, k):
    n = u.shape[0]
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        v[i, j] += k[i, j] * (around - 4.0 * u[i, j])
    for i, j in u:
        u[i, j] += v[i, j]


@dt.kernel
def square_sum(u, loss):
    for i, j in u:
        loss[None] += u[i, j] * u[i, j]


class Wave:
    """The wave equation on a square: displacement and velocity are updated in place."""

    def __init__(self, steps: int, n: int) -> None:
        self.steps = steps
        side = np.linspace(-1, 1, n, dtype=np.float32)
        x, y = np.meshgrid(side, side)
        self.pulse = np.exp(-((x + 0.3) ** 2 + y**2) * 100).astype(np.float32)
        self.stiffness = (0.2 + 0.1 * (x > 0.2)).astype(np.float32)
        self.u, self.v = (dt.zeros((n, n), grad=True) for _ in range(2))
        self.k = dt.from_numpy(self.stiffness, grad=True)
        self.loss = dt.zeros((), grad=True)
        self.nbytes = 2 * sum(f.nbytes for f in (self.u, self.v, self.k, self.loss))

    def start(self) -> None:
        self.u.from_numpy(self.pulse)
        self.v.clear()
        self.loss.clear()

    def run(self) -> None:
        for _ in range(self.steps):
            wave_step(self.u, self.v, self.k)
        square_sum(self.u, self.loss)

    def gradient(self) -> np.ndarray:
        return self.k.grad.to_numpy()

    def peer(self) -> WaveTaichi:
        return WaveTaichi(self.steps, self.pulse, self.stiffness)


@dt.func
def weights_of(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.kernel
def p2g(x, v, c, density, momentum, mass, h: float, stiffness: float):
    n = ti.cast(mass.shape[0], ti.f32)
    dx = 1.0 / n
    for p in x:
        base = ti.cast(x[p] * n - 0.5, ti.i32)
        f = x[p] * n - ti.cast(base, ti.f32)
        w = weights_of(f)
        stress = -h * stiffness * (density[p] - 1.0)
        affine = c[p] + stress * ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            weight = w[i].x * w[j].y
            way = (ti.cast(offset, ti.f32) - f) * dx
            momentum[base + offset] += weight * (v[p] + affine @ way)
            mass[base + offset] += weight


@dt.kernel
def move_grid(momentum, mass, h: float, gravity: float):
    """Momentum becomes velocity, in place."""
    n = mass.shape[0]
    for i, j in momentum:
        new = vec2(0.0, 0.0)
        if mass[i, j] > 0.0:
            new = momentum[i, j] / mass[i, j]
            new.y -= h * gravity
            if i < 3 and new.x < 0.0:
                new.x = 0.0
            if i > n - 3 and new.x > 0.0:
                new.x = 0.0
            if j < 3 and new.y < 0.0:
                new.y = 0.0
            if j > n - 3 and new.y > 0.0:
                new.y = 0.0
        momentum[i, j] = new


@dt.kernel
def g2p(x, v, c, density, velocity, h: float):
    n = ti.cast(velocity.shape[0], ti.f32)
    for p in x:
        base = ti.cast(x[p] * n - 0.5, ti.i32)
        f = x[p] * n - ti.cast(base, ti.f32)
        w = weights_of(f)
        new_v = vec2(0.0, 0.0)
        new_c = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            weight = w[i].x * w[j].y
            way = ti.cast(offset, ti.f32) - f
            g = velocity[base + offset]
            new_v += weight * g
            new_c += 4.0 * weight * n * g.outer_product(way)
        v[p] = new_v
        c[p] = new_c
        x[p] = x[p] + h * new_v
        density[p] = density[p] * (1.0 + h * (new_c[0, 0] + new_c[1, 1]))


@dt.kernel
def reach(x, loss):
    for p in x:
        loss[None] += x[p].x / x.shape[0]


class Points:
    """A block of fluid that falls, as material points with one grid for all steps."""

    def __init__(self, steps: int, points: int, n: int) -> None:
        self.steps, self.n = steps, n
        self.h, self.stiffness, self.gravity = 1e-4, 100.0, 9.8
        rng = np.random.default_rng(0)
        self.places = rng.uniform((0.2, 0.1), (0.6, 0.5), (points, 2)).astype(np.float32)
        self.speeds = np.tile(np.float32((1.0, -1.0)), (points, 1))
        self.x, self.v = (dt.zeros(points, dtype=vec2, grad=True) for _ in range(2))
        self.c = dt.zeros(points, dtype=dt.mat(2, 2), grad=True)
        self.density = dt.zeros(points, grad=True)
        self.momentum = dt.zeros((n, n), dtype=vec2, grad=True)
        self.mass, self.loss = dt.zeros((n, n), grad=True), dt.zeros((), grad=True)
        state = self.x, self.v, self.c, self.density
        self.nbytes = 2 * sum(f.nbytes for f in (*state, self.momentum, self.mass, self.loss))

    def start(self) -> None:
        self.x.from_numpy(self.places)
        self.v.from_numpy(self.speeds)
        self.c.clear()
        self.density.fill(1.0)
        self.loss.clear()

    def run(self) -> None:
        state = self.x, self.v, self.c, self.density
        for _ in range(self.steps):
            self.momentum.clear()
            self.mass.clear()
            p2g(*state, self.momentum, self.mass, self.h, self.stiffness)
            move_grid(self.momentum, self.mass, self.h, self.gravity)
            g2p(*state, self.momentum, self.h)
        reach(self.x, self.loss)

    def gradient(self) -> np.ndarray:
        return self.v.grad.to_numpy()

    def peer(self) -> PointsTaichi:
        numbers = self.n, self.h, self.stiffness, self.gravity
        return PointsTaichi(self.steps, self.places, self.speeds, *numbers)


class Robot:
    """The spring robot of the demo; the gradient is with respect to its network's weights."""

    def __init__(self, steps: int) -> None:
        self.steps, self.scene = steps, make_scene("C")
        self.network = make_network(self.scene)
        self.walker = walker = Walker(self.scene, self.network, steps)
        self.loss = walker.loss
        state = walker.x, walker.v, walker.free, walker.hidden, walker.loss
        self.nbytes = 2 * sum(f.nbytes for f in (*state, *walker.parameters.values()))

    def start(self) -> None:
        """Leave it to the run."""

    def run(self) -> None:
        self.walker.run()

    def gradient(self) -> np.ndarray:
        return _joined({name: w.grad.to_numpy() for name, w in self.walker.parameters.items()})

    def peer(self) -> Peer:
        return _RobotPeer(self)


class _RobotPeer:
    def __init__(self, robot: Robot) -> None:
        self.taichi = make_mass_spring(robot.scene, robot.network, robot.steps)
        self.nbytes, self.differentiate = self.taichi.nbytes, self.taichi.differentiate

    def gradient(self) -> np.ndarray:
        return _joined(self.taichi.gradients())


def _joined(gradients: dict[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([gradients[name].ravel() for name in sorted(gradients)])


@dataclass(frozen=True)
class Case:
    """A simulation and its length: in full, and in a quick run."""

    make: Callable[[int], Any]
    steps: int
    quick: Callable[[int], Any]
    quick_steps: int


CASES = {
    "wave": Case(lambda steps: Wave(steps, 512), 2000, lambda steps: Wave(steps, 128), 256),
    "points": Case(
        lambda steps: Points(steps, 8192, 128), 2048, lambda steps: Points(steps, 2048, 64), 256
    ),
    "robot": Case(Robot, 4096, Robot, 512),
}


@dataclass(frozen=True)
class Run:
    """The cost of one gradient.

    Attributes:
        seconds: Recording and gradient.
        recording: The first of the two [s].
        kept: Bytes of old values at the end of the recording.
        peak: The most bytes of old values at any time.
        again: Launches that were run again.
        gradient: The gradient.
    """

    seconds: float
    recording: float
    kept: int
    peak: int
    again: int
    gradient: np.ndarray


def measure(simulation: Simulation, **limits: Any) -> Run:
    """Record a simulation and compute its gradient."""
    simulation.start()
    started = time.perf_counter()
    with dt.Tape(**limits) as tape:
        simulation.run()
    recorded = time.perf_counter()
    kept = tape.nbytes
    resumed = time.perf_counter()
    tape.backward(simulation.loss)
    recording = recorded - started
    seconds = recording + time.perf_counter() - resumed
    gradient = simulation.gradient()
    return Run(seconds, recording, kept, tape.peak_nbytes, tape.recomputed, gradient)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return the distance of two gradients in units of the norm of the second."""
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


def process_bytes() -> int:
    """Return the most memory that the process has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def compare(name: str, case: Case, steps: int, *, quick: bool, repetitions: int) -> bool:
    """Measure one simulation and print its table; return whether gradients and peaks are right."""
    make = case.quick if quick else case.make
    part = measure(make(max(16, steps // 32)))
    simulation: Simulation = make(steps)
    full_bytes = part.kept * steps // max(16, steps // 32)
    measure(make(max(16, steps // 32)), memory=max(part.kept // 4, 4 * simulation.nbytes))

    # The smallest budgets first: the most that the process has had then belongs to the latest run.
    base, runs, process = process_bytes(), dict[int, list[Run]](), dict[int, int]()
    for divisor in sorted(TARGETS, reverse=True):
        limits = {"memory": full_bytes // divisor} if divisor > 1 else {}
        try:
            runs[divisor] = [measure(simulation, **limits) for _ in range(repetitions)]
        except dt.TapeError as error:
            print(f"  1/{divisor}: {error}")
        process[divisor] = process_bytes() - base
    full = median(run.seconds for run in runs[1])
    recording = median(run.recording for run in runs[1])
    print(
        f"\n{name}, {steps} steps: full storage keeps {mb(full_bytes)} beside fields of "
        f"{mb(simulation.nbytes)}; recording takes {recording:.2f} s of {full:.2f} s"
    )
    print("memory    budget [MB]  peak [MB]  process [MB]   time [s]  ratio  target   again  apart")
    right = True
    for divisor in sorted(runs):
        last, seconds = runs[divisor][-1], median(run.seconds for run in runs[divisor])
        budget = full_bytes // divisor
        distance = apart(last.gradient, runs[1][-1].gradient)
        right &= distance < TOLERANCE and (divisor == 1 or last.peak <= budget)
        target = f"<= {TARGETS[divisor]}" if divisor > 1 else ""
        print(
            f"{f'1/{divisor}' if divisor > 1 else 'all':8}{budget / 1e6:13.2f}"
            f"{last.peak / 1e6:11.2f}{process[divisor] / 1e6:14.1f}{seconds:11.2f}"
            f"{seconds / full:7.2f}{target:>8}{last.again:8}{distance:7.0e}"
        )
    compare_with_taichi(simulation, runs[1][-1], full, repetitions)
    return right


def compare_with_taichi(simulation: Simulation, ours: Run, full: float, repetitions: int) -> None:
    """Run plain Taichi and print its cost."""
    peer = simulation.peer()
    times: list[float] = []
    for _ in range(repetitions + 1):  # the first run compiles
        started = time.perf_counter()
        peer.differentiate()
        times.append(time.perf_counter() - started)
    seconds, held = median(times[1:]), simulation.nbytes + ours.peak
    print(
        f"Taichi with a time axis: {mb(peer.nbytes)}, {seconds:.2f} s; difftile holds "
        f"{held / peer.nbytes:.2f} of its bytes (<= {PEER_BYTES}) and takes {full / seconds:.2f} "
        f"of its time (<= {PEER_TIME}); gradients {apart(ours.gradient, peer.gradient()):.0e} apart"
    )


def mb(count: float) -> str:
    """Return bytes as megabytes."""
    return f"{count / 1e6:.2f} MB"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if a gradient or a peak is wrong, whatever the times are."""
    parser = Parser("python -m benchmarks.memory", __doc__)
    parser.add_argument("--only", choices=tuple(CASES), help="one of the simulations")
    parser.add_argument("--quick", action="store_true", help="small simulations, few steps")
    parser.add_argument("--steps", type=positive_int, help="of every simulation")
    parser.add_argument("--repetitions", type=positive_int, default=1, help="default: %(default)s")
    options = parser.parse_args(argv)
    if options.only is None:
        # One process each, so that the peak memory of a process is that of one simulation.
        command = [
            sys.executable,
            "-m",
            "benchmarks.memory",
            *(sys.argv[1:] if argv is None else argv),
        ]
        return max(subprocess.call([*command, "--only", name]) for name in CASES)
    dt.init(arch="cpu", offline_cache=False)
    case = CASES[options.only]
    steps = options.steps or (case.quick_steps if options.quick else case.steps)
    right = compare(options.only, case, steps, quick=options.quick, repetitions=options.repetitions)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
