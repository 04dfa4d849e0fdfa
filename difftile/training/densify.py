"""Densification: gaussians with large gradients are duplicated or split, faint ones removed.

Source: Kerbl, Kopanas, Leimkuehler and Drettakis, 3D Gaussian Splatting for Real-Time Radiance
Field Rendering, 2023, section 5; numbers as in gsplat 1.6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import LaunchError, SolverError
from difftile.fields.rows import Change
from difftile.prefix_sums import Scan
from difftile.tracebacks import boundary
from difftile.training.numbers import logit
from difftile.training.rows_of_ranks import gathered, stretch_of


class ScreenGradients(Protocol):
    """The gradients of a `render.Splatter` on the image plane, after the reverse of a tape.

    Attributes:
        width: The width of the images [pixels].
        height: The height of the images [pixels].
    """

    width: int
    height: int

    @property
    def radii(self) -> dt.Field:
        """Half the boxes of gaussians, 0 if not seen, shape (cameras, n) of vec2 of integers."""
        ...

    @property
    def means2d_grad(self) -> dt.Field:
        """The gradients of centres [1/pixels], shape (cameras, n) of vec2."""
        ...

    @property
    def means2d_absgrad(self) -> dt.Field:
        """Sums over pixels of the absolute values of `means2d_grad`, of the same shape."""
        ...


SHRINK = 1.6  # the divisor of the scales of the two halves


@dt.kernel
def _observe(gradients, radii, across: float, down: float, sums, counts):
    for k in sums:
        for c in range(gradients.shape[0]):
            if radii[c, k].x > 0 and radii[c, k].y > 0:
                g = gradients[c, k]
                sums[k] += ti.Vector([across * g.x, down * g.y]).norm()
                counts[k] += 1.0


@dt.kernel
def _find_growing(sums, counts, threshold: float, grows, total):
    for k in grows:
        grows[k] = 1 if sums[k] / max(counts[k], 1.0) > threshold else 0
        total[None] += grows[k]


@dt.kernel
def _set_keys(sums, counts, keys, values):
    """Set keys that order gaussians by falling means; the bits of floats from 0 rise with them."""
    for k in sums:
        mean = ti.cast(sums[k] / max(counts[k], 1.0), ti.f32)
        keys[k] = ~ti.bit_cast(mean, ti.u32)
        values[k] = k


@dt.kernel
def _stop_others(order, room: int, grows):
    """Let only gaussians grow that are among the first ones in some order."""
    for r in grows:
        if r >= room:
            grows[order[r]] = 0


@dt.kernel
def _count_rows(scales, opacities, grows, small: float, large: float, faint: float, rows, growth):
    """Count the rows that come of each gaussian, by kind: itself, its copy, and its two halves."""
    for k in grows:
        largest = ti.exp(scales[k].max())
        is_small = largest <= small
        is_faint = dt.sigmoid(opacities[k]) < faint
        kept, half = 1, 1
        if is_faint or largest > large:
            kept = 0
        if is_faint or largest / SHRINK > large:
            half = 0
        doubles = 1 if grows[k] != 0 and is_small else 0
        splits = 1 if grows[k] != 0 and not is_small else 0
        rows[k, 0] = kept * (1 - splits)
        rows[k, 1] = kept * doubles
        rows[k, 2] = half * splits
        rows[k, 3] = half * splits
        growth[0] += doubles
        growth[1] += splits
        growth[2] += 2 * half * splits


@dt.kernel
def _list_rows(rows, places, index, before):
    """List the gaussian that each row comes of, and the one whose state it takes over."""
    for k, kind in rows:
        if rows[k, kind] != 0:
            at = places[k, kind]
            index[at] = k
            before[at] = k if kind == 0 else -1


@dt.kernel
def _separate(draws, means, scales, quaternions):
    """Move halves of gaussians, which are the last ones, to samples of these, and shrink them."""
    for k in draws:
        at = means.shape[0] - draws.shape[0] + k
        means[at] += dt.rotations.quat_to_matrix(quaternions[at]) @ (ti.exp(scales[at]) * draws[k])
        scales[at] -= math.log(SHRINK)


@dt.kernel
def _cap(opacities, most: float):
    for k in opacities:
        opacities[k] = min(opacities[k], most)


@final
class Densification:
    """Duplicates, splits and prunes gaussians by the gradients of their centres.

    Each step adds up, over the cameras that see a gaussian, the length of the gradient of its
    centre on the image plane, in units of half the image. Every `every` steps, gaussians whose mean
    gradient is above `threshold` become two: small ones are duplicated, large ones replaced by two
    samples of themselves with scales divided by 1.6. Gaussians with an opacity below `min_opacity`
    are then pruned, and after the first reset too large ones as well. Every `reset_every` steps
    opacities are set to at most twice `min_opacity`: they rise again for needed gaussians only.

    Optimisers of the gaussians follow: duplicated gaussians keep their state; their copies, and
    both halves of split ones, start with none.

    Gaussians that are split among ranks (`SplitRows`) are refined as in one process: each rank
    decides about all of them, from their sums, scales and opacities.

    Args:
        scene_scale: The size of the scene [scene units]: about the distance of cameras from its
            centre.
        start: The last step without refinement.
        stop: The step from which on gaussians neither come nor go.
        every: The steps between refinements.
        reset_every: The steps between resets of opacities.
        pause: The number of steps after a reset without refinement.
        threshold: The mean gradient above which gaussians become two; by default 2e-4, and 8e-4 for
            absolute ones.
        absolute: Take the sums over pixels of absolute gradients, `Splatter(absgrad=True)`. They do
            not cancel within large gaussians. (Ye and others, AbsGS, 2024.)
        small: The largest scale of gaussians that are duplicated, relative to the scene's.
        large: The largest scale of gaussians that are kept, relative to the scene's.
        min_opacity: The opacity below which gaussians are pruned.
        most: The largest number of gaussians; those with the largest gradients are refined first.
        seed: The seed of the samples, which depend only on it and on the step.

    Raises:
        LaunchError: An option is out of range.
    """

    @boundary
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
        self._sums: dt.Field | None = None
        self._counts: dt.Field | None = None

    def after_step(
        self, step: int, gaussians: dt.Rows, splatter: ScreenGradients | Sequence[ScreenGradients]
    ) -> dict[str, int]:
        """Accumulate the gradients of a step, and refine the gaussians if the step is due.

        Args:
            step: The number of steps made, this one included. Call it after the optimiser's step: a
                change of rows sets their gradients to zero.
            gaussians: The gaussians that were drawn; see `render.make_gaussians`.
            splatter: The splatter that drew them, or several, with the gradients of the step's
                tape. The loss is assumed to be a mean over all their cameras.

        Returns:
            The numbers of "duplicated", "split" and "pruned" gaussians; empty between refinements.

        Raises:
            SolverError: No gaussian would be left.
            LaunchError: The gaussians differ from the gaussians of earlier calls.
            TapeError: A tape is open.
        """
        if step >= self.stop:
            return {}
        self._look(gaussians, splatter if isinstance(splatter, Sequence) else [splatter])
        done: dict[str, int] = {}
        rested = step % self.reset_every >= self.pause
        if step > self.start and step % self.every == 0 and rested:
            done = self._refine(step, gaussians)
        if step % self.reset_every == 0:
            self._reset(gaussians)
        return done

    def _look(self, gaussians: dt.Rows, splatters: Sequence[ScreenGradients]) -> None:
        drawn = [one.means2d_absgrad if self.absolute else one.means2d_grad for one in splatters]
        count = len(gaussians)
        if self._sums is None or self._counts is None:
            number = drawn[0].numpy_dtype
            self._sums, self._counts = dt.zeros(count, number), dt.zeros(count, number)
        for gradients in drawn:
            if gradients.shape[1] != count or self._sums.shape != (count,):
                raise LaunchError(
                    f"Densification: there are {count} gaussians, {gradients.shape[1]} were drawn "
                    f"and {len(self._sums)} seen before. Call it after each step, with the same "
                    "gaussians."
                )
        gaussians.followed_by(self)
        half = 0.5 * sum(len(gradients) for gradients in drawn)  # the loss is a mean over these
        for one, gradients in zip(splatters, drawn, strict=True):
            width, height = half * one.width, half * one.height
            _observe(gradients, one.radii, width, height, self._sums, self._counts)

    def _refine(self, step: int, gaussians: dt.Rows) -> dict[str, int]:
        assert self._sums is not None
        assert self._counts is not None
        sums, counts = gathered(gaussians, self._sums), gathered(gaussians, self._counts)
        scales = gathered(gaussians, gaussians.scales)
        opacities = gathered(gaussians, gaussians.opacities)
        count = len(scales)
        rows, growth = dt.zeros((count, 4), ti.i32), dt.zeros(3, ti.i32)
        large = self.large * self.scene_scale if step > self.reset_every else math.inf
        sizes = self.small * self.scene_scale, large, self.min_opacity
        grows = self._growing(sums, counts)
        _count_rows(scales, opacities, grows, *sizes, rows, growth)
        places, scan = copy(rows), Scan()
        scan(places, count, 4)
        doubled, split, halves = growth.to_numpy().tolist()
        left = scan.total
        if not left:
            raise SolverError(
                f"Densification: in step {step} all {count} gaussians are fainter than "
                f"{self.min_opacity} or too large, and none would be left. Lower min_opacity, "
                "raise large, or check the loss."
            )
        pruned = count + doubled + split - left
        if doubled or split or pruned:
            index, before = dt.zeros(left, ti.i32), dt.zeros(left, ti.i32)
            _list_rows(rows, places, index, before)
            del sums, counts, scales, opacities, grows, rows, places  # room for what moves
            gaussians.rearrange(index, before)
        # Halves are the last rows of all, and this rank's are the last of its own.
        start, stop = (max(row - (left - halves), 0) for row in stretch_of(gaussians))
        if start < stop:
            normal = np.random.default_rng((self.seed, step)).normal(size=(halves, 3))[start:stop]
            draws = dt.from_numpy(normal, gaussians.means.element)
            _separate(draws, gaussians.means, gaussians.scales, gaussians.quaternions)
        for seen in (self._sums, self._counts):
            seen.fill(0.0)
        return {"duplicated": doubled, "split": split, "pruned": pruned}

    def _growing(self, sums: dt.Field, counts: dt.Field) -> dt.Field:
        """Return which gaussians become two, as many as there is room for."""
        grows, total = dt.zeros(len(sums), ti.i32), dt.zeros((), ti.i32)
        _find_growing(sums, counts, self.threshold, grows, total)
        room = len(sums) if self.most is None else max(self.most - len(sums), 0)
        if room < len(sums) and int(total[None]) > room:
            order = dt.render.Sorter(len(sums))
            _set_keys(sums, counts, order.keys, order.values)
            order.sort(len(sums))
            _stop_others(order.values, room, grows)
        return grows

    def _reset(self, gaussians: dt.Rows) -> None:
        _cap(gaussians.opacities, float(logit(2.0 * self.min_opacity)))
        gaussians.forget("opacities")

    def follow(self, change: Change) -> None:
        """Continue with other rows; the sums of each gaussian go with it."""
        if self._sums is not None and self._counts is not None:
            self._sums, self._counts = change.beside(self._sums), change.beside(self._counts)

    # Saving

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return, by name, the arrays that later steps need beyond gaussians and options."""
        if self._sums is None or self._counts is None:
            return {}
        return {"sums": self._sums.to_numpy(), "counts": self._counts.to_numpy()}

    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from a state that `state_dict` returned; restore the rows of gaussians first.

        Raises:
            LaunchError: The arrays are not such a state.
        """
        if not len(saved):
            self._sums = self._counts = None
            return
        if sorted(saved) != ["counts", "sums"]:
            raise LaunchError(
                "Densification: load_state_dict() takes a state that state_dict() returned."
            )
        sums, counts = (np.asarray(saved[name]) for name in ("sums", "counts"))
        for array in (sums, counts):
            if array.dtype.kind != "f" or array.ndim != 1 or array.shape != sums.shape:
                raise LaunchError(
                    "Densification: load_state_dict() takes floats of one shape (n,), not "
                    f"{sums.shape} and {counts.shape}."
                )
            if not (np.isfinite(array) & (array >= 0)).all():
                raise LaunchError("Densification: load_state_dict() takes numbers from 0.")
        self._sums, self._counts = dt.from_numpy(sums), dt.from_numpy(counts)
