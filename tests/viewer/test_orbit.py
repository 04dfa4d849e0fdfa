"""The orbit camera: its motion by the mouse, and the positions of points in the picture."""

from __future__ import annotations

import math

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.viewer.orbit import Orbit, cut_segments, cut_triangles

WIDTH, HEIGHT = 320, 200
POINTS = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3))
UPS = [(0.0, 1.0, 0.0), (0.0, 0.0, 2.0), (1.0, 0.0, 0.0), (0.3, -0.2, 0.5)]


def place(orbit: Orbit, point: object) -> np.ndarray:
    return orbit.project([point], WIDTH, HEIGHT)[0][0]


@pytest.mark.parametrize("up", UPS)
def test_axes_are_a_rotation_and_up_is_up(up: tuple[float, float, float]) -> None:
    orbit = Orbit(up=up)
    axes = orbit.axes()
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[0] @ np.array(up) == pytest.approx(0.0, abs=1e-15)  # no roll
    assert axes[1] @ np.array(up) < 0.0  # down
    assert orbit.eye() @ np.array(up) > 0.0  # pitch looks from above


def test_at_rest_it_looks_along_minus_z_as_known_by_hand() -> None:
    orbit = Orbit(yaw=0.0, pitch=0.0, distance=2.0, fov=math.pi / 2)
    np.testing.assert_allclose(orbit.eye(), [0.0, 0.0, 2.0])
    np.testing.assert_allclose(place(orbit, (0.0, 0.0, 0.0)), [160.0, 100.0])
    # At the distance of the target the picture is 4 units high: 50 pixels a unit.
    np.testing.assert_allclose(place(orbit, (1.0, 1.0, 0.0)), [210.0, 50.0])


def test_pixels_are_those_of_the_cameras_that_render() -> None:
    orbit = Orbit(target=(0.2, -0.1, 0.3), yaw=1.1, pitch=-0.3)
    pose = orbit.world_to_camera()
    eye, target = orbit.eye(), np.array(orbit.target)
    fov = math.degrees(2 * math.atan(math.tan(0.5 * orbit.fov) * WIDTH / HEIGHT))
    camera = dt.render.Cameras.look_at(eye, target, WIDTH, HEIGHT, fov=fov, dtype=ti.f64)
    np.testing.assert_allclose(camera.world_to_camera()[0], pose, atol=1e-12)
    np.testing.assert_allclose(
        camera.intrinsics.to_numpy()[0], orbit.intrinsics(WIDTH, HEIGHT), atol=1e-9
    )


def test_a_pan_keeps_the_target_under_the_mouse() -> None:
    orbit = Orbit(target=(0.5, 0.2, -0.3))
    before = place(orbit, orbit.target)
    after = place(orbit.panned(30 / HEIGHT, -20 / HEIGHT), orbit.target)
    np.testing.assert_allclose(after - before, [30.0, -20.0], atol=1e-10)


def test_a_zoom_keeps_what_is_under_the_mouse() -> None:
    orbit = Orbit()
    right, down = 0.3, -0.2
    mouse = (0.5 * WIDTH + right * HEIGHT, 0.5 * HEIGHT + down * HEIGHT)
    under = orbit.unproject(*mouse, orbit.distance, WIDTH, HEIGHT)
    for factor in (0.5, 3.0):
        zoomed = orbit.zoomed(factor, right, down)
        np.testing.assert_allclose(place(zoomed, under), mouse, atol=1e-9)
        assert zoomed.distance == pytest.approx(factor * orbit.distance)


def test_a_zoom_never_reaches_the_target_or_infinity() -> None:
    orbit = Orbit()
    for factor in (1e-30, 1e30):
        assert np.isfinite(orbit.zoomed(factor, 0.4, 0.4).project(POINTS, WIDTH, HEIGHT)[1]).all()


def test_a_drag_moves_what_is_in_front_along_with_the_mouse() -> None:
    orbit = Orbit(pitch=0.2)
    front = orbit.eye() + 0.8 * (np.array(orbit.target) - orbit.eye())
    before = place(orbit, front)
    assert place(orbit.rotated(0.05, 0.0), front)[0] > before[0]
    assert place(orbit.rotated(0.0, 0.05), front)[1] > before[1]


def test_turning_stops_before_the_pole_and_comes_around() -> None:
    assert Orbit().rotated(0.0, 9.0).pitch < math.pi / 2
    assert Orbit().rotated(0.0, -9.0).pitch > -math.pi / 2
    np.testing.assert_allclose(Orbit().rotated(2.0, 0.0).eye(), Orbit().eye())


@pytest.mark.parametrize("aspect", [0.3, 1.0, 2.5])
def test_framed_points_are_all_in_the_picture(aspect: float) -> None:
    width = aspect * HEIGHT
    for orbit in (Orbit(), Orbit(yaw=2.0, pitch=-1.0, distance=1e-4, target=(9.0, 9.0, 9.0))):
        framed = orbit.framed(3.0 * POINTS + 7.0, aspect)
        pixels, depths = framed.project(3.0 * POINTS + 7.0, width, HEIGHT)
        assert (depths > framed.near).all()
        assert (pixels >= 0.0).all() and (pixels <= [width, HEIGHT]).all()
        assert (framed.yaw, framed.pitch) == (orbit.yaw, orbit.pitch)


def test_framing_leaves_out_what_is_not_finite() -> None:
    orbit = Orbit()
    assert orbit.framed(np.empty((0, 3))) == orbit
    assert orbit.framed([[np.nan, 0.0, 0.0]]) == orbit
    assert orbit.framed([[1.0, 2.0, 3.0], [np.inf, 0.0, 0.0]]).target == (1.0, 2.0, 3.0)
    assert orbit.framed([1.0, 2.0, 3.0]).distance == orbit.distance


def test_unproject_inverts_project() -> None:
    orbit = Orbit(target=(0.1, 0.2, 0.3), up=(0.0, 0.0, 1.0))
    pixels, depths = orbit.project(POINTS, WIDTH, HEIGHT)
    back = [
        orbit.unproject(x, y, z, WIDTH, HEIGHT) for (x, y), z in zip(pixels, depths, strict=True)
    ]
    np.testing.assert_allclose(back, POINTS, atol=1e-12)


def test_what_is_behind_the_eye_has_no_pixel() -> None:
    orbit = Orbit()
    behind = orbit.eye() - orbit.axes()[2]
    pixels, depths = orbit.project([behind, orbit.eye(), orbit.target], WIDTH, HEIGHT)
    assert np.isnan(pixels[:2]).all() and np.isfinite(pixels[2]).all()
    assert depths[0] < 0.0


def test_segments_are_cut_at_the_near_plane() -> None:
    segments = np.array(
        [
            [[0.0, 0.0, -1.0], [2.0, 4.0, 1.0]],
            [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]],
            [[1.0, 1.0, 3.0], [1.0, 1.0, -1.0]],
            [[0.0, 0.0, -1.0], [0.0, 0.0, -2.0]],
        ]
    )
    cut, kept = cut_segments(segments, 0.5)
    assert kept.tolist() == [0, 1, 2]
    np.testing.assert_allclose(cut[0], [[1.5, 3.0, 0.5], [2.0, 4.0, 1.0]])
    np.testing.assert_array_equal(cut[1], segments[1])
    np.testing.assert_allclose(cut[2], [[1.0, 1.0, 3.0], [1.0, 1.0, 0.5]])
    assert (cut[:, :, 2] >= 0.5).all()


@pytest.mark.parametrize("behind", [0, 1, 2])
def test_what_is_left_of_a_triangle_has_its_area(behind: int) -> None:
    """In a plane across the near one: a corner of 4 x 4 that loses its tip, or keeps it."""
    corners = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 2.0], [0.0, 4.0, 4.0]])
    for flip, wanted in ((1.0, 8.0 - 1.0), (-1.0, 1.0)):
        triangle = np.roll(corners * [1.0, 1.0, flip], behind, axis=0)
        parts, kept = cut_triangles(triangle[None], flip * 1.0)
        assert set(kept.tolist()) == {0}
        sides = parts[:, 1:, :2] - parts[:, :1, :2]
        assert np.abs(np.linalg.det(sides)).sum() / 2 == pytest.approx(wanted)
        assert len({np.sign(np.linalg.det(one)) for one in sides}) == 1
