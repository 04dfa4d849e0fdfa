"""The mass-spring scene: its data, and difftile against an independent simulation in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.support.training import slope
from scenes.mass_spring import ROBOT_NAMES, Walker, make_network, make_robot, make_scene
from tests.reference_mass_spring import derivative, random_direction, simulate


@pytest.mark.parametrize("name", ROBOT_NAMES)
def test_robot_is_a_frame_at_rest_that_has_muscles(name: str) -> None:
    robot = make_robot(name)
    a, b = robot.springs.T
    assert np.unique(robot.springs).tolist() == list(range(len(robot.positions)))
    assert len({frozenset(pair) for pair in robot.springs.tolist()}) == len(robot.springs)
    lengths = np.linalg.norm(robot.positions[a] - robot.positions[b], axis=1)
    np.testing.assert_allclose(robot.rest_length, lengths, rtol=1e-15)
    assert 0 < np.count_nonzero(robot.actuation) <= len(robot.springs)


def test_unknown_robot_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no robot 'D': choose one of A, B, C"):
        make_robot("D")


def test_network_follows_from_the_seed() -> None:
    scene = make_scene("B")
    one, same, other = (make_network(scene, seed) for seed in (3, 3, 4))
    assert one.w1.shape == (scene.n_hidden, scene.n_inputs)
    assert one.w2.shape == (len(scene.robot.springs), scene.n_hidden)
    np.testing.assert_array_equal(one.w1, same.w1)
    assert np.all(one.w1 != other.w1)


def test_reference_derivative_is_that_of_its_loss() -> None:
    scene = make_scene("A")
    network = make_network(scene)
    params, direction = network.arrays(), random_direction(network, 5)
    losses = [
        simulate(scene, {k: v + eps * direction[k] for k, v in params.items()}, 100)[0]
        for eps in (1e-6, -1e-6)
    ]
    difference = (losses[0] - losses[1]) / 2e-6
    assert derivative(scene, params, direction, 100) == pytest.approx(difference, rel=1e-5)


@pytest.mark.parametrize("name", ROBOT_NAMES)
def test_loss_and_gradient_are_those_of_the_reference(name: str) -> None:
    steps = 150  # the robot has landed, and gradients have not exploded yet
    scene = make_scene(name)
    network = make_network(scene, seed=1)
    walker = Walker(scene, network, steps, ti.f64)
    with dt.Tape(walker.loss):
        walker.run()
    loss, track = simulate(scene, network.arrays(), steps)
    assert walker.loss[None] == pytest.approx(loss, rel=1e-10)
    np.testing.assert_allclose(walker.x.to_numpy(), track[-1], rtol=1e-10)
    for seed in range(4):
        direction = random_direction(network, seed)
        found = sum(np.vdot(w.grad.to_numpy(), direction[k]) for k, w in walker.parameters.items())
        expected = derivative(scene, network.arrays(), direction, steps)
        assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", ROBOT_NAMES)
def test_gradient_is_that_of_differences_of_the_reference_entry_by_entry(name: str) -> None:
    steps, eps = 100, 1e-4
    scene = make_scene(name)
    params = make_network(scene, seed=2).arrays()
    walker = Walker(scene, make_network(scene, seed=2), steps, ti.f64)
    with dt.Tape(walker.loss):
        walker.run()
    for key, field in walker.parameters.items():
        gradient = field.grad.to_numpy()
        for entry in np.argsort(np.abs(gradient), axis=None)[-2:]:

            def loss(change: float, key: str = key, entry: int = entry) -> float:
                moved = {k: v.copy() for k, v in params.items()}
                moved[key].flat[entry] += change
                return simulate(scene, moved, steps)[0].real

            assert gradient.flat[entry] == pytest.approx(slope(loss, eps), rel=1e-6)


@pytest.mark.slow
def test_loss_and_gradient_of_the_whole_walk_are_those_of_the_reference() -> None:
    steps = 681
    scene = make_scene("C")
    network = make_network(scene)
    walker = Walker(scene, network, steps, ti.f64)
    with dt.Tape(walker.loss):
        walker.run()
    assert walker.loss[None] == pytest.approx(simulate(scene, network.arrays(), steps)[0], rel=1e-8)
    direction = random_direction(network, 7)
    found = sum(np.vdot(w.grad.to_numpy(), direction[k]) for k, w in walker.parameters.items())
    assert found == pytest.approx(derivative(scene, network.arrays(), direction, steps), rel=1e-6)
