"""`worlds.Task`: what a robot is asked to do, as one frozen record."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from difftile.worlds.kinds import BALL, FREE
from difftile.worlds.model import Model, load, load_arrays
from difftile.worlds.resets import hold

Ranges: TypeAlias = "float | Mapping[str, float | Sequence[Any]]"
# The fields that kernels of tasks may name, in the order in which errors list them.
STATE = ("qpos", "qvel", "act", "ctrl", "sensordata", "xpos", "xquat")
OWN = ("action", "goal", "time", "index")
_WIDTHS = (6, 3, 1, 1)  # velocities of a joint, by its type
WRITTEN = {"observe": ("obs",), "reward": ("reward", "done")}


@dataclass(frozen=True)
class Task:
    """What a robot sees, what it is rewarded for, when it fails, and where it begins.

    `observe` and `reward` are kernels of one world. Their parameters are named after the fields
    that they use, each without its axis of worlds: `qpos`, `qvel`, `act`, `ctrl`, `sensordata`,
    `xpos` and `xquat` of `Worlds`; `action`, (nu,); `goal`; `time[None]`, the seconds since the
    episode began; and `index[None]`, the number of the world.

    Args:
        name: Its name, in messages and files.
        model: A text of MJCF, the path of a file as for `worlds.load` or of an archive (`.npz`), a
            model, or a function that returns one.
        observe: A kernel that writes `obs`, an array of `observations` numbers.
        observations: Their number.
        reward: A kernel that writes `reward[None]`, and where the task can fail `done[None]`, which
            is 0 before: 1 ends the episode without a future.
        substeps: Steps of the simulation for each decision.
        episode: Decisions after which an episode is truncated.
        key: The keyframe at which episodes begin, by default the `qpos0` of the model at rest.
        spread: Half the width of the uniform distribution of coordinates around the start
            [m, rad]: one number for all hinges and slides, or by names of joints.
        speeds: The same of velocities [m/s, rad/s]. A pair of numbers is a range around the
            velocity at the start; a free or ball joint takes 6 or 3 half widths, or a pair of
            such sequences.
        goal: The lowest and the highest `goal`, drawn uniformly for each episode.
        options: For `Worlds`, such as `contact_gradient`.

    Raises:
        ValueError: A number is out of its range, or a kernel names a field that does not exist.
        TypeError: `observe` or `reward` is not a kernel.
    """

    name: str
    model: str | Path | Model | Callable[[], Model]
    observe: Callable[..., Any]
    observations: int
    reward: Callable[..., Any]
    substeps: int = 1
    episode: int = 1000
    key: str | int | None = None
    spread: Ranges = 0.0
    speeds: Ranges = 0.0
    goal: tuple[Sequence[float], Sequence[float]] = ((), ())
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("observations", "substeps", "episode"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"Task({name}=...) is at least 1, not {getattr(self, name)}.")
        for name in WRITTEN:
            self.arguments(name)
        low, high = self.goal
        if len(low) != len(high) or any(not a <= b for a, b in zip(low, high, strict=True)):
            raise ValueError(f"Task(goal=...) is a lowest and a highest goal, not {self.goal}.")

    def arguments(self, which: str) -> tuple[str, ...]:
        """Return the names of the fields that `observe` or `reward` takes."""
        kernel = getattr(self, which)
        if not isinstance(kernel, type(hold)):
            raise TypeError(
                f"Task({which}=...) is a kernel of one world (@dt.kernel), not {kernel!r}."
            )
        names = tuple(inspect.signature(kernel).parameters)
        known = (*STATE, *OWN, *WRITTEN[which])
        for name in names:
            if name not in known:
                raise ValueError(
                    f"Task({which}=...) has a parameter '{name}'; a kernel of a task names fields "
                    f"of a world: {', '.join(known)}."
                )
        if WRITTEN[which][0] not in names:
            raise ValueError(f"Task({which}=...) has no parameter '{WRITTEN[which][0]}' to write.")
        return names

    def load(self) -> Model:
        """Return the model; a function makes a new one each time."""
        given = self.model
        if isinstance(given, Model):
            return given
        if isinstance(given, (str, Path)):
            return load_arrays(given) if str(given).endswith(".npz") else load(given)
        return given()


def start_ranges(task: Task, model: Model) -> dict[str, np.ndarray]:
    """Return the lowest and highest `qpos`, `qvel` and `goal` of a start, each (2, n).

    Raises:
        KeyError: The model has no keyframe, or no joint, of such a name.
        ValueError: A spread is not one of its joint, or would be no rotation.
    """
    arrays = model.arrays
    qpos, qvel = arrays["qpos0"], np.zeros(model.sizes.nv)
    if task.key is not None:
        at = model.id("key", task.key) if isinstance(task.key, str) else task.key
        qpos, qvel = arrays["key_qpos"][at], arrays["key_qvel"][at]
    turning = np.isin(arrays["jnt_type"], (FREE, BALL))
    found = {
        "qpos": np.stack([qpos, qpos]).astype(float),
        "qvel": np.stack([qvel, qvel]).astype(float),
    }
    for which, name, places in (
        ("spread", "qpos", "jnt_qposadr"),
        ("speeds", "qvel", "jnt_dofadr"),
    ):
        given = getattr(task, which)
        if not isinstance(given, Mapping):
            given = {joint: given for joint in np.flatnonzero(~turning).tolist()}
        for key, one in given.items():
            joint = model.id("joint", key) if isinstance(key, str) else key
            if turning[joint] and which == "spread":
                raise ValueError(
                    f"task '{task.name}': a spread of joint '{key}' would give no rotation; "
                    "free and ball joints have speeds=... alone."
                )
            width, at = _WIDTHS[arrays["jnt_type"][joint]], int(arrays[places][joint])
            found[name][:, at : at + width] += _range(task, which, key, one, width)
    found["goal"] = np.array(task.goal, float)
    return found


def _range(task: Task, which: str, joint: Any, one: Any, width: int) -> np.ndarray:
    """Return what is added to the start at least and at most, (2, width)."""
    numbers = np.atleast_1d(np.asarray(one, float))
    if width == 1 and numbers.shape == (2,):
        numbers = numbers[:, None]
    both = numbers if numbers.ndim == 2 else np.stack([-numbers, numbers])
    if both.shape != (2, width) or not (both[0] <= both[1]).all() or not np.isfinite(both).all():
        words = (
            "half a width, or a range (low, high)"
            if width == 1
            else f"{width} half widths, or two such"
        )
        raise ValueError(f"task '{task.name}': {which} of joint {joint!r} is {words}, not {one!r}.")
    return both
