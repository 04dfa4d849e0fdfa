"""The published formulas of distorted cameras, as a reference in double precision.

`project` of each takes points (x, y) on the plane at distance 1 to coordinates before focal lengths
and centre. OpenCV: docs.opencv.org, "Camera Calibration and 3D Reconstruction" and "Fisheye camera
model". COLMAP: colmap.github.io/cameras.html.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Doubles: TypeAlias = npt.NDArray[np.float64]
Project = Callable[..., tuple[Any, Any]]


def opencv(x, y, k1=0.0, k2=0.0, p1=0.0, p2=0.0, k3=0.0, k4=0.0, k5=0.0, k6=0.0):
    r = np.sqrt(x**2 + y**2)
    ratio = (1 + k1 * r**2 + k2 * r**4 + k3 * r**6) / (1 + k4 * r**2 + k5 * r**4 + k6 * r**6)
    u = x * ratio + 2 * p1 * x * y + p2 * (r**2 + 2 * x**2)
    v = y * ratio + p1 * (r**2 + 2 * y**2) + 2 * p2 * x * y
    return u, v


def opencv_fisheye(x, y, k1=0.0, k2=0.0, k3=0.0, k4=0.0):
    theta, phi = np.arctan(np.sqrt(x**2 + y**2)), np.arctan2(y, x)
    d = theta * (1 + k1 * theta**2 + k2 * theta**4 + k3 * theta**6 + k4 * theta**8)
    return d * np.cos(phi), d * np.sin(phi)


def field_of_view(x, y, omega):
    radius, phi = np.sqrt(x**2 + y**2), np.arctan2(y, x)
    d = np.arctan(2 * radius * np.tan(omega / 2)) / omega
    return d * np.cos(phi), d * np.sin(phi)


def division_model(x, y, k):
    """Radius d with d / (1 + k d^2) = r: the root that is r where k is 0."""
    r, phi = np.sqrt(x**2 + y**2), np.arctan2(y, x)
    d = (1 - np.sqrt(1 - 4 * k * r**2)) / (2 * k * r)
    np.testing.assert_allclose(d / (1 + k * d**2), r, rtol=1e-6)
    return d * np.cos(phi), d * np.sin(phi)


def enhanced_unified(x, y, alpha, beta):
    z = np.ones_like(x)
    rho = np.sqrt(beta * (x**2 + y**2) + z**2)
    return x / (alpha * rho + (1 - alpha) * z), y / (alpha * rho + (1 - alpha) * z)


def thin_prism_fisheye(x, y, k1, k2, p1, p2, k3, k4, sx1, sy1):
    theta, phi = np.arctan(np.sqrt(x**2 + y**2)), np.arctan2(y, x)
    a, b = theta * np.cos(phi), theta * np.sin(phi)
    du = a * (k1 * theta**2 + k2 * theta**4 + k3 * theta**6 + k4 * theta**8)
    dv = b * (k1 * theta**2 + k2 * theta**4 + k3 * theta**6 + k4 * theta**8)
    du += 2 * p1 * a * b + p2 * (theta**2 + 2 * a**2) + sx1 * theta**2
    dv += 2 * p2 * a * b + p1 * (theta**2 + 2 * b**2) + sy1 * theta**2
    return a + du, b + dv


def fisheye624(x, y, k0, k1, k2, k3, k4, k5, p0, p1, s0, s1, s2, s3):
    theta, phi = np.arctan(np.sqrt(x**2 + y**2)), np.arctan2(y, x)
    powers = (theta ** (2 * n + 3) * k for n, k in enumerate((k0, k1, k2, k3, k4, k5)))
    d = theta + sum(powers)
    a, b = d * np.cos(phi), d * np.sin(phi)
    r2 = a**2 + b**2
    u = a + (2 * a**2 + r2) * p0 + 2 * a * b * p1 + s0 * r2 + s1 * r2**2
    v = b + (2 * b**2 + r2) * p1 + 2 * a * b * p0 + s2 * r2 + s3 * r2**2
    return u, v


def points_of(project: Project, coefficients: tuple[float, ...], u: Any, v: Any) -> tuple[Any, Any]:
    """Return the points that are projected to (u, v), by Newton's method in two variables."""
    x, y, h = u.copy(), v.copy(), 1e-6
    with np.errstate(all="ignore"):  # where no point is
        for _ in range(25):
            a, b = project(x, y, *coefficients)
            ax, bx = _slopes(project, coefficients, (x + h, y), (x - h, y), 2 * h)
            ay, by = _slopes(project, coefficients, (x, y + h), (x, y - h), 2 * h)
            det = ax * by - ay * bx
            dx = (by * (u - a) - ay * (v - b)) / det
            dy = (ax * (v - b) - bx * (u - a)) / det
            size = np.maximum(1.0, 2 * np.hypot(dx, dy) / (1 + np.hypot(x, y)))
            x, y = x + dx / size, y + dy / size
    return x, y


def _slopes(project: Project, k: tuple[float, ...], up: Any, down: Any, step: float) -> Any:
    pairs = zip(project(*up, *k), project(*down, *k), strict=True)
    return [(one - other) / step for one, other in pairs]
