"""`DepthMaps`: the difference between drawn depths and depth maps, as a part of the loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import DatasetError
from difftile.training.masks import Masks
from difftile.training.options import Options

COVERED = 0.5  # the least alpha of a pixel whose depth is compared
FALL = 0.01  # the factor of the weight after all steps
_KEPT = 2**30  # bytes of maps that stay in memory; others are read each time


@dt.kernel
def _add_differences(depth, alpha, inverse, share, loss):
    for c, i, j in depth:
        if inverse[c, i, j] > 0.0 and alpha[c, i, j] > COVERED:
            loss[None] += share * abs(1.0 / depth[c, i, j] - inverse[c, i, j])


@final
class DepthMaps:
    """The depth maps of views.

    The part of the loss is the weight times the mean of |1/z - 1/z'| over the pixels whose depth
    z' is in the map and that count in the mask, where z is the expected depth of the gaussians;
    inverse depths are in units of 1 / `Dataset.scale`. Pixels that the gaussians cover less than
    half count as 0: their depth is uncertain. The weight falls to a hundredth by the last step,
    exponentially.

    Source: Kerbl, Meuleman, Kopanas and others, A Hierarchical 3D Gaussian Representation for
    Real-Time Rendering of Very Large Datasets, 2024, whose maps are estimates of a network and are
    aligned with points first; here they are depths as they are.

    Args:
        data: The data set.
        views: The training views, followed by the held-out views.
        trained: The number of training views.
        options: The weight, and the number of steps.
        masks: The masks of the views.
        dtype: The type of the numbers.

    Raises:
        DatasetError: Maps are to be used, and no view to train on has one.
    """

    def __init__(
        self,
        data: dt.datasets.Dataset,
        views: Sequence[dt.datasets.View],
        trained: int,
        options: Options,
        masks: Masks,
        dtype: Any = ti.f32,
    ) -> None:
        self._dtype, self._weighs = dtype, masks.weighs
        self._views, self._trained, self._scale = views, trained, data.scale
        self._weight, self._steps = options.depth, options.steps
        self._room = _KEPT
        self._maps: dict[int, tuple[dt.Field, int]] = {}  # and the numbers of known depths
        # By the images that are compared, so that launches repeat.
        self._inverse: dict[object, dt.Field] = {}
        if self._weight and not len(self):
            raise DatasetError(
                data.folder,
                "has no depth maps of views to train on",
                "'depth_file_path' in frames of transforms.json",
                hint="leave --depth out.",
            )

    def __len__(self) -> int:
        return sum(view.depth is not None for view in self._views[: self._trained])

    def weight(self, step: int) -> float:
        """Return the weight in a step."""
        return self._weight * FALL ** (step / self._steps)

    def add(
        self, k: int, drawn: dt.render.Rendering, step: int, loss: dt.Field, share: float = 1.0
    ) -> None:
        """Add the difference of a rendering from the map of its view to a loss.

        Args:
            k: The view.
            drawn: Its rendering, with depths.
            step: The number of steps before this one.
            loss: The loss, shape ().
            share: The weight of the view in the loss.
        """
        if not self._weight or drawn.depth is None or self._views[k].depth is None:
            return
        given, known = self._map(k)
        if not known:
            return
        images = drawn.depth.storage
        if images not in self._inverse:
            self._inverse[images] = dt.zeros(given.shape, self._dtype)
        inverse = self._inverse[images]
        inverse.copy_from(given)
        weight = share * self.weight(step) * self._scale / known
        _add_differences(drawn.depth, drawn.alpha, inverse, weight, loss)

    def error(self, k: int, drawn: dt.render.Rendering) -> float | None:
        """Return the mean of |1/z - 1/z'| [1/scene units] over the pixels that can be compared.

        Returns:
            None if maps are not used, or no pixel is known and covered.
        """
        if not self._weight or drawn.depth is None or self._views[k].depth is None:
            return None
        inverse = _inverse_of(self._views[k], self._weighs)
        compared = (inverse > 0) & (drawn.alpha.to_numpy()[0] > COVERED)
        if not compared.any():
            return None
        depth = drawn.depth.to_numpy()[0][compared].astype(np.float64)
        return float(np.abs(1.0 / depth - inverse[compared]).mean())

    def _map(self, k: int) -> tuple[dt.Field, int]:
        """Return the inverse depths of a view, 0 where unknown, and the number of known ones."""
        if k in self._maps:
            return self._maps[k]
        inverse = _inverse_of(self._views[k], self._weighs)
        found = dt.from_numpy(inverse[None], self._dtype), int(np.count_nonzero(inverse))
        if inverse.nbytes <= self._room:
            self._room -= inverse.nbytes
            self._maps[k] = found
        return found


def _inverse_of(view: dt.datasets.View, weighs: bool) -> npt.NDArray[np.float32]:
    depths = view.depths()
    known = depths > 0
    if weighs:
        known &= view.mask() > 0
    return np.divide(1.0, depths, out=np.zeros_like(depths), where=known)
