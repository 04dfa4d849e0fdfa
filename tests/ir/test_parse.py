"""The text of every program is read as the same program, and printed as the same text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from difftile.ad.derive import derive
from difftile.ad.forward import forward
from difftile.ad.reverse import reverse
from difftile.ad.tangent_only import tangent_only
from difftile.diagnostics import NotDifferentiable
from difftile.ir.derived import primal
from difftile.ir.facts import arrays_written
from difftile.ir.nodes import Array, Block, Let, Print, Program, Shown, Var
from difftile.ir.parse import parse
from difftile.ir.printer import print_program
from difftile.ir.tokens import MalformedProgram
from difftile.ir.types import I32, is_float
from difftile.ops.table import OPS
from difftile.passes.batch import Unbatchable, batch
from difftile.passes.bounds import confine, guard
from difftile.passes.inline_primals import inline_primals
from difftile.passes.optimise import normalise
from difftile.passes.promises import verify
from difftile.passes.stages import split
from difftile.schedule.finish import finish
from tests import harness, programs
from tests.ir_equality import difference
from tests.lowered import from_the_frontend
from tests.random_programs import random_program
from tests.targets import device, host

programs.load()


def _derived(stage: Program) -> Iterator[Program]:
    """Yield the derivatives of a stage, each for many directions as well."""
    params = (*stage.params, *stage.temps)
    wanted = frozenset(p for p in params if isinstance(p, Array) and is_float(p.type.element))
    found: list[Program] = [forward(primal(stage), wanted).program]
    try:
        found.append(reverse(stage, wanted).program)
    except NotDifferentiable:
        pass
    alone = tangent_only(primal(stage), wanted)
    if alone is not None:
        found.append(alone.program)
    yield from found
    for program in found[1:]:
        written = [a for a in arrays_written(program.body) if a.size is None]
        try:
            yield batch(primal(program), sorted(written, key=lambda a: a.name)).program
        except Unbatchable:
            pass


def _stations(program: Program) -> Iterator[Program]:
    """Yield a program as the frontend makes it, and after each later pass."""
    yield program
    written = derive(program)
    yield written
    yield guard(written)
    normal = normalise(written)
    yield normal
    for stage in split(normal):
        yield stage
        derived = list(_derived(stage))
        yield from derived
        for one in (stage, *derived[1:2]):
            plain = inline_primals(one)
            yield finish(plain, host(8))
            finished = finish(plain, device(8))
            yield finished
            yield confine(verify(finished)[0])


def _check(one: harness.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    made = from_the_frontend(one, monkeypatch)
    assert made
    for station in (station for program in made for station in _stations(program)):
        text = print_program(station)
        again = parse(text, OPS)
        assert difference(station, again) is None, text
        assert print_program(again) == text


# Programs of one file have their statements in common, and the cases of passes are texts as well.
SOME = harness.PROGRAMS[::12]
OTHERS = [one for one in harness.PROGRAMS if one not in SOME]


@pytest.mark.parametrize(
    "one",
    [*SOME, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)],
    ids=lambda one: one.name,
)
def test_programs_are_read_as_they_were_printed(
    one: harness.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check(one, monkeypatch)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_are_read_as_they_were_printed(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check(random_program(seed, tmp_path), monkeypatch)


EVERYTHING = """\
program 'a kernel'(x: field<f64, 2>, x_marks: field<i32, 2> like x, n: i32, v: vec3<f32>)
  temp cell: field<mat2x3<f16>, 0>
  temp share: field<f64, 2> like gone
  outside x_bar: field<f64, 2> incoming gradient of x
  outside x_after: field<f64, 2> late contents of x
  outside gone: field<f64, 2>
  a: f64 = add(inf:f64, -inf:f64)
  b: f64 = mul(nan:f64, -0.0:f64)
  c: f64 = mul(1e-300:f64, zero:f64)
  d: bool = and(True:bool, False:bool)
  s = shape(x, 1)
  local kept: vec2<f32>[96]
  kept[3:i32] = 0.5:vec2<f32>
  kept[3:i32, 1:i32] += 0.5:f32  (exclusive, single write)
  x[n, s] += a
  x[n, s] += b  (aggregated)
  x[n, s] max= c
  old = x_marks[n, s] bit_or= 8:i32
  print 'a = ', a, ", b = '", b as '.3f', '\\n'
  fail AssertionFailed('a > 0', '%d') with (n)
  fail BrokenPromise('x', ('i',)) with (old, n)
  e = if d:
    yield a
  else:
    yield b
  while f <- g = 0:i32, h <- k = e  (ends):
    lt: bool = lt(g, n)
    yield lt
  do:
    next: i32 = add(g, 1:i32)
    yield next, k
  p, q = ruled 'Lens.bend'(a, b):
    r: f64 = mul(a, b)
    yield r, n
  backward(p_bar: f64)  (approximate):
    x_bar[n, s] += p_bar
    before: f64 = x_after[n, s]
    yield p_bar, before
  forward(a_dot: f64, b_dot: f64):
    yield a_dot
  ruled 'nothing'():
  d_a, d_b = derivative backward(t = a, u = b) with (1.0:f64) into (x: x_bar):
    w: f64 = mul(t, u)
    yield w
  y_dot = derivative forward(t_1 = a) with (1.0:f64):
    w_1: f64 = sin(t_1)
    yield w_1
  parallel for i in 0:i32..n, j in -1:i32..s:
    for l in i..j, m <- o = e:
      yield o
    if d:
    else:
      x[i, j] = e
"""


def test_a_text_with_everything() -> None:
    text = EVERYTHING
    program = parse(text)
    assert print_program(program) == text
    assert difference(program, parse(text)) is None


def test_flags_and_literals_are_not_lost() -> None:
    """The comparison above sees each of them."""
    program = parse(EVERYTHING)
    for there, other in (
        ("  (aggregated)", ""),
        (", single write", ""),
        ("exclusive, ", ""),
        ("  (ends)", ""),
        ("  (approximate)", ""),
        ("incoming ", ""),
        ("late ", ""),
        (" like gone", ""),
        (" into (x: x_bar)", ""),
        (" as '.3f'", ""),
        ("zero:f64", "0.0:f64"),
        ("-0.0:f64", "0.0:f64"),
        ("nan:f64", "inf:f64"),
        ("forward(t_1", "backward(t_1"),
    ):
        assert there in EVERYTHING
        assert difference(program, parse(EVERYTHING.replace(there, other, 1))), there


def test_statements_point_into_the_text() -> None:
    program = parse("program f(n: i32)\n\n  # a size\n  m: i32 = add(n, 1:i32)  # one more\n")
    span = program.body.stmts[0].span
    assert span is not None and span.line == 4
    assert span.shown.startswith("m: i32 = add(n, 1:i32)")


def test_names_with_a_meaning_are_replaced() -> None:
    n, zero = Var("print", I32), Var("zero", I32)
    program = Program("f", (n,), Block((Let(zero, "neg", (n,)), Print((Shown(zero),)))))
    text = print_program(program)
    assert text == "program f(print_1: i32)\n  zero_1: i32 = neg(print_1)\n  print zero_1\n"
    assert difference(program, parse(text)) is None


def test_malformed_texts_are_refused(request: pytest.FixtureRequest) -> None:
    path = Path(__file__).parent / "malformed_programs.txt"
    head = "program f(x: field<f32, 1>, n: i32)\n"
    texts = (
        "",
        "programm f()",
        "program f(x: field<f32, 1> like z)",
        "program f(n: i32, n: f32)",
        *(
            head + body
            for body in (
                "x[n] = 0.0:f32",
                "  x[n] = y",
                "  x[n] = x",
                "  n[0:i32] = 0.0:f32",
                "  x[n] = 1.0:f31",
                "  x[n, n] = 1.0:f32",
                "  x[n] + 1.0:f32",
                "  x[n] += 1.0:f32  (exclusiv)",
                "  n",
                "  n: i32 = neg(n)",
                "  m: i32 = negg(n)",
                "  m: i32 = neg(n) n",
                "  m = if True:bool:\n    yield n, n",
                "  if True:bool",
                "  if True:bool:\n    yield n\n    print n",
                "  for i in n..n:\n    print i\n   print n",
                "  print n\n    print n",
                "  while a <- b = n:\n    yield True:bool\n  print n",
                "  local a: f32",
                "  fail BadIndx('x') with (n)",
                "  fail BadIndex() with (n)",
                "  print n §",
                "  m = parallel for i in n..n:",
            )
        ),
    )
    said: list[str] = []
    for text in texts:
        with pytest.raises(MalformedProgram) as caught:
            parse(text, OPS)
        said.append(f"{caught.value}\n")
    if request.config.getoption("--update-golden"):
        path.write_text("\n".join(said))
    assert "\n".join(said) == path.read_text()
