"""Random kernels with affine indices, loops and conditions, and the elements that they access.

Each kernel is lowered and analysed by `reach`, and run in plain Python on fields that detect
accesses out of range. No kernel is compiled, so thousands take a few seconds:

    python -m tests.random_indices 1000 9000
"""

from __future__ import annotations

import importlib.util
import itertools
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from difftile.ad.derive import derive
from difftile.compile.limits import Limits
from difftile.compile.meanings import meaning_of
from difftile.frontend.lower import lower
from difftile.frontend.source import source_of
from difftile.ir.types import F32, I32, FieldType
from difftile.passes.bounds import guard
from difftile.passes.reach import reach

PARAMETERS = ("x", "y", "z", "n", "t")
SIGNATURE = {
    "x": FieldType(F32, 1),
    "y": FieldType(F32, 1),
    "z": FieldType(F32, 2),
    "n": I32,
    "t": I32,
}
HEAD = "import taichi as ti\n\n"


# The kernels


class Writer:
    """Writes one kernel.

    Args:
        seed: Of the random choices.
        rough: Whether to include code that the analysis does not follow exactly: conditions on
            data, and strides that meet.
    """

    def __init__(self, seed: int, *, rough: bool) -> None:
        self.rng = random.Random(seed)
        self.rough = rough
        self.names: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def fixed(self) -> str:
        """Return an integer that the launch fixes."""
        return self.pick("n", "t", "2", "3", "1", "x.shape[0]", "y.shape[0]", "z.shape[1]", "0")

    def index(self) -> str:
        """Return an integer expression."""
        i = self.rng.choice(self.names) if self.names else self.fixed()
        c = self.rng.randrange(3)
        kinds = [
            *(i, i, i, f"{i} + {c}", f"{i} - {c}", f"{self.fixed()} - 1 - {i}", self.fixed()),
            *(f"{i} + {self.fixed()}", f"ti.min({i}, {self.fixed()})", f"ti.max({i} - 1, {c})"),
            *(f"({i} + {c}) % n", f"({i} - 1) % x.shape[0]", f"ti.max(0, ti.min({i}, n - 1))"),
            *(f"{i} // 2", f"({i} + 1) % 3", f"2 * {i}", f"ti.abs({i} - {c})"),
            *(f"({i} if {i} < {self.fixed()} else {c})", f"ti.select({i} > {c}, {i} - {c}, 0)"),
        ]
        if len(self.names) > 1:
            j = self.rng.choice(self.names)
            kinds += [f"{i} + {j}", f"{i} - {j}", f"{i} * 2 + {j}", f"{i} * n + {j}"]
        return self.rng.choice(kinds)

    def condition(self, depth: int = 0) -> str:
        if depth < 2 and self.rng.random() < 0.3:
            a, b = self.condition(depth + 1), self.condition(depth + 1)
            return self.pick(f"({a} and {b})", f"({a} or {b})", f"not ({a})")
        if self.rough and self.rng.random() < 0.3:
            return self.pick("x[0] > 0.0", "y[0] + x[0] < -1.0")
        i = self.rng.choice(self.names) if self.names else "t"
        a, sign = self.fixed(), self.pick("<", "<=", ">", ">=", "==", "!=")
        b = f"{a} - 1" if self.rng.random() < 0.4 else a
        kinds = [f"{i} {sign} {b}", f"0 < {i} < {b}", f"{i} + 1 {sign} {b}", f"0 <= {i} - 1 < {b}"]
        if len(self.names) > 1:
            kinds.append(f"{i} {sign} {self.rng.choice(self.names)}")
        if self.rough:
            kinds += [f"{i} % 2 == 0", f"{a} < 3 * {i} < {a} + 2", f"{a} <= 2 * {i} <= {a}"]
        return self.rng.choice(kinds)

    def access(self, pad: str) -> None:
        form = self.pick("y[{0}] += 1.0", "y[{0}] += x[{1}]", "z[{0}, {1}] += 1.0", "x[{0}] += 0.5")
        self.lines.append(pad + form.format(self.index(), self.index()))

    def loop(self, pad: str, depth: int) -> None:
        i = "ijklmnopq"[depth] + str(self.count)
        self.count += 1
        stop = self.fixed()
        if self.names and self.rng.random() < 0.4:
            stop = self.rng.choice(self.names) + self.pick("", " + 1", " - 1")
        start = self.rng.choice([*self.names, "0", "1", "1", "2"])
        over = [f"range({stop})", f"range({start}, {stop})", f"range({start}, {stop} - 1)"]
        if self.rough:
            over.append(f"range({start}, {stop}, 2)")
        if not depth:
            over += ["x", "y", "x"]
        if self.rng.random() < 0.25:
            self.lines.append(f"{pad}for {i}, {i}b in ti.ndrange({stop}, ({start}, {stop})):")
            self.names += [i, f"{i}b"]
            self.block(f"{pad}    ", depth + 1, leaves=False)
            self.names = self.names[:-2]
            return
        self.lines.append(f"{pad}for {i} in {self.rng.choice(over)}:")
        self.names.append(i)
        self.block(f"{pad}    ", depth + 1, leaves=depth > 0)
        self.names.pop()

    def counted(self, pad: str, depth: int) -> None:
        """Write a loop that counts by itself."""
        k = f"k{self.count}"
        self.count += 1
        step = self.pick("1", "1", "2") if self.rough else "1"
        self.lines.append(f"{pad}{k} = {self.fixed()}")
        self.lines.append(f"{pad}while {k} < {self.fixed()}:")
        self.names.append(k)
        self.access(f"{pad}    ")
        self.names.pop()
        self.lines.append(f"{pad}    {k} += {step}")

    def block(self, pad: str, depth: int, *, leaves: bool = False) -> None:
        for _ in range(self.rng.randrange(1, 3)):
            what = self.rng.random()
            if what < 0.45 or depth > 2:
                self.access(pad)
            elif what < 0.6:
                self.lines.append(f"{pad}if {self.condition()}:")
                self.block(f"{pad}    ", depth + 1, leaves=leaves)
                if self.rng.random() < 0.5:
                    self.lines.append(f"{pad}else:")
                    self.block(f"{pad}    ", depth + 1, leaves=leaves)
            elif what < 0.7 and depth:
                jump = self.pick("break", "break", "continue") if leaves else "continue"
                i = self.rng.choice(self.names)
                cond = self.pick(self.condition(), f"{i} == {self.fixed()}")
                self.lines.append(f"{pad}if {cond}:")
                self.lines.append(f"{pad}    {jump}")
            elif what < 0.75 and depth:
                self.counted(pad, depth)
            else:
                self.loop(pad, depth)
        self.access(pad)

    def kernel(self, name: str) -> str:
        """Return the text of a kernel."""
        self.loop("    ", 0)
        return f"def {name}({', '.join(PARAMETERS)}):\n" + "\n".join(self.lines) + "\n\n\n"


# Accesses


class Outside(Exception):
    """Something outside a field was touched."""


class Watched:
    """A field that is touched; it holds one number."""

    def __init__(self, shape: tuple[int, ...], value: float) -> None:
        self.shape = shape
        self.value = value

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.shape[0]))

    def _touch(self, index: Any) -> None:
        index = index if isinstance(index, tuple) else (index,)
        if not all(0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise Outside(index)

    def __getitem__(self, index: Any) -> float:
        self._touch(index)
        return self.value

    def __setitem__(self, index: Any, value: float) -> None:
        self._touch(index)


def _ndrange(*axes: Any) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(*(a if isinstance(a, tuple) else (a,))) for a in axes))


PLAIN = SimpleNamespace(
    min=min, max=max, abs=abs, select=lambda c, a, b: a if c else b, ndrange=_ndrange
)


@dataclass(frozen=True)
class Given:
    """The arguments of a launch."""

    x: tuple[int]
    y: tuple[int]
    z: tuple[int, int]
    n: int
    t: int


def some_arguments(rng: random.Random) -> Given:
    """Return shapes and integers."""
    a, b, c = (rng.randrange(1, 7) for _ in range(3))
    n, t = rng.choice([a, b, rng.randrange(-1, 8)]), rng.randrange(-1, 7)
    big = rng.choice([0, 0, 3, 12])
    return Given((a + big,), (b + big,), (c + big, rng.choice([b, c, 9])), n, t)


def touches_outside(function: Callable[..., None], given: Given, value: float) -> bool | None:
    """Tell whether a kernel touches something outside, by running it in plain Python.

    None: that depends on a remainder by a divisor which is not positive.
    """
    x, y, z = (Watched(shape, value) for shape in (given.x, given.y, given.z))
    try:
        function(x, y, z, given.n, given.t)
    except Outside:
        return True
    except ZeroDivisionError:
        return None
    return False


def limits_of(function: Any) -> Limits:
    """Return the checks of a launch of a kernel."""
    lowered = lower(source_of(function), SIGNATURE, meaning_of, F32, {}, {})
    program = lowered.program
    return Limits(reach(guard(derive(program))), {p: k for k, p in enumerate(program.params)})


def refused(limits: Limits, given: Given) -> bool:
    """Tell whether a launch would be refused."""
    fields = (SimpleNamespace(shape=shape) for shape in (given.x, given.y, given.z))
    return limits.leaves([*fields, given.n, given.t])


@dataclass(frozen=True)
class Verdict:
    """A launch that was judged wrongly.

    Args:
        seed: The kernel.
        given: The launch.
        false: It was refused and stays inside; otherwise it leaves, and was not refused.
    """

    seed: int
    given: Given
    false: bool


@dataclass
class Count:
    """How many launches were judged."""

    launches: int = 0
    outside: int = 0


def judge(
    seeds: Sequence[int], folder: Path, *, rough: bool, launches: int = 12
) -> tuple[list[Verdict], Count]:
    """Return the launches of some kernels that were judged wrongly."""
    file = folder / f"indices_{seeds[0]}_{int(rough)}.py"
    texts = [Writer(seed, rough=rough).kernel(f"kernel_{seed}") for seed in seeds]
    file.write_text(HEAD + "".join(texts), encoding="utf-8")
    real, plain = loaded(file), loaded(file)
    vars(plain)["ti"] = PLAIN
    wrong: list[Verdict] = []
    count = Count()
    for seed, text in zip(seeds, texts, strict=True):
        rng = random.Random(seed)
        limits = limits_of(getattr(real, f"kernel_{seed}"))
        for _ in range(launches):
            given = some_arguments(rng)
            runs = [
                touches_outside(getattr(plain, f"kernel_{seed}"), given, value)
                for value in ((1.0, -1.0) if rough else (1.0,))
            ]
            if None in runs or (given.n < 1 and "% n" in text):
                continue
            count.launches += 1
            count.outside += all(runs)
            if refused(limits, given) != all(runs):
                wrong.append(Verdict(seed, given, false=not all(runs)))
    return wrong, count


def loaded(file: Path) -> ModuleType:
    """Return a module of a file."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(first: int, last: int) -> int:
    """Judge kernels and print the faults."""
    failed = 0
    for rough in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            wrong, count = judge(range(first, last), Path(folder), rough=rough)
        print(f"rough={rough}: {count}, wrong {len(wrong)}, false {sum(v.false for v in wrong)}")
        for verdict in wrong[:5]:
            print(verdict)
            print(Writer(verdict.seed, rough=rough).kernel("kernel"))
        failed += sum(v.false for v in wrong)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
