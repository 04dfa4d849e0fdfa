"""A builder that types each op from its row and simplifies what it appends, with operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from difftile.ir.build import Builder
from difftile.ir.nodes import Const, Let, Size, Stmt, Value, Var
from difftile.ir.types import BOOL, FLOATS, Matrix, Scalar, Type, scalar_of, with_scalar
from difftile.ops.simplify import simplify
from difftile.ops.table import OPS
from difftile.records import dataclass

Key = TypeVar("Key")


class OpBuilder(Builder):
    """Appends ops by name; returns an existing value instead where the op is an identity."""

    def __init__(self) -> None:
        super().__init__()
        self._defs: dict[Var, Let] = {}
        self._sizes: set[Value] = set()
        self._latest: Value | None = None  # appended by the latest `call` itself

    def append(self, stmt: Stmt) -> None:
        """Append a statement as it is, and remember how its variable is defined."""
        if isinstance(stmt, Let):
            self._defs[stmt.out] = stmt
        elif isinstance(stmt, Size):
            self._sizes.add(stmt.out)
        super().append(stmt)

    def definition(self, value: Value) -> Let | None:
        """Return the op that defines a value, where it is known."""
        return self._defs.get(value) if isinstance(value, Var) else None

    def is_size(self, value: Value) -> bool:
        """Tell whether a value is an extent of an array."""
        return value in self._sizes

    def call(self, op: str, *args: Value, name: str = "", type_: Type | None = None) -> Value:
        """Return the value of `op(args)`.

        Args:
            op: A name in the table of ops.
            args: Its arguments, already of types that the row accepts.
            name: A name for the result in printed programs.
            type_: The result type, for `cast` and `mat`, which do not follow from the arguments.

        Raises:
            OpTypeError: The row does not accept these types.
        """
        result = OPS[op].typing(tuple(arg.type for arg in args)) if type_ is None else type_
        simpler = simplify(self, op, args, result)
        self._latest = None
        if simpler is not None:
            return simpler
        self._latest = self.let(op, args, result, name)
        return self._latest

    def again(self, let: Let) -> Value:
        """Return the value of an op, which is appended as it is if it is no identity."""
        self.span = let.span
        simpler = simplify(self, let.op, let.args, let.out.type)
        if simpler is not None:
            return simpler
        self._latest = None
        self.append(let)
        return let.out

    def expr(self, value: Value) -> Expr:
        """Return a handle on a value whose operators append ops here."""
        return Expr(self, value)

    def renamed(self, value: Value, name: str) -> Value:
        """Return the value that the latest `call` appended, under a name; another one as it is."""
        if value is not self._latest:
            return value
        let = self.stmts.pop()
        assert isinstance(let, Let) and let.out is value
        self._latest = self.let(let.op, let.args, value.type, name)
        return self._latest

    def add_to(self, totals: dict[Key, Value], key: Key, value: Value) -> None:
        """Add a value to an entry of a table of sums, or start the entry."""
        known = totals.get(key)
        totals[key] = value if known is None else self.call("add", known, value)

    def cast(self, value: Value, scalar: Scalar, name: str = "") -> Value:
        """Return the value with another number type."""
        if scalar_of(value.type) == scalar:
            return value
        return self.call("cast", value, type_=with_scalar(value.type, scalar), name=name)

    def assembled(
        self, shape: tuple[int, ...], components: Sequence[Value], name: str = ""
    ) -> Value:
        """Return the number, vector or matrix of a shape with the components, row after row."""
        match shape:
            case ():
                return components[0]
            case (n, m):
                return self.matrix((n, m), tuple(components), name)
            case _:
                return self.call("vec", *components, name=name)

    def matrix(
        self, shape: tuple[int, int], components: tuple[Value, ...], name: str = ""
    ) -> Value:
        """Return the matrix with the components, row after row."""
        type_ = Matrix(*shape, scalar_of(components[0].type))
        return self.call("mat", *components, type_=type_, name=name)


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """A value whose operators append ops to a builder, as `OpBuilder.call` does.

    A Python number as the other operand is a literal of its type. `==` compares handles, as for any
    object: `eq` and `ne` append comparisons. Python evaluates operands from left to right, and so
    the statements are appended in the order in which a formula is read.
    """

    builder: OpBuilder
    value: Value

    def call(self, op: str, *others: ExprLike) -> Expr:
        """Append `op(self, *others)`."""
        args = (self._lifted(other) for other in others)
        return Expr(self.builder, self.builder.call(op, self.value, *args))

    def _reflected(self, op: str, other: ExprLike) -> Expr:
        return Expr(self.builder, self.builder.call(op, self._lifted(other), self.value))

    def _lifted(self, other: ExprLike) -> Value:
        if isinstance(other, Expr):
            return other.value
        if isinstance(other, (Var, Const)):
            return other
        is_float = scalar_of(self.value.type) in FLOATS
        return Const(float(other) if is_float else other, self.value.type)

    def named(self, name: str) -> Expr:
        """Name the value in printed programs, where the latest operator appended it."""
        return Expr(self.builder, self.builder.renamed(self.value, name))

    def __add__(self, other: ExprLike) -> Expr:
        return self.call("add", other)

    def __radd__(self, other: ExprLike) -> Expr:
        return self._reflected("add", other)

    def __sub__(self, other: ExprLike) -> Expr:
        return self.call("sub", other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return self._reflected("sub", other)

    def __mul__(self, other: ExprLike) -> Expr:
        return self.call("mul", other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return self._reflected("mul", other)

    def __truediv__(self, other: ExprLike) -> Expr:
        return self.call("div", other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return self._reflected("div", other)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return self.call("floordiv", other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return self._reflected("floordiv", other)

    def __mod__(self, other: ExprLike) -> Expr:
        return self.call("mod", other)

    def __matmul__(self, other: ExprLike) -> Expr:
        return self.call("matmul", other)

    def __neg__(self) -> Expr:
        return self.call("neg")

    def __lt__(self, other: ExprLike) -> Expr:
        return self.call("lt", other)

    def __le__(self, other: ExprLike) -> Expr:
        return self.call("le", other)

    def __gt__(self, other: ExprLike) -> Expr:
        return self.call("gt", other)

    def __ge__(self, other: ExprLike) -> Expr:
        return self.call("ge", other)

    def __and__(self, other: ExprLike) -> Expr:
        return self.call("and" if scalar_of(self.value.type) == BOOL else "bit_and", other)

    def __or__(self, other: ExprLike) -> Expr:
        return self.call("or" if scalar_of(self.value.type) == BOOL else "bit_or", other)

    def __invert__(self) -> Expr:
        return self.call("not")

    def eq(self, other: ExprLike) -> Expr:
        """Append `self == other`."""
        return self.call("eq", other)

    def ne(self, other: ExprLike) -> Expr:
        """Append `self != other`."""
        return self.call("ne", other)

    def min(self, other: ExprLike) -> Expr:
        """Append the lesser of two values."""
        return self.call("min", other)

    def max(self, other: ExprLike) -> Expr:
        """Append the greater of two values."""
        return self.call("max", other)

    def ceildiv(self, size: ExprLike) -> Expr:
        """Append the number of pieces of a size: the quotient rounded up, for sizes above 0."""
        pieces = Expr(self.builder, self._lifted(size))
        return (self + (pieces - 1)) // pieces

    def select(self, then: Value | Expr, orelse: Value | Expr) -> Expr:
        """Append one of two values, chosen by this condition."""
        return self.call("select", then, orelse)


ExprLike: TypeAlias = Expr | Value | float
"""The right side of an operator: a handle, a value, or a number, int and bool included."""


def zero(type_: Type) -> Const:
    """Return the structural zero of a type: products with it are structural zeros as well."""
    return Const(0.0 if scalar_of(type_) in FLOATS else 0, type_, structural=True)
