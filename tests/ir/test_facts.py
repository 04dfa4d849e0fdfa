"""Facts about blocks: what is found out about one is found out once."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest

from difftile.compile.stage import Adjoint, Renamed, Stage
from difftile.ir import facts
from difftile.ir.digest import digest
from difftile.ir.nodes import Program
from difftile.ir.parse import parse
from difftile.ir.walk import walk
from difftile.passes.optimise import normalise
from difftile.passes.stages import split
from difftile.schedule.finish import finish
from difftile.substrate.kept_code import dumps, loads
from tests.targets import host

pytestmark = pytest.mark.always

# Elements that are read after they are written, a loop around branches, sums, a local array.
KERNEL = """
program f(x: field<f32, 1>, y: field<f32, 1>, k: field<f32, 0>, loss: field<f32, 0>, n: i32)
  n_x = shape(x, 0)
  parallel for i in 0:i32..n_x:
    local c: f32[3]
    a: f32 = x[i]
    for j in 0:i32..n, s <- r = a:
      b: f32 = y[j]
      w: bool = gt(b, r)
      t = if w:
        u: f32 = mul(b, r)
        c[1:i32] += u
        yield u
      else:
        v: f32 = k[]
        loss[] += v
        yield v
      y[i] = t
      z: f32 = y[i]
      q: f32 = sin(z)
      yield q
    x[i] = s
    e: f32 = x[i]
    g: f32 = c[1:i32]
    h: f32 = mul(e, g)
    loss[] += h
"""


class Counts:
    """How often each fact is computed for a block, and how often a line walks one."""

    def __init__(self) -> None:
        self.found: Counter[tuple[Any, ...]] = Counter()
        self.kept: list[object] = []  # so that identities stay those of one object
        self.known = facts.fact(len).__code__

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if event != "call" or frame.f_back is None:
            return
        block, by = frame.f_locals.get("block", frame.f_locals.get("body")), frame.f_back
        if frame.f_code is walk.__code__ and frame.f_lasti < 8:
            self.kept.append(block)
            self.found[
                "walk", f"{by.f_code.co_filename}:{by.f_lineno} {by.f_code.co_name}", id(block)
            ] += 1
        elif by.f_code is self.known and frame.f_code is not self.known:
            self.kept.append(by.f_locals["block"])
            self.found["fact", by.f_locals["key"], id(by.f_locals["block"])] += 1


def counted(program: Program) -> Counter[tuple[Any, ...]]:
    """Compile a kernel and its adjoint; return what was counted."""
    counts = Counts()
    sys.setprofile(counts)
    try:
        for number, one in enumerate(split(normalise(program))):
            stage = Stage(one, number)
            adjoint = stage.derived(Adjoint(frozenset(one.arrays)))
            for made in (stage.program, adjoint and adjoint.program):
                if made is not None:
                    finish(made, host(32))
    finally:
        sys.setprofile(None)
    return counts.found


def test_facts_are_no_part_of_a_program() -> None:
    program = parse(KERNEL)
    before, text = digest([program]), repr(program)
    assert facts.arrays_written(program.body)
    assert digest([program]) == before and repr(program) == text
    (copy,) = loads(dumps({0: program}, ()), ()).values()
    assert copy.body.facts == {} and digest([copy]) == before


def test_no_fact_is_computed_twice_for_one_block() -> None:
    found = counted(parse(KERNEL))
    assert sum(key[0] == "fact" for key in found) > 100
    assert [key for key, times in found.items() if times > 1] == []


def test_parameters_have_one_order_in_all_processes() -> None:
    """Arrays in sets are in the order of their addresses, on which no text may depend."""
    names = [f"a{k}" for k in range(7)]
    fields = ", ".join(f"{name}: field<f32, 1>" for name in names)
    updates = "".join(
        f"    b{k}: f32 = {name}[i]\n    c{k}: f32 = sin(b{k})\n    {name}[i] = c{k}\n"
        for k, name in enumerate(names)
    )
    for _ in range(8):
        program = parse(f"program f({fields})\n  parallel for i in 0:i32..2:i32:\n{updates}")
        renamed = Stage(program, 0).derived(Renamed(frozenset(program.arrays)))
        assert renamed is not None
        old = [param.name for param in renamed.program.params[len(names) :]]
        assert old == [f"{name}_old" for name in names]
