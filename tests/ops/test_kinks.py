"""The derivatives at kinks: the documented table, and the numbers in it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from difftile.ir.types import BOOL, F64, I32, Type, shape_of, shaped
from difftile.ops.composites import COMPOSITES
from difftile.ops.kinks import kink_table
from difftile.ops.table import OPS
from tests.op_programs import Case, composite_program, evaluate, row_adjoints

PAGE = Path(__file__).parents[2] / "docs" / "kinks.md"
INF, NAN = math.inf, math.nan


def test_page_is_made_from_the_rows(request: pytest.FixtureRequest) -> None:
    """`pytest --update-golden` rewrites the page."""
    text = kink_table()
    assert max(map(len, (line for line in text.splitlines() if "|" not in line))) <= 100
    if request.config.getoption("--update-golden"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text


def _type(value: Any) -> Type:
    if isinstance(value, np.int32):
        return I32
    return BOOL if isinstance(value, bool) else shaped(np.shape(value), F64)


_OF_CHOLESKY = (np.array([[1.207106781186547, 0.414213562373095], [0.414213562373095, 2.0]])
                * np.sqrt(2) / 8).tolist()  # fmt: skip

# Arguments, value, adjoints of the arguments for an adjoint of 1.
_ROWS: list[tuple[str, tuple[Any, ...], Any, tuple[Any, ...]]] = [
    ("max", (1, 2), 2, (0, 1)),
    ("max", (2, 1), 2, (1, 0)),
    ("max", (2, 2), 2, (0.5, 0.5)),
    ("max", (0, -0.0), 0, (0.5, 0.5)),
    ("max", (NAN, 1), 1, (0.5, 0.5)),
    ("max", (1, NAN), 1, (0.5, 0.5)),
    ("max", ([1, 2, 3], [3, 2, 1]), [3, 2, 3], ([0, 0.5, 1], [1, 0.5, 0])),
    ("min", (1, 2), 1, (1, 0)),
    ("min", (2, 1), 1, (0, 1)),
    ("min", (2, 2), 2, (0.5, 0.5)),
    ("min", (1, NAN), 1, (0.5, 0.5)),
    ("min", (NAN, 1), 1, (0.5, 0.5)),
    ("abs", (-2,), 2, (-1,)),
    ("abs", (0,), 0, (0,)),
    ("abs", (-0.0,), 0, (0,)),
    ("abs", (2,), 2, (1,)),
    ("clamp", (-1, 0, 1), 0, (0, 1, 0)),
    ("clamp", (0, 0, 1), 0, (1, 0, 0)),
    ("clamp", (0.5, 0, 1), 0.5, (1, 0, 0)),
    ("clamp", (1, 0, 1), 1, (1, 0, 0)),
    ("clamp", (2, 0, 1), 1, (0, 0, 1)),
    ("clamp", (1, 1, 1), 1, (1, 0, 0)),
    ("clamp", (NAN, 0, 1), 0, (0, 1, 0)),
    ("clamp", (0, 1, 0), 0, (0, 0, 1)),
    ("clamp", (2, 1, 0), 0, (0, 0, 1)),
    ("clamp", (-1, 0, 0), 0, (0, 1, 0)),
    ("sqrt", (0,), 0, (0,)),
    ("sqrt", (4,), 2, (0.25,)),
    ("sqrt", (-1,), NAN, (0,)),
    ("norm", ([0, 0, 0],), 0, ([0, 0, 0],)),
    ("norm", ([3, 0, 4],), 5, ([0.6, 0, 0.8],)),
    ("normalized", ([0, 0, 0],), [0, 0, 0], ([0, 0, 0],)),
    ("div", (1e-20, 1e-20), 1, (1e20, -1e20)),
    ("div", (1, 0), INF, (INF, -INF)),
    ("pow", (2, 3), 8, (12, 5.545177444479562)),
    ("pow", (0, 1), 0, (1, 0)),
    ("pow", (0, 2), 0, (0, 0)),
    ("pow", (0, 0), 1, (0, 0)),
    ("pow", (-2, 2), 4, (-4, 0)),
    ("pow", (-2, 0), 1, (0, 0)),
    ("pow", (0, 0.5), 0, (INF, 0)),
    ("mod", (7, 3), 1, (1, -2)),
    ("mod", (-7, 3), 2, (1, 3)),
    ("mod", (6, 3), 0, (1, -2)),
    ("log", (0,), -INF, (INF,)),
    ("log2", (0,), -INF, (INF,)),
    ("log2", (8,), 3, (1 / (8 * math.log(2)),)),
    ("log10", (0,), -INF, (INF,)),
    ("rsqrt", (0,), INF, (-INF,)),
    ("asin", (1,), math.pi / 2, (INF,)),
    ("acos", (1,), 0, (-INF,)),
    ("atan", (INF,), math.pi / 2, (0,)),
    ("atan2", (1, 1), math.pi / 4, (0.5, -0.5)),
    ("atan2", (0, -1), math.pi, (-1, 0)),
    ("atan2", (0, 0), 0, (NAN, NAN)),
    ("exp", (1000,), INF, (INF,)),
    ("expm1", (0,), 0, (1,)),
    ("expm1", (1e-20,), 1e-20, (1,)),
    ("expm1", (1000,), INF, (INF,)),
    ("expm1", (-1000,), -1, (0,)),
    ("log1p", (0,), 0, (1,)),
    ("log1p", (-1e-20,), -1e-20, (1,)),
    ("log1p", (-1,), -INF, (INF,)),
    ("log1p", (-2,), NAN, (-1,)),
    ("logit", (0,), -INF, (INF,)),
    ("logit", (0.5,), 0, (4,)),
    ("logit", (1,), INF, (INF,)),
    ("log1pexp", (-1000,), 0, (0,)),
    ("log1pexp", (1000,), 1000, (1,)),
    ("erfinv", (1,), INF, (INF,)),
    ("erfinv", (-1,), -INF, (INF,)),
    ("lgamma", (0,), INF, (-INF,)),
    ("lgamma", (-1,), INF, (NAN,)),
    ("digamma", (0,), -INF, (INF,)),
    ("digamma", (-1,), NAN, (INF,)),
    ("trigamma", (0,), INF, (-INF,)),
    ("zeta", (np.int32(2), 0), INF, (None, -INF)),
    ("polygamma", (np.int32(2), 0), -INF, (None, INF)),
    ("logsumexp", ([1000, 1000],), 1000 + math.log(2), ([0.5, 0.5],)),
    ("logsumexp", ([0, -INF],), 0, ([1, 0],)),
    ("logsumexp", ([-INF, -INF],), -INF, ([NAN, NAN],)),
    ("logsumexp", ([1, INF],), INF, ([NAN, NAN],)),
    ("select", (True, 2, 3), 2, (None, 1, 0)),
    ("select", (False, 2, 3), 3, (None, 0, 1)),
    ("cofactors", ([[2, 0], [0, 4]],), [[4, 0], [0, 2]], ([[1, -1], [-1, 1]],)),
    ("cofactors", ([[1, 2], [2, 4]],), [[4, -2], [-2, 1]], ([[NAN, NAN], [NAN, NAN]],)),
    ("cofactors", ([[0, 0], [0, 0]],), [[0, 0], [0, 0]], ([[NAN, NAN], [NAN, NAN]],)),
    ("inverse", ([[0, 0], [0, 0]],), [[NAN, NAN], [NAN, NAN]], ([[NAN, NAN], [NAN, NAN]],)),
    ("cholesky", ([[4, 2], [2, 3]],), [[2, 0], [1, math.sqrt(2)]], (_OF_CHOLESKY,)),
    ("cholesky", ([[4, 4], [0, 3]],), [[2, 0], [1, math.sqrt(2)]], (_OF_CHOLESKY,)),
    ("cholesky", ([[1, 2], [2, 1]],), [[1, 0], [2, NAN]], ([[NAN, NAN], [NAN, NAN]],)),
    (
        "solve_lower",
        ([[2, 9], [1, 4]], [2, 9]),
        [1, 2],
        ([[-3 / 8, 0], [-1 / 4, -1 / 2]], [3 / 8, 1 / 4]),
    ),
    ("solve_lower", ([[0, 1], [1, 1]], [1, 1]), [NAN, NAN], ([[NAN, NAN], [NAN, NAN]], [NAN, NAN])),
    (
        "solve_upper",
        ([[4, 1], [9, 2]], [9, 2]),
        [2, 1],
        ([[-1 / 2, -1 / 4], [0, -3 / 8]], [1 / 4, 3 / 8]),
    ),
    ("solve_upper", ([[1, 1], [1, 0]], [1, 1]), [NAN, NAN], ([[NAN, NAN], [NAN, NAN]], [NAN, NAN])),
    ("svd", ([[1, 0], [0, 1]],), [1, 0, 0, 1, 1, 1, 1, 0, 0, 1], ([[1, 0], [0, 1]],)),
    ("svd", ([[0, 0], [0, 0]],), [1, 0, 0, 1, 0, 0, 1, 0, 0, 1], ([[1, 0], [0, 1]],)),
    ("sym_eig", ([[1, 0], [0, 1]],), [1, 1, 1, 0, 0, 1], ([[1, 0], [0, 1]],)),
    ("polar", ([[1, 0], [0, 1]],), [1, 0, 0, 1, 1, 0, 0, 1], ([[1, 1], [1, 1]],)),
    ("polar", ([[0, 0], [0, 0]],), [1, 0, 0, 1, 0, 0, 0, 0], ([[1, 1], [1, 1]],)),
    ("solve", ([[0, 0], [0, 0]], [1, 2]), [NAN, NAN], ([[NAN, NAN], [NAN, NAN]], [NAN, NAN])),
    (
        "solve",
        ([[2, 0], [0, 4]], [2, 2]),
        [1, 0.5],
        ([[-0.5, -0.25], [-0.25, -0.125]], [0.5, 0.25]),
    ),
]


def _tag(value: Any) -> str:
    return value if isinstance(value, str) else str(value).replace(" ", "")


@pytest.mark.parametrize(("name", "arguments", "value", "expected"), _ROWS, ids=_tag)
def test_row(name: str, arguments: tuple[Any, ...], value: Any, expected: tuple[Any, ...]) -> None:
    op = OPS[name]
    types = tuple(_type(a) for a in arguments)
    case = Case(op, types, op.typing(types))
    values = [
        np.asarray(a, type(a) if isinstance(a, (bool, np.int32)) else float) for a in arguments
    ]
    if value is not None:
        np.testing.assert_allclose(evaluate(case, values), value, rtol=1e-15)
    found = row_adjoints(case, values, np.ones(shape_of(case.result)))
    for one, wanted in zip(found, expected, strict=True):
        if wanted is None:
            assert one is None
        else:
            np.testing.assert_allclose(one, wanted, rtol=1e-15)


_FLAT = ("sign", "floor", "ceil", "round", "stop_grad")


def test_every_kink_has_its_numbers() -> None:
    tested = {name for name, *_ in _ROWS} | set(_FLAT)
    assert tested >= {op.name for op in OPS.values() if op.kinks}


@pytest.mark.parametrize("name", _FLAT)
def test_flat_row_has_no_adjoint(name: str) -> None:
    assert not OPS[name].vjp
    case = Case(OPS[name], (F64,), F64)
    for x in (-1.5, 0.0, 2.0):
        assert row_adjoints(case, [np.asarray(x)], np.ones(())) == [None]


_COMPOSITES: list[tuple[str, tuple[Any, ...], Any, tuple[Any, ...]]] = [
    ("saturate", (-1,), 0, (0,)),
    ("saturate", (0,), 0, (1,)),
    ("saturate", (0.5,), 0.5, (1,)),
    ("saturate", (1,), 1, (1,)),
    ("saturate", (2,), 1, (0,)),
    ("fract", (-1,), 0, (1,)),
    ("fract", (0.25,), 0.25, (1,)),
    ("fract", (2,), 0, (1,)),
    ("step", (1, 1), 1, (0, 0)),
    ("trunc", (-1.5,), -1, (0,)),
    ("fmod", (7, 3), 1, (1, -2)),
    ("fmod", (-7, 3), -1, (1, 2)),
    ("smoothstep", (0, 1, 0.5), 0.5, (-0.75, -0.75, 1.5)),
    ("smoothstep", (0, 1, 0), 0, (0, 0, 0)),
    ("smoothstep", (0, 1, 2), 1, (0, 0, 0)),
    ("mix", (2, 6, 0.25), 3, (0.75, 0.25, 4)),
    ("copysign", (2, -1), -2, (-1, 0)),
    ("distance", ([1, 2, 3], [1, 2, 3]), 0, ([0, 0, 0], [0, 0, 0])),
    ("distance", ([3, 0, 4], [0, 0, 0]), 5, ([0.6, 0, 0.8], [-0.6, 0, -0.8])),
    ("softplus", (0, 2), math.log(2) / 2, (0.5, -math.log(2) / 4)),
    ("softplus", (1000, 1), 1000, (1, 0)),
    ("softplus", (-1000, 1), 0, (0, 0)),
    ("safe_divide", (1, 2, 1e-8), 0.5, (0.5, -0.25, 0)),
    ("safe_divide", (1, -2, 1e-8), -0.5, (-0.5, -0.25, 0)),
    ("safe_divide", (1, 0, 1e-8), 1e8, (1e8, 0, -1e16)),
    ("safe_divide", (1, -1e-9, 1e-8), -1e8, (-1e8, 0, 1e16)),
    ("safe_divide", (0, 0, 1e-8), 0, (1e8, 0, 0)),
    ("safe_divide", (1, -0.5, 0.5), -2, (-2, -4, 0)),
    ("safe_norm", ([0, 0, 0], 1e-8), 1e-8, ([0, 0, 0], 1)),
    ("safe_norm", ([3, 0, 4], 1e-8), 5, ([0.6, 0, 0.8], 0)),
    ("safe_norm", ([3, 0, 4], 5), 5, ([0.6, 0, 0.8], 0)),
    ("norm_sqr", ([0, 0, 0],), 0, ([0, 0, 0],)),
    ("norm_inv", ([0, 0, 0],), INF, ([NAN, NAN, NAN],)),
    ("norm_eps", ([0, 0, 0], 4), 2, ([0, 0, 0], 0.25)),
    ("norm_eps", ([0, 0, 0], 0), 0, ([0, 0, 0], 0)),
    ("normalized_eps", ([0, 0, 0], 0.5), [0, 0, 0], ([2, 2, 2], 0)),
    ("csqrt", ([0, 0],), [0, 0], ([0, 0],)),
    ("csqrt", ([4, 0],), [2, 0], ([0.25, 0.25],)),
    ("cpow", ([0, 0], 2), [0, 0], ([0, 0], 0)),
    ("clog", ([0, 0],), [-INF, 0], ([NAN, NAN],)),
]


@pytest.mark.parametrize(("name", "arguments", "value", "expected"), _COMPOSITES, ids=_tag)
def test_composite(
    name: str, arguments: tuple[Any, ...], value: Any, expected: tuple[Any, ...]
) -> None:
    assert len(arguments) == len(COMPOSITES[name].parameters)
    f = composite_program(name, tuple(_type(a) for a in arguments))
    values = [np.asarray(a, float) for a in arguments]
    z = f(values)
    np.testing.assert_allclose(z, value, rtol=1e-15)
    for one, wanted in zip(f.adjoints(values, np.ones(z.shape)), expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-15)
