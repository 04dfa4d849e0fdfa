"""Random kernels with affine indices, loops and conditions, and the elements that they access.

Each kernel is lowered and analysed by `reach`, and run in plain Python on fields that detect
accesses out of range. No kernel is compiled, so thousands take a few seconds:

    python -m tests.random_indices 1000 9000
"""

from __future__ import annotations

import importlib.util
import itertools
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import difftile as dt
from difftile.ad.derive import derive
from difftile.compile.limits import Limits
from difftile.compile.meanings import meaning_of
from difftile.diagnostics import TypeMismatch
from difftile.frontend.lower import lower
from difftile.frontend.source import source_of
from difftile.ir.types import F32, I32, FieldType
from difftile.passes.known_indices import known_indices

PARAMETERS = ("x", "y", "z", "n", "t")
SIGNATURE = {
    "x": FieldType(F32, 1),
    "y": FieldType(F32, 1),
    "z": FieldType(F32, 2),
    "n": I32,
    "t": I32,
}
HEAD = """import taichi as ti

import difftile as dt


@dt.func
def halves(k: int):
    r = 0
    while r * 2 < k:
        r += 1
    return r


@dt.func
def first_above(k: int, n: int):
    for j in range(n):
        if j * j > k:
            return j
        if j == 5:
            return k % 3
    return n


@dt.func
def folded(k: int, n: int):
    a, b = k, n
    while b > 0:
        a, b = b, a % b
    return a


"""


# The kernels


class Writer:
    """Writes one kernel.

    Args:
        seed: Of the random choices.
        rough: Whether to include conditions on data, and strides that meet.
        wild: Whether to include products, remainders, bits, and sums that wrap around.
        rich: Whether to include funcs, vectors, casts, locals that loops change, and `while` loops
            that are left.
    """

    def __init__(
        self, seed: int, *, rough: bool = False, wild: bool = False, rich: bool = False
    ) -> None:
        self.rng = random.Random(seed)
        self.rich = rich
        self.rough = rough
        self.wild = wild
        self.names: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def fixed(self) -> str:
        """Return an integer that the launch fixes; 't' may be large where that is wild."""
        if self.wild:
            return self.pick("n", "2", "3", "1", "x.shape[0]", "y.shape[0]", "z.shape[1]", "0")
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
        if self.wild and self.rng.random() < 0.5:
            j = self.rng.choice([*self.names, "t", "n"])
            kinds = [
                *(f"{i} % 7", f"t % {c + 2}", f"({i} + t) % x.shape[0]", f"({i} * {j}) % 5"),
                *(f"{i} & 7", f"({i} ^ {j}) & 3", f"({i} | 1)", f"1 << ({i} & 3)", f"{i} >> 1"),
                *(f"{i} * {i}", f"{i} * {i} - {j}", f"{i} * {j} // 3", f"t // {c + 1}"),
                *(f"({i} + t) // 1073741824", "ti.abs(t) % 4", f"({i} * t) & 3", f"{i} // n"),
                *(f"(t + {c}) - t + {i}", f"ti.min(t, 4) + {c}", f"ti.max(t, {c})", f"1 << {c}"),
                *(f"ti.raw_mod({i} - 2, 3)", f"ti.raw_div({i} + t, 2)", f"{i} // -2 + {c}"),
                *(f"n % ({i} + 1)", f"t % (n - {c})", f"~{i} + 4", f"(t >> 29) + {c}"),
            ]
        if self.rich and self.rng.random() < 0.4:
            j = self.rng.choice([*self.names, "t", "n"])
            a, b = self.pick("i8", "u8", "i16", "u16"), self.rng.randrange(5) + 28
            kinds = [
                *(f"halves(ti.min({i}, 50))", f"first_above({i} + {c}, {j})", f"folded({i}, {j})"),
                *(f"halves(first_above({i}, 6))", f"ti.cast(ti.cast({i} * {j}, ti.{a}), ti.i32)"),
                *(f"ti.cast(ti.cast({j}, ti.i64) * {i} // 3, ti.i32)", f"ti.math.popcnt({i})"),
                *(f"ti.cast({i} < {self.fixed()}, ti.i32) + {c}", f"{i} ** 2 - {c}"),
                *(f"({i} - {c}) ** {c}", f"1 << (({i} + {c}) & 63) & 15", f"{i} >> {c}"),
                *(f"(ti.min({i}, 9) << {b}) >> {b}", f"(ti.max({i}, 1) << {j}) & 7"),
                *(f"ti.Vector([{i}, {j}, {c}])[{c}]", f"ti.Vector([{i}, {j}, {c}])[{i}]"),
                *(f"ti.Vector([{i}, {j}])[{j} % 2]", f"(ti.Vector([{i}, {j}]) * 2 - {c}).max()"),
                *(f"(ti.Vector([{i}, 1]) + ti.Vector([{j}, {c}])).sum()",),
                *(f"ti.math.clamp({i} - {c}, 0, {j})", f"({i} if {self.condition()} else {j})"),
            ]
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
        if self.wild:
            kinds += [f"({i} * t) % 3 == 1", f"t + {i} > 0", f"{i} & 1 == 0", f"t % 5 < {b}"]
        if self.rough:
            kinds += [f"{i} % 2 == 0", f"{a} < 3 * {i} < {a} + 2", f"{a} <= 2 * {i} <= {a}"]
        return self.rng.choice(kinds)

    def access(self, pad: str) -> None:
        form = self.pick("y[{0}] += 1.0", "y[{0}] += x[{1}]", "z[{0}, {1}] += 1.0", "x[{0}] += 0.5")
        self.lines.append(pad + form.format(self.index(), self.index()))

    def changed(self, pad: str, depth: int) -> None:
        """Write locals that are changed under conditions and in loops, and an access by them."""
        a, b, k = (f"{name}{self.count}" for name in "abk")
        self.count += 1
        w = self.lines.append
        w(f"{pad}{a} = {self.index()}")
        w(f"{pad}{b} = {self.index()}")
        form = self.rng.randrange(7)
        if form == 0:
            w(f"{pad}if {self.condition()}:")
            w(f"{pad}    {a} = {self.index()}")
            if self.rng.random() < 0.5:
                w(f"{pad}else:")
                w(f"{pad}    {b} = {a} + 1")
        elif form == 1:
            w(f"{pad}for {k} in range({self.fixed()}):")
            self.names += [a, b, k]
            w(f"{pad}    {a}, {b} = {self.pick(b, b, self.index())}, {self.pick(a, self.index())}")
            self.access(f"{pad}    ")
            self.names = self.names[:-3]
        elif form == 2:
            w(f"{pad}for {k} in range({self.pick('n', '4', '3')}):")
            self.names += [a, b, k]
            w(f"{pad}    if {self.condition()}:")
            w(f"{pad}        {self.pick('break', 'continue')}")
            w(f"{pad}    {a} = ({a} * 3 + {k}) % 7")
            if self.rng.random() < 0.5:
                w(f"{pad}    if {self.condition()}:")
                w(f"{pad}        {b} = {self.index()}")
                self.access(f"{pad}        ")
            self.names = self.names[:-3]
        elif form == 3:
            w(f"{pad}{k} = 0")
            w(f"{pad}while True:")
            self.names += [a, b, k]
            w(f"{pad}    {k} += 1")
            w(f"{pad}    if {k} > {self.pick('3', 'n', 'x.shape[0]')}:")
            w(f"{pad}        break")
            if self.rng.random() < 0.6:
                w(f"{pad}    if {self.condition()}:")
                w(f"{pad}        {self.pick('break', 'continue')}")
            self.access(f"{pad}    ")
            w(f"{pad}    {b} = {self.index()}")
            self.names = self.names[:-3]
        elif form == 4:
            w(f"{pad}for {k} in ti.static(range(3)):")
            self.names += [a, k]
            w(f"{pad}    if {self.condition()}:")
            w(f"{pad}        {a} += {k}")
            self.access(f"{pad}    ")
            self.names = self.names[:-2]
        elif form == 5:
            w(f"{pad}c{k} = {self.condition()}")
            w(f"{pad}for {k} in range({self.fixed()}, -1, {self.pick('-1', '-2')}):")
            self.names += [a, k]
            cond = self.condition()
            w(f"{pad}    c{k} = {self.pick(f'not c{k}', f'c{k} and {cond}', cond)}")
            w(f"{pad}    if c{k}:")
            self.access(f"{pad}        ")
            w(f"{pad}        {a} -= 1")
            self.names = self.names[:-2]
        else:
            w(f"{pad}v{k} = ti.Vector([{self.index()}, {a}, {b}])")
            w(f"{pad}for {k} in range({self.fixed()}):")
            self.names += [a, k]
            w(f"{pad}    v{k}[{self.pick(k, f'{k} % 3', a)}] = {self.index()}")
            self.names = self.names[:-2]
            self.names.append(f"v{k}[{self.pick('0', '1', '2')}]")
            self.access(pad)
            self.names.pop()
        self.names += [a, b]
        self.access(pad)
        self.names = self.names[:-2]

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
            if self.rich and depth and self.rng.random() < 0.35:
                self.changed(pad, depth)
            elif what < 0.45 or depth > 2:
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
        self.shape = tuple(map(Word, shape))
        self.value = value

    def __iter__(self) -> Iterator[int]:
        return map(Word, range(self.shape[0]))

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
    bounds = (a if isinstance(a, tuple) else (a,) for a in axes)
    return itertools.product(*(map(Word, range(*one)) for one in bounds))


class Word(int):
    """An integer of 32 bits: what passes its limits wraps around."""


def _wrapping(name: str) -> Callable[..., Word]:
    plain = getattr(int, name)

    def operation(*args: int) -> Word:
        if "shift" in name:  # all bits leave by 32, and by a negative number
            value, by = args[::-1] if name.startswith(("__rl", "__rr")) else args
            if not 0 <= by < 32:
                return Word(-1 if value < 0 and name.endswith("rshift__") else 0)
        return Word((plain(*args) + 2**31) % 2**32 - 2**31)

    return operation


for _name in "add sub mul floordiv mod and or xor lshift rshift pow".split():
    for _form in (f"__{_name}__", f"__r{_name}__"):
        setattr(Word, _form, _wrapping(_form))
for _name in "__neg__", "__abs__", "__invert__":
    setattr(Word, _name, _wrapping(_name))


def _raw_div(a: int, b: int) -> Word:
    return Word(abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1))


def _of_both(pick: Callable[..., int], a: int, b: int) -> int:
    """Return the lesser or the greater; of two literals, which have no limits, another one."""
    found = pick(a, b)
    return found if type(a) is type(b) is int else Word(found)


class Long(int):
    """An integer of 64 bits."""

    def __mul__(self, other: int) -> Long:
        return Long((int(self) * int(other) + 2**63) % 2**64 - 2**63)

    def __floordiv__(self, other: int) -> Long:
        return Long(int(self) // int(other))


def _cast(value: int, bits: int) -> int:
    """Return an integer of some bits; below zero without a sign."""
    if bits == 64:
        return Long(int(value))
    wraps, least = 2 ** abs(bits), 2 ** (bits - 1) if bits > 0 else 0
    return Word((int(value) + least) % wraps - least)


class Vec(list[Any]):
    """A vector."""

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise Outside(index)
        return Word(super().__getitem__(int(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not 0 <= index < len(self):
            raise Outside(index)
        super().__setitem__(int(index), Word(value))

    def __add__(self, other: Any) -> Vec:
        return Vec(Word(a) + b for a, b in zip(self, other, strict=True))

    def __mul__(self, other: Any) -> Vec:
        return Vec(Word(a) * other for a in self)

    def __sub__(self, other: int) -> Vec:
        return Vec(Word(a) - other for a in self)

    def max(self) -> int:
        return max(self)

    def sum(self) -> int:
        found = Word(0)
        for one in self:
            found = found + Word(one)
        return found


PLAIN: dict[str, Any] = {
    "Word": Word,
    "range": lambda *bounds: map(Word, range(*bounds)),
    "ti": SimpleNamespace(
        min=lambda a, b: _of_both(min, a, b),
        max=lambda a, b: _of_both(max, a, b),
        abs=abs,
        select=lambda c, a, b: Word(a if c else b),
        ndrange=_ndrange,
        raw_div=_raw_div,
        static=lambda one: map(int, one),
        cast=_cast,
        i8=8,
        u8=-8,
        i16=16,
        u16=-16,
        i32=32,
        i64=64,
        Vector=Vec,
        math=SimpleNamespace(
            clamp=lambda a, low, high: Word(min(max(a, low), high)),
            popcnt=lambda a: Word((int(a) % 2**32).bit_count()),
        ),
        raw_mod=lambda a, b: Word(a - b * _raw_div(a, b)),
    ),
}
"""What the names of kernels mean in plain Python."""


@dataclass(frozen=True)
class Given:
    """The arguments of a launch."""

    x: tuple[int]
    y: tuple[int]
    z: tuple[int, int]
    n: int
    t: int


def some_arguments(rng: random.Random, *, wild: bool = False) -> Given:
    """Return shapes and integers."""
    a, b, c = (rng.randrange(1, 7) for _ in range(3))
    n, t = rng.choice([a, b, rng.randrange(-1, 8)]), rng.randrange(-1, 7)
    big = rng.choice([0, 0, 3, 12])
    if wild:
        t = rng.choice([t, rng.randrange(-9, 0), 2**31 - 1 - rng.randrange(5), 2**30, -(2**31)])
    return Given((a + big,), (b + big,), (c + big, rng.choice([b, c, 9])), n, t)


def touches_outside(function: Callable[..., None], given: Given, value: float) -> bool | None:
    """Tell whether a kernel touches something outside, by running it in plain Python.

    None: that depends on a remainder by a divisor which is not positive.
    """
    x, y, z = (Watched(shape, value) for shape in (given.x, given.y, given.z))
    try:
        function(x, y, z, Word(given.n), Word(given.t))
    except Outside:
        return True
    except ZeroDivisionError:
        return None
    return False


def limits_of(function: Any) -> Limits | None:
    """Return the checks of a launch of a kernel."""
    lowered = lower(source_of(function), SIGNATURE, meaning_of, F32, {}, {})
    program = lowered.program
    tests = known_indices(derive(program))
    if tests is None:
        return None
    return Limits(tests, {p: k for k, p in enumerate(program.params)})


def refused(limits: Limits | None, given: Given) -> bool:
    """Tell whether a launch would be refused."""
    fields = (SimpleNamespace(shape=shape) for shape in (given.x, given.y, given.z))
    return limits is not None and limits.leaves([*fields, given.n, given.t])


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
    seeds: Sequence[int],
    folder: Path,
    *,
    rough: bool = False,
    wild: bool = False,
    rich: bool = False,
    launches: int = 12,
) -> tuple[list[Verdict], Count]:
    """Return the launches of some kernels that were judged wrongly."""
    file = folder / f"indices_{seeds[0]}_{int(rough)}{int(wild)}{int(rich)}.py"
    texts = [
        Writer(seed, rough=rough, wild=wild, rich=rich).kernel(f"kernel_{seed}") for seed in seeds
    ]
    file.write_text(HEAD + "".join(texts), encoding="utf-8")
    real = loaded(file)
    file.with_stem("plain").write_text(plain_text(HEAD + "".join(texts)))
    plain = loaded(file.with_stem("plain"))
    vars(plain).update(PLAIN)
    wrong: list[Verdict] = []
    count = Count()
    for seed, text in zip(seeds, texts, strict=True):
        rng = random.Random(seed)
        try:
            limits = limits_of(getattr(real, f"kernel_{seed}"))
        except TypeMismatch:  # of an unrolled loop an index is a literal, below zero
            continue
        for _ in range(launches):
            given = some_arguments(rng, wild=wild)
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


_LITERAL = re.compile(r"^( +\w+) = (\d+)$", re.MULTILINE)


def plain_text(text: str) -> str:
    """Return the text of kernels for plain Python, where a local is an integer of 32 bits."""
    return _LITERAL.sub(r"\1 = Word(\2)", text.replace("@dt.func\n", ""))


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
    dt.init(arch="python")
    names = ("rough", "wild", "rich")
    for flags in itertools.product((False, True), repeat=3):
        form = dict(zip(names, flags, strict=True))
        with tempfile.TemporaryDirectory() as folder:
            wrong, count = judge(range(first, last), Path(folder), **form)
        print(f"{form}: {count}, wrong {len(wrong)}, false {sum(v.false for v in wrong)}")
        for verdict in wrong[:5]:
            print(verdict)
            print(Writer(verdict.seed, **form).kernel("kernel"))
        failed += sum(v.false for v in wrong)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
