"""Muscles: gain and bias as functions of length and speed, and the dynamics of activations.

Source: MuJoCo's documentation, "Modeling", "Muscles"; `mju_muscleGain`, `mju_muscleBias` and
`mju_muscleDynamics` (Millard et al., Flexing computational muscle, 2013). Parameters are the range
of lengths, force, scale, least and largest length, largest speed, and the factors of the passive
force and of the force while stretched. The pieces of the curves join with equal slopes.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti

_LEAST = 1e-15
_FORCE, _SCALE, _SHORT, _LONG, _SPEED, _PASSIVE, _STRETCHED = range(2, 9)


@dt.func
def strength(prm, acc0):
    """Return the largest active force of a muscle [N]."""
    found = prm[_FORCE]
    if found < 0.0:
        found = prm[_SCALE] / max(_LEAST, acc0)
    return found


@dt.func
def normalised(prm, span, length):
    """Return the length in parts of the optimal one, and this [m]."""
    unit = (span[1] - span[0]) / max(_LEAST, prm[1] - prm[0])
    return prm[0] + (length - span[0]) / max(_LEAST, unit), unit


@dt.func
def of_length(x, low, high):
    """Return the part of its force that a muscle has at a length in parts of the optimal one."""
    found = 0.0
    if x >= low and x <= high:
        rise, fall = 0.5 * (low + 1.0), 0.5 * (1.0 + high)
        if x <= rise:
            found = 0.5 * ((x - low) / max(_LEAST, rise - low)) ** 2
        elif x <= 1.0:
            found = 1.0 - 0.5 * ((1.0 - x) / max(_LEAST, 1.0 - rise)) ** 2
        elif x <= fall:
            found = 1.0 - 0.5 * ((x - 1.0) / max(_LEAST, fall - 1.0)) ** 2
        else:
            found = 0.5 * ((high - x) / max(_LEAST, high - fall)) ** 2
    return found


@dt.func
def muscle_gain(prm, span, acc0, length, speed):
    """Return the gain of a muscle, and its derivative by the speed.

    Args:
        prm: The parameters of its gain.
        span: The lengths of its actuator between which it works [m].
        acc0: The acceleration that a unit of force gives.
        length, speed: Of its actuator [m, m/s].
    """
    x, unit = normalised(prm, span, length)
    fastest = max(_LEAST, unit * prm[_SPEED])
    v, rest = speed / fastest, prm[_STRETCHED] - 1.0
    part, slope = 0.0, 0.0
    if v > rest:
        part = prm[_STRETCHED]
    elif v > 0.0:
        part = prm[_STRETCHED] - (rest - v) * (rest - v) / max(_LEAST, rest)
        slope = 2.0 * (rest - v) / max(_LEAST, rest)
    elif v > -1.0:
        part = (v + 1.0) * (v + 1.0)
        slope = 2.0 * (v + 1.0)
    whole = -strength(prm, acc0) * of_length(x, prm[_SHORT], prm[_LONG])
    return whole * part, whole * slope / fastest


@dt.func
def muscle_bias(prm, span, acc0, length):
    """Return the passive force of a muscle; arguments are as for `muscle_gain`."""
    x = normalised(prm, span, length)[0]
    knee, part = 0.5 * (1.0 + prm[_LONG]), 0.0
    if x > knee:
        part = 0.5 + (x - knee) / max(_LEAST, knee - 1.0)
    elif x > 1.0:
        part = 0.5 * ((x - 1.0) / max(_LEAST, knee - 1.0)) ** 2
    return -strength(prm, acc0) * prm[_PASSIVE] * part


@dt.func
def muscle_rate(prm, ctrl, act):
    """Return the derivative of an activation by time [1/s].

    Args:
        prm: Time constants of activation and deactivation [s], and the width of the change from
            one to the other.
        ctrl, act: The control and the activation, of which the part from 0 to 1 counts.
    """
    shown = 0.5 + 1.5 * ti.math.clamp(act, 0.0, 1.0)
    rising, falling = prm[0] * shown, prm[1] / shown
    excess = ti.math.clamp(ctrl, 0.0, 1.0) - act
    time = falling
    if prm[2] >= _LEAST:
        x = ti.math.clamp(excess / prm[2] + 0.5, 0.0, 1.0)
        time += (rising - falling) * x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
    elif excess > 0.0:
        time = rising
    return excess / max(_LEAST, time)
