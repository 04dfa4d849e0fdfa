"""The engine of forward dataflow, by an analysis of the fields that values depend on."""

from __future__ import annotations

from difftile.ir.dataflow import Dataflow
from difftile.ir.nodes import Let, Load, Stmt
from difftile.ir.parse import parse

NOTHING: frozenset[str] = frozenset()


class Fields(Dataflow[frozenset[str]]):
    """The names of the fields that each value depends on."""

    def transfer(self, stmt: Stmt, control: frozenset[str]) -> frozenset[str] | None:
        match stmt:
            case Load(array=array, index=index):
                return self.of(*index) | {array.name}
            case Let(args=args):
                return self.of(*args)
            case _:
                return None


def facts(text: str, *, control: bool = False) -> dict[str, frozenset[str]]:
    analysis = Fields(NOTHING, control=control)
    analysis.block(parse(text).body, NOTHING)
    return {variable.name: fact for variable, fact in analysis.facts.items()}


LOOP = """
program f(x: field<f32, 1>, y: field<f32, 1>, z: field<f32, 1>, n: i32)
  parallel for i in 0:i32..n:
    a: f32 = x[i]
    b: f32 = y[i]
    for j in 0:i32..n, r <- p = a, s <- q = b:
      c: f32 = z[j]
      yield q, c
"""
BRANCH = """
program f(x: field<f32, 1>, y: field<f32, 1>, n: i32)
  parallel for i in 0:i32..n:
    a: f32 = x[i]
    c: bool = gt(a, 0.0:f32)
    r = if c:
      b: f32 = y[i]
      yield b
    else:
      yield 1.0:f32
"""


def test_carries_join_what_all_iterations_bring() -> None:
    found = facts(LOOP)
    assert found["s"] == {"y", "z"}
    assert found["r"] == {"x", "y", "z"}  # z only after a second iteration


def test_results_of_branches_join_both_sides() -> None:
    assert facts(BRANCH)["r"] == {"y"}


def test_control_counts_where_it_is_asked_for() -> None:
    assert facts(BRANCH, control=True)["r"] == {"x", "y"}


def test_values_that_nothing_is_known_of_have_no_facts() -> None:
    assert "i" not in facts(LOOP)
