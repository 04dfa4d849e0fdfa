"""Material points in three dimensions, against NumPy."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.diffmpm3d import main
from demos.support.training import slope
from scenes.mpm import STICKS, Controller, Mpm3d, MpmScene, make_scene_3d
from tests.gallery.reference_mpm3d import simulate

STEP = 1e-30


def make_corner(friction: float = 0.5) -> MpmScene:
    """A few particles of everything on the floor, between walls that they are pressed against."""
    rng = np.random.default_rng(5)
    kinds = np.arange(60) % 5
    return replace(
        make_scene_3d("robot", 16),
        positions=rng.uniform([0.15, 0.15, 0.15], [0.34, 0.25, 0.34], (60, 3)),
        fluid=(kinds == 0).astype(np.int32),
        muscle=np.where(kinds > 1, kinds - 2, -1).astype(np.int32),
        n_grid=16,
        time_step=5e-3,
        friction=friction,
    )


def make_weights(scene: MpmScene, scale: float = 1.0) -> Controller:
    rng = np.random.default_rng(6)
    shape = scene.n_muscles, scene.n_clock
    return Controller(scale * rng.standard_normal(shape), scale * rng.standard_normal(shape[:1]))


def compare(simulation: Mpm3d, controller: Controller, entries: list[tuple[int, int]]) -> None:
    """Compare loss, positions, and gradient: along one direction, and entry by entry."""
    scene, steps = simulation.scene, simulation.steps
    weights, bias = controller.weights, controller.bias
    with dt.Tape(simulation.loss):
        simulation.run()
    along = np.random.default_rng(7).standard_normal(weights.shape)
    moved, x = simulate(scene, weights + 1j * STEP * along, bias + 1j * STEP * along[:, 0], steps)
    assert simulation.loss[None] == pytest.approx(moved.real, rel=1e-12)
    np.testing.assert_allclose(simulation.x.to_numpy(), x.real, rtol=1e-10)
    assert len(np.unique(np.trunc(x.real * scene.n_grid - 0.5), axis=0)) > 1

    by_weights = simulation.weights.grad.to_numpy()
    by_bias = simulation.bias.grad.to_numpy()
    found = (by_weights * along).sum() + by_bias @ along[:, 0]
    assert found == pytest.approx(moved.imag / STEP, rel=1e-9)

    def loss(entry: tuple[int, int], change: float) -> float:
        one = np.zeros_like(weights)
        one[entry] = change
        return simulate(scene, weights + one, bias, steps)[0].real

    for entry in entries:
        by_differences = slope(partial(loss, entry), 1e-4)
        assert by_weights[entry] == pytest.approx(by_differences, rel=1e-6), entry


@pytest.mark.parametrize("friction", [0.5, STICKS])
def test_short_run(friction: float) -> None:
    scene = make_corner(friction)
    controller = make_weights(scene)
    compare(Mpm3d(scene, controller, 25, ti.f64), controller, [(0, 0), (1, 2), (2, 3)])


@pytest.mark.slow  # a NumPy run takes seconds
@pytest.mark.parametrize("name", ["robot", "liquid"])
def test_full_horizon(name: str) -> None:
    scene = make_scene_3d(name, 16)
    controller = make_weights(scene, 0.3)
    compare(Mpm3d(scene, controller, 512, ti.f64), controller, [(3, 1)])


@pytest.mark.slow
def test_demo_draws_and_checks_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--steps", "8", "--iterations", "1", "--grid", "16", "--out", str(tmp_path)]
    assert main(short) == 0
    assert "untrained it got 0.00 m" in capsys.readouterr().out
    names = ["before_after.png", "loss.png", "motion.gif"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert main(["--check", "--grid", "16"]) == 0
    with pytest.raises(SystemExit):
        main(["--grid", "8"])
    assert "the robot needs a grid of 16 cells or more, not 8" in capsys.readouterr().err
