"""The forms of a program: after its passes, and after each transformation of its loops."""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from difftile.ir.nodes import Accumulate, Array, Block, Program, Store, Var
from difftile.ir.types import numpy_dtype, scalar_of
from difftile.ir.walk import parallel_loops, walk, with_blocks, with_tasks
from difftile.passes import optimise, unroll_and_jam
from difftile.passes.by_warps import by_warps
from difftile.passes.componentwise import componentwise
from difftile.passes.flatten import flatten
from difftile.passes.inline_primals import inline_primals
from difftile.passes.interleave import interleave
from difftile.passes.privatise import scatters_of
from difftile.passes.reciprocals import reciprocals
from difftile.passes.rows import in_rows
from difftile.passes.tile_rows import tile_rows
from difftile.schedule import device_loops, strips
from difftile.schedule.analysis import analyse
from difftile.schedule.apply import apply
from difftile.schedule.finish import finish
from difftile.schedule.legal import legal
from difftile.schedule.schedule import Schedule, parse
from difftile.schedule.steps import Copies, Serial, SmallCopies, Spread, Step, Threads
from difftile.substrate import current_session
from difftile.substrate.shared_storage import declared_late
from tests.meaning.meaning import Contents, Numbers, inner_of
from tests.targets import device, host

BLOCKS = 3
_ANYTHING = 77  # what memory holds before it is written


@dataclass(frozen=True)
class Form:
    """A form of a program.

    Args:
        name: What was done.
        program: The program.
        memory: The shapes of memory that it is given besides, with any contents.
        is_apart: Whether iterations touch other elements; lanes of a warp copy rows together.
    """

    name: str
    program: Program
    memory: dict[Array, tuple[int, ...]] = field(default_factory=dict[Array, tuple[int, ...]])
    is_apart: bool = True

    def with_memory(self, fields: Contents) -> Contents:
        """Return contents with the memory."""
        more = {
            array: np.full(
                (*shape, *inner_of(array)), _ANYTHING, numpy_dtype(scalar_of(array.type.element))
            )
            for array, shape in self.memory.items()
        }
        return {**fields, **more}


@contextmanager
def low_thresholds() -> Generator[None]:
    """Let loops take the forms that pay for long ones, however short they are."""
    with (
        mock.patch.multiple(strips, _FEWEST=2, _MOST=3),
        mock.patch.multiple(unroll_and_jam, _FEWEST=2, _SHORT=2),
        mock.patch.multiple(device_loops, _ROW=1, _LONG=1, _WALK=1),
    ):
        yield


class Host:
    """The forms of a program on a CPU.

    Args:
        program: The program, not finished.
        fields: The contents that it runs on.
        numbers: Its numbers.
    """

    def __init__(self, program: Program, fields: Contents, numbers: Numbers) -> None:
        self.finished = finish(inline_primals(program), host(BLOCKS))
        self._target = current_session().target
        self._of = analyse(self.finished, self._target)
        self._args = _args(self._of.params, fields, numbers)
        self._scatters = scatters_of(self.finished)
        self._loops = len(parallel_loops(self.finished))

    def _formed(self, name: str, steps: Mapping[int, Sequence[Step]] | None = None) -> Form:
        usual: Sequence[Step] = [Threads(self._target.parts)]
        loops = [tuple((steps or {}).get(k, usual)) for k in range(self._loops)]
        return self._applied(name, self._with_forms(Schedule(tuple(loops), outlined=True)))

    def _with_forms(self, schedule: Schedule) -> Schedule:
        return schedule.with_forms(self._of.forms(schedule))

    def _applied(self, name: str, schedule: Schedule) -> Form:
        made = apply(self.finished, parse(str(schedule), self.finished), self._target)
        shapes = dict(zip(self._of.params, self._args, strict=True))
        copies = made.memory.copies
        memory = {one.array: (one.count(shapes[one.target].shape),) for one in copies}
        memory |= {array: (self._target.parts,) for array in made.memory.sums}
        return Form(name, made.program, memory)

    def threads(self) -> Form:
        """Vectors and many threads: strips, pairs of iterations, parts of index sets."""
        return self._formed("threads")

    def serial(self) -> Form:
        """One thread."""
        loops = tuple((Serial(),) for _ in range(self._loops))
        schedule = Schedule(loops, serial=True, outlined=True)
        return self._applied("serial", self._with_forms(schedule))

    def copies(self) -> Form | None:
        """A copy of each array that iterations add to, for each thread."""
        steps: dict[int, list[Step]] = {}
        for k, one in enumerate(s for s in self._scatters if s.op is not None):
            kind = Copies if k % 2 else SmallCopies
            here = steps.setdefault(one.loop, [Threads(self._target.parts)])
            here.append(kind(self._of.names[one.target]))
        return self._formed("copies", steps) if steps else None

    def one_thread(self) -> Form | None:
        """One thread for each loop that adds to elements which iterations share."""
        alone = {s.loop for s in self._scatters}
        if not alone:
            return None
        threads = Threads(self._target.parts)
        loops = tuple((Serial() if k in alone else threads,) for k in range(self._loops))
        return self._applied("one thread for scatters", Schedule(loops))

    def spread(self) -> Form | None:
        """Loops of few iterations over all threads."""
        parts = self._target.parts
        works = self._of.work.loops(self._of.work.key(self._args))
        few = [k for k, work in enumerate(works) if np.prod(work.axes) <= parts]
        steps = {k: [Threads(parts), Spread(parts)] for k in few}
        made = self._formed("spread", steps) if few else None
        return made if made and made.memory else None

    def legal(self, number: int) -> Form:
        """Return the program with any steps that its loops can have, others for other numbers."""
        rng, key = random.Random(number), self._of.work.key(self._args)
        loops = tuple(rng.choice(legal(self._of, k, key)) for k in range(self._loops))
        schedule = Schedule(loops, outlined=rng.random() < 0.5)
        every = self._of.forms(schedule)
        some = [tuple(form for form in forms if rng.random() < 0.7) for forms in every]
        schedule = schedule.with_forms(some)
        return self._applied(str(schedule), schedule)

    def late(self) -> Form:
        """Local arrays declared where they are first used, and serial loops side by side."""
        late = replace(self.finished, body=declared_late(self.finished.body))
        return Form("declared late and interleaved", with_tasks(late, interleave))

    def rare(self, number: int) -> Form:
        """Return one of the forms besides `threads`, another one for other numbers."""
        makes = (self.copies, self.spread, self.one_thread, self.serial, self.late)
        for k in range(len(makes)):
            found = makes[(number + k) % len(makes)]()
            if found is not None:
                return found
        raise AssertionError


class Device:
    """The forms of a program on a GPU; arguments as for `Host`."""

    def __init__(self, program: Program, fields: Contents, numbers: Numbers) -> None:
        inlined = inline_primals(program)
        self.finished = finish(inlined, device(BLOCKS))
        self._loops = device_loops.device_loops(self.finished.body, warps=True)

    def formed(self, number: int) -> Form:
        """Return the program in one form, another one for other numbers."""
        flat, lanes, program = self._loops.flat, self._loops.lanes, self.finished
        if number % 4 == 3 and (ordered := _in_rows(program)) is not None:
            return Form("rows of sums", ordered)
        if lanes and (number % 2 or not flat):
            made = by_warps(program, [*lanes.values()])
            axes = [loop for k, loop in flat.items() if k not in lanes]
            return Form("warps", flatten(made, axes))
        if self._loops.rows and number % 4 != 2:
            tiled = with_tasks(program, lambda loop: tile_rows(loop).stmts)
            return Form("tiles", tiled, is_apart=False)
        if flat:
            return Form("flat", flatten(program, [*flat.values()]))
        if number % 2:
            return Form("componentwise", componentwise(program))
        return Form("reciprocals", reciprocals(program))


def _in_rows(finished: Program) -> Program | None:
    """Return the program with rows for its iterations, as loops whose sums are ordered have."""
    ordered = with_tasks(finished, lambda loop: [replace(loop, ordered=True)])
    made, rows = in_rows(ordered, [s for s in scatters_of(ordered) if s.op == "add"])
    return made if rows else None


def _args(params: Sequence[Array | Var], fields: Contents, numbers: Numbers) -> list[Any]:
    """Return stand-ins for the arguments of a launch: numbers, and things with a shape."""

    def shape(array: Array | None) -> tuple[int, ...]:
        if array in fields:
            return fields[array].shape[: array.type.ndim]
        return () if array is None or array.like is None else shape(array.like)

    return [numbers[p] if isinstance(p, Var) else SimpleNamespace(shape=shape(p)) for p in params]


def stored(program: Program) -> tuple[Program, frozenset[Array]]:
    """Return the program that stores sums of one term, and the arrays that must hold zeros."""
    arrays = frozenset(
        s.array for s in walk(program.body) if isinstance(s, Accumulate) and s.single_write
    )

    def changed(block: Block) -> Block:
        stmts = (
            Store(s.array, s.index, s.value, s.span)
            if isinstance(s, Accumulate) and s.single_write
            else with_blocks(s, changed)
            for s in block.stmts
        )
        return replace(block, stmts=tuple(stmts))

    return replace(program, body=changed(program.body)), arrays


def checked_passes() -> Any:
    """Let the legality of all programs be checked after each pass."""
    run = optimise.run
    return mock.patch.object(optimise, "run", lambda program, passes, _: run(program, passes, True))
