"""Programs that are edited between two processes, and what they compile to.

A program is a file: a kernel, a func with a default, a struct with a method, a rule, a global, a
number in a closure, and in some programs a run that is fused. Each edit changes one of them. What
the new program compiles to, with results of all earlier ones kept on disk, must be what it compiles
to without:

    python -m tests.edited_programs 2000
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import difftile as dt
from difftile.compile import compile_function
from difftile.substrate import kept_code, kept_for
from difftile.substrate.variants import Variants
from tests.random_indices import loaded

TEXT = """import math

import taichi as ti

import difftile as dt

SCALE = {scale}


@dt.func
def bent(a, k={default}):
    return {bent}


@dt.func
def ruled(a):
    return ti.sin({inner} * a)


@ruled.backward
def _(a, d_out):
    return d_out * {slope}


@ti.dataclass
class Spring:
    k: {member}
    rest: ti.f32

    @ti.func
    def force(self, a):
        return {method}


def make(shift):
    count = {count}

    @dt.kernel
    def run(x, y):
        for i in x:
            spring = Spring({stiffness}, 0.5)
            total = {start}
            for k in ti.static(range(count)):
                total += bent(x[i]) * (k + shift)
            y[i] = total * SCALE + spring.force(x[i]) {sign} ruled(x[i])

    return run


KERNEL = make({shift})
PERIODS = {periods}


@dt.kernel
def nudge(x, y, rate: float):
    for i in x:
        x[i] += rate * y[i] * x[i]


def step(x, y, t):
    KERNEL(x, y)
    {step}
"""
NUMBERS = ("0.5", "2.0", "3", "-1.5", "math.pi")
CHOICES: dict[str, tuple[str, ...]] = {
    "scale": NUMBERS,
    "default": NUMBERS,
    "bent": ("a * k", "a + k", "a * a - k", "ti.max(a, k)", "a if a > k else k * a"),
    "inner": ("1.0", "2.0", "a"),
    "slope": NUMBERS,
    "member": ("ti.f32", "ti.f64", "ti.i32"),
    "method": ("-self.k * (a - self.rest)", "self.k * a", "-self.k * a + self.rest"),
    "count": ("1", "2", "3"),
    "stiffness": ("2.0", "3.0", "7"),
    "start": ("0.0", "1.0", "x[i]"),
    "sign": ("+", "-", "*"),
    "shift": NUMBERS,
    "periods": ("0", "0", "0", "4", "5"),
    "step": (
        "nudge(x, y, 0.5)",
        "nudge(x, y, 0.5 * t)",
        "nudge(y, x, 0.5)",
        "nudge(x, x, 0.5)",
        "nudge(x, y, 0.5); nudge(y, x, 0.5)",
        "pass",
    ),
}


class Texts:
    """Collects emitted texts in the place of compiling them."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def __call__(self, emitted: Any, *given: Any, **more: Any) -> Any:
        self.found.append(emitted.text)
        return self

    def launch(self, args: Any) -> None:
        """Do nothing."""


@contextmanager
def keeping(folder: Path | None) -> Generator[None]:
    """Keep what compiling finds in a folder."""

    def kept(_: Any, *given: Any) -> Any:
        return kept_for(folder, *given)

    with (
        mock.patch.dict("os.environ", DIFFTILE_KEEP="1"),
        mock.patch.object(kept_code, "_library", lambda: "of this process"),
        mock.patch.object(compile_function, "kept_for", kept),
    ):
        yield


def end() -> None:
    """Write what was found, as at the end of a process."""
    for one in [*weakref.finalize._registry]:
        known = one.peek()
        if known is not None and known[1] is kept_code._write:
            one()


def texts_of(program: Any, dtype: Any, folder: Path | None) -> list[str]:
    """Return what the kernels of a program, their adjoints and rules, and its run compile to."""
    texts = Texts()
    make = Variants.__init__

    def made(self: Any, *given: Any, **more: Any) -> None:
        make(self, *given, **more)
        self._backend = replace(self._backend, compile=texts)

    with keeping(folder), mock.patch.object(Variants, "__init__", made):
        x, y = (dt.ones(4, dtype, grad=True) for _ in range(2))
        loss = dt.zeros((), dtype, grad=True)
        with dt.Tape(loss):
            if program.PERIODS:
                dt.repeat(lambda t: program.step(x, y, t), program.PERIODS)
            else:
                program.KERNEL(x, y)
            add_up(y, loss)
    return texts.found


@dt.func
def square(a):
    return a * a


@dt.kernel
def add_up(y, loss):
    for i in y:
        loss[None] += square(y[i])


def run(count: int, seed: int, folder: Path, say: Callable[[int], None] = lambda _: None) -> int:
    """Edit a program so often; return after how many edits what was kept was right."""
    rng = random.Random(seed)
    states = [{name: rng.choice(choices) for name, choices in CHOICES.items()}]
    file = folder / "program.py"
    for k in range(count):
        state = dict(rng.choice(states[-20:]))  # an edit may be taken back
        name = rng.choice([*CHOICES])
        state[name] = rng.choice(CHOICES[name])
        states.append(state)
        file.write_text(TEXT.format(**state), encoding="utf-8")
        dtype = dt.ti.f64 if state["member"] == "ti.f64" else dt.ti.f32
        outcomes = [outcome(file, dtype, one) for one in (None, folder / "kept")]
        end()
        if outcomes[0] != outcomes[1]:
            return k
        say(k + 1)
    return count


def outcome(file: Path, dtype: Any, folder: Path | None) -> list[str]:
    """Return the texts of a program, or its error."""
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        return texts_of(loaded(file), dtype, folder)
    except dt.diagnostics.DifftileError as error:
        return [str(error)]
    finally:
        sys.dont_write_bytecode = before


def main() -> int:
    """Edit programs."""
    parser = argparse.ArgumentParser("python -m tests.edited_programs", description=__doc__)
    parser.add_argument("count", type=int, help="how many edits")
    parser.add_argument("--seed", type=int, default=0, help="%(default)s")
    options = parser.parse_args()
    dt.init(arch="cpu")
    with tempfile.TemporaryDirectory() as folder:
        right = run(options.count, options.seed, Path(folder))
        kept = len([*(Path(folder) / "kept").iterdir()])
    print(f"{right} of {options.count} edits were right; {kept} programs are kept")
    return int(right < options.count)


if __name__ == "__main__":
    sys.exit(main())
