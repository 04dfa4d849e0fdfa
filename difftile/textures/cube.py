"""Cube maps: six square faces around a point, sampled by direction, without seams.

The faces come in the order +x, -x, +y, -y, +z, -z, oriented as in the table of OpenGL, Direct3D and
Vulkan, which `to_face` implements. Texel (row, column) of a face of n x n texels has its centre at
s = (column + 1/2) / n, t = (row + 1/2) / n.

A tap outside its face takes the texel of the adjacent face. Where three faces meet, the missing
fourth texel is the mean of the other three (Vulkan 1.3, 16.5.4 Cube Map Edge Handling), so values
are continuous across edges and corners. Derivatives jump there, as they do between texels; on an
edge they belong to the face whose axis comes first.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.textures.directions import (
    divided,
    is_direction,
    is_moderate,
    of_moderate_length,
    size_of,
)
from difftile.textures.lookup import inner


@dt.func
def to_face(face, v):
    """Return the components of a vector along the s axis, the t axis and the normal of a face."""
    sign = 1 - 2 * (face % 2)
    if face < 2:
        return ti.Vector([-sign * v.z, -v.y, sign * v.x])
    if face < 4:
        return ti.Vector([v.x, sign * v.z, sign * v.y])
    return ti.Vector([sign * v.x, -v.y, sign * v.z])


@dt.func
def from_face(face, v):
    """Return the inverse of `to_face`."""
    sign = 1 - 2 * (face % 2)
    if face < 2:
        return ti.Vector([sign * v.z, -v.y, -sign * v.x])
    if face < 4:
        return ti.Vector([v.x, sign * v.z, sign * v.y])
    return ti.Vector([sign * v.x, -v.y, sign * v.z])


@dt.func
def face_of(v):
    """Return the face that a vector points to; on an edge the one whose axis comes first."""
    x, y, z = abs(v.x), abs(v.y), abs(v.z)
    face = 4 + int(v.z < 0)
    if x >= y and x >= z:
        face = int(v.x < 0)
    elif y >= z:
        face = 2 + int(v.y < 0)
    return face


@dt.func
def texel_near(face, row, column, n):
    """Return the texel (face, row, column) for one that may be just outside its face.

    The surface continues around the edge: in units of half a texel from the centre of the cube, the
    centre of a texel is n away along one axis and less along the others; a texel that is outside by
    some amount is as much nearer along that axis. Past a corner there is no texel: the face is -1.
    """
    s, t = 2 * column + 1 - n, 2 * row + 1 - n
    texel = ti.Vector([face, row, column])
    if min(abs(s), abs(t)) > n:
        texel[0] = -1
    elif max(abs(s), abs(t)) > n:
        out = 2 * n - max(abs(s), abs(t))
        centre = from_face(face, ti.Vector([max(-n, min(s, n)), max(-n, min(t, n)), out]))
        other = face_of(centre)
        along = to_face(other, centre)
        texel = ti.Vector([other, (along.y + n - 1) // 2, (along.x + n - 1) // 2])
    return texel


@dt.func
def place_on(face, v):
    """Return the point s, t in 0..1 where a vector meets the face that it points to."""
    along = to_face(face, v)
    return 0.5 * along.xy / along.z + 0.5


@dt.func
def edge_of(texture, level):
    """Return the number of texels along an edge, on a level or in the data."""
    if ti.static(level is None):
        return texture.data.shape[1]
    return max(1, texture.data.shape[1] >> level)


@dt.func
def held_at(texture, level, face, row, column):
    """Return the index of a texel in the data or in the chain of levels."""
    if ti.static(level is None):
        return ti.Vector([face, row, column])
    n = edge_of(texture, level)
    return ti.Vector([texture.offsets[level] + (face * n + row) * n + column])


@dt.func
def square_around(place, n):
    """Return the first row and column of the four texels around a point, and its offset in them.

    Args:
        place: s and t.
        n: Texels along an edge.
    """
    x = n * place - 0.5
    low = ti.floor(x)
    # These stay inside even where the point is NaN.
    row, column = max(-1, min(int(low.y), n - 1)), max(-1, min(int(low.x), n - 1))
    return row, column, x - low


@dt.func
def weights_of(k, f):
    """Return the weights of tap k, (row, column) = (k // 2, k % 2), along s and along t."""
    return f.x if k % 2 == 1 else 1.0 - f.x, f.y if k // 2 == 1 else 1.0 - f.y


@dt.func
def weight_outside(first, f, n):
    """Return the weight of the tap outside the face along one axis, and its slope."""
    if first < 0:
        return 1.0 - f, -1.0
    if first >= n - 1:
        return f, 1.0
    return 0.0, 0.0


@dt.func
def share_of_missing(row, column, f, n):
    """Return the weight added to each texel at a corner for the missing one, and its slopes."""
    s, along_s = weight_outside(column, f.x, n)
    t, along_t = weight_outside(row, f.y, n)
    return ti.Vector([s * t, along_s * t, s * along_t]) / 3.0


@dt.func
def lookup_on_face(texture, texels, level, face, place):
    """Return the value between the four texels around a point on a face."""
    n = edge_of(texture, level)
    row, column, f = square_around(place, n)
    value = ti.zero(texture.border[None])
    if min(row, column) >= 0 and max(row, column) < n - 1:
        for k in ti.static(range(4)):
            s, t = weights_of(k, f)
            here = held_at(texture, level, face, row + k // 2, column + k % 2)
            value += s * t * texels[here]
    else:
        extra = share_of_missing(row, column, f, n)
        for k in range(4):
            s, t = weights_of(k, f)
            texel = texel_near(face, row + k // 2, column + k % 2, n)
            if texel[0] >= 0:
                here = held_at(texture, level, texel[0], texel[1], texel[2])
                value += (s * t + extra[0]) * texels[here]
    return value


@lookup_on_face.backward
def _(texture, texels, level, face, place, d_out):
    n = edge_of(texture, level)
    row, column, f = square_around(place, n)
    d_x = ti.Vector([0.0, 0.0])
    if min(row, column) >= 0 and max(row, column) < n - 1:
        for k in ti.static(range(4)):
            s, t = weights_of(k, f)
            here = held_at(texture, level, face, row + k // 2, column + k % 2)
            texels.grad_out[here] += s * t * d_out
            along = ti.Vector([(2 * (k % 2) - 1) * t, (2 * (k // 2) - 1) * s])
            d_x += inner(texture, texels[here], d_out) * along
    else:
        extra = share_of_missing(row, column, f, n)
        for k in range(4):
            s, t = weights_of(k, f)
            texel = texel_near(face, row + k // 2, column + k % 2, n)
            if texel[0] >= 0:
                here = held_at(texture, level, texel[0], texel[1], texel[2])
                texels.grad_out[here] += (s * t + extra[0]) * d_out
                along = ti.Vector([(2 * (k % 2) - 1) * t, (2 * (k // 2) - 1) * s]) + extra.yz
                d_x += inner(texture, texels[here], d_out) * along
    return n * d_x


@dt.func
def texel_on_cube(texture, texels, level, index):
    """Return one texel; rows and columns outside are clamped."""
    last = edge_of(texture, level) - 1
    row, column = max(0, min(index[1], last)), max(0, min(index[2], last))
    return texels[held_at(texture, level, max(0, min(index[0], 5)), row, column)]


@dt.func
def lookup_on_cube(texture, texels, level, direction):
    """Return the filtered value in a direction of moderate length.

    Args:
        texture: The texture.
        texels: Its data, or the chain of its levels.
        level: None for the data, an integer for the chain.
        direction: A vector of three.
    """
    face = face_of(direction)
    place = place_on(face, direction)
    if ti.static(texture.filter == "linear"):
        return lookup_on_face(texture, texels, level, face, place)
    at = edge_of(texture, level) * place
    return texel_on_cube(texture, texels, level, ti.Vector([face, int(at.y), int(at.x)]))


@dt.func
def moved_on_cube(texture, direction, change):
    """Return the movement on the face, in texels, for a change of the direction."""
    v, by = of_moderate_length(direction), divided(change, size_of(direction))
    return edge_of(texture, None) * dt.fwd_diff(place_on)(face_of(v), v, by)


@dt.func
def moderate(texture, direction):
    """Return a vector of moderate length in the same direction, and whether there is one."""
    v, found = direction, True
    if not is_moderate(abs(direction).sum()):
        v, found = of_moderate_length(direction), is_direction(direction)
    return v, found
