"""The integers of one iteration as linear forms over unknowns, for questions about two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import field
from itertools import product

from difftile.ir.nodes import Array, Const, For, If, Let, Load, Size, Stmt, Value, Var
from difftile.ir.types import BOOL, I32, I64, is_float, shape_of
from difftile.passes.accesses import Access, Leaf, Scope
from difftile.passes.affine import Affine
from difftile.passes.integers import Case, System, at_least, zero
from difftile.passes.intervals import Interval, fits
from difftile.records import dataclass

_MOST_CASES = 16  # of one condition; more are taken for unknown
_UNKNOWN: tuple[Case, ...] = ((),)
_WIDE = (I32, I64)  # narrower integers wrap


class Question:
    """The system of one pair of accesses.

    Args:
        scope: The origins of the values of the program.
        varying: The values that may differ between the sides.
        written: The arrays whose elements may differ between them.
        known: The values of sizes and numbers that the kernel is given.
    """

    def __init__(
        self,
        scope: Scope,
        varying: Set[Var],
        written: Set[Array],
        known: Mapping[Leaf, int] | None = None,
    ) -> None:
        self.scope = scope
        self.varying = varying
        self.written = written
        self.values: Mapping[Leaf, int] = {} if known is None else known
        self.system = System()
        # Whether each solution stands for two iterations that meet.
        self.exact = known is not None
        # Values that are the same in all iterations.
        self.shared: dict[object, Affine[int]] = {}
        # By the value that is promised to be unique: its components on either side.
        self.unique: dict[Var, dict[int, list[Affine[int]]]] = {}

    def opaque(self, low: int | None = None, high: int | None = None) -> Affine[int]:
        """Return an unknown with no constraints but its bounds."""
        self.exact = False
        return self.system.unknown(low, high)

    def between(self, low: Affine[int], high: Affine[int]) -> Affine[int]:
        """Return an unknown between two forms."""
        out = self.system.unknown(
            None if low.factors else low.constant, None if high.factors else high.constant
        )
        self.system.constraints += [at_least(out, low), at_least(high, out)]
        return out

    def range(self, form: Affine[int]) -> Interval | None:
        """Return the least and the greatest value of a form, as far as single bounds say."""
        low, high = form.ends(self.system.bounds.__getitem__)
        return None if low is None or high is None else (low, high)


@dataclass(slots=True)
class Side:
    """The values of one iteration, as forms over the unknowns of a question."""

    question: Question
    number: int
    known: dict[Var, Affine[int]] = field(default_factory=dict[Var, Affine[int]])
    vectors: dict[Var, list[Affine[int]]] = field(default_factory=dict[Var, "list[Affine[int]]"])
    _divided: dict[tuple[Value, int], tuple[Affine[int], Affine[int]]] = field(
        default_factory=dict[tuple[Value, int], "tuple[Affine[int], Affine[int]]"]
    )

    def form(self, value: Value) -> Affine[int]:
        """Return an integer or bool as a form."""
        if isinstance(value, Const):
            return Affine({}, int(value.value))
        found = self.known.get(value)
        if found is None:
            q = self.question
            fixed = value not in q.varying
            if value in q.values:
                found = Affine({}, q.values[value])
            elif fixed and value in q.shared:
                found = q.shared[value]
            else:
                found = self._defined(value)
            self.known[value] = found
            if fixed:
                q.shared[value] = found
        return found

    def _origin(self, value: Var) -> tuple[Stmt | None, int]:
        """Return the statement that defines a value, and the position among its results."""
        return self.question.scope.origin.get(value, (None, 0))

    def _defined(self, value: Var) -> Affine[int]:
        q = self.question
        stmt, place = self._origin(value)
        if stmt is None:
            loop = q.scope.loops.get(value)
            if loop is not None:
                return q.between(self.form(loop.start), self.form(loop.stop) - 1)
            return q.opaque()
        match stmt:
            case Let() if value.type == BOOL:
                return self._either(self.cases(value, True), self.cases(value, False))
            case Let() if value.type in _WIDE:
                return self._computed(stmt) or q.opaque()
            case Size(array=array, axis=axis):
                known = q.values.get((array, axis))
                return q.opaque(0) if known is None else Affine({}, known)
            case Load(array=array, index=index) if array not in q.written:
                if any(isinstance(i, Var) and i in q.varying for i in index):
                    return q.opaque()
                key = (array, tuple((i.value if isinstance(i, Const) else i) for i in index))
                if key not in q.shared:
                    q.shared[key] = q.opaque()
                return q.shared[key]
            case If(cond=cond, then=then, orelse=orelse):
                return self._one_of(
                    (cases, results[place])
                    for cases, results in (
                        (self.cases(cond, True), then.results),
                        (self.cases(cond, False), orelse.results),
                    )
                )
            case _:
                return q.opaque()

    def hold(self, cond: Value, taken: bool) -> None:
        """Let a condition hold, or not."""
        cases = self.cases(cond, taken)
        if len(cases) == 1:
            self.question.system.constraints += cases[0]
        else:
            self.question.system.choices.append(cases)

    def cases(self, cond: Value, taken: bool) -> Sequence[Case]:
        """Return when a bool is true, or false: the cases of which one has to hold."""
        found = self._cases(cond, taken)
        if len(found) > _MOST_CASES:
            self.question.exact = False
            return _UNKNOWN
        return found

    def _cases(self, cond: Value, taken: bool) -> Sequence[Case]:
        q = self.question
        if isinstance(cond, Const):
            return _UNKNOWN if bool(cond.value) == taken else ()
        stmt, place = self._origin(cond)
        match stmt:
            case Let(op=op, args=args) if op in _COMPARISONS and not is_float(args[0].type):
                gap = self.form(args[1]) - self.form(args[0])
                return _COMPARISONS[op if taken else _OPPOSITES[op]](gap)
            case Let(op="not", args=(arg,)):
                return self.cases(arg, not taken)
            case Let(op="and" | "or" as op, args=args):
                sides = [self.cases(arg, taken) for arg in args]
                if (op == "and") == taken:
                    return [(*one, *other) for one, other in product(*sides)]
                return [case for side in sides for case in side]
            case If(cond=inner, then=then, orelse=orelse):
                return [
                    (*one, *other)
                    for side, block in ((True, then), (False, orelse))
                    for one in self.cases(inner, side)
                    for other in self.cases(block.results[place], taken)
                ]
            case _:
                # The bool as a number: the same one wherever it is asked for.
                if cond not in self.known:
                    fixed = cond not in q.varying
                    as_number = q.shared.get(cond) if fixed else None
                    if as_number is None:
                        as_number = q.opaque(0, 1)
                        if cond in q.values:
                            as_number = Affine({}, q.values[cond])
                    self.known[cond] = as_number
                    if fixed:
                        q.shared[cond] = as_number
                return [(zero(self.known[cond] - int(taken)),)]

    def _either(self, yes: Sequence[Case], no: Sequence[Case]) -> Affine[int]:
        out = self.question.system.unknown(0, 1)
        cases = [(*case, zero(out - 1)) for case in yes]
        self.question.system.choices.append([*cases, *((*case, zero(out)) for case in no)])
        return out

    def _one_of(self, sides: Iterable[tuple[Sequence[Case], Value]]) -> Affine[int]:
        """Return an unknown that is one of several values, each under its own cases."""
        possible = [(cases, self.form(value)) for cases, value in sides if cases]
        out = self._any_of([form for _, form in possible])
        self.question.system.choices.append(
            [(*case, zero(out - form)) for cases, form in possible for case in cases]
        )
        return out

    def _any_of(self, forms: Sequence[Affine[int]]) -> Affine[int]:
        """Return an unknown within the ranges of some forms."""
        ranges = [self.question.range(form) for form in forms]
        known = [one for one in ranges if one is not None]
        if len(known) < len(ranges) or not known:
            return self.question.system.unknown()
        low, high = min(low for low, _ in known), max(high for _, high in known)
        return self.question.system.unknown(low, high)

    def _computed(self, let: Let) -> Affine[int] | None:
        """Return the result of an op that an index may be made by; None if nothing is known."""
        match let.op, let.args:
            case "add", (a, b):
                return self.form(a) + self.form(b)
            case "sub", (a, b):
                return self.form(a) - self.form(b)
            case "neg", (a,):
                return -self.form(a)
            case "mul", (a, b):
                x, y = self.form(a), self.form(b)
                if not x.factors:
                    return y * x.constant
                return None if y.factors else x * y.constant
            case "shl", (a, by) if (shift := self._shift(by)) is not None:
                return self.form(a) * 2**shift
            case "shr", (a, by) if (shift := self._shift(by)) is not None:
                return self._division(a, Affine({}, 2**shift))[0]
            case "floordiv", (a, by):
                return self._division(a, self.form(by))[0]
            case "mod", (a, by):
                return self._division(a, self.form(by))[1]
            case "bit_and", args:
                return self._masked(args[1], args[0]) or self._masked(args[0], args[1])
            case "min" | "max" as op, args:
                return self._extreme(op, [self.form(arg) for arg in args])
            case "abs", (a,):
                x, out = self.form(a), self.question.system.unknown(0)
                cases = [(zero(out - x * s), at_least(x * s, 0)) for s in (1, -1)]
                self.question.system.choices.append(cases)
                return out
            case "select", (cond, yes, no) if cond.type == BOOL:
                return self._one_of(((self.cases(cond, True), yes), (self.cases(cond, False), no)))
            case "cast", (a,) if not is_float(a.type):
                return self.form(a)
            case "unique", (a,):
                found = self.form(a)
                if isinstance(a, Var):
                    self.question.unique.setdefault(a, {})[self.number] = [found]
                return found
            case "extract", (Var() as whole, Const(place)):
                return self._components(whole)[int(place)]
            case _:
                return None

    def _shift(self, by: Value) -> int | None:
        form = self.form(by)
        return form.constant if not form.factors and 0 <= form.constant < 31 else None

    def _masked(self, value: Value, mask: Value) -> Affine[int] | None:
        by = self.form(mask)
        size = by.constant + 1
        if by.factors or size <= 0 or size & by.constant:
            return None
        return self._division(value, Affine({}, size))[1]

    def _extreme(self, op: str, forms: Sequence[Affine[int]]) -> Affine[int]:
        """Return the lesser or greater of two forms."""
        (a, b), out = forms, self._any_of(forms)
        cases = [
            (zero(out - p), at_least(p, q) if op == "max" else at_least(q, p))
            for p, q in ((a, b), (b, a))
        ]
        self.question.system.choices.append(cases)
        return out

    def _division(
        self, value: Value, by: Affine[int]
    ) -> tuple[Affine[int], Affine[int]] | tuple[None, None]:
        """Return quotient and remainder, rounded down; None where they are not known."""
        size = by.constant
        if by.factors or size == 0 or self._may_overflow(value):
            return None, None
        found = self._divided.get((value, size))
        if found is None:
            system, form = self.question.system, self.form(value)
            within = self.question.range(form)
            low, high = (None, None) if within is None else sorted(end // size for end in within)
            if low is not None and low == high:  # `i % n` is i
                quotient, rest = Affine({}, low), form - low * size
            else:
                quotient = self._of_quotient(value, size) or system.unknown(low, high)
                rest = system.unknown(*((0, size - 1) if size > 0 else (size + 1, 0)))
                system.constraints.append(zero(quotient * size + rest - form))
            found = self._divided[value, size] = (quotient, rest)
        return found

    def _of_quotient(self, value: Value, size: int) -> Affine[int] | None:
        """Return `value // size` where the value is a quotient itself: `x // a // b` is one."""
        origin, _ = (None, 0) if isinstance(value, Const) else self._origin(value)
        if not isinstance(origin, Let) or origin.op != "floordiv" or size < 0:
            return None
        by = self.form(origin.args[1])
        if by.factors or by.constant <= 0:
            return None
        return self._division(origin.args[0], by * size)[0]

    def _may_overflow(self, value: Value) -> bool:
        """Tell whether a value may be a wrapped one.

        Asked only of dividends: an index that has wrapped itself is outside its field, or others of
        the same loop are.
        """
        if isinstance(value, Const):
            return False
        origin, _ = self._origin(value)
        computed = isinstance(origin, Let) and origin.op in ("add", "sub", "neg", "mul", "shl")
        within = self.question.range(self.form(value)) if computed else (0, 0)
        return within is None or not fits(within, I32)

    def _components(self, whole: Var) -> list[Affine[int]]:
        """Return the components of a vector; a promised vector is unique as a whole."""
        if whole not in self.vectors:
            origin, _ = self._origin(whole)
            match origin:
                case Let(op="vec", args=args):
                    found = [self.form(arg) for arg in args]
                case Let(op="unique", args=(Var() as value,)):
                    found = self._components(value)
                    self.question.unique.setdefault(value, {})[self.number] = found
                case _:
                    found = [self.question.opaque() for _ in range(shape_of(whole.type)[0])]
            self.vectors[whole] = found
        return self.vectors[whole]


def touch_one_element(
    question: Question, sides: tuple[Side, Side], accesses: tuple[Access, Access]
) -> None:
    """Let both accesses run, and touch the same element."""
    elements: list[list[Affine[int]]] = []
    for side, access in zip(sides, accesses, strict=True):
        for loop in access.loops:
            if isinstance(loop, For):
                side.form(loop.index)  # which says that it runs
        for branch, taken in access.branches:
            side.hold(branch.cond, taken)
        elements.append([side.form(i) for i in access.stmt.index])
    # First, while the bounds of their terms are known one by one.
    question.system.constraints[:0] = [
        zero(one - other) for one, other in zip(*elements, strict=False)
    ]


# When `a op b` holds, given b - a.
_COMPARISONS: dict[str, Callable[[Affine[int]], Sequence[Case]]] = {
    "lt": lambda gap: [(at_least(gap, 1),)],
    "le": lambda gap: [(at_least(gap, 0),)],
    "gt": lambda gap: [(at_least(-gap, 1),)],
    "ge": lambda gap: [(at_least(-gap, 0),)],
    "eq": lambda gap: [(zero(gap),)],
    "ne": lambda gap: [(at_least(gap, 1),), (at_least(-gap, 1),)],
}
_OPPOSITES = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
