"""Lookups whose values are known without weights of taps: of ramps, and at centres of texels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile import ti


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def over_footprints(texture: ti.template(), at, ddx, ddy, found):
    for k in found:
        found[k] = texture.sample_grad(at[k], ddx[k], ddy[k])[0]


@dt.kernel
def at_levels(texture: ti.template(), at, lods, found):
    for k in found:
        found[k] = texture.sample_lod(at[k], lods[k])[0]


def test_the_mean_of_a_ramp_over_a_footprint_is_its_value_at_the_centre() -> None:
    n = 16
    ramp = np.broadcast_to(np.arange(n, dtype=float), (n, n))[..., None]
    texture = dt.Texture(dt.from_numpy(ramp, dt.vec(1, ti.f64)), mip="linear", max_aniso=4)
    at = np.array([[8.0, 8.0], [7.25, 8.0], [8.5, 7.5]]) / n
    ddx = np.array([[3.9, 0.0], [2.5, 0.5], [0.3, 0.4]]) / n
    ddy = np.array([[0.0, 1.0], [0.0, 0.9], [-3.0, 2.0]]) / n
    found = dt.zeros(3, ti.f64)
    over_footprints(texture, *(dt.from_numpy(x, dt.vec(2, ti.f64)) for x in (at, ddx, ddy)), found)
    np.testing.assert_allclose(found.to_numpy(), n * at[:, 0] - 0.5, rtol=1e-12)


def test_levels_of_detail_below_the_first_and_beyond_the_last_are_those() -> None:
    texels = np.random.default_rng(1).normal(size=(4, 4, 1))
    texture = dt.Texture(dt.from_numpy(texels, dt.vec(1, ti.f64)), mip="linear")
    at, lods = np.full((6, 2), 1.5 / 4), np.array([-3.0, -0.5, 0.0, 2.0, 2.5, 9.0])
    found = dt.zeros(6, ti.f64)
    at_levels(texture, dt.from_numpy(at, dt.vec(2, ti.f64)), dt.from_numpy(lods), found)
    expected = [texels[1, 1, 0]] * 3 + [texels.mean()] * 3
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-13)
