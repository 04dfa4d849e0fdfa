"""Programs of the suite's other generators, as programs of the hunt."""

from __future__ import annotations

from typing import Any

import numpy as np
import taichi as ti

from tests import random_programs
from tests.harness import Floats
from tests.harness import Given as Described
from tests.hunt.program import Given, Launch, Program

FIRST = 10**9  # their numbers begin here


def of_random_programs(seed: int) -> Program:
    """Return the program of a seed of `tests.random_programs`."""
    rng = np.random.default_rng(seed)
    fields: dict[str, Given] = {}
    for name, described in random_programs.ARGUMENTS.items():
        if isinstance(described, (Floats, Described)):
            values = described.draw(rng)
            fields[name] = Given(values, described.element, values.dtype.kind == "f")
    given = random_programs.ARGUMENTS.items()
    arguments = tuple(name if name in fields else _text(value) for name, value in given)
    text = random_programs.HEAD + random_programs._Writer(seed).kernel("kernel")
    launches = (Launch("kernel", arguments),) * (1 + seed % 3)
    return Program(FIRST + seed, text, fields, launches, affine=False)


def _text(value: Any) -> str:
    """Return how an argument is written: vectors, matrices and structs by their constructors."""
    if isinstance(value, ti.Struct):
        members = ", ".join(f"{name}={_text(getattr(value, name))}" for name in value.keys)
        return f"ti.Struct({members})"
    if isinstance(value, ti.Matrix):
        return f"ti.Vector({value.to_list()})"
    return f"ti.Matrix({value})" if isinstance(value, list) else str(value)
