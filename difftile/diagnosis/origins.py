"""Where a number that is not finite came from: the statement and the values that went into it.

A program is run by the interpreter, and each value that is NaN or infinite carries the place along
where it became so. Of the sides of a selection only the one that was taken counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from difftile.ad.activity import active_values
from difftile.diagnostics import Span
from difftile.interp import Machine
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Combine,
    Const,
    For,
    Let,
    Load,
    Program,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.walk import definitions, walk
from difftile.substrate import op_text


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value became NaN or infinite.

    Args:
        span: The user's expression.
        step: What was computed, with numbers: `1 / 0 = inf`.
        inputs: The values that went into it, in the user's words.
    """

    span: Span | None
    step: str
    inputs: tuple[str, ...]


class Origins:
    """Watches a program and notes where values come from that are not finite.

    Args:
        program: The program.
        contents: What its arrays hold before it runs.
        adjoints: Those among them that hold adjoints, which have no name in the user's words.
    """

    def __init__(
        self, program: Program, contents: Mapping[Any, Any], adjoints: Collection[Array] = ()
    ) -> None:
        self.found: dict[tuple[Array, tuple[int, ...]], Origin] = {}
        self._program = program
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
        self._known: dict[int, tuple[Any, Origin]] = {}

    def __call__(self, stmt: Stmt, machine: Machine) -> None:
        """Note what a statement has computed."""
        match stmt:
            case Let(out):
                value = machine.values[out]
                if not np.isfinite(value).all():
                    self._know(value, self._of_op(stmt, value, machine))
            case Load(out, array, index, span):
                value = machine.values[out]
                if not np.isfinite(value).all():
                    where = machine.index(array, index)
                    self._know(value, self._of_element(array, where, value, span))
            case Store(array, index, value) | Accumulate(array, index, value):
                self._write(stmt, array, machine.index(array, index), machine.value(value), machine)
            case Combine(_, _, array, index, value):
                self._write(stmt, array, machine.index(array, index), machine.value(value), machine)
            case _:
                pass

    def _know(self, value: Any, origin: Origin | None) -> None:
        if origin is not None:
            self._known[id(value)] = (value, origin)

    def _origin(self, value: Any) -> Origin | None:
        known = self._known.get(id(value))
        return None if known is None else known[1]

    def _of_op(self, let: Let, value: Any, machine: Machine) -> Origin | None:
        args = let.args
        values = [machine.value(arg) for arg in args]
        if let.op == "select" and np.ndim(values[0]) == 0:
            values = values[1:2] if values[0] else values[2:]
            return self._origin(values[0])
        bad = [v for v in values if not np.isfinite(v).all()]
        bad.sort(key=lambda v: not np.isnan(v).any())  # a NaN before an infinity
        for one in bad:
            origin = self._origin(one)
            if origin is not None:
                return origin
        if bad and not np.isnan(value).any():
            return None  # a literal infinity that went on
        return Origin(let.span, _step(let, values, value), self._inputs(let, machine))

    def _of_element(
        self, array: Array, where: tuple[int, ...], value: Any, span: Span | None
    ) -> Origin | None:
        key = (array, where[: array.type.ndim])
        origin = self.found.get(key)
        if origin is None and array in self._held:
            text = f"{array.name}{list(where) if where else ''} = {shown(value)}"
            origin = Origin(span, f"{text} before the launch", ())
        return origin

    def _write(
        self, stmt: Stmt, array: Array, where: tuple[int, ...], value: Any, machine: Machine
    ) -> None:
        key = (array, where[: array.type.ndim])
        held = machine.arrays[array][key[1]]
        if np.isfinite(held).all():
            self.found.pop(key, None)
        elif not np.isfinite(value).all():
            origin = self._origin(value)
            if origin is not None:
                self.found.setdefault(key, origin)
        elif key not in self.found and not self._was_bad(*key):
            self.found[key] = Origin(stmt.span, f"the sum overflows to {shown(held)}", ())

    def _was_bad(self, array: Array, where: tuple[int, ...]) -> bool:
        held = self._held.get(array)
        return held is not None and bool(np.any(held[where]))

    def _inputs(self, let: Let, machine: Machine) -> tuple[str, ...]:
        """Return what goes into an op, in the user's words."""
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
            elif words := _words(value, stmt):
                found[f"{words} = {shown(machine.value(value))}"] = None

        for arg in let.args:
            if isinstance(arg, Var) and arg in self._active:
                stmt = self._defs.get(arg)
                if isinstance(stmt, Let) and stmt.span == let.span:
                    for inner in stmt.args:
                        visit(inner)
            visit(arg)
        return tuple(found)


def _words(value: Var, stmt: Stmt | None) -> str:
    """Return what a value is called in the user's program."""
    span = None if stmt is None else stmt.span
    named = value.name if not isinstance(stmt, Load) else ""
    return named or ("" if span is None else span.shown)


def _step(let: Let, values: list[Any], result: Any) -> str:
    said = op_text(let.op, [shown(value) for value in values])
    return f"{said} = {shown(result)}"


def shown(value: Any) -> str:
    """Write a number, or the components of a vector or matrix."""
    if np.ndim(value):
        return f"[{', '.join(shown(part) for part in value)}]"
    if np.issubdtype(np.asarray(value).dtype, np.inexact):
        return f"{float(value):.6g}"
    return str(value)


class Growth:
    """Watches a program and notes by how much numbers grow in its loops.

    Args:
        program: The program.
        adjoints: What varies with these arrays is looked at.
    """

    def __init__(self, program: Program, adjoints: Collection[Array]) -> None:
        self.factors: dict[Span, float] = {}
        self._active = active_values(program, adjoints)

    def __call__(self, stmt: Stmt, machine: Machine) -> None:
        """Note what a loop has done."""
        if not isinstance(stmt, (For, While)) or stmt.span is None:
            return
        pairs = zip(stmt.carries, stmt.inits, stmt.outs, strict=True)
        carried = [(init, out) for carry, init, out in pairs if carry in self._active]
        size = _largest([machine.value(init) for init, _ in carried])
        if size > 0:
            factor = _largest([machine.value(out) for _, out in carried]) / size
            self.factors[stmt.span] = max(self.factors.get(stmt.span, 0.0), factor)


def _largest(values: list[Any]) -> float:
    sizes = [
        float(np.max(np.abs(value)))
        for value in values
        if np.issubdtype(np.asarray(value).dtype, np.floating)
    ]
    return max(sizes, default=0.0)
