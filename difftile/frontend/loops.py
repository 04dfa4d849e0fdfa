"""`for`: unrolled under `ti.static`, parallel at the top level of a kernel, serial below.

A loop at the top level is serial if iterations need a local that earlier ones have set.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from difftile.diagnostics import (
    CallMismatch,
    Label,
    SlowCompile,
    Span,
    TypeMismatch,
    UndefinedName,
    UnsupportedSyntax,
    counted,
    render,
)
from difftile.frontend.assign import bad_loop_variable, bind_names
from difftile.frontend.changes import bindings, changed
from difftile.frontend.context import Context, Env
from difftile.frontend.convert import condition
from difftile.frontend.counted_objects import count_of, has_parts, item_at, part_at
from difftile.frontend.draws import DRAWS
from difftile.frontend.items import (
    Item,
    Record,
    Tuple,
    Unbound,
    describe,
    is_alike,
    leaf_names,
    leaves,
    mapped,
    regrown,
)
from difftile.frontend.joins import check_kept, holds_numbers, starts_as_number, type_hint
from difftile.frontend.jumps import (
    FLAGS,
    RETURNED,
    iteration,
    jumps,
    leaving,
    loop,
    may_have_returned,
    stays,
    unless_left,
    unless_set,
)
from difftile.frontend.name_lookup import parts_of
from difftile.frontend.random_calls import only_on_one_side
from difftile.frontend.ranges import ONE, IndexBox, at_step, box_of, steps_of
from difftile.frontend.shared_locals import SharedLocals, cells_of, shared_locals
from difftile.frontend.threads import in_parallel
from difftile.ir.nodes import Block, Const, For, If, Size, Value, Var, While
from difftile.ir.types import FLOATS, I32, scalar_of, shape_of
from difftile.ir.walk import Substitution, definitions
from difftile.ops.build import zero
from difftile.records import dataclass

_MANY = 256  # unrolled iterations of which a warning tells
_IN_LOOP = "it has a value inside the loop only"
_AFTER_LOOP = "a loop variable ends with its loop"
_SERIAL_HINT = "iterations run in any order; put 'ti.loop_config(serialize=True)' before the loop."


def for_statement(cx: Context, node: ast.For) -> None:
    """Lower a `for`."""
    _refuse_else(cx, node)
    serialize, cx.serialize_next = cx.serialize_next, False
    if cx.special(node.iter) == "static":
        loop(cx, node.body, partial(_unroll, cx, node))
        return
    if cx.scope.top_level and not serialize:
        shared = shared_locals(cx, node, _bound_names(node))
        if not shared.carried:
            _parallel(cx, node, shared)
            return
    if cx.scope.top_level and may_have_returned(cx):
        unless_left(cx, node, partial(_serial, cx, node), forgotten=True)
    else:
        _serial(cx, node)


def _serial(cx: Context, node: ast.For) -> None:
    box = box_of(cx, node.iter)
    names = _targets(cx, node, box)
    with cx.nested():
        loop(cx, node.body, partial(_nest, cx, node, box, names, []))
        cx.unbind([n for n in _bound_names(node) if n not in cx.scope.reductions], _AFTER_LOOP)


def while_statement(cx: Context, node: ast.While) -> None:
    """Lower a `while`; it is serial wherever it stands."""
    _refuse_else(cx, node)
    with cx.nested():
        loop(cx, node.body, partial(_while, cx, node))


def _refuse_else(cx: Context, node: ast.For | ast.While) -> None:
    if node.orelse:
        raise UnsupportedSyntax(
            cx.source.word_span("else", node.body[-1], node.orelse[0]),
            "'else' of a loop",
            "set a flag in the loop and test it after.",
        )


# Unrolled loops


def _unroll(cx: Context, node: ast.For) -> None:
    item = cx.expr(node.iter)
    items = parts_of(cx, item)
    if items is None:
        argument = node.iter.args[0] if isinstance(node.iter, ast.Call) else node.iter
        raise TypeMismatch(
            cx.span(argument),
            f"{describe(item)} cannot be unrolled.",
            hint="unroll a range with known bounds, or a tuple.",
        )

    def once(item: Item) -> None:
        bind_names(cx, node.target, item)
        iteration(cx, node.body)

    outside = cx.unrolled
    for one in items:
        cx.unrolled += 1
        if cx.unrolled == _MANY:
            _warn_of_length(cx, node)
        unless_left(cx, node, partial(once, one))
    if not outside:
        cx.unrolled = 0


def _warn_of_length(cx: Context, node: ast.For) -> None:
    """Warn that compiling will take long, before it does; loops of the library may be longer."""
    span = cx.span(node.iter)
    text = render(
        f"'ti.static' unrolls {_MANY} iterations or more, which takes long to compile.",
        [Label(span, "written out for each iteration")],
        (),
        "write 'for' without 'ti.static'.",
    )
    cx.source.warn(span, SlowCompile(text))


# Binding the loop variables


def _targets(cx: Context, node: ast.For, box: IndexBox) -> list[str]:
    target = node.target
    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    plain: list[str] = []
    for element in elements:
        if not isinstance(element, ast.Name):
            raise bad_loop_variable(cx, element)
        plain.append(element.id)
    if box.of is not None:
        return [f"{plain[0]}_number"]
    if box.grouped and isinstance(target, ast.Name):
        return [f"{target.id}{axis}" for axis in range(len(box.starts))]
    if len(plain) != len(box.starts):
        indices = counted(len(box.starts), "index", "indices")
        raise TypeMismatch(
            cx.span(target),
            f"{counted(len(plain), 'name')} for {indices}.",
            f"{indices} wanted",
            hint="write one name for each dimension, or loop over 'ti.grouped(...)'.",
        )
    return plain


def _bind(
    cx: Context, node: ast.For, box: IndexBox, names: list[str], indices: list[Value]
) -> None:
    if box.of is not None:
        bind_names(cx, node.target, item_at(cx, node.iter, box.of, indices[0]))
        return
    if box.grouped and isinstance(node.target, ast.Name):
        vector = cx.call("vec", *indices, name=node.target.id)
        cx.bind(node.target.id, vector, node.target)
        return
    for name, index in zip(names, indices, strict=True):
        cx.bind(name, index, node.target)


def _bound_names(node: ast.For | ast.While) -> set[str]:
    if isinstance(node, ast.While):
        return set()
    return {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}


# Carried locals


@dataclass(frozen=True, slots=True)
class _Carried:
    """The locals that a loop carries from one iteration to the next.

    Args:
        before: The bindings before the loop.
        places: The statements that made them.
        kept: The names that the body binds and that must not change.
        variables: The variables that stand for each local at the start of an iteration: one for a
            number, one for each leaf of a struct or tuple.
        inits: Their values before the loop.
        pending: The draws that were not yet counted.
        drawing: The places in the program that drew before the loop.
    """

    before: Env
    places: dict[str, Span]
    kept: list[str]
    variables: dict[str, list[Var]]
    inits: tuple[Value, ...]
    pending: int
    drawing: int

    @property
    def carries(self) -> tuple[Var, ...]:
        """The variables of all locals."""
        return tuple(carry for variables in self.variables.values() for carry in variables)

    def bindings(self, values: Sequence[Value]) -> Env:
        """Return the locals with other values in place of the variables."""
        rest = iter(values)
        return {name: regrown(self.before[name], rest) for name in self.variables}


def _enter(cx: Context, node: ast.For | ast.While) -> _Carried:
    """Bind the locals that a loop carries, before its body."""
    before, places = dict(cx.env), dict(cx.bound_at)
    pending, drawing = cx.draws.pending, cx.draws.places
    cx.count_draws()
    kept: list[str] = []
    variables: dict[str, list[Var]] = {}
    inits: list[Value] = []
    flags = leaving(cx, node.body)
    results = cx.scope.returning.names if RETURNED in flags else ()
    not_carried = _bound_names(node) | cx.scope.reductions.keys()
    for name in (*changed(cx, node.body), DRAWS, *results, *flags):
        item = cx.env.get(name)
        if item is None or isinstance(item, Unbound) or name in not_carried:
            continue
        if holds_numbers(item):
            values = [cx.value(leaf) for leaf in leaves(item)]
            named = zip(leaf_names(name, item), values, strict=True)
            variables[name] = [Var(part, value.type) for part, value in named]
            inits += values
        elif isinstance(item, Tuple):
            binding = next((stmt for stmt, names in bindings(node.body) if name in names), node)
            raise TypeMismatch(
                cx.span(binding),
                f"'{name}' is a tuple, and changes in the loop.",
                related=cx.note(name, "bound here"),
                hint="only numbers change from iteration to iteration.",
            )
        else:
            kept.append(name)
    carried = _Carried(before, places, kept, variables, tuple(inits), pending, drawing)
    cx.env |= carried.bindings(carried.carries)
    return carried


def _yields(cx: Context, node: ast.For | ast.While, carried: _Carried) -> tuple[Value, ...]:
    """Return the values at the end of a loop's body that the next iteration starts with."""
    yields: list[Value] = []
    for name, variables in carried.variables.items():
        before, item, place = carried.before[name], cx.env[name], carried.places.get(name)
        if not isinstance(before, (Tuple, Record)):
            yields.append(_yielded(cx, node, name, item, variables[0], place))
            continue
        if not is_alike(before, item):
            raise TypeMismatch(
                cx.bound_at.get(name, cx.b.span),
                f"'{name}' becomes {describe(item)} in the loop.",
                f"{describe(before)} before it",
                hint="keep its members from iteration to iteration.",
            )
        for leaf, carry in zip(leaves(item), variables, strict=True):
            yields.append(_yielded(cx, node, name, leaf, carry, place))
    for name in carried.kept:
        check_kept(cx, name, carried.before[name], carried.places.get(name))
    return tuple(yields)


def _yielded(
    cx: Context, node: ast.For | ast.While, name: str, item: Item, carry: Var, place: Span | None
) -> Value:
    """Return a number at the end of an iteration in the type that it had at the start."""
    if isinstance(item, Unbound):
        raise UndefinedName(
            cx.keyword_span(node), name, f"at the end of the loop, {item.reason}", hint=item.hint
        )
    if not starts_as_number(item):
        check_kept(cx, name, carry, place)
    value = cx.value(item)
    if value.type == carry.type:
        return value
    scalar = scalar_of(carry.type)
    if shape_of(value.type) == shape_of(carry.type) and scalar in FLOATS:
        return cx.b.cast(value, scalar)
    raise TypeMismatch(
        cx.bound_at.get(name, cx.keyword_span(node)),
        f"local '{carry.name}' is {carry.type} before the loop and becomes {value.type} in it.",
        f"{value.type}",
        related=() if place is None else (Label(place, f"{carry.type}"),),
        hint=type_hint(carry.name, carry.type, value.type),
    )


def _leave(cx: Context, carried: _Carried, outs: Sequence[Var]) -> None:
    """Bind the carried locals after a loop; names that it bound first end with it."""
    before = carried.before
    new = [name for name in cx.env if name not in before and name not in FLAGS]
    cx.env = {**before, **carried.bindings(outs)}
    if cx.draws.places == carried.drawing:  # nothing draws in the loop: it leaves the count alone
        cx.env[DRAWS] = before[DRAWS]
        cx.draws.pending = carried.pending
    for name in new:
        cx.unbind([name], _IN_LOOP, f"give '{name}' a value before the loop.")


# Serial loops


def _nest(
    cx: Context, node: ast.For, box: IndexBox, names: list[str], indices: list[Value]
) -> None:
    """Lower one axis of a serial loop around the next; the innermost holds the body."""
    axis = len(indices)
    if axis == len(names) and box.of is not None and has_parts(cx, box.of):
        _parts(cx, node, box.of, names, indices[0])
        return
    if axis == len(names):
        _bind(cx, node, box, names, indices)
        iteration(cx, node.body)
        cx.count_draws()
        return
    span = cx.keyword_span(node)
    carried = _enter(cx, node)
    start, stop = box.starts[axis], box.stops[axis]
    index = Var(names[axis], I32)
    flags = leaving(cx, node.body)
    here: Value = index
    bounds = (start, stop)
    if box.step != ONE:
        bounds = (Const(0, I32), steps_of(cx, box))
        index = Var(f"{names[axis]}_count", I32)
    with cx.b.region() as tests:
        runs = cx.call("and", cx.call("lt", index, bounds[1]), stays(cx, flags)) if flags else None
    with cx.b.region() as stmts:
        if box.step != ONE:
            here = at_step(cx, box, index, names[axis])
        _nest(cx, node, box, names, [*indices, here])
        yields = _yields(cx, node, carried)
        if runs is not None:  # a loop that may be left early is a `while` over its index
            yields = (cx.call("add", index, Const(1, I32), name=index.name), *yields)
    carries, inits = carried.carries, carried.inits
    outs = tuple(Var(carry.name, carry.type) for carry in carries)
    body = Block(tuple(stmts), yields)
    if runs is not None and box.lanes:
        raise CallMismatch(
            cx.span(node.iter),
            "a loop over 'dt.lanes' has no 'break' and no 'return'.",
            hint="write 'range', or put what follows under 'if'.",
        )
    if runs is None:
        cx.b.append(For(index, *bounds, carries, inits, body, outs, span, by_lanes=box.lanes))
    else:
        test = Block(tuple(tests), (runs,))
        after = (Var(index.name, I32), *outs)
        given = ((index, *carries), (bounds[0], *inits))
        cx.b.append(While(*given, test, body, after, span, ends=True))
    _leave(cx, carried, outs)


def _parts(cx: Context, node: ast.For, of: Item, names: list[str], index: Value) -> None:
    """Lower the loop over the items of one part of an object."""
    part = part_at(cx, node.iter, of, index)
    with cx.at(node.iter):
        box = IndexBox((Const(0, I32),), (count_of(cx, node.iter, part),), of=part)
    _nest(cx, node, box, names, [])


def _while(cx: Context, node: ast.While) -> None:
    carried = _enter(cx, node)
    flags = leaving(cx, node.body)
    with cx.b.region() as tests, only_on_one_side(cx):
        cond = condition(cx, node.test, cx.operand(node.test))
    in_test = cx.draws.pending
    if flags:
        with cx.b.region() as guarded:
            cond = unless_set(cx, flags, tests, cond)
        tests = guarded
    with cx.b.region() as stmts:
        iteration(cx, node.body)
        cx.count_draws()
        yields = _yields(cx, node, carried)
    outs = tuple(Var(carry.name, carry.type) for carry in carried.carries)
    test, body = Block(tuple(tests), (cond,)), Block(tuple(stmts), yields)
    span = cx.keyword_span(node)
    cx.b.append(While(carried.carries, carried.inits, test, body, outs, span))
    cx.draws.pending = in_test  # the test is run once more than the body
    _leave(cx, carried, outs)


# Parallel loops


def _bounds(cx: Context, node: ast.For) -> tuple[IndexBox, IndexBox]:
    """Return the box of a loop, and the box of the threads, which count steps.

    Where the kernel may have returned before the loop, they are computed only if it has not.
    """
    with cx.b.region() as stmts:
        box = box_of(cx, node.iter)
        threads = box if box.step == ONE else IndexBox((Const(0, I32),), (steps_of(cx, box),))
    if not may_have_returned(cx) or all(isinstance(stmt, Size) for stmt in stmts):
        for stmt in stmts:
            cx.b.append(stmt)
        return box, threads
    inner = {v for stmt in stmts for v in definitions(stmt)}
    parts = () if box.of is None else leaves(box.of)
    used = dict.fromkeys((*box.starts, *box.stops, box.step, *threads.stops, *parts))
    values = tuple(v for v in used if isinstance(v, Var) and v in inner)
    outs = {value: Var(value.name, value.type) for value in values}
    skipped = Block((), tuple(zero(value.type) for value in values))
    runs = stays(cx, [RETURNED])
    span = cx.keyword_span(node)
    cx.b.append(If(runs, Block(tuple(stmts), values), skipped, tuple(outs.values()), span))
    known = Substitution(outs)
    boxes = [
        replace(one, starts=known.all(one.starts), stops=known.all(one.stops), step=known(one.step))
        for one in (box, threads)
    ]
    if box.of is not None:
        of = mapped(box.of, lambda leaf: known(leaf) if isinstance(leaf, Var) else leaf)
        boxes[0] = replace(boxes[0], of=of)
    return boxes[0], boxes[1]


def _parallel(cx: Context, node: ast.For, shared: SharedLocals) -> None:
    box, threads = _bounds(cx, node)
    if box.lanes:
        raise CallMismatch(
            cx.span(node.iter),
            "'dt.lanes' is for loops inside of a parallel one.",
            hint="write 'range': the iterations of this loop run in parallel.",
        )
    names = _targets(cx, node, box)
    before, places = dict(cx.env), dict(cx.bound_at)
    cells = cells_of(cx, shared.totals)
    span = cx.keyword_span(node)
    within = cx.within(replace(cx.scope, reductions=dict(cells)))
    with within, in_parallel(cx, names, threads.starts, threads.stops, span) as indices:
        values: list[Value] = list(indices)
        if box.step != ONE:
            values = [at_step(cx, box, indices[0], names[0])]
        lower = partial(iteration, cx, node.body)
        if box.of is not None and has_parts(cx, box.of):
            lower = partial(_parts, cx, node, box.of, names, values[0])
        else:
            _bind(cx, node, box, names, values)
        for jump in jumps(node.body):
            if isinstance(jump, ast.Break):
                what = "'break' of a parallel loop"
                raise UnsupportedSyntax(cx.keyword_span(jump), what, _SERIAL_HINT)
        unless_left(cx, node, lower)
        for name in shared.kept:
            check_kept(cx, name, before[name], places.get(name))
    new = [name for name in cx.env if name not in before]
    cx.env = before
    cx.unbind(new, _IN_LOOP, "store it in a field, or add it up with '+='.")
    cx.unbind(list(_bound_names(node)), _AFTER_LOOP)
    for name, cell in cells:
        cx.env[name] = cx.wide(cx.b.load(cell, (), name))
