"""Machine code in f32: rays do not pass between triangles, and agree with a search in f64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.geometry.meshes import Array, ball, crossings, distances


@pytest.fixture(autouse=True, scope="module")
def compiled() -> Iterator[None]:
    dt.init(arch="cpu")
    yield


@dt.kernel
def ask(mesh: ti.template(), origins, directions, found, faces):
    for i in origins:
        hit = mesh.ray(origins[i], directions[i])
        near = mesh.closest(origins[i])
        found[i] = ti.Vector([hit.t, near.distance])
        faces[i] = ti.Vector([hit.face, near.face])


def answers(mesh: dt.geometry.Mesh, origins: Array, directions: Array) -> tuple[Array, Array]:
    vec = dt.vec(3, ti.f32)
    found, faces = (
        dt.zeros(len(origins), dt.vec(2, ti.f32)),
        dt.zeros(len(origins), dt.vec(2, ti.i32)),
    )
    fields = (dt.from_numpy(x.astype(np.float32), dtype=vec) for x in (origins, directions))
    ask(mesh, *fields, found, faces)
    return found.to_numpy(), faces.to_numpy()


@pytest.mark.compiled
def test_rays_of_f32_do_not_leave_a_closed_mesh_through_edges_and_corners() -> None:
    vertices, faces = ball(12, 0.3)
    vertices = vertices.astype(np.float32)
    mesh = dt.geometry.Mesh(vertices, faces)
    rng = np.random.default_rng(1)
    triangles = vertices[faces].astype(float)
    weight = rng.uniform(size=(40, 1, 1, 1))
    edges = (weight * triangles + (1 - weight) * np.roll(triangles, 1, 1)).reshape(-1, 3)
    aims = np.concatenate([np.repeat(vertices.astype(float), 20, 0), edges])
    origins = rng.uniform(-0.3, 0.3, aims.shape)
    found, which = answers(mesh, origins, aims - origins)
    assert len(aims) > 50_000
    assert (which[:, 0] >= 0).all()
    np.testing.assert_allclose(found[:, 0], 1.0, atol=2e-5)


@pytest.mark.compiled
def test_answers_of_f32_are_those_of_f64_up_to_rounding() -> None:
    vertices, faces = ball(10, 0.3)
    vertices = vertices.astype(np.float32)
    mesh = dt.geometry.Mesh(vertices, faces)
    rng = np.random.default_rng(2)
    origins = rng.normal(size=(300, 3)).astype(np.float32).astype(float)
    directions = (rng.normal(size=(300, 3)) - origins).astype(np.float32).astype(float)
    found, which = answers(mesh, origins, directions)
    for k in range(300):
        t = crossings(vertices[faces].astype(float), origins[k], directions[k])[0]
        if which[k, 0] >= 0 or np.isfinite(t.min()):
            np.testing.assert_allclose(found[k, 0], t.min(), rtol=1e-4, atol=1e-5)
        away = distances(vertices[faces].astype(float), origins[k])
        np.testing.assert_allclose(abs(found[k, 1]), away.min(), rtol=1e-4, atol=1e-6)
        assert away[which[k, 1]] <= away.min() + 1e-5


@pytest.mark.compiled
def test_a_mesh_far_from_the_origin_and_flat_rays_are_met() -> None:
    """Rays along the sides of boxes, where a product of 0 and a large number decides."""
    vertices, faces = ball(6)
    far = (vertices + np.array([0.0, 0.0, 1000.0])).astype(np.float32)
    mesh = dt.geometry.Mesh(far, faces)
    sides = [(k, s) for k in (0, 1) for s in (1.0, -1.0)]
    origins = np.array([[0.0, 0.0, 1000.0]] * 4)
    directions = np.array([np.eye(3)[k] * s for k, s in sides])
    assert (answers(mesh, origins, directions)[1][:, 0] >= 0).all()
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)
    plane = dt.geometry.Mesh(flat, np.array([[0, 1, 2], [1, 3, 2]]))
    above = np.array([[0.0, 0, 1], [1, 1, 1], [0, 1, 1], [0.5, 0.5, 1], [1, 0.5, 1]])
    down = np.tile([0.0, 0, -1], (5, 1))
    found, which = answers(plane, above, down)
    assert (which[:, 0] >= 0).all()
    assert found[:, 0].tolist() == [1.0] * 5
