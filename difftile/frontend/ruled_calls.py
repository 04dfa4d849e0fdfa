"""Calls of funcs that have rules: the body, and beside it what stands for its derivative."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from difftile.diagnostics import KernelError, RuleMismatch, Span, counted
from difftile.frontend.context import Context, Env
from difftile.frontend.derivatives import adjoint, adjoint_like, as_values, floats_in, settled
from difftile.frontend.draws import DRAWS
from difftile.frontend.inline import Argument, bind_call, run_func
from difftile.frontend.items import (
    FieldRef,
    Item,
    Record,
    Static,
    Tuple,
    describe,
    is_number,
    is_same,
    leaves,
    regrown,
)
from difftile.frontend.rule_scope import RuleScope
from difftile.frontend.source import Source, source_of
from difftile.ir.nodes import Array, Block, Const, Rule, Ruled, Stmt, Value, Var
from difftile.ir.types import F64, I32, is_float, scalar_of, shape_of
from difftile.ir.walk import arrays_loaded, arrays_written
from difftile.ops.build import zero
from difftile.ops.vocabulary import Differences, FuncMeaning, PythonFunction, RuleMeaning, Rules

# A rule that calls its own func has a rule in there, too: that is what second derivatives need.
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class RuledCall:
    """A call of a func, its arguments read.

    Args:
        name: The func.
        function: Its Python function.
        env: What its parameters stand for, in their order.
        node: The call.
    """

    name: str
    function: PythonFunction
    env: Env
    node: ast.Call

    @property
    def floats(self) -> list[Value]:
        """The floats among the arguments, those in structs and tuples one by one."""
        return [value for item in self.env.values() for value in floats_in(item)]


def ruled_call(
    cx: Context, node: ast.Call, func: FuncMeaning, rules: Rules, receiver: Argument | None
) -> Item:
    """Lower a call of a func with rules, and the rules with it.

    Raises:
        RuleMismatch: A rule does not fit the func.
        KernelError: The arguments do not fit, or the func does what a func with rules cannot.
    """
    source, env, _ = bind_call(cx, node, func.function, receiver)
    env = {name: settled(cx, item) for name, item in env.items()}
    call = RuledCall(func.function.__name__, func.function, env, node)
    draws, places = cx.env[DRAWS], cx.draws.places
    with cx.nested(), cx.b.region() as stmts:
        with cx.within(replace(cx.scope, rule=None)):
            returned, after = run_func(cx, source, env)
        returned = as_values(cx, returned)
    if cx.draws.places > places and not is_same(cx.env[DRAWS], draws):
        raise KernelError(
            f"'{call.name}' has a rule, and draws random numbers in a loop or branch.",
            cx.span(node),
            hint="draw them in the kernel, and pass them as arguments.",
        )
    cx.env[DRAWS] = draws
    for name, item in env.items():
        if not is_same(after[name], item) and not _only_local(source, name):
            raise KernelError(
                f"'{call.name}' has a rule, and assigns to its argument '{name}'.",
                cx.span(node),
                hint="return the new value, and assign it in the kernel.",
            )
    values = [v for v in leaves(returned) if isinstance(v, (Var, Const))]
    body = Block(tuple(stmts), tuple(values))
    outs = tuple(Var(v.name if isinstance(v, Var) else call.name, v.type) for v in values)
    taken = iter(outs)
    result = regrown(
        returned, (next(taken) if isinstance(v, (Var, Const)) else v for v in leaves(returned))
    )
    backward, forward = _lowered_rules(cx, call, rules, result, body)
    ruled = Ruled(outs, tuple(call.floats), body, backward, forward, call.name, cx.span(node))
    cx.b.append(ruled)
    return result


def _only_local(source: Source, name: str) -> bool:
    """Tell whether a parameter is passed by value: the func may use its name as a local's."""
    every = (*source.tree.args.posonlyargs, *source.tree.args.args, *source.tree.args.kwonlyargs)
    return any(one.arg == name and one.annotation is None for one in every)


def _lowered_rules(
    cx: Context, call: RuledCall, rules: Rules, result: Item, body: Block
) -> tuple[Rule | None, Rule | None]:
    ruling = (*cx.scope.ruling, call.function)
    if ruling.count(call.function) > _DEPTH:
        return None, None
    rule = RuleScope(call.name, frozenset(arrays_written(body)))
    backward = forward = None
    with cx.within(replace(cx.scope, rule=rule, ruling=ruling)):
        if rules.backward is not None:
            backward = _backward(cx, call, rules.backward, result, arrays_loaded(body))
        elif rules.substitute is not None or rules.differences is not None:
            backward = _stand_in(cx, call, rules, result)
    with cx.within(replace(cx.scope, rule=replace(rule, forward=True), ruling=ruling)):
        if rules.forward is not None:
            forward = _forward(cx, call, rules.forward, result)
    return backward, forward


def _has_result(item: Item) -> bool:
    return not (isinstance(item, Static) and item.value is None)


# Rules that are functions


def _backward(
    cx: Context, call: RuledCall, rule: RuleMeaning, result: Item, loaded: Collection[Array]
) -> Rule:
    params: list[Var] = []
    d_out = adjoint_like(result, params)
    incoming = [d_out] if _has_result(result) else []
    source = source_of(rule.function).called(cx.source, call.node)
    given = [*(_as_left(cx, item, loaded) for item in call.env.values()), *incoming]
    _check_parameters(cx, source, call, result, "backward", given)
    returned, block = _run(cx, source, given)
    wanted = [(name, item) for name, item in call.env.items() if floats_in(item)]
    loose = [name for name, item in call.env.items() if is_number(item)]
    with cx.b.region() as casts:
        given = _one_each(cx, source, call, result, returned, wanted, loose)
        values = [
            value
            for (name, item), part in zip(wanted, given, strict=True)
            for value in _gradients(cx, source, call, result, name, item, part)
        ]
    whole = Block((*block, *casts), tuple(values))
    return Rule(tuple(params), whole, rule.approximate, _place(source))


def _as_left(cx: Context, item: Item, loaded: Collection[Array]) -> Item:
    """Return a field that the func writes and does not read as what the func leaves in it."""
    scope = cx.rule
    assert scope is not None

    def left(part: Item) -> Item:
        if not isinstance(part, FieldRef) or part.array in loaded:
            return part
        return replace(part, array=scope.content(part.array, late=True))

    return regrown(item, map(left, leaves(item)))


def _forward(cx: Context, call: RuledCall, rule: RuleMeaning, result: Item) -> Rule:
    params: list[Var] = []
    source = source_of(rule.function).called(cx.source, call.node)
    floats = [item for item in call.env.values() if floats_in(item)]
    loose = [item for item in call.env.values() if is_number(item)]
    wanted = floats
    if len(_names(source)) == len(call.env) + len(floats) + len(loose):
        # A literal integer may stand for a float that another call passes.
        wanted = [item for item in call.env.values() if floats_in(item) or is_number(item)]
    dots = [
        Static(0.0) if is_number(item) else adjoint_like(item, params, "dot_") for item in wanted
    ]
    _check_parameters(cx, source, call, result, "forward", [*call.env.values(), *dots])
    returned, block = _run(cx, source, [*call.env.values(), *dots])
    with cx.b.region() as casts:
        values = _gradients(cx, source, call, result, "its result", result, returned)
    whole = Block((*block, *casts), tuple(values))
    return Rule(tuple(params), whole, rule.approximate, _place(source))


def _run(cx: Context, source: Source, given: Sequence[Item]) -> tuple[Item, list[Stmt]]:
    names = _names(source)
    draws = cx.env[DRAWS]
    with cx.nested(), cx.b.region() as stmts:
        returned, _ = run_func(cx, source, dict(zip(names, given, strict=True)))
        returned = cx.loaded(returned)
    cx.env[DRAWS] = draws  # a rule draws nothing, though its loops carry the number of draws
    return returned, stmts


def _names(source: Source) -> list[str]:
    arguments = source.tree.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _place(source: Source) -> Span:
    """Return where a rule is defined."""
    return source.span(source.tree)


def _check_parameters(
    cx: Context, source: Source, call: RuledCall, result: Item, word: str, given: Sequence[Item]
) -> None:
    names = _names(source)
    starred = source.tree.args.vararg or source.tree.args.kwarg
    if len(names) == len(given) and starred is None:
        return
    what = "the adjoint of the result" if word == "backward" else "a tangent for each float"
    raise RuleMismatch(
        _place(source),
        f"the {word} rule of '{call.name}' takes {counted(len(given), 'argument')}, "
        f"not {len(names)}.",
        f"those of '{call.name}', and {what}" if _has_result(result) else "",
        notes=_signatures(call, result, word),
    )


def _one_each(
    cx: Context,
    source: Source,
    call: RuledCall,
    result: Item,
    returned: Item,
    wanted: list[tuple[str, Item]],
    loose: list[str],
) -> Sequence[Item]:
    """Return what the rule gives for each argument that holds floats."""
    if isinstance(returned, Tuple):
        parts: Sequence[Item] = returned.items
    else:
        parts = [returned] if _has_result(returned) else []
    if len(wanted) == 1 and len(parts) > 1 and isinstance(wanted[0][1], Tuple):
        parts = [returned]
    if len(parts) == len(wanted) + len(loose) and loose:
        # A literal integer may stand for a float that another call passes.
        order = [name for name in call.env if name in loose or name in dict(wanted)]
        parts = [part for name, part in zip(order, parts, strict=True) if name not in loose]
    if len(parts) != len(wanted):
        raise RuleMismatch(
            _place(source),
            f"the backward rule of '{call.name}' returns {counted(len(parts), 'gradient')}, "
            f"not {len(wanted)}.",
            "one for each argument that holds floats"
            if wanted
            else "none of the arguments holds a float",
            notes=_signatures(call, result, "backward"),
        )
    return parts


def _gradients(
    cx: Context, source: Source, call: RuledCall, result: Item, name: str, like: Item, given: Item
) -> list[Value]:
    """Return what a rule gives for one argument, float by float, in the types of the argument."""
    if isinstance(given, Static) and given.value is None:
        return [zero(value.type) for value in floats_in(like)]
    if isinstance(like, (Record, Tuple)):
        if type(given) is not type(like) or (
            isinstance(like, Record) and isinstance(given, Record) and like.names != given.names
        ):
            given = _matched(given, like)
        parts = given.items if isinstance(given, (Record, Tuple)) else ()
        if len(parts) != len(like.items):
            raise _misfit(cx, source, call, result, name, describe(like), describe(given))
        return [
            value
            for one, part in zip(like.items, parts, strict=True)
            for value in _gradients(cx, source, call, result, name, one, part)
        ]
    if not isinstance(like, (Var, Const)) or not is_float(like.type):
        return []
    if not (is_number(given) or isinstance(given, (Var, Const))):
        raise _misfit(cx, source, call, result, name, str(like.type), describe(given))
    value = cx.value(given, like.type)
    if shape_of(value.type) != shape_of(like.type):
        raise _misfit(cx, source, call, result, name, str(like.type), str(value.type))
    return [cx.b.cast(value, scalar_of(like.type))]


def _matched(given: Item, like: Record | Tuple) -> Item:
    """Return a struct of gradients with nothing for the members that are no floats."""
    if not (isinstance(given, Record) and isinstance(like, Record)):
        return given
    known = dict(zip(given.names, given.items, strict=True))
    floats = {n for n, one in zip(like.names, like.items, strict=True) if floats_in(one)}
    if not floats <= set(known) <= set(like.names):
        return given
    return like.with_items([known.get(name, Static(None)) for name in like.names])


def _misfit(
    cx: Context, source: Source, call: RuledCall, result: Item, name: str, wanted: str, given: str
) -> RuleMismatch:
    word = "forward" if name == "its result" else "backward"
    of = "the tangent of its result" if name == "its result" else f"the gradient of '{name}'"
    return RuleMismatch(
        _place(source),
        f"the {word} rule of '{call.name}' gives {given} for {of}.",
        f"it is to be {wanted}",
        notes=_signatures(call, result, word),
    )


def _signatures(call: RuledCall, result: Item, word: str) -> list[str]:
    """Return the signature of the func in this call, and that of the rule it asks for."""
    typed = [f"{name}: {_type_of(item)}" for name, item in call.env.items()]
    floats = [(name, item) for name, item in call.env.items() if floats_in(item)]
    out = _type_of(result)
    if word == "backward":
        more = [f"d_out: {out}"] if _has_result(result) else []
        gives = ", ".join(_type_of(item) for _, item in floats) or "None"
        gives = f"({gives})" if len(floats) > 1 else gives
    else:
        more = [f"{name}_dot: {_type_of(item)}" for name, item in floats]
        gives = out
    return [
        f"called here:     {call.name}({', '.join(typed)}) -> {out}",
        f"{word} rule: {' ' * (8 - len(word))} ({', '.join([*typed, *more])}) -> {gives}",
    ]


def _type_of(item: Item) -> str:
    match item:
        case Var(_, type_) | Const(_, type_):
            return str(type_)
        case FieldRef(array):
            return str(array.type)
        case Tuple(items):
            return f"({', '.join(_type_of(one) for one in items)})"
        case Record(names, items):
            members = (f"{n}: {_type_of(one)}" for n, one in zip(names, items, strict=True))
            return f"{{{', '.join(members)}}}"
        case Static(value):
            return "None" if value is None else type(value).__name__
        case _:
            return describe(item)


# Rules that are other funcs, or differences


def _stand_in(cx: Context, call: RuledCall, rules: Rules, result: Item) -> Rule:
    """Return the rule of a func whose derivative is that of another one, or differences."""
    params: list[Var] = []
    d_out = adjoint_like(result, params)
    draws = cx.env[DRAWS]
    with cx.nested(), cx.b.region() as stmts:
        if rules.differences is not None:
            values = _by_differences(cx, call, rules.differences, params)
        else:
            items = list(call.env.values())
            values = adjoint(cx, call.node, Static(rules.substitute), items, d_out)
    cx.env[DRAWS] = draws
    block = Block(tuple(stmts), tuple(values))
    source = source_of(call.function).called(cx.source, call.node)
    return Rule(tuple(params), block, rules.approximate, _place(source))


def _by_differences(
    cx: Context, call: RuledCall, how: Differences, d_outs: Sequence[Value]
) -> list[Value]:
    """Return the adjoint of each float of the arguments by central differences."""
    found: list[Value] = []
    for k, value in enumerate(call.floats):
        shape = shape_of(value.type)
        parts: list[Value] = []
        for cell in np.ndindex(*shape):
            where = tuple(Const(i, I32) for i in cell)
            x = cx.call("extract", value, *where) if shape else value
            step = _step(cx, how, x)
            sides = [
                _moved(cx, call, k, cx.call("insert", value, *where, at) if shape else at)
                for at in (cx.call("add", x, step), cx.call("sub", x, step))
            ]
            total: Value = zero(x.type)
            for d_out, high, low in zip(d_outs, *sides, strict=True):
                product = cx.call("mul", d_out, cx.call("sub", high, low))
                part = cx.call("sum", product) if shape_of(product.type) else product
                total = cx.call("add", total, cx.b.cast(part, scalar_of(x.type)))
            parts.append(cx.call("div", total, cx.call("add", step, step)))
        found.append(cx.b.assembled(shape, parts))
    return found


def _step(cx: Context, how: Differences, x: Value) -> Value:
    """Return the step: the cube root of the precision by default, which balances both errors."""
    scalar = scalar_of(x.type)
    eps = how.eps or (6e-6 if scalar == F64 else 5e-3)
    step = Const(eps, scalar)
    if not how.relative:
        return step
    return cx.call("mul", step, cx.call("max", Const(1.0, scalar), cx.call("abs", x)))


def _moved(cx: Context, call: RuledCall, k: int, value: Value) -> list[Value]:
    """Return the floats of the result with one float of the arguments replaced."""
    count = -1

    def parts(item: Item) -> Iterator[Item]:
        nonlocal count
        for leaf in leaves(item):
            count += bool(floats_in(leaf))
            yield value if count == k and floats_in(leaf) else leaf

    env = {name: regrown(item, parts(item)) for name, item in call.env.items()}
    source = source_of(call.function).called(cx.source, call.node)
    returned, _ = run_func(cx, source, env)
    return floats_in(as_values(cx, returned))
