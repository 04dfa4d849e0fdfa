"""Under debug: kernels that read halos which are older than the fields they belong to.

A launch that writes owned elements only leaves the halos behind. A later one that reads them, and
writes owned elements only, was meant to see the present values of the neighbours.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

from difftile.compile.arguments import Arguments, number_at
from difftile.compile.stage import Stage
from difftile.diagnostics import StaleHalo
from difftile.fields.field import Field
from difftile.fields.split import Split
from difftile.fields.storage import Storage
from difftile.ir.nodes import Array, Var
from difftile.ir.types import FLOATS, scalar_of
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.passes.extents import Extents

Box: TypeAlias = Sequence[tuple[int, int]]
"""The first and the last index along each axis."""

_behind: WeakKeyDictionary[Storage, object] = WeakKeyDictionary()
"""Memory whose halos are behind, with a mark of its contents."""


def follow_halos(launch: PreparedLaunch, values: Arguments) -> None:
    """Warn of a launch that has read such a halo, and note which halos it has left behind."""
    params = launch.code.params
    found: dict[Array, tuple[Field, Split]] = {}
    for param, value in zip(params, values, strict=False):
        if isinstance(param, Array) and isinstance(value, Field):
            split = value.split
            if split is not None and split.halos and split.shape == value.shape:
                found[param] = value, split
    if not found:
        return
    numbers: dict[Var, int] = {
        param: int(number_at(values, k))
        for k, param in enumerate(params)
        if isinstance(param, Var) and scalar_of(param.type) not in FLOATS
    }
    for stage in launch.code.stages:
        known: Mapping[Var, int] = {**numbers, **_sizes(stage, launch, values)}
        written = [one for one in found if one in stage.extents.writes]
        inside: set[Array] = set()
        for one in written:
            field, split = found[one]
            box = _box(stage.extents, one, field, known)
            if box is not None and _is_owned(box, split):
                inside.add(one)
        if len(inside) == len(written):
            for one, (field, split) in found.items():
                if one in stage.read_extents.writes and _is_behind(field.storage):
                    box = _box(stage.read_extents, one, field, known)
                    if box is not None and _meets(box, split):
                        _warn(launch, field)
        for one in written:
            storage = found[one][0].storage
            _behind.pop(storage, None)
            if one in inside:
                _behind[storage] = storage.buffer.contents.mark()


def _sizes(stage: Stage, launch: PreparedLaunch, values: Arguments) -> Mapping[Var, int]:
    """Return the sizes of fields that a stage reads."""
    found: dict[Var, int] = {}
    for size, (of, axis) in stage.sizes.items():
        field = values[launch.code.position[of]]
        if isinstance(field, Field):
            found[size] = field.shape[axis]
    return found


def _box(extents: Extents, array: Array, field: Field, known: Mapping[Var, int]) -> Box | None:
    """Return the box of accesses; None if it is empty or not known."""
    box = extents.box(array, field.shape, known)
    return None if box is None or any(last < first for first, last in box) else box


def _is_owned(box: Box, split: Split) -> bool:
    pairs = zip(box, split.owned, strict=True)
    return all(own.start <= first and last < own.stop for (first, last), own in pairs)


def _meets(box: Box, split: Split) -> bool:
    """Tell whether a box has elements that an exchange fills."""
    for halo in split.halos:
        pairs = zip(box, halo, strict=True)
        if all(first < one.stop and one.start <= last for (first, last), one in pairs):
            return True
    return False


def _is_behind(storage: Storage) -> bool:
    mark = _behind.get(storage)
    return mark is not None and storage.buffer.contents.is_unwritten_since(mark)


def _warn(launch: PreparedLaunch, field: Field) -> None:
    text = (
        f"Kernel '{launch.code.name}' reads the halo of {field.named()}, which is out of date: the "
        "field has been written since its last exchange. Call its exchange() before this kernel."
    )
    warnings.warn(StaleHalo(text), stacklevel=4)
