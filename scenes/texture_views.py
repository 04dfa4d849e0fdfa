"""Views of a plane of tiles, from near and from far, that show an unknown texture.

Run this file for a few steps of the optimisation; the demo `fit-texture` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti


@dataclass(frozen=True, slots=True)
class TextureViews:
    """Views of a plane that repeats a texture; each is a square of so many pixels.

    Pixel (row i, column j) of a view shows the neighbourhood of corner + (j + 1/2) across +
    (i + 1/2) down, in sides of the texture.

    Attributes:
        pixels: Along each side of a view.
        corner: First corner of a view, shape (n, 2).
        across: From a pixel to the next one in its row, shape (n, 2).
        down: From a pixel to the next one in its column, shape (n, 2).
    """

    pixels: int
    corner: np.ndarray
    across: np.ndarray
    down: np.ndarray


def make_views(n: int, texels: int = 64, pixels: int = 64, seed: int = 0) -> TextureViews:
    """Return views of random places, turned at random, from near and from far.

    From the nearest a texel is two pixels wide, from the farthest a pixel is four texels wide.

    Args:
        n: Number of views.
        texels: Along each side of the texture.
        pixels: Along each side of a view.
        seed: Of the random numbers.
    """
    rng = np.random.default_rng(seed)
    step = np.exp(rng.uniform(np.log(0.5), np.log(4.0), n)) / texels
    angle = rng.uniform(0.0, 2 * np.pi, n)
    across = step[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    down = step[:, None] * np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    return TextureViews(pixels, rng.uniform(size=(n, 2)), across, down)


@dt.data_oriented
class Views:
    """A texture, and views of it.

    Args:
        views: What they are of.
        texels: The texture at the start, linear light, shape (rows, columns, 3).
        dtype: Of the numbers.
    """

    def __init__(self, views: TextureViews, texels: np.ndarray, dtype=ti.f32):
        self.texture = dt.Texture(texels, wrap="repeat", mip="linear", dtype=dtype, grad=True)
        vec2, vec3 = dt.vec(2, dtype), dt.vec(3, dtype)
        self.corner = dt.from_numpy(views.corner, dtype=vec2)
        self.across = dt.from_numpy(views.across, dtype=vec2)
        self.down = dt.from_numpy(views.down, dtype=vec2)
        shape = (len(views.corner), views.pixels, views.pixels)
        self.images = dt.zeros(shape, vec3, grad=True)
        self.targets = dt.zeros(shape, vec3)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"texels": self.texture.data}

    @dt.kernel
    def render(self):
        """Sample the texture over the footprint of each pixel."""
        for k, i, j in self.images:
            across, down = self.across[k], self.down[k]
            uv = self.corner[k] + (j + 0.5) * across + (i + 0.5) * down
            self.images[k, i, j] = self.texture.sample_grad(uv, across, down)

    @dt.kernel
    def measure(self):
        """The mean squared error of the views."""
        self.loss[None] = 0.0
        shape = self.images.shape
        for k, i, j in self.images:
            off = self.images[k, i, j] - self.targets[k, i, j]
            self.loss[None] += off.norm_sqr() / (3 * shape[0] * shape[1] * shape[2])

    def run(self) -> None:
        """Render all views and measure the loss."""
        self.render()
        self.measure()


def make_task(views: TextureViews, truth: np.ndarray, dtype=ti.f32) -> Views:
    """Return views of a grey texture, to be fitted to those of the true one."""
    known, sought = Views(views, truth, dtype), Views(views, np.full_like(truth, 0.5), dtype)
    known.render()
    sought.targets.copy_from(known.images)
    return sought


if __name__ == "__main__":
    truth = np.random.default_rng(0).uniform(size=(16, 16, 3))
    views = make_task(make_views(4, texels=16, pixels=32), truth)
    descent = dt.optim.Adam(views.parameters, 0.05)
    for _ in range(8):
        with dt.Tape(views.loss):
            views.run()
        print(f"loss {views.loss[None]:.6f}")
        descent.step()
