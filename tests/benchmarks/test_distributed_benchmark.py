"""The benchmark of ranks: its table, and the exchange by hand that it compares with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from benchmarks.distributed import described, main, measure
from benchmarks.distributed_rows.by_hand import halo_exchange
from benchmarks.distributed_rows.points import Points
from difftile import distributed as dist
from difftile import ti
from tests.ranks import ranks


class Sizes:
    """Options for a measurement of moments."""

    cells, point_cells, steps, turns, arch, rows = 8, 6, 2, 1, "cpu", ("wave",)


def measured() -> Any:
    """Return what two ranks measure, and the lines of the table about them."""
    found = measure(Sizes)
    return found, described(found, found)


class Splats(Sizes):
    """Options for a measurement of splats."""

    rows, gaussians, images, image_size = ("splats",), 500, 3, 32  # pyrefly: ignore[bad-override]


def measured_splats() -> Any:
    """Return what two ranks measure of splats, and the lines of the table about them."""
    found = measure(Splats)
    return found, described(found, found)


def exchanged_by_hand() -> Any:
    """Return the sizes of a field and whether both exchanges give the same halo."""
    grid = dist.Grid((6, 5, 4))
    u = grid.field(ti.f32)
    u.from_global(np.arange(120, dtype=np.float32).reshape(grid.shape))
    expected = u.to_numpy()
    u.fill(0.0)
    u.inner.from_numpy(expected[1:-1, 1:-1, 1:-1])
    exchange = halo_exchange(grid, "cpu", u.to_numpy())
    return expected, exchange().numpy().copy()


@pytest.mark.slow
def test_ranks_measure_all_rows_of_the_table() -> None:
    for found, lines in ranks(2).run(measured):
        assert found["ranks"] == 2 and all(seconds > 0 for seconds in found.values())
        assert lines[0].startswith("2 ranks") and len(lines) == 1 + 8 + 2 + 4 + 2


@pytest.mark.slow
def test_ranks_measure_splats() -> None:
    for found, lines in ranks(2).run(measured_splats):
        assert len(found) == 7 and all(seconds > 0 for seconds in found.values())
        assert len(lines) == 1 + 3 + 2 and "strong splats backward" in lines[-1]


class Data(Sizes):
    """Options for a measurement of a network whose parameters all ranks have."""

    rows, width = ("data",), 8  # pyrefly: ignore[bad-override]


def measured_data() -> Any:
    """Return what two ranks measure of such a network, and the lines of the table about them."""
    found = measure(Data)
    return found, described(found, found)


@pytest.mark.slow
def test_ranks_measure_gradients_that_they_add_up() -> None:
    for found, lines in ranks(2).run(measured_data):
        assert len(found) == 1 + 3 * 3 and len(lines) == 1 + 6
        assert "weak data during backward" in lines[-1]


def moved() -> tuple[float, Any]:
    """Return the work of a run of points, and the points that all ranks have afterwards."""
    one = Points((6, 6, 6), 2)
    one.prepare()
    with dt.no_grad():
        one.run("exchange")
    found = one.points.to_global()
    return float(one.loss[None]), [found["id"], found["density"]]


@pytest.mark.slow
def test_points_are_the_same_on_any_number_of_ranks() -> None:
    (loss, alone), *_ = ranks(1).run(moved)
    for other, found in ranks(2).run(moved):
        assert other == pytest.approx(loss, rel=1e-4)
        np.testing.assert_array_equal(found[0], alone[0])
        np.testing.assert_allclose(found[1], alone[1], rtol=1e-3)


def test_the_exchange_by_hand_fills_the_same_halo() -> None:
    for expected, found in ranks(3).run(exchanged_by_hand):
        np.testing.assert_array_equal(found, expected)


def test_the_benchmark_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0 and "isend and irecv" in capsys.readouterr().out
