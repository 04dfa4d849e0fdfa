"""Points of a scene without points, from its pictures: a plane sweep between neighbouring views.

Source: Collins, A space-sweep approach to true multi-image matching, 1996. For each pixel of a
small picture, points at many depths are compared with the colours that neighbouring views show in
their place. A depth counts where one clearly matches best and the depths of other views agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import difftile as dt

_Array: TypeAlias = npt.NDArray[Any]

_WIDTH = 64  # the longer side of the small pictures, at most [pixels]
_VIEWS = 24  # that are compared, at most
_NEIGHBOURS = 4  # of each view
_PLANES = 64
_NEAR, _FAR = 0.3, 12.0  # the range of depths, relative to the distance of what cameras look at
_ANGLES = 0.08, 0.7  # between neighbouring views, as seen from there [rad]
_APART = 0.01  # least distance of neighbouring views, relative to the distance of the focus
_MATCH = 0.08  # largest mean difference of colours of a match
_CLEAR = 0.75  # largest ratio of the difference at the best depth to that at others
_NOISE = 0.004  # added to the first of the two, against the rounding of colours
_SAME = 0.04  # the relative difference of depths that agree
_THROUGH = 0.1  # the relative difference from which a view sees through a point


@dataclass(slots=True)
class _Small:
    """A small picture with its camera, and the depths that are found for it.

    Args:
        colours: Shape (height, width, 3).
        rotation: From the world into the camera, shape (3, 3).
        shift: The translation after it, shape (3,).
        lens: fx, fy, cx, cy [pixels of the small picture].
        counts: Which pixels count, shape (height, width).
        inverse: Inverse depths, shape (height, width).
        sure: Where they count, of the same shape.
    """

    colours: _Array
    rotation: _Array
    shift: _Array
    lens: _Array
    counts: _Array
    inverse: _Array
    sure: _Array

    @staticmethod
    def of(view: dt.datasets.View) -> _Small:
        picture = view.image()
        height, width = picture.shape[:2]
        factor = max(1, -(-max(height, width) // _WIDTH))
        down, across = min(factor, height), min(factor, width)
        h, w = height // down, width // across
        blocks = picture[: h * down, : w * across].reshape(h, down, w, across, 3)
        pooled = blocks.mean(axis=(1, 3))
        pose, none = view.world_to_camera, np.zeros((h, w))
        lens = view.intrinsics / factor
        counts = view.mask()[: h * down, : w * across].reshape(h, down, w, across)
        counts = counts.mean(axis=(1, 3)) > 0.5
        return _Small(pooled, pose[:3, :3], pose[:3, 3], lens, counts, none, none.astype(bool))

    def rays(self) -> _Array:
        """Return directions of pixels with depth 1, in the camera, shape (height, width, 3)."""
        height, width = self.colours.shape[:2]
        fx, fy, cx, cy = self.lens
        x, y = np.meshgrid((np.arange(width) + 0.5 - cx) / fx, (np.arange(height) + 0.5 - cy) / fy)
        return np.stack([x, y, np.ones_like(x)], axis=-1)

    def places(self) -> _Array:
        """Return the points of all pixels in the world, NaN without a depth."""
        depth = np.full(self.inverse.shape, np.nan)
        np.divide(1.0, self.inverse, out=depth, where=self.inverse > 0)
        return (self.rays() * depth[..., None] - self.shift) @ self.rotation

    def pixels(self, seen: _Array) -> tuple[_Array, _Array, _Array]:
        """Return columns and rows of points in the camera, and which are within the picture."""
        fx, fy, cx, cy = (float(part) for part in self.lens)
        depth = np.maximum(seen[..., 2], 1e-9)
        x = fx * seen[..., 0] / depth + cx - 0.5
        y = fy * seen[..., 1] / depth + cy - 0.5
        height, width = self.colours.shape[:2]
        inside = (seen[..., 2] > 1e-9) & (x >= 0) & (y >= 0) & (x <= width - 1) & (y <= height - 1)
        return np.where(inside, x, 0.0), np.where(inside, y, 0.0), inside

    def colours_at(self, x: _Array, y: _Array) -> _Array:
        """Return colours between pixels, interpolated."""
        height, width = self.colours.shape[:2]
        j = np.minimum(x.astype(np.int32), width - 2)
        i = np.minimum(y.astype(np.int32), height - 2)
        u, v = ((part[..., None]).astype(np.float32) for part in (x - j, y - i))
        flat, at = self.colours.reshape(-1, 3), i * width + j
        upper = flat[at] * (1 - u) + flat[at + 1] * u
        return upper * (1 - v) + (flat[at + width] * (1 - u) + flat[at + width + 1] * u) * v


def points_of(
    views: Sequence[dt.datasets.View], focus: npt.NDArray[np.float64], background: Sequence[float]
) -> tuple[_Array, _Array]:
    """Return points on the surfaces that pictures show, and their colours.

    Args:
        views: The views, some of which are compared.
        focus: The point that all cameras look at, shape (3,).
        background: The colour of the background, which has no points.

    Returns:
        Shapes (n, 3) and (n, 3); n may be 0.
    """
    some = np.unique(np.linspace(0, len(views) - 1, min(len(views), _VIEWS)).astype(int))
    chosen = [views[k] for k in some]
    small = [_Small.of(view) for view in chosen]
    small, chosen = (
        [
            one
            for one, picture in zip(given, small, strict=True)
            if min(picture.colours.shape[:2]) > 3
        ]
        for given in (small, chosen)
    )
    if len(small) < 2:
        return np.zeros((0, 3)), np.zeros((0, 3))
    near_by = _neighbours(np.stack([view.centre for view in chosen]), focus)
    for one, view, others in zip(small, chosen, near_by, strict=True):
        away = float(np.linalg.norm(view.centre - focus))
        if others:
            _sweep(one, [small[k] for k in others], away)
    places: list[_Array] = []
    colours: list[_Array] = []
    for one in small:
        _spread(one)
    for k, one in enumerate(small):
        there = one.places()
        height, width = one.sure.shape
        kept = _agreed(one, there.reshape(-1, 3), [o for j, o in enumerate(small) if j != k])
        empty = np.abs(one.colours - np.asarray(background)).max(axis=-1) < 0.5 / 255
        kept = kept.reshape(height, width) & ~empty & one.counts
        places.append(there[kept])
        colours.append(one.colours[kept])
    found = np.concatenate(places), np.concatenate(colours)
    good = np.isfinite(found[0]).all(axis=1)
    return found[0][good], found[1][good]


def _neighbours(centres: _Array, focus: _Array) -> list[list[int]]:
    """Return for each view others from which the focus is seen a little from another side."""
    away = np.maximum(np.linalg.norm(centres - focus, axis=1, keepdims=True), 1e-12)
    ways = (centres - focus) / away
    angles = np.arccos(np.clip(ways @ ways.T, -1.0, 1.0))
    apart = np.linalg.norm(centres[:, None] - centres, axis=-1) / away
    least, most = _ANGLES
    near_by: list[list[int]] = []
    for k in range(len(ways)):
        # Those within the range first, by their angle; then those nearest to the range.
        outside = np.maximum(least - angles[k], 0.0) * 10.0 + np.maximum(angles[k] - most, 0.0)
        order = np.lexsort((angles[k], outside))
        near_by.append([int(j) for j in order if apart[k, j] > _APART][:_NEIGHBOURS])
    return near_by


def _sweep(one: _Small, others: Sequence[_Small], away: float) -> None:
    """Find the depths of a view."""
    height, width = one.sure.shape
    planes = np.linspace(1.0 / (_FAR * away), 1.0 / (_NEAR * away), _PLANES, dtype=np.float32)
    rays = one.rays().reshape(-1, 3)
    costs = np.full((len(others), _PLANES, height, width), np.inf, np.float32)
    for other, cost in zip(others, costs, strict=True):
        turn = other.rotation @ one.rotation.T
        shift = (other.shift - turn @ one.shift).astype(np.float32)
        far = (rays @ turn.T).astype(np.float32)
        x, y, inside = other.pixels(far[None] + planes[:, None, None] * shift)
        apart = np.abs(other.colours_at(x, y) - one.colours.reshape(-1, 3)).mean(axis=-1)
        there = inside.reshape(cost.shape).astype(np.float32)
        total = _mean3(apart.reshape(cost.shape) * there)
        cost[:] = np.where(there > 0, total / np.maximum(_mean3(there), 1e-6), np.inf)
    # What is hidden from some is seen by the others.
    best = np.sort(costs, axis=0)[: max(1, len(others) // 2)]
    cost = best.mean(axis=0)
    at = cost.argmin(axis=0)
    least = np.take_along_axis(cost, at[None], 0)[0]
    far = np.abs(np.arange(_PLANES)[:, None, None] - at) > 3
    second = np.where(far & np.isfinite(cost), cost, np.inf).min(axis=0)
    inner = (at > 0) & (at < _PLANES - 1)
    one.sure = inner & (least < _MATCH) & (least + _NOISE < _CLEAR * second) & np.isfinite(second)
    middle = np.clip(at, 1, _PLANES - 2)
    left, right = (np.take_along_axis(cost, middle[None] + s, 0)[0] for s in (-1, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        bend = left + right - 2.0 * least
        shift = np.where(bend > 1e-9, 0.5 * (left - right) / bend, 0.0)
    shift = np.where(np.isfinite(shift), np.clip(shift, -0.5, 0.5), 0.0)
    one.inverse = planes[at] + shift * (planes[1] - planes[0])


def _mean3(values: _Array) -> _Array:
    """Return means over 3 x 3 pixels."""
    padded = np.pad(values, ((0, 0), (1, 1), (1, 1)), mode="edge")
    rows = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    return (rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:]) / 9.0


def _spread(one: _Small) -> None:
    """Give pixels without a sure depth the mean of sure ones around them."""
    weight, total = one.sure.astype(float), np.where(one.sure, one.inverse, 0.0)
    filled = np.where(one.sure, one.inverse, 0.0)
    left = ~one.sure
    while left.any() and weight.any():
        weight, total = _mean3(weight[None])[0], _mean3(total[None])[0]
        now = left & (weight > 0)
        filled[now] = total[now] / weight[now]
        left &= ~now
    one.inverse = np.where(left, 0.0, filled)


def _agreed(one: _Small, there: _Array, others: Sequence[_Small]) -> _Array:
    """Return which points of a view are not seen through by more views than confirm them.

    A depth that is sure needs a view to confirm it. Others, from around, fill the gaps between.
    """
    confirmed, refuted = np.zeros(len(there)), np.zeros(len(there))
    with np.errstate(all="ignore"):
        for other in others:
            seen = there @ other.rotation.T + other.shift
            x, y, inside = other.pixels(seen)
            i, j = np.rint(y).astype(int), np.rint(x).astype(int)
            ratio = seen[:, 2] * other.inverse[i, j]  # of depths
            known = inside & other.sure[i, j]
            confirmed += known & (np.abs(ratio - 1.0) < _SAME)
            refuted += known & (ratio < 1.0 - _THROUGH)
    return (confirmed >= one.sure.ravel()) & (confirmed >= refuted)
