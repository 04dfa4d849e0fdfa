"""Lists of the splats that touch each tile of an image, in the order of their depths.

As in Kerbl et al., "3D Gaussian Splatting" (2023), section 6, but in two sorts: first all splats by
the bits of their depths, then, in that order, the tiles that they touch by their number. The second
sort has ten times as many keys, but its keys have only the bits of a tile's number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError
from difftile.fields.recording import RECORDING, Recording
from difftile.prefix_sums import Scan, memory_to_write
from difftile.render.checks import check_integers, check_size
from difftile.render.compositing import MAX_SIGMA, MIN_ALPHA
from difftile.sorting import Sorter
from difftile.substrate import NativeKernel, current_session
from difftile.tracebacks import boundary

_MOST = 2**31 - 1
_MOST_TILES = 1 << 25  # of an image, up to which a warp counts the tiles of its splats
_BLOCKS = 264  # of the kernels for warps
SLACK = 4e-6  # for roundings in single precision, in proportion to what is rounded


@dt.func
def _tiles_along(centre, radius, tile, tiles):
    """Return the first tile along an axis that a splat touches, and the end of the range."""
    first = ti.max(0.0, ti.min(ti.floor((centre - radius) / tile), tiles))
    end = ti.max(0.0, ti.min(ti.ceil((centre + radius) / tile), tiles))
    return ti.cast(first, ti.i32), ti.cast(end, ti.i32)


@dt.func
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


@dt.func
def reaches(centre, conic, limit, x, y, tile):
    """Return whether an ellipse reaches the centre of a pixel of tile (x, y), or perhaps does.

    A convex function of two variables is least, on a rectangle without its minimum, on a side
    that faces the minimum. Both candidates are points of the rectangle.

    Roundings here and in the blending are in proportion to the terms of the square, which are
    largest at a corner. What is no ellipse, or too large for its square, reaches all tiles.

    Args:
        centre: The centre [pixels].
        conic: The inverse covariance xx, xy, yy [1/pixels^2].
        limit: The largest square of an offset, in standard deviations, at which it is drawn.
        x: The column of the tile.
        y: The row.
        tile: The side of a tile [pixels].
    """
    a, b, c = conic[0], conic[1], conic[2]
    left, top = x * tile + 0.5 - centre[0], y * tile + 0.5 - centre[1]
    right, bottom = left + (tile - 1.0), top + (tile - 1.0)
    dx, dy = ti.max(left, ti.min(0.0, right)), ti.max(top, ti.min(0.0, bottom))
    far_x, far_y = ti.max(ti.abs(left), ti.abs(right)), ti.max(ti.abs(top), ti.abs(bottom))
    largest = a * far_x * far_x + 2.0 * ti.abs(b) * far_x * far_y + c * far_y * far_y
    found = True
    if a > 0.0 and c > 0.0 and math.isfinite(largest) and b * b <= a * c * (1.0 + SLACK):
        at_y = ti.max(top, ti.min(-b * dx / c, bottom))
        at_x = ti.max(left, ti.min(-b * dy / a, right))
        across = a * dx * dx + 2.0 * b * dx * at_y + c * at_y * at_y
        down = a * at_x * at_x + 2.0 * b * at_x * dy + c * dy * dy
        if ti.min(across, down) - SLACK * largest > limit:
            found = False
    return found


@dt.func
def _limit(opacity):
    """Return the largest square of an offset at which a splat is drawn, and a little."""
    limit = 2.0 * MAX_SIGMA
    if opacity < 1.0:
        limit = ti.min(limit, 2.0 * ti.log(ti.max(opacity, 0.5 * MIN_ALPHA) / MIN_ALPHA))
    return limit + 1e-4


@dt.kernel
def _key_by_depth(depths, keys, values):
    for camera, i in depths:
        at = camera * depths.shape[1] + i
        # The bits of a float as an integer in the order of the floats, negative ones included.
        bits = ti.bit_cast(ti.cast(depths[camera, i], ti.f32), ti.u32)
        sign = ti.cast(1, ti.u32) << 31
        keys[at] = ti.select((bits & sign) == 0, bits | sign, ~bits)
        values[at] = at


@dt.kernel
def _count_tiles(
    centres,
    radii,
    conics,
    opacities,
    splats,
    tile: ti.i32,
    wide: ti.i32,
    high: ti.i32,
    counts,
):
    for k in range(centres.shape[0] * centres.shape[1]):
        camera = splats[k] // centres.shape[1]
        i = splats[k] % centres.shape[1]
        x0, x1, y0, y1 = _box(centres, radii, camera, i, tile, wide, high)
        count = (x1 - x0) * (y1 - y0)
        if ti.static(conics is not None):  # noqa: SIM102 - the field is there only then
            if count > 0:
                count = 0
                limit = _limit(opacities[camera, i])
                for y in range(y0, y1):
                    for x in range(x0, x1):
                        if reaches(centres[camera, i], conics[camera, i], limit, x, y, tile):
                            count += 1
        counts[k, 0] = count


@dt.kernel
def _expand(
    centres,
    radii,
    conics,
    opacities,
    splats,
    tile: ti.i32,
    wide: ti.i32,
    high: ti.i32,
    starts,
    keys,
    values,
):
    for k in range(centres.shape[0] * centres.shape[1]):
        camera = splats[k] // centres.shape[1]
        i = splats[k] % centres.shape[1]
        x0, x1, y0, y1 = _box(centres, radii, camera, i, tile, wide, high)
        at = starts[k, 0]
        limit = 0.0
        if ti.static(conics is not None):  # noqa: SIM102 - the field is there only then
            if x0 < x1 and y0 < y1:
                limit = _limit(opacities[camera, i])
        for y in range(y0, y1):
            for x in range(x0, x1):
                touched = True
                if ti.static(conics is not None):
                    touched = reaches(centres[camera, i], conics[camera, i], limit, x, y, tile)
                if touched:
                    keys[at] = ti.cast((camera * high + y) * wide + x, ti.u32)
                    values[at] = i
                    at += 1


@dt.kernel
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

    @boundary
    def __init__(self, width: int, height: int, tile: int = 16, cameras: int = 1) -> None:
        check_size("TileLists", FieldError, width, height, tile)
        check_integers("TileLists", FieldError, cameras=cameras)
        self.tile = tile
        self.cameras = cameras
        self.wide, self.high = -(-width // tile), -(-height // tile)
        self.tiles = cameras * self.wide * self.high
        self.total = 0
        self.order: dt.Field = dt.zeros(1, ti.i32)
        self.starts: dt.Field = dt.zeros(self.tiles + 1, ti.i32)
        self._by_depth, self._by_tile = Sorter(), Sorter()
        self._scan = Scan()
        self._counts = dt.zeros((1, 1), ti.i32)
        self._native: _NativeLists | None = None
        self._step: _Listing | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_native": None, "_step": None}

    def build(
        self,
        centres: dt.Field,
        radii: dt.Field,
        depths: dt.Field,
        conics: dt.Field | None = None,
        opacities: dt.Field | None = None,
    ) -> None:
        """Fill the lists: `order`, which may be another field afterwards, and `starts`.

        With conics and opacities, a tile of the box is left out if the splat covers less than 1/255
        of each of its pixels.

        Args:
            centres: The centres of splats [pixels], shape (cameras, n) of vec2 (x, y): the centre
                of the pixel in row i and column j is (j + 0.5, i + 0.5).
            radii: Half the width and height of the box of each splat [pixels], of the same shape,
                floats or integers; the box is empty where one of the two is not positive, or an
                edge is NaN.
            depths: The depths of splats, shape (cameras, n).
            conics: The inverse covariances xx, xy, yy [1/pixels^2], shape (cameras, n) of vec3.
            opacities: In 0..1, shape (cameras, n); given with `conics`.

        Raises:
            FieldError: Shapes differ, one of conics and opacities is missing, or the lists are
                longer than 2^31 - 1 together.
        """
        given = centres, radii, depths, conics, opacities
        step = self._step
        if step is None or not step.fits(given, self.order, self.starts):
            self._check(*given)
            step = self._step = _Listing(self, _Splats(*given), self.order, self.starts)
        self.total = step()
        if self.total > self.order.shape[0]:
            self.order = dt.zeros(min(self.total * 5 // 4, _MOST), ti.i32)
            self._step = _Listing(self, step.splats, self.order, self.starts)
            self._step()

    def _check(
        self,
        centres: dt.Field,
        radii: dt.Field,
        depths: dt.Field,
        conics: dt.Field | None,
        opacities: dt.Field | None,
    ) -> None:
        """Check the shapes of splats.

        Raises:
            FieldError: They differ, or one of conics and opacities is missing.
        """
        shape = self.cameras, *centres.shape[1:]
        if not centres.shape == radii.shape == depths.shape == shape or len(shape) != 2:
            raise FieldError(
                f"TileLists: centres, radii and depths are of shape ({self.cameras}, n), not "
                f"{centres.shape}, {radii.shape} and {depths.shape}."
            )
        if conics is None and opacities is None:
            return
        if conics is None or opacities is None:
            raise FieldError("TileLists: conics and opacities are given both, or neither is.")
        if not conics.shape == opacities.shape == shape:
            raise FieldError(
                f"TileLists: conics and opacities are of shape {shape}, not {conics.shape} and "
                f"{opacities.shape}."
            )

    def fill(self, splats: _Splats, order: dt.Field, starts: dt.Field) -> int:
        """Fill lists if there is room in `order`, and return the length that they need."""
        centres, by_depth, by_tile = splats.centres, self._by_depth, self._by_tile
        n = centres.shape[0] * centres.shape[1]
        by_depth.reserve(n)
        _key_by_depth(splats.depths, by_depth.keys, by_depth.values)
        by_depth.sort(n)
        if self._counts.shape[0] < n:
            self._counts = dt.zeros((by_depth.capacity, 1), ti.i32)
        of_splats = centres, splats.radii, splats.conics, splats.opacities, by_depth.values
        image = self.tile, self.wide, self.high
        _count_tiles(*of_splats, *image, self._counts)
        self._scan(self._counts, n)
        total = self._scan.total
        _check_length(n, total)
        if total <= order.shape[0]:
            by_tile.reserve(total)
            _expand(*of_splats, *image, self._counts, by_tile.keys, by_tile.values)
            by_tile.sort(total, self.bits, into=order)
            _find_starts(by_tile.keys, total, starts)
        return total

    @property
    def bits(self) -> int:
        """The number of bits of the number of a list."""
        return max(1, (self.tiles - 1).bit_length())

    def native_for(self, splats: _Splats) -> _NativeLists | None:
        """Return the way by kernels for warps, where there are some for the types of splats."""
        kernels = current_session().native
        fits = self.bits <= 16 and self.wide * self.high <= _MOST_TILES
        if "count_tiles" not in kernels or not fits or not splats.are_single:
            return None
        if self._native is None:
            self._native = _NativeLists(self, kernels)
        return self._native


@final
@dataclass(frozen=True, slots=True)
class _Splats:
    """The splats of a call, as in `TileLists.build`."""

    centres: dt.Field
    radii: dt.Field
    depths: dt.Field
    conics: dt.Field | None
    opacities: dt.Field | None

    @property
    def are_single(self) -> bool:
        """Whether they are whole fields in single precision, with integers as radii."""
        given = self.centres, self.radii, self.depths, self.conics, self.opacities
        single, integer = np.dtype(np.float32), np.dtype(np.int32)
        types = ((2,), single), ((2,), integer), ((), single), ((3,), single), ((), single)
        return all(
            field is None
            or (isinstance(field, dt.Field) and (field.element_shape, field.numpy_dtype) == type_)
            for field, type_ in zip(given, types, strict=True)
        )


@final
class _NativeLists:
    """Lists by kernels for warps.

    Args:
        lists: The lists.
        kernels: The kernels, by name.
    """

    def __init__(self, lists: TileLists, kernels: Mapping[str, NativeKernel]) -> None:
        self._lists, self._kernels = lists, kernels
        self._by_depth, self._by_tile = Sorter(), Sorter()
        self._counts, self._masks = dt.zeros(1, ti.i32), dt.zeros(1, ti.u32)
        self._seen, self._lengths = dt.zeros(_BLOCKS, ti.i32), dt.zeros(_BLOCKS, ti.i64)

    def fill(self, splats: _Splats, order: dt.Field, starts: dt.Field) -> int:
        """Fill lists if there is room in `order`, and return the length that they need."""
        lists, run = self._lists, self._kernels
        exact = int(splats.conics is not None)
        # The kernels take no notice of the last two where there are none.
        given = splats.centres, splats.radii, splats.conics, splats.opacities
        shapes = [(splats.depths if field is None else field).buffer for field in given]
        cameras, each = splats.centres.shape
        n = cameras * each
        image = lists.tile, lists.wide, lists.high
        if self._counts.shape[0] < n:
            self._counts, self._masks = dt.zeros(n * 5 // 4, ti.i32), dt.zeros(n * 5 // 4, ti.u32)
        counted = self._counts.buffer, self._masks.buffer, self._seen.buffer
        run["count_tiles"](*shapes, n, *image, exact, *counted, self._lengths.buffer)
        total = int(self._lengths.buffer.read().sum())
        _check_length(n, total)
        if total > order.shape[0]:
            return total
        self._by_depth.reserve(n)
        self._by_tile.reserve(total)
        nearest, entries = self._by_depth.buffers, self._by_tile.buffers
        of_splats = *shapes, splats.depths.buffer
        run["list_tiles"](*of_splats, n, each, *image, exact, *counted, *nearest, *entries[:2])
        of_lists = 0, lists.bits, lists.tiles, memory_to_write(starts)
        run["sort_pairs"](*entries, memory_to_write(order), total, counted[0], *of_lists)
        return total


@final
class _Listing(dt.Step):
    """The filling of lists as a step of tapes, prepared for some fields; it has no derivative.

    Args:
        lists: The lists.
        splats: The splats.
        order: Their `order`.
        starts: Their `starts`.
    """

    is_contained = True

    def __init__(
        self, lists: TileLists, splats: _Splats, order: dt.Field, starts: dt.Field
    ) -> None:
        self.splats = splats
        self._given = splats.centres, splats.radii, splats.depths, splats.conics, splats.opacities
        self._into = order, starts
        self._way = lists.native_for(splats) or lists
        read = {one.base.storage: one.base for one in self._given if one is not None}
        reads = {f"field {k}": one for k, one in enumerate(read.values())}
        super().__init__("tile lists", reads=reads, writes={"order": order, "starts": starts})

    def fits(self, given: Sequence[dt.Field | None], order: dt.Field, starts: dt.Field) -> bool:
        """Tell whether this is the step for some fields."""
        return all(map(is_, given, self._given)) and all(map(is_, (order, starts), self._into))

    def run(self) -> int:
        """Fill the lists if there is room, and return the length that they need."""
        recording = RECORDING.get()
        if recording.recorder is None:
            return self._way.fill(self.splats, *self._into)
        with Recording(observer=recording.observer):
            return self._way.fill(self.splats, *self._into)


def _check_length(n: int, total: int) -> None:
    if total > _MOST:
        raise FieldError(
            f"TileLists: {n} splats touch {total} tiles in all, and there is room for {_MOST}. "
            "Use larger tiles, or fewer cameras at a time."
        )
