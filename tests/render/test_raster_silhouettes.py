"""Silhouettes of meshes, beside areas in closed form and images of 64 x 64 samples a pixel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.geometry.meshes import Array, ball, cube, vectors
from tests.render.raster_reference import joined, mean_image, pinhole, seen
from tests.render.test_coverage import clipped
from tests.render.test_raster import HALVES, SQUARE, at_origin, look

DEPTH = 2.0


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.func
def of_faces(colours, hit):
    return colours[hit.face] if hit.face >= 0 else 0.0


@dt.kernel
def paint(raster: ti.template(), colours, image):
    for c, i, j in image:
        image[c, i, j] = of_faces(colours, raster.hit(c, i, j))


@dt.kernel
def move(base, way, t, vertices):
    for i in base:
        vertices[i] = base[i] + t[None] * way[i]


class Scene:
    """A mesh that moves along a way, whose triangles have a colour each.

    Args:
        vertices: Where it begins.
        faces: Its triangles.
        colours: Of each triangle.
        cameras: The camera.
    """

    def __init__(self, vertices: Array, faces: Array, colours: Array, cameras: dt.render.Cameras):
        self.start, self.faces, self.values = vertices, faces, colours
        self.mesh = dt.geometry.Mesh(vertices, faces, signed=False)
        self.base, self.colours = vectors(vertices), dt.from_numpy(colours)
        self.raster = dt.render.rasterize(self.mesh, cameras)
        self.image = dt.zeros((1, cameras.height, cameras.width), ti.f64, grad=True)
        self.size = cameras.width, cameras.height

    def draw(self, t: dt.Field, way: dt.Field) -> dt.Field:
        move(self.base, way, t, self.mesh.vertices)
        paint(self.raster, self.colours, self.image)
        return self.image

    def derivative(self, way: Array, samples: float = 0.0) -> tuple[Array, Array]:
        """Return the image and its derivative, by antialiasing or by samples on edges."""
        along, colours = vectors(way), self.colours

        def smooth(t: dt.Field) -> dt.Field:
            image = self.draw(t, along)
            if not samples:
                return self.raster.antialias(image)
            self.raster.add_edges(image, lambda camera, hit: of_faces(colours, hit), samples)
            return image

        value, slope = dt.jvp(smooth, (dt.zeros((), ti.f64),), (np.array(1.0),))
        return value.to_numpy()[0], slope.to_numpy()[0]

    def reference(self, way: Array, step: float) -> tuple[Array, Array]:
        """Return the mean of each pixel, and its central difference."""
        pose, lens = pinhole(self.raster.cameras)
        means = [
            mean_image(seen(self.start + s * way, pose, lens), self.faces, self.values, *self.size)
            for s in (step, -step)
        ]
        return 0.5 * (means[0] + means[1]), (means[0] - means[1]) / (2 * step)


def turned(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0], [-s, c, 0], [0, 0, 1.0]])


def flat(vertices: Array, size: int, focal: float) -> Array:
    return focal * vertices[:, :2] / vertices[:, 2:] + 0.5 * size


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 1.2, 2.5, 4.0, 5.5])
def test_pixels_on_a_straight_edge_are_their_covered_areas(angle: float) -> None:
    n, focal = 7, 8.0
    # Only one side of this square crosses the image.
    vertices = (9 * SQUARE + [9.0937, 0.2, 0]) @ turned(angle) + [0, 0, DEPTH]
    scene = Scene(vertices, HALVES, np.array([3.0, 3.0]), at_origin(n, n, focal))
    way = np.random.default_rng(1).normal(size=(4, 3))
    image, slope = scene.derivative(way)

    def areas(t: float) -> Array:
        corners = flat(vertices + t * way, n, focal)
        middles = np.stack(np.meshgrid(np.arange(n) + 0.5, np.arange(n) + 0.5), -1)
        return np.array([[3.0 * clipped(corners - at) for at in row] for row in middles])

    inner = slice(1, -1), slice(1, -1)  # those at the border have no neighbour beyond it
    np.testing.assert_allclose(image[inner], areas(0.0)[inner], atol=1e-9)
    expected = (areas(1e-5) - areas(-1e-5)) / 2e-5
    assert abs(expected).max() > 0.1
    np.testing.assert_allclose(slope[inner], expected[inner], atol=2e-5 * abs(expected).max())


def test_corners_of_boxes_are_exact_too() -> None:
    corners = np.array([[1.3, 1.8], [5.6, 1.8], [5.6, 4.9], [1.3, 4.9]])  # in the image
    vertices = np.concatenate([(corners - 3.5) * DEPTH / 8.0, np.full((4, 1), DEPTH)], 1)
    scene = Scene(vertices, HALVES, np.ones(2), at_origin(7, 7, 8.0))
    image, _ = scene.derivative(np.zeros((4, 3)))
    x = np.clip(np.minimum(np.arange(1, 8), 5.6) - np.maximum(np.arange(7), 1.3), 0, 1)
    y = np.clip(np.minimum(np.arange(1, 8), 4.9) - np.maximum(np.arange(7), 1.8), 0, 1)
    wrong = abs(image - y[:, None] * x)
    inside = np.ix_(y > 0.5, x > 0.5)
    assert wrong[inside].max() < 1e-9
    assert wrong.max() < 0.3  # beside a corner, an edge counts for the whole row or for none


def test_triangles_smaller_than_pixels_change_nothing() -> None:
    k = np.linspace(-1, 1, 24)
    x, y = (one.ravel() for one in np.meshgrid(k, k, indexing="ij"))
    first = (np.arange(23)[:, None] * 24 + np.arange(23)).ravel()
    halves = [[first, first + 24, first + 25], [first, first + 25, first + 1]]
    grid = np.concatenate([np.stack(one, 1) for one in halves])
    images = []
    for vertices, faces in ((SQUARE, HALVES), (np.stack([x, y, 0 * x], 1), grid)):
        placed = vertices @ turned(0.4) + [0, 0, DEPTH]
        way = np.stack([placed[:, 1], 0.3 * placed[:, 2], placed[:, 0]], 1)
        scene = Scene(placed, faces, np.ones(len(faces)), at_origin(12, 12, 8.0))
        images.append(scene.derivative(way))
    np.testing.assert_allclose(images[0][0], images[1][0], atol=1e-9)
    np.testing.assert_allclose(images[0][1], images[1][1], atol=1e-8)


def test_the_inside_of_a_surface_is_left_alone() -> None:
    vertices, faces = ball(5)
    raster = dt.render.rasterize(dt.geometry.Mesh(vertices, faces), look(16, 16, fov=50.0))
    noise = np.random.default_rng(9).normal(size=(1, 16, 16))
    smooth = raster.antialias(dt.from_numpy(noise)).to_numpy()
    shown = np.pad(raster.faces.to_numpy()[0, 0] >= 0, 1, mode="edge")
    around = [np.roll(shown, shift, axis) for shift in (-1, 1) for axis in (0, 1)]
    same = (np.array(around) == shown).all(0)[1:-1, 1:-1]
    assert 50 < same.sum() < 256
    np.testing.assert_array_equal(smooth[0][same], noise[0][same])
    assert (smooth[0][~same] != noise[0][~same]).any()


def test_blends_are_between_the_colours_of_the_neighbours() -> None:
    rng = np.random.default_rng(6)
    vertices = rng.uniform(-1, 1, (40, 1, 3)) + rng.normal(scale=0.1, size=(40, 3, 3))
    faces = np.arange(120).reshape(40, 3)
    scene = Scene(vertices.reshape(-1, 3), faces, rng.uniform(0.5, 1, 40), look(24, 24))
    image, slope = scene.derivative(rng.normal(size=(120, 3)))
    assert 0 <= image.min() <= image.max() <= 1
    assert np.isfinite(slope).all()


def scenes(size: int) -> dict[str, Scene]:
    box, body = cube(), ball(4)
    camera = dt.render.Cameras.look_at(
        (0.7, 1.3, -3.0), (0, 0, 0), size, size, fov=45, dtype=ti.f64, grad=True
    )
    alone = box[0] - 0.5, box[1]
    pair = (0.6 * body[0] + [0.2, 0.1, -0.9], body[1]), (1.3 * box[0] - [0.85, 0.55, 0.05], box[1])
    found = {}
    for name, meshes in (("cube", (alone,)), ("ball before a cube", pair)):
        vertices, faces, which = joined(*meshes)
        found[name] = Scene(vertices, faces, np.array([1.0, 0.6])[which], camera)
    return found


def errors(scene: Scene, samples: float) -> tuple[float, float]:
    """Return the largest error of sums, in parts of the sum of magnitudes, and that of pixels."""
    sums, pixels = [], []
    shifts = [np.broadcast_to(axis, scene.start.shape) for axis in np.eye(3)]
    for way in (*shifts, scene.start):
        _, expected = scene.reference(way, 0.15 / scene.size[0])
        _, found = scene.derivative(way, samples)
        sums.append(abs(found.sum() - expected.sum()) / abs(expected).sum())
        pixels.append(np.linalg.norm(found - expected) / np.linalg.norm(expected))
    return max(sums), max(pixels)


def test_sums_of_samples_on_edges_are_those_of_supersampled_images() -> None:
    dt.init(arch="cpu")
    sums, pixels = errors(scenes(16)["ball before a cube"], 32.0)
    dt.init(arch="python")
    assert sums < 0.005
    assert pixels < 0.12  # differences over a step of pixels are blurred


@pytest.mark.slow  # 64 x 64 samples for each of 64 x 64 pixels, in NumPy
@pytest.mark.parametrize("name", ["cube", "ball before a cube"])
def test_silhouettes_are_those_of_supersampled_images(name: str) -> None:
    dt.init(arch="cpu")
    scene = scenes(64)[name]
    smooth, sampled = errors(scene, 0.0), errors(scene, 16.0)
    dt.init(arch="python")
    assert smooth[0] < 0.02
    assert smooth[1] < 0.15
    assert sampled[0] < 0.002
    assert sampled[1] < 0.06


def test_the_adjoint_is_the_transpose() -> None:
    scene = scenes(10)["cube"]
    way = np.random.default_rng(7).normal(size=scene.start.shape)
    weights = np.random.default_rng(8).normal(size=(1, 10, 10))
    _, slope = scene.derivative(way)
    with dt.Tape() as tape:
        paint(scene.raster, scene.colours, scene.image)
        out = scene.raster.antialias(scene.image)
    tape.backward({out: weights})
    pulled = (scene.mesh.vertices.grad.to_numpy() * way).sum()
    np.testing.assert_allclose(pulled, (slope * weights[0]).sum(), rtol=1e-10)


def test_edges_move_with_cameras() -> None:
    scene = scenes(10)["cube"]
    raster, colours = scene.raster, scene.colours
    twist, lens = raster.cameras.twist, raster.cameras.intrinsics
    for by_samples in (False, True):
        scene.image.grad.fill(0.0)
        with dt.Tape() as tape:
            paint(raster, colours, scene.image)
            out = scene.image
            if by_samples:
                raster.add_edges(out, lambda camera, hit: of_faces(colours, hit), 8.0)
            else:
                out = raster.antialias(out)
        for field in (scene.mesh.vertices, twist, lens):
            field.grad.fill(0.0)
        tape.backward({out: np.linspace(1, 2, 100).reshape(1, 10, 10)})
        # A motion of the camera is the opposite motion of all that it sees, a shift of the centre
        # one in proportion to depths, and nothing changes along the rays.
        turn = raster.cameras.world_to_camera()[0]
        at = scene.start @ turn[:3, :3].T + turn[:3, 3]
        pull, fx = scene.mesh.vertices.grad.to_numpy() @ turn[:3, :3].T, lens.to_numpy()[0, 0]
        expected = [*pull.sum(0), *np.cross(at, pull).sum(0)]
        np.testing.assert_allclose(twist.grad.to_numpy()[0], expected, rtol=1e-9, atol=1e-9)
        focal = lens.grad.to_numpy()[0]
        np.testing.assert_allclose(focal[[0, 2]], (at[:, [0, 2]].T @ pull[:, 0]) / fx, rtol=1e-9)
        assert abs((at * pull).sum()) < 1e-9 * abs(pull).sum()
