"""`difftile learn`, once its arguments are known."""

from __future__ import annotations

import argparse
import runpy
import sys
import time
from pathlib import Path

import numpy as np

import difftile as dt
from difftile import worlds
from difftile.arguments import Parser
from difftile.progress import progress_bar
from difftile.worlds.learn.film import save_film, watched
from difftile.worlds.learn.mpc import Mpc
from difftile.worlds.learn.records import CHECKPOINT, INTERRUPTED
from difftile.worlds.learn.training import Learner, Updates, evaluate, learner, record_of, train

_SHOWN = 3  # worlds in films
_COUNTS = {"cpu": 64, "cuda": 4096}


def run(options: argparse.Namespace, parser: Parser) -> int:
    """Learn; return the exit code."""
    name = Path(options.task).stem
    out: Path = options.out or Path("out") / "learn" / f"{name}-{options.algorithm}"
    print(f"learn: {name} by {options.algorithm}; files go to {out}", flush=True)
    has_begun = (out / CHECKPOINT).exists()
    if options.resume and not has_begun:
        parser.error(f"argument --resume: there is no {out / CHECKPOINT}")
    if has_begun and not options.resume and options.algorithm != "mpc":
        parser.error(f"{out} has a training already: pass --resume, or another folder as --out")
    try:
        dt.init(arch=options.arch)
        task = task_of(options.task)
        out.mkdir(parents=True, exist_ok=True)
        if options.algorithm == "mpc":
            return _plan(options, task, out)
        seeds = range(options.seed, options.seed + options.seeds)
        count = options.worlds or _COUNTS[options.arch]
        mine = learner(task, options.algorithm, count=count, seeds=[*seeds], policy=options.policy)
        return _watch(options, mine, out) if options.view != "none" else _learn(options, mine, out)
    except (dt.DifftileError, ImportError, OSError, ValueError, TypeError) as fault:
        print(f"difftile learn: {fault}", file=sys.stderr)
        return 1


def task_of(text: str) -> worlds.Task:
    """Return a task by its name, or of a file.

    Raises:
        ValueError: The file has no task.
    """
    if not text.endswith(".py"):
        return worlds.tasks.named(text)
    found = runpy.run_path(text).get("TASK")
    if not isinstance(found, worlds.Task):
        raise ValueError(f"{text} has no worlds.Task named TASK.")
    return found


def _learn(options: argparse.Namespace, mine: Learner, out: Path) -> int:
    begun = time.perf_counter()
    ends = {"iterations": options.iterations, "seconds": _seconds(options)}
    record = train(mine, **ends, out=out, resume=options.resume)
    if record.code:
        print(f"interrupted after {len(record.rows)} updates; --resume goes on from them")
        return record.code
    episode = evaluate(mine, shown=_SHOWN)
    says = ", ".join(
        f"seed {seed}: {one:.1f}"
        for seed, one in zip(mine.rollouts.seeds, episode.returns, strict=True)
    )
    print(
        f"{len(record.rows)} updates in {record.rows[-1][0]:.0f} s, "
        f"{time.perf_counter() - begun:.0f} s with compiling; returns of an episode without "
        f"noise: {says}"
    )
    if not options.no_pictures:
        best = int(np.nan_to_num(episode.returns, nan=-np.inf).argmax())
        save_film(
            out / "run.gif", mine.rollouts.model, episode.qpos[:, best], mine.rollouts.decision
        )
    print(f"files in {out}")
    return 0


def _watch(options: argparse.Namespace, mine: Learner, out: Path) -> int:
    """Learn while an app is open; what is learned then is kept as by `train`."""
    record = record_of(mine, out, resume=options.resume)
    updates = Updates(mine, record, options.iterations, _seconds(options))
    app = dt.viewer.App(f"learn {mine.rollouts.task.name}", backend=options.view)
    watched(mine, app, update=updates.step)
    try:
        app.run()
    finally:
        if record.is_whole:
            record.save()
    print(f"{len(record.rows)} updates; files in {out}")
    return 0


def _seconds(options: argparse.Namespace) -> float | None:
    return None if options.minutes is None else 60.0 * options.minutes


def _plan(options: argparse.Namespace, task: worlds.Task, out: Path) -> int:
    env = worlds.environment(task, worlds=options.worlds or 4, seed=options.seed)
    planner = Mpc(env, seed=options.seed)
    decisions = options.iterations or task.episode
    ends = time.perf_counter() + 60.0 * (options.minutes or 1e6)
    total, playing = np.zeros(env.worlds), np.ones(env.worlds, bool)
    qpos: list[np.ndarray] = []
    try:
        with progress_bar(range(decisions), desc="decisions", unit="decision") as bar:
            for _ in bar:
                qpos.append(env.sim.qpos.to_numpy()[:_SHOWN])
                env.step(planner.act().astype(env.obs.numpy_dtype), renew=False)
                total += playing * env.reward.to_numpy()
                playing &= env.done.to_numpy() == 0
                bar.set_postfix({"return": f"{total.mean():.1f}"})
                if time.perf_counter() > ends:
                    break
    except KeyboardInterrupt:
        if not qpos:
            return INTERRUPTED
    print(f"returns after {len(qpos)} decisions: {' '.join(f'{one:.1f}' for one in total)}")
    if not options.no_pictures:
        save_film(out / "run.gif", env.model, np.array(qpos), env.decision)
        print(f"files in {out}")
    return 0
