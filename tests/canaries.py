"""Random kernels, and their adjoints, as machine code on parts of fields with canaries around them.

The kernels are those of `random_indices`. Each launch must be refused if plain Python touches
something outside of the parts, and otherwise leave the canaries as they are, and those of the
gradients after the adjoint:

    python -m tests.canaries 1000 --first 0
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

import difftile as dt
from difftile import ti
from tests.random_indices import (
    HEAD,
    PLAIN,
    Given,
    Writer,
    loaded,
    plain_text,
    some_arguments,
    touches_outside,
)

AROUND = 5  # elements before and after a part, along each axis
CANARY = 7.0
FORMS = [*itertools.product((False, True), repeat=3)]  # rough, wild, rich

Outcome: TypeAlias = str
"""'refused', 'inside', or what was wrong."""


@dt.kernel
def keep(whole):
    for p in ti.grouped(whole):
        whole[p] *= 1.0


def written(seeds: Sequence[int], folder: Path) -> tuple[ModuleType, ModuleType, dict[int, str]]:
    """Return modules of kernels, and of the same functions in plain Python, and their texts."""
    texts: dict[int, str] = {}
    for seed in seeds:
        rough, wild, rich = FORMS[seed % len(FORMS)]
        text = Writer(seed, rough=rough, wild=wild, rich=rich).kernel(f"kernel_{seed}")
        if "x[0] >" not in text and "y[0] +" not in text:  # or numbers of fields decide
            texts[seed] = text
    file = folder / f"kernels_{seeds[0]}.py"
    text = HEAD + "".join(texts.values())
    ordered = "".join(map(_ordered, texts.values()))
    file.write_text(text + ordered, encoding="utf-8")
    plain = file.with_stem(f"plain_{seeds[0]}")
    plain.write_text(plain_text(text), encoding="utf-8")
    functions = loaded(plain)
    vars(functions).update(PLAIN)
    return loaded(file), functions, texts


def _ordered(text: str) -> str:
    """Return a kernel whose loop runs in order, for one with a race."""
    head, body = text.split("\n", 1)
    return f"{head.replace('kernel', 'ordered')}\n    ti.loop_config(serialize=True)\n{body}"


def outcomes(kernel: Any, function: Any, text: str, seed: int, launches: int) -> list[Outcome]:
    """Return what came of some launches of a kernel."""
    rng = random.Random(seed)
    _, wild, _ = FORMS[seed % len(FORMS)]
    compiled = dt.kernel(kernel)
    found: list[Outcome] = []
    for _ in range(launches):
        given = some_arguments(rng, wild=wild)
        leaves = touches_outside(function, given, 1.0)
        if leaves is None or (given.n < 1 and "% n" in text):
            continue
        found.append(_outcome(compiled, given, leaves=leaves))
    return found


def _outcome(kernel: Any, given: Given, *, leaves: bool) -> Outcome:
    shapes = given.x, given.y, given.z
    wholes = [
        dt.full([n + 2 * AROUND for n in shape], CANARY, ti.f32, grad=True) for shape in shapes
    ]
    inner = [tuple(slice(AROUND, AROUND + n) for n in shape) for shape in shapes]
    parts = [whole[part] for whole, part in zip(wholes, inner, strict=True)]
    for part in parts:
        part.fill(1.0)
    try:
        with dt.Tape() as tape:
            for whole in wholes:  # a gradient can only be given to what the tape writes
                keep(whole)
            kernel(*parts, given.n, given.t)
    except dt.diagnostics.IndexOutOfRange:
        return "refused" if leaves else "refused though inside"
    if leaves:
        return "not refused though outside"
    tape.backward({whole: np.ones(whole.shape, np.float32) for whole in wholes})
    for whole, part in zip(wholes, inner, strict=True):
        for array, number in ((whole.to_numpy(), CANARY), (whole.grad.to_numpy(), 1.0)):
            array[part] = number
            if not (array == number).all():
                return "a canary has died"
    return "inside"


def run(
    seeds: Sequence[int], folder: Path, launches: int = 4
) -> tuple[Counter[Outcome], list[int]]:
    """Launch kernels; return how many launches came out how, and the kernels that were wrong."""
    kernels, functions, texts = written(seeds, folder)
    counts: Counter[Outcome] = Counter()
    wrong: list[int] = []
    for seed, text in texts.items():
        name = f"kernel_{seed}"
        function = getattr(functions, name)
        try:
            try:
                found = outcomes(getattr(kernels, name), function, text, seed, launches)
            except dt.diagnostics.Race:
                kernel = getattr(kernels, name.replace("kernel", "ordered"))
                found = outcomes(kernel, function, text, seed, launches)
        except dt.diagnostics.TypeMismatch:  # of an unrolled loop an index is a literal, below zero
            counts["not a kernel"] += 1
            continue
        counts.update(found)
        if not {*found} <= {"refused", "inside"}:
            wrong.append(seed)
    return counts, wrong


def main() -> int:
    """Launch kernels, and print those that were wrong."""
    parser = argparse.ArgumentParser("python -m tests.canaries", description=__doc__)
    parser.add_argument("count", type=int, help="how many kernels")
    parser.add_argument("--first", type=int, default=0, help="the first of them; %(default)s")
    parser.add_argument("--arch", default="cpu", help="%(default)s")
    options = parser.parse_args()
    dt.init(arch=options.arch, cpu_max_num_threads=1)
    total: Counter[Outcome] = Counter()
    failed: list[int] = []
    last = options.first + options.count
    with tempfile.TemporaryDirectory() as folder:
        for first in range(options.first, last, 50):
            seeds = range(first, min(first + 50, last))
            counts, wrong = run(seeds, Path(folder))
            total += counts
            failed += wrong
            done = seeds.stop - options.first
            print(f"{done} kernels: {dict(total)}; wrong: {failed}", flush=True)
    return min(len(failed), 1)


if __name__ == "__main__":
    sys.exit(main())
