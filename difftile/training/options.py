"""The options of a run of training."""

from __future__ import annotations

from dataclasses import dataclass

STRATEGIES = ("default", "mcmc", "none")
MISSING = ("error", "skip")
MASKS = ("auto", "ignore", "penalise", "background", "off")


@dataclass(frozen=True, slots=True)
class Options:
    """The options that, together with the data set, determine a run.

    Args:
        steps: The number of steps; rates and refinement are spread over them.
        batch: The number of images in a step; rates are scaled as `training.optimiser` does, and
            gaussians come and go after as many images as with one.
        strategy: The strategy to add and remove gaussians: "default", "mcmc" or "none".
        sh_degree: The last band of harmonics, 0 to 3; they join one after the other. None stands
            for 3, or for that of `start`.
        start: A file of splats that the run starts from, with all their bands; "" for points.
        points: The number of initial gaussians if the data set has no points.
        most: The largest number of gaussians.
        antialiased: See `render.Splatter`.
        background: The colour of the background, which shows where pictures are transparent.
        downscale: The factor by which pictures are reduced.
        images: The folder of pictures of a COLMAP model.
        model: The model of COLMAP, see `datasets.load`; "" for the largest.
        missing: What to do about views without a picture, see `datasets.load`.
        optimise_poses: Correct the poses of the cameras; see `Corrections`.
        exposure: Correct the colours of each picture by a matrix of its own.
        masks: What becomes of pixels that masks exclude: "auto", "ignore", "penalise",
            "background" or "off"; see `Masks`.
        depth: The weight of depth maps at the start; 0 leaves them out. See `DepthMaps`.
        hold_out: Every so many-th view is held out; none if 0.
        seed: The seed of all random numbers.
    """

    steps: int = 30_000
    batch: int = 1
    strategy: str = "default"
    sh_degree: int | None = None
    start: str = ""
    points: int = 10_000
    most: int = 1_000_000
    antialiased: bool = False
    background: tuple[float, float, float] = (0.0, 0.0, 0.0)
    downscale: int = 1
    images: str = "images"
    model: str = ""
    missing: str = "error"
    optimise_poses: bool = False
    exposure: bool = False
    masks: str = "auto"
    depth: float = 0.0
    hold_out: int = 8
    seed: int = 0
