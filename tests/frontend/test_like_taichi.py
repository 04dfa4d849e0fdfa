"""Expressions with the same meaning in a kernel as in Taichi: name by name, side by side.

Each expression is evaluated by a `@ti.kernel` and by a `@dt.kernel` of the same text.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt

_FLOATS = np.array(
    [0.7, -0.4, 1.3, 0.25, 2.0, -1.5, 0.9, 0.3, -0.8, 1.1, 0.6, -0.2, 0.45, 1.7, -1.1, 0.15],
    np.float32,
)
_INTEGERS = np.array([7, -3, 2, 5, 0, -8, 1, 12], np.int32)

_LOCALS = """\
    a = f[0]; b = f[1]; c = f[2]; d = f[3]
    i = g[0]; j = g[1]; k = g[2]; l = g[3]; z = g[4]
    p = ti.Vector([f[0], f[1]]); q = ti.Vector([f[2], f[5]])
    u = ti.Vector([f[0], f[1], f[2]]); v = ti.Vector([f[4], f[5], f[6]])
    h = ti.Vector([f[0], f[1], f[2], f[3]])
    iu = ti.Vector([g[0], g[1], g[2]]); iv = ti.Vector([g[3], g[5], g[6]])
    m = ti.Matrix([[f[0], f[1]], [f[2], f[3]]]); n = ti.Matrix([[f[4], f[5]], [f[6], f[7]]])
    m3 = ti.Matrix([[f[0], f[1], f[2]], [f[3], f[4], f[5]], [f[6], f[7], f[8]]])
    m4 = ti.Matrix([[f[4 * x + y] for y in range(4)] for x in range(4)])
    r23 = ti.Matrix([[f[0], f[1], f[2]], [f[3], f[4], f[5]]])
    im = ti.Matrix([[g[0], g[1]], [g[2], g[3]]])
""".replace(
    "[[f[4 * x + y] for y in range(4)] for x in range(4)]",
    str([[f"f[{4 * x + y}]" for y in range(4)] for x in range(4)]).replace("'", ""),
)

# Expressions by the shape of their values, several on a line.
_EXPRESSIONS: dict[tuple[int, ...], str] = {
    (): """
        ti.math.pi * ti.math.e; ti.math.inf; -ti.math.inf; ti.math.nan
        ti.math.mix(a, b, d); ti.math.clamp(a, b, d); ti.math.clamp(i, 0, 5)
        ti.math.clamp(a, 1.0, 0.0); ti.math.step(a, b); ti.math.fract(b)
        ti.math.smoothstep(b, c, a); ti.math.sign(b); ti.math.sign(j); ti.math.log2(a)
        ti.math.radians(a); ti.math.distance(u, v); ti.math.dot(u, v); ti.math.cross(p, q)
        p.cross(q); ti.math.mod(b, c); ti.math.mod(j, k); ti.math.length(u)
        ti.math.determinant(m3); ti.math.isinf(a); ti.math.isnan(a); ti.math.popcnt(i)
        ti.math.popcnt(j); ti.math.clz(i); ti.math.clz(j); ti.math.clz(z)
        ti.round(b); ti.round(b, ti.i32); ti.floor(b, dtype=int); ti.floor(b, int) / 2
        u.norm(); u.norm(1e-3); u.norm(eps=1e-3); m3.norm(); u.norm_sqr(); m.norm_sqr()
        iu.norm_sqr(); u.norm_inv(); u.norm_inv(0.1); u.dot(v); iu.dot(iv); m3.trace(); im.trace()
        m4.determinant(); im.determinant(); u.sum(); iu.sum(); m3.sum(); u.max(); u.min()
        m3.max(); iu.min(); u.any(); iu.all(); any(u); all(u > -1); any(u == v); (u > v).any()
        u.n; m3.n * m3.m; len(u); u.get_shape()[0]; p @ q; 1 << iv.z; not (a > b)
        ti.select(i, a, b); ti.max(a, b, c); ti.max(a); abs(j); ti.rsqrt(c)
        ti.zero(a); ti.zero(i) + 1; ti.raw_div(i, k); ti.raw_div(j, k); ti.raw_div(a, b)
        ti.raw_mod(j, k); ti.raw_mod(i, j); ti.bit_shr(j, 1)
        i // k; j // k; i // j; j // -2; i % j; j % k; j % -2; j / 2; i / k; 5 // k; -7 // k
        7 % -3; a // b; b // a; b % a; a % b; b % -0.3; i // 2.5; i % 2.5; j % 2.5; i / 2 * 2
        i ** 2; j ** 3; i ** 0; z ** 0; z ** 2; i ** k; j ** k; j ** l; i ** z; i ** 20; j ** 19
        2 ** i; (-2) ** k; z ** z; ti.pow(i, 2); ti.pow(j, k); pow(2, l); i ** 0.5; 2.0 ** j
        b ** 2; b ** 3; b ** -2; b ** k; b ** l; b ** j; b ** 2.0; a ** b; a ** 17; b ** 20
        b ** -20; b ** (k * 1.0); pow(b, 2); ti.pow(b, k); (-2.0) ** 3
        i << k; j << 2; j >> 1; i >> 31; i & j; i | j; i ^ j; ~i; ~j; (i & 3) == 3
        2147483647 + i; i * 1000000000; -i; ti.max(i, j); ti.min(i, a); max(i, 2.5)
        int(b); int(2.9); int(c * -2); float(i) / 2; bool(z); int(a > b); (a > b) * 3; not z
        a < c < 2; 0 < a < b; a > b > -1 < c; i == 7 != j; a > 0 and b > 0; a > 0 or b > 0
        i and j; z or j; z and 1; not (i and z); i if a > b else j; i < a; i == 7.0
        ti.cast(i, ti.i8); ti.cast(300, ti.u8); ti.cast(i * 50, ti.i8); ti.cast(j, ti.u8)
        ti.cast(j, ti.u32) > 5; ti.cast(b * 10, ti.i8); ti.cast(a, ti.f64); ti.cast(c, ti.f16)
        ti.cast(b, ti.i64); ti.u8(i) + ti.u8(250); ti.i64(i) // ti.i64(j); ti.u32(j) // 2
        ti.u32(i) - ti.u32(12); ti.u32(j) >> 1; ti.u8(200) + ti.i8(100); ti.i16(i) * 10000
        ti.u8(i) * 100; 300 - ti.u8(i); ti.u8(i) == 263; i + ti.i64(j); ti.u32(5) - i
        ti.u8(200) < ti.i8(-3); ti.u32(i) > j; ti.bit_cast(a, ti.i32); ti.bit_cast(j, ti.u32)
        ti.bit_cast(i + 1065353216, ti.f32); ti.bit_cast(ti.cast(b, ti.f64), ti.i64) >> 32
        ti.math.popcnt(ti.u32(j)); ti.math.popcnt(ti.i64(j)); ti.math.clz(ti.u32(j))
    """,
    (2,): """
        ti.math.vdir(a); ti.math.cmul(p, q); ti.math.cconj(p); ti.math.cdiv(p, q)
        ti.math.csqrt(p); ti.math.csqrt(q); ti.math.csqrt(ti.zero(p)); ti.math.cinv(p)
        ti.math.cpow(p, 2.5); ti.math.cpow(p, 2); ti.math.cexp(p); ti.math.clog(p)
        ti.math.vec2(a, b); ti.math.ivec2(i, j); ti.math.uvec2(i, k); ti.Vector([a, b], ti.f32)
        ti.Vector([a, b], dt=ti.i32); ti.Vector([1, 2]) / 4; m @ p; p @ m; r23 @ u; p.st
        ti.solve(m, p)
    """,
    (3,): """
        ti.math.clamp(u, -0.1, 0.5); ti.math.fract(u); ti.math.smoothstep(-1.0, 1.0, u)
        ti.math.sign(u); ti.math.normalize(u); ti.math.reflect(u, v)
        ti.math.refract(u, v, 0.5); ti.math.degrees(u); ti.math.cross(u, v)
        ti.math.mod(u, 0.3); ti.ceil(u, ti.i32); ti.math.vec3(p, a); ti.math.ivec3(a, c, b)
        ti.math.vec3(0); ti.math.vec3(iu); u.normalized(); u.normalized(0.5); u.cross(v)
        iu.cross(iv); u.cast(ti.i32); iu.cast(float) / 2; ti.Vector.zero(ti.f32, 3)
        ti.Vector.one(float, 3); ti.Matrix.unit(3, 1); ti.Vector.unit(3, 1, ti.f32)
        ti.Vector.unit(3, 2) / 2; v @ m3; p @ r23; u + 1; 2 - u; u * v; u / v; 1 / u; iu / 2
        iu // 2; iu % 3; u // 0.3; u % 0.3; u ** 2; v ** 2.5; ti.abs(u) ** v; 2 ** u; iu ** 2
        -u; +u; iu + u; iu & 3; iu | iv; iu ^ iv; ~iu; iu << 1; iu >> 1; u < v; u == v; iu != iv
        iu >= 2; ti.select(u > v, u, v); ti.select(a > b, u, v); ti.select(iu, u, v)
        ti.max(u, v); ti.min(u, 0.1); max(u, 0); ti.abs(iu); ti.sqrt(ti.abs(u))
        ti.pow(ti.abs(u), 2); ti.atan2(u, v); ti.tanh(u); ti.acos(u * 0.5); ti.zero(u); u.zyx
        u.rgb; ti.solve(m3, u)
    """,
    (4,): """
        ti.math.vec4(p, q); ti.math.vec4(u, 1); h.xyzw; h.rgba; h.stpq; ti.math.vec4(a, u)
    """,
    (2, 2): """
        ti.math.rotation2d(a); ti.math.mat2(a, b, c, d); ti.math.mat2([[a, b], [c, d]])
        ti.math.mat2(p, q); ti.math.mat2(3); ti.math.mat2(m); im.inverse(); m.cast(int)
        ti.Matrix.rows([[a, b], [c, d]]); ti.Matrix.diag(dim=2, val=2); ti.Matrix.one(ti.i32, 2, 2)
        ti.Matrix([[a, b], [c, d]], ti.f32); m @ n; im @ im; im @ m; -m; m * 2 + n / 3; m * n
        ti.exp(m); ti.one(m); p.outer_product(q); m.inverse(); ti.select(m > n, m, n)
    """,
    (2, 3): "p.outer_product(v); ti.Matrix.rows([u, v]); r23 @ m3; ti.Matrix.zero(ti.f32, 2, 3)",
    (3, 2): "r23.transpose(); ti.Matrix.cols([u, v])",
    (3, 3): """
        ti.math.eye(3); ti.math.inverse(m3); ti.math.mat3(u, v, u); ti.Matrix.diag(3, a)
        ti.Matrix.identity(ti.f32, 3)
    """,
    (4, 4): """
        ti.math.translate(a, b, c); ti.math.scale(a, b, c); ti.math.scale(1.0, 2.0, c)
        ti.math.rot_by_axis(u, a); ti.math.rot_yaw_pitch_roll(a, b, c)
        ti.math.rotation3d(a, b, c); m4.inverse()
    """,
}
_CASES = [
    (expression.strip(), shape)
    for shape, text in _EXPRESSIONS.items()
    for line in text.strip().splitlines()
    for expression in line.split(";")
]
_CHUNKS = [_CASES[k : k + 32] for k in range(0, len(_CASES), 32)]


def _source(cases: list[tuple[str, tuple[int, ...]]], *, in_taichi: bool) -> str:
    array = ": ti.types.ndarray()" if in_taichi else ""
    lines = [
        "import taichi as ti",
        "import difftile as dt",
        "@ti.kernel" if in_taichi else "@dt.kernel",
        f"def evaluate(f{array}, g{array}, out{array}):",
        _LOCALS,
    ]
    at = 0
    for number, (expression, shape) in enumerate(cases):
        lines.append(f"    value_{number} = {expression}")
        for cell in np.ndindex(*shape):
            part = f"value_{number}[{', '.join(map(str, cell))}]" if cell else f"value_{number}"
            lines.append(f"    out[{at}] = ti.cast({part}, ti.f32)")
            at += 1
    return "\n".join(lines) + "\n"


def _evaluated(path: Path, cases: Any, *, in_taichi: bool) -> np.ndarray[Any, Any]:
    path.write_text(_source(cases, in_taichi=in_taichi))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    out = np.full(sum(int(np.prod(shape)) for _, shape in cases), -77, np.float32)
    if in_taichi:
        module.evaluate(_FLOATS.copy(), _INTEGERS.copy(), out)
        return out
    field = dt.from_numpy(out)
    module.evaluate(dt.from_numpy(_FLOATS), dt.from_numpy(_INTEGERS), field)
    return field.to_numpy()


@pytest.mark.taichi
@pytest.mark.parametrize("cases", _CHUNKS, ids=lambda cases: cases[0][0])
def test_expressions_agree(cases: list[tuple[str, tuple[int, ...]]], tmp_path: Path) -> None:
    wanted = _evaluated(tmp_path / "in_taichi.py", cases, in_taichi=True)
    found = _evaluated(tmp_path / "in_difftile.py", cases, in_taichi=False)
    at = 0
    for expression, shape in cases:
        size = int(np.prod(shape))
        here = slice(at, at + size)
        np.testing.assert_allclose(
            found[here], wanted[here], rtol=2e-5, atol=1e-6, err_msg=expression
        )
        at += size
