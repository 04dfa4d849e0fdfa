"""Numbers that Python passes from one launch to the next, with their derivatives.

While a recorder is open, the result of a kernel and an element that Python reads are numbers that
know their origin (`fields/numbers.py`), and so are the results of arithmetic with them. A kernel
that is given one reads it in a field: the origin is then recorded as copies and launches.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from difftile.compile.arguments import Arguments, CallArgs, field_at
from difftile.compile.definition import Body
from difftile.fields.field import Field
from difftile.fields.number_field import NumberField, number_field
from difftile.fields.numbers import HostRead, Number, Origin, TakenConstant, carrying
from difftile.fields.recording import RECORDING, Recorder
from difftile.frontend.parameters import as_written
from difftile.ir.types import I32, Type
from difftile.launch.forms import Misfit, Opened, Single
from difftile.launch.kinds import opened
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.substrate import current_session

_FLOATS = ("", "float")
_PLAIN = {Field, float, int, bool, str}  # which hold no such numbers
Places: TypeAlias = dict[Hashable, Field]
"""The fields in which a kernel reads numbers, by parameter, type and thread."""


class NumberOperations:
    """The implementation of the operations on numbers, which `number_operations` puts here.

    Attributes:
        apply: Returns a field that holds the result of an operation, given by NumPy's name, in some
            type; None where there is no such operation.
    """

    apply: Callable[[str, Sequence[Field | float], np.dtype[Any]], Field | None] | None = None


# Numbers that go in


class _Kernel(Protocol):
    """A kernel, as far as its arguments go."""

    @property
    def function(self) -> Any: ...

    @property
    def body(self) -> Body: ...

    @property
    def rules(self) -> Mapping[str, object]: ...


def numbers_in_fields(
    kernel: _Kernel, args: CallArgs, kwargs: dict[str, object], places: Places
) -> tuple[CallArgs, dict[str, object]]:
    """Return the arguments of a launch, with fields in place of numbers that carry derivatives.

    Args:
        kernel: The kernel. One with rules takes numbers for constants.
        args: The arguments.
        kwargs: Those by name.
        places: The fields in which the kernel reads numbers; later launches use them again.
    """
    if not _PLAIN.issuperset(map(type, args)):
        named = zip(args, kernel.body.kinds, strict=False)
        found = [_in_field(kernel, arg, name, places) for arg, name in named]
        args = (*found, *args[len(found) :])
    if kwargs:
        kwargs = {name: _in_field(kernel, arg, name, places) for name, arg in kwargs.items()}
    return args, kwargs


def _in_field(kernel: _Kernel, arg: object, name: str, places: Places) -> object:
    """Return an argument with fields in place of the numbers in it, if there are any."""
    if type(arg) in _PLAIN:
        return arg
    kind = kernel.body.kinds.get(name, I32)
    if isinstance(arg, Number):
        return _number_in_field(kernel, arg, name, places) if kind in _FLOATS else arg
    try:
        form, parts = opened(arg, kind)
    except Misfit:
        return arg  # which the launch will report
    if isinstance(form, Single) or not any(isinstance(one, Number) for one in parts):
        return arg
    fields = [
        _number_in_field(kernel, one, f"{name}.{k}", places) if isinstance(one, Number) else one
        for k, one in enumerate(parts)
    ]
    return Opened(form, tuple(fields))


def _number_in_field(kernel: _Kernel, number: Number, name: str, places: Places) -> Field | float:
    """Return a field that holds a number, or the plain number where no derivative passes."""
    found = None if kernel.rules else field_of(number)
    if found is not None:
        return put(places, name, found)
    shown = as_written(name)
    what = f"the number '{shown}' of kernel '{kernel.function.__name__}'"
    return float(number.taken(what, "pass the field and read it in the kernel", shown))


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


def field_of(number: Number) -> Field | None:
    """Return a field that holds a number; None where no derivative passes to it.

    The open recorder hears of the copies and launches that compute the field.
    """
    recorder, first = RECORDING.get().recorder, number.origin
    if first.recorder() is not recorder:
        return None
    todo, lost = [first], frozenset[HostRead]()
    while todo:
        origin = todo[-1]
        if origin.cell is None and not origin.is_lost:
            missing = [
                one
                for one in origin.operands
                if isinstance(one, Origin) and one.cell is None and not one.is_lost
                if one.recorder() is recorder
            ]
            if missing:
                todo += missing
                continue
            origin.cell = _computed(origin, recorder) if origin.op else _read_again(origin)
            origin.is_lost = origin.cell is None
            if origin.is_lost and not origin.op:
                lost |= origin.reads
        todo.pop()
    if lost and first.cell is not None and recorder is not None:
        recorder.lets_go(_WRITTEN_SINCE, lost)
    return first.cell


_WRITTEN_SINCE = TakenConstant(
    "an element that was written after Python had read it",
    "read it when it is needed, or keep it: 'a = dt.value(x[0])'",
)


def is_followed(number: Number) -> bool:
    """Tell whether the open recorder can follow a number."""
    recording = RECORDING.get()
    return not recording.constant and number.origin.recorder() is recording.recorder


def _read_again(origin: Origin) -> Field | None:
    """Return a copy of an element that was read; None if it may have been written since."""
    source = None if origin.source is None else origin.source()
    if source is None:
        return None
    contents = source.storage.buffer.contents
    if not contents.is_unwritten_since(origin.version):
        return None
    if contents.is_uncertain and np.any(source.buffer.read_at(origin.where) != origin.value):
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
    """Return the result of an operation; None if no derivative passes to it."""
    given = [one for one in origin.operands if isinstance(one, Origin)]
    if all(one.is_lost or one.recorder() is not recorder for one in given):
        return None
    operands: list[Field | float] = []
    for one in origin.operands:
        if isinstance(one, Origin):  # of another recorder it is a constant
            followed = one.cell if one.recorder() is recorder else None
            operands.append(one.value if followed is None else followed)
        else:
            operands.append(one)
    assert NumberOperations.apply is not None
    return NumberOperations.apply(origin.op, operands, origin.dtype)


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
        value if recorder is None else _with_origin(recorder, launch, values, position, value)
        for position, value in found
    )
    return results if result.several else results[0]


def _with_origin(
    recorder: Recorder, launch: PreparedLaunch, values: Arguments, position: int, value: object
) -> object:
    read = recorder.result(launch, values, position)
    if read is None:
        return value
    cell = None
    if recorder.follows(launch, position):
        hidden = field_at(values, position)
        cell = number_field(hidden.element)
        cell.copy_from(hidden)
    reads = frozenset((read,))
    return carrying(value, Origin(weakref.ref(recorder), reads, value, cell=cell))
