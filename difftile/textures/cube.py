"""Cube maps: six square faces around a point, sampled by direction, without seams.

Faces stand in the order +x, -x, +y, -y, +z, -z and lie as the table of OpenGL, Direct3D and Vulkan
says, which `to_face` holds. Texel (row, column) of a face of n x n texels has its centre at
s = (column + 1/2) / n, t = (row + 1/2) / n.

A tap beside its face takes the texel of the face next to it. Where three faces meet, the texel that
would be the fourth is the mean of the other three (Vulkan 1.3, 16.5.4 Cube Map Edge Handling).
Values are continuous across edges and corners then. Derivatives jump there, as they do between
texels; on an edge they are those of the face whose axis comes first.
"""

from __future__ import annotations

from difftile.launch.rules import fwd_diff
from difftile.runtime.funcs import func
from difftile.substrate.language import ti
from difftile.textures.lookup import inner


@func
def to_face(face, v):
    """Return a vector along the axes of a face: that of s, that of t, and outwards."""
    sign = 1 - 2 * (face % 2)
    if face < 2:
        return ti.Vector([-sign * v.z, -v.y, sign * v.x])
    if face < 4:
        return ti.Vector([v.x, sign * v.z, sign * v.y])
    return ti.Vector([sign * v.x, -v.y, sign * v.z])


@func
def from_face(face, v):
    """Return the vector that `to_face` turns into `v`."""
    sign = 1 - 2 * (face % 2)
    if face < 2:
        return ti.Vector([sign * v.z, -v.y, -sign * v.x])
    if face < 4:
        return ti.Vector([v.x, sign * v.z, sign * v.y])
    return ti.Vector([sign * v.x, -v.y, sign * v.z])


@func
def face_of(v):
    """Return the face that a vector points to; on an edge that whose axis comes first."""
    x, y, z = abs(v.x), abs(v.y), abs(v.z)
    face = 4 + int(v.z < 0)
    if x >= y and x >= z:
        face = int(v.x < 0)
    elif y >= z:
        face = 2 + int(v.y < 0)
    return face


@func
def around_edge(face, row, column, n):
    """Return the texel (face, row, column) that stands for one just beside its face.

    In units of half a texel from the centre of the cube, the centre of a texel is n away along one
    axis and less along the others. That of one beside its face goes as far down around the edge.
    """
    s, t = 2 * column + 1 - n, 2 * row + 1 - n
    out = 2 * n - max(abs(s), abs(t))
    centre = from_face(face, ti.Vector([max(-n, min(s, n)), max(-n, min(t, n)), out]))
    other = face_of(centre)
    along = to_face(other, centre)
    return ti.Vector([other, (along.y + n - 1) // 2, (along.x + n - 1) // 2])


@func
def texels_around(face, row, column, n):
    """Return the four texels of a square as rows (face, row, column), and which of them is missing.

    The missing one, -1 if there is none, is given as the one across.

    Args:
        face: The face.
        row: That of the first two texels, from -1 to n - 1.
        column: That of the first and the third.
        n: Texels along an edge.
    """
    found = ti.Matrix([[face, row + k // 2, column + k % 2] for k in ti.static(range(4))])
    missing = -1
    if min(row, column) < 0 or max(row, column) >= n - 1:
        for k in range(4):
            beside_row = found[k, 1] < 0 or found[k, 1] >= n
            beside_column = found[k, 2] < 0 or found[k, 2] >= n
            if beside_row and beside_column:
                missing = k
            elif beside_row or beside_column:
                texel = around_edge(face, found[k, 1], found[k, 2], n)
                for c in ti.static(range(3)):
                    found[k, c] = texel[c]
        if missing >= 0:
            for c in ti.static(range(3)):
                found[missing, c] = found[3 - missing, c]
    return found, missing


@func
def place_on(face, v):
    """Return where a vector that points to a face meets it: s and t, from 0 to 1."""
    along = to_face(face, v)
    return 0.5 * along.xy / along.z + 0.5


@func
def edge_of(texture, level):
    """Return the texels along an edge, on a level or in the data."""
    if ti.static(level is None):
        return texture.data.shape[1]
    return max(1, texture.data.shape[1] >> level)


@func
def held_at(texture, level, face, row, column):
    """Return where a texel is held, in the data or in the chain of levels."""
    if ti.static(level is None):
        return ti.Vector([face, row, column])
    n = edge_of(texture, level)
    return ti.Vector([texture.offsets[level] + (face * n + row) * n + column])


@func
def taps(face, x, n):
    """Return the texels around a position, their weights, and the slopes of these along s and t.

    Args:
        face: The face.
        x: The position on it, in texels.
        n: Texels along an edge.
    """
    low = ti.floor(x - 0.5)
    f = x - 0.5 - low
    g = 1.0 - f
    # Where the position is no number these stay inside.
    row, column = max(-1, min(int(low.y), n - 1)), max(-1, min(int(low.x), n - 1))
    found, missing = texels_around(face, row, column, n)
    weights = ti.Vector([g.x * g.y, f.x * g.y, g.x * f.y, f.x * f.y])
    along_s = ti.Vector([-g.y, g.y, -f.y, f.y])
    along_t = ti.Vector([-g.x, -f.x, g.x, f.x])
    if missing >= 0:
        weights = shared_out(weights, missing)
        along_s = shared_out(along_s, missing)
        along_t = shared_out(along_t, missing)
    return found, weights, along_s, along_t


@func
def shared_out(weights, missing):
    """Return weights of which the missing texel has given its own to the others."""
    shared = weights + weights[missing] / 3.0
    shared[missing] = 0.0
    return shared


@func
def lookup_on_face(texture, texels, level, face, place):
    """Return the value between the four texels around a place on a face."""
    n = edge_of(texture, level)
    found, weights, _, _ = taps(face, n * place, n)
    value = ti.zero(texture.border[None])
    for k in ti.static(range(4)):
        value += weights[k] * texels[held_at(texture, level, found[k, 0], found[k, 1], found[k, 2])]
    return value


@lookup_on_face.backward
def _(texture, texels, level, face, place, d_out):
    n = edge_of(texture, level)
    found, weights, along_s, along_t = taps(face, n * place, n)
    d_x = ti.Vector([0.0, 0.0])
    for k in ti.static(range(4)):
        here = held_at(texture, level, found[k, 0], found[k, 1], found[k, 2])
        texels.grad_out[here] += weights[k] * d_out
        d_x += inner(texture, texels[here], d_out) * ti.Vector([along_s[k], along_t[k]])
    return n * d_x


@func
def texel_on_cube(texture, texels, level, index):
    """Return one texel; a row or column outside is the nearest that is not."""
    last = edge_of(texture, level) - 1
    row, column = max(0, min(index[1], last)), max(0, min(index[2], last))
    return texels[held_at(texture, level, max(0, min(index[0], 5)), row, column)]


@func
def lookup_on_cube(texture, texels, level, direction):
    """Return the filtered value in a direction of any length; 0 and no gradient if that is 0.

    Args:
        texture: What is sampled.
        texels: Its data, or the chain of its levels.
        level: None for the data, an integer for the chain.
        direction: A vector of three.
    """
    value = ti.zero(texture.border[None])
    if abs(direction).max() != 0:
        face = face_of(direction)
        place = place_on(face, direction)
        if ti.static(texture.filter == "linear"):
            value = lookup_on_face(texture, texels, level, face, place)
        else:
            at = edge_of(texture, level) * place
            index = ti.Vector([face, int(at.y), int(at.x)])
            value = texel_on_cube(texture, texels, level, index)
    return value


@func
def moved_on_cube(texture, direction, change):
    """Return how far a change of the direction moves the position on its face, in texels."""
    moved = ti.Vector([0.0, 0.0])
    if abs(direction).max() != 0:
        moved = edge_of(texture, None) * fwd_diff(place_on)(face_of(direction), direction, change)
    return moved
