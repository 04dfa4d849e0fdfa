"""Sine, cosine and exp of moderate arguments, as polynomials: loops without calls can be vectors.

The argument is reduced by multiples of pi/2 or log(2) in parts, whose products with the multiple
are exact (Cody and Waite, 1980), and the polynomials interpolate at Chebyshev nodes. Fast math
would add up the parts again; no compiler sees through a maximum.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyright: reportInvalidTypeForm=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportGeneralTypeIssues=false, reportReturnType=false, reportOptionalOperand=false

import math

import taichi as ti

_LOWEST = -1e300
_LOWEST_SINGLE = -1e30
_SIGN = -(2**31), -(2**63)

# (sin(r) / r - 1) / r^2 and (cos(r) - 1 + r^2 / 2) / r^4 for |r| <= pi/4, as polynomials in r^2,
# the highest power first. The errors of the sine and cosine are 2e-11 and 8e-10 in single
# precision, 1e-17 and 5e-19 in double.
_SINE = (2.724962008007533e-06, -0.00019840084376422702, 0.008333331870341349, -0.16666666663844049)
_COSINE = (2.454768977246003e-05, -0.001388830186756237, 0.04166665465348879)
_DOUBLE_SINE = (
    1.5917988979397435e-10,
    -2.5051129896450185e-08,
    2.7557316093198404e-06,
    -0.00019841269836740532,
    0.008333333333330936,
    -0.16666666666666666,
)
_DOUBLE_COSINE = (
    -1.138254464534925e-11,
    2.087614504941318e-09,
    -2.755731726587808e-07,
    2.48015872987544e-05,
    -0.0013888888888887389,
    0.041666666666666664,
)

# (exp(r) - 1 - r) / r^2 for |r| <= log(2)/2. The errors of exp are 8e-9 and 2e-19.
_EXP = (
    0.0013926213466332444,
    0.008363202971575855,
    0.04166655443768594,
    0.16666576845993977,
    0.5,
)
_DOUBLE_EXP = (
    2.0914717341716378e-09,
    2.5105259538448494e-08,
    2.755727357010214e-07,
    2.7557255297969643e-06,
    2.4801587325605324e-05,
    0.0001984126987490126,
    0.001388888888888373,
    0.008333333333326112,
    0.04166666666666667,
    0.1666666666666667,
    0.5,
)


@ti.func
def sin(x, dtype: ti.template()):
    """The sine of one number below 2^24, or 2^20 in double precision; see `moderate_arguments`."""
    return _shifted_sin(x, 0, dtype)


@ti.func
def cos(x, dtype: ti.template()):
    """The cosine of one number of that size."""
    return _shifted_sin(x, 1, dtype)


@ti.func
def _shifted_sin(x, quarters, dtype: ti.template()):
    """The sine of x and so many quarters of a turn."""
    wide = ti.cast(x, ti.f64)
    n = ti.floor(wide * ti.f64(ti.static(2 / math.pi)) + ti.f64(0.5))
    quadrant = ti.cast(n, ti.i32) + quarters
    r = wide
    if ti.static(dtype == ti.f64):  # parts of 33, 20, 33 and 53 bits
        r = ti.max(r - n * ti.f64(1.5707963267341256), ti.f64(_LOWEST))
        r = ti.max(r - n * ti.f64(6.077094383272197e-11), ti.f64(_LOWEST))
        r = ti.max(r - n * ti.f64(6.12323399538461e-17), ti.f64(_LOWEST))
        r = r - n * ti.f64(3.5215598651832e-27)
    else:  # parts of 29 and 53 bits
        r = ti.max(r - n * ti.f64(1.570796325802803), ti.f64(_LOWEST))
        r = r - n * ti.f64(9.920935796805404e-10)
    return _of_quadrant(ti.cast(r, dtype), quadrant, dtype)


@ti.func
def _of_quadrant(r, quadrant, dtype: ti.template()):
    """The sine of r and so many quarters of a turn, for |r| <= pi/4; zeros keep their sign."""
    size, s = ti.abs(r), r * r
    sine = size + size * (s * _polynomial(s, _DOUBLE_SINE if dtype == ti.f64 else _SINE, dtype))
    p = _polynomial(s, _DOUBLE_COSINE if dtype == ti.f64 else _COSINE, dtype)
    y = ti.select((quadrant & 1) == 1, 1 - s * (dtype(0.5) - s * p), sine)
    own = (quadrant & 1) - 1  # all bits where the sign is that of r
    if ti.static(dtype == ti.f64):
        turned = ti.cast(quadrant & 2, ti.i64) << ti.i64(62)
        sign = ti.bit_cast(r, ti.i64) & ti.cast(own, ti.i64) & ti.i64(_SIGN[1])
        y = ti.bit_cast(ti.bit_cast(y, ti.i64) ^ turned ^ sign, ti.f64)
    else:
        turned = (quadrant & 2) << 30
        sign = ti.bit_cast(r, ti.i32) & own & ti.i32(_SIGN[0])
        y = ti.bit_cast(ti.bit_cast(y, ti.i32) ^ turned ^ sign, ti.f32)
    return y


@ti.func
def exp(x, dtype: ti.template()):
    """The exponential of one number below 80, or 600 in double precision."""
    n = ti.floor(x * dtype(ti.static(1 / math.log(2))) + dtype(0.5))
    r = x
    if ti.static(dtype == ti.f64):  # parts of 40 and 53 bits
        r = ti.max(r - n * ti.f64(0.6931471805592082), ti.f64(_LOWEST))
        r = r - n * ti.f64(7.371002565167799e-13)
    else:  # parts of 16 and 24 bits
        r = ti.max(r - n * ti.f32(0.693145751953125), ti.f32(_LOWEST_SINGLE))
        r = r - n * ti.f32(1.4286068203094173e-06)
    y = 1 + (r + r * r * _polynomial(r, _DOUBLE_EXP if dtype == ti.f64 else _EXP, dtype))
    if ti.static(dtype == ti.f64):
        power = ti.cast(ti.cast(n, ti.i32) + 1023, ti.i64) << ti.i64(52)
        y = y * ti.bit_cast(power, ti.f64)
    else:
        y = y * ti.bit_cast((ti.cast(n, ti.i32) + 127) << 23, ti.f32)
    return y


@ti.func
def _polynomial(x, coefficients: ti.template(), dtype: ti.template()):
    y = x * 0
    for c in ti.static(coefficients):
        y = y * x + dtype(c)
    return y
