"""Systems of linear constraints over the integers: proofs that they have no solution, or one.

Equations are solved by unimodular substitution (Pugh, The Omega test, 1991, section 2), the
rest by bounds that constraints impose on each other, and by bisection. The search gives up after a
fixed number of steps: the answer is then that nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TypeAlias

from difftile.passes.affine import Affine
from difftile.passes.intervals import Ends
from difftile.records import dataclass

_STEPS = 400  # alternatives and halves that a search looks at


@dataclass(frozen=True, slots=True)
class FormConstraint:
    """A form that is zero, or else at least zero."""

    form: Affine[int]
    is_zero: bool = False


Case: TypeAlias = tuple[FormConstraint, ...]
"""Constraints that hold together."""


def zero(form: Affine[int]) -> FormConstraint:
    """Return the constraint that a form is zero."""
    return FormConstraint(form, is_zero=True)


def at_least(form: Affine[int], other: Affine[int] | int) -> FormConstraint:
    """Return the constraint that a form is another one or more."""
    return FormConstraint(form - other)


@dataclass(slots=True)
class System:
    """Constraints over integers; an unknown is its position in `bounds`.

    Attributes:
        bounds: For each unknown the least and the greatest value; None where there is none.
        constraints: Constraints that all hold.
        choices: Of each one case holds.
    """

    bounds: list[Ends] = field(default_factory=list[Ends])
    constraints: list[FormConstraint] = field(default_factory=list[FormConstraint])
    choices: list[Sequence[Case]] = field(default_factory=list[Sequence[Case]])

    def unknown(self, low: int | None = None, high: int | None = None) -> Affine[int]:
        """Add an unknown and return it as a form."""
        self.bounds.append((low, high))
        return Affine({len(self.bounds) - 1: 1})


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """The answer for a system that was not proved to have no solution.

    Args:
        values: The unknowns of a solution; None where the search gave up.
    """

    values: tuple[int, ...] | None

    def value(self, form: Affine[int]) -> int:
        """Return the value of a form in the solution."""
        assert self.values is not None
        return form.value(self.values.__getitem__)


def solve(system: System, *, steps: int = _STEPS) -> SystemAnswer | None:
    """Return a solution of a system; None if it is proved that there is none."""
    state = _State(dict(enumerate(system.bounds)), {}, [])
    budget = [steps]
    found = _search(state, system.constraints, list(system.choices), budget)
    if found is None or found.values is None:
        return found
    return SystemAnswer(found.values[: len(system.bounds)])


@dataclass(slots=True)
class _State:
    """Where a search stands.

    Attributes:
        bounds: The bounds of the remaining unknowns.
        solved: The other unknowns, as forms of unknowns that were left at that time.
        rows: Forms over unknowns that are left, each at least zero.
    """

    bounds: dict[int, Ends]
    solved: dict[int, Affine[int]]
    rows: list[Affine[int]]

    def copy(self) -> _State:
        return _State(dict(self.bounds), dict(self.solved), list(self.rows))

    def current(self, form: Affine[int]) -> Affine[int]:
        """Return a form over unknowns that are left."""
        while (v := next((v for v in form.factors if v in self.solved), None)) is not None:
            form = form.substituted(v, self.solved[v])
        return form

    def substitute(self, v: int, form: Affine[int]) -> None:
        """Replace an unknown everywhere; its bounds become rows."""
        low, high = self.bounds.pop(v)
        self.solved[v] = form
        self.rows = [self.current(row) for row in self.rows]
        if low is not None:
            self.rows.append(form - low)
        if high is not None:
            self.rows.append(-form + high)

    def equate(self, form: Affine[int]) -> bool:
        """Take in that a form is zero; tell whether that may be."""
        while True:
            form = self.current(form)
            if not form.factors:
                return form.constant == 0
            divisor = math.gcd(*form.factors.values())
            if form.constant % divisor:
                return False
            form //= divisor
            parts = self._separated(form)
            if parts is not None:
                return all(self.equate(part) for part in parts)
            v = min(form.factors, key=lambda v: (abs(form.factor(v)), v))
            least, rest = form.split(v)
            if abs(least) == 1:
                self.substitute(v, rest * -least)
                return True
            # v = t - sum(q * w) leaves remainders smaller than the least factor.
            t = max((*self.bounds, *self.solved)) + 1
            self.bounds[t] = (None, None)
            quotients = {w: f // least for w, f in rest.factors.items()}
            self.substitute(v, Affine({t: 1, **{w: -q for w, q in quotients.items() if q}}))

    def _separated(self, form: Affine[int]) -> tuple[Affine[int], Affine[int]] | None:
        """Return two forms that must both be zero for one to be, as bounds tell.

        `a * x + y` is zero only for one multiple of a in the range of y, if that is short. This is
        how indices of several axes come apart that were made one.
        """
        for a in sorted({abs(f) for f in form.factors.values()} - {1}, reverse=True):
            multiples = {v: f for v, f in form.factors.items() if not f % a}
            y = form.without(multiples)
            if not y.factors:
                continue
            low, high = y.ends(self.bounds.__getitem__)
            if low is None or high is None:
                continue
            first, last = -(-low // a), high // a
            if first > last:
                return Affine({}, 1), Affine({}, 1)  # no multiple at all
            if first < last:
                continue
            return Affine(multiples) // a + first, y - first * a
        return None

    def narrow(self) -> bool:
        """Let rows narrow bounds until nothing changes; tell whether a solution may be left."""
        for _ in range(40):
            changed = False
            kept: list[Affine[int]] = []
            for row in self.rows:
                low, high = row.ends(self.bounds.__getitem__)
                if high is not None and high < 0:
                    return False
                if low is not None and low >= 0:
                    continue  # holds anyway
                kept.append(row)
                for v, f in row.factors.items():
                    outcome = self._tighten(row, v, f)
                    if outcome is None:
                        return False
                    changed = changed or outcome
            self.rows = kept
            if not changed:
                break
        return True

    def _tighten(self, row: Affine[int], v: int, f: int) -> bool | None:
        """Bound one unknown by the ranges of the others in a row; None if it has no values left."""
        _, most = row.split(v)[1].ends(self.bounds.__getitem__)
        if most is None:
            return False
        low, high = self.bounds[v]
        if f > 0:  # v >= -most / f
            bound = -(most // f)
            if low is not None and low >= bound:
                return False
            low = bound
        else:  # v <= most / -f
            bound = most // -f
            if high is not None and high <= bound:
                return False
            high = bound
        if low is not None and high is not None and low > high:
            return None
        self.bounds[v] = (low, high)
        return True

    def halves(self) -> list[Case]:
        """Return two or three parts of the range of the unknown that has the smallest."""
        involved = {v for row in self.rows for v in row.factors}

        def size(v: int) -> tuple[bool, int, int]:
            low, high = self.bounds[v]
            bounded = low is not None and high is not None
            return not bounded, high - low if low is not None and high is not None else 0, v

        v = min(involved, key=size)
        low, high = self.bounds[v]
        x = Affine({v: 1})
        if low is not None and high is not None:
            middle = (low + high) // 2
            return [(at_least(Affine({}, middle), x),), (at_least(x, middle + 1),)]
        start = low if low is not None else high if high is not None else 0
        cases: list[Case] = [(zero(x - start),)]
        if high is None:
            cases.append((at_least(x, start + 1),))
        if low is None:
            cases.append((at_least(Affine({}, start - 1), x),))
        return cases

    def solution(self) -> SystemAnswer:
        """Return a solution, where unknowns that are left may take any value within bounds."""
        known = {
            v: low if low is not None else high if high is not None else 0
            for v, (low, high) in self.bounds.items()
        }
        count = max((*known, *self.solved), default=-1) + 1
        whole = SystemAnswer(tuple(known.get(v, 0) for v in range(count)))
        values: list[int] = []
        for v in range(count):
            values.append(known[v] if v in known else whole.value(self.current(Affine({v: 1}))))
        return SystemAnswer(tuple(values))


def _search(
    state: _State,
    constraints: Iterable[FormConstraint],
    choices: list[Sequence[Case]],
    budget: list[int],
) -> SystemAnswer | None:
    for one in constraints:
        if one.is_zero:
            if not state.equate(one.form):
                return None
        else:
            state.rows.append(state.current(one.form))
    if not state.narrow():
        return None
    fixed = [v for v, (low, high) in state.bounds.items() if low is not None and low == high]
    for v in fixed:
        low = state.bounds[v][0]
        assert low is not None
        state.substitute(v, Affine({}, low))
    if fixed and not state.narrow():
        return None
    budget[0] -= 1
    if budget[0] < 0:
        return SystemAnswer(None)
    if choices:
        first, rest = choices[0], choices[1:]
        return _first_of(((state.copy(), case, rest) for case in first), budget)
    if not state.rows:
        return state.solution()
    return _first_of(((state.copy(), case, []) for case in state.halves()), budget)


def _first_of(
    branches: Iterable[tuple[_State, Case, list[Sequence[Case]]]], budget: list[int]
) -> SystemAnswer | None:
    """Return the first solution of several branches; None if none of them has one."""
    unsure = False
    for state, case, rest in branches:
        found = _search(state, case, rest, budget)
        if found is not None:
            if found.values is not None:
                return found
            unsure = True
    return SystemAnswer(None) if unsure else None
