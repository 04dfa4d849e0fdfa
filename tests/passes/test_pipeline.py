"""After each pass the programs of `tests/programs` still compute what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from difftile.ad.derive import derive
from difftile.ir.nodes import Const, Program, Var
from difftile.ir.types import I32
from difftile.ops.check import check
from difftile.passes import optimise
from difftile.passes.bounds import confine, unchecked
from difftile.passes.componentwise import componentwise
from difftile.passes.inline_primals import inline_primals
from difftile.passes.optimise import join, normalise
from difftile.passes.reciprocals import reciprocals
from difftile.passes.time_loop import interchanged, serial, strips
from difftile.schedule.finish import finish
from tests import harness, programs
from tests.lowered import from_the_frontend
from tests.passes import meaning
from tests.passes.cases import Options
from tests.passes.table import all_by_warps, all_flat
from tests.targets import device, host

programs.load()
_STEPS = 3_000  # statements that run as Python
_SEED = 5


def _after_each_pass(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, Program]]:
    """Return the program after each pass, with the name of the pass."""
    found: list[tuple[str, Program]] = []

    def noted(
        program: Program, passes: tuple[Callable[[Program], Program], ...], checked: bool
    ) -> Program:
        for one in passes:
            program = one(program)
            found.append((one.__name__, program))
        return program

    with monkeypatch.context() as patch:
        patch.setattr(optimise, "run", noted)
        normal = normalise(program)
        join(normal)
        found.append(("confine", confine(finish(normal, host(3)))))
        found.append(("componentwise", componentwise(normal)))
        found.append(("reciprocals", reciprocals(normal)))
        finished = finish(normal, device(3))
        found.append(("flatten", all_flat(finished)))
        found.append(("by_warps", check(all_by_warps(finished))))
    return found


# `tests/meaning` has the forms of all programs, and `tests/ad/test_programs.py` runs them.
SOME = harness.PROGRAMS[::6]
OTHERS = [
    pytest.param(one, marks=pytest.mark.slow) for k, one in enumerate(harness.PROGRAMS) if k % 6
]


@pytest.mark.parametrize("one", [*SOME, *OTHERS], ids=lambda one: one.name)
def test_each_pass_keeps_the_results(one: harness.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    for made in from_the_frontend(one, monkeypatch):
        program = inline_primals(unchecked(derive(made)))
        fields, numbers = meaning.inputs_of(program, Options({}), _SEED)
        expected = meaning.copied(fields)
        try:
            said = meaning.run([program], expected, numbers, _STEPS)
        except (IndexError, meaning.TooLong) as error:
            pytest.skip(f"these inputs do not suit the program: {type(error).__name__}")
        for name, after in _after_each_pass(program, monkeypatch):
            found = meaning.copied(fields)
            assert meaning.run([after], found, numbers) == said, name
            for array, values in expected.items():
                meaning.compare(found[array], values, f"{array.name} after {name}")
        if not program.temps:  # which are zero before each step
            again = meaning.copied(expected)
            meaning.run([program], again, numbers)
            for name, twice in _twice(program):
                found = meaning.copied(fields)
                meaning.run([twice], found, numbers)
                for array, values in again.items():
                    meaning.compare(found[array], values, f"{array.name}, twice, {name}")


def _twice(program: Program) -> Iterator[tuple[str, Program]]:
    """Yield the forms of a program that runs for two steps."""
    step, first, count = Var("step", I32), Const(0, I32), Const(2, I32)
    one = join(normalise(program))
    one = replace(one, params=(*one.params, step))
    yield "serial", serial(one, step, first, count)
    for form in (interchanged(one, step, first, count), strips(one, step, first, count, count)):
        if form is not None:
            yield "in one loop", form
