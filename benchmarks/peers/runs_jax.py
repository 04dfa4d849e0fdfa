"""Runs in JAX, each one `lax.scan`.

To import the module is to import JAX.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.peers.runs import Clock, Pendula, Ripples, Times
from benchmarks.peers.smoke_jax import SmokeJax
from scenes.mass_spring import MassSpringScene, Network
from scenes.smoke import SmokeScene

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")

Loss = Callable[[Mapping[str, Any]], Any]


class OfJax:
    """A loss as a function of its parameters, and with its gradient, both compiled.

    JAX computes loss and gradient together, faster than one after the other. Alone and recorded
    are the loss, and reverse is the additional time of the gradient.

    Args:
        loss: The function.
        parameters: Where it is differentiated.
    """

    def __init__(self, loss: Loss, parameters: Mapping[str, np.ndarray]) -> None:
        self._loss, self._both = jax.jit(loss), jax.jit(jax.value_and_grad(loss))
        self._parameters = {k: jnp.asarray(v, jnp.float32) for k, v in parameters.items()}
        self._found: tuple[Any, Mapping[str, Any]] = (0.0, {})

    def turn(self, clock: Clock) -> Times:
        """Compute the loss, then the loss with its gradient."""
        started = clock()
        jax.block_until_ready(self._loss(self._parameters))
        alone = clock() - started
        started = clock()
        self._found = jax.block_until_ready(self._both(self._parameters))
        both = clock() - started
        return Times(alone, alone, both - alone)

    def loss(self) -> float:
        """Return the loss of the last run."""
        return float(self._found[0])

    def gradients(self) -> Mapping[str, np.ndarray]:
        """Return the gradients of the last turn."""
        return {name: np.asarray(values) for name, values in self._found[1].items()}


def make_pendula(pendula: Pendula) -> OfJax:
    """Return the pendula."""

    def step(state: Any, _: Any) -> Any:
        angle, speed = state
        speed = speed - pendula.step * pendula.rate * jnp.sin(angle)
        return (angle + pendula.step * speed, speed), None

    def loss(parameters: Mapping[str, Any]) -> Any:
        state = parameters["first"], jnp.zeros_like(parameters["first"])
        (angle, _), _ = jax.lax.scan(step, state, None, length=pendula.steps)
        return jnp.sum(angle**2)

    return OfJax(loss, {"first": pendula.angles})


def make_ripples(ripples: Ripples) -> OfJax:
    """Return the waves."""

    def step(state: Any, _: Any) -> Any:
        now, before = state
        around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
        inner = now[1:-1, 1:-1]
        new = 2.0 * inner - before[1:-1, 1:-1] + ripples.courant * (around - 4.0 * inner)
        return (before.at[1:-1, 1:-1].set(new), now), None

    def loss(parameters: Mapping[str, Any]) -> Any:
        first = jnp.pad(parameters["first"][1:-1, 1:-1], 1)
        state = first, first
        (now, _), _ = jax.lax.scan(step, state, None, length=ripples.steps)
        return jnp.sum(now**2)

    return OfJax(loss, {"first": ripples.pulse})


def make_mass_spring(scene: MassSpringScene, network: Network, steps: int) -> OfJax:
    """Return the robot of masses, springs and muscles."""
    robot, h, gain = scene.robot, scene.time_step, scene.sense_gain
    decay, fall = float(np.exp(-scene.drag * h)), np.array([0.0, h * scene.gravity], np.float32)
    times = h * np.arange(steps)[:, None]
    phases = 2 * np.pi / scene.n_clock * np.arange(scene.n_clock)
    clock = jnp.asarray(np.sin(scene.clock_rate * times + phases), jnp.float32)
    a, b = robot.springs.T
    rest, stiffness, actuation = (
        jnp.asarray(values, jnp.float32)
        for values in (robot.rest_length, robot.stiffness, robot.actuation)
    )
    goal, first = (jnp.asarray(v, jnp.float32) for v in (scene.goal, robot.positions))

    def step(state: Any, given: Any) -> Any:
        x, v, weights = state
        center = jnp.mean(x, axis=0)
        masses = gain * jnp.concatenate([x - center, v], axis=1)
        senses = jnp.concatenate([given, masses.ravel(), goal - center])
        hidden = jnp.tanh(weights["b1"] + jnp.dot(weights["w1"], senses))
        activation = jnp.tanh(weights["b2"] + jnp.dot(weights["w2"], hidden))
        d = x[a] - x[b]
        length = jnp.sqrt(jnp.sum(d**2, axis=1)) + 1e-4
        target = rest * (1.0 + actuation * activation)
        impulse = (h * (length - target) * stiffness / length)[:, None] * d
        free = (decay * v + fall).at[a].add(-impulse).at[b].add(impulse)
        height, down = x[:, 1] - scene.floor, free[:, 1]
        hits = (height + h * down < 0.0) & (down < -1e-4)
        until = jnp.where(hits, -height / jnp.where(hits, down, 1.0), h)[:, None]
        after = jnp.where(hits[:, None], 0.0, free)
        return (x + until * free + (h - until) * after, after, weights), None

    def loss(parameters: Mapping[str, Any]) -> Any:
        state = first, jnp.zeros_like(first), parameters
        (x, _, _), _ = jax.lax.scan(step, state, clock)
        return -x[robot.head, 0]

    return OfJax(loss, network.arrays())


def make_smoke(scene: SmokeScene, v0: np.ndarray) -> OfJax:
    """Return the smoke."""
    smoke = SmokeJax(scene, v0)
    return OfJax(lambda parameters: smoke.loss(parameters["v0"]), {"v0": v0})
