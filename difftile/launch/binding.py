"""Derived programs bound to memory: the one place where parameters get their arguments.

An `Environment` gives the slot of each role; a `Binding` works out once which argument comes from
which slot, and fills them in at each launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from difftile.compile.arguments import Argument, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import DerivedCode
from difftile.fields.field import Field, Storage
from difftile.ir.derived import After, Bar, Before, Dot, Lane, Role, Same, Scratch, Shape, Width
from difftile.ir.nodes import Array, Var
from difftile.ir.types import Type
from difftile.substrate import Buffer, Launcher, current_session

ProgramArgs: TypeAlias = list[Any]
"""Buffers and numbers, one for each parameter of a compiled program; None where one is missing."""


@dataclass(frozen=True, slots=True)
class Live:
    """The memory in which a field is at the launch."""

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


Slot: TypeAlias = Live | Fixed | Passed | Kept | Temporary


class Environment:
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

    def dot(self, of: Role) -> Slot | None:
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
            case Dot(of):
                found = self.dot(of)
            case Lane(of):
                found = self.lane(of)
            case _:
                found = None
        if found is None:
            assert isinstance(param, Array)
            while isinstance(role, (Dot, Lane)):
                role = role.of
            assert isinstance(role, Scratch)
            return self.scratch(param, role.like)
        return found


class Binding:
    """A program that is launched again and again, on the memory in which its fields then are.

    Args:
        derived: The program.
        env: The slots of its parameters.
    """

    __slots__ = (
        "_args",
        "_code",
        "_is_plain",
        "_kept",
        "_launcher",
        "_live",
        "_passed",
        "_shapes",
        "_temporary",
    )

    def __init__(self, derived: DerivedCode, env: Environment) -> None:
        self._code = derived.code
        self._launcher: Launcher | None = None
        # Arguments that are the same each time stand here, the others are filled in.
        self._args: ProgramArgs = [None] * len(derived.roles)
        self._live: list[tuple[int, Storage]] = []
        self._passed: list[tuple[int, int]] = []
        self._kept: list[tuple[int, int]] = []
        self._temporary: list[tuple[int, Temporary]] = []
        self._shapes: list[tuple[int, tuple[int, ...]]] = []  # of fields that are views in shape
        for place, (param, role) in enumerate(zip(self._code.params, derived.roles, strict=True)):
            match env.slot(param, role):
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
                case Temporary() as memory:
                    self._temporary.append((place, memory))

        self._is_plain = not (self._kept or self._shapes or self._temporary)

    def _note_shape(self, place: int, field: Field) -> None:
        if field.storage.buffer.shape != field.shape:
            self._shapes.append((place, field.shape))

    def arguments(self, values: Sequence[Argument], kept: Sequence[Buffer] = ()) -> ProgramArgs:
        """Return the arguments that `launch` passes, except memory that is taken for the launch."""
        args = self._args.copy()
        for place, storage in self._live:
            args[place] = storage.buffer
        for place, k in self._passed:
            args[place] = values[k]
        for place, k in self._kept:
            buffer = kept[k]
            args[place] = buffer if buffer.packed is None else buffer.unpacked()
        for place, shape in self._shapes:
            args[place] = args[place].under(shape)
        return args

    def launch(self, values: Sequence[Argument], kept: Sequence[Buffer] = ()) -> None:
        """Launch the program.

        Args:
            values: The arguments of the kernel, whose numbers are passed.
            kept: The buffers that the launch brings along.
        """
        if not self._is_plain:
            self._launch_with_memory(self.arguments(values, kept))
            return
        args = self._args.copy()  # as in `arguments`, without a call: launches take microseconds
        for place, storage in self._live:
            args[place] = storage.buffer
        for place, k in self._passed:
            args[place] = values[k]
        if self._launcher is None:
            self._launcher = self._code.settled(args)
        self._launcher.launch(args)

    def _launch_with_memory(self, args: ProgramArgs) -> None:
        allocate = current_session().pool.allocate
        memory = [allocate(one.element, one.shape) for _, one in self._temporary]
        for (place, _), buffer in zip(self._temporary, memory, strict=True):
            args[place] = buffer
        if self._launcher is None:
            self._launcher = self._code.settled(args)
        self._launcher.launch(args)
        for buffer in memory:
            buffer.free()
