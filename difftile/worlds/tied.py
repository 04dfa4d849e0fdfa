"""Unknowns of a model by name: numbers that stand in entries of its arrays, with gradients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.worlds.arrays import ARRAYS, COUNTS
from difftile.worlds.model import Model

_PLACE = re.compile(r"(\w+)(?:\[(?:'([^']+)'|\"([^\"]+)\"|(\d+))\])?(?:\[(\d+)\])?\s*$")
_BY_JOINT = {"nv": "jnt_dofadr", "nq": "jnt_qposadr"}  # what joints have several of, by name
_EXAMPLE = 'write "body_mass[\'arm\']", "geom_friction[\'foot\'][0]", "gravity[2]" or the like'

Entry: TypeAlias = "tuple[str, int, int]"
"""An array, an element of it, and a component of that."""


@dataclass(frozen=True)
@final
class TiedParameters:
    """Unknowns of a model, each of which stands in one or more entries of its arrays.

    Args:
        names: The unknowns, in the order of their values: "body_mass['arm']".
        arrays: The arrays that they stand in, for the argument `grad` of `Worlds`.
        values: A field of the values, (unknowns,), or (worlds, unknowns) for values of each world.
    """

    names: tuple[str, ...]
    arrays: tuple[str, ...]
    values: Any
    _entries: tuple[tuple[Entry, ...], ...]

    def write(self, sim: Any, values: Any = None) -> None:
        """Put the values into the arrays of worlds; on a tape, gradients come back to them.

        Args:
            sim: `Worlds` of the model, with `arrays` among its `grad`, and among its `per_world` if
                each world has values of its own.
            values: A field of other values, of the same shape; by default `values`.

        Raises:
            FieldError: The values have another shape, or are those of each world and an array is
                shared by all.
        """
        given = self.values if values is None else values
        of_each = len(given.shape) == 2
        if tuple(given.shape) != ((sim.worlds,) * of_each + (len(self.names),)):
            raise dt.FieldError(
                f"write(values=...) has the shape {tuple(given.shape)}; expected "
                f"({len(self.names)},), or ({sim.worlds}, {len(self.names)}) for each world."
            )
        shared = [name for name in self.arrays if name not in sim.per_world]
        if of_each and shared:
            raise dt.FieldError(
                f"'{shared[0]}' is shared by all worlds: Worlds(..., per_world={self.arrays!r})."
            )
        for name in self.arrays:
            rows = [
                (element, component, k)
                for k, entries in enumerate(self._entries)
                for array, element, component in entries
                if array == name
            ]
            table = dt.from_numpy(np.array(rows, np.int32))
            form = _form(name in sim.per_world, of_each, name)
            put(form, table, given, getattr(sim.m, name))


def parameters(
    model: Model, *unknowns: str | Sequence[str], dtype: Any = ti.f32, worlds: int | None = None
) -> TiedParameters:
    """Return unknowns of a model, by the entries of its arrays that they stand for.

    Args:
        model: The model.
        unknowns: An entry each: an array of numbers, the name or index of an element, and for
            elements of several numbers a component, without which all are meant:
            "body_mass['arm']", "geom_friction['foot'][0]", "gravity[2]". Arrays of degrees of
            freedom and of coordinates take names of joints. Several entries, as a sequence, have
            one value.
        dtype: The type of the values, `ti.f32` or `ti.f64`, that of the worlds.
        worlds: Their number, if each has values of its own.

    Returns:
        The unknowns. Their values, a field with gradients, are those of the model; the first
        entry of several counts.

    Raises:
        KeyError: There is no such array of numbers, or no such element.
        ValueError: A text is not an entry or names one again, or several entries have different
            numbers of components.
    """
    names: list[str] = []
    taken: set[Entry] = set()
    entries: list[tuple[Entry, ...]] = []
    for unknown in unknowns:
        together = [unknown] if isinstance(unknown, str) else list(unknown)
        found = [_entries_of(model, one) for one in together]
        for text, own in zip(together, found, strict=True):
            if taken & set(own):
                raise ValueError(f"{text!r} is named twice.")
            taken |= set(own)
        if len({len(one) for one in found}) != 1:
            raise ValueError(f"{together} have different numbers of components.")
        several = len(found[0]) > 1
        names += [f"{together[0]}[{k}]" if several else together[0] for k in range(len(found[0]))]
        entries += list(zip(*found, strict=True))
    values = np.array([_value(model, one[0]) for one in entries])
    if worlds is not None:
        values = np.tile(values, (worlds, 1))
    arrays = tuple(dict.fromkeys(entry[0] for one in entries for entry in one))
    field = dt.from_numpy(values, dtype=dtype, grad=True)
    return TiedParameters(tuple(names), arrays, field, tuple(entries))


def _entries_of(model: Model, text: str) -> list[Entry]:
    """Return the entries that a text names."""
    read = _PLACE.fullmatch(text)
    if read is None:
        raise ValueError(f"{text!r} is no entry of an array: {_EXAMPLE}.")
    array, single, double, index, component = read.groups()
    name, width = single or double, _width(array)
    row = ARRAYS.get(array)
    if row is None or row.integer:
        raise KeyError(f"no array of numbers is called {array!r}.")
    if not row.count:
        if name or (component and index) or (index and not width):
            raise ValueError(f"'{array}' belongs to the whole model: {_EXAMPLE}.")
        elements, component = range(1), component or index
    else:
        if not name and index is None:
            raise ValueError(f"{text!r} names no element of '{array}': {_EXAMPLE}.")
        elements = _elements(model, array, row.count, name, index)
        if not width and component is not None:  # one of several degrees of freedom
            elements, component = elements[int(component) :][:1], None
    parts = range(max(1, width)) if component is None else range(int(component), int(component) + 1)
    if not elements or parts.stop > max(1, width):
        raise KeyError(f"'{array}' has no {text.removeprefix(array)}.")
    return [(array, e, c) for e in elements for c in parts]


def _elements(model: Model, array: str, count: str, name: str | None, index: str | None) -> range:
    """Return the elements of an array by a name or an index."""
    if name is None:
        at = int(index or 0)
        return range(at, min(at + 1, len(model.arrays[array])))
    if count in _BY_JOINT:
        adr, joint = model.arrays[_BY_JOINT[count]], model.id("joint", name)
        ends = [*adr[1:].tolist(), len(model.arrays[array])]
        return range(int(adr[joint]), ends[joint])
    kind = next(kind for kind, size in COUNTS.items() if size == count)
    at = model.id("joint" if kind == "jnt" else kind, name)
    return range(at, at + 1)


def _width(array: str) -> int:
    """Return the number of components of an element that kernels read; 0 for a number."""
    row = ARRAYS.get(array)
    return 0 if row is None else row.used or (row.element[0] if row.element else 0)


def _value(model: Model, entry: Entry) -> float:
    array, element, component = entry
    place = (*((element,) if ARRAYS[array].count else ()), *((component,) if _width(array) else ()))
    return float(model.arrays[array][place])


# Rows of a table have an element, its component, and the place of its value.


@dt.data_oriented(frozen=True)
class EntryForm:
    """Where the entries of an array are.

    Args:
        own: Whether each world has an array of its own, and `each`, whether it has own values.
        whole: Whether the array has one element, that of the whole model.
        wide: Whether elements have components.
    """

    def __init__(self, own: bool, each: bool, whole: bool, wide: bool) -> None:
        self.own, self.each, self.whole, self.wide = own, each, whole, wide

    @dt.func
    def put(self, table, values, array, w, k):
        """Store the value of row k of a table: element, component, and the place of its value."""
        e, c, x = table[k, 0], table[k, 1], 0.0
        if ti.static(self.each):
            x = values[w, table[k, 2]]
        else:
            x = values[table[k, 2]]
        if ti.static(self.own and self.whole and self.wide):
            array[w][c] = x
        elif ti.static(self.own and self.whole):
            array[w] = x
        elif ti.static(self.own and self.wide):
            array[w, e][c] = x
        elif ti.static(self.own):
            array[w, e] = x
        elif ti.static(self.whole and self.wide):
            array[None][c] = x
        elif ti.static(self.whole):
            array[None] = x
        elif ti.static(self.wide):
            array[e][c] = x
        else:
            array[e] = x


@dt.kernel
def put(form, table, values, array):
    """Store values in the entries of an array, row by row: two rows may be of one element."""
    if ti.static(form.own):
        for w in range(array.shape[0]):
            for k in range(table.shape[0]):
                form.put(table, values, array, w, k)
    else:
        for _ in range(1):
            for k in range(table.shape[0]):
                form.put(table, values, array, 0, k)


@cache
def _form(own: bool, each: bool, array: str) -> EntryForm:
    return EntryForm(own, each, not ARRAYS[array].count, _width(array) > 0)
