"""Scenes that begin with too few gaussians: with a strategy they are learned better."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.training import MCMC, Densification, gaussians_at, optimiser

WIDTH, HEIGHT, VIEWS = 48, 36, 6
STEPS = 200


@dt.kernel
def squares(image, target, first: ti.i32, loss):
    for c, i, j in image:
        d = image[c, i, j] - target[first + c, i, j]
        loss[None] += d.dot(d) / (3.0 * image.shape[0] * image.shape[1] * image.shape[2])


def knot(n: int) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
    r = 1.0 + 0.4 * np.cos(3 * t)
    places = np.stack([r * np.cos(2 * t), r * np.sin(2 * t), 0.4 * np.sin(3 * t)], axis=1)
    return places, 0.5 + 0.4 * np.stack([np.cos(t), np.cos(t + 2), np.cos(t + 4)], axis=1)


STRATEGIES = {
    "none": None,
    "densification": lambda: Densification(3.0, start=20, every=20, stop=150, most=200),
    "absolute": lambda: Densification(
        3.0, start=20, every=20, stop=150, most=200, absolute=True, threshold=2e-4
    ),
    "mcmc": lambda: MCMC(1e-6, start=20, every=20, stop=150, most=200, growth=1.5),
}


@functools.cache
def learned(name: str) -> tuple[float, int]:
    """Return the PSNR [dB] over all views, and the number of gaussians."""
    turns = np.linspace(0.0, 2 * np.pi, VIEWS, endpoint=False)
    eyes = np.stack([3.2 * np.cos(turns), np.ones(VIEWS), 3.2 * np.sin(turns)], axis=1)
    cameras = dt.render.Cameras.look_at(eyes, (0.0, 0.0, 0.0), WIDTH, HEIGHT)
    splatter = dt.render.Splatter(
        WIDTH, HEIGHT, sh_degree=0, depth=False, absgrad=name == "absolute"
    )
    truth = dt.render.make_gaussians(gaussians_at(*knot(200), degree=0, opacity=0.9), grad=False)
    target = splatter(truth, cameras).image

    places, _ = knot(16)
    start = gaussians_at(places, np.full((16, 3), 0.5), degree=0, opacity=0.5, size=0.5)
    gaussians = dt.render.make_gaussians(start)
    adam = optimiser(gaussians, 40.0, steps=STEPS)
    made = STRATEGIES[name]
    strategy = None if made is None else made()
    loss = dt.zeros((), ti.f32, grad=True)
    rng = np.random.default_rng(0)
    for step in range(1, STEPS + 1):
        first = int(rng.integers(VIEWS - 1))
        loss.fill(0.0)
        with dt.Tape(loss):
            squares(splatter(gaussians, cameras[first : first + 2]).image, target, first, loss)
            if isinstance(strategy, MCMC):
                strategy.penalty(gaussians, loss)
        adam.step()
        if strategy is not None:
            strategy.after_step(step, gaussians, splatter)
    error = splatter(gaussians, cameras).image.to_numpy() - target.to_numpy()
    return -10.0 * float(np.log10((error**2).mean())), len(gaussians)


@pytest.mark.parametrize("name", ["densification", "absolute", "mcmc"])
def test_a_scene_with_a_strategy_is_learned_better(name: str) -> None:
    before, _ = learned("none")
    after, count = learned(name)
    assert count > 60
    assert after > before + 1.5
