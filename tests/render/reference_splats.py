"""Images of Gaussians in NumPy, straight from the formulas: no tiles, all Gaussians at all pixels.

Everything takes complex numbers, so that derivatives are known by the complex step: comparisons and
the order of Gaussians use the real parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Values = dict[str, Any]


@dataclass(frozen=True)
class Options:
    width: int
    height: int
    sh_degree: int = 3
    antialiased: bool = False
    near: float = 0.01
    far: float = 1e10
    eps2d: float = 0.3


@dataclass(frozen=True)
class Picture:
    """Images, and statistics of their computation.

    Args:
        image: Colours.
        alpha: The coverage.
        depth: The expected depth.
        margin: Relative distance of each pixel from a threshold.
        events: Number of edge cases of each kind.
    """

    image: Any
    alpha: Any
    depth: Any
    margin: Any
    events: dict[str, int]


def motion(twist: Any) -> Any:
    """Return the matrix exponential of a twist as a 4x4 matrix, by its series."""
    v, w = twist[:3], twist[3:]
    zero = 0 * w[0]
    generator = np.array(
        [
            [zero, -w[2], w[1], v[0]],
            [w[2], zero, -w[0], v[1]],
            [-w[1], w[0], zero, v[2]],
            [zero, zero, zero, zero],
        ]
    )
    total = term = np.eye(4) + 0 * generator
    for k in range(1, 40):
        term = term @ generator / k
        total = total + term
    return total


def rotation(q: Any) -> Any:
    """Return the rotations of quaternions, by their products: q v q*."""
    q = q / np.sqrt((q * q).sum(-1, keepdims=True))
    w, u = q[:, :1], q[:, 1:]
    columns = []
    for axis in np.eye(3):
        once = np.cross(u, axis) + w * axis
        columns.append(axis + 2 * np.cross(u, once))
    return np.stack(columns, -1)


def harmonics(degree: int, d: Any) -> Any:
    """Return the basis functions in directions, shape (n, (degree + 1)^2)."""
    x, y, z = d[:, 0], d[:, 1], d[:, 2]
    xx, yy, zz = x * x, y * y, z * z
    rows = [0.28209479177387814 + 0 * x]
    c = 0.4886025119029199
    rows += [-c * y, c * z, -c * x]
    c = 1.0925484305920792
    rows += [c * x * y, -c * y * z, 0.31539156525252005 * (2 * zz - xx - yy), -c * x * z]
    rows += [0.5462742152960396 * (xx - yy)]
    rows += [
        -0.5900435899266435 * y * (3 * xx - yy),
        2.890611442640554 * x * y * z,
        -0.4570457994644658 * y * (4 * zz - xx - yy),
        0.3731763325901154 * z * (2 * zz - 3 * xx - 3 * yy),
        -0.4570457994644658 * x * (4 * zz - xx - yy),
        1.445305721320277 * z * (xx - yy),
        -0.5900435899266435 * x * (xx - 3 * yy),
    ]
    return np.stack(rows[: (degree + 1) ** 2], -1)


def _clamp(x: Any, low: Any, high: Any) -> Any:
    return np.where(x.real < np.real(low), low, np.where(x.real > np.real(high), high, x))


def render(values: Values, poses: Any, options: Options) -> Picture:
    """Return the images of cameras.

    Args:
        values: Raw parameters of gaussians by name (sh0 and shN, or features), and twist,
            intrinsics and background; and moved, an offset of the centres on the image plane.
        poses: World to camera, shape (cameras, 4, 4).
        options: The options.
    """
    pictures = [_render(values, pose, c, options) for c, pose in enumerate(poses)]
    names = ("image", "alpha", "depth", "margin")
    events = {key: sum(p.events[key] for p in pictures) for key in pictures[0].events}
    stacked = {name: np.stack([getattr(p, name) for p in pictures]) for name in names}
    return Picture(**stacked, events=events)


def _render(values: Values, pose: Any, c: int, options: Options) -> Picture:
    world = motion(values["twist"][c]) @ pose
    turn, shift = world[:3, :3], world[:3, 3]
    fx, fy, cx, cy = values["intrinsics"][c]
    width, height = options.width, options.height
    means = values["means"]
    n = len(means)
    opacity = 1 / (1 + np.exp(-values["opacities"]))

    # Covariances in space, in the frame of the camera, on the image plane.
    axes = rotation(values["quaternions"]) * np.exp(values["scales"])[:, None, :]
    space = axes @ axes.transpose(0, 2, 1)
    p = means @ turn.T + shift
    seen = (p[:, 2].real >= options.near) & (p[:, 2].real <= options.far)
    z = np.where(seen, p[:, 2], 1.0)
    x, y = p[:, 0], p[:, 1]
    tan_x, tan_y = 0.3 * width / (2 * fx), 0.3 * height / (2 * fy)
    tx = z * _clamp(x / z, -(cx / fx + tan_x), (width - cx) / fx + tan_x)
    ty = z * _clamp(y / z, -(cy / fy + tan_y), (height - cy) / fy + tan_y)
    jacobian = np.zeros((n, 2, 3), np.result_type(tx, fx))
    jacobian[:, 0, 0], jacobian[:, 0, 2] = fx / z, -fx * tx / z**2
    jacobian[:, 1, 1], jacobian[:, 1, 2] = fy / z, -fy * ty / z**2
    flat = jacobian @ turn @ space @ turn.T @ jacobian.transpose(0, 2, 1)
    wide = flat + options.eps2d * np.eye(2)
    if options.antialiased:
        share = _determinant(flat) / _determinant(wide)
        opacity = opacity * np.sqrt(np.where(share.real > 0.005**2, share, 0.005**2))
    conic = np.linalg.inv(wide)
    centre = np.stack([fx * x / z + cx, fy * y / z + cy], -1)
    if "moved" in values:
        centre = centre + values["moved"][c]

    # Colours.
    if "features" in values:
        colour = values["features"]
    else:
        eye = -turn.T @ shift
        d = means - eye
        d = d / np.sqrt((d * d).sum(-1, keepdims=True))
        coefficients = np.concatenate([values["sh0"][:, None], values["shN"]], 1)
        basis = harmonics(options.sh_degree, d)
        colour = np.einsum("nk,nkc->nc", basis, coefficients[:, : basis.shape[1]]) + 0.5
        colour = np.where(colour.real > 0, colour, 0)

    # A Gaussian is only visible inside its box; no box is needed here.
    rows, columns = np.mgrid[:height, :width]
    pixel = np.stack([columns + 0.5, rows + 0.5], -1)
    light = np.ones((height, width), np.result_type(colour, conic, opacity))
    image = np.zeros((height, width, colour.shape[1]), light.dtype)
    way = np.zeros_like(light)
    margin = np.ones((height, width))
    ended = np.zeros((height, width), bool)
    far_off = np.abs(tx - x) + np.abs(ty - y) > 1e-9
    events = dict.fromkeys(("clamped in view", "beside the view", "ended", "black"), 0)
    events["culled by depth"] = int((~seen).sum())
    events["transparent"] = int((opacity.real < 1 / 255).sum())
    for g in np.argsort(p[:, 2].real.astype(np.float32), kind="stable"):
        if not seen[g] or opacity[g].real < 1 / 255:
            continue
        off = pixel - centre[g]
        sigma = 0.5 * np.einsum("ijk,kl,ijl->ij", off, conic[g], off)
        raw = opacity[g] * np.exp(-sigma)
        alpha = np.where(raw.real > 0.99, 0.99, raw)
        drawn = (alpha.real >= 1 / 255) & ~ended
        after = light * (1 - alpha)
        ends = drawn & (after.real <= 1e-4)
        for value, threshold, matters in (
            (raw, 1 / 255, ~ended),
            (raw, 0.99, ~ended),
            (after, 1e-4, drawn),
        ):
            near = np.abs(value.real / threshold - 1)
            margin = np.where(matters, np.minimum(margin, near), margin)
        ended |= ends
        events["clamped in view"] += int((drawn & (raw.real > 0.99)).sum())
        events["beside the view"] += int((drawn & far_off[g]).sum())
        events["black"] += int((drawn & (colour[g].real == 0).any()).sum())
        events["ended"] += int(ends.sum())
        weight = np.where(drawn & ~ends, alpha * light, 0)
        image = image + weight[..., None] * colour[g]
        way = way + weight * z[g]
        light = np.where(drawn & ~ends, after, light)
    cover = 1 - light
    depth = way / np.where(cover.real > 1e-10, cover, 1e-10)
    return Picture(image + light[..., None] * values["background"], cover, depth, margin, events)


def _determinant(m: Any) -> Any:
    return m[:, 0, 0] * m[:, 1, 1] - m[:, 0, 1] * m[:, 1, 0]


def loss_of(picture: Picture, weights: Picture) -> Any:
    """Return the sum of all outputs with weights."""
    return sum(
        (getattr(picture, name) * getattr(weights, name)).sum()
        for name in ("image", "alpha", "depth")
    )


def slope(values: Values, name: str, direction: Any, run: Any) -> float:
    """Return the derivative along a direction of one parameter, by the complex step."""
    step = 1e-30
    moved = {**values, name: values[name] + 1j * step * direction}
    return float(run(moved).imag / step)
