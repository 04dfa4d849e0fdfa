"""Functions that are polynomials: in which loops, and what becomes of arguments that have none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ir.nodes import Block, Const, Let, Program
from difftile.ir.parse import parse
from difftile.ir.types import F32, F64
from difftile.ir.walk import with_blocks
from difftile.ops.build import OpBuilder
from difftile.ops.check import check
from difftile.passes import split_index_sets
from difftile.passes.unroll_loops import unroll_loops
from difftile.schedule.apply import Applied
from difftile.schedule.target import Polynomials
from difftile.schedule.vectorise_functions import Vectorised, vectorise_functions
from difftile.substrate import variants
from difftile.substrate.backend import VectorMath
from difftile.substrate.compiler import backend
from difftile.substrate.emit import Emitted, emit
from difftile.substrate.spellings import TextSpelling
from difftile.substrate.vector_functions import LIMITS
from tests import harness, programs
from tests.harness import vectors

INF, NAN = math.inf, math.nan


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fast_math", [True, False])
def test_numbers_without_a_polynomial(dtype: Any, fast_math: bool) -> None:
    dt.init(arch="cpu", fast_math=fast_math)
    zeros = np.array([0.0, -0.0] * 8, dtype)
    for found, wanted in zip(_computed(zeros), (zeros, np.ones_like(zeros)), strict=True):
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
    limit = dtype(LIMITS["sin"][int(dtype == np.float64)])
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


def _with_polynomials(program: Program) -> Vectorised:
    return vectorise_functions(
        unroll_loops(program), backend().vector_math.polynomials, serial=True, reorders=True
    )


def _without_large_arguments(made: Vectorised) -> Program:
    """Return the program with NaN for arguments that a polynomial is not made for."""
    limits = backend().vector_math.limits

    def changed(block: Block) -> Block:
        b = OpBuilder()
        for stmt in block.stmts:
            if not (isinstance(stmt, Let) and stmt.out in made.polynomials and stmt.op in limits):
                b.append(with_blocks(stmt, changed))
                continue
            (argument,) = stmt.args
            limit = Const(limits[stmt.op][argument.type], argument.type)
            small = b.call("lt", b.call("abs", argument), limit)
            known = b.call("select", small, argument, Const(NAN, argument.type))
            b.append(replace(stmt, args=(known,)))
        return Block(tuple(b.stmts), block.results)

    return replace(made.program, body=changed(made.program.body))


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
    "conditions around arguments and sines": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    a: f32 = x[i]
    far: bool = gt(a, 0.5:f32)
    scale = if far:
      wide: f32 = y[i]
      very: bool = gt(wide, 0.1:f32)
      of = if very:
        s: f32 = sin(wide)
        yield s
      else:
        yield wide
      yield of
    else:
      t: f32 = mul(a, 3.0:f32)
      u: f32 = cos(t)
      yield u
    v: f32 = sin(scale)
    y[i] = v
""",
    "loops that are written out, and local arrays": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    local z: f32[2]
    a: f32 = x[i]
    b: f32 = mul(a, 2.0:f32)
    z[0:i32] = a
    z[1:i32] = b
    for k in 0:i32..3:i32, last <- s = a:
      c: f32 = add(s, 0.5:f32)
      d: f32 = sin(c)
      z[1:i32] += d
      yield c
    g: f32 = z[1:i32]
    h: f32 = cos(g)
    m: f32 = add(h, last)
    y[i] = m
""",
    "three axes": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  parallel for i in 1:i32..3:i32, j in 0:i32..5:i32, k in 0:i32..9:i32:
    l: i32 = mul(i, 40:i32)
    m: i32 = mul(j, 9:i32)
    p: i32 = add(l, m)
    q: i32 = add(p, k)
    a: f32 = x[q]
    b: f32 = sin(a)
    y[q] = b
""",
    "vectors": """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  for i in 0:i32..n:
    a: f32 = x[i]
    b: f32 = y[i]
    v: vec2<f32> = vec(a, b)
    w: vec2<f32> = sin(v)
    c: f32 = extract(w, 0:i32)
    d: f32 = extract(w, 1:i32)
    e: f32 = mul(c, d)
    y[i] = e
""",
}

KEPT = {
    "an element that another iteration writes": (
        "the loop writes elements of 'x' and uses others",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 1:i32..9:i32:
    j: i32 = sub(i, 1:i32)
    a: f32 = x[j]
    c: f32 = sin(a)
    x[i] = c
""",
    ),
    "an element that the iteration has written": (
        "its argument is only known while the loop runs",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    b: f32 = y[i]
    x[i] = b
    a: f32 = x[i]
    c: f32 = sin(a)
    y[i] = c
""",
    ),
    "an element that all iterations write": (
        "the loop writes one element of 'x' again and again",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    a: f32 = x[0:i32]
    c: f32 = sin(a)
    x[0:i32] = c
""",
    ),
    "a number carried from one iteration to the next": (
        "the loop has values that each iteration computes from the one before",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32, total <- s = 1.0:f32:
    c: f32 = sin(s)
    yield c
  y[0:i32] = total
""",
    ),
    "a loop of few iterations": (
        "",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..3:i32:
    a: f32 = x[i]
    b: f32 = sin(a)
    y[i] = b
""",
    ),
    "a number that is compared for equality": (
        "its last place matters to a comparison or to the number of iterations",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    a: f32 = x[i]
    b: f32 = sin(a)
    old: f32 = y[i]
    c: bool = eq(b, old)
    d: f32 = select(c, 1.0:f32, b)
    y[i] = d
""",
    ),
    "a number that may be the largest of an earlier launch": (
        "its last place matters to a comparison or to the number of iterations",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  best: f32 = y[0:i32]
  for i in 0:i32..9:i32:
    a: f32 = x[i]
    b: f32 = log(a)
    c: bool = ge(b, best)
    d: f32 = select(c, 1.0:f32, 0.0:f32)
    x[i] = d
""",
    ),
    "a number that an array hands on to a count of iterations": (
        "its last place matters to a comparison or to the number of iterations",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  parallel for i in 0:i32..n:
    a: f32 = x[i]
    b: f32 = exp(a)
    y[i] = b
  parallel for j in 0:i32..n:
    c: f32 = y[j]
    count: i32 = cast(c)
    for k in 0:i32..count:
      x[j] += 1.0:f32
""",
    ),
    "a place that is computed": (
        "the loop writes 'y' at computed places",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32:
    a: f32 = x[i]
    b: f32 = sin(a)
    k: i32 = mod(i, 5:i32)
    y[k] = b
""",
    ),
    "a place that a sine tells": (
        "a place in memory or a division depends on it",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  for i in 0:i32..9:i32, total <- s = 0.0:f32:
    a: f32 = x[i]
    b: f32 = sin(a)
    c: f32 = mul(b, 100.0:f32)
    k: i32 = cast(c)
    d: f32 = y[k]
    e: f32 = sin(d)
    next: f32 = add(s, e)
    yield next
  x[0:i32] = total
""",
    ),
    "a loop beside the sine": (
        "",
        """
program f(x: field<f32, 1>, y: field<f32, 1>)
  n = shape(x, 0)
  for i in 0:i32..n:
    a: f32 = x[i]
    b: f32 = sin(a)
    for k in 0:i32..n:
      y[k] += b
""",
    ),
}


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED.keys())
@pytest.mark.parametrize("special", [0.0, 1e9, -1e9, INF, NAN])
def test_loops_with_a_copy_for_moderate_arguments(
    text: str, special: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_index_sets, "BLOCK", 64)
    before = parse(text)
    made = _with_polynomials(before)
    after = made.program
    check(after)
    assert made.polynomials
    assert not made.calls
    results: list[npt.NDArray[Any]] = []
    for program in (before, after, _without_large_arguments(made)):
        x, y = np.random.default_rng(2).uniform(-2.0, 2.0, (2, 200)).astype(np.float32)
        x[77] = special
        with np.errstate(invalid="ignore"):
            meaning.run(program, dict(zip(program.params, (x, y), strict=True)))
        results.append(np.stack([x, y]))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_loops_of_few_iterations_call_the_library() -> None:
    text = CHANGED["a sum, and both precisions"]
    made = _with_polynomials(parse(text))
    results: list[npt.NDArray[Any]] = []
    for program in (parse(text), _of_nothing(made)):
        x, y = np.random.default_rng(2).uniform(-2.0, 2.0, (2, 15)).astype(np.float32)
        meaning.run(program, dict(zip(program.params, (x, y), strict=True)))
        results.append(y)
    np.testing.assert_array_equal(*results)


def _of_nothing(made: Vectorised) -> Program:
    """Return the program with NaN for all polynomials."""

    def changed(block: Block) -> Block:
        stmts = (
            replace(stmt, args=tuple(Const(NAN, arg.type) for arg in stmt.args))
            if isinstance(stmt, Let) and stmt.out in made.polynomials
            else with_blocks(stmt, changed)
            for stmt in block.stmts
        )
        return Block(tuple(stmts), block.results)

    return replace(made.program, body=changed(made.program.body))


@pytest.mark.parametrize(("why", "text"), KEPT.values(), ids=KEPT.keys())
def test_loops_that_stay_as_they_are(why: str, text: str) -> None:
    before = parse(text)
    check(before)
    made = _with_polynomials(before)
    assert made.program == before
    assert not made.polynomials
    assert {call.why for call in made.calls} == ({why} if why else set())


@dt.kernel
def largest(x, best, found):
    for i in x:
        ti.atomic_max(best[None], ti.log(x[i]) * ti.exp(-x[i]))
    for i in x:
        if ti.log(x[i]) * ti.exp(-x[i]) >= best[None]:
            found[0] += 1
        if not ti.log(x[i]) * ti.exp(-x[i]) < best[None]:
            found[1] += 1


@dt.kernel
def as_large(x, best, found):
    for i in x:
        found[i] = 1 if ti.log(x[i]) * ti.exp(-x[i]) >= best[None] else 0


def test_the_largest_number_is_found_again() -> None:
    rng = np.random.default_rng(8)
    best, found, places = dt.zeros(()), dt.zeros(2, ti.i32), dt.zeros(20_000, ti.i32)
    for _ in range(60):
        x = dt.from_numpy(rng.uniform(1.5, 2.0, 20_000).astype(np.float32))
        best.fill(-1.0)
        found.fill(0)
        largest(x, best, found)
        as_large(x, best, places)
        assert found.to_numpy().min() > 0
        assert places.to_numpy().any()


@dt.kernel
def damped(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * ti.exp(-x[i])


@pytest.mark.compiled
def test_the_library_computes_functions_if_wanted() -> None:
    """In small launches it does so anyway; code of both kinds is kept on disk."""
    values = np.linspace(-3.0, 3.0, 20_000).astype(np.float32)
    for math_, same in (("polynomials", False), ("libm", True), ("polynomials", False)):
        dt.init(math=math_, fuse=False)
        y, part = dt.zeros(values.size), dt.zeros(200)
        damped(dt.from_numpy(values), y)
        parts: list[npt.NDArray[Any]] = []
        for start in range(0, values.size, 200):
            damped(dt.from_numpy(values[start : start + 200]), part)
            parts.append(part.to_numpy().copy())
        assert np.array_equal(y.to_numpy(), np.concatenate(parts)) == same


def _with_sines() -> list[Any]:
    """Return the tests' programs of sines, of which one in six runs by default."""
    programs.load()
    ops = backend().vector_math.limits.keys()
    found = [one for one in harness.PROGRAMS if ops & {*one.function.__code__.co_names}]
    return [
        pytest.param(one, id=one.name, marks=[pytest.mark.slow] if k % 6 else [])
        for k, one in enumerate(found)
    ]


@pytest.mark.parametrize("program", _with_sines())
def test_programs_with_polynomials_that_are_wrong_from_a_limit_on(
    program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is so low that some arguments are beyond it."""
    limits = {key: {F32: 0.4, F64: 0.4} for key in backend().vector_math.limits}

    low = Polynomials(backend().vector_math.polynomials.ops, limits)

    def with_wrong_ones(made: Applied, *given: Any, polynomials: Any, **options: Any) -> Emitted:
        ops, wrong = dict(made.polynomials), dict(polynomials)
        for out, op in made.polynomials.items():
            if op in limits:
                ops[out] = f"{op} of {out.type}"
                right = f"vector_math.{op}({{0}}, ti.{out.type})"
                wrong[ops[out]] = TextSpelling(f"ti.select(ti.abs({{0}}) < 0.4, {right}, 12345.0)")
        return emit(replace(made, polynomials=ops), *given, polynomials=wrong, **options)

    monkeypatch.setattr(VectorMath, "polynomials", low)
    monkeypatch.setattr(variants, "emit", with_wrong_ones)
    harness.check(program)


@dt.kernel
def all_kinds(x, grid, y, z):
    for i in x:
        if x[i] > 0.25:
            y[i] = ti.sin(x[i]) * ti.exp(-x[i])
        elif x[i] < -0.5:
            y[i] = ti.cos(3.0 * x[i]) + ti.tanh(x[i])
        else:
            y[i] = ti.log(2.0 + x[i])
    for i in x:
        angle = x[i]
        for k in range(3):
            angle += 0.3 * ti.sin(angle)
        z[i] += ti.cos(angle)
    for i, j, k in ti.ndrange(2, 5, grid.shape[2]):
        grid[i, j, k] += ti.sin(grid[i, j, k]) * x[k]
    for i in x:
        v = ti.Vector([x[i], z[i]])
        w = ti.sin(v)
        z[i] = w[0] + w[1] + ti.tan(v[0])


@pytest.mark.parametrize("scalar", [ti.f32, ti.f64])
def test_one_argument_without_a_polynomial_among_many(scalar: Any) -> None:
    """Values and gradients are those of the library, wherever the argument is."""
    rng = np.random.default_rng(4)
    values = rng.uniform(-1.0, 1.0, 3000)
    grid = rng.uniform(-1.0, 1.0, (2, 5, 1500))
    specials = [0.0, 5e3, -1e5, 3e6, 1e30, INF, -INF, NAN]
    found: list[list[npt.NDArray[Any]]] = []
    for math_ in ("polynomials", "libm"):
        dt.init(math=math_, fuse=False)
        found.append([])
        for k, special in enumerate(specials):
            at = values.copy()
            at[300 * k + 7] = special
            volume = grid.copy()
            volume[1, 3, 150 * k] = special
            x, g = (dt.from_numpy(one, scalar, grad=True) for one in (at, volume))
            y, z = (dt.zeros_like(x, grad=True) for _ in range(2))
            with dt.Tape() as tape:
                all_kinds(x, g, y, z)
            tape.backward({y: 1.0, z: 1.0, g: np.ones(g.shape)})
            found[-1] += [f.to_numpy() for f in (g, y, z, x.grad, g.grad)]
    digits = 64 * np.finfo(found[0][0].dtype).eps
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=digits, atol=digits)
