"""Which arrays a program gives new contents whole, or leaves full of zeros."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from difftile.ir.nodes import Array, Program
from difftile.ir.parse import parse
from difftile.ir.printer import print_program
from difftile.schedule import clears
from difftile.substrate.whole import WholeWrites

HEAD = """\
program f(x: field<f32, 1>, y: field<f32, 1>, k: i32)
  n = shape(x, 0)
"""
LOOP = "  parallel for i in 0:i32..n:\n"
ADDED = "    y[i] += 1.0:f32  (exclusive, single write)\n"
CLEARED = "    y[i] = 0.0:f32\n"
LOOK = "    a: f32 = y[i]\n    print a\n"


def later(body: str) -> str:
    """Return a loop that comes after another one."""
    return LOOP.replace(" i ", " j ") + body.replace("[i]", "[j]")


WHOLE = {
    "added": [LOOP + ADDED],
    "cleared": [LOOP + CLEARED, LOOP + LOOK + CLEARED, LOOP + LOOK + later(CLEARED)],
}
NOT_WHOLE = {
    "another number": LOOP + "    y[i] = 1.0:f32\n",
    "a negative zero": LOOP + "    y[i] = -0.0:f32\n",
    "an addition that is not the only one": LOOP + "    y[i] += 1.0:f32  (exclusive)\n",
    "a look after the zeros": LOOP + CLEARED + LOOK,
    "a look in a later loop": LOOP + CLEARED + later(LOOK),
    "an addition after the zeros": LOOP + CLEARED + later("    y[0:i32] += 1.0:f32\n"),
    "one element after the zeros": LOOP + CLEARED + "  y[0:i32] = 1.0:f32\n",
    "zeros in some iterations": LOOP + "    c: bool = gt(i, k)\n    if c:\n  " + CLEARED,
    "additions in some iterations": LOOP + "    c: bool = gt(i, k)\n    if c:\n  " + ADDED,
    "additions not from the beginning": "  parallel for i in 1:i32..n:\n" + ADDED,
    "zeros not from the beginning": "  parallel for i in 1:i32..n:\n" + CLEARED,
    "zeros at every other element": LOOP + "    j: i32 = mul(2:i32, i)\n    y[j] = 0.0:f32\n",
    "zeros in a serial loop": "  for i in 0:i32..n:\n" + CLEARED,
}


def whole(text: str) -> tuple[list[int], list[int], Program]:
    program = parse(HEAD + text)
    writes = WholeWrites(program, program.params)
    x, k = SimpleNamespace(shape=(5,)), 5
    longer = writes.of([x, SimpleNamespace(shape=(6,)), k])
    assert 1 not in longer.added
    assert longer.cleared.get(1) != ((0, 6),)
    found = writes.of([x, SimpleNamespace(shape=(5,)), k])
    return sorted(found.added), [k for k, box in found.cleared.items() if box == ((0, 5),)], program


def test_whole_writes() -> None:
    for text in WHOLE["added"]:
        assert whole(text)[:2] == ([1], [])
    for text in WHOLE["cleared"]:
        assert whole(text)[:2] == ([], [1])


@pytest.mark.parametrize("why", NOT_WHOLE)
def test_writes_that_are_not_whole(why: str) -> None:
    assert whole(NOT_WHOLE[why])[:2] == ([], [])


def test_several_additions_may_reach_all_elements_together() -> None:
    head = "program f(x: field<f32, 1>, y: field<f32, 2>)\n  n = shape(x, 0)\n"
    more = "".join(f"    y[i, {j}:i32] += 1.0:f32  (exclusive, single write)\n" for j in range(3))
    program = parse(head + LOOP + more)
    writes = WholeWrites(program, program.params)
    x = SimpleNamespace(shape=(5,))
    for shape, added in (((5, 3), {1}), ((5, 4), set[int]()), ((6, 3), set[int]())):
        assert writes.of([x, SimpleNamespace(shape=shape)]).added == added


def test_bounds_are_numbers_of_the_launch() -> None:
    program = parse(HEAD + "  parallel for i in 0:i32..k:\n" + ADDED + later(CLEARED))
    writes = WholeWrites(program, program.params)
    y = SimpleNamespace(shape=(5,))
    for k in (5, 4, 5, 6, -1):
        assert writes.of([SimpleNamespace(shape=(5,)), y, k]).added == ({1} if k == 5 else set())
    assert whole("  parallel for i in 0:i32..5:i32:\n" + ADDED)[:2] == ([1], [])


ROWS = """\
program f(x: field<f32, 2>, y: field<f32, 2>, k: i32, a: field<i32, 1>)
  n = shape(x, 0)
  m = shape(x, 1)
  parallel for i in 0:i32..n:
"""
END = "y[i, q] += 1.0:f32  (exclusive, single write)\n"
WINDOWS = """\
    b: i32 = add(m, 3:i32)
    windows: i32 = floordiv(b, 4:i32)
    for turn in 0:i32..windows:
      t: i32 = sub(windows, 1:i32)
      u: i32 = sub(t, turn)
      low: i32 = mul(u, 4:i32)
      left: i32 = sub(m, low)
      length: i32 = min(left, 4:i32)
      for back in 0:i32..length:
        q: i32 = add(low, back)
"""
INNER = {
    "a loop over the row": ("    for q in 0:i32..m:\n      " + END, True),
    "a loop over less of it": ("    for q in 1:i32..m:\n      " + END, False),
    "a loop that ends by a number": ("    for q in 0:i32..k:\n      " + END, False),
    "a loop that ends by contents": (
        "    e: i32 = a[0:i32]\n    for q in 0:i32..e:\n      " + END,
        False,
    ),
    "a triangle": ("    for q in 0:i32..i:\n      " + END, False),
    "windows": (WINDOWS + "        " + END, True),
    "windows, the last one longer": (
        (WINDOWS + "        " + END).replace("min(left, 4:i32)", "max(left, 4:i32)"),
        False,
    ),
    "two loops, in pieces of the number": (
        "    h: i32 = floordiv(m, k)\n    for p in 0:i32..h:\n      for r in 0:i32..k:\n"
        "        t: i32 = mul(p, k)\n        q: i32 = add(t, r)\n        " + END,
        True,
    ),
    "under a condition": (
        "    for q in 0:i32..m:\n      c: bool = gt(q, k)\n      if c:\n        " + END,
        False,
    ),
}


@pytest.mark.parametrize("what", INNER)
def test_inner_loops(what: str) -> None:
    text, expected = INNER[what]
    program = parse(ROWS + text)
    writes = WholeWrites(program, program.params)
    for m in (6, 9, 15):
        args = [SimpleNamespace(shape=(2, m)), SimpleNamespace(shape=(2, m)), 3]
        found = writes.of([*args, SimpleNamespace(shape=(2,))])
        assert found.added == ({1} if expected else set()), m


BOXES = {
    "parallel for i in 1:i32..n:\n    y[i] = 0.0:f32\n": (1, 5),
    "parallel for i in 0:i32..n:\n    j: i32 = sub(i, 2:i32)\n    y[j] = 0.0:f32\n": (0, 3),
    "parallel for i in 1:i32..k:\n    j: i32 = sub(n, i)\n    y[j] = 0.0:f32\n": (2, 5),
    "parallel for i in k..k:\n    y[i] = 0.0:f32\n": None,
    "parallel for i in k..1:i32:\n    y[i] = 0.0:f32\n": None,
    "parallel for i in 0:i32..n:\n    j: i32 = mul(i, 2:i32)\n    y[j] = 0.0:f32\n": None,
    "parallel for i in 0:i32..n:\n    j: i32 = mul(i, i)\n    y[j] = 0.0:f32\n": None,
    "parallel for i in 0:i32..n:\n    y[k] = 0.0:f32\n": None,
    "parallel for i in 0:i32..n, j in 0:i32..k:\n    y[i] = 0.0:f32\n": None,
}


@pytest.mark.parametrize("text", BOXES)
def test_boxes_of_zeros(text: str) -> None:
    program = parse(HEAD + "  " + text)
    field = SimpleNamespace(shape=(5,))
    found = WholeWrites(program, program.params).of([field, field, 4])
    box = BOXES[text]
    assert found.cleared == ({} if box is None else {1: (box,)})


def without_clears(program: Program, *arrays: Array) -> Program:
    return clears.without_clears(program, arrays)[0]


def test_clears_are_left_out_with_loops_of_nothing_else() -> None:
    clear_x = CLEARED.replace("y", "x")
    added, cleared, program = whole(LOOP + ADDED + clear_x + later(CLEARED))
    assert (added, cleared) == ([1], [0, 1])
    x, y = program.arrays[:2]
    assert print_program(without_clears(program, x, y)) == HEAD + LOOP + ADDED
    assert print_program(without_clears(program, y)) == HEAD + LOOP + ADDED + clear_x


def test_what_is_read_before_the_last_clear_is_cleared() -> None:
    read = "    a: f32 = y[i]\n    x[i] = a\n"
    for text in (LOOP + CLEARED + read + CLEARED, LOOP + CLEARED + later(read + CLEARED)):
        _, cleared, program = whole(text)
        assert cleared == [1]
        left = print_program(without_clears(program, program.arrays[1]))
        assert left.count("= 0.0:f32") == 1
        assert left.index("y[i] = 0.0:f32") < left.index("a: f32 = y[")
