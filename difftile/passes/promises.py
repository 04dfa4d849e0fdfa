"""Promises under debug: every store whose index is promised to be unique leaves a mark.

The mark is the number of the iteration, kept at the element that is stored to. An iteration that
finds the mark of another one reports both.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.ir.failures import BrokenPromise
from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    Fail,
    Let,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import I32, FieldType
from difftile.ir.walk import walk, with_blocks, with_tasks
from difftile.ops.build import OpBuilder


def verify(program: Program) -> tuple[Program, tuple[Array, ...]]:
    """Return the program with such marks, and the memory for them, which is zero before a launch.

    The memory has the shape of the array that it is `like`.
    """
    lets = {s.out: s for s in walk(program.body) if isinstance(s, Let)}
    if not any(let.op == "unique" for let in lets.values()):
        return program, ()
    marks: list[Array] = []

    def verified(loop: ParallelFor) -> list[Stmt]:
        verifier = _Verifier(loop, lets)
        body = verifier.task()
        marks.extend(verifier.marks.values())
        return [replace(loop, body=body)]

    return with_tasks(program, verified), tuple(marks)


class _Verifier:
    """Marks the stores of one parallel loop."""

    def __init__(self, loop: ParallelFor, lets: dict[Var, Let]) -> None:
        self.loop = loop
        self.lets = lets
        self.marks: dict[Array, Array] = {}
        self.b = OpBuilder()
        self.number: Value = Const(0, I32)
        self.box: tuple[Value, ...] = ()

    def task(self) -> Block:
        """Return the body of the loop."""
        b, loop = self.b, self.loop
        with b.region() as stmts:
            b.span = loop.span
            widths = [b.call("sub", *ends) for ends in zip(loop.stops, loop.starts, strict=True)]
            number = b.expr(Const(0, I32))
            for index, start, width in zip(loop.indices, loop.starts, widths, strict=True):
                step = b.expr(index) - start
                number = number * width + step
            self.number = (number + 1).value  # zero is not a mark
            self.box = (*loop.starts, *widths)
            inner = self.block(loop.body)
        return Block((*stmts, *inner.stmts), inner.results)

    def block(self, block: Block) -> Block:
        with self.b.region() as stmts:
            for stmt in block.stmts:
                self.b.span = stmt.span
                if isinstance(stmt, Store):
                    self.store(stmt)
                if isinstance(stmt, Ruled):
                    self.b.append(replace(stmt, body=self.block(stmt.body)))
                else:
                    self.b.append(with_blocks(stmt, self.block))
        return replace(block, stmts=tuple(stmts))

    def store(self, stmt: Store) -> None:
        b, array = self.b, stmt.array
        index = stmt.index[: array.type.ndim]
        if array.size is not None or not any(self.promised(i) for i in index):
            return
        mark = self.marks.get(array)
        if mark is None:
            type_ = FieldType(I32, array.type.ndim)
            mark = self.marks[array] = Array(f"{array.name}_marks", type_, like=array)
        found = Var("mark", I32)
        b.combine("max", mark, tuple(self.unpromised(i) for i in index), self.number, found)
        other = b.expr(found).ne(0) & b.expr(found).ne(self.number)
        names = tuple(v.name for v in self.loop.indices)
        fail = Fail(BrokenPromise(array.name, names), (found, self.number, *self.box), b.span)
        with b.branch(other.value):
            b.append(fail)

    def promised(self, value: Value) -> bool:
        """Tell whether a promise has part in an index."""
        let = self.lets.get(value) if isinstance(value, Var) else None
        return let is not None and (let.op == "unique" or any(map(self.promised, let.args)))

    def unpromised(self, value: Value) -> Value:
        """Return an index as it is without promises, so that no pass relies on them for marks."""
        let = self.lets.get(value) if isinstance(value, Var) else None
        if let is None or not self.promised(value):
            return value
        args = [self.unpromised(arg) for arg in let.args]
        return args[0] if let.op == "unique" else self.b.call(let.op, *args, type_=let.out.type)
