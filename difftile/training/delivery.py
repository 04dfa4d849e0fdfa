"""dt.render.Projected gaussians on their way to the ranks that draw the images.

Each rank projects the gaussians that it owns, for all images of a step, and sends what an
image shows to the rank that draws it. As the rows of ranks follow one another in one order, an
image is blended from the same numbers in the same order as in one process; the way back brings
their gradients to the owners.

Images take turns, so that a rank holds its projection for one of them: in each turn every rank
projects for another rank, and sends to it what it draws from, as in a round dance. A first
projection tells all ranks how many gaussians they have to expect, and where each message starts.

Source: the division by gaussians before and by images after the projection follows Zhao and
others, On Scaling Up 3D Gaussian Splatting Training (Grendel), 2024, and of gsplat.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import TapeError
from difftile.distributed.messaging import Part, Posted
from difftile.fields.recording import RECORDING, Recording
from difftile.fields.storage import Storage
from difftile.prefix_sums import Scan
from difftile.ranks import current
from difftile.ranks.collect import gather
from difftile.recording.opaque import OpaqueRecord, OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.substrate import Buffer, current_session

Projection: TypeAlias = Callable[[dt.render.Projected], dt.render.Projected]
"""Writes this rank's gaussians as an image shows them, by launches that tapes record."""


@dt.kernel
def _count(radii, image: ti.i32, counts):
    for c, k in radii:
        if radii[c, k].x > 0:
            counts[image] += 1


@dt.kernel
def _flag(radii, places):
    for c, k in radii:
        places[k, 0] = 1 if radii[c, k].x > 0 else 0


@dt.kernel
def _pack(given, places, sent):
    for c, k in given[0]:
        if given[0][c, k].x > 0:
            at = dt.unique(places[k, 0])
            for n in ti.static(range(len(given))):
                sent[n][c, at] = given[n][c, k]


@dt.kernel
def _add(radii, places, returned, gradients):
    for c, k in radii:
        if radii[c, k].x > 0:
            for n in ti.static(range(len(gradients))):
                gradients[n][c, k] += returned[n][c, places[k, 0]]


@dt.kernel
def _end(radii, count: ti.i32):
    for c, k in radii:
        if k >= count:
            radii[c, k] = ti.Vector([0, 0])


def drawer_of(image: int) -> int:
    """Return the rank that draws an image of a step."""
    return image % current().size


@final
class Delivery:
    """Sends projected gaussians to the ranks that draw the images, by steps of the tape."""

    def __init__(self) -> None:
        self._own: _Own | None = None
        self._arrived: list[dt.render.Projected] = []  # an image each
        self._outgrown = False  # in the latest call

    def __call__(
        self,
        gaussians: dt.distributed.SplitRows,
        projections: Sequence[Projection],
        drawers: Sequence[int],
        loss: dt.Field,
    ) -> list[dt.render.Projected]:
        """Project gaussians; return the gaussians of all ranks for the images that this rank draws.

        Args:
            gaussians: The gaussians.
            projections: The projection for each of the images.
            drawers: The rank that draws each of the images.
            loss: The loss of this rank, shape (). It counts as a result of what arrives, so that
                gradients travel back from all ranks, also from ranks that draw nothing.

        Returns:
            Fields that a later call writes again, shape (1, rows): the gaussians of all ranks that
            the image shows, in their order, and then some that it does not.
        """
        if self._outgrown:  # launches have let go of smaller fields, which never come again
            current_session().pool.clear()
            self._outgrown = False
        own = self._own_for(gaussians, len(projections))
        with dt.no_grad():
            for project, shown in zip(projections, own.shown, strict=False):
                project(shown)
        counts = own.counted()[:, : len(projections)]
        engine, what = current(), f"the exchange of gaussians for {len(projections)} images"
        ends = np.cumsum(counts, axis=0)
        slots = [[k for k, drawer in enumerate(drawers) if drawer == rank]
                 for rank in range(engine.size)]  # fmt: skip
        mine = slots[engine.rank]
        self._make_room(ends[-1, mine].tolist(), gaussians)
        for k, arrived in zip(mine, self._arrived, strict=False):
            _end(arrived.radii, int(ends[-1, k]))
        most = int(counts[engine.rank].max())
        for slot in range(max(map(len, slots))):
            for turn in range(engine.size):
                to, source = ((engine.rank + by) % engine.size for by in (turn, -turn))
                sends, receives = Part(to, 0, 0), Part(source, 0, 0)
                shown, arrived = own.shown[0], own.nothing
                if slot < len(slots[to]):
                    image = slots[to][slot]
                    shown = projections[image](own.shown[image])
                    sends = Part(to, 0, int(counts[engine.rank, image]))
                if slot < len(mine):
                    image, arrived = mine[slot], self._arrived[slot]
                    stop = int(ends[source, image])
                    receives = Part(source, stop - int(counts[source, image]), stop)
                perform(_Hop(own.messages(most), shown, sends, arrived, receives, loss, what))
        return self._arrived[: len(mine)]

    def _own_for(self, gaussians: dt.distributed.SplitRows, images: int) -> _Own:
        colour = _colour_of(gaussians.sh0)
        own = self._own
        if own is None or own.made_for != (len(gaussians), colour) or len(own.shown) < images:
            with dt.scratch():
                own = self._own = _Own(images, len(gaussians), colour)
        return own

    def _make_room(self, counts: Sequence[int], gaussians: dt.distributed.SplitRows) -> None:
        """Have fields for the gaussians of some images."""
        total, colour = max(gaussians.total, 1), _colour_of(gaussians.sh0)
        self._arrived = [one for one in self._arrived if _colour_of(one.colours) == colour]
        for slot, count in enumerate(counts):
            kept = self._arrived[slot : slot + 1]
            if not kept or not count <= kept[0].radii.shape[1] <= total:
                self._arrived[slot : slot + 1] = []  # first, so that its memory is free
                self._outgrown = True
                with dt.scratch():
                    made = dt.render.Projected.zeros(1, min(_roomy(count), total), colour)
                self._arrived.insert(slot, made)


@final
class _Own:
    """This rank's gaussians as images show them, and the memory of messages about one image.

    Args:
        images: The number of images.
        rows: The number of gaussians.
        colour: The number of channels, and the type of the numbers.

    Attributes:
        shown: The gaussians for each image, which share all fields but the radii.
        nothing: No gaussians.
    """

    def __init__(self, images: int, rows: int, colour: tuple[int, Any]) -> None:
        self.made_for = rows, colour
        first = dt.render.Projected.zeros(1, rows, colour)
        others = (dt.zeros((1, rows), first.radii.dtype) for _ in range(1, images))
        self.shown = [first, *(replace(first, radii=radii) for radii in others)]
        self.nothing = dt.render.Projected.zeros(1, 0, colour)
        self._places, self._scan = dt.zeros((rows, 1), ti.i32), Scan()
        self._sent: list[dt.Field] = []
        self._count = _Count([one.radii for one in self.shown])

    def counted(self) -> npt.NDArray[np.int64]:
        """Return how many gaussians each rank has in each image, shape (ranks, images)."""
        return perform(self._count)

    def messages(self, rows: int) -> _Messages:
        """Return the memory of messages, with room for some rows."""
        if not self._sent or self._sent[0].shape[1] < rows:
            self._sent.clear()
            with dt.scratch():
                shape = 1, min(_roomy(rows), max(self.made_for[0], 1))
                self._sent += [dt.zeros(shape, one.dtype) for one in _fields(self.shown[0])]
        return _Messages(tuple(self._sent), self._places, self._scan)


@final
class _Count(OpaqueStep):
    """Counts the gaussians that images show, on all ranks.

    Args:
        radii: Half the boxes on each image, shape (1, rows).
    """

    is_contained = True
    communicates = True

    def __init__(self, radii: Sequence[dt.Field]) -> None:
        self._radii = tuple(radii)
        self._counts = dt.zeros(len(radii), ti.i32)
        uses = [Use(one, True, False) for one in self._radii]
        super().__init__("counts of gaussians", [*uses, Use(self._counts, False, True)])

    def run(self) -> npt.NDArray[np.int64]:
        """Return the counts, shape (ranks, images)."""
        with _unrecorded():
            self._counts.fill(0)
            for image, radii in enumerate(self._radii):
                _count(radii, image, self._counts)
            own = self._counts.to_numpy()
        return gather(own, "the count of gaussians in images").astype(np.int64)

    def reverse(self, then: ReverseContext, saved: object) -> None:
        """Let no gradient pass: counts are integers."""


@dataclass(frozen=True, slots=True)
class _Messages:
    """The memory of messages about one image.

    Args:
        fields: A message for each field of gaussians, shape (1, rows).
        places: The place of each gaussian in a message, shape (gaussians, 1).
        scan: Finds the places.
    """

    fields: tuple[dt.Field, ...]
    places: dt.Field
    scan: Scan

    def find_places(self, radii: dt.Field) -> None:
        """Set the places of the gaussians that an image shows."""
        _flag(radii, self.places)
        self.scan(self.places, len(self.places))


@final
class _Hop(OpaqueStep):
    """The way of one image's gaussians from each rank to another.

    Args:
        messages: Memory for messages.
        shown: The gaussians to choose from.
        sends: The destinations of the gaussians that the image shows.
        arrived: Takes the gaussians of another rank.
        receives: Where they come from, and which rows they become.
        loss: The loss; it counts as a result.
        what: The step in errors.
    """

    is_contained = True
    communicates = True

    def __init__(
        self,
        messages: _Messages,
        shown: dt.render.Projected,
        sends: Part,
        arrived: dt.render.Projected,
        receives: Part,
        loss: dt.Field,
        what: str,
    ) -> None:
        self._messages, self._what = messages, what
        self._sends, self._receives = sends, receives
        self._shown, self._arrived = _fields(shown), _fields(arrived)
        uses = [
            Use(self._shown[0], True, False, Keeps.BEFORE),
            *(Use(one, True, False) for one in self._shown[1:]),
            *(Use(one, True, True, passes=True) for one in self._arrived),
            Use(loss, True, True, passes=True),
        ]
        super().__init__(what, uses)

    def run(self) -> None:
        """Send and receive."""
        sent = self._messages.fields
        if self._sends.stop:
            with _unrecorded():
                self._messages.find_places(self._shown[0])
                _pack(self._shown, self._messages.places, sent)
        into = [one.fresh_if_pinned(keep=True) for one in self._arrived]
        posted = [
            self._posted(one.buffer, self._sends, other, self._receives)
            for one, other in zip(sent, into, strict=True)
        ]
        for one in posted:
            one.wait(self._what)

    @staticmethod
    def _posted(source: Buffer, sends: Part, target: Buffer, receives: Part) -> Posted:
        return Posted([source], [sends], [target], [receives], clears=False, axis=1)

    def reverse_in_place(
        self, record: OpaqueRecord, gradient: Callable[[dt.Field], dt.Field]
    ) -> bool:
        """Send gradients back, and clear them here."""
        incoming = [gradient(one) for one in self._arrived[1:]]
        outgoing = [gradient(one) for one in self._shown[1:]]
        radii, kept = self._shown[0], record.kept[self._shown[0].storage]
        if radii.buffer is not kept:
            radii = radii.over(Storage(kept), None, None)
        returned = self._messages.fields[1:]
        way = f"the way back of {self._what}"
        posted = [
            self._posted(one.buffer, self._receives, other.buffer, self._sends)
            for one, other in zip(incoming, returned, strict=True)
        ]
        for one in posted:
            one.wait(way)
        if self._sends.stop:
            self._messages.find_places(radii)
            _add(radii, self._messages.places, returned, tuple(outgoing))
        for one in incoming:
            one.buffer.clear(((0, 1), (self._receives.start, self._receives.stop)))
        return True

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Refuse: gradients travel in place.

        Raises:
            TapeError: Always.
        """
        raise TapeError(f"{self.title} has a gradient, and no second derivative.")


@contextmanager
def _unrecorded() -> Generator[None]:
    """Run the launches of a step, which an open tape does not record."""
    recording = RECORDING.get()
    if recording.recorder is None:
        yield
    else:
        with Recording(observer=recording.observer):
            yield


def _colour_of(colours: dt.Field) -> tuple[int, Any]:
    return colours.element_shape[0], colours.numpy_dtype


def _roomy(rows: int) -> int:
    return max(rows + rows // 32, 1)


def _fields(shown: dt.render.Projected) -> tuple[dt.Field, ...]:
    return (
        shown.radii,
        shown.centres,
        shown.conics,
        shown.opacities,
        shown.depths,
        shown.colours,
    )
