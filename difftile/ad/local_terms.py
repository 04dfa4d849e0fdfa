"""A stage as loops that only add local terms to a sum; other stages are refused.

A term is what one iteration of a parallel loop adds. Its inputs are the elements of one field that
it gathers, each at a **site**: an index that the iteration computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from math import prod

import numpy as np

from difftile.ad.activity import active_in, active_values, active_writes
from difftile.ad.internal_variables import Internal, Rows, internal_variables
from difftile.diagnostics import Label, NotLocal, Span, counted
from difftile.ir.facts import arrays_loaded
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    Fail,
    For,
    If,
    Let,
    Load,
    Memory,
    ParallelFor,
    Print,
    Program,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, Type, shape_of
from difftile.ir.walk import (
    WRITES,
    Cloner,
    Substitution,
    definitions,
    regions,
    substitute,
    walk,
    with_blocks,
    with_stmts,
    without_stmts,
)
from difftile.ops.row import LINEAR
from difftile.ops.table import OPS
from difftile.passes.dce import dce
from difftile.passes.optimise import simplify
from difftile.passes.precedence import stale_loads
from difftile.passes.versions import late_loads, redirect
from difftile.records import dataclass

_LONGEST = 64  # loops that are unrolled, to tell the sites of their iterations apart
_WIDEST = 96  # numbers that a term gathers; its block has the square of that
_HVP = "dt.hvp takes any function"


@dataclass(frozen=True, slots=True)
class TermLoop:
    """A parallel loop of terms.

    Args:
        loop: The loop.
        internal: The internal variables of a term, and the body as a function of changes of them.
        sites: For each site the index of its element.
        origin: For each load from the field its site.
    """

    loop: ParallelFor
    internal: Internal
    sites: tuple[tuple[Value, ...], ...]
    origin: dict[Var, int]


@dataclass(frozen=True, slots=True)
class LocalTerms:
    """A stage as loops of terms, and linear statements at the top level.

    Args:
        program: The stage, whose only effects are on what the outputs vary with.
        loops: Its parallel loops.
        cells: The fields that hold sums.
        after: The parameter that stands for the contents of each other field after the stage.
        stale: The loads that cannot be repeated, each with a write to their element.
    """

    program: Program
    loops: tuple[TermLoop, ...]
    cells: frozenset[Array]
    after: Mapping[Array, Array]
    stale: Mapping[Var, tuple[Load, Memory]]


def local_terms(
    program: Program,
    wrt: frozenset[Array],
    outputs: frozenset[Array],
    varying: frozenset[Array],
    element: Type,
) -> LocalTerms:
    """Return the local terms that a stage adds to outputs.

    Args:
        program: The stage, normalised.
        wrt: The parameters that are the field.
        outputs: The parameters that hold the sum.
        varying: The other parameters whose contents before the stage vary with the field.
        element: The type of an element of the field.

    Raises:
        NotLocal: The stage is not a sum of local terms.
    """
    cells = set(outputs | varying)
    while more := {w.array for w in active_writes(program, {*wrt, *cells})} - cells:
        cells |= more
    return _TermFinder(program, wrt, outputs, frozenset(cells), element).found()


class _TermFinder:
    def __init__(
        self,
        program: Program,
        wrt: frozenset[Array],
        outputs: frozenset[Array],
        cells: frozenset[Array],
        element: Type,
    ) -> None:
        self.program, self.wrt, self.outputs, self.cells = program, wrt, outputs, cells
        self.shape = shape_of(element)
        self.stale = dict(stale_loads(program.body))
        others = (a for a in program.arrays if a not in cells | wrt)
        self.after = {a: Array(f"{a.name}_new", a.type) for a in others}

    def found(self) -> LocalTerms:
        """Return the terms."""
        ready = self._ready()
        self._check_top_level(ready)
        self._check_loops(ready)
        loops = (s for s in ready.body.stmts if isinstance(s, ParallelFor))
        prepared = tuple(self._prepared(loop) for loop in loops)
        return LocalTerms(ready, prepared, self.cells, self.after, self.stale)

    # The stage as loops that only add to the sum

    def _ready(self) -> Program:
        """Return the stage with only the effects that the outputs vary with."""
        program = self.program
        body = redirect(program.body, late_loads(program.body), self.after)
        active = active_values(replace(program, body=body), {*self.wrt, *self.cells})

        useful = self.cells

        def idle(stmt: Stmt) -> bool:
            if isinstance(stmt, WRITES) and _is_field(stmt.array):
                adds = isinstance(stmt, Accumulate) and stmt.value not in active
                return stmt.array not in useful or adds
            return isinstance(stmt, (Print, Fail))

        while True:
            program = dce(replace(program, body=without_stmts(body, idle)))
            body = program.body
            found = self.outputs | (arrays_loaded(body) & self.cells)
            if found == useful:
                break
            useful = found
        return simplify(with_stmts(program, (self._unrolled(s) for s in body.stmts)))

    def _unrolled(self, stmt: Stmt) -> Stmt:
        """Return a parallel loop with the loops unrolled that gather from the field."""
        if not isinstance(stmt, ParallelFor):
            return stmt
        return replace(stmt, body=self._flat(stmt.body))

    def _flat(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        env = Substitution()
        for stmt in block.stmts:
            one = with_blocks(substitute(stmt, env), self._flat)
            if not isinstance(one, (For, While)) or not self._gathers(one):
                stmts.append(one)
                continue
            trips = _trips(one)
            if trips is None:
                raise NotLocal(
                    one.span,
                    f"this loop gathers elements of '{self._name(one)}', and how often it runs is "
                    "known only at run time.",
                    "any number of elements",
                    hint="make each of its iterations one of the parallel loop, over a list of "
                    f"pairs; {_HVP}.",
                )
            assert isinstance(one, For)
            carried = one.inits
            for k in trips:
                known = zip(one.carries, carried, strict=True)
                cloner = Cloner({one.index: Const(k, I32), **dict(known)})
                copy = cloner.block(one.body)
                stmts += copy.stmts
                carried = copy.results
                for var, twin in cloner.env.items():
                    if var in self.stale and isinstance(twin, Var):
                        self.stale[twin] = self.stale[var]
            env.update(zip(one.outs, carried, strict=True))
        return Block(tuple(stmts), env.all(block.results))

    def _gathers(self, stmt: Stmt) -> bool:
        return not self.wrt.isdisjoint(arrays_loaded(Block((stmt,))))

    def _name(self, stmt: Stmt) -> str:
        return next(a.name for a in arrays_loaded(Block((stmt,))) if a in self.wrt)

    # Stages that are not sums of local terms

    def _check_top_level(self, ready: Program) -> None:
        """Check the way from the loops to the outputs: it is linear, and all gathers are in loops.

        Raises:
            NotLocal: It is not.
        """
        active = active_values(ready, {*self.wrt, *self.cells})
        for stmt in ready.body.stmts:
            match stmt:
                case Load(array=array, out=out) if out in active:
                    if array in self.wrt:
                        raise _outside(stmt)
                case Let(out=out) if out in active:
                    if not _is_linear(stmt, active):
                        raise _of_sum(stmt.span)
                case If() | For() | While() if _varies(stmt, active):
                    raise self._in_order(stmt)
                case Combine() if stmt.value in active and stmt.op != "add":
                    raise _of_sum(stmt.span)
                case _:
                    pass

    def _in_order(self, stmt: If | For | While) -> NotLocal:
        """Return the error for a branch or loop at the top level."""
        load = next((s for s in walk(Block((stmt,))) if _is_load(s, self.wrt)), None)
        if load is None:
            return _of_sum(stmt.span)
        if isinstance(stmt, If):
            return _outside(load)
        return NotLocal(
            stmt.span,
            "this loop runs in order, and a term is what one iteration of a parallel loop adds.",
            "not parallel",
            hint=f"remove 'serialize=True' or the 'while'; {_HVP}.",
        )

    def _check_loops(self, ready: Program) -> None:
        """Check that loops add to sums, and that terms do not vary with sums.

        Raises:
            NotLocal: They do something else.
        """
        active = active_values(ready, self.cells)
        inside = (s for loop in ready.body.stmts for r in regions(loop) for s in walk(r))
        writes = [s for s in inside if isinstance(s, WRITES) and _is_field(s.array)]
        if any(stmt.value in active for stmt in writes):
            raise self._through(ready, active)
        for stmt in writes:
            adds = isinstance(stmt, Accumulate) or (isinstance(stmt, Combine) and stmt.op == "add")
            if not adds:
                raise NotLocal(
                    stmt.span,
                    f"'{stmt.array.name}' is not a sum of what iterations add to it.",
                    "not added",
                    hint=f"add with '+='; {_HVP}.",
                )

    def _through(self, ready: Program, active: Set[Var]) -> NotLocal:
        """Return the error for a term that varies with values computed from the field before."""
        loads = (s for s in walk(ready.body) if isinstance(s, Load) and s.out in active)
        load = next(s for s in loads if s.array in self.cells)
        writes = (s for s in walk(self.program.body) if isinstance(s, WRITES))
        spans = (s.span for s in writes if s.array is load.array)
        span = next((span for span in spans if span is not None), None)
        return NotLocal(
            load.span,
            f"'{load.array.name}' varies with the field that the Hessian is for.",
            "an intermediate result",
            related=() if span is None else (Label(span, "written here"),),
            hint=f"compute it in the loop that adds the energy; {_HVP}.",
        )

    # One loop

    def _prepared(self, loop: ParallelFor) -> TermLoop:
        loads = [s for s in walk(loop.body) if isinstance(s, Load) and s.array in self.wrt]
        active = active_in(loop.body, (), self.wrt)
        loads = [load for load in loads if load.out in active]
        for load in loads:
            inside = load.index[load.array.type.ndim :]
            if any(not isinstance(k, Const) for k in inside):
                raise NotLocal(
                    load.span,
                    f"a component of '{load.array.name}' is chosen at run time.",
                    "any component",
                    hint="use 'for k in ti.static(range(...))'.",
                )
        sites: dict[tuple[Value, ...], int] = {}
        origin: dict[Var, int] = {}
        for load in loads:
            index = load.index[: load.array.type.ndim]
            origin[load.out] = sites.setdefault(index, len(sites))
        inputs: dict[Var, Rows] = {}
        size = prod(self.shape)
        if len(sites) * size > _WIDEST:
            raise NotLocal(
                loop.span,
                f"an iteration gathers {len(sites)} elements of {counted(size, 'number')}; a term "
                f"has {_WIDEST} numbers at most.",
                "a large term",
                hint=f"make a smaller part of the sum one iteration; {_HVP}.",
            )
        unit = np.eye(len(sites) * size)
        for load in loads:
            first, count = origin[load.out] * size, size
            inside = load.index[load.array.type.ndim :]
            if inside:
                at = tuple(int(k.value) for k in inside if isinstance(k, Const))
                first, count = first + int(np.ravel_multi_index(at, self.shape)), 1
            inputs[load.out] = unit[first : first + count]
        if not inputs:
            return TermLoop(loop, Internal(loop.body, {}, np.zeros((0, 0))), (), {})
        internal = internal_variables(loop.body, inputs)
        changed = replace(loop, body=internal.block)
        return TermLoop(changed, internal, tuple(sites), origin)


def _trips(loop: For | While) -> range | None:
    """Return the indices of a loop that is short and runs the same way each time."""
    if isinstance(loop, While):
        return None
    if not isinstance(loop.start, Const) or not isinstance(loop.stop, Const):
        return None
    trips = range(int(loop.start.value), int(loop.stop.value))
    return trips if len(trips) <= _LONGEST else None


def _is_linear(let: Let, active: Set[Var]) -> bool:
    """Tell whether an op is linear in the arguments that vary, taken together."""
    varying = [arg for arg in let.args if arg in active]
    if let.op in ("mul", "div"):
        return len(varying) == 1 and (let.op == "mul" or let.args[0] in varying)
    return OPS[let.op].jvp == LINEAR or let.op in ("add", "sub", "neg", "cast", "exact")


def _varies(stmt: Stmt, active: Set[Var]) -> bool:
    if any(out in active for out in definitions(stmt)):
        return True
    inner = (s for region in regions(stmt) for s in walk(region))
    return any(isinstance(s, WRITES) and s.value in active for s in inner)


def _is_field(array: Array) -> bool:
    """Tell whether an array is a field, and no gradient that a rule asks for."""
    return array.size is None and array.gradient_of is None


def _is_load(stmt: Stmt, arrays: frozenset[Array]) -> bool:
    return isinstance(stmt, Load) and stmt.array in arrays


def _outside(load: Stmt) -> NotLocal:
    name = load.array.name if isinstance(load, Load) else ""
    return NotLocal(
        load.span,
        f"'{name}' is read outside of a parallel loop.",
        "not in a loop",
        hint=f"write 'for _ in range(1):' around it; {_HVP}.",
    )


def _of_sum(span: Span | None) -> NotLocal:
    return NotLocal(
        span,
        "this is not a sum of terms, but computed from such a sum.",
        "computed from a sum",
        hint=f"its Hessian is dense: take that of the sum itself; {_HVP}.",
    )
