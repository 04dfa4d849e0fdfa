"""Random programs of launches, custom ops and writes from Python, and their results on a tape.

A program is a tree of actions on a few fields. It runs on a tape, with or without a limit, and in
NumPy, where a complex step gives the derivative along a random direction:

    python -m tests.tape_programs 20000 --first 0

Every program depends only on a number; a failing one is shown in its shortest form. Programs of odd
numbers run fused, and the others unfused; `--twice` runs each in both ways. With `--shared`, arrays
of NumPy share the memory of some fields, and write there at any time: either the gradient is that
of the reference, or a TapeError is due.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import taichi as ti

import difftile as dt
from difftile.arguments import Parser, positive_int
from difftile.fields.recording import RECORDING
from difftile.runtime.tape import Tape
from difftile.substrate import current_session
from tests.fusing import fusing
from tests.tape_kernels import SPECS
from tests.tape_ops import HOST_OPS

N, SHORT = 5, 3
SHAPES: dict[str, tuple[int, ...]] = {
    **{name: (N,) for name in "abcw"},
    "m": (SHORT,),
    "u": (N, 2),
    "k": (),
    "l": (),
}
GRADED = "abcmukl"
OF_KIND = {"n": "abc", "m": "m", "k": "kl", "u": "u", "g": "g", "w": "w"}
LONGEST = 100  # actions
# Of fields that are launched over; whole ones, backwards, where another field goes with them.
PARTS = (
    (slice(1, 4), slice(0, None, 2), slice(None, None, -1), slice(2, 3)),
    (slice(None, None, -1),),
)
STEP = 1e-30  # of the complex step
ROUNDING = 1e-15


class Refused(Exception):
    """A TapeError is due: others have written into a field that the tape has used."""


@dataclass(eq=False)
class Cell:
    """An array of the reference and its history."""

    name: str
    array: Any
    read_or_written: bool = False
    written_at: int = -1
    used: bool = False
    """Whether the tape has met it."""
    overwritten: bool = False
    """Whether another array has changed it since then."""


@dataclass
class Reference:
    """A run in NumPy: the arrays by name, and the number of actions so far."""

    at: dict[str, Cell]
    kicks: Mapping[tuple[str, int], Any] = field(default_factory=dict)
    taped: bool = True
    count: int = 0

    def use(self, cell: Cell, *, replaced: bool = False) -> None:
        """Note that the tape is about to use a cell, or only to replace all of it.

        Raises:
            Refused: Others have written there.
        """
        if not self.taped:
            return
        if cell.overwritten and cell.name in GRADED and not replaced:
            raise Refused(cell.name)
        cell.used, cell.overwritten = True, False

    def did(
        self, touched: Sequence[Cell], written: Sequence[Cell], *, replaced: bool = False
    ) -> None:
        """Note an action, and move the values that it has written if that is asked for."""
        for cell in touched:
            self.use(cell, replaced=replaced and cell in written)
        if self.taped:
            for cell in touched:
                cell.read_or_written = True
            for cell in written:
                cell.written_at = self.count
                kick = self.kicks.get((cell.name, self.count))
                if kick is not None:
                    cell.array += kick
            self.count += 1


Fields: TypeAlias = dict[str, dt.Field]


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel, with a part of its first field if so said."""

    name: str
    fields: tuple[str, ...]
    numbers: tuple[float, ...]
    part: slice | None = None

    def run(self, at: Fields) -> None:
        fields: list[Any] = [at[f] for f in self.fields]
        if self.part is not None:
            fields[0] = fields[0][self.part]
        SPECS[self.name].kernel(*fields, *self.numbers)

    def refer(self, run: Reference) -> None:
        spec = SPECS[self.name]
        cells = [run.at[f] for f in self.fields]
        arrays = [c.array for c in cells]
        if self.part is not None:
            arrays[0] = arrays[0][self.part]
        spec.reference(*arrays, *self.numbers)
        run.did(cells, list({id(cells[k]): cells[k] for k in spec.writes}.values()))


@dataclass(frozen=True)
class Host:
    """A call of a custom op, with a part of its last field if so said."""

    name: str
    fields: tuple[str, ...]
    part: slice | None = None

    def run(self, at: Fields) -> None:
        HOST_OPS[self.name].op(*self._arguments([at[f] for f in self.fields]))

    def refer(self, run: Reference) -> None:
        cells = [run.at[f] for f in self.fields]
        HOST_OPS[self.name].reference(*self._arguments([c.array for c in cells]))
        run.did(cells, [cells[-1]])

    def _arguments(self, given: list[Any]) -> list[Any]:
        return given if self.part is None else [one[self.part] for one in given]


@dataclass(frozen=True)
class Write:
    """A write from Python: of one element, or with None of the whole field."""

    name: str
    index: Any
    values: Any

    def run(self, at: Fields) -> None:
        target = at[self.name]
        if self.index is not None:
            target[self.index] = self.values
        elif np.shape(self.values):
            target.from_numpy(self.values)
        elif self.values:
            target.fill(self.values)
        else:
            target.clear()

    def refer(self, run: Reference) -> None:
        cell = run.at[self.name]
        cell.array[... if self.index is None else self.index] = self.values
        run.did([cell], [cell], replaced=self.index is None)


@dataclass(frozen=True)
class Copy:
    """A copy of one field into another."""

    target: str
    source: str

    def run(self, at: Fields) -> None:
        at[self.target].copy_from(at[self.source])

    def refer(self, run: Reference) -> None:
        target, source = run.at[self.target], run.at[self.source]
        if target is not source:
            target.array[...] = source.array
            run.did([target, source], [target], replaced=True)


@dataclass(frozen=True)
class Part:
    """A write from Python into every so many elements of a long field, or a copy between such."""

    target: str
    source: str | None
    where: tuple[slice, slice]
    values: Any

    def run(self, at: Fields) -> None:
        part = at[self.target][self.where[0]]
        if self.source is not None:
            part.copy_from(at[self.source][self.where[1]])
        elif np.shape(self.values):
            part.from_numpy(self.values)
        else:
            part.fill(self.values)

    def refer(self, run: Reference) -> None:
        target = run.at[self.target]
        source = target if self.source is None else run.at[self.source]
        values = self.values if self.source is None else source.array[self.where[1]].copy()
        target.array[self.where[0]] = values
        run.did([target, source], [target])


@dataclass(frozen=True)
class Swap:
    """Two names change places, as in `a, b = b, a`."""

    one: str
    other: str

    def run(self, at: dict[str, Any]) -> None:
        at[self.one], at[self.other] = at[self.other], at[self.one]

    def refer(self, run: Reference) -> None:
        self.run(run.at)


@dataclass(frozen=True)
class Read:
    """A field is read from Python."""

    name: str

    def run(self, at: Fields) -> None:
        with dt.no_grad():  # what is read goes nowhere
            at[self.name].to_numpy()

    def refer(self, run: Reference) -> None:
        run.use(run.at[self.name])


@dataclass(frozen=True)
class Cut:
    """A copy under `dt.no_grad()`: of the field itself, or a part of it, or of another one."""

    target: str
    source: str
    part: slice | None

    def run(self, at: Fields) -> None:
        target, source = at[self.target], at[self.source]
        with dt.no_grad():
            if self.part is None:
                target.copy_from(source)
            else:
                target[self.part] = source[self.part]

    def refer(self, run: Reference) -> None:
        target, source = run.at[self.target], run.at[self.source]
        where = slice(None) if self.part is None else self.part
        target.array[where] = source.array[where].real
        # What others have written into a field that becomes constant is a constant as well.
        alone, known = self.target == self.source, source.read_or_written
        run.did([target, source], [target], replaced=alone and self.part is None)
        if not alone:
            source.read_or_written = known  # derivatives do not see it


@dataclass(frozen=True)
class Foreign:
    """A write through an array that shares the memory of a field, perhaps from now on only."""

    name: str
    index: Any
    values: Any
    stays: bool

    def run(self, at: Fields) -> None:
        storage = at[self.name].storage
        array = SHARING.get(storage)
        if array is None:
            array = np.asarray(at[self.name], copy=False)
        if self.stays:
            SHARING[storage] = array
        array[... if self.index is None else self.index] = self.values

    def refer(self, run: Reference) -> None:
        cell = run.at[self.name]
        before = cell.array.real.copy()
        # The gradient is that of what the tape finds, or nothing that the tape knows has changed.
        cell.array.real[... if self.index is None else self.index] = self.values
        changed = not np.array_equal(before, cell.array.real)
        cell.overwritten |= run.taped and cell.used and changed


SHARING: dict[Any, Any] = {}
"""The array that shares the memory of a field, by the field's storage."""


@dataclass(frozen=True)
class Group:
    """Actions that are repeated, perhaps as a checkpointed function."""

    actions: tuple[Action, ...]
    times: int
    checkpointed: bool

    def run(self, at: Fields) -> None:
        def once() -> None:
            for action in self.actions:
                action.run(at)

        function = dt.checkpoint(once) if self.checkpointed else once
        for _ in range(self.times):
            function()

    def refer(self, run: Reference) -> None:
        for _ in range(self.times):
            for action in self.actions:
                action.refer(run)


Action: TypeAlias = Launch | Host | Write | Copy | Part | Swap | Read | Cut | Foreign | Group


@dataclass(frozen=True)
class Program:
    """A program, and the way to differentiate it.

    Args:
        number: The seed of the program and of the values of fields.
        before: Actions before the tape is opened.
        actions: Actions on the tape.
        after: Actions between the block and `backward`.
        limits: Arguments of the tape; its memory in units of all fields together.
        seeds: For each pass the outputs that have seeds, and whether these are fields.
        retain: Fields that keep the gradient with respect to their last contents.
        separate: Fields with a `grad_in` and a `grad_out`.
        out_alone: Fields with only a `grad_out`.
        accumulate: Whether gradients are added to their previous values.
        fuse: Whether launches that repeat are fused, as in `dt.init`.
        shared: The fields that share memory with arrays from the start, and how.
        zeros: The fields that start as zeros.
    """

    number: int
    before: tuple[Action, ...]
    actions: tuple[Action, ...]
    after: tuple[Action, ...]
    limits: tuple[tuple[str, Any], ...]
    seeds: tuple[tuple[str, ...], ...]
    retain: tuple[str, ...]
    separate: str
    out_alone: str
    accumulate: bool
    fuse: str | bool
    shared: tuple[tuple[str, str], ...] = ()
    zeros: str = ""


# Drawing


def draw(number: int) -> Program:
    """Return the program of a number."""
    rng = random.Random(number)
    limits: tuple[tuple[str, Any], ...] = ()
    kind = rng.random()
    if kind < 0.35:
        limits = (("memory", rng.choice((3, 3.5, 4, 6, 10, 20, 50))),)
    elif kind < 0.5:
        limits = (("snapshots", rng.choice((3, 4, 5, 8, 20))),)
    separate = "".join(f for f in GRADED if rng.random() < 0.1)
    alone = "".join(f for f in GRADED if f not in separate and rng.random() < 0.05)
    passes = rng.choice((1, 1, 1, 2, 3))
    actions = _actions(rng, rng.randint(1, 12), deep=True)
    while _length(actions) > LONGEST:
        actions = actions[1:]
    fuse = "always" if number % 2 else False
    if fuse:
        at = rng.randint(0, len(actions))
        actions = (*actions[:at], _repetition(random.Random(number // 50)), *actions[at:])
    zeros = ""
    if number % 10 in (4, 7):
        zeros, actions = _from_zeros(random.Random(-(10**9) - number), actions)
    if number % 10 in (3, 8):
        actions = _with_cuts(random.Random(-(10**8) - number), actions)
    return Program(
        number=number,
        before=_actions(rng, rng.choice((0, 0, 2)), deep=False),
        actions=actions,
        after=_actions(rng, rng.choice((0, 0, 2)), deep=False),
        limits=limits,
        seeds=tuple(
            tuple(rng.sample(GRADED, rng.randint(0 if separate else 1, 3))) for _ in range(passes)
        ),
        retain=tuple(rng.sample(GRADED, rng.choice((0, 0, 1, 2)))),
        separate=separate,
        out_alone=alone,
        accumulate=rng.random() < 0.2,
        fuse=fuse,
        zeros=zeros,
    )


def _from_zeros(rng: random.Random, actions: tuple[Action, ...]) -> tuple[str, tuple[Action, ...]]:
    """Return fields that start as zeros, and actions that pass zeros on as well."""
    zeros = "".join(name for name in GRADED if rng.random() < 0.7)
    for _ in range(rng.randint(1, 2)):
        at = rng.randint(0, min(2, len(actions)))
        relay = Host("relay", tuple(rng.sample("abc", 2)), rng.choice((None, *PARTS[0])))
        actions = (*actions[:at], relay, *actions[at:])
    return zeros, actions


def _with_cuts(rng: random.Random, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return actions with copies under `dt.no_grad()`, mostly of a field to itself."""
    for _ in range(rng.randint(1, 3)):
        at, target = rng.randint(0, len(actions)), rng.choice("abcu")
        source = rng.choice("abcw") if target != "u" and rng.random() < 0.3 else target
        cut = Cut(target, source, rng.choice((None, *PARTS[0])))
        actions = (*actions[:at], cut, *actions[at:])
    return actions


def share(program: Program) -> Program:
    """Return a program in which arrays share the memory of some fields, and write there."""
    rng = random.Random(-1 - program.number)
    names = [name for name in SHAPES if rng.random() < 0.4]
    ways = ("over an array", "under an array", "with its gradient")
    shared = tuple((name, rng.choice(ways)) for name in names)
    often = rng.choice((0.0, 0.05, 0.2))  # mostly none, as each may end the program with an error
    parts = ("before", "actions", "after")
    more = {part: _with_foreign(rng, getattr(program, part), often) for part in parts}
    return replace(program, shared=shared, **more)


def _with_foreign(
    rng: random.Random, actions: tuple[Action, ...], often: float
) -> tuple[Action, ...]:
    found: list[Action] = []
    for action in actions:
        if rng.random() < often:
            write = _write(rng)
            values = 0.25 if np.all(write.values == 0) else write.values  # not a zero of two signs
            found.append(Foreign(write.name, write.index, values, rng.random() < 0.7))
        inner = action
        if isinstance(action, Group):
            inner = replace(action, actions=_with_foreign(rng, action.actions, often / 4))
        found.append(inner)
    return tuple(found)


def _actions(rng: random.Random, count: int, *, deep: bool) -> tuple[Action, ...]:
    return tuple(_action(rng, deep=deep) for _ in range(count))


def _repetition(rng: random.Random) -> Group:
    """Return launches that repeat, with fields that change places; fifty programs share them."""
    actions: list[Action] = [_launch(rng) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.4:
        actions.append(Swap(*rng.sample(rng.choice(("abc", "abc", "kl")), 2)))
    return Group(tuple(actions), rng.randint(4, 12), rng.random() < 0.2)


def _length(actions: tuple[Action, ...]) -> int:
    return sum(a.times * _length(a.actions) if isinstance(a, Group) else 1 for a in actions)


def _action(rng: random.Random, *, deep: bool) -> Action:
    kind = rng.random()
    if kind < 0.52:
        return _launch(rng)
    if kind < 0.62:
        return _host(rng)
    if kind < 0.73:
        return _write(rng)
    if kind < 0.78:
        return _part(rng)
    if kind < 0.83:
        target = rng.choice("abckl")
        return Copy(target, rng.choice("kl" if target in "kl" else "abcw"))
    if kind < 0.88:
        return Swap(*rng.sample(rng.choice(("abc", "abc", "abc", "kl")), 2))
    if kind < 0.9 or not deep:
        return Read(rng.choice(list(SHAPES)))
    inner = _actions(rng, rng.randint(1, 4), deep=rng.random() < 0.3)
    return Group(inner, rng.choice((1, 2, 3, 7, 20)), rng.random() < 0.4)


def _launch(rng: random.Random) -> Launch:
    name = rng.choice(list(SPECS))
    spec = SPECS[name]
    while True:
        fields = tuple(rng.choice(OF_KIND[kind]) for kind in spec.kinds)
        apart = [fields[k] for k in spec.apart]
        if len(set(apart)) == len(apart):
            break
    numbers = tuple(
        rng.randint(1, N) if kind == "int" else round(rng.uniform(-1, 1), 3)
        for kind in spec.numbers
    )
    part = None
    if name in ("update", "set_all", "reduce") and len(set(fields)) == len(fields):
        part = rng.choice((None, *PARTS[name == "reduce"]))
    return Launch(name, fields, numbers, part)


def _host(rng: random.Random) -> Host:
    name = rng.choice([op for op in HOST_OPS if op != "relay"])  # which `_from_zeros` adds
    fields = tuple(rng.sample("abc", HOST_OPS[name].count))
    if len(fields) == 2 and rng.random() < 0.1:
        fields = ("w", fields[1])
    return Host(name, fields, rng.choice((None, None, *PARTS[0])))


def _write(rng: random.Random) -> Write:
    name = rng.choice(list(SHAPES))
    shape = SHAPES[name]
    outer = shape[:1]
    values = np.random.default_rng(rng.getrandbits(32))
    how = rng.random()
    if how < 0.4:
        index = tuple(rng.randrange(n) for n in outer)
        inner = values.uniform(-1, 1, shape[1:])
        return Write(name, index, inner if inner.shape else float(inner))
    if how < 0.6:
        return Write(name, None, values.uniform(-1, 1, shape))
    return Write(name, None, 0.0 if how < 0.8 else round(rng.uniform(-1, 1), 3))


def _part(rng: random.Random) -> Part:
    size, step = rng.choice(((1, 1), (2, 1), (2, 2), (3, 2), (3, 1), (5, 1)))
    first, second = (rng.randint(0, N - 1 - (size - 1) * step) for _ in range(2))
    where = tuple(slice(k, k + (size - 1) * step + 1, step) for k in (first, second))
    target, source = rng.sample("abc", 2)
    if rng.random() < 0.5:
        return Part(target, source, (where[0], where[1]), None)
    values = np.random.default_rng(rng.getrandbits(32)).uniform(-1, 1, size)
    return Part(target, None, (where[0], where[1]), values if rng.random() < 0.5 else 0.25)


# Checking


class Wrong(AssertionError):
    """A program of which the tape says something else than the reference."""


def values_of(number: int) -> tuple[dict[str, Any], np.random.Generator]:
    rng = np.random.default_rng(number)
    start = {name: rng.uniform(-1, 1, shape) for name, shape in SHAPES.items()}
    start["g"] = rng.integers(0, N, N).astype(np.int32)
    return start, rng


def fields_of(program: Program, start: Mapping[str, Any]) -> Fields:
    at: Fields = {}
    shared = dict(program.shared)
    for name, values in start.items():
        made = _made(name, values, shared.get(name, ""))
        if name in program.zeros and not values.any():
            made.clear()  # so that the library knows
        if name in GRADED:
            zeros = [
                _made(name, np.zeros(values.shape), shared.get(name, "").partition("gradient")[1])
                for _ in range(2)
            ]
            if name in program.separate:
                made = made.with_grads(*zeros)
            elif name in program.out_alone:
                made = made.with_grads(grad_out=zeros[0])
            elif name in shared:
                made = made.with_grads(zeros[0], zeros[0])
            else:
                made = made.with_grads()
        at[name] = made
    return at


def limits_of(program: Program, fields: Fields) -> dict[str, Any]:
    """Return the arguments of the tape; fields that may become shared need a copy more."""
    twice = 2 if program.shared or "Foreign" in repr(program) else 1
    state = sum(f.nbytes for f in fields.values())
    return {k: int(twice * v * state) if k == "memory" else v for k, v in program.limits}


def _made(name: str, values: Any, shared: str) -> dt.Field:
    """Return a field, which an array shares or not."""
    dtype = dt.vec(2, ti.f64) if name == "u" else None
    if shared == "over an array":
        # Aligned to a number and to nothing wider.
        array = np.zeros(values.size + 1, values.dtype)[1:].reshape(values.shape)
        array[...] = values
        made = dt.from_dlpack(array, dtype)
        SHARING[made.storage] = array
        return made
    made = dt.from_numpy(values, dtype)
    if shared:
        SHARING[made.storage] = np.asarray(made, copy=False)
    return made


def refer(
    program: Program, start: Mapping[str, Any], kicks: Mapping[tuple[str, int], Any]
) -> tuple[dict[str, Cell], dict[str, Any], dict[str, Any]]:
    """Run in NumPy; return the cells, and their contents after the block and at the end."""
    dtype = complex if kicks else float
    cells = {
        name: Cell(name, values.copy() if name == "g" else values.astype(dtype))
        for name, values in start.items()
    }
    run = Reference(dict(cells), kicks, taped=False)
    for action in program.before:
        action.refer(run)
    for name, cell in cells.items():
        kick = kicks.get((name, -1))
        if kick is not None:
            cell.array += kick
    run.taped = True
    for action in program.actions:
        action.refer(run)
    for cell in cells.values():
        ends = cell.written_at >= 0 or cell.name in program.separate
        if cell.overwritten and ends and cell.name in GRADED:
            raise Refused(cell.name)
    block = {name: cell.array.copy() for name, cell in cells.items()}
    run.taped = False
    for action in program.after:
        action.refer(run)
    return cells, block, {name: cell.array for name, cell in cells.items()}


def check(program: Program) -> None:
    """Compare the results of a tape for a program with the reference.

    Raises:
        Wrong: They differ.
    """
    with fusing(program.fuse):
        _check(program)


def _check(program: Program) -> None:
    start, rng = values_of(program.number)
    start |= {name: np.zeros(SHAPES[name]) for name in program.zeros}
    SHARING.clear()
    try:
        cells, _, final = refer(program, start, {})
    except Refused as refused:
        _check_refused(program, start, str(refused))
        return
    written = [n for n in GRADED if cells[n].written_at >= 0]
    if not written:
        return
    fields = fields_of(program, start)
    at = dict(fields)
    limits = limits_of(program, fields)
    prior = {n: rng.normal(size=SHAPES[n]) for n in GRADED}
    incoming = {n: rng.normal(size=SHAPES[n]) for n in program.separate}

    for action in program.before:
        action.run(at)
    for name in GRADED if program.accumulate else "":
        fields[name].grad.from_numpy(prior[name])
    base = current_session().pool.peak = current_session().pool.kept
    with dt.Tape(accumulate=program.accumulate, **limits) as tape:
        for action in program.actions:
            action.run(at)
    peak = current_session().pool.peak
    for action in program.after:
        action.run(at)
    for name, values in incoming.items():
        found = fields[name].grad_in
        assert found is not None
        found.from_numpy(values)
    total = {n: np.zeros(SHAPES[n]) for n in GRADED}
    passes = 0
    for number, outputs in enumerate(program.seeds):
        seeds = {n: rng.normal(size=SHAPES[n]) for n in outputs if n in written}
        if not seeds and not program.separate:
            seeds = {written[0]: rng.normal(size=SHAPES[written[0]])}
        for name, seed in seeds.items():
            total[name] += seed
        given = {
            fields[n]: dt.from_numpy(s, fields[n].dtype) if number % 2 else s
            for n, s in seeds.items()
        }
        tape.backward(
            given, keep=number + 1 < len(program.seeds), retain=[fields[n] for n in program.retain]
        )
        peak = max(peak, current_session().pool.peak)
        passes += 1
    for name, values in incoming.items():
        total[name] += passes * values

    # Launches after the block save values for the tape, which do not count towards its limit.
    if "memory" in limits and not program.after and peak - base > limits["memory"]:
        raise Wrong(f"{peak - base} bytes kept, of {limits['memory']}")
    if current_session().pool.kept != base:
        raise Wrong(f"{current_session().pool.kept - base} bytes are not given back")
    # Some programs are chaotic: the effect of rounding the start is not an error.
    nudged = {
        n: v if n == "g" else np.array(v * (1 + ROUNDING * rng.normal(size=v.shape)))
        for n, v in start.items()
    }
    moved = refer(program, nudged, {})[2]
    for name, wanted in final.items():
        apart = np.max(np.abs(fields[name].to_numpy() - wanted))
        if not apart <= 1e-11 + 100 * np.max(np.abs(moved[name] - wanted)):
            raise Wrong(f"field {name} holds {fields[name].to_numpy()}, not {wanted}")
    for one in fields.values():
        array = SHARING.get(one.storage)
        if array is not None and not np.array_equal(array, one.to_numpy(), equal_nan=True):
            raise Wrong(f"the array that shares {one!r} holds {array}, not {one.to_numpy()}")
    for name, values in incoming.items():
        found = fields[name].grad_in
        if found is None or not np.array_equal(found.to_numpy(), values):
            raise Wrong(f"grad_in of {name} has changed")

    kicks: dict[tuple[str, int], Any] = {}
    towards = {n: rng.normal(size=SHAPES[n]) for n in GRADED}
    for name, direction in towards.items():
        place = cells[name].written_at if name in program.retain else -1
        if cells[name].read_or_written or name not in program.separate:
            kicks[name, place] = 1j * STEP * direction
        else:
            direction[...] = 0
    terms, terms_nudged = (
        np.concatenate([(total[n] * block[n].imag / STEP).ravel() for n in GRADED])
        for block in (refer(program, values, kicks)[1] for values in (start, nudged))
    )
    found: list[Any] = []
    for name, direction in towards.items():
        gradient = fields[name].grad.to_numpy()
        if program.accumulate:
            gradient = gradient - prior[name]
        found.append((gradient * direction).ravel())
    products = np.concatenate(found)
    size = np.sum(np.abs(terms)) + np.sum(np.abs(products)) + 1e-3
    noise = 100 * np.sum(np.abs(terms - terms_nudged))
    if not abs(np.sum(terms) - np.sum(products)) <= 1e-12 * size + noise:
        raise Wrong(f"along the gradient {np.sum(products)}, not {np.sum(terms)}")


def _check_refused(program: Program, start: Mapping[str, Any], name: str) -> None:
    """Check that a program is refused because of writes into a field."""
    at = fields_of(program, start)
    limits = limits_of(program, at)
    for action in program.before:
        action.run(at)
    base = current_session().pool.kept
    try:
        with dt.Tape(accumulate=program.accumulate, **limits):
            for action in program.actions:
                action.run(at)
    except dt.TapeError as error:
        if "the other side wrote" not in str(error):
            raise
    else:
        raise Wrong(f"writes of others into {name} pass unnoticed")
    if current_session().pool.kept != base:
        raise Wrong(f"{current_session().pool.kept - base} bytes are not given back")


def differ(program: Program) -> tuple[float, float]:
    """Return a derivative along a direction: by a tape, and by differences of plain launches."""
    program = replace(program, separate="", out_alone="")
    start, rng = values_of(program.number)
    outputs = {n: rng.normal(size=SHAPES[n]) for n in GRADED}
    towards = {n: rng.normal(size=SHAPES[n]) for n in GRADED}

    def value(step: float) -> float:
        moved = {n: v + step * towards[n] if n in towards else v for n, v in start.items()}
        fields = fields_of(program, moved)
        at = dict(fields)
        for action in program.actions:
            action.run(at)
        return sum(float(np.sum(outputs[n] * fields[n].to_numpy())) for n in GRADED)

    h = 1e-4
    wanted = (value(-2 * h) - 8 * value(-h) + 8 * value(h) - value(2 * h)) / (12 * h)
    fields = fields_of(program, start)
    at = dict(fields)
    limits = limits_of(program, fields)
    with dt.Tape(**limits) as tape:
        for action in program.actions:
            action.run(at)
    for name, seed in outputs.items():  # seeds that are gradients: those not written have them too
        fields[name].grad.from_numpy(seed)
    tape.backward({})
    return sum(float(np.sum(fields[n].grad.to_numpy() * towards[n])) for n in GRADED), wanted


# Failures


def fails(program: Program) -> str:
    """Return the fault of a program, or an empty text."""
    try:
        check(program)
    except Exception as error:
        tape = RECORDING.get().recorder
        if isinstance(tape, Tape):
            tape.__exit__(type(error), error, None)
        # Three copies of the state are enough for snapshots and records; the log of a loop, of
        # which the generator knows nothing, may take more.
        if program.limits and "too small: to reverse its loop takes" in str(error):
            return ""
        return f"{type(error).__name__}: {error}"
    return ""


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
    options = [replace(program, limits=()), replace(program, accumulate=False)]
    options.append(replace(program, fuse=False))
    options += [replace(program, separate=""), replace(program, out_alone="")]
    options += [replace(program, zeros=program.zeros.replace(name, "")) for name in program.zeros]
    options += [
        replace(program, shared=program.shared[:k] + program.shared[k + 1 :])
        for k in range(len(program.shared))
    ]
    options = [o for o in options if o != program]
    if len(program.seeds) > 1:
        options.append(replace(program, seeds=program.seeds[:-1]))
    for name in ("retain", "before", "after"):
        whole = getattr(program, name)
        options += [
            replace(program, **{name: whole[:k] + whole[k + 1 :]}) for k in range(len(whole))
        ]
    options += [replace(program, actions=shorter) for shorter in _fewer(program.actions)]
    return options


def _fewer(actions: tuple[Action, ...]) -> list[tuple[Action, ...]]:
    found: list[tuple[Action, ...]] = []
    for k, action in enumerate(actions):
        head, tail = actions[:k], actions[k + 1 :]
        found.append(head + tail)
        if isinstance(action, Group):
            found.append(head + action.actions + tail)
            if action.times > 1:
                found.append((*head, replace(action, times=action.times - 1), *tail))
            found += [(*head, replace(action, actions=a), *tail) for a in _fewer(action.actions)]
    return found


def run(
    numbers: Sequence[int],
    report: Callable[[str], object] = print,
    *,
    twice: bool = False,
    shared: bool = False,
) -> list[int]:
    """Check programs; report the wrong ones and return their numbers.

    Args:
        numbers: Their numbers.
        report: Called with a text for each that is wrong.
        twice: Check each fused and unfused.
        shared: Whether arrays share the memory of some fields.
    """
    wrong: list[int] = []
    for number in numbers:
        drawn = share(draw(number)) if shared else draw(number)
        for program in [replace(drawn, fuse=f) for f in (False, "always")] if twice else [drawn]:
            said = fails(program)
            if said:
                wrong.append(number)
                small = shortest(program)
                report(f"program {number}: {said}\n  shortest: {fails(small)}\n  {small}")
                break
    SHARING.clear()
    return wrong


def main(argv: Sequence[str] | None = None) -> int:
    """Check many programs; return 1 if one is wrong."""
    parser = Parser("python -m tests.tape_programs", __doc__)
    parser.add_argument("count", type=positive_int, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first of them; default: 0")
    parser.add_argument("--twice", action="store_true", help="run each fused and unfused")
    parser.add_argument("--shared", action="store_true", help="arrays share memory of fields")
    options = parser.parse_args(argv)
    dt.init(arch="cpu")
    started = time.perf_counter()
    numbers = range(options.first, options.first + options.count)
    wrong = run(numbers, twice=options.twice, shared=options.shared)
    seconds = time.perf_counter() - started
    print(f"{options.count} programs in {seconds:.0f} s, {len(wrong)} of them wrong: {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
