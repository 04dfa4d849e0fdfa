"""Programs of ADBench, GradBench and XLB beside JAX and PyTorch, turn by turn in one process.

Each row is the value and the derivatives that the program asks for, in double precision on the CPU,
on arrays that are there already. JAX has its functions jitted and PyTorch its compiled (of the LSTM
a step: its loop over a thousand characters is too long to compile). A peer has a row where its
folder in GradBench, or XLB, has the program. Times are medians over the turns, and ratios are ours
to a peer's; results are compared before. `docs/outside.md` names the sources. Without JAX or
PyTorch the other rows remain.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

import difftile as dt
from benchmarks.meter import CLOCKS, Meter
from benchmarks.outside_rows.cases import CASES, Case
from difftile.arguments import Parser, positive_int

PEERS = {"jax": "JAX", "torch": "torch"}  # by the module that `benchmarks.peers` needs
TOLERANCE = 1e-10  # relative to the largest number of a result

Call = Callable[[], Any]


def arrays(results: Any) -> list[Any]:
    """Return results of any side in NumPy."""
    return [np.asarray(of.to_numpy() if isinstance(of, dt.Field) else of) for of in results]


def difference(ours: Any, theirs: Any) -> float:
    """Return the largest difference of two sets of results, relative to the largest number."""
    found: list[float] = []
    for a, b in zip(arrays(ours), arrays(theirs), strict=True):
        found.append(float(np.max(np.abs(a - b.reshape(a.shape))) / np.max(np.abs(b))))
    return max(found)


def programs(peers: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Callable[..., Call]]]]:
    """Yield the installed peers with their programs; say which are missing."""
    for name in peers:
        if find_spec(name) is None:
            print(f"{PEERS[name]} is not installed; its rows are left out.")
        else:
            yield name, importlib.import_module(f"benchmarks.peers.outside_{name}").PROGRAMS


def row(
    name: str, case: Case, calls: Mapping[str, Call], peers: Sequence[str], meter: Meter
) -> str:
    """Measure a program; return its line."""
    times = dict(zip(calls, meter.measure(*calls.values()), strict=True))
    ours = median(times["difftile"])
    line = f"{name:9}{case.size:46}{1e3 * ours:11.2f}"
    for peer in peers:
        if peer in times:
            theirs = median(times[peer])
            line += f"{1e3 * theirs:11.2f}{ours / theirs:7.2f}"
        else:
            line += f"{'-':>11}{'-':>7}"
    return line


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if results differ."""
    parser = Parser("python -m benchmarks.outside", __doc__)
    parser.add_argument("--programs", nargs="+", choices=CASES, metavar="PROGRAM", default=[*CASES])
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=[*PEERS])
    parser.add_argument("--turns", type=positive_int, default=9, help="default: %(default)s")
    say = "default: %(default)s; cpu: for a busy machine"
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help=say)
    options = parser.parse_args(argv)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    dt.init(arch="cpu")
    installed = dict(programs(options.peers))
    titles = "".join(f"{PEERS[peer] + ' [ms]':>11}{'ratio':>7}" for peer in installed)
    print(f"{'program':9}{'size':46}{'ours [ms]':>11}{titles}")
    right = True
    for name in options.programs:
        case = CASES[name](np.random.default_rng(31337))
        calls: dict[str, Call] = {"difftile": case.run}
        for peer, of in installed.items():
            if name in of:
                calls[peer] = of[name](*case.inputs)
                apart = difference(case.run(), calls[peer]())
                if not apart <= TOLERANCE:
                    right = False
                    print(f"{name}: {PEERS[peer]} and difftile differ by {apart:.1e}")
        meter = Meter(options.turns, CLOCKS[options.clock])
        print(row(name, case, calls, [*installed], meter), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
