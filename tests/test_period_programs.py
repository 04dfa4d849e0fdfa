"""Random programs of one step: repeated by the passes, they compute what they do step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from difftile import interp
from difftile.ir.nodes import Array, ParallelFor, Program, Var
from difftile.ir.printer import print_program
from difftile.ir.types import I32
from difftile.ops.check import check
from difftile.passes.merge_loops import merge_loops
from difftile.passes.optimise import finish
from difftile.passes.time_loop import interchanged, serial
from tests.period_programs import STEPS, PeriodProgram

Form = Callable[[Program, Var, Var, Var, bool], Program | None]


def _loops(program: Program) -> int:
    return sum(isinstance(stmt, ParallelFor) for stmt in program.body.stmts)


def _interchanged(program: Program, step: Var, first: Var, count: Var, reverse: bool):
    return interchanged(program, step, first, count, reverse=reverse)


def _serial(program: Program, step: Var, first: Var, count: Var, reverse: bool):
    return serial(merge_loops(program), step, first, count, reverse=reverse)


def _finished(program: Program, step: Var, first: Var, count: Var, reverse: bool):
    made = interchanged(program, step, first, count, reverse=reverse)
    return None if made is None else finish(made, 3)


FORMS: dict[str, Form] = {
    "interchanged": _interchanged,
    "serial": _serial,
    "finished": _finished,
}


def _run(
    program: Program, fields: dict[Array, np.ndarray], numbers: dict[Var, float]
) -> dict[Array, np.ndarray]:
    found = {array: values.copy() for array, values in fields.items()}
    interp.run(program, found, {v: n for v, n in numbers.items() if v in program.params})
    return found


def check_one(seed: int, seen: Counter[str]) -> None:
    rng = np.random.default_rng(seed)
    drawn = PeriodProgram(rng, friendly=seed % 2 == 0)
    program = check(drawn.program)
    fields, numbers = drawn.inputs()
    reverse = bool(rng.integers(2))
    first = int(rng.integers(STEPS))
    steps = range(first, int(rng.integers(first, STEPS)) + 1)
    expected = fields
    for t in steps[::-1] if reverse else steps:
        expected = _run(program, expected, {**numbers, drawn.step: t})
    merged = merge_loops(program)
    seen["merged"] += _loops(merged) < _loops(program)
    start, count = Var("first", I32), Var("count", I32)
    numbers |= {start: first, count: len(steps)}
    for name, form in FORMS.items():
        made = form(program, drawn.step, start, count, reverse)
        if made is None:
            continue
        seen[name] += 1
        found = _run(check(made), fields, numbers)
        for array, values in expected.items():
            np.testing.assert_allclose(
                found[array],
                values,
                1e-9,
                1e-9,
                err_msg=f"seed {seed}, {name}: {array.name}\n{print_program(program)}",
            )


def test_repeated_programs_compute_what_their_steps_do() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        check_one(seed, seen)
    assert seen["merged"] > 40, seen
    assert seen["interchanged"] > 20, seen


@pytest.mark.slow
def test_many_repeated_programs_compute_what_their_steps_do() -> None:
    for seed in range(1_000, 21_000):
        check_one(seed, Counter())
