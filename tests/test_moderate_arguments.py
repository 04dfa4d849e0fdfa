"""Sines and exponentials of moderate numbers: which loops have them, and what their errors are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti
from mpmath import mp

import difftile as dt
from difftile import interp
from difftile.ir.nodes import Let
from difftile.ir.parse import parse
from difftile.ir.walk import walk
from difftile.ops.check import check
from difftile.substrate.moderate_arguments import moderate_arguments
from tests.harness import vectors

INF, NAN = math.inf, math.nan
LIMITS: dict[Any, float] = {np.float32: 2.0**24, np.float64: 2.0**20}


@dt.kernel
def exponentials(x, y):
    for i in x:
        y[i] = ti.exp(x[i])


@dt.kernel
def sines(x, y, z):
    for i in x:
        y[i] = ti.sin(x[i])
        z[i] = ti.cos(x[i])


def _computed(x: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return sines and cosines as vector instructions compute them."""
    fields = [dt.from_numpy(values) for values in (x, np.zeros_like(x), np.zeros_like(x))]
    with vectors():
        sines(*fields)
    return fields[1].to_numpy(), fields[2].to_numpy()


def _hardest(dtype: Any) -> list[float]:
    """Return the numbers below the limit that are nearest to multiples of pi/2.

    Numbers of one exponent are whole multiples m of a power of two, and m k of pi/2; the best
    fractions m / k are the convergents of a continued fraction.
    """
    found: list[float] = []
    digits = np.finfo(dtype).nmant + 1
    with mp.workprec(300):
        for exponent in range(-digits, round(math.log2(LIMITS[dtype])) - digits + 1):
            x = mp.pi / 2 / mp.mpf(2) ** exponent
            (m, k), (last_m, last_k) = (int(x), 1), (1, 0)
            rest = x - int(x)
            while m < 2**digits:
                found.append(math.ldexp(m, exponent))
                part = int(1 / rest)
                rest = 1 / rest - part
                (m, k), (last_m, last_k) = (part * m + last_m, part * k + last_k), (m, k)
    return found


def _arguments(dtype: Any, count: int) -> npt.NDArray[Any]:
    """Return numbers of every size below the limit, and the nearest ones to multiples of pi/2."""
    rng = np.random.default_rng(5)
    limit = LIMITS[dtype]
    sizes = np.exp(rng.uniform(-60.0, math.log(limit), count)) * rng.choice([-1.0, 1.0], count)
    far = rng.integers(1, int(limit / 1.6), count) * (np.pi / 2)
    near = np.arange(-count // 2, count // 2) * (np.pi / 2)
    some = rng.uniform(-10.0, 10.0, count), sizes, far, near, _hardest(dtype)
    x = np.concatenate(some).astype(dtype)
    return x[np.abs(x) < limit]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_are_below_two_units_in_the_last_place(dtype: Any) -> None:
    x = _arguments(dtype, 400)
    with mp.workprec(200):
        for found, exact in zip(_computed(x), (mp.sin, mp.cos), strict=True):
            for at, y in zip(x.tolist(), found.tolist(), strict=True):
                wanted = exact(mp.mpf(at))
                unit = mp.ldexp(1, mp.frexp(wanted)[1] - np.finfo(dtype).nmant - 1) if wanted else 1
                assert abs(y - wanted) <= 2 * unit, at


def _exponentials(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    fields = [dt.from_numpy(values) for values in (x, np.zeros_like(x))]
    with vectors():
        exponentials(*fields)
    return fields[1].to_numpy()


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 80.0), (np.float64, 600.0)])
def test_errors_of_exponentials(dtype: Any, limit: float) -> None:
    rng = np.random.default_rng(6)
    halves = np.arange(-80, 80) * (math.log(2) / 2)
    sizes = np.exp(rng.uniform(-50.0, 0.0, 400)) * rng.choice([-1.0, 1.0], 400)
    x = np.concatenate([rng.uniform(-limit, limit, 1500), sizes, halves, [0.0]]).astype(dtype)
    with mp.workprec(200):
        for at, y in zip(x.tolist(), _exponentials(x).tolist(), strict=True):
            wanted = mp.exp(mp.mpf(at))
            unit = mp.ldexp(1, mp.frexp(wanted)[1] - np.finfo(dtype).nmant - 1)
            assert abs(y - wanted) <= 2 * unit, at
    for special in (limit, -limit, 88.0, -88.0, 700.0, -700.0, 1e30, -1e30, INF, -INF, NAN):
        x = np.linspace(-3.0, 3.0, 3000).astype(dtype)
        x[1500] = special
        with np.errstate(over="ignore", under="ignore"):
            wanted = np.exp(x)
        tolerance = 3 * np.finfo(dtype).eps
        np.testing.assert_allclose(_exponentials(x), wanted, rtol=tolerance, err_msg=str(special))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fast_math", [True, False])
def test_numbers_without_a_polynomial(dtype: Any, fast_math: bool) -> None:
    dt.init(arch="cpu", fast_math=fast_math)
    zeros = np.array([0.0, -0.0] * 8, dtype)
    for found, wanted in zip(_computed(zeros), (zeros, np.ones_like(zeros)), strict=True):
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
    limit = dtype(LIMITS[dtype])
    large = [limit, -limit, np.nextafter(limit, dtype(0)), np.finfo(dtype).max, 1e30]
    # One number is enough for a block of iterations, wherever it is.
    for special in (*large, INF, -INF, NAN):
        x = np.linspace(-3.0, 3.0, 3000).astype(dtype)
        x[1500] = special
        with np.errstate(invalid="ignore"):
            wanted = np.sin(x.astype(np.float64)), np.cos(x.astype(np.float64))
        for found, exact in zip(_computed(x), wanted, strict=True):
            tolerance = 3 * np.finfo(dtype).eps
            np.testing.assert_allclose(found, exact, rtol=0, atol=tolerance, err_msg=str(special))


CHANGED = {
    "a parallel loop": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  parallel for i in 2:i32..n:
    a: f32 = x[i]
    b: f32 = mul(a, 2.0:f32)
    c: f32 = sin(b)
    y[i] = c
""",
    "an element that an iteration reads and then writes": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  for t in 0:i32..3:i32:
    for i in 0:i32..n:
      a: f32 = x[i]
      b: f32 = y[i]
      c: f32 = sin(a)
      d: f32 = cos(b)
      e: f32 = add(c, d)
      x[i] = e
      y[i] = c
""",
    "a sum, and both precisions": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  for i in 0:i32..n, total <- s = 0.0:f32:
    a: f32 = x[i]
    wide: f64 = cast(a)
    b: f64 = sin(wide)
    c: f32 = cos(a)
    d: f32 = cast(b)
    g: f32 = exp(a)
    h: f32 = mul(c, g)
    e: f32 = mul(h, d)
    next: f32 = add(s, e)
    yield next
  y[0:i32] = total
""",
}

KEPT = {
    "an element that another iteration writes": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 1:i32..9:i32:
    j: i32 = sub(i, 1:i32)
    a: f32 = x[j]
    c: f32 = sin(a)
    x[i] = c
""",
    "an element that the iteration has written": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    b: f32 = y[i]
    x[i] = b
    a: f32 = x[i]
    c: f32 = sin(a)
    y[i] = c
""",
    "an element that all iterations write": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    a: f32 = x[0:i32]
    c: f32 = sin(a)
    x[0:i32] = c
""",
    "a number carried from one iteration to the next": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32, total <- s = 1.0:f32:
    c: f32 = sin(s)
    yield c
  y[0:i32] = total
""",
    "the sine of a sine": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    a: f32 = x[i]
    b: f32 = sin(a)
    c: f32 = sin(b)
    y[i] = c
""",
    "a sine under a condition": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    a: f32 = x[i]
    far: bool = gt(a, 0.5:f32)
    if far:
      b: f32 = sin(a)
      y[i] = b
""",
    "a loop of few iterations": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..3:i32:
    a: f32 = x[i]
    b: f32 = sin(a)
    y[i] = b
""",
}


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED.keys())
@pytest.mark.parametrize("special", [0.0, 1e9, INF, NAN])
def test_loops_with_a_copy_for_moderate_arguments(text: str, special: float) -> None:
    before = parse(text)
    after = moderate_arguments(before)
    check(after)
    marks = [s for s in walk(after.body) if isinstance(s, Let) and s.op == "moderate"]
    assert marks
    results: list[npt.NDArray[Any]] = []
    for program in (before, after):
        x, y = np.random.default_rng(2).uniform(-2.0, 2.0, (2, 2500)).astype(np.float32)
        x[77] = special
        with np.errstate(invalid="ignore"):
            interp.run(program, dict(zip(program.params, (x, y), strict=True)))
        results.append(np.stack([x, y]))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT.keys())
def test_loops_that_stay_as_they_are(text: str) -> None:
    before = parse(text)
    check(before)
    assert moderate_arguments(before) == before
