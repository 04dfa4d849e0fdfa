"""The coverage of a pixel: shapes against formulas for every pixel."""

from __future__ import annotations

import numpy as np
import pytest

from difftile.viewer.discs import discs
from difftile.viewer.strokes import strokes
from difftile.viewer.surface import Surface
from difftile.viewer.triangles import triangles

WIDTH, HEIGHT = 90, 60
BLACK, WHITE = np.zeros(3, np.uint8), np.full(3, 255, np.uint8)
RED, GREEN = (np.array(c, np.uint8) for c in ((255, 0, 0), (0, 255, 0)))
X, Y = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)


def blank() -> Surface:
    return Surface(WIDTH, HEIGHT, BLACK)


def f32(*values: object) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize("width", [1.0, 1.5, 4.0])
def test_strokes_cover_what_is_near_to_a_segment(width: float) -> None:
    rng = np.random.default_rng(1)
    begins = rng.uniform(-20, 100, (30, 2)).astype(np.float32)
    ends = rng.uniform(-20, 100, (30, 2)).astype(np.float32)
    ends[0], ends[1, 0], ends[2, 1] = begins[0], begins[1, 0], begins[2, 1]
    begins[3], ends[3] = (-1e4, 20.0), (1e4, 25.0)
    begins[4] = np.nan
    surface = blank()
    surface.paint(strokes(surface.size, begins, ends, width), WHITE)
    places = np.stack([X, Y], axis=-1)
    cover = np.zeros((HEIGHT, WIDTH))
    for a, b in zip(begins.astype(float), ends.astype(float), strict=True):
        way = b - a
        length = way @ way
        share = np.clip(((places - a) @ way) / length if length else 0.0, 0.0, 1.0)
        gap = np.linalg.norm(places - a - np.multiply.outer(share, way), axis=-1)
        cover = np.fmax(cover, np.clip(width / 2 + 0.5 - gap, 0.0, 1.0))
    shown = surface.image()[..., 0] / 255.0
    np.testing.assert_allclose(shown, cover, atol=0.01)


def test_discs_cover_what_is_within_their_radius_the_last_on_top() -> None:
    surface = blank()
    centers = f32([40, 30], [50, 30], [-3, -3])
    parts = discs(surface.size, centers, f32(12, 9, 10))
    surface.paint(parts, np.stack([RED, GREEN, RED]))
    image = surface.image()
    for (x, y), radius, layer in (((50, 30), 9, 1), ((-3, -3), 10, 0)):
        gap = np.hypot(X - x, Y - y)
        assert (image[gap < radius - 0.5, layer] == 255).all()
    assert (image[np.hypot(X - 40, Y - 30) < 11.5].max(axis=-1) >= 250).all()
    assert image[5, 80].max() == 0


def test_many_discs_are_those_of_few_with_hard_edges() -> None:
    rng = np.random.default_rng(2)
    few = rng.uniform(-5, 95, (40, 2)).astype(np.float32)
    radii = rng.uniform(0.3, 6.0, 40).astype(np.float32)
    colours = rng.integers(0, 255, (40, 3)).astype(np.uint8)
    for near in (None, rng.random(40).astype(np.float32)):
        front = np.full((HEIGHT, WIDTH), -1)
        for k in np.arange(40) if near is None else np.argsort(near):
            x, y = np.floor(few[k]) + 0.5
            front[(X - x) ** 2 + (Y - y) ** 2 <= radii[k] ** 2] = k
        expected = np.where((front >= 0)[..., None], colours[front], 0)
        surface, copies = blank(), 200  # behind each other, so that there are many
        parts = discs(
            surface.size,
            np.repeat(few, copies, axis=0),
            np.repeat(radii, copies),
            None if near is None else np.repeat(near, copies),
        )
        surface.paint(parts, np.repeat(colours, copies, axis=0))
        np.testing.assert_array_equal(surface.image(), expected)


def test_triangles_fill_a_rectangle_without_gaps_or_overlap() -> None:
    rng = np.random.default_rng(3)
    n = 7
    grid = np.stack(np.meshgrid(np.linspace(5, 85, n), np.linspace(5, 55, n)), -1)
    grid[1:-1, 1:-1] += rng.uniform(-3, 3, (n - 2, n - 2, 2))
    a, b, c, d = (grid[i : i + n - 1, j : j + n - 1] for i in (0, 1) for j in (0, 1))
    corners = np.concatenate([np.stack([a, b, c], -2), np.stack([b, d, c], -2)]).reshape(-1, 3, 2)
    covered = np.zeros((HEIGHT, WIDTH), int)
    for three in corners.astype(np.float32):
        surface = blank()
        surface.paint(triangles(surface.size, three[None]), WHITE)
        covered += surface.image()[..., 0] > 0
    inside = (X > 5) & (X < 85) & (Y > 5) & (Y < 55)
    np.testing.assert_array_equal(covered, inside)
    whole = blank()
    two = f32([[-1e6, -1e6], [1e6, -1e6], [0, 1e6]], [[np.nan, 0], [1, 1], [2, 0]])
    whole.paint(triangles(whole.size, two), RED)
    assert (whole.image() == RED).all()


def test_where_strokes_cross_or_meet_the_last_is_seen_whole() -> None:
    surface = blank()
    cross = f32([0, 30], [45, 0]), f32([90, 30], [45, 60])
    surface.paint(strokes(surface.size, *cross, 6.0), np.stack([RED, GREEN]))
    image = surface.image()
    assert image[30, 45].tolist() == GREEN.tolist()
    assert (image[28:33, 10] == RED).all() and (image[28:33, 43:48] == GREEN).all()
    thin = blank()
    joint = f32([10, 30], [40.3, 30.2]), f32([40.3, 30.2], [80, 31])
    thin.paint(strokes(thin.size, *joint, 1.5), WHITE)
    columns = thin.image()[..., 0].astype(int).sum(axis=0)[12:78]
    assert columns.min() > 0.9 * 1.5 * 255  # no notch where they meet


def test_a_disc_may_be_far_larger_than_the_picture() -> None:
    for radius in (1e3, 1e5, 1e7):
        surface = blank()
        surface.paint(discs(surface.size, f32([30.0 - radius, 20.0]), f32(radius)), RED)
        image = surface.image()
        assert (image[:, :29] == RED).all() and not image[:, 32:].any()
