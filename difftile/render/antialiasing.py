"""Silhouettes in an image of triangles: pixels on an edge blend both sides by what each covers.

As in Laine et al., Modular primitives for high-performance differentiable rendering, 2020, section
3.5: where two neighbours show different surfaces, the one in front ends at an edge between their
middles, and only its position has a derivative. Two things differ. The edge is found by a walk from
triangle to triangle towards the neighbour, so that triangles may be smaller than pixels. And the
weight is the area beside the edge by `coverage`, in both pixels, in place of a linear function of
its distance in one: for a straight edge each pixel is the mean over its square.
"""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti
from difftile.render.coverage import coverage
from difftile.render.homogeneous import seen_from, side, side_changes, sides_of

vec2 = ti.math.vec2
STEPS = 64  # triangles from the middle of a pixel to the middle of the next one, at most
AROUND = ((0, 1), (0, -1), (1, 0), (-1, 0))  # the rows and columns of neighbours


@dt.func
def opposite_side(projected, faces, camera, face, a, b, x, y):
    """Return on which side of the plane through the eye and an edge the third vertex is."""
    at = faces[face]
    third = at[0] + at[1] + at[2] - a - b
    p, q = seen_from(projected, camera, a, x, y), seen_from(projected, camera, b, x, y)
    return p.cross(q).dot(seen_from(projected, camera, third, x, y))


@dt.func
def is_fold(projected, faces, adjacent, camera, face, edge):
    """Return whether a triangle ends at an edge as the camera sees it, or turns back behind it."""
    other = adjacent[face][edge]
    fold = True
    if other >= 0:
        a, b = faces[face][edge], faces[face][(edge + 1) % 3]
        p = projected[camera, a]
        x, y = p[0] / p[2], p[1] / p[2]
        if p[2] == 0.0:
            x, y = 0.0, 0.0
        here = opposite_side(projected, faces, camera, face, a, b, x, y)
        there = opposite_side(projected, faces, camera, other, a, b, x, y)
        fold = here * there > 0.0
    return fold


@dt.func
def end_of_surface(projected, faces, adjacent, camera, face, start, step):
    """Return the edge at which a surface ends between a pixel and its neighbour.

    Args:
        projected: The vertices.
        faces: The triangles.
        adjacent: The triangles behind their edges.
        camera: The camera.
        face: The triangle at the first pixel.
        start: The middle of the first pixel.
        step: From there to the middle of the neighbour.

    Returns:
        The triangle and the number of the edge, or -1 and 0.
    """
    at, entry, found, edge = face, -1, -1, 0
    for _ in range(STEPS):
        near, _ = sides_of(projected, faces, camera, at, start[0], start[1])
        far, _ = sides_of(projected, faces, camera, at, start[0] + step[0], start[1] + step[1])
        sign = 1.0 if far[0] + far[1] + far[2] > 0.0 else -1.0
        if ti.abs(near.sum()) > ti.abs(far.sum()):
            sign = 1.0 if near[0] + near[1] + near[2] > 0.0 else -1.0
        leaves, exit = 1.0, -1
        for k in ti.static(range(3)):  # the edge opposite to corner k begins at the one after it
            before, after = sign * near[k], sign * far[k]
            if after < 0.0 and before > after and (k + 1) % 3 != entry:
                t = before / (before - after)
                if t <= leaves:
                    leaves, exit = t, (k + 1) % 3
        if exit < 0:
            break
        if is_fold(projected, faces, adjacent, camera, at, exit):
            found, edge = at, exit
            break
        a, other = faces[at][exit], adjacent[at][exit]
        # The neighbour has the same edge in the other direction, if it has the same orientation.
        begins = 0 if faces[other][0] == a else (1 if faces[other][1] == a else 2)
        b = faces[at][(exit + 1) % 3]
        entry = begins if faces[other][(begins + 1) % 3] == b else (begins + 2) % 3
        at = other
    return found, edge


@dt.func
def depth_at(projected, faces, camera, face, x, y):
    """Return the depth of a triangle at a point of the image, infinite for none."""
    depth = math.inf
    if face >= 0:
        sides, depths = sides_of(projected, faces, camera, face, x, y)
        depth = sides.dot(depths) / sides.sum()
    return depth


@dt.func
def share_of_neighbour(projected, faces, adjacent, camera, face, other, at, step):
    """Return the part of a pixel in which the surface of a neighbour is seen.

    Args:
        projected: The vertices.
        faces: The triangles.
        adjacent: The triangles behind their edges.
        camera: The camera.
        face: The triangle of the pixel, or -1.
        other: The triangle of the neighbour, or -1.
        at: The middle of the pixel.
        step: From there to the middle of the neighbour.
    """
    there = at + step
    here_depth = depth_at(projected, faces, camera, face, at[0], at[1])
    there_depth = depth_at(projected, faces, camera, other, there[0], there[1])
    is_front = here_depth < there_depth or (here_depth == there_depth and face < other)
    owner, edge, of_here = -1, 0, False
    for turn in ti.static(range(2)):  # the surface in front first
        of_here_now = is_front if ti.static(turn == 0) else not is_front
        if owner < 0:
            of_here = of_here_now
            if of_here and face >= 0:
                owner, edge = end_of_surface(projected, faces, adjacent, camera, face, at, step)
            if not of_here and other >= 0:
                owner, edge = end_of_surface(
                    projected, faces, adjacent, camera, other, there, -step
                )
    share = 0.0
    if owner >= 0:
        a, b = faces[owner][edge], faces[owner][(edge + 1) % 3]
        p = seen_from(projected, camera, a, at[0], at[1])
        q = seen_from(projected, camera, b, at[0], at[1])
        slope = side_changes(p, q)
        across = ti.abs(slope[0]) >= ti.abs(slope[1])
        if (across and step[0] != 0.0) or (not across and step[1] != 0.0):
            third = opposite_side(projected, faces, camera, owner, a, b, at[0], at[1])
            sign = -1.0 if third > 0.0 else 1.0
            covered = coverage(sign * side(p, q), sign * slope)
            share = 1.0 - covered if of_here else covered
    return share


@dt.kernel
def blend(projected, faces, adjacent, found, layer: int, image, out):
    """Write an image whose pixels on silhouettes are blended with their neighbours."""
    for camera, i, j in out:
        face, colour = found[layer, camera, i, j], image[camera, i, j]
        kept = vec2(1.0, 1.0)  # along rows and along columns
        shares, beside = 0.0, 0.0 * colour
        for k in ti.static(range(4)):
            row, column = i + AROUND[k][0], j + AROUND[k][1]
            if 0 <= row < found.shape[2] and 0 <= column < found.shape[3]:
                other = found[layer, camera, row, column]
                if other != face:
                    step = vec2(AROUND[k][1], AROUND[k][0])
                    at = vec2(j + 0.5, i + 0.5)
                    share = share_of_neighbour(
                        projected, faces, adjacent, camera, face, other, at, step
                    )
                    kept[k // 2] -= share
                    shares += share
                    beside += share * image[camera, row, column]
        if shares > 0.0:
            # The parts that rows and columns keep are independent, as at the corner of a box.
            own = max(kept[0], 0.0) * max(kept[1], 0.0)
            colour = own * colour + (1.0 - own) / shares * beside
        out[camera, i, j] = colour
