"""Splats on the image plane in NumPy, pixel by pixel: every Gaussian at every pixel.

Written for complex numbers, so that derivatives can be taken by the complex step; omissions and
pixel bounds are decided by the real parts.
"""

import numpy as np


def sigmas(means: np.ndarray, factors: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return half the squared distances in standard deviations, shape (n, height, width)."""
    y, x = np.mgrid[:height, :width] + 0.5
    found = []
    for (mx, my), (l1, l2, l3) in zip(means, factors, strict=True):
        low = np.array([[l1, 0.0], [l2, l3]])
        (a, b), (_, c) = np.linalg.inv(low @ low.T)
        dx, dy = x - mx, y - my
        found.append((a * dx * dx + 2 * b * dx * dy + c * dy * dy) / 2)
    return np.array(found)


def sum_image(
    means: np.ndarray, factors: np.ndarray, colours: np.ndarray, height: int, width: int
) -> np.ndarray:
    """Return the sum of gaussians, shape (height, width, channels)."""
    sigma = sigmas(means, factors, height, width)
    weight = np.where(sigma.real <= np.log(255.0), np.exp(-sigma), 0.0)
    return np.einsum("nyx,nc->yxc", weight, colours)


def alpha_image(
    means: np.ndarray,
    factors: np.ndarray,
    opacities: np.ndarray,
    colours: np.ndarray,
    background: np.ndarray,
    height: int,
    width: int,
) -> np.ndarray:
    """Return gaussians blended in the order of their indices, shape (height, width, channels)."""
    sigma = sigmas(means, factors, height, width)
    image = np.zeros((height, width, colours.shape[1]), np.result_type(sigma, colours, opacities))
    light = np.ones((height, width), image.dtype)
    open_ = np.ones((height, width), bool)
    for k, opacity in enumerate(opacities):
        alpha = opacity * np.exp(-sigma[k])
        alpha = np.where(alpha.real > 0.99, 0.99, alpha)
        alpha = np.where(alpha.real < 1 / 255, 0.0, alpha)
        after = light * (1 - alpha)
        open_ &= (after.real > 1e-4) | (alpha == 0)
        image += np.where(open_, alpha * light, 0.0)[..., None] * colours[k]
        light = np.where(open_, after, light)
    return image + light[..., None] * background


def gradients(image, inputs: list[np.ndarray], seed: np.ndarray) -> list[np.ndarray]:
    """Return the gradients of sum(seed * image(*inputs)) by the complex step."""
    found = []
    for which, values in enumerate(inputs):
        gradient = np.zeros_like(values)
        for at in np.ndindex(values.shape):
            moved = [v.astype(complex) for v in inputs]
            moved[which][at] += 1e-30j
            gradient[at] = np.sum(seed * image(*moved).imag) / 1e-30
        found.append(gradient)
    return found
