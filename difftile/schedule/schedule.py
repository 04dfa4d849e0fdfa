"""Schedules: how the parallel loops of one program run, as a value that is a key and has a text.

```
program serial outlined before(y_bar) long(0, 2)
loop 0: threads(64), copies(mu_bar)
loop 1: serial
```
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import inf

from difftile.ir.facts import fact
from difftile.ir.nodes import Array, Block, For, Let, Program, Var
from difftile.ir.printer import Names
from difftile.ir.walk import is_innermost, literal_length, parallel_loops, walk
from difftile.passes.unroll_loops import CALLS
from difftile.records import dataclass
from difftile.schedule.steps import (
    Copies,
    Flat,
    Form,
    Grid,
    Lanes,
    Rows,
    Serial,
    SmallCopies,
    Spread,
    Squares,
    Step,
    Threads,
    Tile,
    of_code,
    of_iterations,
    step_of,
    text_of,
)

_PART = re.compile(r"(\w+)(?:\(([^()]*)\))?")
_LOOP = re.compile(r"loop (\d+): (.*)")
_ON_HOST = (Serial, Threads, Copies, SmallCopies, Spread, Squares, Form)
_ON_DEVICE = (Grid, Lanes, Tile, Flat)


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a finished program runs.

    Args:
        loops: The steps of each parallel loop, in the order of the text.
        serial: One thread runs the whole program.
        outlined: The code of a thread is a function, with vector instructions (CPUs).
        short: All parallel loops end below `target.SHORT`.
        before: The names of arrays that hold zeros before the launch, into which single additions
            are stores.
        after: The names of arrays that hold zeros after it, whose last zeros are not stored.
        long: The serial loops that compute functions and are long enough for polynomials to pay,
            by their number among `loops_of_functions`.
        brief: The other loops that compute functions, if too short. Iterations decide about the
            rest.
    """

    loops: tuple[tuple[Step, ...], ...] = ()
    serial: bool = False
    outlined: bool = False
    short: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    long: tuple[int, ...] = ()
    brief: tuple[int, ...] = ()

    def __str__(self) -> str:
        parts = [name for name in ("serial", "outlined", "short") if getattr(self, name)]
        lists = {"before": self.before, "after": self.after, "long": self.long, "brief": self.brief}
        parts += [f"{name}({', '.join(map(str, items))})" for name, items in lists.items() if items]
        lines = [" ".join(("program", *parts))]
        for number, steps in enumerate(self.loops):
            lines.append(f"loop {number}: {', '.join(map(text_of, steps))}")
        return "\n".join(lines)

    def numbers_of(self, kind: type[Step]) -> frozenset[int]:
        """Return the numbers of the loops that have a step of a kind."""
        return frozenset(
            k for k, steps in enumerate(self.loops) if any(isinstance(s, kind) for s in steps)
        )

    @property
    def forms(self) -> list[tuple[Form, ...]]:
        """The steps about the code of the iterations of each loop."""
        return [*map(of_code, self.loops)]

    @property
    def without_forms(self) -> Schedule:
        """The schedule without the steps about the code of iterations."""
        return replace(self, loops=tuple(map(of_iterations, self.loops)))

    def with_forms(self, forms: Sequence[tuple[Form, ...]]) -> Schedule:
        """Return the schedule with other steps about the code of the iterations of each loop."""
        pairs = zip(map(of_iterations, self.loops), forms, strict=True)
        return replace(self, loops=tuple((*steps, *more) for steps, more in pairs))

    def without_memory(self, parts: int) -> Schedule:
        """Return the schedule without forms and the steps that need memory of their own.

        Args:
            parts: The number of parts of the loops that threads of a CPU share.
        """
        usual = (Threads(parts),)

        def kept(steps: tuple[Step, ...]) -> tuple[Step, ...]:
            if any(isinstance(s, _ON_DEVICE) for s in steps):
                return tuple(s for s in steps if not isinstance(s, Rows))
            return (Serial(),) if self.serial else usual

        return replace(self, loops=tuple(map(kept, self.loops)))


@fact
def loops_of_functions(body: Block) -> tuple[For, ...]:
    """Return the innermost serial loops of any length that compute functions."""
    return tuple(
        stmt
        for stmt in walk(body)
        if isinstance(stmt, For)
        and literal_length(stmt.start, stmt.stop) == inf
        and is_innermost(stmt)
        and any(isinstance(s, Let) and s.op in CALLS for s in walk(stmt.body))
    )


def arrays_by_name(program: Program) -> dict[str, Array]:
    """Return the arrays that a launch gives to a program, each by a name of its own."""
    names = Names()
    params: tuple[Array | Var, ...] = (*program.params, *program.temps)
    return {names[param]: param for param in params if isinstance(param, Array)}


def parse(text: str, program: Program) -> Schedule:
    """Return the schedule of a text.

    Args:
        text: The text of a schedule of the program.
        program: A finished program.

    Raises:
        ValueError: The text is malformed, or does not fit the program.
    """
    head, *lines = text.strip().splitlines()
    loops: list[tuple[Step, ...]] = []
    for number, line in enumerate(lines):
        found = _LOOP.fullmatch(line.strip())
        if found is None or int(found[1]) != number:
            raise ValueError(f"expected 'loop {number}: ...', found {line.strip()!r}")
        loops.append(tuple(map(step_of, re.split(r"\s*,\s*", found[2]))))
    flags: set[str] = set()
    lists: dict[str, list[str]] = {}
    first, *parts = [(found[1], found[2]) for found in _PART.finditer(head)] or [("", None)]
    if first != ("program", None):
        raise ValueError(f"expected 'program ...', found {head!r}")
    for name, items in parts:
        if items is None and name in ("serial", "outlined", "short"):
            flags.add(name)
        elif items is not None and name in ("before", "after", "long", "brief"):
            lists[name] = re.split(r"\s*,\s*", items)
        else:
            raise ValueError(f"{name!r} is not said of programs")
    made = Schedule(
        tuple(loops),
        serial="serial" in flags,
        outlined="outlined" in flags,
        short="short" in flags,
        before=tuple(lists.get("before", ())),
        after=tuple(lists.get("after", ())),
        long=tuple(map(int, lists.get("long", ()))),
        brief=tuple(map(int, lists.get("brief", ()))),
    )
    check_schedule(made, program)
    return made


def check_schedule(schedule: Schedule, program: Program) -> None:
    """Check that a schedule is one of a program.

    Raises:
        ValueError: It has other loops or arrays than the program, or steps that exclude each other.
    """
    count, arrays = len(parallel_loops(program)), arrays_by_name(program)
    if len(schedule.loops) != count:
        raise ValueError(f"the program has {count} parallel loops, not {len(schedule.loops)}")
    for steps in schedule.loops:
        for step in steps:
            if isinstance(step, (Copies, SmallCopies, Rows)):
                _known(step.target, arrays)
        if any(isinstance(s, _ON_HOST) for s in steps) and any(
            isinstance(s, _ON_DEVICE) for s in steps
        ):
            raise ValueError(f"{', '.join(map(text_of, steps))}: for CPUs and for devices")
    for name in (*schedule.before, *schedule.after):
        _known(name, arrays)
    loops = range(len(loops_of_functions(program.body)))
    for number in (*schedule.long, *schedule.brief):
        if number not in loops:
            raise ValueError(f"the program has {len(loops)} loops of functions, not {number + 1}")


def _known(name: str, arrays: Collection[str]) -> None:
    if name not in arrays:
        raise ValueError(f"the program has no array {name!r}")
