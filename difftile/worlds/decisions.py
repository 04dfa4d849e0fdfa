"""Kernels of one decision of an environment, over all worlds."""

from __future__ import annotations

import difftile as dt
from difftile import ti

_FASTEST = 1e6  # [m/s, rad/s]; a world beyond it has no motion that could be learned from


@dt.kernel
def drive(given, middle, half, steps: int, action, ctrl, fault):
    """Turn actions from -1 to 1 into controls, and note the first decision of a world with a NaN.

    Args:
        given: Actions, (worlds, nu).
        middle, half: Of the range of each control, (nu,).
        steps: The number of this decision, from 1.
        action: A copy of the actions, which kernels of the task read.
        ctrl: Result, (worlds, nu).
        fault: 0 before a NaN, (worlds,).
    """
    for n in range(ctrl.shape[0]):
        for i in range(ctrl.shape[1]):
            action[n, i] = given[n, i]
            ctrl[n, i] = middle[i] + half[i] * given[n, i]
            if not abs(given[n, i]) < 1e30 and fault[n] == 0:
                fault[n] = steps


@dt.kernel
def tick(decision: float, age, time, done):
    """Count a decision of each world, and expect no end.

    Args:
        decision: Its time [s].
        age, time: Decisions and seconds since the episode began.
        done: 0 afterwards.
    """
    for n in range(age.shape[0]):
        age[n] += 1
        time[n] = decision * age[n]
        done[n] = 0


@dt.kernel
def conclude(qvel, episode: int, age, reward, done, truncated, over):
    """Say which episodes ended: failed, or without an end of their own after their time.

    A world whose velocities left all bounds has failed, with a reward of 0.

    Args:
        qvel: Velocities.
        episode: Decisions of an episode.
        age: Decisions so far.
        reward, done: As the task left them.
        truncated: Result: 1 if time ended it.
        over: Result: 1 if either did.
    """
    for n in range(age.shape[0]):
        sound = 1
        for i in range(qvel.shape[1]):
            if not abs(qvel[n, i]) < _FASTEST:
                sound = 0
        reward[n] = ti.select(sound == 1, reward[n], 0.0)
        done[n] = ti.select(sound == 1 and done[n] == 0, 0, 1)
        truncated[n] = ti.select(done[n] == 0 and age[n] >= episode, 1, 0)
        over[n] = ti.max(done[n], truncated[n])


@dt.kernel
def keep(obs, done, final):
    """Copy what was seen last; of a failed world only finite numbers are kept.

    Args:
        obs: (worlds, observations).
        done: Of each world.
        final: Result.
    """
    for n in range(obs.shape[0]):
        for i in range(obs.shape[1]):
            final[n, i] = ti.select(done[n] == 0 or abs(obs[n, i]) < 1e30, obs[n, i], 0.0)
