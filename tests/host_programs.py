"""Random programs in which Python computes with a field and writes the result into another.

An array that Python reads must be reported where it varies in the reference, and nowhere else:

    python -m tests.host_programs 2000 --first 0
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import difftile as dt
from difftile.arguments import Parser, positive_int
from tests.tape_kernels import SPECS
from tests.tape_programs import (
    GRADED,
    STEP,
    Action,
    Cell,
    Fields,
    Group,
    Host,
    Launch,
    Program,
    Reference,
    draw,
    fails,
    values_of,
)


@dataclass(frozen=True)
class Computed:
    """Python computes with a field and writes the result into another, or into an element of it."""

    target: str
    source: str
    how: int
    varied: list[bool]

    def run(self, at: Fields) -> None:
        source, target = at[self.source], at[self.target]
        if self.how == 0:
            target.from_numpy(0.5 * source.to_numpy())
        elif self.how == 1:
            target[2] = source[1] - 0.25
        elif self.how == 2:
            target.fill(source.to_numpy().mean())
        else:
            target[1:4] = np.sin(np.asanyarray(source[:3]))

    def refer(self, run: Reference) -> None:
        source, target = run.at[self.source], run.at[self.target]
        if self.how == 0:
            computed = 0.5 * source.array
            target.array[...] = computed
        elif self.how == 1:
            computed = source.array[1] - 0.25
            target.array[2] = computed
        elif self.how == 2:
            computed = source.array.mean()
            target.array[...] = computed
        else:
            computed = np.sin(source.array[:3])
            target.array[1:4] = computed
        if np.iscomplexobj(computed):
            self.varied.append(bool(np.any(np.imag(computed) != 0)))
        run.did([source, target], [target])


def with_computed(number: int) -> Program:
    """Return a random program with such a write in it."""
    program, rng = draw(number), random.Random(number)
    one = Computed(rng.choice("abc"), rng.choice("abcw"), rng.randrange(4), [])
    place = rng.randint(0, len(program.actions))
    actions = (*program.actions[:place], one, *program.actions[place:])
    # To retain a field asks for the gradient of constants, which Python may compute with.
    return replace(program, actions=actions, retain=())


def varies(program: Program) -> bool:
    """Return whether the values that Python writes may vary with fields that have gradients.

    These are the contents of such fields before the tape, and the results of launches and
    operations in them: a tape distinguishes neither the written elements nor constant ones.
    """
    start, rng = values_of(program.number)
    cells = {
        name: Cell(name, values.copy() if name == "g" else values.astype(complex))
        for name, values in start.items()
    }
    run = Reference(dict(cells), taped=False)

    def move(cell: Cell) -> None:
        if cell.name in GRADED:
            cell.array += 1j * STEP * rng.normal(size=cell.array.shape)

    def follow(actions: Sequence[Action]) -> bool:
        for action in actions:
            if isinstance(action, Group):
                for _ in range(action.times):
                    if follow(action.actions):
                        return True
                continue
            action.refer(run)
            if isinstance(action, Computed) and action.varied:
                return action.varied.pop()
            if isinstance(action, (Launch, Host)):
                writes = (-1,) if isinstance(action, Host) else SPECS[action.name].writes
                for k in writes:
                    move(run.at[action.fields[k]])
        return False

    for action in program.before:
        action.refer(run)
    for cell in cells.values():
        move(cell)
    return follow(program.actions)


def run(numbers: Sequence[int], report: Callable[[str], object] = print) -> tuple[list[int], int]:
    """Check programs; return the numbers of the wrong ones, and how many were reported."""
    wrong: list[int] = []
    reported = 0
    for number in numbers:
        program = with_computed(number)
        said = fails(program)
        if "The gradient is cut: an array read by Python" in said:
            reported += 1
            said = "" if varies(program) else f"reported, and it is constant: {said}"
        if said:
            wrong.append(number)
            report(f"program {number}: {said}\n  {program}")
    return wrong, reported


def main(argv: Sequence[str] | None = None) -> int:
    """Check many programs; return 1 if one is wrong."""
    parser = Parser("python -m tests.host_programs", __doc__)
    parser.add_argument("count", type=positive_int, help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first of them; default: 0")
    options = parser.parse_args(argv)
    dt.init(arch="cpu")
    wrong, reported = run(range(options.first, options.first + options.count))
    print(f"{options.count} programs, {reported} reported, {len(wrong)} wrong: {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
