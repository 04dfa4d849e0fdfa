"""Densification: gaussians that must move much are doubled or split, those that are faint go.

Source: Kerbl, Kopanas, Leimkuehler and Drettakis, 3D Gaussian Splatting for Real-Time Radiance
Field Rendering, 2023, section 5; numbers as in gsplat 1.6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import LaunchError, SolverError
from difftile.fields.create import from_numpy, zeros
from difftile.fields.field import Field
from difftile.fields.rows import Change, Rows
from difftile.ir.types import scalar_of
from difftile.runtime.kernel import kernel
from difftile.substrate import ti
from difftile.training.numbers import logit, rotations, sigmoid


class ScreenGradients(Protocol):
    """What is looked at of a `render.Splatter` after the reverse of a tape.

    Attributes:
        width: The width of the images [pixels].
        height: The height of the images [pixels].
    """

    width: int
    height: int

    @property
    def radii(self) -> Field:
        """Half the boxes of gaussians, 0 if not seen, shape (cameras, n) of vec2 of integers."""
        ...

    @property
    def means2d_grad(self) -> Field:
        """The gradients of centres [1/pixels], shape (cameras, n) of vec2."""
        ...

    @property
    def means2d_absgrad(self) -> Field:
        """Sums over pixels of absolute values of those, of the same shape."""
        ...


SHRINK = 1.6  # what the scales of the two halves are divided by


@kernel
def _observe(gradients, radii, across: float, down: float, sums, counts):
    for k in sums:
        for c in range(gradients.shape[0]):
            if radii[c, k].x > 0 and radii[c, k].y > 0:
                g = gradients[c, k]
                sums[k] += ti.Vector([across * g.x, down * g.y]).norm()
                counts[k] += 1.0


@final
class Densification:
    """Doubles, splits and drops gaussians by what their centres have felt since the last time.

    Each step adds up, over the cameras that see a gaussian, the length of the gradient of its
    centre on the image plane, in units of half the image. Every `every` steps gaussians where the
    mean of that is above `threshold` become two: small ones are doubled, large ones replaced by two
    samples of themselves with scales divided by 1.6. Then gaussians go whose opacity is below
    `min_opacity`, and after the first reset those that are too large. Every `reset_every` steps
    opacities are set to twice `min_opacity` at most: what is not needed does not rise again.

    Optimisers that were made of the gaussians follow: doubled gaussians keep what is remembered of
    them, their copies and both halves of split ones start anew.

    Args:
        scene_scale: The size of the scene [scene units]: about how far cameras are from its middle.
        start: Up to which step nothing is refined.
        stop: The step from which on gaussians stay as they are.
        every: The steps between refinements.
        reset_every: The steps between resets of opacities.
        pause: For how many steps after a reset nothing is refined.
        threshold: The mean gradient above which gaussians become two; by default 2e-4, and 8e-4 of
            absolute ones.
        absolute: Take the sums over pixels of absolute gradients, `Splatter(absgrad=True)`. They do
            not cancel within large gaussians. (Ye and others, AbsGS, 2024.)
        small: The largest scale up to which gaussians are doubled, in units of the scene's.
        large: The largest scale beyond which they go, in units of the scene's.
        min_opacity: The opacity below which they go.
        most: The number of gaussians that is not passed; those with the largest gradients are
            refined first.
        seed: Of the samples, which depend on it and on the step alone.

    Raises:
        LaunchError: An option is out of range.
    """

    def __init__(
        self,
        scene_scale: float,
        *,
        start: int = 500,
        stop: int = 15_000,
        every: int = 100,
        reset_every: int = 3000,
        pause: int = 0,
        threshold: float | None = None,
        absolute: bool = False,
        small: float = 0.01,
        large: float = 0.1,
        min_opacity: float = 0.005,
        most: int | None = None,
        seed: int = 0,
    ) -> None:
        if not (scene_scale > 0 and every > 0 and reset_every > 0 and 0 < min_opacity < 0.5):
            raise LaunchError(
                "Densification: scene_scale, every and reset_every are above 0, and min_opacity is "
                f"below 0.5, not {scene_scale}, {every}, {reset_every} and {min_opacity}."
            )
        self.scene_scale = scene_scale
        self.start, self.stop, self.every = start, stop, every
        self.reset_every, self.pause = reset_every, pause
        self.absolute = absolute
        self.threshold = (8e-4 if absolute else 2e-4) if threshold is None else threshold
        self.small, self.large = small, large
        self.min_opacity = min_opacity
        self.most = most
        self.seed = seed
        self._sums: Field | None = None
        self._counts: Field | None = None

    def after_step(self, step: int, gaussians: Rows, splatter: ScreenGradients) -> dict[str, int]:
        """Look at the gradients of a step, and refine if it is time.

        Args:
            step: How many steps have been made with this one, the optimiser's included: a change of
                rows sets their gradients to zero.
            gaussians: What was drawn; see `render.Gaussians`.
            splatter: What drew them, with the gradients of the step's tape. The loss is taken for a
                mean over its cameras.

        Returns:
            How many gaussians were "duplicated", "split" and "pruned"; empty where it was not time.

        Raises:
            SolverError: No gaussian would be left.
            LaunchError: The gaussians are others than those that were looked at before.
            TapeError: A tape is open.
        """
        if step >= self.stop:
            return {}
        self._look(gaussians, splatter)
        done: dict[str, int] = {}
        rested = step % self.reset_every >= self.pause
        if step > self.start and step % self.every == 0 and rested:
            done = self._refine(step, gaussians)
        if step % self.reset_every == 0:
            self._reset(gaussians)
        return done

    def _look(self, gaussians: Rows, splatter: ScreenGradients) -> None:
        gradients = splatter.means2d_absgrad if self.absolute else splatter.means2d_grad
        count = len(gaussians)
        if self._sums is None or self._counts is None:
            scalar = scalar_of(gradients.element)
            self._sums, self._counts = zeros(count, scalar), zeros(count, scalar)
        if gradients.shape[1] != count or self._sums.shape != (count,):
            raise LaunchError(
                f"Densification: there are {count} gaussians, {gradients.shape[1]} were drawn and "
                f"{len(self._sums)} looked at before. Call it after each step, with the same ones."
            )
        gaussians.followed_by(self)
        half = 0.5 * gradients.shape[0]  # a mean over cameras has their number in its gradients
        width, height = half * splatter.width, half * splatter.height
        _observe(gradients, splatter.radii, width, height, self._sums, self._counts)

    def _refine(self, step: int, gaussians: Rows) -> dict[str, int]:
        means, scales = gaussians.means.to_numpy(), gaussians.scales.to_numpy()
        grows, is_small = self._growing(scales)
        doubled, split = np.flatnonzero(grows & is_small), np.flatnonzero(grows & ~is_small)
        kept = np.flatnonzero(~grows | is_small)
        index = np.concatenate((kept, doubled, split, split))
        means, scales = means[index], scales[index]
        halves = slice(len(kept) + len(doubled), None)
        turns = gaussians.quaternions.to_numpy()[index[halves]]
        means[halves] += _samples(scales[halves], turns, np.random.default_rng((self.seed, step)))
        scales[halves] -= math.log(SHRINK)
        faint = sigmoid(gaussians.opacities.to_numpy()[index]) < self.min_opacity
        gone = faint | ((step > self.reset_every) & (_largest(scales) > self._most_large))
        if gone.all():
            raise SolverError(
                f"Densification: in step {step} all {len(gaussians)} gaussians are fainter than "
                f"{self.min_opacity} or too large, and none would be left."
            )
        fresh = np.arange(len(index)) >= len(kept)
        if len(doubled) or len(split) or gone.any():
            gaussians.take(index[~gone], fresh[~gone])
            gaussians.means.from_numpy(means[~gone])
            gaussians.scales.from_numpy(scales[~gone])
        for seen in (self._sums, self._counts):
            if seen is not None:
                seen.fill(0.0)
        return {"duplicated": len(doubled), "split": len(split), "pruned": int(gone.sum())}

    @property
    def _most_large(self) -> float:
        return self.large * self.scene_scale

    def _growing(
        self, scales: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which gaussians become two, and which are small."""
        assert self._sums is not None
        assert self._counts is not None
        mean = self._sums.to_numpy() / np.maximum(self._counts.to_numpy(), 1.0)
        grows = mean > self.threshold
        if self.most is not None:
            room = max(self.most - len(mean), 0)
            grows[np.argsort(-mean, kind="stable")[room:]] = False
        return grows, _largest(scales) <= self.small * self.scene_scale

    def _reset(self, gaussians: Rows) -> None:
        opacities = np.minimum(gaussians.opacities.to_numpy(), logit(2.0 * self.min_opacity))
        gaussians.opacities.from_numpy(opacities)
        gaussians.forget("opacities")

    def follow(self, change: Change) -> None:
        """Go on with other rows: what was seen of a gaussian goes with it."""
        if self._sums is not None and self._counts is not None:
            self._sums, self._counts = change.beside(self._sums), change.beside(self._counts)

    # Saving

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return what later steps depend on beside gaussians and options, as arrays by name."""
        if self._sums is None or self._counts is None:
            return {}
        return {"sums": self._sums.to_numpy(), "counts": self._counts.to_numpy()}

    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike]) -> None:
        """Go on from a state that `state_dict` returned; give the gaussians their rows first.

        Raises:
            LaunchError: It is not one.
        """
        if not len(saved):
            self._sums = self._counts = None
            return
        if sorted(saved) != ["counts", "sums"]:
            raise LaunchError("Densification: load_state_dict() takes what state_dict() returned.")
        sums, counts = (np.asarray(saved[name]) for name in ("sums", "counts"))
        for array in (sums, counts):
            if array.dtype.kind != "f" or array.ndim != 1 or array.shape != sums.shape:
                raise LaunchError(
                    "Densification: load_state_dict() takes floats of one shape (n,), not "
                    f"{sums.shape} and {counts.shape}."
                )
            if not (np.isfinite(array) & (array >= 0)).all():
                raise LaunchError("Densification: load_state_dict() takes numbers from 0.")
        self._sums, self._counts = from_numpy(sums), from_numpy(counts)


def _samples(
    scales: npt.NDArray[Any], quaternions: npt.NDArray[Any], rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return a draw from each gaussian, relative to its centre."""
    along = np.exp(scales) * rng.normal(size=scales.shape)
    return np.einsum("nij,nj->ni", rotations(quaternions), along)


def _largest(scales: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.exp(scales.max(axis=1))
