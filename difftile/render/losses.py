"""Losses between images, as launches that tapes record."""

from __future__ import annotations

from math import prod

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, brief
from difftile.render.similarity import add_dissimilarity
from difftile.tracebacks import boundary


@dt.kernel
def _add_differences(
    image, target, mask, loss, weight, several: ti.template(), squared: ti.template()
):
    share = weight
    if ti.static(mask is not None):
        total = 0.0
        for at in ti.grouped(mask):
            total += mask[at]
        share = dt.safe_divide(weight, total)
    for at in ti.grouped(image):
        if ti.static(mask is None) or mask[at] != 0.0:  # pixels that do not count may be NaN
            apart = image[at] - target[at]
            apart = apart * apart if ti.static(squared) else abs(apart)
            if ti.static(mask is not None):
                apart *= mask[at]
            loss[None] += share * (apart.sum() if ti.static(several) else apart)


@boundary
def l1(
    image: dt.ArrayLike,
    target: dt.ArrayLike,
    loss: dt.ArrayLike,
    weight: float = 1.0,
    *,
    mask: dt.ArrayLike | None = None,
) -> None:
    """Add weight times the mean of |image - target| to `loss`.

    Args:
        image: Scalars or vectors, shape (rows, columns) or (images, rows, columns).
        target: Of the same shape, and with as many channels.
        loss: The loss to add to, shape ().
        weight: A factor.
        mask: The weight of each pixel in the mean, from 0 to 1, in the shape of the images. A mask
            of zeros adds 0. Pixels with weight 0 may be NaN.

    Raises:
        FieldError: Shapes or types differ, or the mask has a gradient.
    """
    _differences(image, target, loss, weight, mask, squared=False)


@boundary
def l2(
    image: dt.ArrayLike,
    target: dt.ArrayLike,
    loss: dt.ArrayLike,
    weight: float = 1.0,
    *,
    mask: dt.ArrayLike | None = None,
) -> None:
    """Add weight times the mean of (image - target)^2 to `loss`; arguments as for `l1`."""
    _differences(image, target, loss, weight, mask, squared=True)


@boundary
def dssim(
    image: dt.ArrayLike,
    target: dt.ArrayLike,
    loss: dt.ArrayLike,
    weight: float = 1.0,
    padding: str = "valid",
    *,
    mask: dt.ArrayLike | None = None,
) -> None:
    """Add weight times the mean of 1 - SSIM to `loss`.

    SSIM follows Wang, Bovik, Sheikh and Simoncelli (2004): windows of 11 by 11 pixels, weighted by
    a gaussian of standard deviation 1.5, with the constants 0.01^2 and 0.03^2, which suit numbers
    from 0 to 1. All channels count equally.

    Args:
        image: Scalars or vectors, shape (rows, columns) or (images, rows, columns).
        target: Of the same shape, and with as many channels.
        loss: The loss to add to, shape ().
        weight: A factor.
        padding: "valid" takes the windows that lie in the image; "same" one around each pixel, with
            zeros outside of the image.
        mask: The weight of the window around each pixel; see `l1`. Windows see all pixels, so no
            pixel may be NaN.

    Raises:
        FieldError: Shapes or types differ, the mask has a gradient, the padding is unknown, or the
            images are smaller than a window.
    """
    check(image, target, mask)
    add_dissimilarity(image, target, mask, loss, weight, padding)


def _differences(
    image: dt.ArrayLike,
    target: dt.ArrayLike,
    loss: dt.ArrayLike,
    weight: float,
    mask: dt.ArrayLike | None,
    *,
    squared: bool,
) -> None:
    check(image, target, mask)
    inner = image.element_shape
    weight /= prod(inner)
    if mask is None:
        weight /= prod(image.shape)
    _add_differences(image, target, mask, loss, weight, bool(inner), squared)


def check(image: dt.ArrayLike, target: dt.ArrayLike, mask: dt.ArrayLike | None = None) -> None:
    """Check that two images can be compared.

    Raises:
        FieldError: Shapes or types differ, a field is not an image, or the mask has a gradient.
    """
    if image.shape != target.shape or image.element_shape != target.element_shape:
        raise FieldError(
            f"Images must have the same shape and number of channels: {image!r} and {target!r}."
        )
    for one in (image, target):
        if len(one.shape) not in (2, 3) or one.numpy_dtype.kind != "f":
            raise FieldError(
                "An image is a field of floats, or of vectors of floats, of shape (rows, columns) "
                f"or (images, rows, columns), not {brief(one)}."
            )
    if mask is None:
        return
    if mask.shape != image.shape or mask.element_shape:
        raise FieldError(f"A mask has a number for each pixel of {image!r}; it is {mask!r}.")
    if mask.has_grads:
        raise FieldError("A mask is constant, and this one has a gradient: pass mask.detach().")
