"""Memory of training splats on several ranks, beside one rank: by part, and at its peak.

A cloud of gaussians is trained on noise for some steps, the last of which refines them. "Parts" are
the bytes of fields after a step; "peak" is the most that all fields have had at once in the later
steps, with memory that waits to be used again, and with --process also the most of all that Python
and NumPy have allocated (on the CPU; that takes minutes). Bytes are of the rank that has most, and
the wanted share of one rank's is 1.1/N. The share of gaussians that an image shows follows from
--spread.

Started by itself, the program starts its ranks by torchrun, one group after the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import difftile as dt
from difftile import distributed as dist
from difftile.arguments import Parser, positive_int
from tests.distributed.splat_memory import Results, measure

WANTED = 1.1


def described(groups: Sequence[Results]) -> list[str]:
    """Return the lines of a table."""
    heads = [f"{int(one['ranks'])} rank{'s' * (one['ranks'] > 1)}" for one in groups]
    lines = [" " * 24 + "".join(f"{head:>16}" for head in heads)]
    for name in groups[0]:
        if name in ("ranks", "shown"):
            continue
        first = groups[0][name]
        cells = [
            f"{one[name] / 1e6:9.1f} MB {f'{one[name] / first:4.2f}' if first > 1e5 else '    '}"
            for one in groups
        ]
        lines.append(f"{name:24}" + "".join(cells))
    wanted = [f"{WANTED / one['ranks'] if one['ranks'] > 1 else 1.0:4.2f}" for one in groups]
    lines.append(f"{'wanted at most':24}" + "".join(f"{one:>16}" for one in wanted))
    lines.append(f"An image shows {groups[0]['shown']:.0%} of the gaussians.")
    return lines


def _launched(ranks: int, arguments: Sequence[str]) -> Results:
    """Measure on some ranks of this machine, which torchrun starts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        worker = ["-m", "benchmarks.training_memory", *arguments, "--json", str(file)]
        launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        command = [sys.executable, *(launcher if ranks > 1 else []), *worker]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; return the exit code, 1 where a peak is above the wanted share."""
    parser = Parser("python -m benchmarks.training_memory", __doc__)
    say = "default: %(default)s"
    parser.add_argument(
        "--ranks", type=positive_int, nargs="+", default=[2, 4], help=f"groups; {say}"
    )
    parser.add_argument("--gaussians", type=positive_int, default=100_000, help=say)
    parser.add_argument("--batch", type=positive_int, default=4, help=f"images of a step; {say}")
    parser.add_argument("--size", type=positive_int, default=64, help=f"of an image; {say}")
    parser.add_argument(
        "--spread", type=float, default=2.5, help=f"half the side of the cloud; {say}"
    )
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help=f"device; {say}")
    parser.add_argument("--process", action="store_true", help="also all of a process; slow")
    parser.add_argument(
        "--json", type=Path, help="measure this rank, and write the bytes to a file"
    )
    options = parser.parse_args(argv)
    if options.json is not None:
        dt.init(arch=options.arch, cpu_max_num_threads=1)
        cloud = options.gaussians, options.batch, options.size, options.spread
        found = measure(*cloud, process=options.process)
        if dist.rank() == 0:
            options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
        return 0
    names = "gaussians", "batch", "size", "spread", "arch"
    ours = [text for name in names for text in (f"--{name}", str(getattr(options, name)))]
    ours += ["--process"] if options.process else []
    groups = [_launched(ranks, ours) for ranks in (1, *options.ranks)]
    print("\n".join(described(groups)))
    peaks = [name for name in groups[0] if name.startswith("peak")]
    return int(
        any(one[k] > WANTED / one["ranks"] * groups[0][k] for one in groups[1:] for k in peaks)
    )


if __name__ == "__main__":
    sys.exit(main())
