"""Textures in NumPy, in double precision: dense and slow, by other means than the library.

The texture is padded as its wraps say, every texel of the padded one gets the weight that the
filter's kernel has at its distance, and gradients are written out. Levels are averages of blocks of
level 0. Footprints are taken apart by singular values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

PADS = {"clamp": "edge", "repeat": "wrap", "mirror": "symmetric", "border": "constant"}
OUTSIDE = -1


def tent(d):
    return np.maximum(0.0, 1.0 - abs(d)), np.where(
        (d >= -1) & (d < 1), np.where(d < 0, 1.0, -1.0), 0
    )


def box(d):
    return ((d >= -0.5) & (d < 0.5)).astype(float), np.zeros_like(d)


def b_spline(d):
    """The cubic B-spline as a third difference of truncated powers, and its derivative."""
    knots, signs = np.arange(-2.0, 3.0), np.array([1.0, -4.0, 6.0, -4.0, 1.0])
    ramps = np.maximum(0.0, knots - d[..., None])
    inside = abs(d) < 2
    return (ramps**3 @ signs) / 6 * inside, -(ramps**2 @ signs) / 2 * inside


KERNELS = {"linear": tent, "nearest": box, "cubic": b_spline}


@dataclass
class Reference:
    """A texture: texels (*space, C), and its gradients, which lookups add to.

    Args:
        texels: Level 0, shape (*space, channels).
        filter: The filter.
        wrap: That of each coordinate, u first.
        border: Shape (channels,).
        mip: "off", "nearest" or "linear".
        max_aniso: The largest number of lookups in a footprint.
        image: u runs along the last axis of space.
    """

    texels: Any
    filter: str
    wrap: tuple[str, ...]
    border: Any
    mip: str = "off"
    max_aniso: int = 1
    image: bool = True
    d_texels: Any = field(init=False)
    d_border: Any = field(init=False)

    def __post_init__(self) -> None:
        self.d_texels, self.d_border = np.zeros(self.texels.shape), np.zeros(self.border.shape)
        self.space = self.texels.shape[:-1]
        self.levels = max(self.space).bit_length() if self.mip != "off" else 1
        self.order = list(range(len(self.space)))  # the coordinate that runs along each axis
        if self.image:
            self.order.reverse()

    # Levels

    def blocks(self, level: int) -> list[int]:
        return [2 ** min(level, n.bit_length() - 1) for n in self.space]

    def level(self, level: int):
        """Return the texels of a level: means of blocks."""
        found = self.texels
        for axis, size in enumerate(self.blocks(level)):
            n = found.shape[axis] // size
            found = np.moveaxis(found, axis, 0)[: n * size]
            found = np.moveaxis(found.reshape(n, size, *found.shape[1:]).mean(1), 0, axis)
        return found

    def push_down(self, level: int, bar) -> None:
        """Add the gradient of a level to that of level 0."""
        for axis, size in enumerate(self.blocks(level)):
            bar = np.repeat(bar, size, axis) / size
        self.d_texels[tuple(slice(n) for n in bar.shape[:-1])] += bar

    # Lookups

    def lookup(self, uv, level: int, bar):
        """Return values at positions (s, dims) of a level, and the gradient of these for bar."""
        texels = self.level(level)
        n = texels.shape[:-1]
        which = np.arange(np.prod(n)).reshape(n)
        weights, slopes = [], []
        for axis, coordinate in enumerate(self.order):
            mode, room = PADS[self.wrap[coordinate]], 3 * n[axis] + 4
            pad = [(room, room) if a == axis else (0, 0) for a in range(len(n))]
            if mode == "constant":
                which = np.pad(which, pad, mode, constant_values=OUTSIDE)
            else:
                which = np.pad(which, pad, mode)
            centres = np.arange(-room, n[axis] + room) + 0.5
            w, slope = KERNELS[self.filter](uv[:, coordinate, None] * n[axis] - centres)
            weights.append(w)
            slopes.append(slope * n[axis])
        flat = np.concatenate([texels.reshape(-1, texels.shape[-1]), self.border[None]])
        colours = flat[which]  # OUTSIDE is the last one
        values = _contract(weights, colours)
        d_uv = np.zeros(uv.shape)
        for axis, coordinate in enumerate(self.order):
            moved = [slopes[a] if a == axis else weights[a] for a in range(len(n))]
            d_uv[:, coordinate] = np.sum(_contract(moved, colours) * bar, 1)
        d_flat = np.zeros(flat.shape)
        np.add.at(d_flat, which.ravel(), _spread(weights, bar).reshape(-1, bar.shape[1]))
        self.push_down(level, d_flat[:-1].reshape(texels.shape))
        self.d_border += d_flat[-1]
        return values, d_uv

    def sample(self, uv, bar):
        return self.lookup(uv, 0, bar)

    def sample_lod(self, uv, lod, bar):
        """Return values, and the gradients of uv and lod."""
        last = self.levels - 1
        values, d_uv, d_lod = np.zeros(bar.shape), np.zeros(uv.shape), np.zeros(lod.shape)
        kept = np.clip(lod, 0, last)
        for level in range(self.levels):
            if self.mip == "linear":
                share, slope = tent(kept - level)
            else:
                share, slope = box(np.minimum(kept, last) - level)
            found, d_found = self.lookup(uv, level, bar * share[:, None])
            values += share[:, None] * found
            d_uv += d_found
            d_lod += np.where((lod >= 0) & (lod < last), slope * np.sum(found * bar, 1), 0)
        return values, d_uv, d_lod

    def sample_grad(self, uv, ddx, ddy, bar):
        """Return values, and the gradients of uv, ddx and ddy."""
        sizes = np.array([self.space[self.order.index(c)] for c in range(len(self.space))])
        values, d_uv = np.zeros(bar.shape), np.zeros(uv.shape)
        d_pixel = np.zeros((*uv.shape, 2))  # of [ddx ddy]
        for s in range(len(uv)):
            m = np.stack([ddx[s], ddy[s]], 1)
            in_texels = m * sizes[:, None]
            u, p, vt = np.linalg.svd(in_texels, full_matrices=False)
            p_min = p[1] if len(p) > 1 else p[0]
            narrow = p_min >= p[0] / self.max_aniso and len(p) > 1
            across = p_min if narrow else p[0] / self.max_aniso if len(p) > 1 else p[0]
            k = 1 if narrow else 0
            d_log = np.outer(u[:, k], vt[k]) / (p[k] * np.log(2)) * sizes[:, None]
            kept = np.clip(np.log2(across), 0, self.levels - 1)
            n = int(np.clip(np.ceil(p[0] / 2**kept * (1 - 1e-5)), 1, self.max_aniso))
            v = vt[0]
            for t in range(n):
                at = (t + 0.5) / n - 0.5
                found, d_at, d_lod = self.sample_lod(
                    uv[s : s + 1] + at * (m @ v), np.array([np.log2(across)]), bar[s : s + 1] / n
                )
                values[s] += found[0] / n
                d_uv[s] += d_at[0]
                d_pixel[s] += d_lod * d_log + at * np.outer(d_at[0], v)
                if n > 1:  # the axis turns with M^T M
                    across_v = vt[1]
                    turn = at * (d_at[0] @ m @ across_v) / (p[0] ** 2 - p[1] ** 2)
                    of_square = turn * np.outer(across_v, v)
                    d_pixel[s] += in_texels @ (of_square + of_square.T) * sizes[:, None]
        return values, d_uv, d_pixel[..., 0], d_pixel[..., 1]


def _contract(weights, colours):
    """Return the sum of (..., C) colours with weights (s, n) for each axis: (s, C)."""
    letters = "abd"[: len(weights)]
    return np.einsum(f"{','.join('s' + a for a in letters)},{letters}c->sc", *weights, colours)


def _spread(weights, bar):
    """Return the transpose of `_contract`."""
    letters = "abd"[: len(weights)]
    return np.einsum(f"{','.join('s' + a for a in letters)},sc->{letters}c", *weights, bar)
