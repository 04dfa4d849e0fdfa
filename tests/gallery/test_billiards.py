"""Billiards: the scene, gradients against an independent simulation in NumPy, and the demo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.billiards import main
from scenes.billiards import Billiards, BilliardsScene
from tests.gallery.reference_billiards import differences, gradients, simulate

# The cue ball is near and fast, so that all balls have met after 150 steps.
NEAR = np.array([[0.42, 0.47], [1.2, 0.2]])
FAR = np.array([[0.1, 0.5], [0.3, 0.0]])


def gradient(start: np.ndarray, steps: int) -> tuple[Billiards, np.ndarray]:
    scene = BilliardsScene(cue_position=start[0], cue_velocity=start[1])
    simulation = Billiards(scene, steps, ti.f64)
    with dt.Tape(simulation.loss):
        simulation.run()
    return simulation, np.array([p.grad[None] for p in simulation.parameters.values()])


def test_the_columns_of_the_triangle_touch_and_nothing_overlaps() -> None:
    scene = BilliardsScene()
    balls = np.concatenate([[scene.cue_position], scene.rack()])
    assert len(balls) == scene.n_balls == 11
    apart = np.linalg.norm(balls[:, None] - balls[None], axis=-1)[np.triu_indices(11, 1)]
    assert apart.min() == pytest.approx(2 * scene.radius)
    assert np.count_nonzero(apart < 2 * scene.radius + 1e-9) == 6
    np.testing.assert_allclose(balls[scene.target], [0.68, 0.617])


@pytest.mark.parametrize(
    ("start", "steps"), [(NEAR, 150), pytest.param(FAR, 1024, marks=pytest.mark.slow)]
)
def test_loss_and_gradient_are_those_of_the_reference(start: np.ndarray, steps: int) -> None:
    simulation, found = gradient(start, steps)
    scene = BilliardsScene()
    loss, track = simulate(scene, *start, steps)
    assert np.all(np.ptp(track, axis=0).max(axis=1) > 0.005)
    assert simulation.loss[None] == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(simulation.balls.to_numpy()[:, :2], track[-1], rtol=1e-10)
    np.testing.assert_allclose(found, gradients(scene, start, steps), rtol=1e-9)
    np.testing.assert_allclose(found, differences(scene, start, steps, 3e-7), rtol=1e-6)


def test_demo_prints_its_figures_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--steps", "40", "--iterations", "1", "--descent", "--memory", "64kB"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert "the last ball ends 25.7 cm from the goal" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "before_after.png",
        "billiards.gif",
        "loss.png",
    ]


def test_demo_checks_its_gradient() -> None:
    assert main(["--check"]) == 0
