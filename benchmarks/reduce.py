"""Gradients over ranks: what is added to a backward pass when they leave during it, and after it.

A network of layers, whose gradients go over an artificial wire: so the figures do not depend on the
network at hand. The bandwidth is chosen such that all gradients take a given part of the time of
the backward pass. "Exposed" is the part of their way for which the program waits.
"""

import sys
import time
from typing import Any

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.arguments import Parser, positive_int
from tests.slow_network import SlowNetwork, connected

BATCH = 8
SHARES = 0.5, 0.9


@dt.kernel
def layer(x, w, y):
    for i, b in y:
        total = 0.0
        for j in range(w.shape[1]):
            total += w[i, j] * x[j, b]
        y[i, b] = total / (1.0 + abs(total))


@dt.kernel
def measure(y, loss):
    for i, b in y:
        loss[None] += y[i, b] * y[i, b]


class Net:
    """Layers of one width."""

    def __init__(self, layers: int, width: int):
        rng = np.random.default_rng(0)
        scale = width**-0.5
        self.ws = [
            dt.from_numpy(
                (scale * rng.standard_normal((width, width))).astype(np.float32), grad=True
            )
            for _ in range(layers)
        ]
        self.xs = [dt.zeros((width, BATCH), dtype=ti.f32, grad=True) for _ in range(layers + 1)]
        self.xs[0].from_numpy(rng.standard_normal((width, BATCH)).astype(np.float32))
        self.loss = dt.zeros((), dtype=ti.f32, grad=True)

    def run(self) -> None:
        self.loss.fill(0.0)
        for k, w in enumerate(self.ws):
            layer(self.xs[k], w, self.xs[k + 1])
        measure(self.xs[-1], self.loss)


def backward(net: Net, reduce: Any = None, after: Any = None) -> float:
    """Return the time of a backward pass, until gradients are those of all ranks [s]."""
    with dt.Tape(reduce=reduce) as tape:
        net.run()
    started = time.perf_counter()
    tape.backward(net.loss)
    if after is not None:
        after.all_reduce()
    return time.perf_counter() - started


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    parser = Parser(prog="python -m benchmarks.reduce", description=__doc__)
    parser.add_argument("--layers", type=positive_int, default=24)
    parser.add_argument("--width", type=positive_int, default=1024)
    parser.add_argument("--ranks", type=positive_int, default=4)
    parser.add_argument("--rounds", type=positive_int, default=7)
    options = parser.parse_args(argv)
    dt.init()
    net = Net(options.layers, options.width)
    alone = min(backward(net) for _ in range(options.rounds))
    nbytes = sum(w.nbytes for w in net.ws)
    print(f"{options.layers} layers, {nbytes / 1e6:.0f} MB of gradients, {options.ranks} ranks")
    print(f"backward pass alone: {1e3 * alone:.1f} ms")
    for share in SHARES:
        sent = 2.0 * (options.ranks - 1) / options.ranks * nbytes
        wire = SlowNetwork(options.ranks, bandwidth=sent / (share * alone))
        with connected(wire):
            ways: dict[str, list[float]] = {"after": [], "during": []}
            gradients = {}
            gradients = dist.Gradients(net.ws, bucket=net.ws[0].nbytes)
            gradients.compared = True  # the artificial network only adds up
            waits: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(options.rounds):
                for name, times in ways.items():
                    option = {"reduce" if name == "during" else "after": gradients}
                    wire.waited = 0.0
                    times.append(backward(net, **option))
                    waits[name].append(wire.waited)
        for name, times in ways.items():
            print(
                f"  gradients on the wire for {share:.0%} of that, sent {name} the pass: "
                f"{1e3 * min(times):.1f} ms, {min(waits[name]) / (share * alone):.0%} exposed"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
