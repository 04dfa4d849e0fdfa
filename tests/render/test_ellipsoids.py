"""Gaussians as opaque bodies, against rays that try every body in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.render.cameras import Cameras
from difftile.render.ellipsoids import AMBIENT, FLATTEST, LAMP, Ellipsoids
from difftile.render.gaussians import make_gaussians

WIDTH, HEIGHT = 41, 30
LEVEL, LEAST, NEAR = 1.7, 0.2, 0.5
BACKGROUND = np.array([0.1, 0.2, 0.3])


def scene() -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Return gaussians, poses of two cameras and their intrinsics."""
    rng = np.random.default_rng(5)
    n = 24
    values = {
        "means": rng.normal(size=(n, 3)) * (1.1, 0.8, 1.0),
        "scales": rng.uniform(-3.0, -1.2, (n, 3)),
        "quaternions": rng.normal(size=(n, 4)) * rng.choice([0.1, 1.0, 20.0], (n, 1)),
        "opacities": rng.uniform(-1.0, 3.0, n),
        "sh0": rng.normal(size=(n, 3)),
        "shN": 0.2 * rng.normal(size=(n, 3, 3)),
    }
    m, s, o = values["means"], values["scales"], values["opacities"]
    m[0, 2], m[1, 2], s[1] = -5.5, -3.6, -1.2  # behind the first camera; in the plane `near`
    s[2], s[3] = (-1.5, -1.5, -12.0), (-1.0, -4.0, -4.0)  # a disc, made thicker, and a needle
    m[3] = -0.9, -0.6, -1.2
    o[4] = -3.0  # too transparent
    m[5], m[6], s[5], s[6] = (
        (0.3, 0.3, -1.4),
        (0.25, 0.3, -1.4),
        (-1.0, -2.5, -2.5),
        (-2.5, -1.0, -2.5),
    )  # a cross
    m[7], s[7] = (2.5, 0.0, -1.5), -0.4  # half outside the image, and large
    m[8], s[8] = (-0.9, 0.5, 2.0), -0.1  # the farthest centre, but large
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[0, :3, 3] = 0.1, -0.2, 4.0
    c, s = np.cos(0.7), np.sin(0.7)
    poses[1, :3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    poses[1, :3, 3] = -0.3, 0.1, 4.5
    intrinsics = np.array([[38.0, 36.0, 20.3, 12.9], [30.0, 31.0, 18.0, 14.1]])
    return values, poses, intrinsics


def turned(quaternions: np.ndarray) -> np.ndarray:
    w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    i = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1)
    j = np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1)
    k = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
    return np.stack([i, j, k], axis=1)


def traced(values: dict[str, Any], pose: np.ndarray, lens: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return image, depth and which body is seen in each pixel; -1 for none."""
    turn = pose[:3, :3] @ turned(values["quaternions"])
    p = values["means"] @ pose[:3, :3].T + pose[:3, 3]
    s = LEVEL * np.exp(values["scales"])
    s = np.maximum(s, FLATTEST * s.max(axis=1, keepdims=True))
    covariance = np.einsum("nij,nj,nkj->nik", turn, s**2, turn)
    seen = 1 / (1 + np.exp(-values["opacities"])) >= LEAST
    seen &= p[:, 2] - np.sqrt(covariance[:, 2, 2]) >= NEAR
    q = np.linalg.inv(covariance)
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    d = np.stack([(x - lens[2]) / lens[0], (y - lens[3]) / lens[1], np.ones_like(x)], axis=-1)
    a = np.einsum("hwi,nij,hwj->hwn", d, q, d)
    b = np.einsum("hwi,nij,nj->hwn", d, q, p)
    c = np.einsum("ni,nij,nj->n", p, q, p) - 1.0
    root = b * b - a * c
    meets = (root > 0.0) & seen
    t = np.where(meets, (b - np.sqrt(np.where(meets, root, 0.0))) / a, np.inf)
    which = np.where(np.isfinite(t).any(axis=2), t.argmin(axis=2), -1)
    depth = np.where(which >= 0, t.min(axis=2), 0.0)
    normal = np.einsum("hwij,hwj->hwi", q[which], depth[..., None] * d - p[which])
    normal /= np.linalg.norm(normal, axis=2, keepdims=True)
    light = AMBIENT + (1 - AMBIENT) * np.maximum(normal @ np.array(LAMP), 0.0)
    ray = values["means"] + pose[:3, :3].T @ pose[:3, 3]
    u, v, w = (ray / np.linalg.norm(ray, axis=1, keepdims=True)).T[..., None]
    first = values["shN"][:, 1] * w - values["shN"][:, 0] * v - values["shN"][:, 2] * u
    colour = 0.5 + 0.28209479177387814 * values["sh0"] + 0.4886025119029199 * first
    shaded = light[..., None] * np.maximum(colour, 0.0)[which]
    return np.where(which[..., None] >= 0, shaded, BACKGROUND), depth, which


def draw(dtype: Any, tile: int = 8) -> tuple[np.ndarray, ...]:
    values, poses, intrinsics = scene()
    gaussians = make_gaussians(values, dtype=dtype)
    cameras = Cameras(poses, intrinsics, WIDTH, HEIGHT, dtype=dtype)
    options = {"level": LEVEL, "least": LEAST, "near": NEAR, "background": BACKGROUND}
    made = Ellipsoids(WIDTH, HEIGHT, tile=tile, **options)(gaussians, cameras)
    assert made.depth is not None
    return made.image.to_numpy(), made.alpha.to_numpy(), made.depth.to_numpy()


def test_each_pixel_shows_the_body_that_its_ray_meets_first() -> None:
    values, poses, intrinsics = scene()
    image, alpha, depth = draw(ti.f64)
    shown = set()
    for k, (pose, lens) in enumerate(zip(poses, intrinsics, strict=True)):
        expected, far, which = traced(values, pose, lens)
        np.testing.assert_array_equal(alpha[k], which >= 0)
        np.testing.assert_allclose(depth[k], far, atol=1e-9)
        np.testing.assert_allclose(image[k], expected, atol=1e-7)
        shown |= set(which.ravel().tolist())
    assert {-1, 2, 3, 5, 6, 7, 8} <= shown
    assert 4 not in shown
    assert 0.2 < alpha.mean() < 0.9


def test_single_precision_and_other_tiles_show_the_same() -> None:
    image, alpha, depth = draw(ti.f64)
    for dtype, tile in ((ti.f64, 16), (ti.f32, 8)):
        others, covers, depths = draw(dtype, tile)
        same = (alpha == covers) & (np.abs(depth - depths) < 1e-3)
        assert same.mean() > 0.998  # an outline may be a pixel off
        np.testing.assert_allclose(others[same], image[same], atol=1e-2)


def test_no_tape_records_bodies() -> None:
    values, poses, intrinsics = scene()
    gaussians = make_gaussians(values)
    cameras = Cameras(poses, intrinsics, WIDTH, HEIGHT)
    bodies = Ellipsoids(WIDTH, HEIGHT)
    out = bodies(gaussians, cameras)
    image = out.image.to_numpy()
    bodies.level = 1.0
    with dt.Tape() as tape:
        assert bodies(gaussians, cameras, out) is out
    assert tape.nbytes == 0
    assert np.abs(out.image.to_numpy() - image).mean() > 0.01


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"width": 0}, "Ellipsoids: width is an integer from 1 to 65536, not 0"),
        ({"level": 0.0}, "level is a finite number above 0, not 0.0"),
    ],
)
def test_what_is_none_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(dt.LaunchError, match=said):
        Ellipsoids(**{"width": WIDTH, "height": HEIGHT, **options})


def test_cameras_of_another_size_are_refused() -> None:
    values, poses, intrinsics = scene()
    cameras = Cameras(poses, intrinsics, WIDTH + 1, HEIGHT)
    with pytest.raises(dt.FieldError, match="cannot draw for <2 cameras"):
        Ellipsoids(WIDTH, HEIGHT)(make_gaussians(values), cameras)


def test_cameras_of_another_precision_are_refused() -> None:
    values, poses, intrinsics = scene()
    cameras = Cameras(poses, intrinsics, WIDTH, HEIGHT, dtype=ti.f64)
    with pytest.raises(dt.FieldError, match="the cameras are in f64, and the gaussians in f32"):
        Ellipsoids(WIDTH, HEIGHT)(make_gaussians(values, dtype=ti.f32), cameras)
