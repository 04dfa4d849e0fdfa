"""Memory of training splats on the ranks that run this: by part, and at its peak."""

from __future__ import annotations

import gc
import tempfile
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import difftile as dt
from difftile.datasets.dataset import Dataset, View
from difftile.ranks import current
from difftile.ranks.collect import gather
from difftile.render import similarity
from difftile.substrate import current_session
from difftile.substrate.memory import Buffer
from difftile.substrate.pool import Pool
from difftile.training import Options, Trainer, gaussians_at

_STEPS = 5  # the last of which refines
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
    seen: dict[int, Any] = {}  # alive, so that no other object gets their numbers
    left = list(roots)
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (str, bytes, np.ndarray, type)):
            continue
        seen[id(one)] = one
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


def measure(
    gaussians: int, batch: int = 4, size: int = 64, spread: float = 2.5, *, process: bool = False
) -> Results:
    """Train for some steps, the last of which refines; return bytes of the rank that has most.

    Args:
        gaussians: How many there are on all ranks.
        batch: The images of a step.
        size: Of an image [pixels].
        spread: Half the side of the cloud [scene units].
        process: Trace all that Python and NumPy allocate, too, which takes minutes.

    Returns:
        By name: parts after a step, the peaks of all fields, the number of "ranks", and the share
        of the gaussians that an image has "shown".
    """
    current_session().pool.clear()
    gauge = Gauge()
    if process:
        tracemalloc.start()
    with tempfile.TemporaryDirectory() as folder:
        data = noise(Path(folder), 2 * batch, size)
        settings = Options(steps=100, batch=batch, sh_degree=3, points=1000, hold_out=0)
        trainer = Trainer(data, settings)
        rng = np.random.default_rng(1)
        centres = rng.uniform(-spread, spread, (gaussians, 3))
        trainer.gaussians.from_numpy(gaussians_at(centres, rng.random(centres.shape), degree=3))
        current_session().pool.clear()  # of the first gaussians
        trainer.step = 80  # with all bands of harmonics
        strategy: Any = trainer.strategy
        strategy.start, strategy.every, strategy.stop = 0, trainer.step + _STEPS, 100
        for _ in range(_STEPS - 2):
            trainer.advance()
        shown = np.mean(
            [(one.splatter.radii.to_numpy()[..., 0] > 0).mean() for one in _easels(trainer)]
        )
        found = parts_of(trainer)
        gauge.peak = gauge.now
        if process:
            tracemalloc.reset_peak()
        trainer.advance()
        found["peak of a step"] = float(gauge.peak)
        trainer.advance()
        found["peak with a refinement"] = float(gauge.peak)
        if process:
            found["peak of the process"] = float(tracemalloc.get_traced_memory()[1])
    each = gather(list(found.values()), "the results")
    totals = dict(zip(found, each.max(axis=0).tolist(), strict=True))
    return {"ranks": float(current().size), "shown": float(shown), **totals}


def _easels(trainer: Trainer) -> list[Any]:
    return trainer._studio.easels(*trainer.views_of(trainer.step - 1))
