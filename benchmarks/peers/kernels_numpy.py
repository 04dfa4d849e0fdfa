"""The kernels of `benchmarks.kernels` in NumPy, with adjoints written by hand.

Each takes inputs, constants and, for the adjoint, the gradients of the outputs, and returns outputs
or gradients of inputs. Temporaries are used again where that is short. Sums by index are
`np.bincount`, which is faster than `np.add.at`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class NumpyPeer:
    """A kernel in NumPy.

    Attributes:
        forward: Takes inputs and constants, and returns outputs.
        adjoint: Takes inputs, constants and the gradients of the outputs, and returns the gradients
            of the inputs.
    """

    forward: Callable[..., Arrays]
    adjoint: Callable[..., Arrays]


def elementwise(x: Any) -> Arrays:
    y, other = np.sin(x), np.negative(x)
    y *= np.exp(other, out=other)
    np.multiply(x, x, out=other)
    other += 1
    y += np.sqrt(other, out=other)
    return (y,)


def elementwise_adjoint(x: Any, y_bar: Any) -> Arrays:
    bar, other = np.cos(x), np.sin(x)
    bar -= other
    bar *= np.exp(np.negative(x, out=other), out=other)
    np.multiply(x, x, out=other)
    other += 1
    bar += np.divide(x, np.sqrt(other, out=other), out=other)
    bar *= y_bar
    return (bar,)


def multiply_adds(x: Any) -> Arrays:
    total = x.copy()
    for _ in range(20):
        total *= x
        total += 0.25
    return (total,)


def multiply_adds_adjoint(x: Any, y_bar: Any) -> Arrays:
    total, slope = x.copy(), np.ones_like(x)
    for _ in range(20):
        slope *= x
        slope += total
        total *= x
        total += 0.25
    slope *= y_bar
    return (slope,)


def map_(x: Any) -> Arrays:
    y = np.sin(x)
    y += 0.5 * x
    y *= x
    return (y,)


def map_adjoint(x: Any, y_bar: Any) -> Arrays:
    bar = np.cos(x)
    bar *= x
    bar += np.sin(x)
    bar += x
    bar *= y_bar
    return (bar,)


def stencil(x: Any) -> Arrays:
    y = x[:-2, 1:-1] + x[2:, 1:-1]
    y += x[1:-1, :-2]
    y += x[1:-1, 2:]
    y += x[1:-1, 1:-1]
    y *= np.float32(0.2)  # 1 - 4 * 0.2 is 0.2
    return (y,)


def stencil_adjoint(x: Any, y_bar: Any) -> Arrays:
    bar, part = np.zeros_like(x), np.float32(0.2) * y_bar
    for rows in (slice(None, -2), slice(1, -1), slice(2, None)):
        for columns in (slice(None, -2), slice(1, -1), slice(2, None)):
            if slice(1, -1) in (rows, columns):
                bar[rows, columns] += part
    return (bar,)


def transpose(x: Any) -> Arrays:
    y = np.ascontiguousarray(x.T)
    y *= y
    return (y,)


def transpose_adjoint(x: Any, y_bar: Any) -> Arrays:
    bar = np.ascontiguousarray(y_bar.T)
    bar *= x
    bar *= np.float32(2.0)
    return (bar,)


def gather(x: Any, index: Any) -> Arrays:
    y = x[index]
    y *= y
    return (y,)


def gather_adjoint(x: Any, index: Any, y_bar: Any) -> Arrays:
    bar = np.bincount(index, y_bar, len(x)).astype(np.float32)
    bar *= x
    bar *= 2
    return (bar,)


def scatter(x: Any, index: Any) -> Arrays:
    return (np.bincount(index, x * x, len(x)).astype(np.float32),)


def scatter_adjoint(x: Any, index: Any, y_bar: Any) -> Arrays:
    bar = y_bar[index]
    bar *= x
    bar *= 2
    return (bar,)


def sum_(x: Any) -> Arrays:
    return (np.dot(x, x),)


def sum_adjoint(x: Any, y_bar: Any) -> Arrays:
    return (x * np.float32(2 * y_bar),)


def matvec(a: Any, x: Any) -> Arrays:
    return (a @ x,)


def matvec_adjoint(a: Any, x: Any, y_bar: Any) -> Arrays:
    return np.outer(y_bar, x), y_bar @ a


def compositing(alpha: Any, colour: Any) -> Arrays:
    weights = _transmittance(alpha)
    weights *= alpha
    return (np.einsum("ijk,ijk->ij", weights, colour),)


def compositing_adjoint(alpha: Any, colour: Any, y_bar: Any) -> Arrays:
    light = _transmittance(alpha)
    weights = light * alpha
    light *= colour
    behind = weights * colour
    behind = np.cumsum(behind[..., ::-1], axis=-1)[..., ::-1] - behind
    behind /= 1 - alpha
    light -= behind
    light *= y_bar[..., None]
    weights *= y_bar[..., None]
    return light, weights


def _transmittance(alpha: Any) -> Any:
    """Return the light that reaches each layer."""
    light = np.ones_like(alpha)
    np.cumprod(1 - alpha[..., :-1], axis=-1, out=light[..., 1:])
    return light


def p2g(x: Any, v: Any, c: Any, stress: Any, *, n: int) -> Arrays:
    f, w, _, places = _around(x, n)
    affine = c + stress[:, None, None] * np.eye(2, dtype=np.float32)
    momentum, mass = np.zeros((n * n, 2), np.float32), np.zeros(n * n, np.float32)
    for i, j, at in places:
        way = (np.array([i, j], np.float32) - f) / n
        weight = w[i][:, 0] * w[j][:, 1]
        added = weight[:, None] * (v + np.einsum("pij,pj->pi", affine, way))
        for axis in range(2):
            momentum[:, axis] += np.bincount(at, added[:, axis], n * n)
        mass += np.bincount(at, weight, n * n)
    return momentum.reshape(n, n, 2), mass.reshape(n, n)


def p2g_adjoint(x: Any, v: Any, c: Any, stress: Any, momentum: Any, mass: Any, *, n: int) -> Arrays:
    f, w, slope, places = _around(x, n)
    affine = c + stress[:, None, None] * np.eye(2, dtype=np.float32)
    f_bar, v_bar, affine_bar = np.zeros_like(f), np.zeros_like(v), np.zeros_like(c)
    momentum, mass = momentum.reshape(-1, 2), mass.reshape(-1)
    for i, j, at in places:
        way = (np.array([i, j], np.float32) - f) / n
        weight, g = (w[i][:, 0] * w[j][:, 1])[:, None], momentum[at]
        weight_bar = (g * (v + np.einsum("pij,pj->pi", affine, way))).sum(1) + mass[at]
        v_bar += weight * g
        affine_bar += (weight * g)[:, :, None] * way[:, None, :]
        f_bar -= weight / n * np.einsum("pij,pi->pj", affine, g)
        f_bar[:, 0] += weight_bar * slope[i][:, 0] * w[j][:, 1]
        f_bar[:, 1] += weight_bar * w[i][:, 0] * slope[j][:, 1]
    return n * f_bar, v_bar, affine_bar, np.trace(affine_bar, axis1=1, axis2=2)


def g2p(x: Any, velocity: Any) -> Arrays:
    n = len(velocity)
    f, w, _, places = _around(x, n)
    v, c = np.zeros_like(x), np.zeros((len(x), 2, 2), np.float32)
    flat = velocity.reshape(-1, 2)
    for i, j, at in places:
        way = np.array([i, j], np.float32) - f
        g = (w[i][:, 0] * w[j][:, 1])[:, None] * flat[at]
        v += g
        c += 4 * n * g[:, :, None] * way[:, None, :]
    return v, c


def g2p_adjoint(x: Any, velocity: Any, v_bar: Any, c_bar: Any) -> Arrays:
    n = len(velocity)
    f, w, slope, places = _around(x, n)
    f_bar, flat = np.zeros_like(x), velocity.reshape(-1, 2)
    velocity_bar = np.zeros_like(flat)
    c_bar = 4 * n * c_bar
    for i, j, at in places:
        way = np.array([i, j], np.float32) - f
        weight, g = (w[i][:, 0] * w[j][:, 1])[:, None], flat[at]
        pulled = v_bar + np.einsum("pij,pj->pi", c_bar, way)
        for axis in range(2):
            velocity_bar[:, axis] += np.bincount(at, (weight * pulled)[:, axis], n * n)
        f_bar -= weight * np.einsum("pij,pi->pj", c_bar, g)
        along = (g * pulled).sum(1)
        f_bar[:, 0] += along * slope[i][:, 0] * w[j][:, 1]
        f_bar[:, 1] += along * w[i][:, 0] * slope[j][:, 1]
    return n * f_bar, velocity_bar.reshape(velocity.shape)


def _around(x: Any, n: int) -> Any:
    """Return offsets, weights, slopes of weights, and the 9 nodes: i, j, index of each particle."""
    base = (x * n - np.float32(0.5)).astype(np.int32)
    f = x * np.float32(n) - base.astype(np.float32)
    weights = [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]
    slopes = [f - 1.5, 2.0 - 2.0 * f, f - 0.5]
    at = base[:, 0] * n + base[:, 1]
    return f, weights, slopes, [(i, j, at + i * n + j) for i in range(3) for j in range(3)]


ROWS = 64  # bodies at once, whose distances to all others stay in the caches


def n_body(x: Any, mass: Any) -> Arrays:
    y = np.empty_like(x)
    for rows in range(0, len(x), ROWS):
        here = slice(rows, rows + ROWS)
        d, near = _apart(x, here)
        near **= 3
        near *= mass
        for axis in range(3):
            y[here, axis] = np.einsum("ij,ij->i", near, d[axis])
    return (y,)


def n_body_adjoint(x: Any, mass: Any, y_bar: Any) -> Arrays:
    x_bar = np.empty_like(x)
    for rows in range(0, len(x), ROWS):
        here = slice(rows, rows + ROWS)
        d, near = _apart(x, here)
        bar = [
            mass[here, None] * y_bar[:, axis] - mass * y_bar[here, axis, None] for axis in range(3)
        ]
        along = d[0] * bar[0] + d[1] * bar[1] + d[2] * bar[2]
        along *= 3 * near**2
        near **= 3
        for axis in range(3):
            x_bar[here, axis] = np.einsum("ij,ij->i", near, bar[axis] - along * d[axis])
    return (x_bar,)


def _apart(x: Any, here: slice) -> Any:
    """Return the components of the ways to all bodies, and the inverse distances."""
    d = [x[:, axis] - x[here, axis, None] for axis in range(3)]
    return d, 1 / np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + np.float32(0.01))


def texture(texels: Any, uv: Any) -> Arrays:
    flat = texels.reshape(-1, 3)
    return (sum(weight[:, None] * flat[at] for weight, at in _corners(texels, uv)),)


def texture_adjoint(texels: Any, uv: Any, y_bar: Any) -> Arrays:
    bar = np.zeros((texels.shape[0] * texels.shape[1], 3), np.float32)
    for weight, at in _corners(texels, uv):
        for axis in range(3):
            bar[:, axis] += np.bincount(at, weight * y_bar[:, axis], len(bar))
    return (bar.reshape(texels.shape),)


def _corners(texels: Any, uv: Any) -> Any:
    """Return weight and index of the four texels around each position."""
    size = np.array(texels.shape[:2], np.float32)
    p = uv[:, ::-1] * size - np.float32(0.5)
    low = np.floor(p)
    f, first = p - low, low.astype(np.int32)
    ends = [np.clip(first + k, 0, size.astype(np.int32) - 1) for k in range(2)]
    weights = 1 - f, f
    return [
        (weights[i][:, 0] * weights[j][:, 1], ends[i][:, 0] * texels.shape[1] + ends[j][:, 1])
        for i in range(2)
        for j in range(2)
    ]


KERNELS: dict[str, NumpyPeer] = {
    "elementwise": NumpyPeer(elementwise, elementwise_adjoint),
    "multiply-adds": NumpyPeer(multiply_adds, multiply_adds_adjoint),
    "map": NumpyPeer(map_, map_adjoint),
    "stencil": NumpyPeer(stencil, stencil_adjoint),
    "transpose": NumpyPeer(transpose, transpose_adjoint),
    "gather": NumpyPeer(gather, gather_adjoint),
    "scatter-add": NumpyPeer(scatter, scatter_adjoint),
    "sum": NumpyPeer(sum_, sum_adjoint),
    "matvec": NumpyPeer(matvec, matvec_adjoint),
    "compositing": NumpyPeer(compositing, compositing_adjoint),
    "p2g": NumpyPeer(p2g, p2g_adjoint),
    "g2p": NumpyPeer(g2p, g2p_adjoint),
    "n-body": NumpyPeer(n_body, n_body_adjoint),
    "texture": NumpyPeer(texture, texture_adjoint),
}
