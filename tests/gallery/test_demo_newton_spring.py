"""The demo of the arm of springs, headless and short, and the Hessian that it relies on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.newton_spring import check, descend, main, newton
from scenes.spring_arm import Arm, make_arm, measure


def test_demo_prints_its_figures_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pictures"
    assert main(["--masses", "5", "--iterations", "30", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Newton's method: " in printed and "gradient descent: " in printed
    assert "the order of convergence is " in printed and "as it should" in printed
    assert sorted(path.name for path in out.iterdir()) == ["arm.png", "descent.png"]


def test_demo_says_that_newton_has_not_converged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--masses", "5", "--steps", "20", "--iterations", "2", "--no-pictures"]) == 0
    assert "Newton's method has not converged: " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_demo_checks_its_hessian(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--masses", "5"]) == 0
    assert "curvature by the Hessian" in capsys.readouterr().out


def test_hessian_of_30_springs_over_200_steps_in_place() -> None:
    arm = Arm(make_arm(), 200)
    rest = arm.scene.lengths * (1.0 + 0.02 * np.sin(np.arange(30.0)))
    hessian, gradient = dt.hessian(arm.loss)(rest), dt.grad(arm.loss)
    assert hessian.shape == (30, 30)
    scale = np.max(np.abs(hessian))
    assert np.max(np.abs(hessian - hessian.T)) <= 1e-10 * scale

    eps = 2e-5
    columns = []
    for k in range(30):
        d = eps * np.eye(30)[k]
        near, far = (gradient(rest + n * d) - gradient(rest - n * d) for n in (1.0, 2.0))
        columns.append((8.0 * near - far) / (12.0 * eps))
    np.testing.assert_allclose(hessian, np.stack(columns, axis=1), rtol=0, atol=1e-6 * scale)

    direction = np.random.default_rng(0).standard_normal(30)
    product = dt.hvp(arm.loss, rest, direction)
    np.testing.assert_allclose(product, hessian @ direction, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("masses", [5, 8])
def test_newton_converges_quadratically(masses: int) -> None:
    arm = Arm(make_arm(masses), 200)
    found = descend(arm, "Newton's method", newton(arm), 30)
    assert found.losses[-1] < 1e-20 and len(found.losses) < 20
    assert found.orders[-1] > 1.9
    np.testing.assert_allclose(arm.nodes(found.lengths), arm.scene.target, atol=1e-9)


def test_gradient_descent_only_goes_down() -> None:
    arm = Arm(make_arm(5), 50)
    found = descend(arm, "gradient descent", lambda _, g: -g, 15, grow=2.0)
    assert len(found.losses) == 16 and np.all(np.diff(found.losses) < 0)
    assert check(arm)[0] == pytest.approx(check(arm)[1], rel=1e-7)


def test_interrupt_keeps_what_was_found() -> None:
    arm, runs = Arm(make_arm(5), 20), []

    def interrupt(rest: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        runs.append(None)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return -gradient

    assert len(descend(arm, "interrupted", interrupt, 9, grow=2.0).losses) == 3


def test_scene_has_a_spring_for_each_coordinate() -> None:
    scene = make_arm(6)
    assert scene.springs.shape == (12, 2) and scene.positions.shape == (8, 2)
    assert np.all(scene.lengths > 0) and np.all(measure(scene.target, scene.springs) > 0)
    np.testing.assert_array_equal(scene.target[:2], scene.positions[:2])
