"""Random transformations of random programs with operations, against the same in jax.numpy."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest
import taichi as ti

import difftile as dt

jax: Any = pytest.importorskip("jax")

jnp = jax.numpy
Function: TypeAlias = Callable[..., Any]


@dt.kernel
def swing(x, v, k):
    for i in x:
        v[i] -= 0.1 * k[None] * ti.sin(x[i])
    for i in x:
        x[i] += 0.1 * v[i] * v[i]


@dt.kernel
def mix(x, y, t):
    for i in x:
        y[i] = x[i] * x[(i + 1) % x.shape[0]]
        t[None] += ti.cos(x[i])


def both(x, k):
    y, t, v = dt.zeros_like(x), dt.zeros((), dtype=ti.f64), dt.zeros_like(x)
    mix(x, y, t)
    swing(y, v, k)
    return y, t


def swing_ref(x, v, k):
    v = v - 0.1 * k * jnp.sin(x)
    return v, x + 0.1 * v * v


def mix_ref(x):
    return jnp.sum(jnp.cos(x)), x * jnp.roll(x, -1)


def both_ref(x, k):
    t, y = mix_ref(x)
    return swing_ref(y, jnp.zeros_like(x), k)[1], t


OPS = (
    dt.jax.op(swing, ("x", "v"), "k", outputs=("v", "x")),
    dt.jax.op(mix, "x", outputs={"t": (), "y": "x"}),
    dt.jax.op(both, "x", "k"),
)
REFERENCES = (swing_ref, mix_ref, both_ref)


def drawn_program(draw: random.Random) -> Callable[[tuple[Function, ...]], Function]:
    """Return a program of random steps, as a function of the operations in it."""
    steps = [draw.choice("smbjl") for _ in range(draw.randint(1, 3))]

    def of(ops: tuple[Function, ...]) -> Function:
        swing, mix, both = ops

        def program(x, v, k):
            for step in steps:
                match step:
                    case "s":
                        v, x = swing(x, v, k)
                    case "m":
                        t, x = mix(x)
                        k = k + 0.1 * t
                    case "b":
                        x, t = both(x, k)
                        v = v * t
                    case "j":
                        x = jnp.tanh(x) + v
                    case _:
                        swung = lambda s, _, k=k: (swing(*s, k)[::-1], None)  # noqa: E731
                        (x, v), _ = jax.lax.scan(swung, (x, v), None, length=2)
            return x, jnp.sum(v) * k

        return program

    return of


def drawn_transforms(draw: random.Random) -> list[Callable[[Function], Function]]:
    """Return up to three transformations, of which up to two differentiate."""
    found: list[Callable[[Function], Function]] = []
    derivatives: list[str] = []
    for _ in range(draw.randint(1, 3)):
        name = draw.choice(["jit", "checkpoint", "vmap", "grad", "jvp"])
        if name in ("grad", "jvp"):
            if len(derivatives) == 2 or (name == "jvp" and "jvp" in derivatives):
                continue  # third derivatives, and a tangent of a tangent
            derivatives.append(name)
        axes = [draw.choice([None, 0, 1]) for _ in range(3)]
        wrt = sorted(draw.sample(range(3), draw.randint(1, 3)))
        found.append(_transform(name, axes, tuple(wrt)))
    return found


def _transform(name: str, axes: list[int | None], wrt: tuple[int, ...]) -> Callable[..., Function]:
    match name:
        case "jit":
            return jax.jit
        case "checkpoint":
            return jax.checkpoint
        case "vmap":
            return lambda f: _mapped(f, axes if any(one is not None for one in axes) else [0] * 3)
        case "grad":
            return lambda f: jax.grad(_number(f), wrt)
        case _:
            return lambda f: lambda *z: jax.jvp(f, z, tuple([0.3 * one + 0.1 for one in z]))


def _number(f: Function) -> Function:
    return lambda *z: sum(jnp.sum(jnp.sin(one + 0.1)) for one in jax.tree.leaves(f(*z)))


def _mapped(f: Function, axes: list[int | None]) -> Function:
    def of(*z: Any) -> Any:
        at = [None if m is None else min(m, one.ndim) for m, one in zip(axes, z, strict=True)]
        rows = [
            one if m is None else jnp.stack([one, 0.5 * one], m)
            for m, one in zip(at, z, strict=True)
        ]
        return jax.vmap(f, tuple(at))(*rows)

    return of


@pytest.fixture(autouse=True)
def compiled_fast(x64: None) -> Iterator[None]:
    """Let XLA compile for the sake of one run."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


def check(seed: int) -> None:
    draw = random.Random(seed)
    program, transforms = drawn_program(draw), drawn_transforms(draw)
    x, v = np.random.default_rng(seed).normal(size=(2, 3))
    args = jnp.asarray(x), jnp.asarray(v), jnp.asarray(0.7)
    found, expected = program(OPS), program(REFERENCES)
    for of in transforms:
        found, expected = of(found), of(expected)
    pairs = zip(
        jax.tree.leaves(found(*args)), jax.tree.leaves(jax.jit(expected)(*args)), strict=True
    )
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9, err_msg=f"seed {seed}")


@pytest.mark.parametrize("seed", range(3))
def test_transformations_of_programs(seed: int):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(n, n + 25) for n in range(5, 205, 25)], ids=lambda s: s[0])
def test_transformations_of_many_programs(seeds: range):
    for seed in seeds:
        check(seed)
