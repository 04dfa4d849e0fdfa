"""Arrays of JAX in the places of fields: they never change, so kernels only read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

import difftile as dt
from tests.interop.test_arrays import energy, step, wave

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")


def test_kernels_read_arrays_and_never_write_them() -> None:
    x, v = np.zeros(4, np.float32), jnp.arange(4.0)
    for _ in range(2):
        step(x, v, 0.5)
    npt.assert_array_equal(x, np.arange(4.0))
    with pytest.raises(dt.KernelError, match="Field 'x' is over memory of others"):
        step(v, x, 1.0)
    npt.assert_array_equal(v, np.arange(4.0))
    gone = jnp.ones(4)
    step(x, gone, 1.0)
    gone.delete()
    with pytest.raises(dt.LaunchError, match="deleted or donated"):
        step(x, gone, 1.0)
    with pytest.raises(dt.LaunchError, match="bfloat16"):
        step(x, jnp.ones(4, jnp.bfloat16), 1.0)


def test_results_are_arrays_of_jax() -> None:
    x = jnp.arange(3.0)
    found = wave(x, 2.0)
    assert isinstance(found, jax.Array)
    npt.assert_allclose(found, 2 * np.sin(np.arange(3.0)), rtol=1e-6)

    def loss(x: Any, k: Any) -> Any:
        total = dt.zeros((), np.float32)
        energy(x, k, total)
        return total

    value, gradient = dt.value_and_grad(loss)(x, 2 * x)
    assert isinstance(value, jax.Array) and isinstance(gradient, jax.Array)
    npt.assert_allclose(gradient, 2 * np.arange(3.0) ** 2)


def test_traced_arrays_are_refused_in_words() -> None:
    def f(x: Any) -> Any:
        step(np.zeros(3, np.float32), x, 1.0)
        return x

    with pytest.raises(dt.LaunchError, match=r"dt\.jax\.op"):
        jax.jit(f)(jnp.ones(3))
