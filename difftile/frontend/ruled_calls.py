"""Calls of funcs that have rules: the body, and the rules for its derivative."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

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
    mapped,
)
from difftile.frontend.rule_scope import RuleScope
from difftile.frontend.source import Source, source_of
from difftile.ir.facts import arrays_loaded, arrays_written
from difftile.ir.nodes import Array, Block, Const, Rule, Ruled, Stmt, Value, Var
from difftile.ir.types import F64, I32, is_float, scalar_of, shape_of
from difftile.ops.build import zero
from difftile.ops.vocabulary import Differences, FuncMeaning, PythonFunction, RuleMeaning, Rules
from difftile.records import dataclass

# A rule that calls its own func has a rule in there, too, as second derivatives require.
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class RuledCall:
    """A call of a func with rules, its arguments read.

    Args:
        cx: The context.
        function: The func.
        env: The items of its parameters, in their order.
        node: The call.
        result: The result of the call.
    """

    cx: Context
    function: PythonFunction
    env: Env
    node: ast.Call
    result: Item

    @property
    def name(self) -> str:
        """The func."""
        return self.function.__name__

    @property
    def floats(self) -> list[Value]:
        """The floats among the arguments, those in structs and tuples one by one."""
        return [value for item in self.env.values() for value in floats_in(item)]

    @property
    def with_floats(self) -> Env:
        """The arguments that hold floats."""
        return {name: item for name, item in self.env.items() if floats_in(item)}

    @property
    def literals(self) -> list[str]:
        """The arguments that are literals: an integer may stand for a float of another call."""
        return [name for name, item in self.env.items() if is_number(item)]

    def source(self, function: PythonFunction) -> Source:
        """Return the source of a function that runs in place of this call."""
        return source_of(function).called(self.cx.source, self.node)

    def mismatch(self, source: Source, word: str, what: str, label: str) -> RuleMismatch:
        """Return the error that a rule does not fit, with both signatures.

        Args:
            source: The rule.
            word: 'backward' or 'forward'.
            what: The mistake of the rule.
            label: The expected form.
        """
        typed = [f"{name}: {_type_of(item)}" for name, item in self.env.items()]
        out = _type_of(self.result)
        floats = self.with_floats
        if word == "backward":
            more = [] if _is_nothing(self.result) else [f"d_out: {out}"]
            gives = ", ".join(map(_type_of, floats.values())) or "None"
            gives = f"({gives})" if len(floats) > 1 else gives
        else:
            more = [f"{name}_dot: {_type_of(item)}" for name, item in floats.items()]
            gives = out
        return RuleMismatch(
            _place(source),
            f"the {word} rule of '{self.name}' {what}.",
            label,
            notes=[
                f"called here:     {self.name}({', '.join(typed)}) -> {out}",
                f"{word} rule: {' ' * (8 - len(word))} ({', '.join([*typed, *more])}) -> {gives}",
            ],
        )


def ruled_call(
    cx: Context, node: ast.Call, func: FuncMeaning, rules: Rules, receiver: Argument | None
) -> Item:
    """Lower a call of a func with rules, and the rules with it.

    Raises:
        RuleMismatch: A rule does not fit the func.
        KernelError: The arguments do not fit, or the func has effects that rules do not allow.
    """
    source, env, _ = bind_call(cx, node, func.function, receiver)
    env = {name: settled(cx, item) for name, item in env.items()}
    name = func.function.__name__
    draws, places = cx.env[DRAWS], cx.draws.places
    with cx.nested(), cx.b.region() as stmts:
        with cx.within(replace(cx.scope, rule=None)):
            returned, after = run_func(cx, source, env)
        returned = as_values(cx, returned)
    if cx.draws.places > places and not is_same(cx.env[DRAWS], draws):
        raise KernelError(
            f"'{name}' has a rule, and draws random numbers in a loop or branch.",
            cx.span(node),
            hint="draw them in the kernel, and pass them as arguments.",
        )
    cx.env[DRAWS] = draws
    tree = source.tree.args
    every = (*tree.posonlyargs, *tree.args, *tree.kwonlyargs)
    by_value = {one.arg for one in every if one.annotation is None}  # may be used as locals
    for parameter, item in env.items():
        if not is_same(after[parameter], item) and parameter not in by_value:
            raise KernelError(
                f"'{name}' has a rule, and assigns to its argument '{parameter}'.",
                cx.span(node),
                hint="return the new value, and assign it in the kernel.",
            )
    outs: list[Var] = []

    def out(value: Item) -> Item:
        if not isinstance(value, (Var, Const)):
            return value
        outs.append(Var(value.name if isinstance(value, Var) else name, value.type))
        return outs[-1]

    result = mapped(returned, out)
    values = [value for value in leaves(returned) if isinstance(value, (Var, Const))]
    body = Block(tuple(stmts), tuple(values))
    call = RuledCall(cx, func.function, env, node, result)
    backward = forward = None
    ruling = (*cx.scope.ruling, func.function)
    if ruling.count(func.function) <= _DEPTH:
        written = frozenset(arrays_written(body))
        _check_apart(call, written)
        given = (leaf for item in env.values() for leaf in leaves(item))
        arrays = {one.array for one in given if isinstance(one, FieldRef)}
        read = frozenset(one for one in arrays - written if one.size is not None)
        rule = RuleScope(name, written, arrays=read, loaded=frozenset(arrays_loaded(body)))
        with cx.within(replace(cx.scope, rule=rule, ruling=ruling)):
            if rules.backward is not None:
                backward = _backward(call, rules.backward, rule)
            elif rules.substitute is not None or rules.differences is not None:
                backward = _stand_in(call, rules)
        forward_rule = replace(rule, forward=True)
        with cx.within(replace(cx.scope, rule=forward_rule, ruling=ruling)):
            if rules.forward is not None:
                forward = _forward(call, rules.forward)
    args = tuple(call.floats)
    cx.b.append(Ruled(tuple(outs), args, body, backward, forward, name, cx.span(node)))
    return result


def _check_apart(call: RuledCall, written: frozenset[Array]) -> None:
    """Check that a rule can tell its fields apart.

    Raises:
        KernelError: A field that the func writes is several of its arguments, so that a rule could
            not say which of them it reads as the call found it.
    """
    names: dict[Array, str] = {}
    for name, item in call.env.items():
        for array in {leaf.array for leaf in leaves(item) if isinstance(leaf, FieldRef)} & written:
            first = names.setdefault(array, name)
            if first != name:
                raise KernelError(
                    f"'{call.name}' has a rule, and writes a field that is two of its arguments, "
                    f"'{first}' and '{name}'.",
                    call.cx.span(call.node),
                    hint="let the func take the field once, and its rule name what it reads: "
                    f"'{first}.before' or '{first}.after'.",
                )


def _is_nothing(item: Item) -> bool:
    return isinstance(item, Static) and item.value is None


def _place(source: Source) -> Span:
    """Return where a rule is defined."""
    return source.span(source.tree)


# Rules that are functions


def _backward(call: RuledCall, rule: RuleMeaning, scope: RuleScope) -> Rule:
    cx, params = call.cx, list[Var]()
    d_out = adjoint_like(call.result, params)

    def left(part: Item) -> Item:
        """Return the contents after the call of a field that the func only writes."""
        if not isinstance(part, FieldRef) or part.array in scope.loaded:
            return part
        return replace(part, array=scope.content(part.array, late=True))

    given = [mapped(item, left) for item in call.env.values()]
    given += [] if _is_nothing(call.result) else [d_out]
    source = call.source(rule.function)
    returned, stmts = _run(call, source, "backward", given)
    wanted = call.with_floats
    parts: Sequence[Item] = returned.items if isinstance(returned, Tuple) else [returned]
    if _is_nothing(returned):
        parts = []
    if len(wanted) == 1 and len(parts) > 1 and isinstance(next(iter(wanted.values())), Tuple):
        parts = [returned]
    if len(parts) == len(wanted) + len(call.literals) and call.literals:
        order = [name for name in call.env if name in call.literals or name in wanted]
        pairs = zip(order, parts, strict=True)
        parts = [part for name, part in pairs if name not in call.literals]
    if len(parts) != len(wanted):
        raise call.mismatch(
            source,
            "backward",
            f"returns {counted(len(parts), 'gradient')}, not {len(wanted)}",
            "one for each argument that holds floats"
            if wanted
            else "none of the arguments holds a float",
        )
    with cx.b.region() as casts:
        values = [
            value
            for (name, item), part in zip(wanted.items(), parts, strict=True)
            for value in _gradients(call, source, name, item, part)
        ]
    block = Block((*stmts, *casts), tuple(values))
    return Rule(tuple(params), block, rule.approximate, _place(source))


def _forward(call: RuledCall, rule: RuleMeaning) -> Rule:
    cx, params = call.cx, list[Var]()
    source = call.source(rule.function)
    wanted = call.with_floats
    if len(_names(source)) == len(call.env) + len(wanted) + len(call.literals):
        wanted = {n: one for n, one in call.env.items() if n in wanted or n in call.literals}
    dots = [
        Static(0.0) if is_number(item) else adjoint_like(item, params, "dot_")
        for item in wanted.values()
    ]
    returned, stmts = _run(call, source, "forward", [*call.env.values(), *dots])
    with cx.b.region() as casts:
        values = _gradients(call, source, "", call.result, returned)
    block = Block((*stmts, *casts), tuple(values))
    return Rule(tuple(params), block, rule.approximate, _place(source))


def _run(
    call: RuledCall, source: Source, word: str, given: Sequence[Item]
) -> tuple[Item, list[Stmt]]:
    """Lower the body of a rule; return its result and its statements.

    Raises:
        RuleMismatch: It takes other parameters.
    """
    names, cx = _names(source), call.cx
    starred = source.tree.args.vararg or source.tree.args.kwarg
    if len(names) != len(given) or starred is not None:
        more = "the adjoint of the result" if word == "backward" else "a tangent for each float"
        raise call.mismatch(
            source,
            word,
            f"takes {counted(len(given), 'argument')}, not {len(names)}",
            "" if _is_nothing(call.result) else f"those of '{call.name}', and {more}",
        )
    draws = cx.env[DRAWS]
    with cx.nested(), cx.b.region() as stmts:
        returned, _ = run_func(cx, source, dict(zip(names, given, strict=True)))
        returned = cx.loaded(returned)
    cx.env[DRAWS] = draws  # a rule draws nothing, though its loops carry the number of draws
    return returned, stmts


def _names(source: Source) -> list[str]:
    arguments = source.tree.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _gradients(call: RuledCall, source: Source, name: str, like: Item, given: Item) -> list[Value]:
    """Return the gradients that a rule gives for one argument, or '' for the result.

    Raises:
        RuleMismatch: It is of another form or type than the argument.
    """

    def misfit(wanted: str, found: str) -> RuleMismatch:
        word = "backward" if name else "forward"
        of = f"the gradient of '{name}'" if name else "the tangent of its result"
        return call.mismatch(source, word, f"gives {found} for {of}", f"it is to be {wanted}")

    if _is_nothing(given):
        return [zero(value.type) for value in floats_in(like)]
    if isinstance(like, (Record, Tuple)):
        if isinstance(like, Record) and isinstance(given, Record) and like.names != given.names:
            known = dict(zip(given.names, given.items, strict=True))
            floats = {n for n, one in zip(like.names, like.items, strict=True) if floats_in(one)}
            # Members that are not floats may be left out.
            if floats <= known.keys() <= set(like.names):
                given = like.with_items([known.get(name, Static(None)) for name in like.names])
        parts = given.items if isinstance(given, (Record, Tuple)) else ()
        if len(parts) != len(like.items):
            raise misfit(describe(like), describe(given))
        return [
            value
            for one, part in zip(like.items, parts, strict=True)
            for value in _gradients(call, source, name, one, part)
        ]
    if not isinstance(like, (Var, Const)) or not is_float(like.type):
        return []
    if not (is_number(given) or isinstance(given, (Var, Const))):
        raise misfit(str(like.type), describe(given))
    value = call.cx.value(given, like.type)
    if shape_of(value.type) != shape_of(like.type):
        raise misfit(str(like.type), str(value.type))
    return [call.cx.b.cast(value, scalar_of(like.type))]


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


def _stand_in(call: RuledCall, rules: Rules) -> Rule:
    """Return the rule of a func whose derivative comes from another one, or from differences."""
    cx, params = call.cx, list[Var]()
    d_out = adjoint_like(call.result, params)
    draws = cx.env[DRAWS]
    with cx.nested(), cx.b.region() as stmts:
        if rules.differences is not None:
            values: Sequence[Value] = _by_differences(call, rules.differences, params)
        else:
            items = list(call.env.values())
            values = adjoint(cx, call.node, Static(rules.substitute), items, d_out)
    cx.env[DRAWS] = draws
    block = Block(tuple(stmts), tuple(values))
    return Rule(tuple(params), block, rules.approximate, _place(call.source(call.function)))


def _by_differences(call: RuledCall, how: Differences, d_outs: Sequence[Value]) -> list[Value]:
    """Return the adjoint of each float of the arguments by central differences.

    The step is the cube root of the precision by default, which balances both errors.
    """
    cx = call.cx
    found: list[Value] = []
    for k, value in enumerate(call.floats):
        shape, scalar = shape_of(value.type), scalar_of(value.type)
        parts: list[Value] = []
        for cell in np.ndindex(*shape):
            where = tuple(Const(i, I32) for i in cell)
            x = cx.call("extract", value, *where) if shape else value
            step: Value = Const(how.eps or (6e-6 if scalar == F64 else 5e-3), scalar)
            if how.relative:
                size = cx.call("max", Const(1.0, scalar), cx.call("abs", x))
                step = cx.call("mul", step, size)
            sides = [
                _moved(call, k, cx.call("insert", value, *where, at) if shape else at)
                for at in (cx.call("add", x, step), cx.call("sub", x, step))
            ]
            total: Value = zero(x.type)
            for d_out, high, low in zip(d_outs, *sides, strict=True):
                product = cx.call("mul", d_out, cx.call("sub", high, low))
                part = cx.call("sum", product) if shape_of(product.type) else product
                total = cx.call("add", total, cx.b.cast(part, scalar))
            parts.append(cx.call("div", total, cx.call("add", step, step)))
        found.append(cx.b.assembled(shape, parts))
    return found


def _moved(call: RuledCall, k: int, value: Value) -> list[Value]:
    """Return the floats of the result with one float of the arguments replaced."""
    floats = iter([*call.floats[:k], value, *call.floats[k + 1 :]])
    env = {
        name: mapped(item, lambda leaf: next(floats) if floats_in(leaf) else leaf)
        for name, item in call.env.items()
    }
    returned, _ = run_func(call.cx, call.source(call.function), env)
    return floats_in(as_values(call.cx, returned))
