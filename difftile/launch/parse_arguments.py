"""The arguments of a launch, parsed into fields, numbers and what the kernel is specialised on."""

from __future__ import annotations

from collections.abc import Sequence

from difftile.compile.definition import Body
from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.frontend.captures import plain
from difftile.frontend.parameters import Given
from difftile.launch.array_arguments import array_arguments
from difftile.launch.forms import ArgumentForm, Misfit, NotShared, OpenedArgument, Single, single
from difftile.launch.kinds import Row, row_of
from difftile.launch.parsed_arguments import ArgumentPart, ParsedArguments, Taking
from difftile.substrate import Session


class HostArrays(LaunchError):
    """Arrays are on the host, and fields on a device, which shares no memory with it."""


def parse_arguments(
    kernel: object, body: Body, args: Sequence[object], session: Session, *, joined: bool = False
) -> ParsedArguments:
    """Return the arguments of a launch, parsed.

    Args:
        kernel: The kernel, for errors.
        body: The body of the kernel, with the kind of each parameter.
        args: The arguments.
        session: The session, to which the fields must belong.
        joined: As in `array_arguments`.

    Raises:
        HostArrays: An array is on the host, and fields are on a device.
        LaunchError: An argument is not one that a kernel takes, or does not fit its parameter.
    """
    parsed = ParsedArguments([*args])
    forms: dict[str, ArgumentForm] = {}
    parts: list[tuple[ArgumentPart, Row]] = []
    for position, ((name, kind), arg) in enumerate(zip(body.kinds.items(), args, strict=True)):
        row = row_of(arg, kind)
        if row.open is None:
            forms[name] = single(kind)
            parts.append((ArgumentPart(name, kind, position, nested=False), row))
            continue
        try:
            form, values = row.open(arg, kind)
        except Misfit as misfit:
            lacks = isinstance(misfit, NotShared) and not (misfit.path or session.on_host)
            error = HostArrays if lacks else LaunchError
            raise error(f"{kernel!r}: '{name}{misfit.path}' {misfit.reason}") from None
        forms[name], nested = form, not isinstance(form, Single)
        parsed.several.append(OpenedArgument.of(position, form, arg, values))
        if nested:
            parsed.key.append((position, form))
        for (path, own), value in zip(form.parts(name), values, strict=True):
            parts.append((ArgumentPart(path, own, len(parsed.args), nested), row_of(value, own)))
            parsed.args.append(value)
    named: dict[str, ArrayLike] = {}
    for part, row in parts:
        if row.fields is not None:
            named.update(row.fields(part.name, parsed.args[part.position]))
    arrays = array_arguments(named, session, joined=joined)
    body.check(kernel, dict.fromkeys(part.name for part, _ in parts) | named)
    own = {name: one for name, one in arrays.items() if one.meaning is not None}
    parsed.arrays = {name: one.value.base for name, one in own.items()}
    parsed.meanings = {name: one.meaning for name, one in own.items() if one.meaning is not None}
    taking, left = Taking(kernel, body.takes_elements, parsed, arrays), iter(parts)

    def take() -> Given:
        part, row = next(left)
        assert row.take is not None
        return row.take(taking, part, plain(parsed.args[part.position]))

    for name, form in forms.items():
        parsed.signature[name] = form.given(take)
    return parsed
