"""Gradients drawn over their fields: arrows at points, colours over images.

Lengths and strengths are relative to a scale that 1 in 100 elements exceeds, so that a few large
elements do not hide all others; larger elements are clamped. Non-finite elements are magenta.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.viewer.primitives import Arrows, Bytes, Circles, Facets, Image, Markers, Primitive

NEGATIVE = np.array([64, 120, 255], np.uint8)  # the loss falls where the value grows
POSITIVE = np.array([255, 80, 56], np.uint8)  # the loss grows with the value
NOT_FINITE = np.array([255, 0, 255], np.uint8)
ARROW = np.array([255, 176, 32], np.uint8)

_PERCENTILE = 99.0
_MOST = 2000  # arrows: more are a carpet, and slow
_LENGTH = 1 / 8  # of the longest arrow, in diagonals of the points
_NAMES = {Markers: "points", Circles: "circles", Facets: "vertices"}
_SOURCED = (Image, Markers, Circles, Facets)
_NONE = "no gradients: nothing that is shown is\ndrawn from a field that has one (grad=True)"
_EARLIER = (
    "* of values that the tape has overwritten since; tape.backward(loss, retain=[field]) gives "
    "the gradient of those shown"
)
_LINES = 6  # of the legend; more shapes are not listed
_ALONE = 0.1  # of the longest arrow, if all points are in one place


def scale_of(gradient: npt.ArrayLike) -> float:
    """Return the 99th percentile of the nonzero magnitudes; 1 for a gradient of zeros."""
    sizes = np.abs(np.asarray(gradient, np.float64))
    sizes = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    return float(np.percentile(sizes, _PERCENTILE)) if sizes.size else 1.0


def strengths(gradient: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return gradients in units of their scale, clamped to [-1, 1]; non-finite ones as NaN."""
    values = np.asarray(gradient, np.float64)
    return np.where(np.isfinite(values), np.clip(values / scale_of(values), -1.0, 1.0), np.nan)


def tinted(pixels: Bytes, gradient: npt.NDArray[Any]) -> Bytes:
    """Return an image tinted by its gradient: red where that is positive, blue where negative.

    Args:
        pixels: Shape (h, w, 3).
        gradient: Shape (h, w), or (h, w, c) for elements of c components. Their sum is shown: the
            derivative when all components grow.
    """
    signed = strengths(summed(gradient))[..., np.newaxis]
    strength = np.abs(signed)
    hue = np.where(signed < 0.0, NEGATIVE, POSITIVE)
    # The square root makes small gradients visible; on grey no colour of the image is mistaken.
    grey = 0.6 * pixels.mean(axis=-1, keepdims=True)
    mixed = grey + np.sqrt(strength) * (hue - grey)
    return np.where(np.isnan(strength), NOT_FINITE, mixed).astype(np.uint8)


def summed(gradient: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the gradient of an image as one number for each pixel, shape (h, w)."""
    return gradient if gradient.ndim == 2 else gradient.sum(axis=-1)


def arrows(positions: npt.ArrayLike, gradient: npt.ArrayLike) -> tuple[Arrows, Markers]:
    """Return arrows along a gradient, and markers where it is not finite.

    At most 2000 arrows are drawn, the longest ones; a gradient of zero has none.

    Args:
        positions: Shape (n, 2) or (n, 3).
        gradient: Of the loss with respect to the positions, same shape.
    """
    places, slopes = np.asarray(positions, np.float32), np.asarray(gradient, np.float64)
    sizes = np.linalg.norm(slopes, axis=1)
    finite = np.isfinite(sizes)
    drawn = np.flatnonzero(finite & (sizes > 0.0))
    if len(drawn) > _MOST:
        drawn = np.sort(drawn[np.argpartition(sizes[drawn], -_MOST)[-_MOST:]])
    known = places[np.isfinite(places).all(axis=1)]
    diagonal = float(np.linalg.norm(np.ptp(known, axis=0))) if len(known) else 0.0
    longest = _LENGTH * diagonal or _ALONE
    lengths = longest * np.minimum(sizes[drawn] / scale_of(sizes), 1.0)
    vectors = slopes[drawn] * (lengths / sizes[drawn])[:, None]
    broken = Markers(places[~finite], NOT_FINITE, 4.0)
    return Arrows(places[drawn], vectors.astype(np.float32), ARROW), broken


@dataclass(frozen=True, slots=True)
class Overlay:
    """Shapes with their gradients.

    Attributes:
        shapes: The shapes, with images in the colours of their gradients.
        over: Shapes on top: arrows, and markers where a gradient is not finite.
        said: A legend of colours and lengths, or a note that there is no gradient.
    """

    shapes: list[Primitive]
    over: list[Primitive]
    said: str


def overlay(primitives: Iterable[Primitive]) -> Overlay:
    """Return shapes together with the gradients of their source fields.

    Points, circles and the vertices of meshes get arrows, images the colours of their gradient.
    Shapes without a field, or whose field has no gradient, remain unchanged.
    """
    shapes, over, said = list[Primitive](), list[Primitive](), list[str]()
    primitives = list(primitives)
    for one in primitives:
        shown = one
        match one:
            case Image(pixels=pixels):
                gradient = gradient_of(one.source)
                if gradient is not None and gradient.shape[:2] == pixels.shape[:2]:
                    shown = replace(one, pixels=tinted(pixels, gradient))
                    rows, columns = pixels.shape[:2]
                    meaning = "red > 0 > blue, full at"
                    name = f"{rows} x {columns} pixels" + _mark(one.source)
                    said.append(_meaning(name, meaning, summed(gradient)))
            case Markers(positions=places) | Circles(centers=places) | Facets(vertices=places):
                gradient = gradient_of(one.source)
                if gradient is not None and gradient.size == places.size:
                    slopes = gradient.reshape(places.shape)
                    over += arrows(places, slopes)
                    sizes = np.linalg.norm(slopes, axis=1)
                    name = f"{len(places)} {_NAMES[type(one)]}" + _mark(one.source)
                    said.append(_meaning(name, "the longest arrow is", sizes))
            case _:
                pass
        shapes.append(shown)
    earlier = any(is_of_overwritten(one.source) for one in primitives if isinstance(one, _SOURCED))
    if len(said) > _LINES:
        said[_LINES:] = ["…"]
    if said and earlier:
        said.append(_EARLIER)
    return Overlay(shapes, over, "\n".join(["gradients", *said]) if said else _NONE)


def _meaning(name: str, words: str, gradient: npt.NDArray[Any]) -> str:
    """Return a line of the legend."""
    known = gradient[np.isfinite(gradient)]
    broken = gradient.size - known.size
    found = f"{words} {scale_of(known):.2g}" if known.any() else "0 everywhere"
    return f"{name}: {found}" + (f", {broken} not finite (magenta)" if broken else "")


def gradient_of(source: Any) -> npt.NDArray[Any] | None:
    """Return the gradient of a field, or None."""
    gradient = getattr(source, "grad_out", None)
    return None if gradient is None else gradient.to_numpy()


def is_of_overwritten(source: Any) -> bool:
    """Return whether the gradient of a field is with respect to earlier contents than it holds."""
    gradient = getattr(source, "grad_out", None)
    storage = getattr(getattr(gradient, "base", gradient), "storage", None)
    return storage is not None and storage.of_overwritten


def _mark(source: Any) -> str:
    """Return what the legend adds to the name of a field; `_EARLIER` explains it."""
    return "*" if is_of_overwritten(source) else ""
