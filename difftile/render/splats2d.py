"""Gaussians on the image plane: added up, `sum_splats`, or blended front to back, `AlphaSplats`.

A gaussian has its mean m [pixels], x to the right and y down, and the factor (l1, l2, l3) [pixels]
of its covariance L L^T with L = [[l1, 0], [l2, l3]]. At the centre of a pixel, m + d, it weighs

    exp(-sigma),  sigma = d^T (L L^T)^-1 d / 2 = (dy^2 / s + a (dx - slope dy)^2) / 2,

    s = l2^2 + l3^2,  a = s / (l1 l3)^2,  slope = l1 l2 / s,

which is the density along y times the conditional density along x given y. Loops over rows of
pixels therefore need no test for each pixel, and the derivatives are sums without cancellation,
however thin the gaussian.

Source of the sum model: Zhang, Ge, Xu and others, GaussianImage, 2024; as there, weights below
1/255 are left out, a jump that derivatives ignore.
"""

from __future__ import annotations

import math
from typing import Any

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError
from difftile.render.compositing import MIN_ALPHA, composite, composite_plain
from difftile.render.native_compositing import has_warps
from difftile.render.tiles import TileLists
from difftile.tracebacks import boundary

REACH = 11.082527  # 2 ln 255, twice the largest sigma
LEAST = 1e-12  # the least determinant of a covariance [pixels^4]; thinner gaussians are left out
RUN = 16  # pixels after which weights are computed again, so that rounding does not accumulate


@dt.func
def _spread(m, given, colour):
    """Return 1 / s, a and slope, and whether the gaussian is visible.

    An invisible gaussian gets the values of a gaussian of one pixel, which are finite.
    """
    finite = math.isfinite(m).all() and math.isfinite(given).all() and math.isfinite(colour).all()
    s = given.y * given.y + given.z * given.z
    finite = finite and math.isfinite(s) and math.isfinite(given.x * given.y / s)
    seen = finite and (given.x * given.z) ** 2 > LEAST
    l = given if seen else ti.Vector([1.0, 0.0, 1.0])  # noqa: E741  (the name in the formulas)
    s = l.y * l.y + l.z * l.z
    return 1.0 / s, s / (l.x * l.z) ** 2, l.x * l.y / s, seen


@dt.func
def _between(centre, reach, size):
    """Return the first pixel whose centre is within reach, and the end of the range."""
    low = ti.math.clamp(ti.ceil(centre - reach - 0.5), 0.0, size)
    high = ti.math.clamp(ti.floor(centre + reach + 0.5), 0.0, size)
    return ti.cast(low, ti.i32), ti.cast(high, ti.i32)


@dt.func
def _rows(m, flat, seen, image):
    """Return the first row that a gaussian touches, and the end of the range."""
    y0, y1 = _between(m.y, ti.sqrt(REACH / flat), image.shape[0])
    if not seen:
        y1 = y0
    return y0, y1


@dt.func
def _columns(centre, dy, flat, a, image):
    """Return the first column that a gaussian touches in a row, and the end of the range."""
    reach = ti.sqrt(ti.max(REACH - flat * dy * dy, 0.0) / a)
    return _between(centre, reach, image.shape[1])


@dt.kernel
def _add_plainly(means, factors, colours, image):
    for y, x in image:
        image[y, x] = ti.zero(image[y, x])
    for n in means:
        m = means[n]
        flat, a, slope, seen = _spread(m, factors[n], colours[n])
        y0, y1 = _rows(m, flat, seen, image)
        for y in range(y0, y1):
            dy = y + 0.5 - m.y
            centre = m.x + slope * dy
            x0, x1 = _columns(centre, dy, flat, a, image)
            for x in range(x0, x1):
                t = x + 0.5 - centre
                image[y, x] += colours[n] * ti.exp(-0.5 * (flat * dy * dy + a * t * t))


@dt.kernel
def _add(means, factors, colours, image):
    """Sum gaussians; along a row two products give each weight from the one before."""
    for y, x in image:
        image[y, x] = ti.zero(image[y, x])
    for n in means:
        m = means[n]
        colour = colours[n]
        flat, a, slope, seen = _spread(m, factors[n], colour)
        y0, y1 = _rows(m, flat, seen, image)
        fall = ti.exp(-a)
        for y in range(y0, y1):
            dy = y + 0.5 - m.y
            centre = m.x + slope * dy
            x0, x1 = _columns(centre, dy, flat, a, image)
            for first in range(x0, x1, RUN):
                t = first + 0.5 - centre
                weight = ti.exp(-0.5 * (flat * dy * dy + a * t * t))
                ratio = ti.exp(-a * (t + 0.5))
                for x in range(first, ti.min(first + RUN, x1)):
                    image[y, x] += colour * weight
                    weight *= ratio
                    ratio *= fall


@_add.backward
@dt.kernel
def _(means, factors, colours, image):
    for n in means:
        m = means[n]
        l = factors[n]  # noqa: E741
        colour = colours[n]
        flat, a, slope, seen = _spread(m, l, colour)
        y0, y1 = _rows(m, flat, seen, image)
        fall = ti.exp(-a)
        d_colour = ti.zero(colour)
        # Sums over all pixels of the incoming gradient, times powers of t and dy.
        sum_t, sum_tt, sum_y, sum_yy, sum_ty = 0.0, 0.0, 0.0, 0.0, 0.0
        for y in range(y0, y1):
            dy = y + 0.5 - m.y
            centre = m.x + slope * dy
            x0, x1 = _columns(centre, dy, flat, a, image)
            row, row_t, row_tt = 0.0, 0.0, 0.0
            for first in range(x0, x1, RUN):
                t = first + 0.5 - centre
                weight = ti.exp(-0.5 * (flat * dy * dy + a * t * t))
                ratio = ti.exp(-a * (t + 0.5))
                for x in range(first, ti.min(first + RUN, x1)):
                    t = x + 0.5 - centre
                    incoming = image.grad_in[y, x] * weight
                    d_colour += incoming
                    shade = incoming.dot(colour)
                    row += shade
                    row_t += shade * t
                    row_tt += shade * t * t
                    weight *= ratio
                    ratio *= fall
            sum_t += row_t
            sum_tt += row_tt
            sum_y += dy * row
            sum_yy += dy * dy * row
            sum_ty += dy * row_t
        if seen:
            colours.grad_out[n] += d_colour
            means.grad_out[n] += ti.Vector([a * sum_t, flat * sum_y - a * slope * sum_t])
            d_flat, d_a, d_slope = -0.5 * sum_yy, -0.5 * sum_tt, a * sum_ty
            d_s = -flat * (flat * d_flat + slope * d_slope)  # except through a
            factors.grad_out[n] += ti.Vector(
                [
                    flat * l.y * d_slope - 2.0 * a / l.x * d_a,
                    flat * l.x * d_slope + 2.0 * l.y * (d_s + a * flat * d_a),
                    2.0 * l.z * d_s - 2.0 * a * flat * l.y * l.y / l.z * d_a,
                ]
            )


def sum_splats(
    means: dt.ArrayLike, factors: dt.ArrayLike, colours: dt.ArrayLike, image: dt.ArrayLike
) -> None:
    """Set an image to the sum of gaussians, by a launch that tapes record.

    The derivative is a rule that visits the pixels of each gaussian again and adds without atomics.

    Args:
        means: [pixels], shape (n,) of vec2; the centre of the pixel in row i and column j is
            (j + 0.5, i + 0.5).
        factors: (l1, l2, l3) [pixels], shape (n,) of vec3. A gaussian much thinner than a pixel
            (|l1 l3| <= 1e-6) is left out, and so is one with a number that is not finite, or whose
            square overflows.
        colours: Shape (n,) of vectors of any length.
        image: Is set, shape (height, width) of such vectors.

    Raises:
        FieldError: The shapes do not fit.
    """
    _check_rows("sum_splats", means, factors=factors, colours=colours)
    _add(means, factors, colours, image)


def sum_splats_plain(
    means: dt.ArrayLike, factors: dt.ArrayLike, colours: dt.ArrayLike, image: dt.ArrayLike
) -> None:
    """Set an image as `sum_splats` does, without its rule: difftile differentiates the loops."""
    _check_rows("sum_splats_plain", means, factors=factors, colours=colours)
    _add_plainly(means, factors, colours, image)


def _check_rows(who: str, means: dt.ArrayLike, **others: dt.ArrayLike) -> None:
    """Check that there is a row for each of the means."""
    shape = means.shape
    for name, field in {"means": means, **others}.items():
        if field.shape != shape or len(shape) != 1:
            wanted = "(n,)" if len(shape) != 1 else f"{shape} like the means"
            raise FieldError(f"{who}: {name} must have the shape {wanted}, not {field.shape}.")


@dt.kernel
def _cover(means, factors, opacities, colours, depths, conics, radii):
    """Set inverse covariances, and half the sides of the boxes of visible gaussians."""
    for n in factors:
        l = factors[n]  # noqa: E741
        opacity = opacities[n]
        flat, a, slope, seen = _spread(means[0, n], l, colours[0, n])
        conics[n] = ti.Vector([a, -a * slope, flat + a * slope * slope])
        box = ti.Vector([0.0, 0.0])
        if seen and math.isfinite(opacity) and math.isfinite(depths[0, n]) and opacity > MIN_ALPHA:
            reach = ti.sqrt(2.0 * ti.log(opacity / MIN_ALPHA))
            box = reach * ti.Vector([ti.abs(l.x), ti.sqrt(l.y * l.y + l.z * l.z)])
        radii[0, n] = box


class AlphaSplats:
    """Gaussians blended front to back: a call renders them, and is recorded on an open tape.

    Gaussians that `sum_splats` leaves out are left out, and those with an opacity or depth that is
    not finite. The image and the intermediate fields are reused: the next call overwrites them.

    Args:
        width: The width of the image [pixels].
        height: The height of the image [pixels].
        channels: The number of channels of a colour.
        background: The colour of the background, a field of shape (); None for black.
        tile: The side of the tiles with lists of gaussians [pixels]; without effect on the image.
        dtype: The type of the numbers.
        plain: Let difftile differentiate the loop over the gaussians, instead of the rule of
            `composite`: slower, with the same numbers.

    Attributes:
        image: Shape (height, width) of vectors, with a gradient.
        alpha: The coverage, shape (height, width), with a gradient.
    """

    @boundary
    def __init__(
        self,
        width: int,
        height: int,
        *,
        channels: int = 3,
        background: dt.Field | None = None,
        tile: int = 16,
        dtype: Any = float,
        plain: bool = False,
    ) -> None:
        self._lists = TileLists(width, height, tile)
        self._composite = composite_plain if plain else composite
        self._background = background
        shape = 1, height, width
        with dt.scratch():
            self._image = dt.zeros(shape, dt.vec(channels, dtype), grad=True)
            self._alpha = dt.zeros(shape, dtype, grad=True)
            self._light, self._last = dt.zeros(shape, dtype), dt.zeros(shape, ti.i32)
        self._dtype = self._alpha.dtype
        self.image, self.alpha = self._image[0, :, :], self._alpha[0, :, :]
        self._resize(1)

    def __call__(
        self,
        means: dt.Field,
        factors: dt.Field,
        opacities: dt.Field,
        colours: dt.Field,
        depths: dt.Field | None = None,
    ) -> dt.ArrayLike:
        """Render gaussians.

        Args:
            means: [pixels], shape (n,) of vec2, see `sum_splats`.
            factors: (l1, l2, l3) [pixels], shape (n,) of vec3.
            opacities: In 0..1, shape (n,).
            colours: Shape (n,) of vectors of as many numbers as there are channels.
            depths: The nearest is in front, and the first of equal ones; shape (n,). Without
                depths, gaussians are in the order of their indices, the first in front.

        Returns:
            `image`.

        Raises:
            FieldError: The shapes do not fit.
        """
        others = {"factors": factors, "opacities": opacities, "colours": colours}
        if depths is not None:
            others["depths"] = depths
        _check_rows("AlphaSplats", means, **others)
        n = means.shape[0]
        if self._conics.shape != (n,):
            self._resize(n)
        centres = means.broadcast_to(1, n)
        shades = colours.broadcast_to(1, n)
        depths = self._equal if depths is None else depths.broadcast_to(1, n)
        _cover(centres, factors, opacities, shades, depths, self._conics, self._radii)
        conics, covers = self._conics.broadcast_to(1, n), opacities.broadcast_to(1, n)
        self._lists.build(centres, self._radii, depths, conics, covers)
        self._composite(
            centres,
            conics,
            covers,
            shades,
            None,
            self._background,
            self._lists.order,
            self._lists.starts,
            self._lists.tile,
            self._image,
            self._alpha,
            None,
            self._light,
            self._last,
            None,
            has_warps(),
        )
        return self.image

    def _resize(self, n: int) -> None:
        with dt.scratch():
            self._conics = dt.zeros(n, dt.vec(3, self._dtype), grad=True)
            self._radii = dt.zeros((1, n), dt.vec(2, self._dtype))
            self._equal = dt.zeros((1, n), self._dtype)
