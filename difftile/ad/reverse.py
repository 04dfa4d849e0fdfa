"""Reverse mode: the adjoint of a program, as a program.

For each region the adjoint first computes the region's values again and then runs through its
statements backwards, as in Griewank and Walther, Evaluating Derivatives (2nd ed.), chapter 6.
Adjoints of values are values; adjoints of fields are fields of the same shape, shared between
before and after the launch: the adjoint of a store takes an element and leaves zero, the adjoint
of a load adds to it.

Every load reads the field as it was before the stage, or as it is after it (`passes.versions`).
Stores of the primal are never repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType

from difftile.ad.activity import active_values
from difftile.ad.atomics import Weights, prepare, slope
from difftile.ad.checkpoints import LoopReversal, reverse_loop
from difftile.ad.effects import without_effects
from difftile.ad.induction import unset_while, without_induction
from difftile.ad.nonfinite import possibly_nonfinite
from difftile.ad.reuse_results import reused_results
from difftile.ad.ruled import differentiated_again, reverse_ruled, unless_zero
from difftile.diagnostics import Label, NotDifferentiable
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    If,
    Let,
    Load,
    Memory,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, FieldType, is_float, scalar_of, with_scalar
from difftile.ir.walk import (
    Cloner,
    defined_in,
    has_effects,
    walk,
)
from difftile.ops.build import OpBuilder, zero
from difftile.ops.formula import adjoints, multiplies
from difftile.ops.table import ELEMENTWISE, OPS
from difftile.passes.afterwards import overwritten_later, reads_late
from difftile.passes.conflicts import stale_loads
from difftile.passes.dce import dce
from difftile.passes.versions import late_loads, redirect


@dataclass(frozen=True, slots=True)
class Adjoint:
    """An adjoint program and what its parameters stand for.

    Args:
        program: Its parameters are those of the primal, then fields with contents from after the
            stage, then the gradient buffers.
        bars: The gradient buffer of each field of the primal that has one.
        after: For each parameter that stands for contents after the stage the primal's field.
    """

    program: Program
    bars: Mapping[Array, Array]
    after: Mapping[Array, Array]


def reverse(
    program: Program,
    wanted: frozenset[Array],
    *,
    read_back: bool = True,
    constant: bool = False,
) -> Adjoint:
    """Return the adjoint of one stage.

    Args:
        program: The primal, normalised and cut into stages.
        wanted: The fields that have a gradient buffer.
        read_back: Read values that took a loop back from where the stage stored them.
        constant: Take all that is computed as constants: no adjoint leaves the stores.

    Raises:
        NotDifferentiable: The adjoint would need a value that was overwritten within the stage.
    """
    fields = [p for p in (*program.params, *program.temps) if isinstance(p, Array)]
    bars = {f: Array(f"{f.name}_bar", f.type) for f in fields if f in wanted}
    stale = stale_loads(program)
    after = {f: Array(f"{f.name}_new", f.type) for f in fields}
    body = redirect(program.body, late_loads(program), after)
    kept = reused_results(program) if read_back else {}
    all_bars = {**bars, **{after[f]: bar for f, bar in bars.items()}}
    primal = replace(program, body=body)
    reverser = Reverser(
        set() if constant else active_values(primal, all_bars.keys()),
        all_bars,
        stale,
        {v: (after[array], index) for v, (array, index) in kept.items()},
        possibly_nonfinite(primal),
        after,
        overwritten_later(program) if reads_late(program.body) else {},
    )
    reverser.sweep(body, {})
    raw = Program(
        f"{program.name}_adjoint",
        (
            *program.params,
            *after.values(),
            *(bars[f] for f in fields if f in bars and f not in program.temps),
        ),
        reverser.b.block(),
        (*program.temps, *(bars[t] for t in program.temps if t in bars), *reverser.temps),
    )
    slim = dce(raw)
    reverser.check_loads(slim)
    return Adjoint(slim, bars, {new: f for f, new in after.items()})


@dataclass
class Reverser:
    """Appends the adjoint of blocks.

    Args:
        active: The primal values that carry a derivative.
        bars: Gradient buffers of fields.
        stale: Loads that cannot be repeated.
        read_back: Values to be loaded instead of computed, and from where.
        nonfinite: Values that may be infinite where they are not used.
        after: The parameter that stands for the contents of each field after the stage.
        overwritten: Reads, by rules, of what their calls have left, that may find something else.
    """

    active: set[Var]
    bars: dict[Array, Array]
    stale: dict[Var, tuple[Load, Memory]]
    read_back: dict[Var, tuple[Array, tuple[Value, ...]]]
    nonfinite: set[Var]
    after: Mapping[Array, Array]
    overwritten: Mapping[Var, tuple[Load, Memory]] = field(
        default_factory=dict[Var, "tuple[Load, Memory]"]
    )
    b: OpBuilder = field(default_factory=OpBuilder)
    cloner: Cloner = field(default_factory=Cloner)
    temps: list[Array] = field(default_factory=list[Array])
    masked: set[Value] = field(default_factory=set[Value])
    repeated: dict[Var, Var] = field(default_factory=dict[Var, Var])
    trips: dict[int, Var] = field(default_factory=dict[int, Var])
    weights: dict[Array, Weights] = field(default_factory=dict[Array, Weights])
    returned: dict[Var, Combine] = field(default_factory=dict[Var, Combine])
    backwards: bool = False

    # The forward part

    def primal(self, stmts: tuple[Stmt, ...]) -> dict[int, Stmt]:
        """Append the statements without their effects; return the copies of loops by identity."""
        loops: dict[int, Stmt] = {}
        for stmt in stmts:
            bare = without_effects(stmt)
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
            copy = self.cloner.stmt(bare)
            if isinstance(copy, While):
                copy = self.counting(stmt, copy)
            self.b.append(copy)
            if isinstance(copy, (For, While)):
                loops[id(stmt)] = copy
            self.note_loads(Block((bare,)), self.cloner)
        return loops

    def counting(self, original: Stmt, loop: While) -> While:
        """Return a copy of a `while` that counts its iterations."""
        carry, out = Var("trips", I32), Var("trips", I32)
        self.trips[id(original)] = out
        with self.b.region() as stmts:
            after = self.b.call("add", carry, Const(1, I32), name="trips")
        return replace(
            loop,
            carries=(*loop.carries, carry),
            inits=(*loop.inits, Const(0, I32)),
            outs=(*loop.outs, out),
            body=Block((*loop.body.stmts, *stmts), (*loop.body.results, after)),
        )

    def note_loads(self, block: Block, cloner: Cloner) -> None:
        """Remember which loads of the primal the copies of a block repeat."""
        for stmt in walk(block):
            if isinstance(stmt, Load):
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
            What the reverse adds to the adjoints of variables from outside the block.
        """
        loops = self.primal(block.stmts)
        bars = dict(seeds)
        for stmt in reversed(block.stmts):
            self.b.span = stmt.span
            rule = _RULES.get(type(stmt))
            if rule is not None:
                rule(self, stmt, bars, loops)
        inside = defined_in(block)
        return {v: bar for v, bar in bars.items() if v not in inside}

    def nested(
        self, block: Block, bars: Sequence[Value | None], bindings: Mapping[Var, Value]
    ) -> tuple[list[Stmt], dict[Var, Value]]:
        """Run `sweep` in a region of its own.

        Args:
            block: A block of the primal.
            bars: The adjoints of its results.
            bindings: What stands for the variables that are bound there.
        """
        outer = self.cloner
        self.cloner = Cloner(outer.env)
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
        """Return the adjoints of the results of a block, those of equal results added up."""
        seeds: dict[Var, Value] = {}
        for result, bar in zip(results, bars, strict=True):
            if bar is not None:
                self.add(seeds, result, bar)
        return seeds

    def check_loads(self, adjoint: Program) -> None:
        """Check that the adjoint repeats no load whose value has been overwritten.

        Raises:
            NotDifferentiable: It does.
        """
        for stmt in walk(adjoint.body):
            if not isinstance(stmt, Load):
                continue
            original = self.repeated.get(stmt.out)
            if original in self.returned:
                slots = "store it in a field in a loop of its own, 'slot[i] = ti.atomic_add(...)', "
                raise _unrepeatable(
                    self.returned[original], f"{slots}and read 'slot[i]' in a loop behind."
                )
            if original is None or original not in self.stale:
                continue
            load, write = self.stale[original]
            raise NotDifferentiable(
                load.span,
                f"the value of '{load.array.name}' read here is needed, and it was written in "
                "the same loop.",
                "read after a write",
                related=() if write.span is None else (Label(write.span, "written here"),),
                hint="keep the running value in a local, or launch one step of the loop at a time: "
                "a tape keeps what each launch overwrites.",
            )


def _let(r: Reverser, let: Let, bars: dict[Var, Value], loops: object) -> None:
    z_bar = bars.pop(let.out, None)
    if z_bar is None:
        return
    row = OPS[let.op]
    wanted = tuple(isinstance(arg, Var) and arg in r.active for arg in let.args)
    if not any(wanted) or not row.vjp:
        return
    args = r.index(let.args)
    masked = z_bar in r.masked
    used = (*let.args, let.out) if multiplies(row) else ()
    guard = masked and (row.singular or any(value in r.nonfinite for value in used))
    parts = adjoints(r.b, row, args, r.value(let.out), z_bar, wanted)
    for arg, part in zip(let.args, parts, strict=True):
        if part is None:
            continue
        if guard:
            # The adjoint may be zero because the value was not taken: 0 * inf must stay 0.
            guarded = unless_zero(r.b, z_bar, part, componentwise=let.op in ELEMENTWISE)
            r.add(bars, arg, guarded, masked=True)
        else:
            r.add(bars, arg, part, masked=masked or row.masks)


def _load(r: Reverser, load: Load, bars: dict[Var, Value], loops: object) -> None:
    bar = bars.pop(load.out, None)
    if bar is not None and load.array in r.bars:
        r.b.accumulate(r.bars[load.array], r.index(load.index), bar)


def _store(r: Reverser, store: Store, bars: dict[Var, Value], loops: object) -> None:
    if store.array.size is not None and store.value in r.active:
        raise differentiated_again(store)
    buffer = r.bars.get(store.array)
    if buffer is None or not is_float(store.value.type):
        return
    index = r.index(store.index)
    bar = r.b.load(buffer, index, _bar_name(store.value, store.array))
    r.b.store(buffer, index, zero(bar.type))
    r.add(bars, store.value, bar)


def _accumulate(r: Reverser, add: Accumulate, bars: dict[Var, Value], loops: object) -> None:
    buffer = r.bars.get(add.array)
    if buffer is None or add.value not in r.active:
        return
    name = _bar_name(add.value, add.array)
    r.add(bars, add.value, r.b.load(buffer, r.index(add.index), name))


def _combine(r: Reverser, stmt: Combine, bars: dict[Var, Value], loops: object) -> None:
    if stmt.out is not None and bars.pop(stmt.out, None) is not None:
        in_order = "run the loop in order: 'ti.loop_config(serialize=True)' before it."
        raise _unrepeatable(stmt, in_order)
    buffer = r.bars.get(stmt.array)
    if buffer is None or stmt.value not in r.active:
        return
    index = r.index(stmt.index)
    bar = r.b.load(buffer, index) if stmt.op == "add" else slope(r, stmt, index)
    r.add(bars, stmt.value, bar, masked=True)


def _unrepeatable(stmt: Combine, hint: str) -> NotDifferentiable:
    return NotDifferentiable(
        stmt.span,
        f"the old value of '{stmt.array.name}' that is returned here is needed, and depends on "
        "the order of the iterations.",
        "differs from launch to launch",
        hint=hint,
    )


def _bar_name(value: Value, array: Array) -> str:
    """Name the adjoint of a stored value after the user's local, or after the field."""
    name = value.name if isinstance(value, Var) else ""
    return f"{name}_bar" if name else f"{array.name}_bar_at"


def _if(r: Reverser, stmt: If, bars: dict[Var, Value], loops: object) -> None:
    out_bars = [bars.pop(out, None) for out in stmt.outs]
    sides: list[tuple[list[Stmt], dict[Var, Value]]] = []
    for block in (stmt.then, stmt.orelse):
        sides.append(r.nested(block, out_bars, {}))
    keys = list({**sides[0][1], **sides[1][1]})
    blocks = [
        Block(tuple(stmts), tuple(found.get(key, zero(key.type)) for key in keys))
        for stmts, found in sides
    ]
    if not keys and not any(has_effects(block) for block in blocks):
        return
    outs = tuple(Var(f"{key.name or 't'}_bar", key.type) for key in keys)
    r.b.append(If(r.value(stmt.cond), blocks[0], blocks[1], outs, stmt.span))
    for key, out in zip(keys, outs, strict=True):
        r.add(bars, key, out, masked=True)


def _for(r: Reverser, loop: For, bars: dict[Var, Value], loops: dict[int, Stmt]) -> None:
    _reverse_counted(r, loop, frozenset(), loops.get(id(loop)), bars)


def _reverse_counted(
    r: Reverser, loop: For, unset: frozenset[Var], copy: Stmt | None, bars: dict[Var, Value]
) -> None:
    slim, positions = without_induction(loop, unset)
    for k, (init, out) in enumerate(zip(loop.inits, loop.outs, strict=True)):
        bar = None if k in positions else bars.pop(out, None)
        if bar is not None:  # the loop leaves it as it was
            r.add(bars, init, bar)
    out_bars = [bars.pop(out, None) for out in slim.outs]
    assert isinstance(copy, (For, While, NoneType))
    found = reverse_loop(r, LoopReversal(slim, copy, positions, out_bars))
    for key, bar in found.items():
        r.add(bars, key, bar, masked=True)


def _parallel(r: Reverser, loop: ParallelFor, bars: dict[Var, Value], loops: object) -> None:
    prepare(r, loop)
    indices = tuple(Var(index.name, index.type) for index in loop.indices)
    starts, stops = r.index(loop.starts), r.index(loop.stops)
    r.backwards = False
    stmts, found = r.nested(loop.body, (), dict(zip(loop.indices, indices, strict=True)))
    if r.backwards:
        indices, stmts = _backwards(r, indices, (starts, stops), stmts)
    cells: list[tuple[Var, Array]] = []
    with r.b.region() as adds:
        for key, bar in found.items():
            cell = Array(
                f"{key.name or 't'}_bar", FieldType(with_scalar(key.type, scalar_of(bar.type)), 0)
            )
            r.temps.append(cell)
            r.b.accumulate(cell, (), bar)
            cells.append((key, cell))
    for _, cell in cells:
        r.b.store(cell, (), zero(cell.type.element))
    r.b.append(ParallelFor(indices, starts, stops, Block((*stmts, *adds)), loop.span))
    for key, cell in cells:
        r.add(bars, key, r.b.load(cell, (), f"{key.name}_bar"))


def _backwards(
    r: Reverser,
    indices: tuple[Var, ...],
    box: tuple[tuple[Value, ...], tuple[Value, ...]],
    stmts: list[Stmt],
) -> tuple[tuple[Var, ...], list[Stmt]]:
    """Return the loop's body and indices such that it runs from its last iteration to its first.

    Any order is right. Where the loops inside run backwards, this one makes the whole sweep over
    memory go one way, and caches foresee what comes next.
    """
    counters = tuple(Var(f"{index.name}_back", I32) for index in indices)
    with r.b.region() as lets:
        for index, counter, start, stop in zip(indices, counters, *box, strict=True):
            last = r.b.call("sub", r.b.call("add", start, stop), Const(1, I32))
            r.b.append(Let(index, "sub", (last, counter), r.b.span))
    return counters, [*lets, *stmts]


def _while(r: Reverser, loop: While, bars: dict[Var, Value], loops: dict[int, Stmt]) -> None:
    """Reverse a `while` as a loop over the iterations that were counted on the way forward."""
    counted = For(
        Var("trip", I32),
        Const(0, I32),
        r.trips[id(loop)],
        loop.carries,
        loop.inits,
        loop.body,
        loop.outs,
        loop.span,
    )
    _reverse_counted(r, counted, unset_while(loop), loops.get(id(loop)), bars)


_RULES: dict[type[Stmt], Callable[..., None]] = {
    Let: _let,
    Load: _load,
    Store: _store,
    Accumulate: _accumulate,
    Combine: _combine,
    If: _if,
    For: _for,
    ParallelFor: _parallel,
    While: _while,
    Ruled: reverse_ruled,
}
