"""The launches of random programs: kernels, and their equivalents in NumPy.

A reference changes its arrays in place, complex ones too; one array may be passed twice wherever
one field may. Everything stays bounded, so that programs of any length can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt


@dataclass(frozen=True)
class Spec:
    """A kernel and its reference.

    Args:
        kernel: The kernel.
        reference: The same on arrays.
        kinds: What each field parameter takes: "n" a long field, "m" a short one, "k" a single
            element, "u" vectors, "g" indices, "w" a long field without gradient.
        writes: Positions of the fields that it changes.
        apart: Positions of long or single fields that must not be the same one.
        numbers: What follows the fields: "float", or "int" for a number of elements.
    """

    kernel: Any
    reference: Callable[..., None]
    kinds: str
    writes: tuple[int, ...]
    apart: tuple[int, ...] = ()
    numbers: tuple[str, ...] = ()


SPECS: dict[str, Spec] = {}


def launch(
    reference: Callable[..., None],
    kinds: str,
    writes: tuple[int, ...],
    apart: tuple[int, ...] = (),
    numbers: tuple[str, ...] = (),
) -> Callable[[Any], Any]:
    """Enter a kernel into the table."""

    def enter(kernel: Any) -> Any:
        SPECS[kernel.function.__name__] = Spec(kernel, reference, kinds, writes, apart, numbers)
        return kernel

    return enter


def _overwrite(x: Any, y: Any, k: Any, a: float) -> None:
    y[:] = np.sin(x * k) + a


@launch(_overwrite, "nnk", (1,), numbers=("float",))
@dt.kernel
def overwrite(x, y, k, a: float):
    for i in y:
        y[i] = ti.sin(x[i] * k[None]) + a


def _overwrite_part(x: Any, y: Any, n: int) -> None:
    y[1:n] = np.sin(x[1:n] * y[1:n])


@launch(_overwrite_part, "nn", (1,), numbers=("int",))
@dt.kernel
def overwrite_part(x, y, n: int):
    for i in range(1, n):
        y[i] = ti.sin(x[i] * y[i])


def _set_part(y: Any, a: float, n: int) -> None:
    y[:n] = a


@launch(_set_part, "n", (0,), numbers=("float", "int"))
@dt.kernel
def set_part(y, a: float, n: int):
    for i in range(n):
        y[i] = a


def _set_all(y: Any, a: float) -> None:
    y[:] = a


@launch(_set_all, "n", (0,), numbers=("float",))
@dt.kernel
def set_all(y, a: float):
    for i in y:
        y[i] = a


def _shift(x: Any, a: float) -> None:
    x[:] = x + a


@launch(_shift, "n", (0,), numbers=("float",))
@dt.kernel
def shift(x, a: float):
    for i in x:
        x[i] += a


def _update(x: Any, k: Any) -> None:
    x[:] = x + 0.3 * np.sin(x * k)


@launch(_update, "nk", (0,))
@dt.kernel
def update(x, k):
    for i in x:
        x[i] = x[i] + 0.3 * ti.sin(x[i] * k[None])


def _add_product(x: Any, y: Any, w: Any, z: Any) -> None:
    z[:] = z + np.sin(x * y) * w


@launch(_add_product, "nnwn", (3,))
@dt.kernel
def add_product(x, y, w, z):
    for i in z:
        z[i] += ti.sin(x[i] * y[i]) * w[i]


def _gather(x: Any, g: Any, y: Any) -> None:
    y[:] = np.sin(x[g]) * x[np.minimum(np.arange(len(x)) + 1, len(x) - 1)]
    y[:] = np.sin(y)


@launch(_gather, "ngn", (2,), apart=(0, 2))
@dt.kernel
def gather(x, g, y):
    for i in y:
        y[i] = ti.sin(ti.sin(x[g[i]]) * x[ti.min(i + 1, x.shape[0] - 1)])


def _scatter(x: Any, g: Any, y: Any) -> None:
    np.add.at(y, g, 0.5 * np.cos(x))


@launch(_scatter, "ngn", (2,), apart=(0, 2))
@dt.kernel
def scatter(x, g, y):
    for i in x:
        y[g[i]] += 0.5 * ti.cos(x[i])


def _reduce(x: Any, y: Any, k: Any) -> None:
    k[...] = k + 0.2 * np.sum(np.sin(x * y))


@launch(_reduce, "nnk", (2,))
@dt.kernel
def reduce(x, y, k):
    for i in x:
        k[None] += 0.2 * ti.sin(x[i] * y[i])


def _swing(x: Any, v: Any, k: Any) -> None:
    v[:] = v - 0.1 * k * np.sin(x)
    x[:] = x + 0.1 * np.sin(v) * x
    v[:] = np.sin(v * x)


@launch(_swing, "nnk", (0, 1), apart=(0, 1))
@dt.kernel
def swing(x, v, k):
    for i in x:
        v[i] += -0.1 * k[None] * ti.sin(x[i])
    for i in x:
        x[i] += 0.1 * ti.sin(v[i]) * x[i]
    for i in v:
        v[i] = ti.sin(v[i] * x[i])


def _mix(k: Any, h: Any, x: Any, n: int) -> None:
    k[...] = 0.7 * np.sin(k * h) + x[n - 1]


@launch(_mix, "kkn", (0,), numbers=("int",))
@dt.kernel
def mix(k, h, x, n: int):
    k[None] = 0.7 * ti.sin(k[None] * h[None]) + x[n - 1]


def _iterate(x: Any, k: Any, y: Any, n: int) -> None:
    s = x.copy()
    for _ in range(n):
        s = s + 0.2 * np.sin(s * k)
    y[:] = s


@launch(_iterate, "nkn", (2,), numbers=("int",))
@dt.kernel
def iterate(x, k, y, n: int):
    for i in y:
        s = x[i]
        for _ in range(n):
            s = s + 0.2 * ti.sin(s * k[None])
        y[i] = s


def _branch(x: Any, y: Any) -> None:
    above = x.real - y.real > 1e-40  # a complex step moves real parts a little
    y[:] = np.where(above, np.sin(x * x), y - 0.3 * np.sin(x))


@launch(_branch, "nn", (1,))
@dt.kernel
def branch(x, y):
    for i in y:
        if x[i] > y[i]:
            y[i] = ti.sin(x[i] * x[i])
        else:
            y[i] -= 0.3 * ti.sin(x[i])


def _short(m: Any, y: Any, k: Any) -> None:
    y[: len(m)] = m * k
    m[:] = np.sin(m + y[-1])


@launch(_short, "mnk", (0, 1))
@dt.kernel
def short(m, y, k):
    for i in m:
        y[i] = m[i] * k[None]
    for i in m:
        m[i] = ti.sin(m[i] + y[y.shape[0] - 1])


def _turn(u: Any, x: Any) -> None:
    u[:] = np.sin(u * x[:, None]) + 0.1
    x[:] = 0.5 * np.sum(u * u, axis=1)


@launch(_turn, "un", (0, 1))
@dt.kernel
def turn(u, x):
    for i in u:
        u[i] = ti.sin(u[i] * x[i]) + 0.1
        x[i] = 0.5 * u[i].dot(u[i])


def _push(u: Any, x: Any, n: int) -> None:
    u[:n, 1] = u[:n, 1] + x[:n] * np.sin(u[:n, 0])


@launch(_push, "un", (0,), numbers=("int",))
@dt.kernel
def push(u, x, n: int):
    for i in range(n):
        u[i] += ti.Vector([0.0, 1.0]) * x[i] * ti.sin(u[i][0])


def _sweep(x: Any, y: Any, n: int) -> None:
    for _ in range(2):
        for i in range(1, n):
            x[i] = np.sin(x[i] * x[i - 1]) + 0.3 * y[i]


@launch(_sweep, "nn", (0,), numbers=("int",))
@dt.kernel
def sweep(x, y, n: int):
    """In place and in order: the values in between come from a log."""
    ti.loop_config(serialize=True)
    for _ in range(2):
        for i in range(1, n):
            x[i] = ti.sin(x[i] * x[i - 1]) + 0.3 * y[i]


def _recur(x: Any, k: Any, n: int) -> None:
    for i in range(1, n):
        x[i] = np.sin(x[i - 1] * k) + 0.5 * x[i]
    k[...] = np.sin(k * x[0])


@launch(_recur, "nk", (0, 1), numbers=("int",))
@dt.kernel
def recur(x, k, n: int):
    """Each element is written once, and read after that."""
    ti.loop_config(serialize=True)
    for i in range(1, n):
        x[i] = ti.sin(x[i - 1] * k[None]) + 0.5 * x[i]
    k[None] = ti.sin(k[None] * x[0])


def _neighbours(x: Any, y: Any) -> None:
    y[1:-1] = np.sin(x[:-2] * x[2:]) - 0.5 * x[1:-1]


@launch(_neighbours, "nn", (1,), apart=(0, 1))
@dt.kernel
def neighbours(x, y):
    """A stencil, whose gradient is gathered; the ends of `y` keep what they hold."""
    for i in range(1, x.shape[0] - 1):
        y[i] = ti.sin(x[i - 1] * x[i + 1]) - 0.5 * x[i]


def _ring(x: Any, y: Any, a: float) -> None:
    y[:] = np.sin(np.roll(x, 1) * np.roll(x, -2)) + a


@launch(_ring, "nn", (1,), apart=(0, 1), numbers=("float",))
@dt.kernel
def ring(x, y, a: float):
    for i in x:
        y[i] = ti.sin(x[(i - 1) % x.shape[0]] * x[(i + 2) % x.shape[0]]) + a


def _walk(x: Any, y: Any, z: Any, n: int) -> None:
    t = 1.0 + 0.0 * x[0]
    for i in range(n):
        z[i] = t * np.sin(y[i])
        t = np.cos(t * x[i])


@launch(_walk, "nnn", (2,), apart=(0, 1, 2), numbers=("int",))
@dt.kernel
def walk(x, y, z, n: int):
    """A row that one thread walks along: each element gets one contribution."""
    for row in range(1):
        t = 1.0
        for i in range(n):
            z[row + i] = t * ti.sin(y[row + i])
            t = ti.cos(t * x[row + i])
