"""Convex hulls of the meshes that collide, and the box, as tables of vertices, edges and faces.

MuJoCo collides the convex hull of a mesh: `mesh_graph` has its edges, the arrays `mesh_poly*` its
faces, flat polygons with all of their vertices. Hull 0 is the box with corners at ±1: all other
boxes are that one, scaled. Caps of cylinders, where they have several contacts, are polygons too.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from difftile.worlds.arrays import Array, ArrayMisfit, Arrays
from difftile.worlds.kinds import CYLINDER, MESH

CAP = 16  # corners of the cap of a cylinder in MuJoCo 4, measured

# The faces of the box, counter-clockwise from outside; bit k of a corner is its sign on axis k.
_BOX_FACES = (
    *((5, 1, 3, 7), (0, 4, 6, 2)),  # x
    *((6, 7, 3, 2), (0, 1, 5, 4)),  # y
    *((4, 5, 7, 6), (1, 0, 2, 3)),  # z
)


class _Tables:
    """Tables to which hulls are added one by one."""

    def __init__(self) -> None:
        self.vertices: list[Array] = []
        self.normals: list[Array] = []
        names = ("vertadr", "vertnum", "edgeadr", "edge", "faceadr", "facenum", "cornadr", "corn")
        self.rows: dict[str, list[int]] = {name: [] for name in (*names, "mapadr", "map")}

    def add(self, vertices: Array, edges: list[list[int]], faces: list[list[int]], n: Array) -> int:
        """Add a hull: vertices, the neighbours of each, faces and their normals; return its place.

        Rows that end in `adr` have one more at their end, so that row k of a table of lists goes
        from `adr[k]` to `adr[k + 1]`.
        """
        rows, first = self.rows, sum(len(one) for one in self.vertices)
        rows["vertadr"].append(first)
        rows["vertnum"].append(len(vertices))
        rows["faceadr"].append(len(rows["cornadr"]))
        rows["facenum"].append(len(faces))
        self.vertices.append(vertices)
        self.normals.append(n)
        around: list[list[int]] = [[] for _ in vertices]
        for k, face in enumerate(faces):
            rows["cornadr"].append(len(rows["corn"]))
            rows["corn"] += face
            for v in face:
                around[v].append(k)
        for near, on in zip(edges, around, strict=True):
            rows["edgeadr"].append(len(rows["edge"]))
            rows["edge"] += near
            rows["mapadr"].append(len(rows["map"]))
            rows["map"] += on
        return len(rows["vertadr"]) - 1

    def finished(self) -> Arrays:
        """Return the tables by name."""
        for name, of in (("cornadr", "corn"), ("edgeadr", "edge"), ("mapadr", "map")):
            self.rows[name].append(len(self.rows[of]))
        found: Arrays = {f"hull_{k}": np.array(row, np.int32) for k, row in self.rows.items()}
        found["hull_vert"] = np.concatenate(self.vertices)
        found["hull_normal"] = np.concatenate(self.normals)
        return found


def hull_tables(arrays: Arrays, geoms: Collection[int]) -> Arrays:
    """Return the tables of the hulls of some geoms: boxes, cylinders, meshes; others have hull 0.

    `geom_hull` is the hull of each geom. Of hulls: `hull_vertadr`, `hull_vertnum`, `hull_faceadr`
    and `hull_facenum`. Of vertices: `hull_vert` [m], `hull_edgeadr` into `hull_edge`, the
    neighbours, and `hull_mapadr` into `hull_map`, the faces around it. Of faces: `hull_normal` and
    `hull_cornadr` into `hull_corn`, its vertices. Vertices and faces are numbered within a hull.

    Raises:
        ArrayMisfit: The arrays of meshes do not form a hull.
    """
    tables = _Tables()
    corners = np.array([[2.0 * (v >> k & 1) - 1.0 for k in range(3)] for v in range(8)])
    axes = np.repeat(np.eye(3), 2, axis=0) * np.array([1.0, -1.0] * 3)[:, None]
    near = [[v ^ 1, v ^ 2, v ^ 4] for v in range(8)]
    tables.add(corners, near, [list(face) for face in _BOX_FACES], axes)
    places: dict[int, int] = {}
    kinds = {int(arrays["geom_type"][g]) for g in geoms}
    if CYLINDER in kinds:
        angles = np.arange(CAP) * (2.0 * np.pi / CAP)
        ring = np.stack([np.cos(angles), np.sin(angles), np.ones(CAP)], axis=1)
        around = [list(range(CAP)), list(range(2 * CAP - 1, CAP - 1, -1))]
        caps = np.concatenate([ring, ring * [1.0, 1.0, -1.0]])
        places[-1] = tables.add(caps, [[]] * (2 * CAP), around, np.array([[0, 0, 1.0], [0, 0, -1]]))
    hull = np.zeros(len(arrays["geom_type"]), np.int32)
    for g in geoms:
        if arrays["geom_type"][g] == CYLINDER:
            hull[g] = places[-1]
        elif arrays["geom_type"][g] == MESH:
            mesh = int(arrays["geom_dataid"][g])
            if not 0 <= mesh < len(arrays["mesh_vertadr"]):
                raise ArrayMisfit("has a geom without its mesh", "an index of 'mesh_vertadr'")
            if mesh not in places:
                places[mesh] = tables.add(*_of_mesh(arrays, mesh))
            hull[g] = places[mesh]
    return {**tables.finished(), "geom_hull": hull}


def _of_mesh(arrays: Arrays, mesh: int) -> tuple[Array, list[list[int]], list[list[int]], Array]:
    """Return the hull of a mesh: vertices, their neighbours, faces, and normals of these."""
    try:
        return _read(arrays, mesh)
    except (IndexError, KeyError):
        raise ArrayMisfit("has a broken hull of a mesh", "'mesh_graph' as MuJoCo has it") from None


def _read(arrays: Arrays, mesh: int) -> tuple[Array, list[list[int]], list[list[int]], Array]:
    first, count = (int(arrays[f"mesh_vert{name}"][mesh]) for name in ("adr", "num"))
    vertices = arrays["mesh_vert"][first : first + count].astype(float)
    at = int(arrays["mesh_graphadr"][mesh])
    if at < 0:  # no vertex has neighbours: all are searched
        own, edges = range(count), [[] for _ in range(count)]
    else:
        number = int(arrays["mesh_graph"][at])
        table = arrays["mesh_graph"][at + 2 :]
        starts, own = table[:number], table[number : 2 * number]
        edges = []
        for start in starts:
            row = table[2 * number + int(start) :]
            edges.append([int(v) for v in row[: int(np.argmax(row < 0))]])
    local = {int(v): k for k, v in enumerate(own)}
    faces = []
    at, number = (int(arrays[f"mesh_poly{name}"][mesh]) for name in ("adr", "num"))
    for p in range(at, at + number):
        start, n = (int(arrays[f"mesh_polyvert{name}"][p]) for name in ("adr", "num"))
        faces.append([local[int(v)] for v in arrays["mesh_polyvert"][start : start + n]])
    if not len(own) or any(not 0 <= v < len(own) for row in edges for v in row):
        raise IndexError
    return vertices[np.array(own)], edges, faces, arrays["mesh_polynormal"][at : at + number]


def seen_triangles(arrays: Arrays, geoms: Array) -> Arrays:
    """Return the triangles of the meshes among some geoms, which rays meet: those of their files.

    `triangle_adr` and `triangle_num` are rows of each geom, `triangle_vert` the corners of all
    triangles, three each [m].

    Raises:
        ArrayMisfit: A triangle has other corners than vertices of its mesh.
    """
    rows, corners = np.zeros((2, len(arrays["geom_type"])), np.int32), [np.zeros((0, 3))]
    placed: dict[int, tuple[int, int]] = {}
    for g in geoms[arrays["geom_type"][geoms] == MESH].tolist():
        mesh = int(arrays["geom_dataid"][g])
        if mesh not in placed:
            if not 0 <= mesh < len(arrays["mesh_faceadr"]):
                raise ArrayMisfit("has a geom of a mesh that it has not", "one of the meshes")
            adr, first = arrays["mesh_faceadr"][mesh], arrays["mesh_vertadr"][mesh]
            faces = arrays["mesh_face"][adr : adr + arrays["mesh_facenum"][mesh]]
            if ((faces < 0) | (faces >= arrays["mesh_vertnum"][mesh])).any():
                raise ArrayMisfit("has an index in 'mesh_face' out of range", "vertices of a mesh")
            placed[mesh] = sum(map(len, corners)) // 3, len(faces)
            corners.append(arrays["mesh_vert"][first + faces.ravel()])
        rows[:, g] = placed[mesh]
    return {
        "triangle_adr": rows[0],
        "triangle_num": rows[1],
        "triangle_vert": np.concatenate(corners),
    }
