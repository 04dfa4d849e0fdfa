"""The trace of the body of a `dt.steps` loop: the launches of one step and their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np

import difftile.lang as ti
from difftile.compile.arguments import Argument, Arguments, CallArgs
from difftile.compile.func import KernelValue
from difftile.diagnostics import LaunchError, StepsError
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import as_array
from difftile.fields.field import Field
from difftile.fields.number_field import NumberField
from difftile.fields.recording import RECORDING, BodyTrace
from difftile.fields.step_expression import Expression
from difftile.fields.step_number import (
    Moment,
    StepNumber,
    expression_of,
    plain_number,
)
from difftile.ir.types import FLOATS, scalar_of, shape_of
from difftile.launch.open_arguments import Form, Members, Numbers
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.runtime.kernel import Kernel

_Place: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TracedLaunch:
    """A launch of the body.

    Args:
        launch: The launch.
        values: Its arguments.
        numbers: The numbers among them that follow from the number of the step, by position.
    """

    launch: PreparedLaunch
    values: Arguments
    numbers: Mapping[int, Expression]

    def repeats(self, other: TracedLaunch) -> bool:
        """Tell whether this is the same launch, in another step."""
        code = self.launch.code
        if code is not other.launch.code or self.numbers != other.numbers:
            return False
        drawn = range(code.drawn_at, code.drawn_at + 2) if code.streams else ()
        pairs = zip(self.values, other.values, strict=True)
        return all(
            _is_same(one, two)
            for k, (one, two) in enumerate(pairs)
            if k not in self.numbers and k not in drawn
        )


def _is_same(one: Argument, two: Argument) -> bool:
    if isinstance(one, Field) or isinstance(two, Field):
        return one is two
    return type(one) is type(two) and repr(one) == repr(two)  # as -0.0 and NaN are told then


@dataclass(slots=True, eq=False)
class Trace(BodyTrace):
    """The launches of the body in one step.

    Args:
        moment: The step.
        constant: Whether the loop stands in `dt.no_grad()`.

    Attributes:
        launches: The launches.
        reason: Why the loop continues in Python; empty if it does not.
    """

    moment: Moment
    constant: bool
    launches: list[TracedLaunch] = field(default_factory=list[TracedLaunch])
    reason: str = ""
    _given: dict[_Place, StepNumber] = field(default_factory=dict["_Place", StepNumber])
    _count: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether the launches are all that the body has done."""
        return not self.moment.constant

    def give_up(self, why: str) -> None:
        """Give up tracing: the loop continues in Python."""
        self.moment.constant = True
        self.reason = self.reason or why

    def read(self, field: Field) -> None:
        """Refuse to read."""
        if isinstance(field, NumberField):
            self.give_up("a step is given a number that carries derivatives")
            return
        raise StepsError(
            f"{field!r} is read in the body of dt.steps(), whose steps may run all at once. Read "
            "it in a kernel, or after the loop; or write 'for t in range(n)'."
        )

    def wrote(self, field: Field) -> None:
        """Refuse to write."""
        if isinstance(field, NumberField):
            self.give_up("a step is given a number that carries derivatives")
            return
        raise StepsError(
            f"{field!r} is written by Python in the body of dt.steps(), whose steps may run all at "
            "once. Write it in a kernel, or by fill(), clear() or copy_from(), which are launches "
            "there; or write 'for t in range(n)'."
        )

    # Launches

    def numbers(self, args: CallArgs) -> CallArgs:
        """Return the arguments of a kernel with plain numbers in place of step numbers."""
        self._given, self._count = {}, len(args)
        return tuple(self._plain(arg, (k,)) for k, arg in enumerate(args))

    def _plain(self, arg: object, place: _Place) -> object:
        if isinstance(arg, StepNumber):
            self._given[place] = arg
            return plain_number(arg)
        if type(arg) in (list, tuple) and _has_steps(arg):
            given = cast("list[object] | tuple[object, ...]", arg)
            return [self._plain(one, (*place, k)) for k, one in enumerate(given)]
        return arg

    def launched(self, launch: PreparedLaunch, values: Arguments) -> None:
        """Note a launch.

        Raises:
            StepsError: The kernel returns a number to Python.
            LaunchError: A step number is compiled into the kernel.
        """
        name = launch.code.name
        if launch.code.result is not None:
            raise StepsError(
                f"Kernel '{name}' returns a number to Python in the body of dt.steps(), whose "
                "steps may run all at once. Write the number into a field of shape (), which the "
                "next kernel reads; or write 'for t in range(n)'."
            )
        if RECORDING.get().constant is not self.constant:
            self.give_up("a step has launches that are constants for the tape, and others")
        if any(one.storage.memory.is_shared for one in launch.fields()):
            self.give_up(f"kernel '{name}' uses memory that arrays of others share")
        given, self._given = self._given, {}
        numbers: dict[int, Expression] = {}
        places = _places(launch, self._count) if given else {}
        for place, number in given.items():
            if place not in places:
                advice = "Annotate the parameter 'int' or 'float', or write 'for t in range(n)'."
                if isinstance(plain_number(number), bool):
                    advice = "Pass np.where(condition, 1, 0), or write 'for t in range(n)'."
                raise LaunchError(
                    f"Kernel '{name}' is given a step number where a value is compiled in. {advice}"
                )
            expression = expression_of(number, self.moment)
            if expression is not None:
                numbers[places[place]] = expression
        self.launches.append(TracedLaunch(launch, values, numbers))

    # Writes by launches

    def fill(self, target: ArrayLike, value: object) -> bool:
        """Set every element to one value by a launch; return False if no kernel can do it."""
        if isinstance(target, NumberField):
            return False
        kernel = fill if target.shape else fill_one
        if isinstance(value, StepNumber):
            kernel(target, value)
            return True
        inner = shape_of(target.element)
        array = as_array(cast(Any, value))
        if array.shape not in {(), inner} or array.dtype.kind not in "biuf":
            return False  # an error, or a case that only Python handles
        if array.dtype.kind == "f" and scalar_of(target.element) not in FLOATS:
            return False
        plain = array.tolist()
        if array.dtype.kind in "iu" and not np.all(np.abs(array) < 2**31):
            return False
        kernel(target, plain if array.dtype.kind != "b" else int(plain))
        return True

    def copy(self, target: ArrayLike, source: ArrayLike) -> bool:
        """Copy a field that fits by a launch; return False if no kernel can do it."""
        if isinstance(target, NumberField) or isinstance(source, NumberField):
            return False
        if target.base.storage is source.base.storage:
            return False  # parts that overlap
        kernel = copy if target.shape else copy_one
        kernel(target, source)
        return True


def _has_steps(arg: object) -> bool:
    """Tell whether an argument is a step number or contains one."""
    if type(arg) not in (list, tuple):
        return isinstance(arg, StepNumber)
    return any(map(_has_steps, cast("list[object]", arg)))


def _places(launch: PreparedLaunch, count: int) -> dict[_Place, int]:
    """Return the positions of the numbers of a launch among its values.

    Args:
        launch: The launch.
        count: The number of arguments.

    Returns:
        The positions by the places of the numbers in the call: the position of the argument, and
        in a vector or matrix the index of the component.
    """
    places: dict[int, _Place] = {k: (k,) for k in range(count)}
    first = count
    for one in launch.several:
        if isinstance(one.form, Numbers):
            for k, index in enumerate(np.ndindex(one.form.shape)):
                places[first + k] = (one.position, *index)
        first += _size(one.form)
    return {places[slot.argument]: slot.value for slot in launch.numbers if slot.argument in places}


def _size(form: Form) -> int:
    """Return the number of parts of an argument."""
    match form:
        case Numbers(_, shape):
            return math.prod(shape)
        case Members(_, members):
            return sum(_size(member) for _, member in members)
        case _:
            return 1


# The kernels that writes from Python become in the body of a loop


@Kernel
def fill(target: KernelValue, value: KernelValue) -> None:
    """Set every element to a value."""
    for place in ti.grouped(target):
        target[place] = value


@Kernel
def fill_one(target: KernelValue, value: KernelValue) -> None:
    """Set the one element of a field of shape ()."""
    target[None] = value


@Kernel
def copy(target: KernelValue, source: KernelValue) -> None:
    """Copy every element."""
    for place in ti.grouped(target):
        target[place] = source[place]


@Kernel
def copy_one(target: KernelValue, source: KernelValue) -> None:
    """Copy the one element of a field of shape ()."""
    target[None] = source[None]
