"""Rows of the table of ops as little programs, for the tests that the rows make."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile import meaning
from difftile.ad.forward import forward as push
from difftile.ad.reverse import reverse
from difftile.ir.build import Builder
from difftile.ir.derived import Bar, Dot, primal
from difftile.ir.nodes import Array, Program
from difftile.ir.types import (
    BOOL,
    F64,
    I32,
    FieldType,
    Matrix,
    Type,
    Vector,
    is_float,
    numpy_dtype,
    scalar_of,
    shape_of,
)
from difftile.ops.build import OpBuilder
from difftile.ops.check import check
from difftile.ops.formula import adjoints, composite
from difftile.ops.row import Op, OpTypeError
from difftile.ops.table import ELEMENTWISE

ORDERED = ("zeta", "polygamma")  # the first argument is an integer
DENSE = ("inverse", "solve", "solve_lower", "solve_upper", "cholesky")
Values: TypeAlias = list[npt.NDArray[Any]]

SIZES = (2, 3, 4)
SHAPED = (
    *(Vector(n, F64) for n in SIZES),
    *(Matrix(n, m, F64) for n in SIZES for m in SIZES),
)


# The argument types of a row, found by asking its typing rule


@dataclass(frozen=True)
class Case:
    """A row with argument types that it accepts; `result` is its type then."""

    op: Op
    types: tuple[Type, ...]
    result: Type

    def __str__(self) -> str:
        return f"{self.op.name}({', '.join(map(str, self.types))})"


def accepted(op: Op, types: tuple[Type, ...]) -> Type | None:
    try:
        return op.typing(types)
    except OpTypeError:
        return None


def _candidates(op: Op) -> Iterator[tuple[Type, ...]]:
    """Yield argument types to try: for algebra rows all sizes, else one vector and one matrix."""
    if op.name in ("vec", "mat"):
        yield from ((F64,) * n for n in (2, 3, 4, 6))
        return
    if op.name in ("extract", "insert"):
        last = (F64,) if op.name == "insert" else ()
        yield from ((t, *(I32 for _ in shape_of(t)), *last) for t in SHAPED)
        return
    shaped = (Vector(3, F64), Matrix(2, 3, F64)) if op.name in ELEMENTWISE else SHAPED
    if op.name in DENSE:
        shaped = (*SHAPED, Vector(8, F64), Matrix(8, 8, F64))
    conditions = (BOOL, Vector(3, BOOL), Matrix(2, 3, BOOL))
    arity = len(op.vjp) or len(op.domain)
    places = [(F64, *shaped)] * arity
    if op.name == "select":
        places[0] = conditions
    if op.name in ORDERED:
        places[0] = (I32,)
    yield from itertools.product(*places)


def cases_of(op: Op) -> list[Case]:
    cases: list[Case] = []
    for types in _candidates(op):
        result = accepted(op, types)
        if op.name == "mat":
            result = Matrix(2, len(types) // 2, F64) if len(types) % 2 == 0 else None
        if result is not None:
            cases.append(Case(op, types, result))
    return cases


def draw(case: Case, rng: np.random.Generator) -> Values:
    """Draw arguments from the domain of the row; indices from the valid ones."""
    domain = case.op.domain or ((-2.0, 2.0),) * len(case.types)
    limits = iter(shape_of(case.types[0]))
    values: Values = []
    for k, type_ in enumerate(case.types):
        low, high = domain[k]
        if type_ == I32:
            drawn = rng.integers(low, high) if case.op.domain else rng.integers(next(limits))
            values.append(np.array(drawn, np.int32))
            continue
        drawn = rng.uniform(low, high, shape_of(type_))
        values.append(np.asarray(drawn > 0.5 if scalar_of(type_) == BOOL else drawn))
    if case.op.name in DENSE:
        values[0] = values[0] + 5 * np.eye(len(values[0]))  # far from the singular ones
    return values


# Programs of one op


def inputs(types: tuple[Type, ...], prefix: str = "a") -> tuple[Array, ...]:
    return tuple(Array(f"{prefix}{k}", FieldType(type_, 0)) for k, type_ in enumerate(types))


@cache
def forward(case: Case) -> tuple[Program, tuple[Array, ...], Array]:
    """Return `out = op(args)`, each argument and the result in a field without dimensions."""
    b = Builder()
    fields = inputs(case.types)
    out = Array("out", FieldType(case.result, 0))
    args = tuple(b.load(f, ()) for f in fields)
    b.store(out, (), b.let(case.op.name, args, case.result))
    return check(Program(case.op.name, (*fields, out), b.block())), fields, out


def evaluate(case: Case, values: Values) -> npt.NDArray[Any]:
    program, fields, out = forward(case)
    is_complex = any(np.iscomplexobj(v) for v in values)
    dtype = complex if is_complex and is_float(case.result) else numpy_dtype(scalar_of(case.result))
    result = np.zeros(shape_of(case.result), dtype)
    contents = dict(zip(fields, (v.copy() for v in values), strict=True))
    meaning.run(program, {**contents, out: result}, complex_step=is_complex)
    return result


def row_adjoints(case: Case, values: Values, z_bar: npt.NDArray[Any]) -> list[Any]:
    """Return the adjoint of each argument by the formulas of the row, or None without one."""
    b = OpBuilder()
    fields = inputs(case.types)
    seed = Array("seed", FieldType(case.result, 0))
    bars = inputs(case.types, "bar")
    args = tuple(b.load(f, ()) for f in fields)
    z = b.let(case.op.name, args, case.result)
    parts = adjoints(b, case.op, args, z, b.load(seed, ()), (True,) * len(args))
    for bar, part in zip(bars, parts, strict=True):
        if part is not None:
            b.store(bar, (), part)
    program = check(Program(f"{case.op.name}_adjoint", (*fields, seed, *bars), b.block()))
    results = [np.zeros(shape_of(type_), numpy_dtype(scalar_of(type_))) for type_ in case.types]
    contents = dict(zip((*fields, seed, *bars), (*values, z_bar, *results), strict=True))
    meaning.run(program, contents)
    return [None if part is None else r for part, r in zip(parts, results, strict=True)]


def row_tangent(case: Case, values: Values, dots: list[Any]) -> npt.NDArray[Any]:
    """Return the tangent of the result by forward mode; None stands for a tangent of zero."""
    program, fields, out = forward(case)
    tangents = push(primal(program), frozenset((*fields, out)))
    dot_of = tangents.of(Dot)
    contents = dict(zip(fields, values, strict=True))
    contents |= {
        dot_of[f]: np.zeros_like(v) if dot is None else dot
        for f, v, dot in zip(fields, values, dots, strict=True)
        if f in dot_of
    }
    result = np.zeros(shape_of(case.result))
    meaning.run(tangents.program, {**contents, out: result.copy(), dot_of[out]: result})
    return result


# Programs of one composite


@dataclass(frozen=True)
class Composite:
    """A program of one composite."""

    program: Program
    fields: tuple[Array, ...]
    out: Array

    def __call__(self, values: Values) -> npt.NDArray[Any]:
        is_complex = any(np.iscomplexobj(v) for v in values)
        shape = shape_of(self.out.type.element)
        result = np.zeros(shape, complex if is_complex else float)
        contents = dict(zip((*self.fields, self.out), (*values, result), strict=True))
        meaning.run(self.program, contents, complex_step=is_complex)
        return result

    def adjoints(self, values: Values, z_bar: npt.NDArray[Any]) -> Values:
        adjoint = reverse(self.program, frozenset((*self.fields, self.out)))
        results = [np.zeros(v.shape) for v in values]
        contents = dict(zip((*self.fields, self.out), (*values, z_bar), strict=True))
        bar = adjoint.of(Bar)
        bars = {bar[f]: r for f, r in zip(self.fields, results, strict=True)}
        meaning.run(adjoint.program, {**contents, **bars, bar[self.out]: z_bar.copy()})
        return results


def composite_program(name: str, types: tuple[Type, ...]) -> Composite:
    b = OpBuilder()
    fields = inputs(types)
    value = composite(b, name, tuple(b.load(f, ()) for f in fields))
    out = Array("out", FieldType(value.type, 0))
    b.store(out, (), value)
    return Composite(check(Program(name, (*fields, out), b.block())), fields, out)
