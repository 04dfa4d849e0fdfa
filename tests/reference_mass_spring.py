"""The mass-spring robot in NumPy: an independent reference for losses and gradients.

Everything is written so that complex numbers pass through (branches look at real parts), hence
`derivative` is a complex step: exact to rounding, without a step size to choose.
"""

import numpy as np

from scenes.mass_spring import MassSpringScene, Network

_STEP = 1e-30


def simulate(
    scene: MassSpringScene, params: dict[str, np.ndarray], steps: int
) -> tuple[complex | float, np.ndarray]:
    """Run `steps` updates from rest.

    Args:
        scene: Robot and world.
        params: w1, b1, w2, b2; real or complex.
        steps: Number of updates.

    Returns:
        The loss, minus the final x of the head [m], and all positions, (steps + 1, n, 2).
    """
    robot, dt = scene.robot, scene.time_step
    a, b = robot.springs.T
    dtype = np.result_type(*params.values(), np.float64)
    x = robot.positions.astype(dtype)
    v = np.zeros_like(x)
    phases = 2 * np.pi * np.arange(scene.n_clock) / scene.n_clock
    track = [x]
    for t in range(steps):
        center = x.mean(axis=0)
        clock = np.sin(scene.clock_rate * t * dt + phases)
        senses = scene.sense_gain * np.concatenate([x - center, v], axis=1)
        inputs = np.concatenate([clock, senses.ravel(), scene.goal - center])
        hidden = np.tanh(params["w1"] @ inputs + params["b1"])
        activation = np.tanh(params["w2"] @ hidden + params["b2"])

        d = x[a] - x[b]
        length = np.sqrt((d * d).sum(axis=1)) + 1e-4
        target = robot.rest_length * (1 + robot.actuation * activation)
        impulse = (dt * (length - target) * robot.stiffness / length)[:, None] * d
        push = np.zeros_like(v)
        np.add.at(push, a, -impulse)
        np.add.at(push, b, impulse)

        free = np.exp(-scene.drag * dt) * v + push
        free[:, 1] += dt * scene.gravity
        height = x[:, 1] - scene.floor
        hits = ((height + dt * free[:, 1]).real < 0) & (free[:, 1].real < -1e-4)
        time = np.where(hits, -height / np.where(hits, free[:, 1], 1), 0)[:, None]
        v = np.where(hits[:, None], 0, free)
        x = x + time * free + (dt - time) * v
        track.append(x)
    return -x[robot.head, 0], np.array(track)


def derivative(
    scene: MassSpringScene,
    params: dict[str, np.ndarray],
    direction: dict[str, np.ndarray],
    steps: int,
) -> float:
    """Return the derivative of the loss along `direction`."""
    moved = {name: value + 1j * _STEP * direction[name] for name, value in params.items()}
    loss, _ = simulate(scene, moved, steps)
    return loss.imag / _STEP


def random_direction(network: Network, seed: int) -> dict[str, np.ndarray]:
    """Return a normal direction in the space of the network's weights."""
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(value.shape) for name, value in network.arrays().items()}
