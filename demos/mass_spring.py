"""A robot of masses, springs and muscles learns to walk.

Every muscle is a spring whose rest length a small neural network changes. One run is a few thousand
launches that update positions and velocities in place; `with dt.Tape(loss):` records them and leaves
the gradient of the distance walked in the weights of the network, which gradient descent follows.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti
from tqdm import tqdm

import difftile as dt
from difftile.arguments import Parser, positive_int
from scenes.mass_spring import ROBOT_NAMES, MassSpringScene, Network, make_network, make_scene

vec2 = ti.math.vec2


@dt.kernel
def sense(inputs, x, v, goal_x: float, goal_y: float, gain: float, phase: float, n_clock: int):
    """What the network is told: a clock, every mass relative to the center, the way to go."""
    n = x.shape[0]
    center = vec2(0.0, 0.0)
    for k in x:
        center += x[k] / n
    for j in range(n_clock):
        inputs[j] = ti.sin(phase + 2.0 * ti.math.pi * j / n_clock)
    for k in x:
        place = gain * (x[k] - center)
        speed = gain * v[k]
        inputs[n_clock + 4 * k] = place.x
        inputs[n_clock + 4 * k + 1] = place.y
        inputs[n_clock + 4 * k + 2] = speed.x
        inputs[n_clock + 4 * k + 3] = speed.y
    inputs[n_clock + 4 * n] = goal_x - center.x
    inputs[n_clock + 4 * n + 1] = goal_y - center.y


@dt.kernel
def layer(outputs, inputs, w, b):
    """A dense layer with tanh."""
    for i in outputs:
        total = b[i]
        for j in range(inputs.shape[0]):
            total += w[i, j] * inputs[j]
        outputs[i] = ti.tanh(total)


@dt.kernel
def pull(v, x, springs, rest_length, stiffness, actuation, activation, h: float):
    """Springs change the velocities of their two ends."""
    for s in springs:
        a, b = springs[s].x, springs[s].y
        d = x[a] - x[b]
        length = d.norm() + 1e-4
        target = rest_length[s] * (1.0 + actuation[s] * activation[s])
        impulse = h * (length - target) * stiffness[s] / length * d
        v[a] -= impulse
        v[b] += impulse


@dt.kernel
def move(x, v, floor: float, h: float):
    """Masses move; one that meets the floor moves until it is there, and sticks."""
    for k in x:
        free = v[k]
        height = x[k].y - floor
        after = free
        until = 0.0
        if height + h * free.y < 0.0 and free.y < -1e-4:
            until = -height / free.y
            after = vec2(0.0, 0.0)
        x[k] += until * free + (h - until) * after
        v[k] = after
