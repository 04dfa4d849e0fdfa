"""Folding and the algebraic identities keep the values of random programs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from difftile import meaning
from difftile.ir.build import Builder
from difftile.ir.nodes import Array, Const, Program, Value, Var
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
from difftile.ops.table import OPS
from difftile.passes.fold import fold
from difftile.passes.optimise import normalise
from tests.op_programs import (
    Values,
    accepted,
)

_ARITY = {
    **dict.fromkeys(("add", "sub", "mul", "div", "max", "min", "and", "or"), 2),
    **dict.fromkeys(("lt", "ge", "eq", "ne", "dot", "cross", "outer", "matmul"), 2),
    **dict.fromkeys(("neg", "abs", "floor", "not", "cast", "sum", "transpose", "norm"), 1),
    **dict.fromkeys(("sign", "sqrt", "isnan"), 1),
    "select": 3,
    "clamp": 3,
}
_GROWN = (*_ARITY, "vec", "mat", "extract", "extract", "insert", "neg", "sub", "mul", "select")


_OF_BOOLS = ("and", "or", "not", "select", "cast")


class _Random:
    """A random program of lets, which the builder does not simplify as it goes.

    Args:
        rng: What is drawn from.
        finite: Numbers stay finite, and zeros are structural.
    """

    SPECIAL = (0.0, 1.0, -1.0, 2.0, 0.5)
    TYPES = (F64, I32, BOOL, Vector(2, F64), Vector(3, F64), Matrix(2, 2, F64), Vector(3, I32))

    def __init__(self, rng: np.random.Generator, *, finite: bool) -> None:
        self.rng = rng
        self.finite = finite
        self.b = Builder()
        self.fields = tuple(Array(f"f{k}", FieldType(t, 0)) for k, t in enumerate(self.TYPES))
        self.pool: list[Value] = [self.b.load(f, ()) for f in self.fields]
        self.pool += [
            Const(v, t, structural=finite and v == 0)
            for v in self.SPECIAL
            for t in self.TYPES
            if is_float(t)
        ]
        self.pool += [Const(v, I32) for v in (0, 1, 2)] + [Const(v, BOOL) for v in (True, False)]

    def pick(self, *types: Type) -> Value:
        """Return a value of one of the types, often a new one, so that expressions get deep."""
        found = [v for v in self.pool if not types or v.type in types]
        found = found[-6:] if self.rng.random() < 0.5 else found
        return found[self.rng.integers(len(found))]

    def grow(self) -> None:
        name = str(self.rng.choice(_GROWN))
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
            case "div" if self.finite:
                size = self.b.let("abs", (self.pick(F64),), F64)
                args = (self.pick(), self.b.let("max", (size, Const(0.5, F64)), F64))
            case _:
                args = tuple(self.pick() for _ in range(_ARITY[name]))
                if name not in _OF_BOOLS and any(a.type == BOOL for a in args):
                    return  # arithmetic on bools is typed as on integers by whoever writes it
        result = accepted(OPS[name], tuple(a.type for a in args))
        if name == "sqrt" and self.finite and result is not None:
            args = (self.b.let("abs", args, result),)
        if name == "mat":
            result = Matrix(2, 2, F64)
        if name == "cast" and result is not None and not shape_of(result):
            result = (F64, I32)[self.rng.integers(2)]
        if result is not None and result in self.TYPES:
            self.pool.append(self.b.let(name, args, result))

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
    meaning.run(program, {**contents, **dict(zip(outs, results, strict=True))})
    return results


def _contents(
    rng: np.random.Generator, fields: tuple[Array, ...], specials: tuple[float, ...]
) -> dict[Array, npt.NDArray[Any]]:
    contents: dict[Array, npt.NDArray[Any]] = {}
    for field in fields:
        scalar, shape = scalar_of(field.type.element), shape_of(field.type.element)
        drawn = rng.integers(-3, 4, shape) if scalar == I32 else rng.uniform(-2, 2, shape)
        if scalar == F64 and specials:
            drawn = np.where(rng.random(shape) < 0.5, rng.choice(specials, shape), drawn)
        contents[field] = np.asarray(drawn > 0 if scalar == BOOL else drawn).astype(
            numpy_dtype(scalar)
        )
    return contents


@pytest.mark.parametrize("seed", range(60))
def test_simplifying_keeps_the_meaning(seed: int) -> None:
    rng = np.random.default_rng(seed)
    random = _Random(rng, finite=True)
    for _ in range(60):
        random.grow()
    program, fields, outs = random.program()
    folded = check(fold(program))
    for _ in range(2):
        contents = _contents(rng, fields, ())
        before = _run_random(program, contents, outs)
        after = _run_random(folded, contents, outs)
        for one, other in zip(before, after, strict=True):
            assert np.all(np.isfinite(one)), "the values of this test stay finite"
            np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(60, 120))
def test_simplifying_keeps_infinities_and_nan(seed: int) -> None:
    """All but the sign of zero, of which no function of the table is told."""
    rng = np.random.default_rng(seed)
    random = _Random(rng, finite=False)
    for _ in range(60):
        random.grow()
    program, fields, outs = random.program()
    folded = check(normalise(program))
    for _ in range(4):
        contents = _contents(rng, fields, (0.0, math.inf, -math.inf, math.nan))
        with np.errstate(all="ignore"):
            before = _run_random(program, contents, outs)
            after = _run_random(folded, contents, outs)
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(other, one)


def test_adding_the_least_integer_is_not_the_subtraction_of_its_opposite() -> None:
    """The opposite is not a 32-bit integer."""
    b, x = OpBuilder(), Var("x", I32)
    for number, op, argument in ((-(2**31), "add", -(2**31)), (1 - 2**31, "sub", 2**31 - 1)):
        made = b.definition(b.call("add", x, Const(number, I32)))
        assert made is not None
        assert (made.op, made.args) == (op, (x, Const(argument, I32)))
