"""`dt.geometry.Mesh`: triangles that kernels shoot rays at and find the nearest points of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, brief
from difftile.geometry.search import find_in_box, find_nearest, find_on_ray
from difftile.geometry.topology import adjacent_faces, check_positions, checked_faces
from difftile.geometry.tree import Tree, corner
from difftile.geometry.triangles import nearest


@dt.func
def vector(v):
    """Return a vector of three numbers, also of a tuple."""
    return ti.Vector([v[0], v[1], v[2]])


@dt.func
def face_normal(mesh, world, face):
    """Return the normal of a triangle, of twice its area."""
    a = corner(mesh.vertices, mesh.faces, world, face, 0)
    b = corner(mesh.vertices, mesh.faces, world, face, 1)
    return (b - a).cross(corner(mesh.vertices, mesh.faces, world, face, 2) - a)


@dt.func
def direction_of(v):
    """Return a vector with the length 1, or 0."""
    square = v.norm_sqr()
    return v / ti.sqrt(square) if square > 0.0 else 0.0 * v


@dt.func
def angle_at(mesh, world, face, k):
    """Return the angle of a triangle at a corner [rad]."""
    a = corner(mesh.vertices, mesh.faces, world, face, k)
    e = corner(mesh.vertices, mesh.faces, world, face, (k + 1) % 3) - a
    f = corner(mesh.vertices, mesh.faces, world, face, (k + 2) % 3) - a
    return ti.atan2(e.cross(f).norm(), e.dot(f))


@dt.func
def corner_of(mesh, face, vertex):
    """Return which corner of a face is a vertex."""
    at = mesh.faces[face]
    return 0 if at[0] == vertex else (1 if at[1] == vertex else 2)


@dt.func
def vertex_normal(mesh, world, face, k):
    """Return the sum over the faces at a corner of their normals, weighted by their angles.

    Source: Baerentzen and Aanaes, Signed distance computation using the angle weighted
    pseudonormal, IEEE TVCG 11(3), 2005. Faces are visited by the edges that they share, in one
    direction until they end or begin again, then in the other.
    """
    vertex = mesh.faces[face][k]
    total = angle_at(mesh, world, face, k) * direction_of(face_normal(mesh, world, face))
    around = False
    for side in ti.static(range(2)):
        at, j, going = face, k, not around
        while going:
            at = mesh.adjacent[at][(j + 2) % 3 if ti.static(side == 0) else j]
            going = at >= 0 and at != face
            if at == face:
                around = True
            if going:
                j = corner_of(mesh, at, vertex)
                part = angle_at(mesh, world, at, j)
                total += part * direction_of(face_normal(mesh, world, at))
    return total


@dt.func
def normal_at(mesh, world, face, u, v, edge):
    """Return a normal at a point of a triangle whose side tells inside from outside."""
    normal = direction_of(face_normal(mesh, world, face))
    if edge >= 0 and edge < 3:
        s = u if edge == 0 else (v if edge == 1 else 1.0 - v)
        if s > 0.0 and s < 1.0:
            other = mesh.adjacent[face][edge]
            if other >= 0:
                normal += direction_of(face_normal(mesh, world, other))
        else:
            k = (edge if s <= 0.0 else edge + 1) % 3
            normal = vertex_normal(mesh, world, face, k)
    return normal


@dt.func
def signed_distance(mesh, world, face, p):
    """Return u, v and the signed distance of the point of a triangle nearest to p."""
    a = corner(mesh.vertices, mesh.faces, world, face, 0)
    e = corner(mesh.vertices, mesh.faces, world, face, 1) - a
    f = corner(mesh.vertices, mesh.faces, world, face, 2) - a
    u, v, edge = nearest(a, a + e, a + f, p)
    distance = 0.0
    if edge < 0:
        # The height above the plane passes through 0 without a kink.
        distance = (p - a).dot(e.cross(f).normalized())
        if ti.static(not mesh.signed):
            distance = abs(distance)
    else:
        away = p - a - u * e - v * f
        distance = ti.sqrt(away.norm_sqr()) if away.norm_sqr() > 0.0 else 0.0
        if ti.static(mesh.signed):
            side = dt.stop_grad(normal_at(mesh, world, face, u, v, edge)).dot(dt.stop_grad(away))
            distance = -distance if side < 0.0 else distance
    return u, v, distance


@dt.data_oriented
class Mesh:
    """Triangles, in a tree of boxes, that kernels and funcs ask.

    `ray`, `any_hit`, `closest`, `overlap`, `position` and `normal` are funcs. Which triangle they
    find has no derivative; t, u, v, distances, positions and normals are computed from it, with
    derivatives to vertices, rays and points. Where vertices have moved, call `refit` before the
    next query; `rebuild` where they have moved so far that queries became slow.

    Args:
        vertices: Positions, array of shape (n, 3), or (worlds, n, 3) for as many meshes with the
            same faces, or a field of vectors of shape (n,) or (worlds, n), which the mesh shares.
        faces: Three vertices for each triangle, counter-clockwise seen from outside, integers of
            shape (m, 3).
        signed: Distances are negative behind the faces. Else meshes without an inside are taken
            too, and distances are never negative.
        grad: Give an array of vertices a gradient.

    Attributes:
        vertices: The field of positions.
        faces: The field of faces, three integers each.
        adjacent: The face behind each edge, or -1: edge 0 from the first to the second vertex, 1
            to the third, 2 back.
        closed: Whether every edge has two faces.

    Raises:
        FieldError: The faces are not triangles of these vertices; a coordinate is beyond 1e17;
            `signed`, and an edge has three faces or more, or two in the same direction.
    """

    def __init__(
        self, vertices: Any, faces: Any, *, signed: bool = True, grad: bool = True
    ) -> None:
        self.vertices = _positions(vertices, grad)
        given = faces.to_numpy() if isinstance(faces, dt.Field) else faces
        found = checked_faces(given, self.vertices.shape[-1] if _size(vertices) else 0)
        check_positions(self.vertices.to_numpy())
        around = adjacent_faces(found, signed)
        self.signed = signed
        self.closed = bool(len(found)) and bool((around >= 0).all())
        self._empty = not len(found)
        if self._empty:  # fields have elements; this triangle is never found
            found, around = np.zeros((1, 3), np.int32), np.full((1, 3), -1, np.int32)
        self.faces = dt.from_numpy(found, dtype=dt.vec(3, ti.i32))
        self.adjacent = dt.from_numpy(around, dtype=dt.vec(3, ti.i32))
        self.tree = Tree(self.vertices, self.faces, self._empty)
        self.rebuild()

    def refit(self) -> None:
        """Find the boxes of the tree again, after vertices have moved."""
        with dt.no_grad():
            self.tree.refit()

    def rebuild(self) -> None:
        """Sort the triangles and find the boxes of the tree again."""
        with dt.no_grad():
            self.tree.rebuild()

    @dt.func
    def ray(self, origin, direction, t_min=0.0, t_max=math.inf, world=0):
        """Return the first triangle on a ray.

        A ray meets triangles from both sides, their edges and corners too, and never passes
        between two that share them. Triangles without area, or with a corner that is not finite,
        are not met; a ray with NaN, an infinite number, or the direction 0 meets none.

        Args:
            origin: The start, vec3 [m].
            direction: The direction, vec3 of any length but 0.
            t_min: The least t [lengths of the direction].
            t_max: The largest t.
            world: The world, of a mesh with several.

        Returns:
            A struct: `face`, -1 for none, `t`, infinite for none, `u` and `v`, the weights of the
            second and the third vertex, and `front`, whether the ray comes from outside.
        """
        origin, direction = vector(origin), vector(direction)
        face, t = self._search(origin, direction, t_min, t_max, world, False)
        u, v, front = 0.0, 0.0, False
        if face >= 0:
            a = corner(self.vertices, self.faces, world, face, 0)
            e = corner(self.vertices, self.faces, world, face, 1) - a
            f = corner(self.vertices, self.faces, world, face, 2) - a
            # Moeller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997.
            across, from_a = direction.cross(f), origin - a
            volume = e.dot(across)
            front = volume > 0.0
            if volume != 0.0:
                turn = from_a.cross(e)
                t = f.dot(turn) / volume
                u, v = from_a.dot(across) / volume, direction.dot(turn) / volume
        else:
            t = math.inf
        return ti.Struct(t=t, face=face, u=u, v=v, front=front)

    @dt.func
    def _search(self, origin, direction, t_min, t_max, world, some):
        o, d = dt.stop_grad(origin), dt.stop_grad(direction)
        return find_on_ray(self.tree, world, o, d, dt.stop_grad(t_min), dt.stop_grad(t_max), some)

    @dt.func
    def any_hit(self, origin, direction, t_min=0.0, t_max=math.inf, world=0):
        """Return whether a ray meets a triangle; the arguments are those of `ray`."""
        face, _ = self._search(vector(origin), vector(direction), t_min, t_max, world, True)
        return face >= 0

    @dt.func
    def closest(self, p, reach=math.inf, world=0):
        """Return the point of the mesh that is nearest to a position.

        The distance is negative behind the nearest face; at edges and corners the mean of the
        normals decides, weighted by angles. Its derivative on an edge or a corner itself is 0.

        Args:
            p: The position, vec3 [m].
            reach: The largest distance [m].
            world: The world, of a mesh with several.

        Returns:
            A struct: `face`, -1 if none is within reach or the position is not finite, `u` and
            `v`, as of `ray`, and `distance` [m], infinite for none.
        """
        p = vector(p)
        face = find_nearest(self.tree, world, dt.stop_grad(p), dt.stop_grad(reach))
        u, v, distance = 0.0, 0.0, math.inf
        if face >= 0:
            u, v, distance = signed_distance(self, world, face, p)
        return ti.Struct(face=face, u=u, v=v, distance=distance)

    @dt.func
    def overlap(self, lower, upper, after=-1, world=0):
        """Return the next triangle that has a point in common with a box, or -1.

        `face = mesh.overlap(lower, upper)` is the first one, and
        `face = mesh.overlap(lower, upper, face)` the next, until -1.

        Args:
            lower: The lower corner of the box, vec3 [m].
            upper: The upper corner.
            after: The triangle before the wanted one, -1 for the first.
            world: The world, of a mesh with several.
        """
        low, high = dt.stop_grad(vector(lower)), dt.stop_grad(vector(upper))
        return find_in_box(self.tree, world, low, high, after)

    @dt.func
    def position(self, face, u, v, world=0):
        """Return a point of a triangle, vec3 [m]."""
        a = corner(self.vertices, self.faces, world, face, 0)
        b = corner(self.vertices, self.faces, world, face, 1)
        c = corner(self.vertices, self.faces, world, face, 2)
        return (1.0 - u - v) * a + u * b + v * c

    @dt.func
    def normal(self, face, world=0):
        """Return the normal of a triangle, of length 1; 0 without area."""
        return direction_of(face_normal(self, world, face))

    def __repr__(self) -> str:
        worlds = f"{self.vertices.shape[0]} worlds, " if len(self.vertices.shape) == 2 else ""
        count = 0 if self._empty else self.faces.shape[0]
        kind = "closed" if self.closed else "open"
        return f"<mesh of {count:,} triangles, {worlds}{kind}, {self.vertices.numpy_dtype}>"


def _size(vertices: Any) -> int:
    return vertices.size if isinstance(vertices, dt.Field) else np.asarray(vertices).size


def _positions(vertices: Any, grad: bool) -> dt.Field:
    """Return the field of vertices, made of an array or shared."""
    if isinstance(vertices, dt.Field):
        if vertices.element_shape != (3,) or len(vertices.shape) not in (1, 2):
            raise FieldError(f"Vertices are a field of vec3, not {brief(vertices)}.")
        return vertices
    found = np.asarray(vertices)
    if found.size == 0:
        found = np.full((1, 3), np.nan, np.float32)
    if found.ndim not in (2, 3) or found.shape[-1] != 3 or found.dtype.kind != "f":
        raise FieldError(
            f"Vertices are floats of shape (n, 3) or (worlds, n, 3), not {found.dtype} of shape "
            f"{found.shape}."
        )
    number = ti.f64 if found.dtype == np.float64 else ti.f32
    return dt.from_numpy(found, dtype=dt.vec(3, number), grad=grad)
