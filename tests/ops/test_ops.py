"""Tests that the rows of the table of ops make for themselves."""

from __future__ import annotations

import cmath
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from difftile import meaning
from difftile.ir.check_structure import IllegalProgram
from difftile.ir.nodes import Block, Let, Program, Var
from difftile.ir.types import (
    BOOL,
    F32,
    F64,
    I32,
    Matrix,
    Type,
    Vector,
    is_float,
    shape_of,
)
from difftile.ops.build import OpBuilder
from difftile.ops.check import check
from difftile.ops.composites import COMPOSITES
from difftile.ops.formula import unless_zero
from difftile.ops.row import Op, OpTypeError
from difftile.ops.table import OPS
from tests.op_programs import (
    Case,
    Values,
    cases_of,
    composite_program,
    draw,
    evaluate,
    inputs,
    row_adjoints,
    row_tangent,
)

DRAWS = 6
STEP = 1e-30  # complex
SPACING = 2e-4  # of differences: rounding errors of 1e-12 and an error of fourth order of 1e-15

SMOOTH = [case for op in OPS.values() if op.vjp for case in cases_of(op)]
FLAT = [op for op in OPS.values() if op.domain and not op.vjp]


# Derivatives from only values


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


# NumPy has no complex one; the row's meaning continues it by the very derivative that is tested.
NO_COMPLEX_STEP = ("atan2",)


@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_adjoint_is_the_derivative(case: Case) -> None:
    rng = np.random.default_rng(11)
    for _ in range(DRAWS):
        values = draw(case, rng)
        z_bar = rng.uniform(0.5, 1.5, shape_of(case.result))
        found = row_adjoints(case, values, z_bar)
        for k, type_ in enumerate(case.types):
            if not is_float(type_):
                assert found[k] is None
                continue
            assert found[k] is not None, f"argument {k} has no adjoint"
            for cell in np.ndindex(values[k].shape):

                def f(moved: Values) -> npt.NDArray[Any]:
                    return evaluate(case, moved)

                by = [(_by_differences, 1e-9)]
                if case.op.name not in NO_COMPLEX_STEP:
                    by.append((_by_complex_step, 1e-12))
                for method, tolerance in by:
                    slope = method(f, values, k, cell)
                    expected = float(np.sum(z_bar * slope))
                    scale = max(1.0, float(np.sum(np.abs(z_bar * slope))))
                    error = abs(float(found[k][cell]) - expected)
                    assert error <= 10 * tolerance * scale, f"{values} {k}{cell} {method.__name__}"


@pytest.mark.parametrize("case", SMOOTH, ids=str)
def test_tangent_is_the_transpose_of_the_adjoint(case: Case) -> None:
    rng = np.random.default_rng(12)
    for _ in range(DRAWS):
        values = draw(case, rng)
        z_bar = rng.uniform(0.5, 1.5, shape_of(case.result))
        bars = row_adjoints(case, values, z_bar)
        dots = [
            rng.uniform(-1, 1, v.shape) if is_float(t) else None
            for v, t in zip(values, case.types, strict=True)
        ]
        z_dot = row_tangent(case, values, dots)
        products = [
            bar * dot
            for bar, dot in zip(bars, dots, strict=True)
            if not (bar is None or dot is None)
        ]
        right = sum(float(np.sum(p)) for p in products)
        scale = max(1.0, sum(float(np.sum(np.abs(p))) for p in products))
        assert abs(float(np.sum(z_bar * z_dot)) - right) <= 1e-12 * scale, f"{values} {dots}"


@pytest.mark.parametrize("op", FLAT, ids=lambda op: op.name)
def test_op_without_adjoint_is_flat(op: Op) -> None:
    rng = np.random.default_rng(12)
    for case in cases_of(op):
        values = draw(case, rng)
        for cell in np.ndindex(values[0].shape):
            methods = [_by_complex_step]
            if op.name != "stop_grad":
                methods.append(_by_differences)
            for method in methods:
                slope = method(lambda moved, c=case: evaluate(c, moved), values, 0, cell)
                assert not np.any(slope), f"{case} at {values} {method.__name__}"


# Declarations of a row


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_row_is_documented(op: Op) -> None:
    assert not (op.singular or op.masks) or op.kinks, "say what its derivative is at the kinks"
    if op.vjp:
        cases = [c for c in SMOOTH if c.op is op] or [Case(op, (F64,), F64)]
        for case in cases:
            formulas = op.formulas(len(case.types))
            assert len(formulas) == len(case.types)
            assert not op.domain or len(op.domain) == len(case.types)


@pytest.mark.parametrize(
    "op", [op for op in OPS.values() if op.vjp and not op.singular], ids=lambda op: op.name
)
def test_row_that_is_not_singular_is_finite(op: Op) -> None:
    """Elsewhere than in its domain too: a value may be computed where it is not selected."""
    for case in cases_of(op):
        if not all(is_float(type_) for type_ in case.types):
            continue
        for number in (-100.0, -1.0, -0.5, 0.0, 0.5, 1.0, 100.0):
            values = [np.full(shape_of(type_), number) for type_ in case.types]
            with np.errstate(all="ignore"):
                assert np.all(np.isfinite(evaluate(case, values))), f"{case} at {number}"


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
    assert Op("op", np.add, lambda types: types[0], vjp).formulas(count) == expected


# Composites


def _smoothstep(low: float, high: float, x: float) -> float:
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3 - 2 * t)


def _safe_divide(n: float, d: float, eps: float) -> float:
    return n / math.copysign(max(abs(d), eps), d)


_REFERENCE: dict[str, tuple[Callable[..., float], tuple[tuple[float, float], ...]]] = {
    "mix": (lambda x, y, t: x + (y - x) * t, ((-2, 2), (-2, 2), (0, 1))),
    "fract": (lambda x: x - math.floor(x), ((-2, 2),)),
    "trunc": (math.trunc, ((-3, 3),)),
    "fmod": (math.fmod, ((-5, 5), (0.5, 2))),
    "copysign": (math.copysign, ((-2, 2), (-2, 2))),
    "saturate": (lambda x: min(max(x, 0.0), 1.0), ((-1, 2),)),
    "hermite": (lambda t: 3 * t**2 - 2 * t**3, ((0, 1),)),
    "smoothstep": (_smoothstep, ((-1, 0), (1, 2), (-1.5, 2.5))),
    "exp2": (lambda x: 2**x, ((-2, 2),)),
    "radians": (math.radians, ((-200, 200),)),
    "degrees": (math.degrees, ((-3, 3),)),
    "sinh": (math.sinh, ((-2, 2),)),
    "cosh": (math.cosh, ((-2, 2),)),
    "square": (lambda x: x * x, ((-2, 2),)),
    "softplus": (lambda x, beta: math.log(1 + math.exp(beta * x)) / beta, ((-2, 2), (0.5, 3))),
    "safe_divide": (_safe_divide, ((-2, 2), (-2, 2), (0.3, 0.8))),
    "step": (lambda edge, x: 0.0 if x < edge else 1.0, ((-2, 2), (-2, 2))),
}


def _turn(axis: npt.NDArray[Any], angle: float) -> npt.NDArray[Any]:
    """Return the 4x4 matrix that turns clockwise about an axis, by Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(4)
    matrix[:3, :3] += np.sin(-angle) * k + (1 - np.cos(angle)) * k @ k
    return matrix


def _yaw_pitch_roll(yaw: float, pitch: float, roll: float) -> npt.NDArray[Any]:
    x, y, z = np.eye(3)
    return _turn(z, roll) @ _turn(x, pitch) @ _turn(y, yaw)


def _pair(z: complex) -> npt.NDArray[Any]:
    return np.array([z.real, z.imag])


def _of_complex(f: Callable[..., complex], numbers: int = 0) -> Callable[..., Any]:
    """Return a function of complex numbers as one of vectors; the last `numbers` stay as given."""

    def function(*values: Any) -> Any:
        count = len(values) - numbers
        return _pair(f(*(complex(*v) for v in values[:count]), *values[count:]))

    return function


def _bent(v: Any, n: Any, eta: float, cosine: float, k: float) -> Any:
    return eta * v - (eta * cosine + math.sqrt(k)) * n


def _refract(v: Any, n: Any, eta: float) -> Any:
    cosine = float(np.dot(v, n))
    return _bent(v, n, eta, cosine, 1 - eta * eta * (1 - cosine * cosine))


_V2, _V3, _M23 = Vector(2, F64), Vector(3, F64), Matrix(2, 3, F64)

# Functions of vectors, and their arguments; all arguments are drawn between 0.2 and 1.2.
_OF_SHAPES: dict[str, tuple[Callable[..., Any], tuple[Type, ...]]] = {
    "norm_sqr": (lambda v: np.sum(v * v), (_M23,)),
    "norm_inv": (lambda v: 1 / np.linalg.norm(v), (_M23,)),
    "norm_eps": (lambda v, eps: np.sqrt(np.sum(v * v) + eps), (_V3, F64)),
    "norm_inv_eps": (lambda v, eps: 1 / np.sqrt(np.sum(v * v) + eps), (_M23, F64)),
    "normalized_eps": (lambda v, eps: v / (np.linalg.norm(v) + eps), (_V3, F64)),
    "safe_norm": (lambda v, eps: max(np.linalg.norm(v), eps), (_M23, F64)),
    "cross_2d": (lambda a, b: a[0] * b[1] - a[1] * b[0], (_V2, _V2)),
    "distance": (lambda a, b: np.linalg.norm(a - b), (_V3, _V3)),
    "reflect": (lambda v, n: v - 2 * np.dot(n, v) * n, (_V3, _V3)),
    "bent": (_bent, (_V3, _V3, F64, F64, F64)),
    "refract": (_refract, (_V3, _V3, F64)),
    "vdir": (lambda a: _pair(cmath.rect(1.0, a)), (F64,)),
    "translate": (lambda *t: np.eye(4) + np.outer([*t, 0.0], np.eye(4)[3]), (F64,) * 3),
    "scale": (lambda *s: np.diag([*s, 1.0]), (F64,) * 3),
    "rotation2d": (
        lambda a: np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]),
        (F64,),
    ),
    "rot_by_axis": (_turn, (_V3, F64)),
    "rot_yaw_pitch_roll": (_yaw_pitch_roll, (F64,) * 3),
    "rotation3d": (lambda x, y, z: _yaw_pitch_roll(z, x, y), (F64,) * 3),
    "cconj": (_of_complex(complex.conjugate), (_V2,)),
    "cmul": (_of_complex(operator.mul), (_V2, _V2)),
    "cdiv": (_of_complex(operator.truediv), (_V2, _V2)),
    "cinv": (_of_complex(lambda z: 1 / z), (_V2,)),
    "cexp": (_of_complex(cmath.exp), (_V2,)),
    "clog": (_of_complex(cmath.log), (_V2,)),
    "csqrt": (_of_complex(cmath.sqrt), (_V2,)),
    "cpow": (_of_complex(operator.pow, 1), (_V2, F64)),
}
_PARTS = {"spin", "turned"}  # of rot_by_axis and rot_yaw_pitch_roll
_OF_EIG = {"eig_value", "eig_column", "eig_direction", "eig_pairs", "eig_vector"}  # test_eig.py


def test_every_composite_is_tested() -> None:
    assert _REFERENCE.keys() | _OF_SHAPES.keys() | _PARTS | _OF_EIG == COMPOSITES.keys()


def _check_composite(
    name: str, types: tuple[Type, ...], values: Values, function: Callable[..., Any]
) -> None:
    """Check that the value agrees with the reference, and that its reverse is the derivative."""
    f = composite_program(name, types)
    arguments = [v if v.shape else float(v) for v in values]
    z = f(values)
    np.testing.assert_allclose(z, function(*arguments), rtol=1e-14, atol=1e-14)
    z_bar = np.random.default_rng(17).uniform(0.5, 1.5, z.shape)
    found = f.adjoints(values, z_bar)
    for k, value in enumerate(values):
        for cell in np.ndindex(value.shape):
            slope = np.sum(z_bar * _by_differences(f, values, k, cell))
            np.testing.assert_allclose(found[k][cell], slope, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", _REFERENCE)
def test_composite_by_component(name: str) -> None:
    reference, domain = _REFERENCE[name]
    rng = np.random.default_rng(13)
    for type_, _ in itertools.product((F64, _V3), range(DRAWS)):
        values: Values = [np.asarray(rng.uniform(*d, shape_of(type_))) for d in domain]
        function = np.vectorize(reference, otypes=[float]) if shape_of(type_) else reference
        _check_composite(name, (type_,) * len(domain), values, function)


@pytest.mark.parametrize("name", _OF_SHAPES)
def test_composite_of_shapes(name: str) -> None:
    function, types = _OF_SHAPES[name]
    rng = np.random.default_rng(13)
    for _ in range(DRAWS):
        values: Values = [np.asarray(rng.uniform(0.2, 1.2, shape_of(t))) for t in types]
        _check_composite(name, types, values, function)


def test_light_beyond_the_critical_angle_is_not_refracted() -> None:
    f, eta = composite_program("refract", (_V3, _V3, F64)), 1.5
    for angle in (0.2, 0.7, 0.75, 1.5):
        out = eta * math.sin(angle)  # Snell's law
        inside = np.array([math.sin(angle), 0.0, -math.cos(angle)])
        values: Values = [inside, np.array([0.0, 0.0, 1.0]), np.asarray(eta)]
        bent = [out, 0.0, -math.sqrt(1 - out * out)] if out < 1 else [0.0] * 3
        np.testing.assert_allclose(f(values), bent, rtol=1e-14, atol=1e-14)
        if out > 1:
            assert not any(np.any(bar) for bar in f.adjoints(values, np.ones(3)))


# Guards


@pytest.mark.parametrize("of", [Vector(3, F64), Matrix(2, 2, F64), F64], ids=str)
@pytest.mark.parametrize("to", [Vector(3, F64), Matrix(2, 2, F64), F64], ids=str)
def test_a_guard_makes_zero_what_follows_from_zero_only(of: Type, to: Type) -> None:
    b = OpBuilder()
    fields = bar, part, out = inputs((of, to, to))
    b.store(out, (), unless_zero(b, b.load(bar, ()), b.load(part, ()), componentwise=False))
    program = check(Program("guarded", fields, b.block()))
    nothing = np.zeros(shape_of(of))
    balanced = nothing.copy()
    balanced.flat[:2] = (1.0, -1.0)[: nothing.size]  # it is not zero, and its sum is
    for number in (math.nan, math.inf, 2.0):
        slopes = np.full(shape_of(to), number)
        for derivative in (nothing, balanced):
            found = np.ones(shape_of(to))
            meaning.run(program, {bar: derivative, part: slopes, out: found})
            is_zero = derivative is nothing and math.isnan(number)
            np.testing.assert_array_equal(found, np.zeros_like(slopes) if is_zero else slopes)


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
    ("logsumexp", (F64,)),
    ("logsumexp", (Vector(2, I32),)),
    ("stop_grad", (I32,)),
    ("sum", (F64,)),
    ("matmul", (Vector(2, F64), Matrix(2, 2, F64))),
    ("matmul", (Matrix(2, 3, F64), Matrix(2, 3, F64))),
    ("matmul", (Matrix(2, 2, F64), F64)),
    ("transpose", (Vector(2, F64),)),
    ("trace", (Matrix(2, 3, F64),)),
    ("determinant", (Matrix(17, 17, F64),)),
    ("inverse", (Matrix(2, 2, I32),)),
    ("inverse", (Matrix(2, 3, F64),)),
    ("solve", (Matrix(2, 2, F64), Vector(3, F64))),
    ("solve", (Matrix(17, 17, F64), Vector(17, F64))),
    ("solve", (Matrix(2, 2, F64), Vector(2, F32))),
    ("solve_lower", (Matrix(2, 2, F64), F64)),
    ("solve_upper", (Matrix(2, 2, F64), Matrix(3, 2, F64))),
    ("inverse", (Matrix(17, 17, F64),)),
    ("cholesky", (Matrix(2, 3, F64),)),
    ("cholesky", (Matrix(2, 2, I32),)),
    ("popcnt", (F64,)),
    ("raw_mod", (F32, F32)),
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
