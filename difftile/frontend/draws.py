"""The state of random draws while a kernel is lowered: the threads, and their draws so far.

A draw is numbered by the thread that makes it and by the draws that the thread has made before.
The second number is a hidden local: branches join it and loops carry it like any other. Draws of
one straight run are counted while compiling.
"""

from __future__ import annotations

from dataclasses import field

from difftile.ir.nodes import Var
from difftile.ir.types import I32
from difftile.records import dataclass

DRAWS = "draws so far"  # no Python name has a space


@dataclass
class Draws:
    """The state of draws.

    Args:
        seed: The parameter for the seed of `dt.init`.
        first: The parameter for the first stream that is free at a launch.
        used: Something is drawn at all.
        streams: How many streams there are: one for the top level, and one for each parallel loop.
        pending: Draws since the hidden local was brought up to date.
        places: Places in the program that draw, met so far.
    """

    seed: Var = field(default_factory=lambda: Var("seed", I32))
    first: Var = field(default_factory=lambda: Var("stream", I32))
    used: bool = False
    streams: int = 1
    pending: int = 0
    places: int = 0
