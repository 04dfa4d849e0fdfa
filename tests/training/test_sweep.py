"""A start without points: they are found in the pictures, where surfaces are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import difftile as dt
from difftile.training import Options, Trainer
from difftile.training.sweep import points_of

SIZE, VIEWS = 40, 14
BLACK = (0.0, 0.0, 0.0)


def texture(p: np.ndarray) -> np.ndarray:
    """Return colours of points, waves of several lengths, shape (n, 3)."""
    waves = [np.sin(p @ np.array(a) + b) for a, b in (((3, 4, 2), 0), ((-5, 2, 4), 1))]
    fast = np.sin(p @ np.array((7.0, -6.0, 5.0)))
    return 0.5 + 0.2 * np.stack([waves[0] + fast, waves[1] - fast, waves[0] - waves[1]], axis=-1)


def surfaces(eye: np.ndarray, way: np.ndarray, ground: bool) -> np.ndarray:
    """Return where rays meet the ball or the ground z = -1, NaN for nothing, shape (n, 3)."""
    b, c = way @ eye, eye @ eye - 1.0
    inside = b * b - c
    with np.errstate(invalid="ignore", divide="ignore"):
        ball = -b - np.sqrt(inside)
        low = np.where((way[:, 2] < 0) & ground, (-1.0 - eye[2]) / way[:, 2], np.nan)
    return eye + np.fmin(ball, low)[:, None] * way


def scene(folder: Path, ground: bool, points: int = 0) -> dt.datasets.Dataset:
    """Write pictures of a ball, on a ground that fills the pictures or on black."""
    turns = 2.39996 * np.arange(VIEWS)
    rise = np.linspace(0.5, 1.2, VIEWS)
    flat = np.cos(rise)
    eyes = 4.0 * np.stack([flat * np.cos(turns), flat * np.sin(turns), np.sin(rise)], axis=1)
    cameras = dt.render.Cameras.look_at(eyes, (0, 0, -0.3), SIZE, SIZE, fov=50, up=(0, 0, 1))
    lens = cameras.intrinsics.to_numpy()[0].astype(np.float64)
    fine = (np.arange(3 * SIZE) + 0.5) / 3
    x, y = np.meshgrid((fine - lens[2]) / lens[0], (fine - lens[3]) / lens[1])
    rays = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(-1, 3)
    folder.mkdir()
    views, met = [], []
    for k, (eye, pose) in enumerate(zip(eyes, cameras.world_to_camera(), strict=True)):
        way = rays @ pose[:3, :3]
        places = surfaces(eye, way / np.linalg.norm(way, axis=1, keepdims=True), ground)
        met.append(places[np.isfinite(places).all(axis=1)])
        colours = np.nan_to_num(texture(places)).reshape(SIZE, 3, SIZE, 3, 3).mean(axis=(1, 3))
        path = folder / f"{k:02}.png"
        Image.fromarray(np.rint(colours.clip(0, 1) * 255).astype(np.uint8)).save(path)
        views.append(dt.datasets.View(path.name, path, pose, lens, SIZE, SIZE))
    known = None
    if points:
        there = np.concatenate(met)
        some = there[np.random.default_rng(0).permutation(len(there))[:points]]
        known = dt.datasets.Points(some, texture(some).astype(np.float32))
    return dt.datasets.Dataset(folder, tuple(views), known, "a ball")


@pytest.mark.parametrize("ground", [False, True])
def test_points_are_where_surfaces_are(ground: bool, tmp_path: Path) -> None:
    data = scene(tmp_path / "ball", ground)
    places, colours = points_of(data.views, np.array([0, 0, -0.3]), BLACK)
    assert len(places) > 2000
    away = np.abs(np.linalg.norm(places, axis=1) - 1.0)
    if ground:
        away = np.minimum(away, np.abs(places[:, 2] + 1.0))
    pixel = 4.0 * 2 * np.tan(np.radians(25)) / SIZE
    assert np.median(away) < 0.5 * pixel
    assert np.quantile(away, 0.85) < 2.0 * pixel  # others fill gaps without a sure depth
    near = away < pixel
    assert np.abs(colours - texture(places))[near].mean() < 0.08
    # All sides that cameras see have points.
    top = np.random.default_rng(0).normal(size=(100, 3))
    top = top[top[:, 2] > 0.2] / np.linalg.norm(top[top[:, 2] > 0.2], axis=1, keepdims=True)
    gaps = np.linalg.norm(top[:, None] - places[None], axis=2).min(axis=1)
    assert np.quantile(gaps, 0.9) < 2.0 * pixel


def test_too_little_shows_no_points(tmp_path: Path) -> None:
    views = scene(tmp_path / "ball", False).views
    focus = np.zeros(3)
    assert len(points_of(views[:1], focus, BLACK)[0]) == 0
    assert len(points_of((), focus, BLACK)[0]) == 0
    assert len(points_of((views[0], views[0]), focus, BLACK)[0]) == 0  # one place
    path = tmp_path / "line.png"
    Image.fromarray(np.zeros((2, SIZE, 3), np.uint8)).save(path)
    thin = tuple(replace(view, path=path, height=2) for view in views)
    assert len(points_of(thin, focus, BLACK)[0]) == 0
    Image.fromarray(np.zeros((2, 500, 3), np.uint8)).save(path)
    long = tuple(replace(view, path=path, height=2, width=500) for view in views)
    assert len(points_of(long, focus, BLACK)[0]) == 0
    Image.fromarray(np.full((SIZE, SIZE, 3), 90, np.uint8)).save(path)
    plain = tuple(replace(view, path=path) for view in views)
    assert len(points_of(plain, focus, BLACK)[0]) == 0  # no depth matches best


@pytest.mark.slow
@pytest.mark.parametrize("ground", [False, True])
def test_a_start_without_points_is_as_good(ground: bool, tmp_path: Path) -> None:
    data = scene(tmp_path / "ball", ground, 1500)
    found = []
    for given in (data, replace(data, points=None)):
        options = Options(steps=400, points=1500, strategy="none", sh_degree=0)
        trainer = Trainer(given, options)
        for _ in range(400):
            trainer.advance()
        found.append(np.mean([one.psnr for one in trainer.scores(trainer.held_out)]))
    assert found[1] > found[0] - 1.5
