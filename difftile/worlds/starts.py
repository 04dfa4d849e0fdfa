"""Starts of episodes: drawn from the seed of a world and the number of its episode alone."""

from __future__ import annotations

import difftile as dt
from difftile import ti


@dt.func
def mixed(x):
    """Return a hash of 32 bits: PCG of O'Neill (2014), as in Jarzynski and Olano (2020)."""
    state = x * ti.cast(747796405, ti.u32) + ti.cast(2891336453, ti.u32)
    word = ((state >> ((state >> 28) + 4)) ^ state) * ti.cast(277803737, ti.u32)
    return (word >> 22) ^ word


@dt.func
def uniform(seed, episode, k):
    """Return draw k of an episode in [0, 1), of 24 bits."""
    inner = mixed(
        ti.cast(seed, ti.u32) + mixed(ti.cast(episode, ti.u32) + mixed(ti.cast(k, ti.u32)))
    )
    return ti.cast(ti.cast(inner >> 8, ti.i32), ti.f32) / 16777216.0


@dt.kernel
def draw(over, seeds, ranges_q, ranges_v, ranges_goal, episodes, age, time, qpos, qvel, goal):
    """Draw the start of the next episode of the worlds that are over.

    Args:
        over: Not 0 for these worlds, (worlds,).
        seeds: Of each world, (worlds,).
        ranges_q, ranges_v, ranges_goal: Lowest and highest numbers, (2, n).
        episodes: Episodes begun so far.
        age, time: Of the episode; 0 for the new ones.
        qpos, qvel, goal: Results, (worlds, n).
    """
    for n in range(over.shape[0]):
        if over[n] != 0:
            count = qpos.shape[1]
            for i in range(qpos.shape[1]):
                u = uniform(seeds[n], episodes[n], i)
                qpos[n, i] = ranges_q[0, i] + u * (ranges_q[1, i] - ranges_q[0, i])
            for i in range(qvel.shape[1]):
                u = uniform(seeds[n], episodes[n], count + i)
                qvel[n, i] = ranges_v[0, i] + u * (ranges_v[1, i] - ranges_v[0, i])
            for i in range(goal.shape[1]):
                u = uniform(seeds[n], episodes[n], count + qvel.shape[1] + i)
                goal[n, i] = ranges_goal[0, i] + u * (ranges_goal[1, i] - ranges_goal[0, i])
            episodes[n] += 1
            age[n] = 0
            time[n] = 0.0
