"""Backward passes that are broken off somewhere, and asked for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unittest import mock

from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Sweep
from difftile.recording.steps import StepRecord


class Broken(Exception):
    """A pass that was broken off."""


def break_off(
    linear: Pullback,
    seeds: Mapping[Any, Any],
    wrt: list[Any],
    place: float,
    counts: Callable[[StepRecord], bool] = lambda _: True,
) -> bool:
    """Break a pass off, with cotangents of other sizes than those of the next one.

    Args:
        linear: The stretch.
        seeds: The cotangents.
        wrt: The fields whose gradients are asked for.
        place: The part of the pass that is run, from 0 to 1.
        counts: Tells whether the pass may be broken off before a record.

    Returns:
        Whether there was a record to be broken off at.
    """
    places = sum(map(counts, linear.records(wrt)))
    left = [int(place * places)]
    reverse = Sweep._reverse

    def once(sweep: Sweep, record: StepRecord, bars: Sequence[Any]) -> None:
        if counts(record):
            if not left[0]:
                raise Broken
            left[0] -= 1
        reverse(sweep, record, bars)

    with mock.patch.object(Sweep, "_reverse", once):
        try:
            linear.pull({one: -3.0 * seed for one, seed in seeds.items()}, wrt)
        except Broken:
            return True
    return False
