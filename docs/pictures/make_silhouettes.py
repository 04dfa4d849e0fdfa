"""Make the picture of docs/silhouettes.md: `.venv/bin/python docs/pictures/make_silhouettes.py`.

The derivative of each pixel of a disc as it moves to the right: differences of means of 64 x 64
samples, `coverage`, and the test of the centre of the pixel.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import taichi as ti  # noqa: TID251 -- the language of the kernels

import difftile as dt

mpl.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).with_name("silhouettes.png")
N, FINE, STEP = 24, 64, 0.05  # pixels, samples of a pixel along each axis, pixels of a difference
vec2 = ti.math.vec2


@dt.kernel
def hard(disc, image):
    """Test the centre of each pixel."""
    for i, j in image:
        p = vec2(j + 0.5, i + 0.5) - vec2(disc[0], disc[1])
        image[i, j] = 1.0 if p.norm() < disc[2] else 0.0


@dt.kernel
def covered(disc, image):
    """Write the covered part of each pixel."""
    for i, j in image:
        p = vec2(j + 0.5, i + 0.5) - vec2(disc[0], disc[1])
        image[i, j] = dt.render.coverage(p.norm() - disc[2], p.normalized())


def mean(x: float) -> Any:
    """Return the means of the pixels of a disc at x."""
    image = dt.zeros((N * FINE, N * FINE), ti.f64)
    hard(dt.from_numpy(FINE * np.array([x, 12.6, 7.25])), image)
    return image.to_numpy().reshape(N, FINE, N, FINE).mean(axis=(1, 3))


def pushed(kernel: Any) -> Any:
    """Return the derivatives of the pixels that a kernel draws."""
    disc = dt.from_numpy(np.array([11.3, 12.6, 7.25]), grad=True)
    disc.grad.from_numpy(np.array([1.0, 0.0, 0.0]))
    image = dt.zeros((N, N), ti.f64, grad=True)
    kernel.fwds(disc, image)
    return image.grad.to_numpy()


def main() -> None:
    """Write the picture."""
    dt.init(arch="cpu")
    images = {
        "differences of 64x64 samples": (mean(11.3 + STEP) - mean(11.3 - STEP)) / (2 * STEP),
        "dt.render.coverage": pushed(covered),
        "the hard test": pushed(hard),
    }
    figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.7), layout="constrained")
    for axis, (title, image) in zip(axes, images.items(), strict=True):
        axis.imshow(image, vmin=-1, vmax=1, cmap="RdBu_r")
        axis.set_title(title, fontsize=9)
        axis.set_axis_off()
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
