"""What a run of training is told."""

from __future__ import annotations

from dataclasses import dataclass

STRATEGIES = ("default", "mcmc", "none")


@dataclass(frozen=True, slots=True)
class Options:
    """All that decides how gaussians train, beside the data set.

    Args:
        steps: How many steps there are; rates and refinement are spread over them.
        strategy: How gaussians come and go: "default", "mcmc" or "none".
        sh_degree: The last band of harmonics, 0 to 3; they join one after the other.
        points: How many gaussians to begin with where the data set has no points.
        most: The number of gaussians that is not passed.
        antialiased: See `render.Splatter`.
        background: What is behind the gaussians, and shows where pictures are transparent.
        downscale: How many pixels of a picture are one.
        images: The folder of pictures of a COLMAP model.
        hold_out: Every so many-th view is held out; none if 0.
        seed: Of all that is random.
    """

    steps: int = 30_000
    strategy: str = "default"
    sh_degree: int = 3
    points: int = 10_000
    most: int = 1_000_000
    antialiased: bool = False
    background: tuple[float, float, float] = (0.0, 0.0, 0.0)
    downscale: int = 1
    images: str = "images"
    hold_out: int = 8
    seed: int = 0
