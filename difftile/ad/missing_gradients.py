"""Places where a dependence goes on without its derivative: casts, comparisons, plain fields.

`activity` follows values that vary smoothly with a field. Here the rest is followed as well: a
value that depends on a field only through a comparison carries the place of it along, to be named
where a gradient is unexpectedly zero. The dependence through branches and trip counts counts too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from difftile.ad.activity import fields_of
from difftile.diagnostics import Span
from difftile.ir.dataflow import Dataflow
from difftile.ir.facts import arrays_written
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Derivative,
    If,
    Let,
    Load,
    Program,
    Ruled,
    Stmt,
    Store,
)
from difftile.ir.types import is_float
from difftile.ir.walk import WRITES, walk
from difftile.ops.discrete import COMPARISONS
from difftile.ops.table import OPS
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where a value goes on without its derivative.

    Args:
        span: The place.
        reason: The event, in words.
        hint: The remedy, in words.
    """

    span: Span | None
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Flow:
    """How a value depends on the field that is followed.

    Args:
        smooth: It varies smoothly with the field.
        cuts: The places through which it depends on the field without a derivative.
    """

    smooth: bool = False
    cuts: frozenset[Cut] = frozenset()

    def __bool__(self) -> bool:
        return self.smooth or bool(self.cuts)

    def __or__(self, other: Flow) -> Flow:
        return Flow(self.smooth or other.smooth, self.cuts | other.cuts)

    def cut(self, at: Cut) -> Flow:
        """Return the flow after a cut."""
        return Flow(False, self.cuts | {at}) if self.smooth else self


NOTHING = Flow()


@dataclass(frozen=True, slots=True)
class Passage:
    """The effect of a program on the dependence on a field.

    Args:
        flows: How the contents of each array depend on the field afterwards.
        lost: Where contents that depended on the field were overwritten whole.
        masks: Where a smooth dependence can have the slope 0: branches, maxima, products.
    """

    flows: dict[Array, Flow]
    lost: tuple[Cut, ...]
    masks: tuple[Cut, ...]


def follow(
    program: Program,
    flows: Mapping[Array, Flow],
    graded: Collection[Array],
    overwritten: Collection[Array] = (),
    *,
    constant: bool = False,
) -> Passage:
    """Follow the dependence on a field through one stage.

    Args:
        program: The stage.
        flows: How the contents of arrays depend on the field before it.
        graded: The arrays that have a gradient buffer.
        overwritten: The arrays of which it overwrites every element.
        constant: It runs under `no_grad`.
    """
    dependence = _Dependence(dict(flows), graded, constant)
    lost: list[Cut] = []
    for stmt in program.body.stmts:
        dependence.settle(lambda stmt=stmt: dependence.stmt(stmt, NOTHING))
        for array in arrays_written(Block((stmt,))) & set(overwritten):
            if dependence.held.pop(array, NOTHING) and not dependence.written.get(array):
                writes = (s for s in walk(Block((stmt,))) if isinstance(s, WRITES))
                span = next(s.span for s in writes if s.array is array)
                lost.append(Cut(span, f"'{array.name}' is overwritten here"))
    arrays = {**dependence.held, **dependence.written}
    after = {array: flow for array in arrays if (flow := dependence.contents(array))}
    return Passage(after, tuple(lost), tuple(dependence.masks))


class _Dependence(Dataflow[Flow]):
    def __init__(self, held: dict[Array, Flow], graded: Collection[Array], constant: bool) -> None:
        super().__init__(NOTHING, control=True)
        self.held = held
        self.written: dict[Array, Flow] = {}
        self.masks: dict[Cut, None] = {}
        self.graded = graded
        self.constant = constant
        self.locals: set[Array] = set()

    def contents(self, array: Array) -> Flow:
        return self.held.get(array, NOTHING) | self.written.get(array, NOTHING)

    def transfer(self, stmt: Stmt, control: Flow) -> Flow | None:
        match stmt:
            case Let():
                return self.let(stmt)
            case Load(array=array, index=index):
                return self.contents(array) | self.of(*index)
            case Store(array, index, value) | Accumulate(array, index, value):
                self.write(stmt, self.of(value), self.of(*index) | control)
            case Combine(_, op, array, index, value, span):
                flow = self.of(value)
                if op not in _SMOOTH_COMBINES:
                    flow = flow.cut(_cut_by(op, span))
                found = self.contents(array) | flow | control
                self.write(stmt, flow, self.of(*index) | control)
                return found
            case Alloc(array):
                self.locals.add(array)
            case Ruled():
                self.ruled(stmt, control)
            case Derivative(args=args, seeds=seeds, body=body):
                self.block(body, control)
                return self.of(*args, *seeds, *body.results)
            case _:
                return None
        return NOTHING

    def branch(self, stmt: If, control: Flow) -> None:
        super().branch(stmt, control)
        for results in zip(stmt.then.results, stmt.orelse.results, strict=True):
            if self.of(*results).smooth:
                self.masks[Cut(stmt.span, "one side of this branch is taken")] = None

    def let(self, let: Let) -> Flow:
        row = OPS[let.op]
        flow = NOTHING
        smooth = is_float(let.out.type) and bool(row.vjp)
        for arg, formula in zip(let.args, row.formulas(len(let.args)), strict=True):
            found = self.of(arg)
            if found.smooth and not (smooth and formula is not None):
                found = found.cut(_cut_by(let.op, let.span))
            flow |= found
        if flow.smooth and (row.masks or let.op == "mul"):
            self.masks[Cut(let.span, _MASKED.get(let.op, f"{let.op} has the slope 0"))] = None
        return flow

    def ruled(self, stmt: Ruled, control: Flow) -> None:
        """Follow a call with a rule, which is smooth only in the arguments of the rule."""
        self.block(stmt.body, control)
        given = self.of(*stmt.args)
        for array in fields_of(stmt):
            given |= self.contents(array)
        inside = self.of(*stmt.body.results)
        if inside.smooth and not given.smooth:
            inside = inside.cut(
                Cut(stmt.span, f"the rule of '{stmt.name}' has no derivative by it")
            )
        if given.smooth:
            self.masks[Cut(stmt.span, f"the rule of '{stmt.name}' decides")] = None
        for out in stmt.outs:
            flow = given if given.smooth else given | inside
            if not is_float(out.type):
                flow = flow.cut(Cut(stmt.span, f"'{stmt.name}' returns an integer"))
            self.define(out, flow)

    def write(self, stmt: Store | Accumulate | Combine, value: Flow, control: Flow) -> None:
        array = stmt.array
        if array not in self.graded and array not in self.locals:
            value = value.cut(
                Cut(
                    stmt.span,
                    f"stored into '{array.name}', which has no gradient",
                    f"make it with grad=True, or {array.name} = {array.name}.with_grads().",
                )
            )
        elif self.constant:
            value = value.cut(Cut(stmt.span, "stored under dt.no_grad()"))
        flow = value | control
        if flow and (known := self.written.get(array, NOTHING)) != known | flow:
            self.written[array] = known | flow
            self.changes += 1


_SMOOTH_COMBINES = frozenset(("add", "mul", "div", "max", "min"))
_COMPARED = "compared here: a condition carries no derivative"
_FLAT = {name: f"'{name}' has the derivative 0" for name in ("floor", "ceil", "round", "sign")}
_SOFT_HINT = "use a smooth function in its place where its derivative is wanted."
_REASONS = {
    **{op.name: _COMPARED for op in COMPARISONS},
    **_FLAT,
    "cast": "cast to an integer here, which carries no derivative",
    "bit_cast": "the bits are taken here, which carries no derivative",
    "stop_grad": "the gradient is stopped here by 'stop_grad'",
    "isnan": _COMPARED,
    "isinf": _COMPARED,
    "isfinite": _COMPARED,
}
_HINTS = {name: _SOFT_HINT for name in (*_FLAT, "cast")} | {
    op.name: _SOFT_HINT for op in COMPARISONS
}
PRODUCT = "a product with a factor that may be 0"
_MASKED = {
    "select": "one side is taken here",
    "mul": PRODUCT,
    "clamp": "outside its bounds 'clamp' has the slope 0",
}


def _cut_by(op: str, span: Span | None) -> Cut:
    return Cut(span, _REASONS.get(op, f"'{op}' carries no derivative"), _HINTS.get(op, ""))
