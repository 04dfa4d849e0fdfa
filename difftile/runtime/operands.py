"""The fields among the arguments of a host operation, and how the operation uses them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.gradients import carrier
from difftile.fields.storage import Storage
from difftile.fields.structs import Member, StructField
from difftile.fields.view import View
from difftile.fields.window import Window, whole
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class FieldOperand:
    """A field, or a part of one, among the arguments.

    Args:
        name: The parameter, and the path to the field: 'src', 'p.pos', 'layers[2]'.
        value: The field or the part.
        role: 'In', 'Out' or 'InOut' if the parameter is annotated.
    """

    name: str
    value: ArrayLike
    role: str | None

    @property
    def window(self) -> Window:
        """The elements of the field or the part."""
        window = self.value.window
        return whole(self.value.shape) if window is None else window

    @property
    def written(self) -> bool:
        """Whether the field is declared as written."""
        return self.role in ("Out", "InOut")


def operands_of(name: str, arg: object, role: str | None) -> Iterator[FieldOperand]:
    """Yield the fields in an argument: a field, a struct field, or a list, tuple or dict of those.

    Args:
        name: The parameter.
        arg: The argument.
        role: The annotation of the parameter.
    """
    if isinstance(arg, ArrayLike):
        yield FieldOperand(name, arg, role)
    elif isinstance(arg, StructField):
        for dotted, field in arg.fields(name):
            yield FieldOperand(dotted, field, role)
    elif isinstance(arg, (tuple, list)):
        for k, one in enumerate(cast("Sequence[object]", arg)):
            yield from operands_of(f"{name}[{k}]", one, role)
    elif isinstance(arg, dict):
        for key, one in cast("dict[object, object]", arg).items():
            yield from operands_of(f"{name}[{key!r}]", one, role)


def replaced(arg: object, stand: Callable[[ArrayLike], object]) -> object:
    """Return an argument with other fields in the place of its own."""
    if isinstance(arg, ArrayLike):
        return stand(arg)
    if isinstance(arg, StructField):
        members = {name: replaced(one, stand) for name, one in arg.members.items()}
        return StructField(cast("dict[str, Member]", members), arg.methods)
    if isinstance(arg, (tuple, list)):
        given = cast("Sequence[object]", arg)
        made = [replaced(one, stand) for one in given]
        if isinstance(given, list):
            return made
        return type(given)(*made) if hasattr(given, "_fields") else tuple(made)
    if isinstance(arg, dict):
        return {k: replaced(one, stand) for k, one in cast("dict[object, object]", arg).items()}
    return arg


def stand_in(then: ReverseContext, uses: Mapping[Storage, Use], value: ArrayLike) -> ArrayLike:
    """Return the stand-in for a field, or a part of one, in the reverse of the operation.

    A field that shares its memory with one to which derivatives pass instead stands apart.
    """
    field = value.base
    use = uses.get(field.storage)
    if use is None:
        return value
    found = then.stand_in(field, use.field)
    return found if value.window is None else View(found, value.window)


def uses_of(title: str, operands: Sequence[FieldOperand]) -> tuple[Use, ...]:
    """Return how an operation may use each memory.

    Args:
        title: The operation, for errors.
        operands: The fields among its arguments.

    Raises:
        LaunchError: Arguments that share memory are declared to be used in ways that disagree.
    """
    together: dict[Storage, list[FieldOperand]] = {}
    for operand in operands:
        together.setdefault(operand.value.base.storage, []).append(operand)
    return tuple(_use(title, group) for group in together.values())


_ROLES: dict[str | None, tuple[bool, bool | None, Keeps]] = {
    "In": (True, False, Keeps.BEFORE),
    "Out": (False, True, Keeps.AFTER),
    "InOut": (True, True, Keeps.BEFORE),
    None: (True, None, Keeps.UNWRITTEN),
}


def _use(title: str, group: list[FieldOperand]) -> Use:
    first = group[0]
    field = carrier([operand.value.base for operand in group])
    if len(group) > 1 and any(operand.window != first.window for operand in group):
        return _use_of_parts(title, field, group)
    for operand in group:
        if operand.role != first.role:
            raise LaunchError(
                f"'{first.name}' and '{operand.name}' of {title} are the same memory, and are "
                "declared to be used in different ways. Pass it once, as dt.InOut."
            )
    parts = () if first.value.window is None else (first.window,)
    reads, writes, keeps = _ROLES[first.role]
    return Use(field, reads, writes, keeps, first.name, parts)


def _use_of_parts(title: str, field: Field, group: list[FieldOperand]) -> Use:
    """Return how a field is used that is passed in several parts."""
    if len({operand.window.base for operand in group}) > 1:
        raise LaunchError(
            f"'{group[0].name}' of {title} and other arguments share memory under different "
            "shapes; pass them under one shape, or copy one of them."
        )
    name = " and ".join(dict.fromkeys(operand.name for operand in group))
    if any(operand.role is None for operand in group):
        windows = tuple(dict.fromkeys(operand.window for operand in group))
        return Use(field, True, None, Keeps.UNWRITTEN, name, windows)
    written = {operand.window: operand for operand in group if operand.written}
    for window, operand in written.items():
        for other in group:
            if other.role != operand.role and window.shares(other.window):
                raise LaunchError(
                    f"'{other.name}' and '{operand.name}' of {title} have elements in common, and "
                    f"are declared dt.{other.role} and dt.{operand.role}."
                )
    roles = {operand.role for operand in group}
    if {"Out", "InOut"} <= roles:
        raise LaunchError(
            f"Parts of one field are declared dt.Out and dt.InOut in {title}; declare all that is "
            "written dt.InOut."
        )
    # A field that is only read is the same before and after.
    keeps = Keeps.AFTER if "Out" in roles else Keeps.BEFORE
    reads = roles != {"Out"}
    return Use(field, reads, bool(written), keeps, name, tuple(written))


def undeclared(operands: Sequence[FieldOperand], use: Use) -> list[str]:
    """Return the names of the undeclared parts of a written field that has several parts."""
    found = [o for o in operands if o.value.base.storage is use.field.storage]
    several = any(one.window != found[0].window for one in found)
    return [one.name for one in found if several and one.role is None]


Fingerprint: TypeAlias = "int | list[Fingerprint] | dict[object, Fingerprint] | None"


def fingerprint(value: object) -> Fingerprint:
    """Return a number for the contents of each array in a value, to tell later if they changed."""
    if isinstance(value, np.ndarray):
        array = cast(HostArray, value)
        if array.dtype.hasobject:
            return None
        return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    if isinstance(value, (tuple, list)):
        return [fingerprint(one) for one in cast("Sequence[object]", value)]
    if isinstance(value, dict):
        return {k: fingerprint(one) for k, one in cast("dict[object, object]", value).items()}
    return None
