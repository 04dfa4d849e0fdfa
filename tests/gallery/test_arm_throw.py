"""The arm that bats a ball, and its demo `arm-throw`."""

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.arm_throw import fly, hitting, main, passes
from demos.support.hoops import torus
from difftile import ti
from scenes.arm_throw import JOINTS, KNOTS, Arms, shorten, steer


def test_plans_are_cubic_splines() -> None:
    """Straight lines stay straight, and the second derivative is that of the knots."""
    plans = np.zeros((1, KNOTS, JOINTS))
    plans[0, :, 0] = np.arange(KNOTS)
    plans[0, :, 1] = np.arange(KNOTS) ** 2
    ctrl = dt.zeros((1, JOINTS), ti.f64)
    for t in (0.0, 0.1, 0.5, 0.77, 1.0):
        steer(t, dt.from_numpy(plans), ctrl)
        at = 1.0 + t * (KNOTS - 3)
        np.testing.assert_allclose(ctrl.to_numpy()[0, :2], [at, at**2 + 1.0 / 3.0], rtol=1e-12)


def test_gradients_are_shortened_world_by_world() -> None:
    gradient = np.stack([np.full((2, 2), 5.0), np.full((2, 2), 0.1), np.zeros((2, 2))])
    found = shorten(gradient, 1.0)
    np.testing.assert_allclose(found[0], 0.5)
    np.testing.assert_array_equal(found[1:], gradient[1:])


def test_balls_pass_rings_on_the_way_down() -> None:
    heights = np.array([[-1.0, -1.0], [1.0, -0.5], [-1.0, -0.2]])
    motion = np.zeros((3, 2, 14))
    motion[:, :, 9] = heights
    motion[:, :, 7] = np.array([0.0, 0.2, 0.4])[:, None]
    np.testing.assert_allclose(passes(motion, np.zeros((2, 3))), [0.3, np.inf])


def test_rings_are_closed_surfaces_that_look_outwards() -> None:
    vertices, faces = torus(0.15, 0.015)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    volume = np.einsum("nk,nk", a, np.cross(b, c)) / 6.0
    assert volume == pytest.approx(2 * np.pi**2 * 0.15 * 0.015**2, rel=0.25)


@pytest.mark.slow  # steps of an arm are compiled
def test_balls_that_were_hit_fly_as_the_formula_says() -> None:
    arms = hitting(Arms(2, dtype=ti.f64))
    arms.run()
    ends = fly(arms)[-1][:, 7:10]
    far = np.linalg.norm(ends - arms.rings.to_numpy(), axis=1)
    assert far.min() < 3.0  # they were hit
    np.testing.assert_allclose(far, arms.misses.to_numpy(), atol=0.02)  # of steps, not of the law


@pytest.mark.slow  # gradients of an arm are compiled
def test_gradients_from_a_distance_find_the_ring_and_exact_ones_do_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "distance, then exact: 4 of 4 balls in their rings" in said
    assert "exact alone: 0 of 4 balls in their rings" in said
    assert "the largest entry of a gradient 0\n" in said  # exactly 0, of the exact ones
    for name in ("strip.png", "misses.png"):
        assert (tmp_path / name).stat().st_size > 10_000


@pytest.mark.slow  # gradients of an arm are compiled
def test_gradient_through_the_hit_is_that_of_differences() -> None:
    assert main(["--check"]) == 0


@pytest.mark.slow  # gradients of an arm are compiled
def test_the_viewer_throws_and_learns(tmp_path: Path) -> None:
    file = tmp_path / "arms.webp"
    assert main(["--worlds", "2", "--iterations", "4", "--record", str(file)]) == 0
    assert file.stat().st_size > 1000
