"""Kernels of more fields and numbers than Taichi's own launches take, which is 64."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from tests.modules import imported

_HEAD = "import taichi as ti\nimport difftile as dt\n"


def _weighted(path: Path, count: int) -> Any:
    """Return a module with `y += sum of weight_k * x_k ** 2` over many fields and numbers."""
    fields = [f"x{k}" for k in range(count)]
    weights = [f"w{k}" for k in range(0, count, 3)]
    terms = [f"        s += {weights[k // 3]} * {x}[i] ** 2\n" for k, x in enumerate(fields)]
    text = (
        f"@dt.kernel\ndef weighted(y, {', '.join([*fields, *weights])}):\n"
        f"    for i in y:\n        s = 0.0\n{''.join(terms)}        y[i] += s\n"
    )
    return imported(path / f"weighted{count}.py", _HEAD + text)


def test_more_fields_than_64(tmp_path: Path) -> None:
    count = 90
    kernel = _weighted(tmp_path, count).weighted
    rng = np.random.default_rng(count)
    values = rng.normal(size=(count, 5))
    weights = [float(w) for w in rng.normal(size=len(range(0, count, 3)))]
    of_field = np.repeat(weights, 3)[:count, None]
    xs = [dt.from_numpy(value, grad=True) for value in values]
    y = dt.zeros(5, dtype=ti.f64, grad=True)
    seed = rng.normal(size=5)
    for limit in (None, "1 kB"):
        y.fill(0)
        with dt.Tape(memory=limit) as tape:
            kernel(y, *xs, *weights)
            kernel(y, *xs, *weights)
        np.testing.assert_allclose(y.to_numpy(), 2 * (of_field * values**2).sum(0), rtol=1e-12)
        tape.backward({y: seed})
        grads = [x.grad.to_numpy() for x in xs]
        np.testing.assert_allclose(grads, 4 * of_field * values * seed, rtol=1e-12)
    dots = rng.normal(size=(count, 5))
    for x, dot in zip(xs, dots, strict=True):
        x.grad.from_numpy(dot)
    y.grad.fill(0)
    kernel.fwds(y, *xs, *weights)
    wanted = (2 * of_field * values * dots).sum(0)
    np.testing.assert_allclose(y.grad.to_numpy(), wanted, rtol=1e-11)


def _chain(path: Path, count: int) -> tuple[Callable[..., None], Any]:
    """Return a kernel over a struct of many members, each from the one before, and the type."""
    lines = [
        f"        p[i].m{k + 1} = ti.sin(p[i].m{k}) + p[i].m{k + 1}\n" for k in range(count - 1)
    ]
    text = f"@dt.kernel\ndef chain(p):\n    for i in p:\n{''.join(lines)}"
    members = {f"m{k}": ti.f64 for k in range(count)}
    return imported(path / f"chain{count}.py", _HEAD + text).chain, ti.types.struct(**members)


def test_struct_of_more_members_than_64(tmp_path: Path) -> None:
    count = 100
    kernel, type_ = _chain(tmp_path, count)
    p = dt.field(type_, 2, grad=True)
    p.fill(0.25)

    def chained(first: dt.Field) -> dt.Field:
        for name, member in p.members.items():
            if name != "m0":
                member.fill(0.25)
        p.m0.copy_from(first)
        kernel(p)
        return p.members[f"m{count - 1}"]

    start = dt.from_numpy(np.array([0.3, 0.6]), grad=True)
    z, z_dot = start.to_numpy(), np.ones(2)
    for _ in range(count - 1):
        z, z_dot = np.sin(z) + 0.25, np.cos(z) * z_dot
    forward, reverse = dt.jacfwd(chained)(start), dt.jacrev(chained)(start)
    np.testing.assert_allclose(chained(start).to_numpy(), z, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(forward), np.diag(z_dot), rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(np.asarray(reverse), np.diag(z_dot), rtol=1e-10, atol=1e-300)


def test_objects_of_more_fields_than_64() -> None:
    @dt.data_oriented
    class Layers:
        def __init__(self) -> None:
            self.all = [dt.full(3, 1.0 + 0.01 * k, grad=True) for k in range(90)]

        @dt.kernel
        def multiply(self, y):
            for i in y:
                for x in ti.static(self.all):
                    y[i] += x[i] * x[i]

    layers, y = Layers(), dt.zeros(3, grad=True)
    with dt.Tape() as tape:
        layers.multiply(y)
    tape.backward({y: np.ones(3)})
    for k, x in enumerate(layers.all):
        np.testing.assert_allclose(x.grad.to_numpy(), 2 + 0.02 * k, rtol=1e-6)
