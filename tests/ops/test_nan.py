"""NaN and infinity compare as they do in Python, with fast math and without."""

from __future__ import annotations

import importlib.util
import itertools
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import meaning
from difftile.ir.build import Builder
from difftile.ir.nodes import Array, Block, Const, ParallelFor, Program, Value, Var
from difftile.ir.types import BOOL, F64, I32, FieldType, scalar_of
from difftile.ops.check import check
from difftile.ops.table import ELEMENTWISE
from difftile.schedule.apply import Applied
from difftile.schedule.schedule import Schedule
from difftile.schedule.target import Target
from difftile.substrate import CompiledProgram, variants
from difftile.substrate.emit import Emitted, emit
from tests.op_programs import Case
from tests.ops.test_ops_in_taichi import spelled

_COMPARED = ("==", "!=", "<", "<=", ">", ">=")


@pytest.fixture(params=["fast", "exact", "debug"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    """Start difftile with and without fast math."""
    options: dict[str, dict[str, Any]] = {
        "fast": {"fast_math": True},
        "exact": {"fast_math": False},
        "debug": {"debug": True},
    }
    dt.init(**options[request.param])
    yield request.param
    dt.init()


# Each is true or false in Python, of floats a, b and c.
_TESTS = (
    *(f"{left} {sign} {right}" for sign in _COMPARED for left, right in ("ab", "aa")),
    *(f"not (a {sign} b)" for sign in _COMPARED),
    *(f"not (a {sign} a)" for sign in _COMPARED),
    *(f"a {sign} {number}" for sign in _COMPARED for number in ("0.0", "1.5", "math.inf")),
    *(f"-math.inf {sign} a" for sign in _COMPARED),
    *("a < b < c", "a == a == a", "not (a <= b <= c)", "a != b != c"),
    *("a < b and b < c", "a == a and b == b", "not (a < b or a >= b)", "a <= a or b != b"),
    *("not (not (a == a))", "(a < b) == (a >= b)", "(a < b) != (not (a >= b))"),
    *("a + 0.0 == a", "a * 1.0 >= a", "-(-a) == a", "a == (b if b == b else a)"),
    *("bool(a)", "not a", "bool(a) and b < c", "not (a or b)"),
    *("math.isnan(a)", "not math.isnan(a)", "math.isinf(a)", "math.isinf(a) or a == b"),
)
_HEAD = "import math\nimport taichi as ti\nimport difftile as dt\n\n@dt.kernel\ndef tested(x, y):\n"


_FORMS = (
    "y[i, {k}] = 1 if {test} else 0",
    "y[i, {k}] = ti.select({test}, 1, 0)",
    "y[i, {k}] = int({test})",
    "if {test}:\n            y[i, {k}] = 1",
    "while y[i, {k}] < 1 and ({test}):\n            y[i, {k}] += 1",
)
_EVERY = bool(os.environ.get("DIFFTILE_EVERY_FORM"))  # takes minutes


def _kernel() -> tuple[str, list[str]]:
    """Write a kernel of all tests, each in one form or in every, and return it with the tests."""
    chosen = [
        (test, form)
        for k, test in enumerate(_TESTS)
        for form in (_FORMS if _EVERY else (_FORMS[k % len(_FORMS)],))
    ]
    lines = [_HEAD, "    for i in range(x.shape[0]):\n"]
    lines += [f"        {name} = x[i, {k}]\n" for k, name in enumerate("abc")]
    for k, (test, form) in enumerate(chosen):
        lines.append(f"        {form.format(k=k, test=test)}\n")
    return "".join(lines), [test for test, _ in chosen]


def _numbers(dtype: Any) -> Any:
    numbers = (0.0, 1.0, -1.5, math.inf, -math.inf, math.nan)
    return np.array(list(itertools.product(numbers, repeat=3)), dtype)


def compare_with_python(dtype: Any, folder: Path) -> None:
    """Run a kernel of comparisons on all triples of some numbers, and evaluate the same texts."""
    text, tests = _kernel()
    path = folder / "comparisons.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("comparisons", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    numbers = _numbers(dtype)
    y = dt.zeros((len(numbers), len(tests)), dtype=ti.i32)
    module.tested(dt.from_numpy(numbers), y)
    for row, found in zip(numbers, y.to_numpy(), strict=True):
        values = dict(zip("abc", map(float, row), strict=True))
        truths = [bool(eval(test, {"math": math}, dict(values))) for test in tests]
        wrong = [
            test for test, one, truth in zip(tests, found, truths, strict=True) if one != truth
        ]
        assert not wrong, values


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [("fast", np.float32), ("fast", np.float64), ("debug", np.float64)],
    indirect=["mode"],
)
def test_comparisons_are_those_of_python(mode: str, dtype: Any, tmp_path: Path) -> None:
    compare_with_python(dtype, tmp_path)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_only_nan_differs_from_itself(dtype: Any) -> None:
    """In a kernel as small as this one, the compiler finds that both sides are the same."""

    @dt.kernel
    def compared(x, y):
        for i in x:
            a, b = x[i], x[i]
            y[i] = 0
            if a == b:
                y[i] += 1
            if a <= b:
                y[i] += 2
            if a != b:
                y[i] += 4
            if a >= b:
                y[i] += 8

    x, y = dt.from_numpy(np.array([1.0, math.inf, math.nan], dtype)), dt.zeros(3, ti.i32)
    compared(x, y)
    assert y.to_numpy().tolist() == [11, 11, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_comparisons_as_spelled_for_cuda(
    dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def guarded(made: Applied, schedule: Schedule, target: Target, **options: Any) -> Emitted:
        return emit(made, schedule, replace(target, guarded=True), **options)

    monkeypatch.setattr(variants, "emit", guarded)
    compare_with_python(dtype, tmp_path)


# Rows of the table of operations


_SPECIAL = (0.0, -0.0, 1.0, -1.5, 0.3, 1e-300, 1e200, -1e200, math.inf, -math.inf, math.nan)


def _cases() -> list[Case]:
    return [
        case
        for case in spelled()
        if case.op.name in ELEMENTWISE
        and set((*case.types, case.result)) <= {F64, BOOL}
        and scalar_of(case.types[-1]) == F64
    ]


def test_rows_at_infinities_and_nan(mode: str) -> None:
    """One loop over all pairs of special numbers, in which each row is computed."""
    pairs = np.array(list(itertools.product(_SPECIAL, repeat=2)))
    x, y = Array("x", FieldType(F64, 2)), Array("y", FieldType(F64, 2))
    cases, b, index = _cases(), Builder(), Var("i", I32)
    with b.region() as body:
        first, second = (b.load(x, (index, Const(k, I32))) for k in range(2))
        for k, case in enumerate(cases):
            args: tuple[Value, ...] = (first, second)[: len(case.types)]
            if case.op.name == "select":
                args = (b.let("lt", (first, second), BOOL), first, second)
            elif len(case.types) == 3:
                args = (first, Const(-1.0, F64), second)
            result: Value = b.let(case.op.name, args, case.result)
            if case.result == BOOL:
                result = b.let("cast", (result,), F64)
            b.store(y, (index, Const(k, I32)), result)
    loop = ParallelFor((index,), (Const(0, I32),), (Const(len(pairs), I32),), Block(tuple(body)))
    b.append(loop)
    program = check(Program("rows", (x, y), b.block()))
    wanted = np.zeros((len(pairs), len(cases)))
    with np.errstate(all="ignore"):
        meaning.run(program, {x: pairs, y: wanted})
    given, found = dt.from_numpy(pairs), dt.from_numpy(np.zeros_like(wanted))
    CompiledProgram(program).launch([given.buffer, found.buffer])
    for k, case in enumerate(cases):
        np.testing.assert_allclose(
            found.to_numpy()[:, k], wanted[:, k], rtol=1e-14, err_msg=case.op.name
        )
