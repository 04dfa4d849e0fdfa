"""What tasks of walking see and are rewarded for in common.

Robots see a clock beside their state, with a phase of its own for each world: decision 84 measured
what an ant gains by it.
"""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti

CLOCK = 3.0  # [Hz]
_GOLDEN = 0.618034  # from the phase of one world to that of the next, in turns


@dt.func
def see(qpos, qvel, time, index, first, obs):
    """Write coordinates from `first` on, velocities, and cosine and sine of the clock."""
    seen = qpos.shape[0] - first
    for i in range(seen):
        obs[i] = qpos[first + i]
    for i in range(qvel.shape[0]):
        obs[seen + i] = qvel[i]
    phase = 2.0 * math.pi * (CLOCK * time[None] + _GOLDEN * index[None])
    obs[seen + qvel.shape[0]] = ti.cos(phase)
    obs[seen + qvel.shape[0] + 1] = ti.sin(phase)


@dt.kernel
def observe_planar(qpos, qvel, time, index, obs):
    """Write what a robot in the plane of x and z sees: all but its place along x."""
    see(qpos, qvel, time, index, 1, obs)


@dt.kernel
def observe_free(qpos, qvel, time, index, obs):
    """Write what a robot with a free joint sees: all but its place on the floor."""
    see(qpos, qvel, time, index, 2, obs)


@dt.func
def effort(action):
    """Return the sum of squared actions."""
    total = 0.0
    for i in range(action.shape[0]):
        total += action[i] ** 2
    return total


@dt.func
def upright(qpos):
    """Return the cosines of a free body's z axis to the vertical, and of its x axis to the way."""
    x, y, z = qpos[4], qpos[5], qpos[6]
    return 1.0 - 2.0 * (x * x + y * y), 1.0 - 2.0 * (y * y + z * z)
