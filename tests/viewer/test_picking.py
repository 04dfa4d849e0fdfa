"""Picking the shape under the mouse."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.viewer import App, MouseMove
from difftile.viewer.orbit import Orbit
from difftile.viewer.perspective import Perspective
from difftile.viewer.picking import image_area, pick
from difftile.viewer.primitives import (
    Backdrop,
    Circles,
    Facets,
    Image,
    Lines,
    Markers,
    Primitive,
    Text,
)
from difftile.viewer.screen import Area, PlaneBox

RED = np.array([200, 0, 0], np.uint8)
FLAT = PlaneBox(Area(0, 0, 100, 100))  # a unit is 100 pixels


def f32(values: object) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.fixture
def places() -> dt.Field:
    grid = np.stack(np.meshgrid([0.2, 0.8], [0.3, 0.6], indexing="ij"), axis=-1)
    return dt.from_numpy(grid, dtype=ti.math.vec2, grad=True)


def points(source: dt.Field) -> Markers:
    return Markers(f32(source.to_numpy().reshape(-1, 2)), RED, source=source)


def test_points_say_their_index_value_and_gradient(places: dt.Field) -> None:
    places.grad[1, 0] = [0.5, -2.0]
    found = pick([points(places)], FLAT, 83, 68)
    assert found is not None
    assert found.index == (1, 0)
    assert found.at == pytest.approx((80, 70))
    assert str(found) == "[1, 0] = (0.8, 0.3)\ngrad = (0.5, -2)"


def test_nothing_is_found_where_nothing_is(places: dt.Field) -> None:
    line = Lines(f32([[0.5, 0.5]]), f32([[0.6, 0.5]]), RED)
    unknown = Markers(f32([[0.5, 0.5]]), RED)  # drawn from a list of numbers
    empty = Markers(np.empty((0, 2), np.float32), RED, source=places)
    assert pick([points(places), line, unknown, empty], FLAT, 50, 50) is None
    lost = Markers(f32([[np.nan, np.nan]]), RED, source=places[:1, 0])
    assert pick([lost], FLAT, 50, 50) is None


def test_fields_without_gradient_say_their_value_alone() -> None:
    x = dt.from_numpy(f32([[0.5, 0.5]]), dtype=ti.math.vec2)
    assert str(pick([points(x)], FLAT, 50, 50)) == "[0] = (0.5, 0.5)"


def test_circles_are_picked_inside(places: dt.Field) -> None:
    centers = f32(places.to_numpy().reshape(-1, 2))
    circles = Circles(centers, np.full(4, 0.1, np.float32), RED, source=places)
    found = pick([circles], FLAT, 28, 70)
    assert found is not None and found.index == (0, 0)
    assert pick([circles], FLAT, 37, 70) is None


def test_arrays_may_hold_the_components_in_an_axis() -> None:
    positions = f32([[[0.1, 0.1], [0.9, 0.9]]])
    found = pick([Markers(positions[0], RED, source=positions)], FLAT, 90, 10)
    assert found is not None
    assert found.index == (0, 1)
    assert str(found) == "[0, 1] = (0.9, 0.9)"


def test_of_points_on_each_other_the_one_in_front_is_picked() -> None:
    orbit = Orbit()
    eye, target = orbit.eye(), np.array(orbit.target)
    line = [eye + share * (target - eye) for share in (1.2, 0.5, 1.0, -1.0)]
    x = dt.from_numpy(f32(line), dtype=ti.math.vec3)
    view = Perspective(Area(0, 0, 100, 100), orbit)
    for shape in (
        Markers(f32(line), RED, source=x),
        Facets(f32(line), np.array([[0, 1, 2]], np.int32), RED, source=x),
    ):
        found = pick([shape], view, 51, 50)
        assert found is not None
        assert found.index == (1,)
        assert found.depth == pytest.approx(0.5 * orbit.distance)


def test_images_are_picked_by_row_and_column() -> None:
    x = dt.from_numpy(np.arange(8.0).reshape(2, 4), dtype=ti.f32, grad=True)
    image = Image(np.zeros((2, 4, 3), np.uint8), source=x)
    assert image_area(image, FLAT) == Area(0, 25, 100, 50)
    found = pick([image], FLAT, 99, 74)
    assert found is not None
    assert str(found) == "[1, 3] = 7\ngrad = 0"
    assert pick([image], FLAT, 50, 20) is None
    boxed = Image(image.pixels, box=(0.5, 0.5, 1.0, 1.0), source=x)
    found = pick([boxed], FLAT, 51, 2)
    assert found is not None and found.index == (0, 0)


def test_an_axis_of_channels_is_read_whole() -> None:
    x = dt.from_numpy(np.arange(24.0).reshape(2, 4, 3), dtype=ti.f32, grad=True)
    found = pick([Image(np.zeros((2, 4, 3), np.uint8), source=x)], FLAT, 1, 26)
    assert str(found) == "[0, 0] = (0, 1, 2)\ngrad = (0, 0, 0)"


def test_points_are_picked_before_the_image_that_they_lie_on(places: dt.Field) -> None:
    x = dt.zeros((2, 2), dtype=ti.f32)
    image = Image(np.zeros((2, 2, 3), np.uint8), source=x)
    for shapes in ([image, points(places)], [points(places), image]):
        near, far = pick(shapes, FLAT, 80, 70), pick(shapes, FLAT, 50, 90)
        assert near is not None and near.index == (1, 0)
        assert far is not None and far.index == (1, 1)


def test_what_is_hidden_is_not_picked() -> None:
    view = Perspective(Area(0, 0, 100, 100), Orbit(yaw=0.0, pitch=0.0, distance=2.0))
    x = dt.from_numpy(f32([[0.0, 0.0, 0.0]]), dtype=ti.math.vec3)
    point = Markers(f32(x.to_numpy()), RED, source=x)
    corners = f32([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])
    around = np.array([[0, 1, 2]], np.int32)
    depth = np.full((10, 10), 2.0, np.float32)
    pixels = np.zeros((10, 10, 3), np.uint8)

    def picked(before: Primitive) -> bool:
        return pick([before, point], view, 50, 50) is not None

    for z, seen in ((0.5, False), (0.0, True), (-0.5, True)):
        assert picked(Facets(corners + f32([0, 0, z]), around, RED)) is seen
        assert picked(Circles(f32([[0, 0, z]]), f32([0.5]), RED)) is seen
        assert picked(Circles(f32([[0, 0, z]]), f32([0.5]), RED, outline=2.0))
        assert picked(Backdrop(pixels, depth - z)) is seen
    for nothing in (0.0, np.inf, np.nan):
        assert picked(Backdrop(pixels, np.full_like(depth, nothing)))


def test_in_an_app_the_value_of_an_image_is_shown_beside_the_mouse() -> None:
    image = np.arange(16.0).reshape(4, 4)
    app = App(backend="null", size=(640, 400))
    app.image(image)
    app.run(events=[MouseMove(390, 390, 1)])
    assert app._frame is not None
    shapes = [one for layer in app._frame.scene for one in layer.shapes]
    assert [one.text for one in shapes if isinstance(one, Text)] == ["[3, 3] = 15"]
