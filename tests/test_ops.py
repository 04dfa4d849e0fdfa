"""Tests that the rows of the table of ops make for themselves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import difftile as dt
from difftile import interp
from difftile.ad.reverse import reverse
from difftile.ir.build import Builder
from difftile.ir.check import IllegalProgram
from difftile.ir.nodes import Array, Block, Const, Let, Program, Value, Var
from difftile.ir.types import (
    BOOL,
    F32,
    F64,
    FLOATS,
    I32,
    FieldType,
    Matrix,
    Scalar,
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
from difftile.ops.table import COMPOSITES, ELEMENTWISE, OPS
from difftile.passes.fold import fold
from difftile.substrate.compile import CompiledProgram

Values = list[npt.NDArray[Any]]

SIZES = (2, 3, 4)
SHAPED = (
    *(Vector(n, F64) for n in SIZES),
    *(Matrix(n, m, F64) for n in SIZES for m in SIZES),
)
DRAWS = 3
STEP = 1e-30  # complex
SPACING = 2e-4  # of differences: rounding errors of 1e-12 and an error of fourth order of 1e-15


# The argument types of a row, found by asking its typing rule


@dataclass(frozen=True)
class Case:
    """A row with argument types that it accepts; `result` is its type then."""

    op: Op
    types: tuple[Type, ...]
    result: Type

    def __str__(self) -> str:
        return f"{self.op.name}({', '.join(map(str, self.types))})"


def _accepted(op: Op, types: tuple[Type, ...]) -> Type | None:
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
    conditions = (BOOL, Vector(3, BOOL), Matrix(2, 3, BOOL))
    arity = len(op.vjp) or len(op.domain)
    places = [(F64, *shaped)] * arity
    if op.name == "select":
        places[0] = conditions
    yield from itertools.product(*places)


def _cases(op: Op) -> list[Case]:
    cases: list[Case] = []
    for types in _candidates(op):
        result = _accepted(op, types)
        if op.name == "mat":
            result = Matrix(2, len(types) // 2, F64) if len(types) > 2 else None
        if result is not None:
            cases.append(Case(op, types, result))
    return cases


SMOOTH = [case for op in OPS.values() if op.vjp for case in _cases(op)]


def _draw(case: Case, rng: np.random.Generator) -> Values:
    """Draw arguments from the domain of the row; indices from those that there are."""
    domain = case.op.domain or ((-2.0, 2.0),) * len(case.types)
    limits = iter(shape_of(case.types[0]))
    values: Values = []
    for k, type_ in enumerate(case.types):
        if type_ == I32:
            values.append(np.array(rng.integers(next(limits)), np.int32))
            continue
        low, high = domain[k]
        drawn = rng.uniform(low, high, shape_of(type_))
        values.append(np.asarray(drawn > 0.5 if scalar_of(type_) == BOOL else drawn))
    if case.op.name == "inverse":
        values[0] = values[0] + 5 * np.eye(len(values[0]))  # far from the singular ones
    return values


# Programs of one op


def _inputs(types: tuple[Type, ...], prefix: str = "a") -> tuple[Array, ...]:
    return tuple(Array(f"{prefix}{k}", FieldType(type_, 0)) for k, type_ in enumerate(types))


def _forward(case: Case) -> tuple[Program, tuple[Array, ...], Array]:
    """Return `out = op(args)`, each argument and the result in a field without dimensions."""
    b = Builder()
    fields = _inputs(case.types)
    out = Array("out", FieldType(case.result, 0))
    args = tuple(b.load(f, ()) for f in fields)
    b.store(out, (), b.let(case.op.name, args, case.result))
    return check(Program(case.op.name, (*fields, out), b.block())), fields, out


def _evaluate(case: Case, values: Values) -> npt.NDArray[Any]:
    program, fields, out = _forward(case)
    is_complex = any(np.iscomplexobj(v) for v in values)
    dtype = complex if is_complex and is_float(case.result) else numpy_dtype(scalar_of(case.result))
    result = np.zeros(shape_of(case.result), dtype)
    contents = dict(zip(fields, (v.copy() for v in values), strict=True))
    interp.run(program, {**contents, out: result}, complex_step=is_complex)
    return result


def _adjoints(case: Case, values: Values, z_bar: npt.NDArray[Any]) -> list[Any]:
    """Return the adjoint of each argument by the formulas of the row, None where there is none."""
    b = OpBuilder()
    fields = _inputs(case.types)
    seed = Array("seed", FieldType(case.result, 0))
    bars = _inputs(case.types, "bar")
    args = tuple(b.load(f, ()) for f in fields)
    z = b.let(case.op.name, args, case.result)
    parts = adjoints(b, case.op, args, z, b.load(seed, ()), (True,) * len(args))
    for bar, part in zip(bars, parts, strict=True):
        if part is not None:
            b.store(bar, (), part)
    program = check(Program(f"{case.op.name}_adjoint", (*fields, seed, *bars), b.block()))
    results = [np.zeros(shape_of(type_)) for type_ in case.types]
    contents = dict(zip((*fields, seed, *bars), (*values, z_bar, *results), strict=True))
    interp.run(program, contents)
    return [None if part is None else r for part, r in zip(parts, results, strict=True)]


# Derivatives from values alone


def _components(value: npt.NDArray[Any]) -> Iterator[tuple[int, ...]]:
    yield from np.ndindex(value.shape)


def _moved(values: Values, k: int, cell: tuple[int, ...], by: complex) -> Values:
    dtype = complex if isinstance(by, complex) else float
    moved = [v.astype(dtype) if v.dtype.kind == "f" else v for v in values]
    moved[k] = moved[k].copy()
    moved[k][cell] += by
    return moved


def _by_complex_step(
    f: Callable[[Values], npt.NDArray[Any]], values: Values, k: int, cell: tuple[int, ...]
) -> npt.NDArray[Any]:
    return f(_moved(values, k, cell, 1j * STEP)).imag / STEP


def _by_differences(
    f: Callable[[Values], npt.NDArray[Any]], values: Values, k: int, cell: tuple[int, ...]
) -> npt.NDArray[Any]:
    def at(steps: float) -> npt.NDArray[Any]:
        return f(_moved(values, k, cell, steps * SPACING))

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * SPACING)


# NumPy has no complex one; the meaning of the row continues it by the very derivative that is tested.
NO_COMPLEX_STEP = ("atan2",)


@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_adjoint_is_the_derivative(case: Case) -> None:
    rng = np.random.default_rng(11)
    for _ in range(DRAWS):
        values = _draw(case, rng)
        z_bar = rng.uniform(0.5, 1.5, shape_of(case.result))
        found = _adjoints(case, values, z_bar)
        for k, type_ in enumerate(case.types):
            if not is_float(type_):
                assert found[k] is None
                continue
            assert found[k] is not None, f"argument {k} has no adjoint"
            for cell in _components(values[k]):

                def f(moved: Values) -> npt.NDArray[Any]:
                    return _evaluate(case, moved)

                by = [(_by_differences, 1e-9)]
                if case.op.name not in NO_COMPLEX_STEP:
                    by.append((_by_complex_step, 1e-12))
                for method, tolerance in by:
                    slope = method(f, values, k, cell)
                    expected = float(np.sum(z_bar * slope))
                    scale = max(1.0, float(np.sum(np.abs(z_bar * slope))))
                    error = abs(float(found[k][cell]) - expected)
                    assert error <= 10 * tolerance * scale, f"{values} {k}{cell} {method.__name__}"


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.domain and not op.vjp], ids=str)
def test_op_without_adjoint_is_flat(op: Op) -> None:
    rng = np.random.default_rng(12)
    for case in _cases(op):
        values = _draw(case, rng)
        for cell in _components(values[0]):
            slope = _by_differences(lambda moved, c=case: _evaluate(c, moved), values, 0, cell)
            assert not np.any(slope), f"{case} at {values}"


# The spelling of a row and its meaning

_INTEGERS = ("add", "sub", "mul", "neg", "mod", "max", "min", "abs", "sign", "floordiv")
_BITS = ("bit_and", "bit_or", "bit_xor", "invert", "shl", "shr")
_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
_TWO = ("and", "or", "floordiv", "shl", "shr", *_BITS[:3], *_COMPARED)


def _spelled() -> Iterator[Case]:
    """Yield what is compared with Taichi: scalars, vectors, and all sizes of the algebra rows."""
    for op in OPS.values():
        if op.name == "cast":
            continue
        arity = len(op.vjp) or len(op.domain) or (2 if op.name in _TWO else 1)
        if op.domain or op.name in ("vec", "mat", "extract", "insert"):
            shapes = (F64, Vector(3, F64))
            for case in _cases(op):
                floats = {t for t in case.types if scalar_of(t) in FLOATS}
                if op.name not in ELEMENTWISE or (len(floats) == 1 and floats <= set(shapes)):
                    yield case
        scalars = [I32] if op.name in (*_INTEGERS, *_BITS) else []
        scalars += [F64, I32] if op.name in _COMPARED else []
        scalars += [BOOL] if op.name in ("and", "or", "not") else []
        scalars += [F64] if op.name in ("isnan", "isinf") else []
        for scalar in scalars:
            for type_ in (scalar, Vector(3, scalar)):
                yield Case(op, (type_,) * arity, op.typing((type_,) * arity))


def _chunks() -> list[list[Case]]:
    cases = list(_spelled())
    return [cases[k : k + 14] for k in range(0, len(cases), 14)]


class _Packed:
    """One program for many ops, whose arguments come out of one field and go into another."""

    def __init__(self) -> None:
        self.b = Builder()
        self.source = Array("source", FieldType(F64, 1))
        self.target = Array("target", FieldType(F64, 1))
        self.given: list[float] = []
        self.results = 0

    def argument(self, type_: Type, value: npt.NDArray[Any]) -> Value:
        if type_ == I32 and value.dtype == np.int32:
            return Const(int(value), I32)  # the index of a component
        parts = [self._scalar(scalar_of(type_), number) for number in value.ravel()]
        shape = shape_of(type_)
        return (
            self.b.let("vec" if len(shape) == 1 else "mat", tuple(parts), type_)
            if shape
            else parts[0]
        )

    def _scalar(self, scalar: Scalar, number: Any) -> Value:
        loaded = self.b.load(self.source, (Const(len(self.given), I32),))
        self.given.append(float(number))
        if scalar == BOOL:
            return self.b.let("ne", (loaded, Const(0.0, F64)), BOOL)
        return loaded if scalar == F64 else self.b.let("cast", (loaded,), scalar)

    def result(self, value: Value) -> None:
        cells = list(np.ndindex(*shape_of(value.type)))
        for cell in cells:
            part: Value = value
            scalar = scalar_of(value.type)
            if cell:
                part = self.b.let("extract", (value, *(Const(i, I32) for i in cell)), scalar)
            if scalar != F64:
                part = self.b.let("cast", (part,), F64)
            self.b.store(self.target, (Const(self.results, I32),), part)
            self.results += 1

    def program(self) -> Program:
        return check(Program("packed", (self.source, self.target), self.b.block()))


def _special(case: Case) -> Iterator[float]:
    """Yield numbers at which rounding, signs and ties are decided."""
    if case.op.name in ELEMENTWISE and scalar_of(case.types[-1]) == F64:
        yield from (0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1.0, -1.0)


def _examples(case: Case, rng: np.random.Generator) -> Iterator[Values]:
    if scalar_of(case.types[0]) == I32:
        for low, high in ((1, 8), (-7, 0), (0, 3)):
            second = (0, 5) if case.op.name in ("shl", "shr") else (low, high)
            bounds = [(-7, 8), second]
            if case.op.name in ("mod", "floordiv"):
                bounds[1] = (1, 4) if low else (-4, 0)
            yield [
                rng.integers(*bounds[k], shape_of(t)).astype(np.int64)
                for k, t in enumerate(case.types)
            ]
        return
    if scalar_of(case.types[0]) == BOOL and case.op.name != "select":
        for _ in range(3):
            yield [rng.integers(0, 2, shape_of(t)) for t in case.types]
        return
    yield (
        _draw(case, rng)
        if case.op.domain or case.op.vjp
        else [rng.uniform(-2, 2, shape_of(t)) for t in case.types]
    )
    for number in _special(case):
        values = (
            _draw(case, rng)
            if case.op.domain
            else [rng.uniform(-2, 2, shape_of(t)) for t in case.types]
        )
        yield [v if v.dtype == bool else np.full(v.shape, number) for v in values]


@pytest.mark.parametrize("cases", _chunks(), ids=lambda cases: f"{cases[0]}..")
def test_taichi_agrees_with_the_meaning(cases: list[Case]) -> None:
    rng = np.random.default_rng(14)
    packed = _Packed()
    owners: list[str] = []
    for case in cases:
        for values in _examples(case, rng):
            args = tuple(packed.argument(t, v) for t, v in zip(case.types, values, strict=True))
            packed.result(packed.b.let(case.op.name, args, case.result))
            owners += [f"{case} of {values}"] * (packed.results - len(owners))
    program = packed.program()
    expected = np.zeros(packed.results)
    interp.run(program, {packed.source: np.array(packed.given), packed.target: expected})
    source = dt.from_numpy(np.array(packed.given))
    target = dt.from_numpy(np.zeros(packed.results))
    CompiledProgram(program).launch([source.buffer, target.buffer])
    for owner, found, wanted in zip(owners, target.to_numpy(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13, err_msg=owner)


# What a row says of itself


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_row_is_documented(op: Op) -> None:
    assert not (op.singular or op.masks) or op.kinks, "say what its derivative is at the kinks"
    assert op.name in ("insert", "cast") or "{" in op.taichi
    if op.vjp:
        cases = [c for c in SMOOTH if c.op is op] or [Case(op, (F64,), F64)]
        for case in cases:
            formulas = op.formulas(len(case.types))
            assert len(formulas) == len(case.types)
            assert not op.domain or len(op.domain) == len(case.types)


@pytest.mark.parametrize(
    ("vjp", "count", "expected"),
    [
        ((), 2, (None, None)),
        (("p",), 1, ("p",)),
        (("p", ...), 3, ("p", "p", "p")),
        (("p", None, ...), 1, ("p",)),
        (("p", None, ...), 3, ("p", None, None)),
        (("p", None, ..., "q"), 2, ("p", "q")),
        (("p", None, ..., "q"), 4, ("p", None, None, "q")),
    ],
)
def test_dots_repeat_a_formula(vjp: Any, count: int, expected: Any) -> None:
    assert Op("op", "", np.add, lambda types: types[0], vjp).formulas(count) == expected


# Composites

_REFERENCE: dict[str, tuple[Callable[..., float], tuple[tuple[float, float], ...]]] = {
    "mix": (lambda x, y, t: x + (y - x) * t, ((-2, 2), (-2, 2), (0, 1))),
    "fract": (lambda x: x - math.floor(x), ((-2, 2),)),
    "trunc": (math.trunc, ((-3, 3),)),
    "fmod": (math.fmod, ((-5, 5), (0.5, 2))),
    "copysign": (math.copysign, ((-2, 2), (-2, 2))),
    "saturate": (lambda x: min(max(x, 0), 1), ((-1, 2),)),
    "hermite": (lambda t: 3 * t**2 - 2 * t**3, ((0, 1),)),
    "smoothstep": (
        lambda low, high, x: (lambda t: t * t * (3 - 2 * t))(
            min(max((x - low) / (high - low), 0), 1)
        ),
        ((-1, 0), (1, 2), (-1.5, 2.5)),
    ),
    "exp2": (lambda x: 2**x, ((-2, 2),)),
    "log2": (math.log2, ((0.2, 3),)),
    "log10": (math.log10, ((0.2, 3),)),
    "radians": (math.radians, ((-200, 200),)),
    "degrees": (math.degrees, ((-3, 3),)),
    "atan": (math.atan, ((-3, 3),)),
    "sinh": (math.sinh, ((-2, 2),)),
    "cosh": (math.cosh, ((-2, 2),)),
    "square": (lambda x: x * x, ((-2, 2),)),
    "step": (lambda edge, x: 0.0 if x < edge else 1.0, ((-2, 2), (-2, 2))),
    "norm_sqr": (lambda v: float(np.dot(v, v)), ((-2, 2),)),
    "distance": (lambda a, b: float(np.linalg.norm(np.subtract(a, b))), ((-2, 2), (-2, 2))),
    "reflect": (lambda v, n: np.subtract(v, 2 * np.dot(n, v) * n), ((-2, 2), (-2, 2))),
}
_OF_VECTORS = ("norm_sqr", "distance", "reflect")


def _composite_program(name: str, type_: Type) -> tuple[Program, tuple[Array, ...], Array]:
    b = OpBuilder()
    fields = _inputs((type_,) * len(COMPOSITES[name][0]))
    value = composite(b, name, tuple(b.load(f, ()) for f in fields))
    out = Array("out", FieldType(value.type, 0))
    b.store(out, (), value)
    return check(Program(name, (*fields, out), b.block())), fields, out


@pytest.mark.parametrize("name", COMPOSITES)
def test_composite(name: str) -> None:
    """Its value is that of the reference, its reverse the derivative."""
    reference, domain = _REFERENCE[name]
    rng = np.random.default_rng(13)
    types: list[Type] = [Vector(3, F64)] if name in _OF_VECTORS else [F64, Vector(3, F64)]
    for type_, _ in itertools.product(types, range(DRAWS)):
        program, fields, out = _composite_program(name, type_)
        values: Values = [np.asarray(rng.uniform(*d, shape_of(type_))) for d in domain]
        result = np.zeros(shape_of(out.type.element))

        def f(moved: Values) -> npt.NDArray[Any]:
            is_complex = any(np.iscomplexobj(v) for v in moved)
            target = np.zeros(result.shape, complex if is_complex else float)
            contents = dict(zip((*fields, out), (*moved, target), strict=True))
            interp.run(program, contents, complex_step=is_complex)
            return target

        by_component = shape_of(type_) and name not in _OF_VECTORS
        expected = np.vectorize(reference)(*values) if by_component else reference(*values)
        np.testing.assert_allclose(f(values), expected, rtol=1e-14, atol=1e-14)
        adjoint = reverse(program, frozenset((*fields, out)))
        z_bar = rng.uniform(0.5, 1.5, result.shape)
        bars = {adjoint.bars[a]: np.zeros(v.shape) for a, v in zip(fields, values, strict=True)}
        contents = dict(zip((*fields, out), (*values, result), strict=True))
        interp.run(adjoint.program, {**contents, **bars, adjoint.bars[out]: z_bar.copy()})
        for k, field in enumerate(fields):
            for cell in _components(values[k]):
                expected = np.sum(z_bar * _by_differences(f, values, k, cell))
                found = bars[adjoint.bars[field]][cell]
                np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


# Typing


_WRONG = [
    ("add", (F64, I32)),
    ("add", (Vector(2, F64), Vector(3, F64))),
    ("add", (Vector(2, F64), Matrix(2, 2, F64))),
    ("sin", (I32,)),
    ("sqrt", (Vector(3, I32),)),
    ("bit_and", (F32, F32)),
    ("shl", (F64, F64)),
    ("lt", (F64, F32)),
    ("and", (I32, I32)),
    ("not", (F64,)),
    ("isnan", (I32,)),
    ("select", (I32, F64, F64)),
    ("select", (BOOL, F64, I32)),
    ("select", (Vector(2, BOOL), Vector(3, F64), Vector(3, F64))),
    ("select", (Vector(2, BOOL), F64, F64)),
    ("vec", (F64, I32)),
    ("vec", (Vector(2, F64), F64)),
    ("extract", (F64, I32)),
    ("extract", (Matrix(2, 2, F64), I32)),
    ("insert", (Vector(2, F64), I32, F32)),
    ("insert", (Vector(2, F64), F64)),
    ("dot", (Vector(2, F64), Vector(3, F64))),
    ("dot", (Vector(2, F64), F64)),
    ("dot", (Vector(2, F64), Vector(2, F32))),
    ("cross", (Vector(2, F64), Vector(2, F64))),
    ("outer", (Matrix(2, 2, F64), Vector(2, F64))),
    ("norm", (F64,)),
    ("norm", (Vector(2, I32),)),
    ("normalized", (Matrix(2, 2, F64),)),
    ("sum", (F64,)),
    ("matmul", (Vector(2, F64), Matrix(2, 2, F64))),
    ("matmul", (Matrix(2, 3, F64), Matrix(2, 3, F64))),
    ("matmul", (Matrix(2, 2, F64), F64)),
    ("transpose", (Vector(2, F64),)),
    ("trace", (Matrix(2, 3, F64),)),
    ("determinant", (Matrix(5, 5, F64),)),
    ("inverse", (Matrix(2, 2, I32),)),
    ("inverse", (Matrix(2, 3, F64),)),
]


@pytest.mark.parametrize(("name", "types"), _WRONG)
def test_wrong_types_are_refused(name: str, types: tuple[Type, ...]) -> None:
    with pytest.raises(OpTypeError, match=r"\w"):
        OPS[name].typing(types)
    args = tuple(Var("a", t) for t in types)
    let = Let(Var("z", F64), name, args)
    with pytest.raises(IllegalProgram):
        check(Program("p", args, Block((let,))))


def test_check_compares_the_result_type() -> None:
    a = Var("a", Vector(3, F64))
    for op, result in (("neg", F64), ("norm", Vector(3, F64)), ("cast", Vector(2, F32))):
        with pytest.raises(IllegalProgram, match=op):
            check(Program("p", (a,), Block((Let(Var("z", result), op, (a,)),))))
    with pytest.raises(IllegalProgram, match="no op is named"):
        check(Program("p", (a,), Block((Let(Var("z", F64), "unheard", (a,)),))))


# Simplification


class _Random:
    """A random program of lets, which the builder does not simplify as it goes."""

    SPECIAL = (0.0, 1.0, -1.0, 2.0, 0.5)
    TYPES = (F64, I32, BOOL, Vector(2, F64), Vector(3, F64), Matrix(2, 2, F64), Vector(3, I32))

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.b = Builder()
        self.fields = tuple(Array(f"f{k}", FieldType(t, 0)) for k, t in enumerate(self.TYPES))
        self.pool: list[Value] = [self.b.load(f, ()) for f in self.fields]
        self.pool += [Const(v, t) for v in self.SPECIAL for t in self.TYPES if is_float(t)]
        self.pool += [Const(v, I32) for v in (0, 1, 2)] + [Const(v, BOOL) for v in (True, False)]

    def pick(self, *types: Type) -> Value:
        """Return a value of one of the types, often a new one, so that expressions get deep."""
        found = [v for v in self.pool if not types or v.type in types]
        found = found[-6:] if self.rng.random() < 0.5 else found
        return found[self.rng.integers(len(found))]

    def grow(self) -> None:
        name = str(self.rng.choice(self.OPS))
        shaped: tuple[Type, ...] = tuple(t for t in self.TYPES if shape_of(t))
        match name:
            case "vec":
                args = tuple(self.pick(F64) for _ in range(self.rng.integers(2, 4)))
            case "mat":
                args = tuple(self.pick(F64) for _ in range(4))
            case "extract" | "insert":
                whole = self.pick(*(t for t in shaped if is_float(t)))
                args = (
                    whole,
                    *(Const(int(self.rng.integers(n)), I32) for n in shape_of(whole.type)),
                )
                args += (self.pick(F64),) if name == "insert" else ()
            case "div":
                # Folding takes 0 * x as 0 and is not asked to keep infinities.
                size = self.b.let("abs", (self.pick(F64),), F64)
                args = (self.pick(), self.b.let("max", (size, Const(0.5, F64)), F64))
            case _:
                args = tuple(self.pick() for _ in range(self.ARITY[name]))
        result = _accepted(OPS[name], tuple(a.type for a in args))
        if name == "mat":
            result = Matrix(2, 2, F64)
        if name == "cast" and result is not None and not shape_of(result):
            result = (F64, I32)[self.rng.integers(2)]
        if result is not None and result in self.TYPES:
            self.pool.append(self.b.let(name, args, result))

    ARITY = {
        **dict.fromkeys(("add", "sub", "mul", "div", "max", "min", "and", "or"), 2),
        **dict.fromkeys(("lt", "ge", "eq", "dot", "cross", "outer", "matmul"), 2),
        **dict.fromkeys(("neg", "abs", "floor", "not", "cast", "sum", "transpose", "norm"), 1),
        "select": 3,
        "clamp": 3,
    }
    OPS = (*ARITY, "vec", "mat", "extract", "extract", "insert", "neg", "sub", "mul", "select")

    def program(self) -> tuple[Program, tuple[Array, ...], tuple[Array, ...]]:
        values = [v for v in self.pool if isinstance(v, Var)][len(self.fields) :]
        outs = tuple(Array(f"out{k}", FieldType(v.type, 0)) for k, v in enumerate(values))
        for out, value in zip(outs, values, strict=True):
            self.b.store(out, (), value)
        program = Program("random", (*self.fields, *outs), self.b.block())
        return check(program), self.fields, outs


def _run_random(
    program: Program, contents: dict[Array, npt.NDArray[Any]], outs: tuple[Array, ...]
) -> Values:
    results = [
        np.zeros(shape_of(o.type.element), numpy_dtype(scalar_of(o.type.element))) for o in outs
    ]
    interp.run(program, {**contents, **dict(zip(outs, results, strict=True))})
    return results


@pytest.mark.parametrize("seed", range(60))
def test_simplifying_keeps_the_meaning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    random = _Random(rng)
    for _ in range(60):
        random.grow()
    program, fields, outs = random.program()
    folded = check(fold(program))
    for _ in range(2):
        contents: dict[Array, npt.NDArray[Any]] = {}
        for field in fields:
            scalar, shape = scalar_of(field.type.element), shape_of(field.type.element)
            drawn = rng.integers(-3, 4, shape) if scalar == I32 else rng.uniform(-2, 2, shape)
            contents[field] = np.asarray(drawn > 0 if scalar == BOOL else drawn).astype(
                numpy_dtype(scalar)
            )
        before = _run_random(program, contents, outs)
        after = _run_random(folded, contents, outs)
        for one, other in zip(before, after, strict=True):
            assert np.all(np.isfinite(one)), "the values of this test stay finite"
            np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)
