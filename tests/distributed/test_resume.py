"""Runs that are saved and resumed: the same bits as without an interruption, on any ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from tests.distributed.rims import EXACT, STEPS, drawn, many
from tests.ranks import ranks

_CASES = 3  # a test


def differences(
    seed: int, before: list[Any], after: list[Any], at: int, *, alike: bool
) -> list[str]:
    """Return where a resumed run differs from the whole one.

    Args:
        seed: The program.
        before: By rank and step, what the whole run held.
        after: The same of the resumed one.
        at: The step after which it was saved.
        alike: Whether both ran on as many ranks.
    """
    found: list[str] = []
    exact = drawn(seed).optimiser in EXACT
    for rank, steps in enumerate(after):
        for step, held in enumerate(steps, at):
            if step > at and not alike and not exact:
                continue  # sums over ranks are rounded otherwise
            expected = before[rank if alike else 0][step]
            for name, one in held.items():
                if name.startswith("rim") and not alike:
                    continue  # of other boxes; the exact runs tell whether these are right
                if name == "loss" and (step == at or not alike):
                    continue  # its squares are rounded
                if one != expected[name]:
                    found.append(f"{drawn(seed)}: '{name}' on rank {rank} after step {step}")
    return found


def wrong(seeds: range, sizes: tuple[int, int], folder: Path) -> list[str]:
    """Return what differs in some programs, with rims of the parameters that have moved."""
    cases = [(drawn(seed), str(folder / f"{seed}"), 1 + seed % (STEPS - 1)) for seed in seeds]
    before = ranks(sizes[0]).run(many, "whole", cases)
    after = ranks(sizes[1]).run(many, "resumed", [case[:2] for case in cases])
    found: list[str] = []
    for place, (seed, (_, _, at)) in enumerate(zip(seeds, cases, strict=True)):
        runs = [[rank[place] for rank in side] for side in (before, after)]
        found += differences(seed, *runs, at, alike=sizes[0] == sizes[1])
        for rank, steps in enumerate(runs[0]):
            if any(one["rim of k"] != steps[0]["rim of k"] for one in steps):
                found.append(f"{drawn(seed)}: rank {rank} has moved cells outside of the domain")
    return found


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (1, 3), (3, 2)])
def test_a_resumed_run_has_the_bits_of_one_without_an_interruption(
    sizes: tuple[int, int], tmp_path: Path
) -> None:
    first = 10 * sizes[0] + 100 * sizes[1]
    assert wrong(range(first, first + _CASES), sizes, tmp_path) == []


def numbered(shape: tuple[int, int], halo: int, periodic: Any = False) -> tuple[Any, Any]:
    """Return a field whose cells, those outside of the domain too, hold where they are."""
    grid = dist.Grid(shape, halo=halo, periodic=periodic)
    field = grid.field(ti.f64)
    at = np.indices(grid.local_shape, float) - halo
    for axis, size in enumerate(shape):
        if grid.periodic[axis]:
            at[axis] %= size
    expected = 1.0 + at[0] + 100.0 * at[1]
    field.from_numpy(expected)
    return field, expected


@pytest.mark.parametrize("halo", [1, 2, 3])
@pytest.mark.parametrize("periodic", [False, (True, False), (False, True), True])
def test_cells_outside_of_the_domain_go_into_grids_with_other_halos(
    halo: int, periodic: Any, tmp_path: Path
) -> None:
    dt.init(arch="python")
    saved, _ = numbered((3, 4), 2, periodic)
    dist.save(tmp_path / "c", {"x": saved})
    x, expected = numbered((3, 4), halo, periodic)
    x.fill(7.0)
    dist.load(tmp_path / "c", {"x": x})
    if halo == 3:  # the outermost cells are in no file, and stay
        for axis in range(2):
            if not x.split.layout.periodic[axis]:
                np.moveaxis(expected, axis, 0)[[0, -1]] = 7.0
    npt.assert_array_equal(x.to_numpy(), expected)


def test_a_checkpoint_without_cells_outside_of_the_domain_leaves_them(tmp_path: Path) -> None:
    dt.init(arch="python")
    dist.save(tmp_path / "c", {"x": dt.ones((3, 4), ti.f64)})
    x, expected = numbered((3, 4), 1)
    dist.load(tmp_path / "c", {"x": x})
    expected[1:-1, 1:-1] = 1.0
    npt.assert_array_equal(x.to_numpy(), expected)
    dist.save(tmp_path / "d", {"x": x})
    whole = dt.zeros((3, 4), ti.f64)
    dist.load(tmp_path / "d", {"x": whole})
    npt.assert_array_equal(whole.to_numpy(), 1.0)


@dt.kernel
def distance(x, loss):
    for i in x:
        loss[None] += (x[i] - 1.0) * (x[i] - 1.0)


def test_lbfgs_takes_gradients_outside_of_the_domain_and_leaves_those_cells() -> None:
    dt.init(arch="python")
    x = dist.Grid(3).field(ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    x.fill(5.0)

    def f() -> Any:
        loss.fill(0.0)
        with dt.Tape(loss):
            distance(x, loss)
        return loss

    dt.optim.LBFGS({"x": x}).step(f)
    npt.assert_allclose(x.to_numpy(), [5.0, 1.0, 1.0, 1.0, 5.0])
