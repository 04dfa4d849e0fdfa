"""The entry of the frontend: a Python function and the types of its arguments to a program."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from difftile.diagnostics import CallMismatch, KernelError, RoleMismatch
from difftile.frontend.captures import Capture
from difftile.frontend.context import Context
from difftile.frontend.expressions import EXPRESSIONS
from difftile.frontend.items import FieldRef, Item, Static
from difftile.frontend.source import Source, source_of
from difftile.frontend.statements import STATEMENTS
from difftile.ir.nodes import Accumulate, Array, Load, Program, Store, Var
from difftile.ir.types import FieldType, Scalar, Type
from difftile.ir.walk import walk
from difftile.ops.vocabulary import Meanings, PythonFunction


@dataclass(frozen=True, slots=True)
class SameAs:
    """A parameter that is given the same field as an earlier one."""

    name: str


@dataclass(frozen=True, slots=True)
class Known:
    """A parameter whose Python value is part of the specialisation: a function, a template."""

    value: object


Signature: TypeAlias = Mapping[str, FieldType | Type | SameAs | Known]


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program, and how its parameters are filled at a launch.

    Args:
        program: The program; its parameters are the user's run-time ones, then the captured ones.
        captures: What was taken from outside, in the order in which it was met.
        streams: How many streams of random numbers a launch takes. If any, two numbers follow the
            captured parameters: the seed and the first stream.
    """

    program: Program
    captures: tuple[Capture, ...]
    streams: int


def lower(
    source: Source,
    signature: Signature,
    meanings: Meanings,
    float_type: Scalar,
    field_ids: Mapping[str, int],
    roles: Mapping[str, str],
) -> Lowered:
    """Lower a kernel for arguments of certain types.

    Args:
        source: The decorated function.
        signature: Type of each parameter, by name, in order.
        meanings: What a Python object means in a kernel.
        float_type: The type of float literals and of Python floats.
        field_ids: Identity of the field passed for a parameter, to recognise it when captured too.
        roles: Declared roles ('In', 'Out', 'InOut') by parameter.

    Raises:
        KernelError: The body is not a program of the kernel language.
    """
    cx = Context(source, meanings, float_type, EXPRESSIONS, STATEMENTS)
    params: list[Array | Var] = []
    for name, given in signature.items():
        item = _parameter(cx, name, given)
        if isinstance(item, (Var, FieldRef)) and not isinstance(given, SameAs):
            params.append(item.array if isinstance(item, FieldRef) else item)
        if isinstance(item, FieldRef) and name in field_ids:
            cx.arrays[field_ids[name]] = item
        cx.env[name] = item
    try:
        cx.run(source.tree.body)
    except RecursionError:
        raise KernelError(
            "An expression is nested too deeply.",
            cx.b.span,
            hint="compute parts of it in statements of their own, or write a loop.",
        ) from None
    captures = tuple(cx.captures.values())
    params += [capture.param for capture in captures if capture.param is not None]
    if cx.draws.used:
        params += [cx.draws.seed, cx.draws.first]
    program = Program(source.name, tuple(params), cx.b.block(), tuple(cx.temps))
    _check_roles(program, roles)
    return Lowered(program, captures, cx.draws.streams if cx.draws.used else 0)


def _parameter(cx: Context, name: str, given: FieldType | Type | SameAs | Known) -> Item:
    match given:
        case FieldType():
            return FieldRef(Array(name, given))
        case SameAs(other):
            return cx.env[other]
        case Known(value):
            return Static(value)
        case _:
            return Var(name, given)


def parameters_of(function: PythonFunction) -> list[inspect.Parameter]:
    """Return the parameters of a kernel.

    Raises:
        CallMismatch: It has `*args` or `**kwargs`.
    """
    parameters = list(inspect.signature(function).parameters.values())
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            source = source_of(function)
            arguments = source.tree.args
            node = arguments.vararg or arguments.kwarg or source.tree
            raise CallMismatch(
                source.span(node),
                f"kernel '{function.__name__}' has a parameter '{parameter}'.",
                "name its parameters one by one.",
            )
    return parameters


def _check_roles(program: Program, roles: Mapping[str, str]) -> None:
    """Check declared roles against what the body does.

    Raises:
        RoleMismatch: An `In` field is written, or an `Out` field is read.
    """
    for stmt in walk(program.body):
        if isinstance(stmt, Load) and roles.get(stmt.array.name) == "Out":
            raise RoleMismatch(
                stmt.span, stmt.array.name, "dt.Out", "read here", "declare it 'dt.InOut'."
            )
        if isinstance(stmt, (Store, Accumulate)) and roles.get(stmt.array.name) == "In":
            raise RoleMismatch(
                stmt.span, stmt.array.name, "dt.In", "written here", "declare it 'dt.InOut'."
            )
