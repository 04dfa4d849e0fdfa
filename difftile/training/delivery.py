"""Projected gaussians on their way to the ranks that draw the images.

Each rank projects the gaussians that it owns, for all images of a step, and sends those that an
image shows to the rank that draws it. As the rows of ranks follow one another in one order, an
image is blended from the same numbers in the same order as in one process; the transfer's adjoint
brings their gradients back to the owners.

Source: the division by gaussians before and by images after the projection is that of Zhao and
others, On Scaling Up 3D Gaussian Splatting Training (Grendel), 2024, and of gsplat.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile.lang as ti
from difftile.compile.language_functions import unique
from difftile.distributed.split_rows import SplitRows
from difftile.distributed.transfer import Part, transfer
from difftile.fields.create import zeros
from difftile.fields.field import Field, scratch
from difftile.fields.recording import RECORDING, Recording
from difftile.ir.types import I32, Type, scalar_of, shape_of
from difftile.prefix_sums import Scan
from difftile.ranks import current
from difftile.ranks.collect import gather
from difftile.recording.opaque import OpaqueStep, Use
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.render.splatter import Projected
from difftile.runtime.kernel import kernel

_BEFORE_COLOURS = 9  # columns: a box, a centre, a conic, an opacity and a depth


@kernel
def _flag(radii, image: ti.i32, places):
    for c, k in radii:
        places[k, image] = 1 if radii[c, k].x > 0 else 0


@kernel
def _pack(
    image: ti.i32,
    places,
    channels: ti.template(),
    radii,
    centres,
    conics,
    opacities,
    depths,
    colours,
    sent,
):
    for c, k in depths:
        if radii[c, k].x > 0:
            at = unique(places[k, image])
            for j in ti.static(range(2)):
                sent[at, j] = radii[c, k][j]
                sent[at, 2 + j] = centres[c, k][j]
            for j in ti.static(range(3)):
                sent[at, 4 + j] = conics[c, k][j]
            sent[at, 7] = opacities[c, k]
            sent[at, 8] = depths[c, k]
            for j in ti.static(range(channels)):
                sent[at, 9 + j] = colours[c, k][j]


@kernel
def _unpack(
    first: ti.i32,
    count: ti.i32,
    channels: ti.template(),
    received,
    radii,
    centres,
    conics,
    opacities,
    depths,
    colours,
):
    for c, k in depths:
        box = ti.Vector([0, 0])
        centre = ti.zero(centres[c, k])
        conic = ti.zero(conics[c, k])
        opacity = 0.0
        depth = 0.0
        colour = ti.zero(colours[c, k])
        if k < count:
            at = first + k
            box = ti.Vector([ti.cast(received[at, 0], ti.i32), ti.cast(received[at, 1], ti.i32)])
            centre = ti.Vector([received[at, 2], received[at, 3]])
            conic = ti.Vector([received[at, 4], received[at, 5], received[at, 6]])
            opacity = received[at, 7]
            depth = received[at, 8]
            for j in ti.static(range(channels)):
                colour[j] = received[at, 9 + j]
        radii[c, k] = box
        centres[c, k] = centre
        conics[c, k] = conic
        opacities[c, k] = opacity
        depths[c, k] = depth
        colours[c, k] = colour


@kernel
def _depend(received, none: float, loss):
    for _ in range(1):
        loss[None] += none * received[0, 0]


def drawer_of(image: int) -> int:
    """Return the rank that draws an image of a step."""
    return image % current().size


@final
class Delivery:
    """Sends projected gaussians to the ranks that draw the images, by steps of the tape."""

    def __init__(self) -> None:
        self._messages: _Messages | None = None
        self._count: _Count | None = None

    def __call__(
        self, gaussians: SplitRows, shown: Sequence[Projected], drawers: Sequence[int], loss: Field
    ) -> list[Projected]:
        """Send gaussians, and return those of all ranks for the images that this rank draws.

        Args:
            gaussians: The gaussians.
            shown: This rank's gaussians as each of the images shows them, shape (1, rows).
            drawers: The rank that draws each of the images.
            loss: The loss of this rank, shape (). It follows from what is received, by a factor of
                0 where no image does, so that gradients travel back from all ranks.

        Returns:
            Fields that a later call writes again, shape (1, rows): the gaussians of all ranks that
            the image shows, in their order, and then some that it does not.
        """
        element = shown[0].colours.element
        counts, places = self._counted([one.radii for one in shown])
        ways = _Ways(counts, tuple(drawers), current().rank)
        messages = self._messages
        if messages is None or not messages.fit(ways, element, gaussians.total):
            with scratch():
                messages = self._messages = _Messages(ways, element, gaussians.total)
        channels = shape_of(element)[0]
        for image, one in enumerate(shown):
            _pack(image, places, channels, *_fields(one), messages.sent)
        what = f"the exchange of gaussians for {len(shown)} images"
        transfer(messages.sent, ways.sends, messages.received, ways.receives, what)
        for (first, stop), one in zip(pairwise(ways.starts), messages.shown, strict=True):
            _unpack(first, stop - first, channels, messages.received, *_fields(one))
        if not messages.shown:
            _depend(messages.received, 0.0, loss)
        return messages.shown

    def _counted(self, radii: Sequence[Field]) -> tuple[npt.NDArray[np.int64], Field]:
        """Return how many gaussians each rank has in each image, and the places of this rank's."""
        step = self._count
        if step is None or not step.fits(radii):
            with scratch():
                step = self._count = _Count(radii)
        return perform(step), step.places


@final
class _Count(OpaqueStep):
    """Counts the gaussians that images show, on all ranks, and gives this rank's their places.

    Args:
        radii: Half the boxes on each image, shape (1, rows).
    """

    is_contained = True
    communicates = True

    def __init__(self, radii: Sequence[Field]) -> None:
        self._radii = tuple(radii)
        self._scan = Scan()
        self.places = zeros((radii[0].shape[1], len(radii)), I32)
        uses = [Use(one, True, False) for one in self._radii]
        super().__init__("places of gaussians", [*uses, Use(self.places, False, True)])

    def fits(self, radii: Sequence[Field]) -> bool:
        """Tell whether this is the step for some fields."""
        return len(radii) == len(self._radii) and all(
            one is other for one, other in zip(radii, self._radii, strict=True)
        )

    def run(self) -> npt.NDArray[np.int64]:
        """Return the counts, shape (ranks, images)."""
        recording = RECORDING.get()
        if recording.recorder is None:
            return self._counts()
        with Recording(observer=recording.observer):
            return self._counts()

    def _counts(self) -> npt.NDArray[np.int64]:
        rows, images = self.places.shape
        own = np.zeros(images)
        if rows:
            for image, radii in enumerate(self._radii):
                _flag(radii, image, self.places)
            self._scan(self.places, rows, images)
            own = np.diff(self.places[0].to_numpy(), append=self._scan.total)
        return gather(own, "the count of gaussians in images").astype(np.int64)

    def reverse(self, then: ReverseContext, saved: object) -> None:
        """Let no gradient pass: places are integers."""


@final
class _Ways:
    """Where the messages of a step start, and where they go.

    Args:
        counts: How many gaussians each rank has in each image, shape (ranks, images).
        drawers: The rank that draws each image.
        rank: This rank.

    Attributes:
        starts: The first received row of each image that this rank draws, and the end.
    """

    def __init__(self, counts: npt.NDArray[np.int64], drawers: tuple[int, ...], rank: int) -> None:
        ends = [0, *np.cumsum(counts[rank]).tolist()]
        self.sends = [
            Part(drawer, *ends[image : image + 2]) for image, drawer in enumerate(drawers)
        ]
        self.sent = ends[-1]
        mine = [image for image, drawer in enumerate(drawers) if drawer == rank]
        ends = [0, *np.cumsum(counts[:, mine].T).tolist()]
        self.receives = [
            Part(place % len(counts), *stretch) for place, stretch in enumerate(pairwise(ends))
        ]
        self.starts = ends[:: len(counts)]


@final
class _Messages:
    """The fields of messages, with room for some more rows than there are.

    Args:
        ways: The messages of a step.
        element: The type of a colour.
        total: The number of gaussians of all ranks.
    """

    def __init__(self, ways: _Ways, element: Type, total: int) -> None:
        self._made_for = element, total
        wide, scalar = _BEFORE_COLOURS + shape_of(element)[0], scalar_of(element)
        self.sent = zeros((_roomy(ways.sent), wide), scalar, grad=True)
        self.received = zeros((_roomy(ways.starts[-1]), wide), scalar, grad=True)
        self.shown = [
            Projected.zeros(1, min(_roomy(stop - start), max(total, 1)), element)
            for start, stop in pairwise(ways.starts)
        ]

    def fit(self, ways: _Ways, element: Type, total: int) -> bool:
        """Tell whether messages have room here."""
        return (
            self._made_for == (element, total)
            and len(self.shown) == len(ways.starts) - 1
            and ways.sent <= len(self.sent)
            and ways.starts[-1] <= len(self.received)
            and all(
                stop - start <= one.radii.shape[1]
                for (start, stop), one in zip(pairwise(ways.starts), self.shown, strict=True)
            )
        )


def _roomy(rows: int) -> int:
    return max(rows + rows // 4, 1)


def _fields(shown: Projected) -> tuple[Any, ...]:
    return (
        shown.radii,
        shown.centres,
        shown.conics,
        shown.opacities,
        shown.depths,
        shown.colours,
    )
