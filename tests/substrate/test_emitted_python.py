"""The emitted source of programs, in each form of its loops, computes what the programs do.

Python runs it (`emitted_python`), and the interpreter the program: no compiler is needed.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
import pytest

from difftile.ad.derive import derive
from difftile.ad.reverse import reverse
from difftile.diagnostics import NotDifferentiable
from difftile.ir.nodes import Accumulate, Array, Program
from difftile.ir.parse import parse
from difftile.ir.types import F32, F64, is_float, shape_of
from difftile.ir.walk import walk
from difftile.meaning import memory_of, run
from difftile.ops.check import check
from difftile.ops.table import OPS
from difftile.passes import by_warps, interleave, split_index_sets, unroll_and_jam
from difftile.passes.bounds import unchecked
from difftile.passes.inline_primals import inline_primals
from difftile.passes.optimise import normalise
from difftile.passes.privatise import ScatterPlan, privatise, scatters_of
from difftile.passes.rows import in_rows
from difftile.passes.spread import spread
from difftile.passes.stages import split
from difftile.passes.unroll_loops import unroll_loops
from difftile.schedule import strips
from difftile.schedule.finish import finish
from difftile.schedule.grids import Grid, Grids
from difftile.schedule.schedule import Schedule
from difftile.substrate.emit import Emitted
from tests import harness, programs
from tests.emitted_python import WARP, Memory, NotPython, function_of
from tests.emitting import emitted
from tests.lowered import from_the_frontend
from tests.passes import meaning
from tests.passes.cases import Options
from tests.passes.table import all_by_warps, all_flat
from tests.targets import device, host

programs.load()
_STEPS = 2_000  # of the interpreter
_SEED = 5
_THREADS = 2
FEW = Grids(
    full=Grid(3),
    several=Grid(2 * WARP),
    few=Grid(2),
    private=Grid(6, 2, least=3),
    sharing=Grid(2 * WARP),
    tiled=Grid(4),
)
"""So few threads that small loops take many strides."""
SMALL = {
    (by_warps, "_SHUFFLED"): (F32, F64),
    (interleave, "_WARP"): 1,
    (split_index_sets, "BLOCK"): 4,
    (strips, "_FEWEST"): 2,
    (strips, "_MOST"): 2,
    (unroll_and_jam, "_FEWEST"): 2,
}
"""Numbers of iterations from which on a form pays, or that it takes at a time."""


@pytest.fixture(scope="module", autouse=True)
def small_loops_have_all_forms() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in SMALL.items():
            patch.setattr(module, name, value)
        yield


def _in_parts(program: Program) -> Formed:
    program = unroll_and_jam.unroll_and_jam(unroll_loops(program))
    program = strips.in_strips(split_index_sets.split_index_sets(program), (), atomics=True)
    return program, emitted(program, Schedule(outlined=True, short=True), threads=_THREADS)


def _in_copies(program: Program) -> Formed:
    copied = tuple(scatter for scatter in scatters_of(program) if scatter.op is not None)
    program, _ = privatise(program, ScatterPlan(copied=copied), 3)
    return program, emitted(program, threads=_THREADS)


def _in_pieces(program: Program) -> Formed:
    program, _ = spread(program, _ALL, _PIECES)
    return program, emitted(program, threads=_THREADS)


def _in_rows(program: Program) -> Formed:
    sums = [scatter for scatter in scatters_of(program) if scatter.op == "add"]
    program, _ = in_rows(program, sums)
    return program, emitted(program, grids=FEW)


def _in_tiles(program: Program) -> Formed:
    return program, emitted(program, grids=FEW, tiled=_ALL)


def _by_warps(program: Program) -> Formed:
    program = all_by_warps(program)
    return program, emitted(program, grids=FEW, warps=True)


Formed: TypeAlias = tuple[Program, Emitted]
_ALL = range(100)  # loops of a program
_PIECES = 1000  # as many as iterations of a loop, or more
ON_CPU: dict[str, Callable[[Program], Formed]] = {
    "serial": lambda program: (program, emitted(program, Schedule(serial=True))),
    "parts": _in_parts,
    "copies": _in_copies,
    "pieces": _in_pieces,
}
ON_DEVICE: dict[str, Callable[[Program], Formed]] = {
    "strides": lambda program: (program, emitted(program, grids=FEW)),
    "flat": lambda program: (program, emitted(all_flat(program), grids=FEW)),
    "rows": _in_rows,
    "tiles": _in_tiles,
    "warps": _by_warps,
}


def _inputs(program: Program, seed: int) -> meaning.Inputs:
    """Draw contents of the fields and of the program's own memory, and numbers."""
    fields, numbers = meaning.inputs_of(program, Options({}), seed)
    for array, values in fields.items():
        fields[array] = np.array(np.real(values))
    for temp in program.temps:
        fields[temp] = np.asarray(memory_of(temp, fields, complex_step=False))
    return fields, numbers


def _interpreted(program: Program, inputs: meaning.Inputs) -> tuple[meaning.Contents, str]:
    """Return what the interpreter leaves in the fields, and prints.

    Raises:
        TooLong: That takes more steps than a test has the time for.
    """
    fields, left = meaning.copied(inputs[0]), _STEPS
    printed = io.StringIO()

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise meaning.TooLong

    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
        run(program, fields, inputs[1], watch=count)
    return fields, printed.getvalue()


def _run(source: Emitted, program: Program, inputs: meaning.Inputs) -> tuple[Any, str]:
    """Return what the source leaves in the fields, and prints.

    Args:
        source: The source.
        program: The program in the form that was emitted; its memory of unknown extents is NaN.
        inputs: The contents and numbers.
    """
    fields, numbers = meaning.copied(inputs[0]), inputs[1]
    given: list[Any] = []
    for param in (*program.params, *program.temps):
        if isinstance(param, Array):
            if param not in fields:
                fields[param] = np.full((1 << 16, *shape_of(param.type.element)), np.nan)
            given.append(Memory(fields[param], param.type.ndim, source.least_ndim))
        else:
            given.append(numbers[param])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
        function_of(source.text, source.name)(*given)
    return fields, printed.getvalue()


def _programs(one: harness.Program, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Yield the programs of a kernel, and the adjoints of their stages."""
    for made in from_the_frontend(one, monkeypatch):
        program = normalise(inline_primals(unchecked(derive(made))))
        yield program
        for stage in split(program):
            arrays = [p for p in (*stage.params, *stage.temps) if isinstance(p, Array)]
            wanted = frozenset(a for a in arrays if is_float(a.type.element))
            with contextlib.suppress(NotDifferentiable):
                adjoint = reverse(stage, wanted)
                if adjoint.lengths is None:
                    yield inline_primals(adjoint.program)


def _forms(program: Program) -> Iterator[tuple[str, Program, Emitted, list[Array]]]:
    """Yield the program in each form, with its source, and the fields that hold zeros for it."""
    for few_threads, forms in ((True, ON_CPU), (False, ON_DEVICE)):
        finished = finish(program, host(3) if few_threads else device(3, warps=False))
        for name, form in forms.items():
            yield name, *form(finished), []
        grids = None if few_threads else FEW
        adds = [s for s in walk(finished.body) if isinstance(s, Accumulate) and s.single_write]
        fresh = list(dict.fromkeys(s.array for s in adds))[::2]
        if fresh:
            source = emitted(finished, grids=grids, threads=_THREADS * few_threads, fresh=fresh)
            yield f"into zeros, {few_threads}", finished, source, fresh


def _check(program: Program) -> int:
    """Compare what a program computes with its source in each form; return how many ran."""
    ran = 0
    inputs = _inputs(program, _SEED)
    try:
        results = _interpreted(program, inputs)
    except (IndexError, meaning.TooLong):
        return 0
    for name, formed, source, fresh in _forms(program):
        given, expected = inputs, results
        if fresh:
            zeros = {array: np.zeros_like(inputs[0][array]) for array in fresh}
            given = inputs[0] | zeros, inputs[1]
            expected = _interpreted(program, given)
        try:
            found = _run(source, formed, given)
        except NotPython:
            continue
        ran += 1
        assert found[1] == expected[1], name
        for array in program.params:
            if isinstance(array, Array):
                what = f"{array.name}, {name}\n{source.text}"
                np.testing.assert_allclose(
                    found[0][array], expected[0][array], 1e-6, 1e-9, err_msg=what
                )
    return ran


SOME = [one for one in harness.PROGRAMS if crc32(one.name.encode()) % 12 == 0]
OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in harness.PROGRAMS if one not in SOME]


@pytest.mark.parametrize("one", [*SOME, *OTHERS], ids=lambda one: one.name)
def test_each_form_computes_the_same(one: harness.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    if not sum(map(_check, _programs(one, monkeypatch))):
        pytest.skip("these inputs do not suit the program")


HEAD = """\
program f(x: field<f64, 1>, y: field<f64, 1>, z: field<f64, 2>, p: field<i32, 1>, s: f64)
  n = shape(x, 0)
"""
WAITING = "    a: f64 = x[i]\n    b: f64 = y[i]\n{}    x[i] = b\n"
"""What is read before a statement, and used after it."""
STATEMENTS = {
    "values of a loop that change places": """\
  for i in 0:i32..n, a <- b = 1.0:f64, c <- d = s, e <- g = 3.0:f64:
    h: f64 = mul(b, 0.5:f64)
    yield g, h, d
  y[0:i32] = a
  y[1:i32] = c
  y[2:i32] = e
""",
    "values of a while loop that change places": """\
  while j <- i = 0:i32, a <- b = 1.0:f64, c <- d = s, e <- g = 3.0:f64:
    m: bool = lt(i, n)
    yield m
  do:
    k: i32 = add(i, 1:i32)
    yield k, d, g, b
  y[0:i32] = a
  y[1:i32] = c
  y[2:i32] = e
""",
    "what an atomic finds": """\
  parallel for i in 0:i32..n:
    a: f64 = x[i]
    b = y[i] max= a
    x[i] = b
""",
    "the negative of a quotient": """\
  for i in 0:i32..n:
    a: i32 = p[i]
    b: i32 = sub(a, 3:i32)
    c: i32 = floordiv(b, 2:i32)
    d: i32 = neg(c)
    p[i] = d
""",
    "additions that are the only ones, of which some go into zeros": """\
  parallel for i in 0:i32..n:
    x[i] += s  (exclusive, single write)
    y[i] += s  (exclusive, single write)
""",
    "a sum that begins with a number": """\
  m = shape(z, 1)
  parallel for i in 0:i32..n:
    a: f64 = y[i]
    for j in 0:i32..m, b <- c = a:
      d: f64 = z[i, j]
      e: f64 = add(c, d)
      yield e
    x[i] = b
""",
    "arrays that lanes share, between loops of all lanes and statements of one": """\
  parallel for i in 0:i32..n:
    local a: f64[37]
    local b: f64[5]
    for j in 0:i32..37:i32:
      c: f64 = x[i]
      l: f64 = cast(j)
      d: f64 = mul(c, l)
      a[j] = d
    for k in 1:i32..4:i32:
      m: i32 = sub(k, 1:i32)
      o: i32 = mod(k, 5:i32)
      q: f64 = a[m]
      b[o] += q
      u: f64 = b[o]
      a[k] = u
      h: i32 = add(k, 1:i32)
      for r in h..9:i32:
        t: f64 = mul(u, 0.1:f64)
        a[r] += t
      A: f64 = a[8:i32]
      for B in h..9:i32:
        a[B] += A
    for e in 0:i32..9:i32:
      g: i32 = mod(e, 5:i32)
      v: f64 = a[e]
      b[g] += v
    w: f64 = b[2:i32]
    x[i] = w
""",
    "an array that lanes share, and clear again and again": """\
  parallel for i in 0:i32..n:
    for k in 0:i32..3:i32, g <- c = s:
      local a: f64[40]
      for j in 0:i32..9:i32:
        a[j] += c
      for e in 0:i32..12:i32, total <- sum = 0.0:f64:
        d: f64 = a[e]
        v: f64 = add(sum, d)
        yield v
      h: f64 = mul(c, total)
      yield h
    x[i] = g
""",
    "fields that lanes wait for": """\
  m = shape(z, 1)
  parallel for i in 0:i32..n:
    a: f64 = x[i]
    for j in 0:i32..m:
      b: f64 = z[i, j]
      c: f64 = mul(b, a)
      z[i, j] = c
    z[i, 0:i32] = s
    for k in 1:i32..m:
      d: f64 = z[i, k]
      e: f64 = mul(d, 2.0:f64)
      z[i, k] = e
      y[i] += e
    for l in 0:i32..m, g <- h = 0.0:f64:
      o: f64 = z[i, l]
      q: f64 = add(h, o)
      yield q
    y[i] = g
    t: f64 = y[i]
    x[i] = t
""",
    "an array that lanes share after one of a thread": """\
  parallel for i in 0:i32..n:
    local a: f64[150]
    a[0:i32] = s
    for k in 1:i32..9:i32:
      m: i32 = sub(k, 1:i32)
      b: f64 = a[m]
      c: f64 = mul(b, s)
      a[k] = c
    d: f64 = a[8:i32]
    local e: f64[150]
    for j in 0:i32..9:i32:
      e[j] += d
    g: f64 = e[7:i32]
    x[i] = g
""",
    "an element that all lanes read and one writes": """\
  m = shape(z, 1)
  parallel for i in 0:i32..n:
    a: f64 = y[i]
    for j in 0:i32..m:
      z[i, j] += a
    y[i] = s
""",
    "a read before a store": "  for i in 0:i32..n:\n" + WAITING.format("    y[i] = a\n"),
    "a read before an atomic": "  parallel for i in 0:i32..n:\n"
    + WAITING.format("    y[i] max= a\n"),
    "a read before a condition": "  for i in 0:i32..n:\n"
    + WAITING.format("    c: bool = gt(a, s)\n    if c:\n      y[i] = a\n"),
    "a read before a loop": "  for i in 0:i32..n:\n"
    + WAITING.format("    for j in 0:i32..n:\n      y[j] += a\n"),
    "a read before a while loop": "  for i in 0:i32..n:\n"
    + WAITING.format(
        "    while l <- j = 0:i32:\n      c: bool = lt(j, n)\n      yield c\n    do:\n"
        "      y[j] += a\n      m: i32 = add(j, 1:i32)\n      yield m\n"
    ),
    "a number that a loop changes": """\
  a: f64 = y[0:i32]
  parallel for i in 0:i32..n:
    b: f64 = x[i]
    y[i] = b
  parallel for j in 0:i32..n:
    x[j] = a
""",
    "sums under conditions": """\
  parallel for i in 0:i32..n:
    j: i32 = p[i]
    a: f64 = x[i]
    c: bool = gt(a, 0.0:f64)
    if c:
      y[j] += a
""",
    "sums over two axes, of which the first is short": """\
  parallel for i in 0:i32..2:i32, j in 0:i32..n:
    k: i32 = p[j]
    a: f64 = z[i, j]
    y[k] += a
""",
    "a sum over what was written before": """\
  m = shape(z, 1)
  parallel for i in 0:i32..n:
    z[i, 1:i32] = s
    for j in 0:i32..m, a <- b = 0.0:f64:
      c: f64 = z[i, j]
      d: f64 = add(b, c)
      yield d
    x[i] = a
""",
    "an element read after it was written": """\
  m = shape(z, 1)
  parallel for i in 0:i32..n:
    e: f64 = y[i]
    y[i] = s
    g: f64 = y[i]
    for j in 0:i32..m, a <- b = 0.0:f64:
      c: f64 = z[i, j]
      d: f64 = mul(c, g)
      h: f64 = add(b, d)
      yield h
    k: f64 = mul(a, e)
    x[i] = k
""",
    "a row that is written under conditions": """\
  m = shape(z, 1)
  parallel for i in 0:i32..n:
    for j in 0:i32..m, a <- b = s:
      c: f64 = z[i, j]
      d: f64 = add(b, c)
      e: bool = gt(d, 0.0:f64)
      k: i32 = add(j, 1:i32)
      l: i32 = mod(k, m)
      if e:
        z[i, l] = d
      yield d
    x[i] = a
""",
    "a row that is read under conditions": """\
  m = shape(z, 1)
  parallel for i in 0:i32..n:
    for j in 0:i32..m, a <- b = s:
      c: f64 = x[j]
      d: f64 = add(b, c)
      z[i, j] = d
      e: bool = gt(c, 0.0:f64)
      k: i32 = sub(j, 1:i32)
      l: i32 = max(k, 0:i32)
      g = if e:
        h: f64 = z[i, l]
        yield h
      else:
        yield c
      yield g
    y[i] = a
""",
    "neighbours that leave a field": """\
  last: i32 = sub(n, 1:i32)
  parallel for i in 0:i32..n:
    j: i32 = sub(i, 1:i32)
    k: i32 = max(j, 0:i32)
    l: i32 = add(i, 1:i32)
    m: i32 = min(l, last)
    o: i32 = add(i, 2:i32)
    q: i32 = mod(o, n)
    a: f64 = x[k]
    b: f64 = x[m]
    c: f64 = x[q]
    d: f64 = mul(a, b)
    e: f64 = add(d, c)
    y[i] = e
""",
    "loops that begin later": """\
  m: i32 = sub(n, 1:i32)
  parallel for i in 1:i32..n:
    j: i32 = p[i]
    a: f64 = x[j]
    b: f64 = mul(a, s)
    y[i] = b
  parallel for k in 1:i32..4:i32, l in -1:i32..3:i32:
    q: i32 = add(l, 1:i32)
    c: f64 = z[k, q]
    d: f64 = mul(c, s)
    z[k, q] = d
""",
}


@pytest.mark.parametrize("what", STATEMENTS)
def test_statements(what: str) -> None:
    assert _check(check(parse(HEAD + STATEMENTS[what], OPS))) >= 6


def test_negatives_that_iterations_share_are_added_at_once() -> None:
    """An assignment of a difference would not be atomic."""
    text = (
        HEAD
        + """\
  parallel for i in 0:i32..n:
    j: i32 = p[i]
    a: f64 = x[i]
    b: f64 = mul(a, s)
    c: f64 = neg(b)
    y[j] += c
"""
    )
    program = check(parse(text, OPS))
    for source in (emitted(program, threads=_THREADS), emitted(program, grids=FEW)):
        (line,) = (line for line in source.text.splitlines() if line.strip().startswith("y["))
        assert re.match(r" *y\[.*\] [-+]= ", line)
