"""Rotations near half a turn, where quaternions are computed in four ways."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import difftile as dt
from difftile import ti


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


def test_quaternions_of_matrices_near_half_a_turn_about_any_axis() -> None:
    rng = np.random.default_rng(3)
    axes = np.concatenate([np.eye(3), -np.eye(3), rng.normal(size=(6, 3))])
    axes = np.concatenate([axes, axes + 1e-5 * rng.normal(size=axes.shape)])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angles = np.array([np.pi, np.pi - 1e-9, np.pi - 1e-4, 2.0, 2.2])
    turns = Rotation.from_rotvec((angles[:, None, None] * axes).reshape(-1, 3))
    found = dt.rotations.quat_from_matrix(dt.from_numpy(turns.as_matrix(), dt.mat(3, 3, ti.f64)))
    q = found.to_numpy()[:, [1, 2, 3, 0]]
    known = turns.as_quat()
    known *= np.sign(np.sum(q * known, axis=1, keepdims=True))  # either stands for the rotation
    np.testing.assert_allclose(q, known, rtol=0, atol=1e-15)


def test_logarithms_of_either_quaternion_of_a_rotation_turn_the_shorter_way() -> None:
    rng = np.random.default_rng(4)
    q = rng.normal(size=(20, 4))
    turns = Rotation.from_quat(q[:, [1, 2, 3, 0]]).as_rotvec()
    for sign in (1.0, -1.0):
        found = dt.rotations.quat_log(dt.from_numpy(sign * q, dt.vec(4, ti.f64))).to_numpy()
        np.testing.assert_allclose(found, turns, rtol=1e-13, atol=1e-14)
