"""`Splatter`: images of gaussians, by a few launches that tapes record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar, final

import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, LaunchError
from difftile.render.cameras import FISHEYE, PINHOLE, Cameras, Poses
from difftile.render.checks import check_background, check_range, check_size
from difftile.render.compositing import composite
from difftile.render.harmonics import MAX_DEGREE, last_band
from difftile.render.native_compositing import has_warps
from difftile.render.projected_view import see
from difftile.render.tiles import TileLists
from difftile.tracebacks import boundary

Colour: TypeAlias = tuple[int, Any]
"""The number of channels of colours, and the type of their numbers: (3, np.float32)."""


def colour_of(colours: dt.ArrayLike) -> Colour:
    """Return the type of the colours in a field of vectors."""
    return colours.element_shape[0], colours.numpy_dtype


@dataclass(frozen=True, slots=True)
class Rendering:
    """The images of cameras.

    Args:
        image: Colours, shape (cameras, height, width) of vectors.
        alpha: Coverage, in 0..1, shape (cameras, height, width).
        depth: The expected depth [scene units], of the same shape; None if not requested.
    """

    image: dt.Field
    alpha: dt.Field
    depth: dt.Field | None

    @classmethod
    def zeros(
        cls, drawer: Drawer, cameras: int, colour: Colour, *, depth: bool, grad: bool
    ) -> Rendering:
        """Return images to draw into, black and empty.

        Args:
            drawer: The splatter, with the size of images.
            cameras: The number of images.
            colour: The number of channels, and the type of the numbers: (3, np.float32).
            depth: Have depths.
            grad: Give the fields gradients.
        """
        shape, (_, number) = (cameras, drawer.height, drawer.width), colour
        image = dt.zeros(shape, dt.vec(*colour), grad=grad)
        z = dt.zeros(shape, number, grad=grad) if depth else None
        return cls(image, dt.zeros(shape, number, grad=grad), z)


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

    radii: dt.Field
    centres: dt.Field
    conics: dt.Field
    opacities: dt.Field
    depths: dt.Field
    colours: dt.Field

    @classmethod
    def zeros(cls, cameras: int, count: int, colour: Colour) -> Projected:
        """Return invisible gaussians, in fields with gradients.

        Args:
            cameras: The number of cameras.
            count: The number of gaussians.
            colour: The number of channels of colours, and the type of their numbers.
        """
        shape, (_, number) = (cameras, count), colour
        return cls(
            dt.zeros(shape, dt.vec(2, ti.i32)),
            dt.zeros(shape, dt.vec(2, number), grad=True),
            dt.zeros(shape, dt.vec(3, number), grad=True),
            dt.zeros(shape, number, grad=True),
            dt.zeros(shape, number, grad=True),
            dt.zeros(shape, dt.vec(*colour), grad=True),
        )


class Drawer(Protocol):
    """A renderer of images of a size [pixels], for cameras of some models."""

    width: int
    height: int
    models: tuple[str, ...]


def coloured(drawer: Drawer, gaussians: Any, cameras: Cameras) -> dt.Field:
    """Return the field of gaussians whose elements have the type of colours.

    Raises:
        FieldError: The cameras see images of another size, are of a model that the renderer does
            not draw, or have another precision.
    """
    if cameras.model not in drawer.models:
        raise FieldError(f"{drawer!r} draws for a {' or '.join(drawer.models)}, not {cameras!r}.")
    if (cameras.width, cameras.height) != (drawer.width, drawer.height):
        raise FieldError(f"{drawer!r} cannot draw for {cameras!r}; make both of one size.")
    seen, given = cameras.twist, gaussians.means
    if seen.numpy_dtype != given.numpy_dtype:
        raise FieldError(
            f"{drawer!r}: the cameras are in {seen.dtype.dtype}, and the gaussians in "
            f"{given.dtype.dtype}; make both with one dtype."
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

    models = (PINHOLE, FISHEYE)

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
        background: npt.ArrayLike | dt.Field | None = None,
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
            has_warps(),
            cameras.model == FISHEYE,
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
        stage = self._blending_for(shown)
        ellipses = shown.conics, shown.opacities
        stage.lists.build(shown.centres, shown.radii, shown.depths, *ellipses)
        made = out or Rendering.zeros(
            self, len(shown.colours), colour_of(shown.colours), depth=self.depth, grad=True
        )
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
            has_warps(),
        )
        return made

    # Gradients on the image plane

    @property
    def means2d_grad(self) -> dt.Field:
        """The gradients of centres on the image plane, shape (cameras, n) of vec2 [1/pixels].

        The reverse of a tape adds them up over the calls on it. A call with another number of
        cameras or gaussians, or with cameras that have gradients after some that have none, makes
        new fields.
        """
        return self._drawn(self._plane).moved.grad

    @property
    def means2d_absgrad(self) -> dt.Field:
        """The sums over pixels of the absolute values of `means2d_grad`; with `absgrad=True`."""
        absolute = self._drawn(self._blending).absolute
        if absolute is None:
            raise LaunchError(
                f"{self!r} has no absolute gradients. Make it with Splatter(absgrad=True)."
            )
        return absolute.grad

    @property
    def radii(self) -> dt.Field:
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

    def _plane_for(self, cameras: Cameras, colours: dt.Field) -> _Plane:
        wanted = (len(cameras), len(colours), colour_of(colours), cameras.may_vary)
        if self._plane is None or self._plane.made_for != wanted:
            with dt.scratch():
                self._plane = _Plane(*wanted)
        return self._plane

    def _blending_for(self, shown: Projected) -> _Blending:
        cameras, count = shown.colours.shape
        wanted = (cameras, count if self.absgrad else 0, colour_of(shown.colours))
        if self._blending is None or self._blending.made_for != wanted:
            with dt.scratch():
                self._blending = _Blending(*wanted, self)
        return self._blending


@final
class _Plane:
    """The fields of a projection.

    Args:
        cameras: The number of cameras.
        count: The number of gaussians.
        colour: The type of a colour.
        posed: Whether poses or intrinsics have gradients.
    """

    def __init__(self, cameras: int, count: int, colour: Colour, posed: bool) -> None:
        self.made_for = (cameras, count, colour, posed)
        _, number = colour
        self.poses = Poses(cameras, number, posed)
        self.moved = dt.zeros((cameras, count), dt.vec(2, number), grad=True)
        self.latest: Projected

    @cached_property
    def shown(self) -> Projected:
        """Gaussians on the planes, for calls that have no fields of their own."""
        with dt.scratch():
            return Projected.zeros(*self.made_for[:3])


@final
class _Blending:
    """The fields besides images.

    Args:
        cameras: The number of cameras.
        count: The number of gaussians, which counts with absolute gradients only.
        colour: The type of a colour.
        splatter: The splatter with the options.
    """

    def __init__(self, cameras: int, count: int, colour: Colour, splatter: Splatter) -> None:
        self.made_for = (cameras, count, colour)
        _, number = colour
        shape = cameras, count
        self.absolute = dt.zeros(shape, dt.vec(2, number), grad=True) if splatter.absgrad else None
        self.lists = TileLists(splatter.width, splatter.height, splatter.tile, cameras)
        pixels = (cameras, splatter.height, splatter.width)
        self.light = dt.zeros(pixels, number, grad=True)
        self.last = dt.zeros(pixels, ti.i32)
        background = splatter.background
        if background is not None and not isinstance(background, dt.Field):
            background = dt.full((), background, dt.vec(*colour))
        self.background = background


_Fields = TypeVar("_Fields", _Plane, _Blending)
