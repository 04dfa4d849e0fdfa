"""The constructs of docs/peers.md under Taichi's own autodiff, one process for each.

A case is a kernel over a field `x` that writes `y`, with the gradient of the sum of `y` known by
hand. The kernel runs, `y.grad` is set to 1, its gradient kernel runs, and `x.grad` is compared.
Where the right result is a convention (ties, sqrt at 0), difftile's convention counts.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import taichi as ti

from difftile.arguments import Parser

TIMEOUT = 120.0  # [s] for a case


@dataclass(frozen=True)
class Case:
    """A kernel in Taichi.

    Args:
        construct: The construct that it shows.
        make: Returns the kernel, of `x` and `y`.
        x: Contents of `x` before the launch.
        gradient: Of the sum of `y`, or of the new contents of `x` if `in_place`.
        in_place: Whether the kernel writes `x` instead of `y`.
    """

    construct: str
    make: Callable[[], Any]
    x: list[float]
    gradient: list[float]
    in_place: bool = False


CASES: list[Case] = []


def case(
    construct: str, x: list[float], gradient: list[float], *, in_place: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a kernel of plain Taichi."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        function.__annotations__ = {"x": ti.template(), "y": ti.template()}
        CASES.append(Case(construct, lambda: ti.kernel(function), x, gradient, in_place))
        return function

    return register


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


@case("round", [0.5, 1.6], [0.0, 2.0])
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
    kernel = one.make()
    try:
        kernel(x, y)
    except Exception as error:
        to_parent.send(f"refuses the kernel: {last_line(error)}")
        return
    (x if one.in_place else y).grad.fill(1.0)
    try:
        kernel.grad(x, y)
    except Exception as error:
        to_parent.send(f"refuses the gradient: {last_line(error)}")
        return
    found = x.grad.to_numpy()
    right = np.allclose(found, one.gradient, rtol=1e-6, atol=1e-9)
    shown = ", ".join(f"{value:.6g}" for value in found)
    wanted = ", ".join(f"{value:.6g}" for value in one.gradient)
    to_parent.send("right" if right else f"wrong: ({shown}), not ({wanted})")


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
    for which, one in enumerate(CASES):
        if options.only in one.construct:
            print(f"{one.construct:48} {outcome(which)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
