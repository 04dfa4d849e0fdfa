"""How far two convex cores are apart, or how deep they are within each other.

The difference of two cores, all points of the first less those of the second, is convex, and holds
the origin if they overlap. GJK finds the point of it that is nearest to the origin, as that of a
simplex of its vertices (Gilbert, Johnson and Keerthi 1988); if the origin is inside, EPA expands a
polytope of vertices until the face nearest to the origin is one of the difference itself (van den
Bergh 2001). Polytopes are found exactly, curved cores up to a tolerance; `features` goes on from
there. Nothing here has a derivative.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.quaternions import vec3
from difftile.worlds.shapes import Shapes

GJK_STEPS, EPA_STEPS = 64, 64
VERTICES, FACES = EPA_STEPS + 4, 2 * EPA_STEPS + 8  # a polytope has 2 v - 4 triangles
APART, NEAR, DEEP = range(3)  # further than wanted; up to that; overlapping
_FAR = 1e30


@dt.func
def barycentric(a, b, c):
    """Return the weights of b and c at the point of a plane nearest to the origin, and its square.

    The square of the distance is _FAR for three points on a line.
    """
    u, v = b - a, c - a
    normal = u.cross(v)
    square = normal.norm_sqr()
    s, t, dist = 0.0, 0.0, _FAR
    if square > 1e-26 * u.norm_sqr() * v.norm_sqr():
        s = -normal.dot(a.cross(v)) / square
        t = -normal.dot(u.cross(a)) / square
        dist = a.dot(normal) ** 2 / square
    return s, t, dist


@dt.data_oriented(frozen=True)
class ConvexSearch:
    """The search for the nearest features of two cores.

    A list of vertices of the difference is a tuple of arrays of VERTICES elements: the vertices,
    their points of both cores, each in the frame of its geom, and the numbers of these points.

    Args:
        shapes: The support functions.
    """

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes

    @dt.func
    def vertices(self):
        """Return an empty list of vertices."""
        return (
            dt.local(VERTICES, vec3),
            dt.local(VERTICES, vec3),
            dt.local(VERTICES, vec3),
            dt.local(VERTICES, int),
            dt.local(VERTICES, int),
        )

    @dt.func
    def extend(self, m, pair, apart, axes, way, known, k):
        """Set vertex k to the one that is furthest in a direction.

        Args:
            m: The parameters of the model.
            pair: The geoms.
            apart: The centre of the first less that of the second [m].
            axes: Their orientations.
            way: The direction.
            known: The list of vertices.
            k: The place.
        """
        before = max(k - 1, 0)
        one, i = self.shapes.furthest(m, pair[0], axes[0].transpose() @ way, known[3][before])
        other, j = self.shapes.furthest(m, pair[1], -(axes[1].transpose() @ way), known[4][before])
        known[0][k] = apart + axes[0] @ one - axes[1] @ other
        known[1][k] = one
        known[2][k] = other
        known[3][k] = i
        known[4][k] = j

    @dt.func
    def copy(self, known, to, k):
        """Copy vertex k to another place."""
        if to != k:
            for n in ti.static(range(5)):
                known[n][to] = known[n][k]

    @dt.func
    def reduce(self, known, count, weights):
        """Reduce a simplex to the part with the point nearest to the origin.

        The last vertex is the latest, and belongs to that part.

        Args:
            known: The list of vertices.
            count: How many the simplex has, 1 to 4.
            weights: Result: of the vertices that are left; their sum is 1.

        Returns:
            The number of vertices that are left: 4 if the origin is inside.
        """
        last = count - 1
        p = known[0][last]
        least, one, other, s, t = p.norm_sqr(), -1, -1, 0.0, 0.0
        for i in range(last):
            q = known[0][i] - p
            x = -p.dot(q)
            if x > 0.0 and x < q.norm_sqr():
                x = x / q.norm_sqr()
                square = (p + x * q).norm_sqr()
                if square < least:
                    least, one, other, s = square, i, -1, x
            for j in range(i):
                x, y, square = barycentric(p, known[0][j], known[0][i])
                if x > 0.0 and y > 0.0 and x + y < 1.0 and square < least:
                    least, one, other, s, t = square, j, i, x, y
        inside = False
        if count == 4:
            a, b, c = known[0][0] - p, known[0][1] - p, known[0][2] - p
            whole = a.dot(b.cross(c))
            x, y, z = -p.dot(b.cross(c)), -p.dot(c.cross(a)), -p.dot(a.cross(b))
            if whole < 0.0:
                whole, x, y, z = -whole, -x, -y, -z
            inside = x > 0.0 and y > 0.0 and z > 0.0 and x + y + z < whole
        left = count
        if not inside:
            left = 1
            if one >= 0:
                self.copy(known, 0, one)
                weights[0] = s
                left = 2
            if other >= 0:
                self.copy(known, 1, other)
                weights[1] = t
                left = 3
            if other < 0:
                t = 0.0
            self.copy(known, left - 1, last)
            weights[left - 1] = 1.0 - s - t
        return left

    @dt.func
    def nearest(self, m, pair, apart, axes, reach, known, weights):
        """Find the simplex whose point is nearest to the origin.

        Args:
            m, pair, apart, axes: As for `extend`.
            reach: The distance beyond which nothing is needed [m].
            known: The list of vertices; result: the simplex.
            weights: Result: of its vertices.

        Returns:
            APART, NEAR or DEEP, the number of vertices, and the point if they are not DEEP.
        """
        least = m.rounding[None]
        x, count, found = apart, 0, NEAR
        if x.norm_sqr() <= least * least:
            x = ti.Vector([1.0, 0.0, 0.0])
        for step in range(GJK_STEPS):
            length = x.norm()
            self.extend(m, pair, apart, axes, -x / length, known, count)
            w = known[0][count]
            low = x.dot(w) / length
            if low > reach:
                found = APART
                break
            if count > 0 and length - low <= 8.0 * least * max(length, 1.0):
                break
            repeated = False
            for k in range(count):
                if (w - known[0][k]).norm_sqr() <= least * least * w.norm_sqr():
                    repeated = True
            if repeated:
                break
            count = self.reduce(known, count + 1, weights)
            y, large = ti.Vector([0.0, 0.0, 0.0]), 0.0
            for k in range(count):
                y += weights[k] * known[0][k]
                large = max(large, known[0][k].norm_sqr())
            if count == 4 or y.norm_sqr() <= 16.0 * least * least * large:
                found = DEEP
                break
            if y.norm_sqr() >= x.norm_sqr() and step > 0:
                break
            x = y
        return found, count, x

    @dt.func
    def complete(self, m, pair, apart, axes, known, count):
        """Add vertices to a simplex that has the origin in it until it has a volume.

        Returns:
            Whether it has one.
        """
        tiny = 1e3 * m.rounding[None]
        for turn in range(12):
            if count < 4:
                way = ti.Vector([0.0, 0.0, 0.0])
                way[turn // 2 % 3] = 1.0
                if count == 2:
                    way = (known[0][1] - known[0][0]).cross(way)
                elif count == 3:
                    way = (known[0][1] - known[0][0]).cross(known[0][2] - known[0][0])
                if turn % 2 == 1:
                    way = -way
                length = way.norm()
                if length > tiny * tiny:
                    self.extend(m, pair, apart, axes, way / length, known, count)
                    new = known[0][count] - known[0][0]
                    free = count == 0 or (count == 1 and new.norm() > tiny)
                    if count == 2:
                        edge = known[0][1] - known[0][0]
                        free = edge.cross(new).norm() > tiny * edge.norm()
                    elif count == 3:
                        free = abs(way.dot(new)) > tiny * length
                    if free:
                        count += 1
        return count == 4

    @dt.func
    def attach(self, known, faces, count, a, b, c):
        """Set face `count` to a triangle, counter-clockwise from outside."""
        p = known[0][a]
        normal = (known[0][b] - p).cross(known[0][c] - p)
        length = normal.norm()
        faces[0][count] = a
        faces[1][count] = b
        faces[2][count] = c
        faces[4][count] = _FAR
        faces[3][count] = ti.Vector([0.0, 0.0, 0.0])
        if length > 0.0:
            faces[3][count] = normal / length
            faces[4][count] = normal.dot(p) / length

    @dt.func
    def open(self, known, faces, edges, count, new, close):
        """Remove the faces that a new vertex sees, and put new ones around the hole.

        Args:
            known: The list of vertices.
            faces: Vertices, normals and distances of faces.
            edges: Memory for the edges of the hole: both of their ends.
            count: The number of faces.
            new: The vertex.
            close: The height above a face from which on it is seen [m].

        Returns:
            The number of faces.
        """
        f, rim = 0, 0
        w = known[0][new]
        a, b, c, normals, heights = faces[0], faces[1], faces[2], faces[3], faces[4]
        starts, ends = edges[0], edges[1]
        for _ in range(count):
            if normals[f].dot(w) - heights[f] > close:
                for side in range(3):
                    p, q = a[f], b[f]
                    if side == 1:
                        p, q = q, c[f]
                    elif side == 2:
                        p, q = c[f], p
                    twin = -1
                    for e in range(rim):
                        if starts[e] == q and ends[e] == p:
                            twin = e
                    if twin >= 0:  # between two faces that go
                        rim -= 1
                        starts[twin] = starts[rim]
                        ends[twin] = ends[rim]
                    elif rim < FACES:
                        starts[rim] = p
                        ends[rim] = q
                        rim += 1
                count -= 1
                a[f] = a[count]
                b[f] = b[count]
                c[f] = c[count]
                normals[f] = normals[count]
                heights[f] = heights[count]
            else:
                f += 1
        for e in range(rim):
            if count < FACES:
                self.attach(known, faces, count, edges[0][e], edges[1][e], new)
                count += 1
        return count

    @dt.func
    def expand(self, m, pair, apart, axes, close, known, weights):
        """Find the face of the difference that is nearest to the origin, which is inside.

        Args:
            m, pair, apart, axes: As for `extend`.
            close: The error of the depth up to which it is found [m].
            known: The list of vertices, the first four a simplex; result: the first three span the
                face.
            weights: Result: of these at the point of the face that is nearest to the origin.

        Returns:
            The outward normal of the face.
        """
        faces = (
            dt.local(FACES, int),
            dt.local(FACES, int),
            dt.local(FACES, int),
            dt.local(FACES, vec3),
            dt.local(FACES),
        )
        edges = (dt.local(FACES, int), dt.local(FACES, int))
        least = m.rounding[None]
        a, b, c = known[0][1] - known[0][0], known[0][2] - known[0][0], known[0][3] - known[0][0]
        one, other = 1, 2
        if a.cross(b).dot(c) > 0.0:
            one, other = 2, 1
        self.attach(known, faces, 0, 0, one, other)
        self.attach(known, faces, 1, 0, other, 3)
        self.attach(known, faces, 2, other, one, 3)
        self.attach(known, faces, 3, one, 0, 3)
        count, best = 4, 0
        for step in range(EPA_STEPS):
            best = 0
            for f in range(1, count):
                if faces[4][f] < faces[4][best]:
                    best = f
            new = 4 + step
            self.extend(m, pair, apart, axes, faces[3][best], known, new)
            rise = faces[3][best].dot(known[0][new]) - faces[4][best]
            if rise <= close or step == EPA_STEPS - 1:
                break
            count = self.open(known, faces, edges, count, new, 4.0 * least)
        i, j, k = faces[0][best], faces[1][best], faces[2][best]
        s, t, _square = barycentric(known[0][i], known[0][j], known[0][k])
        self.copy(known, VERTICES - 3, i)
        self.copy(known, VERTICES - 2, j)
        self.copy(known, VERTICES - 1, k)
        for n in range(3):
            self.copy(known, n, VERTICES - 3 + n)
        weights[0] = 1.0 - s - t
        weights[1] = s
        weights[2] = t
        return faces[3][best]
