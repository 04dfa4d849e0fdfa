"""`Masks`: what becomes of pixels that do not count in a run of training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.training.options import Options

# The weight of alpha where no pixel counts, beside the weight 1 of the pictures. In the scene of
# tests/training/test_masks.py, whose masks cut through gaussians, alpha there falls from 0.68 to
# 0.17, 0.11 and 0.06 with the weights 0.1, 0.3 and 1 after 300 steps, and the PSNR of what counts
# from 39.3 dB to 37.4, 34.8 and 28.8.
PENALTY = 0.1
_WEIGHING = ("ignore", "penalise")
_Array: TypeAlias = npt.NDArray[Any]


@dt.kernel
def cut(image, mask, out):
    """Set pixels to 0 where they do not count, so that windows of SSIM see no difference there."""
    for at in ti.grouped(image):
        out[at] = image[at] * mask[at]


@dt.kernel
def _add_outside(alpha, mask, share, loss):
    for at in ti.grouped(alpha):
        loss[None] += share * alpha[at] * (1.0 - mask[at])


class Picture(NamedTuple):
    """A picture of a view, and how much its pixels count.

    Args:
        colours: Shape (height, width, 3).
        mask: 0 ... 1, shape (height, width); None if all count.
    """

    colours: _Array
    mask: _Array | None

    @property
    def nbytes(self) -> int:
        """The number of bytes of both."""
        return self.colours.nbytes + (0 if self.mask is None else self.mask.nbytes)


@final
@dataclass(frozen=True, slots=True)
class Masks:
    """The masks of a run, of which each view has one or none.

    Args:
        use: "ignore": pixels that do not count are in neither loss nor metrics. "penalise": the
            same, and the loss has the mean of the alpha that gaussians have there. "background":
            they show the background in the pictures. "off": masks are not used.
        background: The colour of the background.
        count: The number of views with a mask that is used.
        total: The number of views.
    """

    use: str
    background: tuple[float, float, float]
    count: int
    total: int

    @staticmethod
    def of(
        views: Sequence[dt.datasets.View], options: Options
    ) -> tuple[Masks, tuple[dt.datasets.View, ...]]:
        """Return the masks of a run, and the views without those masks that are not used.

        "auto" ignores what a file of a mask excludes; alpha shows the background, and is a mask
        only for "ignore" and "penalise".
        """
        use = "ignore" if options.masks == "auto" else options.masks
        alpha = options.masks in _WEIGHING
        seen = tuple(
            view
            if use != "off" and (alpha or view.mask_file != view.path)
            else replace(view, mask_file=None)
            for view in views
        )
        count = sum(view.mask_file is not None for view in seen)
        return Masks(use if count else "off", options.background, count, len(seen)), seen

    @property
    def weighs(self) -> bool:
        """Whether some pixels do not count in the loss."""
        return self.use in _WEIGHING

    def read(self, view: dt.datasets.View) -> Picture:
        """Return the picture of a view, with a mask if pixels are weighed.

        Raises:
            DatasetError: A file cannot be read, or no pixel counts.
        """
        colours = view.image()
        if self.weighs:
            return Picture(colours, view.mask(empty=False))
        if self.use == "background" and view.mask_file is not None:
            mask, behind = view.mask()[..., None], np.asarray(self.background, np.float32)
            colours = colours * mask + behind * (1 - mask)
        return Picture(colours, None)

    def add_outside(self, alpha: dt.Field, mask: dt.Field, loss: dt.Field, share: float) -> None:
        """Add the penalty of what gaussians cover where no pixel counts to a loss.

        Args:
            alpha: Shape (1, height, width).
            mask: Of the same shape.
            loss: The loss, shape ().
            share: The weight of the view in the loss.
        """
        if self.use == "penalise":
            _, height, width = mask.shape
            _add_outside(alpha, mask, share * PENALTY / (height * width), loss)

    def report(self, views: Sequence[dt.datasets.View]) -> dict[str, Any]:
        """Return what was done, and which share of the pixels of the views that was."""
        if not self.count:
            return {}
        sizes = [view.width * view.height for view in views]
        left = [1.0 if view.mask_file is None else float(view.mask().mean()) for view in views]
        excluded = 1.0 - float(np.average(left, weights=sizes))
        return {"use": self.use, "views": self.count, "excluded": excluded}

    def described(self) -> str:
        """Return what becomes of masked pixels, as a line for users."""
        what = {
            "ignore": "does not count",
            "penalise": "does not count, and gaussians there are penalised",
            "background": "shows the background",
        }[self.use]
        return f"masks: of {self.count} of {self.total} views; what they exclude {what}"
