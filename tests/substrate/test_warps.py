"""Native kernels, thread by thread on the host, against NumPy; and the interpreter itself."""

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import prefix_sums
from difftile.render import tiles
from difftile.render.tiles import TileLists
from difftile.sorting import Sorter
from difftile.substrate import Buffer, current_session
from difftile.substrate.compiler import ti
from difftile.substrate.family.native import radix_sort, scan, tile_lists
from difftile.substrate.family.native.kernels import KERNELS
from difftile.substrate.family.native.launch import native
from tests.render import test_sorting, test_tiles
from tests.render.test_tiles import HEIGHT, WIDTH
from tests.warps import Undefined, interpret


@pytest.fixture
def few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make grids so small that blocks have several tiles, and groups of blocks are not full."""
    for module in (radix_sort, tile_lists):
        monkeypatch.setattr(module, "BLOCKS", 3)
    monkeypatch.setattr(radix_sort, "GROUP", 2)
    monkeypatch.setattr(scan, "BLOCKS", 32)


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize("n", [1, 33, 70_001])
def test_sums(n: int) -> None:
    counts = np.random.default_rng(n).integers(0, 50, (n, 2), dtype=np.int32)
    expected, total = np.cumsum(counts[:, 0]) - counts[:, 0], np.zeros((), np.int64)
    length = counts[:, 0].sum()
    interpret(scan.exclusive_scan, counts, n, total)
    np.testing.assert_array_equal(counts[:, 0], expected)
    assert total == length


@pytest.mark.usefixtures("few_blocks")
@pytest.mark.parametrize(
    ("n", "bits", "keys"),
    [
        (0, 8, "random"),
        (1, 32, "random"),
        (33, 1, "random"),
        (4097, 12, "random"),
        (9000, 7, "equal"),
    ],
)
def test_pairs_in_the_order_of_their_keys(n: int, bits: int, keys: str) -> None:
    rng = np.random.default_rng(n)
    given = (
        rng.integers(0, 2**32, n, dtype=np.uint32) if keys == "random" else np.full(n, 5, np.uint32)
    )
    values = rng.integers(-9, 9, n, dtype=np.int32)
    order = np.argsort(given & np.uint32((1 << bits) - 1), kind="stable")
    memory = given.copy(), values.copy(), given * 0, values * 0
    into = values * 0
    for shift in range(0, bits, 16):
        to = into if shift + 16 >= bits else memory[1]
        size, of = (n, 0) if shift else (-1, n)
        args = size, np.array([of], np.int32), shift, min(16, bits - shift), -1, into
        interpret(radix_sort.sort_pairs, *memory, to, *args)
    np.testing.assert_array_equal(into, values[order])
    np.testing.assert_array_equal(memory[0], given[order])


class Interpreted(dict[str, Any]):
    """Native kernels that the interpreter runs on the contents of fields."""

    def __init__(self) -> None:
        super().__init__({name: partial(self.run, kernel) for name, kernel in KERNELS.items()})

    def run(self, kernel: Any, *args: Any) -> None:
        """Run a kernel on buffers of the host, or numbers; no tape needs those that it writes."""
        passed = [args[k] for k in kernel._passed]
        assert not any(passed[k].pins for k in kernel._written)
        interpret(kernel, *(arg.array() if isinstance(arg, Buffer) else arg for arg in args))


@pytest.fixture
def natively(few_blocks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lists and sorts be made by native kernels, which the interpreter runs."""
    monkeypatch.setattr(tiles, "_BLOCKS", tile_lists.BLOCKS)
    session = dataclasses.replace(current_session(), native=Interpreted())
    for module in (tiles, prefix_sums):
        monkeypatch.setattr(module, "current_session", lambda: session)


@pytest.mark.usefixtures("natively")
@pytest.mark.parametrize(("cameras", "n", "tile"), [(1, 1, 16), (3, 200, 16), (1, 900, 4)])
def test_lists_of_boxes(cameras: int, n: int, tile: int) -> None:
    centres, radii, depths = test_tiles.splats(cameras, n)
    arrays = centres, radii.astype(np.int32), depths
    lists = TileLists(WIDTH, HEIGHT, tile, cameras)
    lists.build(*test_tiles.fields(arrays))
    test_tiles.check(lists, arrays)


@pytest.mark.usefixtures("natively")
def test_sorts_by_native_kernels() -> None:
    test_sorting.test_sorts_as_numpy(None, 1000)
    test_sorting.test_sorts_by_some_bits_and_into_a_field(None)
    test_sorting.test_sums_what_comes_before_down_the_columns(None, (40, 1))


@pytest.mark.parametrize("tile", [16, 5])
def test_lists_of_ellipses_are_those_of_the_language(
    tile: int, request: pytest.FixtureRequest
) -> None:
    """Boxes of more than 32 tiles, which have no mask, are among the others."""
    given = test_tiles.ellipses(300, 5, np.float32)
    given[0][0, 1], given[1][0, 2], given[2][0, :7] = np.nan, 0, (3, -1, -0.5, 1, 2, 2, 2)
    fields = test_tiles.fields_of(given)
    lists, natives = TileLists(WIDTH, HEIGHT, tile), TileLists(WIDTH, HEIGHT, tile)
    lists.build(*fields)
    request.getfixturevalue("natively")
    natives.build(*fields)
    np.testing.assert_array_equal(natives.starts.to_numpy(), lists.starts.to_numpy())
    total = lists.total
    assert natives.total == total
    found, expected = natives.order.to_numpy()[:total], lists.order.to_numpy()[:total]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.usefixtures("natively")
def test_cases_of_lists_by_native_kernels() -> None:
    test_tiles.test_what_is_no_ellipse_is_in_all_tiles_of_its_box()
    test_tiles.test_opacities_that_are_no_numbers_leave_no_tile_out_and_small_ones_all()


@pytest.mark.usefixtures("natively")
def test_tapes_keep_lists_that_native_kernels_write_over() -> None:
    test_tiles.test_a_tape_uses_the_lists_of_each_step(None)


@pytest.mark.parametrize("memory", [None, 1500])
@pytest.mark.usefixtures("natively")
def test_tapes_keep_lists_that_are_made_natively(memory: int | None) -> None:
    lists = TileLists(WIDTH, HEIGHT, 16)
    scenes = [test_tiles.splats(1, n, seed=n) for n in (50, 60, 40)]
    built = [test_tiles.fields((c, r.astype(np.int32), d)) for c, r, d in scenes]
    colours = dt.from_numpy(np.random.default_rng(0).uniform(0, 0.3, 60), grad=True)
    image = dt.zeros(lists.tiles, ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)

    def gradient() -> np.ndarray:
        image.fill(0.0)
        loss.fill(0.0)
        with dt.Tape(loss, memory=memory):
            for splat in built:
                lists.build(*splat)
                test_tiles.shade(colours, lists.order, lists.starts, image)
            test_tiles.energy(image, loss)
        return colours.grad.to_numpy()

    found = gradient()
    assert lists._native is not None
    lists = TileLists(WIDTH, HEIGHT, 16)
    lists._native_for = lambda splats: None  # the way of the language
    np.testing.assert_allclose(found, gradient(), rtol=1e-12)


@pytest.mark.usefixtures("natively")
def test_tapes_hear_of_sorts() -> None:
    """A sort on an open tape is one by kernels of the language, which the tape runs again."""
    sorter, out = Sorter(64), dt.zeros(64, ti.f64, grad=True)
    weights, loss = dt.zeros(64, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    rng = np.random.default_rng(1)
    weights.from_numpy(rng.uniform(1, 2, 64))
    orders: list[Any] = []
    with dt.Tape(loss, memory=3000):
        for _ in range(4):
            keys = rng.permutation(64).astype(np.uint32)
            orders.append(np.argsort(keys))
            sorter.keys.from_numpy(keys)
            sorter.values.from_numpy(np.arange(64, dtype=np.int32))
            sorter.sort(64, 6)
            take(weights, sorter.values, out, loss)
    expected = np.zeros(64)
    for order in orders:
        expected[order] += np.arange(64.0)
    np.testing.assert_allclose(weights.grad.to_numpy(), expected, rtol=1e-12)


@dt.kernel
def take(weights, values, out, loss):
    for k in out:
        out[k] = weights[values[k]] * k
        loss[None] += out[k]


# The interpreter


@native("y")
@ti.kernel
def without_barrier(y: ti.types.ndarray(ti.i32, ndim=1)):
    ti.loop_config(block_dim=64)
    for i in range(64):
        shared = ti.simt.block.SharedArray((64,), ti.i32)
        shared[i] = i
        y[i] = shared[63 - i]


@native("y")
@ti.kernel
def with_a_barrier_for_some(y: ti.types.ndarray(ti.i32, ndim=1)):
    ti.loop_config(block_dim=64)
    for i in range(64):
        if i < 32:
            ti.simt.block.sync()
        y[i] = i


@native("y")
@ti.kernel
def with_a_vote_of_some(y: ti.types.ndarray(ti.i32, ndim=1)):
    ti.loop_config(block_dim=64)
    for i in range(64):
        if i % 32 < 5:
            y[i] = ti.simt.warp.ballot(i)


@native("y")
@ti.kernel
def with_blocks_that_read_each_other(y: ti.types.ndarray(ti.i32, ndim=1)):
    ti.loop_config(block_dim=32)
    for i in range(64):
        y[i] = y[63 - i]


@native("y")
@ti.kernel
def beyond_the_end(y: ti.types.ndarray(ti.i32, ndim=1)):
    ti.loop_config(block_dim=32)
    for i in range(64):
        y[i + 1] = i


@native("y")
@ti.kernel
def with_threads_that_write_one_element(y: ti.types.ndarray(ti.i32, ndim=1)):
    ti.loop_config(block_dim=32)
    for i in range(32):
        y[i // 2] = i


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (without_barrier, "both access element"),
        (with_a_barrier_for_some, "a part of a block reaches a barrier"),
        (with_a_vote_of_some, "a part of a warp reaches ballot"),
        (with_blocks_that_read_each_other, "both access element"),
        (beyond_the_end, "out of range"),
        (with_threads_that_write_one_element, "write element 0 together"),
    ],
)
def test_what_a_device_leaves_undefined_is_refused(kernel: object, message: str) -> None:
    with pytest.raises(Undefined, match=message):
        interpret(kernel, np.zeros(64, np.int32))
