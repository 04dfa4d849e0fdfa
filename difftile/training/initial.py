"""The initial gaussians of a run, and conversion between gaussians and splats of files."""

from __future__ import annotations

import numpy as np

from difftile.datasets.dataset import Dataset
from difftile.datasets.splats import PARAMETERS, Splats
from difftile.fields.rows import Rows
from difftile.render.gaussians import make_gaussians
from difftile.substrate import ti
from difftile.tracebacks import boundary
from difftile.training.from_points import gaussians_at
from difftile.training.options import Options

_OPACITY, _SIZE = {"mcmc": 0.5}, {"mcmc": 0.1}  # 0.1 and 1 for other strategies


def first_gaussians(data: Dataset, options: Options) -> Rows:
    """Return the initial gaussians of a run, at the points of the scene.

    Without points, their centres are random in the cube around the point that all cameras look at,
    whose side is the distance of the cameras from it.

    Args:
        data: The data set to train on.
        options: The options of the run.
    """
    draw = np.random.default_rng((options.seed, 1))
    if data.points is None:
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
        places = focus + half * draw.uniform(-1, 1, (options.points, 3))
        colours = np.full((options.points, 3), 0.5)
    else:
        count = len(data.points)
        some = np.sort(draw.permutation(count)[: options.most])
        places, colours = data.points.positions[some], data.points.colours[some]
    return make_gaussians(
        gaussians_at(
            places,
            colours,
            degree=options.sh_degree,
            opacity=_OPACITY.get(options.strategy, 0.1),
            size=_SIZE.get(options.strategy, 1.0),
        ),
        dtype=ti.f32,
    )


@boundary
def gaussians_of(splats: Splats) -> Rows:
    """Return splats as rows of fields with gradients, which `render.Splatter` draws."""
    return make_gaussians({name: getattr(splats, name) for name in PARAMETERS}, dtype=ti.f32)


@boundary
def splats_of(gaussians: Rows) -> Splats:
    """Return gaussians as splats for files."""
    arrays = gaussians.to_numpy()
    arrays.setdefault("shN", np.zeros((len(gaussians), 0, 3), np.float32))
    return Splats(**arrays)
