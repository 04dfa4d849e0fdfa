"""Lists of the splats that touch each tile of some images, as in `render/tiles.py`.

`count_tiles` counts the tiles of each splat, so that the host knows how long the lists are.
`list_tiles` drops the splats without tiles, sorts the others by depth, and writes a pair of tile
and splat for each entry, in that order; `sort_pairs` sorts these by tile, and finds where lists
begin.

A warp takes 32 splats and goes through the tiles of their boxes, 32 at a time and each tile in a
thread of its own, so that large splats and small ones take the time that their tiles take.
"""

from difftile.substrate.compiler import ti
from difftile.substrate.family.native.blocks import (
    ALL,
    BLOCK,
    WARPS,
    earlier_in,
    scan_warp,
    sum_before,
)
from difftile.substrate.family.native.launch import native
from difftile.substrate.family.native.radix_sort import (
    BITS,
    BLOCKS,
    PASSES,
    SHARED,
    TABLE,
    TOTALS,
    clear_groups,
    count_digits,
    move,
)

# Of a precision of their own, whatever the session has.
_VEC2, _VEC3 = ti.types.vector(2, ti.f32), ti.types.vector(3, ti.f32)
_IVEC2 = ti.types.vector(2, ti.i32)

_VISIBLE = 255.0  # one over the least alpha that is drawn
_MAX_LIMIT = 2 * 5.5413  # as MAX_SIGMA in `render/compositing.py`
_SLACK = 4e-6  # as in `render/tiles.py`
_LOW_BITS = 24
_LOW = (1 << _LOW_BITS) - 1


@ti.func
def is_nan(x):
    """Tell whether a number is NaN, also with fast math."""
    return (ti.bit_cast(x, ti.u32) & ti.u32(0x7FFFFFFF)) > ti.u32(0x7F800000)


@ti.func
def is_finite(x):
    """Tell whether a number is finite, also with fast math."""
    return (ti.bit_cast(x, ti.u32) & ti.u32(0x7FFFFFFF)) < ti.u32(0x7F800000)


@ti.func
def part_of(block, n):
    """Return the first splat of a block, and the end of its range."""
    each = (n + (BLOCKS * BLOCK - 1)) // (BLOCKS * BLOCK) * BLOCK
    return ti.min(block * each, n), ti.min(block * each + each, n)


@ti.func
def tiles_along(centre, radius, tile, tiles):
    """Return the first tile along an axis that a box touches, and the end of the range."""
    first = ti.max(0.0, ti.min(ti.floor((centre - radius) / tile), tiles))
    end = ti.max(0.0, ti.min(ti.ceil((centre + radius) / tile), tiles))
    return ti.cast(first, ti.i32), ti.cast(end, ti.i32)


@ti.func
def box_of(centre, radius, tile, wide, high):
    """Return the first column and row of the tiles of a box, how many columns, and how many tiles.

    No tile has a box of which a side is not positive, or an edge NaN.
    """
    rx, ry = ti.f32(radius[0]), ti.f32(radius[1])
    size, columns, rows = ti.f32(tile), ti.f32(wide), ti.f32(high)
    x0, x1 = tiles_along(centre[0], rx, size, columns)
    y0, y1 = tiles_along(centre[1], ry, size, rows)
    count = (x1 - x0) * (y1 - y0)
    no_number = is_nan(centre[0] - rx) or is_nan(centre[0] + rx)
    no_number = no_number or is_nan(centre[1] - ry) or is_nan(centre[1] + ry)
    if no_number or not (rx > 0 and ry > 0):
        count = 0
    return x0, y0, x1 - x0, count


@ti.func
def reaches(cx, cy, a, b, c, limit, column, row, tile):
    """Tell whether an ellipse reaches a pixel of a tile; as `reaches` in `render/tiles.py`."""
    side = ti.f32(tile)
    left = ti.f32(column) * side + 0.5 - cx
    top = ti.f32(row) * side + 0.5 - cy
    right = left + (side - 1.0)
    bottom = top + (side - 1.0)
    dx = ti.max(left, ti.min(0.0, right))
    dy = ti.max(top, ti.min(0.0, bottom))
    far_x = ti.max(ti.abs(left), ti.abs(right))
    far_y = ti.max(ti.abs(top), ti.abs(bottom))
    largest = a * far_x * far_x + 2.0 * ti.abs(b) * far_x * far_y + c * far_y * far_y
    found = 1
    if a > 0 and c > 0 and is_finite(largest) and b * b <= a * c * (1 + _SLACK):
        y = ti.max(top, ti.min(-b * dx / c, bottom))
        x = ti.max(left, ti.min(-b * dy / a, right))
        across = a * dx * dx + 2.0 * b * dx * y + c * y * y
        down = a * x * x + 2.0 * b * x * dy + c * dy * dy
        if ti.min(across, down) - _SLACK * largest > limit:
            found = 0
    return found


@ti.func
def limit_of(opacity):
    """Return the largest square of an offset at which a splat is drawn."""
    return ti.min(2.0 * ti.log(opacity * _VISIBLE), _MAX_LIMIT) + 1e-4


@ti.func
def owner_of(j, start):
    """Return the thread of the warp whose range item j is in.

    Args:
        j: The item.
        start: Where the range of the thread begins.
    """
    owner = 0
    for k in ti.static(range(5)):
        step = 16 >> k
        begins = ti.simt.warp.shfl_sync_i32(ti.u32(ALL), start, owner + step)
        if begins <= j:
            owner += step
    return owner


@ti.func
def below(k):
    """Return the bits of the first k threads of a warp."""
    bits = ti.u32(0)
    if k >= 32:
        bits = ti.u32(ALL)
    elif k > 0:
        bits = (ti.u32(1) << ti.u32(k)) - ti.u32(1)
    return bits


@ti.func
def of_thread(value, owner):
    """Return the integer of a thread of the warp."""
    return ti.simt.warp.shfl_sync_i32(ti.u32(ALL), value, owner)


@ti.func
def number_of_thread(value, owner):
    """Return the number of a thread of the warp; Taichi takes shuffled floats for integers."""
    return ti.bit_cast(of_thread(ti.bit_cast(value, ti.i32), owner), ti.f32)


@ti.func
def place_in(box_width, item):
    """Return column and row of an item in rows of some width."""
    row = ti.raw_div(item, ti.max(box_width, 1))
    return item - row * box_width, row


@native("counts", "masks", "seen", "lengths")
@ti.kernel
def count_tiles(
    centres: ti.types.ndarray(_VEC2, ndim=2),
    radii: ti.types.ndarray(_IVEC2, ndim=2),
    conics: ti.types.ndarray(_VEC3, ndim=2),
    opacities: ti.types.ndarray(ti.f32, ndim=2),
    n: ti.i32,
    tile: ti.i32,
    wide: ti.i32,
    high: ti.i32,
    exact: ti.template(),
    counts: ti.types.ndarray(ti.i32, ndim=1),
    masks: ti.types.ndarray(ti.u32, ndim=1),
    seen: ti.types.ndarray(ti.i32, ndim=1),
    lengths: ti.types.ndarray(ti.i64, ndim=1),
):
    """Count the tiles of each splat.

    Args:
        centres: The centres, shape (cameras, splats of a camera).
        radii: Half the sides of the boxes.
        conics: The ellipses, if `exact`.
        opacities: The opacities, if `exact`.
        n: The number of splats, of all cameras.
        tile: The side of a tile.
        wide: The number of tiles in a row.
        high: The number of rows of tiles.
        exact: Whether tiles that only the box touches are left out.
        counts: Is set to the counts, shape (n or more,).
        masks: Is set to a bit for each tile of the box, row by row, if `exact`; but not for boxes
            of more than 32 tiles.
        seen: Is set to the number of splats with tiles of each block.
        lengths: Is set to the sum of the counts of each block.
    """
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        thread = i & (BLOCK - 1)
        block = i // BLOCK
        lane = thread & 31
        shared = ti.simt.block.SharedArray((2 * WARPS,), ti.i64)
        first, end = part_of(block, n)
        visible = 0
        total = ti.i64(0)
        for k in range((end - first + (BLOCK - 1)) // BLOCK):
            at = first + k * BLOCK + thread
            x0, y0, box_width, tiles = 0, 0, 0, 0
            centre = ti.Vector([0.0, 0.0])
            conic = ti.Vector([0.0, 0.0, 0.0])
            limit = 0.0
            if at < end:
                # As in memory: rows follow one another.
                centre = centres[0, at]
                x0, y0, box_width, tiles = box_of(centre, radii[0, at], tile, wide, high)
                if ti.static(exact):  # noqa: SIM102 - known when it is compiled
                    if tiles > 0:
                        conic = conics[0, at]
                        limit = limit_of(opacities[0, at])
            count = tiles
            mask = ti.u32(0)
            if ti.static(exact):
                count = 0
                start, candidates = scan_warp(tiles, lane)
                c = 0
                while c < candidates:
                    j = c + lane
                    owner = owner_of(j, start)
                    column, row = place_in(of_thread(box_width, owner), j - of_thread(start, owner))
                    hit = reaches(
                        number_of_thread(centre[0], owner),
                        number_of_thread(centre[1], owner),
                        number_of_thread(conic[0], owner),
                        number_of_thread(conic[1], owner),
                        number_of_thread(conic[2], owner),
                        number_of_thread(limit, owner),
                        of_thread(x0, owner) + column,
                        of_thread(y0, owner) + row,
                        tile,
                    )
                    if j >= candidates:
                        hit = 0
                    votes = ti.cast(ti.simt.warp.ballot(hit), ti.u32)
                    mine = votes & below(start + tiles - c) & ~below(start - c)
                    count += ti.math.popcnt(mine)
                    if mine != 0 and tiles <= 32:
                        if start >= c:
                            mask |= mine >> ti.u32(start - c)
                        else:
                            mask |= mine << ti.u32(c - start)
                    c += 32
            if at < end:
                counts[at] = count
                if ti.static(exact):
                    masks[at] = mask
            if count > 0:
                visible += 1
                total += ti.i64(count)
        # Shuffles take 32 bits, and a sum of 32 such sums has 5 bits more.
        _, some = scan_warp(visible, lane)
        _, low = scan_warp(ti.cast(total & ti.i64(_LOW), ti.i32), lane)
        _, rest = scan_warp(ti.cast(total >> ti.i64(_LOW_BITS), ti.i32), lane)
        if lane == 0:
            warp = thread >> 5
            shared[warp] = ti.i64(some)
            shared[WARPS + warp] = ti.i64(low) + (ti.i64(rest) << ti.i64(_LOW_BITS))
        ti.simt.block.sync()
        if thread == 0:
            all_some = ti.i64(0)
            all_total = ti.i64(0)
            for w in ti.static(range(WARPS)):
                all_some += shared[w]
                all_total += shared[WARPS + w]
            seen[block] = ti.cast(all_some, ti.i32)
            lengths[block] = all_total


@ti.func
def sum_of_earlier(parts: ti.template(), block, thread, shared: ti.template()):
    """Return the sum of the parts of the blocks before one, for all of its threads, and of all.

    All threads of the block get here together, and have passed a barrier since they last read
    the shared memory; they pass one before they return.
    """
    earlier = 0
    rest = 0
    for k in range((BLOCKS + (BLOCK - 1)) // BLOCK):
        at = k * BLOCK + thread
        if at < BLOCKS:
            if at < block:
                earlier += parts[at]
            else:
                rest += parts[at]
    _, before = sum_before(earlier, thread, shared, TOTALS)
    ti.simt.block.sync()
    _, after = sum_before(rest, thread, shared, TOTALS)
    ti.simt.block.sync()
    return before, before + after


@ti.func
def pick_visible(
    i,
    depths: ti.template(),
    n,
    counts: ti.template(),
    seen: ti.template(),
    by_depth: ti.template(),
    splats: ti.template(),
    visible: ti.template(),
):
    """Write the splats that have tiles, and the bits of their depths in the order of the depths."""
    thread = i & (BLOCK - 1)
    block = i // BLOCK
    shared = ti.simt.block.SharedArray((SHARED,), ti.i32)
    at, number = sum_of_earlier(seen, block, thread, shared)
    if i == 0:
        visible[0] = number
    first, end = part_of(block, n)
    for k in range((end - first + (BLOCK - 1)) // BLOCK):
        splat = first + k * BLOCK + thread
        there = 0
        if splat < end:
            there = ti.cast(counts[splat] > 0, ti.i32)
        before, found = sum_before(there, thread, shared, TOTALS)
        if there > 0:
            depth = ti.bit_cast(depths[0, splat], ti.u32)
            sign = ti.u32(1) << ti.u32(31)
            by_depth[at + before] = ti.select((depth & sign) == 0, depth | sign, ~depth)
            splats[at + before] = splat
        at += found
        ti.simt.block.sync()


@ti.func
def count_entries(
    i,
    counts: ti.template(),
    visible: ti.template(),
    splats: ti.template(),
    scratch: ti.template(),
    sums: ti.template(),
):
    """Write the counts of sorted splats into memory, and their sums for each block."""
    thread = i & (BLOCK - 1)
    block = i // BLOCK
    shared = ti.simt.block.SharedArray((SHARED,), ti.i32)
    first, end = part_of(block, visible[0])
    total = 0
    for k in range((end - first + (BLOCK - 1)) // BLOCK):
        at = first + k * BLOCK + thread
        if at < end:
            count = counts[splats[at]]
            scratch[at] = count
            total += count
    _, found = sum_before(total, thread, shared, TOTALS)
    if thread == 0:
        sums[block] = found


@ti.func
def place_groups(
    i,
    visible: ti.template(),
    sums: ti.template(),
    scratch: ti.template(),
    at_groups: ti.template(),
):
    """Write where the entries of each 32 of the sorted splats begin."""
    thread = i & (BLOCK - 1)
    block = i // BLOCK
    shared = ti.simt.block.SharedArray((SHARED,), ti.i32)
    at, _ = sum_of_earlier(sums, block, thread, shared)
    first, end = part_of(block, visible[0])
    for k in range((end - first + (BLOCK - 1)) // BLOCK):
        splat = first + k * BLOCK + thread
        count = 0
        if splat < end:
            count = scratch[splat]
        before, found = sum_before(count, thread, shared, TOTALS)
        if splat < end and (thread & 31) == 0:
            at_groups[splat >> 5] = ti.u32(at + before)
        at += found
        ti.simt.block.sync()


@native(
    "by_depth",
    "splats",
    "other_depths",
    "other_splats",
    "keys",
    "values",
    memory={"table": TABLE, "visible": 1, "sums": BLOCKS},
    searched=False,
)
@ti.kernel
def list_tiles(
    centres: ti.types.ndarray(_VEC2, ndim=2),
    radii: ti.types.ndarray(_IVEC2, ndim=2),
    conics: ti.types.ndarray(_VEC3, ndim=2),
    opacities: ti.types.ndarray(ti.f32, ndim=2),
    depths: ti.types.ndarray(ti.f32, ndim=2),
    n: ti.i32,
    in_camera: ti.i32,
    tile: ti.i32,
    wide: ti.i32,
    high: ti.i32,
    exact: ti.template(),
    counts: ti.types.ndarray(ti.i32, ndim=1),
    masks: ti.types.ndarray(ti.u32, ndim=1),
    seen: ti.types.ndarray(ti.i32, ndim=1),
    by_depth: ti.types.ndarray(ti.u32, ndim=1),
    splats: ti.types.ndarray(ti.i32, ndim=1),
    other_depths: ti.types.ndarray(ti.u32, ndim=1),
    other_splats: ti.types.ndarray(ti.i32, ndim=1),
    keys: ti.types.ndarray(ti.u32, ndim=1),
    values: ti.types.ndarray(ti.i32, ndim=1),
    table: ti.types.ndarray(ti.i32, ndim=1),
    visible: ti.types.ndarray(ti.i32, ndim=1),
    sums: ti.types.ndarray(ti.i32, ndim=1),
):
    """Write the entries of splats in the order of their depths.

    Args:
        centres: The centres.
        radii: Half the sides of the boxes.
        conics: The ellipses.
        opacities: The opacities.
        depths: The depths, shape (cameras, splats of a camera) as of all before.
        n: The number of splats.
        in_camera: The number of splats of a camera.
        tile: The side of a tile.
        wide: The number of tiles in a row.
        high: The number of rows of tiles.
        exact: Whether tiles that only the box touches are left out.
        counts: The counts of `count_tiles`.
        masks: Its masks.
        seen: The counts of its blocks.
        by_depth: Memory, as the three that follow, shape (n or more,).
        splats: Memory.
        other_depths: Memory.
        other_splats: Memory.
        keys: Is set to the list of each entry.
        values: Is set to the splat of each entry, as its camera counts.
        table: The counts of digits.
        visible: The number of splats that have tiles.
        sums: The number of entries of each block.
    """
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        clear_groups(i, table)
        pick_visible(i, depths, n, counts, seen, by_depth, splats, visible)

    for number in ti.static(range(PASSES)):
        shift = ti.static(number * BITS)
        ti.loop_config(block_dim=BLOCK)
        for i in range(BLOCKS * BLOCK):
            m = visible[0]
            if ti.static(number % 2 == 0):
                count_digits(i, by_depth, m, number, shift, BITS, table)
            else:
                count_digits(i, other_depths, m, number, shift, BITS, table)
        ti.loop_config(block_dim=BLOCK)
        for i in range(BLOCKS * BLOCK):
            m = visible[0]
            if ti.static(number % 2 == 0):
                move(i, by_depth, splats, m, number, shift, BITS, table, other_depths, other_splats)
            else:
                move(i, other_depths, other_splats, m, number, shift, BITS, table, by_depth, splats)

    # The second half of the memory is free now.
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        count_entries(i, counts, visible, splats, other_splats, sums)
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        place_groups(i, visible, sums, other_splats, other_depths)
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        thread = i & (BLOCK - 1)
        lane = thread & 31
        m = visible[0]
        group = i >> 5
        while group * 32 < m:
            x0, y0, box_width, tiles = 0, 0, 0, 0
            base = 0
            splat = 0
            centre = ti.Vector([0.0, 0.0])
            conic = ti.Vector([0.0, 0.0, 0.0])
            limit = 0.0
            mask = ti.u32(0)
            if group * 32 + lane < m:
                of_all = splats[group * 32 + lane]
                camera = ti.raw_div(of_all, in_camera)
                splat = of_all - camera * in_camera
                base = camera * high * wide
                centre = centres[0, of_all]
                x0, y0, box_width, tiles = box_of(centre, radii[0, of_all], tile, wide, high)
                if ti.static(exact):
                    mask = masks[of_all]
                    if tiles > 32:
                        conic = conics[0, of_all]
                        limit = limit_of(opacities[0, of_all])
            large = ti.simt.warp.ballot(ti.cast(tiles > 32, ti.i32))
            at = ti.cast(other_depths[group], ti.i32)
            start, candidates = scan_warp(tiles, lane)
            c = 0
            while c < candidates:
                j = c + lane
                owner = owner_of(j, start)
                column, row = place_in(of_thread(box_width, owner), j - of_thread(start, owner))
                column += of_thread(x0, owner)
                row += of_thread(y0, owner)
                hit = 1
                if ti.static(exact):
                    place = ti.min(j - of_thread(start, owner), 31)
                    bits = of_thread(ti.bit_cast(mask, ti.i32), owner)
                    hit = (bits >> place) & 1
                    if large != 0:
                        reached = reaches(
                            number_of_thread(centre[0], owner),
                            number_of_thread(centre[1], owner),
                            number_of_thread(conic[0], owner),
                            number_of_thread(conic[1], owner),
                            number_of_thread(conic[2], owner),
                            number_of_thread(limit, owner),
                            column,
                            row,
                            tile,
                        )
                        if of_thread(tiles, owner) > 32:
                            hit = reached
                if j >= candidates:
                    hit = 0
                votes = ti.cast(ti.simt.warp.ballot(hit), ti.u32)
                of_list = of_thread(base, owner) + row * wide + column
                of_splat = of_thread(splat, owner)
                if hit > 0:
                    to = at + earlier_in(votes, lane)
                    keys[to] = ti.cast(of_list, ti.u32)
                    values[to] = of_splat
                at += ti.math.popcnt(votes)
                c += 32
            group += BLOCKS * WARPS
