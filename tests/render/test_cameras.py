"""Construction of cameras, Gaussians and the splatter: valid arguments, and refused ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.render import Cameras, Splatter, make_gaussians
from tests.render.reference_splats import motion


def some(n: int = 3, **changed: Any) -> dict[str, Any]:
    values = {
        "means": np.tile([0.0, 0.0, 2.0], (n, 1)),
        "scales": np.full((n, 3), -1.0),
        "quaternions": np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
        "opacities": np.ones(n),
        "sh0": np.ones((n, 3)),
    }
    return {**values, **changed}


def test_cameras_look_at_their_target() -> None:
    cameras = Cameras.look_at([[3.0, 1.0, -4.0], [0.0, 2.0, 5.0]], [0.5, 0.0, 0.0], 40, 30, fov=90)
    poses = cameras.world_to_camera()
    for pose in poses:
        target = pose @ [0.5, 0.0, 0.0, 1.0]
        np.testing.assert_allclose(target[:2], 0.0, atol=1e-6)
        assert target[2] > 0
        assert (pose @ [0.5, 1.0, 0.0, 1.0])[1] < 0  # up in the world is up in the image: -y
        assert np.linalg.det(pose[:3, :3]) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(poses[1] @ [0.0, 2.0, 5.0, 1.0], [0, 0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(cameras.intrinsics.to_numpy(), [[20, 20, 20, 15]] * 2, rtol=1e-6)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 0.499, 0.501, 3.0])
def test_twists_are_motions(angle: float) -> None:
    twist = np.array([0.3, -0.2, 0.5, 0.6, 0.0, -0.8])
    twist[3:] *= angle
    cameras = Cameras(np.eye(4), [1.0, 1.0, 0.0, 0.0], 8, 8, dtype=ti.f64)
    cameras.twist.from_numpy(twist[None])
    np.testing.assert_allclose(cameras.world_to_camera()[0], motion(twist), rtol=0, atol=1e-15)


def test_parts_of_batches_share_memory() -> None:
    cameras = Cameras(np.tile(np.eye(4), (3, 1, 1)), [8.0, 8.0, 4.0, 4.0], 8, 8, grad=True)
    parts = list(cameras)
    assert [len(part) for part in parts] == [1, 1, 1] and len(cameras[1:]) == 2
    parts[2].intrinsics[0] = [1.0, 2.0, 3.0, 4.0]
    assert cameras[-1].intrinsics[0][1] == cameras.intrinsics[2][1] == 2.0
    with pytest.raises(IndexError):
        cameras[3]


WRONG_POSES = {
    "not (1, 2, 3)": lambda: Cameras(np.eye(3)[:2], [1, 1, 0, 0], 8, 8),
    "is not a rigid motion": lambda: Cameras(np.diag([1.0, 1.0, -1.0, 1.0]), [1, 1, 0, 0], 8, 8),
    "pose 0": lambda: Cameras(2 * np.eye(4), [1, 1, 0, 0], 8, 8),
    "(1, 4), not (1, 3)": lambda: Cameras(np.eye(4), [1, 1, 0], 8, 8),
    "looks along up": lambda: Cameras.look_at([0, 1, 0], [0, 0, 0], 8, 8),
    "or is too far": lambda: Cameras.look_at([0, 0, np.inf], [0, 0, 0], 8, 8),
    "or is too far.": lambda: Cameras.look_at([0, 0, 1e200], [0, 0, 0], 8, 8),
    "at its target": lambda: Cameras.look_at([0, np.nan, 1], [0, 0, 0], 8, 8),
    "the last row of pose 0 must be 0, 0, 0, 1, not [0.0, 1.0, 0.0, 1.0]": lambda: Cameras(
        np.eye(4) + np.eye(4)[[0, 1, 2, 1]] * [[0], [0], [0], [1]], [1, 1, 0, 0], 8, 8
    ),
    "off by nan": lambda: Cameras(np.nan * np.eye(4), [1, 1, 0, 0], 8, 8),
    "fy above 0, not [0.0, 1.0,": lambda: Cameras(np.eye(4), [0, 1, 0, 0], 8, 8),
    "above 0, not [1.0, -1.0,": lambda: Cameras(np.eye(4), [1, -1, 0, 0], 8, 8),
    "above 0, not [1.0, 1.0, nan,": lambda: Cameras(np.eye(4), [1, 1, np.nan, 0], 8, 8),
    "width is an integer from 1 to 65536, not 0": lambda: Cameras(np.eye(4), [1, 1, 0, 0], 0, 8),
    "height is an integer from 1 to 65536, not 8.0": lambda: Cameras(
        np.eye(4), [1, 1, 0, 0], 8, 8.0
    ),
    "fov is an angle between 0 and 180, not 0": lambda: Cameras.look_at(
        [0, 0, 1], [0, 0, 0], 8, 8, fov=0
    ),
    "between 0 and 180, not nan": lambda: Cameras.look_at([0, 0, 1], [0, 0, 0], 8, 8, fov=np.nan),
    "(cameras, 3), not (1, 2)": lambda: Cameras.look_at([0, 1], [0, 0, 0], 8, 8),
}


@pytest.mark.parametrize("message", WRONG_POSES)
def test_cameras_that_are_none(message: str) -> None:
    with pytest.raises(dt.FieldError) as raised:
        WRONG_POSES[message]()
    assert message in str(raised.value)


WRONG_GAUSSIANS = {
    "did you mean 'shN'": {"shn": np.zeros((3, 15, 3))},
    "have the shape (n, bands, 3), not (3, 3)": {"shN": np.zeros((3, 3))},
    "have the shape (n,), not (3, 1)": {"opacities": np.zeros((3, 1))},
    "either harmonics": {"features": np.zeros((3, 5))},
    "has 3 rows, and 'means' has 2": {"means": np.zeros((2, 3))},
    "have the shape (n, channels), not ()": {"sh0": 3.0},
    "is no array of numbers": {"means": [[0.0, 1.0, 2.0], [1.0]]},
}


@pytest.mark.parametrize("message", WRONG_GAUSSIANS)
def test_gaussians_that_are_none(message: str) -> None:
    with pytest.raises(dt.FieldError) as raised:
        make_gaussians(some(**WRONG_GAUSSIANS[message]))
    assert message in str(raised.value)
    with pytest.raises(dt.FieldError, match="without scales"):
        make_gaussians(means=np.zeros((3, 3)))


def test_what_does_not_fit_a_splatter() -> None:
    camera = Cameras(np.eye(4), [8.0, 8.0, 4.0, 4.0], 8, 8)
    with pytest.raises(dt.FieldError, match="cannot draw for <1 camera of 8x8 pixels>"):
        Splatter(9, 8)(make_gaussians(some()), camera)
    with pytest.raises(dt.FieldError, match="3, 8 or 15 coefficients for each gaussian, not 4"):
        Splatter(8, 8)(make_gaussians(some(shN=np.zeros((3, 4, 3)))), camera)
    with pytest.raises(dt.FieldError, match=r"in f32, and .* in f64"):
        Splatter(8, 8)(make_gaussians(some(), dtype=ti.f64), camera)
    for options, message in (
        ({"near": 0.0}, "no depths in front"),
        ({"near": 2.0, "far": 1.0}, "no depths in front"),
        ({"near": np.nan}, "no depths in front"),
        ({"tile": 0}, "tile is an integer from 1 to 1024, not 0"),
        ({"tile": 10**6}, "tile is an integer from 1 to 1024, not 1000000"),
        ({"width": 8.0}, "width is an integer from 1 to 65536, not 8.0"),
        ({"eps2d": -1.0}, "eps2d is a finite number from 0 on, not -1.0"),
        ({"eps2d": np.nan}, "eps2d is a finite number from 0 on, not nan"),
        ({"background": [0.0, np.inf, 0.0]}, "the background is a finite colour, not"),
    ):
        with pytest.raises(dt.LaunchError, match=message):
            Splatter(**{"width": 8, "height": 8, **options})
    with pytest.raises(dt.LaunchError, match="sh_degree is 0 to 3, not 4"):
        Splatter(8, 8, sh_degree=4)(make_gaussians(some()), camera)
    with pytest.raises(dt.LaunchError, match="has not drawn yet"):
        _ = Splatter(8, 8).radii


def test_one_gaussian_in_front_of_a_background() -> None:
    splatter = Splatter(8, 8, background=[0.0, 0.5, 1.0], depth=False)
    camera = Cameras(np.eye(4), [8.0, 8.0, 4.0, 4.0], 8, 8)
    made = splatter(make_gaussians(some(1, opacities=np.full(1, 100.0))), camera)
    colour = 0.28209479177387814 + 0.5
    assert made.depth is None and made.alpha[0, 3, 3] < 0.99
    expected = made.alpha[0, 3, 3] * colour + (1 - made.alpha[0, 3, 3]) * np.array([0, 0.5, 1])
    np.testing.assert_allclose(made.image[0, 3, 3], expected, rtol=1e-6)
    np.testing.assert_array_equal(splatter.radii.to_numpy(), [[[6, 6]]])
