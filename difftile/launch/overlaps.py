"""Arguments over overlapping memory of others, as parts of one field.

Two slices of one array are two fields where they come in (`fields/arrays`). If they have memory in
common, a program that took them for separate arrays would miss races and read its own writes: they
become parts of one field, which `array_arguments` compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.specialisation import Specialisation
from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.foreign import shared_field
from difftile.fields.storage import Storage
from difftile.fields.strides import Strided, strided
from difftile.fields.view import View
from difftile.fields.window import Window, whole
from difftile.frontend.parameters import as_written


def together(values: Sequence[ArrayLike]) -> Sequence[ArrayLike]:
    """Return the fields of a launch, with parts of one in place of fields over overlapping memory.

    Raises:
        LaunchError: No field has all of these as parts.
    """
    shared = {one.base.storage: None for one in values if one.base.storage.memory.is_shared}
    if len(shared) < 2:
        return values
    found = [*values]
    for group in _groups([*shared]):
        places = [k for k, one in enumerate(values) if one.base.storage in group]
        for k, part in zip(places, _as_parts([found[k] for k in places]), strict=True):
            found[k] = part
    return found


def check_apart(fields: Iterable[Field]) -> None:
    """Check that no two fields of a launch have memory in common.

    Raises:
        LaunchError: Two have.
    """
    shared = {one.storage: one for one in fields if one.storage.memory.is_shared}
    if len(shared) < 2:
        return
    for group in _groups(list(shared)):
        first, second = (shared[storage] for storage in group[:2])
        raise LaunchError(
            f"{first!r} and {second!r} have memory in common. Pass parts of one field, or copy one "
            "of them."
        )


def detached_and_written(code: Specialisation, values: Arguments) -> str:
    """Return what is wrong if a kernel writes memory that it is also given as constant, or ''."""
    written = {field_at(values, k).storage: k for k in code.writes}
    for k, one in enumerate(values):
        if not isinstance(one, Field) or one.storage not in written:
            continue
        at = written[one.storage]
        if one.is_cut != field_at(values, at).is_cut:
            names = (f"'{as_written(code.params[j].name)}'" for j in sorted((at, k)))
            return (
                f"{code.name}: {' and '.join(names)} are the same memory, which the kernel writes, "
                "and one of them is detached. Pass a copy in place of what is only read."
            )
    return ""


def _groups(storages: list[Storage]) -> Iterator[list[Storage]]:
    """Yield storages that overlap, directly or by others; only groups of two and more."""
    storages = [one for one in storages if one.memory.nbytes]
    storages.sort(key=lambda one: one.memory.address)
    group: list[Storage] = []
    end = 0
    for one in storages:
        if group and one.memory.address >= end:
            if len(group) > 1:
                yield group
            group, end = [], 0
        group.append(one)
        end = max(end, one.memory.address + one.memory.nbytes)
    if len(group) > 1:
        yield group


def _as_parts(values: list[ArrayLike]) -> list[ArrayLike]:
    """Return fields over overlapping memory as parts of one field."""
    first = values[0].base
    graded = {value.base.origin for value in values if value.has_grads}
    elements = {value.element for value in values}
    if len(elements) > 1 or len(graded) > 1:
        why = "their elements differ" if len(elements) > 1 else "each has a gradient of its own"
        raise LaunchError(
            f"{values[0]!r} and other arguments have memory in common, and {why}. Pass parts of "
            "one field, or copy one of them."
        )
    itemsize = first.nbytes // first.size
    strides = [strided(v.base.buffer.address, v.window, v.base.shape, itemsize) for v in values]
    for base in _bases(values, strides):
        windows = [s.window_in(base.storage.memory.address, base.shape) for s in strides]
        found = [_part(base, window) for window in windows if window is not None]
        if len(found) == len(values):
            return found
    raise LaunchError(
        f"{values[0]!r} and other arguments have memory in common, and are not slices of one "
        "array. Pass slices of one array of the same axes, or copy one of them."
    )


def _bases(values: Sequence[ArrayLike], strides: Sequence[Strided]) -> Iterator[Field]:
    """Yield fields that may have all of some values as parts."""
    memories = [value.base.storage.memory for value in values]
    low = min(memory.address for memory in memories)
    high = max(memory.address + memory.nbytes for memory in memories)
    read_only = any(value.base.storage.read_only for value in values)
    graded = [value.base for value in values if value.has_grads]
    for base in graded or [value.base for value in values]:
        memory = base.storage.memory
        is_all = (memory.address, memory.nbytes) == (low, high - low)
        if is_all and base.storage.read_only == read_only:
            yield base
    if graded:
        return
    element = values[0].element
    lender = tuple(memories)
    for one in strides:
        for address, shape in one.grids(low, high, fill=True):
            yield shared_field(element, shape, address, lender, read_only)


def _part(base: Field, window: Window) -> ArrayLike:
    return base if window == whole(base.shape) else View(base, window)
