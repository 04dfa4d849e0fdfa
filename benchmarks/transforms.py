"""The cost of tangents and second derivatives, relative to the run and the gradient.

An arm of thirty springs over 200 launches, and a population that spreads over 512x512 cells in 50,
both in place. For each the benchmark times, turn by turn in one process: the run itself, the run
with tangents (`dt.jvp`), the gradient (`dt.value_and_grad`), the product of the Hessian and a
vector (`dt.hvp`); the Jacobian of 64 columns compared with 64 calls of `dt.jvp`, and Hessians in
batches of columns compared with those column by column. Times are medians of the turns, and ratios
are medians of the ratios within a turn. Before the measurements, tangent and product are compared
with the gradient and its differences.
"""

import sys
import time
from collections.abc import Callable, Sequence
from statistics import median

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int
from scenes.spring_arm import Arm, make_arm

JVP_TARGET, HVP_TARGET, JACOBIAN_TARGET, HESSIAN_TARGET = 2.5, 4.0, 0.3, 0.15
SIZE, LAUNCHES = 512, 50
COLUMNS, STEPS = 64, 200

Function = Callable[[dt.Field], dt.Field]


@dt.kernel
def spread(x, change, rate: float, growth: float):
    n, m = x.shape[0], x.shape[1]
    for i, j in ti.ndrange((1, n - 1), (1, m - 1)):
        around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
        change[i, j] = rate * (around - 4.0 * x[i, j]) + growth * x[i, j] * (1.0 - x[i, j])
    for i, j in x:
        x[i, j] += change[i, j]


@dt.kernel
def add_squares(x, total):
    for i, j in x:
        total[None] += x[i, j] * x[i, j]


def populate(x: dt.Field) -> dt.Field:
    """Let a population spread and grow; return the sum of its squares."""
    change, total = dt.zeros_like(x), dt.zeros((), ti.f64)
    for _ in range(LAUNCHES):
        spread(x, change, 0.2, 0.1)
    add_squares(x, total)
    return total


@dt.kernel
def swing(x, v):
    n = x.shape[0]
    for i in range(n):
        force = -ti.sin(x[i])
        if i > 0:
            force += x[i - 1] - x[i]
        if i < n - 1:
            force += x[i + 1] - x[i]
        v[i] += 0.05 * force
    for i in range(n):
        x[i] += 0.05 * v[i]


def swung(x: dt.Field) -> dt.Field:
    """Return where a chain of pendulums is after all steps."""
    v = dt.zeros_like(x)
    for _ in range(STEPS):
        swing(x, v)
    return x


@dt.kernel
def add_heights(x, total):
    for i in x:
        total[None] += 1.0 - ti.cos(x[i])


def swung_energy(x: dt.Field) -> dt.Field:
    """Return the potential energy of the chain after all steps."""
    swung(x)
    total = dt.zeros((), ti.f64)
    add_heights(x, total)
    return total


def spread_for_a_while(x: dt.Field) -> dt.Field:
    """Return the sum of squares of a population after a tenth of the launches."""
    change, total = dt.zeros_like(x), dt.zeros((), ti.f64)
    for _ in range(LAUNCHES // 10):
        spread(x, change, 0.2, 0.1)
    add_squares(x, total)
    return total


def measure_jacobian(rounds: int) -> tuple[float, float, float]:
    """Return the times of a Jacobian and of its columns one by one [ms], and their ratio."""
    x = np.random.default_rng(1).uniform(-1.0, 1.0, COLUMNS)
    jacobian, units = dt.jacfwd(swung), np.eye(COLUMNS)

    def columns() -> np.ndarray:
        return np.stack([dt.jvp(swung, x, unit)[1] for unit in units], axis=1)

    return compare(lambda: jacobian(x), columns, rounds)


def measure_hessian(f: Function, x: np.ndarray, rounds: int) -> tuple[float, float, float]:
    """Return the times of a Hessian and of its columns one by one [ms], and their ratio."""
    together, apart = dt.hessian(f), dt.hessian(f, chunk=1)
    return compare(lambda: together(x), lambda: apart(x), rounds)


def compare(
    batched: Callable[[], np.ndarray], columns: Callable[[], np.ndarray], rounds: int
) -> tuple[float, float, float]:
    """Return the times of two ways to the same array [ms], and their ratio."""
    np.testing.assert_allclose(batched(), columns(), rtol=1e-10, atol=1e-12)
    turns: list[tuple[float, float]] = []
    for _ in range(rounds):
        times: list[float] = []
        for call in (batched, columns):
            started = time.perf_counter()
            call()
            times.append(1e3 * (time.perf_counter() - started))
        turns.append((times[0], times[1]))
    together, apart = (median(times) for times in zip(*turns, strict=True))
    return together, apart, median(one / other for one, other in turns)


def check(f: Function, x: dt.Field, direction: dt.Field, eps: float = 1e-5) -> None:
    """Compare tangent and product with the gradient and its differences."""
    gradient, along = dt.grad(f), direction.to_numpy()
    _, tangent = dt.jvp(f, x, direction)
    expected = np.sum(gradient(x).to_numpy() * along)
    np.testing.assert_allclose(tangent[None], expected, rtol=1e-9)
    up, down = (gradient(x.to_numpy() + sign * eps * along) for sign in (1.0, -1.0))
    differences = (up - down) / (2.0 * eps)
    product = dt.hvp(f, x, direction).to_numpy()
    atol = 1e-4 * np.max(np.abs(differences))
    np.testing.assert_allclose(product, differences, rtol=0, atol=atol)


def measure(f: Function, x: dt.Field, direction: dt.Field, rounds: int) -> list[list[float]]:
    """Return the times of run, jvp, grad and hvp [ms], a list for each turn."""
    both = dt.value_and_grad(f)

    def run() -> object:  # on a copy, as the others
        copy = dt.zeros_like(x)
        copy.copy_from(x)
        return f(copy)

    calls: list[Callable[[], object]] = [
        run,
        lambda: dt.jvp(f, x, direction),
        lambda: both(x),
        lambda: dt.hvp(f, x, direction),
    ]
    turns = []
    for _ in range(rounds):
        turn = []
        for call in calls:
            started = time.perf_counter()
            call()
            ti.sync()
            turn.append(1e3 * (time.perf_counter() - started))
        turns.append(turn)
    return turns


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.transforms", __doc__)
    parser.add_argument("--rounds", type=positive_int, default=15, help="default: %(default)s")
    options = parser.parse_args(argv)
    dt.init(arch="cpu", offline_cache=False)
    arm, random = Arm(make_arm(), 200), np.random.default_rng(0)
    cases: dict[str, tuple[Function, np.ndarray]] = {
        "mass-spring, 200 launches": (arm.loss, arm.scene.lengths),
        f"stencil {SIZE}x{SIZE}, {LAUNCHES} launches": (populate, random.random((SIZE, SIZE))),
    }
    print(f"f64; medians of {options.rounds} turns")
    names = ("run", "jvp", "jvp/run", "gradient", "hvp", "hvp/grad")
    print(f"{'[ms]':30}" + "".join(f"{name:>10}" for name in names))
    for label, (f, start) in cases.items():
        x = dt.from_numpy(start)
        direction = dt.from_numpy(0.1 * start * random.standard_normal(start.shape))
        check(f, x, direction)
        turns = measure(f, x, direction, options.rounds)
        run, jvp, gradient, hvp = (median(times) for times in zip(*turns, strict=True))
        tangents = median(turn[1] / turn[0] for turn in turns)
        products = median(turn[3] / turn[2] for turn in turns)
        print(
            f"{label:30}{run:10.2f}{jvp:10.2f}{tangents:10.2f}"
            f"{gradient:10.2f}{hvp:10.2f}{products:10.2f}"
        )
        for name, ratio, target in (("jvp", tangents, JVP_TARGET), ("hvp", products, HVP_TARGET)):
            print(f"  {name} <= {target}: {'met' if ratio <= target else 'not met'}")
    together, apart, ratio = measure_jacobian(max(3, options.rounds // 3))
    print(f"Jacobian of {COLUMNS} columns, {STEPS} launches: {together:.1f} ms, ", end="")
    print(f"column by column {apart:.1f} ms, ratio {ratio:.2f}")
    met = "met" if ratio <= JACOBIAN_TARGET else "not met"
    print(f"  jacobian <= {JACOBIAN_TARGET}: {met}")
    chain, field = random.uniform(-1.0, 1.0, COLUMNS), random.random((24, 24))
    hessians: list[tuple[str, Function, np.ndarray]] = [
        (f"{COLUMNS} columns, {STEPS} launches", swung_energy, chain),
        (f"{field.size} columns, {LAUNCHES // 10} launches", spread_for_a_while, field),
    ]
    for label, f, start in hessians:
        together, apart, ratio = measure_hessian(f, start, max(3, options.rounds // 5))
        print(f"Hessian of {label}: {together:.1f} ms, ", end="")
        print(f"column by column {apart:.1f} ms, ratio {ratio:.2f}")
        met = "met" if ratio <= HESSIAN_TARGET else "not met"
        print(f"  hessian <= {HESSIAN_TARGET}: {met}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
