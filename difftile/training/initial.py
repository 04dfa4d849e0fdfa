"""The initial gaussians of a run, and conversion between gaussians and splats of files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import DatasetError
from difftile.tracebacks import boundary
from difftile.training.from_points import gaussians_at
from difftile.training.options import Options
from difftile.training.sweep import points_of

_OPACITY, _SIZE = {"mcmc": 0.5}, {"mcmc": 0.1}  # 0.1 and 1 for other strategies
_DEGREE = 3  # of harmonics, unless an option or a file says another one


def first_gaussians(
    data: dt.datasets.Dataset, options: Options, *, search: bool = True, dtype: Any = ti.f32
) -> tuple[dt.Rows, str, int]:
    """Return the initial gaussians of a run, where they are, and their degree of harmonics.

    They are those of `options.start`, or at the points of the scene. Without points,
    `options.points` are found in the pictures that are trained on (see `sweep`). If these show
    fewer, the others are random in the cube around the point that all cameras look at, whose side
    is the distance of the cameras from it.

    Args:
        data: The data set to train on.
        options: The options of the run.
        search: Look for points in the pictures.
        dtype: The type of the numbers.

    Returns:
        The gaussians, a note for users, and the last band of harmonics.

    Raises:
        DatasetError: A picture or the file of splats cannot be read.
    """
    if options.start and search:
        parameters, told, degree = _loaded(options)
        return dt.render.make_gaussians(parameters, dtype=dtype), told, degree
    draw = np.random.default_rng((options.seed, 1))
    degree = _DEGREE if options.sh_degree is None else options.sh_degree
    if data.points is None:
        places, colours, told = _found(data, options, draw, search)
    else:
        count = len(data.points)
        some = np.sort(draw.permutation(count)[: options.most])
        places, colours = data.points.positions[some], data.points.colours[some]
        told = f"{len(some)} gaussians at points of the data set"
    parameters = gaussians_at(
        places,
        colours,
        degree=degree,
        opacity=_OPACITY.get(options.strategy, 0.1),
        size=_SIZE.get(options.strategy, 1.0),
    )
    return dt.render.make_gaussians(parameters, dtype=dtype), told, degree


def _loaded(options: Options) -> tuple[dict[str, npt.NDArray[Any]], str, int]:
    """Return the gaussians of the file of splats, a note, and their degree of harmonics.

    Of more than `options.most` the largest are left: by opacity times the area of the two longer
    axes, which is about what an image shows of them. Harmonics are cut, or 0 where the file has
    none.

    Raises:
        DatasetError: The file cannot be read, or has no splats.
    """
    path = Path(options.start)
    splats = dt.datasets.read_splats(path)
    if not len(splats):
        raise DatasetError(path, "has no splats", "one at least")
    degree = splats.sh_degree if options.sh_degree is None else options.sh_degree
    arrays = splats.arrays
    told = f"{len(splats)} gaussians of {path}"
    if len(splats) > options.most:
        area = np.sort(splats.scales, axis=1)[:, 1:].sum(axis=1, dtype=np.float64)
        shown = area - np.logaddexp(0.0, -splats.opacities.astype(np.float64))
        some = np.sort(np.argsort(-shown, kind="stable")[: options.most])
        arrays = {name: array[some] for name, array in arrays.items()}
        told = f"the {len(some)} largest of {told}"
    if degree != splats.sh_degree:
        told += f", with harmonics to degree {degree} in place of {splats.sh_degree}"
    if splats.antialiased and not options.antialiased:
        told += ", which are trained to be drawn with --antialiased"
    rest = np.zeros((len(arrays["means"]), (degree + 1) ** 2 - 1, 3), np.float32)
    common = min(rest.shape[1], arrays["shN"].shape[1])
    rest[:, :common] = arrays.pop("shN")[:, :common]
    return {**arrays, **({"shN": rest} if degree else {})}, told, degree


def _found(
    data: dt.datasets.Dataset, options: Options, draw: np.random.Generator, search: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], str]:
    """Return places and colours of points where a data set has none, and a note."""
    views, _ = data.split(options.hold_out)
    centres = np.stack([view.centre for view in data.views])
    axes = np.stack([view.world_to_camera[2, :3] for view in data.views])
    # The point with the least sum of squared distances from all optical axes. Where these are
    # parallel, a little weight on a point in front of the cameras decides.
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    light = 1e-6 * len(axes)
    before = (centres + data.scale * axes).mean(axis=0)
    right = np.einsum("nij,nj->i", across, centres) + light * before
    focus = np.linalg.solve(across.sum(axis=0) + light * np.eye(3), right)
    half = 0.5 * float(np.median(np.linalg.norm(centres - focus, axis=1)))
    places, colours = np.zeros((0, 3)), np.zeros((0, 3))
    if search:
        places, colours = points_of(views, focus, options.background)
    some = np.sort(draw.permutation(len(places))[: options.points])
    more = options.points - len(some)
    places = np.append(places[some], focus + half * draw.uniform(-1, 1, (more, 3)), axis=0)
    colours = np.append(colours[some], np.full((more, 3), 0.5), axis=0)
    parts = {
        "at points found in the pictures": len(some),
        "at random places in front of the cameras": more,
    }
    told = " and ".join(f"{count} {where}" for where, count in parts.items() if count)
    return places, colours, f"{options.points} gaussians, {told}"


@boundary
def gaussians_of(splats: dt.datasets.Splats) -> dt.Rows:
    """Return splats as rows of fields with gradients, which `render.Splatter` draws."""
    return dt.render.make_gaussians(splats.arrays, dtype=ti.f32)


@boundary
def splats_of(gaussians: dt.Rows) -> dt.datasets.Splats:
    """Return gaussians as splats for files."""
    return splats_from(gaussians.to_numpy())


def splats_from(arrays: Mapping[str, npt.NDArray[Any]]) -> dt.datasets.Splats:
    """Return the arrays of gaussians by name as splats for files."""
    none = np.zeros((len(arrays["means"]), 0, 3), np.float32)
    return dt.datasets.Splats(**{"shN": none, **arrays})
