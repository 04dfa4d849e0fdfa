"""Programs in the code of a device, which the CPU runs here: a few threads in many strides."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock
from zlib import crc32

import numpy as np
import pytest

import difftile as dt
from difftile.ir.types import F32, F64
from difftile.passes import by_warps
from difftile.schedule import device_loops
from difftile.substrate.compiler import ti
from difftile.substrate.family import warps
from tests import harness, programs, random_rows
from tests.device_arrays import FEW, device_arrays, threads_alone
from tests.programs import rows, shared_sums

pytestmark = pytest.mark.compiled

programs.load()

# A field in another shape shares memory only on the CPU.
RESHAPING = {"another_shape", "elements_of_vectors", "slices_of_another_shape"}

RUN = [one for one in harness.PROGRAMS if one.function.__name__ not in RESHAPING]
CASES = [one for one in RUN if one.function.__module__ in (shared_sums.__name__, rows.__name__)]
SOME = [one for one in RUN if crc32(one.name.encode()) % 40 == 0 or one in CASES]


@contextmanager
def in_device_code() -> Generator[None]:
    """Let the CPU run the code of a device."""
    with (
        mock.patch.object(device_loops, "_ROW", 1),
        mock.patch.object(device_loops, "_LONG", 1),
        mock.patch.object(device_loops, "_WALK", 1),
        mock.patch.object(by_warps, "_SHUFFLED", (F32, F64)),
        threads_alone(),
        device_arrays(warps=True, grids=FEW),
    ):
        yield


@pytest.fixture(scope="module", autouse=True)
def as_on_a_device() -> Iterator[None]:
    with in_device_code():
        yield


@pytest.mark.parametrize("one", SOME, ids=lambda one: one.name)
def test_some_programs(one: harness.Program) -> None:
    harness.check(one, single=False)


@pytest.mark.slow
@pytest.mark.parametrize("one", [o for o in RUN if o not in SOME], ids=lambda one: one.name)
def test_other_programs(one: harness.Program) -> None:
    harness.check(one)


def test_random_rows(tmp_path: Path) -> None:
    for seed in (5, 7):
        random_rows.check(random_rows.random_rows(seed, tmp_path))


def test_blocks_share_iterations_with_large_arrays_evenly() -> None:
    """Each iteration runs once, whatever their number is: of blocks of two, three at least."""

    @dt.kernel
    def tell(first: int, last: int, runs):
        for i in range(first, last):
            many = dt.local(80, int)
            for k in range(80):
                many[k] = i * k
            runs[i] += 1 + many[79] - 79 * i

    for first, last in ((0, 0), (5, 2), (0, 1), (3, 5), (0, 9), (1, 11), (0, 12), (2, 60)):
        runs = dt.zeros(64, ti.i32)
        tell(first, last, runs)
        wanted = (np.arange(64) >= first) & (np.arange(64) < last)
        np.testing.assert_array_equal(runs.to_numpy(), wanted.astype(int))
    assert "share" in tell.source()


@pytest.mark.parametrize("shape", [(5, 40), (3, 64), (2, 3, 33), (200,), (70, 3)])
def test_lanes_are_those_of_whole_warps_in_one_row(shape: tuple[int, ...]) -> None:
    threads, row, count = 64, shape[-1], int(np.prod(shape))
    found = ti.ndarray(ti.i32, count)

    @ti.kernel
    def note(found: ti.types.ndarray(dtype=ti.i32, ndim=1)):
        for thread in range(threads):
            steps = (count - 1 - thread) // threads + 1
            for step in range(steps):
                place = thread + step * threads
                found[place] = warps.lane(thread, place % row, row)

    note(found)
    for first in range(0, count, 32):
        lanes = found.to_numpy()[first : first + 32]
        together = len(lanes) == 32 and first // row == (first + 31) // row
        assert lanes.tolist() == (list(range(32)) if together else [-1] * len(lanes))
