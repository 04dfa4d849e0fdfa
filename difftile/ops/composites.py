"""Functions that are formulas over the rows, in the language of `formula.py`.

Each has its parameters and its formula. Those that Taichi has too agree with `taichi.math` in
their values; a complex number is a vector of its real and imaginary part.
"""

from __future__ import annotations

_SCALAR = {
    "mix": (("x", "y", "t"), "x * (1 - t) + y * t"),
    "fract": (("x",), "x - floor(x)"),
    "trunc": (("x",), "select(x < 0, ceil(x), floor(x))"),
    "fmod": (("x", "y"), "x - y * trunc(x / y)"),
    "copysign": (("x", "y"), "select(y < 0, -abs(x), abs(x))"),
    "saturate": (("x",), "clamp(x, 0, 1)"),
    "hermite": (("t",), "t * t * (3 - 2 * t)"),
    "smoothstep": (("low", "high", "x"), "hermite(saturate((x - low) / (high - low)))"),
    "step": (("edge", "x"), "select(x < edge, zeros(x), ones(x))"),
    "exp2": (("x",), "exp(x * 0.69314718055994530942)"),
    "log2": (("x",), "log(x) * 1.4426950408889634074"),
    "log10": (("x",), "log(x) * 0.43429448190325182765"),
    "radians": (("x",), "x * 0.017453292519943295769"),
    "degrees": (("x",), "x * 57.295779513082320877"),
    "atan": (("x",), "atan2(x, 1)"),
    "sinh": (("x",), "tanh(x) * cosh(x)"),  # exp(x) - exp(-x) loses its digits near 0
    "cosh": (("x",), "0.5 * (exp(x) + exp(-x))"),
    "square": (("x",), "x * x"),
    "softplus": (("x", "beta"), "log1pexp(beta * x) / beta"),
    # The sign of the denominator is kept, 0 counts as positive; where eps stands in for the
    # denominator the derivative by it is 0, as that of any bound.
    "safe_divide": (
        ("n", "d", "eps"),
        "n / select(abs(d) < eps, select(d < 0, zeros(d) - eps, zeros(d) + eps), d)",
    ),
}

_GEOMETRY = {
    "norm_sqr": (("x",), "sum(x * x)"),
    "norm_inv": (("x",), "rsqrt(norm_sqr(x))"),
    "norm_eps": (("x", "eps"), "sqrt(norm_sqr(x) + eps)"),
    "norm_inv_eps": (("x", "eps"), "rsqrt(norm_sqr(x) + eps)"),
    "normalized_eps": (("x", "eps"), "x / (norm(x) + eps)"),
    "safe_norm": (("v", "eps"), "select(norm(v) < eps, eps, norm(v))"),
    "cross_2d": (("x", "y"), "x[0] * y[1] - x[1] * y[0]"),
    "distance": (("x", "y"), "norm(x - y)"),
    "reflect": (("x", "n"), "x - 2 * dot(n, x) * n"),
    # Kinder than GLSL's: at the critical angle the derivative is 0, not infinite.
    "bent": (
        ("x", "n", "eta", "cosine", "k"),
        "select(k < 0, zeros(x), eta * x - (eta * cosine + sqrt(max(k, 0))) * n)",
    ),
    "refract": (
        ("x", "n", "eta"),
        "bent(x, n, eta, dot(x, n), 1 - eta * eta * (1 - dot(x, n) * dot(x, n)))",
    ),
    "vdir": (("angle",), "vec(cos(angle), sin(angle))"),
}

# Matrices that act on column vectors; the 4x4 ones on homogeneous coordinates.
_TRANSFORMS = {
    "translate": (
        ("x", "y", "z"),
        "[[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1]]",
    ),
    "scale": (("x", "y", "z"), "[[x, 0, 0, 0], [0, y, 0, 0], [0, 0, z, 0], [0, 0, 0, 1]]"),
    "rotation2d": (("angle",), "[[cos(angle), -sin(angle)], [sin(angle), cos(angle)]]"),
    "spin": (
        ("n", "c", "s"),
        "[[c + (1 - c) * n[0] * n[0], (1 - c) * n[0] * n[1] + s * n[2],"
        " (1 - c) * n[0] * n[2] - s * n[1], 0],"
        " [(1 - c) * n[1] * n[0] - s * n[2], c + (1 - c) * n[1] * n[1],"
        " (1 - c) * n[1] * n[2] + s * n[0], 0],"
        " [(1 - c) * n[2] * n[0] + s * n[1], (1 - c) * n[2] * n[1] - s * n[0],"
        " c + (1 - c) * n[2] * n[2], 0],"
        " [0, 0, 0, 1]]",
    ),
    "rot_by_axis": (("axis", "angle"), "spin(normalized(axis), cos(angle), sin(angle))"),
    "turned": (
        ("h", "p", "b"),  # each the cosine and the sine of an angle
        "[[h[0] * b[0] + h[1] * p[1] * b[1], b[1] * p[0],"
        " h[0] * p[1] * b[1] - h[1] * b[0], 0],"
        " [h[1] * p[1] * b[0] - h[0] * b[1], b[0] * p[0],"
        " b[1] * h[1] + h[0] * p[1] * b[0], 0],"
        " [h[1] * p[0], -p[1], h[0] * p[0], 0],"
        " [0, 0, 0, 1]]",
    ),
    "rot_yaw_pitch_roll": (
        ("yaw", "pitch", "roll"),
        "turned(vdir(yaw), vdir(pitch), vdir(roll))",
    ),
    "rotation3d": (("x", "y", "z"), "rot_yaw_pitch_roll(z, x, y)"),
}

_COMPLEX = {
    "cconj": (("z",), "vec(z[0], -z[1])"),
    "cmul": (("x", "y"), "vec(x[0] * y[0] - x[1] * y[1], x[0] * y[1] + y[0] * x[1])"),
    "cdiv": (("x", "y"), "cmul(x, cconj(y)) / dot(y, y)"),
    "cinv": (("z",), "cconj(z) / dot(z, z)"),
    "cexp": (("z",), "exp(z[0]) * vdir(z[1])"),
    "clog": (("z",), "vec(0.5 * log(dot(z, z)), atan2(z[1], z[0]))"),
    "csqrt": (
        ("z",),
        "select(norm(z) > 0, sqrt(norm(z)) * vdir(0.5 * atan2(z[1], z[0])), 0)",
    ),
    "cpow": (
        ("z", "n"),
        "select(norm(z) > 0, pow(dot(z, z), 0.5 * n) * vdir(n * atan2(z[1], z[0])), 0)",
    ),
}

COMPOSITES: dict[str, tuple[tuple[str, ...], str]] = {
    **_SCALAR,
    **_GEOMETRY,
    **_TRANSFORMS,
    **_COMPLEX,
}
