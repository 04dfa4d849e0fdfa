"""Systems of linear constraints over the integers: proofs that they have no solution, or one.

Equations are solved by unimodular substitution (Pugh, The Omega test, 1991, section 2), the
rest by bounds that constraints impose on each other, and by bisection. The search gives up after a
fixed number of steps: the answer is then that nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, TypeAlias

from difftile.records import dataclass

Unknown: TypeAlias = int
"""A number of the system, by its position in `System.bounds`."""

_STEPS = 400  # alternatives and halves that a search looks at


class Linear(NamedTuple):
    """`sum(factors[v] * v) + constant`."""

    factors: Mapping[Unknown, int]
    constant: int

    def __neg__(self) -> Linear:
        """Return the negative."""
        return self.scaled(-1)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """Return the sum with a multiple of another form."""
        factors = dict(self.factors)
        for v, f in other.factors.items():
            factors[v] = factors.get(v, 0) + times * f
        kept = {v: f for v, f in factors.items() if f}
        return Linear(kept, self.constant + times * other.constant)

    def scaled(self, times: int) -> Linear:
        """Return a multiple."""
        return Linear({}, 0).plus(self, times)

    def shifted(self, by: int) -> Linear:
        """Return the form plus a constant."""
        return Linear(self.factors, self.constant + by)


def number(value: int) -> Linear:
    """Return a constant form."""
    return Linear({}, value)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A form that is zero, or else at least zero."""

    form: Linear
    is_zero: bool = False


Case: TypeAlias = tuple[Constraint, ...]
"""Constraints that hold together."""


def zero(form: Linear) -> Constraint:
    """Return the constraint that a form is zero."""
    return Constraint(form, is_zero=True)


def at_least(form: Linear, other: Linear | int) -> Constraint:
    """Return the constraint that a form is another one or more."""
    return Constraint(form.plus(number(other) if isinstance(other, int) else other, -1))


@dataclass(slots=True)
class System:
    """Constraints over integers.

    Attributes:
        bounds: For each unknown the least and the greatest value; None where there is none.
        constraints: Constraints that all hold.
        choices: Of each one case holds.
    """

    bounds: list[tuple[int | None, int | None]] = field(
        default_factory=list[tuple["int | None", "int | None"]]
    )
    constraints: list[Constraint] = field(default_factory=list[Constraint])
    choices: list[Sequence[Case]] = field(default_factory=list[Sequence[Case]])

    def unknown(self, low: int | None = None, high: int | None = None) -> Linear:
        """Add an unknown and return it as a form."""
        self.bounds.append((low, high))
        return Linear({len(self.bounds) - 1: 1}, 0)


@dataclass(frozen=True, slots=True)
class Solution:
    """The answer for a system that was not proved to have no solution.

    Args:
        values: The unknowns of a solution; None where the search gave up.
    """

    values: tuple[int, ...] | None

    def value(self, form: Linear) -> int:
        """Return the value of a form in the solution."""
        assert self.values is not None
        return form.constant + sum(f * self.values[v] for v, f in form.factors.items())


def solve(system: System, *, steps: int = _STEPS) -> Solution | None:
    """Return a solution of a system; None if it is proved that there is none."""
    state = _State(dict(enumerate(system.bounds)), {}, [])
    budget = [steps]
    found = _search(state, system.constraints, list(system.choices), budget)
    if found is None or found.values is None:
        return found
    return Solution(found.values[: len(system.bounds)])


@dataclass(slots=True)
class _State:
    """Where a search stands.

    Attributes:
        bounds: Those of the unknowns that are left.
        solved: The other unknowns, as forms of unknowns that were left at that time.
        rows: Forms over unknowns that are left, each at least zero.
    """

    bounds: dict[Unknown, tuple[int | None, int | None]]
    solved: dict[Unknown, Linear]
    rows: list[Linear]

    def copy(self) -> _State:
        return _State(dict(self.bounds), dict(self.solved), list(self.rows))

    def current(self, form: Linear) -> Linear:
        """Return a form over unknowns that are left."""
        while any(v in self.solved for v in form.factors):
            for v, f in form.factors.items():
                if v in self.solved:
                    rest = Linear({w: g for w, g in form.factors.items() if w != v}, form.constant)
                    form = rest.plus(self.solved[v], f)
                    break
        return form

    def substitute(self, v: Unknown, form: Linear) -> None:
        """Replace an unknown everywhere; its bounds become rows."""
        low, high = self.bounds.pop(v)
        self.solved[v] = form
        self.rows = [self.current(row) for row in self.rows]
        if low is not None:
            self.rows.append(form.shifted(-low))
        if high is not None:
            self.rows.append((-form).shifted(high))

    def equate(self, form: Linear) -> bool:
        """Take in that a form is zero; tell whether that may be."""
        while True:
            form = self.current(form)
            if not form.factors:
                return form.constant == 0
            divisor = math.gcd(*form.factors.values())
            if form.constant % divisor:
                return False
            form = Linear(
                {v: f // divisor for v, f in form.factors.items()}, form.constant // divisor
            )
            parts = self._separated(form)
            if parts is not None:
                return all(self.equate(part) for part in parts)
            v, least = min(form.factors.items(), key=lambda item: (abs(item[1]), item[0]))
            rest = Linear({w: f for w, f in form.factors.items() if w != v}, form.constant)
            if abs(least) == 1:
                self.substitute(v, rest.scaled(-least))
                return True
            # v = t - sum(q * w) leaves remainders smaller than the least factor.
            t = max((*self.bounds, *self.solved)) + 1
            self.bounds[t] = (None, None)
            quotients = {w: f // least for w, f in rest.factors.items()}
            self.substitute(v, Linear({t: 1, **{w: -q for w, q in quotients.items() if q}}, 0))

    def _separated(self, form: Linear) -> tuple[Linear, Linear] | None:
        """Return two forms that must both be zero for one to be, as bounds tell.

        `a * x + y` is zero only for one multiple of a in the range of y, if that is short. This is
        how indices of several axes come apart that were made one.
        """
        for a in sorted({abs(f) for f in form.factors.values()} - {1}, reverse=True):
            y = Linear({v: f for v, f in form.factors.items() if f % a}, form.constant)
            if not y.factors:
                continue
            low, high = self._range(y)
            if low is None or high is None:
                continue
            first, last = -(-low // a), high // a
            if first > last:
                return number(1), number(1)  # no multiple at all
            if first < last:
                continue
            x = Linear({v: f // a for v, f in form.factors.items() if not f % a}, first)
            return x, y.shifted(-first * a)
        return None

    def narrow(self) -> bool:
        """Let rows narrow bounds until nothing changes; tell whether a solution may be left."""
        for _ in range(40):
            changed = False
            kept: list[Linear] = []
            for row in self.rows:
                low, high = self._range(row)
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

    def _range(self, row: Linear) -> tuple[int | None, int | None]:
        low: int | None = row.constant
        high: int | None = row.constant
        for v, f in row.factors.items():
            least, most = self.bounds[v] if f > 0 else self.bounds[v][::-1]
            low = None if low is None or least is None else low + f * least
            high = None if high is None or most is None else high + f * most
        return low, high

    def _tighten(self, row: Linear, v: Unknown, f: int) -> bool | None:
        """Bound one unknown by the ranges of the others in a row; None if it has no values left."""
        most = row.constant  # of the rest
        for w, g in row.factors.items():
            if w != v:
                end = self.bounds[w][g > 0]
                if end is None:
                    return False
                most += g * end
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

        def size(v: Unknown) -> tuple[bool, int, int]:
            low, high = self.bounds[v]
            bounded = low is not None and high is not None
            return not bounded, high - low if low is not None and high is not None else 0, v

        v = min(involved, key=size)
        low, high = self.bounds[v]
        x = Linear({v: 1}, 0)
        if low is not None and high is not None:
            middle = (low + high) // 2
            return [(at_least(number(middle), x),), (at_least(x, middle + 1),)]
        start = low if low is not None else high if high is not None else 0
        cases: list[Case] = [(zero(x.shifted(-start)),)]
        if high is None:
            cases.append((at_least(x, start + 1),))
        if low is None:
            cases.append((at_least(number(start - 1), x),))
        return cases

    def solution(self) -> Solution:
        """Return a solution, where unknowns that are left may take any value within bounds."""
        known = {
            v: low if low is not None else high if high is not None else 0
            for v, (low, high) in self.bounds.items()
        }
        count = max((*known, *self.solved), default=-1) + 1
        whole = Solution(tuple(known.get(v, 0) for v in range(count)))
        values: list[int] = []
        for v in range(count):
            values.append(known[v] if v in known else whole.value(self.current(Linear({v: 1}, 0))))
        return Solution(tuple(values))


def _search(
    state: _State,
    constraints: Iterable[Constraint],
    choices: list[Sequence[Case]],
    budget: list[int],
) -> Solution | None:
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
        state.substitute(v, number(low))
    if fixed and not state.narrow():
        return None
    budget[0] -= 1
    if budget[0] < 0:
        return Solution(None)
    if choices:
        first, rest = choices[0], choices[1:]
        return _first_of(((state.copy(), case, rest) for case in first), budget)
    if not state.rows:
        return state.solution()
    return _first_of(((state.copy(), case, []) for case in state.halves()), budget)


def _first_of(
    branches: Iterable[tuple[_State, Case, list[Sequence[Case]]]], budget: list[int]
) -> Solution | None:
    """Return the first solution of several branches; None if none of them has one."""
    unsure = False
    for state, case, rest in branches:
        found = _search(state, case, rest, budget)
        if found is not None:
            if found.values is not None:
                return found
            unsure = True
    return Solution(None) if unsure else None
