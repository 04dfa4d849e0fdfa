"""The kernels of programs whose launches repeat: steps of small simulations.

Beside those of `tests/tape_kernels.py` there are stencils, springs, particles, random numbers,
state of an object, integers and matrices. Everything stays bounded, however often it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import taichi as ti

import difftile as dt
from tests.tape_kernels import SPECS


@dataclass(frozen=True)
class Step:
    """A kernel and what it takes.

    Args:
        launch: The kernel, or a function that launches it.
        kinds: What each field parameter takes, a letter of `run_programs.OF_KIND`.
        apart: Positions of fields that must not be the same one.
        numbers: What follows the fields: "float", "int" for a number of elements, "bool", "vector",
            or "static" for an integer that is compiled in.
        random: Whether it draws random numbers.
    """

    launch: Any
    kinds: str
    apart: tuple[int, ...] = ()
    numbers: tuple[str, ...] = ()
    random: bool = False


@dt.kernel
def wave(before, now, after, speed: float):
    """Three fields in turn; interior and edges in one loop."""
    rows, columns = now.shape[0], now.shape[1]
    for i, j in now:
        around = now[ti.max(i - 1, 0), j] + now[ti.min(i + 1, rows - 1), j]
        around += now[i, ti.max(j - 1, 0)] + now[i, ti.min(j + 1, columns - 1)]
        slope = speed * speed * (around - 4.0 * now[i, j])
        after[i, j] = ti.sin(2.0 * now[i, j] - before[i, j] + slope)


@dt.kernel
def diffuse(x, y):
    """Only the interior is written; the edges keep what they hold."""
    for i, j in ti.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        y[i, j] = 0.2 * (x[i, j] + x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


@dt.kernel
def damp(x, rate: float):
    for i, j in x:
        x[i, j] *= 1.0 - 0.1 * rate * ti.sin(x[i, j])


@dt.kernel
def rows_of(x, y):
    """Sums along rows."""
    for i in y:
        total = 0.0
        for j in range(x.shape[1]):
            total += ti.sin(x[i % x.shape[0], j])
        y[i] = 0.3 * total


@dt.kernel
def swing_alone(q, v, h: float):
    """Each index by itself, in two loops."""
    for i in q:
        v[i] -= 0.1 * h * ti.sin(q[i])
    for i in q:
        q[i] += 0.1 * h * v[i] - 0.1 * ti.sin(q[i])


@dt.kernel
def accelerate(q, v, f, h: float):
    for i in q:
        v[i] = 0.99 * v[i] + 0.1 * h * ti.sin(f[i])


@dt.kernel
def move(q, v, h: float):
    for i in q:
        q[i] = ti.sin(q[i] + 0.1 * h * v[i])


@dt.kernel
def aim(x, y, a: float):
    """The sign of a zero matters."""
    for i in x:
        x[i] = 0.3 * ti.atan2(a, -1.0 - y[i] * y[i]) + 0.1 * x[i]


@dt.kernel
def clear(f):
    for i in f:
        f[i] = 0.0


@dt.kernel
def pull(q, f, k):
    """Springs between neighbours, added up at both ends."""
    for i in range(q.shape[0] - 1):
        force = k[None] * (q[i + 1] - q[i])
        f[i] += 0.2 * force
        f[i + 1] -= 0.2 * force


@dt.kernel
def spread(x, g, p):
    """Particles add to the cells of a grid."""
    for i in x:
        p[g[i] % p.shape[0], i % p.shape[1]] += 0.1 * ti.sin(x[i])


@dt.kernel
def collect(p, g, x):
    for i in x:
        x[i] = 0.5 * x[i] + 0.4 * ti.sin(p[g[i] % p.shape[0], i % p.shape[1]])


@dt.kernel
def clear_grid(p):
    for i, j in p:
        p[i, j] = 0.0


@dt.kernel
def copy(x, y):
    for i in y:
        y[i] = x[i]


@dt.kernel
def exchange(x, y):
    for i in x:
        held = x[i]
        x[i] = y[i]
        y[i] = held


@dt.kernel
def jitter(x, a: float):
    for i in x:
        x[i] = 0.9 * x[i] + 0.1 * a * dt.rand()


@dt.kernel
def noise(x, y):
    for i, j in y:
        y[i, j] = ti.sin(x[i, j] + 0.2 * dt.randn())


@dt.kernel
def rotate(u, t, a: float):
    """Vectors and matrices."""
    for i in u:
        turned = t[i] @ u[i]
        u[i] = turned / (1.0 + turned.norm_sqr())
        t[i] = 0.4 * (t[i] @ t[i]) + a * u[i].outer_product(u[i])


@dt.kernel
def trace(t, x):
    for i in x:
        x[i] = ti.sin(t[i].trace()) + t[i][0, 1]


@dt.kernel
def count(h, n: int):
    """Integers only."""
    for i in h:
        h[i] = (h[i] * 3 + n + i) % 17


@dt.kernel
def pick(h, x, y):
    """Integers that change select what is read."""
    for i in y:
        y[i] = 0.5 * y[i] + ti.sin(x[h[i] % x.shape[0]])


@dt.kernel
def relax(x, y, n: int):
    """A loop that carries state and ends early."""
    for i in x:
        s = x[i]
        for k in range(n):
            s = s - 0.3 * (s - ti.cos(s * y[i]))
            if s * s < 1e-3:
                break
        x[i] = s


@dt.kernel
def several(x, y, z, k, a: float):
    """Many loops, of which the last one adds up."""
    for i in x:
        y[i] = ti.sin(x[i]) * a
    for i in y:
        z[i] = ti.cos(y[y.shape[0] - 1 - i])
    k[None] = 0.5 * k[None]
    for i in z:
        k[None] += 0.1 * z[i] * y[i]
    for i in x:
        x[i] = 0.5 * (x[i] + z[i]) * ti.sin(k[None])


@ti.data_oriented
class Held:
    """A kernel that takes numbers from its object."""

    def __init__(self) -> None:
        self.rate = 1.0
        self.shift = 0.0

    @dt.kernel
    def step(self, x):
        for i in x:
            x[i] = ti.sin(x[i] * self.rate + self.shift)


HELD = Held()


def held(x: Any, rate: float) -> None:
    """Change the object, and launch."""
    HELD.rate, HELD.shift = rate, 0.5 * rate
    HELD.step(x)


@dt.data_oriented
class Holding:
    """A kernel that takes fields from its object."""

    def __init__(self) -> None:
        self.x: Any = None
        self.y: Any = None

    @dt.kernel
    def step(self, a: float):
        for i in self.x:
            self.y[i] = 0.5 * self.y[i] + a * ti.sin(self.x[i])


HOLDING = Holding()


def holding(x: Any, y: Any, a: float) -> None:
    """Change the fields of the object, and launch."""
    HOLDING.x, HOLDING.y = x, y
    HOLDING.step(a)


@dt.kernel
def gate(x, on: bool):
    for i in x:
        if on:
            x[i] = ti.sin(x[i] + 0.1)


@dt.kernel
def power(x, n: ti.template()):
    """The number is compiled in."""
    for i in x:
        x[i] = ti.sin(0.5 + x[i]) ** n


@dt.kernel
def drift(u, by: ti.types.vector(2, float)):
    for i in u:
        u[i] = 0.9 * u[i] + by


@dt.kernel
def ruled(x, y):
    for i in y:
        y[i] = ti.sin(x[i])


@ruled.backward
def _(x, y):
    for i in y:
        x.grad_out[i] += 0.5 * y.grad_in[i]


@dt.kernel
def of_several(fields: ti.template(), y):
    for i in y:
        y[i] = 0.3 * (fields[0][i] + fields[1][i])


def of_two(x: Any, y: Any, z: Any) -> None:
    """Pass a list of fields."""
    of_several([x, y], z)


@dt.kernel
def total(x):
    """A result, which Python is given."""
    found = 0.0
    for i in x:
        found += 0.1 * x[i] * x[i]
    return found


@dt.kernel
def scaled(x, a: float):
    for i in x:
        x[i] = ti.sin(a * x[i]) + 0.1 * a


def by_result(x: Any, y: Any) -> None:
    """Pass the result of one launch to another."""
    scaled(y, total(x))


STEPS: dict[str, Step] = {
    **{
        name: Step(spec.kernel, spec.kinds, spec.apart, spec.numbers)
        for name, spec in SPECS.items()
    },
    "wave": Step(wave, "sss", (0, 1, 2), ("float",)),
    "diffuse": Step(diffuse, "ss", (0, 1)),
    "damp": Step(damp, "s", (), ("float",)),
    "rows_of": Step(rows_of, "sn"),
    "swing_alone": Step(swing_alone, "nn", (0, 1), ("float",)),
    "accelerate": Step(accelerate, "nnn", (0, 1, 2), ("float",)),
    "move": Step(move, "nn", (0, 1), ("float",)),
    "aim": Step(aim, "nn", (), ("float",)),
    "clear": Step(clear, "n"),
    "gate": Step(gate, "n", (), ("bool",)),
    "power": Step(power, "n", (), ("static",)),
    "drift": Step(drift, "u", (), ("vector",)),
    "ruled": Step(ruled, "nn", (0, 1)),
    "of_two": Step(of_two, "nnn", (0, 1, 2)),
    "holding": Step(holding, "nn", (), ("float",)),
    "pull": Step(pull, "nnk", (0, 1)),
    "spread": Step(spread, "ngs"),
    "collect": Step(collect, "sgn"),
    "clear_grid": Step(clear_grid, "s"),
    "copy": Step(copy, "nn"),
    "exchange": Step(exchange, "nn", (0, 1)),
    "jitter": Step(jitter, "n", (), ("float",), random=True),
    "noise": Step(noise, "ss", (), random=True),
    "rotate": Step(rotate, "ut", (), ("float",)),
    "trace": Step(trace, "tn"),
    "count": Step(count, "h", (), ("int",)),
    "pick": Step(pick, "hnn", (1, 2)),
    "relax": Step(relax, "nn", (), ("int",)),
    "several": Step(several, "nnnk", (0, 1, 2), ("float",)),
    "held": Step(held, "n", (), ("float",)),
    "by_result": Step(by_result, "nn"),
}
NO_STEPS = ("held", "holding", "by_result", "gate", "power", "drift")
"""Those that Python has to see at every step."""
