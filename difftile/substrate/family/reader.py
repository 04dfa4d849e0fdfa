"""Emitted source to statements of Taichi's frontend.

Taichi reads all of Python that its users may write: it declares two variables for an assignment,
makes three operations of a comparison, and reads the functions of its library again at each call.
Every statement that comes of it costs Taichi a search through those around it. This reader knows
only the language of emitted source and of the helper functions in this package: an assignment is
one variable, and functions are put in place of their calls.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import lru_cache
from types import FunctionType
from typing import Any

from difftile.records import dataclass
from difftile.substrate.compiler import private, ti
from difftile.substrate.family.operations import (
    ATOMICS,
    CALLS,
    METHODS,
    Expression,
    Operations,
    Value,
    core,
    is_expression,
)

AnyArray, Expr = private.AnyArray, private.Expr


@dataclass(frozen=True, slots=True)
class Inlined:
    """A function that is put in place of its calls.

    Args:
        definition: Its definition.
        outside: The values of names in it that it does not define.
    """

    definition: ast.FunctionDef
    outside: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Outlined:
    """A function with code of its own.

    Args:
        call: Appends a call with some values.
    """

    call: Callable[[Reader, Sequence[Value]], None]


@dataclass(frozen=True, slots=True)
class _Returned:
    """The value that a function returns."""

    value: Value


@dataclass
class Reader:
    """Appends the statements of a function to the kernel that Taichi builds.

    Args:
        to: Makes expressions and variables.
        names: The values of the function's names.
        outside: The values of other names.
        definition: Returns the definition of a function.
        place: Describes the place of a statement, for messages of debug mode.

    Attributes:
        line: The number of the line of the statement that is read.
    """

    to: Operations
    names: dict[str, Value]
    outside: Mapping[str, Value]
    definition: Callable[[FunctionType], ast.FunctionDef]
    place: Callable[[ast.AST], str]
    line: int = 0
    _declared: list[str] = field(default_factory=list[str])

    # Blocks and names

    def block(self, stmts: Sequence[ast.stmt]) -> _Returned | None:
        """Append statements; the names that they declare end with them."""
        with self.scope():
            for stmt in stmts:
                self.line = stmt.lineno
                place = self.place(stmt)
                if place:
                    self.to.place = core.DebugInfo(place)
                returned = _STATEMENTS[type(stmt)](self, stmt)
                if returned is not None:
                    return returned
        return None

    @contextmanager
    def scope(self) -> Generator[None]:
        """End the names that are declared while this is open."""
        before, self._declared = self._declared, list[str]()
        try:
            yield
        finally:
            for name in self._declared:
                del self.names[name]
            self._declared = before

    def declare(self, name: str, value: Value) -> None:
        """Let a name stand for a value until the end of the block."""
        if name not in self.names:
            self._declared.append(name)
        self.names[name] = value

    def assign(self, target: ast.expr, value: Value, *, static: bool) -> None:
        """Append an assignment; a static one names a value that Python computes."""
        if isinstance(target, ast.Tuple):
            for part, one in zip(target.elts, value, strict=True):
                self.assign(part, one, static=static)
        elif isinstance(target, ast.Name) and static:
            self.declare(target.id, value)
        elif isinstance(target, ast.Name) and not is_expression(self.names.get(target.id)):
            self.declare(target.id, self.to.variable(value))
        else:
            self.to.assign(self.value(target), value)

    # Expressions

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        return _EXPRESSIONS[type(node)](self, node)

    def values(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Return the values of expressions."""
        return [self.value(node) for node in nodes]

    def static(self, node: ast.expr) -> list[ast.expr] | None:
        """Return the arguments of `ti.static`, or None for other expressions."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return None
        return node.args if node.func.attr == "static" else None

    def known(self, nodes: Sequence[ast.expr]) -> Any:
        """Return the value that Python computes for one expression, or for several."""
        names = {name: _wrapped(value) for name, value in self.names.items()}
        found = [
            eval(compile(ast.Expression(node), "<static>", "eval"), dict(self.outside), names)
            for node in nodes
        ]
        return found[0] if len(found) == 1 else tuple(found)

    def inlined(self, function: Inlined, args: Sequence[Value]) -> Value:
        """Append the body of a function in place of its call, and return its value."""
        tree = function.definition
        parameters = list(zip(tree.args.args, args, strict=True))
        places = [value for parameter, value in parameters if parameter.annotation]
        changed = _changed_in(tree)
        names: dict[str, Value] = {}
        for parameter, value in parameters:
            names[parameter.arg] = value
            if parameter.annotation is None and is_expression(value):
                is_own = parameter.arg in changed or any(value is place for place in places)
                names[parameter.arg] = (self.to.variable if is_own else self.to.named)(value)
        inner = Reader(self.to, names, function.outside, self.definition, lambda _: "")
        returned = inner.block(tree.body)
        return None if returned is None else returned.value


@lru_cache(maxsize=256)  # of helpers, which are called again and again
def _changed_in(tree: ast.AST) -> set[str]:
    """Return the names that a function assigns to, or to components of."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            whole = node.value if isinstance(node, ast.Subscript) else node
            if isinstance(whole, ast.Name):
                found.add(whole.id)
    return found


def _wrapped(value: Value) -> Value:
    """Return a value as Taichi's own functions know it."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_wrapped, value))
    return Expr(value) if is_expression(value) else value


def _unwrapped(value: Value) -> Value:
    """Return a value of Taichi's own functions as it is known here."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_unwrapped, value))
    return value.ptr if isinstance(value, Expr) else value


# Statements


def _assign(reader: Reader, stmt: ast.Assign) -> None:
    args = reader.static(stmt.value)
    value = reader.value(stmt.value) if args is None else reader.known(args)
    (target,) = stmt.targets
    reader.assign(target, value, static=args is not None)


def _change(reader: Reader, stmt: ast.AugAssign) -> None:
    """Append `+=` and similar: an atomic addition to an element of an array."""
    target, value = reader.value(stmt.target), reader.value(stmt.value)
    if _is_of_array(reader, stmt.target):
        name = "expr_atomic_add" if isinstance(stmt.op, ast.Add) else "expr_atomic_sub"
        reader.to.builder.insert_expr_stmt(reader.to.call(name, target, value))
    else:
        reader.to.assign(target, reader.to.binary(type(stmt.op), target, value))


def _is_of_array(reader: Reader, node: ast.expr) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and isinstance(reader.names.get(node.id), AnyArray)


def _expression(reader: Reader, stmt: ast.Expr) -> None:
    if isinstance(stmt.value, ast.Call) and id(_function(reader, stmt.value)) in ATOMICS:
        reader.to.builder.insert_expr_stmt(_atomic(reader, stmt.value))
    else:
        reader.value(stmt.value)


def _if(reader: Reader, stmt: ast.If) -> _Returned | None:
    args = reader.static(stmt.test)
    if args is not None:
        return reader.block(stmt.body if reader.known(args) else stmt.orelse)
    to = reader.to
    to.builder.begin_frontend_if(to.of(reader.value(stmt.test)), to.place)
    to.builder.begin_frontend_if_true()
    reader.block(stmt.body)
    to.builder.pop_scope()
    to.builder.begin_frontend_if_false()
    reader.block(stmt.orelse)
    to.builder.pop_scope()
    return None


def _for(reader: Reader, stmt: ast.For) -> None:
    args = reader.static(stmt.iter)
    if args is not None:
        for value in reader.known(args):
            with reader.scope():
                reader.assign(stmt.target, value, static=True)
                reader.block(stmt.body)
        return
    assert isinstance(stmt.iter, ast.Call)
    assert isinstance(stmt.target, ast.Name)
    to = reader.to
    *start, stop = (_bound(to, reader.value(arg)) for arg in stmt.iter.args)
    index = to.builder.make_id_expr("")
    with reader.scope():
        reader.declare(stmt.target.id, to.free(to.typed(index)))
        first = start[0] if start else to.constant(0)
        to.builder.begin_frontend_range_for(index, first, stop, to.place)
        reader.block(stmt.body)
        to.builder.end_frontend_range_for()


def _bound(to: Operations, value: Value) -> Expression:
    bound = to.of(value)
    return bound if bound.get_rvalue_type() == ti.i32 else to.cast(bound, ti.i32)


def _while(reader: Reader, stmt: ast.While) -> None:
    to, builder = reader.to, reader.to.builder
    builder.begin_frontend_while(to.constant(1), to.place)
    if not (isinstance(stmt.test, ast.Constant) and stmt.test.value is True):
        builder.begin_frontend_if(to.of(reader.value(stmt.test)), to.place)
        builder.begin_frontend_if_true()
        builder.pop_scope()
        builder.begin_frontend_if_false()
        builder.insert_break_stmt(to.place)
        builder.pop_scope()
    reader.block(stmt.body)
    builder.pop_scope()


def _break(reader: Reader, stmt: ast.Break) -> None:
    reader.to.builder.insert_break_stmt(reader.to.place)


def _return(reader: Reader, stmt: ast.Return) -> _Returned:
    return _Returned(None if stmt.value is None else reader.value(stmt.value))


def _pass(reader: Reader, stmt: ast.Pass) -> None:
    pass


_STATEMENTS: dict[type[ast.stmt], Callable[..., _Returned | None]] = {
    ast.Assign: _assign,
    ast.AugAssign: _change,
    ast.Expr: _expression,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.Break: _break,
    ast.Return: _return,
    ast.Pass: _pass,
}


# Expressions


def _constant(reader: Reader, node: ast.Constant) -> Value:
    return node.value


def _name(reader: Reader, node: ast.Name) -> Value:
    found = reader.names.get(node.id, reader)
    return reader.outside[node.id] if found is reader else found


def _attribute(reader: Reader, node: ast.Attribute) -> Value:
    whole = reader.value(node.value)
    if is_expression(whole):
        return reader.to.shape(whole)["nm".index(node.attr)]
    return _unwrapped(getattr(whole, node.attr))


def _subscript(reader: Reader, node: ast.Subscript) -> Value:
    whole = reader.value(node.value)
    inside = node.slice
    index = reader.values(inside.elts if isinstance(inside, ast.Tuple) else [inside])
    if isinstance(whole, AnyArray):
        return reader.to.element(whole.ptr, [] if index == [None] else index)
    if is_expression(whole):
        return reader.to.element(whole, index)
    return whole[index[0]]


def _binary(reader: Reader, node: ast.BinOp) -> Value:
    return reader.to.binary(type(node.op), reader.value(node.left), reader.value(node.right))


def _unary(reader: Reader, node: ast.UnaryOp) -> Value:
    return _UNARY[type(node.op)](reader.to, reader.value(node.operand))


_UNARY: dict[type[ast.unaryop], Callable[[Operations, Value], Value]] = {
    ast.USub: Operations.negative,
    ast.Invert: Operations.inverted,
    ast.Not: Operations.opposite,
}


def _compare(reader: Reader, node: ast.Compare) -> Value:
    (right,), (sign,) = node.comparators, node.ops
    return reader.to.compare(type(sign), reader.value(node.left), reader.value(right))


def _logic(reader: Reader, node: ast.BoolOp) -> Value:
    return reader.to.all_of(reader.values(node.values), type(node.op))


def _choice(reader: Reader, node: ast.IfExp) -> Value:
    condition = reader.value(node.test)
    if not is_expression(condition):
        return reader.value(node.body if condition else node.orelse)
    return reader.to.chosen(condition, reader.value(node.body), reader.value(node.orelse))


def _list(reader: Reader, node: ast.List | ast.Tuple) -> Value:
    values = reader.values(node.elts)
    return values if isinstance(node, ast.List) else tuple(values)


def _comprehension(reader: Reader, node: ast.ListComp) -> list[Value]:
    found: list[Value] = []

    def unroll(generators: Sequence[ast.comprehension]) -> None:
        if not generators:
            found.append(reader.value(node.elt))
            return
        over = generators[0].iter
        args = reader.static(over)
        for value in reader.known([over] if args is None else args):
            with reader.scope():
                reader.assign(generators[0].target, value, static=True)
                unroll(generators[1:])

    unroll(node.generators)
    return found


def _text(reader: Reader, node: ast.JoinedStr) -> Value:
    """Return the one number of a text of `print`, with its format."""
    (part,) = node.values
    assert isinstance(part, ast.FormattedValue)
    assert isinstance(part.format_spec, ast.JoinedStr)
    (form,) = part.format_spec.values
    assert isinstance(form, ast.Constant)
    return private.format_numbers(
        "{}", [private.FORMATTED, Expr(reader.value(part.value)), form.value]
    )


def _call(reader: Reader, node: ast.Call) -> Value:
    args = reader.static(node)
    if args is not None:
        return reader.known(args)
    to = reader.to
    if isinstance(node.func, ast.Attribute):
        whole = reader.value(node.func.value)
        if is_expression(whole):
            return METHODS[node.func.attr](to, whole, *reader.values(node.args))
    function = _function(reader, node)
    if id(function) in ATOMICS:
        return to.variable(_atomic(reader, node))
    values = reader.values(node.args)
    if id(function) in CALLS:
        return CALLS[id(function)](to, *values)
    if isinstance(function, private.DataType):
        return to.cast(values[0], function)
    if isinstance(function, Outlined):
        return function.call(reader, values)
    if isinstance(function, Inlined):
        return reader.inlined(function, values)
    helper = private.function_of(function)
    if helper is not None:
        own = Inlined(reader.definition(helper), helper.__globals__)
        return reader.inlined(own, values)
    if function is print:
        function = private.print_numbers
    named = {word.arg: reader.value(word.value) for word in node.keywords if word.arg}
    return _unwrapped(function(*map(_wrapped, values), **named))


def _function(reader: Reader, node: ast.Call) -> Any:
    return reader.value(node.func)


def _atomic(reader: Reader, node: ast.Call) -> Expression:
    return reader.to.call(ATOMICS[id(_function(reader, node))], *reader.values(node.args))


_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _logic,
    ast.IfExp: _choice,
    ast.List: _list,
    ast.Tuple: _list,
    ast.ListComp: _comprehension,
    ast.JoinedStr: _text,
    ast.Call: _call,
}
