"""`dt.bwd_diff(f)` and `dt.fwd_diff(f)`: derivatives of funcs, called inside kernels and rules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from difftile.diagnostics import CallMismatch, TypeMismatch
from difftile.frontend.context import Context
from difftile.frontend.convert import counted_arguments, spread
from difftile.frontend.draws import DRAWS
from difftile.frontend.inline import CALLED, call_with, hidden_name
from difftile.frontend.items import (
    FieldRef,
    Item,
    Static,
    Tuple,
    describe,
    is_alike,
    is_number,
    leaves,
    mapped,
)
from difftile.ir.facts import declared_in, has_effects
from difftile.ir.nodes import Alloc, Array, Block, Const, Derivative, Load, Value, Var
from difftile.ir.types import is_float, scalar_of, shape_of
from difftile.ir.walk import WRITES, walk, without_stmts
from difftile.ops.build import zero
from difftile.ops.vocabulary import DerivativeOf
from difftile.records import dataclass

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
    given = [array for item in primals for array in arrays_in(cx, item)]
    made = {array: replace(array, name=f"d_{array.name}") for array in given}
    for array in made.values():
        cx.b.append(Alloc(array, cx.span(node)))
    bars = iter(adjoint(cx, node, function, primals, d_out, tuple(made.items())))

    def gradient(leaf: Item) -> Item:
        if isinstance(leaf, (Var, Const)):
            return next(bars) if is_float(leaf.type) else zero(leaf.type)
        if isinstance(leaf, FieldRef) and leaf.array in made:
            return FieldRef(made[leaf.array], leaf.view)
        return Static(None)

    found = [mapped(one, gradient) for one in primals if floats_in(one) or arrays_in(cx, one)]
    return found[0] if len(found) == 1 else Tuple(tuple(found))


def arrays_in(cx: Context, item: Item) -> list[Array]:
    """Return the arrays of the thread in an item of which a derivative is given or returned.

    A rule adds to the gradients of the arrays that its func is given, as it does for fields.
    """
    arrays = [leaf.array for leaf in leaves(item) if isinstance(leaf, FieldRef)]
    own = [one for one in arrays if one.size is not None and is_float(one.type.element)]
    return [one for one in own if cx.rule is None or one not in cx.rule.arrays]


Gradients: TypeAlias = tuple[tuple[Array, Array], ...]


def adjoint(
    cx: Context,
    node: ast.Call,
    function: Item,
    items: Sequence[Item],
    d_out: Item,
    gradients: Gradients = (),
) -> list[Var]:
    """Append the adjoint of a function; return the adjoint of each float of its arguments.

    Args:
        cx: The context.
        node: The call.
        function: The function.
        items: Its arguments.
        d_out: The adjoint of its result.
        gradients: Arrays of the thread among the arguments, each with one to which its gradient is
            added.
    """
    region, result = _region(cx, node, function, items)
    outs = [Var(f"d_{p.name}", p.type) for p in region.params]
    region.append(cx, node, outs, _seeds(cx, node, result, d_out), gradients, forward=False)
    return outs


def _tangent_call(cx: Context, node: ast.Call, function: Item, items: Sequence[Item]) -> Item:
    """Lower the tangent: one tangent for each argument that holds floats follows the arguments."""

    def varies(item: Item) -> bool:
        return bool(floats_in(item) or arrays_in(cx, item))

    counts = range(1, len(items))
    dots = [n for n in counts if n + sum(map(varies, items[:n])) == len(items)]
    if not dots:
        raise CallMismatch(
            cx.span(node),
            "'dt.fwd_diff(f)' takes the arguments of f, and a tangent for each that is a float.",
            "write 'dt.fwd_diff(f)(x, y, x_dot, y_dot)'.",
        )
    primals = items[: dots[0]]
    region, result = _region(cx, node, function, primals)
    pairs = list(zip(filter(varies, primals), items[dots[0] :], strict=True))
    seeds = [seed for item, dot in pairs for seed in _seeds(cx, node, item, dot)]
    tangents = [pair for item, dot in pairs for pair in _tangents_of_arrays(cx, node, item, dot)]
    results = region.body.results
    outs = [Var(f"dot_{r.name if isinstance(r, Var) else ''}", r.type) for r in results]
    region.append(cx, node, outs, seeds, tuple(tangents), forward=True)
    return with_floats(result, outs)


def _tangents_of_arrays(cx: Context, node: ast.Call, item: Item, dot: Item) -> Gradients:
    """Return each array of the thread in an argument with the array of its tangent.

    Raises:
        TypeMismatch: The tangent is not an array of the same form.
    """
    own = arrays_in(cx, item)
    if not own:
        return ()
    dots = [one.array for one in leaves(dot) if isinstance(one, FieldRef)]
    pairs = tuple(zip(own, dots, strict=False))
    forms = [[(one.type, one.size, one.axes) for one in pair] for pair in pairs]
    if len(own) != len(dots) or any(first != second for first, second in forms):
        raise TypeMismatch(
            cx.span(node), f"{describe(dot)} is given for the tangent of {describe(item)}."
        )
    return pairs


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
        given: Gradients,
        *,
        forward: bool,
    ) -> None:
        """Append the derivative; in a rule, what the call reads of its arguments gets gradients.

        Those are fields, and arrays of the thread that the func with the rule is given and does
        not write.
        """
        gradients = list(given)
        if cx.rule is not None:
            for array in dict.fromkeys(s.array for s in walk(self.body) if isinstance(s, Load)):
                own = array.size is not None and array not in cx.rule.arrays
                has_gradient = not own and is_float(array.type.element)
                if has_gradient and array.gradient_of is None:
                    gradients.append((array, cx.rule.gradient(array, incoming=False)))
        parts = (tuple(outs), self.params, self.args, tuple(seeds), self.body, forward)
        cx.b.append(Derivative(*parts, tuple(gradients), cx.span(node)))


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
