"""The views of a run: their cameras, pictures and splatters."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.substrate import current_session
from difftile.training.corrections import Corrections
from difftile.training.masks import Masks, Picture, cut

# Bytes of pictures that stay in memory of the host, or of a device; others are read each time.
_KEPT = {True: 2**31, False: 2**32}
_READERS = 4  # threads that read pictures ahead


@dt.kernel
def _choose(given, k: ti.i32, chosen):
    for _ in range(1):
        for n in ti.static(range(len(given))):
            chosen[n][0] = given[n][k]


@final
class Easel:
    """Shows views of one size, one at a time: a splatter, a camera, an image and a picture.

    Steps that draw different views launch on the same fields, so that launches repeat.

    Args:
        splatter: Draws images of the size.
        cameras: The cameras of all views of the size.
        corrections: The corrections of all views.
        weighs: Whether pixels of the picture are weighed by a mask.
    """

    def __init__(
        self,
        splatter: dt.render.Splatter,
        cameras: dt.render.Cameras,
        corrections: Corrections,
        weighs: bool,
    ) -> None:
        self.splatter = splatter
        self._weighs = weighs
        dtype = self._dtype = cameras.twist.numpy_dtype
        self.view = -1
        self._cameras, self._corrections = cameras, corrections
        width, height, lens = splatter.width, splatter.height, cameras.intrinsics.to_numpy()[:1]
        posed = corrections.poses is not None
        self._camera = dt.render.Cameras(
            np.eye(4)[None], lens, width, height, dtype=dtype, grad=posed
        )
        self._place = 0
        self._error = dt.zeros((), ti.f64)

    # Ranks that do not draw here make no images.

    @cached_property
    def target(self) -> dt.Field:
        """The picture, shape (1, height, width)."""
        return dt.zeros((1, self.splatter.height, self.splatter.width), dt.vec(3, self._dtype))

    @cached_property
    def mask(self) -> dt.Field | None:
        """How much the pixels of `target` count, shape (1, height, width); None if all do."""
        return dt.zeros(self.target.shape, self._dtype) if self._weighs else None

    @cached_property
    def rendering(self) -> dt.render.Rendering:
        """The latest image."""
        splatter = self.splatter
        return dt.render.Rendering.zeros(
            splatter, 1, (3, self._dtype), depth=splatter.depth, grad=True
        )

    @cached_property
    def _exposed(self) -> dt.Field:
        return dt.zeros(self.target.shape, self.target.element, grad=True)

    @cached_property
    def _cut(self) -> tuple[dt.Field, dt.Field]:
        shape, element = self.target.shape, self.target.element
        return dt.zeros(shape, element, grad=True), dt.zeros(shape, element)

    def counted(self, image: dt.Field) -> tuple[dt.Field, dt.Field]:
        """Return an image and `target`, both 0 where pixels do not count, by recorded launches."""
        if self.mask is None:
            return image, self.target
        for given, out in zip((image, self.target), self._cut, strict=True):
            cut(given, self.mask, out)
        return self._cut

    def show(self, view: int, place: int) -> None:
        """Turn to a view.

        Args:
            view: The view.
            place: Its place among the views of the size.
        """
        self.view, self._place = view, place

    def project(
        self, gaussians: dt.Rows, out: dt.render.Projected | None = None
    ) -> dt.render.Projected:
        """Return gaussians as the view shows them, by launches that tapes record.

        Args:
            gaussians: The gaussians.
            out: See `Splatter.project`.
        """
        _choose(_parts(self._cameras), self._place, _parts(self._camera))
        self._corrections.pose(self.view, self._camera.twist)
        return self.splatter.project(gaussians, self._camera, out)

    def blend(self, shown: dt.render.Projected) -> dt.Field:
        """Draw projected gaussians, by launches that tapes record.

        Returns:
            The image, shape (1, height, width); the next call draws into the same field.
        """
        return self.splatter.blend(shown, self.rendering).image

    def expose(self, image: dt.Field, loss: dt.Field, share: float) -> dt.Field:
        """Return an image that `blend` returned with the exposure of the view.

        Args:
            image: The image.
            loss: The loss, shape (); see `Corrections.expose`.
            share: The weight of the view in the loss.
        """
        return self._corrections.expose(self.view, image, self._exposed, loss, share)

    def psnr(self) -> float:
        """Return the PSNR of the latest image [dB], with the exposure of its view if one was used.

        The image is compared with the contents of `target`, where these count.
        """
        exposed = self._corrections.exposures is not None
        drawn = self._exposed if exposed else self.rendering.image
        self._error.fill(0.0)
        dt.render.l2(drawn.detach(), self.target, self._error, mask=self.mask)
        return dt.render.decibels(float(self._error[None]))


@final
class _Size:
    """All views of one size, and easels for as many of them as steps draw at once.

    Args:
        make: Returns a splatter of the size.
        views: The views.
        corrections: The corrections of all views.
        weighs: Whether pixels of the pictures are weighed by masks.
        dtype: The type of the numbers.
    """

    def __init__(
        self,
        make: Callable[[], dt.render.Splatter],
        views: Sequence[dt.datasets.View],
        corrections: Corrections,
        weighs: bool,
        dtype: Any,
    ) -> None:
        self._make, self._corrections, self._weighs = make, corrections, weighs
        poses = np.stack([view.world_to_camera for view in views])
        lenses = np.stack([view.intrinsics for view in views])
        self._cameras = dt.render.Cameras(
            poses, lenses, views[0].width, views[0].height, dtype=dtype
        )
        self._easels: list[Easel] = []

    def easel(self, number: int) -> Easel:
        """Return one of the easels, from 0 on."""
        while len(self._easels) <= number:
            easel = Easel(self._make(), self._cameras, self._corrections, self._weighs)
            self._easels.append(easel)
        return self._easels[number]


def _parts(cameras: dt.render.Cameras) -> tuple[Any, ...]:
    return cameras.rotation, cameras.translation, cameras.twist, cameras.intrinsics


@final
class Studio:
    """Draws gaussians as views show them, and provides the pictures of the views.

    Pictures are read once, with their masks, by threads that read ahead, and stay in memory: of the
    device, if there is one.

    Args:
        views: The views, of any sizes.
        make: Makes a splatter for images of a width and a height.
        corrections: The corrections of the views.
        masks: The masks of the views.
        dtype: The type of the numbers.
    """

    def __init__(
        self,
        views: Sequence[dt.datasets.View],
        make: Callable[[int, int], dt.render.Splatter],
        corrections: Corrections,
        masks: Masks,
        dtype: Any = ti.f32,
    ) -> None:
        self.views = views
        self.corrections = corrections
        self._masks = masks
        self._on_host = current_session().on_host
        self._room = _KEPT[self._on_host]
        self._pictures: dict[int, Picture] = {}  # in memory of the host
        self._fields: dict[int, tuple[dt.Field, dt.Field | None]] = {}  # in memory of the device
        self._coming: dict[int, Future[Picture]] = {}
        self._readers: ThreadPoolExecutor | None = None
        self._place: dict[int, tuple[_Size, int]] = {}
        sizes: dict[tuple[int, int], list[int]] = {}
        for k, view in enumerate(views):
            sizes.setdefault((view.width, view.height), []).append(k)
        for (width, height), members in sizes.items():
            shown = [views[k] for k in members]
            size = _Size(partial(make, width, height), shown, corrections, masks.weighs, dtype)
            for place, k in enumerate(members):
                self._place[k] = size, place

    def __len__(self) -> int:
        return len(self.views)

    def easels(self, *which: int) -> list[Easel]:
        """Return an easel for each of some views; the next call turns them to others."""
        taken: Counter[_Size] = Counter()
        easels: list[Easel] = []
        for k in which:
            size, place = self._place[k]
            easel = size.easel(taken[size])
            taken[size] += 1
            easel.show(k, place)
            easels.append(easel)
        return easels

    # Pictures

    def expect(self, k: int) -> None:
        """Read the picture of a view in another thread, unless it is in memory."""
        if k in self._pictures or k in self._fields or k in self._coming:
            return
        if self._readers is None:
            self._readers = ThreadPoolExecutor(min(_READERS, os.cpu_count() or 1))
        self._coming[k] = self._readers.submit(self._masks.read, self.views[k])

    def hang(self, easel: Easel) -> dt.Field:
        """Copy the picture of an easel's view to its `target`, and its mask; return `target`."""
        k, target, mask = easel.view, easel.target, easel.mask
        if k in self._fields:
            colours, weights = self._fields[k]
            target.copy_from(colours)
            if mask is not None and weights is not None:
                mask.copy_from(weights)
            return target
        picture = self.picture(k)
        target.from_numpy(picture.colours[None])
        if mask is not None and picture.mask is not None:
            mask.from_numpy(picture.mask[None])
        if not self._on_host and self._takes(picture):
            weights = None
            if mask is not None and picture.mask is not None:
                weights = dt.from_numpy(picture.mask[None], mask.element)
            self._fields[k] = dt.from_numpy(picture.colours[None], target.element), weights
        return target

    def picture(self, k: int) -> Picture:
        """Return the picture of a view.

        Raises:
            DatasetError: A file cannot be read, its size has changed, or no pixel counts.
        """
        if k in self._pictures:
            return self._pictures[k]
        coming = self._coming.pop(k, None)
        picture = self._masks.read(self.views[k]) if coming is None else coming.result()
        if self._on_host and self._takes(picture):
            self._pictures[k] = picture
        return picture

    def _takes(self, picture: Picture) -> bool:
        """Return whether there is room for a picture, and take that much of it."""
        if picture.nbytes > self._room:
            return False
        self._room -= picture.nbytes
        return True
