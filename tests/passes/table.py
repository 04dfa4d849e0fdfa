"""How the cases of each file are run: the pass, what is written of its result, what is checked.

A pass that returns more than a program is adapted here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from difftile.ad.activity import active_values, active_writes
from difftile.ad.derive import derive
from difftile.ad.effects import pure_block
from difftile.ad.forward import forward
from difftile.ad.induction import unset_while, without_induction
from difftile.ad.internal_variables import internal_variables
from difftile.ad.local_hessian import local_hessian
from difftile.ad.local_terms import local_terms
from difftile.ad.log import log_of
from difftile.ad.missing_gradients import Flow, follow
from difftile.ad.nonfinite import possibly_nonfinite
from difftile.ad.reuse_results import reused_results
from difftile.ad.reverse import reverse
from difftile.ad.tangent_only import tangent_only
from difftile.diagnostics import DifftileError, KernelError
from difftile.ir.derived import (
    After,
    Bar,
    Before,
    Derived,
    Dot,
    Lane,
    Logged,
    Role,
    Same,
    Scratch,
    Shape,
    Width,
    primal,
    sources,
)
from difftile.ir.facts import arrays_written
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    Const,
    For,
    Load,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.parse import parse
from difftile.ir.printer import print_program
from difftile.ir.types import I32, FieldType, shape_of
from difftile.ir.walk import bound, definitions, walk, with_blocks, with_tasks
from difftile.ops.build import OpBuilder
from difftile.passes.affine import Affine, affine, definitions_of, ranges_of, unique_in
from difftile.passes.afterwards import overwritten_later
from difftile.passes.align_loops import align_loops
from difftile.passes.batch import Unbatchable, batch
from difftile.passes.bind_gradients import bind_gradients
from difftile.passes.blocked_sum import blocked_sum
from difftile.passes.bounds import confine, guard, unchecked
from difftile.passes.by_warps import Sharing, by_warps, lanes_of
from difftile.passes.componentwise import componentwise
from difftile.passes.conflicts import PossibleConflict, clashes, races
from difftile.passes.cse import cse
from difftile.passes.dce import dce
from difftile.passes.dead_stores import dead_stores
from difftile.passes.drop_stop_grad import drop_stop_grad
from difftile.passes.exact_sums import exact_sums
from difftile.passes.exclusive import exclusive, owned_arrays
from difftile.passes.extents import extents
from difftile.passes.factor import factor
from difftile.passes.flatten import flat_loop, flatten
from difftile.passes.fold import fold
from difftile.passes.forwards import forwards
from difftile.passes.hoist_accumulations import hoist_accumulations
from difftile.passes.in_squares import in_squares, loops_over_columns
from difftile.passes.index_bounds import doubts
from difftile.passes.inline_primals import inline_primals
from difftile.passes.instrument import beginning, counted_kinks, iteration, marked
from difftile.passes.interchange import interchange
from difftile.passes.interleave import interleave
from difftile.passes.known_indices import known_indices
from difftile.passes.lane_conflicts import check_lanes
from difftile.passes.last_writes import last_writes
from difftile.passes.mark_single_writes import mark_single_writes
from difftile.passes.merge import merge
from difftile.passes.merge_loops import merge_loops
from difftile.passes.optimise import normalise, pruned, simplify
from difftile.passes.over_worlds import over_worlds
from difftile.passes.precedence import final_loads, stale_loads
from difftile.passes.privatise import ScatterPlan, privatise, scatters_of
from difftile.passes.promises import verify
from difftile.passes.rebase import rebase
from difftile.passes.reciprocals import reciprocals
from difftile.passes.reduce import reduce
from difftile.passes.rows import in_rows
from difftile.passes.safe_divisions import safe_divisions
from difftile.passes.safe_shifts import safe_shifts
from difftile.passes.scalar_replacement import scalar_replacement
from difftile.passes.scatter_to_gather import scatter_to_gather
from difftile.passes.sequence import SequenceRow, placed
from difftile.passes.signs_of_roots import signs_of_roots
from difftile.passes.sink_values import sink_values
from difftile.passes.slices import slice_of
from difftile.passes.speculate import general, speculate
from difftile.passes.split_atomics import serial, split_atomics
from difftile.passes.split_index_sets import split_index_sets
from difftile.passes.spread import spread
from difftile.passes.stages import split
from difftile.passes.tile_rows import tile_rows
from difftile.passes.time_loop import interchanged, strips
from difftile.passes.time_loop import serial as serial_in_time
from difftile.passes.transpose_sums import transpose_sums
from difftile.passes.unroll_and_jam import unroll_and_jam
from difftile.passes.unroll_loops import unroll_loops
from difftile.passes.unroll_periods import unroll_periods
from difftile.passes.update_in_place import update_in_place
from difftile.passes.versions import late_loads
from difftile.passes.warp_aggregate import warp_aggregate
from difftile.passes.widen_integers import widen_integers
from difftile.passes.windows import windowed
from difftile.schedule.finish import finish
from tests.passes import meaning
from tests.passes.cases import Options
from tests.targets import device, host


@dataclass(frozen=True, slots=True)
class Result:
    """What a pass returned.

    Args:
        programs: The programs.
        notes: What is written after them.
        check: Compares what they compute with what the input computes, where they should agree.
    """

    programs: tuple[Program, ...] = ()
    notes: tuple[str, ...] = ()
    check: Callable[[], None] | None = None

    @property
    def text(self) -> str:
        notes = "".join(f"{note}\n" for note in self.notes)
        return "\n".join([*map(print_program, self.programs), *([notes] if notes else [])])


Adapter = Callable[[Program, Options], Result]


def run(adapter: Adapter, program: Program, options: Options) -> Result:
    """Return what a pass makes of a program; an error that it raises is a note."""
    try:
        return adapter(program, options)
    except DifftileError as error:
        return Result(notes=(str(error),))
    except Unbatchable:
        return Result(notes=("Unbatchable",))


# Passes from program to program


def _over_worlds(program: Program, options: Options) -> Result:
    """Run `over_worlds`, whose index of the world is a parameter of the case."""
    known = {p.name: p for p in program.params if isinstance(p, Var)}
    made = over_worlds(program, known["world"], known["worlds"])
    return Result((replace(made, params=tuple(p for p in made.params if p.name != "world")),))


def _same(change: Callable[[Program], Program]) -> Adapter:
    """Adapt a pass that keeps what a program computes."""

    def adapted(program: Program, options: Options) -> Result:
        return _checked(program, (change(program),), options)

    return adapted


def _checked(before: Program, after: tuple[Program, ...], options: Options) -> Result:
    if not options.flag("runs", default=True):
        return Result(after)
    return Result(after, check=lambda: meaning.check_same(before, after, options))


def _with_body(program: Program, body: Block) -> Program:
    return replace(program, body=body)


def _by_option(default: str, **rules: Adapter) -> Adapter:
    """Adapt a module with several functions: the option `pass` says which."""

    def adapted(program: Program, options: Options) -> Result:
        return rules[options.text("pass", default)](program, options)

    return adapted


def _reduce(program: Program, options: Options) -> Result:
    blocks = int(options.text("blocks", "4"))
    in_double = options.flag("in_double", default=True)
    return _checked(program, (reduce(program, blocks, in_double=in_double),), options)


def _privatise(program: Program, options: Options) -> Result:
    """Give each part a copy of all targets that can have copies, or run the loops on one thread."""
    scatters = scatters_of(program)
    copied = tuple(s for s in scatters if s.op is not None)
    plan = ScatterPlan(
        copied=copied, small=frozenset(copied if options.flag("small", default=False) else ())
    )
    if options.flag("alone", default=False):
        plan = ScatterPlan(serial=frozenset(s.loop for s in scatters))
    after, _ = privatise(program, plan, int(options.text("parts", "3")))
    return _checked(program, (after,), options)


def _spread(program: Program, options: Options) -> Result:
    """Spread all loops, which have no more iterations than there are parts."""
    count = sum(isinstance(stmt, ParallelFor) for stmt in program.body.stmts)
    parts = int(options.text("parts", "4"))
    after, made = spread(program, range(count), parts)

    def check() -> None:
        for seed in range(3):
            fields, numbers = meaning.inputs_of(program, options, seed)
            left, right = meaning.copied(fields), meaning.copied(fields)
            for array in made:
                shape = (parts, *shape_of(array.type.element))
                right[array] = np.full(shape, np.nan, np.complex128)
            meaning.run([program], left, numbers)
            meaning.run([after], right, numbers)
            for array in fields:
                meaning.compare(right[array], left[array], f"{array.name}, seed {seed}")

    return Result((after,), check=check)


def _rows(program: Program, options: Options) -> Result:
    """Give each iteration of ordered loops a row of all targets."""
    scatters = [s for s in scatters_of(program) if s.ordered and s.op == "add"]
    after, made = in_rows(program, scatters)

    def check() -> None:
        for seed in range(3):
            fields, numbers = meaning.inputs_of(program, options, seed)
            left, right = meaning.copied(fields), meaning.copied(fields)
            for array in (one for rows in made for one in (rows.array, rows.stripes)):
                shape = (int(options.text("room", "9000")), *shape_of(array.type.element))
                right[array] = np.full(shape, np.nan, np.complex128)
            meaning.run([program], left, numbers)
            meaning.run([after], right, numbers)
            for array in fields:
                meaning.compare(right[array], left[array], f"{array.name}, seed {seed}")

    return Result((after,), check=check)


def _exact_sums(program: Program, options: Options) -> Result:
    """Add up in bins; `test_deterministic.py` runs them, which have bits of floats."""
    del options
    return Result((exact_sums(program)[0],))


def _transpose_sums(program: Program, options: Options) -> Result:
    warps = options.flag("warps", default=False)
    return _checked(program, (transpose_sums(program, warps=warps),), options)


def _in_squares(program: Program, options: Options) -> Result:
    """Run all loops in squares that can, of three iterations along a side."""
    loops = loops_over_columns(program.body)
    return _checked(program, (in_squares(program, dict.fromkeys(loops, 3)),), options)


def _flatten(program: Program, options: Options) -> Result:
    """Flatten all loops where that can be done."""
    return _checked(program, (all_flat(program),), options)


def all_flat(program: Program) -> Program:
    """Return a program with all loops flattened that can be."""
    defs = definitions_of(program.body)
    tasks = [stmt for stmt in program.body.stmts if isinstance(stmt, ParallelFor)]
    return flatten(program, [loop for task in tasks if (loop := flat_loop(task, defs))])


def _by_warps(program: Program, options: Options) -> Result:
    """Let warps run all loops that they can, and say how those move through memory."""
    shared = _sharing(program, reorders=options.flag("reorders", default=True))
    notes = [
        _listed("moves along", [*["rows"] * found.reads_rows, *["columns"] * found.reads_columns])
        for found in shared
    ]
    fields = [array.name for found in shared for array in found.fields]
    notes += [_listed("lanes wait for", fields)] if fields else []
    result = _checked(program, (by_warps(program, shared),), options)
    return Result(result.programs, tuple(notes), result.check)


def all_by_warps(program: Program) -> Program:
    """Return a program with all loops run by warps that can be."""
    return by_warps(program, _sharing(program))


def _sharing(program: Program, *, reorders: bool = True) -> list[Sharing]:
    defs = definitions_of(program.body)
    tasks = [stmt for stmt in program.body.stmts if isinstance(stmt, ParallelFor)]
    every = [lanes_of(task, defs, reorders=reorders) for task in tasks]
    return [found for found in every if found is not None]


def _blocked_sum(program: Program, options: Options) -> Result:
    """Replace the serial loops of the top level that carry nothing by loops over runs."""
    b = OpBuilder()
    for stmt in program.body.stmts:
        if not isinstance(stmt, For):
            b.append(stmt)
            continue

        def fill(first: Value, last: Value, loop: For = stmt) -> None:
            b.append(replace(loop, start=first, stop=last))

        b.append(blocked_sum(b, stmt.start, stmt.stop, fill))
    after = _with_body(program, b.block())
    return _checked(program, (after,), options)


def _finish(program: Program, options: Options) -> Result:
    blocks = int(options.text("blocks", "4"))
    on_device = options.flag("on_device", default=False)
    warps = options.flag("warps", default=False)
    target = device(blocks, warps=warps) if on_device else host(blocks)
    after = finish(
        program,
        replace(target, fast_math=options.flag("fast_math", default=True)),
        checked=True,
    )
    return _checked(program, (after,), options)


def _speculate(program: Program, options: Options) -> Result:
    """Show the usual form, what it takes for granted, and what decides about that."""
    found = speculate(program)
    if found is None:
        return Result(notes=("there is only one form",))
    notes = [f"{_name(a)} <= {_name(b)}" for a, b in found.tests]
    notes.append(f"by {', '.join(param.name for param in found.params)}")
    fields, numbers = meaning.inputs_of(program, options, 0)
    given = {a: values.shape for a, values in fields.items()} | numbers
    notes.append("it may run here" if found.holds(given) else "it may not run here")
    return replace(_checked(program, (found.program,), options), notes=tuple(notes))


def _split(program: Program, options: Options) -> Result:
    return _checked(program, split(program), options)


def _serial(program: Program, options: Options) -> Result:
    stmts = tuple(serial(s) if isinstance(s, ParallelFor) else s for s in program.body.stmts)
    after = _with_body(program, Block(stmts))
    return _checked(program, (after,), options)


def _verify(program: Program, options: Options) -> Result:
    after, marks = verify(program)
    return _checked(program, (replace(after, params=(*program.params, *marks)),), options)


def _dead_stores(program: Program, options: Options) -> Result:
    extents = {_array(program, name): ("one",) for name in options.names("like")}
    after = dead_stores(program, extents, [_array(program, n) for n in options.names("scratch")])
    return _checked(program, (after,), options)


def _time_loop(program: Program, options: Options) -> Result:
    """Repeat a program, whose parameter `t` is the step."""
    step = next(p for p in program.params if isinstance(p, Var) and p.name == "t")
    first, count = Var("first", I32), Var("count", I32)
    reverse = options.flag("reverse", default=False)
    match options.text("form", "interchanged"):
        case "serial":
            after = serial_in_time(program, step, first, count, reverse=reverse)
        case "strips":
            after = strips(program, step, first, count, Const(2, I32), reverse=reverse)
        case _:
            after = interchanged(program, step, first, count, reverse=reverse)
    if after is None:
        return Result(notes=("the loops cannot be interchanged",))

    def check() -> None:
        for steps in (range(1, 2), range(1, 4), range(5)):
            order = steps[::-1] if reverse else steps
            numbers = {first: steps.start, count: len(steps)}
            meaning.check_repeated(program, step, order, after, numbers, options)

    return Result((after,), check=check)


def _unroll_periods(program: Program, options: Options) -> Result:
    """Write some periods out, whose number is the parameter `t`."""
    step = next(p for p in program.params if isinstance(p, Var) and p.name == "t")
    periods, reverse = int(options.text("periods")), options.flag("reverse", default=False)
    after = unroll_periods(program, step, periods, reverse=reverse)
    first = next(p for p in after.params if p not in program.params)
    assert isinstance(first, Var)

    def check() -> None:
        for start in (0, 2):
            order = range(start, start + periods)
            order = order[::-1] if reverse else order
            meaning.check_repeated(program, step, order, after, {first: start}, options)

    return Result((after,), check=check)


def _scatter_to_gather(program: Program, options: Options) -> Result:
    guarded = options.flag("guarded", default=False)
    return _checked(program, (scatter_to_gather(program, guarded=guarded),), options)


def _sequence(program: Program, options: Options) -> Result:
    """Put the arrays that an option names into rows, at the row of the last parameter."""
    at = program.params[-1]
    assert isinstance(at, Var)
    rows = {
        array: Array(f"{array.name}_rows", FieldType(array.type.element, array.type.ndim + 1))
        for array in (_array(program, name) for name in options.names("rows"))
    }
    places = {array: SequenceRow(new, at) for array, new in rows.items()}
    params = tuple(rows.get(p, p) if isinstance(p, Array) else p for p in program.params)
    body = Block(placed(program.body, places, {}))
    return Result((replace(program, params=params, body=body),))


def _marked(program: Program, options: Options) -> Result:
    watched = [_array(program, name) for name in options.names("watched")]
    found = marked(program, watched, float(options.text("limit", "inf")))
    names = _printed(found.program)
    notes = tuple(f"{names[cell]}: statement {k}" for k, cell in found.cells.items())
    result = _checked(program, (found.program,), options)
    return Result(result.programs, notes, result.check)


def _counted(program: Program, options: Options) -> Result:
    found = counted_kinks(program, active_values(program, meaning.floats_of(program, options)))
    names = _printed(found.program)
    notes = tuple(f"{names[cell]}: {op}" for cell, (op, _) in found.cells.items())
    result = _checked(program, (found.program,), options)
    return Result(result.programs, notes, result.check)


def _iteration(program: Program, options: Options) -> Result:
    position, number = int(options.text("position")), int(options.text("number"))
    return Result((iteration(program, position, number),))


def _beginning(program: Program, options: Options) -> Result:
    return Result((beginning(program, int(options.text("position"))),))


def _without_induction(program: Program, options: Options) -> Result:
    """Change the serial loops of a program, or of its parallel loops."""
    notes: list[str] = []

    def block(one: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in one.stmts:
            changed: Stmt = stmt
            if isinstance(stmt, For):
                names = options.names("unset")
                unset = frozenset(c for c in stmt.carries if c.name in names)
                changed, left = without_induction(stmt, unset)
                notes.append(_listed("left", map(str, left)))
            if isinstance(stmt, While):
                notes.append(_listed("unset", sorted(v.name for v in unset_while(stmt))))
            stmts.append(with_blocks(changed, block))
        return Block(tuple(stmts), one.results)

    return Result((_with_body(program, block(program.body)),), tuple(notes))


# Derivatives


def _bind_gradients(program: Program, options: Options) -> Result:
    bound = bind_gradients(program)
    return Result((bound.program,), _roles(bound, bound.program))


def _roles(derived: Derived, program: Program) -> tuple[str, ...]:
    """Return a line for each parameter of a form of a derived program that is not the primal's."""
    names = _printed(program)
    roles = {p: derived.roles.get(p) for p in (*program.params, *program.temps)}
    return tuple(
        f"{names[p]}: {_role(role)}"
        for p, role in roles.items()
        if role is not None and not isinstance(role, Same) and role != Before(p)
    )


def _role(role: Role) -> str:
    match role:
        case Dot(of) | Lane(of):
            inner = of.param.name if isinstance(of, Same) else _role(of)
            return f"{type(role).__name__}({inner})"
        case Before(array) | After(array) | Shape(array):
            return f"{type(role).__name__}({array.name})"
        case Bar(array, incoming):
            return f"Bar({array.name}{', incoming' if incoming else ''})"
        case Same(param):
            return param.name
        case Width() | Scratch() | Logged():
            return type(role).__name__


def _reverse(program: Program, options: Options) -> Result:
    wanted = meaning.floats_of(program, options)
    adjoint = reverse(
        program,
        wanted,
        read_back=options.flag("read_back", default=True),
        constant=options.flag("constant", default=False),
    )
    made = adjoint.program
    if options.flag("simplified", default=True):
        made = simplify(made)
    made = pruned(made)

    def check() -> None:
        after = {new: array for array, new in adjoint.of(After).items()}
        meaning.check_reverse(program, made, adjoint.of(Bar), after, options)

    exact = options.flag("exact", default=True)
    return Result((made,), _roles(adjoint, made), check if exact else None)


def _form(program: Program, options: Options) -> Derived:
    """Return the program, or the adjoint of it if the option `of` says so."""
    if options.text("of") != "reverse":
        return primal(program)
    adjoint = reverse(program, meaning.floats_of(program, options))
    return replace(adjoint, program=pruned(simplify(adjoint.program)))


def _forward(program: Program, options: Options) -> Result:
    form = _form(program, options)
    if form.program is not program:
        varying = frozenset(_array(form.program, name) for name in options.names("varying"))
        tangents = forward(form, varying)
        made = simplify(tangents.program)
        return Result((made,), _roles(tangents, made))
    tangents = forward(form, meaning.floats_of(program, options))
    made = simplify(tangents.program)

    def check() -> None:
        meaning.check_forward(program, made, tangents.of(Dot), None, options)

    exact = options.flag("exact", default=True)
    return Result((made,), _roles(tangents, made), check if exact else None)


def _tangent_only(program: Program, options: Options) -> Result:
    form = _form(program, options)
    wanted = meaning.floats_of(program, options)
    if form.program is not program:
        wanted = frozenset(_array(form.program, name) for name in options.names("varying"))
    apart = tangent_only(form, wanted)
    if apart is None:
        return Result(notes=("the stage would have to run again",))
    made = pruned(simplify(apart.program))
    if form.program is not program:
        return Result((made,), _roles(apart, made))

    def check() -> None:
        before = {old: array for array, old in apart.of(Before).items()}
        meaning.check_forward(program, made, apart.of(Dot), before, options)

    exact = options.flag("exact", default=True)
    return Result((made,), _roles(apart, made), check if exact else None)


def _batch(program: Program, options: Options) -> Result:
    form = _form(program, options)
    arrays = [_array(form.program, name) for name in options.names("lanes")]
    found = batch(form, arrays)
    of: dict[Array, Array | None] = {}
    for param, role in found.roles.items():
        if isinstance(role, Lane) and isinstance(param, Array):
            of[param] = next(iter(sources((role,))), None)
    (width,) = (p for p, role in found.roles.items() if isinstance(role, Width))
    check = None
    if form.program is program:

        def check() -> None:
            meaning.check_batch(program, found.program, of, width, options)

    return Result((found.program,), _roles(found, found.program), check)


def _derive(program: Program, options: Options) -> Result:
    return Result((dce(simplify(derive(program))),))


# Analyses


def _array(program: Program, name: str) -> Array:
    arrays = [p for p in (*program.params, *program.temps) if isinstance(p, Array)]
    return next(a for a in arrays if a.name == name)


def _printed(program: Program) -> dict[Any, str]:
    """Return the names of arrays and variables as they are printed."""
    again = parse(print_program(program))
    names: dict[Any, str] = {}
    for one, other in zip(
        (*program.params, *program.temps), (*again.params, *again.temps), strict=True
    ):
        names[one] = other.name
    for one, other in zip(walk(program.body), walk(again.body), strict=True):
        pairs = (*definitions(one), *bound(one)), (*definitions(other), *bound(other))
        names |= {v: w.name for v, w in zip(*pairs, strict=True)}
    return names


def _in_order(program: Program, found: Collection[Any]) -> list[str]:
    """Return the names of some variables in the order in which they are defined."""
    every = [v for s in walk(program.body) for v in (*bound(s), *definitions(s))]
    return [v.name for v in dict.fromkeys(every) if v in found]


def _listed(word: str, names: Iterable[str]) -> str:
    return f"{word}: {', '.join(names) or 'none'}"


def _shown(stmt: Stmt) -> str:
    assert stmt.span is not None
    return f"'{stmt.span.shown}'"


def _affine_text(form: Affine[Var]) -> str:
    terms = sorted(form.factors.items(), key=lambda term: term[0].name)
    parts = [v.name if f == 1 else f"{f} * {v.name}" for v, f in terms]
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts)


def _affine(program: Program, options: Options) -> Result:
    """Show the form of each index, what loops own, and the ranges that are known."""
    defs = definitions_of(program.body)
    notes: list[str] = []
    for stmt in walk(program.body):
        if isinstance(stmt, (Load, Store, Accumulate, Combine)):
            forms = ", ".join(_affine_text(affine(i, defs)) for i in stmt.index)
            notes.append(f"{_shown(stmt)}: {forms}")
    ranges = [f"{v.name} in {a}..{b}" for v, (a, b) in ranges_of(program.body).items()]
    notes += [_listed("ranges", ranges)] if ranges else []
    unique = _in_order(program, unique_in(program.body))
    notes += [_listed("unique", unique)] if unique else []
    for stmt in program.body.stmts:
        if isinstance(stmt, ParallelFor):
            owned = owned_arrays(stmt, program)
            notes.append(_listed("owned", sorted(a.name for a in owned)))
    return Result(notes=tuple(notes))


def _conflicts(program: Program, options: Options) -> Result:
    """Show races and stores that clash; with sizes, the iterations that meet."""
    notes: list[str] = []
    for word, found in (("race", races(program)), ("clash", clashes(program))):
        notes += [f"{word}: {_doubt_text(doubt, options)}" for doubt in found]
    return Result(notes=tuple(notes) or ("no conflicts",))


def _lane_conflicts(program: Program, options: Options) -> Result:
    """Show what loops over lanes are refused for."""
    try:
        check_lanes(program)
    except KernelError as error:
        return Result(notes=(error.title,))
    return Result(notes=("no conflicts",))


def _doubt_text(doubt: PossibleConflict, options: Options) -> str:
    both = f"{_shown(doubt.write.stmt)} and {_shown(doubt.other.stmt)}"
    if doubt.write is doubt.other:
        both = f"{_shown(doubt.write.stmt)} and itself"
    known: dict[Any, int] = {}
    for leaf in doubt.leaves:
        owner, axis = (leaf, 0) if isinstance(leaf, Var) else leaf
        given = options.text(owner.name).removeprefix("shape").split()
        if given:
            known[leaf] = int(given[axis])
    if not doubt.leaves or len(known) < len(doubt.leaves):
        names = [v.name if isinstance(v, Var) else f"{v[0].name}.{v[1]}" for v in doubt.leaves]
        return f"{both}; {_listed('decided by', sorted(names))}"
    meeting = doubt.meeting(known)
    if meeting is None:
        return f"{both}; never here"
    return f"{both}; iterations {meeting.iterations or 'unknown'}"


def _extents(program: Program, options: Options) -> Result:
    found = extents(program)
    known: dict[Var, int] = {}
    shapes: dict[Array, tuple[int, ...]] = {}
    for param in program.params:
        given = options.text(param.name).removeprefix("shape").split()
        if isinstance(param, Array):
            shapes[param] = tuple(int(size) for size in given)
        elif given:
            known[param] = int(given[0])
    for stmt in walk(program.body):
        if isinstance(stmt, Size):
            known[stmt.out] = shapes[stmt.array][stmt.axis]
    notes: list[str] = []
    for array in found.writes:
        box = found.box(array, shapes[array], known)
        if box is None:
            notes.append(f"{array.name}: anywhere")
        elif any(last < first for first, last in box):
            notes.append(f"{array.name}: nothing")
        else:
            notes.append(f"{array.name}: {', '.join(f'{a}..{b}' for a, b in box)}")
    return Result(notes=tuple(notes))


def _slices(program: Program, options: Options) -> Result:
    """Show of each statement at the top what its last accumulation is computed from."""
    notes: list[str] = []
    for stmt in program.body.stmts:
        adds = [s for s in walk(Block((stmt,))) if isinstance(s, Accumulate)]
        if isinstance(stmt, ParallelFor) and adds:
            # Parallel loops yield nothing: the slice is printed as a program of its own.
            given = tuple(v for v in (*program.params, *stmt.indices))
            shown = Program(f"slice_{len(notes) + 1}", given, slice_of(stmt.body, adds[-1]))
            notes.append(print_program(shown).rstrip())
    return Result(notes=tuple(notes))


def _precedence(program: Program, options: Options) -> Result:
    """Show for each load of a field that is written which contents it finds."""
    stale, final = stale_loads(program.body), final_loads(program.body)
    notes: list[str] = []
    for stmt in walk(program.body):
        if isinstance(stmt, Load) and stmt.array in arrays_written(program.body):
            if stmt.out not in stale:
                notes.append(f"{_shown(stmt)}: from before")
            elif stmt.out in final:
                notes.append(f"{_shown(stmt)}: from after")
            else:
                write = stale[stmt.out][1]
                notes.append(f"{_shown(stmt)}: in between, after {_shown(write)}")
    return Result(notes=tuple(notes))


def _log(program: Program, options: Options) -> Result:
    """Show the statements that fill the logs of all stale loads, and what finds their extents."""
    late = late_loads(program.body)
    stale = {v: found for v, found in stale_loads(program.body).items() if v not in late}
    log = log_of(program, [load for load, _ in stale.values()], {})
    fill = replace(program, name="fill", body=Block(log.fill), temps=(*program.temps, *log.temps))
    return Result((log.program, fill, log.lengths))


def _windows(program: Program, options: Options) -> Result:
    """Show the stage for windows of its loop, and what counts the iterations."""
    found = windowed(program)
    if found is None:
        return Result(notes=("no windows",))
    return Result((found.program, found.count))


def _versions(program: Program, options: Options) -> Result:
    return Result(notes=(_listed("late", _in_order(program, late_loads(program.body))),))


def _afterwards(program: Program, options: Options) -> Result:
    found = overwritten_later(program.body).values()
    notes = tuple(f"{_shown(load)} may find {_shown(write)}" for load, write in found)
    return Result(notes=notes or ("every read finds what the call has left",))


def _known_indices(program: Program, options: Options) -> Result:
    found = known_indices(program)
    if found is None:
        return Result(notes=("nothing is known",))
    return Result((found.program,))


def _index_bounds(program: Program, options: Options) -> Result:
    """Show where the tests may fail, around integers of 3 and sizes of 9."""
    found = known_indices(program)
    if found is None:
        return Result(notes=("nothing is known",))
    params = [param for param in found.program.params if isinstance(param, Var)]
    given = {param: 9 if param in found.sizes else 3 for param in params}
    within = {param: (int(param in found.sizes) or -99, 99) for param in params}
    notes: list[str] = []
    names = {param: param.name for param in params}
    for one in doubts(found.program, given, within, names)[0]:
        assert one.fail.span is not None
        notes.append(f"'{one.fail.span.shown}' may leave, from {one.ends[0]}")
        for need in one.needs or ():
            notes.append(f"  unless {need.text} >= 0")
    return Result(notes=tuple(notes) or ("nothing leaves its shape",))


def _activity(program: Program, options: Options) -> Result:
    sources = meaning.floats_of(program, options)
    notes = [_listed("active", _in_order(program, active_values(program, sources)))]
    writes = active_writes(program, sources)
    notes += [f"leaves the sources: {_shown(write)}" for write in writes]
    return Result(notes=tuple(notes))


def _nonfinite(program: Program, options: Options) -> Result:
    found = possibly_nonfinite(program)
    return Result(notes=(_listed("maybe not finite", _in_order(program, found)),))


def _reuse_results(program: Program, options: Options) -> Result:
    notes = [
        f"{v.name} is read back from {array.name}[{', '.join(map(_name, index))}]"
        for v, (array, index) in reused_results(program).items()
    ]
    return Result(notes=tuple(notes) or ("nothing is read back",))


def _name(value: Any) -> str:
    return value.name if isinstance(value, Var) else str(value.value)


def _missing_gradients(program: Program, options: Options) -> Result:
    followed = [_array(program, name) for name in options.names("followed")]
    graded = meaning.floats_of(program, options)
    overwritten = [_array(program, name) for name in options.names("overwritten")]
    constant = options.flag("constant", default=False)
    flows = {array: Flow(smooth=True) for array in followed}
    passage = follow(program, flows, graded, overwritten, constant=constant)
    notes: list[str] = []
    for array, flow in passage.flows.items():
        if array.size is None:
            notes.append(f"{array.name}: {'smooth' if flow.smooth else 'not smooth'}")
            notes += sorted(f"  cut by {_cut_text(cut)}" for cut in flow.cuts)
    notes += [f"lost: {_cut_text(cut)}" for cut in passage.lost]
    notes += [f"mask: {_cut_text(cut)}" for cut in passage.masks]
    return Result(notes=("\n".join(notes),))


def _cut_text(cut: Any) -> str:
    return f"'{cut.span.shown}': {cut.reason}"


def _effects(program: Program, options: Options) -> Result:
    """Show what an adjoint runs again of each parallel loop."""
    stmts = (with_blocks(stmt, pure_block) for stmt in program.body.stmts)
    return Result((_with_body(program, Block(tuple(stmts))),))


# Sums of local terms: the options `wrt` and `outputs` name the field and the sums.


def _roles_of_sum(program: Program, options: Options) -> tuple[frozenset[Array], frozenset[Array]]:
    wrt = frozenset(_array(program, name) for name in options.names("wrt"))
    return wrt, frozenset(_array(program, name) for name in options.names("outputs"))


def _local_terms(program: Program, options: Options) -> Result:
    """Show the loops of terms, and the elements that each gathers."""
    wrt, outputs = _roles_of_sum(program, options)
    (element,) = {array.type.element for array in wrt}
    found = local_terms(program, wrt, outputs, frozenset(), element)
    names = _printed(found.program)
    sites = (
        "; ".join(", ".join(names.get(i, _name(i)) for i in site) for site in one.sites)
        for one in found.loops
    )
    return Result((found.program,), tuple(f"sites: {one}" for one in sites))


def _internal_variables(program: Program, options: Options) -> Result:
    """Show the internal variables of each parallel loop, and what they are added to."""
    wrt, _ = _roles_of_sum(program, options)
    notes: list[str] = []
    for loop in (s for s in program.body.stmts if isinstance(s, ParallelFor)):
        loads = [s.out for s in walk(loop.body) if isinstance(s, Load) and s.array in wrt]
        sizes = [prod(shape_of(v.type)) for v in loads]
        rows = np.split(np.eye(sum(sizes)), np.cumsum(sizes)[:-1])
        labels = [
            f"{v.name}.{k}" if size > 1 else v.name
            for v, size in zip(loads, sizes, strict=True)
            for k in range(size)
        ]
        found = internal_variables(loop.body, dict(zip(loads, rows, strict=True)))
        notes += [
            f"u{k} = {_combination(row, labels)}" for k, row in enumerate(found.basis.tolist())
        ]
        axes = [f"u{k}" for k in range(len(found.basis))]
        for change, parts in found.changes.items():
            moves = (_combination(row, axes) for row in parts.tolist())
            notes.append(f"{change.name}: {', '.join(moves)}")
    return Result(notes=tuple(notes) or ("there are none",))


def _combination(row: list[float], labels: list[str]) -> str:
    terms = [f"{f:+g} {one}" for f, one in zip(row, labels, strict=True) if f]
    return " ".join(terms) or "0"


def _local_hessian(program: Program, options: Options) -> Result:
    wrt, outputs = _roles_of_sum(program, options)
    (element,) = {array.type.element for array in wrt}
    psd = options.flag("psd", default=False)
    found = local_hessian(program, wrt, outputs, frozenset(), element, psd=psd)
    if found is None:
        return Result(notes=("there are no second derivatives",))
    programs = tuple(pruned(one.program) for one in (found.bounds, found.gather, found.blocks))
    return Result(programs, tuple(f"pairs: {term.pairs}" for term in found.terms))


PASSES: dict[str, Adapter] = {
    "activity": _activity,
    "affine": _affine,
    "afterwards": _afterwards,
    "atomics": _reverse,
    "batch": _batch,
    "bind_gradients": _bind_gradients,
    "blocked_sum": _blocked_sum,
    "bounds": _by_option(
        "guard", guard=_same(guard), confine=_same(confine), unchecked=_same(unchecked)
    ),
    "checkpoints": _reverse,
    "by_warps": _by_warps,
    "component_logs": _reverse,
    "componentwise": _same(componentwise),
    "conflicts": _conflicts,
    "lane_conflicts": _lane_conflicts,
    "log": _log,
    "precedence": _precedence,
    "cse": _same(cse),
    "dce": _same(dce),
    "dead_stores": _dead_stores,
    "derive": _derive,
    "drop_stop_grad": _same(drop_stop_grad),
    "widen_integers": _same(widen_integers),
    "effects": _effects,
    "exclusive": _same(exclusive),
    "extents": _extents,
    "factor": _same(factor),
    "flatten": _flatten,
    "fold": _same(fold),
    "forwards": _same(forwards),
    "forward": _forward,
    "hoist_accumulations": _same(hoist_accumulations),
    "induction": _without_induction,
    "inline_primals": _same(inline_primals),
    "instrument": _by_option(
        "marked", marked=_marked, counted=_counted, iteration=_iteration, beginning=_beginning
    ),
    "interchange": _same(interchange),
    "tile_rows": _same(lambda program: with_tasks(program, lambda loop: tile_rows(loop).stmts)),
    "interleave": _same(lambda program: with_tasks(program, interleave)),
    "internal_variables": _internal_variables,
    "local_hessian": _local_hessian,
    "local_terms": _local_terms,
    "mark_single_writes": _same(mark_single_writes),
    "merge": _same(merge),
    "merge_loops": _same(merge_loops),
    "last_writes": _same(last_writes),
    "over_worlds": _over_worlds,
    "missing_gradients": _missing_gradients,
    "nonfinite": _nonfinite,
    "optimise": _by_option(
        "finish",
        finish=_finish,
        normalise=_same(normalise),
        simplify=_same(simplify),
        pruned=_same(pruned),
    ),
    "in_squares": _in_squares,
    "index_bounds": _index_bounds,
    "known_indices": _known_indices,
    "promises": _verify,
    "rebase": _same(rebase),
    "reciprocals": _same(reciprocals),
    "privatise": _privatise,
    "reduce": _reduce,
    "rows": _rows,
    "exact_sums": _exact_sums,
    "reuse_results": _reuse_results,
    "reverse": _reverse,
    "ruled": _by_option("reverse", reverse=_reverse, forward=_forward),
    "safe_divisions": _same(safe_divisions),
    "safe_shifts": _same(safe_shifts),
    "scalar_replacement": _same(scalar_replacement),
    "align_loops": _same(align_loops),
    "scatter_to_gather": _scatter_to_gather,
    "sequence": _sequence,
    "sink_values": _same(sink_values),
    "signs_of_roots": _same(signs_of_roots),
    "slices": _slices,
    "speculate": _by_option("usual", usual=_speculate, general=_same(general)),
    "split_atomics": _by_option("split", split=_same(split_atomics), serial=_serial),
    "split_index_sets": _same(split_index_sets),
    "spread": _spread,
    "stages": _split,
    "tangent_only": _tangent_only,
    "time_loop": _time_loop,
    "transpose_sums": _transpose_sums,
    "unroll_and_jam": _same(unroll_and_jam),
    "unroll_loops": _same(unroll_loops),
    "unroll_periods": _unroll_periods,
    "update_in_place": _same(update_in_place),
    "versions": _versions,
    "windows": _windows,
    "warp_aggregate": _same(warp_aggregate),
}

# Modules that only serve others, whose cases cover them.
COVERED = {
    "accesses": "conflicts",
    "crossings": "merge_loops",
    "divergence": "tile_rows",
    "elements": "scalar_replacement",
    "equal_numbers": "unroll_and_jam",
    "registers": "time_loop",
    "forms": "conflicts",
    "integers": "conflicts",
    "interval_operations": "index_bounds",
    "symbols": "index_bounds",
    "intervals": "component_logs",
    "iterations": "conflicts",
    "late_additions": "ruled",
    "lives": "update_in_place",
    "meetings": "conflicts",
    "positions": "log",
    "positive": "local_hessian",
    "pushed_rules": "forward",
    "pusher": "forward",
    "reverser": "reverse",
    "reductions": "by_warps",
    "shared_sums": "interchange",
}
