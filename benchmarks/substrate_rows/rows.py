"""The rows, made in a process whose compiler is the one to measure."""

import importlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import difftile as dt
from benchmarks import fused
from benchmarks.kernel_rows.cases import CASES
from benchmarks.kernel_rows.sides import Ours, seeds_of
from benchmarks.peers.runs import Times, make_pendula, make_ripples
from benchmarks.substrate_rows.side import Arrays, Figures, Row, each

ti: Any = importlib.import_module(os.environ["DIFFTILE_SUBSTRATE"])

KERNELS = tuple(CASES)
FUSED = ("pendula", "wave")
ROWS = ("launch", *KERNELS, *FUSED)


def make(name: str, arch: str, threads: int, quick: bool) -> Row:
    """Return a row, in a session of its own without the cache on disk."""
    options = {"cpu_max_num_threads": threads} if arch == "cpu" else {}
    # Launches that repeat would become one program, which is what the rows of runs measure.
    dt.init(arch=arch, offline_cache=False, fuse=name != "launch", **options)
    if name == "launch":
        return Launches()
    if name in FUSED:
        return Fused(name, arch, threads, quick)
    return OfKernel(name, 2**-6 if quick else 1.0)


@dt.kernel
def grow(a, b, rate: float):
    for i in a:
        a[i] = rate * a[i] + b[i]


class Launches:
    """Launches of a small kernel, one by one."""

    def __init__(self) -> None:
        array = ti.types.ndarray(ti.f32, ndim=1)

        @ti.kernel
        def own(a: array, b: array, rate: ti.f32):
            ti.loop_config(serialize=True)
            for i in range(a.shape[0]):
                a[i] = rate * a[i] + b[i]

        self.sides = [[dt.full(4, 1.0), dt.full(4, 0.5)] for _ in range(2)]
        self.own, self.arrays = own, [ti.ndarray(ti.f32, 4) for _ in range(2)]

    def turn(self) -> Figures:
        (a, b), (c, d) = self.sides
        numbers = iter(np.linspace(0.1, 0.2, 10_000).tolist())
        own, arrays = self.own, self.arrays

        def alternate() -> None:
            nonlocal a, b, c, d
            a, b, c, d = c, d, a, b
            grow(a, b, 0.5)

        return {
            "the same": each(lambda: grow(a, b, 0.5), ti.sync),
            "another number": each(lambda: grow(a, b, next(numbers)), ti.sync),
            "other fields in turn": each(alternate, ti.sync),
            "the compiler's own call": each(lambda: own(*arrays, 0.5), ti.sync),
        }

    def results(self) -> Arrays:
        a, b = self.sides[0]
        a.fill(2.0)
        grow(a, b, 0.5)
        return {"a": a.to_numpy()}


class OfKernel:
    """A kernel of `benchmarks.kernels`, forward, and recorded with its reverse."""

    def __init__(self, name: str, scale: float) -> None:
        case = CASES[name](scale)
        self.case, self.seeds = case, seeds_of(case)
        self.ours = Ours(case, self.seeds)

    def turn(self) -> Figures:
        ours, kernel = self.ours, self.case.kernel
        forward = recorded = backward = 0.0
        for _ in range(2):  # threads are awake and caches warm for the second
            for made in ours.outputs.values():
                made.fill(0.0)
            forward = timed(lambda: kernel(*ours.args))
        for _ in range(2):
            for made in ours.outputs.values():
                made.fill(0.0)
            dt.zero_grads()
            with dt.Tape() as tape:
                recorded = timed(lambda: kernel(*ours.args))
                ours.end[None] = 0.0
            for made in ours.inputs.values():
                made.grad.fill(0.0)
            for name, made in ours.outputs.items():
                made.grad.from_numpy(self.seeds[name])
            backward = timed(lambda tape=tape: tape.backward({ours.end: 1.0}))
        return {"forward": forward, "recorded": recorded, "reverse": backward}

    def results(self) -> Arrays:
        values = {name: made.to_numpy() for name, made in self.ours.outputs.items()}
        gradients = {f"{k}.grad": made.grad.to_numpy() for k, made in self.ours.inputs.items()}
        return {**values, **gradients}


class Fused:
    """A run over `dt.steps` of `benchmarks.fused`."""

    def __init__(self, name: str, arch: str, threads: int, quick: bool) -> None:
        setting = fused.Setting(
            device=arch,
            threads=threads,
            form="repeat",
            peers=(),
            quick=quick,
            steps=20 if quick else {"pendula": 1000, "wave": 500}[name],
            turns=0,
            warm=0.0,
            clock="wall",
        )
        if name == "pendula":
            pendula = make_pendula(setting.pick(1024, 1024, 64), setting.steps)
            self.program: Any = fused.SwingingPendula(pendula, setting)
        else:
            ripples = make_ripples(setting.pick(128, 512, 16), setting.steps)
            self.program = fused.RipplingSquare(ripples, setting)
        self.run = OfDifftile(self.program)
        until = time.perf_counter() + (0.0 if quick else 1.0)
        while time.perf_counter() < until:  # what runs often is compiled together meanwhile
            self.run.turn(time.perf_counter)

    def turn(self) -> Figures:
        times: Times = self.run.turn(time.perf_counter)
        return {"alone": times.alone, "recorded": times.recorded, "reverse": times.reverse}

    def results(self) -> Arrays:
        found = {f"{name}.grad": values for name, values in self.run.gradients().items()}
        return {"loss": np.array(self.run.loss()), **found}


class OfDifftile(fused.OfDifftile):
    """The program of `benchmarks.fused`, timed to the end of this compiler's work."""

    def _now(self, clock: Callable[[], float]) -> float:
        ti.sync()
        return clock()


def timed(call: Callable[[], object]) -> float:
    """Return the seconds of a call, to the end of all that it started."""
    ti.sync()
    started = time.perf_counter()
    call()
    ti.sync()
    return time.perf_counter() - started
