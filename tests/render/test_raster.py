"""Triangles of pixels beside a search through all of them, and what is measured on them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.geometry.meshes import Array, ball, cube, soup, vectors
from tests.render.raster_reference import nearest_faces, pinhole, seen

SQUARE = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0.0]])
HALVES = np.array([[0, 1, 2], [0, 2, 3]])
AHEAD = np.eye(4)


def at_depth(z: float, vertices: Array = SQUARE) -> Array:
    return vertices + np.array([0.0, 0.0, z])


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


def look(width: int = 18, height: int = 14, **options: Any) -> dt.render.Cameras:
    options = {"dtype": ti.f64, "grad": True} | options
    return dt.render.Cameras.look_at((0.4, 0.7, -3.0), (0, 0, 0), width, height, **options)


def at_origin(width: int, height: int, focal: float, **options: Any) -> dt.render.Cameras:
    lens = [focal, focal, 0.5 * width, 0.5 * height]
    options = {"dtype": ti.f64, "grad": True} | options
    return dt.render.Cameras(AHEAD, lens, width, height, **options)


@dt.kernel
def measure(raster: ti.template(), layer: int, depth, weights, changes):
    for c, i, j in depth:
        hit = raster.hit(c, i, j, layer)
        depth[c, i, j] = hit.depth if hit.face >= 0 else -1.0
        weights[c, i, j] = ti.Vector([hit.u, hit.v])
        changes[c, i, j] = ti.Vector([hit.right[0], hit.right[1], hit.down[0], hit.down[1]])


def measured(raster: dt.render.Raster, layer: int = 0) -> tuple[Array, Array, Array]:
    shape = raster.faces.shape[1:]
    out = [dt.zeros(shape, kind) for kind in (ti.f64, dt.vec(2, ti.f64), dt.vec(4, ti.f64))]
    with dt.no_grad():
        measure(raster, layer, *out)
    depth, weights, changes = (one.to_numpy()[0] for one in out)
    return depth, weights, changes


def test_triangles_are_those_of_a_search_also_around_the_camera() -> None:
    vertices, faces = soup(np.random.default_rng(3), 60)
    vertices[30:33] = [[-2, 0.5, -1], [2, 0.5, -1], [0, 0.5, 9]]  # reaches behind the camera
    mesh = dt.geometry.Mesh(vertices, faces, signed=False)
    cameras = at_origin(22, 15, 9.0)
    raster = dt.render.rasterize(mesh, cameras, near=0.05)
    points = seen(vertices, *pinhole(cameras))
    expected, depths, weights = nearest_faces(points, faces, 22, 15, near=0.05)
    np.testing.assert_array_equal(raster.faces.to_numpy()[0, 0], expected)
    depth, uv, _ = measured(raster)
    shown = expected >= 0
    assert 0.1 < shown.mean() < 1
    assert (expected == 10).sum() > 50
    np.testing.assert_allclose(depth[shown], depths[shown], rtol=1e-9)
    np.testing.assert_allclose(uv[shown], weights[shown][:, 1:], rtol=1e-9, atol=1e-12)
    assert (depth[~shown] == -1).all()


def test_layers_are_the_triangles_behind_one_another() -> None:
    vertices, faces = soup(np.random.default_rng(4), 60)
    mesh = dt.geometry.Mesh(vertices, faces, signed=False)
    cameras = look()
    raster = dt.render.rasterize(mesh, cameras, layers=4)
    points = seen(vertices, *pinhole(cameras))
    left, found = faces.copy(), raster.faces.to_numpy()[:, 0]
    for i, j in np.ndindex(found.shape[1:]):
        layer = found[:, i, j]
        assert len(set(layer[layer >= 0])) == (layer >= 0).sum()
        assert (np.diff((layer >= 0).astype(int)) <= 0).all()
    depths = [measured(raster, layer)[0] for layer in range(4)]
    for before, after in pairwise(depths):
        assert (after[after >= 0] >= before[after >= 0]).all()
    first, _, _ = nearest_faces(points, left, 18, 14)
    i, j = np.argwhere(found[1] >= 0)[0]
    left[first[i, j]] = left[0]  # this one has no area
    second, _, _ = nearest_faces(points, left, 18, 14)
    assert found[1, i, j] == second[i, j]


def test_of_triangles_at_one_depth_the_lowest_number_is_in_front() -> None:
    faces = np.concatenate([HALVES, HALVES, HALVES])
    mesh = dt.geometry.Mesh(at_depth(2.0), faces, signed=False)
    raster = dt.render.rasterize(mesh, at_origin(8, 8, 16.0), layers=4)
    found = raster.faces.to_numpy()[:, 0]
    assert (np.sort(found[:3] // 2, axis=0) == found[:3] // 2).all()
    # Pixels on the diagonal see both halves of each square.
    diagonal = np.diagonal(found, axis1=1, axis2=2)
    np.testing.assert_array_equal(diagonal, np.arange(4)[:, None] * np.ones(8, int))
    off = ~np.eye(8, dtype=bool)
    np.testing.assert_array_equal(found[:, off] // 2, [[0] * 56, [1] * 56, [2] * 56, [-1] * 56])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_closed_surface_has_no_gaps(dtype: Any) -> None:
    vertices, faces = ball(7)
    cameras = look(40, 40, fov=25.0, dtype=ti.f32 if dtype == np.float32 else ti.f64)
    mesh = dt.geometry.Mesh((0.3 * vertices * [9, 9, 1]).astype(dtype), faces)
    raster = dt.render.rasterize(mesh, cameras, layers=3)
    found = raster.faces.to_numpy()[:, 0]
    assert (found[:2] >= 0).all()  # the front and the back cover the image
    assert (found[2] >= 0).mean() < 0.02  # middles of pixels on an edge see both triangles


def test_what_shows_nothing_is_a_raster() -> None:
    none = np.zeros((0, 3), int)
    behind = dt.geometry.Mesh(at_depth(-2.0), HALVES)
    close = dt.geometry.Mesh(at_depth(0.005), HALVES)
    lost = dt.geometry.Mesh(np.full((4, 3), np.nan), HALVES)
    across = dt.geometry.Mesh(SQUARE[:, [2, 1, 0]], HALVES)  # in a plane with the eye
    far = dt.geometry.Mesh(at_depth(9.0), HALVES)
    for mesh in (dt.geometry.Mesh(SQUARE, none), behind, close, lost, across, far):
        raster = dt.render.rasterize(mesh, at_origin(6, 5, 3.0), far=8.0)
        assert (raster.faces.to_numpy() == -1).all()
        image = dt.full((1, 5, 6), 2.0, dtype=ti.f64)
        assert (raster.antialias(image).to_numpy() == 2.0).all()
        raster.add_edges(image, dt.func(lambda camera, hit: 1.0))
        assert (image.to_numpy() == 2.0).all()


def test_images_follow_vertices_and_cameras() -> None:
    mesh = dt.geometry.Mesh(at_depth(2.0), HALVES)
    cameras = at_origin(8, 8, 4.0)
    raster = dt.render.rasterize(mesh, cameras)
    assert (raster.faces.to_numpy() >= 0).sum() == 16
    mesh.vertices.from_numpy(at_depth(2.0, 2 * SQUARE))
    assert (raster.faces.to_numpy() >= 0).sum() == 64
    cameras.twist.from_numpy(np.array([[0, 0, 2.0, 0, 0, 0]]))
    assert (raster.faces.to_numpy() >= 0).sum() == 16
    assert (pickle.loads(pickle.dumps(raster)).faces.to_numpy() >= 0).sum() == 16


def test_cameras_see_their_own_worlds() -> None:
    vertices = np.stack([at_depth(2.0), at_depth(2.0, 0.5 * SQUARE)])
    mesh = dt.geometry.Mesh(vertices, HALVES)
    cameras = dt.render.Cameras(np.stack([AHEAD] * 3), [4.0, 4.0, 4.0, 4.0], 8, 8, dtype=ti.f64)
    raster = dt.render.rasterize(mesh, cameras[1:])
    assert (raster.faces.to_numpy() >= 0).sum((0, 2, 3)).tolist() == [16, 4]
    with pytest.raises(dt.FieldError, match="there are 2 worlds and 3 cameras"):
        dt.render.rasterize(mesh, cameras)


def test_changes_are_slopes_to_the_next_pixels() -> None:
    mesh = dt.geometry.Mesh(3 * SQUARE @ [[1, 0, 0], [0, 0.8, 0.6], [0, 0, 1]], HALVES)
    raster = dt.render.rasterize(mesh, look(30, 30, fov=20.0))
    depth, weights, changes = measured(raster)
    inside = depth[5:25, 5:25] > 0
    assert inside.all()
    first = raster.faces.to_numpy()[0, 0]
    one = (first[1:-1, :-2] == first[1:-1, 1:-1]) & (first[1:-1, 2:] == first[1:-1, 1:-1])
    slope = 0.5 * (weights[1:-1, 2:] - weights[1:-1, :-2])
    np.testing.assert_allclose(changes[1:-1, 1:-1, :2][one], slope[one], rtol=2e-3)
    one = (first[:-2, 1:-1] == first[1:-1, 1:-1]) & (first[2:, 1:-1] == first[1:-1, 1:-1])
    slope = 0.5 * (weights[2:, 1:-1] - weights[:-2, 1:-1])
    np.testing.assert_allclose(changes[1:-1, 1:-1, 2:][one], slope[one], rtol=2e-3)


@dt.kernel
def shade(raster: ti.template(), uv, colours, texture: ti.template(), seed, total):
    for c, i, j in seed:
        hit = raster.hit(c, i, j)
        if hit.face >= 0:
            at = raster.interpolate(uv, hit)
            right, down = raster.changes(uv, hit)
            value = texture.sample_grad(at, right, down) + hit.depth
            total[None] += seed[c, i, j] * (value + hit.u * raster.interpolate(colours, hit))


def test_interiors_have_the_derivatives_of_central_differences() -> None:
    rng = np.random.default_rng(5)
    vertices, faces = cube()
    mesh = dt.geometry.Mesh(vertices - 0.5, faces)
    cameras = look(9, 8, fov=30.0)
    raster = dt.render.rasterize(mesh, cameras)
    uv = vectors(rng.uniform(0.1, 0.9, (8, 2)), dt.vec(2, ti.f64), grad=True)
    colours = dt.from_numpy(rng.normal(size=8), grad=True)
    texture = dt.Texture(rng.normal(size=(16, 16)), mip="linear", filter="cubic", grad=True)
    seed, total = dt.from_numpy(rng.normal(size=(1, 8, 9))), dt.zeros((), ti.f64, grad=True)
    inputs = [mesh.vertices, cameras.twist, cameras.intrinsics, uv, colours, texture.data]

    def run() -> Any:
        total.fill(0.0)
        shade(raster, uv, colours, texture, seed, total)
        return total[None]

    with dt.Tape(total):
        run()
    slopes = [one.grad.to_numpy().copy() for one in inputs]
    shown = raster.faces.to_numpy()
    for field, slope in zip(inputs, slopes, strict=True):
        values = field.to_numpy()
        way = rng.normal(size=values.shape)
        found = []
        for sign in (1, -1):
            field.from_numpy(values + sign * 1e-6 * way)
            with dt.no_grad():
                found.append(float(run()))
            assert (raster.faces.to_numpy() == shown).all()
        field.from_numpy(values)
        expected = (found[0] - found[1]) / 2e-6
        np.testing.assert_allclose((slope * way).sum(), expected, rtol=1e-6, atol=1e-8)


def test_a_tape_keeps_the_triangles_that_each_launch_saw() -> None:
    mesh = dt.geometry.Mesh(vectors(at_depth(2.0), grad=True), HALVES)
    raster = dt.render.rasterize(mesh, at_origin(8, 8, 4.0))
    total = dt.zeros((), ti.f64, grad=True)

    @dt.kernel
    def add_depths(weight: float):
        for c, i, j in ti.ndrange(1, 8, 8):
            hit = raster.hit(c, i, j)
            if hit.face >= 0:
                total[None] += weight * hit.depth

    @dt.kernel
    def grow():
        for i in mesh.vertices:
            mesh.vertices[i] *= 1.25
            mesh.vertices[i][2] *= 1.6  # now at 4, and in the image as 5/8 of what it was

    with dt.Tape(total):
        add_depths(1.0)
        grow()
        add_depths(10.0)
    near, far = 16, (raster.faces.to_numpy() >= 0).sum()
    assert near != far
    assert np.isclose(total[None], near * 2.0 + 10.0 * far * 4.0)
    slope = mesh.vertices.grad.to_numpy()[:, 2].sum()
    assert np.isclose(slope, near + 10.0 * far * 2.0)


def test_wrong_arguments_are_refused() -> None:
    mesh, cameras = dt.geometry.Mesh(SQUARE, HALVES), look()
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: dt.render.rasterize(mesh, look(dtype=ti.f32)), "make both with one dtype"),
        (lambda: dt.render.rasterize(mesh, look(model="fisheye")), "straight in a pinhole, not"),
        (lambda: dt.render.rasterize(mesh, cameras, layers=0), "layers is an integer from 1"),
        (lambda: dt.render.rasterize(mesh, cameras, near=0.0), "near is a finite number above 0"),
        (lambda: dt.render.rasterize(mesh, cameras, near=2, far=1), "far is a finite number above"),
    ]
    raster = dt.render.rasterize(mesh, cameras)
    image = dt.zeros((1, 14, 18), ti.f64)
    wrong += [
        (lambda: raster.antialias(dt.zeros((1, 3, 3), ti.f64)), r"the shape \(1, 14, 18\), not"),
        (lambda: raster.antialias(image, layer=1), "layers are 0 to 0, not 1"),
        (lambda: raster.add_edges(image, shade, samples=0), "samples is a finite number above 0"),
    ]
    for call, message in wrong:
        with pytest.raises(dt.FieldError, match=message):
            call()


@pytest.mark.compiled
def test_compiled_searches_find_the_same_in_single_precision() -> None:
    dt.init(arch="cpu")
    vertices, faces = ball(20, 0.3)
    cameras = look(64, 48, dtype=ti.f32)
    mesh = dt.geometry.Mesh(vertices.astype(np.float32), faces)
    found = dt.render.rasterize(mesh, cameras, layers=2).faces.to_numpy()[0, 0]
    points = seen(vertices, *pinhole(cameras))
    expected, _, _ = nearest_faces(points, faces, 64, 48)
    assert (found != expected).sum() <= 3  # middles of pixels on an edge
    dt.init(arch="python")
