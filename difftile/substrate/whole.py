"""Arrays that a program overwrites in large parts, whatever they held before the launch.

A fill of device memory takes place as late as possible: an array that holds zeros need not be
filled for a program that stores into all of it, and zeros that a program leaves behind need not be
written by the program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.ir.facts import arrays_written
from difftile.ir.nodes import (
    Accumulate,
    Array,
    Block,
    Const,
    For,
    Let,
    ParallelFor,
    Program,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.walk import operands, walk
from difftile.ops.table import OPS
from difftile.passes.affine import Affine, affine
from difftile.passes.intervals import Interval
from difftile.records import dataclass
from difftile.schedule.clears import last_clears, without_clears
from difftile.substrate.memory import Box

_OPS = frozenset(
    ("add", "sub", "mul", "neg", "max", "min", "floordiv", "mod", "select", "eq", "gt", "lt")
)
_MOST_TURNS = 1 << 12  # of loops around others whose bounds depend on them
_MOST_KNOWN = 256  # launches whose parts are remembered

_Values: TypeAlias = dict[Var, npt.NDArray[np.int64]]
_Loops: TypeAlias = "tuple[ParallelFor | For, ...]"


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that one launch overwrites, by the position of the argument.

    Args:
        added: The parts in which each element is added to once, and touched nowhere else.
        cleared: Where zeros are stored, which no access to the array follows.
    """

    added: frozenset[int]
    cleared: Mapping[int, Box]


NO_PARTS = Parts(frozenset(), {})


class WholeWrites:
    """Where a program may give its parameters new contents in large parts.

    Args:
        program: A finished program.
        params: Its parameters, in the order of the arguments.

    Attributes:
        added: The loops around each addition to elements without other accesses in the program,
            by the position of the parameter.
        cleared: Stores of zeros, which no access to the array follows, and the loops around them.
    """

    def __init__(self, program: Program, params: Sequence[Array | Var]) -> None:
        self.params = params
        self.position = {param: k for k, param in enumerate(params)}
        self.program = program
        self.added: dict[int, list[_Loops]] = {}
        clears = last_clears(program.body).items()
        self.cleared = {self.position[a]: found for a, found in clears if a in self.position}
        for stmt in program.body.stmts:
            self._note(stmt)
        self._known: dict[tuple[object, ...], Parts] = {}

    def of(self, args: Sequence[Any]) -> Parts:
        """Return the parts that a launch on some buffers and numbers overwrites."""
        key = tuple([getattr(args[k], "shape", args[k]) for k in self._deciding])
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._found(args)
        return found

    @property
    def follows_from_shapes(self) -> bool:
        """Whether the parts are the same for all numbers."""
        return all(isinstance(self.params[k], Array) for k in self._deciding)

    def written_without(self, cleared: Collection[int]) -> frozenset[int]:
        """Return the positions of the parameters that the program writes but for last clears.

        Args:
            cleared: The parameters whose last clears are left out.
        """
        arrays = [param for k in cleared if isinstance(param := self.params[k], Array)]
        left, _ = without_clears(self.program, arrays)
        written = arrays_written(left.body)
        return frozenset(k for k, param in enumerate(self.params) if param in written)

    def _note(self, stmt: Stmt) -> None:
        """Note the additions of a statement of the top level."""
        if not isinstance(stmt, ParallelFor):
            return
        for inner, loops in _always_run(stmt.body, (stmt,)):
            if isinstance(inner, Accumulate) and inner.single_write:
                self.added.setdefault(self.position[inner.array], []).append(loops)

    @property
    def _loops(self) -> Iterable[ParallelFor | For]:
        """The loops around additions."""
        every = chain.from_iterable(chain.from_iterable(self.added.values()))
        return {id(one): one for one in every}.values()

    @cached_property
    def _stmts(self) -> dict[Var, Let | Size]:
        """The definitions of the values that bounds and indices are computed from."""
        found = {s.out: s for s in walk(self.program.body) if isinstance(s, (Let, Size))}
        pending: list[Value] = []
        for loop in self._loops:
            pending += operands(loop)
        for task, store in self.cleared.values():
            pending += [*operands(task), *store.index]
        used: dict[Var, Let | Size] = {}
        while pending:
            value = pending.pop()
            if isinstance(value, Var) and value in found and value not in used:
                stmt = used[value] = found[value]
                pending += stmt.args if isinstance(stmt, Let) and stmt.op in _OPS else ()
        return used

    @cached_property
    def _deciding(self) -> list[int]:
        """The positions of the arguments that decide which elements are written."""
        arrays = {stmt.array for stmt in self._stmts.values() if isinstance(stmt, Size)}
        numbers = {arg for s in self._stmts.values() if isinstance(s, Let) for arg in s.args}
        for loop in self._loops:
            numbers |= {*operands(loop)}
        for task, store in self.cleared.values():
            numbers |= {*operands(task), *store.index}
        chosen = {*self.added, *self.cleared}
        for k, param in enumerate(self.params):
            if param in arrays or param in numbers:
                chosen.add(k)
        return sorted(chosen)

    def _found(self, args: Sequence[Any]) -> Parts:
        numbers = _Numbers(self._stmts, self.position, args)
        added = frozenset(
            k for k, every in self.added.items() if numbers.times(every) == prod(args[k].shape)
        )
        boxes = {
            k: numbers.box(task, store.index, args[k].shape)
            for k, (task, store) in self.cleared.items()
        }
        return Parts(added, {k: box for k, box in boxes.items() if box is not None})


def _always_run(block: Block, loops: _Loops) -> Iterator[tuple[Stmt, _Loops]]:
    """Yield the statements that run in every iteration, each with the loops around it."""
    for stmt in block.stmts:
        yield stmt, loops
        if isinstance(stmt, For):
            yield from _always_run(stmt.body, (*loops, stmt))


class _Numbers:
    """The integers of a launch that follow from the shapes and numbers it is given."""

    def __init__(
        self, stmts: Mapping[Var, Let | Size], position: Mapping[Any, int], args: Sequence[Any]
    ) -> None:
        self.stmts = stmts
        self.position = position
        self.args = args

    def value(self, value: Value, known: _Values) -> npt.NDArray[np.int64] | None:
        """Return a value where some variables are known, each in several cases at once."""
        if isinstance(value, Const):
            return np.asarray(value.value, np.int64)
        if value in known:
            return known[value]
        found: Any = None
        if value in self.position:
            given: object = self.args[self.position[value]]
            found = given if isinstance(given, int) else None
        match self.stmts.get(value):
            case Size(array=array, axis=axis) if array in self.position:
                found = self.args[self.position[array]].shape[axis]
            case Let(op=op, args=args) if op in _OPS:
                parts = [self.value(arg, known) for arg in args]
                if not any(part is None for part in parts):
                    with np.errstate(all="ignore"):  # a quotient by zero, where no loop turns
                        found = OPS[op].numpy(*parts)
            case _:
                pass
        return None if found is None else np.asarray(found, np.int64)

    def times(self, every: Sequence[_Loops]) -> int | None:
        """Return how often statements run in all, each in its own loops; None if unknown."""
        turns = {id(loops[-1]): self.turns(loops) for loops in every}
        found = [turns[id(loops[-1])] for loops in every]
        return None if None in found else sum(one or 0 for one in found)

    def turns(self, loops: _Loops) -> int | None:
        """Return how often the body of the innermost loop runs; None if that is unknown."""
        times = np.ones(1, np.int64)  # one number a case
        known: _Values = {}
        for depth, loop in enumerate(loops):
            if isinstance(loop, ParallelFor):
                axes = zip(loop.indices, loop.starts, loop.stops, strict=True)
            else:
                axes = iter([(loop.index, loop.start, loop.stop)])
            inner = {v for one in loops[depth + 1 :] for v in operands(one)}
            for index, start, stop in axes:
                first, last = self.value(start, known), self.value(stop, known)
                if first is None or last is None:
                    return None
                first, length = np.broadcast_arrays(first, np.maximum(last - first, 0), times)[:2]
                if not self._depends(inner, index):
                    times = times * length
                    continue
                if length.sum() > _MOST_TURNS:
                    return None
                case = np.repeat(np.arange(len(length)), length)
                begins = np.repeat(np.cumsum(length) - length, length)
                times = times[case]
                known = {v: values[case] for v, values in known.items()}
                known[index] = first[case] + np.arange(len(case)) - begins
        return int(times.sum())

    def _depends(self, values: set[Value], variable: Var) -> bool:
        """Tell whether one of some values is computed from a variable."""
        pending, seen = [*values], set[Value]()
        while pending:
            value = pending.pop()
            if value == variable:
                return True
            stmt = self.stmts.get(value) if isinstance(value, Var) else None
            if isinstance(stmt, Let) and value not in seen:
                pending += stmt.args
            seen.add(value)
        return False

    def box(
        self, task: ParallelFor, index: tuple[Value, ...], shape: tuple[int, ...]
    ) -> Box | None:
        """Return the elements that the iterations store into, if they are a box with all of it."""
        if len(index) > len(shape):  # a component
            return None
        defs: dict[Var, Stmt] = {**self.stmts}
        axes = {
            v: (first, last)
            for v, first, last in zip(task.indices, task.starts, task.stops, strict=True)
        }
        box: list[Interval] = []
        for place, size in zip(index, shape, strict=True):
            ends = self._ends(affine(place, defs), axes)
            if ends is None:
                return None
            box.append((max(ends[0], 0), min(ends[1], size)))
        if axes or any(low >= high for low, high in box):
            return None
        return tuple(box)

    def _ends(self, form: Affine[Var], axes: dict[Var, tuple[Value, Value]]) -> Interval | None:
        """Return where an index that goes along one of some axes begins and ends; take the axis."""
        at = [v for v in form.factors if v in axes]
        if len(at) != 1 or abs(form.factor(at[0])) != 1:
            return None
        first, last = (self.value(end, {}) for end in axes.pop(at[0]))
        total = form.constant
        for variable, factor in form.factors.items():
            if variable is not at[0]:
                value = self.value(variable, {})
                if value is None:
                    return None
                total += factor * int(value)
        if first is None or last is None:
            return None
        if form.factor(at[0]) > 0:
            return total + int(first), total + int(last)
        return total - int(last) + 1, total - int(first) + 1


def size_of(box: Box | None) -> int:
    """Return the number of elements of a box; None stands for none."""
    return 0 if box is None else prod(high - low for low, high in box)
