"""Fields in plain Python, which see who touches which of their elements how.

An access in a parallel loop is noted with the number of the iteration, so that two iterations that
meet are seen: at one element, and not both by loads or by one kind of atomic.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.hunt import functions
from tests.hunt.duals import Discard, Dual, apart, dual, quotient, remainder
from tests.hunt.small import Small, swizzle

MOST_STEPS = 4000  # iterations of loops in one launch


@dataclass
class Run:
    """The state of a launch: the iteration of its parallel loop, and its random draws.

    Args:
        seed: The seed of random numbers.
        stream: The first stream of the launch.
        iteration: The iteration of the parallel loop; None in serial code.
        loop: The number of parallel loops so far.
        loops: Their number in the kernel, where it may return before some of them.
        met: Where two iterations have met, and how.
    """

    seed: int = 0
    stream: int = 0
    iteration: int | None = None
    loop: int = 0
    loops: int = 0
    draws: int = 0
    steps: int = 0
    drawn: bool = False
    met: str = ""
    touched: dict[tuple[int, int], set[tuple[int, str]]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def note(self, memory: Memory, cell: int, how: str) -> None:
        """Note an access of an iteration."""
        if self.iteration is not None:
            self.touched.setdefault((id(memory), cell), set()).add((self.iteration, how))
            self.names[id(memory)] = memory.name

    def step(self) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Discard("runs for too long")
        return True

    def parallel(self, iterable: Iterable[Any]) -> Iterator[Any]:
        """Run a parallel loop."""
        self.loop += 1
        serial = self.draws
        for number, index in enumerate(iterable):
            self.iteration, self.draws = number, 0
            self.step()
            yield index
        self.iteration, self.draws = None, serial
        for (memory, _), accesses in self.touched.items():
            kinds = {how for _, how in accesses}
            several = len({iteration for iteration, _ in accesses}) > 1
            if several and (len(kinds) > 1 or kinds == {"store"}):
                self.met = f"{self.names[memory]} ({', '.join(sorted(kinds))})"
        self.touched.clear()

    def bits(self) -> list[int]:
        """Return four random words: pcg4d of the thread, the draw, the stream and the seed."""
        inside = self.iteration is not None
        stream = self.stream + (self.loop if inside else 0)
        words = (self.iteration or 0, self.draws, stream, self.seed)
        self.draws += 1
        self.drawn = True
        v = [(word * 1664525 + 1013904223) % 2**32 for word in words]

        def mix() -> None:
            for k, a, b in ((0, 1, 3), (1, 2, 0), (2, 0, 1), (3, 1, 2)):
                v[k] = (v[k] + v[a] * v[b]) % 2**32

        mix()
        v[:] = [word ^ (word >> 16) for word in v]
        mix()
        return v


# Fields


@dataclass(eq=False)
class Memory:
    """The contents of a field, one number after the other.

    Args:
        name: A name for reports.
        cells: The numbers.
        element: The shape of an element.
        graded: Whether it holds floats with tangents; other tangents are cut.
        cuts: Whether a tangent was cut.
    """

    name: str
    cells: list[Any]
    element: tuple[int, ...]
    graded: bool
    cuts: bool = False

    @functools.cached_property
    def width(self) -> int:
        return math.prod(self.element)

    @functools.cached_property
    def whole(self) -> bool:
        return isinstance(self.cells[0], int)

    def put(self, cell: int, value: Any) -> None:
        if self.whole:
            self.cells[cell] = int(value)
        else:
            value = dual(value)
            self.cuts |= not self.graded and value.dot != 0
            self.cells[cell] = value if self.graded else Dual(value.real)


def ndrange(*axes: Any) -> Any:
    ranges = [range(*axis) if isinstance(axis, tuple) else range(axis) for axis in axes]
    return ranges[0] if len(ranges) == 1 else itertools.product(*ranges)


class PlainField:
    """A field, or a part of one, as kernels see it."""

    def __init__(self, run: Callable[[], Run], memory: Memory, places: np.ndarray) -> None:
        self.run, self.memory, self.places = run, memory, places
        self.shape = places.shape

    def element(self, index: Any) -> Element:
        if index is None:
            index = ()
        elif not isinstance(index, (tuple, Small)):
            index = (index,)
        index = tuple(k for one in index for k in (one if isinstance(one, Small) else (one,)))
        if len(index) != len(self.shape):
            raise IndexError(index)
        for k, size in zip(index, self.shape, strict=True):
            if not 0 <= k < size:
                raise Discard("outside of the shape")
        return Element(self, int(self.places[index]) * self.memory.width)

    def __getitem__(self, index: Any) -> Any:
        return self.element(index).load()

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(ndrange(*self.shape))


class Element:
    """A place in memory: an element of a field, or a component of one."""

    def __init__(self, field: PlainField, cell: int, component: bool = False) -> None:
        self.memory, self.run = field.memory, field.run()
        self.field, self.cell = field, cell
        self.width = 1 if component else self.memory.width
        self.number = component or not self.memory.element

    def load(self) -> Any:
        for cell in range(self.cell, self.cell + self.width):
            self.run.note(self.memory, cell, "load")
        return self.held()

    def held(self) -> Any:
        if self.number:
            return self.memory.cells[self.cell]
        return Small(self.memory.cells[self.cell : self.cell + self.width], self.memory.element)

    def store(self, value: Any, how: str = "store") -> None:
        if self.number:
            values = [value]
        else:
            shape = self.memory.element
            values = value.parts if isinstance(value, Small) else [value] * self.width
            if isinstance(value, Small) and value.shape != shape:
                raise TypeError(f"{value.shape} in a field of {shape}")
        for cell, one in enumerate(values, self.cell):
            self.run.note(self.memory, cell, how)
            self.memory.put(cell, one)

    def part(self, key: Any) -> Element:
        """Return the place of a component."""
        if isinstance(key, str):
            (key,) = swizzle(key) or ()  # pyrefly: ignore[bad-unpacking]
        offset = Small(range(self.width), self.memory.element).at(key)
        return Element(self.field, self.cell + offset, component=True)

    def __getitem__(self, key: Any) -> Any:
        return self.part(key).load()

    def __getattr__(self, name: str) -> Any:
        return self.part(name).load()


@dataclass
class Component:
    """A component of a local vector or matrix."""

    of: Small
    key: Any

    def held(self) -> Any:
        return self.of[self.key]

    def store(self, value: Any, how: str = "store") -> None:
        self.of[self.key] = value


class PlainStruct:
    """A field of structs: `p[i].mass` and `p.mass[i]`."""

    def __init__(self, members: dict[str, PlainField], index: Any = ...) -> None:
        self.members, self.index = members, index

    def __getitem__(self, index: Any) -> PlainStruct:
        return PlainStruct(self.members, index)

    def __getattr__(self, name: str) -> Any:
        member = self.members[name]
        return member if self.index is ... else member[self.index]

    def __iter__(self) -> Iterator[Any]:
        return iter(next(iter(self.members.values())))

    @property
    def shape(self) -> tuple[int, ...]:
        return next(iter(self.members.values())).shape


def place(base: Any, key: Any) -> Any:
    """Return the target of `base[key] = ...`, or with a name of `base.name = ...`."""
    if isinstance(base, PlainField):
        return base.element(key)
    if isinstance(base, PlainStruct):
        if not isinstance(key, str):
            return base[key]
        member = base.members[key]
        return member if base.index is ... else member.element(base.index)
    if isinstance(base, Element):
        return base.part(key)
    if isinstance(key, str):
        (key,) = swizzle(key) or ()  # pyrefly: ignore[bad-unpacking]
    return Component(base, key)


def _divided(a: Any, b: Any) -> Any:
    return a / b if isinstance(a, (Dual, Small)) or isinstance(b, (Dual, Small)) else dual(a) / b


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divided,
    "floordiv": quotient,
    "mod": remainder,
    "pow": lambda a, b: a**b,
    "max": functions.largest,
    "min": functions.smallest,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
# How an operation on memory is noted: iterations may meet by one of the first kind.
ATOMIC = {"add": "add", "sub": "add"} | {
    name: name for name in ("mul", "div", "max", "min", "and", "or", "xor")
}


def change(name: str, at: Any, value: Any) -> Any:
    """Apply an operation to a place; return its old value."""
    before = at.held()
    how = ATOMIC.get(name)
    if how is None and isinstance(at, Element):
        at.load()
    if name in ("max", "min") and isinstance(at, Element):
        pairs = (
            zip(before.parts, value.parts, strict=True)
            if isinstance(before, Small)
            else [(before, value)]
        )
        # Equal ones share the derivative, however many they are.
        if any(apart(a, b) == 0 and (dual(a).dot or dual(b).dot) for a, b in pairs):
            raise Discard("a tie of an atomic maximum")
    at.store(OPERATIONS[name](before, value), how or "store")
    return before
