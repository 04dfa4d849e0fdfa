"""Functions that are formulas over the rows, in the language of `formula.py`.

Each has its parameters and its formula. Functions that Taichi has too agree with `taichi.math` in
their values; a complex number is a vector of its real and imaginary part.
"""

from __future__ import annotations

from typing import NamedTuple


class Composite(NamedTuple):
    """A function that is a formula.

    Args:
        parameters: The names of its parameters.
        formula: Its value.
        names: Its names in kernels, separated by spaces: `ti.math.mix`.
    """

    parameters: tuple[str, ...]
    formula: str
    names: str = ""


_SCALAR = {
    "mix": Composite(("x", "y", "t"), "x * (1 - t) + y * t", "ti.math.mix"),
    "fract": Composite(("x",), "x - floor(x)", "ti.math.fract"),
    "trunc": Composite(("x",), "select(x < 0, ceil(x), floor(x))", "math.trunc np.trunc"),
    "fmod": Composite(("x", "y"), "x - y * trunc(x / y)", "math.fmod np.fmod"),
    "copysign": Composite(
        ("x", "y"), "select(y < 0, -abs(x), abs(x))", "math.copysign np.copysign"
    ),
    "saturate": Composite(("x",), "clamp(x, 0, 1)"),
    "hermite": Composite(("t",), "t * t * (3 - 2 * t)"),
    "smoothstep": Composite(
        ("low", "high", "x"), "hermite(saturate((x - low) / (high - low)))", "ti.math.smoothstep"
    ),
    "step": Composite(("edge", "x"), "select(x < edge, zeros(x), ones(x))", "ti.math.step"),
    "exp2": Composite(("x",), "exp(x * 0.69314718055994530942)"),
    "radians": Composite(
        ("x",), "x * 0.017453292519943295769", "ti.math.radians math.radians np.radians np.deg2rad"
    ),
    "degrees": Composite(
        ("x",), "x * 57.295779513082320877", "ti.math.degrees math.degrees np.degrees np.rad2deg"
    ),
    # exp(x) - exp(-x) loses its digits near 0.
    "sinh": Composite(("x",), "tanh(x) * cosh(x)", "math.sinh np.sinh"),
    "cosh": Composite(("x",), "0.5 * (exp(x) + exp(-x))", "math.cosh np.cosh"),
    "square": Composite(("x",), "x * x"),
    "softplus": Composite(("x", "beta"), "log1pexp(beta * x) / beta", "dt.softplus"),
    # The sign of the denominator is kept, 0 counts as positive; where eps stands in for the
    # denominator the derivative by it is 0, as for any bound.
    "safe_divide": Composite(
        ("n", "d", "eps"),
        "n / select(abs(d) < eps, select(d < 0, zeros(d) - eps, zeros(d) + eps), d)",
        "dt.safe_divide",
    ),
}

_GEOMETRY = {
    "norm_sqr": Composite(("x",), "sum(x * x)"),
    "norm_inv": Composite(("x",), "rsqrt(norm_sqr(x))"),
    "norm_eps": Composite(("x", "eps"), "sqrt(norm_sqr(x) + eps)"),
    "norm_inv_eps": Composite(("x", "eps"), "rsqrt(norm_sqr(x) + eps)"),
    "normalized_eps": Composite(("x", "eps"), "x / (norm(x) + eps)"),
    "safe_norm": Composite(("v", "eps"), "select(norm(v) < eps, eps, norm(v))", "dt.safe_norm"),
    "cross_2d": Composite(("x", "y"), "x[0] * y[1] - x[1] * y[0]"),
    "distance": Composite(("x", "y"), "norm(x - y)", "ti.math.distance"),
    "reflect": Composite(("x", "n"), "x - 2 * dot(n, x) * n", "ti.math.reflect"),
    # Kinder than GLSL's: at the critical angle the derivative is 0, not infinite.
    "bent": Composite(
        ("x", "n", "eta", "cosine", "k"),
        "select(k < 0, zeros(x), eta * x - (eta * cosine + sqrt(max(k, 0))) * n)",
    ),
    "refract": Composite(
        ("x", "n", "eta"),
        "bent(x, n, eta, dot(x, n), 1 - eta * eta * (1 - dot(x, n) * dot(x, n)))",
        "ti.math.refract",
    ),
    "vdir": Composite(("angle",), "vec(cos(angle), sin(angle))", "ti.math.vdir"),
}

# Matrices that act on column vectors; the 4x4 ones on homogeneous coordinates.
_TRANSFORMS = {
    "translate": Composite(
        ("x", "y", "z"),
        "[[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1]]",
        "ti.math.translate",
    ),
    "scale": Composite(
        ("x", "y", "z"), "[[x, 0, 0, 0], [0, y, 0, 0], [0, 0, z, 0], [0, 0, 0, 1]]", "ti.math.scale"
    ),
    "rotation2d": Composite(
        ("angle",), "[[cos(angle), -sin(angle)], [sin(angle), cos(angle)]]", "ti.math.rotation2d"
    ),
    "spin": Composite(
        ("n", "c", "s"),
        "[[c + (1 - c) * n[0] * n[0], (1 - c) * n[0] * n[1] + s * n[2],"
        " (1 - c) * n[0] * n[2] - s * n[1], 0],"
        " [(1 - c) * n[1] * n[0] - s * n[2], c + (1 - c) * n[1] * n[1],"
        " (1 - c) * n[1] * n[2] + s * n[0], 0],"
        " [(1 - c) * n[2] * n[0] + s * n[1], (1 - c) * n[2] * n[1] - s * n[0],"
        " c + (1 - c) * n[2] * n[2], 0],"
        " [0, 0, 0, 1]]",
    ),
    "rot_by_axis": Composite(
        ("axis", "angle"), "spin(normalized(axis), cos(angle), sin(angle))", "ti.math.rot_by_axis"
    ),
    "turned": Composite(
        ("h", "p", "b"),  # each the cosine and the sine of an angle
        "[[h[0] * b[0] + h[1] * p[1] * b[1], b[1] * p[0],"
        " h[0] * p[1] * b[1] - h[1] * b[0], 0],"
        " [h[1] * p[1] * b[0] - h[0] * b[1], b[0] * p[0],"
        " b[1] * h[1] + h[0] * p[1] * b[0], 0],"
        " [h[1] * p[0], -p[1], h[0] * p[0], 0],"
        " [0, 0, 0, 1]]",
    ),
    "rot_yaw_pitch_roll": Composite(
        ("yaw", "pitch", "roll"),
        "turned(vdir(yaw), vdir(pitch), vdir(roll))",
        "ti.math.rot_yaw_pitch_roll",
    ),
    "rotation3d": Composite(("x", "y", "z"), "rot_yaw_pitch_roll(z, x, y)", "ti.math.rotation3d"),
}

_COMPLEX = {
    "cconj": Composite(("z",), "vec(z[0], -z[1])", "ti.math.cconj"),
    "cmul": Composite(
        ("x", "y"), "vec(x[0] * y[0] - x[1] * y[1], x[0] * y[1] + y[0] * x[1])", "ti.math.cmul"
    ),
    "cdiv": Composite(("x", "y"), "cmul(x, cconj(y)) / dot(y, y)", "ti.math.cdiv"),
    "cinv": Composite(("z",), "cconj(z) / dot(z, z)", "ti.math.cinv"),
    "cexp": Composite(("z",), "exp(z[0]) * vdir(z[1])", "ti.math.cexp"),
    "clog": Composite(("z",), "vec(0.5 * log(dot(z, z)), atan2(z[1], z[0]))", "ti.math.clog"),
    "csqrt": Composite(
        ("z",),
        "select(norm(z) > 0, sqrt(norm(z)) * vdir(0.5 * atan2(z[1], z[0])), 0)",
        "ti.math.csqrt",
    ),
    "cpow": Composite(
        ("z", "n"),
        "select(norm(z) > 0, pow(dot(z, z), 0.5 * n) * vdir(n * atan2(z[1], z[0])), 0)",
        "ti.math.cpow",
    ),
}

# Eigenvalues and eigenvectors of [[m + p, b], [c, m - p]], whose eigenvalues are m + s sqrt(w) for
# s = 1 and s = -1, with w = p^2 + b c. An eigenvector is the first column of the matrix without the
# other eigenvalue, as in Taichi; where it would lose its digits, (p + s q) (q - s p) = b c gives it
# divided by |c|. Complex numbers are pairs. At a multiple of the identity any vectors will do.
_EIGENVALUES = {
    "eig_value": Composite(
        ("m", "w", "s"),
        "select(w >= 0, vec(m + s * sqrt(abs(w)), 0), vec(m, s * sqrt(abs(w))))",
    ),
    "eig_column": Composite(
        ("p", "q", "b", "c", "s"),
        "select(s * p >= 0, vec(p + s * q, c),"
        " select(c < 0, -1, 1) * vec(s * b / (q + abs(p)), 1))",
    ),
    "eig_direction": Composite(
        ("p", "q", "b", "c", "s"),
        "select(q + abs(p) + abs(c) > 0, normalized(eig_column(p, q, b, c, s)),"
        " select(b == 0, vec(0.5 - 0.5 * s, 0.5 + 0.5 * s), vec(1, 0)))",
    ),
    "eig_pairs": Composite(("v",), "vec(v[0], 0, v[1], 0)"),
    "eig_vector": Composite(
        ("p", "w", "b", "c", "s"),
        "select(w >= 0, eig_pairs(eig_direction(p, sqrt(abs(w)), b, c, s)),"
        " normalized(vec(p, s * sqrt(abs(w)), c, 0)))",
    ),
}

COMPOSITES: dict[str, Composite] = {
    **_SCALAR,
    **_GEOMETRY,
    **_TRANSFORMS,
    **_COMPLEX,
    **_EIGENVALUES,
}
