"""How strongly and how fast a constraint pulls: MuJoCo's `solimp` and `solref`.

From the documentation of MuJoCo, "Modeling", "Solver parameters".
"""

from __future__ import annotations

import difftile as dt
from difftile import ti

LEAST, MOST = 1e-4, 0.9999  # the bounds of an impedance
SMOOTH_START = 1e-6  # the impedance at which constraints appear, if that is smooth
LEAST_WIDTH = 1e-15
LEAST_REGULARISATION = 1e-15


@dt.func
def bounded(d):
    """Return an impedance within its bounds."""
    return ti.math.clamp(d, LEAST, MOST)


@dt.func
def impedance(solimp, rho, d0):
    """Return the impedance at a violation of rho [m or rad], between 0 and 1.

    Args:
        solimp: The parameters, of which the first is passed as `d0`, after its bounds.
        rho: The violation, or its negative.
        d0: The impedance at 0.
    """
    d1 = bounded(solimp[1])
    width, mid, power = solimp[2], bounded(solimp[3]), max(solimp[4], 1.0)
    d = 0.5 * (d0 + d1)
    if d0 != d1 and width > LEAST_WIDTH:
        x = min(abs(rho) / width, 1.0)
        y = x
        if power != 1.0 and x > 0.0 and x < 1.0:
            if x <= mid:
                y = x * ti.pow(x / mid, power - 1.0)
            else:
                y = 1.0 - (1.0 - x) * ti.pow((1.0 - x) / (1.0 - mid), power - 1.0)
        d = d0 + y * (d1 - d0)
    return d


@dt.func
def spring(solref, solimp, shortest):
    """Return stiffness [1/s^2] and damping [1/s] of the reference acceleration.

    Positive `solref` are a time constant, at least `shortest` [s], and a damping ratio; others the
    negated stiffness and damping.
    """
    d1 = bounded(solimp[1])
    k, b = -solref[0] / (d1 * d1), -solref[1] / d1
    if solref[0] > 0.0:
        time = max(solref[0], shortest)
        b = 2.0 / (d1 * time)
        k = 1.0 / (d1 * time * solref[1]) ** 2
    return k, b


@dt.func
def regularisation(d, a):
    """Return R of an impedance and of the diagonal entry of J M^-1 J^T that stands for a row."""
    return max((1.0 - d) / d * a, LEAST_REGULARISATION)
