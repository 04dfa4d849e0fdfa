"""Structural similarity: SSIM of Wang, Bovik, Sheikh and Simoncelli (2004), with its gradient.

Means, variances and the covariance are taken under a window of 11 by 11 numbers, a gaussian of
standard deviation 1.5, which runs along one axis and then along the other. Channels are separate;
the constants assume numbers from 0 to 1.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from difftile.compile.func import func
from difftile.compile.language_functions import safe_divide
from difftile.diagnostics import FieldError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import zeros
from difftile.fields.field import Field, scratch
from difftile.ir.types import promote, scalar_of, shape_of, with_scalar
from difftile.runtime.kernel import kernel
from difftile.substrate import current_session, ti

SIZE = 11
_BELL = np.exp(-0.5 * (np.arange(SIZE) - SIZE // 2) ** 2 / 1.5**2)
_WINDOW = tuple(float(weight) for weight in _BELL / _BELL.sum())
_OF_MEANS, _OF_VARIANCES = 0.01**2, 0.03**2
_PADS = {"valid": 0, "same": SIZE // 2}


@func
def _shifted(at, axis, k):
    """Return the index k elements further along an axis."""
    other = at
    other[axis] += k
    return other


@func
def _quantities(sources, at):
    """Return x, y, x^2 + y^2 and xy: of two images, or of fields that hold averages of them."""
    if ti.static(len(sources) == 2):
        x, y = sources[0][at], sources[1][at]
        return x, y, x * x + y * y, x * y
    return sources[0][at], sources[1][at], sources[2][at], sources[3][at]


@kernel
def _average(sources, averages, axis: ti.template(), pad: ti.template()):
    for at in ti.grouped(averages[0]):
        x, y, squares, xy = _quantities(sources, at)
        x, y, squares, xy = 0.0 * x, 0.0 * y, 0.0 * squares, 0.0 * xy
        for k in ti.static(range(SIZE)):
            other = _shifted(at, axis, k - pad)
            if ti.static(pad == 0) or (other[axis] >= 0 and other[axis] < sources[0].shape[axis]):
                one = _quantities(sources, other)
                x += _WINDOW[k] * one[0]
                y += _WINDOW[k] * one[1]
                squares += _WINDOW[k] * one[2]
                xy += _WINDOW[k] * one[3]
        averages[0][at] = x
        averages[1][at] = y
        averages[2][at] = squares
        averages[3][at] = xy


@func
def _share(mask, at, margin: ti.template()):
    """Return the weight of a window in the mask of an image, taken from the pixel at its centre."""
    rows = ti.static(len(mask.shape) - 2)
    return mask[_shifted(_shifted(at, rows, margin), rows + 1, margin)]


@kernel
def _add_dissimilarity(averages, mask, loss, weight, several: ti.template(), margin: ti.template()):
    share = weight
    if ti.static(mask is not None):
        total = 0.0
        for at in ti.grouped(averages[0]):
            total += _share(mask, at, margin)
        share = safe_divide(weight, total)
    for at in ti.grouped(averages[0]):
        x, y = averages[0][at], averages[1][at]
        means = x * x + y * y
        variances = averages[2][at] - means
        covariance = averages[3][at] - x * y
        alike = (2.0 * x * y + _OF_MEANS) * (2.0 * covariance + _OF_VARIANCES)
        unlike = 1.0 - alike / ((means + _OF_MEANS) * (variances + _OF_VARIANCES))
        if ti.static(mask is not None):
            unlike *= _share(mask, at, margin)
        loss[None] += share * (unlike.sum() if ti.static(several) else unlike)


@dataclass(frozen=True, slots=True)
class _Averages:
    """Averages of x, y, x^2 + y^2 and xy along rows, and along both axes."""

    along_rows: tuple[Field, ...]
    all: tuple[Field, ...]


_KEPT = 4  # kinds of images whose fields are kept; more at a time are rare, and fields are large
_averages: OrderedDict[Any, _Averages] = OrderedDict()


def _averages_for(x: ArrayLike, y: ArrayLike, pad: int) -> _Averages:
    """Return fields for the averages of two images; images of the same kind share them.

    A tape that needs their contents keeps them when the fields are written again.
    """
    graded = x.has_grads, y.has_grads
    wider = promote(scalar_of(x.element), scalar_of(y.element))
    element = with_scalar(x.element, wider)
    key = current_session().number, x.shape, element, graded, pad
    found = _averages.pop(key, None)
    if found is None:
        *batch, rows, columns = x.shape
        less = SIZE - 1 - 2 * pad
        kinds = *graded, any(graded), any(graded)
        shapes = (*batch, rows, columns - less), (*batch, rows - less, columns - less)
        with scratch():
            found = _Averages(*(tuple(zeros(s, element, grad=g) for g in kinds) for s in shapes))
    _averages[key] = found
    while len(_averages) > _KEPT:
        _averages.popitem(last=False)
    return found


def add_dissimilarity(
    image: ArrayLike,
    target: ArrayLike,
    mask: ArrayLike | None,
    loss: ArrayLike,
    weight: float,
    padding: str,
) -> None:
    """Add weight times the mean of 1 - SSIM to `loss`; see `dssim`.

    Raises:
        FieldError: The padding is unknown, or the images are too small for it.
    """
    if padding not in _PADS:
        names = " or ".join(map(repr, _PADS))
        raise FieldError(f"The padding of SSIM is {names}, not {padding!r}.")
    pad = _PADS[padding]
    if pad == 0 and min(image.shape[-2:]) < SIZE:
        raise FieldError(
            f"SSIM uses windows of {SIZE} by {SIZE} pixels, and the image has the shape "
            f"{image.shape}; use padding='same', which puts zeros around it."
        )
    averages = _averages_for(image, target, pad)
    axis = len(image.shape) - 1
    _average((image, target), averages.along_rows, axis, pad)
    _average(averages.along_rows, averages.all, axis - 1, pad)
    channels = prod(shape_of(image.element))
    if mask is None:
        weight /= prod(averages.all[0].shape)
    _add_dissimilarity(
        averages.all, mask, loss, weight / channels, bool(shape_of(image.element)), SIZE // 2 - pad
    )
