"""Silhouettes of surfaces that are given by a signed distance, seen along rays.

Let m be the least distance along the ray of a pixel. As a function of the place in the image, m is
negative where the ray meets the surface, and zero on its outline. By the envelope theorem its
derivative, with respect to anything, is the derivative of the distance at a fixed point: the point
of closest approach. `coverage` turns m and its change across the pixel into the part of the pixel
inside the outline, whose derivative is the derivative of the box-filtered image. References:
Vicini, Speierer and Jakob, Differentiable signed distance function rendering, 2022; Bangaru et al.,
Differentiable rendering of neural SDFs through reparameterization, 2022; Wang et al., A simple
approach to differentiable rendering of SDFs, 2024, whose relaxed boundary is the closest approach
as well.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.render.coverage import coverage

STEPS = 1024  # of a ray in one search
SHORTEST = 0.25  # a step, in pixels where it is
CLEAR = 0.05  # pixels by which the distance rises behind a closest approach; less may be rounding
BISECTIONS = 48  # that find where a ray meets the surface
SECTIONS = 48  # that find where it comes closest
GOLDEN = 0.381966011250105
NEAR = 0.75  # pixels from its centre to a corner, and a little more


@dt.func
def silhouette(distance, eye, way, right, down, t, width=1.0):
    """Return the part of a pixel inside the outline of a surface, from 0 to 1.

    Args:
        distance: A func of a point (vec3) that returns its signed distance to the surface, negative
            inside. It may read fields that it captures, or fields of its object.
        eye: The origin of the ray of the pixel.
        way: Its direction, of length 1.
        right: The change of the direction from a pixel to the next one on the right.
        down: The same for the next one below.
        t: How far along the ray its closest approach to the surface is, or its deepest point
            inside. Derivatives do not go through it.
        width: The width of the edge, see `coverage`.
    """
    at = dt.stop_grad(t)
    p, x, y = eye + at * way, 0.5 * at * right, 0.5 * at * down
    slope = ti.Vector([distance(p + x) - distance(p - x), distance(p + y) - distance(p - y)])
    return coverage(distance(p), slope, width)


@dt.func
def hit_distance(distance, eye, way, right, t):
    """Return how far along a ray it meets a surface, with the derivative of the meeting point.

    The value is t after a step of Newton's method, and its derivative follows from the implicit
    function theorem.

    Args:
        distance: See `silhouette`.
        eye: The origin of the ray.
        way: Its direction, of length 1.
        right: See `silhouette`; a pixel is the step for the slope of the distance along the ray.
        t: How far along the ray the surface is. Derivatives do not go through it.
    """
    at = dt.stop_grad(t)
    step = 0.125 * at * dt.stop_grad(right).norm()
    ahead, before = eye + (at + step) * way, eye + (at - step) * way
    slope = dt.stop_grad((distance(ahead) - distance(before)) / (2.0 * step))
    return at - distance(eye + at * way) / ti.min(slope, -1e-3)


@dt.func
def march(distance, eye, way, pixel, start, far):
    """Return where a ray next passes or meets a surface, found by sphere tracing.

    Args:
        distance: See `silhouette`.
        eye: The origin of the ray.
        way: Its direction, of length 1.
        pixel: The width of a pixel at the distance 1; no step is much shorter than that.
        start: How far along the ray the search begins.
        far: How far along the ray it ends.

    Returns:
        How far along the ray the closest approach is; how far the point where the ray meets the
        surface, if it goes in so deep that the whole pixel is inside the outline, and -1 otherwise;
        and how far the search went. The first one is -1 as well if no surface was passed.
    """
    t, before, entry, found, met = start, start, start, -1.0, -1.0
    low, high, least, top = start, start, 0.0, -1.0
    entered, passing = False, False
    for _ in range(STEPS):
        if t >= far:
            break
        f = distance(eye + t * way)
        size = pixel * t
        ahead = t + max(abs(f), SHORTEST * size)
        if not passing:  # a ray that begins inside leaves first, one that goes on falls again
            top = max(top, f)
            if top > 0.0 and f < NEAR * size and f < top - CLEAR * size:
                passing, low, high, least = True, before, ahead, f
        if passing:
            if f < 0.0 and not entered:
                entered, entry = True, t
                outside = before
                for _ in range(BISECTIONS):
                    middle = 0.5 * (outside + entry)
                    if distance(eye + middle * way) < 0.0:
                        entry = middle
                    else:
                        outside = middle
            if f < -NEAR * size:
                found, met = t, entry
                break
            if f < least:
                low, high, least = before, ahead, f
            elif f > max(least, 0.0) + CLEAR * size:
                break
        before, t = t, ahead
    if passing and met < 0.0:  # the golden section finds the closest approach
        inner, outer = low + GOLDEN * (high - low), high - GOLDEN * (high - low)
        f_inner, f_outer = distance(eye + inner * way), distance(eye + outer * way)
        for _ in range(SECTIONS):
            if f_inner < f_outer:
                high, outer, f_outer = outer, inner, f_inner
                inner = low + GOLDEN * (high - low)
                f_inner = distance(eye + inner * way)
            else:
                low, inner, f_inner = inner, outer, f_outer
                outer = high - GOLDEN * (high - low)
                f_outer = distance(eye + outer * way)
        found = 0.5 * (low + high)
    return dt.stop_grad(found), dt.stop_grad(met), dt.stop_grad(t)


@dt.func
def next_surface(distance, eye, way, right, down, start, far):
    """Return the next surface on the ray of a pixel: its coverage and place, with derivatives.

    A loop calls it again from where it ended, to blend the surfaces behind edges, each of which
    covers a part of the light that those in front let through (docs/silhouettes.md).

    Args:
        distance: See `silhouette`.
        eye: The origin of the ray of the pixel.
        way: Its direction, of length 1.
        right: The change of the direction from a pixel to the next one on the right.
        down: The same for the next one below.
        start: How far along the ray the search begins; 0, or where an earlier call ended.
        far: How far along the ray it ends.

    Returns:
        The part of the pixel that the surface covers, 0 if there is none; how far along the ray the
        point is that is seen, where the ray comes closest if the pixel is on an outline; and where
        to go on, `far` or beyond if there is nothing else.
    """
    pixel = dt.stop_grad(max(right.norm(), down.norm()))
    closest, met, end = march(distance, dt.stop_grad(eye), dt.stop_grad(way), pixel, start, far)
    alpha, at = 0.0, end
    if met >= 0.0:
        alpha, at, end = 1.0, hit_distance(distance, eye, way, right, met), far
    elif closest >= 0.0:
        alpha, at = silhouette(distance, eye, way, right, down, closest), closest
    return alpha, at, end
