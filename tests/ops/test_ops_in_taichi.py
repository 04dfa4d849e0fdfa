"""The spelling of a row in Taichi and its meaning in NumPy give the same numbers."""

from __future__ import annotations

import importlib
import operator
import re
from collections.abc import Iterator

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ir.build import Builder
from difftile.ir.nodes import Array, Block, Const, ParallelFor, Program, Value, Var
from difftile.ir.types import (
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I32,
    FieldType,
    Scalar,
    Vector,
    scalar_of,
    shape_of,
)
from difftile.ops.check import check
from difftile.ops.table import ELEMENTWISE, OPS
from difftile.passes.fold import fold
from difftile.substrate import CompiledProgram
from difftile.substrate.spellings import SPELLINGS, CallSpelling, TextSpelling, written
from tests.op_programs import (
    Case,
    Values,
    accepted,
    cases_of,
    draw,
)

_INTEGERS = (
    *("add", "sub", "mul", "neg", "mod", "max", "min", "abs", "sign", "floordiv", "clamp"),
    *("raw_div", "raw_mod", "popcnt", "clz", "ipow"),
)
_BITS = ("bit_and", "bit_or", "bit_xor", "invert", "shl", "shr", "shr_logical")
_COUNTED = ("shl", "shr", "shr_logical", "ipow")
_DIVISIONS = ("mod", "floordiv", "raw_div", "raw_mod")
_PREDICATES = ("isnan", "isinf", "isfinite")
_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")


def spelled() -> Iterator[Case]:
    """Yield the cases to compare with Taichi: scalars, vectors, all sizes of the algebra rows."""
    for op in OPS.values():
        if op.name in ("cast", "bit_cast"):
            continue
        arity = op.arity
        if op.domain or op.name in ("vec", "mat", "extract", "insert"):
            shapes = (F64, Vector(3, F64))
            for case in cases_of(op):
                floats = {t for t in case.types if scalar_of(t) in FLOATS}
                if op.name not in ELEMENTWISE or (len(floats) == 1 and floats <= set(shapes)):
                    yield case
        scalars = [I32] if op.name in (*_INTEGERS, *_BITS) else []
        scalars += [F64, I32] if op.name in _COMPARED else []
        scalars += [BOOL] if op.name in ("and", "or", "not") else []
        scalars += [F64, F32, F16] if op.name in _PREDICATES else []
        for scalar in scalars:
            for type_ in (scalar, Vector(3, scalar)):
                yield Case(op, (type_,) * arity, op.typing((type_,) * arity))


def _chunks() -> list[list[Case]]:
    cases = list(spelled())
    return [cases[k : k + 14] for k in range(0, len(cases), 14)]


class _Packed:
    """One program for many ops, whose arguments come out of one field and go into another.

    Each op stands once, in a loop over its examples: Taichi compiles unrolled code slowly.
    """

    def __init__(self) -> None:
        self.b = Builder()
        self.source = Array("source", FieldType(F64, 1))
        self.target = Array("target", FieldType(F64, 1))
        self.given: list[float] = []
        self.results = 0

    def add(self, case: Case, examples: list[Values]) -> int:
        """Append an op; return how many numbers an example of it has for a result."""
        row = Var("row", I32)
        with self.b.region() as body:
            args = self._arguments(case, examples, row)
            cells = self._result(self.b.let(case.op.name, args, case.result), row)
        count = Const(len(examples), I32)
        self.b.append(ParallelFor((row,), (Const(0, I32),), (count,), Block(tuple(body))))
        self.results += cells * len(examples)
        return cells

    def _arguments(self, case: Case, examples: list[Values], row: Var) -> tuple[Value, ...]:
        fixed = [v.dtype == np.int32 for v in examples[0]]  # the indices of components
        rows = [
            [
                float(number)
                for v, own in zip(values, fixed, strict=True)
                if not own
                for number in v.ravel()
            ]
            for values in examples
        ]
        first, stride = len(self.given), len(rows[0])
        self.given += [number for one in rows for number in one]
        found: list[Value] = []
        for type_, value, own in zip(case.types, examples[0], fixed, strict=True):
            if own:
                found.append(Const(int(value), I32))
                continue
            parts = []
            for _ in value.ravel():
                parts.append(self._scalar(scalar_of(type_), self._at(row, first, stride)))
                first += 1
            op = "vec" if len(shape_of(type_)) == 1 else "mat"
            found.append(self.b.let(op, tuple(parts), type_) if shape_of(type_) else parts[0])
        return tuple(found)

    def _at(self, row: Var, first: int, stride: int) -> Value:
        before = self.b.let("mul", (row, Const(stride, I32)), I32)
        return self.b.let("add", (before, Const(first, I32)), I32)

    def _scalar(self, scalar: Scalar, at: Value) -> Value:
        loaded = self.b.load(self.source, (at,))
        if scalar == BOOL:
            return self.b.let("ne", (loaded, Const(0.0, F64)), BOOL)
        return loaded if scalar == F64 else self.b.let("cast", (loaded,), scalar)

    def _result(self, value: Value, row: Var) -> int:
        cells = list(np.ndindex(*shape_of(value.type)))
        for k, cell in enumerate(cells):
            part: Value = value
            scalar = scalar_of(value.type)
            if cell:
                part = self.b.let("extract", (value, *(Const(i, I32) for i in cell)), scalar)
            if scalar != F64:
                part = self.b.let("cast", (part,), F64)
            self.b.store(self.target, (self._at(row, self.results + k, len(cells)),), part)
        return len(cells)

    def program(self) -> Program:
        return check(Program("packed", (self.source, self.target), self.b.block()))


def _special(case: Case) -> Iterator[float]:
    """Yield numbers at which rounding, signs and ties are decided."""
    if case.op.name in _PREDICATES:
        yield from (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 65504.0, -1e5, 1e39, 1e308)
    elif case.op.name in ELEMENTWISE and scalar_of(case.types[-1]) == F64:
        yield from (0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1.0, -1.0)


def _examples(case: Case, rng: np.random.Generator) -> Iterator[Values]:
    if all(scalar_of(type_) == I32 for type_ in case.types):
        for low, high in ((1, 8), (-7, 0), (0, 3)):
            second = (
                (0, 5) if case.op.name in ("shl", "shr", "shr_logical", "ipow") else (low, high)
            )
            bounds = [(-7, 8), second, (low, high)]
            if case.op.name in _DIVISIONS:
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
        draw(case, rng)
        if case.op.domain or case.op.vjp
        else [rng.uniform(-2, 2, shape_of(t)) for t in case.types]
    )
    for number in _special(case):
        values = (
            draw(case, rng)
            if case.op.domain
            else [rng.uniform(-2, 2, shape_of(t)) for t in case.types]
        )
        yield [np.full(v.shape, number) if v.dtype == float else v for v in values]


@pytest.mark.always
@pytest.mark.parametrize("cases", _chunks(), ids=lambda cases: f"{cases[0]}..")
def test_taichi_agrees_with_the_meaning(cases: list[Case]) -> None:
    rng = np.random.default_rng(14)
    packed = _Packed()
    owners: list[str] = []
    for case in cases:
        examples = list(_examples(case, rng))
        cells = packed.add(case, examples)
        owners += [f"{case} of {values}" for values in examples for _ in range(cells)]
    program = packed.program()
    expected = np.zeros(packed.results)
    meaning.run(program, {packed.source: np.array(packed.given), packed.target: expected})
    source = dt.from_numpy(np.array(packed.given))
    target = dt.from_numpy(np.zeros(packed.results))
    CompiledProgram(fold(program)).launch([source.buffer, target.buffer])
    for owner, found, wanted in zip(owners, target.to_numpy(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13, err_msg=owner)


def test_no_row_is_spelled_in_the_default_precision_of_taichi() -> None:
    """Funcs of `taichi.math` cast to the default precision, which is single."""
    for op in OPS.values():
        if op.arity and accepted(op, (I32,) * op.arity) and not accepted(op, (F64,) * op.arity):
            continue
        spelling = SPELLINGS[op.name]
        if isinstance(spelling, (CallSpelling, TextSpelling)):
            text = written(spelling, "abcd") + getattr(spelling, "source", "")
            for name in re.findall(r"ti\.([\w.]+)\(", text):
                function = operator.attrgetter(name)(ti)
                assert not getattr(function, "_is_taichi_function", False), text


def test_each_op_has_one_spelling() -> None:
    assert set(SPELLINGS) == set(OPS)


def test_functions_that_spellings_call_exist() -> None:
    for spelling in SPELLINGS.values():
        if isinstance(spelling, CallSpelling) and not spelling.source:
            module, _, name = spelling.function.partition(".")
            own = f"difftile.substrate.family.{module}"
            owner = ti if module == "ti" else importlib.import_module(own)
            assert callable(operator.attrgetter(name)(owner)), spelling
