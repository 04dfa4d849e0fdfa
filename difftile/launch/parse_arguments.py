"""The arguments of a launch, parsed into fields, numbers and what the kernel is specialised on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from difftile.compile.definition import Body
from difftile.diagnostics import LaunchError
from difftile.fields.structs import StructField
from difftile.frontend.parameters import Given, StructOf, VectorOf, component_names
from difftile.launch.array_arguments import (
    array_arguments,
    first_given,
    meanings_of,
)
from difftile.launch.kinds import ArgumentPart, ArrayArguments, ParsedArguments, Taking
from difftile.launch.open_arguments import (
    Form,
    Members,
    Misfit,
    Numbers,
    Single,
    kept_parts,
    opened,
)
from difftile.launch.overlaps import together
from difftile.substrate import Session


def parse_arguments(
    kernel: object, body: Body, args: Sequence[object], session: Session
) -> ParsedArguments:
    """Return the arguments of a launch, parsed.

    Args:
        kernel: The kernel, for errors.
        body: The body of the kernel, with the kind of each parameter.
        args: The arguments.
        session: The session, to which the fields must belong.

    Raises:
        LaunchError: An argument is not one that a kernel takes, or does not fit its parameter.
    """
    parsed = ParsedArguments([*args])
    forms: dict[str, Form] = {}
    parts: list[ArgumentPart] = []
    for position, ((name, kind), arg) in enumerate(zip(body.kinds.items(), args, strict=True)):
        try:
            forms[name], values = opened(arg, kind)
        except Misfit as misfit:
            raise LaunchError(f"{kernel!r}: '{name}{misfit.path}' {misfit.reason}") from None
        if isinstance(forms[name], Single):
            parts.append(ArgumentPart(name, kind, position, nested=False))
        else:
            first = len(parsed.args)
            parsed.args += values
            parsed.several.append(kept_parts(position, forms[name], arg, values))
            parts += _parts(name, forms[name], iter(range(first, len(parsed.args))))
    fields = _array_arguments(parsed, parts, session)
    named = dict.fromkeys(part.name for part in parts)
    body.check(kernel, named | {name: one.value for name, (one, _) in fields.items()})
    taking, left = Taking(kernel, body.takes_elements, parsed, fields), iter(parts)
    for name, form in forms.items():
        parsed.signature[name] = _given(taking, form, left)
    return parsed


def _given(taking: Taking, form: Form, parts: Iterator[ArgumentPart]) -> Given:
    """Add the next argument, given the parts that are left; return it as the frontend sees it."""
    if isinstance(form, Single):
        return taking.take(next(parts))
    taking.parsed.key.append(form)
    match form:
        case Numbers(_, shape):
            return VectorOf(shape, tuple([taking.take(next(parts)) for _ in range(prod(shape))]))
        case Members(_, members, methods):
            given = [(key, _given(taking, one, parts)) for key, one in members]
            return StructOf(tuple(given), methods)


def _parts(name: str, form: Form, positions: Iterator[int]) -> Iterator[ArgumentPart]:
    """Yield the parts of an argument."""
    match form:
        case Single(kind):
            yield ArgumentPart(name, kind, next(positions))
        case Numbers(_, shape, component):
            for key in component_names(name, shape):
                yield ArgumentPart(key, component, next(positions))
        case Members(_, members):
            for key, member in members:
                yield from _parts(f"{name}.{key}", member, positions)


def _array_arguments(
    parsed: ParsedArguments, parts: Sequence[ArgumentPart], session: Session
) -> ArrayArguments:
    """Return the fields among the arguments by name, and note which are separate arrays.

    Raises:
        LaunchError: Two fields share memory under different shapes.
    """
    leaves: list[tuple[str, object]] = []
    for part in parts:
        value = parsed.args[part.position]
        is_struct = isinstance(value, StructField)
        leaves += value.fields(part.name) if is_struct else [(part.name, value)]
    names = [name for name, _ in leaves]
    fields = array_arguments(together([value for _, value in leaves]))
    for one in fields.values():
        if one.value.base.storage.memory.pool is not session.pool:
            _ = one.value.base.buffer  # raises an error that tells why
    parsed.arrays = {names[k]: one for k, one in first_given(fields).items()}
    parsed.meanings = {names[k]: one for k, one in meanings_of(fields).items()}
    return {names[k]: (one, one.given(names)) for k, one in fields.items()}
