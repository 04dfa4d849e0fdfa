"""Solvers and L-BFGS on fields that ranks divide: the same as on plain fields of one process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.distributed import solver_steps as steps
from tests.distributed import split_problems as problems
from tests.ranks import ranks

CASES: list[tuple[Callable[..., problems.Arrays], tuple[Any, ...]]] = [
    (problems.linear, ("cg",)),
    (problems.linear, ("cg", True)),
    (problems.linear, ("gmres",)),
    (problems.linear, ("bicgstab",)),
    (problems.linear, ("dense",)),
    (problems.fixed_point, ("solution",)),
    (problems.fixed_point, ("algorithm",)),
    (problems.root, ()),
    (problems.minimum, ()),
    (problems.heat, ("rk4", "discrete")),
    (problems.heat, ("dopri5", "discrete")),
    (problems.heat, ("dopri5", "continuous")),
]
STEPS: list[tuple[Callable[..., None], tuple[Any, ...], int, float]] = [
    # how many, and the fields that a tape may keep
    (steps.linear, ("cg",), 4, 14),
    (steps.linear, ("gmres",), 4, 14),
    (steps.fixed_point, ("solution",), 4, 14),
    (steps.fixed_point, ("algorithm",), 4, 14),
    (steps.root, (), 4, 14),
    (steps.minimum, (), 4, 14),
    (steps.heat, ("rk4", "discrete"), 4, 50),
    (steps.heat, ("dopri5", "discrete"), 4, 75),
    (steps.heat, ("dopri5", "continuous"), 12, 22),
]
QUICK = {"linear-cg", "heat-rk4-discrete"}
EACH = {"linear-cg", "fixed_point-solution", "root", "heat-dopri5-discrete"}  # kind of solver
OTHERS = [(2, "torch"), (4, "torch"), (2, "mpi"), (3, "mpi"), (4, "mpi")]


def names(case: tuple[Any, ...]) -> str:
    """Return the name of a case."""
    return "-".join(map(str, (case[0].__name__, *case[1])))


def compare(expected: problems.Arrays, found: problems.Arrays, first: problems.Arrays) -> None:
    """Check a rank's results against those of one process, and that all ranks have the same."""
    for name, values in expected.items():
        np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(first[name]), name)
        if isinstance(values, int) and name != "iterations":
            assert found[name] == values, name
        elif name == "iterations":
            assert abs(found[name] - values) <= 1  # sums in another order
        else:
            np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("case", CASES, ids=names)
def test_halos_alone_change_nothing(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    run, options = case
    found = run(True, *options)
    compare(run(False, *options), found, found)


@pytest.mark.parametrize(
    "case",
    [c if names(c) in EACH else pytest.param(c, marks=pytest.mark.slow) for c in CASES],
    ids=names,
)
def test_three_ranks(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    run, options = case
    results = ranks(3).run(run, True, *options)
    expected = run(False, *options)
    for found in results:
        compare(expected, found, results[0])


@pytest.mark.slow  # three more starts of ranks, which compile anew
@pytest.mark.parametrize(("size", "engine"), OTHERS)
@pytest.mark.parametrize("case", CASES, ids=names)
def test_other_ranks(
    size: int, engine: str, case: tuple[Callable[..., Any], tuple[Any, ...]]
) -> None:
    run, options = case
    results = ranks(size, engine).run(run, True, *options)
    expected = run(False, *options)
    for found in results:
        compare(expected, found, results[0])


@pytest.mark.parametrize("bounded", [False, True])
def test_lbfgs(bounded: bool) -> None:
    expected = problems.quasi_newton(False, bounded)
    results = ranks(3).run(problems.quasi_newton, True, bounded)
    for found in results:
        np.testing.assert_array_equal(found["x"], results[0]["x"])
        assert found["loss"] == results[0]["loss"] == pytest.approx(expected["loss"], rel=1e-13)
        # A minimum is known to the root of the rounding error of the loss.
        np.testing.assert_allclose(found["x"], expected["x"], atol=1e-7)
        assert found["s"] == pytest.approx(expected["s"], abs=1e-7)


def test_reductions_count_each_cell_once() -> None:
    expected = problems.reductions(False)
    here = problems.reductions(True)
    compare(expected, here, here)
    results = ranks(3).run(problems.reductions, True)
    for found in results:
        compare(expected, found, results[0])


@pytest.fixture(scope="module")
def reduced() -> problems.Arrays:
    return {**problems.reductions_on_tapes(False, None), "again": True}


@pytest.mark.parametrize(
    ("size", "memory"),
    [
        (3, None),
        (3, 7_000),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [(k, memory) for k in (1, 2, 4) for memory in (None, 7_000)]
        ),
    ],
)
def test_reductions_on_tapes(reduced: problems.Arrays, size: int, memory: int | None) -> None:
    results = ranks(size).run(problems.reductions_on_tapes, True, memory)
    for found in results:
        compare({n: reduced[n] for n in found}, found, results[0])


def test_gradients_of_reductions() -> None:
    expected = problems.gradients_of_reductions(False)
    here = problems.gradients_of_reductions(True)
    compare(expected, here, here)
    results = ranks(3).run(problems.gradients_of_reductions, True)
    for found in results:
        compare(expected, found, results[0])


def test_reductions_that_ranks_use_differently_are_refused() -> None:
    for errors in ranks(2).run(problems.used_differently):
        assert len(errors) == len(problems.REDUCTIONS)
        for name, error in zip(problems.REDUCTIONS, errors, strict=True):
            assert f"{name}() of <field f64" in error
            assert "local=True" in error


def test_fields_of_grids_alone_have_reductions_on_tapes() -> None:
    """No other function of the library has made a field before."""
    program = """
import difftile
from difftile import distributed

difftile.init(arch="cpu")
x = distributed.Grid((6,)).field(difftile.ti.f64, grad=True)
with difftile.Tape() as tape:
    loss = difftile.value((2 * x).inner.sum())
tape.backward({loss: 1.0})
assert x.grad.to_numpy().tolist() == [0, *[2] * 6, 0]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def sizes_of_steps() -> list[Any]:
    """Return the cases: three ranks, and as slow ones the other numbers of them."""
    cases: list[Any] = []
    for case in STEPS:
        name = names(case)
        for size, engine in [(3, "torch"), *OTHERS]:
            slow = [pytest.mark.slow] if name not in QUICK or (size, engine) in OTHERS else []
            cases.append(pytest.param(size, engine, case, marks=slow, id=f"{name}-{size}-{engine}"))
    return cases


@pytest.mark.parametrize(("size", "engine", "case"), sizes_of_steps())
def test_steps_within_memory(
    size: int, engine: str, case: tuple[Callable[..., Any], tuple[Any, ...], int, float]
) -> None:
    """Limited tapes run solvers again on all ranks or on none, though ranks have other limits."""
    step, options, count, memory = case
    (expected,) = steps.march(False, step, options, ({},), count)
    tapes = ({}, {"memory": memory})
    for results in ranks(size, engine).run(steps.march, True, step, options, tapes, count):
        for k, found in enumerate(results):
            assert (found.pop("again") > 0) == (k > 0)
            for name, values in found.items():
                np.testing.assert_allclose(
                    values, expected[name], rtol=1e-12, atol=1e-12, err_msg=f"{name}, tape {k}"
                )
