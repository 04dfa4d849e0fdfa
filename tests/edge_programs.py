"""Random Python programs around kernels, in which numbers and arrays leave the kernels and return.

Each is differentiated on a tape, by `dt.grad`, `dt.jvp` or `dt.vjp`, and compared with central
differences of the same program without derivatives. It must be right, or warn of a derivative that
has left (`GradientCut`), or be refused; never wrong in silence:

    python -m tests.edge_programs 10000 --first 0
"""

from __future__ import annotations

import copy
import math
import random
import statistics
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int

N = 3
START = np.array([0.6, 0.9, 1.3])


@dt.kernel
def energy(x) -> float:
    s = 0.0
    for i in x:
        s += 0.5 * x[i] * x[i]
    return s


@dt.kernel
def moments(x) -> ti.types.vector(2, ti.f64):
    s = ti.Vector([0.0, 0.0])
    for i in x:
        s += ti.Vector([ti.sin(x[i]), x[i] ** 3])
    return s


@dt.kernel
def step(x, h: float):
    for i in x:
        x[i] += 0.1 * h * ti.sin(x[i])


@dt.kernel
def push(x, g: ti.types.vector(2, ti.f64)):
    for i in x:
        x[i] += 0.1 * g[0] * x[i] + 0.05 * g[1]


@dataclass
class Pull:
    """A dataclass that kernels take."""

    h: Any
    g: Any


@dt.kernel
def pull(x, s):
    for i in x:
        x[i] -= 0.1 * s.h * x[i] - 0.1 * s.g[1]


@dt.kernel
def add(x, h):
    for i in x:
        x[i] += 0.1 * h[None]


@dt.kernel
def copy_into(x, y):
    for i in x:
        y[i] = ti.sin(x[i])


@dt.kernel
def use(y, x):
    for i in x:
        x[i] += 0.2 * y[i] * y[i]


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


# What Python does with numbers. Most results stay near one, so that programs stay smooth.

ONE: list[Callable[[Any], Any]] = [
    lambda a: -a,
    lambda a: 0.5 + abs(a),
    lambda a: a**2 / (1 + a * a),
    lambda a: 1.5 ** (0.1 * a),
    lambda a: 2.0 / (1.0 + a * a),
    lambda a: a - 0.25 * a // 1,
    lambda a: (7.3 + a * a) % 5.0,
    lambda a: divmod(7.3 + a * a, 3.0)[1],
    np.sin,
    np.tanh,
    lambda a: np.sqrt(1 + a * a),
    lambda a: np.cbrt(2 + a * a),
    lambda a: np.log1p(a * a),
    lambda a: np.expm1(0.1 * a),
    lambda a: np.arctan2(a, 2.0),
    lambda a: np.hypot(a, 1.0),
    lambda a: np.float64(0.5) * a,
    lambda a: np.arange(3.0).dot(np.ones(3) * a) / 3,
    lambda a: np.clip(a, -50.0, 50.0),
    np.mean,
    lambda a: np.where(a > -100.0, a, 0.0)[()],
    lambda a: np.asarray(a)[()],
    lambda a: np.full(2, a)[1],
    lambda a: np.add.reduce([a, 1.0]),
    lambda a: ti.Vector([a, 1.0])[0],
    float,
    lambda a: math.sqrt(1 + a * a),
    lambda a: math.fsum([a, 1.0]),
    lambda a: np.float64(a) * 1.0,
    lambda a: np.array([a, 1.0], float)[0],
    lambda a: np.zeros(2) @ np.array([1.0, 2.0]) + np.array([a, 2.0]).astype(float)[0],
    np.arcsinh,
    lambda a: np.interp(a, [-100.0, 100.0], [-100.0, 100.0]),
    lambda a: statistics.mean([a, 1.0]),
    copy.copy,
    lambda a: copy.deepcopy({"a": [a]})["a"][0],
    lambda a: Pull(a, None).h,
    lambda a: {"a": a, "b": (a, [a])}["b"][1][0],
    lambda a: a if f"{a:.3f} {a} %.2f" % a else 0.0,
    lambda a: next(iter({"k": a}.values())),
    lambda a: np.array([[a, 0.0], [0.0, a]]).trace() / 2,
    lambda a: np.linalg.norm([a, 1.0]),
    lambda a: np.std([a, 1.0, 0.0]),
    lambda a: np.polyval([0.1, 1.0], a),
    lambda a: complex(a).real,
    lambda a: a.real,
    lambda a: np.square(a) / (1 + np.square(a)),
    lambda a: np.round(a, 8),
    lambda a: 0.1 * round(10 * a, 9),
    lambda a: a + int(a) * 0.0,
    lambda a: max(a, -100.0),
    lambda a: np.max([a, -100.0]),
    lambda a: np.minimum(a, 100.0),
]
TWO: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - 0.5 * b,
    lambda a, b: a * b / (1 + abs(a * b)),
    lambda a, b: a / (1 + b * b),
    lambda a, b: (1 + a * a) ** (0.1 * b),
    lambda a, b: a if a < b else b,
    min,
    max,
    np.maximum,
    lambda a, b: np.mean([a, b]),
    lambda a, b: np.array([a, b, 0.5]).max(),
    lambda a, b: np.dot([a, 1.0], [0.5, b]),
    lambda a, b: np.stack([a, b])[1],
    lambda a, b: np.cumsum([a, b])[1],
    lambda a, b: np.einsum("i,i", [a, b], [0.5, 0.5]),
    lambda a, b: sum([a, b, 1.0]) / 3,
    lambda a, b: sorted([a, b])[0],
    lambda a, b: np.sort([a, b])[0],
    lambda a, b: (np.array([[a, 1.0], [b, 2.0]]) @ [0.5, 0.25])[0],
    lambda a, b: np.outer([a], [b, 1.0])[0, 1],
    lambda a, b: np.cross([a, 0.0, 0.0], [0.0, 1.0, b])[1] * 0.1,
    np.hypot,
    lambda a, b: np.array([a, b], float).sum(),
    lambda a, b: np.concatenate([[a], [b]])[0],
    lambda a, b: statistics.fmean([a, b]),
    lambda a, b: math.atan2(a, 2 + b * b),
    lambda a, b: ti.Vector([a, b]).norm() if isinstance(a, float) else np.linalg.norm([a, b]),
    lambda a, b: np.prod([a, 1 + 0 * b]),
    lambda a, b: np.average([a, b], weights=[0.25, 0.75]),
]


class Run:
    """A run of a program.

    Args:
        x: The field that it starts from.
        rng: Draws the program.
    """

    def __init__(self, x: Any, rng: random.Random) -> None:
        self.x, self.rng = x, rng
        self.y = dt.zeros(N, ti.f64, grad=True)
        self.v = dt.zeros(2, dt.vec(2, ti.f64), grad=True)
        self.numbers: list[Any] = [0.7]

    def number(self) -> Any:
        """Return a number: one that a kernel returns, or an element, or computed from some."""
        rng, numbers = self.rng, self.numbers
        how = rng.randrange(8)
        if how == 0:
            made = energy(self.x)
        elif how == 1:
            made = moments(self.x)[rng.randrange(2)]
        elif how == 2:
            made = self.x[rng.randrange(N)]
        elif how == 3:
            made = self.v[rng.randrange(2)][rng.randrange(2)] + self.y[rng.randrange(N)]
        elif how < 6:
            made = rng.choice(ONE)(rng.choice(numbers))
        else:
            made = rng.choice(TWO)(rng.choice(numbers), rng.choice(numbers))
        numbers.append(made)
        return made

    def act(self) -> None:
        """Give a number to a kernel, or write it into a field."""
        rng = self.rng
        a, b = self.number(), self.number()
        acts: list[Callable[[], object]] = [
            lambda: step(self.x, a),
            lambda: push(self.x, [a, b]),
            lambda: push(self.x, np.array([a, b])),
            lambda: push(self.x, ti.Vector([a, b])),
            lambda: push(self.x, moments(self.x) * 0.1),
            lambda: pull(self.x, Pull(a, [0.5, b])),
            lambda: pull(self.x, Pull(0.1, np.array([b, a]))),
            lambda: add(self.x, dt.value(a)),
            lambda: add(self.x, dt.full((), b, ti.f64, grad=True)),
            lambda: self.x.__setitem__(rng.randrange(N), 0.5 * a),
            lambda: self.y.fill(a),
            lambda: self.y.__setitem__(slice(1, 3), [a, b]),
            lambda: self.y.from_numpy([a, 0.5, b]),
            lambda: self.v.__setitem__(1, [a, 0.5]),
            lambda: self.v.__setitem__(0, self.v[1]),
            lambda: use(self.y, self.x),
            self.with_array,
            lambda: self.y.from_numpy(0.5 * self.x.to_numpy()),
            lambda: self.y.from_numpy(np.sin(self.x)),
            lambda: self.y.copy_from(0.5 * self.x),
        ]
        rng.choice(acts)()

    def with_array(self) -> None:
        """Let a kernel write an array, and use it."""
        z = np.zeros(N)
        copy_into(self.x, z)
        how = self.rng.randrange(7)
        if how == 0:
            use(z, self.x)
        elif how == 1:
            self.y.copy_from(z)
        elif how == 2:
            self.y.from_numpy(z)
        elif how == 3:
            self.y[:] = z
        elif how == 4:
            self.y += z
        elif how == 5:
            step(self.x, z[1])
        else:
            use(dt.asarray(z), self.x)


def run(x: Any, number: int) -> Any:
    """Run a program; return the field of its loss."""
    rng = random.Random(number)
    state = Run(x, rng)
    for _ in range(rng.randint(1, 5)):
        state.act()
    loss = dt.zeros((), ti.f64, grad=True)
    total(state.x, loss)
    total(state.y, loss)
    return loss


def _value(start: Any, number: int) -> float:
    return float(run(dt.from_numpy(start, grad=True), number)[None])


def slope_of(number: int, direction: Any) -> float | None:
    """Return the derivative of a program by central differences; None at a kink."""
    found = [
        (_value(START + h * direction, number) - _value(START - h * direction, number)) / (2 * h)
        for h in (1e-5, 3e-6)
    ]
    if not np.allclose(*found, rtol=1e-5, atol=1e-6):
        return None
    # Where two numbers are equal, `max` has another slope on each side, and their mean in between.
    ahead = (_value(START + 1e-5 * direction, number) - _value(START, number)) / 1e-5
    return found[0] if np.isclose(ahead, found[0], rtol=1e-3, atol=1e-3) else None


def _by_tape(number: int, direction: Any) -> float:
    x = dt.from_numpy(START, grad=True)
    with dt.Tape() as tape:
        loss = run(x, number)
    tape.backward({loss: 1.0})
    return float(x.grad.to_numpy() @ direction)


WAYS: list[Callable[[int, Any], float]] = [
    _by_tape,
    lambda number, direction: float(dt.grad(lambda x: run(x, number))(START) @ direction),
    lambda number, direction: float(dt.jvp(lambda x: run(x, number), (START,), (direction,))[1]),
    lambda number, direction: float(dt.vjp(lambda x: run(x, number), START)[1](1.0)[0] @ direction),
]


def outcome(number: int) -> str:
    """Return what becomes of a program: 'right', 'warned', 'refused', 'kink', or 'wrong: ...'."""
    direction = np.random.default_rng(number).normal(size=N)
    wanted = slope_of(number, direction)
    if wanted is None or not math.isfinite(wanted):
        return "kink"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            slope = WAYS[number % len(WAYS)](number, direction)
        except (dt.DifftileError, TypeError) as error:
            return f"refused: {type(error).__name__}: {str(error).splitlines()[0]}"
    if np.allclose(slope, wanted, rtol=1e-4, atol=1e-5):
        return "right"
    if any(issubclass(one.category, dt.GradientCut) for one in found):
        return "warned"
    return f"wrong: {slope} for {wanted}"


def check(
    numbers: Sequence[int], report: Callable[[str], object] = print
) -> tuple[list[int], Counter[str]]:
    """Check programs; return the numbers of those that are wrong in silence, and the outcomes."""
    wrong: list[int] = []
    outcomes = Counter[str]()
    for number in numbers:
        found = outcome(number)
        outcomes[found.partition(":")[0]] += 1
        if found.startswith(("wrong", "refused")):
            report(f"program {number}: {found}")
        if found.startswith("wrong"):
            wrong.append(number)
    return wrong, outcomes


def main(argv: Sequence[str] | None = None) -> int:
    """Check many programs; return 1 if one is wrong in silence."""
    parser = Parser("python -m tests.edge_programs", __doc__)
    parser.add_argument("count", type=positive_int, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first of them; default: 0")
    options = parser.parse_args(argv)
    dt.init(arch="cpu")
    wrong, outcomes = check(range(options.first, options.first + options.count))
    print(f"{options.count} programs: {dict(outcomes)}; wrong in silence: {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
