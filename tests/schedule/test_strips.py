"""Loops in strips: which ones run in them, and that they compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from difftile import meaning
from difftile.ir.nodes import Alloc, Program
from difftile.ir.parse import parse
from difftile.ir.walk import walk
from difftile.ops.check import check
from difftile.schedule.strips import in_strips
from difftile.substrate.vector_functions import FUNCTIONS as ALL

FUNCTIONS = {*ALL} - {"logit"}

HEAD = "program f(x: field<f32, 1>, v: field<vec2<f32>, 1>, at: field<i32, 1>, a: field<f32, 2>)\n"

CUT = {
    "a gather": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    u: vec2<f32> = v[j]
    s: f32 = extract(u, 0:i32)
    t: f32 = mul(s, 2.0:f32)
    x[i] = t
""",
    "a neighbour at a limit, and an element that an iteration reads before it adds to it": """
  n = shape(x, 0)
  parallel for i in 3:i32..n:
    before: i32 = sub(i, 50:i32)
    j: i32 = max(before, 0:i32)
    u: vec2<f32> = v[j]
    b: f32 = x[i]
    s: f32 = extract(u, 1:i32)
    t: f32 = mul(s, b)
    x[i] += t  (exclusive)
    x[i] = 2.0:f32
    x[i] += s  (exclusive)
""",
    "rows, of which each iteration writes two elements elsewhere": """
  n = shape(a, 0)
  m = shape(a, 1)
  parallel for i in 0:i32..n, j in 0:i32..m:
    t: i32 = mul(i, 31:i32)
    u: i32 = add(t, j)
    k: i32 = mod(u, 7:i32)
    e: vec2<f32> = v[k]
    b: f32 = x[k]
    s: f32 = dot(e, e)
    far: bool = gt(s, b)
    r = if far:
      c: f32 = x[j]
      yield c
    else:
      yield b
    right: i32 = sub(m, j)
    last: i32 = sub(right, 1:i32)
    a[i, last] = r
""",
    "vectors, a literal and a number from before the loop": """
  n = shape(x, 0)
  h: f32 = x[0:i32]
  w: vec2<f32> = vec(h, 1.0:f32)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    b: f32 = a[0:i32, j]
    e: vec2<f32> = mul(w, b)
    v[i] = e
    v[i] += w  (exclusive)
    v[i, 1:i32] += 1.5:f32  (exclusive)
""",
}

SCATTERED = {
    "sums at places that memory tells": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    k: i32 = mod(j, 2:i32)
    later: i32 = sub(n, 1:i32)
    last: i32 = sub(later, j)
    b: f32 = x[i]
    u: vec2<f32> = vec(b, 0.25:f32)
    w: vec2<f32> = mul(u, b)
    y: vec2<f32> = sub(w, u)
    z: vec2<f32> = mul(y, y)
    e: vec2<f32> = mul(z, w)
    q: vec2<f32> = add(e, u)
    r: vec2<f32> = mul(q, q)
    v[last] += r
    v[last, k] += b
    x[i] = 0.0:f32
""",
    "vectors of places": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    both: vec2<i32> = vec(j, i)
    half: vec2<i32> = floordiv(both, 2:i32)
    p: i32 = extract(half, 0:i32)
    c: i32 = add(p, 1:i32)
    b: f32 = x[j]
    u: vec2<f32> = v[j]
    d: vec2<f32> = mul(u, b)
    e: vec2<f32> = sub(d, u)
    f: vec2<f32> = mul(e, d)
    h: vec2<f32> = add(f, e)
    m: vec2<f32> = sub(h, d)
    w: f32 = extract(m, 0:i32)
    y: f32 = extract(m, 1:i32)
    q: f32 = mul(w, y)
    g: f32 = add(q, w)
    a[1:i32, p] += g
    a[2:i32, c] += g  (exclusive)
    a[0:i32, p] += 0.5:f32
""",
}

KEPT = {
    "copies": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    b: f32 = a[0:i32, j]
    x[i] = b
""",
    "elements at steps of the index": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = add(i, 2:i32)
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    x[i] = b
""",
    "an element of another iteration": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = x[j]
    b: f32 = mul(q, q)
    x[i] = b
""",
    "an element that the iteration has written": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    x[i] = b
    c: f32 = x[i]
    v[i, 0:i32] = c
""",
    "a place that memory tells": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    x[j] += b
""",
    "a copy to places that memory tells": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    x[j] = b
""",
    "one element for all iterations": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    x[0:i32] += b
""",
    "a loop inside the loop": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    for k in 0:i32..j:
      q: f32 = a[0:i32, k]
      b: f32 = mul(q, q)
      x[i] += b  (exclusive)
""",
    "a write under a condition": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    far: bool = gt(b, 0.5:f32)
    if far:
      x[i] = b
""",
    "a function that is a call": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    c: f32 = logit(b)
    x[i] = c
""",
    "numbers that are compared for equality": """
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    x[i] = b
  parallel for k in 0:i32..n:
    c: f32 = x[k]
    v[0:i32, 0:i32] max= c
""",
    "few iterations": """
  parallel for i in 0:i32..9:i32:
    j: i32 = at[i]
    q: f32 = a[0:i32, j]
    b: f32 = mul(q, q)
    x[i] = b
""",
}


def _results(program: Program, n: int) -> list[npt.NDArray[Any]]:
    rng = np.random.default_rng(2)
    fields = [
        rng.uniform(-2.0, 2.0, (n,)).astype(np.float32),
        rng.uniform(-2.0, 2.0, (n, 2)).astype(np.float32),
        rng.integers(0, n, n, np.int32),
        rng.uniform(-2.0, 2.0, (3, n)).astype(np.float32),
    ]
    meaning.run(program, dict(zip(program.params, fields, strict=True)))
    return fields


@pytest.mark.parametrize("text", SCATTERED.values(), ids=SCATTERED.keys())
def test_atomics_stay_as_they_are(text: str) -> None:
    before = parse(HEAD + text)
    assert in_strips(before, FUNCTIONS, atomics=True) == before
    assert in_strips(before, FUNCTIONS, atomics=False, lengths={1: None}) == before


@pytest.mark.parametrize(
    "text", [*CUT.values(), *SCATTERED.values()], ids=[*CUT.keys(), *SCATTERED.keys()]
)
def test_loops_in_strips(text: str) -> None:
    before = parse(HEAD + text)
    check(before)
    after = in_strips(before, FUNCTIONS, atomics=False)
    check(after)
    assert any(isinstance(s, Alloc) for s in walk(after.body))
    for n in (7, 64, 65, 150):
        for one, other in zip(_results(before, n), _results(after, n), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT.keys())
def test_loops_that_stay_as_they_are(text: str) -> None:
    before = parse(HEAD + text)
    check(before)
    assert in_strips(before, FUNCTIONS, atomics=False) == before
