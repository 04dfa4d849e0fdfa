"""A chain of stages through all checks: derived programs, and all programs in their forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from difftile.ir.derived import Derived
from difftile.ir.nodes import Program
from difftile.ops.check import check
from tests.meaning import forms
from tests.meaning.chains import Chain
from tests.meaning.derivatives import Found, State, check_stage
from tests.meaning.forms import Form
from tests.meaning.meaning import (
    Contents,
    Memory,
    Numbers,
    compare,
    copied,
    memory_of,
    run,
)
from tests.meaning.orders import marks_of, meetings, reordered, shows_its_order, watched

DIGITS = 1e-9


def check_chain(
    chain: Chain, number: int, *, smooth: bool, second: bool = False, digits: float = DIGITS
) -> None:
    """Put the stages of a chain through all checks.

    Args:
        chain: The chain.
        number: Selects seeds, and which of the rarer forms programs take.
        smooth: Whether complex steps give its derivatives.
        second: Whether to check second derivatives and batches, too.
        digits: How near results are where sums are taken in another order.
    """
    memory: Memory = dict(chain.memory)
    known: set[int] = set()
    for link in chain.links:
        if id(link.stage) in known:
            continue
        known.add(id(link.stage))
        found = check_stage(link, memory, number, smooth=smooth, second=second)
        _check_forms_of(found, number, digits)
        memory |= found.after


def _check_forms_of(found: Found, number: int, digits: float) -> None:
    check_forms(found.primal, found.start, number, digits=digits)
    for name, derived, state in found.programs:
        if name == "adjoint":
            check_forms(derived, state, number + 1, digits=digits)


def check_forms(derived: Derived, state: State, number: int, *, digits: float = DIGITS) -> None:
    """Compare the forms of a program with it.

    Args:
        derived: The program.
        state: What it runs on.
        number: Selects forms.
        digits: See `check_chain`.
    """
    fields, numbers = state.bind(derived)
    fields = {a: values for a, values in fields.items() if a not in derived.program.temps}
    one = _Compared(derived.program, fields, numbers, digits)
    host = forms.Host(derived.program, fields, numbers)
    one.check(host.threads())
    if number % 3:
        one.check(host.rare(number // 3))
    one.check(host.legal(number))
    if number % 2:
        device = forms.Device(derived.program, fields, numbers)
        one.check(device.formed(number // 2))
    one.check_stored(host.finished)


class _Compared:
    """A program with its results, with which those of its forms are compared."""

    def __init__(self, program: Program, fields: Contents, numbers: Numbers, digits: float) -> None:
        self.program, self.fields, self.numbers, self.digits = program, fields, numbers, digits
        self.results = copied(fields)
        self.said = run(program, self.results, numbers)
        self.has_order = shows_its_order(program)

    def check(self, form: Form) -> None:
        """Compare a form, with its iterations in another order.

        Raises:
            AssertionError: Results differ, or two iterations touch one element.
        """
        check(form.program)
        if self.has_order:
            self._compare(form.name, form)
            return
        fields = form.with_memory(copied(self.fields))
        for array in form.program.temps:
            fields.setdefault(array, memory_of(array, fields))
        known = {a for a, v in fields.items() if form.is_apart and isinstance(v, np.ndarray)}
        noted, notes = watched(reordered(form.program), known)
        marks = marks_of(notes, fields)
        form = replace(form, program=noted)
        self._compare(f"{form.name}, in another order", form, {**fields, **marks})
        met = meetings(notes, marks)
        assert not met, f"{form.name}: iterations meet at {met}"

    def _compare(self, name: str, form: Form, fields: Contents | None = None) -> None:
        fields = form.with_memory(copied(self.fields)) if fields is None else fields
        said = run(form.program, fields, self.numbers)
        for array, values in self.results.items():
            compare(fields[array], values, f"{array.name} after {name}", self.digits)
        # Iterations of a parallel loop print in any order.
        assert sorted(said) == sorted(self.said), f"after {name}:\n{said}\nbefore:\n{self.said}"

    def check_stored(self, finished: Program) -> None:
        """Store sums of one term into arrays of zeros."""
        program, arrays = forms.stored(finished)
        if not arrays:
            return
        fields = copied(self.fields)
        for array in arrays:
            if array in fields:
                fields[array][...] = 0
        expected = copied(fields)
        run(finished, expected, self.numbers)
        run(program, fields, self.numbers)
        for array, values in expected.items():
            compare(fields[array], values, f"{array.name} after stores into zeros", self.digits)
