"""The constructs of docs/peers.md under Taichi's own autodiff and under difftile's.

A case is a kernel over a field `x` that writes `y`, with the gradient of the sum of `y` known by
hand or by the complex step. The kernel runs, `y.grad` is set to 1, its gradient kernel runs, and
`x.grad` is compared. Some cases are functions that launch several kernels, on a tape. Where the
right result is a convention (ties, sqrt at 0), difftile's convention counts. Taichi runs each case
in a process of its own.
"""

from __future__ import annotations

import inspect
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt
import taichi as ti

import difftile as dt
from difftile.arguments import Parser

TIMEOUT = 120.0  # [s] for a case


@dataclass(frozen=True)
class Case:
    """A kernel in Taichi's language, or a function that launches some.

    Args:
        construct: The construct that it shows.
        function: The kernel, of `x` and `y`; or a function that also takes `kernels`.
        x: Contents of `x` before the launch.
        gradient: Of the sum of `y`, or of the new contents of `x` if `in_place`.
        in_place: Whether the kernel writes `x` instead of `y`.
        kernels: The kernels that the function launches.
    """

    construct: str
    function: Callable[..., Any]
    x: list[float]
    gradient: list[float]
    in_place: bool = False
    kernels: tuple[Callable[..., Any], ...] = ()

    def right(self, found: npt.NDArray[np.float64]) -> str:
        """Return whether a gradient is right, in words."""
        if np.allclose(found, self.gradient, rtol=1e-6, atol=1e-9):
            return "right"
        shown, wanted = (", ".join(f"{v:.6g}" for v in g) for g in (found, self.gradient))
        return f"wrong: ({shown}), not ({wanted})"


CASES: list[Case] = []


def written_out(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function, as objects and not as text."""
    return inspect.get_annotations(function, eval_str=True)


def case(
    construct: str,
    x: list[float],
    gradient: list[float],
    *,
    in_place: bool = False,
    kernels: Sequence[Callable[..., Any]] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a kernel, or a function that launches some."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        for one in kernels or (function,):
            one.__annotations__ = written_out(one)
            one.__annotations__ |= {
                k: ti.template() for k in inspect.signature(one).parameters if k in "xy"
            }
        CASES.append(Case(construct, function, x, gradient, in_place, tuple(kernels)))
        return function

    return register


def slopes(f: Callable[[Any], Any], x: list[float]) -> list[float]:
    """Return the gradient of a function of NumPy by the complex step."""
    start = np.array(x)
    return [float(np.imag(f(start + 1e-30j * unit)) / 1e-30) for unit in np.eye(len(x))]


@case("a map", [1.0, 2.0], [2.0, 4.0])
def a_map(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@case("in place, nonlinear: x[i] = x[i] * x[i]", [3.0, 4.0], [6.0, 8.0], in_place=True)
def squared_in_place(x, y):
    for i in x:
        x[i] = x[i] * x[i]


@case("in place, linear: x[i] = 2 * x[i]", [3.0, 4.0], [2.0, 2.0], in_place=True)
def doubled_in_place(x, y):
    for i in x:
        x[i] = 2 * x[i]


@case("*= on a field", [3.0, 4.0], [6.0, 8.0])
def multiplied_in_place(x, y):
    for i in x:
        y[i] = x[i]
        y[i] *= x[i]


@case("overwritten after a nonlinear read", [3.0, 4.0], [6.0, 8.0])
def overwritten_after_read(x, y):
    for i in x:
        y[i] = x[i] * x[i]
        x[i] = 1.0


@case("stored twice: the last store wins", [3.0, 4.0], [2.0, 2.0])
def stored_twice(x, y):
    for i in x:
        y[i] = 5 * x[i]
        y[i] = 2 * x[i]


@case("y[i] += twice", [3.0, 4.0], [7.0, 9.0])
def accumulated(x, y):
    for i in x:
        y[i] += x[i]
        y[i] += x[i] * x[i]


@case("read after an accumulation", [3.0, 4.0], [1.0 + 6.0, 1.0 + 8.0])
def read_after_accumulation(x, y):
    for i in x:
        y[i] += x[i]
        z = y[i] * y[i]
        y[i] += z


RECURRENCE = [1 + np.cos(0.5) * (1 + np.cos(np.sin(0.5))), 0.0, 0.0]


@case("serial recurrence x[i] = f(x[i - 1])", [0.5, 0.0, 0.0], RECURRENCE, in_place=True)
def recurrence(x, y):
    ti.loop_config(serialize=True)
    for i in range(1, 3):
        x[i] = ti.sin(x[i - 1])


def powers(count: int) -> tuple[list[float], list[float]]:
    return [1.0, 0.99], [float(count), count * 0.99 ** (count - 1)]


@case("inner loop of 20 iterations, nonlinear carry", *powers(20))
def loop_of_20(x, y):
    for i in x:
        s = 1.0
        for _ in range(20):
            s = s * x[i]
        y[i] = s


@case("inner loop of 100 iterations, nonlinear carry", *powers(100))
def loop_of_100(x, y):
    for i in x:
        s = 1.0
        for _ in range(100):
            s = s * x[i]
        y[i] = s


@case("inner loop of 100 iterations, linear sum", [3.0, 4.0], [600.0, 800.0])
def sum_of_100(x, y):
    for i in x:
        s = 0.0
        for _ in range(100):
            s += x[i] * x[i]
        y[i] = s


@case("nested inner loops of computed length", [0.5, 0.9], [6 * 0.5**5, 6 * 0.9**5])
def nested(x, y):
    for i in x:
        s = 1.0
        for j in range(4):
            for _ in range(j):
                s = s * x[i]
        y[i] = s


@case("while", [1.0, 3.0], [4.0, 2.0])
def while_loop(x, y):
    for i in x:
        s = x[i]
        while s < 4.0:
            s = s * 2.0
        y[i] = s


@case("break", [2.0, 3.0], [3 * 4.0, 2 * 3.0])
def break_(x, y):
    for i in x:
        s = 1.0
        for _ in range(8):
            s = s * x[i]
            if s > 7.0:
                break
        y[i] = s


@case("continue", [2.0, 3.0], [4 * 8.0, 4 * 27.0])
def continue_(x, y):
    for i in x:
        s = 1.0
        for j in range(8):
            if j % 2 == 0:
                continue
            s = s * x[i]
        y[i] = s


@case("branch on a value", [2.0, -3.0], [4.0, -1.0])
def branch(x, y):
    for i in x:
        if x[i] > 0:
            y[i] = x[i] * x[i]
        else:
            y[i] = -x[i]


@case("run-time component index, read", [1.0, 3.0], [2.0, 6.0])
def component_read(x, y):
    for i in x:
        v = ti.Vector([x[0], x[1]])
        y[i] = v[i] * v[i]


@case("run-time component index, written", [1.0, 3.0], [8.0, 24.0])
def component_written(x, y):
    for i in x:
        v = ti.Vector([x[i], x[i]])
        v[i] = 3.0 * x[i]
        y[i] = v[0] * v[0] + v[1] * v[1] - 6 * x[i] * x[i]


@case("local array of 16, filled in a loop", [2.0, 3.0], [16 * 4.0, 16 * 6.0])
def local_array(x, y):
    for i in x:
        v = ti.Vector([0.0] * 16)
        for k in range(16):
            v[k] = x[i] * x[i]
        s = 0.0
        for k in range(16):
            s += v[k]
        y[i] = s


@case("atomic_add", [2.0, 3.0], [4.0, 6.0])
def added(x, y):
    for i in x:
        ti.atomic_add(y[0], x[i] * x[i])


@case("atomic_max", [2.0, 3.0], [0.0, 6.0])
def largest(x, y):
    for i in x:
        ti.atomic_max(y[0], x[i] * x[i])


@case("atomic_mul", [2.0, 3.0], [0.0, 0.0])
def multiplied(x, y):
    for i in x:
        ti.atomic_mul(y[0], x[i])


@case("tan", [0.5, 0.6], [1 / np.cos(0.5) ** 2, 1 / np.cos(0.6) ** 2])
def tangent(x, y):
    for i in x:
        y[i] = ti.tan(x[i])


@case("round", [0.6, 1.6], [1.0, 2.0])
def rounded(x, y):
    for i in x:
        y[i] = ti.round(x[i]) * x[i]


@case("pow, by the exponent", [2.0, 3.0], [4 * np.log(2.0), 8 * np.log(2.0)])
def power(x, y):
    for i in x:
        y[i] = 2.0 ** x[i]


@case("max of equal arguments", [2.0, 2.0], [0.5, 0.5])
def tie(x, y):
    for _ in range(1):
        y[0] = ti.max(x[0], x[1])


@case("sqrt at 0", [0.0, 4.0], [0.0, 0.25])
def root(x, y):
    for i in x:
        y[i] = ti.sqrt(x[i])


@case("random", [2.0, 3.0], [4.0, 6.0])
def noisy(x, y):
    for i in x:
        y[i] = x[i] * x[i] + ti.random()


@case("print", [2.0, 3.0], [4.0, 6.0])
def printed(x, y):
    for i in x:
        print(x[i])
        y[i] = x[i] * x[i]


@case("cast to an integer", [2.5, 3.5], [2.0, 3.0])
def casted(x, y):
    for i in x:
        y[i] = ti.cast(x[i], ti.i32) * x[i]


@case("serial code beside a loop", [2.0, 3.0], [4.0 + 1.0, 6.0])
def mixed(x, y):
    y[0] += x[0]
    for i in x:
        y[i] += x[i] * x[i]


@case("norm and normalized", [3.0, 4.0], [0.6 + 0.128, 0.8 - 0.096])
def normalised(x, y):
    for _ in range(1):
        v = ti.Vector([x[0], x[1]])
        y[0] = v.norm() + v.normalized()[0]


@case("polar_decompose 2x2", [2.0, 3.0], [1.0, 1.0])
def polar(x, y):
    for _ in range(1):
        _u, p = ti.polar_decompose(ti.Matrix([[x[0], 0.0], [0.0, x[1]]]), ti.f64)
        y[0] = p[0, 0] + p[1, 1]


@case("svd 2x2, equal singular values", [2.0, 2.0], [1.0, 1.0])
def equal_singular_values(x, y):
    for _ in range(1):
        _u, s, _v = ti.svd(ti.Matrix([[x[0], 0.0], [0.0, x[1]]]), ti.f64)
        y[0] = s[0, 0] + s[1, 1]


@case("svd 2x2", [3.0, 2.0], [1.0, 1.0])
def singular_values(x, y):
    for _ in range(1):
        _u, s, _v = ti.svd(ti.Matrix([[x[0], 0.0], [0.0, x[1]]]), ti.f64)
        y[0] = s[0, 0] + s[1, 1]


@case("svd 3x3", [3.0, 2.0], [1.0, 1.0])
def singular_values_3(x, y):
    for _ in range(1):
        a = ti.Matrix([[x[0], 0.0, 0.0], [0.0, x[1], 0.0], [0.0, 0.0, 1.0]])
        _u, s, _v = ti.svd(a, ti.f64)
        y[0] = s[0, 0] + s[1, 1]


pair = ti.types.struct(a=ti.f64, b=ti.f64)


@case("local struct", [2.0, 3.0], [8.0, 12.0])
def local_struct(x, y):
    for i in x:
        s = pair(a=x[i], b=2.0 * x[i])
        y[i] = s.a * s.b


@ti.func
def positive_part(x):
    if x < 0.0:
        return 0.0
    return x


@case("early return of a func", [2.0, -3.0], [1.0, 0.0])
def early_return(x, y):
    for i in x:
        y[i] = positive_part(x[i])


@case("range with a step", [2.0, 3.0], [4.0, 6.0])
def steps(x, y):
    for i in range(1, -1, -1):
        y[i] = x[i] * x[i]


# State that is carried through fields


def tanh_chain(x: Any, count: int) -> Any:
    h = x[0]
    total = h
    for _ in range(count):
        h = np.tanh(x[1] * h)
        total = total + h
    return total


CHAIN = [0.5, 0.8, 0.0, 0.0]


@case(
    "state carried through a field",
    CHAIN,
    slopes(lambda x: tanh_chain(x, 3), CHAIN),
)
def carried_state(x, y):
    for _ in range(1):
        y[0] = x[0]
        for t in range(3):
            y[t + 1] = ti.tanh(x[1] * y[t])


@case(
    "state carried through a field, a row for each iteration",
    CHAIN,
    slopes(lambda x: tanh_chain(x, 1) + x[2] + np.tanh(x[1] * x[2]), CHAIN),
)
def carried_rows(x, y):
    for i in range(2):
        y[2 * i] = x[2 * i]
        for t in range(1):
            y[2 * i + t + 1] = ti.tanh(x[1] * y[2 * i + t])


def seidel(x: Any) -> Any:
    x = np.array(x)
    for _ in range(2):
        for i in range(1, 4):
            x[i] = np.sin(x[i - 1] * x[i])
    return np.sum(x)


START = [0.5, 0.8, 1.1, 1.4]


@case("Gauss-Seidel in place", START, slopes(seidel, START), in_place=True)
def gauss_seidel(x, y):
    ti.loop_config(serialize=True)
    for _ in range(2):
        for i in range(1, 4):
            x[i] = ti.sin(x[i - 1] * x[i])


def pendulums(x: Any) -> Any:
    v = 0 * x
    for _ in range(5):
        v = v - 0.3 * np.sin(x)
        x = x + v
    return np.sum(x)


@case("time loop in place", START, slopes(pendulums, START), in_place=True)
def time_loop(x, y):
    ti.loop_config(serialize=True)
    for _ in range(5):
        for i in range(4):
            y[i] -= 0.3 * ti.sin(x[i])
            x[i] += y[i]


@case("sort in place", [3.0, 1.0, 2.0], [2 * 3 * 3.0, 1 * 2 * 1.0, 2 * 2 * 2.0])
def sort_in_place(x, y):
    ti.loop_config(serialize=True)
    for k in range(2):
        for j in range(2 - k):
            if x[j] > x[j + 1]:
                low = x[j + 1]
                x[j + 1] = x[j]
                x[j] = low
    for j in range(3):
        y[j] = (j + 1) * x[j] * x[j]


# Locals indexed at run time


def eliminated(x: Any) -> Any:
    a = np.array([[0.1, x[0], 1.0], [x[1], 2.0, 0.3], [1.0, 0.5, x[2]]])
    return np.sum(np.linalg.solve(a, np.array([1.0, 2.0, 3.0])))


@case(
    "elimination with pivoting in a local 3x3 matrix",
    [1.5, 3.0, 2.5],
    slopes(eliminated, [1.5, 3.0, 2.5]),
)
def elimination(x, y):
    for _ in range(1):
        a = ti.Matrix([[0.1, x[0], 1.0], [x[1], 2.0, 0.3], [1.0, 0.5, x[2]]])
        b = ti.Vector([1.0, 2.0, 3.0])
        for k in range(3):
            p = k
            for i in range(k + 1, 3):
                if ti.abs(a[i, k]) > ti.abs(a[p, k]):
                    p = i
            for j in range(3):
                other = a[p, j]
                a[p, j] = a[k, j]
                a[k, j] = other
            last = b[p]
            b[p] = b[k]
            b[k] = last
            for i in range(k + 1, 3):
                factor = a[i, k] / a[k, k]
                for j in range(k, 3):
                    a[i, j] -= factor * a[k, j]
                b[i] -= factor * b[k]
        for m in range(3):
            i = 2 - m
            for j in range(i + 1, 3):
                b[i] -= a[i, j] * b[j]
            b[i] /= a[i, i]
        y[0] = b[0] + b[1] + b[2]


# Loops, atomics and returns


@case("run-time step of range", [1.5, 2.0], [3 * 1.5**2, 0.0])
def run_time_step(x, y):
    for _ in range(1):
        by = ti.cast(x[1], ti.i32)
        s = 1.0
        for _k in range(0, 6, by):
            s = s * x[0]
        y[0] = s


@case("atomic_max of a computed value", [2.0, 3.0], [0.0, 3.0 / np.sqrt(10.0)])
def largest_computed(x, y):
    for i in x:
        ti.atomic_max(y[0], ti.sqrt(x[i] * x[i] + 1.0))


@case("early return in a kernel's branch", [2.0, 3.0], [4.0, 6.0])
def early_return_of_a_kernel(x, y):
    if x[0] > 5.0:
        return
    for i in x:
        y[i] = x[i] * x[i]


@case("atomic on a local", [2.0, 3.0], [4 * 4.0, 4 * 6.0])
def atomic_on_a_local(x, y):
    for i in x:
        s = 0.0
        for _ in range(4):
            ti.atomic_add(s, x[i] * x[i])
        y[i] = s


def recursive_power(x, n: ti.template()):
    result = x
    if ti.static(n > 1):
        result = x * power_of(x, n - 1)
    return result


recursive_power.__annotations__ = written_out(recursive_power)
power_of: Any = ti.func(recursive_power)


@case("recursion by a template number", [2.0, 3.0], [3 * 4.0, 3 * 9.0])
def recursion(x, y):
    for i in x:
        y[i] = power_of(x[i], 3)


# Numbers and vectors from Python


def product(x) -> ti.f64:
    return x[0] * x[1]


def scaled(x, y, h: ti.f64):
    for i in x:
        y[i] = h * x[i]


@case(
    "a number returned by one kernel and passed to the next",
    [2.0, 3.0],
    [3.0 * 5.0 + 6.0, 2.0 * 5.0 + 6.0],
    kernels=[product, scaled],
)
def number_through_python(x, y, product, scaled):
    scaled(x, y, product(x))


def shifted(x, y, g: ti.types.vector(2, ti.f64)):
    for i in x:
        y[i] = x[i] * (g[0] * x[i] + g[1])


@case(
    "vector as an argument", [2.0, 3.0], [2 * 5.0 * 2 + 7.0, 2 * 5.0 * 3 + 7.0], kernels=[shifted]
)
def vector_argument(x, y, shifted):
    shifted(x, y, ti.Vector([5.0, 7.0]))


def sum_up(y: ti.template(), total: ti.template()):
    for i in y:
        total[None] += y[i]


sum_up.__annotations__ = written_out(sum_up)


def run_in_taichi(one: Case, x: Any, y: Any) -> None:
    """Leave in `x.grad` the gradient of a case by Taichi's autodiff."""
    if one.kernels:
        kernels = [ti.kernel(function) for function in one.kernels]
        total: Any = ti.field(ti.f64, shape=(), needs_grad=True)
        with ti.ad.Tape(total):
            one.function(x, y, *kernels)
            ti.kernel(sum_up)(y, total)
        return
    kernel: Any = ti.kernel(one.function)
    kernel(x, y)
    (x if one.in_place else y).grad.fill(1.0)
    kernel.grad(x, y)


def run_in_difftile(one: Case) -> str:
    """Run a case in difftile, and return how it went."""
    x = dt.from_numpy(np.array(one.x), grad=True)
    y = dt.zeros(len(one.x), ti.f64, grad=True)
    try:
        with dt.Tape() as tape:
            if one.kernels:
                one.function(x, y, *map(dt.kernel, one.kernels))
            else:
                dt.kernel(one.function)(x, y)
        tape.backward({x if one.in_place else y: 1.0})
    except (dt.KernelError, dt.LaunchError, dt.TapeError) as error:
        return f"refuses: {type(error).__name__}: {str(error).splitlines()[0]}"
    return one.right(x.grad.to_numpy())


def run(which: int, to_parent: Connection) -> None:
    """Run a case in this process, and send how it went."""
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # a crash prints pages
        os.dup2(silent, stream)
    one = CASES[which]
    ti.init(arch=ti.cpu, default_fp=ti.f64, offline_cache=False, force_scalarize_matrix=True)
    x: Any = ti.field(ti.f64, shape=len(one.x), needs_grad=True)
    y: Any = ti.field(ti.f64, shape=len(one.x), needs_grad=True)
    x.from_numpy(np.array(one.x))
    try:
        run_in_taichi(one, x, y)
    except Exception as error:
        to_parent.send(f"refuses: {last_line(error)}")
        return
    to_parent.send(one.right(x.grad.to_numpy()))


def last_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1].strip()[:100] if lines else ''}"


def outcome(which: int) -> str:
    """Run a case in a process of its own."""
    context = multiprocessing.get_context("fork")  # Taichi is imported, and not yet started
    here, child = context.Pipe()
    process = context.Process(target=run, args=(which, child), daemon=True)
    process.start()
    child.close()
    answer = None
    try:
        if here.poll(TIMEOUT):
            answer = here.recv()
    except EOFError:
        process.join()
        code = process.exitcode or 0
        answer = f"crashes: {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"
    process.kill()
    process.join()
    return answer or f"no end within {TIMEOUT:.0f} s"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the outcome of each case; return the exit code, which does not depend on it."""
    parser = Parser("python -m benchmarks.constructs", __doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="cases with this in their name")
    options = parser.parse_args(argv)
    chosen = [(which, one) for which, one in enumerate(CASES) if options.only in one.construct]
    taichi = [outcome(which) for which, _ in chosen]  # first: this process has no device then
    for (_, one), found in zip(chosen, taichi, strict=True):
        print(f"{one.construct}\n    Taichi    {found}\n    difftile  {run_in_difftile(one)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
