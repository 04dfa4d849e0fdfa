"""`worlds.environment`: episodes of many worlds that do one task, with gradients."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.worlds import decisions, starts
from difftile.worlds.model import Model
from difftile.worlds.simulation import Start, Worlds
from difftile.worlds.task import STATE, Task, start_ranges
from difftile.worlds.tasks import named

_SENSED = ("sensordata", "xpos", "xquat")
# What the arrays of a step are, by `numbers`: over the memory of the fields.
_ARRAYS = {
    "fields": lambda field: field,
    "numpy": np.from_dlpack,
    "torch": lambda field: importlib.import_module("torch").from_dlpack(field),
    "jax": lambda field: importlib.import_module("jax.dlpack").from_dlpack(field),
}


class Transition(NamedTuple):
    """What a decision led to, for each world.

    Attributes:
        obs: What is seen now, (worlds, observations): of the new episode where one ended.
        reward: (worlds,).
        done: 1 where the episode ended by failure, so that no future is left, (worlds,), i32.
        truncated: 1 where it ended by its time, and its future is `final_obs`'s, (worlds,), i32.
        final_obs: What was seen before a new episode began, (worlds, observations).
    """

    obs: Any
    reward: Any
    done: Any
    truncated: Any
    final_obs: Any


def environment(
    model: Model | Task | str,
    task: Task | None = None,
    *,
    worlds: int = 4096,
    seed: int = 0,
    dtype: Any = ti.f32,
    numbers: str = "fields",
    check: bool = True,
    **options: Any,
) -> Environment:
    """Return an environment of a task, with all worlds at the start of an episode.

    Args:
        model: A task, the name of one in `worlds.tasks`, or a model in the place of the task's.
        task: The task, if `model` is a model.
        worlds: Their number.
        seed: World n begins its episodes by the seed `seed + n`.
        dtype: `ti.f32` or `ti.f64`.
        numbers: What `step` and `reset` return: "fields", or arrays of "numpy", "torch" or "jax"
            over the same memory. The next step writes them again; copy what you keep. Arrays of
            NumPy are for fields in host memory.
        check: Whether each step looks for actions that are no numbers, before worlds move. On a GPU
            that waits for the actions; without it, `Environment.check` looks later.
        options: For `Worlds`, in the place of the task's.

    Raises:
        ImportError: The library of `numbers` is not installed.
        KeyError: There is no task, or joint, of such a name.
        TypeError: There is no task, or two.
        ValueError: The model is not one of the task, or an argument is out of its range.
    """
    given = named(model) if isinstance(model, str) else model
    if isinstance(given, Task) == isinstance(task, Task):
        raise TypeError(
            "environment takes a task, or a model and a task: "
            'worlds.environment("cartpole_swingup") or worlds.environment(model, task).'
        )
    chosen = given if isinstance(given, Task) else task
    assert chosen is not None
    robot = given if isinstance(given, Model) else chosen.load()
    if not isinstance(robot, Model):
        raise TypeError(f"environment takes a model of worlds.load, not {robot!r}.")
    return Environment(robot, chosen, worlds, seed, dtype, numbers, check, options)


@final
class Environment:
    """Many worlds that do one task in episodes; `worlds.environment` makes it.

    On a tape, `step` gives gradients of rewards and observations by actions, and by everything that
    actions depend on. The gradient of a world ends where its episode does.

    Attributes:
        task, model: What is done, and by which robot.
        sim: The `Worlds`; parameters are `env.sim.m`.
        obs, reward, done, truncated, final_obs: Fields; see `Transition`.
        action: The actions of the last step, (worlds, nu).
        goal: Of each episode, (worlds, goals).
        age: Decisions since the episode began, (worlds,), i32.
        over: 1 where an episode ended at the last step, (worlds,), i32.
        worlds, observations, actions: Numbers of worlds, of what one sees and of its actions.
        decision: The time of a step [s].
        low, high: The controls [of the motors] that actions of -1 and 1 mean, (nu,).
    """

    def __init__(
        self,
        model: Model,
        task: Task,
        worlds: int,
        seed: int,
        dtype: Any,
        numbers: str,
        check: bool,
        options: dict[str, Any],
    ) -> None:
        if numbers not in _ARRAYS:
            words = ", ".join(f'"{one}"' for one in _ARRAYS)
            raise ValueError(f"environment(numbers=...) is one of {words}, not {numbers!r}.")
        if numbers in ("torch", "jax"):
            importlib.import_module(numbers)
        if not model.sizes.nu:
            raise ValueError(f"task '{task.name}': {model!r} has no actuators to act with.")
        self.task, self.model, self.numbers = task, model, numbers
        try:
            ranges = start_ranges(task, model)
        except KeyError as fault:
            raise ValueError(f"task '{task.name}' is of another model: {fault.args[0]}") from None
        self.sim = sim = Worlds(model, worlds, dtype=dtype, **{**task.options, **options})
        self.worlds, self.dtype = worlds, dtype
        self.observations, self.actions = task.observations, model.sizes.nu
        self.decision = task.substeps * float(model.timestep)
        limited = model.actuator_ctrllimited.astype(bool)[:, None]
        self.low, self.high = np.where(limited, model.actuator_ctrlrange, (-1.0, 1.0)).T
        middle, half = 0.5 * (self.low + self.high), 0.5 * (self.high - self.low)
        self._scale = tuple(dt.from_numpy(one, dtype=dtype) for one in (middle, half))
        self._ranges = tuple(dt.from_numpy(one, dtype=dtype) for one in ranges.values())
        wide = worlds, task.observations
        self.obs, self.final_obs = (dt.zeros(wide, dtype, grad=True) for _ in range(2))
        self.reward = dt.zeros(worlds, dtype, grad=True)
        self.action = dt.zeros((worlds, self.actions), dtype, grad=True)
        self.goal, self.time = dt.zeros((worlds, len(task.goal[0])), dtype), dt.zeros(worlds, dtype)
        self.done, self.truncated, self.over, self.age = (
            dt.zeros(worlds, ti.i32) for _ in range(4)
        )
        self._seeds, self._episodes, self._fault = (dt.zeros(worlds, ti.i32) for _ in range(3))
        self.index = dt.from_numpy(np.arange(worlds, dtype=np.int32))
        self._start = Start(dt.zeros(sim.qpos.shape, dtype), dt.zeros(sim.qvel.shape, dtype))
        self._start = Start(self._start.qpos, self._start.qvel, dt.zeros(sim.act.shape[1:], dtype))
        self._kernels = {which: self._batched(which) for which in ("observe", "reward")}
        named = {name for _, names in self._kernels.values() for name in names}
        self._is_sensed = bool(named & set(_SENSED))
        self._steps, self.checks = 0, check
        self.seed(seed)
        self.reset()

    def __repr__(self) -> str:
        sees = f"{self.observations} observations, {self.actions} actions"
        return f"<worlds.Environment: {self.worlds} worlds of '{self.task.name}', {sees}>"

    def _batched(self, which: str) -> tuple[Any, tuple[str, ...]]:
        names = self.task.arguments(which)
        return dt.batch(getattr(self.task, which), self.worlds), names

    def _run(self, which: str) -> None:
        kernel, names = self._kernels[which]
        kernel(*(getattr(self.sim if name in STATE else self, name) for name in names))

    def seed(self, seed: int | np.ndarray) -> None:
        """Let the next episode of world n be the first one of the seed `seed + n`, or of its own.

        Args:
            seed: One number, or one for each world, (worlds,).
        """
        given = np.asarray(seed, np.int64)
        if given.ndim == 0:
            given = given + np.arange(self.worlds)
        if given.shape != (self.worlds,):
            raise ValueError(f"seed(...) is one number or {self.worlds}, not {given.shape}.")
        self._seeds.from_numpy((given & 0xFFFFFFFF).astype(np.uint32).view(np.int32))
        self._episodes.fill(0)

    def reset(self, mask: Any = None, *, stagger: bool = False) -> Any:
        """Begin new episodes, and return what is seen.

        Args:
            mask: A field or array of integers, (worlds,): not 0 for the worlds that begin anew; by
                default all, and the count of decisions in messages begins anew as well.
            stagger: Whether these episodes are shorter, so that they end at different times.

        Raises:
            ValueError: The mask has another shape.
        """
        if mask is None:
            mask = dt.full((self.worlds,), 1, ti.i32)
            self._steps = 0
            self._fault.fill(0)
        elif tuple(mask.shape) != (self.worlds,):
            raise ValueError(
                f"reset(mask) has the shape ({self.worlds},), not {tuple(mask.shape)}."
            )
        elif not hasattr(mask, "to_numpy"):
            mask = dt.from_numpy(np.asarray(mask).astype(np.int32))
        self._begin(mask)
        if stagger:
            ages = self.age.to_numpy()
            early = np.arange(self.worlds) * self.task.episode // self.worlds
            self.age.from_numpy(np.where(mask.to_numpy() != 0, early, ages).astype(np.int32))
        return self.observe()

    def _begin(self, mask: Any) -> None:
        start, own = self._start, (self._episodes, self.age, self.time)
        starts.draw(mask, self._seeds, *self._ranges, *own, start.qpos, start.qvel, self.goal)
        self.sim.reset(mask, start)

    def observe(self) -> Any:
        """Compute what is seen now, and return it."""
        if self._is_sensed:
            self.sim.sense()
        self._run("observe")
        return _ARRAYS[self.numbers](self.obs)

    def step(self, actions: Any = None, *, renew: bool = True) -> Transition:
        """Go on by one decision, and begin new episodes where it ended one.

        Args:
            actions: A field, or an array of any library on the device of the fields, of the type of
                the environment, (worlds, nu), from -1 to 1; by default `env.action`, which a kernel
                may have written. Numbers beyond are left to the limits of the controls.
            renew: Whether worlds whose episode ended begin the next one. Otherwise they stay where
                they are until `env.reset(env.over)`.

        Raises:
            FieldError: Actions have another shape or type, or one of them is not a number.
        """
        given = self.action if actions is None else self._accepted(actions)
        self._steps += 1
        mine = self.action, self.sim.ctrl, self._fault
        decisions.drive(given, *self._scale, self._steps, *mine)
        if self.checks:
            self.check()
        self.sim.step(self.task.substeps)
        decisions.tick(self.decision, self.age, self.time, self.done)
        if self._is_sensed:
            self.sim.sense()
        self._run("reward")
        ends = self.reward, self.done, self.truncated, self.over
        decisions.conclude(self.sim.qvel, self.task.episode, self.age, *ends)
        self._run("observe")
        decisions.keep(self.obs, self.done, self.final_obs)
        if renew:
            self._begin(self.over)
            self.observe()
        return self.transition()

    def transition(self) -> Transition:
        """Return what the last step led to, in the numbers of the environment."""
        found = (getattr(self, name) for name in Transition._fields)
        return Transition(*(_ARRAYS[self.numbers](one) for one in found))

    def _accepted(self, actions: Any) -> Any:
        expected = self.worlds, self.actions
        shape = getattr(actions, "shape", None)
        if shape is None or tuple(shape) != expected:
            said = type(actions).__name__ if shape is None else f"the shape {tuple(shape)}"
            raise dt.FieldError(
                f"env.step(actions): {said}; expected {expected}, for {self.worlds} worlds with "
                f"{self.actions} actuators."
            )
        if _word(actions.dtype) != _word(self.dtype):
            raise dt.FieldError(
                f"env.step(actions): actions are {_word(actions.dtype)} and the environment is "
                f"{_word(self.dtype)}; convert them, or make it with worlds.environment(..., "
                "dtype=...)."
            )
        return actions

    def check(self) -> None:
        """Look for actions that were no numbers since the last reset of all worlds.

        Raises:
            FieldError: There are some; the message says which world and decision came first.
        """
        with dt.stop_recording():
            fault = self._fault.to_numpy()
        if not fault.any():
            return
        first = int(fault[fault > 0].min())
        world = int(np.flatnonzero(fault == first)[0])
        raise dt.FieldError(
            f"env.step(actions): world {world} was given an action that is not a number at step "
            f"{first}, and {int((fault > 0).sum())} of {self.worlds} worlds in all; look at the "
            "policy that made it, and begin again with env.reset()."
        )

    def detach(self) -> None:
        """Let states and what is seen go on as constants: the horizon of a gradient ends here."""
        self.sim.detach()
        with dt.no_grad():
            self.observe()

    def as_gymnasium(self, **options: Any) -> Any:
        """Return the environment as a `gymnasium.vector.VectorEnv`, or a `gymnasium.Env`.

        Args:
            options: `single=True` for one world as an `Env`; `render_mode="rgb_array"` for
                pictures.

        Raises:
            ImportError: Gymnasium is not installed: `pip install 'difftile[gymnasium]'`.
        """
        try:
            return importlib.import_module("difftile.worlds.gymnasium_env").wrapped(self, **options)
        except ModuleNotFoundError as fault:
            if fault.name != "gymnasium":
                raise
            raise ImportError(
                "env.as_gymnasium() needs Gymnasium: pip install 'difftile[gymnasium]'"
            ) from None


def _word(dtype: Any) -> str:
    """Return the name of a type of numbers of any library."""
    word = str(dtype).removeprefix("torch.")
    return {"f32": "float32", "f64": "float64", "i32": "int32"}.get(word, word)
