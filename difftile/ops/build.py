"""A builder that types each op from its row and simplifies what it appends."""

from __future__ import annotations

from collections.abc import Sequence

from difftile.ir.build import Builder
from difftile.ir.nodes import Const, Let, Stmt, Value, Var
from difftile.ir.types import FLOATS, Matrix, Scalar, Type, scalar_of, with_scalar
from difftile.ops.simplify import simplify
from difftile.ops.table import OPS


class OpBuilder(Builder):
    """Appends ops by name; returns an existing value instead where the op is an identity."""

    def __init__(self) -> None:
        super().__init__()
        self._defs: dict[Var, Let] = {}

    def append(self, stmt: Stmt) -> None:
        """Append a statement as it is, and remember how its variable is defined."""
        if isinstance(stmt, Let):
            self._defs[stmt.out] = stmt
        super().append(stmt)

    def definition(self, value: Value) -> Let | None:
        """Return the op that defines a value, where it is known."""
        return self._defs.get(value) if isinstance(value, Var) else None

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
        if simpler is not None:
            return simpler
        return self.let(op, args, result, name)

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


def zero(type_: Type) -> Const:
    """Return the zero of a type that stands for nothing: products with it are nothing as well."""
    return Const(0.0 if scalar_of(type_) in FLOATS else 0, type_, structural=True)
