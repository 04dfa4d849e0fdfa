"""The cost of index checks: of those at a launch, and of tests that would run in the loop.

Launches of kernels whose indices depend on one number, and on two together, are compared with the
same kernels with a zero from memory in the indices, which no check follows; turn by turn.
Launches that depend only on shapes are in `tape.py`. Then loops gather and scatter by an index read
from memory: unchanged, with the index clamped to the shape, and with a test that skips accesses out
of range and counts them, as an error would need.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int

LAUNCHES = 50  # a round: short enough to run undisturbed by other programs


@dt.kernel
def of_a_step(a, h, t: int):
    for i in a:
        a[i] = h[t, i] + h[t + 1, i]


@dt.kernel
def of_a_hidden_step(a, h, zero, t: int):
    for i in a:
        a[i] = h[t + zero[None], i] + h[t + 1 + zero[None], i]


@dt.kernel
def of_two_numbers(a, b, n: int, t: int):
    for i in range(n):
        a[i] = b[i + n * t]


@dt.kernel
def of_two_hidden_numbers(a, b, zero, n: int, t: int):
    for i in range(n):
        a[i] = b[i + n * t + zero[None]]


@dt.kernel
def gather(y, x, q):
    for i in q:
        y[i] = x[q[i]]


@dt.kernel
def gather_clamped(y, x, q):
    for i in q:
        y[i] = x[ti.max(0, ti.min(q[i], x.shape[0] - 1))]


@dt.kernel
def gather_counted(y, x, q, failures):
    for i in q:
        k = q[i]
        if k < 0 or k >= x.shape[0]:
            failures[None] += 1
        else:
            y[i] = x[k]


@dt.kernel
def scatter(y, x, q):
    for i in q:
        y[q[i]] += x[i]


@dt.kernel
def scatter_clamped(y, x, q):
    for i in q:
        y[ti.max(0, ti.min(q[i], y.shape[0] - 1))] += x[i]


@dt.kernel
def scatter_counted(y, x, q, failures):
    for i in q:
        k = q[i]
        if k < 0 or k >= y.shape[0]:
            failures[None] += 1
        else:
            y[k] += x[i]


def turn_by_turn(
    calls: dict[str, Callable[[int], Any]], rounds: int, launches: int
) -> dict[str, float]:
    """Return the seconds of a launch of each, in the fastest of the rounds."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call(0)
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for k in range(launches):
                call(k)
            ti.sync()
            best[name] = min(best[name], (time.perf_counter() - start) / launches)
    return best


def launches(rounds: int) -> None:
    """Print the cost of launches with the checks and without."""
    a, h, long = dt.zeros(64), dt.zeros((LAUNCHES + 1, 64)), dt.zeros(4 * (LAUNCHES + 1))
    zero = dt.zeros((), dtype=ti.i32)
    print(f"{'launch':>16} {'checked':>9} {'unchecked':>9} {'ratio':>6}")
    for name, calls in {
        "of a step": {
            "checked": lambda k: of_a_step(a, h, k),
            "unchecked": lambda k: of_a_hidden_step(a, h, zero, k),
        },
        "of two numbers": {
            "checked": lambda k: of_two_numbers(a, long, 4, k),
            "unchecked": lambda k: of_two_hidden_numbers(a, long, zero, 4, k),
        },
    }.items():
        on, off = turn_by_turn(calls, rounds, LAUNCHES).values()
        print(f"{name:>16} {1e6 * on:6.3f} us {1e6 * off:6.3f} us {on / off:6.3f}")


def by_data(size: int, rounds: int) -> None:
    """Print the cost of loops over indices read from memory, with tests of the indices."""
    rng = np.random.default_rng(0)
    x, y = dt.from_numpy(rng.normal(size=size).astype(np.float32)), dt.zeros(size)
    orders = {"in order": np.arange(size), "shuffled": rng.permutation(size)}
    failures = dt.zeros((), dtype=ti.i32)
    print(f"{size:,} elements, against the loop without a test")
    for order, index in orders.items():
        q = dt.from_numpy(index.astype(np.int32))
        for plain, clamped, counted in (
            (gather, gather_clamped, gather_counted),
            (scatter, scatter_clamped, scatter_counted),
        ):
            found = turn_by_turn(
                {
                    "plain": lambda _, plain=plain, q=q: plain(y, x, q),
                    "clamped": lambda _, clamped=clamped, q=q: clamped(y, x, q),
                    "counted": lambda _, counted=counted, q=q: counted(y, x, q, failures),
                },
                rounds,
                3,
            )
            base = found["plain"]
            print(
                f"{plain.function.__name__:>10} {order}: {1e3 * base:8.3f} ms, "
                f"clamped {found['clamped'] / base:.3f}, counted {found['counted'] / base:.3f}"
            )


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = Parser(prog="python -m benchmarks.indices", description=__doc__)
    parser.add_argument("--rounds", type=positive_int, default=200)
    parser.add_argument("--size", type=positive_int, action="append")
    options = parser.parse_args(argv)
    dt.init(arch="cpu")
    launches(options.rounds)
    for size in options.size or [10_000, 1_000_000]:
        by_data(size, max(3, options.rounds // 4))
    return 0


if __name__ == "__main__":
    sys.exit(main())
