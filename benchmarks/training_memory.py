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

import gc
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import difftile as dt
from difftile import distributed as dist
from difftile.arguments import Parser, positive_int
from difftile.datasets.dataset import Dataset, View
from difftile.ranks.collect import gather
from difftile.render import similarity
from difftile.substrate import current_session
from difftile.substrate.memory import Buffer
from difftile.substrate.pool import Pool
from difftile.training import Options, Trainer, gaussians_at

WANTED = 1.1
_STEPS = 4  # the last of which refines
Results = dict[str, float]


class Gauge:
    """Counts the bytes of all buffers of the library: now, and at most."""

    def __init__(self) -> None:
        self.now = self.peak = 0
        make = Pool._allocate

        def counted(pool: Pool, *kind: Any) -> Buffer:
            made = make(pool, *kind)
            self.now += made.nbytes
            self.peak = max(self.peak, self.now)
            weakref.finalize(made.device or made.array(), self._less, made.nbytes)
            return made

        Pool._allocate = counted  # type: ignore[method-assign]

    def _less(self, nbytes: int) -> None:
        self.now -= nbytes


def noise(folder: Path, count: int, size: int) -> Dataset:
    """Return a data set of noise, seen from a circle around the origin."""
    rng = np.random.default_rng(0)
    views: list[View] = []
    for k in range(count):
        path = folder / f"{k}.png"
        Image.fromarray(rng.integers(0, 255, (size, size, 3), np.uint8)).save(path)
        turn = 2 * np.pi * k / count
        look = np.eye(4)
        look[:3, :3] = [
            [np.cos(turn), 0, np.sin(turn)],
            [0, 1, 0],
            [-np.sin(turn), 0, np.cos(turn)],
        ]
        look[2, 3] = 5.0
        lens = np.array([size, size, size / 2, size / 2], float)
        views.append(View(path.name, path, look, lens, size, size))
    return Dataset(folder, tuple(views), None, "noise")


def buffers(*roots: Any) -> Iterator[Buffer]:
    """Yield the memory of all fields that objects hold, gradients included."""
    seen: set[int] = set()
    left = list(roots)
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (str, bytes, np.ndarray, type)):
            continue
        seen.add(id(one))
        if isinstance(one, dt.Field):
            yield one.storage.memory
            left += [one.grad_in, one.grad_out]
        elif isinstance(one, dict):
            left += one.values()
        elif isinstance(one, (list, tuple)):
            left += one
        elif type(one).__module__.startswith("difftile"):
            slots = (name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ()))
            left += vars(one).values() if hasattr(one, "__dict__") else []
            left += [getattr(one, name) for name in slots if hasattr(one, name)]


def parts_of(trainer: Trainer) -> Results:
    """Return the bytes of the fields of a run, by part."""
    sizes = {place[0] for place in trainer._studio._place.values()}
    easels = [easel for size in sizes for easel in size._easels]
    roots: dict[str, list[Any]] = {
        "gaussians, gradients": [dict(trainer.gaussians.items())],
        "averages": [trainer.optimiser.state],
        "sums of the strategy": [vars(trainer.strategy)],
        "projections": [[one.splatter._plane for one in easels], trainer._delivery._own],
        "arrived gaussians": [trainer._delivery._arrived],
        "lists": [one.splatter._blending.lists for one in easels if one.splatter._blending],
        "images": [[vars(one) for one in easels], similarity._planes],
    }
    taken: set[int] = set()
    found: Results = {}
    for name, some in roots.items():
        new = {id(one): one.nbytes for one in buffers(*some) if id(one) not in taken}
        taken |= new.keys()
        found[name] = float(sum(new.values()))
    every = [one for one in gc.get_objects() if type(one) is Buffer]
    found["free"] = float(current_session().pool.held)
    found["other"] = sum(one.nbytes for one in every if id(one) not in taken) - found["free"]
    return found


def measure(options: Any) -> Results:
    """Return bytes by name, of the rank that has most of each."""
    gauge = Gauge()
    if options.process:
        tracemalloc.start()
    with tempfile.TemporaryDirectory() as folder:
        data = noise(Path(folder), 2 * options.batch, options.size)
        settings = Options(steps=100, batch=options.batch, sh_degree=3, points=1000, hold_out=0)
        trainer = Trainer(data, settings)
        rng = np.random.default_rng(1)
        centres = rng.uniform(-options.spread, options.spread, (options.gaussians, 3))
        trainer.gaussians.from_numpy(gaussians_at(centres, rng.random(centres.shape), degree=3))
        trainer.step = 80  # with all bands of harmonics
        strategy: Any = trainer.strategy
        strategy.start, strategy.every, strategy.stop = 0, trainer.step + _STEPS, 100
        for _ in range(2):
            trainer.advance()
        shown = np.mean(
            [(one.splatter.radii.to_numpy()[..., 0] > 0).mean() for one in _easels(trainer)]
        )
        found = parts_of(trainer)
        gauge.peak = gauge.now
        if options.process:
            tracemalloc.reset_peak()
        trainer.advance()
        found["peak of a step"] = float(gauge.peak)
        trainer.advance()
        found["peak with a refinement"] = float(gauge.peak)
        if options.process:
            found["peak of the process"] = float(tracemalloc.get_traced_memory()[1])
    each = gather(list(found.values()), "the results")
    totals = dict(zip(found, each.max(axis=0).tolist(), strict=True))
    return {"ranks": float(dist.size()), "shown": float(shown), **totals}


def _easels(trainer: Trainer) -> list[Any]:
    return trainer._studio.easels(*trainer.views_of(trainer.step - 1))


def described(groups: Sequence[Results]) -> list[str]:
    """Return the lines of a table."""
    heads = [f"{int(one['ranks'])} rank{'s' * (one['ranks'] > 1)}" for one in groups]
    lines = [" " * 24 + "".join(f"{head:>16}" for head in heads)]
    for name in groups[0]:
        if name in ("ranks", "shown"):
            continue
        first = groups[0][name]
        cells = [
            f"{one[name] / 1e6:9.1f} MB {one[name] / first if first else 0:4.2f}" for one in groups
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
        found = measure(options)
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
