"""The views of a run: their cameras, pictures and splatters."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.datasets.dataset import View
from difftile.fields.create import from_numpy, vec, zeros
from difftile.fields.field import Field
from difftile.fields.rows import Rows
from difftile.render.cameras import Cameras
from difftile.render.losses import l2
from difftile.render.metrics import decibels
from difftile.render.splatter import Rendering, Splatter
from difftile.runtime.kernel import kernel
from difftile.substrate import current_session
from difftile.training.corrections import Corrections

# Bytes of pictures that stay in memory of the host, or of a device; others are read each time.
_KEPT = {True: 2**31, False: 2**32}
_READERS = 4  # threads that read pictures ahead
_Picture: TypeAlias = npt.NDArray[np.float32]


@kernel
def _choose(given, k: ti.i32, chosen):
    for _ in range(1):
        for n in ti.static(range(len(given))):
            chosen[n][0] = given[n][k]


@final
class _Size:
    """All views of one size: their splatter and cameras, and fields for one picture and one image.

    Steps that draw different views launch on the same fields, so that launches repeat.

    Args:
        splatter: Draws images of the size.
        views: The views.
        posed: Whether poses have gradients.
    """

    def __init__(self, splatter: Splatter, views: Sequence[View], posed: bool) -> None:
        self.splatter = splatter
        poses = np.stack([view.world_to_camera for view in views])
        lenses = np.stack([view.intrinsics for view in views])
        width, height = splatter.width, splatter.height
        self.cameras = Cameras(poses, lenses, width, height, dtype=ti.f32)
        self.camera = Cameras(poses[:1], lenses[:1], width, height, dtype=ti.f32, grad=posed)
        self.target = zeros((1, height, width), vec(3, ti.f32))
        self.rendering = Rendering.zeros(
            splatter, 1, self.target.element, depth=splatter.depth, grad=True
        )
        self.exposed = zeros(self.target.shape, self.target.element, grad=True)
        self.error = zeros((), ti.f64)

    def choose(self, place: int) -> Cameras:
        """Return the camera of a view without a twist; the next call changes it."""
        _choose(_parts(self.cameras), place, _parts(self.camera))
        return self.camera


def _parts(cameras: Cameras) -> tuple[Any, ...]:
    return cameras.rotation, cameras.translation, cameras.twist, cameras.intrinsics


@final
class Studio:
    """Draws gaussians as views show them, and provides the pictures of the views.

    Pictures are read once, by threads that read ahead, and stay in memory: of the device, if there
    is one.

    Args:
        views: The views, of any sizes.
        make: Makes a splatter for images of a width and a height.
        corrections: Those of the views.
    """

    def __init__(
        self,
        views: Sequence[View],
        make: Callable[[int, int], Splatter],
        corrections: Corrections,
    ) -> None:
        self.views = views
        self.corrections = corrections
        posed = corrections.poses is not None
        self._on_host = current_session().on_host
        self._room = _KEPT[self._on_host]
        self._pictures: dict[int, _Picture] = {}  # in memory of the host
        self._fields: dict[int, Field] = {}  # in memory of the device
        self._coming: dict[int, Future[_Picture]] = {}
        self._readers: ThreadPoolExecutor | None = None
        self._place: dict[int, tuple[_Size, int]] = {}
        sizes: dict[tuple[int, int], list[int]] = {}
        for k, view in enumerate(views):
            sizes.setdefault((view.width, view.height), []).append(k)
        for (width, height), members in sizes.items():
            size = _Size(make(width, height), [views[k] for k in members], posed)
            for place, k in enumerate(members):
                self._place[k] = size, place

    def __len__(self) -> int:
        return len(self.views)

    def splatter(self, k: int) -> Splatter:
        """Return the splatter of a view."""
        return self._place[k][0].splatter

    def draw(self, k: int, gaussians: Rows) -> Field:
        """Draw gaussians as a view shows them, by launches that tapes record.

        Returns:
            The image, shape (1, height, width); the next call for a view of the same size draws
            into the same field.
        """
        size, place = self._place[k]
        camera = size.choose(place)
        self.corrections.pose(k, camera.twist)
        return size.splatter(gaussians, camera, size.rendering).image

    def rendering(self, k: int) -> Rendering:
        """Return the fields that `draw` draws into for a view."""
        return self._place[k][0].rendering

    def expose(self, k: int, image: Field, loss: Field) -> Field:
        """Return an image that `draw` returned with the exposure of its view."""
        return self.corrections.expose(k, image, self._place[k][0].exposed, loss)

    def psnr(self, k: int) -> float:
        """Return the PSNR of the image that was drawn last in the size of a view [dB].

        The image has the exposure of the view if one was applied. The picture is the one that
        `target` returned last in that size.
        """
        size, _ = self._place[k]
        drawn = size.rendering.image if self.corrections.exposures is None else size.exposed
        size.error.fill(0.0)
        l2(drawn.detach(), size.target, size.error)
        return decibels(float(size.error[None]))

    # Pictures

    def expect(self, k: int) -> None:
        """Read the picture of a view in another thread, unless it is in memory."""
        if k in self._pictures or k in self._fields or k in self._coming:
            return
        if self._readers is None:
            self._readers = ThreadPoolExecutor(min(_READERS, os.cpu_count() or 1))
        self._coming[k] = self._readers.submit(self.views[k].image)

    def target(self, k: int) -> Field:
        """Return the picture of a view, shape (1, height, width); the next call changes it."""
        target = self._place[k][0].target
        if k in self._fields:
            target.copy_from(self._fields[k])
            return target
        picture = self.picture(k)
        target.from_numpy(picture[None])
        if not self._on_host and self._takes(picture):
            self._fields[k] = from_numpy(picture[None], target.element)
        return target

    def picture(self, k: int) -> npt.NDArray[Any]:
        """Return the picture of a view, shape (height, width, 3).

        Raises:
            DatasetError: The file cannot be read, or its size has changed.
        """
        if k in self._pictures:
            return self._pictures[k]
        coming = self._coming.pop(k, None)
        picture = self.views[k].image() if coming is None else coming.result()
        if self._on_host and self._takes(picture):
            self._pictures[k] = picture
        return picture

    def _takes(self, picture: _Picture) -> bool:
        """Return whether there is room for a picture, and take that much of it."""
        if picture.nbytes > self._room:
            return False
        self._room -= picture.nbytes
        return True
