"""Schedules as values: their texts, what is chosen from shapes alone, and what is applied."""

from __future__ import annotations

import pickle
import random
import re
from dataclasses import replace
from typing import Any

import pytest

from difftile.ir.nodes import Array, ParallelFor, Program
from difftile.ir.parse import parse as parse_program
from difftile.ir.printer import print_program
from difftile.ir.types import F64, FieldType
from difftile.ir.walk import with_tasks
from difftile.schedule.analysis import analyse
from difftile.schedule.apply import apply
from difftile.schedule.choose import Chosen, choose
from difftile.schedule.costs import Costs
from difftile.schedule.finish import finish
from difftile.schedule.grids import Grids
from difftile.schedule.schedule import Schedule, parse
from difftile.schedule.steps import (
    Copies,
    Flat,
    Grid,
    Jam,
    Lanes,
    Plain,
    Rows,
    Serial,
    SmallCopies,
    SplitEnds,
    Spread,
    Squares,
    Step,
    Strips,
    Threads,
    Tile,
    Unroll,
    VectorMath,
    step_of,
    text_of,
)
from difftile.schedule.target import Polynomials, Target
from difftile.schedule.vectorise_functions import long_and_brief
from difftile.substrate.kept_code import dumps, loads
from tests.targets import host

TEXT = """
program f(x: field<f64, 1>, y: field<f64, 1>, k: field<i32, 1>, n: i32)
  parallel for i in 0:i32..n:
    a: f64 = x[i]
    at: i32 = k[i]
    y[at] += a
  parallel for r in 0:i32..n:
    for j in 0:i32..n:
      b: f64 = x[j]
      c: f64 = sin(b)
      x[j] = c
    for l in 3:i32..n:
      d: f64 = x[l]
      e: f64 = exp(d)
      x[l] = e
"""
PROGRAM = parse_program(TEXT)
PROGRAM = replace(PROGRAM, temps=(Array("y", FieldType(F64, 1)),))
NAMES = ("x", "y", "k", "y_1")  # two arrays are called y
CPU = Target(threads=16, vectors=True, functions=Polynomials(frozenset(("sin", "exp")), {}))
GPU = Target(grids=Grids.on(132, warps=True), warps=True, guarded=True)


def _drawn(rng: random.Random) -> Schedule:
    """Return any schedule that the program can have."""

    def some(items: Any) -> tuple[Any, ...]:
        return tuple(item for item in items if rng.random() < 0.4)

    def steps() -> tuple[Step, ...]:
        target = rng.choice(NAMES)
        host = (Threads(rng.randrange(1, 99)), Copies(target), SmallCopies(target))
        device = (Grid(), Lanes(32), Tile(), Flat(), Rows(target))
        forms = (Unroll(), Jam(), SplitEnds(), Strips(rng.randrange(1, 65)), VectorMath(), Plain())
        host = (*host, Spread(7), Squares(rng.randrange(1, 65)), *forms)
        found = some(host if rng.random() < 0.5 else device)
        return found or (Serial(),)

    long = some(range(2))
    return Schedule(
        (steps(), steps()),
        serial=rng.random() < 0.5,
        outlined=rng.random() < 0.5,
        short=rng.random() < 0.5,
        before=some(NAMES),
        after=some(NAMES),
        long=long,
        brief=tuple(k for k in range(2) if k not in long)[: rng.randrange(3)],
    )


@pytest.mark.parametrize("seed", range(200))
def test_the_text_of_a_schedule_is_read_back(seed: int) -> None:
    drawn = _drawn(random.Random(seed))
    found = parse(str(drawn), PROGRAM)
    assert found == drawn
    assert hash(found) == hash(drawn)
    assert str(found) == str(drawn)
    assert pickle.loads(pickle.dumps(drawn)) == drawn
    assert loads(dumps({drawn: 1}, ()), ()) == {drawn: 1}


def test_different_schedules_have_different_texts() -> None:
    drawn = {_drawn(random.Random(seed)) for seed in range(500)}
    assert len({str(one) for one in drawn}) == len(drawn) > 300


def test_the_text_of_each_part() -> None:
    schedule = Schedule(
        ((Threads(64), Copies("y_1")), (Serial(),)),
        outlined=True,
        short=True,
        before=("y",),
        after=("x", "k"),
        long=(1,),
        brief=(0,),
    )
    assert str(schedule) == (
        "program outlined short before(y) after(x, k) long(1) brief(0)\n"
        "loop 0: threads(64), copies(y_1)\n"
        "loop 1: serial"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("loop 0: serial", "expected 'program ...', found 'loop 0: serial'"),
        ("program\nloop 1: serial", "expected 'loop 0: ...', found 'loop 1: serial'"),
        ("program\nloop 0: serial", "the program has 2 parallel loops, not 1"),
        ("program fast\nloop 0: grid\nloop 1: grid", "'fast' is not said of programs"),
        ("program\nloop 0: sideways\nloop 1: grid", "'sideways' is not a step; steps are serial"),
        ("program\nloop 0: threads\nloop 1: grid", "'threads': 'threads' takes 1 arguments"),
        ("program\nloop 0: flat(3)\nloop 1: grid", "'flat(3)': 'flat' takes 0 arguments"),
        ("program\nloop 0: spread(x)\nloop 1: grid", "'spread(x)': 'x' is not a number"),
        ("program\nloop 0: copies(z)\nloop 1: grid", "the program has no array 'z'"),
        ("program after(z)\nloop 0: grid\nloop 1: grid", "the program has no array 'z'"),
        ("program\nloop 0: threads(4), tile\nloop 1: grid", "threads(4), tile: for CPUs and for"),
        ("program long(2)\nloop 0: grid\nloop 1: grid", "the program has 2 loops of functions"),
    ],
)
def test_texts_that_are_no_schedule_of_a_program(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        parse(text, PROGRAM)


@pytest.mark.parametrize("step", [Serial(), Threads(3), Grid(), Copies("a"), Rows("b_2")])
def test_the_text_of_a_step_is_read_back(step: Step) -> None:
    assert step_of(text_of(step)) == step


# Choices, of which all inputs are data


def _chosen(text: str, target: Target, key: tuple[Any, ...], **zeros: Any) -> Chosen:
    program = parse_program(text)
    return choose(analyse(program, target), key, Costs, **zeros)


SUMS = """
program f(x: field<f64, 1>, y: field<f64, 1>, k: field<i32, 1>, n: i32)
  parallel for i in 0:i32..n:
    a: f64 = x[i]
    at: i32 = k[i]
    y[at] += a
"""


@pytest.mark.parametrize(
    ("target", "n", "wanted"),
    [
        (CPU, 100, "program serial\nloop 0: serial"),
        (CPU, 10**7, "program outlined short\nloop 0: threads(64), small_copies(y)"),
        (CPU, 2**30, "program outlined\nloop 0: threads(64), small_copies(y)"),
        (replace(CPU, strategy="atomics"), 10**8, "program outlined short\nloop 0: threads(64)"),
        (replace(CPU, strategy="serial"), 10**8, "program outlined short\nloop 0: serial"),
        (replace(CPU, threads=1), 10**8, "program serial outlined\nloop 0: serial"),
        (replace(CPU, vectors=False), 10**7, "program\nloop 0: threads(64), small_copies(y)"),
        (GPU, 10**7, "program\nloop 0: grid"),
    ],
)
def test_what_is_chosen_for_sums_into_shared_elements(target: Target, n: int, wanted: str) -> None:
    key = ((200,), n) if target.on_host and target.threads > 1 else (n,)
    found = _chosen(SUMS, target, key)
    assert str(found.schedule) == wanted
    assert all(all(reasons) for reasons in found.reasons)
    assert [*map(len, found.reasons)] == [*map(len, found.schedule.loops)]


COLUMNS = parse_program("""
program f(x: field<f32, 2>, y: field<f32, 2>, n: i32, m: i32)
  parallel for i in 0:i32..n, j in 0:i32..m:
    a: f32 = x[j, i]
    y[i, j] = a
""")


@pytest.mark.parametrize(
    ("target", "shape", "wanted"),
    [
        (CPU, (4096, 3000), "threads(64), squares(16)"),
        (CPU, (768, 3000), "threads(64), squares(16)"),
        (CPU, (4000, 3000), "threads(64)"),  # whose rows are spread over the places of a cache
        (replace(CPU, threads=1), (4096, 3000), "serial, squares(16)"),
        (replace(CPU, threads=1), (4096, 255), "serial"),  # its columns fit into a cache
        (CPU, (128, 100_000), "threads(64)"),
        (GPU, (4096, 3000), "grid"),
    ],
)
def test_what_is_chosen_for_columns(target: Target, shape: tuple[int, int], wanted: str) -> None:
    found = choose(analyse(COLUMNS, target), shape, Costs)
    assert str(found.schedule).splitlines()[1] == f"loop 0: {wanted}"


def test_squares_of_a_loop_are_at_its_place() -> None:
    loop = TEXT.split("n: i32)\n", 1)[1].split("  parallel for r", maxsplit=1)[0]
    two = parse_program(
        f"program f(x: field<f64, 1>, y: field<f64, 1>, k: field<i32, 1>, "
        f"v: field<f32, 2>, w: field<f32, 2>, n: i32)\n{loop}"
        "  parallel for p in 0:i32..n, q in 0:i32..n:\n"
        "    c: f32 = v[q, p]\n"
        "    w[p, q] = c\n"
    )
    text = "program\nloop 0: threads(64), copies(y)\nloop 1: threads(64), squares(8)"
    made = apply(two, parse(text, two), CPU)
    (last,) = [s for s in made.program.body.stmts if isinstance(s, ParallelFor)][-1:]
    assert [index.name for index in last.indices] == ["square", "square"]


CLEARED = """
program f(x: field<f64, 1>, y: field<f64, 1>, k: field<i32, 1>, z: field<f64, 1>, n: i32)
  parallel for c in 0:i32..n:
    z[c] = 0.0:f64
"""

ROWS = """
program f(x: field<f32, 2>, y: field<f32, 2>, n: i32, m: i32)
  parallel for i in 0:i32..n:
    y[i, 0:i32] = 0.0:f32
  parallel for r in 0:i32..n:
    for j in 0:i32..m, total <- t = 1.0:f32:
      a: f32 = x[r, j]
      b: f32 = mul(t, a)
      x[r, j] = b
      yield b
"""


def _rows(m: int) -> tuple[Program, Chosen]:
    program = parse_program(ROWS)
    return program, choose(analyse(program, GPU), (1000, m), Costs)


def test_what_is_chosen_for_rows_of_a_device() -> None:
    _, found = _rows(500)
    assert str(found.schedule) == "program\nloop 0: grid\nloop 1: grid, tile"
    assert found.reasons[1] == (
        "the threads of the device share its iterations",
        "threads walk along rows, which a warp reads side by side",
    )
    _, found = _rows(5)
    assert str(found.schedule) == "program\nloop 0: grid\nloop 1: grid"


def test_loops_keep_their_steps_where_a_loop_before_them_is_left_out() -> None:
    """A loop that only clears an array is not there where the array is filled later."""
    program, found = _rows(500)
    made = apply(program, found.schedule, GPU)
    assert len(made.grids) == 2
    assert made.tiles
    made = apply(program, replace(found.schedule, after=("y",)), GPU)
    assert len(made.grids) == 1
    assert made.tiles


def test_rows_are_counted_by_the_loop_that_the_launch_has() -> None:
    program = parse_program(CLEARED.lstrip() + SUMS.split(")\n", 1)[1])
    program = with_tasks(program, lambda loop: [replace(loop, ordered=True)])
    schedule = parse("program after(z)\nloop 0: grid\nloop 1: grid, rows(y)", program)
    (rows,) = apply(program, schedule, GPU).memory.rows
    assert rows.scatter.loop == 1


def test_a_loop_of_one_thread_is_one_part_without_atomics() -> None:
    program = parse_program(SUMS)
    schedule = parse("program\nloop 0: serial", program)
    text = print_program(apply(program, schedule, CPU).program)
    assert "parallel for part in 0:i32..1:i32" in text
    assert "for i in 0:i32..n" in text
    whole = parse("program serial\nloop 0: serial", program)
    assert apply(program, whole, CPU).program == program  # the emitter leaves atomics out


def test_without_memory_sums_are_atomic() -> None:
    found = _chosen(SUMS, CPU, ((200,), 10**7)).schedule
    assert str(found.without_memory(64)) == "program outlined short\nloop 0: threads(64)"
    rows = Schedule(((Grid(), Rows("y")), (Grid(), Lanes(32))))
    assert rows.without_memory(0).loops == ((Grid(),), (Grid(), Lanes(32)))


def test_a_schedule_is_applied_to_the_same_program_each_time() -> None:
    program = finish(parse_program(SUMS), host(8))
    schedule = parse("program outlined\nloop 0: threads(64), copies(y)", program)
    texts = {print_program(apply(program, schedule, CPU).program) for _ in range(2)}
    (text,) = texts
    assert "y_copies" in text
    plain = Schedule(((Threads(64),),))
    assert apply(program, plain, CPU).program == program


def test_loops_of_one_length_of_which_one_is_long() -> None:
    """A sum needs more iterations for polynomials to pay than a loop that stores."""
    program = parse_program("""
program f(x: field<f64, 1>, y: field<f64, 1>, z: field<f64, 1>, n: i32)
  m = shape(z, 0)
  parallel for r in 0:i32..m:
    for l in 0:i32..n:
      a: f64 = x[l]
      b: f64 = exp(a)
      y[l] = b
    for j in 0:i32..n, s <- t = 0.0:f64:
      c: f64 = x[j]
      d: f64 = exp(c)
      u: f64 = add(t, d)
      yield u
    z[r] = s
""")
    assert long_and_brief(program, {program.params[3]: 32}) == ((0,), (1,))
    schedule = Schedule(((Threads(16), VectorMath()),), outlined=True, long=(0,), brief=(1,))
    made = apply(program, schedule, CPU)
    assert [one.name for one in made.polynomials] == ["b"]
