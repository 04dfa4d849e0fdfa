"""Files of fields: `dt.save` and `dt.load`.

A file is a `.npz` archive, which NumPy reads as well: an array for each field, one for each member
of a struct, and a table of what the arrays cannot say, `_FIELDS`. A row of the table has a name,
the number of the row of the struct that it is a member of, the number of axes of an element or
"struct", and whether there was a gradient.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import DatasetError, FieldError, OutOfMemory
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import from_numpy
from difftile.fields.field import Field
from difftile.fields.recording import no_grad
from difftile.fields.rows import Rows
from difftile.fields.structs import Member, StructField
from difftile.files.arrays import read_arrays, write_arrays
from difftile.files.regular import shown
from difftile.ir.types import scalar_from_numpy, shape_of, shaped
from difftile.tracebacks import boundary

Saved: TypeAlias = "Field | StructField"
_FIELDS = "difftile.fields"
_WRITTEN = "a file that dt.save() has written"
_TOP, _STRUCT = "", "struct"
_ELEMENTS = {str(axes): axes for axes in range(3)}
_FLAGS = {"": False, "grad": True}


@boundary
def save(
    path: str | os.PathLike[str],
    named: Mapping[str, Any] | Rows | None = None,
    /,
    **fields: Any,
) -> None:
    """Write fields to a file, which appears under its name when it is whole.

    Args:
        path: The file, by custom with the suffix `.npz`.
        named: Fields, parts of fields and struct fields by name, or `dt.Rows`.
        fields: More of them.

    Raises:
        FieldError: A value is not a field, or two arrays of the file would have one name.
        DatasetError: A folder has the name of the file.
        OSError: The file cannot be written.
    """
    if not isinstance(cast(object, named), (Mapping, Rows, NoneType)):
        raise FieldError("dt.save() takes fields by name: dt.save(path, x=x, v=v).")
    given: dict[str, Any] = {**dict(named or {}), **fields}
    if not given:
        raise FieldError("dt.save() takes fields by name: dt.save(path, x=x, v=v).")
    arrays: dict[str, npt.NDArray[Any]] = {}
    table: list[tuple[str, str, str, str]] = []
    for name, field in given.items():
        _write(name, name, field, _TOP, arrays, table)
    arrays[_FIELDS] = np.array(table)
    write_arrays(Path(path), arrays)


def _write(
    name: object,
    key: str,
    field: object,
    parent: str,
    arrays: dict[str, npt.NDArray[Any]],
    table: list[tuple[str, str, str, str]],
) -> None:
    """Add a field, or a struct with its members, to the arrays and the table of a file."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise FieldError(f"dt.save(): a name is a text, not {name!r}.")
    if isinstance(field, StructField):
        at = str(len(table))
        table.append((name, parent, _STRUCT, ""))
        for part, member in field.members.items():
            _write(part, f"{key}.{part}", member, at, arrays, table)
        return
    if not isinstance(field, ArrayLike):
        kind = type(field).__name__
        raise FieldError(f"dt.save() takes fields, and '{key}' is of type {kind}: dt.asarray(x).")
    if key in arrays or key == _FIELDS:
        raise FieldError(f"dt.save(): two arrays of the file would be called '{key}'; rename one.")
    grad = "grad" if field.has_grads else ""
    table.append((name, parent, str(len(shape_of(field.element))), grad))
    with no_grad():
        arrays[key] = field.to_numpy()


@boundary
def load(path: str | os.PathLike[str]) -> dict[str, Saved]:
    """Return the fields that `save` wrote, by name.

    They have memory of their own, and gradients of zeros where there were gradients. Parts of
    fields come back as fields, and structs without their methods. Nothing in the file is run.

    Args:
        path: The file.

    Raises:
        DatasetError: The file is missing, broken, or not one of fields.
    """
    file = Path(path)
    arrays = read_arrays(file)
    table = arrays.pop(_FIELDS, None)
    if table is None:
        raise DatasetError(
            file, "has arrays and no table of fields", _WRITTEN,
            hint="arrays of NumPy become fields by dt.from_numpy(np.load(path)['x']).",
        )  # fmt: skip
    if table.dtype.kind != "U" or table.ndim != 2 or table.shape[1] != 4:
        raise DatasetError(file, f"has the table {shown(_FIELDS)} in another form", _WRITTEN)
    rows = [tuple(map(str, row)) for row in table]
    tops: dict[str, Saved] = {}
    members: list[dict[str, Any]] = []
    keys: list[str] = []
    for name, parent, kind, flag in rows:
        inside = _inside(file, parent, rows, len(keys))
        key = name if inside is None else f"{keys[inside]}.{name}"
        among: dict[str, Any] = tops if inside is None else members[inside]
        if name in among:
            raise DatasetError(file, f"has {shown(key)} twice", "each name once")
        keys.append(key)
        members.append({})
        if kind == _STRUCT:
            among[name] = members[-1]
        elif key in arrays and kind in _ELEMENTS and flag in _FLAGS:
            among[name] = _field(file, key, arrays.pop(key), _ELEMENTS[kind], grad=_FLAGS[flag])
        else:
            raise DatasetError(file, f"has no field {shown(key)}, which is listed", _WRITTEN)
    if arrays:
        raise DatasetError(file, f"has {shown(min(arrays))}, which is not listed", _WRITTEN)
    try:
        return {name: _assembled(one) for name, one in tops.items()}
    except FieldError as error:
        raise DatasetError(file, f"has members of a struct that differ ({error})") from None


def _inside(file: Path, parent: str, rows: list[tuple[str, ...]], before: int) -> int | None:
    """Return the row of the struct that a row is a member of; None for fields that are not."""
    if parent == _TOP:
        return None
    at = int(parent) if parent.isdecimal() and len(parent) < 9 else before
    if at >= before or rows[at][2] != _STRUCT:
        raise DatasetError(file, f"has a member of row {shown(parent)}", "an earlier struct")
    return at


def _field(file: Path, key: str, array: npt.NDArray[Any], axes: int, *, grad: bool) -> Field:
    scalar = scalar_from_numpy(array.dtype)
    inner = array.shape[array.ndim - axes :]
    if scalar is None or array.ndim < axes or 0 in inner or (grad and array.dtype.kind != "f"):
        raise DatasetError(
            file, f"has {shown(key)} of {array.dtype} and shape {array.shape}", "a field"
        )
    try:
        return from_numpy(array, shaped(inner, scalar), grad=grad)
    except OutOfMemory:
        raise
    except FieldError as error:
        raise DatasetError(file, f"has {shown(key)}, which is no field ({error})") from None


def _assembled(one: Member | dict[str, Any]) -> Member:
    """Return a struct field for a dict of members, however deep."""
    if not isinstance(one, dict):
        return one
    return StructField({name: _assembled(member) for name, member in one.items()})
