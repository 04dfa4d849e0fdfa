"""The origins of numbers that are not finite: statements and their operands.

A program runs as Python, and each value that is NaN or infinite carries the place along where
it became so. Only the side of a selection that was taken counts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from difftile.ad.activity import active_values
from difftile.diagnosis.sandbox import Contents
from difftile.diagnostics import Span
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Combine,
    Const,
    Let,
    Load,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.walk import definitions, walk
from difftile.meaning import Machine
from difftile.records import dataclass
from difftile.substrate import op_text


@dataclass(frozen=True, slots=True)
class FaultOrigin:
    """Where a value became NaN or infinite.

    Args:
        span: The user's expression.
        step: The operation, with numbers: `1 / 0 = inf`.
        inputs: Its operands, in the user's words.
        earlier: A field held the value before the program ran.
    """

    span: Span | None
    step: str
    inputs: tuple[str, ...] = ()
    earlier: bool = False


class OriginTracker:
    """Watches a program and notes the origins of values that are not finite.

    Args:
        program: The program.
        contents: The contents of its arrays before it runs.
        adjoints: The arrays that hold adjoints, which have no name in the user's words.

    Attributes:
        found: The origin of each element that is not finite.
    """

    def __init__(
        self, program: Program, contents: Contents, adjoints: Collection[Array] = ()
    ) -> None:
        self.found: dict[tuple[Array, tuple[int, ...]], FaultOrigin] = {}
        self._adjoints = adjoints
        self._active = active_values(program, adjoints)
        self._defs: dict[Var, Stmt] = {
            v: stmt for stmt in walk(program.body) for v in definitions(stmt)
        }
        self._held = {
            a: ~finite
            for a, v in contents.items()
            if isinstance(a, Array) and not (finite := np.isfinite(v)).all()
        }
        # By the identity of a value, which stays the same while it goes through joins and carries.
        # The value is held as well, so that its identity is not given to another one.
        self._known: dict[int, tuple[Any, FaultOrigin]] = {}

    def __call__(self, stmt: Stmt, machine: Machine) -> None:
        """Note the origin of a value that a statement has computed."""
        match stmt:
            case Let(out) | Load(out):
                value = machine.value(out)
                if np.isfinite(value).all():
                    return
                if isinstance(stmt, Let):
                    origin = self._of_op(stmt, value, machine)
                else:
                    origin = self._of_element(stmt, value, machine)
                if origin is not None:
                    self._known[id(value)] = (value, origin)
            case Store() | Accumulate() | Combine():
                self._write(stmt, machine)
            case _:
                pass

    def _origin(self, value: Any) -> FaultOrigin | None:
        known = self._known.get(id(value))
        return None if known is None else known[1]

    def _of_op(self, let: Let, value: Any, machine: Machine) -> FaultOrigin | None:
        values = [machine.value(arg) for arg in let.args]
        if let.op == "select" and np.ndim(values[0]) == 0:
            return self._origin(values[1] if values[0] else values[2])
        bad = [v for v in values if not np.isfinite(v).all()]
        bad.sort(key=lambda v: not np.isnan(v).any())  # a NaN before an infinity
        for one in bad:
            origin = self._origin(one)
            if origin is not None:
                return origin
        if bad and not np.isnan(value).any():
            return None  # a literal infinity that went on
        step = f"{op_text(let.op, [shown(v) for v in values])} = {shown(value)}"
        return FaultOrigin(let.span, step, self._inputs(let, machine))

    def _of_element(self, load: Load, value: Any, machine: Machine) -> FaultOrigin | None:
        array, where = load.array, machine.index(load.array, load.index)
        origin = self.found.get((array, where[: array.type.ndim]))
        if origin is None and array in self._held:
            text = f"{array.name}{list(where) if where else ''} = {shown(value)}"
            origin = FaultOrigin(load.span, f"{text} before the launch", earlier=True)
        return origin

    def _write(self, stmt: Store | Accumulate | Combine, machine: Machine) -> None:
        array, value = stmt.array, machine.value(stmt.value)
        element = machine.index(array, stmt.index)[: array.type.ndim]
        key, now = (array, element), machine.contents(array)[element]
        if np.isfinite(now).all():
            self.found.pop(key, None)
        elif not np.isfinite(value).all():
            origin = self._origin(value)
            if origin is not None:
                self.found.setdefault(key, origin)
        elif key not in self.found:
            held = self._held.get(array)
            if held is None or not np.any(held[element]):
                self.found[key] = FaultOrigin(stmt.span, f"the sum overflows to {shown(now)}")

    def _inputs(self, let: Let, machine: Machine) -> tuple[str, ...]:
        """Return the operands of an op, in the user's words."""
        found: dict[str, None] = {}
        seen: set[Var] = set()

        def visit(value: Value) -> None:
            if isinstance(value, Const) or value in self._active or value in seen:
                return
            seen.add(value)
            stmt = self._defs.get(value)
            if isinstance(stmt, Let) and stmt.span == let.span:
                for arg in stmt.args:
                    visit(arg)
                return
            name = "" if isinstance(stmt, Load) else value.name
            if not name and stmt is not None and stmt.span is not None:
                name = stmt.span.shown
            if name:
                found[f"{name} = {shown(machine.value(value))}"] = None

        for arg in let.args:
            if isinstance(arg, Var) and arg in self._active:
                stmt = self._defs.get(arg)
                if isinstance(stmt, Let) and stmt.span == let.span:
                    for inner in stmt.args:
                        visit(inner)
            visit(arg)
        return tuple(found)


def shown(value: Any) -> str:
    """Return a number, or the components of a vector or matrix, as text."""
    if np.ndim(value):
        return f"[{', '.join(shown(part) for part in value)}]"
    if np.issubdtype(np.asarray(value).dtype, np.inexact):
        return f"{float(value):.6g}"
    return str(value)
