"""Lookups at kinks of the filters, known by hand."""

from __future__ import annotations

import numpy as np
import taichi as ti

import difftile as dt

VALUES = np.array([1.0, 2.0, 4.0, 8.0])


@dt.kernel
def look(tex: ti.template(), u, y):
    for i in u:
        y[i] = tex.sample(u[i])


@dt.kernel
def look_lod(tex: ti.template(), lod, y):
    for i in lod:
        y[i] = tex.sample_lod(0.25, lod[i])


def slopes(kernel, tex, positions):
    """Return values and derivatives at positions."""
    x = dt.from_numpy(np.array(positions), grad=True)
    y = dt.zeros(len(positions), ti.f64, grad=True)
    with dt.Tape() as tape:
        kernel(tex, x, y)
    tape.backward({y: np.ones(len(positions))})
    return y.to_numpy(), x.grad.to_numpy()


def test_the_derivative_at_a_centre_is_that_to_the_right() -> None:
    values, at = slopes(look, dt.Texture(VALUES), [0.125, 0.25, 0.875, 0.05, 0.95])
    np.testing.assert_array_equal(values, [1, 1.5, 8, 1, 8])
    np.testing.assert_array_equal(at, [4, 4, 0, 0, 0])


def test_nearest_is_floor() -> None:
    values, at = slopes(look, dt.Texture(VALUES, "nearest"), [0.0, 0.25, 0.5, 0.75, 0.99, 1.0, -1])
    np.testing.assert_array_equal(values, [1, 2, 4, 8, 8, 8, 1])
    np.testing.assert_array_equal(at, 0)


def test_a_border_fades_over_half_a_texel() -> None:
    tex = dt.Texture(VALUES, wrap="border", border=16.0)
    values, at = slopes(look, tex, [0.125, 0.0, -0.125, -0.2, 1.0, 1.125, 1.5])
    np.testing.assert_array_equal(values, [1, 8.5, 16, 16, 12, 16, 16])
    np.testing.assert_array_equal(at, [4, -60, -60, 0, 32, 0, 0])


def test_between_levels_and_beyond_them() -> None:
    tex = dt.Texture(VALUES, "nearest", mip="linear")
    levels = [2.0, 1.5, 3.75]
    values, at = slopes(look_lod, tex, [-1.0, 0.0, 0.5, 1.0, 2.0, 9.0])
    np.testing.assert_array_equal(values, [2, 2, 1.75, 1.5, 3.75, 3.75])
    np.testing.assert_array_equal(at, [0, -0.5, -0.5, 2.25, 0, 0], str(levels))


def test_the_nearest_level_changes_at_halves() -> None:
    tex = dt.Texture(VALUES, "nearest", mip="nearest")
    values, at = slopes(look_lod, tex, [-1.0, 0.49, 0.5, 1.49, 1.5, 1e30])
    np.testing.assert_array_equal(values, [2, 2, 1.5, 1.5, 3.75, 3.75])
    np.testing.assert_array_equal(at, 0)
