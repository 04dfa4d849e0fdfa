"""The soft rasteriser: a decision boundary by signed distance (row HE1), and its demo."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.soft_raster import main, slopes_of_area, true_slopes_of_area
from scenes.triangle import (
    SoftRaster,
    cover,
    coverage,
    inside,
    inside_with_slope,
    make_scene,
    signed_distance,
)

ROOT_HALF = np.sqrt(0.5)


@pytest.mark.parametrize("turn", [1, -1])
def test_distance_to_a_triangle_by_hand(turn: int) -> None:
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[::turn]
    vec2 = dt.vec(2, ti.f64)
    a, b, c = (dt.full((), tuple(corner), vec2) for corner in corners)
    places = [[0.25, 0.25], [0.4, 0.5], [2.0, 0.0], [1.0, 1.0], [0.5, -0.25], [-3.0, -4.0]]
    expected = [0.25, 0.1 * ROOT_HALF, -1.0, -ROOT_HALF, -0.25, -5.0]
    found = signed_distance(dt.from_numpy(np.array(places), dtype=vec2), a, b, c)
    np.testing.assert_allclose(found.to_numpy(), expected, atol=1e-15)


def test_coverage_has_the_derivative_that_the_test_has_not() -> None:
    raster = SoftRaster(make_scene(256), ti.f64)
    true = true_slopes_of_area(raster.vertices.to_numpy())
    assert not slopes_of_area(raster, inside).any()
    shown = raster.image.to_numpy()
    assert set(np.unique(shown)) == {0.0, 1.0}
    np.testing.assert_array_equal(shown, cover(make_scene().guess, 256, samples=1))

    for width in (0.02, 0.005):  # of the corners so much is off
        raster.width = width
        soft = slopes_of_area(raster, coverage)
        np.testing.assert_allclose(soft, true, atol=0.2 * width)
    np.testing.assert_allclose(slopes_of_area(raster, inside_with_slope), soft, rtol=1e-12)
    np.testing.assert_array_equal(raster.image.to_numpy(), shown)


def test_demo_finds_the_vertices_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    misses = dict(re.findall(r"after +(\d+) iterations a vertex is at most (\S+) off", printed))
    most = {"100": 0.0046, "200": 0.0010}
    assert all(float(misses[k]) <= v for k, v in most.items())
    assert {path.name for path in tmp_path.iterdir()} == {"strip.png", "curve.png", "triangle.gif"}


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--size", "32"]) == 0
