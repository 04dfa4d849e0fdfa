"""Pictures of a few pixels, run as Python: gradients at limits, tiles that ellipses reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.render.compositing import composite
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
