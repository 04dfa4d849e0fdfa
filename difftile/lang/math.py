"""Vectors, matrices and functions of graphics and mathematics: `ti.math`."""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from difftile.habits import attribute, missing
from difftile.ir.types import F32, I32, U32, Matrix, Vector
from difftile.lang.compounds import MatrixType, VectorType
from difftile.lang.functions import (
    acos,
    asin,
    atan2,
    ceil,
    cos,
    exp,
    floor,
    log,
    max,
    min,
    pow,
    round,
    sin,
    sqrt,
    tan,
    tanh,
)
from difftile.lang.values import apply, wrapped

__all__ = [
    "acos",
    "asin",
    "atan2",
    "cconj",
    "cdiv",
    "ceil",
    "cexp",
    "cinv",
    "clamp",
    "clog",
    "clz",
    "cmul",
    "cos",
    "cpow",
    "cross",
    "csqrt",
    "degrees",
    "determinant",
    "distance",
    "dot",
    "e",
    "exp",
    "eye",
    "floor",
    "fract",
    "inf",
    "inverse",
    "isinf",
    "isnan",
    "ivec2",
    "ivec3",
    "ivec4",
    "length",
    "log",
    "log2",
    "mat2",
    "mat3",
    "mat4",
    "max",
    "min",
    "mix",
    "mod",
    "nan",
    "normalize",
    "pi",
    "popcnt",
    "pow",
    "radians",
    "reflect",
    "refract",
    "rot_by_axis",
    "rot_yaw_pitch_roll",
    "rotation2d",
    "rotation3d",
    "round",
    "scale",
    "sign",
    "sin",
    "smoothstep",
    "sqrt",
    "step",
    "tan",
    "tanh",
    "translate",
    "uvec2",
    "uvec3",
    "uvec4",
    "vdir",
    "vec2",
    "vec3",
    "vec4",
]

if TYPE_CHECKING:
    from difftile.lang.checked import Checked

    class vec2(Checked):
        """Vectors of 2 floats."""

    class vec3(Checked):
        """Vectors of 3 floats."""

    class vec4(Checked):
        """Vectors of 4 floats."""

    class ivec2(Checked):
        """Vectors of 2 integers."""

    class ivec3(Checked):
        """Vectors of 3 integers."""

    class ivec4(Checked):
        """Vectors of 4 integers."""

    class uvec2(Checked):
        """Vectors of 2 unsigned integers."""

    class uvec3(Checked):
        """Vectors of 3 unsigned integers."""

    class uvec4(Checked):
        """Vectors of 4 unsigned integers."""

    class mat2(Checked):
        """2 x 2 matrices of floats."""

    class mat3(Checked):
        """3 x 3 matrices of floats."""

    class mat4(Checked):
        """4 x 4 matrices of floats."""

else:
    vec2, vec3, vec4 = (VectorType(Vector(n, F32), True, f"math.vec{n}") for n in (2, 3, 4))
    ivec2, ivec3, ivec4 = (VectorType(Vector(n, I32), name=f"math.ivec{n}") for n in (2, 3, 4))
    uvec2, uvec3, uvec4 = (VectorType(Vector(n, U32), name=f"math.uvec{n}") for n in (2, 3, 4))
    mat2, mat3, mat4 = (MatrixType(Matrix(n, n, F32), True, f"math.mat{n}") for n in (2, 3, 4))


def mod(x: Any, y: Any) -> Any:
    """Return x - y floor(x / y), with the sign of y."""
    return apply("mod", x, y)


def clamp(x: Any, xmin: Any, xmax: Any) -> Any:
    """Return x between two bounds; `xmin` where x is NaN."""
    return apply("clamp", x, xmin, xmax)


def log2(x: Any) -> Any:
    """Return the logarithm to the base 2."""
    return apply("log2", x)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1; 0 where x is NaN."""
    return apply("sign", x)


def isnan(x: Any) -> Any:
    """Return whether x is not a number."""
    return apply("isnan", x)


def isinf(x: Any) -> Any:
    """Return whether x is infinite."""
    return apply("isinf", x)


def popcnt(x: Any) -> Any:
    """Return how many bits of an integer are set."""
    return apply("popcnt", x)


def clz(x: Any) -> Any:
    """Return how many zeros stand before the first bit of an integer that is set."""
    return apply("clz", x)


def dot(x: Any, y: Any) -> Any:
    """Return the sum of the products of components."""
    return apply("dot", x, y)


def cross(x: Any, y: Any) -> Any:
    """Return the cross product; of two components, a number."""
    return apply("cross", x, y)


def length(x: Any) -> Any:
    """Return the square root of the sum of squares."""
    return apply("norm", x)


def normalize(v: Any) -> Any:
    """Return v / length(v); zero stays zero."""
    return apply("normalized", v)


def determinant(m: Any) -> Any:
    """Return the determinant of a square matrix."""
    return apply("determinant", m)


def inverse(mat: Any) -> Any:
    """Return the inverse of a square matrix; NaN for a singular one."""
    return apply("inverse", mat)


def mix(x: Any, y: Any, a: Any) -> Any:
    """Return x (1 - a) + y a."""
    return apply("mix", x, y, a)


def fract(x: Any) -> Any:
    """Return x - floor(x)."""
    return apply("fract", x)


def smoothstep(edge0: Any, edge1: Any, x: Any) -> Any:
    """Return 0 below the one edge, 1 above the other, and a cubic between them."""
    return apply("smoothstep", edge0, edge1, x)


def step(edge: Any, x: Any) -> Any:
    """Return 0 where x is below an edge, else 1."""
    return apply("step", edge, x)


def radians(x: Any) -> Any:
    """Return degrees as radians."""
    return apply("radians", x)


def degrees(x: Any) -> Any:
    """Return radians as degrees."""
    return apply("degrees", x)


def distance(x: Any, y: Any) -> Any:
    """Return the length of x - y."""
    return apply("distance", x, y)


def reflect(x: Any, n: Any) -> Any:
    """Return x reflected by the plane with a unit normal n."""
    return apply("reflect", x, n)


def refract(x: Any, n: Any, eta: Any) -> Any:
    """Return x refracted by the plane with a unit normal n, for a ratio of indices eta."""
    return apply("refract", x, n, eta)


def vdir(ang: Any) -> Any:
    """Return the unit vector of an angle [rad]."""
    return apply("vdir", ang)


def translate(dx: Any, dy: Any, dz: Any) -> Any:
    """Return the 4x4 matrix of a translation."""
    return apply("translate", dx, dy, dz)


def scale(sx: Any, sy: Any, sz: Any) -> Any:
    """Return the 4x4 matrix that stretches the axes."""
    return apply("scale", sx, sy, sz)


def rotation2d(ang: Any) -> Any:
    """Return the 2x2 matrix of a rotation by an angle [rad]."""
    return apply("rotation2d", ang)


def rot_by_axis(axis: Any, ang: Any) -> Any:
    """Return the 4x4 matrix of a rotation about an axis by an angle [rad]."""
    return apply("rot_by_axis", axis, ang)


def rot_yaw_pitch_roll(yaw: Any, pitch: Any, roll: Any) -> Any:
    """Return the 4x4 matrix of a rotation by three angles [rad]."""
    return apply("rot_yaw_pitch_roll", yaw, pitch, roll)


def rotation3d(ang_x: Any, ang_y: Any, ang_z: Any) -> Any:
    """Return the 4x4 matrix of a rotation about the three axes [rad]."""
    return apply("rotation3d", ang_x, ang_y, ang_z)


def cconj(z: Any) -> Any:
    """Return the conjugate of a complex number (re, im)."""
    return apply("cconj", z)


def cmul(z1: Any, z2: Any) -> Any:
    """Return the product of two complex numbers (re, im)."""
    return apply("cmul", z1, z2)


def cdiv(z1: Any, z2: Any) -> Any:
    """Return the quotient of two complex numbers (re, im)."""
    return apply("cdiv", z1, z2)


def cinv(z: Any) -> Any:
    """Return 1 / z of a complex number (re, im)."""
    return apply("cinv", z)


def cexp(z: Any) -> Any:
    """Return e to the power of a complex number (re, im)."""
    return apply("cexp", z)


def clog(z: Any) -> Any:
    """Return the logarithm of a complex number (re, im)."""
    return apply("clog", z)


def csqrt(z: Any) -> Any:
    """Return the square root of a complex number (re, im)."""
    return apply("csqrt", z)


def cpow(z: Any, n: Any) -> Any:
    """Return a complex number (re, im) to the power of a real one."""
    return apply("cpow", z, n)


def eye(n: int) -> Any:
    """Return the matrix of n rows with ones on the diagonal."""
    return wrapped(np.eye(n))


if not TYPE_CHECKING:  # which would take any name as known

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module 'difftile.lang.math' has no attribute '{name}'")
        raise missing("The module 'difftile.lang.math'", name, attribute("lang", name, __all__))


def __dir__() -> list[str]:
    return __all__
