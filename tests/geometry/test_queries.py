"""What rays, points and boxes find, beside a search through all triangles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.geometry.meshes import (
    VEC,
    Array,
    ball,
    crossings,
    cube,
    distances,
    solid_angle,
    soup,
    vectors,
)

MESHES = {"ball": ball(6, 0.3), "cube": cube(), "soup": soup(np.random.default_rng(5), 60)}


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def shoot(mesh: ti.template(), origins, directions, t_min: float, t_max: float, found, faces):
    for i in origins:
        hit = mesh.ray(origins[i], directions[i], t_min, t_max)
        found[i] = ti.Vector([hit.t, hit.u, hit.v])
        side = 1 if hit.front else 0
        some = 1 if mesh.any_hit(origins[i], directions[i], t_min, t_max) else 0
        faces[i] = ti.Vector([hit.face, side, some])


@dt.kernel
def measure(mesh: ti.template(), points, reach: float, found, faces):
    for i in points:
        near = mesh.closest(points[i], reach)
        found[i] = ti.Vector([near.distance, near.u, near.v])
        faces[i] = near.face


@dt.kernel
def mark(mesh: ti.template(), lower, upper, marks, order):
    for i in lower:
        face = mesh.overlap(lower[i], upper[i])
        while face >= 0:
            marks[i, face] += 1
            order[i] += 1
            face = mesh.overlap(lower[i], upper[i], face)


def hits(
    mesh: dt.geometry.Mesh, origins: Array, directions: Array, t_min=0.0, t_max=np.inf
) -> tuple[Array, Array]:
    found, faces = dt.zeros(len(origins), VEC), dt.zeros(len(origins), dt.vec(3, ti.i32))
    shoot(mesh, vectors(origins), vectors(directions), t_min, t_max, found, faces)
    return found.to_numpy(), faces.to_numpy()


def nearest(mesh: dt.geometry.Mesh, points: Array, reach=np.inf) -> tuple[Array, Array]:
    found, faces = dt.zeros(len(points), VEC), dt.zeros(len(points), ti.i32)
    measure(mesh, vectors(points), reach, found, faces)
    return found.to_numpy(), faces.to_numpy()


@pytest.mark.parametrize("name", MESHES)
def test_rays_find_the_first_of_all_triangles(name: str) -> None:
    vertices, faces = MESHES[name]
    mesh = dt.geometry.Mesh(vertices, faces)
    rng = np.random.default_rng(1)
    origins, directions = rng.uniform(-1.5, 1.5, (60, 3)), rng.normal(size=(60, 3))
    directions[:9] = np.concatenate([np.eye(3), -np.eye(3), 2 * np.eye(3)])
    with np.errstate(invalid="ignore"):
        middle = vertices[faces[rng.integers(5, len(faces), 30)]].mean(1)
    directions[30:] = middle - origins[30:]
    found, which = hits(mesh, origins, directions)
    met = 0
    for k, (o, d) in enumerate(zip(origins, directions, strict=True)):
        t, u, v = crossings(vertices[faces], o, d)
        first = int(np.argmin(t))
        if np.isinf(t[first]):
            assert which[k].tolist() == [-1, 0, 0]
            assert found[k].tolist() == [np.inf, 0, 0]
            continue
        met += 1
        np.testing.assert_allclose(found[k, 0], t[first], rtol=1e-12)
        if np.sum(t < t[first] + 1e-9) == 1:
            assert which[k, 0] == first
            np.testing.assert_allclose(found[k, 1:], [u[first], v[first]], atol=1e-12)
            e, f = (vertices[faces[first][j]] - vertices[faces[first][0]] for j in (1, 2))
            assert which[k, 1] == int(np.cross(e, f) @ d < 0)
        assert which[k, 2] == 1
    assert met >= 30


@pytest.mark.parametrize("name", ["ball", "cube"])
def test_rays_through_edges_and_corners_meet_a_closed_mesh_and_the_lowest_triangle(
    name: str,
) -> None:
    vertices, faces = MESHES[name]
    triangles = vertices[faces]
    inside = triangles.mean((0, 1))
    along = np.concatenate([vertices, 0.5 * (triangles[:, 0] + triangles[:, 1])])
    around = np.full_like(along, 1.0) * inside
    found, which = hits(dt.geometry.Mesh(vertices, faces), around, along - inside)
    assert (which[:, 0] >= 0).all()
    np.testing.assert_allclose(found[:, 0], 1.0, rtol=1e-12)
    order = np.random.default_rng(2).permutation(len(faces))
    again, others = hits(dt.geometry.Mesh(vertices, faces[order]), around, along - inside)
    np.testing.assert_allclose(again[:, 0], found[:, 0], rtol=1e-14)
    exact = [k for k in range(len(along)) if name == "cube"]
    for k in exact:  # all products are exact here
        t = crossings(triangles, inside, along[k] - inside)[0]
        meeting = np.flatnonzero(t == t.min())
        assert which[k, 0] == meeting[0]
        assert others[k, 0] == np.flatnonzero(np.isin(order, meeting))[0]


def test_a_ray_ends_and_begins_where_it_is_told() -> None:
    mesh = dt.geometry.Mesh(*cube())
    origin, direction = np.array([[0.3, 0.4, -1.0]]), np.array([[0, 0, 2.0]])
    cases = [(0.0, np.inf, 0.5), (0.6, np.inf, 1.0), (0.0, 0.4, np.inf), (0.6, 0.9, np.inf)]
    cases += [(-9.0, 0.5, 0.5), (0.7, 0.2, np.inf), (np.nan, 1.0, np.inf), (0.0, np.nan, np.inf)]
    for t_min, t_max, expected in cases:
        found, which = hits(mesh, origin, direction, t_min, t_max)
        assert found[0, 0] == expected
        assert which[0, 2] == (expected < np.inf)


def test_rays_without_a_number_or_a_direction_and_from_infinity_meet_nothing() -> None:
    bad = [([np.nan, 0, 0], [1, 0, 0]), ([0, 0, 0], [np.nan, 0, 1]), ([0, 0, 0], [0, 0, 0])]
    bad += [([np.inf, 0, 0], [-1, 0, 0]), ([0, 0, 0], [0, np.inf, 0]), ([0, -np.inf, 0], [0, 1, 0])]
    origins, directions = (np.array(x, float) for x in zip(*bad, strict=True))
    found, which = hits(dt.geometry.Mesh(*ball(4)), origins, directions)
    assert (which[:, 0] == -1).all()
    assert np.isinf(found[:, 0]).all()


@pytest.mark.parametrize("scale", [1e-12, 1e9])
def test_the_length_of_a_direction_and_the_size_of_a_mesh_scale_t(scale: float) -> None:
    vertices, faces = ball(5, 0.2)
    rng = np.random.default_rng(3)
    origins, directions = rng.uniform(-0.2, 0.2, (12, 3)), rng.normal(size=(12, 3))
    found, which = hits(dt.geometry.Mesh(vertices, faces), origins, directions)
    wide, faces_of_wide = hits(
        dt.geometry.Mesh(scale * vertices, faces), scale * origins, directions
    )
    slow, faces_of_slow = hits(dt.geometry.Mesh(vertices, faces), origins, scale * directions)
    assert which.tolist() == faces_of_wide.tolist() == faces_of_slow.tolist()
    np.testing.assert_allclose(wide[:, 0], scale * found[:, 0], rtol=1e-12)
    np.testing.assert_allclose(slow[:, 0], found[:, 0] / scale, rtol=1e-12)


@pytest.mark.parametrize("name", MESHES)
def test_points_find_the_nearest_of_all_triangles(name: str) -> None:
    vertices, faces = MESHES[name]
    mesh = dt.geometry.Mesh(vertices, faces)
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.uniform(-1.5, 1.5, (50, 3)), 1.0 * vertices[:6], [[5.0, 4, -7]]])
    points = points[np.isfinite(points).all(1)]
    found, which = nearest(mesh, points)
    for p, (distance, u, v), face in zip(points, found, which, strict=True):
        away = distances(vertices[faces], p)
        np.testing.assert_allclose(abs(distance), away.min(), rtol=1e-10, atol=1e-14)
        a, b, c = vertices[faces[face]]
        at = (1 - u - v) * a + u * b + v * c
        np.testing.assert_allclose(np.linalg.norm(at - p), away.min(), rtol=1e-10, atol=1e-12)
        if name != "soup" and abs(distance) > 1e-12:
            assert (distance < 0) == (solid_angle(vertices[faces], p) > 0.5)


def test_the_sign_holds_beside_sharp_corners_and_edges() -> None:
    """Beside a spike the nearest triangle alone would tell the wrong side."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.02, 0], [0.5, 0.01, 0.9], [0.52, 3, 0.1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 4], [2, 0, 4], [3, 1, 4], [0, 3, 4]])
    mesh = dt.geometry.Mesh(vertices, faces)
    assert mesh.closed
    rng = np.random.default_rng(6)
    at = rng.integers(5, size=60)
    points = vertices[at] + rng.normal(scale=0.05, size=(60, 3))
    found, _ = nearest(mesh, points)
    inside = np.array([abs(solid_angle(vertices[faces], p)) > 0.5 for p in points])
    winding = np.sign(np.linalg.det(vertices[faces]).sum())
    assert ((winding * found[:, 0] < 0) == inside).all()
    unsigned, _ = nearest(dt.geometry.Mesh(vertices, faces, signed=False), points)
    np.testing.assert_allclose(unsigned[:, 0], abs(found[:, 0]), rtol=1e-12)


def corner_normal(triangles: Array, at: Array) -> Array:
    """Return the sum of the normals at a vertex, weighted by angles."""
    total = np.zeros(3)
    for face in triangles:
        k = np.flatnonzero((face == at).all(1))
        if k.size:
            e, f = (face[(k[0] + j) % 3] - at for j in (1, 2))
            n = np.cross(e, f)
            total += np.arctan2(np.linalg.norm(n), e @ f) * n / np.linalg.norm(n)
    return total


def test_at_a_corner_of_an_open_mesh_all_its_faces_count() -> None:
    """The faces end on both sides of the corner, whichever of them is found."""
    rng = np.random.default_rng(9)
    ring = np.array([[np.cos(t), np.sin(t), 0] for t in np.linspace(0, 2.5, 7)])
    vertices = np.concatenate([[[0, 0, 0.0]], ring + rng.normal(scale=0.3, size=ring.shape)])
    faces = np.array([[0, k, k + 1] for k in (4, 1, 6, 2, 5, 3)])
    points = rng.normal(scale=0.3, size=(300, 3))
    found, _ = nearest(dt.geometry.Mesh(vertices, faces), points)
    at_corner = np.isclose(abs(found[:, 0]), np.linalg.norm(points, axis=1), rtol=1e-12)
    side = points[at_corner] @ corner_normal(vertices[faces], vertices[0])
    assert at_corner.sum() > 20
    assert ((found[at_corner, 0] < 0) == (side < 0)).all()


def test_rays_along_the_side_of_a_box_meet_what_ends_there() -> None:
    along = np.arange(41.0)
    low = np.stack([along, 0 * along, 0 * along], 1)
    vertices = np.concatenate([low, low + np.array([0, 0, 1])])
    k = np.arange(40)
    faces = np.concatenate([np.stack(x, 1) for x in ([k, k + 1, k + 41], [k + 1, k + 42, k + 41])])
    mesh = dt.geometry.Mesh(vertices, faces)
    starts = np.stack([k + 0.5, 0 * k - 1.0, 0 * k + 1.0], 1)
    found, _ = hits(mesh, starts, np.tile([0.0, 1.0, 0.0], (40, 1)))
    assert found[:, 0].tolist() == [1.0] * 40


def test_points_out_of_reach_at_infinity_or_without_a_number_find_nothing() -> None:
    mesh = dt.geometry.Mesh(*cube())
    points = np.array([[0.5, 0.5, 1.25], [np.nan, 0, 0], [0, np.inf, 0], [0.5, 0.5, 3]])
    found, which = nearest(mesh, points, 1.0)
    assert (which >= 0).tolist() == [True, False, False, False]
    assert found[:, 0].tolist() == [0.25, np.inf, np.inf, np.inf]
    assert nearest(mesh, points[:1], np.nan)[1].tolist() == [-1]
    assert nearest(mesh, points[:1], 0.25)[1].tolist() != [-1]


@pytest.mark.parametrize("name", MESHES)
def test_boxes_find_each_triangle_in_them_once(name: str) -> None:
    vertices, faces = MESHES[name]
    mesh = dt.geometry.Mesh(vertices, faces)
    rng = np.random.default_rng(7)
    middle, half = rng.uniform(-1, 1, (12, 3)), rng.uniform(0, 0.6, (12, 3))
    lower, upper = middle - half, middle + half
    marks, order = dt.zeros((12, len(faces)), ti.i32), dt.zeros(12, ti.i32)
    mark(mesh, vectors(lower), vectors(upper), marks, order)
    dense = rng.dirichlet(np.ones(3), 4000)
    for k in range(12):
        at = np.einsum("sk,fkx->fsx", dense, vertices[faces])
        with np.errstate(invalid="ignore"):
            sampled = ((at >= lower[k]) & (at <= upper[k])).all(-1).any(-1)
            corners = vertices[faces]
            beside = ((corners < lower[k]).all(1) | (corners > upper[k]).all(1)).any(1)
        got = marks.to_numpy()[k]
        assert got.max(initial=0) <= 1
        assert (got[sampled] == 1).all()
        assert not got[beside].any()
    assert 0 < marks.to_numpy().sum() == order.to_numpy().sum()


def test_a_triangle_whose_box_alone_is_in_a_box_is_not_found() -> None:
    mesh = dt.geometry.Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]), np.array([[0, 1, 2]]))
    boxes = [([0.6, 0.6, -1], [1, 1, 1]), ([0.4, 0.4, -1], [1, 1, 1]), ([0.5, 0.5, 0], [1, 1, 0])]
    boxes += [([1, 1, 1], [0, 0, 0]), ([np.nan, 0, 0], [1, 1, 1]), ([-np.inf, 0, 0], [1, 1, 1])]
    lower, upper = (vectors(x) for x in zip(*boxes, strict=True))
    marks, order = dt.zeros((6, 1), ti.i32), dt.zeros(6, ti.i32)
    mark(mesh, lower, upper, marks, order)
    assert order.to_numpy().tolist() == [0, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("vertices", [np.zeros((0, 3)), np.zeros((3, 3), np.float32)])
def test_a_mesh_without_triangles_is_never_found(vertices: Array) -> None:
    mesh = dt.geometry.Mesh(vertices, np.zeros((0, 3), int))
    assert "0 triangles" in repr(mesh)
    found, which = hits(mesh, np.zeros((1, 3)), np.eye(3)[:1])
    assert (found[0, 0], which[0, 0]) == (np.inf, -1)
    assert nearest(mesh, np.zeros((1, 3)))[1].tolist() == [-1]
    marks, order = dt.zeros((1, 1), ti.i32), dt.zeros(1, ti.i32)
    mark(mesh, vectors([[-1, -1, -1.0]]), vectors([[1, 1, 1.0]]), marks, order)
    assert order[0] == 0


@pytest.mark.parametrize("count", [1, 2, 4, 5, 9, 16, 17, 31])
def test_meshes_of_any_number_of_triangles_find_all_of_them(count: int) -> None:
    rng = np.random.default_rng(count)
    vertices = rng.uniform(-1, 1, (count, 1, 3)) + rng.normal(scale=0.3, size=(count, 3, 3))
    mesh = dt.geometry.Mesh(vertices.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    middle = vertices.mean(1)
    found, which = nearest(mesh, middle)
    np.testing.assert_allclose(found[:, 0], 0, atol=1e-14)
    assert which.tolist() == list(range(count))
