"""The steps of a schedule: what is done to one parallel loop, each with a text.

A step is written as its name in small letters, with its arguments: `threads(64)`, `copies(x_bar)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import TypeAlias

from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Serial:
    """One thread runs the loop, without atomics."""


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of the CPU share the loop, which is cut into parts.

    Args:
        parts: Their number.
    """

    parts: int


@dataclass(frozen=True, slots=True)
class Grid:
    """The threads of a device share the iterations: see `grids`."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of a warp share the serial loops of each iteration: see `by_warps`.

    Args:
        count: Their number.
    """

    count: int


@dataclass(frozen=True, slots=True)
class Tile:
    """Warps copy the rows together that their threads walk along: see `tile_rows`."""


@dataclass(frozen=True, slots=True)
class Flat:
    """A serial loop becomes an axis of the loop: see `flatten`."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Each part of the loop adds into a copy of an array: see `privatise`.

    Args:
        target: The name of the array.
    """

    target: str


@dataclass(frozen=True, slots=True)
class SmallCopies:
    """The same, and one thread adds up the copies.

    Args:
        target: The name of the array.
    """

    target: str


@dataclass(frozen=True, slots=True)
class Rows:
    """Each iteration adds into a row of its own: see `rows`.

    Args:
        target: The name of the array.
    """

    target: str


@dataclass(frozen=True, slots=True)
class Spread:
    """Few iterations, or few rows, are cut into pieces for all threads: see `spread`.

    Args:
        parts: The number of pieces.
    """

    parts: int


@dataclass(frozen=True, slots=True)
class Squares:
    """Iterations over rows and columns run in squares: see `in_squares`.

    Args:
        side: The number of rows and columns of a square.
    """

    side: int


@dataclass(frozen=True, slots=True)
class Unroll:
    """Short inner loops are written out: see `unroll_loops`."""


@dataclass(frozen=True, slots=True)
class Jam:
    """Serial loops run for two neighbouring iterations at a time: see `unroll_and_jam`."""


@dataclass(frozen=True, slots=True)
class SplitEnds:
    """First and last iterations, whose indices wrap or stop, are apart: see `split_index_sets`."""


@dataclass(frozen=True, slots=True)
class Strips:
    """Iterations compute into local arrays before any of them writes: see `strips`.

    Args:
        length: How many do so at a time.
    """

    length: int


@dataclass(frozen=True, slots=True)
class VectorMath:
    """Functions are polynomials in loops that may be vectors: see `vectorise_functions`."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The code of an iteration has none of the five forms above."""


Form: TypeAlias = Unroll | Jam | SplitEnds | Strips | VectorMath | Plain
"""Steps about the code of an iteration on a CPU, which come after all others."""

Step: TypeAlias = (
    Serial
    | Threads
    | Grid
    | Lanes
    | Tile
    | Flat
    | Copies
    | SmallCopies
    | Rows
    | Spread
    | Squares
    | Form
)

_KINDS: dict[str, type[Step]] = {
    "serial": Serial,
    "threads": Threads,
    "grid": Grid,
    "lanes": Lanes,
    "tile": Tile,
    "flat": Flat,
    "copies": Copies,
    "small_copies": SmallCopies,
    "rows": Rows,
    "spread": Spread,
    "squares": Squares,
    "unroll": Unroll,
    "jam": Jam,
    "split_ends": SplitEnds,
    "strips": Strips,
    "vector_math": VectorMath,
    "plain": Plain,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_IN_PARTS = ("threads", "spread")
_TEXT = re.compile(r"(\w+)(?:\((\w+)\))?")


def text_of(step: Step) -> str:
    """Return the text of a step."""
    args = [str(getattr(step, one.name)) for one in fields(step)]
    return f"{_NAMES[type(step)]}({args[0]})" if args else _NAMES[type(step)]


def step_of(text: str) -> Step:
    """Return the step of a text.

    Raises:
        ValueError: The text does not name a step.
    """
    found = _TEXT.fullmatch(text)
    kind = _KINDS.get(found[1]) if found else None
    if found is None or kind is None:
        raise ValueError(f"{text!r} is not a step; steps are {', '.join(_KINDS)}")
    parameters = fields(kind)
    if bool(parameters) != (found[2] is not None):
        raise ValueError(f"{text!r}: '{found[1]}' takes {len(parameters)} arguments")
    make: Callable[..., Step] = kind
    if not parameters:
        return make()
    if parameters[0].type == "str":
        return make(found[2])
    if not found[2].isdecimal():
        raise ValueError(f"{text!r}: {found[2]!r} is not a number")
    return make(int(found[2]))


def steps_of(text: str, parts: int) -> tuple[Step, ...]:
    """Return the steps of a text in which 'threads' and 'spread' may lack their number.

    Args:
        text: The text, with commas between the steps.
        parts: The number of parts of a loop in this session.

    Raises:
        ValueError: A part of the text is not a step.
    """
    words = [word.strip() for word in text.split(",")]
    return tuple(step_of(f"{word}({parts})" if word in _IN_PARTS else word) for word in words)


def written(steps: tuple[Step, ...]) -> str:
    """Return the text of steps for any number of parts: 'threads, copies(y)'."""
    names = [_NAMES[type(step)] for step in steps]
    return ", ".join(
        name if name in _IN_PARTS else text_of(step)
        for name, step in zip(names, steps, strict=True)
    )


def of_code(steps: tuple[Step, ...]) -> tuple[Form, ...]:
    """Return the steps about the code of an iteration."""
    return tuple(step for step in steps if isinstance(step, Form))


def of_iterations(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the other steps: who runs which iterations, and where they add."""
    return tuple(step for step in steps if not isinstance(step, Form))
