"""Random programs of one step: repeated by the passes, they compute what they do step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from difftile import meaning
from difftile.ir.nodes import Array, Const, ParallelFor, Program, Var
from difftile.ir.printer import print_program
from difftile.ir.types import I32
from difftile.ir.walk import WRITES, walk
from difftile.ops.check import check
from difftile.passes.dead_stores import dead_stores
from difftile.passes.optimise import join
from difftile.passes.time_loop import interchanged, serial, strips
from difftile.schedule.finish import finish
from tests.period_programs import STEPS, PeriodProgram
from tests.targets import host

Form = Callable[[Program, Var, Var, Var, bool], Program | None]
Contents = dict[Array, np.ndarray]


def _loops(program: Program) -> int:
    return sum(isinstance(stmt, ParallelFor) for stmt in program.body.stmts)


def _writes(program: Program) -> int:
    return sum(isinstance(stmt, WRITES) for stmt in walk(program.body))


def _interchanged(one: Program, step: Var, first: Var, count: Var, reverse: bool) -> Program | None:
    return interchanged(one, step, first, count, reverse=reverse)


def _serial(one: Program, step: Var, first: Var, count: Var, reverse: bool) -> Program | None:
    return serial(one, step, first, count, reverse=reverse)


def _strips(one: Program, step: Var, first: Var, count: Var, reverse: bool) -> Program | None:
    return strips(one, step, first, count, Const(2, I32), reverse=reverse)


def _finished(one: Program, step: Var, first: Var, count: Var, reverse: bool) -> Program | None:
    made = interchanged(one, step, first, count, reverse=reverse)
    return None if made is None else finish(made, host(3), checked=True)


FORMS: dict[str, Form] = {
    "interchanged": _interchanged,
    "strips": _strips,
    "serial": _serial,
    "finished": _finished,
}


def _run(program: Program, fields: Contents, numbers: dict[Var, float]) -> Contents:
    found = {array: values.copy() for array, values in fields.items()}
    meaning.run(program, found, {v: n for v, n in numbers.items() if v in program.params})
    return found


def _same(found: Contents, expected: Contents, what: str, program: Program) -> None:
    for array, values in expected.items():
        if not np.allclose(found[array], values, 1e-9, 1e-9):
            raise AssertionError(f"{what}: {array.name}\n{print_program(program)}")


def check_one(seed: int, seen: Counter[str]) -> None:
    rng = np.random.default_rng(seed)
    drawn = PeriodProgram(rng, friendly=seed % 3 == 0, short=seed % 3 == 1)
    program = check(drawn.program)
    fields, numbers = drawn.inputs()
    reverse = bool(rng.integers(2))
    first = int(rng.integers(STEPS))
    steps = range(first, int(rng.integers(first, STEPS)) + 1)
    expected = fields
    for t in steps[::-1] if reverse else steps:
        expected = _run(program, expected, {**numbers, drawn.step: t})

    joined = join(program, drawn.extents, checked=True)
    at = {**numbers, drawn.step: first}
    _same(_run(joined, fields, at), _run(program, fields, at), f"seed {seed}, joined", program)
    seen["joined"] += _loops(joined) < _loops(program)
    seen["stores"] += _writes(dead_stores(program, drawn.extents)) < _writes(program)

    start, count = Var("first", I32), Var("count", I32)
    numbers |= {start: first, count: len(steps)}
    for name, form in FORMS.items():
        one = program if rng.random() < 0.3 else joined
        made = form(one, drawn.step, start, count, reverse)
        if made is not None:
            seen[name] += 1
            _same(_run(check(made), fields, numbers), expected, f"seed {seed}, {name}", program)


def test_repeated_programs_compute_what_their_steps_do() -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        check_one(seed, seen)
    assert seen["joined"] > 20, seen
    assert seen["interchanged"] > 5, seen
    assert seen["stores"] > 10, seen


@pytest.mark.slow
def test_many_repeated_programs_compute_what_their_steps_do() -> None:
    for seed in range(1_000, 21_000):
        check_one(seed, Counter())
