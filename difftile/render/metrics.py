"""Metrics of the similarity of two images, as numbers for reports: PSNR and SSIM."""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti
from difftile.render.losses import check, dssim, l2
from difftile.tracebacks import boundary


@dt.custom_op
def _mean_square(image: dt.In, target: dt.In, mask: dt.ArrayLike | None) -> float:
    loss = dt.zeros((), ti.f64)
    l2(image.detach(), target.detach(), loss, mask=mask)
    return float(loss[None])


@dt.custom_op
def _dissimilarity(image: dt.In, target: dt.In, mask: dt.ArrayLike | None, padding: str) -> float:
    loss = dt.zeros((), ti.f64)
    dssim(image.detach(), target.detach(), loss, padding=padding, mask=mask)
    return float(loss[None])


@boundary
def psnr(image: dt.ArrayLike, target: dt.ArrayLike, *, mask: dt.ArrayLike | None = None) -> float:
    """Return the peak signal-to-noise ratio of an image whose numbers are from 0 to 1 [dB].

    For several images, it follows from their common mean square error. Equal images give infinity.

    Args:
        image: See `l2`.
        target: See `l2`.
        mask: The weight of each pixel in the mean, as for `l2`.

    Raises:
        FieldError: Shapes or types differ, or the mask has a gradient.
    """
    check(image, target, mask)
    return decibels(_mean_square(image, target, mask))


def decibels(error: float) -> float:
    """Return the ratio of the peak, 1, to a mean square error [dB]."""
    return -10.0 * math.log10(error) if error > 0.0 else math.inf if error == 0.0 else math.nan


@boundary
def ssim(
    image: dt.ArrayLike,
    target: dt.ArrayLike,
    padding: str = "valid",
    *,
    mask: dt.ArrayLike | None = None,
) -> float:
    """Return the mean structural similarity of two images, 1 where they are equal.

    Arguments are as for `dssim`.

    Raises:
        FieldError: Shapes or types differ, the padding is unknown, the mask has a gradient, or the
            images are smaller than a window.
    """
    check(image, target, mask)
    return 1.0 - _dissimilarity(image, target, mask, padding)
