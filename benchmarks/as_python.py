"""Kernels as Python beside compiled ones: the first call, later ones, and where compiling pays.

The kernels of `benchmarks.kernels` run with few elements, forward and in reverse, in one process:
compiled without the cache on disk, and with `dt.init(arch="python")`. 'first' is the CPU time until
the values and the gradients are there, 'again' the median of later turns. The last column is the
number of turns after which the compiled kernel has been faster.
"""

import sys
import time
from collections.abc import Sequence
from statistics import median

import difftile as dt
from benchmarks.kernel_rows.cases import CASES
from benchmarks.kernel_rows.sides import Ours, seeds_of
from difftile.arguments import Parser, positive_float, positive_int


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.as_python", __doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="KERNEL", help=", ".join(CASES))
    parser.add_argument(
        "--size", type=positive_float, default=2**-8, help="factor; default: %(default)s"
    )
    parser.add_argument("--turns", type=positive_int, default=5, help="default: %(default)s")
    options = parser.parse_args(argv)
    print(
        f"{'kernel':14}{'first: compiled':>16}{'python':>9}{'again: ratio':>14}{'pays after':>12}"
    )
    for name in options.only or CASES:
        compiled = _measured(name, options.size, options.turns, "cpu", offline_cache=False)
        plain = _measured(name, options.size, options.turns, "python")
        ratio = plain[1] / compiled[1]
        turns = max(0.0, (compiled[0] - plain[0]) / (plain[1] - compiled[1]))
        print(
            f"{name:14}{compiled[0]:14.2f} s{plain[0]:7.2f} s{ratio:14.0f}{turns:12.0f}", flush=True
        )
    return 0


def _measured(
    name: str, size: float, turns: int, arch: str, **options: bool
) -> tuple[float, float]:
    """Return the CPU seconds of the first turn, and the median of later ones."""
    dt.init(arch=arch, **options)
    case = CASES[name](size)
    ours = Ours(case, seeds_of(case))
    seconds: list[float] = []
    for _ in range(turns + 1):
        started = time.process_time()
        ours.turn()
        seconds.append(time.process_time() - started)
    return seconds[0], median(seconds[1:])


if __name__ == "__main__":
    sys.exit(main())
