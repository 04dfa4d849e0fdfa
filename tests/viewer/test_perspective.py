"""Shapes in space as the orbit camera sees them, and the mouse that moves it."""

from __future__ import annotations

import numpy as np

from difftile.viewer.events import KeyDown, KeyUp, MouseDown, MouseMove, MouseUp, Scroll
from difftile.viewer.orbit import Orbit
from difftile.viewer.perspective import OrbitMouse, Perspective, corners
from difftile.viewer.primitives import Arrows, Circles, Facets, Image, Lines, Markers
from difftile.viewer.screen import Area, Projection

AREA = Area(40, 30, 200, 100)
RED = np.array([200, 0, 0], np.uint8)
FRONT = Orbit(yaw=0.0, pitch=0.0, distance=2.0, fov=np.pi / 2)  # 25 pixels a unit at the target


def f32(*values: object) -> np.ndarray:
    return np.array(values, np.float32)


def test_positions_land_in_the_area() -> None:
    view: Projection = Perspective(AREA, FRONT)
    pixels, depths, scales = view.project(
        f32([0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 3], [0, 0, 2])
    )
    np.testing.assert_allclose(pixels[:3], [[140, 80], [165, 55], [140, 80]])
    assert np.isnan(pixels[3:]).all()
    np.testing.assert_allclose(depths, [2, 2, 1, -1, 0])
    np.testing.assert_allclose(scales, [25, 25, 50, 0, 0])


def test_a_point_follows_the_mouse_at_its_depth() -> None:
    view = Perspective(AREA, Orbit())
    point = f32([0.3, -0.2, 0.4])
    (at,), (depth,), _ = view.project(point)
    moved = view.unproject(at[0] + 5, at[1] - 3, depth)
    (there,), (same,), _ = view.project(moved[None])
    np.testing.assert_allclose(there - at, [5, -3], atol=1e-3)
    np.testing.assert_allclose(same, depth, atol=1e-5)
    np.testing.assert_allclose(view.unproject(*AREA.center), Orbit().target, atol=1e-6)


def test_lines_behind_the_eye_are_cut_to_what_is_seen() -> None:
    view = Perspective(AREA, FRONT)
    lines = Lines(f32([0, 0, 0], [0, 0, 5]), f32([0, 0, 9], [0, 0, 6]), np.stack([RED, RED // 2]))
    cut = view.cut(lines)
    assert cut.colours.tolist() == [RED.tolist()]
    for ends in (cut.begins, cut.ends):
        assert np.isfinite(view.project(ends)[0]).all()
    seen = Lines(lines.begins[:1], f32([1, 0, 0]), RED)
    assert view.cut(seen) is seen


def test_faces_are_lit_from_the_eye_on_both_sides() -> None:
    view = Perspective(AREA, FRONT)
    vertices = f32([0, 0, 0], [0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01])
    faces = np.array([[0, 1, 2], [0, 2, 1], [0, 2, 3], [0, 0, 1]], np.int32)
    shaded = view.shade(Facets(vertices, faces, RED))
    assert shaded.dtype == np.uint8
    assert (shaded[:2, 0] >= 199).all()
    assert 69 <= shaded[2, 0] <= 75  # from its edge, but not black
    assert shaded[3, 0] == 70  # no area
    each = view.shade(Facets(vertices, faces, np.stack([RED // k for k in (1, 2, 4, 1)])))
    np.testing.assert_allclose(each[:2, 0], [200, 100], atol=1)


def test_drags_rotate_or_pan_and_the_wheel_zooms() -> None:
    mouse, start = OrbitMouse(), Orbit()

    def after(*events: object) -> Orbit:
        orbit = start
        for event in events:
            orbit = mouse.moved(event, orbit, AREA)
        return orbit

    drag = MouseMove(110, 60)
    assert after(drag) == start
    assert after(MouseDown("left", 100, 50), drag, MouseUp("left", 110, 60)) == start.rotated(
        0.1, 0.1
    )
    assert not mouse.dragging
    panned = start.panned(0.1, 0.1)
    assert after(MouseDown("right", 100, 50), drag, MouseUp("right", 110, 60)) == panned
    shifted = KeyDown("shift"), MouseDown("left", 100, 50), drag, MouseUp("left", 110, 60)
    assert after(*shifted, KeyUp("shift")) == panned
    assert after(MouseDown("left", 100, 50)) == start
    assert mouse.dragging
    assert after(MouseMove(100, 500), MouseUp("left", 100, 500)).pitch > start.pitch
    assert after(Scroll(1, *AREA.center)) == start.zoomed(0.85)
    assert after(Scroll(-2, 140, 90)) == start.zoomed(0.85**-2, 0.0, 0.1)


def test_what_begins_outside_is_none_of_its_business() -> None:
    mouse, orbit = OrbitMouse(), Orbit()
    for event in (MouseDown("left", 5, 5), MouseMove(100, 50), Scroll(1, 5, 5)):
        assert mouse.moved(event, orbit, AREA) == orbit
    assert not mouse.dragging


def test_framing_sees_all_shapes_in_space() -> None:
    shapes = [
        Markers(f32([0, 0, 0], [9, 9, 9])[:1], RED),
        Lines(f32([1, 0, 0]), f32([0, 2, 0]), RED),
        Arrows(f32([0, 0, 1]), f32([0, 0, 2]), RED),
        Circles(f32([-1, 0, 0]), f32(0.5), RED),
        Facets(f32([0, -4, 0]), np.empty((0, 3), np.int32), RED),
        Markers(f32([7, 7]), RED),
        Image(np.zeros((2, 2, 3), np.uint8)),
    ]
    found = corners(shapes)
    np.testing.assert_allclose(found.min(axis=0), [-1.5, -4, -0.5])
    np.testing.assert_allclose(found.max(axis=0), [1, 2, 3])
    assert corners([]).shape == (0, 3)
