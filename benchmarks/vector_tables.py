"""The tables of the vectorised functions: `python -m benchmarks.vector_tables`.

Writes `difftile/substrate/family/vector_tables.py`: polynomials that agree with their functions in
Chebyshev nodes, for single and double precision, and constants in parts. Computed with mpmath in
80 digits. Beside each polynomial the script prints how far it is from its function, relative to
the result that the function is a part of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

from benchmarks.special_tables import Function, _erf, fitted

TARGET = Path(__file__).parents[1] / "difftile" / "substrate" / "family" / "vector_tables.py"


def _cube(f: Function, first: Any) -> Function:
    """Return (f(x) / x - first) / x^2 of s = x^2, for an odd f with the slope `first` at 0."""

    def rest(s: Any) -> Any:
        s = max(s, mpf("1e-20"))
        x = mp.sqrt(s)
        return (f(x) / x - first) / s

    return rest


def _cosine(s: Any) -> Any:
    """(cos(r) - 1 + r^2 / 2) / r^4 of s = r^2."""
    s = max(s, mpf("1e-20"))
    return (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2


def _exp(r: Any) -> Any:
    """(exp(r) - 1 - r) / r^2."""
    return (mp.expm1(r) - r) / r**2 if abs(r) > mpf("1e-20") else mpf("0.5")


def _log(s: Any) -> Any:
    """log((1 + s) / (1 - s)) / s - 2, divided by s^2, of s^2."""
    return _cube(lambda x: 2 * mp.atanh(x), 2)(s)


def _erfc(t: Any) -> Any:
    """The function x exp(x^2) erfc(x) - 1/2 of t = (x - 3/2) / (x + 3/2)."""
    x = mpf("1.5") * (1 + t) / (1 - t)
    return x * mp.exp(x * x) * mp.erfc(x) - mpf("0.5")


def _log2(s: Any) -> Any:
    """log2((1 + s) / (1 - s)) / s of s^2."""
    return (2 + s * _log(s)) / mp.log(2)


def _log_rest(s: Any) -> Any:
    """(3 artanh(s) / s - 3 - s^2) / s^4 of s^2."""
    s = max(s, mpf("1e-20"))
    x = mp.sqrt(s)
    return (3 * mp.atanh(x) / x - 3 - s) / s**2


_QUARTER = mpf("0.6169")  # (pi / 4)^2
_HALF_LOG = mpf("0.34658")  # log(2) / 2
_LARGEST_S = mpf("0.1718") ** 2  # of s = f / (2 + f) for 1 + f between sqrt(1/2) and sqrt(2)

# The function, its interval, and the degrees in single and double precision.
POLYNOMIALS: dict[str, tuple[Function, Any, Any, int, int]] = {
    "SIN": (_cube(mp.sin, 1), 0, _QUARTER, 3, 5),
    "COS": (_cosine, 0, _QUARTER, 2, 5),
    "TAN": (_cube(mp.tan, 1), 0, _QUARTER, 6, 13),
    "ASIN": (_cube(mp.asin, 1), 0, mpf("0.25"), 5, 12),
    "ATAN": (_cube(mp.atan, 1), 0, mpf("0.25"), 5, 12),
    "TANH": (_cube(mp.tanh, 1), 0, mpf("0.3026"), 4, 10),
    "ERF": (_erf, 0, 1, 6, 13),
    "EXP": (_exp, -_HALF_LOG, _HALF_LOG, 4, 10),
    "LOG": (_log, 0, _LARGEST_S, 2, 6),
}

# Those for which the precisions differ in more than the degree; there and for powers, which single
# precision computes in double precision too: the function, its interval and the degree.
OTHERS: dict[str, tuple[Function, Any, Any, int]] = {
    "ERFC_SINGLE": (_erfc, mpf("-0.3044"), mpf("0.7458"), 10),  # of 0.8 <= x <= 10.3
    "ERFC": (_erfc, mpf("-0.3044"), mpf("0.89831"), 24),  # of 0.8 <= x <= 28
    "LOG2_FOR_POW": (_log2, 0, _LARGEST_S, 5),
    "EXP2_FOR_POW": (lambda r: mpf(2) ** r, -0.5, 0.5, 7),
    "LOG_FOR_POW": (_log_rest, 0, _LARGEST_S, 7),
}


def parts(number: Any, widths: list[int]) -> list[float]:
    """Return numbers of so many bits, which add up to a number; the last one is rounded."""
    found: list[float] = []
    for width in widths:
        exponent = mp.frexp(number)[1]
        nearest = mp.ldexp(mp.nint(mp.ldexp(number, width - exponent)), exponent - width)
        found.append(float(nearest))
        number -= nearest
    return found


def _lines(name: str, numbers: list[float]) -> Iterator[str]:
    yield f"{name} = ("
    yield from (f"    {number!r}," for number in numbers)
    yield ")"


# In single precision the products of all parts but the last with a multiple of 13, 8 or 8 bits are
# exact; in double precision of 21, 11 and 11 bits.
CONSTANTS: dict[str, tuple[Callable[[], Any], list[int], list[int]]] = {
    "HALF_PI": (lambda: mp.pi / 2, [11, 11, 11, 24], [33, 20, 33, 53]),
    "RIGHT_ANGLE": (lambda: mp.pi / 2, [24, 24], [53, 53]),
    "LOG_2": (lambda: mp.log(2), [16, 24], [40, 53]),
    "LOG10_2": (lambda: mp.log10(2), [16, 24], [40, 53]),
    "LOG2_E": (lambda: 1 / mp.log(2), [12, 24], [26, 53]),
    "LOG10_E": (lambda: 1 / mp.log(10), [12, 24], [26, 53]),
    "QUARTER_PI": (lambda: mp.pi / 4, [21, 24], [50, 53]),
}


FOR_POW: dict[str, tuple[Callable[[], Any], list[int]]] = {
    "LOG2_OF_THIRDS": (lambda: 2 / (3 * mp.log(2)), [26, 53]),
    "LOG_2_FOR_POW": (lambda: mp.log(2), [26, 53]),
}


def _fit(name: str, f: Function, low: Any, high: Any, degree: int) -> Iterator[str]:
    """Yield the lines of a polynomial, and print its largest error."""
    numbers = fitted(f, low, high, degree, 0)[0][::-1]
    points = [low + (high - low) * k / mpf(200) for k in range(201)]
    print(f"{name:16} {mp.nstr(max(abs(mp.polyval(numbers, x) - f(x)) for x in points), 3)}")
    yield from _lines(name, numbers)


def main() -> None:
    """Write the module of tables."""
    with mp.workdps(80):
        lines = [
            '"""Coefficients of functions, the highest power first, and constants in parts.',
            "",
            "Written by `python -m benchmarks.vector_tables`, which says what each is.",
            "Names of single precision end in `_SINGLE`.",
            '"""',
            "",
        ]
        for name, (f, low, high, *degrees) in POLYNOMIALS.items():
            for end, degree in zip(("_SINGLE", ""), degrees, strict=True):
                lines += _fit(name + end, f, low, high, degree)
        for name, (f, low, high, degree) in OTHERS.items():
            lines += _fit(name, f, low, high, degree)
        for name, (number, widths) in FOR_POW.items():
            lines += _lines(name, parts(number(), widths))
        for name, (number, *widths) in CONSTANTS.items():
            for end, width in zip(("_SINGLE", ""), widths, strict=True):
                lines += _lines(name + end, parts(number(), width))
    TARGET.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
