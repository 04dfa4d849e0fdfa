"""`worlds.learn.train`: one loop around all algorithms, which nothing that ends it loses."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np

from difftile import worlds
from difftile.progress import progress_bar
from difftile.signals import Signals
from difftile.worlds.learn.networks import Networks
from difftile.worlds.learn.policies import fields_of
from difftile.worlds.learn.ppo import Ppo
from difftile.worlds.learn.records import INTERRUPTED, TrainingRecord
from difftile.worlds.learn.rollouts import Progress
from difftile.worlds.learn.shac import Shac

Learner: TypeAlias = "Shac | Ppo"

ALGORITHMS: Mapping[str, type[Shac] | type[Ppo]] = {"shac": Shac, "ppo": Ppo}
_COMPILED = 2  # updates after which time counts: those before compile
_LEAST = 0.1  # the share of the step sizes that is left at the end


def learner(
    task: worlds.Task | str,
    algorithm: str = "shac",
    *,
    model: worlds.Model | None = None,
    count: int = 256,
    seeds: Sequence[int] = (0,),
    policy: str = "kernel",
    **options: Any,
) -> Learner:
    """Return what learns a task.

    Args:
        task: The task, or the name of one in `worlds.tasks`.
        algorithm: "shac", whose gradients pass through the simulation, or "ppo".
        model: The robot, in the place of the task's.
        count: Worlds of each seed.
        seeds: Of as many policies, which are trained side by side.
        policy: "kernel", or "torch" for a module of PyTorch.
        options: For `Shac` or `Ppo`.

    Raises:
        ImportError: PyTorch is needed and not installed.
        KeyError: There is no task of such a name.
        ValueError: The algorithm or the policy is another word, or a number is too small.
    """
    if algorithm not in ALGORITHMS:
        words = " or ".join(f'"{name}"' for name in ALGORITHMS)
        raise ValueError(f"learner(algorithm=...) is {words}, not {algorithm!r}.")
    given = worlds.tasks.named(task) if isinstance(task, str) else task
    return ALGORITHMS[algorithm](model, given, count, seeds, make=networks_of(policy), **options)


def networks_of(policy: str) -> Callable[..., Networks]:
    """Return what makes the networks of a policy, "kernel" or "torch".

    Raises:
        ImportError: PyTorch is needed and not installed.
        ValueError: It is another word.
    """
    if policy == "kernel":
        return Networks
    if policy != "torch":
        raise ValueError(f'a policy is "kernel" or "torch", not {policy!r}.')
    try:
        return importlib.import_module("difftile.worlds.learn.torch_networks").TorchNetworks
    except ModuleNotFoundError as fault:
        if fault.name != "torch":
            raise
        raise ImportError("a policy of PyTorch needs it: pip install 'difftile[torch]'") from None


def record_of(learner: Learner, folder: Path | None, *, resume: bool = False) -> TrainingRecord:
    """Return the record of a learner: empty, or that of the checkpoint in the folder.

    Raises:
        DatasetError: There is nothing to resume, or it is of another training.
    """
    critic, rollouts = learner.critic, learner.rollouts
    fields = fields_of(learner.policy, critic=critic.quick, slow=critic.slow)
    optimisers = {"actor": learner.policy.adam, "critic": critic.adam}
    about = {"task": rollouts.task.name, "algorithm": type(learner).__name__.lower()}
    own = [] if rollouts.measure is None else [rollouts.measure.name]
    kinds = [*own, "reward", "failed"]
    record = TrainingRecord(folder, rollouts.seeds, kinds, fields, optimisers, about)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    if resume:
        record.load()
    return record


def train(
    learner: Learner,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool = True,
    each: Callable[[TrainingRecord], object] = lambda record: None,
) -> TrainingRecord:
    """Train until iterations or seconds are used up, and return the record.

    Step sizes fall to a tenth towards the end. Ctrl-C, and other signals that end a program, end
    the training after the update that is being made. Whatever ends it, `out` has a checkpoint of
    whole updates: the last one, or after an error or `kill -9` one that is at most 20 s old.

    Args:
        learner: What learns.
        iterations: Updates, those of a record that is resumed counted in.
        seconds: Time since the first two updates, which compile.
        out: A folder for `curve.csv`, `curve.png` and `checkpoint.npz`.
        resume: Go on from the checkpoint in `out`.
        progress: Show a bar.
        each: Called after each update.

    Raises:
        DatasetError: There is nothing to resume, or it is of another training.
        ValueError: There is no end, or `resume` without `out`.
    """
    if iterations is None and seconds is None:
        raise ValueError("train(...) takes iterations=..., seconds=..., or both.")
    if resume and out is None:
        raise ValueError("train(resume=True) takes the folder of the checkpoint: out=...")
    record = record_of(learner, None if out is None else Path(out), resume=resume)
    updates = Updates(learner, record, iterations, seconds)
    bar = progress_bar(
        desc="updates", unit="update", total=iterations, initial=len(record.rows), shown=progress
    )
    with Signals() as signals, bar:
        try:
            while not signals.code and (found := updates.step()) is not None:
                said = f"reward {found.reward.mean():.3g}, failed {found.failed.mean():.2f}"
                bar.set_postfix_str(said)
                bar.update()
                each(record)
            record.code = signals.code
        except KeyboardInterrupt:  # of a second signal, in the middle of an update
            record.code = signals.code or INTERRUPTED
        finally:
            if record.is_whole:  # else the networks may be those that the error came from
                record.save()
    return record


@final
class Updates:
    """Updates of a learner, one at a time, each a row of a record.

    Args:
        learner: What learns.
        record: Its record, of which this goes on.
        iterations: Updates in all, or None.
        seconds: Time in all, or None, since the first two updates, which compile.
    """

    def __init__(
        self,
        learner: Learner,
        record: TrainingRecord,
        iterations: int | None,
        seconds: float | None,
    ) -> None:
        self._learner, self._record, self._first = learner, record, len(record.rows)
        self._iterations, self._seconds = iterations, seconds
        self._used = self._before = record.rows[-1][0] if record.rows else 0.0
        self._ready = time.perf_counter()

    def step(self) -> Progress | None:
        """Make the next update and return its means; None if iterations or seconds are used up."""
        learner, record, k = self._learner, self._record, len(self._record.rows)
        shares = [k / self._iterations] if self._iterations else []
        left = 1.0 - max([*shares, *([self._used / self._seconds] if self._seconds else [])])
        if left <= 0.0:
            return None
        record.is_whole = False
        found = learner.improve(max(left, _LEAST))
        record.is_whole = True
        now = time.perf_counter()
        if k - self._first < _COMPILED:
            self._ready = now
        self._used = now - self._ready + self._before
        own = [] if learner.rollouts.measure is None else found.measured
        record.add((self._used, k, *own, *found.reward, *found.failed))
        return found


class Episode(NamedTuple):
    """An episode without noise, of all worlds.

    Attributes:
        returns: Sums of rewards until an episode ended, by network, (networks,).
        qpos: Coordinates of the first worlds of each network, (decisions, networks, shown, nq).
    """

    returns: np.ndarray
    qpos: np.ndarray


def evaluate(learner: Learner, *, shown: int = 0, decisions: int | None = None) -> Episode:
    """Play one episode by what is learned, without noise; worlds that fail stay where they are.

    Args:
        learner: What has learned; its worlds begin anew afterwards.
        shown: Worlds of each network whose coordinates are returned.
        decisions: Their number, by default an episode of the task.
    """
    rollouts, policy = learner.rollouts, learner.policy
    shown = min(shown, rollouts.count)
    shape = rollouts.networks, rollouts.count
    rollouts.begin()
    total, playing = np.zeros(shape), np.ones(shape, bool)
    qpos: list[np.ndarray] = []
    for _ in range(decisions or rollouts.task.episode):
        if shown:
            qpos.append(rollouts.sim.qpos.to_numpy().reshape(*shape, -1)[:, :shown])
        policy.decide(0.0)
        rollouts.env.step(renew=False)
        total += playing * rollouts.env.reward.to_numpy().reshape(shape)
        playing &= rollouts.env.done.to_numpy().reshape(shape) == 0
    rollouts.begin()
    return Episode(total.mean(axis=1), np.array(qpos))
