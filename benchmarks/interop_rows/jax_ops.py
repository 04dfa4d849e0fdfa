"""What `dt.jax.op` adds to a launch: compiled programs that call one, and its reverse.

The peer is the same mathematics in JAX, compiled. All sides wait for their results.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import difftile as dt
from benchmarks.interop_rows.row import Row, Sides, device, timed, wait

jax: Any = importlib.import_module("jax")
jnp: Any = jax.numpy

MOST = 60.0  # us over a launch of our own


@dt.kernel
def damp(x, k, y):
    for i in x:
        y[i] = x[i] - 0.1 * k[None] * x[i] * x[i]


def damp_ref(x, k):
    return x - 0.1 * k * x * x


def _values(size: int) -> tuple[Any, Any]:
    return np.linspace(0, 1, size, dtype=np.float32), np.float32(0.7)


def _arrays(*values: Any) -> list[Any]:
    platform = jax.devices("cpu" if device() == "cpu" else "gpu")[0]
    return [jax.device_put(one, platform) for one in values]


def _forward(size: int) -> Sides:
    x, k = _values(size)
    jx, jk = _arrays(x, k)
    fx, fk, fy = dt.from_numpy(x), dt.from_numpy(k), dt.zeros(size)
    hx, hk, hy = dt.from_numpy(x), dt.from_numpy(k), dt.zeros(size)

    def on_host(x: Any, k: Any) -> Any:
        hx.from_numpy(np.asarray(x))
        hk.from_numpy(np.asarray(k))
        damp(hx, hk, hy)
        return hy.to_numpy()

    def alone() -> None:
        damp(fx, fk, fy)
        wait()

    def by_hand(x: Any, k: Any) -> Any:
        return jax.pure_callback(on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, k)

    op = jax.jit(dt.jax.op(damp, "x", "k", outputs={"y": "x"}))
    callback, peer = jax.jit(by_hand), jax.jit(damp_ref)
    damp(fx, fk, fy)
    for found in (op(jx, jk), callback(jx, jk), peer(jx, jk)):
        assert np.allclose(found, fy.to_numpy())
    return Sides(
        alone=timed(alone),
        bridged=timed(lambda: op(jx, jk).block_until_ready()),
        peers={
            "pure_callback by hand": timed(lambda: callback(jx, jk).block_until_ready()),
            "JAX alone": timed(lambda: peer(jx, jk).block_until_ready()),
        },
    )


def _gradient(size: int) -> Sides:
    x, k = _values(size)
    jx, jk = _arrays(x, k)
    op = dt.jax.op(damp, "x", "k", outputs={"y": "x"})
    by_op = jax.jit(jax.grad(lambda x, k: jnp.sum(op(x, k)), (0, 1)))
    peer = jax.jit(jax.grad(lambda x, k: jnp.sum(damp_ref(x, k)), (0, 1)))
    fx, fk = dt.from_numpy(x, grad=True), dt.from_numpy(k, grad=True)
    fy = dt.zeros(size, grad=True)

    def alone() -> None:
        with dt.Tape() as tape:
            damp(fx, fk, fy)
        tape.backward({fy: 1.0})
        wait()

    alone()
    for found, other, own in zip(by_op(jx, jk), peer(jx, jk), (fx.grad, fk.grad), strict=True):
        assert np.allclose(found, other) and np.allclose(found, own.to_numpy())
    return Sides(
        alone=timed(alone),
        bridged=timed(lambda: jax.block_until_ready(by_op(jx, jk))),
        peers={"JAX alone": timed(lambda: jax.block_until_ready(peer(jx, jk)))},
    )


ROWS = {
    "jax forward": Row("forward, 1,000 elements", lambda: _forward(1000), MOST),
    "jax forward, large": Row("forward, 1M elements", lambda: _forward(1_000_000)),
    "jax gradient": Row("gradient, 1,000 elements", lambda: _gradient(1000)),
}
