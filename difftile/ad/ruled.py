"""Derivatives of bodies that have rules: the rule is put in place of the derivative of the body.

A rule is ordinary code, whose result may be differentiated again. Where only one direction has a
rule, the other follows from it: both are the same linear map, or its transpose. Here is the reverse
direction; `pushed_rules` has the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from difftile.ad.activity import fields_of
from difftile.ad.late_additions import Late
from difftile.ad.reverser import Reverser
from difftile.diagnostics import Label, NotDifferentiable
from difftile.ir.facts import arrays_written, declared_in, gradients_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    Let,
    Load,
    Rule,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, Type, is_float, scalar_of, shape_of
from difftile.ir.walk import (
    Substitution,
    array_of,
    substitute,
    walk,
    with_blocks,
    with_operands,
    with_rules,
)
from difftile.ops.build import OpBuilder, zero
from difftile.ops.formula import unless_zero
from difftile.ops.table import OPS

# A rule of the other direction runs once for each component; more are too many to be unrolled.
_MANY = 16


# Reverse


def reverse_ruled(r: Reverser, stmt: Ruled, bars: dict[Var, Value], loops: object) -> None:
    """Append the reverse of a ruled body, and add to the adjoints of its args.

    The stores of the body take the gradients of their elements, as any store does, after the rule
    has read them. One buffer has the gradients from after and from before the call: what the rule
    adds to the latter, of fields that the body writes, comes after the stores.

    Raises:
        NotDifferentiable: There is no rule, or none that serves.
    """
    out_bars = [bars.pop(out, None) for out in stmt.outs]
    stored = {a for a in arrays_written(stmt.body) if a in r.bars}
    later = Late(stmt.name, {r.bars[a] for a in stored}, [])
    wanted = any(a in r.active for a in stmt.args) or not r.bars.keys().isdisjoint(fields_of(stmt))
    if not r.ruled and wanted and (stored or any(bar is not None for bar in out_bars)):
        floats = [(o, bar) for o, bar in zip(stmt.outs, out_bars, strict=True) if is_float(o.type)]
        seeds = [zero(o.type) if bar is None else bar for o, bar in floats]
        rule = the_rule(stmt)
        if rule is stmt.backward:
            found = _run_rule(r, stmt, rule, seeds, later)
        else:
            found = _transposed(r, stmt, rule, seeds)
        known = [bar for bar in out_bars if bar is not None]
        masked = any(bar in r.masked for bar in known)
        singular = any(isinstance(s, Let) and OPS[s.op].singular for s in walk(rule.block))
        guard = masked and (singular or any(arg in r.nonfinite for arg in stmt.args))
        for arg, part in zip(stmt.args, found, strict=True):
            kept = part
            for bar in known if guard else ():
                kept = unless_zero(r.b, bar, kept, componentwise=False)
            r.add(bars, arg, kept, masked=masked)
    if stored:
        before = r.active, r.ruled
        r.active, r.ruled = set(), True
        stmts, _ = r.nested(stmt.body, [None] * len(stmt.outs), {})
        r.active, r.ruled = before
        r.b.extend(stmts)
    r.b.extend(later.stmts)
    later.add_sums(r.b)


def the_rule(stmt: Ruled) -> Rule:
    """Return the backward rule, or the forward rule.

    Raises:
        NotDifferentiable: There is neither.
    """
    rule = stmt.backward or stmt.forward
    if rule is None and not stmt.name:
        raise differentiated_again(stmt)
    if rule is None:
        raise NotDifferentiable(
            stmt.span,
            f"'{stmt.name}' has no derivative of its own, and its body is not differentiated.",
            "a gradient is wanted through this call",
            hint=f"write one with '@{stmt.name}.backward', or cut it here: "
            f"'dt.stop_grad({stmt.name}(...))'.",
        )
    return rule


def differentiated_again(stmt: Stmt) -> NotDifferentiable:
    """Return the error of a loop that would be differentiated more often than can be."""
    return NotDifferentiable(
        stmt.span,
        "a derivative of a loop is differentiated more than once.",
        "this loop",
        hint="write the inner derivative by hand, or as a rule of a func.",
    )


def _run_rule(
    r: Reverser, stmt: Ruled, rule: Rule, seeds: Sequence[Value], late: Late | None = None
) -> list[Value]:
    """Append a rule for adjoints of the outs, and return the adjoints of the args.

    Raises:
        NotDifferentiable: It reads a result of the call in a field that no longer holds it.
    """
    for load in walk(rule.block):
        if isinstance(load, Load) and load.array.late:
            _check_left(r, stmt, load)
    cloner = r.cloner.inner()
    cloner.env |= dict(zip(rule.params, seeds, strict=True))
    copy = cloner.block(rule.block)
    r.note_loads(rule.block, cloner, declared_in(rule.block))
    copies = {cloner.arrays.get(array, array): bar for array, bar in r.bars.items()}
    return with_gradients(r.b, copy, {**r.bars, **copies}, r.b.append, r.after, late)


def _check_left(r: Reverser, stmt: Ruled, load: Load) -> None:
    """Check that the adjoint finds the result of a call in a field.

    Raises:
        NotDifferentiable: Something may have overwritten it; or the call is not run at all.
    """
    field = load.array.contents_of
    assert field is not None
    if field not in r.after:
        raise NotDifferentiable(
            load.span,
            f"the rule of '{stmt.name}' reads what the call leaves in '{field.name}', and a "
            "derivative inside a kernel runs no stores.",
            "read here",
            hint=f"compute it in the rule, or read '{field.name}.before[...]'.",
        )
    if load.out in r.overwritten:
        _, write = r.overwritten[load.out]
        raise NotDifferentiable(
            load.span,
            f"the rule of '{stmt.name}' reads what the call leaves in '{field.name}', and that may "
            "be overwritten in the same loop.",
            "read here",
            related=() if write.span is None else (Label(write.span, "written here"),),
            hint=f"read '{field.name}.before[...]', or launch one step of the loop at a time.",
        )


def _transposed(r: Reverser, stmt: Ruled, rule: Rule, seeds: Sequence[Value]) -> list[Value]:
    """Return the adjoints of the args by pushing each component of them forward."""
    if gradients_in(rule.block):
        raise NotDifferentiable(
            stmt.span,
            f"'{stmt.name}' has only a forward rule, which reads the tangent of a field.",
            "a gradient is wanted through this call",
            hint=f"write '@{stmt.name}.backward' too.",
        )
    check_count(stmt, [a.type for a in stmt.args], "backward")
    found: list[Value] = []
    for k, arg in enumerate(stmt.args):
        parts: list[Value] = []
        for unit in units(r.b, arg.type):
            dots = [unit if k == j else zero(a.type) for j, a in enumerate(stmt.args)]
            pushed = _run_rule(r, stmt, rule, dots)
            parts.append(inner_total(r.b, list(zip(seeds, pushed, strict=True)), arg.type))
        found.append(r.b.assembled(shape_of(arg.type), parts))
    return found


# Both


def with_gradients(
    b: OpBuilder,
    block: Block,
    to: Mapping[Array, Array],
    add: Callable[[Accumulate], None],
    after: Mapping[Array, Array] = MappingProxyType({}),
    late: Late | None = None,
    missing: Callable[[Type], Value] = zero,
) -> list[Value]:
    """Append a rule's block with the gradients of fields bound to memory, and return its results.

    Args:
        b: The builder.
        block: The block of a rule.
        to: The memory of the requested gradients.
        add: Appends an addition to one.
        after: Where the contents from after the call are; the fields themselves by default.
        late: Takes the additions that come after the block.
        missing: Returns the value of a gradient that is not requested.
    """
    env = Substitution()

    def append(stmt: Stmt) -> None:
        array = array_of(stmt)
        if isinstance(stmt, Load) and (field := stmt.array.contents_of) is not None:
            b.append(replace(stmt, array=after.get(field, field)))
            return
        if isinstance(stmt, Ruled):  # whose rules name gradients of their own
            kept = with_rules(stmt, lambda rule: replace(rule, block=renamed(rule.block)))
            body = inner(stmt.body) if late is None else late.inside(stmt.body, inner)
            b.append(replace(kept, body=body))
            return
        if array is None or array.gradient_of is None:
            changed = with_blocks(stmt, inner) if late is None else late.around(stmt, inner)
            b.append(changed)
            return
        memory = to.get(array.gradient_of)
        b.span = stmt.span
        if isinstance(stmt, Load):
            env[stmt.out] = (
                missing(stmt.out.type)
                if memory is None
                else b.load(memory, stmt.index, stmt.out.name)
            )
        elif isinstance(stmt, Accumulate) and memory is not None:
            shared = memory.size is None
            addition = Accumulate(memory, stmt.index, stmt.value, stmt.span, atomic=shared)
            now = late.add(addition) if late is not None and memory in late.memory else addition
            if now is not None:
                add(now)
        elif isinstance(stmt, Store) and memory is not None:  # of a forward rule
            b.append(replace(stmt, array=memory))

    def renamed(block: Block) -> Block:
        stmts = tuple(substitute(stmt, env) for stmt in block.stmts)
        return Block(stmts, env.all(block.results))

    def inner(block: Block) -> Block:
        with b.region() as stmts:
            for stmt in block.stmts:
                append(with_operands(stmt, env))
        return Block(tuple(stmts), env.all(block.results))

    span = b.span
    bound = inner(block)
    b.extend([] if late is None else [Alloc(sums, span) for sums in late.sums.values()])
    b.extend(bound.stmts)
    b.span = span
    return list(bound.results)


def units(b: OpBuilder, type_: Type) -> list[Value]:
    """Return the unit vectors or matrices of a type, the last axis fastest."""
    one = Const(1.0, scalar_of(type_))
    shape = shape_of(type_)
    if not shape:
        return [one]
    cells = (tuple(Const(k, I32) for k in cell) for cell in np.ndindex(*shape))
    return [b.call("insert", zero(type_), *cell, one) for cell in cells]


def inner_product(b: OpBuilder, x: Value, y: Value) -> Value:
    """Append the inner product of two values."""
    product = b.call("mul", x, y)
    return b.call("sum", product) if shape_of(product.type) else product


def inner_total(b: OpBuilder, pairs: Sequence[tuple[Value, Value]], like: Type) -> Value:
    """Return the sum of the inner products of pairs."""
    scalar = scalar_of(like)
    total: Value = zero(scalar)
    for x, y in pairs:
        total = b.call(
            "add", total, b.cast(inner_product(b, x, b.cast(y, scalar_of(x.type))), scalar)
        )
    return total


def check_count(stmt: Ruled, types: Sequence[Type], missing: str) -> None:
    """Check that a rule runs once for each component of some types.

    Raises:
        NotDifferentiable: There are too many.
    """
    count = sum(int(np.prod(shape_of(t), dtype=int)) for t in types)
    if count > _MANY:
        raise NotDifferentiable(
            stmt.span,
            f"'{stmt.name}' has no {missing} rule, and {count} components are too many to derive "
            "it from the other one.",
            "a derivative is wanted through this call",
            hint=f"write '@{stmt.name}.{missing}'.",
        )
