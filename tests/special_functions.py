"""The special functions by mpmath, and how far compiled results are from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import taichi as ti
from mpmath import mp, mpf

import difftile as dt

Numbers = npt.NDArray[Any]

# Below 0 the zeros of some functions lie between terms of the size of these, and lose their digits.
_OTHER: dict[str, Callable[[Any], Any]] = {
    "lgamma": lambda x: max(abs(mp.loggamma(-x).real), 1),
    "digamma": lambda x: max(abs(mp.digamma(x)) + abs(mp.digamma(1 - x)), 1),
}
EXACT: dict[str, Callable[[Any], Any]] = {
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfinv": mp.erfinv,
    "lgamma": lambda x: mp.loggamma(x).real,
    "digamma": mp.digamma,
    "trigamma": lambda x: mp.psi(1, x),
}
NAMES = tuple(EXACT)


FUNCTIONS = tuple(getattr(dt, name) for name in NAMES)


@dt.kernel
def special_functions(x, y):
    for i in range(x.shape[0]):
        for k in ti.static(range(len(NAMES))):
            y[i, k] = FUNCTIONS[k](x[i, k])


def computed(x: Numbers) -> Numbers:
    """Return all functions, one for each column of the arguments, by one launch."""
    y = dt.from_numpy(np.zeros_like(x))
    special_functions(dt.from_numpy(x), y)
    return y.to_numpy()


def arguments(count: int, dtype: Any, seed: int = 5) -> Numbers:
    """Return arguments of all functions: of every size, and many where formulas meet or vanish."""
    rng = np.random.default_rng(seed)
    double = dtype == np.float64
    smallest, largest = (-300, 300) if double else (-36, 36)

    def sizes(low: float, high: float) -> Numbers:
        return 10 ** rng.uniform(low, high, count)

    def near(*points: float) -> Numbers:
        return rng.choice(points, count) + rng.choice((-1, 1), count) * sizes(-16, -1)

    def between(low: float, high: float) -> Numbers:
        return rng.uniform(low, high, count)

    either = rng.choice((-1, 1), count)
    square = 150 if double else 18  # the largest sizes whose squares are finite
    parts = {
        "erf": (between(-7, 7), between(-1.1, 1.1), either * sizes(smallest, 2), near(1, -1)),
        "erfc": (between(-7, 27), between(0, 2), between(24, 27.2), either * sizes(smallest, 2)),
        "erfinv": (between(-1, 1), 1 - sizes(-16, -1), sizes(-16, -1) - 1, sizes(smallest, 0)),
        "lgamma": (between(0, 12), near(1, 2), sizes(smallest, largest), between(-30, 0)),
        "digamma": (
            between(0, 12),
            near(1.46163214496836),
            sizes(smallest, largest),
            between(-30, 0),
        ),
        "trigamma": (between(0, 12), between(0, 2), sizes(-square, square), between(-30, 0)),
    }
    return np.stack([np.concatenate(parts[name]) for name in NAMES], 1).astype(dtype)


def ulps(name: str, x: Numbers, found: Numbers) -> Numbers:
    """Return the errors of a function, in units in the last place of the exact result.

    Below 0 the unit of `lgamma` and `digamma` is that of the largest term, or of 1.
    """
    dtype = found.dtype.type
    limits = np.finfo(dtype)
    errors = np.zeros(len(x))
    with mp.workdps(40), np.errstate(over="ignore"):
        for k, (at, value) in enumerate(zip(x, found, strict=True)):
            exact = EXACT[name](mpf(float(at)))
            rounded = dtype(float(exact))
            if not np.isfinite(rounded) or not np.isfinite(value):
                errors[k] = 0 if rounded == value else np.inf
                continue
            size = abs(exact)
            if at < 0 and name in _OTHER and dtype == np.float64:
                size = max(size, _OTHER[name](mpf(float(at))))
            # The smallest numbers are flushed to 0.
            unit = np.spacing(max(dtype(float(size)), limits.tiny / limits.eps))
            errors[k] = float(abs(mpf(float(value)) - exact) / mpf(float(unit)))
    return errors
