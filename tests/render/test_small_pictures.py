"""Pictures of a few pixels, run as Python: gradients at limits, tiles that ellipses reach."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.render.compositing import composite
from difftile.render.coverage import triangle_coverage
from difftile.render.ewa import MARGIN, flattened
from difftile.render.tiles import reaches
from tests.render import test_compositing


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@pytest.mark.always  # which alone notices wrong derivatives of covers and depths
def test_the_rule_of_compositing_is_its_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in {"WIDTH": 3, "HEIGHT": 2, "CAMERAS": 2, "TILE": 4, "COUNT": 3}.items():
        monkeypatch.setattr(test_compositing, name, size)
    both = {
        "means": [(0.5, 0.5), (1.4, 1.0), (2.0, 0.7)],
        "conics": [(0.5, 0.1, 0.7), (0.2, -0.1, 0.3), (0.4, 0.0, 0.4)],
        "colours": [(0.2,), (0.9,), (-0.3,)],
        "depths": [1.0, 1.5, 3.0],
    }
    values = {name: np.array([one, one]) for name, one in both.items()}
    values["opacities"] = np.array([(0.3, 0.6, 0.9), (0.997, 0.6, 0.9)])  # that is clamped
    values["background"] = np.array([0.4])
    one = test_compositing.Blending(values, ti.f64)

    def loss() -> float:
        one.run(composite)
        return sum(float(np.sum(f.to_numpy() * seed)) for f, seed in one.seeds.items())

    loss()
    found = one.gradients()
    rng = np.random.default_rng(1)
    for name, start in values.items():
        along = rng.uniform(-1.0, 1.0, start.shape)
        at = []
        for step in (1e-3, -1e-3, 2e-3, -2e-3):
            getattr(one, name).from_numpy(start + step * along)
            at.append(loss())
        getattr(one, name).from_numpy(start)
        slope = (8 * (at[0] - at[1]) - (at[2] - at[3])) / 12e-3
        assert np.sum(found[name] * along) == pytest.approx(slope, rel=1e-8, abs=1e-9), name


@dt.kernel
def reached(centres, conics, limits, tiles, tile: int, found):
    for k in found:
        at = tiles[k]
        found[k] = 1 if reaches(centres[k], conics[k], limits[k], at.x, at.y, tile) else 0


def least_square(centre: Any, conic: Any, corner: Any, tile: int) -> float:
    """Return the least square of an offset on a rectangle, which is inside of it or on a side."""
    (a, b, c), low, high = conic, corner + 0.5 - centre, corner + tile - 0.5 - centre
    if np.all(low <= 0) and np.all(high >= 0):
        return 0.0
    ends = [(x, np.clip(-b * x / c, low[1], high[1])) for x in (low[0], high[0])]
    ends += [(np.clip(-b * y / a, low[0], high[0]), y) for y in (low[1], high[1])]
    return min(a * x * x + 2 * b * x * y + c * y * y for x, y in ends)


def test_tiles_are_left_out_only_if_an_ellipse_does_not_reach_them() -> None:
    rng, n, tile = np.random.default_rng(2), 120, 4
    tiles = rng.integers(-3, 4, (n, 2)).astype(np.int32)
    centres = rng.uniform(0, 4, (n, 2))
    a, c = 10 ** rng.uniform(-2, 0.5, (2, n))
    conics = np.stack([a, rng.uniform(-0.95, 0.95, n) * np.sqrt(a * c), c], -1)
    limits = rng.uniform(0.5, 11.0, n)
    found = dt.zeros(n, ti.i32)
    reached(
        dt.from_numpy(centres, dt.vec(2, ti.f64)),
        dt.from_numpy(conics, dt.vec(3, ti.f64)),
        dt.from_numpy(limits),
        dt.from_numpy(tiles, dt.vec(2, ti.i32)),
        tile,
        found,
    )
    squares = [
        least_square(x, q, tile * at, tile) for x, q, at in zip(centres, conics, tiles, strict=True)
    ]
    expected = np.array(squares) <= limits
    assert 20 < expected.sum() < 100
    np.testing.assert_array_equal(found.to_numpy(), expected)


def blended(values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> test_compositing.Blending:
    """Return a picture of 3 by 2 pixels whose colours have the gradient 1."""
    for name, size in {"WIDTH": 3, "HEIGHT": 2, "CAMERAS": 1, "TILE": 4}.items():
        monkeypatch.setattr(test_compositing, name, size)
    found = test_compositing.Blending({"background": np.zeros(1), **values}, ti.f64)
    found.run(composite, seeds={f: f is found.image for f in found.seeds})
    return found


def test_absolute_gradients_of_a_centre_do_not_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    centre, (a, b, c), opacity = np.array([1.4, 1.1]), (0.5, 0.1, 0.7), 0.6
    one = blended(
        {
            "means": centre[None, None],
            "conics": np.array([[(a, b, c)]]),
            "opacities": np.array([[opacity]]),
            "colours": np.ones((1, 1, 1)),
            "depths": np.ones((1, 1)),
        },
        monkeypatch,
    )
    x, y = (centre[:, None, None] - 0.5 - np.mgrid[:3, :2]).reshape(2, -1)
    alpha = opacity * np.exp(-0.5 * (a * x * x + 2 * b * x * y + c * y * y))
    slopes = -alpha * np.stack([a * x + b * y, b * x + c * y])
    assert np.all(np.abs(slopes.sum(1)) < 0.7 * np.abs(slopes).sum(1))
    np.testing.assert_allclose(one.means.grad.to_numpy()[0, 0], slopes.sum(1), rtol=1e-12)
    found = one.absolute.grad.to_numpy()[0, 0]
    np.testing.assert_allclose(found, np.abs(slopes).sum(1), rtol=1e-12)


def test_gaussians_behind_the_last_one_of_a_pixel_have_no_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The light of the first pixel after three of them would be 8e-6, which is too little."""
    narrow = (100.0, 0.0, 100.0)
    one = blended(
        {
            "means": np.full((1, 4, 2), 0.5),
            "conics": np.array([[narrow, narrow, narrow, (0.0, 0.0, 0.0)]]),
            "opacities": np.array([[0.98, 0.98, 0.98, 0.5]]),
            "colours": np.array([[[1.0], [0.5], [7.0], [9.0]]]),
            "depths": np.ones((1, 4)),
        },
        monkeypatch,
    )
    weights = [0.98, 0.98 * 0.02, 0.0, 5 * 0.5]
    np.testing.assert_allclose(one.colours.grad.to_numpy()[0, :, 0], weights, rtol=1e-12)
    slopes = [1.0 - 0.98 * 0.5, 0.02 * 0.5, 0.0, 5 * 9.0]
    np.testing.assert_allclose(one.opacities.grad.to_numpy()[0], slopes, rtol=1e-12)


@dt.kernel
def covered(corners, pixel: ti.math.vec2, found):
    for k in found:
        found[k] = triangle_coverage(pixel, corners[k, 0], corners[k, 1], corners[k, 2])


def test_triangles_of_either_orientation_cover_as_much() -> None:
    """Half a unit square, and a corner of the pixel, in each order of the corners."""
    corners = [
        [triangle[k] for k in order]
        for triangle in ([(3.25, 5.25), (3.75, 5.25), (3.25, 5.75)], [(2, 5), (4, 5), (2, 7)])
        for order in itertools.permutations(range(3))
    ]
    found = dt.zeros(12, ti.f64)
    covered(dt.from_numpy(np.array(corners, float), dt.vec(2, ti.f64)), (3.5, 5.5), found)
    np.testing.assert_allclose(found.to_numpy(), [0.125] * 6 + [0.5] * 6, rtol=1e-14)


@dt.kernel
def flat(points, axes, lens, width: float, height: float, covariances):
    for k in points:
        _, covariances[k], _ = flattened(points[k], axes[None], lens[None], width, height)


def test_gaussians_beyond_the_margin_are_linearised_at_its_edge() -> None:
    width, height, fx, fy = 40.0, 20.0, 50.0, 60.0
    lens = np.array([fx, fy, 18.0, 11.0])
    points = np.array([[0.1, -0.05, 2.0], [30.0, 0.1, 2.0], [-30.0, 25.0, 1.5], [0.1, -9.0, 1.0]])
    axes = np.array([[0.3, 0.1, 0.0], [0.0, 0.2, 0.1], [0.1, 0.0, 0.4]])
    found = dt.zeros(4, dt.vec(3, ti.f64))
    flat(
        dt.from_numpy(points, dt.vec(3, ti.f64)),
        dt.from_numpy(axes, dt.mat(3, 3, ti.f64)),
        dt.from_numpy(lens, dt.vec(4, ti.f64)),
        width,
        height,
        found,
    )
    expected = []
    for x, y, z in points:
        low, high = -lens[2:] / (fx, fy), (np.array([width, height]) - lens[2:]) / (fx, fy)
        margin = MARGIN * 0.5 * np.array([width / fx, height / fy])
        at = np.clip([x / z, y / z], low - margin, high + margin)
        jacobian = np.array([[fx / z, 0, -fx / z * at[0]], [0, fy / z, -fy / z * at[1]]])
        covariance = jacobian @ axes @ axes.T @ jacobian.T
        expected.append(covariance[[0, 0, 1], [0, 1, 1]])
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)
