"""One period of a run as a program: its stages one after the other, and the adjoint of all.

The program has the number of the period, `t`, among its parameters. Contents that the run
overwrites and that an adjoint reads again are copied into a slab before they are overwritten: an
array with a row for each period. A slab belongs to the stage that overwrites the contents. The
adjoint reads it in place of the field.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TypeAlias

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import DerivedCode, Stage
from difftile.ir.derived import After, Bar, Before, Role, Same, Scratch, Shape
from difftile.ir.nodes import (
    Array,
    Block,
    Const,
    Fail,
    Let,
    Load,
    Print,
    Program,
    Size,
    Stmt,
    Value,
    Var,
)
from difftile.ir.types import BOOL, I32, FieldType, Scalar, Type
from difftile.ir.walk import Substitution, substitute, walk, with_blocks, without_stmts
from difftile.passes.inline_primals import inline_primals
from difftile.passes.sequence import SequenceRow, copy_into_row, placed
from difftile.passes.speculate import general
from difftile.records import dataclass


class Unfusible(Exception):
    """A run that is launched one by one; the message says why, as the rest of 'because ...'."""


@dataclass(frozen=True, slots=True)
class FieldMemory:
    """The present memory of a field, by its number in the layout."""

    number: int


@dataclass(frozen=True, slots=True)
class Unwritten:
    """The contents at the run of a field that the run does not write."""

    number: int


@dataclass(frozen=True, slots=True)
class Gradient:
    """The gradient of a field in a backward pass."""

    number: int


@dataclass(frozen=True, slots=True)
class Slab:
    """The contents of a field from before a stage overwrites them, in each period.

    Args:
        number: The field.
        writer: The stage, counted through the period.
    """

    number: int
    writer: int


@dataclass(frozen=True, slots=True)
class NumberTable:
    """A number of a launch that differs from period to period: one element for each."""

    launch: int
    position: int


@dataclass(frozen=True, slots=True)
class FixedNumber:
    """A number of a launch that is the same in all periods."""

    launch: int
    position: int


@dataclass(frozen=True, slots=True)
class Own:
    """Memory that the program needs while it runs, in the shape of a field or of one element."""

    element: Type
    like: int | None


Slot: TypeAlias = FieldMemory | Unwritten | Gradient | Slab | NumberTable | FixedNumber | Own


@dataclass(frozen=True, slots=True)
class PeriodStage:
    """A stage of a launch of the period.

    Args:
        launch: The launch, counted through the period.
        code: The kernel.
        stage: The stage.
        plan: How it is recorded; None where the run is not recorded.
    """

    launch: int
    code: Specialisation
    stage: Stage
    plan: AdjointPlan | None


@dataclass(frozen=True, slots=True)
class PeriodLayout:
    """The fields of a period, as far as its program depends on them.

    Args:
        numbers: For each launch the number of the field at each position of its arguments, by the
            memory of the field; None for numbers.
        extents: For each field the class of each of its extents: equal extents have one class. Or
            the extents themselves, if they are fixed.
        varying: The numbers that differ from period to period.
        fixed: Whether the program is for these extents only.
    """

    numbers: tuple[tuple[int | None, ...], ...]
    extents: tuple[tuple[int, ...], ...]
    varying: tuple[tuple[int, int], ...]
    fixed: bool


@dataclass(frozen=True, slots=True)
class PeriodProgram:
    """A program of one period.

    Args:
        program: Its last parameter is `t`.
        t: The number of the period.
        slots: The meaning of the other parameters.
        extents: For each array a key for each of its extents: equal ones have equal keys.
    """

    program: Program
    t: Var
    slots: dict[Array | Var, Slot]
    extents: dict[Array, tuple[Hashable, ...]]

    def with_program(self, program: Program) -> PeriodProgram:
        """Return the same with another form of the program."""
        return replace(self, program=program)


class Period:
    """The programs of a period.

    Args:
        parts: The stages of its launches, in order.
        layout: The fields.

    Raises:
        Unfusible: A launch does something that a part of a larger program cannot.
    """

    def __init__(self, parts: Sequence[PeriodStage], layout: PeriodLayout) -> None:
        self.parts = parts
        self.layout = layout
        for part in parts:
            program = part.stage.primal.code.program
            if any(isinstance(stmt, (Print, Fail)) for stmt in walk(program.body)):
                raise Unfusible(f"kernel '{part.code.name}' prints or asserts")
        self._writes = [
            frozenset(self._field(part, array) for array in part.stage.written) for part in parts
        ]
        self.written = frozenset(number for writes in self._writes for number in writes)

    def _field(self, part: PeriodStage, array: Array) -> int:
        number = self.layout.numbers[part.launch][part.code.position[array]]
        assert number is not None
        return number

    # Contents that the adjoint reads

    def _writer(self, number: int, first: int) -> tuple[int, int] | None:
        """Return the next stage that writes a field, from one on, and how many periods later."""
        writers = [k for k, writes in enumerate(self._writes) if number in writes]
        if not writers:
            return None
        later = [k for k in writers if k >= first]
        return (later[0], 0) if later else (writers[0], 1)

    def _contents(self, k: int, number: int, *, after: bool) -> tuple[Unwritten | Slab, int]:
        """Return where contents from before or after a stage are, and how many rows later."""
        found = self._writer(number, k + after)
        return (Unwritten(number), 0) if found is None else (Slab(number, found[0]), found[1])

    def contents_at(self, k: int, position: int, *, after: bool) -> tuple[Unwritten | Slab, int]:
        """Return the same for a field at a position of the arguments of the stage's launch."""
        number = self.layout.numbers[self.parts[k].launch][position]
        assert number is not None
        return self._contents(k, number, after=after)

    @cached_property
    def saved(self) -> dict[Slab, int]:
        """The slabs that the adjoint reads, with the number of rows of each beyond the periods.

        The row after the last period has the contents at the end of the run.
        """
        found: dict[Slab, int] = {}
        for place, more in self._read_again():
            if isinstance(place, Slab):
                found[place] = max(more, found.get(place, 0))
        return found

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The fields whose contents the adjoint reads, and which the run does not write."""
        places = dict.fromkeys(place for place, _ in self._read_again())
        return tuple(place.number for place in places if isinstance(place, Unwritten))

    def _read_again(self) -> Iterator[tuple[Unwritten | Slab, int]]:
        for k, part in enumerate(self.parts):
            plan = part.plan
            if plan is None or plan.adjoint is None:
                continue
            if plan.adjoint.lengths is not None:
                raise Unfusible(f"the adjoint of kernel '{part.code.name}' fills a log")
            for role in plan.adjoint.roles:
                if isinstance(role, (Before, After)):
                    number = self._field(part, role.array)
                    yield self._contents(k, number, after=isinstance(role, After))

    # Programs

    def forward(self, *, recorded: bool, finished: bool) -> PeriodProgram:
        """Return the program of the launches.

        Args:
            recorded: Whether it saves the contents that the adjoint reads.
            finished: Whether its parts are in the form that is emitted.
        """
        making = _Making(self, finished)
        for k, part in enumerate(self.parts):
            if recorded:
                for slab in self.saved:
                    if slab.writer == k:
                        example = self.example(slab.number)
                        memory = making.array(FieldMemory(slab.number), example.name, example.type)
                        making.stmts += copy_into_row(
                            memory, SequenceRow(making.slab(slab), making.t)
                        )
            making.add(part, part.stage.primal, lambda role, part=part: self._in_place(part, role))
        return making.made("run")

    def adjoint(self, *, finished: bool) -> PeriodProgram:
        """Return the adjoint of the launches.

        Args:
            finished: Whether its parts are in the form that is emitted.
        """
        making = _Making(self, finished)
        for k, part in reversed(list(enumerate(self.parts))):
            if part.plan is not None and part.plan.adjoint is not None:
                making.add(
                    part,
                    part.plan.adjoint,
                    lambda role, k=k, part=part: self._reversed(k, part, role),
                )
        return making.made("run_adjoint")

    def _in_place(self, part: PeriodStage, role: Role) -> tuple[Slot, int]:
        match role:
            case Same(array) | Shape(array) if isinstance(array, Array):
                return FieldMemory(self._field(part, array)), 0
            case Scratch(like):
                return self._own(part, like)
            case _:
                raise AssertionError(role)

    def _reversed(self, k: int, part: PeriodStage, role: Role) -> tuple[Slot, int]:
        match role:
            case Before(array):
                return self._contents(k, self._field(part, array), after=False)
            case After(array):
                return self._contents(k, self._field(part, array), after=True)
            case Bar(array):
                return Gradient(self._field(part, array)), 0
            case _:
                return self._in_place(part, role)

    def _own(self, part: PeriodStage, like: Array | None) -> tuple[Slot, int]:
        return Own(I32, None if like is None else self._field(part, like)), 0

    def example(self, number: int) -> Array:
        """Return a parameter of a kernel to which a field is passed."""
        for part in self.parts:
            for array in part.stage.program.arrays:
                if self._field(part, array) == number:
                    return array
        raise AssertionError(number)


@dataclass
class _Making:
    """A program of one period as it grows."""

    period: Period
    finished: bool
    t: Var = field(default_factory=lambda: Var("t", I32))
    stmts: list[Stmt] = field(default_factory=list[Stmt])
    params: dict[Slot, Array | Var] = field(default_factory=dict[Slot, Array | Var])
    own: dict[Array, Slot] = field(default_factory=dict[Array, Slot])
    _next: Var | None = None

    def array(self, slot: Slot, name: str, type_: FieldType) -> Array:
        """Return the parameter for a slot."""
        found = self.params.get(slot)
        if found is None:
            found = self.params[slot] = Array(name, type_)
        assert isinstance(found, Array)
        return found

    def slab(self, slab: Slab) -> Array:
        """Return the parameter for a slab."""
        example = self.period.example(slab.number)
        type_ = FieldType(example.type.element, example.type.ndim + 1)
        return self.array(slab, f"{example.name}_rows", type_)

    @property
    def next(self) -> Var:
        """The number of the period after this one."""
        if self._next is None:
            self._next = Var("next", I32)
            self.stmts.append(Let(self._next, "add", (self.t, Const(1, I32))))
        return self._next

    def add(
        self, part: PeriodStage, code: DerivedCode, slot_of: Callable[[Role], tuple[Slot, int]]
    ) -> None:
        """Add a program of a stage.

        Args:
            part: The stage.
            code: The program.
            slot_of: Returns the slot of a role, and how many rows later its contents are.
        """
        arrays: dict[Array, Array | SequenceRow] = {}
        numbers: dict[Var, Value] = {}
        if self.finished:
            program = code.code.general.program
        else:
            program = inline_primals(general(code.derived.program))
        params = (*program.params, *program.temps)
        for param, role in zip(params, code.roles_in(program), strict=True):
            if isinstance(param, Var):
                assert isinstance(role, Same) and isinstance(role.param, Var)
                numbers[param] = self.number(part, part.code.position[role.param], param)
                continue
            slot, later = slot_of(role)
            match slot:
                case Own(_, like):
                    arrays[param] = own = Array(param.name, param.type)
                    self.own[own] = Own(param.type.element, like)
                case Slab():
                    arrays[param] = SequenceRow(self.slab(slot), self.next if later else self.t)
                case _:
                    arrays[param] = self.array(slot, param.name, param.type)
        self.stmts += placed(program.body, arrays, numbers)

    def number(self, part: PeriodStage, position: int, param: Var) -> Value:
        """Return a number of a launch."""
        place = (part.launch, position)
        if place not in self.period.layout.varying:
            slot = FixedNumber(*place)
            found = self.params.get(slot)
            if found is None:
                found = self.params[slot] = Var(param.name, param.type)
            assert isinstance(found, Var)
            return found
        if param.type == BOOL:
            raise Unfusible(f"a truth value that kernel '{part.code.name}' is given varies")
        assert isinstance(param.type, Scalar)
        table = self.array(NumberTable(*place), f"{param.name}_table", FieldType(param.type, 1))
        value = Var(param.name, param.type)
        self.stmts.append(Load(value, table, (self.t,)))
        return value

    def made(self, word: str) -> PeriodProgram:
        """Return the program."""
        names = dict.fromkeys(part.code.name for part in self.period.parts)
        slots: dict[Array | Var, Slot] = {param: slot for slot, param in self.params.items()}
        slots |= self.own
        program = Program(
            f"{'_'.join(names)}_{word}",
            (*self.params.values(), *self.own, self.t),
            Block(tuple(self.stmts)),
        )
        layout = self.period.layout
        extents = {p: _extents(p, s, layout) for p, s in slots.items() if isinstance(p, Array)}
        sized = _with_fixed_sizes if layout.fixed else _with_equal_sizes
        body = sized(program.body, extents)
        return PeriodProgram(replace(program, body=body), self.t, slots, extents)


def _extents(array: Array, slot: Slot, layout: PeriodLayout) -> tuple[Hashable, ...]:
    """Return a key for each extent of an array: equal extents have equal keys."""
    match slot:
        case FieldMemory(number) | Unwritten(number) | Gradient(number) | Own(_, number) if (
            number is not None
        ):
            return layout.extents[number]
        case Slab(number):
            return ("rows", slot), *layout.extents[number]
        case _:
            return tuple((slot, axis) for axis in range(array.type.ndim))


def _with_fixed_sizes(block: Block, extents: Mapping[Array, tuple[Hashable, ...]]) -> Block:
    """Return statements with the sizes themselves in the place of questions for them."""
    sizes = Substitution()
    for stmt in walk(block):
        if isinstance(stmt, Size) and isinstance(extent := extents[stmt.array][stmt.axis], int):
            sizes[stmt.out] = Const(extent, I32)
    rest = without_stmts(block, lambda stmt: isinstance(stmt, Size) and stmt.out in sizes)
    return Block(tuple(substitute(stmt, sizes) for stmt in rest.stmts))


def _with_equal_sizes(block: Block, extents: Mapping[Array, tuple[Hashable, ...]]) -> Block:
    """Return statements that ask one array for all extents that are equal."""
    first: dict[Hashable, tuple[Array, int]] = {}

    def one(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Size):
            extent = extents[stmt.array][stmt.axis]
            array, axis = first.setdefault(extent, (stmt.array, stmt.axis))
            return replace(stmt, array=array, axis=axis)
        return with_blocks(stmt, each)

    def each(block: Block) -> Block:
        return replace(block, stmts=tuple(one(stmt) for stmt in block.stmts))

    return each(block)
