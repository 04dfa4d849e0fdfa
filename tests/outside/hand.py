"""Tracking of a hand: ADBench's `hand`, the distances of measured points from a skinned model.

The 26 unknowns are rotation and translation of the hand, and four angles of each finger. A bone is
moved relative to its parent by a fixed frame and by the angles of its joint; a vertex follows
several bones. Points correspond to vertices, or to places on triangles that are unknowns as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import taichi as ti

import difftile as dt

ANGLES = 26


@dataclass(frozen=True)
class Model:
    """A hand at rest.

    Attributes:
        parent: The bone that each bone hangs on, earlier than itself, or -1.
        bend: Which unknown bends the joint of a bone, or -1.
        spread: Which unknown turns it sideways, or -1.
        frame: The frame of a bone in its parent's at rest, a rotation, shape (bones,).
        origin: Its origin there, shape (bones,).
        inverse_frame: The inverse of its frame in space at rest, a rotation.
        inverse_origin: The translation of that inverse.
        vertex: Positions at rest, shape (vertices,).
        weight: How far each vertex follows each bone, shape (bones, vertices).
    """

    parent: Any
    bend: Any
    spread: Any
    frame: Any
    origin: Any
    inverse_frame: Any
    inverse_origin: Any
    vertex: Any
    weight: Any


@dt.func
def rotation(r):
    """The rotation about an axis by an angle, the length of r (the formula of Rodrigues)."""
    turn, angle = ti.Matrix.identity(float, 3), r.norm()
    if angle > 1e-4:
        a, c, s = r / angle, ti.cos(angle), ti.sin(angle)
        cross = ti.Matrix([[0.0, -a.z, a.y], [a.z, 0.0, -a.x], [-a.y, a.x, 0.0]])
        turn = c * ti.Matrix.identity(float, 3) + s * cross + (1.0 - c) * a.outer_product(a)
    return turn


@dt.func
def joint(bend, spread):
    """A turn about x, and then one about z."""
    c, s, d, e = ti.cos(bend), ti.sin(bend), ti.cos(spread), ti.sin(spread)
    return ti.Matrix([[d, -e * c, e * s], [e, d * c, -d * s], [0.0, s, c]])


@dt.kernel
def pose(theta, hand, turn, shift):
    """Store the frame of each bone in space."""
    ti.loop_config(serialize=True)
    for b in hand.parent:
        bend, spread = 0.0, 0.0
        if hand.bend[b] >= 0:
            bend = theta[hand.bend[b]]
        if hand.spread[b] >= 0:
            spread = theta[hand.spread[b]]
        frame, origin = hand.frame[b] @ joint(bend, spread), hand.origin[b]
        if hand.parent[b] >= 0:
            p = min(hand.parent[b], b - 1)
            turn[b] = turn[p] @ frame
            shift[b] = turn[p] @ origin + shift[p]
        else:
            turn[b] = frame
            shift[b] = origin


@dt.kernel
def skin(theta, hand, turn, shift, x):
    """Store where the vertices are."""
    for v in x:
        moved = ti.Vector([0.0, 0.0, 0.0])
        for b in range(hand.weight.shape[0]):
            local = hand.inverse_frame[b] @ hand.vertex[v] + hand.inverse_origin[b]
            moved += hand.weight[b, v] * (turn[b] @ local + shift[b])
        r = ti.Vector([theta[0], theta[1], theta[2]])
        x[v] = rotation(r) @ moved + ti.Vector([theta[3], theta[4], theta[5]])


@dt.kernel
def subtract_vertices(x, points, which, errors):
    for i in which:
        errors[i] = points[i] - x[which[i]]


@dt.kernel
def subtract_places(x, points, triangles, places, errors):
    for i in points:
        u, v = places[i, 0], places[i, 1]
        on_hand = u * x[triangles[i, 0]] + v * x[triangles[i, 1]]
        errors[i] = points[i] - on_hand - (1.0 - u - v) * x[triangles[i, 2]]


def vertices(theta: dt.Field, model: Model) -> dt.Field:
    """Return where the vertices are."""
    turn, shift = dt.zeros_like(model.frame), dt.zeros_like(model.origin)
    pose(theta, model, turn, shift)
    x = dt.zeros_like(model.vertex)
    skin(theta, model, turn, shift, x)
    return x


def simple_errors(theta: dt.Field, model: Model, points: dt.Field, which: dt.Field) -> dt.Field:
    """Return points less the vertices that they correspond to."""
    errors = dt.zeros_like(points)
    subtract_vertices(vertices(theta, model), points, which, errors)
    return errors


def complicated_errors(
    theta: dt.Field, places: dt.Field, model: Model, points: dt.Field, triangles: dt.Field
) -> dt.Field:
    """Return points less places on triangles, shape (points, 2), whose corners are vertices."""
    errors = dt.zeros_like(points)
    subtract_places(vertices(theta, model), points, triangles, places, errors)
    return errors
