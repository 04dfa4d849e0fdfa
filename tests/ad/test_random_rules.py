"""Random funcs with backward rules that write fields, in forward mode and twice differentiated.

The derivative of the same kernel without rules is the reference, which central differences check.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from tests.modules import imported

N = 4
_HEAD = """\
import taichi as ti

import difftile as dt


"""
# An expression of two elements and a number, and its derivatives by these.
TERMS = (
    ("{u} * {v}", "{v}", "{u}", "0.0"),
    ("s * ti.sin({u}) + {v}", "s * ti.cos({u})", "1.0", "ti.sin({u})"),
    ("{u} * {u} * s - 0.5 * {v}", "2.0 * {u} * s", "-0.5", "{u} * {u}"),
    ("ti.exp(0.3 * {v}) * {u}", "ti.exp(0.3 * {v})", "0.3 * ti.exp(0.3 * {v}) * {u}", "0.0"),
)


def module(seed: int) -> str:
    """Return kernels `ruled` and `plain`, of a field that is read, one in place, and two results.

    What a func reads is computed before it writes, so that the rule reads all as it was.
    """
    rng = random.Random(seed)
    targets = rng.sample(["x[i]", "y[i]", "y[i + 4]", "z[i]"], rng.randint(1, 4))
    body, rule = [], ["    by_s = 0.0"]
    guard = rng.random() < 0.5
    for k, target in enumerate(targets):
        # Iterations may share what they read, and not what they change in place.
        sources = ["a[i]", f"a[(i + {k}) % 4]"] + (["x[i]"] if "x[i]" in targets else [])
        u, v = rng.choice(sources), rng.choice(sources)
        value, by_u, by_v, by_s = (one.format(u=u, v=v) for one in rng.choice(TERMS))
        body.append(f"    t{k} = {value}")
        name, index = target[0], target[2:-1]
        rule.append(f"    g{k} = {name}.grad_in[{index}]")
        adds = [
            f"{one[0]}.grad_out[{one[2:-1]}] += ({slope}) * g{k}"
            for one, slope in ((u, by_u), (v, by_v))
        ]
        adds.append(f"by_s += ({by_s}) * g{k}")
        lead = "    "
        if guard:
            rule.append(f"    if g{k} != 0.0:")
            lead = "        "
        rule += [lead + one for one in adds]
    stores = [f"    {target} = t{k}" for k, target in enumerate(targets)]
    returned = rng.random() < 0.3
    if returned:
        stores.append("    return s * s * a[i]")
        rule += ["    by_s += 2.0 * s * a[i] * d_out", "    a.grad_out[i] += s * s * d_out"]
    text = _HEAD
    for name in ("f", "g"):
        text += "\n".join(["@dt.func", f"def {name}(a, x, y, z, i, s):", *body, *stores]) + "\n\n\n"
    more = ", d_out" if returned else ""
    head = ["@f.backward", f"def _(a, x, y, z, i, s{more}):"]
    text += "\n".join([*head, *rule, "    return by_s"]) + "\n\n\n"
    for kernel, name in (("ruled", "f"), ("plain", "g")):
        call = f"{name}(a, x, y, z, i, k[None] * (1.0 + x[i]))"
        lines = [f"        z[i] += {call}"] if returned else [f"        {call}"]
        if returned and "z[i]" in targets:
            lines = [f"        w = {call}", "        z[i] += w"]
        head = ["@dt.kernel", f"def {kernel}(a, x, y, z, k):", "    for i in range(4):"]
        text += "\n".join([*head, *lines]) + "\n\n\n"
    return text


@dt.kernel
def weigh(x, y, z, w, out):
    for i in x:
        out[None] += w[i] * (ti.sin(x[i]) + y[i] * y[i + 4] + 0.5 * z[i] ** 2)


SEEDS = [seed if seed < 2 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(12)]


@pytest.mark.parametrize("seed", SEEDS)
def test_tangents_and_second_derivatives_are_those_without_rules(seed: int, tmp_path: Path) -> None:
    made = imported(tmp_path / f"rules{seed}.py", module(seed))
    rng = np.random.default_rng(seed)
    shapes = (N, N, 2 * N, N, ())
    args = tuple(rng.uniform(0.3, 1.2, shape) for shape in shapes)
    dots = tuple(rng.normal(size=shape) for shape in shapes)
    weights = dt.from_numpy(rng.normal(size=N))

    def after(kernel: Any) -> Any:
        def run(a: Any, x: Any, y: Any, z: Any, k: Any) -> Any:
            x, y, z = x.copy(), y.copy(), z.copy()
            kernel(a, x, y, z, k)
            return x, y, z

        return run

    def loss(kernel: Any) -> Any:
        def run(*given: Any) -> Any:
            out = dt.zeros((), ti.f64, grad=True)
            weigh(*after(kernel)(*given), weights, out)
            return out

        return run

    found, wanted = (dt.jvp(after(one), args, dots)[1] for one in (made.ruled, made.plain))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    bars = dt.vjp(after(made.ruled), *args)[1](wanted)
    there = sum(np.sum(one * other) for one, other in zip(found, wanted, strict=True))
    back = sum(np.sum(bar * dot) for bar, dot in zip(bars, dots, strict=True))
    np.testing.assert_allclose(there, back, rtol=1e-12)
    ruled, plain = (dt.hvp(loss(one), args, dots) for one in (made.ruled, made.plain))
    gradient = dt.grad(loss(made.ruled), argnums=tuple(range(5)))
    h = 1e-5
    ends = [
        gradient(*(one + step * dot for one, dot in zip(args, dots, strict=True)))
        for step in (h, -h)
    ]
    for one, other, high, low in zip(ruled, plain, *ends, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(one, (high - low) / (2 * h), rtol=1e-6, atol=1e-7)
