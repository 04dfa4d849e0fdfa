"""`Splatter`: images of gaussians, by a few launches that tapes record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar, final

import numpy.typing as npt

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.create import full, vec, zeros
from difftile.fields.field import Field
from difftile.fields.storage import scratch
from difftile.ir.types import I32, Type, Vector, scalar_of
from difftile.render.cameras import Cameras, Poses
from difftile.render.checks import check_background, check_range, check_size
from difftile.render.compositing import composite
from difftile.render.harmonics import MAX_DEGREE, last_band
from difftile.render.projected_view import see
from difftile.render.tiles import TileLists
from difftile.substrate import current_session
from difftile.tracebacks import boundary


@dataclass(frozen=True, slots=True)
class Rendering:
    """The images of cameras.

    Args:
        image: Colours, shape (cameras, height, width) of vectors.
        alpha: Coverage, in 0..1, shape (cameras, height, width).
        depth: The expected depth [scene units], of the same shape; None if not requested.
    """

    image: Field
    alpha: Field
    depth: Field | None

    @classmethod
    def zeros(
        cls, drawer: Drawer, cameras: int, element: Type, *, depth: bool, grad: bool
    ) -> Rendering:
        """Return images to draw into, with vectors of a type as colours."""
        shape, scalar = (cameras, drawer.height, drawer.width), scalar_of(element)
        z = zeros(shape, scalar, grad=grad) if depth else None
        return cls(zeros(shape, element, grad=grad), zeros(shape, scalar, grad=grad), z)


@dataclass(frozen=True, slots=True)
class Projected:
    """Gaussians on the image planes of cameras; invisible ones are all 0.

    Args:
        radii: Half the sides of their boxes [pixels], shape (cameras, n) of vec2 of integers.
        centres: Their centres [pixels], of vec2.
        conics: Inverse covariances xx, xy, yy [1/pixels^2], of vec3.
        opacities: Opacities, in 0..1.
        depths: Depths in front of the cameras [scene units].
        colours: Colours, of vectors.
    """

    radii: Field
    centres: Field
    conics: Field
    opacities: Field
    depths: Field
    colours: Field

    @classmethod
    def zeros(cls, cameras: int, count: int, element: Type) -> Projected:
        """Return gaussians that are not seen, with vectors of a type as colours."""
        scalar, shape = scalar_of(element), (cameras, count)
        return cls(
            zeros(shape, Vector(2, I32)),
            zeros(shape, vec(2, scalar), grad=True),
            zeros(shape, vec(3, scalar), grad=True),
            zeros(shape, scalar, grad=True),
            zeros(shape, scalar, grad=True),
            zeros(shape, element, grad=True),
        )


class Drawer(Protocol):
    """A renderer of images of a size [pixels]."""

    width: int
    height: int


def coloured(drawer: Drawer, gaussians: Any, cameras: Cameras) -> Field:
    """Return the field of gaussians whose elements have the type of colours.

    Raises:
        FieldError: The cameras see images of another size, or have another precision.
    """
    if (cameras.width, cameras.height) != (drawer.width, drawer.height):
        raise FieldError(f"{drawer!r} cannot draw for {cameras!r}; make both of one size.")
    ours, theirs = scalar_of(cameras.twist.element), scalar_of(gaussians.means.element)
    if ours != theirs:
        raise FieldError(
            f"{drawer!r}: the cameras are in {ours}, and the gaussians in {theirs}; make both with "
            "one dtype."
        )
    features = getattr(gaussians, "features", None)
    return gaussians.sh0 if features is None else features


@final
class Splatter:
    """Draws gaussians as cameras see them.

    `splatter(gaussians, cameras)` projects them, finds their colours, sorts them into tiles and
    blends them front to back. An open tape records all of it: gradients reach all fields of the
    gaussians, the poses and intrinsics of the cameras, and the background. The image does not
    depend on the size of the tiles.

    Args:
        width: The width of the images [pixels].
        height: The height of the images [pixels].
        sh_degree: The last band of harmonics that is used, 0 to 3; may be changed between calls.
        antialiased: Lower the opacity of small gaussians by as much as `eps2d` adds to their area.
        near: The least depth that is drawn [scene units].
        far: The largest depth that is drawn [scene units].
        eps2d: A variance added on the image plane [pixels^2].
        tile: The side of a tile [pixels].
        background: The colour of the background, a number, one for each channel, or a field of
            shape (), which may have a gradient; None for black.
        depth: Render depths as well.
        absgrad: Add up `means2d_absgrad` as well.

    Raises:
        LaunchError: An option is out of range.
    """

    @boundary
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
            raise LaunchError(
                f"Splatter: no depths in front of the camera are between near={near} and far={far}."
            )
        self.width, self.height, self.tile = width, height, tile
        self.sh_degree, self.antialiased = sh_degree, antialiased
        self.near, self.far, self.eps2d = near, far, eps2d
        self.background, self.depth, self.absgrad = background, depth, absgrad
        self._plane: _Plane | None = None
        self._blending: _Blending | None = None

    def __repr__(self) -> str:
        return f"<Splatter of {self.width}x{self.height} pixels>"

    def __call__(self, gaussians: Any, cameras: Cameras, out: Rendering | None = None) -> Rendering:
        """Render gaussians.

        Args:
            gaussians: Has the fields `means`, `scales`, `quaternions`, `opacities`, and either
                `sh0` and `shN` or `features`; see `make_gaussians`.
            cameras: The cameras.
            out: The result of another call with as many cameras, to draw into.

        Returns:
            The images: `out`, or new fields with gradients.

        Raises:
            FieldError: The fields do not fit one another, or the cameras the images.
        """
        return self.blend(self.project(gaussians, cameras), out)

    def project(self, gaussians: Any, cameras: Cameras, out: Projected | None = None) -> Projected:
        """Return gaussians as the cameras see them; the first half of a call.

        Args:
            gaussians: The gaussians; see `__call__`.
            cameras: The cameras.
            out: Fields for as many gaussians and cameras, to write into.

        Returns:
            `out`, or fields that the next call writes again.

        Raises:
            FieldError: The fields do not fit one another, or the cameras the images.
        """
        colours = coloured(self, gaussians, cameras)
        plane = self._plane_for(cameras, colours)
        plane.poses.set(cameras)
        degree = last_band(gaussians, self.sh_degree, self)
        features = None if colours is getattr(gaussians, "sh0", None) else colours
        shown = plane.latest = out or plane.shown
        see(
            gaussians.means,
            gaussians.scales,
            gaussians.quaternions,
            gaussians.opacities,
            None if features is not None else gaussians.sh0,
            None if features is not None or not degree else gaussians.shN,
            features,
            plane.poses.rotation,
            plane.poses.translation,
            plane.poses.place,
            plane.poses.intrinsics,
            self.width,
            self.height,
            self.near,
            self.far,
            self.eps2d,
            self.antialiased,
            degree,
            cameras.may_vary,
            len(cameras) == 1,
            current_session().warps,
            shown.radii,
            plane.moved,
            shown.centres,
            shown.conics,
            shown.opacities,
            shown.depths,
            shown.colours,
        )
        return shown

    def blend(self, shown: Projected, out: Rendering | None = None) -> Rendering:
        """Blend projected gaussians front to back; the second half of a call.

        Args:
            shown: The gaussians on the image planes of the cameras, from `project`.
            out: The result of another call with as many cameras, to draw into.

        Returns:
            The images: `out`, or new fields with gradients.
        """
        cameras, element = len(shown.colours), shown.colours.element
        stage = self._blending_for(shown)
        ellipses = shown.conics, shown.opacities
        stage.lists.build(shown.centres, shown.radii, shown.depths, *ellipses)
        made = out or Rendering.zeros(self, cameras, element, depth=self.depth, grad=True)
        composite(
            shown.centres,
            shown.conics,
            shown.opacities,
            shown.colours,
            None if made.depth is None else shown.depths,
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

        The reverse of a tape adds them up over the calls on it. A call with another number of
        cameras or gaussians, or with cameras that have gradients after some that have none, makes
        new fields.
        """
        return self._drawn(self._plane).moved.grad

    @property
    def means2d_absgrad(self) -> Field:
        """The sums over pixels of the absolute values of `means2d_grad`; with `absgrad=True`."""
        absolute = self._drawn(self._blending).absolute
        if absolute is None:
            raise LaunchError(
                f"{self!r} has no absolute gradients. Make it with Splatter(absgrad=True)."
            )
        return absolute.grad

    @property
    def radii(self) -> Field:
        """Half the boxes of the gaussians on the image plane in the latest call, 0 if culled.

        Shape (cameras, n) of vec2 of integers [pixels].
        """
        return self._drawn(self._plane).latest.radii

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_plane": None, "_blending": None}

    def _drawn(self, fields: _Fields | None) -> _Fields:
        if fields is None:
            raise LaunchError(f"{self!r} has not drawn yet. Call it first.")
        return fields

    def _plane_for(self, cameras: Cameras, colours: Field) -> _Plane:
        wanted = (len(cameras), len(colours), colours.element, cameras.may_vary)
        if self._plane is None or self._plane.made_for != wanted:
            with scratch():
                self._plane = _Plane(*wanted)
        return self._plane

    def _blending_for(self, shown: Projected) -> _Blending:
        cameras, count = shown.colours.shape
        wanted = (cameras, count if self.absgrad else 0, shown.colours.element)
        if self._blending is None or self._blending.made_for != wanted:
            with scratch():
                self._blending = _Blending(*wanted, self)
        return self._blending


@final
class _Plane:
    """The fields of a projection.

    Args:
        cameras: The number of cameras.
        count: The number of gaussians.
        element: The type of a colour.
        posed: Whether poses or intrinsics have gradients.
    """

    def __init__(self, cameras: int, count: int, element: Type, posed: bool) -> None:
        self.made_for = (cameras, count, element, posed)
        scalar = scalar_of(element)
        self.poses = Poses(cameras, scalar, posed)
        self.moved = zeros((cameras, count), vec(2, scalar), grad=True)
        self.latest: Projected

    @cached_property
    def shown(self) -> Projected:
        """Gaussians on the planes, for calls that have no fields of their own."""
        with scratch():
            return Projected.zeros(*self.made_for[:3])


@final
class _Blending:
    """The fields besides images.

    Args:
        cameras: The number of cameras.
        count: The number of gaussians, which counts with absolute gradients only.
        element: The type of a colour.
        splatter: The splatter with the options.
    """

    def __init__(self, cameras: int, count: int, element: Type, splatter: Splatter) -> None:
        self.made_for = (cameras, count, element)
        scalar = scalar_of(element)
        shape = cameras, count
        self.absolute = zeros(shape, vec(2, scalar), grad=True) if splatter.absgrad else None
        self.lists = TileLists(splatter.width, splatter.height, splatter.tile, cameras)
        pixels = (cameras, splatter.height, splatter.width)
        self.light = zeros(pixels, scalar, grad=True)
        self.last = zeros(pixels, I32)
        colour = splatter.background
        if colour is not None and not isinstance(colour, Field):
            colour = full((), colour, element)
        self.background = colour


_Fields = TypeVar("_Fields", _Plane, _Blending)
