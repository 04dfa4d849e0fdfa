"""Gaussians that drift and are shown by images again and again, on one tape."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.distributed.split_rows import SplitRows
from difftile.ranks import agree, current
from difftile.render import Cameras, Splatter, make_gaussians
from difftile.training.delivery import Delivery, drawer_of

PLACES = [(0, 1, -6), (6, 1, 0), (0, 6, 0.5), (-4, 2, 5)]
WIDTH, HEIGHT = 40, 30


@dt.kernel
def drift(means: Any, step: float) -> None:
    for k in means:
        means[k] += step * ti.sin(3.0 * means[k])


@dt.kernel
def weigh(
    radii: Any,
    centres: Any,
    conics: Any,
    opacities: Any,
    depths: Any,
    colours: Any,
    image: int,
    loss: Any,
) -> None:
    for c, k in radii:
        if radii[c, k].x > 0:
            here = 0.01 * centres[c, k].norm_sqr() + conics[c, k].norm_sqr()
            there = opacities[c, k] * depths[c, k] + colours[c, k].norm_sqr()
            loss[None] += (1.0 + image) * here * there


def gaussians(count: int) -> Any:
    """Return gaussians, some of which no camera sees."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(count, 3))
    means[: count // 3] *= 6.0
    return make_gaussians(
        {
            "means": means,
            "scales": rng.normal(-2.0, 0.5, (count, 3)),
            "quaternions": rng.normal(size=(count, 4)),
            "opacities": rng.normal(size=count),
            "sh0": rng.normal(size=(count, 3)),
            "shN": 0.3 * rng.normal(size=(count, 3, 3)),
        }
    )


def unrolled(count: int, images: int, steps: int, part: int, *, plain: bool = False) -> Any:
    """Return the loss, the gradients of all gaussians by name, and the launches that ran again.

    Args:
        count: The number of gaussians.
        images: The number of images of a step.
        steps: The number of steps.
        part: The part of what a tape without a limit keeps that this one may keep; 0 for no limit.
        plain: Take the projections as they are, in one process.
    """
    rows = gaussians(count)
    rows = rows if plain else SplitRows(rows)
    views = [Cameras.look_at([place], (0, 0, 0), WIDTH, HEIGHT) for place in PLACES[:images]]
    splatters = [Splatter(WIDTH, HEIGHT, sh_degree=1) for _ in views]
    loss, delivery = dt.zeros((), float, grad=True), Delivery()
    drawers = [drawer_of(image) for image in range(images)]
    mine = range(images) if plain else [k for k in range(images) if drawers[k] == current().rank]

    def run(tape: dt.Tape) -> None:
        loss.fill(0.0)
        with tape:
            for step in range(steps):
                ways = [
                    partial(splatter.project, rows, view)
                    for splatter, view in zip(splatters, views, strict=True)
                ]
                shown = [way() for way in ways] if plain else delivery(rows, ways, drawers, loss)
                for image, one in zip(mine, shown, strict=True):
                    fields = one.radii, one.centres, one.conics, one.opacities
                    weigh(*fields, one.depths, one.colours, image + step, loss)
                drift(rows.means, 0.05)

    start = rows.means.to_numpy()
    tape = dt.Tape()
    run(tape)
    kept = tape.nbytes
    if part:
        del tape
        rows.means.from_numpy(start)
        tape = dt.Tape(memory=agree_least(kept // part))
        run(tape)
    tape.backward(loss)
    found = {
        name: field.grad.to_numpy() if plain else rows.gathered(field.grad).to_numpy()
        for name, field in rows.items()
    }
    return agree(float(loss[None])) if not plain else float(loss[None]), found, tape.recomputed


def agree_least(number: int) -> int:
    """Return the least of a number of all ranks."""
    return int(agree(number, "min"))
