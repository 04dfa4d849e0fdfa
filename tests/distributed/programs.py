"""Random programs on several ranks: exchanges, launches, sums and writes, within any memory.

A program runs on a tape on all ranks, and in NumPy, where one process holds the fields of every
rank and a complex step gives the derivative along a random direction:

    python -m tests.distributed.programs 5000 --first 0 --ranks 1 2 3 4

Every program depends only on a number and on how many ranks there are; a failing one is shown in
its shortest form, whose text `check` takes.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from unittest import mock

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.arguments import Parser, positive_int
from difftile.distributed.boxes import Layout
from difftile.linearization.pullback import Pullback
from difftile.ranks import agree, current
from difftile.recording.limited_history import LimitedHistory
from difftile.substrate import current_session
from tests.broken_passes import break_off
from tests.fusing import fusing
from tests.ranks import RanksFailed, ranks

NAMES = "abc"  # fields of the grid; "s" is a number of each rank
LONGEST = 60  # actions
STEP = 1e-30  # of the complex step
BATCH = 25  # programs that ranks run in one task

Array: TypeAlias = npt.NDArray[Any]


# Kernels, and what they mean in NumPy


@dt.kernel
def spread1(y: Any, x: Any, a: float) -> None:
    """Combine neighbours along one axis."""
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.4 * x[i - 1] + a * ti.sin(x[i]) - 0.3 * x[i + 1]


@dt.kernel
def spread2(y: Any, x: Any, a: float) -> None:
    """Combine neighbours along two axes, across a corner as well."""
    for i, j in ti.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        y[i, j] = 0.4 * x[i - 1, j] + a * ti.sin(x[i, j]) - ti.sin(x[i, j + 1] * x[i + 1, j + 1])


@dt.kernel
def bend(x: Any, a: float) -> None:
    """Change each number by itself."""
    for k in ti.grouped(x):
        x[k] = ti.sin(1.5 * x[k] + a)


@dt.kernel
def couple(x: Any, y: Any, a: float) -> None:
    """Change each number by that of another field."""
    for k in ti.grouped(x):
        x[k] += a * ti.sin(x[k] * y[k])


@dt.kernel
def steer(x: Any, s: Any, a: float) -> None:
    """Change all numbers by one."""
    for k in ti.grouped(x):
        x[k] += a * ti.sin(s[None]) * x[k]


@dt.kernel
def weigh(s: Any, x: Any, a: float) -> None:
    """Add up squares, those in the halo included."""
    for k in ti.grouped(x):
        s[None] += a * x[k] * x[k]


def _spread1(y: Array, x: Array, a: float) -> None:
    y[1:-1] = 0.4 * x[:-2] + a * np.sin(x[1:-1]) - 0.3 * x[2:]


def _spread2(y: Array, x: Array, a: float) -> None:
    y[1:-1, 1:-1] = 0.4 * x[:-2, 1:-1] + a * np.sin(x[1:-1, 1:-1]) - np.sin(x[1:-1, 2:] * x[2:, 2:])


def _bend(x: Array, a: float) -> None:
    x[...] = np.sin(1.5 * x + a)


def _couple(x: Array, y: Array, a: float) -> None:
    x += a * np.sin(x * y)


def _steer(x: Array, s: Array, a: float) -> None:
    x += a * np.sin(s) * x


def _weigh(s: Array, x: Array, a: float) -> None:
    s += a * np.sum(x * x)


KERNELS: dict[str, tuple[Any, Callable[..., None], str]] = {
    "spread1": (spread1, _spread1, "ff"),
    "spread2": (spread2, _spread2, "ff"),
    "bend": (bend, _bend, "f"),
    "couple": (couple, _couple, "ff"),
    "steer": (steer, _steer, "fs"),
    "weigh": (weigh, _weigh, "sf"),
}
"""Kernels with their meaning, and the kinds of their fields: of the grid, or a number."""


# Actions

Fields: TypeAlias = dict[str, Any]


@dataclass
class Here:
    """The fields of this rank."""

    grid: dist.Grid
    at: Fields


@dataclass
class All:
    """The arrays of all ranks, by name.

    Args:
        layout: The grid.
        at: The arrays of each rank.
        nudge: The relative error of each result, to learn what rounding does to a program.
    """

    layout: Layout
    at: list[dict[str, Array]]
    nudge: float = 0.0
    _cells: dict[int, Any] = field(default_factory=dict)
    _rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def did(self, *names: str) -> None:
        """Nudge results."""
        for arrays in self.at if self.nudge else ():
            for name in names:
                array = arrays[name]
                array *= 1 + self.nudge * self._rng.normal(size=array.shape)

    def cells(self, rank: int) -> tuple[tuple[slice, ...], list[tuple[Any, Any]]]:
        """Return the box that a rank owns, and its halo.

        The box is in local indices; the halo is pairs of a local cell and that of the whole grid,
        those outside of the domain left out.
        """
        layout = self.layout
        if rank not in self._cells:
            pairs = list(zip(layout.own(rank), layout.halo, strict=True))
            inner = tuple(slice(h, h + b - a) for (a, b), h in pairs)
            halo: list[tuple[Any, Any]] = []
            for index in np.ndindex(tuple(b - a + 2 * h for (a, b), h in pairs)):
                place = [k + a - h for k, ((a, _), h) in zip(index, pairs, strict=True)]
                axes = list(zip(place, layout.shape, layout.periodic, strict=True))
                owned = all(s.start <= k < s.stop for k, s in zip(index, inner, strict=True))
                if not owned and all(p or 0 <= k < n for k, n, p in axes):
                    halo.append((index, tuple(k % n for k, n, _ in axes)))
            self._cells[rank] = inner, halo
        return self._cells[rank]

    def whole(self, name: str) -> Array:
        """Return a field of the whole grid."""
        found = np.zeros(self.layout.shape, complex)
        for rank, arrays in enumerate(self.at):
            found[self.box(rank)] = arrays[name][self.cells(rank)[0]]
        return found

    def fill(self, name: str, whole: Array) -> None:
        """Fill the halos of a field."""
        for rank, arrays in enumerate(self.at):
            for here, there in self.cells(rank)[1]:
                arrays[name][here] = whole[there]

    def accumulate(self, name: str) -> None:
        """Add halos to their owners and clear them."""
        added = np.zeros(self.layout.shape, complex)
        for rank, arrays in enumerate(self.at):
            for here, there in self.cells(rank)[1]:
                added[there] += arrays[name][here]
                arrays[name][here] = 0.0
        for rank, arrays in enumerate(self.at):
            arrays[name][self.cells(rank)[0]] += added[self.box(rank)]

    def box(self, rank: int) -> tuple[slice, ...]:
        """Return the box that a rank owns, in the whole grid."""
        return tuple(slice(*one) for one in self.layout.own(rank))


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel, on all ranks or on one."""

    name: str
    fields: tuple[str, ...]
    number: float
    only: int | None = None

    def run(self, here: Here) -> None:
        if self.only in (None, current().rank):
            KERNELS[self.name][0](*(here.at[f] for f in self.fields), self.number)

    def refer(self, run: All) -> None:
        for rank, arrays in enumerate(run.at):
            if self.only in (None, rank):
                KERNELS[self.name][1](*(arrays[f] for f in self.fields), self.number)
        run.did(*self.fields)


@dataclass(frozen=True)
class Exchange:
    """An exchange of fields, perhaps with other actions while messages travel."""

    fields: tuple[str, ...]
    meanwhile: tuple[Action, ...] | None = None

    def run(self, here: Here) -> None:
        fields = [here.at[f] for f in self.fields]
        if self.meanwhile is None:
            here.grid.exchange(*fields)
            return
        with here.grid.exchanging(*fields):
            for one in self.meanwhile:
                one.run(here)

    def refer(self, run: All) -> None:
        wholes = [run.whole(name) for name in self.fields]
        for one in self.meanwhile or ():
            one.refer(run)
        for name, whole in zip(self.fields, wholes, strict=True):
            run.fill(name, whole)


@dataclass(frozen=True)
class Accumulate:
    """Halos are added to their owners and cleared."""

    fields: tuple[str, ...]

    def run(self, here: Here) -> None:
        here.grid.accumulate(*(here.at[f] for f in self.fields))

    def refer(self, run: All) -> None:
        for name in self.fields:
            run.accumulate(name)


@dataclass(frozen=True)
class Combine:
    """The number of each rank becomes the sum or the mean of all."""

    op: str

    def run(self, here: Here) -> None:
        getattr(dist, self.op)(here.at["s"], local=True)

    def refer(self, run: All) -> None:
        result = getattr(np, self.op)([arrays["s"] for arrays in run.at], axis=0)
        for arrays in run.at:
            arrays["s"][...] = result
        run.did("s")


@dataclass(frozen=True)
class Write:
    """A write from Python: of a whole field, or of an element on one rank."""

    name: str
    value: float
    only: int | None

    def run(self, here: Here) -> None:
        field = here.at[self.name]
        if self.only is None:
            field.fill(self.value)
        elif self.only == current().rank:
            field[tuple(n // 2 for n in field.shape)] = self.value

    def refer(self, run: All) -> None:
        for rank, arrays in enumerate(run.at):
            array = arrays[self.name]
            if self.only is None:
                array[...] = self.value
            elif self.only == rank:
                array[tuple(n // 2 for n in array.shape)] = self.value


@dataclass(frozen=True)
class Copy:
    """A copy of one field into another."""

    target: str
    source: str

    def run(self, here: Here) -> None:
        here.at[self.target].copy_from(here.at[self.source])

    def refer(self, run: All) -> None:
        for arrays in run.at:
            arrays[self.target][...] = arrays[self.source]


@dataclass(frozen=True)
class Swap:
    """Two names change places."""

    one: str
    other: str

    def run(self, here: Here) -> None:
        here.at[self.one], here.at[self.other] = here.at[self.other], here.at[self.one]

    def refer(self, run: All) -> None:
        for arrays in run.at:
            arrays[self.one], arrays[self.other] = arrays[self.other], arrays[self.one]


@dataclass(frozen=True)
class Group:
    """Actions that are repeated, perhaps as a checkpointed function."""

    actions: tuple[Action, ...]
    times: int
    checkpointed: bool

    def run(self, here: Here) -> None:
        def once() -> None:
            for action in self.actions:
                action.run(here)

        function = dt.checkpoint(once) if self.checkpointed else once
        for _ in range(self.times):
            function()

    def refer(self, run: All) -> None:
        for _ in range(self.times):
            for action in self.actions:
                action.refer(run)


Action: TypeAlias = Launch | Exchange | Accumulate | Combine | Write | Copy | Swap | Group


@dataclass(frozen=True)
class Program:
    """A program for some ranks.

    Args:
        number: The seed of the contents and of the gradients that come in.
        shape: Cells of the grid.
        ranks: Boxes along each axis.
        halo: The width of the halo along each axis.
        periodic: Which axes are closed.
        actions: What the tape records.
        limit: Nothing, or "memory" in copies of all fields, or "snapshots"; and how many.
        alike: Whether all ranks have as much memory, instead of as much for their size.
        passes: The number of backward passes.
        fuse: Whether launches that repeat are fused.
        moody: Whether each rank finds its memory full now and then, at places of its own, so that
            it drops records and snapshots which the others hold.
        broken: The part of a pass after which it is broken off and asked for again; None if not.
    """

    number: int
    shape: tuple[int, ...]
    ranks: tuple[int, ...]
    halo: tuple[int, ...]
    periodic: tuple[bool, ...]
    actions: tuple[Action, ...]
    limit: tuple[str, float] | None
    alike: bool
    passes: int
    fuse: str | bool
    moody: bool
    broken: float | None = None


# Drawing


def draw(number: int, size: int) -> Program:
    """Return the program of a number."""
    rng = random.Random(1000 * number + size)
    axes = rng.choice((1, 1, 2))
    split = (size,)
    if axes == 2:
        ways = [(n, size // n) for n in range(1, size + 1) if size % n == 0]
        split = rng.choice(ways)
    limit = None
    if rng.random() < 0.7:
        kind = rng.choice(("memory", "memory", "snapshots"))
        limit = (kind, rng.choice((4.1, 5, 7, 12, 40) if kind == "memory" else (4, 5, 8)))
    actions = _actions(rng, rng.randint(1, 10), axes, size, deep=True)
    moody = number % 5 == 0
    if moody:
        limit = ("memory", rng.choice((5, 8, 12)))
        actions = (Group(actions, rng.choice((2, 4)), checkpointed=False),)
    while _length(actions) > LONGEST:
        actions = _fewer(actions)[0 if len(actions) > 1 else -1]
    return Program(
        number=number,
        shape=tuple(rng.randint(n, n + rng.choice((0, 1, 4, 7))) for n in split),
        ranks=split,
        halo=tuple(rng.choice((0, 1, 1, 1, 2, 3)) for _ in split),
        periodic=tuple(rng.random() < 0.5 for _ in split),
        actions=actions,
        limit=limit,
        alike=rng.random() < 0.5,
        passes=rng.choice((1, 1, 1, 2)),
        fuse="always" if number % 20 == 0 else False,
        moody=moody,
        broken=rng.random() if number % 3 == 0 else None,
    )


def _actions(
    rng: random.Random, count: int, axes: int, size: int, *, deep: bool
) -> tuple[Action, ...]:
    return tuple(_action(rng, axes, size, deep=deep) for _ in range(count))


def _action(rng: random.Random, axes: int, size: int, *, deep: bool) -> Action:
    kind = rng.random()
    if kind < 0.4:
        return _launch(rng, axes, size)
    if kind < 0.58:
        return _exchange(rng, axes, size)
    if kind < 0.62:
        return Accumulate(_some(rng))
    if kind < 0.66:
        return Combine(rng.choice(("sum", "mean")))
    if kind < 0.7:
        only = rng.choice((None, rng.randrange(size), rng.randrange(size)))
        return Write(rng.choice(NAMES), round(rng.uniform(-1, 1), 2), only)
    if kind < 0.74 or not deep:
        return rng.choice((Copy, Swap))(*rng.sample(NAMES, 2))
    inner = _actions(rng, rng.randint(1, 4), axes, size, deep=rng.random() < 0.3)
    return Group(inner, rng.choice((1, 2, 3, 7, 20)), rng.random() < 0.3)


def _launch(rng: random.Random, axes: int, size: int) -> Launch:
    name = rng.choice([n for n in KERNELS if n not in {"spread1", "spread2"} - {f"spread{axes}"}])
    kinds = KERNELS[name][2]
    found = iter(rng.sample(NAMES, kinds.count("f")))
    fields = tuple(next(found) if kind == "f" else "s" for kind in kinds)
    only = rng.randrange(size) if rng.random() < 0.1 else None
    return Launch(name, fields, round(rng.uniform(-0.3, 0.3), 2), only)


def _some(rng: random.Random) -> tuple[str, ...]:
    return tuple(rng.sample(NAMES, rng.choice((1, 1, 2))))


def _exchange(rng: random.Random, axes: int, size: int) -> Exchange:
    if rng.random() < 0.5:
        return Exchange(_some(rng))
    inside: list[Action] = []
    for _ in range(rng.randint(0, 3)):
        inside.append(_action(rng, axes, size, deep=False))
    return Exchange(_some(rng), tuple(a for a in inside if not isinstance(a, Swap)))


def _length(actions: Sequence[Action]) -> int:
    count = 0
    for one in actions:
        inside = one.actions if isinstance(one, Group) else getattr(one, "meanwhile", None) or ()
        count += one.times * _length(inside) if isinstance(one, Group) else 1 + _length(inside)
    return count


# Running


def check(text: str) -> str:
    """Compare a program with the reference, on all ranks together.

    Args:
        text: The program as `repr` shows it.

    Returns:
        The fault on this rank, or an empty text.
    """
    program: Program = eval(text)
    with fusing(program.fuse), ExitStack() as stack:
        try:
            return _check(program, stack)
        except Exception as error:
            raise RuntimeError(f"in {program}") from error


def check_many(numbers: Sequence[int], size: int) -> list[str]:
    """Return the fault of each program on this rank."""
    return [check(repr(draw(number, size))) for number in numbers]


def _started(program: Program) -> tuple[Layout, list[dict[str, Array]], list[dict[str, Array]]]:
    """Return the layout, and for each rank the contents at the start and a direction."""
    layout = Layout(program.shape, program.ranks, program.halo, program.periodic)
    rng = np.random.default_rng(program.number)
    found: tuple[list[dict[str, Array]], list[dict[str, Array]]] = ([], [])
    for rank in range(layout.count):
        pairs = zip(layout.own(rank), layout.halo, strict=True)
        shape = tuple(b - a + 2 * h for (a, b), h in pairs)
        for one in found:
            one.append(
                {n: np.asarray(rng.normal(size=() if n == "s" else shape)) for n in (*NAMES, "s")}
            )
    return layout, *found


def _refer(program: Program) -> tuple[All, All]:
    """Return the arrays at the end, with derivatives as imaginary parts, and those nudged."""
    runs: list[All] = []
    for nudge in (0.0, 1e-15):
        layout, start, towards = _started(program)
        at = [
            {n: np.array(a + 1j * STEP * d[n]) for n, a in s.items()}
            for s, d in zip(start, towards, strict=True)
        ]
        run = All(layout, at, nudge)
        run.did(*NAMES, "s")
        own = [dict(arrays) for arrays in at]
        for action in program.actions:
            action.refer(run)
        run.at = own  # whatever the names are by then
        runs.append(run)
    return runs[0], runs[1]


def _check(program: Program, stack: ExitStack) -> str:
    engine = current()
    rank = engine.rank
    _, start, towards = _started(program)
    expected, nudged = _refer(program)
    grid = dist.Grid(program.shape, program.ranks, halo=program.halo, periodic=program.periodic)
    fields: Fields = {n: grid.field(ti.f64, grad=True) for n in NAMES}
    fields["s"] = dt.zeros((), dtype=ti.f64, grad=True)
    for name, values in start[rank].items():
        fields[name].from_numpy(values)
    here = Here(grid, dict(fields))
    limits = _limits(program, grid, fields)
    if program.moody:
        stack.enter_context(_moods(random.Random(f"{program.number} {rank}")))
    pool = current_session().pool
    base = pool.kept
    with dt.Tape(**limits) as tape:
        for action in program.actions:
            action.run(here)
    rng = np.random.default_rng((2, program.number, rank))
    seeds = {n: rng.normal(size=f.shape) for n, f in fields.items()}
    written = {one.storage for one in tape.written}
    faults: list[str] = []
    given = {fields[n]: s for n, s in seeds.items() if fields[n].storage in written}
    for n, s in seeds.items():
        if fields[n].storage not in written:
            seeds[n] = np.zeros_like(s)
    # A tape that recorded nothing on one rank still takes part in the exchanges of others.
    if agree(float(len(given)), "min") == 0.0:
        tape.release()
        return ""
    for k in range(program.passes):
        tape.backward(given, keep=k + 1 < program.passes)
    if "memory" in limits and tape.peak_nbytes > limits["memory"]:
        faults.append(f"{tape.peak_nbytes} bytes kept, of {limits['memory']}")
    if pool.kept != base:
        faults.append(f"{pool.kept - base} bytes are not given back")
    terms = noise = products = size = 0.0
    for name, one in fields.items():
        wanted, moved = expected.at[rank][name], nudged.at[rank][name]
        apart = float(np.max(np.abs(one.to_numpy() - wanted.real), initial=0.0))
        large = float(np.max(np.abs(wanted), initial=0.0))
        noisy = 100 * float(np.max(np.abs(moved - wanted), initial=0.0))
        if not apart <= 1e-11 + 1e-14 * large + noisy:
            faults.append(f"{name} holds {one.to_numpy()}, not {wanted.real}")
        tangents = program.passes * seeds[name] * wanted.imag / STEP
        terms += float(np.sum(tangents))
        noise += float(np.sum(np.abs(tangents - program.passes * seeds[name] * moved.imag / STEP)))
        products += float(np.sum(one.grad.to_numpy() * towards[rank][name]))
        size += float(np.sum(np.abs(tangents)))
    terms, products, size, noise = (agree(one) for one in (terms, products, size, noise))
    if not abs(terms - products) <= 1e-12 * (size + 1e-3) + 100 * noise:
        faults.append(f"along the gradient {products}, not {terms}")
    if program.broken is not None:
        gradients = {n: one.grad.to_numpy() / program.passes for n, one in fields.items()}
        for name, values in start[rank].items():
            fields[name].from_numpy(values)
        faults += _asked_again(program, Here(grid, dict(fields)), given, gradients, size)
    return "; ".join(faults)


def _asked_again(
    program: Program, here: Here, seeds: Any, gradients: Mapping[str, Array], size: float
) -> list[str]:
    """Break a pass off before a step of all ranks, and compare the next pass with the tape."""
    assert program.broken is not None
    fields = dict(here.at)

    def run() -> None:
        for action in program.actions:
            action.run(here)

    linear = Pullback(run)
    wrt = list(fields.values())
    break_off(linear, seeds, wrt, program.broken, lambda record: record.step.communicates)
    bars = linear.pull(seeds, wrt)
    faults = [
        f"the gradient of {name} is {bars[fields[name]].to_numpy()} after a pass that was broken "
        f"off, not {wanted}"
        for name, wanted in gradients.items()
        if not np.allclose(bars[fields[name]].to_numpy(), wanted, 1e-10, 1e-10 * (1 + size))
    ]
    linear.release()
    return faults


def _moods(rng: random.Random) -> AbstractContextManager[object]:
    """Make tapes find their memory full now and then, where there is something to drop."""
    kept: Any = LimitedHistory._kept.fget

    def found(history: LimitedHistory) -> float:
        frame = sys._getframe(1)
        if rng.random() < 0.05 and _can_drop(frame.f_code.co_name, frame.f_locals):
            return math.inf
        return kept(history)

    return mock.patch.object(LimitedHistory, "_kept", property(found))


def _can_drop(function: str, here: Mapping[str, Any]) -> bool:
    """Tell whether a function of a tape that is told its memory is full has something to drop."""
    if function != "make_room":
        return False
    records = here["run"].records and not ("plan" in here and here["plan"].narrow)
    return bool(records or here["snapshots"].taken or len(here["ahead"]) > 2)


def _limits(program: Program, grid: dist.Grid, fields: Fields) -> dict[str, Any]:
    """Return the arguments of the tape."""
    if program.limit is None:
        return {}
    kind, count = program.limit
    if kind == "snapshots":
        return {kind: int(count)}
    split = fields["a"].split
    messages = 8 * 3 * (split._sends.size + split._receives.size)  # of one field, and of two
    nbytes = sum(f.storage.memory.nbytes for f in fields.values()) + messages
    if program.alike:
        nbytes = int(agree(float(nbytes), "max"))
    return {kind: int(count * nbytes)}


# Failures


def fails(program: Program) -> str:
    """Return the fault of a program, or an empty text."""
    size = int(np.prod(program.ranks))
    try:
        found = ranks(size).run(check, repr(program), patience=60.0)
    except RanksFailed as failed:
        return str(failed)
    return "; ".join(f"rank {k}: {one}" for k, one in enumerate(found) if one)


def shortest(program: Program) -> Program:
    """Return a program that still fails, with as little left in it as possible."""
    shorter = True
    while shorter:
        shorter = False
        for option in _shorter(program):
            if fails(option):
                program, shorter = option, True
                break
    return program


def _shorter(program: Program) -> list[Program]:
    options = [
        replace(program, limit=None),
        replace(program, passes=1),
        replace(program, fuse=False),
        replace(program, moody=False),
        replace(program, broken=None),
        replace(program, periodic=(False,) * len(program.periodic)),
        replace(program, halo=(1,) * len(program.halo)),
        *(replace(program, actions=shorter) for shorter in _fewer(program.actions)),
    ]
    return [one for one in options if one != program and one.actions]


def _fewer(actions: tuple[Action, ...]) -> list[tuple[Action, ...]]:
    found: list[tuple[Action, ...]] = []
    for k, action in enumerate(actions):
        head, tail = actions[:k], actions[k + 1 :]
        found.append(head + tail)
        if isinstance(action, Exchange) and action.meanwhile is not None:
            found.append((*head, *action.meanwhile, *tail))
            found.append((*head, replace(action, meanwhile=None), *tail))
            found += [
                (*head, replace(action, meanwhile=m), *tail) for m in _fewer(action.meanwhile)
            ]
        if isinstance(action, Group):
            found.append(head + action.actions + tail)
            if action.checkpointed:
                found.append((*head, replace(action, checkpointed=False), *tail))
            if action.times > 1:
                found.append((*head, replace(action, times=action.times - 1), *tail))
            found += [(*head, replace(action, actions=a), *tail) for a in _fewer(action.actions)]
    return found


def run(
    numbers: Sequence[int],
    size: int,
    report: Callable[[str], object] = print,
    *,
    most: int = 5,
) -> list[int]:
    """Check programs; report those that are wrong, and return their numbers.

    Args:
        numbers: Their numbers.
        size: The number of ranks.
        report: Called with a text for each that is wrong.
        most: How many wrong ones are enough.
    """
    wrong: list[int] = []
    for first in range(0, len(numbers), BATCH):
        batch = numbers[first : first + BATCH]
        try:
            found = ranks(size).run(check_many, list(batch), size, patience=300.0)
            suspects = [
                n for n, one in zip(batch, zip(*found, strict=True), strict=True) if any(one)
            ]
        except RanksFailed:
            suspects = [n for n in batch if fails(draw(n, size))]
        for number in suspects:
            wrong.append(number)
            small = shortest(draw(number, size))
            report(f"program {number} on {size} ranks: {fails(small)}\n  {small}")
            if len(wrong) == most:
                return wrong
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Check many programs; return 1 if one is wrong."""
    parser = Parser("python -m tests.distributed.programs", __doc__)
    parser.add_argument("count", type=positive_int, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first of them; default: 0")
    parser.add_argument("--ranks", type=positive_int, nargs="+", default=[1, 2, 3, 4])
    options = parser.parse_args(argv)
    started = time.perf_counter()
    wrong: list[tuple[int, int]] = []
    for k, size in enumerate(options.ranks):
        numbers = range(options.first + k, options.first + options.count, len(options.ranks))
        wrong += [(n, size) for n in run(numbers, size)]
    seconds = time.perf_counter() - started
    print(f"{options.count} programs in {seconds:.0f} s, {len(wrong)} of them wrong: {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
