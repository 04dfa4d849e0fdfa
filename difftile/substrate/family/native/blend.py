"""Gaussians blended front to back, and the adjoint: `render/compositing.py` has the formulas.

A block draws a square of pixels, each warp 8 x 8 of them, two a thread. The block brings gaussians
of the list of its tile to shared memory, as many at a time as it has threads. Of each 32 a warp
finds the gaussians that reach its pixels, one a thread, and then visits only these.

The adjoint goes backwards, a warp for 8 x 4 pixels. From a gaussian a pixel gets two numbers, the
weight of the colour and the gradient of sigma; all gradients are their sums over pixels, times
colours or products of x and y. A warp notes both for some gaussians in shared memory, and then
exchanges the roles: threads sum the pixels of a gaussian, and add to its gradients.
"""

from functools import cache
from typing import Any

from difftile.substrate.compiler import ti
from difftile.substrate.family.native.launch import NativeKernel, native

MAX_ALPHA = 0.99
MIN_ALPHA = 1.0 / 255.0
MIN_LIGHT = 1e-4
MAX_SIGMA = 5.5413
MIN_COVER = 1e-10

_BLOCKS = 4224  # of the grid; each draws one square after the other
_ALL = 0xFFFFFFFF

# Exponents are divided by 8. The coefficients approximate exp(-x) for x from 0 to 0.7; its eighth
# power is as accurate as `__expf` of CUDA, and takes half as long as what Taichi makes of `exp`.
_SCALE = 0.125
_FALL = (
    1.0,
    -0.9999997615814209,
    0.4999946355819702,
    -0.1666221171617508,
    0.0414872020483017,
    -0.007954620756208897,
    0.0009774863719940186,
)

_SLOTS = 8  # gaussians that a warp notes
_PITCH = 33  # numbers from one to the next, so that threads meet different banks
_MASK = 4095  # of places there: with it the compiler knows that they do not overflow

# Words of a gaussian in shared memory: centre, conic with xx and yy halved, the largest sigma that
# is visible, all of these but the centre divided by 8; the opacity, the colour and the depth.
_X, _Y, _XX, _XY, _YY, _REACH, _OPACITY, _COLOUR = range(8)

_Pixels = ti.types.ndarray(ti.f32, ndim=3)
_Indices = ti.types.ndarray(ti.i32, ndim=1)


@ti.func
def _square(number, tile, width, height, side: ti.template()):
    """Return tile and camera of a square of pixels, and its first row and column."""
    split = ti.raw_div(tile, side)
    across, down = ti.raw_div(width + tile - 1, tile), ti.raw_div(height + tile - 1, tile)
    t = ti.raw_div(number, split * split)
    part = number - t * split * split
    camera = ti.raw_div(t, across * down)
    in_image = t - camera * across * down
    row, part_row = ti.raw_div(in_image, across), ti.raw_div(part, split)
    top = row * tile + part_row * side
    edge = (in_image - row * across) * tile + (part - part_row * split) * side
    return t, camera, top, edge


@ti.func
def _of(array: ti.template(), camera, g, flat: ti.template()):
    """Return the element of a gaussian; a flat array has no axis of cameras."""
    if ti.static(flat):
        return array[g]
    return array[camera, g]


@ti.func
def _add(array: ti.template(), camera, g, value, flat: ti.template()):
    """Add to the element of a gaussian."""
    if ti.static(flat):
        array[g] += value
    else:
        array[camera, g] += value


@ti.func
def _bring(
    batch: ti.template(),
    thread,
    camera,
    g,
    means: ti.template(),
    conics: ti.template(),
    opacities: ti.template(),
    colours: ti.template(),
    depths: ti.template(),
    channels: ti.template(),
    flat: ti.template(),
    with_depth: ti.template(),
):
    """Bring a gaussian to shared memory."""
    mean, conic = _of(means, camera, g, flat), _of(conics, camera, g, flat)
    opacity, colour = _of(opacities, camera, g, flat), _of(colours, camera, g, flat)
    reach = -1.0
    if opacity >= 0.999 * MIN_ALPHA:
        reach = ti.min(MAX_SIGMA, ti.log(opacity / MIN_ALPHA) + 1e-3)
    batch[thread, _X] = mean[0]
    batch[thread, _Y] = mean[1]
    batch[thread, _XX] = 0.5 * _SCALE * conic[0]
    batch[thread, _XY] = _SCALE * conic[1]
    batch[thread, _YY] = 0.5 * _SCALE * conic[2]
    batch[thread, _REACH] = _SCALE * reach
    batch[thread, _OPACITY] = opacity
    for k in ti.static(range(channels)):
        batch[thread, _COLOUR + k] = colour[k]
    if ti.static(with_depth):
        batch[thread, _COLOUR + channels] = _of(depths, camera, g, flat)


@ti.func
def _fall(eighth):
    """Return exp(-8 x) for x from 0 to 0.7, within 1.2e-6 of it."""
    y = ti.f32(_FALL[6])
    for k in ti.static((5, 4, 3, 2, 1, 0)):
        y = y * eighth + _FALL[k]
    y *= y
    y *= y
    return y * y


@ti.func
def _clamped(x, low, high):
    return ti.min(ti.max(x, low), high)


@ti.func
def _meets(batch: ti.template(), s, row, column, rows):
    """Tell whether a gaussian may be visible in some rows of 8 pixels, by the least sigma there.

    That is at the gaussian's centre, or on an edge that faces it. Rounding is allowed for; shapes
    that no gaussian has may be visible anywhere.
    """
    x0, y0 = column + 0.5 - batch[s, _X], row + 0.5 - batch[s, _Y]
    x1, y1 = x0 + 7.0, y0 + (rows - 1)
    xx, xy, yy, reach = batch[s, _XX], batch[s, _XY], batch[s, _YY], batch[s, _REACH]
    near_x, near_y = _clamped(0.0, x0, x1), _clamped(0.0, y0, y1)
    at_y = _clamped(-0.5 * xy / yy * near_x, y0, y1)
    at_x = _clamped(-0.5 * xy / xx * near_y, x0, x1)
    one = xx * near_x * near_x + at_y * (yy * at_y + xy * near_x)
    two = yy * near_y * near_y + at_x * (xx * at_x + xy * near_y)
    far_x, far_y = ti.max(ti.abs(x0), ti.abs(x1)), ti.max(ti.abs(y0), ti.abs(y1))
    limit = reach + _SCALE * 1e-3 + 1e-5 * (xx * far_x * far_x + yy * far_y * far_y)
    proper = xx > 0.0 and yy > 0.0 and 4.0 * xx * yy > xy * xy
    return ti.cast(reach > 0.0 and (not proper or not ti.min(one, two) > limit), ti.i32)


@ti.func
def _is_visible(sigma, reach):
    """Tell whether 0 <= sigma <= reach: by bits, which are larger for negative numbers and NaN."""
    return ti.bit_cast(sigma, ti.u32) <= ti.bit_cast(reach, ti.u32)


@ti.func
def _any(condition):
    """Tell whether a condition holds in any thread of the warp."""
    return ti.simt.warp.any_nonzero(ti.u32(_ALL), ti.cast(condition, ti.i32)) != 0


@ti.func
def _of_other(value, lane, distance: ti.template()):
    """Return the value of the thread whose place differs in one bit."""
    return ti.simt.warp.shfl_sync_f32(ti.u32(_ALL), value, lane ^ distance)


@cache
def _forward(channels: int, flat: bool) -> NativeKernel:
    """Return a kernel with the parameters of `composite`; for the arguments see `blend`.

    Without depths or a background, any arrays of the same types stand for them.
    """
    axes = 1 if flat else 2
    numbers: Any = ti.types.ndarray(ti.f32, ndim=axes)
    places: Any = ti.types.ndarray(ti.math.vec2, ndim=axes)
    shapes: Any = ti.types.ndarray(ti.math.vec3, ndim=axes)
    colour_type: Any = ti.types.vector(channels, ti.f32)
    colours_type: Any = ti.types.ndarray(colour_type, ndim=axes)
    one_colour: Any = ti.types.ndarray(colour_type, ndim=0)
    image_type: Any = ti.types.ndarray(colour_type, ndim=3)
    words = (_COLOUR + channels + 1) | 1  # odd, so that threads meet different banks

    @native("image", "alpha", "depth", "light", "last")
    @ti.kernel
    def blend(
        means: places,
        conics: shapes,
        opacities: numbers,
        colours: colours_type,
        depths: numbers,
        background: one_colour,
        order: _Indices,
        starts: _Indices,
        tile: ti.i32,
        image: image_type,
        alpha: _Pixels,
        depth: _Pixels,
        light: _Pixels,
        last: ti.types.ndarray(ti.i32, ndim=3),
        side: ti.template(),
        with_depth: ti.template(),
        with_background: ti.template(),
    ):
        ti.loop_config(block_dim=side * side // 2)
        for i in range(_BLOCKS * side * side // 2):
            size = ti.static(side * side // 2)
            batch = ti.simt.block.SharedArray((size, words), ti.f32)
            thread = i & (size - 1)
            lane, warp = thread & 31, thread >> 5
            height, width = light.shape[1], light.shape[2]
            squares = (starts.shape[0] - 1) * ti.raw_div(tile, side) * ti.raw_div(tile, side)
            square = i // size
            # Infinite, though the compiler must not know that: no gaussian of any shape is visible.
            away = ti.bit_cast(0x7F800000 | (tile >> 31), ti.f32)
            while square < squares:
                t, camera, top, edge = _square(square, tile, width, height, side)
                row0, column0 = top + warp // (side // 8) * 8, edge + warp % (side // 8) * 8
                row, column = row0 + lane // 8, column0 + lane % 8
                x = column + 0.5
                y = ti.Vector([away, away])
                for p in ti.static(range(2)):
                    if row + 4 * p < height and column < width:
                        y[p] = row + 4 * p + 0.5
                going = ti.cast(ti.min(y[0], y[1]) < away, ti.i32)
                at, stop = starts[t], starts[t + 1]
                end = ti.Vector([at, at])
                left, way = ti.Vector([1.0, 1.0]), ti.Vector([0.0, 0.0])
                colour = ti.Matrix(
                    [[0.0 for _ in ti.static(range(channels))] for _ in ti.static(range(2))]
                )
                # This count is also the barrier after the last batch.
                while ti.simt.block.sync_count_nonzero(going) != 0 and at < stop:
                    batch[thread, _REACH] = -1.0
                    if at + thread < stop:
                        _bring(
                            batch,
                            thread,
                            camera,
                            order[at + thread],
                            means,
                            conics,
                            opacities,
                            colours,
                            depths,
                            channels,
                            flat,
                            with_depth,
                        )
                    ti.simt.block.sync()
                    first, past = 0, ti.min(size, stop - at)
                    if not _any(going):
                        past = 0
                    while first < past:
                        # The first gaussian has the highest bit.
                        bits = ti.simt.warp.ballot(
                            _meets(batch, (first + 31 - lane) & (size - 1), row0, column0, 8)
                        )
                        while bits != 0:
                            k = ti.math.clz(bits)
                            bits &= ~(1 << (31 - k))
                            s = (first + k) & (size - 1)
                            dx, dy = x - batch[s, _X], y - batch[s, _Y]
                            level, tilt = batch[s, _XX] * dx * dx, batch[s, _XY] * dx
                            for p in ti.static(range(2)):
                                sigma = level + dy[p] * (batch[s, _YY] * dy[p] + tilt)
                                if _is_visible(sigma, batch[s, _REACH]):
                                    covered = ti.min(MAX_ALPHA, batch[s, _OPACITY] * _fall(sigma))
                                    if covered >= MIN_ALPHA:
                                        after = left[p] * (1.0 - covered)
                                        if after <= MIN_LIGHT:
                                            y[p] = away
                                        else:
                                            weight = covered * left[p]
                                            for q in ti.static(range(channels)):
                                                colour[p, q] += weight * batch[s, _COLOUR + q]
                                            if ti.static(with_depth):
                                                way[p] += weight * batch[s, _COLOUR + channels]
                                            left[p] = after
                                            end[p] = at + s + 1
                        going = ti.cast(ti.min(y[0], y[1]) < away, ti.i32)
                        first += 32
                        if not _any(going):
                            first = past
                    at += size
                for p in ti.static(range(2)):
                    i_p = row + 4 * p
                    if i_p < height and column < width:
                        shade = colour[p, :]
                        if ti.static(with_background):
                            shade += left[p] * background[None]
                        image[camera, i_p, column] = shade
                        alpha[camera, i_p, column] = 1.0 - left[p]
                        if ti.static(with_depth):
                            depth[camera, i_p, column] = way[p] / ti.max(1.0 - left[p], MIN_COVER)
                        light[camera, i_p, column] = left[p]
                        last[camera, i_p, column] = end[p]
                square += _BLOCKS

    return blend


@cache
def _adjoint(channels: int, flat: bool) -> NativeKernel:
    """Return the adjoint, which adds to gradients.

    Without depths, a background or absolute gradients, any arrays of the same types stand for them.
    """
    axes = 1 if flat else 2
    numbers: Any = ti.types.ndarray(ti.f32, ndim=axes)
    places: Any = ti.types.ndarray(ti.math.vec2, ndim=axes)
    shapes: Any = ti.types.ndarray(ti.math.vec3, ndim=axes)
    colour_type: Any = ti.types.vector(channels, ti.f32)
    colours_type: Any = ti.types.ndarray(colour_type, ndim=axes)
    one_colour: Any = ti.types.ndarray(colour_type, ndim=0)
    image_type: Any = ti.types.ndarray(colour_type, ndim=3)
    words = (_COLOUR + channels + 1) | 1
    rounds = 2 if channels <= 3 else 1  # batches as large as shared memory allows: warps wait less

    @native(
        "means_bar",
        "conics_bar",
        "opacities_bar",
        "colours_bar",
        "depths_bar",
        "background_bar",
        "absolute_bar",
    )
    @ti.kernel
    def blend_adjoint(
        means: places,
        conics: shapes,
        opacities: numbers,
        colours: colours_type,
        depths: numbers,
        background: one_colour,
        order: _Indices,
        starts: _Indices,
        tile: ti.i32,
        depth: _Pixels,
        light: _Pixels,
        last: ti.types.ndarray(ti.i32, ndim=3),
        image_bar: image_type,
        alpha_bar: _Pixels,
        depth_bar: _Pixels,
        light_bar: _Pixels,
        means_bar: places,
        conics_bar: shapes,
        opacities_bar: numbers,
        colours_bar: colours_type,
        depths_bar: numbers,
        background_bar: one_colour,
        absolute_bar: places,
        side: ti.template(),
        with_depth: ti.template(),
        with_background: ti.template(),
        with_absolute: ti.template(),
    ):
        ti.loop_config(block_dim=side * side)
        for i in range(_BLOCKS * side * side):
            size = ti.static(side * side)
            room = ti.static(side * side * rounds)
            warps = ti.static(side * side // 32)
            batch = ti.simt.block.SharedArray((room, words), ti.f32)
            splats = ti.simt.block.SharedArray((room,), ti.i32)
            weights = ti.simt.block.SharedArray((warps * _SLOTS * _PITCH,), ti.f32)
            slopes = ti.simt.block.SharedArray((warps * _SLOTS * _PITCH,), ti.f32)
            noted = ti.simt.block.SharedArray((warps, _SLOTS), ti.i32)
            seeds = ti.simt.block.SharedArray((size, channels + 1), ti.f32)
            ends = ti.simt.block.SharedArray((warps,), ti.i32)
            thread = i & (size - 1)
            lane, warp = thread & 31, thread >> 5
            height, width = light.shape[1], light.shape[2]
            squares = (starts.shape[0] - 1) * ti.raw_div(tile, side) * ti.raw_div(tile, side)
            square = i // size
            while square < squares:
                t, camera, top, edge = _square(square, tile, width, height, side)
                row0, column0 = top + warp // (side // 8) * 4, edge + warp % (side // 8) * 8
                row, column = row0 + lane // 8, column0 + lane % 8
                x, y = column + 0.5, row + 0.5
                start = starts[t]
                end = start
                # The transmittance after the current gaussian, and the light from farther ones that
                # passes through it, times its gradient.
                left, behind, d_way = 1.0, 0.0, 0.0
                seed = ti.Vector([0.0 for _ in ti.static(range(channels))])
                if row < height and column < width:
                    left = light[camera, row, column]
                    end = last[camera, row, column]
                    seed = image_bar[camera, row, column]
                    d_left = light_bar[camera, row, column] - alpha_bar[camera, row, column]
                    if ti.static(with_depth):
                        d_way = depth_bar[camera, row, column] / ti.max(1.0 - left, MIN_COVER)
                        if 1.0 - left > MIN_COVER:
                            d_left += d_way * depth[camera, row, column]
                    if ti.static(with_background):
                        d_left += seed.dot(background[None])
                    behind = left * d_left
                for q in ti.static(range(channels)):
                    seeds[thread, q] = seed[q]
                if ti.static(with_depth):
                    seeds[thread, channels] = d_way
                if ti.static(with_background):
                    d_background = left * seed
                    for k in ti.static(range(5)):
                        for q in ti.static(range(channels)):
                            d_background[q] += _of_other(d_background[q], lane, 1 << k)
                    if lane == 0:
                        background_bar[None] += d_background
                # Where the last pixel of the warp ended, and the last of the block.
                warp_end = end
                for k in ti.static(range(5)):
                    other = ti.simt.warp.shfl_sync_i32(ti.u32(_ALL), warp_end, lane ^ (1 << k))
                    warp_end = ti.max(warp_end, other)
                if lane == 0:
                    ends[warp] = warp_end
                ti.simt.block.sync()
                stop = start
                for k in ti.static(range(warps)):
                    stop = ti.max(stop, ends[k])
                while stop > start:
                    at = ti.max(start, stop - room)
                    ti.simt.block.sync()
                    for r in ti.static(range(rounds)):
                        place = thread + r * size
                        batch[place, _REACH] = -1.0
                        if at + place < stop:
                            splats[place] = order[at + place]
                            _bring(
                                batch,
                                place,
                                camera,
                                splats[place],
                                means,
                                conics,
                                opacities,
                                colours,
                                depths,
                                channels,
                                flat,
                                with_depth,
                            )
                    ti.simt.block.sync()
                    count = 0
                    mine = end - at
                    first = (ti.min(stop, warp_end) - at + 31) // 32 * 32 - 32
                    while first >= 0:
                        s = (first + lane) & (room - 1)
                        bits = ti.simt.warp.ballot(
                            _meets(batch, s, row0, column0, 4) & ti.cast(at + s < warp_end, ti.i32)
                        )
                        # What is noted last is summed up once nothing else is left of the batch.
                        tail = -1 if first == 0 else 0
                        while (bits | (count & tail)) != 0:
                            ready = True
                            if bits != 0:
                                k = 31 - ti.math.clz(bits)
                                bits &= ~(1 << k)
                                s = (first + k) & (room - 1)
                                dx, dy = x - batch[s, _X], y - batch[s, _Y]
                                slant = batch[s, _YY] * dy + batch[s, _XY] * dx
                                sigma = batch[s, _XX] * dx * dx + dy * slant
                                weight, slope = 0.0, 0.0
                                touched = 0
                                if s < mine and _is_visible(sigma, batch[s, _REACH]):
                                    full = batch[s, _OPACITY] * _fall(sigma)
                                    covered = ti.min(MAX_ALPHA, full)
                                    if covered >= MIN_ALPHA:
                                        touched = 1
                                        passing = 1.0 / (1.0 - covered)
                                        left *= passing
                                        weight = covered * left
                                        shade = 0.0
                                        for q in ti.static(range(channels)):
                                            shade += seed[q] * batch[s, _COLOUR + q]
                                        if ti.static(with_depth):
                                            shade += d_way * batch[s, _COLOUR + channels]
                                        if full <= MAX_ALPHA:
                                            slope = full * (behind * passing - left * shade)
                                        behind += weight * shade
                                if _any(touched):
                                    place = (warp * _SLOTS + count) * _PITCH + lane
                                    weights[place] = weight
                                    slopes[place] = slope
                                    if lane == 0:
                                        noted[warp, count] = s
                                    count += 1
                                ready = count == _SLOTS
                            if ready:
                                # Four threads, each for a row of pixels, sum up one gaussian.
                                ti.simt.warp.sync(ti.u32(_ALL))
                                slot, line = lane & (_SLOTS - 1), lane // _SLOTS
                                s = 0
                                if slot < count:
                                    s = noted[warp, slot] & (room - 1)
                                xx = batch[s, _XX] / _SCALE
                                xy = batch[s, _XY] / _SCALE
                                yy = batch[s, _YY] / _SCALE
                                dx = column0 + 0.5 - batch[s, _X]
                                dy = row0 + line + 0.5 - batch[s, _Y]
                                total, sum_x, sum_xx = 0.0, 0.0, 0.0
                                d_absolute = ti.Vector([0.0, 0.0])
                                d_depth = 0.0
                                d_colour = ti.Vector([0.0 for _ in ti.static(range(channels))])
                                place = ((warp * _SLOTS + slot) * _PITCH + 8 * line) & _MASK
                                pixel = (thread & ~31) + 8 * line
                                for q in ti.static(range(8)):
                                    slope, weight = slopes[place + q], weights[place + q]
                                    total += slope
                                    sum_x += q * slope
                                    sum_xx += q * q * slope
                                    for m in ti.static(range(channels)):
                                        d_colour[m] += weight * seeds[pixel + q, m]
                                    if ti.static(with_depth):
                                        d_depth += weight * seeds[pixel + q, channels]
                                    if ti.static(with_absolute):
                                        d_absolute += ti.abs(
                                            slope
                                            * ti.Vector(
                                                [
                                                    2.0 * xx * (dx + q) + xy * dy,
                                                    xy * (dx + q) + 2.0 * yy * dy,
                                                ]
                                            )
                                        )
                                # From the first column of the pixels to the centre.
                                sum_xx += dx * (2.0 * sum_x + dx * total)
                                sum_x += dx * total
                                d_opacity = -total
                                d_conic = ti.Vector(
                                    [0.5 * sum_xx, dy * sum_x, 0.5 * dy * dy * total]
                                )
                                d_mean = -ti.Vector(
                                    [
                                        2.0 * xx * sum_x + xy * dy * total,
                                        xy * sum_x + 2.0 * yy * dy * total,
                                    ]
                                )
                                for k in ti.static((8, 16)):
                                    d_opacity += _of_other(d_opacity, lane, k)
                                    for m in ti.static(range(2)):
                                        d_mean[m] += _of_other(d_mean[m], lane, k)
                                    for m in ti.static(range(3)):
                                        d_conic[m] += _of_other(d_conic[m], lane, k)
                                    for m in ti.static(range(channels)):
                                        d_colour[m] += _of_other(d_colour[m], lane, k)
                                    if ti.static(with_depth):
                                        d_depth += _of_other(d_depth, lane, k)
                                    if ti.static(with_absolute):
                                        for m in ti.static(range(2)):
                                            d_absolute[m] += _of_other(d_absolute[m], lane, k)
                                if lane < count:
                                    g = splats[s]
                                    d_opacity /= batch[s, _OPACITY]
                                    _add(means_bar, camera, g, d_mean, flat)
                                    _add(conics_bar, camera, g, d_conic, flat)
                                    _add(opacities_bar, camera, g, d_opacity, flat)
                                    _add(colours_bar, camera, g, d_colour, flat)
                                    if ti.static(with_depth):
                                        _add(depths_bar, camera, g, d_depth, flat)
                                    if ti.static(with_absolute):
                                        _add(absolute_bar, camera, g, d_absolute, flat)
                                ti.simt.warp.sync(ti.u32(_ALL))
                                count = 0
                        first -= 32
                    stop = at
                ti.simt.block.sync()
                square += _BLOCKS

    return blend_adjoint


def blend(channels: int, flat: bool, *args: Any) -> None:
    """Launch the kernel for colours of some channels.

    Args:
        channels: Their number.
        flat: Whether the arrays of gaussians have no axis of cameras.
        *args: The arguments of the kernel.
    """
    _forward(channels, flat)(*args)


def blend_adjoint(channels: int, flat: bool, *args: Any) -> None:
    """Launch the adjoint; as `blend`."""
    _adjoint(channels, flat)(*args)
