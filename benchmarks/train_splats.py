"""Training of splats on pictures of a scene: seconds of a thousand steps, and the quality reached.

Makes the pictures of a scene (`train_scenes`), trains on them as `difftile train` does, and
measures PSNR and SSIM on held-out views. With `--gsplat` a trainer in torch around gsplat's
rasterisation, with the same rates, losses and strategy, learns from the same pictures and points.

With fewer `--iterations` than `--steps`, the schedule is that of `--steps` and only its beginning
runs; the last line says what all steps take if the later ones take as long as the last hundred.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.train_scenes import SCENES
from difftile.arguments import Parser, positive_int

EVERY = 100  # steps between two looks at the clock
PSNR_APART = 0.1  # the most that we may be below gsplat [dB]
MOST_SECONDS = 180.0  # of 30,000 steps


def ours(
    data: dt.datasets.Dataset, options: dt.training.Options, iterations: int
) -> dict[str, Any]:
    """Train by `Trainer`; return seconds by step and the mean scores on held-out views."""
    trainer = dt.training.Trainer(data, options)
    seconds, counts = clocked(trainer.advance, iterations, lambda: len(trainer.gaussians))
    scores = trainer.scores(trainer.held_out)
    return {
        "seconds": seconds,
        "gaussians": counts,
        "psnr": float(np.mean([one.psnr for one in scores])),
        "ssim": float(np.mean([one.ssim for one in scores])),
    }


def theirs(
    data: dt.datasets.Dataset, options: dt.training.Options, iterations: int
) -> dict[str, Any]:
    """Train by gsplat from the same gaussians and on the same views in turn."""
    # Imported late: torch and gsplat are no dependencies, and gsplat compiles its sources.
    peer = importlib.import_module("benchmarks.peers.gsplat_trainer")
    mine = dt.training.Trainer(data, options)
    order = [mine.view_of(step) for step in range(iterations)]
    trainer = peer.GsplatTrainer(data, options, mine.gaussians.to_numpy(), order)
    seconds, counts = clocked(trainer.advance, iterations, lambda: len(trainer), peer.wait)
    psnr, ssim = trainer.scores()
    return {"seconds": seconds, "gaussians": counts, "psnr": psnr, "ssim": ssim}


def clocked(
    advance: Callable[[], None],
    iterations: int,
    count: Callable[[], int],
    wait: Callable[[], None] = ti.sync,
) -> tuple[list[float], list[int]]:
    """Return the seconds after each hundred steps, and the number of gaussians then."""
    seconds, counts = [], []
    wait()
    began = time.perf_counter()
    for step in range(1, iterations + 1):
        advance()
        if step % EVERY == 0 or step == iterations:
            wait()
            seconds.append(time.perf_counter() - began)
            counts.append(count())
    return seconds, counts


def report(name: str, found: dict[str, Any], iterations: int, steps: int) -> float:
    """Print what a trainer took and reached; return the seconds of all steps."""
    seconds, counts = found["seconds"], found["gaussians"]
    marks = [min(k * EVERY, iterations) for k in range(1, len(seconds) + 1)]
    print(f"{name}: {iterations} steps in {seconds[-1]:.1f} s, to {counts[-1]:,} gaussians")
    starts = [0.0, *seconds]
    at = 0
    for k in range(len(seconds)):
        if marks[k] % 1000 == 0 or k == len(seconds) - 1 or k == 0:
            done = marks[k] - (marks[at - 1] if at else 0)
            spent = 1000 * (seconds[k] - starts[at]) / done
            print(f"  to step {marks[k]:6}: {spent:8.3f} s per 1,000, {counts[k]:,} gaussians")
            at = k + 1
    print(f"  held out: {found['psnr']:.2f} dB, SSIM {found['ssim']:.4f}")
    last = marks[-1] - (marks[-2] if len(marks) > 1 else 0)
    rate = (seconds[-1] - starts[-2]) / last
    whole = seconds[-1] + rate * (steps - iterations)
    if steps > iterations:
        print(f"  all {steps} steps at the pace of the last {last}: {whole:.0f} s")
    return whole


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; return the exit code, 1 where a target is missed."""
    parser = Parser("benchmarks.train_splats", (__doc__ or "").splitlines()[0])
    parser.add_argument("--arch", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--scene", choices=SCENES, default="marbles")
    parser.add_argument("--views", type=positive_int, default=200)
    parser.add_argument("--size", type=positive_int, default=1024, help="of pictures [pixels]")
    parser.add_argument("--points", type=positive_int, default=50_000, help="known at first")
    parser.add_argument("--iterations", type=positive_int, help="default: all steps")
    parser.add_argument("--steps", type=positive_int, default=30_000, help="of the schedule")
    parser.add_argument("--most", type=positive_int, default=1_000_000, help="gaussians")
    parser.add_argument("--strategy", choices=("default", "mcmc", "none"), default="default")
    parser.add_argument("--gsplat", action="store_true", help="measure gsplat as well")
    parser.add_argument("--json", type=Path, help="a file for all numbers")
    given = parser.parse_args(argv)
    iterations = min(given.iterations or given.steps, given.steps)
    options = dt.training.Options(steps=given.steps, most=given.most, strategy=given.strategy)
    dt.init(arch=given.arch)
    found: dict[str, Any] = {}
    good = True
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        make = SCENES[given.scene]
        data = make(Path(folder) / given.scene, given.views, given.size, given.points)
        print(f"{data.found}, {given.size} pixels wide, in {time.perf_counter() - began:.1f} s")
        found["difftile"] = ours(data, options, iterations)
        whole = report("difftile", found["difftile"], iterations, given.steps)
        if given.arch == "cuda" and whole > MOST_SECONDS * given.steps / 30_000:
            good = False
        if given.gsplat:
            found["gsplat"] = theirs(data, options, iterations)
            report("gsplat", found["gsplat"], iterations, given.steps)
            apart = found["difftile"]["psnr"] - found["gsplat"]["psnr"]
            print(f"difftile is {apart:+.3f} dB from gsplat")
            good = good and apart > -PSNR_APART
    if given.json is not None:
        given.json.write_text(json.dumps({"options": str(options), **found}, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
