"""`dt.torch.op` beside launches on fields of difftile."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import difftile as dt
from benchmarks.interop_rows.row import Row, Sides, device, timed

torch: Any = importlib.import_module("torch")


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def swing(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * x[i]
        x[i] += h * v[i]


def rollout(x, v, k, h: float):
    for _ in range(10):
        swing(x, v, k, h)


def run(x, v, k):
    for _ in dt.steps(1000):
        swing(x, v, k, 0.01)


class ByHand(torch.autograd.Function):
    """What one writes in torch alone: the cost of a function of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, bar: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * bar


squared = dt.torch.op(square, "x", outputs={"y": "x"})
swung = dt.torch.op(swing, ("x", "v"), ("k",), ("x", "v"))
rolled = dt.torch.op(rollout, ("x", "v"), ("k",), ("x", "v"))
ran = dt.torch.op(run, ("x", "v"), ("k",), ("x", "v"))


def forward() -> Sides:
    """A kernel of one input, with a graph for backward."""
    x = torch.linspace(0, 1, 1000, requires_grad=True, device=device())
    ours, y = dt.from_numpy(x.detach().cpu().numpy()), dt.zeros(1000)
    square(ours, y)
    assert np.array_equal(squared(x).detach().cpu().numpy(), y.to_numpy())
    return Sides(
        timed(lambda: square(ours, y)),
        timed(lambda: squared(x)),
        {"torch.autograd.Function by hand": timed(lambda: ByHand.apply(x))},
    )


def backward() -> Sides:
    """The backward pass of that, beside the launch of the same adjoint as a kernel."""
    x = torch.linspace(0, 1, 1000, requires_grad=True, device=device())
    bar = torch.ones(1000, device=device())
    y, other = squared(x), ByHand.apply(x)
    fields = [dt.from_numpy(one.detach().cpu().numpy()) for one in (x, bar)]
    x_bar = dt.zeros(1000)

    def pulled() -> Any:
        return torch.autograd.grad(y, x, bar, retain_graph=True)[0]

    adjoint(*fields, x_bar)
    assert np.array_equal(pulled().cpu().numpy(), x_bar.to_numpy())
    return Sides(
        timed(lambda: adjoint(*fields, x_bar)),
        timed(pulled),
        {
            "torch.autograd.Function by hand": timed(
                lambda: torch.autograd.grad(other, x, bar, retain_graph=True)
            )
        },
    )


@dt.kernel
def adjoint(x, y_bar, x_bar):
    for i in x:
        x_bar[i] = 2 * x[i] * y_bar[i]


def forward_of(bridged: Any, alone: Any) -> Sides:
    """A function of two arrays that it overwrites, and of a number."""
    x, v = (torch.linspace(0, 1, 1000, requires_grad=True, device=device()) for _ in range(2))
    k = torch.tensor(0.5, requires_grad=True, device=device())
    fields = [dt.from_numpy(one.detach().cpu().numpy()) for one in (x, v, k)]
    y, _ = bridged(x, v, k, 0.0)
    assert np.array_equal(y.detach().cpu().numpy(), fields[0].to_numpy())
    return Sides(timed(lambda: alone(*fields, 0.0)), timed(lambda: bridged(x, v, k, 0.0)))


def steps() -> Sides:
    """A loop over `dt.steps` and its backward pass, beside the same on a tape."""
    x, v = (torch.linspace(0, 1, 1000, requires_grad=True, device=device()) for _ in range(2))
    k = torch.tensor(0.5, requires_grad=True, device=device())
    start = [one.detach().cpu().numpy() for one in (x, v, k)]
    fields = [dt.from_numpy(one, grad=True) for one in start]
    bar = np.ones(1000, np.float32)

    def taped() -> None:
        for field, one in zip(fields, start, strict=True):
            field.from_numpy(one)
        with dt.Tape() as tape:
            run(*fields)
        tape.backward({fields[0]: bar})

    def pulled() -> Any:
        return torch.autograd.grad(ran(x, v, k)[0], (x, v, k), torch.from_numpy(bar).to(device()))

    taped()
    for one, field in zip(pulled(), fields, strict=True):
        assert np.allclose(one.cpu().numpy(), field.grad.to_numpy(), rtol=1e-4)
    return Sides(timed(taped), timed(pulled))


ROWS = {
    "forward": Row("a kernel, forward", forward, most=15.0),
    "backward": Row("a kernel, backward", backward, most=30.0),
    "in place": Row("a kernel in place of 3 tensors, forward", lambda: forward_of(swung, swing)),
    "launches": Row("10 launches of 3 tensors, forward", lambda: forward_of(rolled, rollout)),
    "steps": Row("1,000 steps as one program, and backward", steps),
}
