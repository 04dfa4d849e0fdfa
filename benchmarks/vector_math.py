"""Errors of the functions that loops compute as vectors, and their time beside the library's.

`python -m benchmarks.vector_math [--points 500000] [--only sin exp2] [--slow-math]`

Errors are in units in the last place. Values to compare with are those of the C library in extended
precision, which are right to a thousandth of a unit, and by mpmath where it has none and for the
largest error. Times are of loops over a million numbers in one thread, in nanoseconds of
its processor a number.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from tests.vector_functions import FUNCTIONS, arguments, compiled, computed, limit_of, ulps

Numbers = npt.NDArray[Any]

_ELEMENTS = 1_000_000
_FEWER = 100  # times, where mpmath is what computes the values


def _sigmoid(x: Numbers) -> Numbers:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


EXTENDED: dict[str, Callable[..., Numbers]] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "exp", "exp2", "expm1", "tanh")},
    **{name: getattr(np, name) for name in ("log", "log2", "log10", "log1p")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "atan2")},
    "sigmoid": _sigmoid,
    "log1pexp": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "logit": lambda x: np.where(
        np.abs(x - 0.5) < 0.25, 2 * np.arctanh(2 * x - 1), np.log(x / (1 - x))
    ),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "pow": np.power,
}

# Calls of the library, as loops without polynomials have them.
LIBRARY = {
    **{name: f"ti.{name}({{0}})" for name in ("sin", "cos", "tan", "asin", "acos", "tanh", "exp")},
    **{name: f"ti.{name}({{0}})" for name in ("log", "rsqrt")},
    **{
        name: f"accurate.{name}({{0}}, {{dtype}})"
        for name in ("expm1", "log1p", "log1pexp", "logit")
    },
    "exp2": "ti.exp({0} * {dtype}(0.6931471805599453))",
    "log2": "ti.log({0}) * {dtype}(1.4426950408889634)",
    "log10": "ti.log({0}) * {dtype}(0.4342944819032518)",
    "atan": "ti.atan2({0}, {dtype}(1.0))",
    "atan2": "ti.atan2({0}, {1})",
    "pow": "ti.pow({0}, {1})",
    "sigmoid": "1 / (1 + ti.exp(-{0}))",
}


def _errors(name: str, given: tuple[Numbers, ...], found: Numbers) -> Numbers:
    """Return the errors of finite results that are not subnormal."""
    limits = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        wanted = EXTENDED[name](*(x.astype(np.longdouble) for x in given))
        unit = np.ldexp(np.longdouble(1), np.frexp(wanted)[1] - limits.nmant - 1)
        errors = np.abs(found.astype(np.longdouble) - wanted) / unit
        usual = np.abs(wanted) >= np.longdouble(limits.tiny)
        usual &= np.abs(wanted) <= np.longdouble(limits.max)
    return np.where(usual & np.isfinite(wanted), errors, 0)


def _largest_error(name: str, dtype: Any, points: int) -> tuple[int, float, list[Any]]:
    """Return the number of points, the largest error and where it is."""
    points = points if name in EXTENDED else max(points // _FEWER, 100)
    given = arguments(name, dtype, points, seed=8)
    found = computed({name: given})[name]
    errors = _errors(name, given, found) if name in EXTENDED else ulps(name, given, found)
    worst = slice(int(np.nanargmax(errors)), int(np.nanargmax(errors)) + 1)
    (error,) = ulps(name, tuple(x[worst] for x in given), found[worst])
    return len(found), float(error), [x[worst][0] for x in given]


def _time(name: str, dtype: Any, spelled: dict[str, str]) -> float:
    """Return the time of a function [ns]."""
    rng = np.random.default_rng(3)
    bounds = {"asin": (-1, 1), "acos": (-1, 1), "log1p": (-0.9, 5), "logit": (0, 1)}
    low, high = bounds.get(name, (0.01, 5) if name in ("log", "log2", "log10", "pow") else (-5, 5))
    given = [rng.uniform(low, high, _ELEMENTS).astype(dtype) for _ in range(FUNCTIONS[name])]
    launcher = compiled((name,), dtype, spelled)
    fields = [dt.from_numpy(x) for x in (np.zeros(_ELEMENTS, dtype), *given)]
    buffers = [field.buffer for field in fields]
    launcher.launch(buffers)
    best = np.inf
    for _ in range(15):
        started = time.process_time()
        launcher.launch(buffers)
        best = min(best, time.process_time() - started)
    return best / _ELEMENTS * 1e9


def main() -> None:
    """Print a line for each function and precision."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=500_000, help="of each of some kinds")
    parser.add_argument("--only", nargs="*", default=list(FUNCTIONS), help="functions")
    parser.add_argument("--slow-math", action="store_true", help="without fast math")
    options = parser.parse_args()
    dt.init(arch="cpu", cpu_max_num_threads=1, fast_math=not options.slow_math)
    print("| function | precision | points | largest error | at | time | library |")
    print("|---|---|---|---|---|---|---|")
    for name in options.only:
        for dtype in (np.float32, np.float64):
            count, error, at = _largest_error(name, dtype, options.points)
            own = _time(name, dtype, {})
            library = f"{_time(name, dtype, LIBRARY):.2f}" if name in LIBRARY else ""
            limit = limit_of(name, dtype)
            below = "" if np.isinf(limit) else f" below {limit:.0f}"
            where = ", ".join(repr(float(x)) for x in at)
            print(
                f"| `{name}` | {np.dtype(dtype)}{below} | {count:,} | {error:.2f} | {where} "
                f"| {own:.2f} | {library} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
