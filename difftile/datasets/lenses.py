"""Lenses: where a distorted picture shows a point, and the pinhole camera that replaces them.

Points are (x, y) on the plane at distance 1 in front of the camera. A distortion moves them on that
plane, or onto the sphere and back for fisheyes; focal lengths and centre turn them into pixels.

Sources: docs.opencv.org (Camera Calibration and 3D Reconstruction; Fisheye camera model) for
`brown` and `fisheye`, and COLMAP's models (colmap.github.io/cameras.html) for the other ones: `fov`
is the model of Devernay and Faugeras 2001, `thin_prism` applies Weng et al. 1992 to angles, and
`rad_tan_thin_prism` is Fisheye624 of Project Aria.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Doubles: TypeAlias = npt.NDArray[np.float64]
Coordinates: TypeAlias = tuple[Doubles, Doubles]

# The pinhole may see so much farther than a pinhole with the focal length of the lens would: a
# fisheye of 180 degrees would be all margin.
_WIDEST = 2.0
_LEAST = 0.25
_RINGS = 64


def brown(
    x: Doubles,
    y: Doubles,
    k1: float = 0.0,
    k2: float = 0.0,
    p1: float = 0.0,
    p2: float = 0.0,
    k3: float = 0.0,
    k4: float = 0.0,
    k5: float = 0.0,
    k6: float = 0.0,
) -> Coordinates:
    """OpenCV's model, with its order of coefficients."""
    r2 = x * x + y * y
    radial = (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1 + r2 * (k4 + r2 * (k5 + r2 * k6)))
    return (
        x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x),
        y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y,
    )


def fisheye(
    x: Doubles,
    y: Doubles,
    k1: float = 0.0,
    k2: float = 0.0,
    k3: float = 0.0,
    k4: float = 0.0,
) -> Coordinates:
    """OpenCV's fisheye: a polynomial of the angle from the optical axis."""
    a, b = _angles(x, y)
    t2 = a * a + b * b
    radial = 1 + t2 * (k1 + t2 * (k2 + t2 * (k3 + t2 * k4)))
    return a * radial, b * radial


def thin_prism(
    x: Doubles,
    y: Doubles,
    k1: float,
    k2: float,
    p1: float,
    p2: float,
    k3: float,
    k4: float,
    sx1: float,
    sy1: float,
) -> Coordinates:
    """COLMAP's THIN_PRISM_FISHEYE."""
    a, b = _angles(x, y)
    t2 = a * a + b * b
    radial = 1 + t2 * (k1 + t2 * (k2 + t2 * (k3 + t2 * k4)))
    return (
        a * radial + 2 * p1 * a * b + p2 * (t2 + 2 * a * a) + sx1 * t2,
        b * radial + 2 * p2 * a * b + p1 * (t2 + 2 * b * b) + sy1 * t2,
    )


def rad_tan_thin_prism(x: Doubles, y: Doubles, *coefficients: float) -> Coordinates:
    """COLMAP's RAD_TAN_THIN_PRISM_FISHEYE: six radial, two tangential, four of thin prisms."""
    *k, p0, p1, s0, s1, s2, s3 = coefficients
    a, b = _angles(x, y)
    t2 = a * a + b * b
    radial = 1 + t2 * np.polyval(k[::-1], t2)
    u, v = a * radial, b * radial
    r2 = u * u + v * v
    return (
        u + p0 * (r2 + 2 * u * u) + 2 * p1 * u * v + r2 * (s0 + r2 * s1),
        v + p1 * (r2 + 2 * v * v) + 2 * p0 * u * v + r2 * (s2 + r2 * s3),
    )


def fov(x: Doubles, y: Doubles, omega: float) -> Coordinates:
    """The field-of-view model; omega is an angle [radians]."""
    r = np.hypot(x, y)
    slope = 2 * np.tan(omega / 2) / omega  # at the centre
    angle = np.arctan(2 * r * np.tan(omega / 2)) / omega
    factor = np.divide(angle, r, out=np.full_like(r, slope), where=r > 0)
    return x * factor, y * factor


def division(x: Doubles, y: Doubles, k: float) -> Coordinates:
    """The division model of Fitzgibbon 2001, whose inverse divides by 1 + k r^2."""
    factor = 2 / (1 + np.sqrt(1 - 4 * k * (x * x + y * y)))
    return x * factor, y * factor


def eucm(x: Doubles, y: Doubles, alpha: float, beta: float) -> Coordinates:
    """The enhanced unified camera model of Khomutenko et al. 2016."""
    depth = alpha * np.sqrt(beta * (x * x + y * y) + 1) + (1 - alpha)
    return x / depth, y / depth


def _angles(x: Doubles, y: Doubles) -> Coordinates:
    """Return the angle from the optical axis, in the direction of a point."""
    r = np.hypot(x, y)
    factor = np.divide(np.arctan(r), r, out=np.ones_like(r), where=r > 0)
    return x * factor, y * factor


@dataclass(frozen=True, slots=True)
class Distortion:
    """A family of distortions.

    Args:
        moves: Moves points, given its coefficients.
        straight: Whether coefficients of zero leave points in place.
    """

    moves: Callable[..., Coordinates]
    straight: bool


DISTORTIONS = {
    "brown": Distortion(brown, straight=True),
    "fov": Distortion(fov, straight=True),
    "division": Distortion(division, straight=True),
    "eucm": Distortion(eucm, straight=True),
    "fisheye": Distortion(fisheye, straight=False),
    "thin_prism": Distortion(thin_prism, straight=False),
    "rad_tan_thin_prism": Distortion(rad_tan_thin_prism, straight=False),
}


@dataclass(frozen=True, slots=True)
class Lens:
    """A lens and the pixels of its pictures.

    Args:
        intrinsics: fx, fy, cx, cy [pixels]; the upper left pixel has its centre at (0.5, 0.5).
        kind: A name in `DISTORTIONS`.
        coefficients: Of the distortion.
    """

    intrinsics: tuple[float, float, float, float]
    kind: str = "brown"
    coefficients: tuple[float, ...] = ()

    @property
    def straight(self) -> bool:
        """Whether the lens is a pinhole."""
        return DISTORTIONS[self.kind].straight and not any(self.coefficients)

    def scaled(self, across: float, down: float) -> Lens:
        """Return the lens of pictures with so many times the pixels along each axis."""
        fx, fy, cx, cy = self.intrinsics
        pixels = fx * across, fy * down, cx * across, cy * down
        return Lens(pixels, self.kind, self.coefficients)

    def moved(self, x: Doubles, y: Doubles) -> Coordinates:
        """Return points after the distortion."""
        if self.straight:
            return x, y
        return DISTORTIONS[self.kind].moves(x, y, *self.coefficients)

    def project(self, x: Doubles, y: Doubles) -> Coordinates:
        """Return the positions of points in the picture [pixels]."""
        fx, fy, cx, cy = self.intrinsics
        u, v = self.moved(x, y)
        return fx * u + cx, fy * v + cy


@dataclass(frozen=True, slots=True)
class Pinhole:
    """The pinhole camera that replaces a lens, in pictures of the same size.

    Args:
        intrinsics: fx, fy, cx, cy [pixels].
        cropped: Whether the picture of the lens shows more, at angles too wide for a pinhole.
    """

    intrinsics: tuple[float, float, float, float]
    cropped: bool


@lru_cache(maxsize=4096)
def pinhole_of(lens: Lens, width: int, height: int) -> Pinhole | None:
    """Return the widest pinhole camera all of whose pixels are in a picture of a lens.

    The picture keeps its size and its centre (cx, cy); the focal lengths are divided by the same
    number, at most 2. COLMAP's undistorter with `--blank_pixels 0` leaves no pixel blank either,
    but keeps the focal length and changes the size.

    Args:
        lens: The lens, with its centre in the picture.
        width: Of the picture [pixels].
        height: Of the picture [pixels].

    Returns:
        The pinhole, or None if the lens shows less than a quarter of the picture's width in one
        piece: elsewhere its distortion folds the picture.
    """
    fx, fy, cx, cy = lens.intrinsics
    if lens.straight:
        return Pinhole(lens.intrinsics, cropped=False)
    if not (0 < cx < width and 0 < cy < height):
        return None
    left, right, top, bottom = -cx / fx, (width - cx) / fx, -cy / fy, (height - cy) / fy
    along = np.linspace(0.0, 1.0, _RINGS)
    across, down = left + (right - left) * along, top + (bottom - top) * along
    x = np.concatenate([across, across, np.full_like(down, left), np.full_like(down, right)])
    y = np.concatenate([np.full_like(across, top), np.full_like(across, bottom), down, down])

    def shown(scales: Doubles) -> npt.NDArray[np.bool_]:
        """Return whether the picture shows the border of rectangles, without a fold."""
        points = _shown(lens, scales[:, None] * x, scales[:, None] * y, width, height)
        return np.logical_and.reduce(points, axis=1)

    scales = _WIDEST * np.arange(1, _RINGS + 1) / _RINGS
    whole = shown(scales)
    if whole.all():
        return Pinhole((fx / _WIDEST, fy / _WIDEST, cx, cy), cropped=True)
    first = int(np.argmin(whole))
    low, high = (float(scales[first - 1]) if first else 0.0), float(scales[first])
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if shown(np.array([middle]))[0] else (low, middle)
    return Pinhole((fx / low, fy / low, cx, cy), cropped=False) if low >= _LEAST else None


def _shown(lens: Lens, x: Doubles, y: Doubles, width: int, height: int) -> npt.NDArray[np.bool_]:
    """Return which points the picture shows, where the distortion does not fold it."""
    step = 1e-6 * (1 + np.hypot(x, y))
    with np.errstate(all="ignore"):  # coefficients of any size: what is not a number is not shown
        u, v = lens.project(x, y)
        (right_x, right_y), (left_x, left_y) = lens.moved(x + step, y), lens.moved(x - step, y)
        (low_x, low_y), (high_x, high_y) = lens.moved(x, y + step), lens.moved(x, y - step)
        xx, yy = right_x - left_x, low_y - high_y
        # Positive definite where the distortion keeps directions and orientation.
        upright = (xx > 0) & (yy > 0) & (xx * yy > (right_y - left_y) * (low_x - high_x))
        return (u >= 0) & (u <= width) & (v >= 0) & (v <= height) & upright
