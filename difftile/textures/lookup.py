"""One filtered lookup in one level of a texture: its value, and the rule for its derivative.

Weights are products over the axes, w = w_0 w_1 ..., where w_a depends only on the position along
axis a. The border takes the weight of the texels outside, 1 - (1 - o_0) (1 - o_1) ..., where o_a is
the weight outside along axis a.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.textures.wraps import FAR


@dt.func
def size_of(texture, axis, level):
    """Return the number of texels along an axis, on a level or in the data."""
    if ti.static(level is None):
        return texture.data.shape[axis]
    return max(1, texture.data.shape[axis] >> level)


@dt.func
def by_axis(texture, uv):
    """Return a position, or a difference of two, with its components in the order of the axes."""
    if ti.static(texture.dims == 1):
        return ti.Vector([uv])
    ones = ti.Vector([1 for _ in ti.static(range(texture.dims))])
    u = ones * uv[:]  # an error unless there is one component for each axis
    return ti.Vector([u[texture.coordinates[a]] for a in ti.static(range(texture.dims))])


@dt.func
def by_coordinate(texture, u):
    """Return the position whose components in the order of the axes are listed."""
    if ti.static(texture.dims == 1):
        return u[0]
    return ti.Vector([u[texture.coordinates[a]] for a in ti.static(range(texture.dims))])


@dt.func
def in_texels(texture, level, uv):
    """Return a position, or a difference of two, in texels, by axis."""
    n = ti.Vector([size_of(texture, a, level) for a in ti.static(range(texture.dims))])
    return n * by_axis(texture, uv)


@dt.func
def tap_indices(texture, axis, x, n):
    """Return the index of the texel for each tap along an axis, or NONE."""
    first, wrap = texture.filtering.first(x), ti.static(texture.wraps[axis])
    return ti.Vector([wrap.tap(first + k, n) for k in ti.static(range(texture.filtering.taps))])


@dt.func
def tap_weights(texture, axis, x, n):
    """Return the weight of each tap along an axis, and of the border."""
    weights = texture.filtering.weights(x)
    outside = 0.0
    if ti.static(texture.bordered[axis]):
        first = texture.filtering.first(x)
        for k in ti.static(range(texture.filtering.taps)):
            inside = first + k >= 0 and first + k < n
            outside += 0.0 if inside else weights[k]
            weights[k] = weights[k] if inside else 0.0
    return weights, outside


@dt.func
def are_texels(texture, indices):
    """Return whether indices, by axis, belong to a texel rather than to the border."""
    return ti.static(not texture.has_border) or ti.Vector(indices).min() >= 0


@dt.func
def place(texture, level, index):
    """Return the index of a texel in the data or in the chain of levels."""
    if ti.static(level is None):
        return ti.Vector(index)
    at = 0
    for a in ti.static(range(texture.dims)):
        at = at * size_of(texture, a, level) + index[a]
    return ti.Vector([texture.offsets[level] + at])


@dt.func
def product(factors, but=None):
    """Return the product of a list of numbers, or of all of them but one."""
    total = 1.0
    for a in ti.static(range(len(factors))):
        if ti.static(a != but):
            total *= factors[a]
    return total


@dt.func
def inner(texture, a, b):
    """Return the inner product of two texels."""
    if ti.static(texture.channels is None):
        return a * b
    return a.dot(b)


@dt.func
def taps_at(texture, level, uv):
    """Return by axis the indices of the taps, their weights, and the weight of the border."""
    axes = ti.static(range(texture.dims))
    n = [size_of(texture, a, level) for a in axes]
    x = in_texels(texture, level, uv)
    indices = [tap_indices(texture, a, x[a], n[a]) for a in axes]
    taps = [tap_weights(texture, a, x[a], n[a]) for a in axes]
    return indices, [w for w, _ in taps], [outside for _, outside in taps]


@dt.func
def slopes_at(texture, level, uv):
    """Return by axis the derivatives of the weights of the taps and of the border."""
    axes = ti.static(range(texture.dims))
    n = [size_of(texture, a, level) for a in axes]
    x = in_texels(texture, level, uv)
    slopes = [dt.fwd_diff(tap_weights)(texture, a, x[a], n[a], 1.0 * n[a]) for a in axes]
    return [w for w, _ in slopes], [outside for _, outside in slopes]


@dt.func
def lookup(texture, texels, level, uv):
    """Return the filtered value at a position.

    Args:
        texture: The texture.
        texels: Its data, or the chain of its levels.
        level: None for the data, an integer for the chain.
        uv: The position, near the texture: a number or a vector of as many components as axes.
    """
    axes = ti.static(range(texture.dims))
    at, weights, outside = taps_at(texture, level, uv)
    value = ti.zero(texture.border[None])
    for k in ti.static(ti.grouped(ti.ndrange(*texture.grid))):
        tap = [at[a][k[a]] for a in axes]
        if are_texels(texture, tap):
            weight = product([weights[a][k[a]] for a in axes])
            value += weight * texels[place(texture, level, tap)]
    if ti.static(texture.has_border):
        value += (1.0 - product([1.0 - outside[a] for a in axes])) * texture.border[None]
    return value


@lookup.backward
def _(texture, texels, level, uv, d_out):
    axes = ti.static(range(texture.dims))
    at, weights, outside = taps_at(texture, level, uv)
    slopes, slope_outside = slopes_at(texture, level, uv)
    d_axes = ti.Vector([0.0 for a in axes])
    for k in ti.static(ti.grouped(ti.ndrange(*texture.grid))):
        tap = [at[a][k[a]] for a in axes]
        if are_texels(texture, tap):
            here = place(texture, level, tap)
            w = [weights[a][k[a]] for a in axes]
            texels.grad_out[here] += product(w) * d_out
            along = inner(texture, texels[here], d_out)
            for a in ti.static(axes):
                d_axes[a] += slopes[a][k[a]] * product(w, but=a) * along
    if ti.static(texture.has_border):
        kept = [1.0 - outside[a] for a in axes]
        texture.border.grad_out[None] += (1.0 - product(kept)) * d_out
        along = inner(texture, texture.border[None], d_out)
        for a in ti.static(axes):
            d_axes[a] += slope_outside[a] * product(kept, but=a) * along
    if ti.static(texture.dims == 1):
        return d_axes[0]
    return ti.Vector([d_axes[texture.coordinates[a]] for a in axes])


@lookup.forward
def _(texture, texels, level, uv, uv_dot):
    axes = ti.static(range(texture.dims))
    at, weights, outside = taps_at(texture, level, uv)
    slopes, slope_outside = slopes_at(texture, level, uv)
    dots = [
        uv_dot if ti.static(texture.dims == 1) else uv_dot[texture.coordinates[a]] for a in axes
    ]
    value_dot = ti.zero(texture.border[None])
    for k in ti.static(ti.grouped(ti.ndrange(*texture.grid))):
        tap = [at[a][k[a]] for a in axes]
        if are_texels(texture, tap):
            here = place(texture, level, tap)
            w = [weights[a][k[a]] for a in axes]
            value_dot += product(w) * texels.grad_out[here]
            for a in ti.static(axes):
                value_dot += dots[a] * slopes[a][k[a]] * product(w, but=a) * texels[here]
    if ti.static(texture.has_border):
        kept = [1.0 - outside[a] for a in axes]
        value_dot += (1.0 - product(kept)) * texture.border.grad_out[None]
        for a in ti.static(axes):
            value_dot += dots[a] * slope_outside[a] * product(kept, but=a) * texture.border[None]
    return value_dot


@dt.func
def texel(texture, texels, level, index):
    """Return one texel, or the border for an index outside along an axis that has one."""
    axes = ti.static(range(texture.dims))
    given = [index if ti.static(texture.dims == 1) else index[a] for a in axes]
    n = [size_of(texture, a, level) for a in axes]
    at = [texture.wraps[a].texel(given[a], n[a]) for a in axes]
    value = texture.border[None]
    if are_texels(texture, at):
        value = texels[place(texture, level, at)]
    return value


@dt.func
def moved(texture, uv, change):
    """Return the movement in texels, by axis, for a change of the position."""
    return in_texels(texture, None, change)


@dt.func
def nearby(texture, uv):
    """Return a position near the texture with the same value, and whether there is one."""
    axes = ti.static(range(texture.dims))
    u = by_axis(texture, uv)
    near, found = uv, True
    if ti.static(texture.repeats):
        near = by_coordinate(texture, [texture.wraps[a].folded(u[a]) for a in axes])
    if not abs(u).sum() < FAR:  # nor is NaN
        v = by_axis(texture, near)
        near = by_coordinate(texture, [texture.wraps[a].kept(v[a]) for a in axes])
        for a in ti.static(axes):
            found = found and texture.wraps[a].is_somewhere(u[a])
    return near, found
