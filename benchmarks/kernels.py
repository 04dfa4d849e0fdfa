"""Small kernels, forward and backward: difftile, Taichi's own autodiff, hand-written adjoints.

All three run in one process, turn by turn, without the offline cache, and the figures are ratios:
the median over the turns of difftile's time over the other's. The target, the largest acceptable
ratio, follows '<=' or '>'. Forward is a launch without a tape, compared with plain Taichi over
ti.field; recorded is one inside a tape; backward is the replay of that one launch, compared with
Taichi's own gradient kernel at its best settings and with an adjoint written by hand in Taichi.
Setting gradients to zero and to their seeds is not measured for any of them. All gradients are
compared before the measurements.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isqrt
from statistics import median
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.peers import kernels_taichi as peers
from difftile.arguments import Parser, positive_float, positive_int

TOLERANCE = 2e-4  # of the norm of a gradient: f32, and sums in another order
SUM_TOLERANCE = 5e-3  # of values: Taichi adds up millions of squares in one f32 for each thread
FORWARD_TARGET, HAND_TARGET = 1.0, 1.2

vec2, mat2 = ti.math.vec2, ti.math.mat2


@dt.kernel
def map_(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * x[i] + 0.5 * x[i] * x[i]


@dt.kernel
def stencil(x, y):
    n, m = x.shape[0], x.shape[1]
    for i, j in ti.ndrange((1, n - 1), (1, m - 1)):
        around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
        y[i, j] = x[i, j] + 0.2 * (around - 4.0 * x[i, j])


@dt.kernel
def gather(x, index, y):
    for i in y:
        y[i] = x[index[i]] * x[index[i]]


@dt.kernel
def scatter(x, index, y):
    for i in x:
        y[index[i]] += x[i] * x[i]


@dt.kernel
def sum_(x, y):
    for i in x:
        y[None] += x[i] * x[i]


@dt.kernel
def matvec(a, x, y):
    for i in y:
        total = 0.0
        for j in range(x.shape[0]):
            total += a[i, j] * x[j]
        y[i] = total


@dt.kernel
def compositing(alpha, colour, y):
    for i, j in y:
        total, t = 0.0, 1.0
        for k in range(alpha.shape[2]):
            total += t * alpha[i, j, k] * colour[i, j, k]
            t *= 1.0 - alpha[i, j, k]
        y[i, j] = total


@dt.func
def weights_of(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.kernel
def p2g(x, v, c, stress, momentum, mass):
    inv_dx = ti.cast(mass.shape[0], ti.f32)
    dx = 1.0 / inv_dx
    for p in x:
        base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
        f = x[p] * inv_dx - ti.cast(base, ti.f32)
        w = weights_of(f)
        affine = c[p] + stress[p] * ti.Matrix([[1.0, 0.0], [0.0, 1.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            way = (ti.cast(offset, ti.f32) - f) * dx
            weight = w[i].x * w[j].y
            momentum[base + offset] += weight * (v[p] + affine @ way)
            mass[base + offset] += weight


@dt.kernel
def g2p(x, velocity, v, c):
    inv_dx = ti.cast(velocity.shape[0], ti.f32)
    for p in x:
        base = ti.cast(x[p] * inv_dx - 0.5, ti.i32)
        f = x[p] * inv_dx - ti.cast(base, ti.f32)
        w = weights_of(f)
        new_v = ti.Vector([0.0, 0.0])
        new_c = ti.Matrix([[0.0, 0.0], [0.0, 0.0]])
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            way = ti.cast(offset, ti.f32) - f
            weight = w[i].x * w[j].y
            g = velocity[base + offset]
            new_v += weight * g
            new_c += 4.0 * weight * inv_dx * g.outer_product(way)
        v[p] = new_v
        c[p] = new_c


@dataclass(frozen=True)
class Case:
    """A kernel with its arguments.

    Attributes:
        kernel: The kernel of difftile; it takes inputs, indices and outputs, in this order.
        peer: Makes the peer from fields in the same order.
        inputs: Differentiable fields by name.
        outputs: Shapes of the fields that the kernel writes or adds to, by name.
        indices: Fields of integers by name.
        elements: Shapes of the elements that are vectors or matrices, by name of the field.
        target: The largest acceptable ratio of backward to Taichi's own autodiff.
    """

    kernel: Any
    peer: Callable[..., peers.Peer]
    inputs: dict[str, np.ndarray]
    outputs: dict[str, tuple[int, ...]]
    indices: dict[str, np.ndarray] = field(default_factory=dict)
    elements: dict[str, tuple[int, ...]] = field(default_factory=dict)
    target: float = 1.0


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def uniform(low: float, high: float, *shape: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(low, high, shape).astype(np.float32)


def random_index(n: int) -> np.ndarray:
    return np.random.default_rng(2).integers(0, n, n, np.int32)


def side(n: int, scale: float, multiple: int = 1) -> int:
    """Return the side of a square whose area is scaled."""
    return max(isqrt(round(scale * n * n)) // multiple, 1) * multiple


def make_map(scale: float) -> Case:
    n = round(scale * 2**21)
    return Case(map_, peers.make_map, {"x": normal(n)}, {"y": (n,)})


def make_stencil(scale: float) -> Case:
    n = side(1024, scale)
    return Case(stencil, peers.make_stencil, {"x": normal(n, n)}, {"y": (n, n)}, target=0.15)


def make_gather(scale: float) -> Case:
    n = round(scale * 2**20)
    index = {"index": random_index(n)}
    return Case(gather, peers.make_gather, {"x": normal(n)}, {"y": (n,)}, index)


def make_scatter(scale: float) -> Case:
    n = round(scale * 2**20)
    index = {"index": random_index(n)}
    return Case(scatter, peers.make_scatter, {"x": normal(n)}, {"y": (n,)}, index)


def make_sum(scale: float) -> Case:
    n = round(scale * 2**22)
    return Case(sum_, peers.make_sum, {"x": normal(n)}, {"y": ()}, target=0.5)


def make_matvec(scale: float) -> Case:
    n = side(1024, scale, multiple=16)
    inputs = {"a": normal(n, n), "x": normal(n)}
    return Case(matvec, peers.make_matvec, inputs, {"y": (n,)}, target=0.3)


def make_compositing(scale: float) -> Case:
    n, layers = side(512, scale), 64
    inputs = {
        "alpha": uniform(0.0, 0.2, n, n, layers),
        "colour": normal(n, n, layers),
    }
    return Case(compositing, peers.make_compositing, inputs, {"y": (n, n)}, target=0.5)


def make_p2g(scale: float) -> Case:
    n, n_grid = round(scale * 8192), side(128, scale)
    inputs = {
        "x": uniform(0.1, 0.9, n, 2),
        "v": normal(n, 2),
        "c": normal(n, 2, 2),
        "stress": normal(n),
    }
    outputs = {"momentum": (n_grid, n_grid), "mass": (n_grid, n_grid)}
    elements = {"x": (2,), "v": (2,), "c": (2, 2), "momentum": (2,)}
    return Case(p2g, lambda *f: peers.make_p2g(n_grid, *f), inputs, outputs, elements=elements)


def make_g2p(scale: float) -> Case:
    n, n_grid = round(scale * 8192), side(128, scale)
    inputs = {"x": uniform(0.1, 0.9, n, 2), "velocity": normal(n_grid, n_grid, 2)}
    elements = {"x": (2,), "velocity": (2,), "v": (2,), "c": (2, 2)}
    return Case(
        g2p,
        lambda *f: peers.make_g2p(n_grid, *f),
        inputs,
        {"v": (n,), "c": (n,)},
        elements=elements,
    )


CASES: dict[str, Callable[[float], Case]] = {
    "map": make_map,
    "stencil": make_stencil,
    "gather": make_gather,
    "scatter-add": make_scatter,
    "sum": make_sum,
    "matvec": make_matvec,
    "compositing": make_compositing,
    "p2g": make_p2g,
    "g2p": make_g2p,
}


class Ours:
    """A case in difftile."""

    def __init__(self, case: Case, seeds: dict[str, np.ndarray]):
        def dtype(name: str) -> Any:
            element = case.elements.get(name, ())
            makers = {0: lambda: ti.f32, 1: lambda: dt.vec(*element), 2: lambda: dt.mat(*element)}
            return makers[len(element)]()

        self.case, self.seeds = case, seeds
        self.inputs = {
            name: dt.from_numpy(values, dtype=dtype(name), grad=True)
            for name, values in case.inputs.items()
        }
        indices = [dt.from_numpy(values, dtype=ti.i32) for values in case.indices.values()]
        self.outputs = {
            name: dt.zeros(shape, dtype=dtype(name), grad=True)
            for name, shape in case.outputs.items()
        }
        self.args = [*self.inputs.values(), *indices, *self.outputs.values()]
        self.end = dt.zeros((), dtype=ti.f32, grad=True)

    def forward(self) -> float:
        """Launch twice without a tape; return the seconds of the second, with warm caches."""
        seconds = 0.0
        for _ in range(2):
            for made in self.outputs.values():
                made.fill(0.0)
            seconds = timed(lambda: self.case.kernel(*self.args))
        return seconds

    def recorded_and_backward(self) -> tuple[float, float]:
        """Launch on a tape and replay; return the seconds of each."""
        for made in self.outputs.values():
            made.fill(0.0)
        dt.zero_grads()  # or the launch would do that when the tape meets its fields
        with dt.Tape() as tape:
            recorded = timed(lambda: self.case.kernel(*self.args))
            # A replay starts with a seed. This one is a single number that no result depends on,
            # so that filling in the seeds proper is not measured, as it is not for the others.
            self.end[None] = 0.0
        for made in self.inputs.values():  # they are zero; now they are in the caches, as theirs
            made.grad.fill(0.0)
        for name, made in self.outputs.items():
            made.grad.from_numpy(self.seeds[name])
        return recorded, timed(lambda: tape.backward(self.end))

    def values(self) -> dict[str, np.ndarray]:
        return {name: made.to_numpy() for name, made in self.outputs.items()}

    def gradients(self) -> dict[str, np.ndarray]:
        return {name: made.grad.to_numpy() for name, made in self.inputs.items()}


class Theirs:
    """A case in plain Taichi."""

    def __init__(self, case: Case, seeds: dict[str, np.ndarray]):
        def make(name: str, shape: tuple[int, ...]) -> Any:
            element = case.elements.get(name, ())
            makers = {0: ti.field, 1: ti.Vector.field, 2: ti.Matrix.field}
            return makers[len(element)](*element, dtype=ti.f32, shape=shape, needs_grad=True)

        self.inputs, self.outputs, indices, self.seeds = {}, {}, [], seeds
        for name, values in case.inputs.items():
            rank = len(case.elements.get(name, ()))
            self.inputs[name] = make(name, values.shape[: values.ndim - rank])
            self.inputs[name].from_numpy(values)
        for values in case.indices.values():
            indices.append(ti.field(ti.i32, shape=values.shape))
            indices[-1].from_numpy(values)
        for name, shape in case.outputs.items():
            self.outputs[name] = make(name, shape)
        self.peer = case.peer(*self.inputs.values(), *indices, *self.outputs.values())

    def forward(self, kernel: Callable[[], None]) -> float:
        """Launch one form of the kernel twice; return the seconds of the second."""
        seconds = 0.0
        for _ in range(2):
            for made in self.outputs.values():
                made.fill(0.0)
            seconds = timed(kernel)
        return seconds

    def backward(self, adjoint: Callable[[], None]) -> float:
        """Launch an adjoint; return the seconds."""
        for made in self.inputs.values():
            made.grad.fill(0.0)
        self.peer.clear_gradients()
        for name, made in self.outputs.items():
            made.grad.from_numpy(self.seeds[name])
        return timed(adjoint)

    def values(self) -> dict[str, np.ndarray]:
        return {name: made.to_numpy() for name, made in self.outputs.items()}

    def gradients(self) -> dict[str, np.ndarray]:
        return {name: made.grad.to_numpy() for name, made in self.inputs.items()}


def timed(run: Callable[[], Any]) -> float:
    """Return the seconds of a run, after a loop that woke the thread pool."""
    peers.wake()
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def seeds_of(case: Case) -> dict[str, np.ndarray]:
    """Return adjoints of the outputs, zero for outputs that the kernel does not write."""
    shapes = {name: (*shape, *case.elements.get(name, ())) for name, shape in case.outputs.items()}
    seeds = {name: 1.0 + 0.5 * normal(*shape) for name, shape in shapes.items()}
    return {name: np.asarray(seed, np.float32) for name, seed in seeds.items()}


def check(name: str, ours: Ours, theirs: Theirs) -> None:
    """Compare values and gradients of all three.

    Raises:
        SystemExit: They differ.
    """
    peer = theirs.peer
    ours.forward()
    for kernel in (peer.forward, peer.differentiable):
        theirs.forward(kernel)
        compare(name, "values", ours.values(), theirs.values(), SUM_TOLERANCE)
    ours.recorded_and_backward()
    gradients = ours.gradients()
    for adjoint, whose in (
        (peer.differentiable.grad, "gradients of Taichi's autodiff"),
        (peer.adjoint, "gradients written by hand"),
    ):
        theirs.backward(adjoint)
        compare(name, whose, gradients, theirs.gradients(), TOLERANCE)


def compare(
    name: str,
    what: str,
    ours: dict[str, np.ndarray],
    theirs: dict[str, np.ndarray],
    tolerance: float,
) -> None:
    for of, mine in ours.items():
        apart, size = np.linalg.norm(mine - theirs[of]), np.linalg.norm(theirs[of])
        if not apart <= tolerance * size:
            raise SystemExit(f"{name}: {what}, {of}: {apart / size:.1e} of their norm apart")


@dataclass
class Turn:
    """Seconds of one turn."""

    forward: float
    recorded: float
    backward: float
    taichi_forward: float
    taichi_backward: float
    by_hand: float


def take_turn(ours: Ours, theirs: Theirs) -> Turn:
    peer = theirs.peer
    taichi_forward, forward = theirs.forward(peer.forward), ours.forward()
    recorded, backward = ours.recorded_and_backward()
    theirs.forward(peer.differentiable)  # its gradient reads the fields that it writes
    taichi_backward = theirs.backward(peer.differentiable.grad)
    by_hand = theirs.backward(peer.adjoint)
    return Turn(forward, recorded, backward, taichi_forward, taichi_backward, by_hand)


@dataclass(frozen=True)
class Figure:
    """A ratio with its largest acceptable value.

    Attributes:
        of: Its name in a summary.
        value: The median over the turns.
        target: The largest acceptable value.
    """

    of: str
    value: float
    target: float

    @property
    def met(self) -> bool:
        return round(self.value, 2) <= self.target

    def __str__(self) -> str:
        return f"{self.value:6.2f} {'<=' if self.met else ' >'} {self.target:<4}"


HEADER = f"""\
{"":14}{"forward /":>15}{"recorded /":>13}{"backward /":>16}{"backward /":>15}{"":7}milliseconds of
{"":14}{"Taichi":>13}{"Taichi":>13}{"its autodiff":>18}{"by hand":>13}{"":9}forward, backward"""


def figures(name: str, case: Case, turns: list[Turn]) -> tuple[Figure, Figure, Figure]:
    """Return the ratios that have a target."""
    return (
        Figure(f"{name}, forward", ratio(turns, "forward", "taichi_forward"), FORWARD_TARGET),
        Figure(f"{name}, backward", ratio(turns, "backward", "taichi_backward"), case.target),
        Figure(f"{name}, by hand", ratio(turns, "backward", "by_hand"), HAND_TARGET),
    )


def ratio(turns: list[Turn], mine: str, other: str) -> float:
    return median(getattr(turn, mine) / getattr(turn, other) for turn in turns)


def row(name: str, found: tuple[Figure, Figure, Figure], turns: list[Turn]) -> str:
    """Return a line of the table: ratios with their targets, and difftile's times."""
    forward, backward, by_hand = found
    recorded = ratio(turns, "recorded", "taichi_forward")
    times = [1e3 * median(getattr(turn, of) for turn in turns) for of in ("forward", "backward")]
    return (
        f"{name:14}{forward!s:>15}{recorded:>11.2f}{backward!s:>18}{by_hand!s:>15}"
        f"{times[0]:>12.2f}{times[1]:>9.2f}"
    )


def summary(found: list[Figure]) -> str:
    """Return the number of targets that are met, and the names of the others."""
    missed = [f"  {figure.of}: {figure}" for figure in found if not figure.met]
    return "\n".join((f"{len(found) - len(missed)} of {len(found)} targets met", *missed))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.kernels", __doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="KERNEL", help=", ".join(CASES))
    parser.add_argument(
        "--repetitions", type=positive_int, default=15, help="turns; default: %(default)s"
    )
    parser.add_argument(
        "--size", type=positive_float, default=1.0, help="factor for sizes; default: %(default)s"
    )
    parser.add_argument(
        "--threads", type=positive_int, help="number of threads; default: one per core"
    )
    options = parser.parse_args(argv)
    threads = {"cpu_max_num_threads": options.threads} if options.threads else {}
    print(f"ratios of difftile's time to the other's, f32; medians of {options.repetitions} turns")
    print(HEADER)
    found: list[Figure] = []
    for name in options.only or CASES:
        dt.init(arch="cpu", offline_cache=False, force_scalarize_matrix=True, **threads)
        case = CASES[name](options.size)
        seeds = seeds_of(case)
        ours, theirs = Ours(case, seeds), Theirs(case, seeds)
        check(name, ours, theirs)
        turns = [take_turn(ours, theirs) for _ in range(options.repetitions)]
        of_this = figures(name, case, turns)
        found += of_this
        print(row(name, of_this, turns), flush=True)
    print(summary(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
