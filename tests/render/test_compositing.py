"""Blending front to back: the rule against the adjoint that difftile derives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.render.compositing import composite, composite_plain

WIDTH, HEIGHT, TILE, CAMERAS, COUNT = 21, 13, 8, 2, 30
GIVEN = ("means", "conics", "opacities", "colours", "depths", "background")


def inputs(channels: int) -> dict[str, Any]:
    """Return gaussians all over two images: opaque ones, large ones, some that are nearly lost."""
    rng = np.random.default_rng(3)
    spread = rng.uniform(0.7, 5.0, (CAMERAS, COUNT, 2))
    turn = rng.uniform(0, np.pi, (CAMERAS, COUNT))
    c, s = np.cos(turn), np.sin(turn)
    a, b = 1 / spread[..., 0] ** 2, 1 / spread[..., 1] ** 2
    return {
        "means": rng.uniform((-2, -2), (WIDTH + 2, HEIGHT + 2), (CAMERAS, COUNT, 2)),
        "conics": np.stack((a * c * c + b * s * s, (a - b) * c * s, a * s * s + b * c * c), -1),
        "opacities": rng.choice([0.02, 0.4, 0.9, 1.0], (CAMERAS, COUNT)),
        "colours": rng.uniform(-0.5, 1.0, (CAMERAS, COUNT, channels)),
        "depths": rng.uniform(1.0, 4.0, (CAMERAS, COUNT)),
        "background": rng.uniform(0, 1, channels),
    }


class Blending:
    """All that a launch takes; each tile lists all gaussians of its camera."""

    def __init__(self, values: dict[str, Any], dtype: Any, tile: int = TILE) -> None:
        channels = values["colours"].shape[-1]
        element = {"means": 2, "conics": 3, "colours": channels, "background": channels}
        for name in GIVEN:
            of = dt.vec(element[name], dtype) if name in element else dtype
            setattr(self, name, dt.from_numpy(values[name], of, grad=True))
        self.tile = tile
        tiles = CAMERAS * -(-WIDTH // tile) * -(-HEIGHT // tile)
        count = values["means"].shape[1]
        self.order = dt.from_numpy(np.tile(np.arange(count, dtype=np.int32), tiles))
        self.starts = dt.from_numpy(np.arange(tiles + 1, dtype=np.int32) * count)
        shape = (CAMERAS, HEIGHT, WIDTH)
        self.image = dt.zeros(shape, dt.vec(channels, dtype), grad=True)
        outputs = (dt.zeros(shape, dtype, grad=True) for _ in range(3))
        self.alpha, self.depth, self.light = outputs
        self.last = dt.zeros(shape, ti.i32)
        self.absolute = dt.zeros((CAMERAS, count), dt.vec(2, dtype), grad=True)
        rng = np.random.default_rng(5)
        self.seeds = {
            self.image: rng.normal(size=(*shape, channels)),
            self.alpha: rng.normal(size=shape),
            self.depth: rng.normal(size=shape),
            self.light: rng.normal(size=shape),
        }

    def run(self, kernel: Any, *, full: bool = True, seeds: Any = None) -> None:
        with dt.Tape() as tape:
            kernel(
                self.means,
                self.conics,
                self.opacities,
                self.colours,
                self.depths if full else None,
                self.background if full else None,
                self.order,
                self.starts,
                self.tile,
                self.image,
                self.alpha,
                self.depth if full else None,
                self.light,
                self.last,
                self.absolute if full else None,
            )
        seeds = dict(seeds or self.seeds)
        if not full:
            del seeds[self.depth]
        tape.backward(seeds)

    def gradients(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name).grad.to_numpy() for name in GIVEN}


@pytest.mark.parametrize(("full", "channels"), [(True, 3), (False, 1)])
def test_the_rule_is_the_derivative(full: bool, channels: int) -> None:
    one = Blending(inputs(channels), ti.f64)
    one.run(composite_plain, full=full)
    image, expected = one.image.to_numpy(), one.gradients()
    assert one.light.to_numpy().min() < 2e-4  # some pixels have ended
    one.run(composite, full=full)
    np.testing.assert_array_equal(one.image.to_numpy(), image)
    for name, gradient in one.gradients().items():
        scale = np.abs(expected[name]).max()
        np.testing.assert_allclose(gradient, expected[name], atol=1e-12 * scale, err_msg=name)
        assert (scale > 0) == (full or name not in ("depths", "background"))


def test_absolute_gradients_are_sums_over_pixels() -> None:
    one = Blending(inputs(3), ti.f64)
    one.run(composite)
    absolute, gradient = one.absolute.grad.to_numpy(), one.means.grad.to_numpy()
    total = np.zeros_like(absolute)
    for row, column in np.ndindex(HEIGHT, WIDTH):
        seeds = {f: np.zeros_like(seed) for f, seed in one.seeds.items()}
        for field, seed in one.seeds.items():
            seeds[field][:, row, column] = seed[:, row, column]
        one.run(composite, seeds=seeds)
        total += np.abs(one.means.grad.to_numpy())
    np.testing.assert_allclose(absolute, total, rtol=1e-10)
    assert (absolute >= np.abs(gradient) - 1e-12).all()


@pytest.mark.compiled
def test_tiles_do_not_matter() -> None:
    images = []
    for tile in (5, 16, 32):
        one = Blending(inputs(3), ti.f32, tile)
        one.run(composite)
        images.append(one.image.to_numpy())
    np.testing.assert_array_equal(images[0], images[1])
    np.testing.assert_array_equal(images[0], images[2])
