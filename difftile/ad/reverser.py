"""The state of reverse mode: a primal's values, their adjoints, and the program that takes both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import field, replace

from difftile.ad.activity import active_locals
from difftile.ad.component_logs import ComponentLog, allocated, component_logs, reading, writing
from difftile.ad.effects import pure_block, without_effects
from difftile.diagnostics import Label, NotDifferentiable
from difftile.ir.facts import declared_in, defined_in
from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Combine,
    Const,
    For,
    Let,
    Load,
    Memory,
    Stmt,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, is_float
from difftile.ir.walk import Cloner, add_carries, walk
from difftile.ops.build import OpBuilder
from difftile.passes.intervals import Intervals
from difftile.passes.precedence import StaleLocals
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class LoopWeights:
    """The arrays that the passes before the reverse of a parallel loop leave for a field.

    Args:
        share: The gradient of one contender; or the gradient times the factors that are not zero.
        zeros: How many factors are zero; None for a maximum or minimum.
        top: The maximum or minimum of the values that the adjoint computes, where the values of
            the primal may be rounded differently.
    """

    share: Array
    zeros: Array | None = None
    top: Array | None = None


@dataclass
class Reverser:
    """Appends the adjoint of blocks.

    Args:
        rules: The adjoint of each kind of statement. They are functions of the reverser, the
            statement, the adjoints so far, and the copies of loops by identity.
        active: The primal values that carry a derivative.
        bars: Gradient buffers of fields.
        nonfinite: Values that may be infinite where they are not used.
        stale: Loads that cannot be repeated, each with a write to their element.
        read_back: Values to be loaded instead of computed, and from where.
        after: The parameter that stands for the contents of each field after the stage; empty for
            derivatives inside a kernel, which run no stores.
        logged: For each load from a log the load of the field, which gets the adjoint of the value.
        overwritten: Reads, by rules, of results of their calls that may find another value.
        locals: Loads of arrays of the thread that cannot be repeated.
        intervals: The bounds of the primal's integers.

    Attributes:
        b: Where the adjoint is appended.
        cloner: The copies of the primal's values. Each nested region has a cloner of its own, since
            values that are computed again inside it cannot be used after it.
        temps: Memory of the adjoint's own, which is zero before a launch: adjoints of values that
            iterations of a parallel loop share, and weights.
        masked: Adjoints that may be zero because their value was not selected. Products with them
            are guarded, so that 0 * inf stays 0.
        repeated: For each load that repeats one of the primal, that one. `overwritten_loads` asks
            whether it may be repeated after dead code is removed, since most copies are dead.
        trips: For each `while` of the primal, by identity, the number of its iterations.
        weights: Where the adjoints of maxima and products find their share, by field.
        returned: The combinations whose old values the primal uses. A load stands for each in the
            copy, which must not be needed: the value depends on the order of iterations.
        backwards: Whether a loop was made that runs from its last iteration to its first; the
            parallel loop around it then does so as well.
        logs: Components that are read from their logs, where a loop around them is run again.
        ruled: Whether this is the body of a call whose rule has run: its stores take the gradients
            of their elements, and rules of calls inside it do not run.
    """

    rules: Mapping[type[Stmt], Callable[..., None]]
    active: Set[Var]
    bars: dict[Array, Array]
    nonfinite: set[Var]
    stale: Mapping[Var, tuple[Load, Memory]] = field(
        default_factory=dict[Var, "tuple[Load, Memory]"]
    )
    read_back: Mapping[Var, tuple[Array, tuple[Value, ...]]] = field(
        default_factory=dict[Var, "tuple[Array, tuple[Value, ...]]"]
    )
    after: Mapping[Array, Array] = field(default_factory=dict[Array, Array])
    logged: Mapping[Var, Var] = field(default_factory=dict[Var, Var])
    overwritten: Mapping[Var, tuple[Load, Memory]] = field(
        default_factory=dict[Var, "tuple[Load, Memory]"]
    )
    locals: StaleLocals = field(default_factory=lambda: StaleLocals(Block(())))
    intervals: Intervals = field(default_factory=lambda: Intervals(Block(())))
    b: OpBuilder = field(default_factory=OpBuilder)
    cloner: Cloner = field(default_factory=Cloner)
    temps: list[Array] = field(default_factory=list[Array])
    masked: set[Value] = field(default_factory=set[Value])
    repeated: dict[Var, Var] = field(default_factory=dict[Var, Var])
    trips: dict[int, Var] = field(default_factory=dict[int, Var])
    weights: dict[Array, LoopWeights] = field(default_factory=dict[Array, LoopWeights])
    returned: dict[Var, Combine] = field(default_factory=dict[Var, Combine])
    backwards: bool = False
    logs: dict[Var, ComponentLog] = field(default_factory=dict[Var, ComponentLog])
    ruled: bool = False

    # The forward part

    def primal(self, stmts: tuple[Stmt, ...]) -> dict[int, Stmt]:
        """Append the statements without their effects; return the copies of loops by identity."""
        loops: dict[int, Stmt] = {}
        filled = declared_in(Block(stmts))
        for stmt in stmts:
            bare = without_effects(stmt, filled)
            self.returned |= {
                s.out: s
                for s in walk(Block((stmt,)))
                if isinstance(s, Combine) and s.out is not None
            }
            if bare is None:
                continue
            if isinstance(bare, Let) and bare.out in self.read_back:
                array, index = self.read_back[bare.out]
                self.b.span = bare.span
                loaded = self.b.load(array, self.index(index), bare.out.name)
                self.cloner.env[bare.out] = loaded
                continue
            new: dict[Var, ComponentLog] = {}
            if isinstance(bare, For):
                every = component_logs(bare, self.intervals)
                new = {out: log for out, log in every.items() if out not in self.logs}
                self.b.extend(allocated(new))
            known = writing(reading(Block((bare,)), self.logs), new)
            self.logs |= new
            for one in known.stmts:
                copy = self.cloner.stmt(one)
                if isinstance(copy, While):
                    copy = self.counting(stmt, copy)
                self.b.append(copy)
                if isinstance(copy, (For, While)):
                    loops[id(stmt)] = copy
            self.note_loads(known, self.cloner, filled)
        return loops

    def repeatable(self, block: Block) -> Block:
        """Return a block of the primal as it is run again inside its reverse."""
        return reading(pure_block(block, declared_in(block)), self.logs)

    def counting(self, original: Stmt, loop: While) -> While:
        """Return a copy of a `while` that counts its iterations."""
        carry, out = Var("trips", I32), Var("trips", I32)
        self.trips[id(original)] = out
        with self.b.region() as stmts:
            after = (self.b.expr(carry) + 1).named("trips").value
        body = Block((*loop.body.stmts, *stmts), (*loop.body.results, after))
        return add_carries(loop, (carry,), (Const(0, I32),), (out,), body)

    def note_loads(
        self, block: Block, cloner: Cloner, filled: Collection[Array] = frozenset()
    ) -> None:
        """Remember which loads of the primal the copies of a block repeat.

        Args:
            block: The block.
            cloner: What has copied it.
            filled: The arrays of the thread that are filled again around the copies.
        """
        for stmt in walk(block):
            if isinstance(stmt, Load) and stmt.array not in filled:
                copy = cloner.value(stmt.out)
                if isinstance(copy, Var):
                    self.repeated[copy] = stmt.out

    def value(self, value: Value) -> Value:
        """Return the copy of a value of the primal."""
        return self.cloner.value(value)

    def index(self, index: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the copy of an index."""
        return tuple(self.value(i) for i in index)

    # The reverse part

    def sweep(self, block: Block, seeds: Mapping[Var, Value]) -> dict[Var, Value]:
        """Append the values of a block and then its reverse.

        Args:
            block: A block of the primal.
            seeds: The adjoints of its results.

        Returns:
            The parts that the reverse adds to the adjoints of variables from outside the block.
        """
        logs = dict(self.logs)
        loops = self.primal(block.stmts)
        self.declare_bars(block)
        bars = dict(seeds)
        for stmt in reversed(block.stmts):
            self.b.span = stmt.span
            rule = self.rules.get(type(stmt))
            if rule is not None:
                rule(self, stmt, bars, loops)
        self.logs = logs
        inside = defined_in(block)
        return {v: bar for v, bar in bars.items() if v not in inside}

    def declare_bars(self, block: Block) -> None:
        """Append arrays for the adjoints of the arrays of the thread that a block declares."""
        declared = [
            s for s in block.stmts if isinstance(s, Alloc) and is_float(s.array.type.element)
        ]
        active = active_locals(block, self.active) if declared else ()
        for stmt in declared:
            if stmt.array in active:
                bar = replace(stmt.array, name=f"{stmt.array.name}_bar")
                self.b.append(Alloc(bar, stmt.span))
                self.bars[stmt.array] = bar

    def nested(
        self, block: Block, bars: Sequence[Value | None], bindings: Mapping[Var, Value]
    ) -> tuple[list[Stmt], dict[Var, Value]]:
        """Run `sweep` in a region of its own.

        Args:
            block: A block of the primal.
            bars: The adjoints of its results.
            bindings: The values of the variables that are bound there.
        """
        outer = self.cloner
        self.cloner = outer.inner()
        self.cloner.env |= bindings
        try:
            with self.b.region() as stmts:
                found = self.sweep(block, self.seeds_of(block.results, bars))
        finally:
            self.cloner = outer
        return stmts, found

    def add(self, bars: dict[Var, Value], to: Value, bar: Value, *, masked: bool = False) -> None:
        """Add to the adjoint of a value, if it has one."""
        if not isinstance(to, Var) or to not in self.active:
            return
        known = bars.get(to)
        total = bar if known is None else self.b.call("add", known, bar)
        if masked or bar in self.masked or (known is not None and known in self.masked):
            self.masked.add(total)
        bars[to] = total

    def seeds_of(
        self, results: tuple[Value, ...], bars: Sequence[Value | None]
    ) -> dict[Var, Value]:
        """Return the adjoints of the results of a block, added up where results are equal."""
        seeds: dict[Var, Value] = {}
        for result, bar in zip(results, bars, strict=True):
            if bar is not None:
                self.add(seeds, result, bar)
        return seeds

    def overwritten_loads(self, adjoint: Block) -> list[Load]:
        """Return the loads whose values the adjoint needs, though they have been overwritten.

        Raises:
            NotDifferentiable: A value depends on the order of iterations.
        """
        found: dict[Var, Load] = {}
        for stmt in walk(adjoint):
            if not isinstance(stmt, Load):
                continue
            original = self.repeated.get(stmt.out)
            if original in self.returned:
                slots = "store it in a field in a loop of its own, 'slot[i] = ti.atomic_add(...)', "
                raise unrepeatable(
                    self.returned[original], f"{slots}and read 'slot[i]' in a later loop."
                )
            if original is None or original in self.logged:
                continue
            if original in self.stale:
                found[original] = self.stale[original][0]
            elif (written := self.locals.find(original)) is not None:
                found[original] = written[0]
        return list(found.values())


def overwritten(load: Load, write: Memory, hint: str) -> NotDifferentiable:
    """Return the error for a value that is needed and cannot be had."""
    own = load.array.size is not None
    return NotDifferentiable(
        load.span,
        f"the value of '{load.array.name}' read here is needed, and "
        + ("its element may be written afterwards." if own else "it was written in the same loop."),
        "read before a write" if own else "read after a write",
        related=() if write.span is None else (Label(write.span, "written here"),),
        hint=hint,
    )


def unrepeatable(stmt: Combine, hint: str) -> NotDifferentiable:
    """Return the error for the old value of a combination that an adjoint would need."""
    return NotDifferentiable(
        stmt.span,
        f"the old value of '{stmt.array.name}' that is returned here is needed, and depends on "
        "the order of the iterations.",
        "differs from launch to launch",
        hint=hint,
    )
