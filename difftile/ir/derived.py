"""Programs that are derived from others, and the role of each of their parameters.

The adjoint of a stage reads contents from before and after it and changes gradients; a tangent
program carries tangents as well as fields; a batched program has arrays with an axis more. Each
parameter says which of these it is, so that derivations compose (the tangent of an adjoint has
roles such as `Dot(Bar(x))`) and one binder serves every program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from difftile.ir.nodes import Array, Program, Var
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Same:
    """The primal's own parameter: a number, or a field in its present memory."""

    param: Array | Var


@dataclass(frozen=True, slots=True)
class Before:
    """The contents of a field of the primal from before the stage."""

    array: Array


@dataclass(frozen=True, slots=True)
class After:
    """The contents of a field of the primal from after the stage."""

    array: Array


@dataclass(frozen=True, slots=True)
class Bar:
    """The gradient of a field of the primal.

    Where a rule tells them apart, `incoming` is the gradient with respect to the contents after the
    launch; otherwise one buffer serves for both.
    """

    array: Array
    incoming: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """The tangent of a parameter with another role.

    Tangents of tangents are numbered by `level`, from 1: a program with tangents along two
    directions has `Dot(x)`, `Dot(x, 2)` and the mixed `Dot(Dot(x), 2)`.
    """

    of: Role
    level: int = 1


@dataclass(frozen=True, slots=True)
class Lane:
    """A parameter with another role, for many directions along one more axis, the first."""

    of: Role


@dataclass(frozen=True, slots=True)
class Width:
    """The number of directions."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory of the program's own, of one element or of the shape of a field of the primal."""

    like: Array | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """Memory for the values of loads, whose extents another program finds (`Derived.lengths`).

    Args:
        extents: The hidden fields of that program with the extent along each axis.
    """

    extents: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A field of the primal of which only the shape matters."""

    array: Array


Role: TypeAlias = Same | Before | After | Bar | Dot | Lane | Width | Scratch | Logged | Shape


@dataclass(frozen=True, slots=True)
class Derived:
    """A program and the roles of its parameters.

    Args:
        program: The program.
        roles: The role of each parameter and hidden field; the others are scratch memory.
        lengths: The program that finds the extents of logs, to be run first.
        advance: The program that only takes the copies of fields, which logs are filled from, to
            their contents after the stage. They are its only hidden fields with the role `Scratch`.
    """

    program: Program
    roles: Mapping[Array | Var, Role]
    lengths: Derived | None = None
    advance: Derived | None = None

    def role(self, param: Array | Var) -> Role:
        """Return the role of a parameter or hidden field."""
        found = self.roles.get(param)
        if found is None:
            assert isinstance(param, Array)
            return Scratch(None if param.like is None else self._of_primal(param.like))
        return found

    def _of_primal(self, array: Array) -> Array:
        """Return the field of the primal that has the shape of an array of the program.

        The program may be derived from another derived one, and its scratch memory have the shape
        of a gradient.
        """
        role = self.roles.get(array)
        while isinstance(role, (Dot, Lane)):
            role = role.of
        match role:
            case Same(field) | Shape(field) | Before(field) | After(field) | Bar(field) if (
                isinstance(field, Array)
            ):
                return field
            case None if array.like is not None:
                return self._of_primal(array.like)
            case _:
                return array

    def with_roles(self, program: Program, more: Mapping[Array | Var, Role]) -> Derived:
        """Return a program that was derived from this one, with the roles of new parameters."""
        return replace(self, program=program, roles={**self.roles, **more})

    def with_program(self, program: Program) -> Derived:
        """Return the same roles for another form of the program."""
        return replace(self, program=program)

    def of(self, kind: type[Before | After | Bar | Dot]) -> dict[Array, Array]:
        """Return the parameter that has a role of some kind, for each field of the primal."""
        return {
            array: param
            for param, role in self.roles.items()
            if isinstance(role, kind) and isinstance(param, Array)
            for array in sources((role,))
        }


def primal(program: Program) -> Derived:
    """Return a program as it stands: each parameter is itself."""
    return Derived(program, {p: Same(p) for p in (*program.params, *program.temps)})


def dots_of(derived: Derived, dots: Mapping[Array, Array], level: int) -> dict[Array | Var, Role]:
    """Return the roles of tangents.

    Args:
        derived: The program that they are tangents in.
        dots: The tangent of each of its arrays that has one.
        level: The number of the direction.
    """
    return {dot: Dot(derived.role(array), level) for array, dot in dots.items()}


def part_of(role: Role) -> tuple[Role, int]:
    """Return the role without its tangents, and the part of the hyper-dual number that it is.

    A number with `n` tangents has 2^n parts (Fike and Alonso, The development of hyper-dual numbers
    for exact second-derivative calculations, 2011). Part 0 is the value; in the others, bit
    `level - 1` says whether the part is a tangent along that direction.
    """
    part = 0
    while isinstance(role, Dot):
        part |= 1 << (role.level - 1)
        role = role.of
    return role, part


def sources(roles: Iterable[Role]) -> set[Array]:
    """Return the fields of the primal that roles stand for."""
    found: set[Array] = set()
    for role in roles:
        match role:
            case Dot(of) | Lane(of):
                found |= sources((of,))
            case Before(array) | After(array) | Bar(array) | Shape(array) | Same(array) if (
                isinstance(array, Array)
            ):
                found.add(array)
            case _:
                pass
    return found
