"""Derivatives at edges and kinks, with the documented numbers, through whole kernels.

Each row is an expression over `a`, `b`, `c` (or the vectors `v`, `w` of three of them), their
values, its value, and the adjoints of `a`, `b`, `c` ... for an adjoint of 1. All rows are evaluated
by one kernel, in double and in single precision.
"""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt

INF, NAN = math.inf, math.nan
ANY = None  # a value that the row does not promise

# Numerically unstable functions.
_UNSTABLE: list[tuple[str, tuple[float, ...], Any, tuple[Any, ...]]] = [
    ("a / b", (1.0, 2.0), 0.5, (0.5, -0.25)),
    ("a / b", (1e-20, 1e-20), 1, (1e20, -1e20)),
    ("a / b", (0.0, 1e-30), 0, (1e30, 0)),
    ("ti.sqrt(a)", (0.0,), 0, (0,)),
    ("ti.sqrt(a)", (4.0,), 2, (0.25,)),
    ("ti.sqrt(a * a + b * b)", (0.0, 0.0), 0, (0, 0)),
    ("ti.sqrt(a * a + b * b)", (3.0, 4.0), 5, (0.6, 0.8)),
    ("ti.math.length(v)", (0.0, 0.0, 0.0), 0, (0, 0, 0)),
    ("v.norm()", (3.0, 0.0, 4.0), 5, (0.6, 0, 0.8)),
    ("ti.math.distance(v, w)", (1.0, 2.0, 3.0, 1.0, 2.0, 3.0), 0, (0,) * 6),
    ("ti.math.distance(v, w)", (3.0, 0.0, 4.0, 0.0, 0.0, 0.0), 5, (0.6, 0, 0.8, -0.6, 0, -0.8)),
    ("v.normalized().sum()", (0.0, 0.0, 0.0), 0, (0, 0, 0)),
    ("ti.math.normalize(v).x", (0.0, 0.0, 0.0), 0, (0, 0, 0)),
    ("ti.math.normalize(v).x", (3.0, 0.0, 4.0), 0.6, (0.128, 0, -0.096)),
    ("ti.pow(a, b)", (2.0, 3.0), 8, (12, 5.545177444479562)),
    ("ti.pow(a, b)", (0.0, 1.0), 0, (1, 0)),
    ("ti.pow(a, b)", (-2.0, 2.0), 4, (-4, 0)),
    ("ti.pow(a, b)", (0.0, 0.0), 1, (0, 0)),
    ("ti.pow(a, b)", (0.0, 2.0), 0, (0, 0)),
    ("ti.pow(a, b)", (-2.0, 3.0), -8, (12, 0)),
    ("ti.pow(a, b)", (-2.0, -1.0), -0.5, (-0.25, 0)),
    ("ti.pow(a, b)", (0.0, 0.5), 0, (INF, 0)),
    ("a ** 2", (0.0,), 0, (0,)),
    ("a ** 1", (0.0,), 0, (1,)),
    ("a ** 0", (0.0,), 1, (0,)),
    ("a ** 3", (-2.0,), -8, (12,)),
    ("a ** -2", (-2.0,), 0.25, (0.25,)),
    ("a ** 0.5", (0.0,), 0, (INF,)),
    ("a ** int(b)", (-2.0, 3.0), -8, (12, 0)),
    ("math.fmod(a, b)", (7.0, 3.0), 1, (1, -2)),
    ("math.fmod(a, b)", (-7.0, 3.0), -1, (1, 2)),
    ("a % b", (7.0, 3.0), 1, (1, -2)),
    ("a % b", (-7.0, 3.0), 2, (1, 3)),
    ("a % 2.0", (3.5,), 1.5, (1,)),
    ("dt.sigmoid(a)", (-100.0,), 0, (0,)),
    ("dt.sigmoid(a)", (-1000.0,), 0, (0,)),
    ("dt.sigmoid(a)", (100.0,), 1, (0,)),
    ("dt.sigmoid(a)", (0.0,), 0.5, (0.25,)),
    ("dt.sigmoid(a)", (2.0,), 0.8807970779778823, (0.10499358540350662,)),
    ("ti.select(a > 0, ti.log(a), 0.0)", (0.0,), 0, (0,)),
    ("ti.select(a > 0, ti.log(a), 0.0)", (2.0,), math.log(2), (0.5,)),
    ("ti.select(a > 0, ti.sqrt(a), a)", (-1.0,), -1, (1,)),
    ("ti.select(a != 0, ti.sin(a) / a, 1.0)", (0.0,), 1, (0,)),
    ("ti.log(a) if a > 0 else 0.0", (0.0,), 0, (0,)),
    ("ti.select(a < 50, ti.exp(a), a)", (1000.0,), 1000, (1,)),
    ("ti.select(b > 0, a / b, a)", (3.0, 0.0), 3, (1, 0)),
    ("ti.select(a > 0, ti.rsqrt(a), 0.0)", (0.0,), 0, (0,)),
    ("ti.select(a < 1, ti.acos(a), 0.0)", (1.0,), 0, (0,)),
    ("ti.select(a > 0, ti.pow(a, b), 0.0)", (0.0, 0.5), 0, (0, 0)),
    ("1 / a", (0.0,), INF, (-INF,)),
    ("ti.rsqrt(a)", (0.0,), INF, (-INF,)),
    ("ti.rsqrt(a)", (4.0,), 0.5, (-0.0625,)),
    ("ti.log(a)", (0.0,), -INF, (INF,)),
    ("ti.log(a)", (2.0,), math.log(2), (0.5,)),
    ("ti.asin(a)", (1.0,), math.pi / 2, (INF,)),
    ("ti.acos(a)", (1.0,), 0, (-INF,)),
    ("ti.atan2(a, b)", (1.0, 1.0), math.pi / 4, (0.5, -0.5)),
    ("ti.atan2(a, b)", (0.0, -1.0), math.pi, (-1, 0)),
    ("ti.atan2(a, b)", (0.0, 0.0), ANY, (NAN, NAN)),
    ("ti.exp(a)", (1000.0,), INF, (INF,)),
    ("ti.math.cross(v, w).x", (0.0, 0.0, 0.0, 1.0, 2.0, 3.0), 0, (0, 3, -2, 0, 0, 0)),
]

_E, _P = math.e, 1 + math.e + math.e**2  # of the softmax of (1, 2, 3)

# Stable functions, and gradients that are cut.
_STABLE: list[tuple[str, tuple[float, ...], Any, tuple[Any, ...]]] = [
    ("dt.logsumexp(a, b)", (0.0, 0.0), math.log(2), (0.5, 0.5)),
    ("dt.logsumexp(a, b)", (1000.0, 1000.0), 1000 + math.log(2), (0.5, 0.5)),
    ("dt.logsumexp(a, b)", (1.0, 2.0), 2.313261687518223, (1 / (1 + _E), _E / (1 + _E))),
    ("dt.logsumexp(a, b)", (0.0, -INF), 0, (1, 0)),
    ("dt.logsumexp(a, b)", (-INF, -INF), -INF, (NAN, NAN)),
    ("dt.logsumexp(v)", (1.0, 2.0, 3.0), 3 + math.log(_P) - 2, (1 / _P, _E / _P, _E**2 / _P)),
    ("dt.log1p(a)", (1e-20,), 1e-20, (1,)),
    ("dt.log1p(a)", (-1.0,), -INF, (INF,)),
    ("dt.expm1(a)", (1e-20,), 1e-20, (1,)),
    ("dt.expm1(a)", (1000.0,), INF, (INF,)),
    ("dt.softplus(a)", (1000.0,), 1000, (1,)),
    ("dt.softplus(a)", (-1000.0,), 0, (0,)),
    ("dt.softplus(a, b)", (0.0, 2.0), math.log(2) / 2, (0.5, -math.log(2) / 4)),
    ("dt.logit(a)", (0.5,), 0, (4,)),
    ("dt.logit(a)", (0.0,), -INF, (INF,)),
    ("dt.safe_divide(a, b)", (1.0, 2.0), 0.5, (0.5, -0.25)),
    ("dt.safe_divide(a, b)", (1.0, 0.0), 1e8, (1e8, 0)),
    ("dt.safe_divide(a, b)", (1.0, -1.0), -1, (-1, -1)),
    ("dt.safe_divide(a, b)", (1.0, 1e-9), 1e8, (1e8, 0)),
    ("dt.safe_divide(a, b)", (0.0, 0.0), 0, (1e8, 0)),
    ("dt.safe_divide(a, b)", (3.0, 1e-4), 3e4, (1e4, -3e8)),
    ("v.x / dt.safe_norm(v)", (0.0, 0.0, 0.0), 0, (1e8, 0, 0)),
    ("dt.stop_grad(a * a) + a", (3.0,), 12, (1,)),
    *(("a * dt.stop_grad(ti.floor(a))", (a,), a * k, (k,))
      for a, k in ((1.7, 1), (-0.3, -1), (2.0, 2))),
    *(("a + dt.stop_grad(ti.floor(a) - a)", (a,), k, (1,)) for a, k in ((1.7, 1), (-0.3, -1))),
]  # fmt: skip

# Subgradients.
_KINKS: list[tuple[str, tuple[float, ...], Any, tuple[Any, ...]]] = [
    ("ti.max(a, b)", (1.0, 2.0), 2, (0, 1)),
    ("ti.max(a, b)", (2.0, 1.0), 2, (1, 0)),
    ("ti.max(a, b)", (2.0, 2.0), 2, (0.5, 0.5)),
    ("ti.max(a, b)", (NAN, 1.0), ANY, (0.5, 0.5)),
    ("ti.min(a, b)", (1.0, 2.0), 1, (1, 0)),
    ("ti.min(a, b)", (2.0, 1.0), 1, (0, 1)),
    ("ti.min(a, b)", (2.0, 2.0), 2, (0.5, 0.5)),
    *((f"ti.max({x})", (a,), max(a, 0), (g,)) for x in ("a, 0", "0, a")
      for a, g in ((-1.0, 0), (0.0, 0.5), (1.0, 1))),
    ("ti.max(a, a)", (3.0,), 3, (1,)),
    ("ti.max(ti.max(a, 1), 2)", (2.0,), 2, (0.5,)),
    ("ti.max(v, w).dot(ti.math.vec3(1, 10, 100))", (1.0, 2.0, 3.0, 3.0, 2.0, 1.0), 323,
     (0, 5, 100, 1, 5, 0)),
    *(("ti.abs(a)", (a,), abs(a), (g,)) for a, g in ((-2.0, -1), (0.0, 0), (-0.0, 0), (2.0, 1))),
    *(("ti.math.sign(a) + a", (a,), np.sign(a) + a, (1,)) for a in (-2.0, 0.0, 2.0)),
    ("ti.math.clamp(a, b, c)", (-1.0, 0.0, 1.0), 0, (0, 1, 0)),
    ("ti.math.clamp(a, b, c)", (0.0, 0.0, 1.0), 0, (1, 0, 0)),
    ("ti.math.clamp(a, b, c)", (0.5, 0.0, 1.0), 0.5, (1, 0, 0)),
    ("ti.math.clamp(a, b, c)", (1.0, 0.0, 1.0), 1, (1, 0, 0)),
    ("ti.math.clamp(a, b, c)", (2.0, 0.0, 1.0), 1, (0, 0, 1)),
    ("ti.math.clamp(a, b, c)", (1.0, 1.0, 1.0), 1, (1, 0, 0)),
    # Bounds out of order: the value is the upper one, which also receives the adjoint.
    ("ti.math.clamp(a, b, c)", (0.0, 1.0, 0.0), 0, (0, 0, 1)),
    *(("ti.math.clamp(a, 0, 1)", (a,), min(max(a, 0), 1), (g,))
      for a, g in ((-1.0, 0), (0.0, 1), (0.5, 1), (1.0, 1), (2.0, 0))),
    *(("a if a > 0 else 0.0", (a,), max(a, 0), (g,)) for a, g in ((-1.0, 0), (0.0, 0), (1.0, 1))),
    ("a if a >= 0 else 0.0", (0.0,), 0, (1,)),
    *(("ti.select(a > 0, a * a, -a)", (a,), z, (g,))
      for a, z, g in ((-1.0, 1, -1), (0.0, 0, -1), (2.0, 4, 4))),
    *(("ti.math.fract(a)", (a,), a % 1, (1,)) for a in (-1.0, -0.25, 0.0, 0.25, 2.0)),
    *((f"ti.{op}(a) * a", (a,), z * a, (z,))
      for op, a, z in (("floor", 1.7, 1), ("floor", 2.0, 2), ("ceil", 1.2, 2), ("round", 1.7, 2),
                       ("floor", -0.3, -1))),
    ("math.trunc(a) * a", (-1.5,), 1.5, (-1,)),
    ("ti.math.step(b, a) * a", (1.0, 1.0), 1, (1, 0)),
    ("ti.math.smoothstep(a, b, c)", (0.0, 1.0, 0.5), 0.5, (-0.75, -0.75, 1.5)),
    ("ti.math.smoothstep(0, 1, a)", (0.25,), 0.15625, (1.125,)),
    ("ti.math.smoothstep(0, 1, a)", (0.0,), 0, (0,)),
    ("ti.math.smoothstep(0, 1, a)", (1.5,), 1, (0,)),
    ("float(int(a)) * a", (2.7,), 5.4, (2,)),
    ("ti.cast(ti.cast(a, ti.i32), ti.f64) + b", (2.7, 1.0), 3, (0, 1)),
    ("ti.bit_cast(ti.cast(a, ti.f32), ti.i32) * 0 + a", (2.0,), 2, (1,)),
    ("ti.select(ti.math.isnan(a), 0.0, a)", (3.0,), 3, (1,)),
    ("0.0 if ti.math.isnan(a) else a", (3.0,), 3, (1,)),
    ("ti.math.mix(a, b, c)", (2.0, 6.0, 0.25), 3, (0.75, 0.25, 4)),
    ("math.copysign(a, b)", (2.0, -1.0), -2, (-1, 0)),
    ("a if b > 0 else 2 * a", (3.0, 0.0), 6, (2, 0)),
    ("v.max()", (1.0, 5.0, 5.0), 5, (0, 0.5, 0.5)),
    ("ti.math.csqrt(v.xy).x", (0.0, 0.0, 0.0), 0, (0, 0, 0)),
]  # fmt: skip
_ROWS = _UNSTABLE + _STABLE + _KINKS
_CHUNKS = [_ROWS[k : k + 12] for k in range(0, len(_ROWS), 12)]


def _source(rows: list[Any]) -> str:
    lines = [
        "import math",
        "import taichi as ti",
        "import difftile as dt",
        "@dt.kernel",
        "def evaluate(x, y):",
        "    for k in range(1):",
    ]
    for n, (expression, given, _, _) in enumerate(rows):
        of_vectors = re.search(r"\b[vw]\b", expression) is not None
        if of_vectors:
            lines.append(f"        v = ti.math.vec3(x[{n}, 0], x[{n}, 1], x[{n}, 2])")
        if len(given) == 6:
            lines.append(f"        w = ti.math.vec3(x[{n}, 3], x[{n}, 4], x[{n}, 5])")
        if not of_vectors:
            named = enumerate("abc"[: len(given)])
            lines += [f"        {name} = x[{n}, {i}]" for i, name in named]
        lines.append(f"        y[{n}] = {expression}")
    return "\n".join(lines) + "\n"


def _kernel(path: Path, rows: list[Any]) -> Any:
    path.write_text(_source(rows))
    spec = importlib.util.spec_from_file_location("rows", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.evaluate


@pytest.mark.parametrize("rows", _CHUNKS, ids=lambda rows: rows[0][0])
def test_values_and_adjoints(rows: list[Any], tmp_path: Path) -> None:
    kernel = _kernel(tmp_path / "rows.py", rows)
    for dtype in (np.float64, np.float32):
        _check(kernel, rows, dtype)


def _check(kernel: Any, rows: list[Any], dtype: Any) -> None:
    inputs = np.zeros((len(rows), 6))
    for n, (_, given, _, _) in enumerate(rows):
        inputs[n, : len(given)] = given
    x = dt.from_numpy(inputs.astype(dtype), grad=True)
    y = dt.from_numpy(np.zeros(len(rows), dtype), grad=True)
    with dt.Tape() as tape:
        kernel(x, y)
    tape.backward({y: 1.0})
    values, slopes = y.to_numpy(), x.grad.to_numpy()
    rtol = 1e-13 if dtype == np.float64 else 1e-5
    wrong: list[str] = []
    for n, (expression, given, value, adjoints) in enumerate(rows):
        found = slopes[n, : len(given)]
        agrees = value is ANY or np.allclose(values[n], value, rtol, rtol, equal_nan=True)
        if not agrees or not np.allclose(found, adjoints, rtol, rtol, equal_nan=True):
            wrong.append(f"{expression} at {given}: {values[n]} {found}, not {value} {adjoints}")
    assert not wrong, "\n".join(wrong)
