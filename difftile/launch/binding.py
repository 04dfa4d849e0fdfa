"""Derived programs bound to memory: the one place where parameters get their arguments.

A `LaunchEnvironment` gives the slot of each role; a `Binding` works out once which argument comes
from which slot, and fills them in at each launch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from difftile.compile.arguments import Argument, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import DerivedCode
from difftile.fields.field import Field
from difftile.fields.pending import PENDING, run_pending
from difftile.fields.storage import Storage
from difftile.ir.derived import (
    After,
    Bar,
    Before,
    Dot,
    Lane,
    Logged,
    Role,
    Same,
    Scratch,
    Shape,
    Width,
)
from difftile.ir.facts import arrays_loaded
from difftile.ir.nodes import Array, Var
from difftile.ir.types import Type, nbytes_of
from difftile.records import dataclass
from difftile.substrate import Buffer, Launcher, current_session

ProgramArgs: TypeAlias = list[Any]
"""Buffers and numbers, one for each parameter of a compiled program; None where one is missing."""


@dataclass(frozen=True, slots=True)
class Live:
    """The memory of a field at the time of the launch."""

    field: Field


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same argument at each launch."""

    argument: Buffer | float


@dataclass(frozen=True, slots=True)
class Passed:
    """A number among the arguments of each launch, by its position."""

    position: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A buffer that each launch brings along, by its position, in the shape of a field.

    The buffer may be packed.
    """

    position: int
    field: Field


@dataclass(frozen=True, slots=True)
class Temporary:
    """Memory that is taken for the launch."""

    element: Type
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Memory that is taken for the launch, whose extents another program finds.

    Args:
        element: The type of its elements.
        lead: The extents that are known.
        extents: The hidden fields of that program with the other extents.
    """

    element: Type
    lead: tuple[int, ...]
    extents: tuple[Array, ...]

    def shape(self, found: Mapping[Array, int]) -> tuple[int, ...]:
        """Return the shape of the memory, given the extents that were found."""
        return *self.lead, *(found[cell] for cell in self.extents)


Slot: TypeAlias = Live | Fixed | Passed | Kept | Temporary | Measured


class LaunchEnvironment:
    """The slots of the parameters of programs that are derived from a kernel's stages.

    This class serves the stages themselves: each launch passes its numbers, and fields are in their
    present memory. Subclasses add the slots that derived programs need.

    Args:
        code: The kernel.
        values: The arguments of a launch; other launches differ in numbers only.
    """

    def __init__(self, code: Specialisation, values: Sequence[Argument]) -> None:
        self.code = code
        self.values = values

    def field(self, array: Array) -> Field:
        """Return the field that was passed for a parameter of the kernel."""
        return field_at(self.values, self.code.position[array])

    def number(self, param: Var) -> Slot:
        """Return the slot of a number."""
        return Passed(self.code.position[param])

    def live(self, array: Array) -> Slot:
        """Return the slot of a field in its present memory."""
        return Live(self.field(array))

    def shape(self, array: Array) -> Slot:
        """Return the slot of a field of which only the shape matters."""
        return Live(self.field(array))

    def before(self, array: Array) -> Slot:
        """Return the slot of contents from before the stage."""
        raise NotImplementedError

    def after(self, array: Array) -> Slot:
        """Return the slot of contents from after the stage."""
        raise NotImplementedError

    def bar(self, array: Array) -> Slot:
        """Return the slot of a gradient."""
        raise NotImplementedError

    def dot(self, role: Dot) -> Slot | None:
        """Return the slot of a tangent; None where it is memory of the program's own."""
        raise NotImplementedError

    def lane(self, of: Role) -> Slot | None:
        """Return the slot of a parameter with an axis more; None as for `dot`."""
        raise NotImplementedError

    def width(self) -> Slot:
        """Return the slot of the number of directions."""
        raise NotImplementedError

    def scratch(self, param: Array, like: Array | None) -> Slot:
        """Return the slot of memory that the program needs while it runs."""
        return Temporary(param.type.element, () if like is None else self.field(like).shape)

    def lead(self, param: Array, role: Logged) -> tuple[int, ...]:
        """Return the extents of a log along axes that come before its own."""
        return ()

    def slot(self, param: Array | Var, role: Role) -> Slot:
        """Return the slot of a parameter."""
        match role:
            case Same(Var() as number):
                return self.number(number)
            case Same(Array() as array):
                return self.live(array)
            case Shape(array):
                return self.shape(array)
            case Before(array):
                return self.before(array)
            case After(array):
                return self.after(array)
            case Bar(array):
                return self.bar(array)
            case Width():
                return self.width()
            case Dot():
                found = self.dot(role)
            case Lane(of):
                found = self.lane(of)
            case _:
                found = None
        if found is None:
            assert isinstance(param, Array)
            while isinstance(role, (Dot, Lane)):
                role = role.of
            if isinstance(role, Logged):
                return Measured(param.type.element, self.lead(param, role), role.extents)
            assert isinstance(role, Scratch)
            return self.scratch(param, role.like)
        return found


class Binding:
    """A program that is launched again and again, on the memory in which its fields then are.

    Args:
        derived: The program.
        env: The slots of its parameters.
        given: The memory of some parameters.
    """

    __slots__ = (
        "_args",
        "_code",
        "_extents",
        "_is_plain",
        "_is_simple",
        "_kept",
        "_launcher",
        "_live",
        "_passed",
        "_shapes",
        "_temporary",
    )

    def __init__(
        self,
        derived: DerivedCode,
        env: LaunchEnvironment,
        given: Mapping[Array, Buffer] | None = None,
    ) -> None:
        self._code = derived.code
        self._launcher: Launcher | None = None
        # Arguments that are the same each time stand here, the others are filled in.
        self._args: ProgramArgs = [None] * len(derived.roles)
        self._live: list[tuple[int, Storage]] = []
        self._passed: list[tuple[int, int]] = []
        self._kept: list[tuple[int, int]] = []
        self._temporary: list[tuple[int, Temporary | Measured]] = []
        self._extents = None if derived.lengths is None else _Extents(derived.lengths, env)
        self._shapes: list[tuple[int, tuple[int, ...]]] = []  # of fields that are views in shape
        for place, (param, role) in enumerate(zip(self._code.params, derived.roles, strict=True)):
            memory = given.get(param) if given and isinstance(param, Array) else None
            match env.slot(param, role) if memory is None else Fixed(memory):
                case Live(field):
                    self._live.append((place, field.storage))
                    self._note_shape(place, field)
                case Fixed(argument):
                    self._args[place] = argument
                case Passed(position):
                    self._passed.append((place, position))
                case Kept(position, field):
                    self._kept.append((place, position))
                    self._note_shape(place, field)
                case Temporary() | Measured() as memory:
                    self._temporary.append((place, memory))

        self._is_plain = not (self._kept or self._shapes or self._temporary)
        self._is_simple = not self._temporary and self._extents is None

    def _note_shape(self, place: int, field: Field) -> None:
        if field.storage.memory.shape != field.shape:
            self._shapes.append((place, field.shape))

    def arguments(self, values: Sequence[Argument], kept: Sequence[Buffer] = ()) -> ProgramArgs:
        """Return the arguments that `launch` passes, except memory that is taken for the launch."""
        if PENDING.run is not None:
            run_pending()
        args = self._args.copy()
        for place, storage in self._live:
            args[place] = storage.memory
        for place, k in self._passed:
            args[place] = values[k]
        self._bring(args, kept)
        return args

    def _bring(self, args: ProgramArgs, kept: Sequence[Buffer]) -> None:
        """Fill in the buffers that a launch brings along, and views in shape."""
        for place, k in self._kept:
            buffer = kept[k]
            args[place] = buffer if buffer.packed is None else buffer.unpacked()
        for place, shape in self._shapes:
            args[place] = args[place].under(shape)

    def launch(
        self,
        values: Sequence[Argument],
        kept: Sequence[Buffer] = (),
        extents: Mapping[Array, int] | None = None,
    ) -> None:
        """Launch the program.

        Args:
            values: The arguments of the kernel, whose numbers are passed.
            kept: The buffers that the launch brings along.
            extents: The extents of logs, where they are known already.
        """
        if PENDING.run is not None:
            run_pending()
        args = self._args.copy()  # as in `arguments`, without a call: launches take microseconds
        for place, storage in self._live:
            args[place] = storage.memory
        for place, k in self._passed:
            args[place] = values[k]
        if not self._is_plain:
            self._bring(args, kept)
            if not self._is_simple:
                if extents is None and self._extents is not None:
                    extents = self._extents.found(values, kept)
                self._launch_with_memory(args, extents)
                return
        if self._launcher is None:
            self._launcher = self._code.settled(args)
        self._launcher.launch(args)

    def reduce(
        self,
        values: Sequence[Argument],
        kept: Sequence[Buffer],
        fresh: Collection[int],
        spent: Collection[int],
    ) -> tuple[frozenset[int], frozenset[int]]:
        """Launch code that writes less from now on, if there is some for all launches.

        Args:
            values: The arguments of the kernel in some launch.
            kept: Buffers of the shapes that launches bring along, no two in the same memory.
            fresh: The positions of buffers that would be filled with zeros before each launch.
            spent: The positions of buffers that are not read after a launch.

        Returns:
            The positions of the fresh ones that may hold anything before a launch, and of those
            that a launch writes.
        """
        at = dict(self._kept)
        found = None
        if self._is_simple and len({*at.values()}) == len(at):
            chosen = [[p for p, k in at.items() if k in some] for some in (fresh, spent)]
            found = self._code.reduced(self.arguments(values, kept), *chosen)
        if found is None:
            return frozenset(), frozenset(at.values())
        self._launcher = found.launcher
        writes = frozenset(at[place] for place in found.writes & at.keys())
        return frozenset(at[place] for place in found.sets), writes

    @property
    def brought(self) -> frozenset[int]:
        """The positions of the buffers that a launch brings along and the program is given."""
        inner = frozenset[int]() if self._extents is None else self._extents.brought
        return inner | {k for _, k in self._kept}

    @property
    def has_logs(self) -> bool:
        """Whether the program takes memory of extents that another program finds."""
        return self._extents is not None

    def extents(self, values: Sequence[Argument], kept: Sequence[Buffer]) -> Mapping[Array, int]:
        """Return the extents of the logs of a launch, if the program has some."""
        return {} if self._extents is None else self._extents.found(values, kept)

    def log_nbytes(self, extents: Mapping[Array, int]) -> int:
        """Return the bytes of logs of some extents."""
        logs = [one for _, one in self._temporary if isinstance(one, Measured)]
        return sum(nbytes_of(log.element, log.shape(extents)) for log in logs)

    def _launch_with_memory(self, args: ProgramArgs, extents: Mapping[Array, int] | None) -> None:
        memory = self._allocate(extents or {})
        logs = 0
        if extents is not None:
            pairs = zip(self._temporary, memory, strict=True)
            logs = sum(buffer.nbytes for (_, one), buffer in pairs if isinstance(one, Measured))
            current_session().pool.keep(logs)
        for (place, _), buffer in zip(self._temporary, memory, strict=True):
            args[place] = buffer
        if self._launcher is None:
            self._launcher = self._code.settled(args)
        try:
            self._launcher.launch(args)
        finally:
            if logs:
                current_session().pool.keep(-logs)
        for buffer in memory:
            buffer.free()

    def _allocate(self, extents: Mapping[Array, int]) -> list[Buffer]:
        allocate = current_session().pool.allocate
        memory: list[Buffer] = []
        for _, one in self._temporary:
            if isinstance(one, Temporary):
                memory.append(allocate(one.element, one.shape))
            else:
                memory.append(allocate(one.element, one.shape(extents)))
        return memory


class _Extents:
    """The extents of the logs of a program, found by another one.

    Args:
        code: The program that finds them.
        env: The slots of its parameters.
    """

    __slots__ = ("_binding", "_cells", "_constant", "_found", "_numbers")

    def __init__(self, code: DerivedCode, env: LaunchEnvironment) -> None:
        program = code.code.program
        allocate = current_session().pool.allocate
        cells = [
            param
            for param, role in zip(code.code.params, code.roles, strict=True)
            if role == Scratch() and isinstance(param, Array)
        ]
        self._cells = {cell: allocate(cell.type.element, ()) for cell in cells}
        self._binding = Binding(code, env, self._cells)
        self._constant = not arrays_loaded(program.body)  # for the same numbers
        self._numbers: list[float] | None = None
        self._found: dict[Array, int] = {}

    @property
    def brought(self) -> frozenset[int]:
        """The positions of the buffers that a launch brings along."""
        return self._binding.brought

    def found(self, values: Sequence[Argument], kept: Sequence[Buffer]) -> Mapping[Array, int]:
        """Return the extents of a launch."""
        numbers = [value for value in values if isinstance(value, (int, float))]
        if not self._constant or numbers != self._numbers:
            self._binding.launch(values, kept)
            self._found = {cell: int(buffer.read_at(())) for cell, buffer in self._cells.items()}
            self._numbers = numbers
        return self._found
