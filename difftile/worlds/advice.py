"""What to say of a model before a gradient goes wrong."""

from __future__ import annotations

import numpy as np

from difftile.worlds.arrays import Array
from difftile.worlds.model import Model

ABRUPT = 0.03  # impedances at which contacts may appear without spoiling gradients


def abrupt_contact(model: Model) -> str:
    """Return what to say of the contact that appears with the largest impedance, or "".

    Where a contact appears with an impedance d0 > 0, the acceleration jumps, and the derivative of
    steps lacks the effect of the jump.
    """
    arrays, tables = model.arrays, model.tables
    worst, place = ABRUPT, ""
    rows = (tables[f"collision_{name}"].tolist() for name in ("geom1", "geom2", "pair"))
    for one, other, pair in zip(*rows, strict=True):
        start = arrays["pair_solimp"][pair, 0] if pair >= 0 else _mixed(model, one, other)
        if start > worst:
            worst = start
            place = f"{_named(arrays['geom_name'], one)} and {_named(arrays['geom_name'], other)}"
    if not place:
        return ""
    return (
        f"A gradient passes contacts that appear with a jump: of {place}, with the impedance "
        f"{worst:.3g}, the first number of their solimp. Its derivative may have the wrong sign: "
        'write solimp="0 0.95 0.01" for the geoms (docs/worlds.md, "Gradients through contact").'
    )


def _mixed(model: Model, one: int, other: int) -> float:
    """Return the impedance at which a contact of two geoms appears; see `Collision.surface`."""
    arrays = model.arrays
    starts: Array = arrays["geom_solimp"][[one, other], 0]
    ranks, mixes = (arrays[f"geom_{name}"][[one, other]] for name in ("priority", "solmix"))
    if ranks[0] != ranks[1]:
        return float(starts[int(np.argmax(ranks))])
    mixes = np.where(mixes < 1e-15, 0.0, mixes)
    parts = mixes / mixes.sum() if mixes.any() else np.array([0.5, 0.5])
    return float(parts @ starts)


def _named(names: Array, index: int) -> str:
    return f"geom '{names[index]}'" if names[index] else f"geom {index}"
