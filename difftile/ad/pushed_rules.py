"""Tangents of bodies that have rules.

A forward rule gives them. So does a backward rule, which is linear in the adjoints: the tangent is
its transpose. Where the call returns one number or a few, and writes nothing, the rule runs once
for each of them. Otherwise it is differentiated by the adjoints that come in, with the tangents of
what it gives as seeds (the transpose of a linear program is its reverse; Griewank and Walther,
Evaluating Derivatives, 2nd ed., chapter 3.2).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from difftile.ad import reverse
from difftile.ad.activity import active_in, fields_of
from difftile.ad.late_additions import Late
from difftile.ad.nonfinite import possibly_nonfinite_in
from difftile.ad.pusher import Pusher
from difftile.ad.reverser import Reverser
from difftile.ad.ruled import (
    check_count,
    inner_product,
    inner_total,
    the_rule,
    units,
    with_gradients,
)
from difftile.diagnostics import NotDifferentiable
from difftile.ir.facts import arrays_loaded, arrays_written, declared_in, gradients_in
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Const,
    For,
    Load,
    Rule,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import I32, FieldType, Type, is_float, scalar_of, shape_of
from difftile.ir.walk import WRITES, Cloner, rules, walk, with_blocks
from difftile.ops.build import OpBuilder, zero
from difftile.passes.dce import slim_block
from difftile.passes.precedence import StaleLocals


def push_ruled(p: Pusher, stmt: Ruled) -> None:
    """Append a ruled body and the tangents of its results, and of what it writes.

    Raises:
        NotDifferentiable: There is no rule, or none that serves.
    """
    if all(p.dot(a) is None for a in stmt.args) and p.dots.keys().isdisjoint(fields_of(stmt)):
        p.b.append(stmt)
        return
    if not stmt.name and not rules(stmt):
        # An adjoint within a rule: code like any other, whose arrays of the thread have tangents.
        body = p.nested(stmt.body, stmt.outs)
        p.b.append(replace(stmt, outs=(*stmt.outs, *p.bind(stmt.outs)), body=body))
        return
    rule = stmt.forward or the_rule(stmt)
    dots = [p.dot_or_zero(a) for a in stmt.args]
    outs = [out for out in stmt.outs if is_float(out.type)]
    written = arrays_written(stmt.body) - declared_in(stmt.body)
    is_first = _reads_before(stmt, rule)
    clears, late = Block(()), None
    with p.b.region() as stmts:
        if rule is stmt.forward:
            cloner = Cloner(dict(zip(rule.params, dots, strict=True)))
            found = with_gradients(p.b, cloner.block(rule.block), p.dots, p.b.append)
        elif any(a in p.dots for a in written):
            clears = _cleared(p, stmt)
            found, late = _transposed(p, stmt, rule, dots)
        else:
            found = _by_components(p, stmt, rule, outs, dots)
    # The tangents of what the body stores are set to zero before others are added there; where an
    # array changes in place, after the rule has read those from before.
    if late is None:
        p.b.extend([*clears.stmts, *stmts, stmt] if is_first else [*clears.stmts, stmt, *stmts])
    else:
        stmts += [*clears.stmts, *late.stmts]
        p.b.extend([*stmts, stmt] if is_first else [stmt, *stmts])
        late.add_sums(p.b)
    _check_places(stmt, clears, is_after=late is not None and not is_first)
    p.env |= dict(zip(outs, found, strict=True))


def _reads_before(stmt: Ruled, rule: Rule) -> bool:
    """Tell whether a rule reads what the body overwrites, and so comes before it.

    Raises:
        NotDifferentiable: It reads what the body leaves as well.
    """
    written = {a for a in arrays_written(stmt.body) if a.size is None}
    loads = [s.array for s in walk(rule.block) if isinstance(s, Load)]
    before = next((a for a in loads if a in written), None)
    if before is None:
        return False
    after = (a.contents_of for a in loads if a.late)
    arrays = (a for a in loads if a.size is not None and a in arrays_written(stmt.body))
    if (later := next(iter((*after, *arrays)), None)) is not None:
        raise NotDifferentiable(
            stmt.span,
            f"the rule of '{stmt.name}' reads '{before.name}' as the call finds it and "
            f"'{later.name}' as the call leaves it: a tangent is computed at one of these places.",
            "a tangent is wanted of what this call writes",
            hint=f"write '@{stmt.name}.forward', which computes one of them itself.",
        )
    return True


def _by_components(
    p: Pusher, stmt: Ruled, rule: Rule, outs: Sequence[Var], dots: Sequence[Value]
) -> list[Value]:
    """Return the tangents of results, for each component of which the backward rule runs once."""
    check_count(stmt, [out.type for out in outs], "forward")
    return [
        p.b.assembled(
            shape_of(out.type),
            [
                _pulled(p, stmt, rule, [unit if o is out else zero(o.type) for o in outs], dots)
                for unit in units(p.b, out.type)
            ],
        )
        for out in outs
    ]


def _pulled(
    p: Pusher, stmt: Ruled, rule: Rule, seeds: Sequence[Value], dots: Sequence[Value]
) -> Value:
    """Return one component of the tangent: the backward rule's adjoints times the tangents."""
    cloner = Cloner(dict(zip(rule.params, seeds, strict=True)))
    copy = cloner.block(rule.block)
    scalar = next(scalar_of(out.type) for out in stmt.outs if is_float(out.type))
    if not gradients_in(copy):
        bars = with_gradients(p.b, copy, p.dots, p.b.append)
        return inner_total(p.b, list(zip(bars, dots, strict=True)), scalar)
    cell = Array("along", FieldType(scalar, 1), 1)
    p.b.append(Alloc(cell, stmt.span))
    first = (Const(0, I32),)

    def along(add: Accumulate) -> None:
        dot = p.b.load(add.array, add.index)
        product = p.b.cast(inner_product(p.b, add.value, dot), scalar)
        p.b.accumulate(cell, first, product, atomic=False)

    bars = with_gradients(p.b, copy, p.dots, along)
    total = inner_total(p.b, list(zip(bars, dots, strict=True)), scalar)
    return p.b.call("add", total, p.b.load(cell, first))


# Rules of funcs that write arrays


def _transposed(
    p: Pusher, stmt: Ruled, rule: Rule, dots: Sequence[Value]
) -> tuple[list[Value], Late | None]:
    """Append the transpose of a backward rule.

    Conditions of the rule see ones for the adjoints that come in: those that leave out what is zero
    do not matter.

    Returns:
        The tangents of the results, and what comes after it where arrays change in place.

    Raises:
        NotDifferentiable: The rule has no transpose that can be written down.
    """
    _check_transposes(stmt, rule)
    taken: dict[Array, Array] = {}
    given: dict[Array, Array] = {}
    to: dict[Array, Array] = {}
    for one in gradients_in(rule.block):
        dot = None if one.gradient_of is None else p.dots.get(one.gradient_of)
        if dot is None:
            continue
        if one.incoming:
            place = replace(one)  # to which the transpose adds; loads of `one` itself are ones
            taken[one], to[place] = replace(one, gradient_of=place), dot
        else:
            given[one] = dot
    in_place = {a.gradient_of for a in taken} & {a.gradient_of for a in given}
    late = Late(stmt.name, set(to.values()), []) if in_place else None
    reverser = Reverser(
        reverse.RULES,
        active_in(rule.block, rule.params, taken),
        {**given, **taken},
        possibly_nonfinite_in(rule.block),
        locals=StaleLocals(rule.block),
    )
    reverser.b.span = stmt.span
    ones = functools.partial(_one, p.b)
    reverser.cloner.env |= {param: ones(param.type) for param in rule.params}
    found = reverser.sweep(rule.block, reverser.seeds_of(rule.block.results, dots))
    results = tuple(found.get(param, zero(param.type)) for param in rule.params)
    block = slim_block(Block(tuple(reverser.b.stmts), results))
    for load in reverser.overwritten_loads(block):
        raise _without_transpose(
            stmt, f"the rule of '{stmt.name}' overwrites '{load.array.name}', which it has read"
        )
    return with_gradients(p.b, block, to, p.b.append, late=late, missing=ones), late


def _check_transposes(stmt: Ruled, rule: Rule) -> None:
    """Check that a backward rule says all about the tangents of what a call writes.

    Raises:
        NotDifferentiable: It reads what the call leaves where it takes no gradient of that, so that
            a second derivative would take this for constant; or it keeps values of a loop.
    """
    written = arrays_written(stmt.body)
    taken = {a.gradient_of for a in gradients_in(rule.block) if a.incoming}
    for one in walk(rule.block):
        if isinstance(one, Ruled) and not one.name and not rules(one):
            raise _without_transpose(stmt, f"the rule of '{stmt.name}' keeps values of a loop")
        if not isinstance(one, Load) or not is_float(one.out.type):
            continue
        array = one.array.contents_of if one.array.late else one.array
        if array in written and (one.array.late or array.size is not None) and array not in taken:
            raise _without_transpose(
                stmt,
                f"the rule of '{stmt.name}' reads what the call leaves in '{array.name}', takes no "
                "gradient of it",
            )


def _one(b: OpBuilder, type_: Type) -> Value:
    """Return a value whose components are one."""
    one = Const(1.0, scalar_of(type_))
    shape = shape_of(type_)
    return b.call("add", zero(type_), one) if shape else one


def _cleared(p: Pusher, stmt: Ruled) -> Block:
    """Return statements that set the tangents of what a body stores to zero."""
    own = declared_in(stmt.body)

    def cleared(block: Block) -> Block:
        stmts: list[Stmt] = []
        for one in block.stmts:
            if not isinstance(one, WRITES) or one.array in own:
                stmts.append(with_blocks(one, cleared))
            elif isinstance(one, Store) and one.array in p.dots and is_float(one.value.type):
                stmts.append(replace(one, array=p.dots[one.array], value=zero(one.value.type)))
        return replace(block, stmts=tuple(stmts))

    return Cloner().block(slim_block(replace(cleared(stmt.body), results=())))


def _check_places(stmt: Ruled, clears: Block, *, is_after: bool) -> None:
    """Check that the places where a body stores are known before it, or if so said after it.

    Raises:
        NotDifferentiable: They depend on what it writes.
    """
    written = arrays_written(stmt.body) - declared_in(stmt.body)
    read = written & arrays_loaded(clears)
    if not is_after:
        met: set[Array] = set()
        late: set[Array] = set()
        for one in walk(stmt.body):
            if isinstance(one, (For, While)):
                met |= arrays_written(one.body)
            met |= {one.array} if isinstance(one, WRITES) else set()
            late |= {one.array} & met if isinstance(one, Load) else set()
        read &= late
    if read:
        raise _without_transpose(stmt, f"where '{stmt.name}' stores depends on what it writes")


def _without_transpose(stmt: Ruled, why: str) -> NotDifferentiable:
    return NotDifferentiable(
        stmt.span,
        f"{why}, and has only a backward rule.",
        "a tangent is wanted of what this call writes",
        hint=f"write '@{stmt.name}.forward', which sets 'x.grad_in[...]' of what it writes.",
    )
