"""Entropy of decisions as a reward: its gradient, its mean, and what it does to a policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.learn import Shac, ShacRates
from difftile.worlds.learn.policies import act_freely


def test_surprise_is_minus_the_log_probability_of_the_action() -> None:
    """By the density of a normal number, and numerical slopes of tanh."""
    rows, controls = 6, 2
    rng = np.random.default_rng(0)
    commands, log_std = rng.normal(size=(rows, controls)), rng.normal(-0.5, 0.2, (2, 1, controls))
    action, surprise = dt.zeros((rows, controls), ti.f64), dt.zeros(rows, ti.f64)
    act_freely(dt.from_numpy(commands), dt.from_numpy(log_std), action, surprise)
    u, std = np.arctanh(action.to_numpy()), np.exp(np.repeat(log_std[:, 0], rows // 2, axis=0))
    density = np.exp(-0.5 * ((u - commands) / std) ** 2) / (std * np.sqrt(2.0 * np.pi))
    slope = (np.tanh(u + 1e-6) - np.tanh(u - 1e-6)) / 2e-6
    expected = -np.log(density / slope).sum(axis=1)
    np.testing.assert_allclose(surprise.to_numpy(), expected, rtol=1e-8)


def test_gradients_of_surprise_do_not_overflow() -> None:
    """Where tanh is flat in single precision, and by the noise: a wider one surprises more."""
    commands = dt.from_numpy(np.array([[50.0], [-50.0], [0.1]], np.float32), grad=True)
    log_std = dt.from_numpy(np.full((1, 1, 1), -6.0, np.float32), grad=True)
    action, surprise = (dt.zeros(shape, ti.f32, grad=True) for shape in ((3, 1), (3,)))
    with dt.Tape() as tape:
        act_freely(commands, log_std, action, surprise)
    tape.backward({surprise: 1.0})
    slopes = commands.grad.to_numpy().ravel()
    np.testing.assert_allclose(slopes, -2.0 * np.tanh(commands.to_numpy().ravel()), atol=0.02)
    assert float(log_std.grad[0, 0, 0]) == pytest.approx(3.0, abs=0.5)


def test_entropy_keeps_noise_and_is_no_part_of_the_reward() -> None:
    """Policies that are paid for entropy have more of it, and report what the task pays."""
    task = replace(worlds.tasks.named("cartpole_swingup"), episode=8)
    noise = []
    for temperature in (0.0, 10.0):
        shac = Shac(None, task, 16, [0], ShacRates(horizon=4, entropy=temperature))
        found = [shac.improve().reward for _ in range(10)]
        assert np.abs(found).max() < 0.2  # a hanging pole, and not ten times the entropy
        noise.append(float(shac.policy.log_std[0, 0, 0]))
    assert noise[1] > noise[0] + 0.01
