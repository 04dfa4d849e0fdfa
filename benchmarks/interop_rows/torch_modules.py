"""`dt.torch.wrap` beside the module alone, and beside a custom op that calls it by NumPy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.interop_rows.row import Row, Sides, timed

torch: Any = importlib.import_module("torch")

CALLS = 20


def network() -> Any:
    torch.manual_seed(0)
    layers = torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)
    return torch.nn.Sequential(*layers)


def by_hand(net: Any) -> Any:
    """Return the module as a custom op, as one writes it without the bridge."""

    @dt.custom_op
    def call(x: dt.In, u: dt.Out):
        with torch.no_grad():
            u.from_numpy(net(torch.from_numpy(x.to_numpy())).numpy())

    @call.backward
    def _(x, u):
        given = torch.from_numpy(x.to_numpy()).requires_grad_()
        net(given).backward(torch.from_numpy(u.grad_in.to_numpy()))
        x.grad_out.add_numpy(given.grad.numpy())

    return call


def fields() -> tuple[Any, Any]:
    x = dt.from_numpy(np.array([0.3, -0.2, 0.7], np.float32), grad=True)
    return x, dt.zeros(2, ti.f32, grad=True)


def forward() -> Sides:
    """A call without a tape."""
    net = network()
    w, call, (x, u), t = dt.torch.wrap(net), by_hand(net), fields(), torch.tensor([0.3, -0.2, 0.7])

    def alone() -> Any:
        with torch.no_grad():
            return net(t)

    w(x, out=u)
    assert np.allclose(u.to_numpy(), alone().numpy())
    return Sides(
        timed(alone),
        timed(lambda: w(x, out=u)),
        {"a custom op by hand": timed(lambda: call(x, u))},
    )


def on_a_tape() -> Sides:
    """Some calls on a tape, forward and backward, with gradients of the parameters."""
    net = network()
    w, call, (x, u) = dt.torch.wrap(net), by_hand(net), fields()
    t, bar = torch.tensor([0.3, -0.2, 0.7], requires_grad=True), torch.ones(2)

    def alone() -> None:
        t.grad = None
        found = [net(t) for _ in range(CALLS)]
        found[-1].backward(bar)

    def taped(one: Any) -> None:
        with dt.Tape() as tape:
            for _ in range(CALLS):
                one()
        tape.backward({u: 1.0})

    alone()
    for one in (lambda: w(x, out=u), lambda: call(x, u)):
        taped(one)
        assert np.allclose(x.grad.to_numpy(), t.grad.numpy())
    return Sides(
        timed(alone),
        timed(lambda: taped(lambda: w(x, out=u))),
        {"a custom op by hand": timed(lambda: taped(lambda: call(x, u)))},
    )


ROWS = {
    "forward": Row("a module of 3, 16 and 2 numbers", forward),
    "on a tape": Row(f"{CALLS} calls on a tape, and backward", on_a_tape),
}
