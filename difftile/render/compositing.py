"""Gaussians on the image plane blended front to back: `composite`, and its derivative as a rule.

A gaussian with centre m, conic (a, b, c) and opacity o covers the point m + d by

    alpha = min(0.99, o exp(-sigma)),  sigma = (a dx^2 + c dy^2) / 2 + b dx dy,

and is left out where alpha < 1/255. The transmittance T of some of them is the product of their
1 - alpha. A pixel ends before the gaussian that would leave T <= 1e-4.

Source: Kerbl, Kopanas, Leimkuehler and Drettakis, 3D Gaussian Splatting for Real-Time Radiance
Field Rendering, 2023; thresholds as in gsplat 1.6. Derivatives ignore the jumps at the thresholds;
where alpha is clamped its derivative is 0.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.render import native_compositing

MAX_ALPHA = 0.99
MIN_ALPHA = 1.0 / 255.0
MIN_LIGHT = 1e-4
MAX_SIGMA = 5.5413  # just above ln 255: no opacity up to 1 is visible beyond it
BLOCK = 2  # the side of the block of one thread of the adjoint [pixels]
PIXELS = BLOCK * BLOCK
MIN_COVER = 1e-10  # the least denominator of the depth of a pixel


@dt.func
def corner_of(t, tile, width, height):
    """Return camera, row and column of the first pixel of tile t."""
    across = (width + tile - 1) // tile
    down = (height + tile - 1) // tile
    return t // (across * down), t // across % down * tile, t % across * tile


@dt.func
def pixel_of(t, k, tile, width, height):
    """Return camera, row and column of pixel k of tile t; it may be outside the image."""
    c, i, j = corner_of(t, tile, width, height)
    return c, i + k // tile, j + k % tile


@dt.func
def last_of(t, tile, starts, last):
    """Return the position in the list of tile t where the last of its pixels ended."""
    end = starts[t]
    for k in range(tile * tile):
        c, i, j = pixel_of(t, k, tile, last.shape[2], last.shape[1])
        if i < last.shape[1] and j < last.shape[2]:
            end = max(end, last[c, i, j])
    return end


@dt.func
def offset(centre, i, j):
    """Return the offset of the centre of the pixel in row i and column j from a point [pixels]."""
    return ti.Vector([j + 0.5 - centre.x, i + 0.5 - centre.y])


@dt.func
def sigma_of(d, conic):
    """Return half the square of an offset in standard deviations."""
    return 0.5 * (conic.x * d.x * d.x + conic.z * d.y * d.y) + conic.y * d.x * d.y


@dt.func
def alpha_of(sigma, opacity):
    """Return the part of a pixel that a gaussian covers, or 0 where it is left out."""
    alpha = 0.0
    if 0.0 <= sigma <= MAX_SIGMA:
        alpha = min(MAX_ALPHA, opacity * ti.exp(-sigma))
        if alpha < MIN_ALPHA:
            alpha = 0.0
    return alpha


@dt.kernel
def composite(
    means,
    conics,
    opacities,
    colours,
    depths,
    background,
    order,
    starts,
    tile: int,
    image,
    alpha,
    depth,
    light,
    last,
    absolute,
    in_step: ti.template() = False,
):
    """Blend gaussians front to back, in the order of the lists of their tiles.

    The derivative is a rule: from the end of each pixel back to its first gaussian, undoing the
    change of the transmittance by each, so that only the ends of pixels are kept. A thread takes
    several pixels there, and adds to the gradients of a gaussian once for all of them.

    Args:
        means: Centres [pixels], x to the right and y down, shape (cameras, n) of vec2.
        conics: Inverse covariances xx, xy, yy [1/pixels^2], shape (cameras, n) of vec3.
        opacities: In 0..1, shape (cameras, n).
        colours: Shape (cameras, n) of vectors of any length.
        depths: Shape (cameras, n), or None, which leaves out `depth`.
        background: The colour of the background, shape (), or None for black.
        order: The gaussians of each tile, front to back; see `tiles.TileLists`.
        starts: The start of the list of each tile in `order`, and the end of the last one.
        tile: The side of a tile [pixels].
        image: Is set to the colours, shape (cameras, height, width).
        alpha: Is set to the coverage, shape (cameras, height, width).
        depth: Is set to the expected depth, shape (cameras, height, width), or None.
        light: Is set to 1 - alpha, which the rule needs to its last digit.
        last: Is set to the position in `order` where each pixel ended; of integers.
        absolute: None, or a field that is not read: its gradient is the sum over pixels of the
            absolute gradients of `means`, shape (cameras, n) of vec2. (Ye, Fu, Liu and others,
            AbsGS, 2024.)
        in_step: All threads of a tile begin the adjoint where the last of its pixels ended, so
            that threads of a GPU reach a gaussian together and can sum their contributions.
            Otherwise each begins where its own pixels ended.
    """
    for t, k in ti.ndrange(starts.shape[0] - 1, tile * tile):
        c, i, j = pixel_of(t, k, tile, image.shape[2], image.shape[1])
        if i < image.shape[1] and j < image.shape[2]:
            left = 1.0
            end = starts[t]
            colour = ti.zero(image[c, i, j])
            way = 0.0
            for s in range(starts[t], starts[t + 1]):
                g = order[s]
                sigma = sigma_of(offset(means[c, g], i, j), conics[c, g])
                covered = alpha_of(sigma, opacities[c, g])
                if covered > 0.0:
                    after = left * (1.0 - covered)
                    if after <= MIN_LIGHT:
                        break
                    weight = covered * left
                    colour += weight * colours[c, g]
                    if ti.static(depths is not None):
                        way += weight * depths[c, g]
                    left = after
                    end = s + 1
            if ti.static(background is not None):
                colour += left * background[None]
            image[c, i, j] = colour
            alpha[c, i, j] = 1.0 - left
            if ti.static(depths is not None):
                depth[c, i, j] = way / max(1.0 - left, MIN_COVER)
            light[c, i, j] = left
            last[c, i, j] = end


composite_plain = dt.kernel(composite.function)
"""`composite` without its rule, differentiated like any other kernel."""

composite.natives = {
    "kernel": native_compositing.forward,
    "backward": native_compositing.adjoint,
}


@composite.backward
@dt.kernel
def _(
    means,
    conics,
    opacities,
    colours,
    depths,
    background,
    order,
    starts,
    tile: int,
    image,
    alpha,
    depth,
    light,
    last,
    absolute,
    in_step: ti.template() = False,
):
    across = (tile + BLOCK - 1) // BLOCK
    for t, k in ti.ndrange(starts.shape[0] - 1, across * across):
        c, top, side = corner_of(t, tile, image.shape[2], image.shape[1])
        block = ti.Vector([k // across * BLOCK, k % across * BLOCK])
        # For each pixel: the transmittance after the current gaussian, the end of the pixel, and
        # the light from farther gaussians that passes through this one, times its gradient.
        left = ti.Vector([1.0 for _ in ti.static(range(PIXELS))])
        behind = ti.zero(left)
        d_way = ti.zero(left)
        d_image = behind.outer_product(ti.zero(image[0, 0, 0]))
        ends = ti.Vector([starts[t] for _ in ti.static(range(PIXELS))])
        for q in ti.static(range(PIXELS)):
            row, column = block[0] + q // BLOCK, block[1] + q % BLOCK
            i, j = top + row, side + column
            if row < tile and column < tile and i < image.shape[1] and j < image.shape[2]:
                left[q] = light[c, i, j]
                ends[q] = last[c, i, j]
                seed = image.grad_in[c, i, j]
                d_image[q, :] = seed
                d_left = light.grad_in[c, i, j] - alpha.grad_in[c, i, j]
                if ti.static(depths is not None):
                    d_way[q] = depth.grad_in[c, i, j] / max(1.0 - left[q], MIN_COVER)
                    if 1.0 - left[q] > MIN_COVER:
                        d_left += d_way[q] * depth[c, i, j]
                if ti.static(background is not None):
                    d_left += seed.dot(background[None])
                behind[q] = left[q] * d_left
        end = ends.max()
        if ti.static(in_step):
            end = last_of(t, tile, starts, last)
        for back in range(end - starts[t]):
            s = end - 1 - back
            g = order[s]
            centre = means[c, g]
            conic = conics[c, g]
            opacity = opacities[c, g]
            touched = False
            d_colour = ti.zero(colours[c, g])
            d_depth = 0.0
            d_opacity = 0.0
            d_conic = ti.zero(conic)
            d_mean = ti.zero(centre)
            d_absolute = ti.zero(centre)
            for q in ti.static(range(PIXELS)):
                row, column = block[0] + q // BLOCK, block[1] + q % BLOCK
                d = offset(centre, top + row, side + column)
                sigma = sigma_of(d, conic)
                if s < ends[q] and 0.0 <= sigma <= MAX_SIGMA:
                    fall = ti.exp(-sigma)
                    covered = min(MAX_ALPHA, opacity * fall)
                    if covered >= MIN_ALPHA:
                        touched = True
                        before = left[q] / (1.0 - covered)
                        left[q] = before
                        weight = covered * before
                        seed = d_image[q, :]
                        shade = seed.dot(colours[c, g])
                        d_colour += weight * seed
                        if ti.static(depths is not None):
                            shade += d_way[q] * depths[c, g]
                            d_depth += weight * d_way[q]
                        d_alpha = before * shade - behind[q] / (1.0 - covered)
                        behind[q] += weight * shade
                        if opacity * fall <= MAX_ALPHA:
                            d_opacity += fall * d_alpha
                            d_sigma = -opacity * fall * d_alpha
                            d_conic += d_sigma * ti.Vector(
                                [0.5 * d.x * d.x, d.x * d.y, 0.5 * d.y * d.y]
                            )
                            pull = -d_sigma * ti.Vector(
                                [conic.x * d.x + conic.y * d.y, conic.y * d.x + conic.z * d.y]
                            )
                            d_mean += pull
                            if ti.static(absolute is not None):
                                d_absolute += abs(pull)
            if touched:
                colours.grad_out[c, g] += d_colour
                opacities.grad_out[c, g] += d_opacity
                conics.grad_out[c, g] += d_conic
                means.grad_out[c, g] += d_mean
                if ti.static(depths is not None):
                    depths.grad_out[c, g] += d_depth
                if ti.static(absolute is not None):
                    absolute.grad_out[c, g] += d_absolute
    if ti.static(background is not None):
        for c, i, j in light:
            background.grad_out[None] += light[c, i, j] * image.grad_in[c, i, j]
