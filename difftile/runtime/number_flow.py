"""Numbers that Python passes from one launch to the next, with their derivatives.

While a recorder is open, the result of a kernel and an element that Python reads are numbers that
know their origin (`fields/tracked.py`), and so are the results of arithmetic with them. A kernel
that is given one reads it in a field: the origin is then recorded as copies and launches.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from difftile.compile.annotations import Kind
from difftile.compile.arguments import Arguments, CallArgs, CallKwargs, field_at
from difftile.fields.field import Field
from difftile.fields.number_field import NumberField, number_field
from difftile.fields.recording import RECORDING, Recorder
from difftile.fields.tracked import Origin, TrackedArray, TrackedFloat, track
from difftile.ir.types import Matrix, Type, Vector, shape_of
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.recording.host_reads import ConstantNumber, number_of
from difftile.substrate import current_session

_TRACKED = {TrackedFloat, TrackedArray, list, tuple}  # or may hold such a number
Places: TypeAlias = dict[Hashable, Field]
"""The fields in which a kernel reads numbers, by parameter, type and thread."""


class Operations:
    """The implementation of the operations on numbers, which `number_operations` puts here.

    Attributes:
        apply: Returns a field that holds the result of an operation, given by NumPy's name, in some
            type; None where there is no such operation.
    """

    apply: Callable[[str, Sequence[Field | float], np.dtype[Any]], Field | None] | None = None


# Numbers that go in


def numbers_in_fields(
    args: CallArgs, kwargs: CallKwargs, kinds: Mapping[str, Kind], places: Places
) -> tuple[CallArgs, CallKwargs]:
    """Return the arguments of a launch, with fields in place of numbers that carry derivatives.

    Args:
        args: The arguments.
        kwargs: Those by name.
        kinds: The kind of each parameter.
        places: The fields in which the kernel reads numbers; later launches use them again.
    """
    if not _TRACKED.isdisjoint(map(type, args)):
        named = zip(args, kinds.items(), strict=False)
        found = [_in_field(arg, name, kind, places) for arg, (name, kind) in named]
        args = (*found, *args[len(found) :])
    if not _TRACKED.isdisjoint(map(type, kwargs.values())):
        kwargs = {k: _in_field(v, k, kinds.get(k, "int"), places) for k, v in kwargs.items()}
    return args, kwargs


def _is_list(arg: object, kind: Kind) -> TypeGuard[Sequence[object]]:
    """Tell whether an argument is a vector or matrix, by its kind or by its own type."""
    if isinstance(kind, (Vector, Matrix)):
        return isinstance(arg, (list, tuple))
    return kind == "" and type(arg) is list


def _in_field(arg: object, name: str, kind: Kind, places: Places) -> object:
    if _is_list(arg, kind):
        return [
            _in_field(one, f"{name}.{k}", kind if _is_list(one, kind) else "float", places)
            for k, one in enumerate(arg)
        ]
    found = None
    if isinstance(arg, TrackedFloat) and kind in ("", "float"):
        found = field_of(arg)
    if isinstance(arg, TrackedArray):
        if isinstance(kind, (Vector, Matrix)):
            found = field_of(arg) if arg.shape == shape_of(kind) else None
        else:
            _warn_of_array(arg, name)
    return arg if found is None else put(places, name, found)


def _warn_of_array(array: TrackedArray, name: str) -> None:
    """Warn, at the user's line, if an array that becomes a field of constants varies."""
    recorder = RECORDING.get().recorder
    if recorder is not None:
        what, instead = f"the array '{name}'", "compute it in a kernel, or with fields"
        recorder.takes_constant(ConstantNumber(what, instead, name, "np.array"), array.reads)


def put(places: Places, name: str, number: Field) -> Field:
    """Return the field in which a kernel reads a parameter in this thread, with a copy in it."""
    place = place_of(places, name, number.element)
    place.copy_from(number)
    return place


def place_of(places: Places, name: str, element: Type, kind: type[Field] = NumberField) -> Field:
    """Return the field of a kernel that holds the number of a parameter in this thread."""
    key = (name, element, threading.get_ident())
    place = places.get(key)
    free = (
        place is not None
        and place.storage.buffer.pool is current_session().pool
        and not RECORDING.get().is_missed((place.storage,))  # by a tape of another task
    )
    if place is None or not free:
        place = places[key] = number_field(element, (), kind)
    return place


def field_of(number: TrackedFloat | TrackedArray) -> Field | None:
    """Return a field that holds a number, vector or matrix; None where no derivative passes to it.

    The open recorder hears of the copies and launches that compute the field.
    """
    recorder = RECORDING.get().recorder
    first = number.origin if isinstance(number, TrackedFloat) else number.unchanged()
    if first is None or first.recorder() is not recorder:
        return None
    todo = [first]
    while todo:
        origin = todo[-1]
        if origin.cell is None:
            missing = [
                one
                for one in origin.operands
                if isinstance(one, Origin) and one.cell is None and one.recorder() is recorder
            ]
            if missing:
                todo += missing
                continue
            origin.cell = _computed(origin, recorder) if origin.op else _read_again(origin)
            if origin.cell is None:
                return None
        todo.pop()
    return first.cell


def is_followed(number: TrackedFloat) -> bool:
    """Tell whether the open recorder can follow a number."""
    recording, origin = RECORDING.get(), number.origin
    return not recording.constant and origin is not None and origin.recorder() is recording.recorder


def _read_again(origin: Origin) -> Field | None:
    """Return a copy of an element that was read; None if it may have been written since."""
    source = None if origin.source is None else origin.source()
    if source is None:
        return None
    contents = source.storage.buffer.contents
    if not contents.is_unwritten_since(origin.version):
        return None
    if contents.is_uncertain and source.buffer.read_at(origin.where) != origin.value:
        return None
    if not origin.where:
        cell = number_field(source.element)
        cell.copy_from(source)
        return cell
    if not current_session().on_host:
        return None  # the copy takes another shape, which needs memory on the host
    block = number_field(source.element, (1,) * len(origin.where))
    block.copy_from(source[tuple(slice(k, k + 1) for k in origin.where)])
    return block.under(())


def _computed(origin: Origin, recorder: Recorder | None) -> Field | None:
    """Return the result of an operation; None if derivatives do not pass it."""
    operands: list[Field | float] = []
    for one in origin.operands:
        if isinstance(one, Origin):  # of another recorder it is a constant
            followed = one.cell if one.recorder() is recorder else None
            operands.append(one.value if followed is None else followed)
        else:
            operands.append(one)
    assert Operations.apply is not None
    return Operations.apply(origin.op, operands, origin.dtype)


def note_constants(recorder: Recorder, launch: PreparedLaunch, values: Arguments) -> None:
    """Tell the recorder of varying numbers that a launch takes for constants."""
    if RECORDING.get().constant:
        return
    captured = range(launch.captured_at, len(values) - len(launch.code.temps))
    for k in (*launch.tracked, *captured):
        number = values[k]
        if isinstance(number, TrackedFloat):
            recorder.takes_constant(number_of(launch, k), number.reads)


def warn_if_cut(number: TrackedFloat | TrackedArray) -> None:
    """Warn, at the user's line, if the open tape takes a number that varies for a constant."""
    recorder = RECORDING.get().recorder
    if recorder is not None:
        given = ConstantNumber("the number given to dt.value()", "compute it in a kernel", "...")
        recorder.takes_constant(given, number.reads)


# Numbers that come out


def returned(launch: PreparedLaunch, values: Arguments) -> Any:
    """Return the results of a launch, with their origin if a recorder can follow them."""
    result = launch.code.result
    if result is None:
        return None
    recording = RECORDING.get()
    recorder = None if recording.constant else recording.recorder
    found = launch.code.returned()
    results = tuple(
        value if recorder is None else _tracked(recorder, launch, values, position, value)
        for position, value in found
    )
    return results if result.several else results[0]


def _tracked(
    recorder: Recorder, launch: PreparedLaunch, values: Arguments, position: int, value: object
) -> object:
    read = recorder.result(launch, values, position)
    if read is None:
        return value
    found = track(value, frozenset((read,)))
    if isinstance(found, (TrackedFloat, TrackedArray)) and recorder.follows(launch, position):
        hidden = field_at(values, position)
        cell = number_field(hidden.element)
        cell.copy_from(hidden)
        plain = found.plain if isinstance(found, TrackedFloat) else found.tobytes()
        found.origin = Origin(weakref.ref(recorder), plain, cell=cell)
    return found
