"""Robots of rigid bodies: the scene, gradients against a simulation in NumPy, and the demo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.rigid_body import main
from demos.support.training import check
from scenes.rigid_body import ROBOT_NAMES, RigidBodies, make_network, make_robot, make_scene
from tests.gallery.reference_rigid_body import derivative, simulate

STEPS = 250  # the robots have landed, and gradients have not exploded yet


@pytest.mark.parametrize("name", ROBOT_NAMES)
def test_the_ends_of_joints_meet_within_a_centimetre(name: str) -> None:
    robot = make_robot(name)
    for link in robot.links:
        ends = []
        for box, (x, y) in ((robot.boxes[link.a], link.at_a), (robot.boxes[link.b], link.at_b)):
            c, s = np.cos(box.angle), np.sin(box.angle)
            ends.append(np.add(box.center, (c * x - s * y, s * x + c * y)))
        assert link.rest_length > 0 or np.linalg.norm(ends[0] - ends[1]) < 0.0101


def test_unknown_robot_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no robot 'C': choose one of A, B, Leg"):
        make_robot("C")


@pytest.mark.parametrize(
    ("name", "impacts", "changes", "steps"),
    [
        ("A", True, {}, STEPS),
        ("B", True, {}, STEPS),
        ("Leg", True, {}, STEPS),
        ("B", True, {"penalty": 0.0}, STEPS),
        ("B", False, {}, STEPS),
        pytest.param("Leg", True, {}, 2048, marks=pytest.mark.slow),
    ],
)
def test_loss_and_gradient_are_those_of_the_reference(
    name: str, impacts: bool, changes: dict[str, float], steps: int
) -> None:
    scene = make_scene(name, **changes)
    network = make_network(scene, seed=1)
    bodies = RigidBodies(scene, network, steps, ti.f64, impacts=impacts)
    with dt.Tape(bodies.loss):
        bodies.run()
    loss, track = simulate(scene, network.arrays(), steps, impacts=impacts)
    assert bodies.loss[None] == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(bodies.x.to_numpy(), track[-1], rtol=1e-9)
    rng = np.random.default_rng(3)
    direction = {k: rng.standard_normal(w.shape) for k, w in network.arrays().items()}
    found = sum(np.vdot(p.grad.to_numpy(), direction[k]) for k, p in bodies.parameters.items())
    expected = derivative(scene, network.arrays(), direction, steps, impacts=impacts)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("parameter", ["w1", "b1", "w2", "b2"])
def test_gradient_agrees_with_differences(parameter: str) -> None:
    scene = make_scene("B")
    bodies = RigidBodies(scene, make_network(scene, seed=1), STEPS, ti.f64)
    by_tape, by_differences = check(bodies, parameter)
    assert by_tape == pytest.approx(by_differences, rel=1e-6)


def test_demo_prints_its_figures_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--steps", "70", "--iterations", "1", "--robot", "Leg", "--memory", "64kB"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert "the head is 0.52 m from the goal at the start" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "before_after.png",
        "crawl.gif",
        "loss.png",
    ]


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--original", "--no-toi"]) == 0
