"""MCMC: gaussians as samples with noise, relocated to places that matter when they fade.

Source: Kheradmand and others, 3D Gaussian Splatting as Markov Chain Monte Carlo, 2024; numbers as
in gsplat 1.6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import LaunchError, SolverError
from difftile.tracebacks import boundary
from difftile.training import numbers
from difftile.training.densify import ScreenGradients
from difftile.training.rows_of_ranks import gathered, stretch_of, total_of

MOST_IN_ONE_PLACE = 51  # the largest number of copies in the formula; more count as so many
_BELOW_ONE = 1.0 - float(np.finfo(np.float32).eps)
_STEEPNESS = 100.0  # of the noise between gaussians that fade and gaussians that stay

_COUNTS = np.arange(MOST_IN_ONE_PLACE + 1)
_CHOICES = np.array([[math.comb(n, j) for j in _COUNTS] for n in _COUNTS], np.float64)
# By number of copies n and power j: C(n, j) (-1)^(j + 1) / sqrt(j). The source has the sum of
# C(i - 1, j - 1) over i <= n in the place of C(n, j), which is the same.
_SERIES = _CHOICES * np.where(_COUNTS % 2, 1.0, -1.0) / np.sqrt(np.maximum(_COUNTS, 1))


def shared(
    opacities: npt.NDArray[Any], scales: npt.NDArray[Any], counts: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return opacity and scales with which n equal gaussians look like one.

    Together they cover its centre as much as it did, and as much of any line through the centre
    (Kheradmand and others, equation 9).

    Args:
        opacities: The opacity of the one, in (0, 1), shape (m,).
        scales: The scales of the one, shape (m, 3).
        counts: n, from 1 on, shape (m,).
    """
    opacity, n = opacities.astype(np.float64), np.minimum(counts, MOST_IN_ONE_PLACE)
    each = -np.expm1(np.log1p(-opacity) / n)
    series = np.zeros_like(each)
    for j in range(int(n.max(initial=0)), 0, -1):
        series = (series + _SERIES[n, j]) * each
    return each, scales * (opacity / series)[:, None]


@dt.func
def _perturb(
    row,
    x,
    y,
    z,
    length,
    first,
    scales: ti.template(),
    quaternions: ti.template(),
    opacities: ti.template(),
    means: ti.template(),
):
    """Move the centre of a row, among all rows of all ranks, if this rank has it."""
    k = row - first
    if k >= 0 and k < means.shape[0]:
        turn = dt.rotations.quat_to_matrix(quaternions[k])
        along = ti.exp(2.0 * scales[k]) * (turn.transpose() @ ti.Vector([x, y, z]))
        fades = dt.sigmoid(-_STEEPNESS * (dt.sigmoid(opacities[k]) - 0.005))
        means[k] += length * fades * (turn @ along)


@dt.kernel
def _penalise(opacities, scales, total: ti.i32, opacity_weight: float, scale_weight: float, loss):
    for k in opacities:
        wide = ti.exp(scales[k])
        mean = (wide.x + wide.y + wide.z) / 3.0
        share = opacity_weight * dt.sigmoid(opacities[k]) + scale_weight * mean
        loss[None] += share / total


@final
class MCMC:
    """Relocates gaussians that have faded, adds some, and adds noise to the centres of faint ones.

    Every `every` steps a gaussian whose opacity is at most `min_opacity` is moved to the place of
    another, drawn with a probability in proportion to opacity; gaussians in one place then share
    its opacity so that the image does not change (`shared`). In the same way their number grows by
    5 % up to `most`. Each step adds noise to the centres along the gaussians' axes, more to fainter
    ones. `penalty` is the part of the loss that lets unneeded gaussians fade.

    Optimisers of the gaussians follow: after a relocation all gaussians in that place start without
    a state; gaussians that were copied for growth keep theirs.

    Args:
        rate: The learning rate of the centres, a number or a function of the steps made before, as
            in the optimiser.
        most: The largest number of gaussians.
        start: The last step without relocation and growth.
        stop: The step from which on there is only noise.
        every: The steps between relocations.
        min_opacity: The opacity up to which gaussians have faded.
        growth: The factor by which their number grows, rounded down.
        noise: The size of the noise in units of `rate`.
        opacity_weight: The weight of the mean opacity in `penalty`.
        scale_weight: The weight of the mean scale [1/scene unit] in `penalty`.
        seed: The seed of all random numbers, which depend only on it and on the step.

    Raises:
        LaunchError: An option is out of range.
    """

    @boundary
    def __init__(
        self,
        rate: float | Callable[[int], float],
        *,
        most: int = 1_000_000,
        start: int = 500,
        stop: int = 25_000,
        every: int = 100,
        min_opacity: float = 0.005,
        growth: float = 1.05,
        noise: float = 5e5,
        opacity_weight: float = 0.01,
        scale_weight: float = 0.01,
        seed: int = 0,
    ) -> None:
        if not (every > 0 and growth >= 1 and noise >= 0 and 0 < min_opacity < 1 and seed >= 0):
            raise LaunchError(
                "MCMC: every is above 0, growth 1 or more, noise and seed 0 or more, and "
                f"min_opacity in 0..1, not {every}, {growth}, {noise}, {seed} and {min_opacity}."
            )
        self.rate = rate
        self.most = most
        self.start, self.stop, self.every = start, stop, every
        self.min_opacity = min_opacity
        self.growth = growth
        self.noise = noise
        self.opacity_weight, self.scale_weight = opacity_weight, scale_weight
        self.seed = seed

    def penalty(self, gaussians: dt.Rows, loss: dt.Field) -> None:
        """Add the weighted means of opacities and scales to a loss, on an open tape.

        Args:
            gaussians: The gaussians.
            loss: The loss to add to, shape ().
        """
        weights = self.opacity_weight, self.scale_weight
        total = total_of(gaussians)
        _penalise(gaussians.opacities, gaussians.scales, total, *weights, loss)

    def after_step(
        self,
        step: int,
        gaussians: dt.Rows,
        splatter: ScreenGradients | Sequence[ScreenGradients] | None = None,
    ) -> dict[str, int]:
        """Relocate and add gaussians if the step is due, and add noise to their centres.

        Args:
            step: The number of steps made, this one included; call it after the optimiser's step.
            gaussians: The gaussians; see `render.make_gaussians`.
            splatter: Is not used; other strategies use its gradients.

        Returns:
            The numbers of "relocated" and "added" gaussians; empty between relocations.

        Raises:
            SolverError: All gaussians have faded.
            TapeError: A tape is open.
        """
        done: dict[str, int] = {}
        if self.start < step < self.stop and step % self.every == 0:
            done = self._move(step, gaussians)
        self._add_noise(step, gaussians)
        return done

    def _move(self, step: int, gaussians: dt.Rows) -> dict[str, int]:
        rng = np.random.default_rng((self.seed, step))
        logits, widths = (
            gathered(gaussians, field).to_numpy()
            for field in (gaussians.opacities, gaussians.scales)
        )
        opacities, scales = numbers.sigmoid(logits), np.exp(widths.astype(np.float64))
        index = np.arange(len(opacities))
        dead = opacities <= self.min_opacity
        if dead.all():
            raise SolverError(
                f"MCMC: in step {step} the opacities of all {len(dead)} gaussians are "
                f"{self.min_opacity} or less. Lower min_opacity, or check the loss."
            )
        to = _sampled(np.where(dead, 0.0, opacities), int(dead.sum()), rng)
        self._share(opacities, scales, to)
        index[dead] = to
        fresh = dead.copy()
        fresh[to] = True
        opacities, scales = opacities[index], scales[index]
        added = max(min(self.most, int(self.growth * len(index))) - len(index), 0)
        copies = _sampled(opacities, added, rng)
        self._share(opacities, scales, copies)
        if len(to) or added:
            rows = np.concatenate((np.arange(len(index)), copies))
            gaussians.take(index[rows], np.concatenate((fresh, np.ones(added, bool))))
            own = rows[slice(*stretch_of(gaussians))]
            gaussians.opacities.from_numpy(numbers.logit(opacities[own]))
            gaussians.scales.from_numpy(np.log(scales[own]))
        return {"relocated": len(to), "added": added}

    def _share(
        self,
        opacities: npt.NDArray[np.float64],
        scales: npt.NDArray[np.float64],
        drawn: npt.NDArray[np.intp],
    ) -> None:
        """Share the opacities and scales of gaussians with the gaussians moved to them, in place.

        Args:
            opacities: Shape (n,).
            scales: Shape (n, 3).
            drawn: The index of the gaussian that each one comes to.
        """
        places, times = np.unique(drawn, return_counts=True)
        given = np.minimum(opacities[places], _BELOW_ONE)
        new, scales[places] = shared(given, scales[places], times + 1)
        opacities[places] = np.clip(new, self.min_opacity, _BELOW_ONE)

    def _add_noise(self, step: int, gaussians: dt.Rows) -> None:
        rate = self.rate(step - 1) if callable(self.rate) else self.rate
        if not rate * self.noise:
            return
        seeds = np.random.SeedSequence((self.seed, step)).generate_state(3) >> 1
        _perturb(
            dt.grid(total_of(gaussians)),
            *(dt.randn(int(seed)) for seed in seeds),
            rate * self.noise,
            stretch_of(gaussians)[0],
            gaussians.scales,
            gaussians.quaternions,
            gaussians.opacities,
            gaussians.means,
        )

    # Saving

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return no arrays: steps depend only on gaussians, options and the number of the step."""
        return {}

    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from a state that `state_dict` returned."""
        if len(saved):
            raise LaunchError("MCMC: load_state_dict() takes the empty state of state_dict().")


def _sampled(
    weights: npt.NDArray[np.float64], count: int, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Return random indices with probabilities in proportion to weights."""
    return rng.choice(len(weights), size=count, p=weights / weights.sum())
