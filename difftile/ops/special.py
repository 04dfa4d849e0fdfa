"""Special functions: formulas over other rows, in double precision whatever the type of the data.

The error functions are polynomials between fixed points (Cody 1969, Rational Chebyshev
approximations for the error function, Math. Comp. 23; Shepherd and Laframboise 1981, Chebyshev
approximation of (1 + 2 x) exp(x^2) erfc(x), Math. Comp. 36); the inverse is one of log(1 - x^2), as
in Giles 2010, Approximating the erfinv function, with a Halley step where x is near 1. The gamma
functions have fractions around their zeros, recurrences beside them, asymptotic series beyond and
reflection below 0 (Abramowitz and Stegun, chapter 6; Cody, Strecok and Thacher 1973, Chebyshev
approximations for the psi function, Math. Comp. 27). `benchmarks.special_tables` computes the
coefficients.

Fast math may reorder sums, so that no formula relies on the rounding error of one. Where fdlibm
cuts words, `floor` is used; where a zero is no double, the expansion is around the double
next to it and begins with the value there.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy.typing as npt

from difftile.ir.types import I32, Type
from difftile.ops import discrete, scalar
from difftile.ops.numeric import evaluated
from difftile.ops.row import Op, OpTypeError, real

_FUNCTIONS = {
    op.name: op.numpy for op in (*scalar.ROWS, *scalar.PIECEWISE_CONSTANT, *discrete.ROWS)
}
_WIDE = (-2.0, 2.0)
_POSITIVE = (0.2, 3.0)

_ERF = """
x = min(abs(a), 28)
near = a + a * polynomial(x * x, ERF)
far = exp(-x * x) * (0.5 + polynomial((x - 3) / (x + 3), ERFC)) / x
select(a == a, select(x < 1, near, select(a < 0, far - 1, 1 - far)), a)
"""

# exp(-x^2) keeps its digits as exp(-top^2) (1 - lost), where top^2 is exact. Beyond 26 it is
# first computed exp(86) times too large, so that no digits are lost where the result underflows;
# exp(-86) is a double up to 1e-18.
_ERFC = """
x = min(abs(a), 28)
near = 1 - a - a * polynomial(x * x, ERF)
top = floor(x * 1048576) / 1048576
rest = (x - top) * (x + top)
lift = select(x > 26, 86, 0)
lost = rest * (1 - rest * (0.5 - rest / 6))
small = polynomial((x - 3) / (x + 3), ERFC)
tail = exp(lift - top * top) * (0.5 + (small - lost * (0.5 + small))) / x
far = tail * select(x > 26, 4.4737793061811207e-38, 1)
select(a == a, select(x < 1, near, select(a < 0, 2 - far, far)), a)
"""

_ERFINV = """
x = abs(a)
q = 1 - x
w = -log(q * (1 + x))
y = fraction(sqrt(max(w, 3)), ERFINV_FAR)
scaled = (0.5 + polynomial((y - 3) / (y + 3), ERFC)) / y
step = 0.88622692545275801365 * (scaled - q * exp(y * y))
far = y + step / (1 - y * step)
inside = select(w < 3, a * fraction(w, ERFINV), select(a < 0, -far, far))
select(q > 0, inside, select(q < 0, log(q), a / q))
"""

_LGAMMA = """
x = min(-a, 1e18)
y = select(a > -0.2, a, x)
steps = select(y < 2.5, 0, min(floor(y - 1.5), 4))
one = select(steps > 0, y - 1, 1)
two = select(steps > 1, y - 2, 1)
three = select(steps > 2, y - 3, 1)
four = select(steps > 3, y - 4, 1)
log_of = log(select(y < 0.8, abs(y), select(y < 6.5, (one * two) * (three * four), y)))
t = select(y < 0.8, y, y - steps - 1)
between = t * (t - 1) * (0.5 + fraction(t, LGAMMA))
near = between + select(y < 0.8, -log_of, log_of)
v = 1 / y
far = (y - 0.5) * (log_of - 1) + (v * polynomial(v * v, STIRLING) + 0.41893853320467274178)
direct = select(y < 6.5, near, far)
r = x - floor(x + 0.5)
reflected = log(3.14159265358979323846 / (x * abs(sin(3.14159265358979323846 * r)))) - direct
select(a > -0.2, direct, select(a <= -0.2, reflected, a))
"""

# DIGAMMA begins at the double next to the zero; the first number is the value there.
_DIGAMMA = """
y = select(a < -0.2, 1 - a, a)
z = select(y < 1, y + 1, y)
t = z - 1.4616321449683622
near = -9.2412655217294275e-17 + t * (0.875 + fraction(z - 1, DIGAMMA)) - select(y < 1, 1 / y, 0)
v = 1 / y
far = log(y) - 0.5 * v - v * v * polynomial(v * v, DIGAMMA_FAR)
direct = select(y < 3, near, far)
r = a - floor(a + 0.5)
tangent = tan(3.14159265358979323846 * min(abs(r), 0.5 - abs(r)))
cotangent = 3.14159265358979323846 * select(abs(r) < 0.25, 1 / tangent, tangent)
reflected = direct - select(r < 0, -cotangent, cotangent)
select(a < -0.2, select(r == 0, log(-1 - r), reflected), direct)
"""

_TRIGAMMA = """
y = select(a < 0, 1 - a, a)
z = select(y < 1, y + 1, y)
near = (z + fraction(z, TRIGAMMA)) / (z * z) + select(y < 1, 1 / (y * y), 0)
v = 1 / y
far = v + v * v * (0.5 + v * polynomial(v * v, TRIGAMMA_FAR))
direct = select(y < 4, near, far)
r = a - floor(a + 0.5)
slope = 3.14159265358979323846 / sin(3.14159265358979323846 * r)
select(a < 0, slope * slope - direct, direct)
"""

# The Hurwitz zeta function by Euler's and Maclaurin's formula, 23.1.30 of Abramowitz and Stegun.
_BERNOULLI = (  # B[2 j] / (2 j)!
    *("1 / 12", "-1 / 720", "1 / 30240", "-1 / 1209600", "1 / 47900160", "-691 / 1307674368000"),
    *("1 / 74724249600", "-3617 / 10670622842880000", "43867 / 5109094217170944000"),
)
_SHIFT = 10
_TAIL = reduce(
    lambda rest, j: f"{_BERNOULLI[j]} + (s + {2 * j + 1}) * (s + {2 * j + 2}) * w * ({rest})",
    reversed(range(len(_BERNOULLI) - 1)),
    _BERNOULLI[-1],
)
_ZETA = f"""
s = astype(a, b)
y = b + {_SHIFT}
w = 1 / (y * y)
tail = {_TAIL}
far = pow(y, 1 - s) / (s - 1) + pow(y, -s) * (0.5 + s / y * tail)
far + {" + ".join(f"pow(b + {k}, -s)" for k in reversed(range(_SHIFT)))}
"""

# Below 0 the sum of 1 / (b + k)^s over all integers, without the terms of zeta(s, 1 - b).
_POLYGAMMA = f"""
n = astype(a, b)
s = a + whole(1)
sign = 2 * (n - 2 * floor(0.5 * n)) - 1
r = b - floor(b + 0.5)
pole = pow(abs(r), -astype(s, b)) * select(r < 0, sign, 1)
above = zeta(s, select(b < 0, 1 + r, b))
below = pole + above + sign * (zeta(s, 1 - r) - zeta(s, select(b < 0, 1 - b, 1)))
factorial = {" * ".join(f"select(n > {k - 0.5}, {k}, 1)" for k in range(2, 21))}
select(n > 20, log(-n), sign * factorial * select(b < 0, below, above))
"""


def erf(x: npt.ArrayLike) -> Any:
    """Return the error function, the integral of 2 / sqrt(pi) exp(-t^2) from 0 to x.

    In a kernel x is a float, vector or matrix; in Python a number or an array. Within 2 units in
    the last place in single and 4 in double precision.
    """
    return evaluated(_ERF, _FUNCTIONS, x)


def erfc(x: npt.ArrayLike) -> Any:
    """Return 1 - erf(x), with all its digits where it is small; as accurate as `erf`."""
    return evaluated(_ERFC, _FUNCTIONS, x)


def erfinv(x: npt.ArrayLike) -> Any:
    """Return y with erf(y) = x; infinite at -1 and 1, NaN beyond. As accurate as `erf`."""
    return evaluated(_ERFINV, _FUNCTIONS, x)


def lgamma(x: npt.ArrayLike) -> Any:
    """Return the logarithm of |Gamma(x)|; infinite at 0, -1, -2 ...

    As accurate as `erf` for x > 0. Below, in double precision, the error is that much of the
    largest of |lgamma(x)|, |lgamma(-x)| and 1: the zeros there lose digits.
    """
    return evaluated(_LGAMMA, _FUNCTIONS, x)


def digamma(x: npt.ArrayLike) -> Any:
    """Return the derivative of `lgamma`; infinite at 0, NaN at -1, -2 ...

    As accurate as `erf` for x > 0. Below, in double precision, the error is that much of
    |digamma(x)| + |digamma(1 - x)|, or of 1: the zeros there lose digits.
    """
    return evaluated(_DIGAMMA, _FUNCTIONS, x)


def trigamma(x: npt.ArrayLike) -> Any:
    """Return the derivative of `digamma`; infinite at 0, -1, -2 ...

    As accurate as `erf` for x > 0, and within 5 units in the last place below.
    """
    return evaluated(_TRIGAMMA, _FUNCTIONS, x)


def zeta(s: npt.ArrayLike, x: npt.ArrayLike) -> Any:
    """Return the sum of 1 / (x + k)^s for k = 0, 1, 2 ..., with an integer s > 1 and x > 0."""
    return evaluated(_ZETA, _FUNCTIONS, s, x)


def polygamma(n: npt.ArrayLike, x: npt.ArrayLike) -> Any:
    """Return the derivative number n of `digamma`, with an integer n from 1 to 20; NaN beyond."""
    return evaluated(_POLYGAMMA, {**_FUNCTIONS, "zeta": zeta}, n, x)


def _of_order(types: tuple[Type, ...]) -> Type:
    order, x = types
    if order != I32:
        raise OpTypeError(f"the order is an integer, not {order}")
    return real((x,))


ROWS = (
    Op(
        "erf",
        erf,
        real,
        ("z_bar * (1.12837916709551257390 * exp(-a * a))",),
        (_WIDE,),
        value=_ERF,
        names="dt.erf math.erf",
    ),
    Op(
        "erfc",
        erfc,
        real,
        ("-z_bar * (1.12837916709551257390 * exp(-a * a))",),
        (_WIDE,),
        value=_ERFC,
        names="dt.erfc math.erfc",
    ),
    Op(
        "erfinv",
        erfinv,
        real,
        ("z_bar * (0.88622692545275801365 * exp(z * z))",),
        ((-0.9, 0.9),),
        singular=True,
        kinks="infinite at -1 and 1",
        value=_ERFINV,
        names="dt.erfinv",
    ),
    Op(
        "lgamma",
        lgamma,
        real,
        ("z_bar * digamma(a)",),
        (_POSITIVE,),
        singular=True,
        kinks="infinite at 0, NaN at -1, -2 ...",
        value=_LGAMMA,
        names="dt.lgamma math.lgamma",
    ),
    Op(
        "digamma",
        digamma,
        real,
        ("z_bar * trigamma(a)",),
        (_POSITIVE,),
        singular=True,
        kinks="infinite at 0, -1, -2 ...",
        value=_DIGAMMA,
        names="dt.digamma",
    ),
    Op(
        "trigamma",
        trigamma,
        real,
        ("z_bar * polygamma(whole(2), a)",),
        (_POSITIVE,),
        singular=True,
        kinks="not finite at 0, -1, -2 ...",
        value=_TRIGAMMA,
        names="dt.trigamma",
    ),
    Op(
        "zeta",
        zeta,
        _of_order,
        (None, "-z_bar * astype(a, b) * zeta(a + whole(1), b)"),
        ((2, 5), _POSITIVE),
        singular=True,
        kinks="infinite at 0, not meant for less",
        value=_ZETA,
    ),
    Op(
        "polygamma",
        polygamma,
        _of_order,
        (None, "z_bar * polygamma(a + whole(1), b)"),
        ((1, 5), _POSITIVE),
        singular=True,
        kinks="not finite at 0, -1, -2 ...",
        value=_POLYGAMMA,
    ),
)
