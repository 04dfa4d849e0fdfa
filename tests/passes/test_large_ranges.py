"""Parallel loops whose bounds are near the limits of integers."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import AssertionFailure, IntegerTooLarge, KernelError
from difftile.substrate import current_session
from tests.modules import imported

LAST = 2**31 - 1
RANGES = [
    (LAST - 2, LAST),
    (LAST - 9, LAST - 5),
    (-LAST - 1, -LAST + 1),
    (-LAST - 1, -LAST - 1),
    (LAST - 2, 5),
    (5, -LAST),
]


@pytest.fixture(autouse=True)
def usual_session() -> Iterator[None]:
    yield
    if current_session().debug or not current_session().compiles:
        dt.init(arch="cpu")


@dt.kernel
def count(total, first: int, last: int):
    for i in range(first, last):
        total[None] += 1


@dt.kernel
def fill(y, first: int, last: int):
    for i in range(first, last):
        y[i - first] = i


@dt.kernel
def weigh(x, y, first: int, last: int):
    for i in range(first, last):
        y[None] += x[i - first] * x[i - first]


@pytest.mark.compiled
@pytest.mark.parametrize(("first", "last"), RANGES)
def test_iterations_of_a_range_near_a_limit(first: int, last: int) -> None:
    length = max(0, last - first)
    total = dt.zeros((), dtype=ti.i32)
    count(total, first, last)
    assert total[None] == length
    y = dt.zeros(8, dtype=ti.i32)
    fill(y, first, last)
    np.testing.assert_array_equal(y.to_numpy()[:length], np.arange(first, first + length))
    assert not y.to_numpy()[length:].any()
    x, loss = dt.full(8, 3.0, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        weigh(x, loss, first, last)
    np.testing.assert_array_equal(x.grad.to_numpy(), [6.0] * length + [0.0] * (8 - length))


@pytest.mark.parametrize("config", [{"arch": "python"}, {"arch": "cpu", "debug": True}])
def test_ranges_near_a_limit_without_a_compiler_and_under_debug(config: dict[str, Any]) -> None:
    @dt.kernel
    def asserted(y, first: int, last: int):
        for i in range(first, last):
            assert i < LAST - 2, "too far"
            y[i - first] = i

    dt.init(**config)
    for first, last in RANGES:
        length = max(0, last - first)
        total = dt.zeros((), dtype=ti.i32)
        count(total, first, last)
        assert total[None] == length
        y = dt.zeros(8, dtype=ti.i32)
        fill(y, first, last)
        np.testing.assert_array_equal(y.to_numpy()[:length], np.arange(first, first + length))
    asserted(y, LAST - 6, LAST - 2)
    if config.get("debug"):
        with pytest.raises(AssertionFailure, match="too far"):
            asserted(y, LAST - 4, LAST - 1)


@pytest.mark.compiled
def test_a_bound_that_wraps_around_is_named() -> None:
    @dt.kernel
    def after(total, first: int):
        for i in range(first, first + 8):
            total[None] += 1

    with pytest.raises(IntegerTooLarge, match="this part of a range's bound is 2147483648"):
        after(dt.zeros((), dtype=ti.i32), LAST - 7)


FACTORS = (0, 1, 2, 3, -2, 7, 181, 46341, 65535, 65536, 70000, 2**20, -65536, LAST, -LAST - 1)
_COUNTS = """\
import taichi as ti

import difftile as dt


@dt.kernel
def counts(total, x, n: int, m: int):
    for i in range({low}, {high}):
        total[None] += 1


@dt.kernel
def serial(total, x, n: int, m: int):
    for _ in range(1):
        for i in range({low}, {high}):
            total[None] += 1


@dt.kernel
def indexed(total, x, n: int, m: int):
    for i in range({low}, {high}):
        x[i - ({low})] = 1.0
"""


def bound(rng: random.Random, depth: int = 2) -> str:
    """Return a random bound of a range."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("n", "m", "n", "m", "3", "x.shape[0]"))
    left, right = bound(rng, depth - 1), bound(rng, depth - 1)
    return rng.choice((f"({left} * {right})", f"({left} + {right})", f"({left} - {right})"))


def exact(text: str, n: int, m: int) -> dict[int, int]:
    """Return the integers that a bound consists of, without limits, by their place in it."""
    tree = ast.parse(text, mode="eval")
    names = {"n": n, "m": m, "x": SimpleNamespace(shape=(4,))}
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.Name, ast.Constant)) and getattr(node, "id", "") != "x":
            code = compile(ast.Expression(node), "bound", "eval")
            found[node.end_col_offset * 100 + node.col_offset] = eval(code, names)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_ranges_have_the_length_of_exact_arithmetic_or_are_refused(
    seed: int, tmp_path: Path
) -> None:
    dt.init(arch="python")
    rng = random.Random(seed)
    high = bound(rng, 3)
    low = rng.choice(("0", "0", high + " - 3", bound(rng, 1)))
    module = imported(tmp_path / f"counts{seed}.py", _COUNTS.format(low=low, high=high))
    refused = 0
    for _ in range(30):
        n, m = rng.choice(FACTORS), rng.choice(FACTORS)
        numbers = {*exact(low, n, m).values(), *exact(high, n, m).values()}
        first, last = (eval(one, {"n": n, "m": m, "x": np.zeros(4)}) for one in (low, high))
        length, wraps = max(0, last - first), any(not -LAST - 1 <= k <= LAST for k in numbers)
        for kernel in (module.counts, module.serial, module.indexed):
            total, x = dt.zeros((), dtype=ti.i32), dt.zeros(4)
            try:
                if not wraps and length > 2000:
                    continue
                kernel(total, x, n, m)
            except IntegerTooLarge as error:
                refused += 1
                said = int(re.search(r"is (-?\d+), which", str(error)).group(1))
                assert said in numbers and wraps, (low, high, n, m, str(error))
            except KernelError:
                assert length > 4, (low, high, n, m)
            else:  # a sum that wraps around may come back
                assert total[None] == (0 if kernel is module.indexed else length)
    assert refused


@pytest.mark.compiled
def test_literal_bounds_near_a_limit() -> None:
    @dt.kernel
    def literal(total):
        for i in range(2147483645, 2147483647):
            total[None] += 1

    total = dt.zeros((), dtype=ti.i32)
    literal(total)
    assert total[None] == 2


@pytest.mark.compiled
def test_more_iterations_than_integers_is_refused() -> None:
    with pytest.raises(KernelError, match="iterations in one launch"):
        count(dt.zeros((), dtype=ti.i32), -LAST, LAST)
