"""Smoke whose pressures are solved for, in one process or on a grid that ranks divide."""

from __future__ import annotations

from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from scenes.smoke import Smoke, SmokeOnRanks, make_scene

N, STEPS, REACH = 10, 7, 3


def gradients(
    split: bool, tapes: tuple[dict[str, Any], ...] = ({},), reach: int = REACH, speed: float = 0.5
) -> list[dict[str, Any]]:
    """Return for each tape the loss, its gradient, the smoke, and the steps that ran again.

    Args:
        split: Divide the square among ranks; otherwise this process has it, without halos.
        tapes: The arguments of tapes; `memory` as a multiple of this rank's fields.
        reach: See `SmokeOnRanks`.
        speed: Of the velocities at the start [cells / step].
    """
    scene = make_scene(N, STEPS, None, 1e-14)
    velocities = speed * np.random.default_rng(3).standard_normal((N, N, 2))
    smoke = SmokeOnRanks(scene, reach, ti.f64) if split else Smoke(scene, dtype=ti.f64)
    whole: Any = (lambda x: x.to_global()) if split else (lambda x: x.to_numpy())
    if split:
        smoke.v0.from_global(velocities)
    else:
        smoke.v0.from_numpy(velocities)
    found: list[dict[str, Any]] = []
    state = (smoke.v, smoke.u, smoke.smoke, smoke.carried, smoke.p, smoke.div)
    nbytes = sum(one.nbytes for one in state)
    for given in tapes:
        options = given | ({"memory": int(given["memory"] * nbytes)} if "memory" in given else {})
        with dt.Tape(smoke.loss, **options) as tape:
            smoke.run()
        found.append(
            {
                "loss": smoke.loss.to_numpy(),
                "smoke": whole(smoke.smoke),
                "v0": whole(smoke.v0.grad),
                "again": tape.recomputed,
            }
        )
    return found
