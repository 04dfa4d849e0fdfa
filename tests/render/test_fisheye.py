"""Gaussians as fisheyes see them, beside closed forms and central differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError
from difftile.render import Cameras, Splatter, make_gaussians

WIDTH, HEIGHT, N = 20, 14, 5
FIELDS = ("means", "scales", "quaternions", "opacities", "sh0", "shN")


@pytest.fixture(autouse=True, scope="module")
def _double() -> None:
    dt.init(arch="cpu", default_fp=ti.f64)


def gaussians(spread: float = 1.0) -> Any:
    """Gaussians around the origin, of which one is on the axis of the first camera."""
    draw = np.random.default_rng(7)
    means = spread * draw.normal(size=(N, 3))
    means[0] = 0.0
    arrays = {
        "means": means,
        "scales": draw.normal(size=(N, 3)) * 0.2 - 1.2,
        "quaternions": draw.normal(size=(N, 4)),
        "opacities": draw.normal(size=N),
        "sh0": draw.normal(size=(N, 3)) + 1,
        "shN": 0.2 * draw.normal(size=(N, 3, 3)),
    }
    return make_gaussians(arrays, dtype=ti.f64)


def cameras(grad: bool = False) -> Cameras:
    eyes = [(0.0, 0.0, -2.0), (1.2, 0.6, -1.2)]
    return Cameras.look_at(
        eyes, (0, 0, 0), WIDTH, HEIGHT, fov=150.0, dtype=ti.f64, grad=grad, model="fisheye"
    )


def mapped(p: np.ndarray, lens: np.ndarray) -> np.ndarray:
    r = np.hypot(p[..., 0], p[..., 1])
    angle = np.where(r > 0, np.arctan2(r, p[..., 2]) / np.where(r > 0, r, 1), 1 / p[..., 2])
    return lens[:2] * p[..., :2] * angle[..., None] + lens[2:]


def test_centres_and_shapes_are_those_of_the_equidistant_map() -> None:
    given, seen_by = gaussians(), cameras()
    splatter = Splatter(WIDTH, HEIGHT, eps2d=0.0, sh_degree=1)
    shown = splatter.project(given, seen_by)
    poses, lenses = seen_by.world_to_camera(), seen_by.intrinsics.to_numpy()
    radii, compared = shown.radii.to_numpy(), 0
    for c in range(2):
        turn = poses[c, :3, :3]
        for k in np.flatnonzero(radii[c, :, 0] > 0):
            p = turn @ given.means.to_numpy()[k] + poses[c, :3, 3]
            np.testing.assert_allclose(shown.centres.to_numpy()[c, k], mapped(p, lenses[c]), 1e-12)
            step = 1e-4 * np.eye(3)
            far, near = mapped(p + 2 * step, lenses[c]), mapped(p - 2 * step, lenses[c])
            ahead, behind = mapped(p + step, lenses[c]), mapped(p - step, lenses[c])
            jacobian = ((8 * (ahead - behind) - (far - near)) / 12e-4).T
            w, x, y, z = given.quaternions.to_numpy()[k] / np.linalg.norm(
                given.quaternions.to_numpy()[k]
            )
            spin = np.array(
                [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                ]
            )
            half = jacobian @ turn @ spin * np.exp(given.scales.to_numpy()[k])
            conic = np.linalg.inv(half @ half.T)[[0, 0, 1], [0, 1, 1]]
            np.testing.assert_allclose(shown.conics.to_numpy()[c, k], conic, 1e-8, 1e-10)
            compared += 1
    assert compared >= 8


def test_near_the_axis_a_fisheye_is_a_pinhole() -> None:
    given = gaussians(1e-4)
    given.scales.from_numpy(np.full((N, 3), -9.0))
    pose = np.eye(4)
    pose[2, 3] = 3.0
    images = [
        Splatter(WIDTH, HEIGHT, sh_degree=1)(
            given, Cameras(pose, [4e3, 4e3, 10, 7], WIDTH, HEIGHT, dtype=ti.f64, model=model)
        ).image.to_numpy()
        for model in ("pinhole", "fisheye")
    ]
    assert images[0].max() > 0.1
    np.testing.assert_allclose(images[0], images[1], atol=1e-6)


def test_gradients_to_gaussians_poses_and_intrinsics() -> None:
    given, seen_by = gaussians(), cameras(grad=True)
    splatter = Splatter(WIDTH, HEIGHT, sh_degree=1, antialiased=True)
    weights = np.random.default_rng(2).normal(size=(2, HEIGHT, WIDTH, 3))

    def loss() -> float:
        return float((splatter(given, seen_by).image.to_numpy() * weights).sum())

    with dt.Tape() as tape:
        out = splatter(given, seen_by)
    tape.backward({out.image: weights})
    leaves = {name: getattr(given, name) for name in FIELDS}
    leaves |= {"twist": seen_by.twist, "intrinsics": seen_by.intrinsics}
    draw = np.random.default_rng(3)
    for name, leaf in leaves.items():
        value, gradient = leaf.to_numpy(), leaf.grad.to_numpy()
        way = draw.normal(size=value.shape)
        step = 1e-5
        sums = []
        for factor in (2, 1, -1, -2):
            leaf.from_numpy(value + factor * step * way)
            sums.append(loss())
        leaf.from_numpy(value)
        difference = (8 * (sums[1] - sums[2]) - (sums[0] - sums[3])) / (12 * step)
        assert abs(difference) > 1e-3, name
        np.testing.assert_allclose(np.sum(gradient * way), difference, 1e-6, err_msg=name)


def test_fisheyes_that_are_none() -> None:
    with pytest.raises(FieldError, match="model is 'pinhole' or 'fisheye', not 'ortho'"):
        Cameras(np.eye(4), [1, 1, 1, 1], 4, 4, model="ortho")
    eye = Cameras.look_at((0, 0, -2), (0, 0, 0), WIDTH, HEIGHT, dtype=ti.f64, model="fisheye")
    assert repr(eye[0]) == "<1 fisheye of 20x14 pixels>"
    with pytest.raises(FieldError, match="draws for a pinhole, not <1 fisheye of 20x14 pixels>"):
        dt.render.Ellipsoids(WIDTH, HEIGHT)(gaussians(), eye)
