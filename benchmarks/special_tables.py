"""The tables of coefficients of the special functions: `python -m benchmarks.special_tables`.

Writes `difftile/ops/coefficients.py`. Each table is a polynomial, or the numerator and denominator
of a fraction, that agrees with its function in the Chebyshev nodes of an interval: within a small
factor of the best approximation. Computed with mpmath in 60 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

TARGET = Path(__file__).parents[1] / "difftile" / "ops" / "coefficients.py"
Function = Callable[[Any], Any]

DIGAMMA_ZERO = 1.4616321449683622  # the double next to it
_SMALL = mpf("1e-25")


def _erf(s: Any) -> Any:
    """(erf(x) - x) / x of s = x^2."""
    x = mp.sqrt(s)
    return mp.erf(x) / x - 1 if s else 2 / mp.sqrt(mp.pi) - 1


def _erfc(t: Any) -> Any:
    """x exp(x^2) erfc(x) - 1/2 of t = (x - 3) / (x + 3)."""
    x = 3 * (1 + t) / (1 - t)
    return x * mp.exp(x * x) * mp.erfc(x) - mpf("0.5")


def _erfinv_near(w: Any) -> Any:
    """erfinv(x) / x of w = -log(1 - x^2)."""
    x = mp.sqrt(-mp.expm1(-w))
    return mpf(mp.erfinv(x)) / x if w else mp.sqrt(mp.pi) / 2


def _erfinv_far(u: Any) -> Any:
    """erfinv(x) of u = sqrt(-log(1 - x^2)), by Newton's method for log(erfc(y)) = log(1 - x)."""
    q = mp.exp(-u * u)
    wanted = mp.log(q / (1 + mp.sqrt(1 - q)))
    y = u / mp.sqrt(mpf("1.3"))
    for _ in range(12):
        c = mp.erfc(y)
        y += (mp.log(c) - wanted) / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y) / c)
    return y


def _lgamma(t: Any) -> Any:
    """lgamma(1 + t) / (t (t - 1)) - 1/2: without the zeros, and small."""
    for zero, slope in ((0, mp.euler), (1, 1 - mp.euler)):
        if abs(t - zero) < _SMALL:
            return slope - mpf("0.5")
    return mp.loggamma(1 + t) / (t * (t - 1)) - mpf("0.5")


def _stirling(w: Any) -> Any:
    """The rest of Stirling's formula, times x, of w = 1 / x^2."""
    x = 1 / mp.sqrt(w)
    return (mp.loggamma(x) - (x - mpf("0.5")) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def _digamma_near(u: Any) -> Any:
    """The slope of digamma from DIGAMMA_ZERO to 1 + u, - 7/8 so that it is small."""
    at, x = mpf(DIGAMMA_ZERO), 1 + u
    if abs(x - at) < _SMALL:
        return mp.psi(1, at) - mpf("0.875")
    return (mp.digamma(x) - mp.digamma(at)) / (x - at) - mpf("0.875")


def _digamma_far(w: Any) -> Any:
    """(log(x) - 1 / (2 x) - digamma(x)) x^2 of w = 1 / x^2."""
    x = 1 / mp.sqrt(w)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x


def _trigamma_near(x: Any) -> Any:
    """x^2 trigamma(x) - x."""
    return x * x * mp.psi(1, x) - x


def _trigamma_far(w: Any) -> Any:
    """(trigamma(x) - 1 / x - 1 / (2 x^2)) x^3 of w = 1 / x^2."""
    x = 1 / mp.sqrt(w)
    return (mp.psi(1, x) - 1 / x - w / 2) * x**3


_TINY = mpf("1e-12")  # the end of asymptotic series, where only the first term counts

# The function, its interval, and the degrees of numerator and denominator.
TABLES: dict[str, tuple[Function, Any, Any, int, int]] = {
    "ERF": (_erf, 0, 1, 13, 0),
    "ERFC": (_erfc, -0.5, mpf(25) / 31, 20, 0),
    "ERFINV": (_erfinv_near, 0, 3, 7, 7),
    "ERFINV_FAR": (_erfinv_far, 1.73, 6.02, 6, 6),
    "LGAMMA": (_lgamma, -0.2, 1.5, 8, 8),
    "STIRLING": (_stirling, _TINY, 1 / mpf("6.5") ** 2, 8, 0),
    "DIGAMMA": (_digamma_near, -0.2, 2, 7, 7),
    "DIGAMMA_FAR": (_digamma_far, _TINY, 1 / mpf(9), 11, 0),
    "TRIGAMMA": (_trigamma_near, 1, 4, 7, 7),
    "TRIGAMMA_FAR": (_trigamma_far, _TINY, 1 / mpf(16), 11, 0),
}


def fitted(f: Function, low: Any, high: Any, m: int, n: int) -> tuple[list[float], list[float]]:
    """Return the numerator and denominator that agree with f in m + n + 1 nodes."""
    count = m + n + 1
    matrix, right = mp.matrix(count, count), mp.matrix(count, 1)
    for i in range(count):
        u = (mpf(low) + mpf(high)) / 2
        u += (mpf(high) - mpf(low)) / 2 * mp.cos((2 * i + 1) * mp.pi / (2 * count))
        right[i] = f(u)
        for j in range(m + 1):
            matrix[i, j] = u**j
        for j in range(1, n + 1):
            matrix[i, m + j] = -right[i] * u**j
    solved = mp.lu_solve(matrix, right)
    return [float(c) for c in solved[: m + 1]], [1.0, *(float(c) for c in solved[m + 1 :])]


def _lines(name: str, numbers: list[float]) -> Iterator[str]:
    yield f'    "{name}": ('
    yield from (f"        {number!r}," for number in numbers)
    yield "    ),"


def main() -> None:
    """Write the module of tables."""
    with mp.workdps(60):
        lines = [
            '"""Coefficients of polynomials and fractions, the lowest power first.',
            "",
            "Written by `python -m benchmarks.special_tables`, which says what each approximates.",
            '"""',
            "",
            "TABLES: dict[str, tuple[float, ...]] = {",
        ]
        for name, (f, low, high, m, n) in TABLES.items():
            numerator, denominator = fitted(f, low, high, m, n)
            lines += _lines(name, numerator)
            if n:
                lines += _lines(f"{name}_UNDER", denominator)
    TARGET.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
