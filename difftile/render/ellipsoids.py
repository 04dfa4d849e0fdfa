"""`Ellipsoids`: gaussians as opaque bodies, which show their shapes and occlusion.

The body of a gaussian with mean m and covariance S is all x with (x - m)^T S^-1 (x - m) <= level^2.
Each pixel shows the body that its ray meets first, whatever the order of the centres: bodies may
intersect. This renderer has no derivative.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import LaunchError
from difftile.render.cameras import PINHOLE, Cameras, Poses
from difftile.render.checks import check_background, check_range, check_size
from difftile.render.ewa import is_sound, opacity_of
from difftile.render.harmonics import MAX_DEGREE, last_band, paint
from difftile.render.splatter import Colour, Rendering, colour_of, coloured
from difftile.render.tiles import TileLists
from difftile.tracebacks import boundary

FLATTEST = 1e-3  # the least length of half axes, relative to the longest; else rounding would show
AMBIENT = 0.35  # the light on a surface that faces away from the lamp
_LAMP = (-0.4, -0.6, -0.7)  # over the left shoulder of the camera
LAMP = tuple(float(x) for x in np.array(_LAMP) / np.linalg.norm(_LAMP))


@final
class Ellipsoids:
    """Draws gaussians as shaded, opaque ellipsoids.

    `ellipsoids(gaussians, cameras)` takes the same arguments as a `Splatter`, and returns the same:
    images, coverage, which is 0 or 1, and the depths of the surfaces. Tapes do not record it.

    Args:
        width: The width of the images [pixels].
        height: The height of the images [pixels].
        level: The size of the bodies in standard deviations; may be changed between calls.
        least: The least opacity, in 0..1, of drawn gaussians; may be changed between calls.
        sh_degree: The last band of harmonics that is used, 0 to 3.
        near: Bodies nearer than this to the plane of the camera are left out [scene units].
        tile: The side of a tile [pixels].
        background: The colour of the background, a number, or one for each channel; None for black.

    Raises:
        LaunchError: An option is out of range.
    """

    models = (PINHOLE,)

    @boundary
    def __init__(
        self,
        width: int,
        height: int,
        *,
        level: float = 1.5,
        least: float = 0.1,
        sh_degree: int = MAX_DEGREE,
        near: float = 0.01,
        tile: int = 16,
        background: npt.ArrayLike | None = None,
    ) -> None:
        check_size("Ellipsoids", LaunchError, width, height, tile)
        check_range("Ellipsoids", LaunchError, 0.0, open=True, level=level, near=near)
        check_range("Ellipsoids", LaunchError, 0.0, least=least)
        check_background("Ellipsoids", LaunchError, background)
        self.width, self.height, self.tile = width, height, tile
        self.level, self.least, self.near = level, least, near
        self.sh_degree, self.background = sh_degree, background
        self._stage: _EllipsoidFields | None = None

    def __repr__(self) -> str:
        return f"<Ellipsoids of {self.width}x{self.height} pixels>"

    def __call__(self, gaussians: Any, cameras: Cameras, out: Rendering | None = None) -> Rendering:
        """Draw gaussians.

        Args:
            gaussians: See `Splatter`.
            cameras: The cameras.
            out: What another call with as many cameras returned, to draw into.

        Raises:
            FieldError: The fields do not fit one another, or the cameras the images.
        """
        colour = colour_of(coloured(self, gaussians, cameras))
        stage = self._stage_for(len(cameras), len(gaussians.means), colour)
        made = out or Rendering.zeros(self, len(cameras), colour, depth=True, grad=False)
        with dt.no_grad():
            stage.poses.set(cameras)
            _bound(
                gaussians.means,
                gaussians.scales,
                gaussians.quaternions,
                gaussians.opacities,
                stage.poses.rotation,
                stage.poses.translation,
                stage.poses.intrinsics,
                self.level,
                self.least,
                self.near,
                stage.centres,
                stage.radii,
                stage.fronts,
                stage.middles,
                stage.whitenings,
            )
            degree = last_band(gaussians, self.sh_degree, self)
            paint(gaussians, degree, stage.poses.place, stage.radii, stage.colours)
            stage.lists.build(stage.centres, stage.radii, stage.fronts)
            _meet(
                stage.fronts,
                stage.middles,
                stage.whitenings,
                stage.colours,
                stage.background,
                stage.poses.intrinsics,
                stage.lists.order,
                stage.lists.starts,
                self.tile,
                made.image,
                made.alpha,
                made.depth,
            )
        return made

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_stage": None}

    def _stage_for(self, cameras: int, count: int, colour: Colour) -> _EllipsoidFields:
        if self._stage is None or self._stage.made_for != (cameras, count, colour):
            with dt.scratch():
                self._stage = _EllipsoidFields(cameras, count, colour, self)
        return self._stage


@final
class _EllipsoidFields:
    """The fields between the steps of a call."""

    def __init__(self, cameras: int, count: int, colour: Colour, user: Ellipsoids) -> None:
        self.made_for = (cameras, count, colour)
        shape, (_, number) = (cameras, count), colour
        self.poses = Poses(cameras, number, grad=False)
        self.centres = dt.zeros(shape, dt.vec(2, number))
        self.radii = dt.zeros(shape, dt.vec(2, number))
        self.fronts = dt.zeros(shape, number)
        self.middles = dt.zeros(shape, dt.vec(3, number))
        self.whitenings = dt.zeros(shape, dt.mat(3, 3, number))
        self.colours = dt.zeros(shape, dt.vec(*colour))
        background = 0.0 if user.background is None else user.background
        self.background = dt.full((), background, dt.vec(*colour))
        self.lists = TileLists(user.width, user.height, user.tile, cameras)


@dt.kernel
def _bound(
    means,
    scales,
    quaternions,
    opacities,
    rotation,
    translation,
    intrinsics,
    level: float,
    least: float,
    near: float,
    centres,
    radii,
    fronts,
    middles,
    whitenings,
):
    """Find the bounding boxes of ellipsoids on the image planes, and their frames for rays.

    A column x = s, in units of the focal length, touches the outline where the line (1, 0, -s) lies
    on the dual conic A A^T - m m^T, with the half axes as columns of A. The terms of that quadratic
    equation in s that cancel are left out below.
    Source: Hartley and Zisserman, Multiple View Geometry, 2003, section 8.3.

    Args:
        means: The gaussians; up to `opacities` as in files, see `make_gaussians`.
        scales: See `means`.
        quaternions: See `means`.
        opacities: See `means`.
        rotation: The motion from the world to the cameras, see `cameras.Poses`.
        translation: See `rotation`.
        intrinsics: See `rotation`.
        level: The distance from the centre to the surface in standard deviations.
        least: The least opacity of drawn gaussians.
        near: The least depth of drawn gaussians [scene units].
        centres: Is set to the centres of the boxes [pixels], shape (cameras, n) of vec2.
        radii: Is set to half their sides [pixels], shape (cameras, n) of vec2; 0 if not visible.
        fronts: Is set to the least depths of the ellipsoids [scene units], shape (cameras, n).
        middles: Is set to the means in the frames of the cameras, shape (cameras, n) of vec3.
        whitenings: Is set to the maps of the ellipsoids to unit spheres, shape (cameras, n) of
            mat3.
    """
    for k, c in ti.ndrange(means.shape[0], rotation.shape[0]):
        sound = is_sound(scales[k], opacities[k])
        m = rotation[c, 0] @ means[k] + translation[c, 0]
        s = level * ti.exp(scales[k])
        s = max(s, FLATTEST * max(s[0], s[1], s[2]))
        axes = rotation[c, 0] @ dt.rotations.quat_to_matrix(quaternions[k])
        whitening = axes.transpose()
        for i, j in ti.static(ti.ndrange(3, 3)):
            whitening[i, j] /= s[i]
            axes[i, j] *= s[j]
        x, y, z = axes[0, :], axes[1, :], axes[2, :]
        front = m.z - z.norm()
        box = ti.Vector([0.0, 0.0])
        middle = ti.Vector([0.0, 0.0])
        lens = intrinsics[c, 0]
        sound = sound and math.isfinite(front) and math.isfinite(whitening.norm_sqr())
        sound = sound and lens[0] > 0.0 and lens[1] > 0.0
        if sound and front >= near and opacity_of(opacities[k], True) >= least:
            across = m.z * m.z - z.dot(z)
            wide = (m.z * x - m.x * z).norm_sqr() - x.cross(z).norm_sqr()
            high = (m.z * y - m.y * z).norm_sqr() - y.cross(z).norm_sqr()
            middle.x = lens[0] * (m.x * m.z - x.dot(z)) / across + lens[2]
            middle.y = lens[1] * (m.y * m.z - y.dot(z)) / across + lens[3]
            box.x = lens[0] * ti.sqrt(max(wide, 0.0)) / across
            box.y = lens[1] * ti.sqrt(max(high, 0.0)) / across
        centres[c, k] = middle
        radii[c, k] = box
        fronts[c, k] = front
        middles[c, k] = m
        whitenings[c, k] = whitening


@dt.func
def _surface(d, m, whitening):
    """Return the first intersection of the ray t d with an ellipsoid.

    The computation starts from the point of the ray nearest to the centre: the plain quadratic
    formula cancels for small and far bodies (Haines and others, Ray Tracing Gems, 2019, chapter 7).

    Returns:
        t, which is the depth, or 0 where they do not meet; the normal, of any length.
    """
    u = whitening @ d
    v = whitening @ m
    nearest = u.dot(v) / u.norm_sqr()
    gap = (nearest * u - v).norm_sqr()
    t = 0.0
    if gap < 1.0:
        t = nearest - ti.sqrt((1.0 - gap) / u.norm_sqr())
    return t, whitening.transpose() @ (t * u - v)


@dt.kernel
def _meet(
    fronts,
    middles,
    whitenings,
    colours,
    background,
    intrinsics,
    order,
    starts,
    tile: int,
    image,
    alpha,
    depth,
):
    """Draw, for each pixel, the ellipsoid that its ray meets first; arguments as in `_bound`."""
    for c, i, j in depth:
        lens = intrinsics[c, 0]
        d = ti.Vector([(j + 0.5 - lens[2]) / lens[0], (i + 0.5 - lens[3]) / lens[1], 1.0])
        wide = (depth.shape[2] + tile - 1) // tile
        high = (depth.shape[1] + tile - 1) // tile
        at = (c * high + i // tile) * wide + j // tile
        first = 0.0
        which = -1
        for entry in range(starts[at], starts[at + 1]):
            k = order[entry]
            if which >= 0 and fronts[c, k] >= first:
                break  # this one and all that follow begin behind the surface that was met
            t, _ = _surface(d, middles[c, k], whitenings[c, k])
            if t > 0.0 and (which < 0 or t < first):
                first = t
                which = k
        colour = background[None]
        if which >= 0:
            _, normal = _surface(d, middles[c, which], whitenings[c, which])
            lit = max(normal.normalized().dot(ti.Vector([LAMP[0], LAMP[1], LAMP[2]])), 0.0)
            colour = (AMBIENT + (1.0 - AMBIENT) * lit) * colours[c, which]
        image[c, i, j] = colour
        alpha[c, i, j] = ti.select(which >= 0, 1.0, 0.0)
        depth[c, i, j] = first
