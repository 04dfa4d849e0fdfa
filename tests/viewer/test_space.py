"""Visibility in space, and pictures rendered as a background."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import ViewerError
from difftile.viewer import App, KeyDown, MouseDown, MouseMove, MouseUp, View
from difftile.viewer.orbit import Orbit
from difftile.viewer.perspective import Perspective
from difftile.viewer.primitives import (
    Backdrop,
    Circles,
    Facets,
    Lines,
    Markers,
    Primitive,
)
from difftile.viewer.raster import draw
from difftile.viewer.screen import Area
from difftile.viewer.surface import Surface
from difftile.viewer.theme import BACKGROUND

RED, GREEN, BLUE = (np.array(c, np.uint8) for c in ((200, 0, 0), (0, 200, 0), (0, 0, 200)))
WIDTH, HEIGHT = 200, 160
FRONT = Orbit(yaw=0.0, pitch=0.0, distance=2.0, fov=np.pi / 2)  # 40 pixels a unit at the target


def f32(*values: object) -> np.ndarray:
    return np.array(values, np.float32)


def drawn(*shapes: Primitive, over: bool = False, orbit: Orbit = FRONT) -> np.ndarray:
    surface = Surface(WIDTH, HEIGHT, BACKGROUND)
    draw(surface, shapes, Perspective(Area(0, 0, WIDTH, HEIGHT), orbit, over))
    return surface.image()


def sheet(z: float, colour: np.ndarray, half: float = 1.0) -> Facets:
    corners = f32([-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z])
    return Facets(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), colour)


@pytest.mark.parametrize("turn", [1, -1])
def test_the_nearer_sheet_is_seen_whatever_was_added_first(turn: int) -> None:
    picture = drawn(*[sheet(0.0, GREEN), sheet(1.0, RED, 0.3)][::turn])
    assert picture[80, 100].argmax() == 0  # red: 80 pixels a unit there
    assert picture[80, 65].argmax() == 1
    assert picture[80, 20].tolist() == BACKGROUND.tolist()


def test_faces_that_are_nowhere_are_left_out() -> None:
    level = sheet(0.0, GREEN)
    level.vertices[1] = np.nan
    picture = drawn(level)
    assert picture[100, 80].tolist() == BACKGROUND.tolist()  # of the first face
    assert picture[60, 80].argmax() == 1


def test_sheets_that_pass_through_each_other_are_parted_where_they_meet() -> None:
    level = sheet(0.0, GREEN)
    tilted = replace(sheet(0.0, RED), vertices=level.vertices * f32(1, 1, 1) + f32(0, 0, 0))
    tilted.vertices[:, 2] = 0.5 * tilted.vertices[:, 0]  # nearer on the right
    picture = drawn(level, tilted)
    assert (picture[80, 62:99].argmax(axis=1) == 1).all()
    assert (picture[80, 101:138].argmax(axis=1) == 0).all()


def test_points_and_lines_are_hidden_behind_a_sheet_and_seen_before_it() -> None:
    for z, seen in ((-0.5, False), (0.5, True)):
        point = Markers(f32([0.2, 0.2, z]), BLUE, 4.0)
        line = Lines(f32([-2, -0.4, z]), f32([2, -0.4, z]), BLUE, 3.0)
        for shapes in ([sheet(0.0, GREEN), point, line], [line, point, sheet(0.0, GREEN)]):
            picture = drawn(*shapes)
            share = 1.0 / (2.0 - z) * 80
            at = round(80 - 0.2 * share), round(100 + 0.2 * share)
            across = round(80 + 0.4 * share)
            assert (picture[at].argmax() == 2) == seen
            assert (picture[across, 100].argmax() == 2) == seen
            assert picture[across, 30].argmax() == 2  # next to the sheet


def test_what_lies_on_a_face_is_seen_even_from_aside() -> None:
    on = sheet(0.0, GREEN)
    grid = np.linspace(-0.8, 0.8, 5, dtype=np.float32)
    places = np.stack([*np.meshgrid(grid, grid), np.zeros((5, 5))], -1).reshape(-1, 3)
    points = Markers(places.astype(np.float32), BLUE, 3.0)
    rim = Lines(on.vertices, np.roll(on.vertices, 1, axis=0), RED, 2.0)
    for yaw in (0.0, 0.9):
        orbit = replace(FRONT, yaw=yaw)
        picture = drawn(points, rim, on, orbit=orbit).astype(int)
        alone = drawn(points, rim, orbit=orbit).astype(int)
        for k in (0, 2):  # as many red and blue pixels as without the sheet
            count, most = ((one[..., k] > 150).sum() for one in (picture, alone))
            assert count >= 0.97 * most


def test_many_points_hide_each_other_as_few_do() -> None:
    far = f32(*[[0.0, 0.0, -0.5]] * 5000)
    positions = np.concatenate([f32([0.03, 0.0, 0.5]), far])
    shapes = Markers(positions, np.stack([RED] + [GREEN] * 5000), 5.0)
    picture = drawn(shapes)
    assert picture[80, 101].tolist() == RED.tolist()
    assert picture[80, 97].tolist() == RED.tolist()
    assert picture[80, 94].argmax() != 0
    two = Markers(shapes.positions[:2], shapes.colours[:2], 5.0)
    few, many = ((one[..., 0] > 100).sum() for one in (drawn(two), picture))
    assert few == pytest.approx(many, rel=0.15)


def test_circles_and_rings_have_a_depth() -> None:
    disc = Circles(f32([0.0, 0.0, 0.5]), f32(0.5), RED)
    ring = Circles(f32([0.0, 0.0, -0.5]), f32(0.9), BLUE, outline=3.0)
    picture = drawn(disc, ring, sheet(0.0, GREEN, 0.2))
    assert picture[80, 100].argmax() == 0
    radius = 0.9 * 80 / 2.5
    assert picture[80, round(100 + radius)].argmax() == 2
    hidden = drawn(sheet(0.0, GREEN), ring)
    assert (hidden[..., 2] > 100).sum() == 0
    assert (drawn(sheet(0.0, GREEN), ring, over=True)[..., 2] > 100).sum() > 300


def test_faces_across_the_plane_of_the_eye_are_cut() -> None:
    """A floor that begins behind the eye fills the lower half of the picture."""
    floor = f32([-50, -1, 50], [50, -1, 50], [50, -1, -50], [-50, -1, -50])
    picture = drawn(Facets(floor, np.array([[0, 1, 2], [0, 2, 3]], np.int32), GREEN))
    assert (picture[85:, :, 1] > 60).all()
    assert (picture[:79] == BACKGROUND).all()


def test_a_backdrop_hides_by_its_depth() -> None:
    colours = np.full((HEIGHT, WIDTH, 3), (0, 0, 200), np.uint8)
    depth = np.full((HEIGHT, WIDTH), 2.0, np.float32)
    depth[:, 100:] = np.inf
    depth[:20] = 0.0
    shape = sheet(-0.5, GREEN)
    picture = drawn(shape, Backdrop(colours, depth))
    assert picture[80, 80].tolist() == [0, 0, 200]
    assert picture[80, 120].argmax() == 1
    near = drawn(sheet(0.5, GREEN), Backdrop(colours, depth))
    assert near[80, 80].argmax() == near[80, 120].argmax() == 1
    assert drawn(shape, Backdrop(colours))[80, 80].argmax() == 1
    small = drawn(shape, Backdrop(colours[::4, ::4], depth[::4, ::4]))
    np.testing.assert_array_equal(small, picture)


# In an app


def test_handles_and_gradients_are_seen_through_everything() -> None:
    corners = f32([-1, -1, 0], [1, -1, 0], [0, 1, 0])
    x = dt.from_numpy(corners, dtype=dt.vec(3, ti.f32), grad=True)
    x.grad.from_numpy(f32([0, 0, 0], [0, 0, 0], [0, -1, -1]))  # behind the face
    app = App(backend="null", size=(640, 400))
    app.mesh(x, [[0, 1, 2]])
    behind = dt.from_numpy(f32([0, 0, -1]), dtype=dt.vec(3, ti.f32))
    app.handle(bind=(behind, 0), colour=(0.0, 0.0, 1.0))
    app.look(at=(0, 0, 0), distance=4, yaw=0, pitch=0)
    app.run(frames=1)
    before = app.picture
    assert before[200, 200].tolist() == [0, 0, 255]
    app.run(frames=1, events=[KeyDown("g")])
    assert app.picture is not None
    arrow = (app.picture.astype(int) - before)[60:, :400]
    assert (np.abs(arrow).sum(axis=-1) > 100).sum() > 100


def red_ball(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Render a ball of radius 1 at the origin, by rays."""
    fx, fy, cx, cy = view.intrinsics
    x, y = np.meshgrid(np.arange(view.width) + 0.5, np.arange(view.height) + 0.5)
    rays = np.stack([(x - cx) / fx, (y - cy) / fy, np.ones_like(x)], axis=-1)
    middle = view.world_to_camera[:3, 3]
    a, b = (rays**2).sum(-1), rays @ middle
    inside = b**2 - a * (middle @ middle - 1.0)
    depth = (b - np.sqrt(np.maximum(inside, 0.0))) / a
    hit = inside > 0.0
    return np.where(hit[..., None], [1.0, 0.0, 0.0], 0.0), np.where(hit, depth, 0.0)


def test_an_app_shows_what_is_rendered_for_its_camera() -> None:
    app = App(backend="null", size=(640, 400))
    views: list[View] = []

    @app.backdrop
    def render(view: View) -> object:
        views.append(view)
        return red_ball(view)

    app.look(at=(0, 0, 0), distance=4, yaw=0, pitch=0, fov=np.pi / 2)
    app.points([[0.0, 0.0, 2.0], [0.0, 0.0, -2.0], [0.9, 0.9, -1.0]], colour="white", radius=4)
    app.run(frames=1)
    assert (views[0].width, views[0].height) == (400, 400)
    np.testing.assert_allclose(views[0].intrinsics, [200, 200, 200, 200])
    np.testing.assert_allclose(views[0].world_to_camera[:3, 3], [0, 0, 4], atol=1e-12)
    assert app.orbit.distance == 4
    picture = app.picture
    assert picture[200, 200].tolist() == [255, 255, 255]  # the point in front of the ball
    radius = 200 / np.sqrt(15)
    assert picture[200, int(200 + radius - 2)].tolist() == [255, 0, 0]
    assert picture[200, int(200 + radius + 2)].tolist() == [0, 0, 0]
    assert (picture[:, :400, 1] > 200).sum() < 80  # those behind it is hidden
    turn = [MouseDown("left", 200, 200, 1), MouseMove(300, 200, 1), MouseUp("left", 300, 200, 1)]
    app.run(frames=3, events=[*turn, KeyDown("f", 2)])
    assert abs(views[2].world_to_camera[0, 0]) < 0.9  # turned
    np.testing.assert_allclose(views[3].world_to_camera, views[0].world_to_camera)  # and back


def test_the_camera_looks_around_what_it_is_told() -> None:
    app = App(backend="null", size=(640, 400))
    app.backdrop(lambda view: None, scale=0.5)
    app.points([[100.0, 0.0, 0.0]])
    app.look(around=[[5.0, 5.0, 5.0], [7.0, 7.0, 7.0]], up=(0, 0, 1))
    app.run(frames=1)
    assert app.orbit.target == (6.0, 6.0, 6.0)
    assert app.orbit.up == (0.0, 0.0, 1.0)
    app.look(distance=3)
    app.run(frames=1)
    assert (app.orbit.target, app.orbit.distance) == ((6.0, 6.0, 6.0), 3.0)


def test_what_a_backdrop_returns_is_checked() -> None:
    app = App(backend="null", size=(640, 400))
    results: list[object] = [np.zeros((3, 4)), (np.zeros((3, 4, 3)), np.zeros((4, 4)))]
    app.backdrop(lambda view: results.pop(0))
    for said in (r"shape \(h, w, 3\), not \(3, 4\)", r"of a backdrop of \(3, 4\) pixels has the"):
        with pytest.raises(ViewerError, match=said):
            app.run(frames=1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"at": (0, 0)}, "at is three finite numbers"),
        ({"distance": 0}, "distance is above 0"),
        ({"fov": 4}, "fov is between 0 and pi"),
        ({"up": (0, 0, 0)}, "up is three finite numbers, not all of them 0"),
        ({"yaw": np.nan}, "yaw and pitch are finite"),
        ({"distance": "far"}, "could not convert string to float"),
        ({"around": [[0, 0, 0]], "distance": 1}, "leave them out"),
    ],
)
def test_a_camera_that_cannot_be_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ViewerError, match=said):
        App(backend="null").look(**wrong)
    with pytest.raises(ViewerError, match="above 0, not 0"):
        App(backend="null").backdrop(lambda view: None, scale=0)
