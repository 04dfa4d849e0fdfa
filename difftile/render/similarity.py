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

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError
from difftile.substrate import current_session

SIZE = 11
_BELL = np.exp(-0.5 * (np.arange(SIZE) - SIZE // 2) ** 2 / 1.5**2)
_WINDOW = tuple(float(weight) for weight in _BELL / _BELL.sum())
_OF_MEANS, _OF_VARIANCES = 0.01**2, 0.03**2
_PADS = {"valid": 0, "same": SIZE // 2}


@dt.func
def _pixel(image, b, i, j):
    """Return a pixel of one image or of several."""
    return image[i, j] if ti.static(len(image.shape) == 2) else image[b, i, j]


@dt.func
def _separate_pixel(x, y, planes, channels: ti.template(), pad: ti.template(), b, i, j):
    one = planes[0]
    u, v = ti.zero(_pixel(x, b, 0, 0)), ti.zero(_pixel(y, b, 0, 0))
    if ti.static(pad == 0):
        u, v = _pixel(x, b, i, j), _pixel(y, b, i, j)
    elif pad <= i < one.shape[2] - pad and pad <= j < one.shape[3] - pad:
        u, v = _pixel(x, b, i - pad, j - pad), _pixel(y, b, i - pad, j - pad)
    squares, products = u * u + v * v, u * v
    for c in ti.static(channels):
        at = ti.static(c or 0)
        planes[0][at, b, i, j] = u if ti.static(c is None) else u[c]
        planes[1][at, b, i, j] = v if ti.static(c is None) else v[c]
        planes[2][at, b, i, j] = squares if ti.static(c is None) else squares[c]
        planes[3][at, b, i, j] = products if ti.static(c is None) else products[c]


@dt.kernel
def _separate(x, y, planes, channels: ti.template(), pad: ti.template()):
    """Set planes of x, y, x^2 + y^2 and xy by channel, with a margin of zeros."""
    _, images, rows, columns = planes[0].shape
    if ti.static(len(x.shape) == 2):  # each gradient of one image comes from one iteration
        for i, j in ti.ndrange(rows, columns):
            _separate_pixel(x, y, planes, channels, pad, 0, i, j)
    else:
        for b, i, j in ti.ndrange(images, rows, columns):
            _separate_pixel(x, y, planes, channels, pad, b, i, j)


@dt.kernel
def _average_columns(planes, averages):
    for n in ti.static(range(4)):
        for c, b, i, j in averages[n]:
            mean = 0.0
            for k in ti.static(range(SIZE)):
                mean += _WINDOW[k] * planes[n][c, b, i + k, j]
            averages[n][c, b, i, j] = mean


@dt.kernel
def _average_rows(planes, averages):
    for n in ti.static(range(4)):
        for c, b, i, j in averages[n]:
            mean = 0.0
            for k in ti.static(range(SIZE)):
                mean += _WINDOW[k] * planes[n][c, b, i, j + k]
            averages[n][c, b, i, j] = mean


@dt.kernel
def _add_dissimilarity(averages, mask, loss, weight, margin: ti.template()):
    share = weight
    if ti.static(mask is not None):
        total = 0.0
        one = averages[0]
        for b, i, j in ti.ndrange(one.shape[1], one.shape[2], one.shape[3]):
            total += _pixel(mask, b, i + margin, j + margin)
        share = dt.safe_divide(weight, total)
    for c, b, i, j in averages[0]:
        x, y = averages[0][c, b, i, j], averages[1][c, b, i, j]
        means = x * x + y * y
        variances = averages[2][c, b, i, j] - means
        covariance = averages[3][c, b, i, j] - x * y
        alike = (2.0 * x * y + _OF_MEANS) * (2.0 * covariance + _OF_VARIANCES)
        unlike = 1.0 - alike / ((means + _OF_MEANS) * (variances + _OF_VARIANCES))
        if ti.static(mask is not None):
            unlike *= _pixel(mask, b, i + margin, j + margin)
        loss[None] += share * unlike


@dataclass(frozen=True, slots=True)
class _Planes:
    """Planes of x, y, x^2 + y^2 and xy, their averages along columns, and along both axes.

    Shape (channels, images, rows, columns): neighbours in a plane are neighbours in memory.
    """

    given: tuple[dt.Field, ...]
    columns: tuple[dt.Field, ...]
    averages: tuple[dt.Field, ...]


_KEPT = 4  # kinds of images whose fields are kept; more at a time are rare, and fields are large
_planes: OrderedDict[Any, _Planes] = OrderedDict()


def _planes_for(x: dt.ArrayLike, y: dt.ArrayLike, pad: int) -> _Planes:
    """Return planes for two images; images of the same kind share them.

    A tape that needs their contents keeps them when the fields are written again.
    """
    graded = x.has_grads, y.has_grads
    wider = np.promote_types(x.numpy_dtype, y.numpy_dtype)
    outer = prod(x.element_shape), prod(x.shape[:-2])
    key = current_session().number, x.shape, outer, wider, graded, pad
    found = _planes.pop(key, None)
    if found is None:
        rows, columns = x.shape[-2] + 2 * pad, x.shape[-1] + 2 * pad
        less = SIZE - 1
        kinds = *graded, any(graded), any(graded)
        shapes = (rows, columns), (rows - less, columns), (rows - less, columns - less)
        with dt.scratch():
            found = _Planes(
                *(tuple(dt.zeros((*outer, *s), wider, grad=g) for g in kinds) for s in shapes)
            )
    _planes[key] = found
    while len(_planes) > _KEPT:
        _planes.popitem(last=False)
    return found


def add_dissimilarity(
    image: dt.ArrayLike,
    target: dt.ArrayLike,
    mask: dt.ArrayLike | None,
    loss: dt.ArrayLike,
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
    planes = _planes_for(image, target, pad)
    inner = image.element_shape
    _separate(image, target, planes.given, tuple(range(inner[0])) if inner else (None,), pad)
    _average_columns(planes.given, planes.columns)
    _average_rows(planes.columns, planes.averages)
    weight /= prod(inner)
    if mask is None:
        weight /= prod(planes.averages[0].shape[1:])
    _add_dissimilarity(planes.averages, mask, loss, weight, SIZE // 2 - pad)
