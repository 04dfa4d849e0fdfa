"""A photograph as a sum of Gaussians on a plane, or as Gaussians that cover each other.

The sum is GaussianImage (Zhang et al., ECCV 2024). Their places, shapes and colours are sought;
from time to time those that matter least are moved to where the picture is most off.

Run this file for a few steps of the optimisation; the demo `fit-image` does all of them.
"""

import numpy as np

import difftile as dt
from difftile import ti

FLAT = 0.1  # of the gaussians are spread evenly at first, the others where brightness changes
WIDTH = 0.6  # of a gaussian at first, in distances to the next one


@dt.func
def opacity(logit):
    """Any number becomes one between 0 and 1."""
    return dt.sigmoid(logit)


class Painting:
    """Gaussians and the image that they make.

    Args:
        photograph: What they should look like, shape (size, size, 3).
        n: Number of gaussians.
        model: One of `MODELS`.
        random: Where they are at first.
        dtype: Of the numbers.

    Attributes:
        weights: How much each pixel counts, from 0 to 1, shape (size, size); None for all alike.
    """

    def __init__(
        self, photograph: np.ndarray, n: int, model: str, random: np.random.Generator, dtype=ti.f32
    ):
        self.photograph, self.random = photograph, random
        self.weights: dt.Field | None = None
        self.size = len(photograph)
        pixels, near = self.scatter(n)
        widths = np.clip(WIDTH * near, 0.5, self.size / 8)
        colours = photograph.reshape(-1, 3)[pixels]
        if model == "sum":
            colours = colours / (2.0 * np.pi * WIDTH**2)  # as many lie on each other

        def field(values: np.ndarray) -> dt.Field:
            element = dt.vec(values.shape[1], dtype) if values.ndim > 1 else dtype
            return dt.from_numpy(values, dtype=element, grad=True)

        self.means = field(self.points(pixels))
        self.factors = field(np.stack([widths, 0.0 * widths, widths], axis=1))
        self.colours = field(colours)
        self.parameters = {"means": self.means, "factors": self.factors, "colours": self.colours}
        self.target = dt.from_numpy(photograph, dtype=dt.vec(3, dtype))
        self.loss = dt.zeros((), dtype, grad=True)
        self.splats = None
        if model == "alpha":
            self.splats = dt.render.AlphaSplats(self.size, self.size, dtype=dtype)
            self.parameters["opacities"] = self.logits = field(np.zeros(n))
            self.image = self.splats.image
        else:
            self.image = dt.zeros((self.size, self.size), dt.vec(3, dtype), grad=True)

    def scatter(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n random pixels, and return their indices and typical distances there [pixels]."""
        steep = np.hypot(*np.gradient(self.photograph.mean(axis=2))).ravel() + 1e-6
        chance = (1.0 - FLAT) * steep / steep.sum() + FLAT / steep.size
        pixels = self.random.choice(steep.size, n, p=chance)
        return pixels, 1.0 / np.sqrt(n * chance[pixels])

    def points(self, pixels: np.ndarray) -> np.ndarray:
        """Return a point in each of these pixels, shape (n, 2)."""
        rows, columns = np.divmod(pixels, self.size)
        return np.stack([columns, rows], axis=1) + self.random.uniform(0.0, 1.0, (len(pixels), 2))

    def run(self) -> None:
        """Paint, and measure the mean square that it is off."""
        if self.splats is None:
            dt.render.sum_splats(self.means, self.factors, self.colours, self.image)
        else:
            self.splats(self.means, self.factors, opacity(self.logits), self.colours)
        self.measure()

    def measure(self) -> None:
        """Measure the mean square that the image is off."""
        self.loss.fill(0.0)
        dt.render.l2(self.image, self.target, self.loss, mask=self.weights)

    def move(self, n: int) -> None:
        """Move the n Gaussians that contribute least to the largest errors of the image."""
        values = {name: field.to_numpy() for name, field in self.parameters.items()}
        strength = np.square(values["colours"]).sum(axis=1)
        if "opacities" in values:
            strength = 1.0 / (1.0 + np.exp(-values["opacities"]))
        least = np.argsort(strength * np.abs(np.prod(values["factors"][:, ::2], axis=1)))[:n]
        off = (self.photograph - self.image.to_numpy()).reshape(-1, 3)
        square = np.square(off).sum(axis=1) + 1e-12
        if self.weights is not None:
            square *= self.weights.to_numpy().ravel()
        pixels = self.random.choice(len(off), n, p=square / square.sum())
        values["means"][least] = self.points(pixels)
        values["factors"][least] = (1.0, 0.0, 1.0)
        if "opacities" in values:
            values["opacities"][least] = 0.0
            values["colours"][least] = self.photograph.reshape(-1, 3)[pixels]
        else:
            values["colours"][least] = 0.5 * off[pixels]
        for name, array in values.items():
            self.parameters[name].from_numpy(array)


if __name__ == "__main__":
    y, x = (np.indices((64, 64)) + 0.5) / 64  # a disc before a sky
    disc = (np.hypot(x - 0.5, y - 0.5) < 0.3)[..., None]
    picture = np.where(disc, (0.9, 0.5, 0.2), np.stack([0.2 + 0 * x, 0.5 * y, y], axis=-1))
    painting = Painting(picture, 200, "sum", np.random.default_rng(0))
    descent = dt.optim.Adam(painting.parameters, 0.02)
    for _ in range(8):
        with dt.Tape(painting.loss):
            painting.run()
        print(f"loss {painting.loss[None]:.6f}")
        descent.step()
