"""The state of lowering one kernel: the builder, the bindings of names, the captured objects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field, replace
from typing import Any, TypeAlias

from difftile.diagnostics import (
    KernelError,
    Label,
    Span,
    TypeMismatch,
    UnsupportedSyntax,
)
from difftile.frontend.captures import Capture, Path
from difftile.frontend.draws import DRAWS, Draws
from difftile.frontend.items import (
    Components,
    Element,
    FieldRef,
    Item,
    Local,
    Place,
    Record,
    Static,
    Unbound,
    describe,
    element_text,
    is_number,
)
from difftile.frontend.rule_scope import RuleScope
from difftile.frontend.source import Source
from difftile.frontend.syntax import REFUSED
from difftile.ir.failures import TooLarge
from difftile.ir.nodes import Array, Block, Const, Fail, If, Stmt, Value, Var
from difftile.ir.types import (
    BOOL,
    F16,
    F32,
    FLOATS,
    I32,
    Scalar,
    Type,
    integer_limits,
    is_signed,
    scalar_of,
    shape_of,
)
from difftile.ops.build import OpBuilder
from difftile.ops.row import OpTypeError
from difftile.ops.vocabulary import Meaning, Meanings, PythonFunction, Special
from difftile.records import dataclass

Env: TypeAlias = dict[str, Item]
ExpressionHandler: TypeAlias = Callable[["Context", Any, str], Item]
StatementHandler: TypeAlias = Callable[["Context", Any], None]


@dataclass(frozen=True, slots=True)
class Branch:
    """One lowered branch.

    Args:
        stmts: Its statements.
        env: The bindings at its end.
        bound_at: The statements that bound them.
        pending: Random draws at its end that the hidden local does not count yet.
    """

    stmts: list[Stmt]
    env: Env
    bound_at: dict[str, Span]
    pending: int


@dataclass(frozen=True, slots=True)
class Returning:
    """The results of `return` statements of a func that may leave a loop.

    Args:
        names: The locals that take the parts of the result; empty while their types are unknown.
        types: Their types.
        found: The results met so far, each with its place.
    """

    names: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    found: list[tuple[Span, Item]] = field(default_factory=list[tuple[Span, Item]])


@dataclass(frozen=True, slots=True)
class Result:
    """The values that a kernel returns.

    Args:
        cells: Where each value stands after the launch.
        types: The type of each value; a bool stands in memory as an integer.
        several: They are a tuple.
    """

    cells: tuple[Array, ...]
    types: tuple[Type, ...]
    several: bool


@dataclass(frozen=True, slots=True)
class FunctionScope:
    """The function that is being lowered, and where in it.

    Args:
        source: The function.
        callers: The functions around it, outermost first; none for a kernel.
        top_level: Loops met here run in parallel.
        reductions: The locals that the parallel loop around adds to, and their cells.
        axes: Index, start and stop of each axis of that loop; none at the top level.
        stream: The number of its stream of random draws; 0 at the top level.
        returning: The results of a func that are returned from loops.
        rule: The rule that is being lowered.
        ruling: The funcs whose rules are being lowered.
        alone: The kernel runs on one thread, in a loop of one iteration.
    """

    source: Source
    callers: tuple[Source, ...] = ()
    top_level: bool = True
    reductions: Mapping[str, Array] = field(default_factory=dict[str, Array])
    axes: tuple[tuple[Value, Value, Value], ...] = ()
    stream: int = 0
    returning: Returning = field(default_factory=Returning)
    rule: RuleScope | None = None
    ruling: tuple[PythonFunction, ...] = ()
    alone: bool = False

    def called(self, source: Source) -> FunctionScope:
        """Return the scope of a function that is called here; its locals are others."""
        callers = (*self.callers, self.source)
        return replace(
            self,
            source=source,
            callers=callers,
            top_level=False,
            reductions={},
            returning=Returning(),
        )


@dataclass(frozen=True, slots=True)
class Outside:
    """The names and fields that a kernel takes from outside.

    Args:
        captures: Each captured object, by its path.
        arrays: The fields met so far, parameters included, by identity.
        memories: Their memory.
        views: The views of fields.
    """

    captures: dict[Path, Capture] = field(default_factory=dict[Path, Capture])
    arrays: dict[Hashable, FieldRef] = field(default_factory=dict[Hashable, FieldRef])
    memories: set[int] = field(default_factory=set[int])
    views: dict[Path, FieldRef] = field(default_factory=dict[Path, FieldRef])


class _Placed:
    """Marks statements that are appended inside with a place, in less time than a generator.

    Args:
        b: The builder that appends them.
        span: The place.
    """

    __slots__ = ("_b", "_span")

    def __init__(self, b: OpBuilder, span: Span) -> None:
        self._b = b
        self._span: Span | None = span

    def __enter__(self) -> None:
        b = self._b
        b.span, self._span = self._span, b.span

    def __exit__(self, *error: object) -> None:
        self._b.span = self._span


@dataclass
class Context:
    """The state of lowering one kernel; handlers call each other through `expr` and `run` only.

    Args:
        scope: The function being lowered. Changed by `within` only.
        meanings: Gives the meaning of a Python object in a kernel.
        float_type: The type of float literals and of Python floats passed in.
        expressions: Handlers of expressions by syntax node.
        statements: Handlers of statements by syntax node.
        vector_of: Makes a vector or matrix of a tuple of numbers; None of anything else.
        b: Builds the program.
        outside: The captured objects.
        temps: Cells for locals that a parallel loop adds to, and for results.
        draws: Random draws so far.
        env: The bindings of names. Exchanged by `frame`.
        bound_at: The statement that bound each local last, for errors.
        serialize_next: The next loop is not parallel.
        unrolled: The iterations of unrolled loops since the outermost one began.
        result: The values that the kernel returns, once its `return` was met.
    """

    scope: FunctionScope
    meanings: Meanings
    float_type: Scalar
    expressions: Mapping[type[ast.expr], ExpressionHandler]
    statements: Mapping[type[ast.stmt], StatementHandler]
    vector_of: Callable[[Context, Item], Value | None]
    b: OpBuilder = field(default_factory=OpBuilder)
    outside: Outside = field(default_factory=Outside)
    temps: list[Array] = field(default_factory=list[Array])
    draws: Draws = field(default_factory=Draws)
    env: Env = field(default_factory=dict[str, Item])
    bound_at: dict[str, Span] = field(default_factory=dict[str, Span])
    serialize_next: bool = False
    unrolled: int = 0
    result: Result | None = None

    def __post_init__(self) -> None:
        self.env.setdefault(DRAWS, Const(0, I32))

    # Dispatch

    def expr(self, node: ast.expr, name: str = "") -> Item:
        """Lower an expression; `name` is a name for its value in printed programs."""
        b = self.b
        before, b.span = b.span, self.scope.source.span(node)  # as `at`, in less time
        try:
            handler = self.expressions.get(type(node))
            if handler is None:
                raise self.refusal(node)
            return handler(self, node, name)
        finally:
            b.span = before

    def operand(self, node: ast.expr, name: str = "") -> Item:
        """Lower an expression whose value is needed now: an element of a field is read here."""
        item = self.expr(node, name)
        if not isinstance(item, (Place, Record)):
            return item
        with self.at(node):
            return self.loaded(item, name)

    def loaded(self, item: Item, name: str = "") -> Item:
        """Return an item with its elements of fields read."""
        match item:
            case Place(Local(item=inner), components):
                value = self.value(inner)
                return value if components is None else self.extracted(value, components)
            case Place(Element(array, index), components):
                rule = self.scope.rule
                if rule is not None and array.size is None:
                    rule.check_read(array, self.b.span)
                if components is None:
                    return self.wide(self.b.load(array, index, name))
                cells = components.cells
                if item.is_single:
                    return self.wide(self.b.load(array, (*index, *cells[0]), name))
                if all(isinstance(at, Const) for cell in cells for at in cell):
                    return self.extracted(self.wide(self.b.load(array, index)), components, name)
                parts = [self.wide(self.b.load(array, (*index, *cell))) for cell in cells]
                return self.b.assembled(components.shape, parts, name)
            case Record(names, items):
                named = zip(names, items, strict=True)
                return item.with_items([self.loaded(i, f"{name}.{n}") for n, i in named])
            case _:
                return item

    def extracted(self, value: Value, components: Components, name: str = "") -> Value:
        """Return some components of a vector or matrix."""
        single = name if not components.shape else ""
        cells = [self.call("extract", value, *cell, name=single) for cell in components.cells]
        return self.b.assembled(components.shape, cells, name)

    def check_write(self, array: Array, *, adds: bool) -> None:
        """Check that an array may be written here: a rule adds to gradients only."""
        rule = self.scope.rule
        if rule is not None and array.size is None and array not in self.temps:
            rule.check_write(array, self.b.span, adds=adds)

    def wide(self, value: Value) -> Value:
        """Return a value as arithmetic takes it: half precision is for storage."""
        return self.b.cast(value, F32) if scalar_of(value.type) == F16 else value

    def numeric(self, node: ast.expr, name: str = "") -> Item:
        """Lower an expression that must be a number, vector or matrix; literals stay literals."""
        item = self.operand(node, name)
        if is_number(item) or isinstance(item, (Var, Const)):
            return item
        with self.at(node):
            return self.value(item)

    def number(self, node: ast.expr, name: str = "") -> Value:
        """Lower an expression that must be a run-time value."""
        item = self.operand(node, name)
        with self.at(node):
            return self.value(item)

    def integer(self, node: ast.expr, item: Item, what: str) -> Value:
        """Return an item that must be one integer, as an i32."""
        with self.at(node):
            value = self.value(item)
            scalar = scalar_of(value.type)
            if shape_of(value.type) or scalar in FLOATS:
                raise TypeMismatch(
                    self.span(node),
                    f"{what} is an integer.",
                    f"{value.type}",
                    hint="cast it: 'int(...)' or 'ti.cast(..., ti.i32)'.",
                )
            return self.narrowed(value, what)

    def narrowed(self, value: Value, what: str) -> Value:
        """Return an integer as an i32; one of a wider type that does not fit is a failure."""
        scalar = scalar_of(value.type)
        low, high = integer_limits(I32)
        if scalar != BOOL and isinstance(value, Var) and integer_limits(scalar)[1] > high:
            outside = self.call("gt", value, Const(high, scalar))
            if is_signed(scalar):
                outside = self.call("or", outside, self.call("lt", value, Const(low, scalar)))
            fail = Fail(TooLarge(what), (value, Const(high + 1, scalar)), self.b.span)
            self.b.append(If(outside, Block((fail,)), Block(()), (), self.b.span))
        return self.b.cast(value, I32)

    def run(self, stmts: Sequence[ast.stmt]) -> None:
        """Lower statements one after the other."""
        for stmt in stmts:
            with self.at(stmt):
                handler = self.statements.get(type(stmt))
                if handler is None:
                    raise self.refusal(stmt)
                handler(self, stmt)

    def branch(self, lower: Callable[[], None]) -> Branch:
        """Lower one branch in a region of its own, which leaves the bindings here as they are."""
        pending = self.draws.pending
        try:
            with self.frame(dict(self.env), dict(self.bound_at)), self.b.region() as stmts:
                lower()
                return Branch(stmts, self.env, self.bound_at, self.draws.pending)
        finally:
            self.draws.pending = pending

    def count_draws(self) -> None:
        """Bring the hidden local of random draws up to date, before it is carried."""
        if self.draws.pending:
            before = self.value(self.env[DRAWS])
            pending = Const(self.draws.pending, I32)
            self.env[DRAWS] = self.call("add", before, pending, name="draws")
            self.draws.pending = 0

    def refusal(self, node: ast.AST) -> KernelError:
        """Return the error for a construct outside the language."""
        span = self.keyword_span(node)
        usual = (f"'{span.shown}'", "leave it out of the kernel.")
        construct, hint = REFUSED.get(type(node), usual)
        return UnsupportedSyntax(span, construct, hint)

    # Places

    def span(self, node: ast.AST) -> Span:
        """Return where a node stands in the user's file."""
        return self.scope.source.span(node)

    def keyword_span(self, node: ast.AST) -> Span:
        """Return the span of an expression, or of the first word of a statement."""
        span = self.source.span(node)
        if isinstance(node, ast.expr):
            return span
        word = span.text[span.column :].split(None, 1)[0].rstrip(":")
        return Span(span.file, span.line, span.column, span.column + len(word), span.text)

    def at(self, node: ast.AST) -> AbstractContextManager[None]:
        """Mark statements that are appended inside with the place of a node."""
        return _Placed(self.b, self.scope.source.span(node))

    # Scopes and frames

    @property
    def source(self) -> Source:
        """The function being lowered."""
        return self.scope.source

    @property
    def rule(self) -> RuleScope | None:
        """The rule that is being lowered."""
        return self.scope.rule

    @contextmanager
    def within(self, scope: FunctionScope) -> Generator[None]:
        """Lower in another scope inside the `with` block."""
        before, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = before

    def nested(self) -> AbstractContextManager[None]:
        """Lower below the top level, where loops are serial."""
        return self.within(replace(self.scope, top_level=False))

    @contextmanager
    def frame(self, env: Env, bound_at: dict[str, Span] | None = None) -> Generator[None]:
        """Lower with other bindings inside the `with` block."""
        before = self.env, self.bound_at
        self.env = env
        if bound_at is not None:
            self.bound_at = bound_at
        try:
            yield
        finally:
            self.env, self.bound_at = before

    # Names

    def bind(self, name: str, item: Item, stmt: ast.AST) -> None:
        """Let a local stand for something from here on."""
        self.env[name] = item
        self.bound_at[name] = self.source.span(stmt)

    def unbind(self, names: Sequence[str], reason: str, hint: str | None = None) -> None:
        """Mark names whose binding ends with a block."""
        for name in names:
            self.env[name] = Unbound(reason, hint)

    def note(self, name: str, text: str) -> tuple[Label, ...]:
        """Return a label for the statement that bound a local, if one did."""
        return (Label(self.bound_at[name], text),) if name in self.bound_at else ()

    def meaning(self, item: Item) -> Meaning | None:
        """Return the meaning of an item in a kernel, if it is a Python object that has one."""
        return self.meanings(item.value) if isinstance(item, Static) else None

    def special(self, node: ast.expr) -> str:
        """Return the name of the special form that a call is, such as 'range', or ''."""
        root = node.func if isinstance(node, ast.Call) else None
        while isinstance(root, ast.Attribute):
            root = root.value
        # Only a plain or dotted name can be one; anything else would be lowered twice.
        if not isinstance(node, ast.Call) or not isinstance(root, ast.Name):
            return ""
        is_value = isinstance(self.env.get(root.id), (Var, Const))
        if is_value or not isinstance(self.expr(root), Static):
            return ""
        meaning = self.meaning(self.expr(node.func))
        return meaning.name if isinstance(meaning, Special) else ""

    # Values

    def value(self, item: Item, like: Type | None = None) -> Value:
        """Return an item as a run-time value, a tuple of numbers as a vector.

        Args:
            item: The item.
            like: The type that lends its number type to a literal.
        """
        match item:
            case Var() | Const():
                return item
            case Place():
                return self.value(self.loaded(item))
            case Static(bool() as flag):
                return Const(flag, BOOL)
            case Static(int() as number):
                scalar = I32 if like is None or scalar_of(like) == BOOL else scalar_of(like)
                return self.literal(number, scalar)
            case Static(float() as number):
                scalar = self.float_type if like is None else scalar_of(like)
                return Const(number, scalar if scalar in FLOATS else self.float_type)
            case _:
                vector = self.vector_of(self, item)
                if vector is not None:
                    return vector
                hint = None
                if isinstance(item, FieldRef):
                    hint = f"read one element of it: '{element_text(item)}'."
                if isinstance(item, Record):
                    hint = f"pick a member of it: '.{item.names[0]}'."
                if isinstance(item, Static):
                    hint = getattr(item.value, "_difftile_hint", None)
                raise TypeMismatch(
                    self.b.span, f"expected a number, got {describe(item)}.", hint=hint
                )

    def literal(self, number: int, scalar: Scalar) -> Const:
        """Return an integer as a value of a number type.

        Raises:
            TypeMismatch: The type does not hold it.
        """
        if scalar in FLOATS:
            try:
                return Const(float(number), scalar)
            except OverflowError:
                raise TypeMismatch(self.b.span, "this integer is too large for a float.") from None
        low, high = integer_limits(scalar)
        if not low <= number <= high:
            raise TypeMismatch(
                self.b.span,
                f"{number} does not fit {scalar}." if abs(number) < 1 << 70 else "a huge integer.",
                f"{scalar} goes from {low} to {high}",
                hint="write it as a float, or as a 64-bit integer: 'ti.i64(...)'.",
            )
        return Const(number, scalar)

    def call(self, op: str, *args: Value, name: str = "", type_: Type | None = None) -> Value:
        """Append an op at the current place; types that do not fit are the user's mistake."""
        try:
            return self.b.call(op, *args, name=name, type_=type_)
        except OpTypeError as error:
            raise TypeMismatch(self.b.span, f"{error}.") from None
