"""Random programs of modules, kernels and writes on tapes of any kind, against PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

torch: Any = pytest.importorskip("torch")
nn: Any = importlib.import_module("torch.nn")

N, FIELDS = 3, 4


@dt.kernel
def mix(x, y):
    for i in x:
        y[i] = 0.5 * y[i] + ti.sin(x[i]) * y[i]


@dt.kernel
def overwrite(x, y):
    for i in x:
        y[i] = x[i] * x[i] - 0.3 * x[i]


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


class Program:
    """Random steps on some fields, run by difftile and by PyTorch.

    Args:
        seed: Draws the steps.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        torch.manual_seed(seed)
        kinds = [
            nn.Sequential(nn.Linear(N, 5), nn.Tanh(), nn.Dropout(0.3), nn.Linear(5, N)),
            nn.Sequential(nn.Linear(N, N), nn.Sigmoid()),
        ]
        self.nets = [one.double() for one in kinds]
        self.scale = nn.Parameter(torch.tensor(0.7, dtype=torch.float64))
        self.starts = rng.normal(size=(FIELDS, N))
        self.graded = rng.random(FIELDS) < 0.7
        self.graded[0] = True
        steps = ["module", "in place", "fresh", "mix", "overwrite", "copy", "write", "constant"]
        # A field without a gradient cuts what passes through it: only inputs are such.
        self.results = [k for k in range(FIELDS) if self.graded[k]]
        self.steps = [
            (
                str(rng.choice(steps)),
                int(rng.integers(FIELDS)),
                int(rng.choice(self.results)),
                int(rng.integers(2)),
                rng.normal(size=N),
            )
            for _ in range(int(rng.integers(4, 16)))
        ]
        limits: list[dict[str, Any]] = [{}, {"snapshots": 3}, {"memory": 2000}]
        self.limits = limits[int(rng.integers(3))]
        self.checkpoints = bool(rng.random() < 0.3)

    def ours(self) -> tuple[float, list[Any]]:
        """Return the loss and the gradients by difftile."""
        scaled = [dt.torch.wrap(lambda x, net=net: self.scale * net(x)) for net in self.nets]
        fields = [
            dt.from_numpy(one, grad=bool(g))
            for one, g in zip(self.starts, self.graded, strict=True)
        ]
        loss = dt.zeros((), ti.f64, grad=True)

        def step(kind: str, a: int, b: int, net: int, numbers: Any) -> None:
            x, y = fields[a], fields[b]
            if kind == "module":
                scaled[net](x, out=y)
            elif kind == "in place":
                scaled[net](y, out=y)
            elif kind == "fresh":
                u = scaled[net](x)
                mix(u, y)
            elif kind == "constant":
                with dt.no_grad():
                    scaled[net](x, out=y)
            elif kind == "write":
                y.from_numpy(numbers)
            elif a != b:
                {"mix": mix, "overwrite": overwrite, "copy": lambda s, t: t.copy_from(s)}[kind](
                    x, y
                )

        call = dt.checkpoint(step) if self.checkpoints else step
        torch.manual_seed(1)
        with dt.Tape(**self.limits) as tape:
            for one in self.steps:
                call(*one)
            for k in self.results:
                total(fields[k], loss)
        tape.backward(loss)
        bars = [one.grad.to_numpy() for one, g in zip(fields, self.graded, strict=True) if g]
        return float(loss[None]), [*bars, *self._taken()]

    def theirs(self) -> tuple[float, list[Any]]:
        """Return the same by PyTorch."""
        starts = [
            torch.tensor(one, requires_grad=bool(g))
            for one, g in zip(self.starts, self.graded, strict=True)
        ]
        values = list(starts)
        torch.manual_seed(1)
        for kind, a, b, k, numbers in self.steps:
            x, y = values[a], values[b]
            if kind in ("module", "in place", "constant"):
                y = self.scale * self.nets[k](y if kind == "in place" else x)
                y = y.detach() if kind == "constant" else y
            elif kind == "fresh":
                y = 0.5 * y + torch.sin(self.scale * self.nets[k](x)) * y
            elif kind == "write":
                y = torch.tensor(numbers)
            elif a == b:
                continue
            elif kind == "mix":
                y = 0.5 * y + torch.sin(x) * y
            elif kind == "overwrite":
                y = x * x - 0.3 * x
            else:
                y = x
            values[b] = y
        loss = sum((values[k] ** 2).sum() for k in self.results) + 0.0 * starts[0].sum()
        loss.backward()
        graded = [one for one, g in zip(starts, self.graded, strict=True) if g]
        bars = [np.zeros(N) if one.grad is None else one.grad.numpy() for one in graded]
        return loss.item(), [*bars, *self._taken()]

    def _taken(self) -> list[Any]:
        """Return the gradients of the parameters, and clear them."""
        found: list[Any] = []
        for one in (self.scale, *self.nets[0].parameters(), *self.nets[1].parameters()):
            found.append(np.zeros(one.shape) if one.grad is None else one.grad.numpy().copy())
            one.grad = None
        return found


def check(seed: int) -> None:
    program = Program(seed)
    value, expected = program.theirs()
    found, bars = program.ours()
    np.testing.assert_allclose(found, value, rtol=1e-12, err_msg=f"seed {seed}")
    for one, other in zip(bars, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12, err_msg=f"seed {seed}")


@pytest.mark.filterwarnings("ignore::difftile.GradientCut")
def test_random_programs() -> None:
    for seed in range(40):
        check(seed)


@pytest.mark.slow  # more of the same
@pytest.mark.filterwarnings("ignore::difftile.GradientCut")
def test_many_random_programs() -> None:
    for seed in range(40, 600):
        check(seed)
