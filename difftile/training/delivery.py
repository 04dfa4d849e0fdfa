"""Projected gaussians on their way to the ranks that draw the images.

Each rank projects the gaussians that it owns, for all images of a step, and sends them to the rank
that draws the image. As the rows of ranks follow one another in one order, an image is blended from
the same numbers in the same order as in one process; the transfer's adjoint brings their gradients
back to the owners.

Source: the division by gaussians before and by images after the projection is that of Zhao and
others, On Scaling Up 3D Gaussian Splatting Training (Grendel), 2024, and of gsplat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import difftile.lang as ti
from difftile.distributed.split_rows import SplitRows, cuts
from difftile.distributed.transfer import Part, transfer
from difftile.fields.create import zeros
from difftile.fields.field import Field, scratch
from difftile.ir.types import Type, scalar_of, shape_of
from difftile.ranks import current
from difftile.render.splatter import Projected
from difftile.runtime.kernel import kernel

_BEFORE_COLOURS = 9  # columns: a box, a centre, a conic, an opacity and a depth


@kernel
def _pack(
    first: ti.i32, channels: ti.template(), radii, centres, conics, opacities, depths, colours, sent
):
    for c, k in depths:
        at = first + c * depths.shape[1] + k
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
        at = first + c * depths.shape[1] + k
        radii[c, k] = ti.Vector(
            [ti.cast(received[at, 0], ti.i32), ti.cast(received[at, 1], ti.i32)]
        )
        centres[c, k] = ti.Vector([received[at, 2], received[at, 3]])
        conics[c, k] = ti.Vector([received[at, 4], received[at, 5], received[at, 6]])
        opacities[c, k] = received[at, 7]
        depths[c, k] = received[at, 8]
        colour = ti.zero(colours[c, k])
        for j in ti.static(range(channels)):
            colour[j] = received[at, 9 + j]
        colours[c, k] = colour


@kernel
def _depend(received, none: float, loss):
    for _ in range(1):
        loss[None] += none * received[0, 0]


def drawer_of(image: int) -> int:
    """Return the rank that draws an image of a step."""
    return image % current().size


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the messages of a step depend on.

    Args:
        total: The number of gaussians.
        drawers: The rank that draws each image.
        element: The type of a colour.
    """

    total: int
    drawers: tuple[int, ...]
    element: Type


@final
class Delivery:
    """Sends projected gaussians to the ranks that draw the images, as a step of the tape."""

    def __init__(self) -> None:
        self._made: tuple[_Plan, _Messages] | None = None

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
            Fields that the next call writes again, shape (1, rows of all ranks).
        """
        element = shown[0].colours.element
        plan = _Plan(gaussians.total, tuple(drawers), element)
        if self._made is None or self._made[0] != plan:
            with scratch():
                self._made = plan, _Messages(plan)
        messages = self._made[1]
        channels = shape_of(element)[0]
        for image, one in enumerate(shown):
            first = image * len(gaussians)
            _pack(first, channels, *_fields(one), messages.sent)
        what = f"the exchange of gaussians for {len(shown)} images"
        transfer(messages.sent, messages.sends, messages.received, messages.receives, what)
        for place, one in enumerate(messages.shown):
            _unpack(place * gaussians.total, channels, messages.received, *_fields(one))
        if not messages.shown:
            _depend(messages.received, 0.0, loss)
        return messages.shown


@final
class _Messages:
    """The fields of messages, and their parts.

    Args:
        plan: What they depend on.
    """

    def __init__(self, plan: _Plan) -> None:
        rank, ways = current().rank, cuts(plan.total)
        count = ways[rank + 1] - ways[rank]
        mine = plan.drawers.count(rank)
        wide = _BEFORE_COLOURS + shape_of(plan.element)[0]
        scalar = scalar_of(plan.element)
        self.sent = zeros((count * len(plan.drawers), wide), scalar, grad=True)
        self.received = zeros((max(plan.total * mine, 1), wide), scalar, grad=True)
        self.shown = [Projected.zeros(1, plan.total, plan.element) for _ in range(mine)]
        self.sends = [
            Part(drawer, image * count, (image + 1) * count)
            for image, drawer in enumerate(plan.drawers)
        ]
        self.receives = [
            Part(peer, place * plan.total + start, place * plan.total + stop)
            for place in range(mine)
            for peer, (start, stop) in enumerate(pairwise(ways))
        ]


def _fields(shown: Projected) -> tuple[Any, ...]:
    return (
        shown.radii,
        shown.centres,
        shown.conics,
        shown.opacities,
        shown.depths,
        shown.colours,
    )
