"""The state of lowering one kernel: the builder, the bindings of names, what was captured."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from difftile.diagnostics import KernelError, Span, TypeMismatch, UndefinedName, UnsupportedSyntax
from difftile.frontend.captures import MISSING, Capture, key_of, look_up, visible_names
from difftile.frontend.items import Element, FieldRef, Item, Path, Several, Shape, Static, Unbound
from difftile.frontend.source import Source
from difftile.frontend.syntax import REFUSED
from difftile.ir.nodes import Array, Const, Value, Var
from difftile.ir.types import FLOATS, I32, Scalar, Type, scalar_of, shape_of, with_scalar
from difftile.ops.build import OpBuilder
from difftile.ops.row import OpTypeError
from difftile.ops.vocabulary import FieldMeaning, FuncMeaning, Meanings, Refused

Env: TypeAlias = dict[str, Item]
ExpressionHandler: TypeAlias = Callable[["Context", Any, str], Item]
StatementHandler: TypeAlias = Callable[["Context", Any], None]

_CONSTANT_MODULES = ("math", "numpy", "taichi")


@dataclass
class Context:
    """Everything a handler needs; handlers call each other through `expr` and `run` alone.

    Args:
        source: The function being lowered (changes while a func is inlined).
        meanings: What a Python object means in a kernel.
        float_type: The type of float literals and of Python floats passed in.
        expressions: Handlers of expressions by syntax node.
        statements: Handlers of statements by syntax node.
    """

    source: Source
    meanings: Meanings
    float_type: Scalar
    expressions: Mapping[type[ast.expr], ExpressionHandler]
    statements: Mapping[type[ast.stmt], StatementHandler]
    b: OpBuilder = field(default_factory=OpBuilder)
    env: Env = field(default_factory=dict[str, Item])
    captures: dict[tuple[Any, ...], Capture] = field(default_factory=dict[tuple[Any, ...], Capture])
    arrays: dict[int, FieldRef] = field(default_factory=dict[int, FieldRef])
    temps: list[Array] = field(default_factory=list[Array])
    calls: tuple[Source, ...] = ()
    top_level: bool = True
    serialize_next: bool = False
    reductions: dict[str, Array] = field(default_factory=dict[str, Array])

    # Dispatch

    def expr(self, node: ast.expr, name: str = "") -> Item:
        """Lower an expression; `name` is a name for its value in printed programs."""
        with self.at(node):
            handler = self.expressions.get(type(node))
            if handler is None:
                raise self.refusal(node)
            return handler(self, node, name)

    def operand(self, node: ast.expr, name: str = "") -> Item:
        """Lower an expression whose value is needed now: an element of a field is read here."""
        item = self.expr(node, name)
        if isinstance(item, Element):
            with self.at(node):
                return self.b.load(item.array, item.index, name)
        return item

    def run(self, stmts: list[ast.stmt]) -> None:
        """Lower statements one after the other."""
        for stmt in stmts:
            with self.at(stmt):
                handler = self.statements.get(type(stmt))
                if handler is None:
                    raise self.refusal(stmt)
                handler(self, stmt)

    def refusal(self, node: ast.AST) -> KernelError:
        """Return the error for a construct outside the language."""
        construct, hint = REFUSED.get(
            type(node), (type(node).__name__, "write it with the statements kernels have.")
        )
        return UnsupportedSyntax(self.keyword_span(node), construct, hint)

    def keyword_span(self, node: ast.AST) -> Span:
        """Return the span of an expression, or of the first word of a compound statement."""
        span = self.source.span(node)
        if isinstance(node, ast.expr):
            return span
        word = span.text[span.column :].split(None, 1)[0].rstrip(":")
        return Span(span.file, span.line, span.column, span.column + len(word), span.text)

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Mark what is appended inside with the place of a node."""
        before = self.b.span
        self.b.span = self.source.span(node)
        try:
            yield
        finally:
            self.b.span = before

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Lower what stands below the top level, where loops are serial."""
        before = self.top_level
        self.top_level = False
        try:
            yield
        finally:
            self.top_level = before

    def span(self, node: ast.AST) -> Span:
        """Return where a node stands in the user's file."""
        return self.source.span(node)

    # Names

    def lookup(self, node: ast.Name) -> Item:
        """Return what a name stands for: a local, a parameter, or something captured."""
        item = self.env.get(node.id)
        if node.id in self.reductions:
            raise KernelError(
                f"Local '{node.id}' is shared by the iterations of a parallel loop.",
                self.span(node),
                "read here",
                hint="only '+=' and '-=' may touch it inside the loop; read it after the loop.",
            )
        if isinstance(item, Unbound):
            raise KernelError(f"Undefined name: '{node.id}'.", self.span(node), item.reason)
        if item is not None:
            return item
        path = Path(self.source.function, (("name", node.id),))
        value = look_up(path)
        if value is MISSING:
            candidates = [*self.env, *visible_names(self.source.function)]
            raise UndefinedName(self.span(node), node.id, candidates)
        return self.captured(value, path)

    def captured(self, value: Any, path: Path | None) -> Item:
        """Return the item of a Python object from outside, and record how to find it again."""
        meaning = self.meanings(value)
        if isinstance(meaning, Refused):
            raise KernelError(
                f"{meaning.what} cannot be used in a kernel.", self.b.span, hint=meaning.hint
            )
        if isinstance(meaning, FieldMeaning):
            return self._captured_field(value, meaning, path)
        if path is None:
            return Static(value)
        if isinstance(value, (float, np.floating)) and not _is_constant_of_library(path):
            return self._captured_float(path)
        if isinstance(value, (bool, int, np.integer)) or isinstance(meaning, FuncMeaning):
            self.captures.setdefault((path,), Capture(path, None, key_of(value)))
        plain = value.item() if isinstance(value, np.generic) else value
        return Static(plain, path)

    def _captured_field(self, value: Any, meaning: FieldMeaning, path: Path | None) -> Item:
        known = self.arrays.get(meaning.identity)
        if known is None:
            if path is None:
                raise KernelError(
                    "A field was reached in a way that cannot be followed again.",
                    self.b.span,
                    hint="pass it as a parameter of the kernel.",
                )
            array = Array(str(path.steps[-1][1]), meaning.type)
            known = FieldRef(array)
            self.arrays[meaning.identity] = known
            self.captures[(path,)] = Capture(path, array)
        elif path is not None and (path,) not in self.captures:
            # The same field under a second name: it must stay the same field at later launches.
            self.captures[(path,)] = Capture(path, None, ("field", meaning.identity))
        return known

    def _captured_float(self, path: Path) -> Item:
        known = self.captures.get((path,))
        if known is None:
            known = Capture(path, Var(str(path.steps[-1][1]), self.float_type))
            self.captures[(path,)] = known
        assert isinstance(known.param, Var)
        return known.param

    # Values

    def value(self, item: Item, like: Type | None = None) -> Value:
        """Return an item as a run-time value; `like` lends its number type to a literal."""
        match item:
            case Var() | Const():
                return item
            case Element(array, index):
                return self.b.load(array, index)
            case Static(bool() as flag):
                return Const(flag, Scalar("bool"))
            case Static(int() as number):
                scalar = I32 if like is None else scalar_of(like)
                if scalar == Scalar("bool"):
                    scalar = I32
                return Const(float(number) if scalar in FLOATS else number, scalar)
            case Static(float() as number):
                scalar = self.float_type if like is None else scalar_of(like)
                return Const(number, scalar if scalar in FLOATS else self.float_type)
            case _:
                raise TypeMismatch(self.b.span, f"a number is wanted here, not {describe(item)}.")

    def number(self, node: ast.expr, name: str = "") -> Value:
        """Lower an expression that must be a run-time value."""
        item = self.expr(node, name)
        with self.at(node):
            return self.value(item)

    def integer(self, node: ast.expr, what: str) -> Value:
        """Lower an expression that must be one integer, as an i32."""
        value = self.number(node)
        scalar = scalar_of(value.type)
        if shape_of(value.type) or scalar in FLOATS:
            raise TypeMismatch(
                self.span(node),
                f"{what} is an integer, not {value.type}.",
                hint="cast it: 'int(...)' or 'ti.cast(..., ti.i32)'.",
            )
        with self.at(node):
            return self.b.cast(value, I32)

    def call(self, op: str, *args: Value, name: str = "", type_: Type | None = None) -> Value:
        """Append an op at the current place; types that do not fit are the user's mistake."""
        try:
            return self.b.call(op, *args, name=name, type_=type_)
        except OpTypeError as error:
            raise TypeMismatch(self.b.span, f"{error}.") from None

    def as_type(self, value: Value, type_: Type) -> Value:
        """Return the value cast to the number type of a type."""
        return self.b.cast(value, scalar_of(with_scalar(type_, scalar_of(type_))))


def _is_constant_of_library(path: Path) -> bool:
    """Tell whether a float is a constant such as `math.pi`, which cannot change."""
    root = look_up(Path(path.function, path.steps[:1]))
    return getattr(root, "__name__", "").split(".")[0] in _CONSTANT_MODULES and len(path.steps) > 1


def describe(item: Item) -> str:
    """Name an item in the user's words."""
    match item:
        case Var(_, type_) | Const(_, type_):
            return f"a value of type {type_}"
        case Static(value):
            return f"'{getattr(value, '__name__', value)}'"
        case FieldRef(array):
            return f"the field '{array.name}'"
        case Shape(array):
            return f"the shape of '{array.name}'"
        case Several():
            return "a tuple"
        case Element(array):
            return f"an element of '{array.name}'"
        case Unbound():
            return "an unbound name"
