"""Splats in plain Taichi, with hand-written adjoints: the peer of `difftile.render`.

Blending gets the same lists of splats for each tile. Its adjoint goes from the end of each
pixel back to its first splat and adds up with atomics, as the public implementations do; the
adjoint of the sum model visits the pixels of each splat, and needs no atomics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import taichi as ti

from benchmarks.peers.peer import clear

MAX_ALPHA, MIN_ALPHA, MIN_LIGHT = 0.99, 1.0 / 255.0, 1e-4
MAX_SIGMA = 5.5413


@dataclass(frozen=True)
class SplatsPeer:
    """A renderer and its adjoint.

    Attributes:
        forward: Renders the image.
        backward: Sets the gradients of the parameters from that of the image.
        image: The picture.
        image_grad: The incoming gradient.
        gradients: Of the parameters, by name.
    """

    forward: Callable[[], None]
    backward: Callable[[], None]
    image: Any
    image_grad: Any
    gradients: dict[str, Any]


def _given(values: np.ndarray) -> Any:
    """Return a field with an array; vectors where it has two axes."""
    if values.ndim == 2:
        made: Any = ti.Vector.field(values.shape[1], ti.f32, values.shape[0])
    else:
        made = ti.field(ti.f32 if values.dtype == np.float32 else ti.i32, values.shape)
    made.from_numpy(values)
    return made


def _like(field: Any) -> Any:
    return (
        ti.Vector.field(field.n, ti.f32, field.shape)
        if hasattr(field, "n")
        else ti.field(ti.f32, field.shape)
    )


def make_blend(parameters: dict[str, np.ndarray], lists: tuple[np.ndarray, np.ndarray], size: int,
               tile: int) -> SplatsPeer:  # fmt: skip
    """Return front to back blending of splats on a square image.

    Args:
        parameters: "means" (n, 2) [pixels], "conics" (n, 3), "opacities" (n,), "colours" (n, 3).
        lists: The splats of all tiles, and the start of each tile.
        size: Of the image [pixels].
        tile: Of a tile [pixels].
    """
    fields = {name: _given(values.astype(np.float32)) for name, values in parameters.items()}
    grads = {name: _like(field) for name, field in fields.items()}
    means, conics, opacities, colours = fields.values()
    means_grad, conics_grad, opacities_grad, colours_grad = grads.values()
    order, starts = (_given(one.astype(np.int32)) for one in lists)
    image, image_grad = (ti.Vector.field(3, ti.f32, (size, size)) for _ in range(2))
    light, last = ti.field(ti.f32, (size, size)), ti.field(ti.i32, (size, size))
    across = -(-size // tile)

    @ti.func
    def sigma_of(d, conic):
        return 0.5 * (conic[0] * d[0] * d[0] + conic[2] * d[1] * d[1]) + conic[1] * d[0] * d[1]

    @ti.kernel
    def forward():
        for p in range(across * across * tile * tile):
            t, k = p // (tile * tile), p % (tile * tile)
            i, j = t // across * tile + k // tile, t % across * tile + k % tile
            if i < size and j < size:
                left = 1.0
                colour = ti.Vector([0.0, 0.0, 0.0])
                end = starts[t]
                for s in range(starts[t], starts[t + 1]):
                    g = order[s]
                    d = ti.Vector([j + 0.5, i + 0.5]) - means[g]
                    sigma = sigma_of(d, conics[g])
                    if sigma >= 0.0 and sigma <= MAX_SIGMA:
                        alpha = ti.min(MAX_ALPHA, opacities[g] * ti.exp(-sigma))
                        if alpha >= MIN_ALPHA:
                            after = left * (1.0 - alpha)
                            if after <= MIN_LIGHT:
                                break
                            colour += alpha * left * colours[g]
                            left = after
                            end = s + 1
                image[i, j] = colour
                light[i, j] = left
                last[i, j] = end

    @ti.kernel
    def replay():
        for p in range(across * across * tile * tile):
            t, k = p // (tile * tile), p % (tile * tile)
            i, j = t // across * tile + k // tile, t % across * tile + k % tile
            if i < size and j < size:
                left = light[i, j]
                incoming = image_grad[i, j]
                behind = 0.0
                for back in range(last[i, j] - starts[t]):
                    g = order[last[i, j] - 1 - back]
                    d = ti.Vector([j + 0.5, i + 0.5]) - means[g]
                    conic = conics[g]
                    sigma = sigma_of(d, conic)
                    if sigma >= 0.0 and sigma <= MAX_SIGMA:
                        fall = ti.exp(-sigma)
                        alpha = ti.min(MAX_ALPHA, opacities[g] * fall)
                        if alpha >= MIN_ALPHA:
                            left /= 1.0 - alpha
                            shade = incoming.dot(colours[g])
                            colours_grad[g] += alpha * left * incoming
                            alpha_grad = left * shade - behind / (1.0 - alpha)
                            behind += alpha * left * shade
                            if opacities[g] * fall <= MAX_ALPHA:
                                opacities_grad[g] += fall * alpha_grad
                                sigma_grad = -opacities[g] * fall * alpha_grad
                                conics_grad[g] += sigma_grad * ti.Vector(
                                    [0.5 * d[0] * d[0], d[0] * d[1], 0.5 * d[1] * d[1]]
                                )
                                means_grad[g] -= sigma_grad * ti.Vector(
                                    [
                                        conic[0] * d[0] + conic[1] * d[1],
                                        conic[1] * d[0] + conic[2] * d[1],
                                    ]
                                )

    def backward() -> None:
        clear(*grads.values())
        replay()

    return SplatsPeer(forward, backward, image, image_grad, grads)


def make_sum(parameters: dict[str, np.ndarray], size: int) -> SplatsPeer:
    """Return the sum of splats on a square image.

    Args:
        parameters: "means" (n, 2) [pixels], "factors" (n, 3) of covariances [pixels], "colours"
            (n, 3).
        size: Of the image [pixels].
    """
    fields = {name: _given(values.astype(np.float32)) for name, values in parameters.items()}
    grads = {name: _like(field) for name, field in fields.items()}
    means, factors, colours = fields.values()
    means_grad, factors_grad, colours_grad = grads.values()
    image, image_grad = (ti.Vector.field(3, ti.f32, (size, size)) for _ in range(2))
    reach = float(np.sqrt(2 * np.log(255.0)))

    @ti.func
    def box(m, l):  # noqa: E741
        rx, ry = reach * ti.abs(l[0]), reach * ti.sqrt(l[1] * l[1] + l[2] * l[2])
        x0, x1 = ti.floor(m[0] - rx, ti.i32), ti.ceil(m[0] + rx, ti.i32)
        y0, y1 = ti.floor(m[1] - ry, ti.i32), ti.ceil(m[1] + ry, ti.i32)
        return ti.max(x0, 0), ti.min(x1, size), ti.max(y0, 0), ti.min(y1, size)

    @ti.kernel
    def render():
        for n in means:
            m, l, colour = means[n], factors[n], colours[n]  # noqa: E741
            x0, x1, y0, y1 = box(m, l)
            for y, x in ti.ndrange((y0, y1), (x0, x1)):
                # L u = d, and sigma is half the square of u.
                u = (x + 0.5 - m[0]) / l[0]
                v = (y + 0.5 - m[1] - l[1] * u) / l[2]
                weight = ti.exp(-0.5 * (u * u + v * v))
                if weight >= MIN_ALPHA:
                    image[y, x] += weight * colour

    @ti.kernel
    def walk():
        for n in means:
            m, l, colour = means[n], factors[n], colours[n]  # noqa: E741
            x0, x1, y0, y1 = box(m, l)
            of_colour = ti.Vector([0.0, 0.0, 0.0])
            of_mean = ti.Vector([0.0, 0.0])
            of_factor = ti.Vector([0.0, 0.0, 0.0])
            for y, x in ti.ndrange((y0, y1), (x0, x1)):
                u = (x + 0.5 - m[0]) / l[0]
                v = (y + 0.5 - m[1] - l[1] * u) / l[2]
                weight = ti.exp(-0.5 * (u * u + v * v))
                if weight >= MIN_ALPHA:
                    incoming = image_grad[y, x]
                    of_colour += weight * incoming
                    sigma_grad = -weight * incoming.dot(colour)
                    v_grad = sigma_grad * v / l[2]
                    u_grad = (sigma_grad * u - v_grad * l[1]) / l[0]
                    of_mean -= ti.Vector([u_grad, v_grad])
                    of_factor -= ti.Vector([u_grad * u, v_grad * u, v_grad * v])
            colours_grad[n] = of_colour
            means_grad[n] = of_mean
            factors_grad[n] = of_factor

    def forward() -> None:
        clear(image)
        render()

    return SplatsPeer(forward, walk, image, image_grad, grads)
