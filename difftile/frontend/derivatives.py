"""`dt.bwd_diff(f)` and `dt.fwd_diff(f)`: derivatives of funcs, called inside kernels and rules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from difftile.diagnostics import CallMismatch, TypeMismatch
from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments, spread
from difftile.frontend.draws import DRAWS
from difftile.frontend.inline import CALLED, call_with, hidden_name
from difftile.frontend.items import (
    Item,
    Static,
    Tuple,
    describe,
    is_alike,
    is_number,
    leaves,
    mapped,
)
from difftile.ir.nodes import Array, Block, Const, Derivative, Load, Value, Var
from difftile.ir.types import is_float, scalar_of, shape_of
from difftile.ir.walk import WRITES, declared_in, has_effects, walk, without_stmts
from difftile.ops.build import zero
from difftile.ops.vocabulary import DerivativeOf

# Items that hold floats


def floats_in(item: Item) -> list[Value]:
    """Return the float values that an item holds; structs and tuples are flattened."""
    return [v for v in leaves(item) if isinstance(v, (Var, Const)) and is_float(v.type)]


def settled(cx: Context, item: Item) -> Item:
    """Return an item with elements of fields read, and literal floats as values."""

    def settle(part: Item) -> Item:
        is_literal = isinstance(part, Static) and isinstance(part.value, float)
        return cx.value(part) if is_literal else part

    return mapped(cx.loaded(item), settle)


def as_values(cx: Context, item: Item) -> Item:
    """Return an item with elements of fields read, and literals as values."""
    return mapped(cx.loaded(item), lambda part: cx.value(part) if is_number(part) else part)


def with_floats(item: Item, values: Iterable[Value]) -> Item:
    """Return an item of the same form with other floats; its other values are zeros."""
    rest = iter(values)

    def replaced(leaf: Item) -> Item:
        if not isinstance(leaf, (Var, Const)):
            return Static(None)
        return next(rest) if is_float(leaf.type) else zero(leaf.type)

    return mapped(item, replaced)


def adjoint_like(item: Item, made: list[Var], prefix: str = "d_") -> Item:
    """Return an item of the same form with new variables for its floats, which are added up."""
    floats = floats_in(item)
    new = [Var(f"{prefix}{v.name if isinstance(v, Var) else ''}", v.type) for v in floats]
    made += new
    return with_floats(item, new)


# The calls


def derivative_of(*, forward: bool) -> Callable[[Context, ast.Call, str], Item]:
    """Return the handler of `dt.bwd_diff(f)` or `dt.fwd_diff(f)` inside a kernel."""

    def handler(cx: Context, node: ast.Call, name: str) -> Item:
        (argument,) = counted_arguments(cx, node, 1, 1)
        item = cx.operand(argument)
        if not isinstance(item, Static) or cx.meaning(item) is None:
            raise CallMismatch(
                cx.span(argument), f"{describe(item)} is not a function that has a derivative."
            )
        return Static(DerivativeOf(item.value, forward))

    return handler


def derivative_call(cx: Context, node: ast.Call, of: DerivativeOf) -> Item:
    """Lower `dt.bwd_diff(f)(..., d_out)` or `dt.fwd_diff(f)(..., x_dot, ...)`."""
    word = "fwd_diff" if of.forward else "bwd_diff"
    if node.keywords:
        raise CallMismatch(
            cx.span(node.keywords[0]), f"'dt.{word}(f)' takes its arguments by position."
        )
    function = Static(of.function)
    items = [settled(cx, item) for _, item in spread(cx, node.args)]
    if of.forward:
        return _tangent_call(cx, node, function, items)
    if len(items) < 2:
        raise CallMismatch(
            cx.span(node),
            "'dt.bwd_diff(f)' takes the arguments of f, and the adjoint of its result.",
            "write 'dt.bwd_diff(f)(x, ..., d_out)'.",
        )
    *primals, d_out = items
    bars = iter(adjoint(cx, node, function, primals, d_out))
    found = [with_floats(item, bars) for item in primals if floats_in(item)]
    return found[0] if len(found) == 1 else Tuple(tuple(found))


def adjoint(
    cx: Context, node: ast.Call, function: Item, items: Sequence[Item], d_out: Item
) -> list[Var]:
    """Append the adjoint of a function; return the adjoint of each float of its arguments."""
    region, result = _region(cx, node, function, items)
    outs = [Var(f"d_{p.name}", p.type) for p in region.params]
    region.append(cx, node, outs, _seeds(cx, node, result, d_out), forward=False)
    return outs


def _tangent_call(cx: Context, node: ast.Call, function: Item, items: Sequence[Item]) -> Item:
    """Lower the tangent: one tangent for each argument that holds floats follows the arguments."""
    counts = range(1, len(items))
    dots = [n for n in counts if n + sum(map(bool, map(floats_in, items[:n]))) == len(items)]
    if not dots:
        raise CallMismatch(
            cx.span(node),
            "'dt.fwd_diff(f)' takes the arguments of f, and a tangent for each that is a float.",
            "write 'dt.fwd_diff(f)(x, y, x_dot, y_dot)'.",
        )
    primals = items[: dots[0]]
    region, result = _region(cx, node, function, primals)
    pairs = zip(filter(floats_in, primals), items[dots[0] :], strict=True)
    seeds = [seed for item, dot in pairs for seed in _seeds(cx, node, item, dot)]
    results = region.body.results
    outs = [Var(f"dot_{r.name if isinstance(r, Var) else ''}", r.type) for r in results]
    region.append(cx, node, outs, seeds, forward=True)
    return with_floats(result, outs)


_MARGINS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)


def compared_call(cx: Context, node: ast.Call, function: object) -> Item:
    """Lower a call that is told whether a comparison holds, and by how much."""
    test = node.args[0] if node.args else node
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _MARGINS:
        raise CallMismatch(
            cx.span(test),
            "the first argument is one comparison, '<', '<=', '>' or '>='.",
            f"write '{ast.unparse(node.func)}(x > 0, a, b)'.",
        )
    names = {"left of the comparison": test.left, "right of the comparison": test.comparators[0]}
    given = {name: settled(cx, cx.operand(one)) for name, one in names.items()}
    left, right = (hidden_name(name, one) for name, one in names.items())
    is_less = isinstance(test.ops[0], (ast.Lt, ast.LtE))
    margin = ast.BinOp(right, ast.Sub(), left) if is_less else ast.BinOp(left, ast.Sub(), right)
    cond = ast.Compare(left, test.ops, [right])
    places = [ast.copy_location(one, test) for one in (cond, margin)]
    called = ast.Call(hidden_name(CALLED, node.func), [*places, *node.args[1:]], node.keywords)
    with cx.frame({**cx.env, **given, CALLED: Static(function)}):
        return cx.expr(ast.copy_location(called, node))


@dataclass(frozen=True, slots=True)
class _Region:
    """A call of a function that is differentiated.

    Args:
        params: The parameters in place of the floats of its arguments.
        args: Those floats.
        body: The call; its results are the floats that it returns.
    """

    params: tuple[Var, ...]
    args: tuple[Value, ...]
    body: Block

    def append(
        self,
        cx: Context,
        node: ast.Call,
        outs: Sequence[Var],
        seeds: Sequence[Value],
        *,
        forward: bool,
    ) -> None:
        """Append the derivative; in a rule, fields that the call reads get gradients as well."""
        gradients: list[tuple[Array, Array]] = []
        if cx.rule is not None:
            for array in dict.fromkeys(s.array for s in walk(self.body) if isinstance(s, Load)):
                has_gradient = array.size is None and is_float(array.type.element)
                if has_gradient and array.gradient_of is None:
                    gradients.append((array, cx.rule.gradient(array, incoming=False)))
        given = (tuple(outs), self.params, self.args, tuple(seeds), self.body, forward)
        cx.b.append(Derivative(*given, tuple(gradients), cx.span(node)))


def _region(
    cx: Context, node: ast.Call, function: Item, items: Sequence[Item]
) -> tuple[_Region, Item]:
    """Lower a call of a function with parameters in place of the floats of its arguments.

    Returns:
        The region, and the result of the function.
    """
    params: list[Var] = []

    def parameter(leaf: Item) -> Item:
        if not (isinstance(leaf, (Var, Const)) and is_float(leaf.type)):
            return leaf
        params.append(Var(leaf.name if isinstance(leaf, Var) else "x", leaf.type))
        return params[-1]

    given = [mapped(item, parameter) for item in items]
    draws = cx.env[DRAWS]
    outside_rules = replace(cx.scope, top_level=False, rule=None)
    with cx.within(outside_rules), cx.b.region() as stmts:
        result = as_values(cx, call_with(cx, node, function, given))
    cx.env[DRAWS] = draws
    body = Block(tuple(stmts), tuple(floats_in(result)))
    own = declared_in(body)
    if has_effects(without_stmts(body, lambda s: isinstance(s, WRITES) and s.array in own)):
        raise CallMismatch(
            cx.span(node),
            "the derivative of a function that writes fields, prints or asserts is not a value.",
            "return its results instead of storing them.",
        )
    if not body.results:
        raise CallMismatch(cx.span(node), "this function returns no float to differentiate.")
    args = tuple(value for item in items for value in floats_in(item))
    return _Region(tuple(params), args, body), result


def _seeds(cx: Context, node: ast.Call, result: Item, given: Item) -> list[Value]:
    """Return the derivative given for each float of a result, cast to its type."""
    if not is_alike(result, given) or len(leaves(result)) != len(leaves(given)):
        raise TypeMismatch(
            cx.span(node), f"{describe(given)} is given for the derivative of {describe(result)}."
        )
    seeds: list[Value] = []
    for one, seed in zip(leaves(result), leaves(given), strict=True):
        if not floats_in(one):
            continue
        assert isinstance(one, (Var, Const))
        value = cx.value(seed, one.type)
        if shape_of(value.type) != shape_of(one.type):
            raise TypeMismatch(
                cx.span(node),
                f"expected a derivative of type {one.type}, got {value.type}.",
            )
        seeds.append(cx.b.cast(value, scalar_of(one.type)))
    return seeds
