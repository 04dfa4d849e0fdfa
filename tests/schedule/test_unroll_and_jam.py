"""Parallel loops of any number of iterations, two of which run side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ad.reverse import reverse
from difftile.ir.nodes import Array
from difftile.passes.optimise import simplify
from difftile.passes.unroll_and_jam import unroll_and_jam
from difftile.schedule.finish import finish
from tests.harness import many_threads
from tests.targets import host


@dt.kernel
def composite(alpha, colour, y):
    for i, j in y:
        total, t = 0.0, 1.0
        for k in range(alpha.shape[2]):
            total += t * alpha[i, j, k] * colour[i, j, k]
            t *= 1.0 - alpha[i, j, k]
        y[i, j] = total


def _expected(alpha: Any, colour: Any) -> tuple[Any, Any, Any]:
    """Return the sums and their gradients with respect to both."""
    t = np.cumprod(np.concatenate((np.ones_like(alpha[..., :1]), 1 - alpha), -1), -1)
    parts = t[..., :-1] * alpha * colour
    behind = np.cumsum(parts[..., ::-1], -1)[..., ::-1] - parts
    return parts.sum(-1), t[..., :-1] * colour - behind / (1 - alpha), t[..., :-1] * alpha


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("shape", [(1, 255), (1, 256), (1, 257), (300, 1), (256, 3), (9, 258)])
@pytest.mark.parametrize("layers", [1, 40, 200])
def test_compositing(shape: tuple[int, int], layers: int, threads: bool) -> None:
    rng = np.random.default_rng(layers)
    values = rng.uniform(0.0, 0.05, (*shape, layers)), rng.normal(size=(*shape, layers))
    alpha, colour = (dt.from_numpy(v, grad=True) for v in values)
    y = dt.zeros(shape, dtype=ti.f64, grad=True)
    with many_threads(threads):
        with dt.Tape() as tape:
            composite(alpha, colour, y)
        tape.backward({y: 1.0})
    total, alpha_bar, colour_bar = _expected(*values)
    np.testing.assert_allclose(y.to_numpy(), total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(alpha.grad.to_numpy(), alpha_bar, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(colour.grad.to_numpy(), colour_bar, rtol=1e-10, atol=1e-12)


def test_both_directions_run_two_iterations() -> None:
    kernel: Any = composite
    x = dt.zeros((2, 2, 2), dtype=ti.f32, grad=True)
    kernel(x, dt.zeros_like(x), dt.zeros((2, 2), dtype=ti.f32, grad=True))
    program = kernel._latest.stages[0].program
    adjoint = reverse(program, frozenset(p for p in program.params if isinstance(p, Array)))
    for code in (program, adjoint.program):
        before = finish(simplify(code), host(8))
        assert unroll_and_jam(before) != before
