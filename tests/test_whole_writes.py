"""Which arrays a program gives new contents whole, or leaves full of zeros."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from difftile.ir.nodes import Program
from difftile.ir.parse import parse
from difftile.ir.printer import print_program
from difftile.substrate.whole import whole_writes, without_clears

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
    "zeros elsewhere": LOOP + "    j: i32 = sub(n, i)\n    y[j] = 0.0:f32\n",
    "zeros in a serial loop": "  for i in 0:i32..n:\n" + CLEARED,
}


def whole(text: str) -> tuple[list[int], list[int], Program]:
    program = parse(HEAD + text)
    found = whole_writes(program, program.params)
    args = [SimpleNamespace(shape=(5,)), SimpleNamespace(shape=(5,)), 5]
    for box in (*found.added.values(), *found.cleared.values()):
        assert not box.is_all_of((6,), args)
    added, cleared = (
        [k for k, box in boxes.items() if box.is_all_of((5,), args)]
        for boxes in (found.added, found.cleared)
    )
    return added, cleared, program


def test_whole_writes() -> None:
    for text in WHOLE["added"]:
        assert whole(text)[:2] == ([1], [])
    for text in WHOLE["cleared"]:
        assert whole(text)[:2] == ([], [1])


@pytest.mark.parametrize("why", NOT_WHOLE)
def test_writes_that_are_not_whole(why: str) -> None:
    assert whole(NOT_WHOLE[why])[:2] == ([], [])


def test_bounds_that_are_numbers_may_be_anything() -> None:
    assert whole("  parallel for i in 0:i32..k:\n" + ADDED)[:2] == ([], [])
    assert whole("  parallel for i in 0:i32..5:i32:\n" + ADDED)[:2] == ([1], [])


def test_clears_are_left_out_with_loops_of_nothing_else() -> None:
    clear_x = CLEARED.replace("y", "x")
    added, cleared, program = whole(LOOP + ADDED + clear_x + later(CLEARED))
    assert (added, cleared) == ([1], [0, 1])
    x, y, _ = program.params
    assert print_program(without_clears(program, [x, y])) == HEAD + LOOP + ADDED
    assert print_program(without_clears(program, [y])) == HEAD + LOOP + ADDED + clear_x


def test_what_is_read_before_the_last_clear_is_cleared() -> None:
    read = "    a: f32 = y[i]\n    x[i] = a\n"
    for text in (LOOP + CLEARED + read + CLEARED, LOOP + CLEARED + later(read + CLEARED)):
        _, cleared, program = whole(text)
        assert cleared == [1]
        left = print_program(without_clears(program, [program.arrays[1]]))
        assert left.count("= 0.0:f32") == 1
        assert left.index("y[i] = 0.0:f32") < left.index("a: f32 = y[")
