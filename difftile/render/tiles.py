"""Lists of the splats that touch each tile of an image, in the order of their depths.

As in Kerbl et al., "3D Gaussian Splatting" (2023), section 6, but in two sorts: first all splats by
the bits of their depths, then, in that order, the tiles that they touch by their number. The second
sort has ten times as many keys, but its keys have only the bits of a tile's number.
"""

from __future__ import annotations

import math

from difftile.compile.annotations import In, Out
from difftile.compile.func import func
from difftile.diagnostics import FieldError
from difftile.fields.create import zeros
from difftile.fields.field import Field
from difftile.ir.types import I32
from difftile.render.checks import check_integers, check_size
from difftile.render.sorting import Scan, Sorter
from difftile.runtime.custom_op import custom_op
from difftile.runtime.kernel import kernel
from difftile.substrate import ti

_MOST = 2**31 - 1


@func
def _tiles_along(centre, radius, tile, tiles):
    """Return the first tile along an axis that a splat touches, and the end of the range."""
    first = ti.max(0.0, ti.min(ti.floor((centre - radius) / tile), tiles))
    end = ti.max(0.0, ti.min(ti.ceil((centre + radius) / tile), tiles))
    return ti.cast(first, ti.i32), ti.cast(end, ti.i32)


@func
def _box(centres, radii, camera, i, tile, wide, high):
    """Return the tiles that a splat touches: columns from x0 to x1, rows from y0 to y1."""
    centre = centres[camera, i]
    radius = radii[camera, i]
    x0, x1 = _tiles_along(centre[0], radius[0], tile, wide)
    y0, y1 = _tiles_along(centre[1], radius[1], tile, high)
    no_number = math.isnan(centre - radius).any() or math.isnan(centre + radius).any()
    if no_number or not (radius[0] > 0 and radius[1] > 0):
        x0, x1, y0, y1 = 0, 0, 0, 0
    return x0, x1, y0, y1


@kernel
def _key_by_depth(depths, keys, values):
    for camera, i in depths:
        at = camera * depths.shape[1] + i
        # The bits of a float as an integer in the order of the floats, negative ones included.
        bits = ti.bit_cast(ti.cast(depths[camera, i], ti.f32), ti.u32)
        sign = ti.cast(1, ti.u32) << 31
        keys[at] = ti.select((bits & sign) == 0, bits | sign, ~bits)
        values[at] = at


@kernel
def _count_tiles(centres, radii, splats, tile: ti.i32, wide: ti.i32, high: ti.i32, counts):
    for k in range(centres.shape[0] * centres.shape[1]):
        camera = splats[k] // centres.shape[1]
        i = splats[k] % centres.shape[1]
        x0, x1, y0, y1 = _box(centres, radii, camera, i, tile, wide, high)
        counts[k, 0] = (x1 - x0) * (y1 - y0)


@kernel
def _expand(centres, radii, splats, tile: ti.i32, wide: ti.i32, high: ti.i32, starts, keys, values):
    for k in range(centres.shape[0] * centres.shape[1]):
        camera = splats[k] // centres.shape[1]
        i = splats[k] % centres.shape[1]
        x0, x1, y0, y1 = _box(centres, radii, camera, i, tile, wide, high)
        at = starts[k, 0]
        for y in range(y0, y1):
            for x in range(x0, x1):
                keys[at] = ti.cast((camera * high + y) * wide + x, ti.u32)
                values[at] = i
                at += 1


@kernel
def _find_starts(keys, n: ti.i32, starts):
    for t in starts:
        low = 0
        high = n
        while low < high:
            middle = (low + high) // 2
            if ti.cast(keys[middle], ti.i32) < t:
                low = middle + 1
            else:
                high = middle
        starts[t] = low


class TileLists:
    """For each tile of the images of some cameras, the splats that touch it, the nearest first.

    Splats at the same depth are in the order of their indices. Depths are compared in single
    precision. On an open tape a call of `build` is one step without derivatives.

    Args:
        width: The width of an image [pixels].
        height: The height of an image [pixels].
        tile: The side of a tile [pixels].
        cameras: The number of images.

    Attributes:
        wide: The number of tiles in a row.
        high: The number of rows of tiles.
        order: The lists one after the other, shape (capacity,): indices of splats.
        starts: The start of each list, shape (cameras * high * wide + 1,), the tiles of an image in
            rows; the list of tile t ends at the start of the list of tile t + 1.
        total: The length of all lists together.

    Raises:
        FieldError: A number is not an integer, or out of range.
    """

    def __init__(self, width: int, height: int, tile: int = 16, cameras: int = 1) -> None:
        check_size("TileLists", FieldError, width, height, tile)
        check_integers("TileLists", FieldError, cameras=cameras)
        self.tile = tile
        self.cameras = cameras
        self.wide, self.high = -(-width // tile), -(-height // tile)
        self.tiles = cameras * self.wide * self.high
        self.total = 0
        self.order: Field = zeros(1, I32)
        self.starts: Field = zeros(self.tiles + 1, I32)
        self._by_depth, self._by_tile = Sorter(), Sorter()
        self._scan = Scan()
        self._counts = zeros((1, 1), I32)

    def build(self, centres: Field, radii: Field, depths: Field) -> None:
        """Fill the lists: `order`, which may be another field afterwards, and `starts`.

        Args:
            centres: The centres of splats [pixels], shape (cameras, n) of vec2 (x, y): the centre
                of the pixel in row i and column j is (j + 0.5, i + 0.5).
            radii: Half the width and height of the box of each splat [pixels], of the same shape,
                floats or integers; the box is empty where one of the two is not positive, or an
                edge is NaN.
            depths: The depths of splats, shape (cameras, n).

        Raises:
            FieldError: Shapes differ, or the lists are longer than 2^31 - 1 together.
        """
        shape = self.cameras, *centres.shape[1:]
        if not centres.shape == radii.shape == depths.shape == shape or len(shape) != 2:
            raise FieldError(
                f"TileLists: centres, radii and depths are of shape ({self.cameras}, n), not "
                f"{centres.shape}, {radii.shape} and {depths.shape}."
            )
        self.total = tile_lists(self, centres, radii, depths, self.order, self.starts)
        if self.total > self.order.shape[0]:
            self.order = zeros(min(self.total * 5 // 4, _MOST), I32)
            tile_lists(self, centres, radii, depths, self.order, self.starts)

    def fill(self, centres: Field, radii: Field, depths: Field, order: Field, starts: Field) -> int:
        """Fill lists if there is room in `order`, and return the length that they need."""
        n = centres.shape[0] * centres.shape[1]
        by_depth, by_tile = self._by_depth, self._by_tile
        by_depth.reserve(n)
        _key_by_depth(depths, by_depth.keys, by_depth.values)
        by_depth.sort(n)
        if self._counts.shape[0] < n:
            self._counts = zeros((by_depth.capacity, 1), I32)
        splats, image = by_depth.values, (self.tile, self.wide, self.high)
        _count_tiles(centres, radii, splats, *image, self._counts)
        self._scan(self._counts, n)
        total = self._scan.total
        if total > _MOST:
            raise FieldError(
                f"TileLists: {n} splats touch {total} tiles in all, and there is room for {_MOST}. "
                "Use larger tiles, or fewer cameras at a time."
            )
        if total <= order.shape[0]:
            by_tile.reserve(total)
            _expand(centres, radii, splats, *image, self._counts, by_tile.keys, by_tile.values)
            by_tile.sort(total, max(1, (self.tiles - 1).bit_length()), into=order)
            _find_starts(by_tile.keys, total, starts)
        return total


@custom_op
def tile_lists(
    lists: TileLists, centres: In, radii: In, depths: In, order: Out, starts: Out
) -> int:
    """Fill lists as one step of a tape; return the length that they need."""
    return lists.fill(centres, radii, depths, order, starts)
