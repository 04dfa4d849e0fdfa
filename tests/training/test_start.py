"""Gaussians to begin with, and how fast they learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree  # pyrefly: ignore[missing-module-attribute]

import difftile as dt
from difftile.training import degree_at, gaussians_at, optimiser
from difftile.training.from_points import distances_of_neighbours
from difftile.training.numbers import sigmoid


def clouds() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    clusters = rng.normal(size=(800, 3)) * 0.01, rng.normal(size=(400, 3)) * 10.0
    return {
        "even": rng.random((2000, 3)),
        "clusters": np.concatenate((*clusters, [[1e5, 0.0, 0.0]])),
        "a plane": np.concatenate((rng.random((999, 2)), np.ones((999, 1))), axis=1),
        "a line": np.arange(50.0)[:, None] * np.ones(3),
        "a lattice": np.stack(np.meshgrid(*[np.arange(9.0)] * 3), axis=-1).reshape(-1, 3),
        "four": rng.random((4, 3)),
        "heavy tails": rng.standard_cauchy((2000, 3)),
    }


@pytest.mark.parametrize("name", clouds())
def test_neighbours_are_the_nearest(name: str) -> None:
    points = clouds()[name]
    wanted = cKDTree(points).query(points, 4)[0][:, 1:]
    np.testing.assert_allclose(distances_of_neighbours(points), wanted, rtol=1e-12)


def test_neighbours_are_in_other_places() -> None:
    points = np.array([[0.0, 0, 0], [3.0, 0, 0], [0.0, 0, 0], [0.0, 0, 0]])
    assert distances_of_neighbours(points).tolist() == [[3.0]] * 4
    with pytest.raises(dt.LaunchError, match="two places"):
        distances_of_neighbours(points[[0, 2]])
    with pytest.raises(dt.LaunchError, match="not finite"):
        distances_of_neighbours(np.array([[0.0, 0, np.nan], [0.0, 0, 0]]))


def test_gaussians_at_points() -> None:
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 2, 0], [0.0, 0, 3]])
    made = gaussians_at(points, np.full((4, 3), 0.25), degree=2)
    np.testing.assert_allclose(made["scales"][0], np.log(2.0), rtol=1e-6)
    np.testing.assert_allclose(sigmoid(made["opacities"]), 0.1, rtol=1e-6)
    np.testing.assert_allclose(0.28209479177387814 * made["sh0"] + 0.5, 0.25, rtol=1e-6)
    assert made["shN"].shape == (4, 8, 3)
    assert made["quaternions"].tolist() == [[1.0, 0.0, 0.0, 0.0]] * 4
    assert "shN" not in gaussians_at(points, points, degree=0)
    with pytest.raises(dt.LaunchError, match=r"shape \(n, 3\)"):
        gaussians_at(points, np.zeros((3, 3)))


def test_rates_are_by_field() -> None:
    fields = ("means", "scales", "quaternions", "opacities", "sh0", "shN")
    rows = dt.Rows({name: dt.zeros(2, grad=True) for name in fields})
    steps = optimiser(rows, 2.0, steps=1)
    rates = (3.2e-4, 5e-3, 1e-3, 5e-2, 2.5e-3, 1.25e-4)
    for step in range(2):
        before = rows.to_numpy()
        for name in rows:
            rows[name].grad.fill(1e-3)
        steps.step()
        for name, rate in zip(fields, rates, strict=True):
            moved = before[name] - rows[name].to_numpy()
            wanted = rate * (0.01 if step and name == "means" else 1.0)
            np.testing.assert_allclose(moved, wanted, rtol=1e-4)
    with pytest.raises(dt.LaunchError, match="'other' has no rate"):
        optimiser(dt.Rows(means=dt.zeros(2, grad=True), other=dt.zeros(2, grad=True)), 1.0)


def test_degrees_rise() -> None:
    assert [degree_at(step) for step in (0, 999, 1000, 2500, 9000)] == [0, 0, 1, 2, 3]
    assert degree_at(9000, most=1) == 1


def test_points_that_single_precision_cannot_tell_apart_are_one_place() -> None:
    colours = np.full((4, 3), 0.5)
    near = np.array([[0, 0, 0], [1e-300, 0, 0], [0, 1e-200, 0], [1.0, 0, 0]])
    made = gaussians_at(near, colours)
    np.testing.assert_allclose(made["scales"], 0.0, atol=1e-6)  # all are 1 from their neighbour
    tiny = gaussians_at(near * [1e-30, 0, 0], colours)
    assert all(np.isfinite(array).all() for array in tiny.values())
    with pytest.raises(dt.LaunchError, match="at least two places"):
        gaussians_at(near[:3], colours[:3])
    with pytest.raises(dt.LaunchError, match="are not finite"):
        gaussians_at(near + np.array([1e39, 0, 0]), colours)
