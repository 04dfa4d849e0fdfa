"""Robot, fish and block of material points, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos import diffmpm, mpm_velocity
from demos.support.training import Simulation, slope
from scenes.mpm import Controller, Mpm, MpmScene, make_controller, make_scene
from scenes.throw import Throw, make_block
from tests.gallery.reference_mpm import simulate, throw

STEP = 1e-30  # of the complex step
EPS = 1e-5  # of the differences, which have an error of the fourth order
GRID = 60  # cells: the least for the fish

Loss = Callable[[Mapping[str, np.ndarray]], Any]


def make_crowd(original: bool) -> MpmScene:
    """A few particles of everything, soft and loose, at a corner that they are pressed against."""
    rng = np.random.default_rng(5)
    kinds = np.arange(80) % 6
    return replace(
        make_scene("robot", GRID, original),
        positions=rng.uniform(1.5 / GRID, 7.0 / GRID, (80, 2)),
        fluid=(kinds == 0).astype(np.int32),
        muscle=np.where(kinds > 1, kinds - 2, -1).astype(np.int32),
        gravity=60.0,
    )


def make_weights(scene: MpmScene) -> Controller:
    rng = np.random.default_rng(6)
    return Controller(
        weights=rng.standard_normal((scene.n_muscles, scene.n_clock)),
        bias=rng.standard_normal(scene.n_muscles),
    )


def compare(simulation: Simulation, loss: Loss, entries: Mapping[str, list[Any]]) -> None:
    """Compare loss and gradient: along one direction, and entry by entry."""
    values = {name: field.to_numpy() for name, field in simulation.parameters.items()}
    with dt.Tape(simulation.loss):
        simulation.run()
    found = {name: field.grad.to_numpy() for name, field in simulation.parameters.items()}

    rng = np.random.default_rng(7)
    along = {name: rng.standard_normal(value.shape) for name, value in values.items()}
    turned = loss({name: value + 1j * STEP * along[name] for name, value in values.items()})
    assert simulation.loss[None] == pytest.approx(turned.real, rel=1e-12)
    by_tape = sum(np.sum(found[name] * along[name]) for name in values)
    assert by_tape == pytest.approx(turned.imag / STEP, rel=1e-9)

    for name, entry in [(name, entry) for name, some in entries.items() for entry in some]:

        def moved(change: float, name: str = name, entry: Any = entry) -> float:
            one = np.zeros_like(values[name])
            one[entry] = change
            return loss({**values, name: values[name] + one})

        assert found[name][entry] == pytest.approx(slope(moved, EPS), rel=1e-6), (name, entry)


def compare_with_reference(simulation: Mpm, entries: Mapping[str, list[Any]]) -> None:
    def loss(values: Mapping[str, np.ndarray]) -> Any:
        return simulate(simulation.scene, values["weights"], values["bias"], simulation.steps)[0]

    compare(simulation, loss, entries)


@pytest.mark.parametrize("original", [False, True])
def test_loss_and_gradient_of_a_crowd_in_a_corner(original: bool) -> None:
    scene = make_crowd(original)
    simulation = Mpm(scene, make_weights(scene), 30, ti.f64)
    compare_with_reference(simulation, {"weights": [(0, 0), (2, 3)], "bias": [1, 3]})
    _, x = simulate(scene, simulation.weights.to_numpy(), simulation.bias.to_numpy(), 30)
    np.testing.assert_allclose(simulation.x.to_numpy(), x, rtol=1e-10)
    ways = np.abs(x - scene.positions).max(axis=0) * GRID
    assert min(ways) > 0.5  # cells: the compared state has moved


@pytest.mark.slow  # a thousand steps of NumPy for each number
@pytest.mark.parametrize(("name", "largest"), [("robot", (0, 2)), ("fish", (1, 1))])
def test_loss_and_gradient_of_a_whole_run(name: str, largest: tuple[int, int]) -> None:
    scene = make_scene(name, GRID)
    simulation = Mpm(scene, make_controller(scene), 1023, ti.f64)
    compare_with_reference(simulation, {"weights": [largest]})


def test_loss_and_gradient_of_a_throw() -> None:
    scene = replace(make_block(21), time_step=1e-3)
    simulation = Throw(scene, 60, ti.f64)
    simulation.velocity[None] = (-2.0, -4.0)  # into wall and floor

    def loss(values: Mapping[str, np.ndarray]) -> Any:
        return throw(scene, values["velocity"], simulation.steps)[0]

    compare(simulation, loss, {"velocity": [0, 1]})
    _, x = throw(scene, simulation.velocity.to_numpy(), simulation.steps)
    np.testing.assert_allclose(simulation.x.to_numpy(), x, rtol=1e-10)
    assert x.mean(axis=0)[0] > 0.18 and x.mean(axis=0)[1] > 0.2, x.mean(axis=0)


def test_scenes_have_the_particles_of_the_paper() -> None:
    robot, fish = make_scene("robot"), make_scene("fish")
    assert len(robot.positions) == 2976
    assert robot.n_muscles == fish.n_muscles == 4
    assert set(robot.fluid) == {0} and set(fish.fluid) == {0, 1}
    np.testing.assert_allclose(robot.positions.min(axis=0), (0.1 + 0.15 / 76, 0.03 + 0.05 / 24))
    block = make_block()
    assert len(block.positions) == 6400
    np.testing.assert_allclose(
        block.positions[[0, 1, 80]] * 120, [(10, 25), (10, 25.5), (10.5, 25)]
    )


def test_scenes_say_what_they_need() -> None:
    with pytest.raises(ValueError, match="no scene 'bird': choose one of robot, fish"):
        make_scene("bird")
    with pytest.raises(ValueError, match="the fish needs a grid of 60 cells or more, not 32"):
        make_scene("fish", 32)
    with pytest.raises(ValueError, match="the block needs a grid of 18 cells or more, not 12"):
        make_block(12)


def test_demos_print_their_figures_and_write_their_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--steps", "30", "--iterations", "1"]
    grid = str(GRID)
    assert diffmpm.main(["--grid", grid, *few, "--out", str(tmp_path / "a")]) == 0
    assert "the robot walks" in capsys.readouterr().out
    assert mpm_velocity.main(["--grid", "21", *few, "--out", str(tmp_path / "b")]) == 0
    said = capsys.readouterr().out
    assert "all old values of a run" in said and "the block misses the target by" in said
    assert {path.name for path in tmp_path.glob("*/*")} == {
        *("loss.png", "before_after.png", "motion.gif", "throw.gif")
    }


def test_demo_checks_its_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    assert diffmpm.main(["--check", "--scene", "fish", "--grid", str(GRID), "--steps", "20"]) == 0
    assert "gradient by tape" in capsys.readouterr().out


def test_grid_that_is_too_coarse_is_one_line_and_code_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        diffmpm.main(["--grid", "20"])
    assert ended.value.code == 2
    assert "argument --grid: the robot needs a grid of 50 cells" in capsys.readouterr().err
