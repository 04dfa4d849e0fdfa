"""The mass-spring robot in difftile and in plain Taichi with Taichi's own autodiff.

Both run the same steps in one process, turn by turn, without the offline cache: difftile with its
state in place and a tape, Taichi with a time axis and its gradient kernels. Taichi runs as it runs
best (serial loops, a step in one kernel), with difftile's three kernels a step, and as it is
usually written (three kernels, loops for the thread pool).
"""

import gc
import sys
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

import difftile as dt
from benchmarks.peers.mass_spring_taichi import MassSpringTaichi
from demos.mass_spring import Walker
from difftile.arguments import Parser, positive_int
from scenes.mass_spring import ROBOT_NAMES, MassSpringScene, Network, make_network, make_scene


@dataclass
class Runs:
    """What one of the two took.

    Attributes:
        name: Whose runs they are.
        forward: Seconds of each simulation, the first included.
        backward: Seconds of each gradient.
        nbytes: Bytes of states, old values, weights and gradients.
    """

    name: str
    forward: list[float] = field(default_factory=list)
    backward: list[float] = field(default_factory=list)
    nbytes: int = 0

    def figures(self) -> list[float]:
        """Forward and backward [ms], compilation [s], memory [MB]."""
        forward, backward = median(self.forward[1:]), median(self.backward[1:])
        compilation = self.forward[0] + self.backward[0] - forward - backward
        return [1e3 * forward, 1e3 * backward, compilation, self.nbytes / 1e6]


ROWS = (
    ("forward", "ms", 1.0),
    ("backward", "ms", 0.8),
    ("compilation", "s", 1.5),
    ("memory", "MB", 0.5),
)


def run_difftile(walker: Walker, runs: Runs) -> None:
    """Simulate on a tape and replay it."""
    started = time.perf_counter()
    with dt.Tape() as tape:
        walker.run()
    recorded = time.perf_counter()
    runs.nbytes = tape.nbytes + fields_bytes(walker)
    resumed = time.perf_counter()
    tape.backward(walker.loss)
    runs.forward.append(recorded - started)
    runs.backward.append(time.perf_counter() - resumed)


def run_taichi(peer: MassSpringTaichi, runs: Runs) -> None:
    """Simulate along the time axis and call the gradient kernels."""
    started = time.perf_counter()
    peer.forward()
    middle = time.perf_counter()
    peer.backward()
    runs.forward.append(middle - started)
    runs.backward.append(time.perf_counter() - middle)
    runs.nbytes = peer.bytes_held


def fields_bytes(walker: Walker) -> int:
    """Bytes of the differentiable fields and their gradients."""
    fields = (walker.x, walker.v, walker.hidden, walker.loss, *walker.parameters.values())
    return walker.activation.nbytes + 2 * sum(f.nbytes for f in fields)


def bookkeeping_bytes(walker: Walker) -> int:
    """Bytes that Python holds more at the end of a recording than before it, all included."""
    gc.collect()
    tracemalloc.start()
    try:
        with dt.Tape() as tape:
            walker.run()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    tape.release()
    return held


def compare(scene: MassSpringScene, network: Network, steps: int, repetitions: int) -> None:
    """Run all turn by turn and print the table."""
    walker, ours = Walker(scene, network, steps), Runs("difftile")
    peers = {
        "Taichi, one serial kernel a step": MassSpringTaichi(scene, steps),
        "Taichi, three serial kernels a step": MassSpringTaichi(scene, steps, fused=False),
        "Taichi, three parallel kernels a step": MassSpringTaichi(
            scene, steps, fused=False, serial=False
        ),
    }
    theirs = {name: Runs(name) for name in peers}
    for peer in peers.values():
        peer.set_network(network)
    for _ in range(repetitions + 1):
        run_difftile(walker, ours)
        for name, peer in peers.items():
            run_taichi(peer, theirs[name])

    for name, peer in peers.items():
        print(f"\n{name}: {agreement(walker, peer)}")
        print(f"{'':14}{'difftile':>12}{'Taichi':>12}{'ratio':>8}   target")
        for (row, unit, target), mine, other in zip(
            ROWS, ours.figures(), theirs[name].figures(), strict=True
        ):
            ratio = mine / other
            met = "met" if ratio <= target else "not met"
            label = f"{row} [{unit}]"
            print(f"{label:18}{mine:8.3f}{other:12.3f}{ratio:8.2f}   <= {target}, {met}")
    print(
        f"\na recording of difftile with Python's bookkeeping: "
        f"{bookkeeping_bytes(walker) / 1e6:.3f} MB"
    )


def agreement(walker: Walker, peer: MassSpringTaichi) -> str:
    """Say how far apart losses and gradients are."""
    theirs = peer.gradients()
    ours = {name: w.grad.to_numpy() for name, w in walker.parameters.items()}
    apart = np.sqrt(sum(np.sum((ours[k] - theirs[k]) ** 2) for k in ours))
    size = np.sqrt(sum(np.sum(g**2) for g in theirs.values()))
    loss = abs(walker.loss[None] - peer.loss[None])
    return f"losses differ by {loss:.1e}, gradients by {apart / size:.1e} of their norm"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which says nothing about the figures."""
    parser = Parser("python -m benchmarks.mass_spring", __doc__)
    parser.add_argument("--robot", choices=ROBOT_NAMES, default="C", help="default: %(default)s")
    parser.add_argument("--steps", type=positive_int, default=1000, help="default: %(default)s")
    parser.add_argument(
        "--repetitions", type=positive_int, default=7, help="default: %(default)s, besides a first"
    )
    parser.add_argument("--threads", type=positive_int, help="of both; default: one for each core")
    options = parser.parse_args(argv)
    threads = {"cpu_max_num_threads": options.threads} if options.threads else {}
    dt.init(arch="cpu", offline_cache=False, force_scalarize_matrix=True, **threads)
    scene = make_scene(options.robot)
    print(
        f"robot {options.robot}, {options.steps} steps, f32; "
        f"medians of {options.repetitions} after a first run"
    )
    compare(scene, make_network(scene), options.steps, options.repetitions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
