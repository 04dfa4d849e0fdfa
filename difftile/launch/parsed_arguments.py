"""The arguments of a launch, parsed: what each of them has added."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field

from difftile.compile.annotations import Kind
from difftile.compile.arguments import Arguments
from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.frontend.parameters import Given, as_written
from difftile.ir.types import I32, Scalar
from difftile.launch.array_arguments import ArrayArgument
from difftile.launch.forms import OpenedArgument
from difftile.launch.prepared_launch import NumberSlot
from difftile.ops.vocabulary import FieldMeaning
from difftile.records import dataclass


@dataclass
class ParsedArguments:
    """The arguments of a launch, parsed.

    Args:
        args: The arguments, followed by the parts of those in whose places others are passed.
        several: The arguments in whose places others are passed.
        key: The key by which the kernel is specialised.
        signature: The argument of each parameter in the words of the frontend, by name.
        values: Fields and numbers in the order of the parameters; structs member by member.
        numbers: The slots of the numbers among the values.
        objects: The arguments in which a launch looks names up: parameter, position, type.
        known: Those arguments, by parameter.
        statics: The arguments that are compiled in, by position.
        others: The positions of all other arguments, which are fields.
        arrays: The field passed for each array of the program, by parameter; members of structs
            as 'p.pos'.
        meanings: The meanings of those fields.
    """

    args: list[object] = field(default_factory=list[object])
    several: list[OpenedArgument] = field(default_factory=list[OpenedArgument])
    key: list[Hashable] = field(default_factory=list[Hashable])
    signature: dict[str, Given] = field(default_factory=dict[str, Given])
    values: Arguments = field(default_factory=list[Field | float])
    numbers: list[NumberSlot] = field(default_factory=list[NumberSlot])
    objects: list[tuple[str, int, type]] = field(default_factory=list[tuple[str, int, type]])
    known: dict[str, object] = field(default_factory=dict[str, object])
    statics: list[tuple[int, object]] = field(default_factory=list[tuple[int, object]])
    others: list[int] = field(default_factory=list[int])
    arrays: dict[str, Field] = field(default_factory=dict[str, Field])
    meanings: dict[str, FieldMeaning] = field(default_factory=dict[str, FieldMeaning])


@dataclass(frozen=True, slots=True)
class ArgumentPart:
    """A single value among the arguments, by its position.

    Args:
        name: The parameter, and the way to the part: 'x', 'p.pos', 'v.1'.
        kind: The kind of value that the parameter takes.
        position: The position among the arguments and their parts.
        nested: Whether this is a part of an argument.
    """

    name: str
    kind: Kind
    position: int
    nested: bool

    @property
    def integer(self) -> Scalar:
        """The type of an integer: without annotation ti.i32."""
        return self.kind if isinstance(self.kind, Scalar) else I32

    @property
    def shown(self) -> str:
        """The part as it is written in Python."""
        return as_written(self.name)


@dataclass(frozen=True, slots=True)
class Taking:
    """The arguments of a launch while they are taken one by one.

    Args:
        kernel: The kernel, for errors.
        takes_elements: The kernel is one over the elements of fields, which takes no numbers in
            fields.
        parsed: The arguments, to which each value adds its own.
        fields: The fields among them, by name.
    """

    kernel: object
    takes_elements: bool
    parsed: ParsedArguments
    fields: Mapping[str, ArrayArgument]

    def refusal(self, part: ArgumentPart, what: str) -> LaunchError:
        """Return the error for a value that does not fit."""
        return LaunchError(f"{self.kernel!r}: '{part.shown}' {what}")
