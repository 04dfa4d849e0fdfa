"""Lists of splats against a search through all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.render.tiles import TileLists

WIDTH, HEIGHT = 70, 50
Arrays = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]


def splats(cameras: int, n: int, seed: int = 0) -> Arrays:
    """Return centres, radii and depths: some outside, some culled, some at the same depth."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-20, 90, (cameras, n, 2))
    radii = rng.integers(0, 12, (cameras, n, 2))
    depths = rng.integers(1, 20, (cameras, n)) / 3
    return centres.astype(np.float32), radii.astype(np.float32), depths.astype(np.float32)


def fields(arrays: Arrays) -> list[dt.Field]:
    centres, radii, depths = arrays
    whole = np.issubdtype(radii.dtype, np.integer)
    return [
        dt.from_numpy(centres, ti.math.vec2),
        dt.from_numpy(radii, dt.vec(2, ti.i32) if whole else ti.math.vec2),
        dt.from_numpy(depths),
    ]


def brute_force(arrays: Arrays, tile: int) -> tuple[list[int], list[int]]:
    centres, radii, depths = arrays
    order, starts = list[int](), [0]
    for camera, of_camera in enumerate(depths.astype(np.float32)):
        by_depth = np.lexsort((np.arange(of_camera.size), of_camera))
        low, high = centres[camera] - radii[camera], centres[camera] + radii[camera]
        for y in range(0, HEIGHT, tile):
            for x in range(0, WIDTH, tile):
                corner = np.array([x, y])
                touched = np.all((low < corner + tile) & (high > corner), axis=1)
                touched &= np.all(radii[camera] > 0, axis=1)
                order += [int(i) for i in by_depth if touched[i]]
                starts.append(len(order))
    return order, starts


def check(lists: TileLists, arrays: Arrays) -> None:
    order, starts = brute_force(arrays, lists.tile)
    assert lists.total == len(order)
    np.testing.assert_array_equal(lists.starts.to_numpy(), starts)
    np.testing.assert_array_equal(lists.order.to_numpy()[: lists.total], order)


@pytest.mark.parametrize("tile", [8, 16, 100])
@pytest.mark.parametrize(("cameras", "n"), [(1, 1), (1, 300), (3, 50)])
def test_lists_are_those_of_a_search(cameras: int, n: int, tile: int) -> None:
    arrays = splats(cameras, n)
    lists = TileLists(WIDTH, HEIGHT, tile, cameras)
    lists.build(*fields(arrays))
    check(lists, arrays)


def test_all_number_types() -> None:
    centres, radii, depths = splats(2, 80)
    lists = TileLists(WIDTH, HEIGHT, cameras=2)
    # Beyond single precision depths are the same, and indices decide.
    twins = depths.astype(np.float64) * (1 + 1e-9 * np.arange(80)[::-1])
    for arrays in (
        (centres.astype(np.float64), radii.astype(np.float64), twins),
        (centres, radii.astype(np.int32), depths),
    ):
        lists.build(*fields(arrays))
        check(lists, arrays)


def test_negative_depths_are_in_order() -> None:
    centres, radii, depths = splats(1, 100)
    arrays = centres, radii, depths - 3
    lists = TileLists(WIDTH, HEIGHT)
    lists.build(*fields(arrays))
    check(lists, arrays)


def test_nothing_visible_leaves_empty_lists() -> None:
    centres, radii, depths = splats(1, 20)
    lists = TileLists(WIDTH, HEIGHT)
    for arrays in ((centres, 0 * radii, depths), (centres + 500, radii, depths)):
        lists.build(*fields(arrays))
        assert lists.total == 0
        assert not np.any(lists.starts.to_numpy())


def test_what_is_far_larger_than_an_image_touches_all_tiles() -> None:
    centres = np.array([[[1e30, 5.0], [30.0, 20.0], [30.0, -1e9], [30.0, 20.0]]], np.float32)
    radii = np.array([[[5.0, 5.0], [1e30, 1e20], [1e9, 5.0], [np.inf, 1e9]]], np.float32)
    lists = TileLists(WIDTH, HEIGHT, 32)
    lists.build(*fields((centres, radii, np.ones((1, 4), np.float32))))
    assert lists.order.to_numpy()[: lists.total].tolist() == [1, 3] * lists.tiles


def test_numbers_that_are_none_do_no_harm() -> None:
    centres, radii, depths = splats(1, 40)
    lists = TileLists(WIDTH, HEIGHT)
    gone = radii.copy()
    gone[0, ::2] = 0
    bad = centres.copy()
    bad[0, ::2] = np.nan
    bad_depths = depths.copy()
    bad_depths[0, ::2] = np.nan
    lists.build(*fields((bad, gone, bad_depths)))
    check(lists, (centres, gone, depths))


def test_room_grows_and_stays() -> None:
    lists = TileLists(WIDTH, HEIGHT, 8)
    few, many = splats(1, 10, seed=1), splats(1, 400, seed=2)
    for arrays in (few, many):
        lists.build(*fields(arrays))
        check(lists, arrays)
    order = lists.order
    lists.build(*fields(few))
    check(lists, few)
    assert lists.order is order


@dt.kernel
def shade(colours, order, starts, image):
    for t in image:
        for k in range(starts[t], starts[t + 1]):
            image[t] = image[t] * 0.5 + colours[order[k]] * image[t] + colours[order[k]]


@dt.kernel
def energy(image, loss):
    for t in image:
        loss[None] += image[t] * image[t]


@pytest.mark.parametrize("memory", [None, 1500])
def test_a_tape_uses_the_lists_of_each_step(memory: int | None) -> None:
    """The lists are rebuilt in the same fields, and in larger ones; with little memory again."""
    lists = TileLists(WIDTH, HEIGHT, 16)
    scenes = [splats(1, n, seed=n) for n in (30, 60, 60, 20)]
    colours = dt.from_numpy(np.random.default_rng(0).uniform(0, 0.3, 60), grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    image = dt.zeros(lists.tiles, ti.f64, grad=True)
    built = [fields(arrays) for arrays in scenes]
    built[1][0].with_grads()

    with dt.Tape(loss, memory=memory) as tape:
        for splat in built:
            lists.build(*splat)
            shade(colours, lists.order, lists.starts, image)
        energy(image, loss)
    del tape

    def expected(colours: npt.NDArray[Any]) -> Any:
        tiles = np.zeros(lists.tiles, colours.dtype)
        for arrays in scenes:
            order, starts = brute_force(arrays, 16)
            for t in range(lists.tiles):
                for k in order[starts[t] : starts[t + 1]]:
                    tiles[t] = tiles[t] * 0.5 + colours[k] * tiles[t] + colours[k]
        return np.sum(tiles * tiles)

    x = colours.to_numpy()
    step = 1e-20j * np.eye(60)
    slopes = [np.imag(expected(x + one)) / 1e-20 for one in step]
    np.testing.assert_allclose(loss.to_numpy(), expected(x), rtol=1e-13)
    np.testing.assert_allclose(colours.grad.to_numpy(), slopes, rtol=1e-11, atol=1e-12)


# Ellipses


def ellipses(n: int, seed: int, dtype: Any) -> tuple[Any, ...]:
    """Return splats of all shapes: round ones, needles, tiny and huge, on an image and around it.

    Returns:
        Centres, radii, depths, conics and opacities, for one camera.
    """
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-40, 110, (1, n, 2))
    long = 10 ** rng.uniform(-1, 2.5, n)
    short = np.where(
        rng.random(n) < 0.5, long * rng.uniform(0.1, 1, n), 10 ** rng.uniform(-1, 0, n)
    )
    angle = rng.uniform(0, np.pi, n) * (rng.random(n) < 0.8)
    cos, sin = np.cos(angle), np.sin(angle)
    xx, yy = (cos * long) ** 2 + (sin * short) ** 2, (sin * long) ** 2 + (cos * short) ** 2
    xy = cos * sin * (long**2 - short**2)
    conics = np.stack([yy, -xy, xx], -1) / (long * short)[:, None] ** 2
    opacities = np.where(rng.random(n) < 0.2, rng.uniform(0, 0.02, n), rng.uniform(0, 1, n))
    reach = np.sqrt(2 * np.log(np.maximum(255 * opacities, 1.0)))
    radii = np.ceil(reach[:, None] * np.sqrt(np.stack([xx, yy], -1))).astype(np.int32)
    depths = rng.integers(1, 9, n) / 3
    given = centres, radii[None], depths[None], conics[None], opacities[None]
    return tuple(x if x.dtype == np.int32 else x.astype(dtype) for x in given)


def fields_of(given: tuple[Any, ...]) -> list[dt.Field]:
    scalar = ti.f64 if given[0].dtype == np.float64 else ti.f32
    types = dt.vec(2, scalar), dt.vec(2, ti.i32), None, dt.vec(3, scalar), None
    return [dt.from_numpy(x, kind) for x, kind in zip(given, types, strict=True)]


def drawn_and_near(given: tuple[Any, ...], tile: int) -> tuple[set[Any], set[Any]]:
    """Return pairs of tile and splat: those of which a pixel is drawn, and those that may touch."""
    centres, _, _, conics, opacities = (x[0] for x in given)
    wide, high = -(-WIDTH // tile), -(-HEIGHT // tile)
    limits = 2 * np.log(np.maximum(255.0 * opacities, 1e-30))
    drawn, near = set[Any](), set[Any]()
    boxed = brute_force(tuple(x[:1] for x in given[:3]), tile)
    for t in range(wide * high):
        corner = np.array([t % wide, t // wide]) * tile
        side = np.arange(tile) + centres.dtype.type(0.5)
        for i in boxed[0][boxed[1][t] : boxed[1][t + 1]]:
            a, b, c = conics[i]
            dx, dy = (corner[:, None] + side).astype(centres.dtype) - centres[i][:, None]
            with np.errstate(all="ignore"):
                x, y = dx[None, :], dy[:, None]
                sigma = 0.5 * (a * x * x + c * y * y) + b * x * y
                alpha = np.where(sigma >= 0, opacities[i] * np.exp(-sigma), 0)
            if np.any(alpha >= 1 / 255):
                drawn.add((t, i))
            # In double precision, each side of the rectangle by itself.
            a, b, c = (float(z) for z in conics[i])
            ends = (float(dx[0]), float(dx[-1])), (float(dy[0]), float(dy[-1]))
            squares = [0.0] if all(low <= 0 <= high for low, high in ends) else []
            for x in ends[0]:
                y = np.clip(-b * x / c, *ends[1])
                squares.append(a * x * x + 2 * b * x * y + c * y * y)
            for y in ends[1]:
                x = np.clip(-b * y / a, *ends[0])
                squares.append(a * x * x + 2 * b * x * y + c * y * y)
            far = max(map(abs, ends[0])), max(map(abs, ends[1]))
            terms = a * far[0] ** 2 + 2 * abs(b) * far[0] * far[1] + c * far[1] ** 2
            if min(squares) <= limits[i] + 2e-4 + 1e-5 * terms:
                near.add((t, i))
    return drawn, near


def check_ellipses(lists: TileLists, given: tuple[Any, ...]) -> None:
    order, starts = lists.order.to_numpy()[: lists.total], lists.starts.to_numpy()
    assert starts[0] == 0 and starts[-1] == lists.total
    pairs = list[Any]()
    for t in range(lists.tiles):
        listed = order[starts[t] : starts[t + 1]]
        by_depth = np.lexsort((listed, given[2][0][listed].astype(np.float32)))
        np.testing.assert_array_equal(by_depth, np.arange(len(listed)))
        pairs += [(t, int(i)) for i in listed]
    drawn, near = drawn_and_near(given, lists.tile)
    assert len({*pairs}) == len(pairs)
    assert drawn <= {*pairs} <= near
    assert len(drawn) < len(near)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tile", [8, 16])
def test_no_pixel_loses_a_splat_and_tiles_without_one_are_left_out(tile: int, dtype: Any) -> None:
    lists = TileLists(WIDTH, HEIGHT, tile)
    for seed in range(3):
        given = ellipses(200, seed, dtype)
        boxes, *_ = brute_force(given[:3], tile)
        lists.build(*fields_of(given))
        check_ellipses(lists, given)
        assert lists.total < 0.8 * len(boxes)


def test_what_is_no_ellipse_is_in_all_tiles_of_its_box() -> None:
    nan, inf = np.nan, np.inf
    conics = [
        [nan, 0, 1],
        [0, 0, 0],
        [1, 2, 1],
        [-1, 0, 1],
        [inf, 0, 1],
        [3e38, 0, 3e38],
        [0, 0, 1],
    ]
    n = len(conics)
    given = (
        np.full((1, n, 2), 40.0, np.float32),
        np.full((1, n, 2), 20, np.int32),
        np.ones((1, n), np.float32),
        np.array([conics], np.float32),
        np.full((1, n), 0.5, np.float32),
    )
    lists = TileLists(WIDTH, HEIGHT)
    lists.build(*fields_of(given))
    order, starts = brute_force(given[:3], 16)
    np.testing.assert_array_equal(lists.order.to_numpy()[: lists.total], order)
    np.testing.assert_array_equal(lists.starts.to_numpy(), starts)


def test_opacities_that_are_no_numbers_leave_no_tile_out_and_small_ones_all() -> None:
    given = ellipses(4, 1, np.float32)
    given[0][:], given[1][:], given[3][:] = 30, 12, (1e-3, 0, 1e-3)
    given[4][0] = np.nan, 5.0, 0.0, -1.0
    lists = TileLists(WIDTH, HEIGHT)
    lists.build(*fields_of(given))
    found = set(lists.order.to_numpy()[: lists.total].tolist())
    assert {0, 1} <= found and 2 not in found


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: TileLists(5, 5).build(*fields_of(ellipses(2, 0, np.float32))[:4]),
            "given both, or neither",
        ),
        (
            lambda: TileLists(5, 5).build(
                *fields_of(ellipses(2, 0, np.float32))[:4],
                dt.zeros((1, 3)),
            ),
            r"conics and opacities are of shape \(1, 2\)",
        ),
        (lambda: TileLists(0, 5), "width is an integer from 1 to 65536, not 0"),
        (lambda: TileLists(5, 5, cameras=0), "cameras is an integer from 1"),
        (lambda: TileLists(5, 5, 0), "tile is an integer from 1 to 1024, not 0"),
        (lambda: TileLists(5, 5).build(*fields(splats(2, 3))), r"of shape \(1, n\)"),
    ],
)
def test_wrong_numbers_and_shapes_are_refused(make: Any, message: str) -> None:
    with pytest.raises(dt.FieldError, match=message):
        make()


def test_too_long_lists_are_refused() -> None:
    n = 1 << 12
    lists = TileLists(1 << 11, 1 << 11, 2)
    huge = np.full((1, n, 2), 1e9, np.float32)
    with pytest.raises(dt.FieldError, match="there is room for"):
        lists.build(*fields((0 * huge, huge, np.ones((1, n), np.float32))))
