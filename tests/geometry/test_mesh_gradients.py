"""Derivatives of queries, beside the complex step with the same triangles, and in programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.geometry.meshes import VEC, Array, ball, cube, vectors
from tests.geometry.test_queries import measure, shoot


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


def complex_step(f: Callable[..., Array], *arguments: Array) -> list[Array]:
    """Return the derivatives of a vector of results by each of the arguments."""
    found = []
    for k, x in enumerate(arguments):
        parts = []
        for at in np.ndindex(x.shape):
            moved = [np.array(y, complex) for y in arguments]
            moved[k][at] += 1e-30j
            parts.append(f(*moved).imag / 1e-30)
        found.append(np.stack(parts, -1).reshape(-1, *x.shape))
    return found


def ray_formula(origin: Array, direction: Array, corners: Array) -> Array:
    a, b, c = corners
    return np.linalg.solve(np.stack([-direction, b - a, c - a], -1), origin - a)


def point_formula(p: Array, corners: Array, u: float, v: float, sign: float) -> Array:
    """Return the distance, u and v in the case that u and v are in."""
    a, b, c = corners
    e, f = b - a, c - a
    if u > 0 and v > 0 and abs(u + v - 1) > 1e-12:
        n = np.cross(e, f)
        height = (p - a) @ n / np.sqrt(n @ n)
        uv = [np.cross(p - a, f) @ n / (n @ n), np.cross(e, p - a) @ n / (n @ n)]
        return np.array([height, *uv])
    if v == 0 and 0 < u < 1:
        u = (p - a) @ e / (e @ e)
    elif u == 0 and 0 < v < 1:
        v = (p - a) @ f / (f @ f)
    elif 0 < v < 1:
        v = (p - b) @ (c - b) / ((c - b) @ (c - b))
        u = 1 - v
    away = p - a - u * e - v * f
    return np.array([sign * np.sqrt(away @ away), u, v])


def test_rays_have_the_derivatives_of_the_triangles_that_they_meet() -> None:
    vertices, faces = ball(5, 0.3)
    mesh = dt.geometry.Mesh(vertices, faces)
    rng = np.random.default_rng(1)
    n = 25
    values = rng.uniform(-0.3, 0.3, (n, 3)), rng.normal(size=(n, 3))
    values[0][20:] += 4
    values[1][20:] += [3.0, 3.0, 3.0]  # away from the ball: these meet nothing
    origins, directions = (vectors(x, grad=True) for x in values)
    found, which = dt.zeros(n, VEC, grad=True), dt.zeros(n, dt.vec(3, ti.i32))
    seeds = rng.normal(size=(n, 3))
    with dt.Tape() as tape:
        shoot(mesh, origins, directions, 0.0, np.inf, found, which)
    tape.backward({found: seeds})
    expected = [np.zeros((n, 3)), np.zeros((n, 3)), np.zeros_like(vertices)]
    met = which.to_numpy()[:, 0]
    assert (met[:20] >= 0).all()
    assert (met[20:] < 0).any()
    for k in np.flatnonzero(met >= 0):
        by = complex_step(ray_formula, values[0][k], values[1][k], vertices[faces[met[k]]])
        expected[0][k], expected[1][k] = seeds[k] @ by[0], seeds[k] @ by[1]
        np.add.at(expected[2], faces[met[k]], np.einsum("i,ijk->jk", seeds[k], by[2]))
    for field, right in zip((origins, directions, mesh.vertices), expected, strict=True):
        np.testing.assert_allclose(field.grad.to_numpy(), right, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("signed", [True, False])
def test_distances_have_the_derivatives_of_the_nearest_triangle_edge_or_corner(
    signed: bool,
) -> None:
    vertices, faces = cube()
    rng = np.random.default_rng(2)
    vertices = vertices + rng.normal(scale=0.1, size=vertices.shape)
    mesh = dt.geometry.Mesh(vertices, faces, signed=signed)
    n = 40
    values = rng.uniform(-1.0, 2.0, (n, 3))
    values[:10] = rng.uniform(0.3, 0.7, (10, 3))
    points = vectors(values, grad=True)
    found, which = dt.zeros(n, VEC, grad=True), dt.zeros(n, ti.i32)
    seeds = rng.normal(size=(n, 3))
    with dt.Tape() as tape:
        measure(mesh, points, np.inf, found, which)
    tape.backward({found: seeds})
    moved, corners = np.zeros((n, 3)), np.zeros_like(vertices)
    cases = set()
    for k, (face, (distance, u, v)) in enumerate(
        zip(which.to_numpy(), found.to_numpy(), strict=True)
    ):
        cases.add((u > 0, v > 0, abs(u + v - 1) < 1e-12))

        case = u, v, np.sign(distance)

        def formula(p: Array, at: Array, case=case) -> Array:
            value = point_formula(p, at, *case)
            return value * [np.sign((value[0] * case[2]).real), 1, 1]

        by = complex_step(formula, values[k], vertices[faces[face]])
        moved[k] = seeds[k] @ by[0]
        np.add.at(corners, faces[face], np.einsum("i,ijk->jk", seeds[k], by[1]))
    assert len(cases) > 4
    assert (found.to_numpy()[:10, 0] < 0).all() == signed
    np.testing.assert_allclose(points.grad.to_numpy(), moved, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(mesh.vertices.grad.to_numpy(), corners, rtol=1e-9, atol=1e-11)


@dt.kernel
def bounce(mesh: ti.template(), starts, ends, lengths, steps: int):
    """Follow rays through reflections, with a position, a direction and a length as state."""
    for i in starts:
        at, way = starts[i], ti.Vector([0.3, -0.5, 0.8])
        for k in range(steps):
            hit = mesh.ray(at, way, 1e-9)
            if hit.face < 0:
                break
            normal = mesh.normal(hit.face)
            at = mesh.position(hit.face, hit.u, hit.v)
            lengths[i] += hit.t
            way -= 2.0 * way.dot(normal) * normal
        ends[i] = at


def test_reflections_in_a_loop_with_state_have_the_gradient_of_their_differences() -> None:
    vertices, faces = cube()
    vertices = vertices + np.random.default_rng(3).normal(scale=0.02, size=vertices.shape)
    starts = np.random.default_rng(4).uniform(0.3, 0.7, (3, 3))
    seeds = np.random.default_rng(5).normal(size=(3, 3))

    def run(vertices: Array, starts: Array) -> tuple[float, Array, Array]:
        mesh = dt.geometry.Mesh(vertices, faces)
        first = vectors(starts, grad=True)
        ends, lengths = dt.zeros(3, VEC, grad=True), dt.zeros(3, ti.f64, grad=True)
        with dt.Tape() as tape:
            bounce(mesh, first, ends, lengths, 4)
        tape.backward({ends: seeds, lengths: np.ones(3)})
        value = float((ends.to_numpy() * seeds).sum() + lengths.to_numpy().sum())
        return value, mesh.vertices.grad.to_numpy(), first.grad.to_numpy()

    _, by_vertices, by_starts = run(vertices, starts)
    rng = np.random.default_rng(6)
    for _ in range(3):
        dv, ds = rng.normal(size=vertices.shape), rng.normal(size=starts.shape)
        h = 1e-5
        ends = [run(vertices + k * h * dv, starts + k * h * ds)[0] for k in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(
            (by_vertices * dv).sum() + (by_starts * ds).sum(), slope, rtol=1e-6
        )


@dt.kernel
def grow(mesh: ti.template(), by):
    for i in mesh.vertices:
        mesh.vertices[i] *= by[None]


@dt.kernel
def fall(mesh: ti.template(), p, out):
    for i in p:
        out[i] += mesh.ray(p[i], (0.0, 0.0, -1.0)).t


def test_vertices_move_on_a_tape_and_each_query_has_the_boxes_of_its_time() -> None:
    """The reverse walks through the boxes that the query has seen, not through those of later."""
    vertices, faces = cube()
    mesh = dt.geometry.Mesh(vertices, faces)
    by, p = dt.full((), 2.0, dtype=ti.f64, grad=True), vectors([[0.7, 0.4, 9.0]], grad=True)
    out = dt.zeros(1, ti.f64, grad=True)
    with dt.Tape() as tape:
        for _ in range(3):
            fall(mesh, p, out)
            grow(mesh, by)
            mesh.refit()
    tape.backward({out: [1.0]})
    assert out[0] == 8 + 7 + 5
    assert p.grad[0].tolist() == [0, 0, 3]
    np.testing.assert_allclose(by.grad[None], -(1 + 4))
    np.testing.assert_allclose(mesh.vertices.grad.to_numpy()[:, 2].sum(), -(1 + 2 + 4))


def test_without_a_refit_triangles_are_found_where_they_were_and_measured_where_they_are() -> None:
    mesh = dt.geometry.Mesh(*cube())
    p, out = vectors([[0.7, 0.4, 9.0]]), dt.zeros(1, ti.f64)
    mesh.vertices.from_numpy(cube()[0] + [0.0, 0.0, 2.0])
    fall(mesh, p, out)
    assert out[0] == 6
    mesh.rebuild()
    fall(mesh, p, out)
    assert out[0] == 12


def test_tangents_go_forward_through_queries() -> None:
    vertices, faces = ball(4, 0.2)
    mesh = dt.geometry.Mesh(vertices, faces)

    def f(p):
        out = dt.zeros(1, ti.f64, grad=True)
        fall(mesh, p, out)
        return out

    p, v = vectors([[0.1, 0.2, 5.0]], grad=True), np.array([[0.3, -0.4, 0.5]])
    _, tangent = dt.jvp(f, (p,), (v,))
    h = 1e-6
    ends = [f(vectors([[0.1, 0.2, 5.0] + k * h * v[0]])).to_numpy() for k in (1, -1)]
    np.testing.assert_allclose(tangent.to_numpy(), (ends[0] - ends[1]) / (2 * h), rtol=1e-7)


@dt.kernel
def each_world(mesh: ti.template(), p, found):
    for w, i in found:
        hit = mesh.ray(p[i], (0.0, 0.0, -1.0), world=w)
        near = mesh.closest(p[i], world=w)
        found[w, i] = ti.Vector(
            [hit.t, near.distance, 1.0 * mesh.any_hit(p[i], (0, 1, 0), world=w)]
        )


def test_worlds_have_meshes_of_their_own() -> None:
    vertices, faces = ball(4, 0.2)
    rng = np.random.default_rng(8)
    worlds = np.stack([vertices * k + rng.normal(scale=0.01, size=3) for k in (1.0, 1.4, 0.6)])
    p = vectors([[0.1, 0.2, 5.0], [0.0, 0.3, 0.1], [3.0, 0.0, 0.0]])
    seeds = rng.normal(size=(3, 3, 3)) * [1, 1, 0]
    seeds[:, 2, 0] = 0
    mesh, found = dt.geometry.Mesh(worlds, faces), dt.zeros((3, 3), VEC, grad=True)
    with dt.Tape() as tape:
        each_world(mesh, p, found)
    tape.backward({found: seeds})
    for w in range(3):
        single, part = dt.geometry.Mesh(worlds[w : w + 1], faces), dt.zeros((1, 3), VEC, grad=True)
        with dt.Tape() as tape:
            each_world(single, p, part)
        tape.backward({part: seeds[w : w + 1]})
        np.testing.assert_allclose(found.to_numpy()[w], part.to_numpy()[0], rtol=1e-12)
        np.testing.assert_allclose(
            mesh.vertices.grad.to_numpy()[w], single.vertices.grad.to_numpy()[0], atol=1e-12
        )
