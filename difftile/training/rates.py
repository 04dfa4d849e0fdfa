"""Learning rates of gaussians: the rates and schedules of gsplat 1.6."""

from __future__ import annotations

import math

import difftile as dt
from difftile.diagnostics import LaunchError
from difftile.tracebacks import boundary

CENTRES = 1.6e-4  # the first rate, in units of the scene's scale
AT_THE_END = 0.01  # the factor of the rate after all steps
RATES = {
    "scales": 5e-3,
    "quaternions": 1e-3,
    "opacities": 5e-2,
    "sh0": 2.5e-3,
    "shN": 2.5e-3 / 20.0,
    "features": 2.5e-3,
}
STEPS = 30_000
STEPS_PER_DEGREE = 1000


@boundary
def rate_of_centres(scene_scale: float, steps: int = STEPS) -> dt.optim.Rate:
    """Return the schedule of the centres, which falls to a hundredth in so many steps.

    Args:
        scene_scale: The size of the scene [scene units].
        steps: The number of steps of the run.
    """
    return dt.optim.schedules.exponential(CENTRES * scene_scale, AT_THE_END, steps)


@boundary
def optimiser(
    gaussians: dt.Rows,
    scene_scale: float,
    *,
    steps: int = STEPS,
    batch: int = 1,
    nonfinite: str = "raise",
) -> dt.optim.Adam:
    """Return the optimiser of gaussians, which follows when their rows change.

    Rates for several images per step are the rates for one times the root of their number, and
    averages decay at the same speed per image (Malladi and others, On the SDEs and Scaling Rules
    for Adaptive Gradient Algorithms, 2022).

    Args:
        gaussians: Gaussians whose fields have a rate in `RATES`.
        scene_scale: The size of the scene [scene units].
        steps: The number of steps of the run.
        batch: The number of images in the mean that is the loss of a step.
        nonfinite: The reaction to gradients that are not finite, as `dt.optim.Adam` has it. With
            "zero" a step on a device is one launch, and nothing waits for it.

    Raises:
        LaunchError: A field has no rate.
    """
    root = math.sqrt(batch)
    rates: dict[str, dt.optim.Rate] = {"means": rate_of_centres(scene_scale * root, steps)}
    for name in gaussians:
        if name not in ("means", *RATES):
            raise LaunchError(f"'{name}' has no rate; rates are for means, {', '.join(RATES)}.")
        if name in RATES:
            rates[name] = RATES[name] * root
    betas = max(1.0 - batch * 0.1, 0.0), max(1.0 - batch * 0.001, 0.0)
    return dt.optim.Adam(gaussians, rates, betas=betas, eps=1e-15 / root, nonfinite=nonfinite)


@boundary
def degree_at(step: int, most: int = dt.render.MAX_DEGREE) -> int:
    """Return the last band of harmonics that a step uses: one more every 1000 steps.

    Args:
        step: The number of steps before it.
        most: The last band.
    """
    return min(step // STEPS_PER_DEGREE, most)
