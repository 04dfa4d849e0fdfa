"""Colours that depend on the direction of view: real spherical harmonics to degree 3."""

from __future__ import annotations

import math
from typing import Any

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.exchange import as_integer
from difftile.textures.directions import unit

MAX_DEGREE = 3
"""The largest degree of the spherical harmonics of colours."""

BAND0 = 0.28209479177387814  # the harmonic of band 0


@dt.func
def harmonics(degree: ti.template(), d):
    """Return the harmonics of the bands from 1 on in a direction, as one vector.

    The order and the signs follow the convention of files of gaussians.

    Args:
        degree: The last band, 1 to 3.
        d: The direction, of length 1.
    """
    x, y, z = d.x, d.y, d.z
    found = ti.Vector([0.0 for _ in ti.static(range((degree + 1) ** 2 - 1))])
    found[0] = -0.4886025119029199 * y
    found[1] = 0.4886025119029199 * z
    found[2] = -0.4886025119029199 * x
    if ti.static(degree >= 2):
        xx, yy, zz = x * x, y * y, z * z
        found[3] = 1.0925484305920792 * x * y
        found[4] = -1.0925484305920792 * y * z
        found[5] = 0.31539156525252005 * (2.0 * zz - xx - yy)
        found[6] = -1.0925484305920792 * x * z
        found[7] = 0.5462742152960396 * (xx - yy)
        if ti.static(degree >= 3):
            slope = 0.4570457994644658 * (4.0 * zz - xx - yy)
            found[8] = 0.5900435899266435 * y * (yy - 3.0 * xx)
            found[9] = 2.890611442640554 * x * y * z
            found[10] = -slope * y
            found[11] = 0.3731763325901154 * z * (2.0 * zz - 3.0 * (xx + yy))
            found[12] = -slope * x
            found[13] = 1.445305721320277 * z * (xx - yy)
            found[14] = 0.5900435899266435 * x * (3.0 * yy - xx)
    return found


@dt.func
def spherical_harmonics(degree, d, sh0, shN, k):
    """Return the sum of coefficients times harmonics in a direction.

    Args:
        degree: The last band, 0 to 3.
        d: The direction, of length 1.
        sh0: The coefficients of band 0, shape (n,) of vectors.
        shN: The coefficients of the other bands, shape (n, (degree + 1)^2 - 1 or more); None for
            degree 0. See `harmonics`.
        k: The index of the gaussian.
    """
    total = BAND0 * sh0[k]
    if ti.static(degree >= 1):
        weights = harmonics(degree, d)
        for j in ti.static(range((degree + 1) ** 2 - 1)):
            total += weights[j] * shN[k, j]
    return total


@dt.func
def lit(total):
    """Return the colour for a sum of harmonics: it is clamped from below at 0."""
    return max(total + 0.5, 0.0)


@dt.func
def is_finite(degree, sh0, shN, k):
    """Return whether the coefficients in use, and their sum in any direction, are finite."""
    total = abs(sh0[k])
    for j in ti.static(range((degree + 1) ** 2 - 1)):
        total += abs(shN[k, j])
    return math.isfinite(4.0 * total).all()  # no harmonic exceeds 4


@dt.kernel
def shade(degree: ti.template(), means, sh0, shN, places, radii, colours):
    """Set the colours of gaussians as cameras see them: harmonics + 0.5, clamped from below at 0.

    Args:
        degree: The last band, 0 to 3.
        means: Centres [scene units], shape (n,) of vec3.
        sh0: The coefficients of band 0, shape (n,) of vectors.
        shN: The coefficients of the other bands, shape (n, 3, 8 or 15) of vectors; None for degree
            0.
        places: The positions of the cameras, shape (cameras, copies) of vec3; see `cameras.Poses`.
        radii: The radii on the image planes, shape (cameras, n) of vec2; gaussians with 0 are left
            out. Is set to 0 where the colour is not finite, so that later steps skip the gaussian.
        colours: Is set, shape (cameras, n) of vectors.
    """
    # A loop of its own: no derivatives are taken of skipped gaussians, which may be NaN.
    for k, c in ti.ndrange(sh0.shape[0], places.shape[0]):
        if radii[c, k].x > 0 and not is_finite(degree, sh0, shN, k):
            radii[c, k] = ti.zero(radii[c, k])
    for k, c in ti.ndrange(sh0.shape[0], places.shape[0]):
        colour = ti.zero(sh0[k])
        if radii[c, k].x > 0:
            d = unit(means[k] - places[c, k % places.shape[1]])
            colour = lit(spherical_harmonics(degree, d, sh0, shN, k))
        colours[c, k] = colour


@dt.kernel
def spread(features, radii, colours):
    """Set the same colours of gaussians in all cameras, see `shade`.

    Args:
        features: Shape (n,) of vectors.
        radii: See `shade`.
        colours: Is set, shape (cameras, n) of vectors.
    """
    for k, c in ti.ndrange(features.shape[0], radii.shape[0]):
        if not math.isfinite(features[k]).all():
            radii[c, k] = ti.zero(radii[c, k])
    for k, c in ti.ndrange(features.shape[0], radii.shape[0]):
        colour = ti.zero(features[k])
        if radii[c, k].x > 0:
            colour = features[k]
        colours[c, k] = colour


def last_band(gaussians: Any, most: int, user: object) -> int:
    """Return the last band of harmonics that is used: no more than the gaussians have.

    Args:
        gaussians: May have the field `shN`.
        most: The last band requested.
        user: The renderer, named in errors.

    Raises:
        LaunchError: The requested band is not 0 to 3.
        FieldError: `shN` has another number of coefficients than bands have.
    """
    if as_integer(most) not in range(MAX_DEGREE + 1):
        raise LaunchError(f"{user!r}: sh_degree is 0 to {MAX_DEGREE}, not {most}.")
    rest = getattr(gaussians, "shN", None)
    bands = {0: 0, 3: 1, 8: 2, 15: 3}
    count = 0 if rest is None else rest.shape[1]
    if count not in bands:
        raise FieldError(
            f"{user!r}: 'shN' has 3, 8 or 15 coefficients for each gaussian, not {count}."
        )
    return min(most, bands[count])


def paint(
    gaussians: Any, degree: int, places: dt.Field, radii: dt.Field, colours: dt.Field
) -> None:
    """Set the colours of gaussians, by harmonics or features, whichever they have; see `shade`.

    Call it before other uses of `radii`, which it sets to 0 for gaussians to leave out.
    """
    features = getattr(gaussians, "features", None)
    if features is not None:
        spread(features, radii, colours)
        return
    rest = gaussians.shN if degree else None
    shade(degree, gaussians.means, gaussians.sh0, rest, places, radii, colours)
