"""A kernel of one world as the body of a kernel for many."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from difftile.compile.annotations import Kind, check_element
from difftile.compile.definition import Definition
from difftile.compile.meanings import meaning_of
from difftile.diagnostics import KernelError, LaunchError, counted, did_you_mean
from difftile.fields.array_like import ArrayLike
from difftile.frontend.lower import Lowered, lower
from difftile.frontend.parameters import Signature, as_written
from difftile.frontend.worlds import WorldFields
from difftile.ir.nodes import Block, Const, Program
from difftile.ir.types import I32, Scalar
from difftile.ir.walk import Substitution, substitute, with_stmts
from difftile.ops.vocabulary import FieldMeaning
from difftile.passes.over_worlds import over_worlds
from difftile.records import dataclass


@dataclass(frozen=True)
class BatchedBody:
    """The body of a kernel for many worlds.

    Args:
        one: The kernel of one world.
        count: The number of worlds.
        worlds: Which of its fields have an axis of worlds.
    """

    one: Definition
    count: int
    worlds: WorldFields

    takes_elements: ClassVar[bool] = True  # numbers may be given fields, with one for each world

    @property
    def title(self) -> str:
        """The kernel in the words of an error."""
        return f"{self.one.title[:-1]} for {counted(self.count, 'world')}>"

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters, as Python sees them."""
        return self.one.parameters

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each parameter."""
        return self.one.kinds

    def lower(
        self, signature: Signature, float_type: Scalar, fields: Mapping[str, FieldMeaning]
    ) -> Lowered:
        """Return the program for arguments of certain types."""
        source = self.one.source
        given = source, signature, meaning_of, float_type, fields, self.one.roles, None
        has_loops = any(isinstance(node, ast.For) for node in ast.walk(source.tree))
        if not self.worlds.slots:
            lowered = lower(*given, self.worlds)
            one = replace(lowered.program, body=Block(()))
            if has_loops:
                one = _first_world(lower(*given, replace(self.worlds, slots=True)))
            return replace(lowered, one_world=one)
        lowered = lower(*given, self.worlds)
        if lowered.streams:
            raise KernelError(
                f"Kernel '{source.name}' draws random numbers, and its loops run for all worlds "
                "at once.",
                source.span(source.tree),
                hint="leave threads='slots' out.",
            )
        if lowered.one_thread:
            raise KernelError(
                f"Kernel '{source.name}' declares an array of the thread outside of its loops, and "
                "its loops run for all worlds at once.",
                source.span(source.tree),
                hint="declare it in a loop, or leave threads='slots' out.",
            )
        assert lowered.world is not None
        return replace(lowered, program=over_worlds(lowered.program, *lowered.world), world=None)

    # Checks of a launch

    def check(self, kernel: object, fields: Mapping[str, ArrayLike | None]) -> None:
        """Check that the fields of a launch have the axes of worlds that they should have.

        Args:
            kernel: The kernel, for errors.
            fields: The arguments by name; members of structs as 'p.pos'. None for other arguments
                than fields.

        Raises:
            LaunchError: A field lacks the axis, has it in another size, or is in neither list.
        """
        for name in (*self.worlds.batched, *self.worlds.shared):
            self._check_name(kernel, name, fields)
        batched = 0
        for name, field in fields.items():
            if field is None:
                continue
            shown, has_axis = as_written(name), self.worlds.has_axis(name)
            if has_axis is None:
                raise LaunchError(
                    f"{kernel!r}: '{shown}' is neither in batched=(...) nor in shared=(...)."
                )
            kind = self.worlds.numbers.get(name)
            if kind is not None:
                check_element(kernel, shown, kind, field)
            if not has_axis:
                self._check_shared(kernel, shown, field)
                continue
            batched += 1
            if not field.shape:
                raise LaunchError(
                    f"{kernel!r}: '{shown}' has no axis of worlds, its shape is (). If all worlds "
                    f"share it, say so: shared=({shown!r}, ...)."
                )
            if field.shape[0] != self.count:
                raise LaunchError(
                    f"{kernel!r}: '{shown}' has {counted(field.shape[0], 'world')} along its first "
                    f"axis, its shape is {field.shape}. If all worlds share it, say so: "
                    f"shared=({shown!r}, ...)."
                )
        if not batched:
            raise LaunchError(
                f"{kernel!r}: no argument has an axis of worlds; all worlds would do the same."
            )

    def _check_name(
        self, kernel: object, name: str, fields: Mapping[str, ArrayLike | None]
    ) -> None:
        inside = [path for path in fields if path == name or path.startswith(f"{name}.")]
        if not inside:
            known = dict.fromkeys(part for path in fields for part in _prefixes(path))
            guess = did_you_mean(name, known) or f"it has {', '.join(known)}."
            raise LaunchError(f"{kernel!r} has no argument '{as_written(name)}'; {guess}")
        if name in self.worlds.batched and all(fields[path] is None for path in inside):
            raise LaunchError(
                f"{kernel!r}: '{as_written(name)}' is in batched=(...) and is no field: pass a "
                f"field of shape ({self.count},), with one value for each world."
            )

    def _check_shared(self, kernel: object, shown: str, field: ArrayLike) -> None:
        is_number = shown in self.worlds.numbers
        if is_number and field.shape:
            raise LaunchError(
                f"{kernel!r}: '{shown}' is one number for all worlds, not {field!r}. If each has "
                f"its own, say so: batched=({shown!r}, ...)."
            )


def _prefixes(path: str) -> Iterator[str]:
    """Yield 'm' and 'm.pos' for 'm.pos'."""
    parts = path.split(".")
    for k in range(len(parts)):
        yield ".".join(parts[: k + 1])


def _first_world(lowered: Lowered) -> Program:
    """Return the program of the first world."""
    assert lowered.world is not None
    known = Substitution({lowered.world[0]: Const(0, I32)})
    program = lowered.program
    return with_stmts(program, [substitute(stmt, known) for stmt in program.body.stmts])
