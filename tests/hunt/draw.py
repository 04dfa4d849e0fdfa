"""Random programs: kernels, the fields that there are, and launches. A number says which it is."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, replace

import numpy as np

from tests.hunt.accesses import draw_accesses
from tests.hunt.kernels import Kernel
from tests.hunt.program import Given, Launch, Program, Write

HEAD = """\
import taichi as ti

import difftile as dt
from tests.hunt.funcs import both, bump, bump_if, chosen, element, first_above, halving
from tests.hunt.funcs import push_of_both, put, ruled, ruled_pair, slope_of_squared
from tests.hunt.funcs import slopes_of_both, squared, steep

GAIN = 0.7
SHIFT = 1
"""


def _values(rng: np.random.Generator, shape: tuple[int, ...], zeros: bool) -> np.ndarray:
    values = rng.uniform(-1.5, 1.5, shape)
    return np.where(rng.random(shape) < 0.3, 0.0, values) if zeros else values


ACCESSES = 0.3  # of the programs are small ones, about one field


@dataclass(frozen=True)
class Mix:
    """How likely things are in a program.

    Args:
        view: A field is passed in part.
        again: A field is passed a second time, whole or in part.
        zeros: The fields hold zeros, so that values tie and factors vanish.
        wild: A field is touched anywhere, in any way.
        serial: A loop runs in order, so that it may overwrite what it reads.
    """

    view: float = 0.12
    again: float = 0.12
    zeros: float = 0.05
    wild: tuple[float, ...] = (0.0, 0.0, 0.0, 0.05, 0.15)
    serial: float = 0.125


USUAL = Mix()
# Rare constructs, each in every tenth program.
MIXES = (*[USUAL] * 7, Mix(view=0.7, again=0.7), Mix(zeros=1.0), Mix(wild=(0.4,)), Mix(serial=0.9))


def _fields(rng: random.Random, n: int, mix: Mix) -> dict[str, Given]:
    numbers = np.random.default_rng(rng.getrandbits(32))
    p, q, m = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 4)
    zeros = rng.random() < mix.zeros
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "a": ((n,), ()),
        "b": ((n,), ()),
        "c": ((2 * n + 1,), ()),
        "d": ((m,), ()),
        "g": ((p, q), ()),
        "e": ((q, p), ()),
        "t": ((2, p, q), ()),
        "s": ((), ()),
        "z": ((), ()),
        "u": ((n,), (2,)),
        "w": ((n,), (3,)),
        "m": ((m,), (2, 2)),
        "P.pos": ((n,), (2,)),
        "P.mass": ((n,), ()),
    }
    found = {
        name: Given(_values(numbers, (*shape, *element), zeros), element, rng.random() < 0.93)
        for name, (shape, element) in shapes.items()
    }
    found["q"] = Given(numbers.permutation(n).astype(np.int32), (), False)
    found["r"] = Given(numbers.integers(0, n, n).astype(np.int32), (), False)
    return found


VIEWS = ("[1:]", "[:-1]", "[::2]", "[::-1]", "[1:-1]", "[1::2]", "[::-2]")


def draw(number: int) -> Program:
    """Return the program of a number."""
    rng = random.Random(number)
    if rng.random() < ACCESSES:
        return draw_accesses(number, HEAD)
    n = rng.randint(1, 6)
    mix = rng.choice(MIXES)
    fields = _fields(rng, n, mix)
    kernels: list[str] = []
    steps: list[Launch | Write] = []
    affine, captured = True, set[str]()
    for k in range(rng.choice((1, 1, 1, 1, 2))):
        text, launch, plain, outside = _kernel(rng, f"k{k}", fields, n, mix)
        kernels.append(text)
        affine &= plain
        captured |= outside
        steps += [launch] * rng.choice((1, 1, 1, 2))
        if rng.random() < 0.1:
            name = rng.choice([f for f in "abcds" if fields[f].graded] or ["a"])
            index = tuple(rng.randrange(size) for size in fields[name].shape)
            steps.append(Write(name, index, round(rng.uniform(-1, 1), 2)))
    used = {
        name
        for step in steps
        for text in (step.arguments if isinstance(step, Launch) else (step.field,))
        for name in re.findall(r"^[A-Za-z]+", text)
    } | captured
    kept = {name: one for name, one in fields.items() if name.partition(".")[0] in used}
    text = HEAD + "\n\n" + "\n\n".join(kernels)
    return Program(number, text, kept, tuple(steps), affine, tuple(sorted(captured)))


def _kernel(
    rng: random.Random, name: str, fields: dict[str, Given], n: int, mix: Mix
) -> tuple[str, Launch, bool, set[str]]:
    names = [f for f in fields if "." not in f]
    chosen = sorted(rng.sample(names, rng.randint(2, 5)), key=names.index)
    with_struct = rng.random() < 0.1
    seen = {f: fields[f] for f in chosen}
    arguments = list(chosen)
    parameters = list(chosen)
    if with_struct:
        seen |= {f: fields[f] for f in ("P.pos", "P.mass")}
        arguments.append("P")
        parameters.append("P")
    for k, f in enumerate(chosen):
        shape = fields[f].shape
        if shape and rng.random() < mix.view:
            view = ", ".join(rng.choice((":", *(v[1:-1] for v in VIEWS))) for _ in shape)
            part = _part(fields[f], view)
            if part.values.size:
                arguments[k] = f"{f}[{view}]"
                seen[f] = part
    if rng.random() < mix.again:  # one field under two names, whole or in part
        f = rng.choice(chosen)
        view = ", ".join(rng.choice((":", "1:", ":-1", "::2", "::-1")) for _ in fields[f].shape)
        part = _part(fields[f], view)
        if part.values.size:
            seen["o"] = part
            parameters.append("o")
            arguments.append(f"{f}[{view}]" if fields[f].shape else f)
    captured: set[str] = set()
    if rng.random() < 0.1 and arguments[0] == chosen[0] and len(chosen) > 1:
        captured.add(parameters.pop(0))
        del arguments[0]
    writer = Kernel(rng, seen, n, rng.choice(mix.wild), mix.serial)
    text = writer.text(name, parameters)
    number = round(rng.uniform(-1, 1), 2)
    return text, Launch(name, (*arguments, str(n), str(number))), writer.words.affine, captured


def _part(given: Given, view: str) -> Given:
    if not given.shape:
        return given
    return replace(given, values=eval(f"values[{view}]", {"values": given.values}))
