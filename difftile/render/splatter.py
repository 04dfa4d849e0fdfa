"""`Splatter`: images of gaussians, in a few steps that tapes record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy.typing as npt

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.create import full, vec, zeros
from difftile.fields.field import Field, scratch
from difftile.ir.types import I32, Type, Vector, scalar_of
from difftile.render.cameras import Cameras, Poses
from difftile.render.checks import check_background, check_range, check_size
from difftile.render.compositing import composite
from difftile.render.ewa import cull, project
from difftile.render.harmonics import MAX_DEGREE, last_band, paint
from difftile.render.tiles import TileLists
from difftile.substrate import current_session


@dataclass(frozen=True, slots=True)
class Rendering:
    """What cameras see.

    Args:
        image: Colours, shape (cameras, height, width) of vectors.
        alpha: How much of each pixel is covered, in 0..1, shape (cameras, height, width).
        depth: The expected depth of what covers it [scene units], of the same shape; None where it
            was not asked for.
    """

    image: Field
    alpha: Field
    depth: Field | None


class Drawer(Protocol):
    """Draws images of a size [pixels]."""

    width: int
    height: int


def coloured(drawer: Drawer, gaussians: Any, cameras: Cameras) -> Field:
    """Return the field of gaussians that has an element for each colour.

    Raises:
        FieldError: The cameras see images of another size, or have another precision.
    """
    if (cameras.width, cameras.height) != (drawer.width, drawer.height):
        raise FieldError(f"{drawer!r} cannot draw what {cameras!r} see.")
    ours, theirs = scalar_of(cameras.twist.element), scalar_of(gaussians.means.element)
    if ours != theirs:
        raise FieldError(f"{drawer!r}: the cameras are in {ours}, and the gaussians in {theirs}.")
    features = getattr(gaussians, "features", None)
    return gaussians.sh0 if features is None else features


@final
class Splatter:
    """Draws gaussians as cameras see them.

    `splatter(gaussians, cameras)` projects them, finds their colours, sorts them into tiles and
    blends them front to back. Everything is recorded on an open tape: gradients reach all fields
    of the gaussians, the poses and intrinsics of the cameras, and the background. The image does
    not depend on the size of the tiles.

    Args:
        width: The width of the images [pixels].
        height: The height of the images [pixels].
        sh_degree: The last band of harmonics that is used, 0 to 3; may be set anew between calls.
        antialiased: Take away opacity for what `blur` adds to the area of small gaussians.
        near: The least depth that is drawn [scene units].
        far: The largest depth that is drawn [scene units].
        eps2d: Is added to variances on the image plane [pixels^2].
        tile: The side of a tile [pixels].
        background: The colour behind all gaussians, a number, one for each channel, or a field of
            shape (), which may have a gradient; None for black.
        depth: Render depths as well.
        absgrad: Add up `means2d_absgrad` as well.

    Raises:
        LaunchError: An option is out of range.
    """

    def __init__(
        self,
        width: int,
        height: int,
        *,
        sh_degree: int = MAX_DEGREE,
        antialiased: bool = False,
        near: float = 0.01,
        far: float = 1e10,
        eps2d: float = 0.3,
        tile: int = 16,
        background: npt.ArrayLike | Field | None = None,
        depth: bool = True,
        absgrad: bool = False,
    ) -> None:
        check_size("Splatter", LaunchError, width, height, tile)
        check_range("Splatter", LaunchError, 0.0, eps2d=eps2d)
        check_background("Splatter", LaunchError, background)
        if not 0 < near < far:
            raise LaunchError(f"Splatter: depths from near={near} to far={far} are none in front.")
        self.width, self.height, self.tile = width, height, tile
        self.sh_degree, self.antialiased = sh_degree, antialiased
        self.near, self.far, self.eps2d = near, far, eps2d
        self.background, self.depth, self.absgrad = background, depth, absgrad
        self._stage: _Stage | None = None

    def __repr__(self) -> str:
        return f"<Splatter of {self.width}x{self.height} pixels>"

    def __call__(self, gaussians: Any, cameras: Cameras, out: Rendering | None = None) -> Rendering:
        """Render gaussians.

        Args:
            gaussians: Has the fields `means`, `scales`, `quaternions`, `opacities`, and either
                `sh0` and `shN` or `features`; see `Gaussians`.
            cameras: The cameras.
            out: What another call with as many cameras returned, to draw into.

        Returns:
            What was drawn: `out`, or new fields with gradients.

        Raises:
            FieldError: The fields do not fit one another, or the cameras the images.
        """
        stage = self._stage_for(cameras, coloured(self, gaussians, cameras))
        stage.poses.set(cameras)
        shape = (
            gaussians.means,
            gaussians.scales,
            gaussians.quaternions,
            gaussians.opacities,
            stage.poses.rotation,
            stage.poses.translation,
            stage.poses.intrinsics,
            self.width,
            self.height,
        )
        kind = (self.eps2d, self.antialiased, True)
        cull(*shape, self.near, self.far, *kind, stage.radii)
        degree = last_band(gaussians, self.sh_degree, self)
        paint(gaussians, degree, stage.poses.place, stage.radii, stage.colours)
        project(
            *shape,
            *kind,
            stage.radii,
            stage.moved,
            stage.centres,
            stage.conics,
            stage.opacities,
            stage.depths,
        )
        stage.lists.build(stage.centres, stage.radii, stage.depths)
        made = out or self._images(stage)
        composite(
            stage.centres,
            stage.conics,
            stage.opacities,
            stage.colours,
            None if made.depth is None else stage.depths,
            stage.background,
            stage.lists.order,
            stage.lists.starts,
            self.tile,
            made.image,
            made.alpha,
            made.depth,
            stage.light,
            stage.last,
            stage.absolute,
            current_session().warps,
        )
        return made

    # Gradients on the image plane

    @property
    def means2d_grad(self) -> Field:
        """The gradients of centres on the image plane, shape (cameras, n) of vec2 [1/pixels].

        They are there after the reverse of a tape, added up over the calls on it. A call with other
        numbers of cameras or gaussians, or with cameras that have gradients after some that have
        none, begins anew.
        """
        return self._drawn().moved.grad

    @property
    def means2d_absgrad(self) -> Field:
        """Likewise the sums over pixels of their absolute values; with `absgrad=True`."""
        absolute = self._drawn().absolute
        if absolute is None:
            raise LaunchError(f"{self!r} adds up no absolute gradients: Splatter(absgrad=True).")
        return absolute.grad

    @property
    def radii(self) -> Field:
        """Half the boxes of the gaussians on the image plane in the latest call, 0 if culled.

        Shape (cameras, n) of vec2 of integers [pixels].
        """
        return self._drawn().radii

    def _drawn(self) -> _Stage:
        if self._stage is None:
            raise LaunchError(f"{self!r} has drawn nothing yet.")
        return self._stage

    # What calls work with

    def _stage_for(self, cameras: Cameras, colours: Field) -> _Stage:
        wanted = _Wanted(len(cameras), len(colours), colours.element, cameras.has_grads)
        if self._stage is None or self._stage.made_for != wanted:
            with scratch():
                self._stage = _Stage(wanted, self)
        return self._stage

    def _images(self, stage: _Stage) -> Rendering:
        element = stage.made_for.element
        shape = (stage.made_for.cameras, self.height, self.width)
        scalar = scalar_of(element)
        depth = zeros(shape, scalar, grad=True) if self.depth else None
        return Rendering(zeros(shape, element, grad=True), zeros(shape, scalar, grad=True), depth)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What fields between the steps are made for.

    Args:
        cameras: The number of cameras.
        count: The number of gaussians.
        element: The type of a colour.
        posed: Whether poses or intrinsics have gradients.
    """

    cameras: int
    count: int
    element: Type
    posed: bool


@final
class _Stage:
    """The fields between the steps of a call.

    Args:
        wanted: What they are made for.
        splatter: Whose they are.
    """

    def __init__(self, wanted: _Wanted, splatter: Splatter) -> None:
        self.made_for = wanted
        cameras, element, scalar = wanted.cameras, wanted.element, scalar_of(wanted.element)
        shape = cameras, wanted.count
        self.poses = Poses(cameras, scalar, wanted.posed)
        self.radii = zeros(shape, Vector(2, I32))
        self.moved = zeros(shape, vec(2, scalar), grad=True)
        self.absolute = zeros(shape, vec(2, scalar), grad=True) if splatter.absgrad else None
        self.centres = zeros(shape, vec(2, scalar), grad=True)
        self.conics = zeros(shape, vec(3, scalar), grad=True)
        self.opacities = zeros(shape, scalar, grad=True)
        self.depths = zeros(shape, scalar, grad=True)
        self.colours = zeros(shape, element, grad=True)
        self.lists = TileLists(splatter.width, splatter.height, splatter.tile, cameras)
        pixels = (cameras, splatter.height, splatter.width)
        self.light = zeros(pixels, scalar, grad=True)
        self.last = zeros(pixels, I32)
        colour = splatter.background
        if colour is not None and not isinstance(colour, Field):
            colour = full((), colour, element)
        self.background = colour
