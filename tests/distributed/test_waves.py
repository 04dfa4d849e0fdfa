"""Waves on ranks: values and derivatives of all orders equal those of one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.distributed import waves
from tests.ranks import ranks

LIMITS: tuple[dict[str, Any], ...] = ({}, {"snapshots": 3}, {"memory": "5KB"})
DEEP_LIMITS = (*LIMITS[:2], {"memory": "20KB"})  # four times what a rank's fields hold
FLAT, DEEP = (13, 10), (6, 7, 5)
CASES = [  # the slow ones are more of the same
    (DEEP, 3, "torch"),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (
            *((FLAT, size, "torch") for size in (1, 2, 3, 4)),
            *((DEEP, size, "torch") for size in (1, 2)),
            (DEEP, 4, "torch"),
            *((shape, 3, "mpi") for shape in (FLAT, DEEP)),
        )
    ),
]


@pytest.fixture(scope="module")
def plain() -> dict[tuple[int, ...], dict[str, Any]]:
    """Results of one process on plain fields."""
    return {shape: waves.gradients(shape, plain=True) for shape in (FLAT, DEEP)}


@pytest.mark.parametrize(("shape", "size", "engine"), CASES)
def test_derivatives_equal_those_of_one_process(
    plain: dict[tuple[int, ...], dict[str, Any]], shape: tuple[int, ...], size: int, engine: str
) -> None:
    expected, limits = plain[shape], LIMITS if shape == FLAT else DEEP_LIMITS
    for found in ranks(size, engine).run(waves.gradients, shape, None, False, 6, limits):
        for k in range(len(limits)):
            agree(numbered(found, k), expected)


def numbered(found: dict[str, Any], k: int) -> dict[str, Any]:
    """Return results with those of a certain tape in the place of those of the first one."""
    return found | {name: found[name.replace("0", str(k))] for name in found if " 0" in name}


def agree(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Check results against those of one process, and tangents against gradients."""
    for name, value in expected.items():
        if name.startswith(("again", "kept")):
            continue
        scale = np.max(np.abs(value))
        np.testing.assert_allclose(found[name], value, rtol=0, atol=1e-12 * scale, err_msg=name)
    if "hvp" not in expected:
        return
    assert found["tangent"] == pytest.approx(found["product"], rel=1e-12)
    assert np.max(np.abs(found["hvp"])) > 1e-3


@pytest.mark.parametrize(("size", "engine"), [(2, "torch"), (3, "mpi")])
def test_periodic_waves(size: int, engine: str) -> None:
    arguments = (7, 9), None, (True, False), 4
    expected = waves.gradients(*arguments)
    for found in ranks(size, engine).run(waves.gradients, *arguments):
        agree(found, expected)


def overlapping(arguments: tuple[Any, ...]) -> dict[str, Any]:
    """Overlap exchanges with the interior, on tapes with and without limits."""
    return waves.gradients(*arguments, overlap=True)


@pytest.mark.parametrize(("size", "engine"), [(1, "torch"), (2, "torch"), (4, "torch")])
def test_exchanges_during_launches(size: int, engine: str) -> None:
    arguments = (7, 9), None, (True, False), 7, LIMITS
    expected = waves.gradients(*arguments[:4])
    for found in ranks(size, engine).run(overlapping, arguments):
        for k in range(len(LIMITS)):
            agree(numbered(found, k), expected)


def both_ways(shape: tuple[int, ...], periodic: Any) -> list[dict[str, Any]]:
    """Exchange before launches, and during them."""
    arguments = shape, None, periodic, 9
    return [waves.gradients(*arguments, overlap=one, higher=False) for one in (False, True)]


@pytest.mark.parametrize("periodic", [False, (False, True)])
def test_each_rank_keeps_its_share_of_old_values(periodic: Any) -> None:
    size, shape = 2, (96, 80)
    whole = waves.gradients(shape, None, periodic, 9, higher=False)
    for ways in ranks(size).run(both_ways, shape, periodic):
        for found in ways:
            agree(found, whole)
            assert found["kept 0"] <= 1.1 * whole["kept 0"] / size
