"""Meshes that are refused, with what is wrong; and faces beside each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.geometry.meshes import ball, cube


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


def test_each_edge_knows_the_face_behind_it() -> None:
    vertices, faces = ball(4)
    mesh = dt.geometry.Mesh(vertices, faces)
    around = mesh.adjacent.to_numpy()
    for face, edge in np.ndindex(around.shape):
        pair = {int(faces[face, edge]), int(faces[face, (edge + 1) % 3])}
        assert pair <= set(faces[around[face, edge]].tolist())
        assert around[face, edge] != face
    assert mesh.closed
    opened = dt.geometry.Mesh(vertices, faces[1:])
    assert not opened.closed
    assert (opened.adjacent.to_numpy() == -1).sum() == 3


def test_triangles_with_a_vertex_twice_have_no_neighbours() -> None:
    vertices, faces = cube()
    mesh = dt.geometry.Mesh(vertices, np.concatenate([faces, [[0, 0, 1], [3, 3, 3]]]))
    assert (mesh.adjacent.to_numpy()[12:] == -1).all()
    assert (mesh.adjacent.to_numpy()[:12] >= 0).all()


def flipped() -> np.ndarray:
    faces = cube()[1].copy()
    faces[4] = faces[4][::-1]
    return faces


BAD = {
    "three faces at an edge": (
        (cube()[0], np.concatenate([cube()[1], [[0, 1, 6]]])),
        "The edge between vertices 0 and 1 has 3 faces (one more). Such a mesh has no inside.",
    ),
    "a face that is flipped": (
        (cube()[0], flipped()),
        "has the same direction in faces",
    ),
    "a vertex that there is not": (
        (cube()[0], np.array([[0, 1, 8]])),
        "Face 0 is [0, 1, 8], but there are 8 vertices.",
    ),
    "a negative vertex": ((cube()[0], np.array([[0, -1, 2]])), "Face 0 is [0, -1, 2]"),
    "no vertices": ((np.zeros((0, 3)), np.array([[0, 1, 2]])), "but there are 0 vertices."),
    "polygons": ((cube()[0], np.zeros((2, 4), int)), "int64 of shape (2, 4). Cut polygons into"),
    "floats for faces": ((cube()[0], np.zeros((2, 3))), "not float64 of shape (2, 3)"),
    "a huge coordinate": (
        (1e18 * cube()[0], cube()[1]),
        "Vertex 1 has the coordinate 1e+18, beyond 1e+17, where squares overflow. Scale",
    ),
    "vertices in the plane": ((np.zeros((4, 2)), cube()[1]), "not float64 of shape (4, 2)"),
    "integers for vertices": ((np.zeros((8, 3), int), cube()[1]), "not int64 of shape (8, 3)"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_mesh_is_refused_with_the_reason(name: str) -> None:
    arguments, message = BAD[name]
    with pytest.raises(dt.FieldError) as caught:
        dt.geometry.Mesh(*arguments)
    assert message in str(caught.value)


def test_fields_of_other_elements_are_no_vertices() -> None:
    with pytest.raises(dt.FieldError, match="Vertices are a field of vec3"):
        dt.geometry.Mesh(dt.zeros(4), cube()[1])


def test_meshes_without_an_inside_are_taken_without_signs() -> None:
    for faces in (flipped(), np.concatenate([cube()[1], [[0, 1, 6]]])):
        mesh = dt.geometry.Mesh(cube()[0], faces, signed=False)
        assert mesh.closest((0.5, 0.5, 0.9))["distance"] > 0


def test_a_mesh_shares_the_field_of_its_vertices() -> None:
    vertices = dt.from_numpy(cube()[0], dtype=dt.vec(3, ti.f64))
    mesh = dt.geometry.Mesh(vertices, dt.from_numpy(cube()[1].astype(np.int32)))
    assert mesh.vertices is vertices
    assert not mesh.vertices.has_grads
    assert dt.geometry.Mesh(*cube()).vertices.has_grads
    assert not dt.geometry.Mesh(*cube(), grad=False).vertices.has_grads
    assert "12 triangles, closed, float64" in repr(mesh)


@pytest.mark.parametrize("count", [8, 9, 100, 1000])
def test_a_tree_has_the_memory_of_its_formula(count: int) -> None:
    faces = np.tile([0, 1, 2], (count, 1))
    tree = dt.geometry.Mesh(np.eye(3, dtype=np.float32), faces, signed=False).tree
    leaves = tree.lower.shape[1] // 2
    assert count / 8 <= leaves < count / 4
    fields = tree.corners, tree.order, tree.places, tree.lower, tree.upper
    total = sum(x.to_numpy().nbytes for x in fields)
    assert total == 36 * count + 8 * count + 24 * 2 * leaves
