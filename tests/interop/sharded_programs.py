"""Random functions over two devices by `jax.shard_map`, with an operation and without."""

from __future__ import annotations

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import random
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import difftile as dt

P = jax.sharding.PartitionSpec


@dt.kernel
def mix(x, w, c, y, z):
    for i in x:
        y[i] = x[i] * x[i] * w[0] + w[i % 2] * c[i]
        z[i] = x[i] * c[i] - w[1] * w[1]


def plain(x: Any, w: Any, c: Any) -> tuple[Any, Any]:
    """Return what the kernel computes, by JAX."""
    return x * x * w[0] + w[jnp.arange(x.size) % 2] * c, x * c - w[1] * w[1]


def drawn(rng: random.Random) -> tuple[dict[str, Any], Any, list[Any], Callable[[Any], Any]]:
    """Return a program.

    Returns:
        Its choices, the mesh, how the arguments are split, and the function that makes it from an
        operation.
    """
    axis = rng.choice(["Auto", "Explicit"])
    said = {
        "mesh": axis,
        "split": rng.random() < 0.8,
        "sum": rng.choice(["inside", "outside"]),
        "form": rng.choice(
            ["value", "grad", "grad inside", "jvp", "curve", "vmap", "vmap of grad"]
        ),
        "jit": rng.random() < 0.5,
        "check": rng.random() < 0.8,
    }
    mesh = jax.make_mesh((2,), ("d",), axis_types=(getattr(jax.sharding.AxisType, axis),))
    split = said["split"]  # 'w' is whole on each device
    specs = [P("d") if split else P(), P(), P("d") if split else P()]

    def make(function: Any) -> Any:
        def local(x: Any, w: Any, c: Any) -> Any:
            y, z = function(x, w, c)
            if said["sum"] == "outside":
                return y + z
            total = (y * jnp.cos(z)).sum()
            return jax.lax.psum(total, "d") if split else total

        out = P() if said["sum"] == "inside" else specs[0]
        options = {"mesh": mesh, "in_specs": tuple(specs), "check_vma": said["check"]}

        def loss(x: Any, w: Any, c: Any) -> Any:
            return jnp.sum(jax.shard_map(local, out_specs=out, **options)(x, w, c))

        both = jax.grad(loss, argnums=(0, 1))
        match said["form"]:
            case "value":
                return loss
            case "grad":
                return both
            case "grad inside" if said["sum"] == "inside" and said["check"]:
                inside = jax.grad(local, argnums=(0, 1))
                return jax.shard_map(inside, out_specs=tuple(specs[:2]), **options)
            case "jvp":
                return lambda x, w, c: jax.jvp(loss, (x, w, c), (c, w, x))
            case "curve":
                return lambda x, w, c: jax.jvp(lambda x, w: both(x, w, c), (x, w), (c, w))
            case "vmap":
                return lambda x, w, c: jax.vmap(lambda s: loss(x, s * w, c))(jnp.arange(3.0))
            case "vmap of grad":
                return lambda x, w, c: jax.vmap(lambda s: both(x, s * w, c))(jnp.arange(3.0))
            case _:
                return both

    def maybe_compiled(function: Any) -> Any:
        return jax.jit(make(function)) if said["jit"] else make(function)

    return said, mesh, specs, maybe_compiled


def main(first: int, count: int) -> None:
    """Compare programs; print the wrong ones."""
    dt.init(arch="cpu", cpu_max_num_threads=1)
    op = dt.jax.op(mix, inputs=("x", "w", "c"), outputs={"y": "x", "z": "x"})
    assert jax.device_count() == 2
    compared = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        said, mesh, specs, make = drawn(rng)
        numbers = np.random.default_rng(seed)
        x, c = (jnp.asarray(numbers.normal(size=8), jnp.float32) for _ in range(2))
        w = jnp.asarray(numbers.normal(size=2), jnp.float32)
        explicit = said["mesh"] == "Explicit"
        if explicit:
            splits = [jax.sharding.NamedSharding(mesh, one) for one in specs]
            x, w, c = map(jax.device_put, (x, w, c), splits)
        try:
            with jax.set_mesh(mesh) if explicit else nullcontext():
                expected = make(plain)(x, w, c)
        except (TypeError, ValueError) as error:
            print(f"left out {seed} {said}: {str(error)[:200]}")  # JAX refuses it for its own
            continue
        compared += 1
        try:
            with jax.set_mesh(mesh) if explicit else nullcontext():
                found = make(op)(x, w, c)
            for one, other in zip(*map(jax.tree.leaves, (found, expected)), strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)
        except Exception as error:  # a wrong program must not hide the others
            print(f"wrong {seed} {said}: {type(error).__name__}: {str(error)[:300]}")
    print(f"compared {compared}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
