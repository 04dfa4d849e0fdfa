"""`for`: unrolled under `ti.static`, parallel at the top level of a kernel, serial below."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from difftile.diagnostics import CallMismatch, KernelError, TypeMismatch, UnsupportedSyntax
from difftile.frontend.context import Context, describe
from difftile.frontend.convert import as_items
from difftile.frontend.items import FieldRef, Item, Several, Static, Unbound
from difftile.frontend.joins import changed_type, unbind
from difftile.ir.nodes import Array, Block, Const, For, ParallelFor, Value, Var
from difftile.ir.types import FLOATS, I32, FieldType, scalar_of, shape_of
from difftile.ops.vocabulary import Special


@dataclass(frozen=True, slots=True)
class Box:
    """What a loop ranges over: one half-open range an axis, or several for `ndrange`.

    Args:
        starts: Start of each axis.
        stops: Stop of each axis.
        step: Step of the only axis.
        grouped: The loop variable takes all indices as one vector.
    """

    starts: tuple[Value, ...]
    stops: tuple[Value, ...]
    step: int = 1
    grouped: bool = False


def for_statement(cx: Context, node: ast.For) -> None:
    """Lower a `for`."""
    if node.orelse:
        raise UnsupportedSyntax(
            cx.keyword_span(node), "'else' of a loop", "set a flag in the loop and test it after."
        )
    serialize, cx.serialize_next = cx.serialize_next, False
    if _is_static(cx, node.iter):
        _unroll(cx, node)
        return
    box = _box(cx, node.iter)
    if cx.top_level and not serialize:
        _parallel(cx, node, box)
    else:
        with cx.nested():
            _serial(cx, node, box)


def _special(cx: Context, node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ""
    item = cx.expr(node.func)
    meaning = cx.meanings(item.value) if isinstance(item, Static) else None
    return meaning.name if isinstance(meaning, Special) else ""


def _is_static(cx: Context, node: ast.expr) -> bool:
    if _special(cx, node) == "static":
        return True
    if isinstance(node, (ast.Tuple, ast.List)):
        raise UnsupportedSyntax(
            cx.span(node), "a loop over a tuple or list", "unroll it: 'for k in ti.static((...)):'."
        )
    return False


def _unroll(cx: Context, node: ast.For) -> None:
    items = as_items(cx.expr(node.iter))
    if items is None:
        raise TypeMismatch(
            cx.span(node.iter),
            "'ti.static' of something that cannot be unrolled.",
            hint="unroll a range with literal bounds, or a tuple.",
        )
    for item in items:
        _bind_static(cx, node.target, item)
        cx.run(node.body)


def _bind_static(cx: Context, target: ast.expr, item: Item) -> None:
    """Bind the names of an unrolled loop; they stay compile-time values."""
    if isinstance(target, ast.Name):
        cx.env[target.id] = item
        return
    parts = as_items(item)
    if not isinstance(target, ast.Tuple) or parts is None or len(parts) != len(target.elts):
        raise TypeMismatch(cx.span(target), f"{describe(item)} cannot be unpacked here.")
    for part, value in zip(target.elts, parts, strict=True):
        _bind_static(cx, part, value)


# What the loop ranges over


def _box(cx: Context, node: ast.expr) -> Box:
    special = _special(cx, node)
    if special == "range":
        assert isinstance(node, ast.Call)
        return _range(cx, node)
    if special == "ndrange":
        assert isinstance(node, ast.Call)
        axes = [_axis(cx, argument) for argument in node.args]
        if not axes:
            raise CallMismatch(cx.span(node), "'ti.ndrange' takes at least one range.")
        return Box(tuple(start for start, _ in axes), tuple(stop for _, stop in axes))
    if special == "grouped":
        assert isinstance(node, ast.Call)
        if len(node.args) != 1:
            raise CallMismatch(cx.span(node), "'ti.grouped' takes a field or an 'ndrange'.")
        inner = _box(cx, node.args[0])
        return Box(inner.starts, inner.stops, grouped=True)
    item = cx.expr(node)
    if isinstance(item, FieldRef):
        array = item.array
        sizes = tuple(cx.b.size(array, axis) for axis in range(array.type.ndim))
        if not sizes:
            raise TypeMismatch(
                cx.span(node), f"'{array.name}' has no dimensions to loop over.", "a single element"
            )
        return Box((Const(0, I32),) * len(sizes), sizes)
    raise TypeMismatch(
        cx.span(node),
        f"{describe(item)} cannot be looped over.",
        hint="loop over 'range(n)', a field, 'ti.ndrange(...)', or 'ti.static(...)'.",
    )


def _range(cx: Context, node: ast.Call) -> Box:
    if node.keywords or not 1 <= len(node.args) <= 3:
        raise CallMismatch(cx.span(node), "'range' takes one to three integers.")
    bounds = [cx.integer(argument, "a bound of a range") for argument in node.args]
    if len(bounds) == 1:
        return Box((Const(0, I32),), (bounds[0],))
    step = bounds[2] if len(bounds) == 3 else Const(1, I32)
    if not isinstance(step, Const):
        raise TypeMismatch(
            cx.span(node.args[2]), "the step of a range is a literal.", hint="multiply the index."
        )
    if step.value == 0:
        raise TypeMismatch(cx.span(node.args[2]), "the step of a range is not 0.")
    return Box((bounds[0],), (bounds[1],), int(step.value))


def _axis(cx: Context, node: ast.expr) -> tuple[Value, Value]:
    if isinstance(node, (ast.Tuple, ast.List)):
        if len(node.elts) != 2:
            raise CallMismatch(cx.span(node), "an axis of 'ti.ndrange' is n or (start, stop).")
        start, stop = (cx.integer(bound, "a bound of a range") for bound in node.elts)
        return start, stop
    return Const(0, I32), cx.integer(node, "a bound of a range")


# Binding the loop variables


def _targets(cx: Context, node: ast.For, box: Box) -> list[str]:
    target = node.target
    names = [target] if isinstance(target, ast.Name) else list(getattr(target, "elts", ()))
    if not all(isinstance(name, ast.Name) for name in names) or not names:
        raise UnsupportedSyntax(cx.span(target), "this loop target", "use plain names.")
    plain = [name.id for name in names if isinstance(name, ast.Name)]
    if box.grouped and len(plain) == 1:
        return [f"{plain[0]}{axis}" for axis in range(len(box.starts))]
    if len(plain) != len(box.starts):
        raise TypeMismatch(
            cx.span(target),
            f"{len(plain)} names for {len(box.starts)} indices.",
            hint="write one name for each dimension, or loop over 'ti.grouped(...)'.",
        )
    return plain


def _bind(cx: Context, node: ast.For, box: Box, names: list[str], indices: list[Value]) -> None:
    if box.grouped and isinstance(node.target, ast.Name):
        cx.env[node.target.id] = cx.call("vec", *indices, name=node.target.id)
        return
    for name, index in zip(names, indices, strict=True):
        cx.env[name] = index


def _bound_names(node: ast.For) -> set[str]:
    return {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}


def assigned(body: list[ast.stmt]) -> list[str]:
    """Return the local names that statements bind again, components included, in order."""
    found: dict[str, None] = {}
    for stmt in body:
        for node in ast.walk(stmt):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
                targets = [node.target]
            for target in targets:
                for name in _roots(target):
                    found[name] = None
    return list(found)


def _roots(target: ast.expr) -> list[str]:
    match target:
        case ast.Name(name):
            return [name]
        case ast.Tuple(elts) | ast.List(elts):
            return [name for part in elts for name in _roots(part)]
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return [value.id] if isinstance(value, ast.Name) else []
        case _:
            return []


# Serial loops


def _serial(cx: Context, node: ast.For, box: Box) -> None:
    names = _targets(cx, node, box)
    _nest(cx, node, box, names, 0, [])
    after = [n for n in _bound_names(node) if n not in cx.reductions]
    unbind(cx.env, after, "a loop variable ends with its loop")


def _nest(
    cx: Context, node: ast.For, box: Box, names: list[str], axis: int, indices: list[Value]
) -> None:
    """Lower one axis of a serial loop around the next; the innermost holds the body."""
    if axis == len(names):
        _bind(cx, node, box, names, indices)
        cx.run(node.body)
        return
    span = cx.keyword_span(node)
    before = dict(cx.env)
    carried = _carried(cx, node)
    carries = [Var(name, value.type) for name, value in carried]
    cx.env |= {name: carry for (name, _), carry in zip(carried, carries, strict=True)}
    start, stop = box.starts[axis], box.stops[axis]
    index = Var(names[axis], I32)
    if box.step != 1:
        count = _count(cx, start, stop, box.step)
        counter = Var(f"{names[axis]}_count", I32)
    with cx.b.region() as stmts:
        here: Value = index
        if box.step != 1:
            scaled = cx.call("mul", counter, Const(box.step, I32))  # pyright: ignore[reportPossiblyUnbound]
            here = cx.call("add", start, scaled, name=names[axis])
        _nest(cx, node, box, names, axis + 1, [*indices, here])
        yields = tuple(_yielded(cx, name, carry, node) for (name, _), carry in zip(
            carried, carries, strict=True
        ))
    outs = tuple(Var(carry.name, carry.type) for carry in carries)
    if box.step != 1:
        index, start, stop = counter, Const(0, I32), count  # pyright: ignore[reportPossiblyUnbound]
    inits = tuple(value for _, value in carried)
    body = Block(tuple(stmts), yields)
    cx.b.append(For(index, start, stop, tuple(carries), inits, body, outs, span))
    new = [n for n in cx.env if n not in before]
    cx.env = {**before, **{name: out for (name, _), out in zip(carried, outs, strict=True)}}
    unbind(cx.env, new, "bound inside a loop only; give it a value before the loop")


def _carried(cx: Context, node: ast.For) -> list[tuple[str, Value]]:
    """Return the locals that the body changes, with their values before the loop."""
    carried: list[tuple[str, Value]] = []
    for name in assigned(node.body):
        item = cx.env.get(name)
        if item is None or isinstance(item, Unbound) or name in cx.reductions:
            continue
        if name in _bound_names(node):
            continue
        if isinstance(item, (Var, Const)):
            carried.append((name, item))
        elif isinstance(item, Static) and isinstance(item.value, (bool, int, float)):
            carried.append((name, cx.value(item)))
        elif isinstance(item, Several):
            raise TypeMismatch(
                cx.keyword_span(node),
                f"'{name}' is a tuple and changes in the loop.",
                hint="use one local for each part, or a vector.",
            )
    return carried


def _yielded(cx: Context, name: str, carry: Var, node: ast.For) -> Value:
    item = cx.env[name]
    if isinstance(item, Unbound):
        raise KernelError(f"'{name}' has no value at the end of the loop.", cx.keyword_span(node))
    value = cx.value(item)
    if value.type == carry.type:
        return value
    if shape_of(value.type) == shape_of(carry.type):
        both_float = scalar_of(value.type) in FLOATS and scalar_of(carry.type) in FLOATS
        if both_float or scalar_of(carry.type) in FLOATS:
            return cx.b.cast(value, scalar_of(carry.type))
    raise changed_type(
        name, carry.type, value.type, cx.keyword_span(node), "front of the loop", "its body"
    )


def _count(cx: Context, start: Value, stop: Value, step: int) -> Value:
    """Return how many steps a range takes."""
    span = cx.call("sub", stop, start) if step > 0 else cx.call("sub", start, stop)
    size = abs(step)
    rounded = cx.call("add", span, Const(size - 1, I32))
    return cx.call("floordiv", rounded, Const(size, I32))


# Parallel loops


def _parallel(cx: Context, node: ast.For, box: Box) -> None:
    if box.step != 1:
        start, stop = box.starts[0], box.stops[0]
        count = _count(cx, start, stop, box.step)
        box_ = Box((Const(0, I32),), (count,))
    else:
        start, box_ = Const(0, I32), box
    names = _targets(cx, node, box)
    before = dict(cx.env)
    cells = _reductions(cx, node)
    indices = [Var(name, I32) for name in names]
    with cx.nested(), cx.b.region() as stmts:
        values: list[Value] = list(indices)
        if box.step != 1:
            scaled = cx.call("mul", indices[0], Const(box.step, I32))
            values = [cx.call("add", start, scaled, name=names[0])]
        _bind(cx, node, box, names, values)
        cx.run(node.body)
    span = cx.keyword_span(node)
    cx.b.append(
        ParallelFor(tuple(indices), box_.starts, box_.stops, Block(tuple(stmts)), span)
    )
    new = [name for name in cx.env if name not in before]
    cx.env = before
    unbind(cx.env, [*new, *_bound_names(node)], "bound inside a loop only")
    for name, cell in cells:
        del cx.reductions[name]
        cx.env[name] = cx.b.load(cell, (), name)


def _reductions(cx: Context, node: ast.For) -> list[tuple[str, Array]]:
    """Give each outer local that a parallel loop adds to a cell in memory.

    Raises:
        KernelError: The loop changes an outer local in another way, which would be a race.
    """
    cells: list[tuple[str, Array]] = []
    inner = _bound_names(node)
    for name in assigned(node.body):
        item = cx.env.get(name)
        if item is None or isinstance(item, Unbound) or name in inner:
            continue
        number = isinstance(item, Static) and isinstance(item.value, (bool, int, float))
        if not number and not isinstance(item, (Var, Const, Several)):
            continue
        where = _not_a_sum(node.body, name)
        if where is not None or isinstance(item, Several):
            raise KernelError(
                f"Local '{name}' is shared by the iterations of a parallel loop.",
                cx.span(where if where is not None else node),
                "changed here, in any order",
                hint="use '+=' alone, bind a new name inside the loop, or use a field.",
            )
        value = cx.value(item)
        cell = Array(name, FieldType(value.type, 0))
        cx.temps.append(cell)
        cx.b.store(cell, (), value)
        cx.reductions[name] = cell
        cells.append((name, cell))
    return cells


def _not_a_sum(body: list[ast.stmt], name: str) -> ast.AST | None:
    """Return the first statement that binds a name other than by `+=` or `-=`."""
    for stmt in body:
        for node in ast.walk(stmt):
            match node:
                case ast.AugAssign(ast.Name(target), ast.Add() | ast.Sub()) if target == name:
                    continue
                case ast.Assign(targets=targets):
                    if any(name in _roots(target) for target in targets):
                        return node
                case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                    if name in _roots(target):
                        return node
                case ast.For(target=target):
                    if name in _roots(target):
                        return target
                case _:
                    continue
    return None


