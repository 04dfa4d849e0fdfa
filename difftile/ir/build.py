"""Building blocks of statements one after the other."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from difftile.diagnostics import Span
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Combine,
    If,
    Let,
    Load,
    Size,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, Type, scalar_of, shape_of, shaped


class Builder:
    """Appends statements with the current `span` to the innermost open region."""

    def __init__(self) -> None:
        self._open: list[list[Stmt]] = [[]]
        self.span: Span | None = None

    @property
    def stmts(self) -> list[Stmt]:
        """The statements of the innermost open region."""
        return self._open[-1]

    def append(self, stmt: Stmt) -> None:
        """Append a statement as it is."""
        self._open[-1].append(stmt)

    def extend(self, stmts: Iterable[Stmt]) -> None:
        """Append statements as they are."""
        for stmt in stmts:
            self.append(stmt)

    @contextmanager
    def region(self) -> Generator[list[Stmt]]:
        """Collect the statements appended inside the `with` block in a list of their own."""
        stmts: list[Stmt] = []
        self._open.append(stmts)
        try:
            yield stmts
        finally:
            self._open.pop()

    @contextmanager
    def branch(self, cond: Value) -> Generator[None]:
        """Run the statements appended inside the `with` block only where a condition holds."""
        span = self.span
        with self.region() as stmts:
            yield
        self.append(If(cond, Block(tuple(stmts)), Block(()), (), span))

    def block(self) -> Block:
        """Return everything appended at the top as a block."""
        return Block(tuple(self._open[0]))

    def let(self, op: str, args: tuple[Value, ...], type_: Type, name: str = "") -> Var:
        """Append `out = op(args)` and return `out`."""
        out = Var(name, type_)
        self.append(Let(out, op, args, self.span))
        return out

    def size(self, array: Array, axis: int) -> Var:
        """Append `out = array.shape[axis]` and return `out`."""
        out = Var(f"n_{array.name}" if array.type.ndim == 1 else f"n{axis}_{array.name}", I32)
        self.append(Size(out, array, axis, self.span))
        return out

    def load(self, array: Array, index: tuple[Value, ...], name: str = "") -> Var:
        """Append `out = array[index]` and return `out`."""
        out = Var(name or f"{array.name}_at", element_type(array, index))
        self.append(Load(out, array, index, self.span))
        return out

    def store(self, array: Array, index: tuple[Value, ...], value: Value) -> None:
        """Append `array[index] = value`."""
        self.append(Store(array, index, value, self.span))

    def accumulate(
        self, array: Array, index: tuple[Value, ...], value: Value, *, atomic: bool = True
    ) -> None:
        """Append `array[index] += value`."""
        self.append(Accumulate(array, index, value, self.span, atomic))

    def combine(
        self, op: str, array: Array, index: tuple[Value, ...], value: Value, out: Var | None = None
    ) -> None:
        """Append `out = array[index]; array[index] = op(out, value)` as one step."""
        self.append(Combine(out, op, array, index, value, self.span))


def element_type(array: Array, index: tuple[Value, ...]) -> Type:
    """Return the type of `array[index]`, where the index may go on into the element."""
    element = array.type.element
    inside = len(index) - array.type.ndim
    if inside == 0:
        return element
    shape = shape_of(element)
    if inside < 0 or inside != len(shape):
        raise ValueError(f"{len(index)} indices into {array.type}")
    return shaped((), scalar_of(element))
