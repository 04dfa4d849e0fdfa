"""`dt.repeat`: a function of the step, many times, of which Python runs one period.

The function gets the number of the step as a symbol and the fields of the step, and returns the
fields of the next one, as in `jax.lax.fori_loop`. The steps until these are back in their places
are a period. Launches of a period, and of one step more, wait in the queue; unless something has
made them run, all steps follow from them as one run.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from difftile.compile.arguments import Arguments, CallArgs
from difftile.diagnostics import (
    KernelError,
    LaunchError,
    StepsError,
    brief,
    counted,
)
from difftile.fields.exchange import as_integer
from difftile.fields.field import Field
from difftile.fields.pending import run_pending
from difftile.fields.recording import RECORDING, Recording
from difftile.fields.step_expression import STEP, StepExpression
from difftile.fields.step_number import Moment, StepNumber, expression_of, plain_number
from difftile.launch.prepared_launch import NumberSlot, PreparedLaunch
from difftile.launch.run import Run
from difftile.launch.vectors import Numbers
from difftile.records import dataclass
from difftile.runtime.body_check import check_stores
from difftile.runtime.perform_run import launch_one, perform_run
from difftile.runtime.queue import FEWEST, MOST_BODIES, QUEUE, Noted, WaitingLoop
from difftile.runtime.steps import steps
from difftile.runtime.whole_writes import LAUNCHES
from difftile.tracebacks import boundary

_AT_ONCE = 2**16
"""The most periods of a run; their numbers are in memory at once."""
_MOST = 64
"""The most launches of a period: a program of more takes long to compile."""
_STEPS = "Write 'for t in dt.steps(n)', which runs the body in each step."

Fields: TypeAlias = tuple[object, ...]
Call: TypeAlias = Callable[[object, Fields], Fields]
_Place: TypeAlias = tuple[int, ...]


@boundary
def repeat(body: Callable[..., object], n: int, *fields: Any) -> Any:
    """Run a step n times, as one program: `u, v = dt.repeat(body, n, u, v)`.

    Computes what `for t in range(n): u, v = body(t, u, v)` computes, where launches are all that
    the body does. Python calls it once for each step until the fields are back in their places,
    and once more; nothing else of Python is looked at. Where something cannot be part of a program,
    such as a read of a field, Python calls the body in every step.

    Args:
        body: A function or kernel of the number of the step and of the fields, or of the fields
            only. It returns the fields of the next step, which are the same in some order; or None
            where they keep their order. The number is symbolic: it is passed to kernels as it is or
            in arithmetic, and numbers of arrays are looked up in `dt.table`.
        n: How often.
        fields: The fields of the first step.

    Returns:
        The fields as after n steps: one field, or a tuple; None if there are none.

    Raises:
        StepsError: The body assigns to names, attributes or items from outside, launches something
            else in a later step, or makes a plain number of the number of the step.
        LaunchError: `body` is no function of these arguments, it returns something else, or `n` is
            not an integer.
    """
    count = as_integer(n)
    if count is None:
        raise LaunchError(f"dt.repeat() takes the number of steps as an integer, not {n!r}.")
    if len(set(map(id, fields))) < len(fields):
        raise LaunchError("dt.repeat() is given a field twice; give it once.")
    call = _as_call(body, len(fields))
    check_stores(body)
    done, state = 0, cast(Fields, fields)
    if count > 1 and not QUEUE.is_part(count):
        done, state = _repeated(call, count, state)
    for t in steps(done, count):
        state = call(t, state)
    return (state[0] if len(state) == 1 else state) if state else None


def _as_call(body: Any, count: int) -> Call:
    """Return a call of a body with the number of the step and so many fields.

    Raises:
        LaunchError: The object is not a function, or has other parameters.
    """
    if not callable(body):
        raise LaunchError(f"dt.repeat() takes a function and the number of steps, not {body!r}.")
    if not (takes_fields := _takes(body, count)) and not _takes(body, count + 1):
        what = f"and of {counted(count, 'field')}" if count else "or of nothing"
        name = getattr(body, "__name__", repr(body))
        raise LaunchError(
            f"dt.repeat() calls a function of the number of the step, {what}, and '{name}' "
            f"takes {inspect.signature(body)}. Write 'lambda t: ...'."
        )

    def call(t: object, fields: Fields) -> Fields:
        found: object = body(*fields) if takes_fields else body(t, *fields)
        return _next(found, fields) if fields else ()

    return call


def _takes(function: Callable[..., object], count: int) -> bool:
    """Tell whether a function takes so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # one without a signature
        return not count
    return True


def _next(found: object, fields: Fields) -> Fields:
    """Return the fields of the next step from what the body has returned.

    Raises:
        LaunchError: These are others.
    """
    if found is None:
        return fields
    result = tuple(cast("list[object]", found)) if isinstance(found, (tuple, list)) else (found,)
    if sorted(map(id, result)) != sorted(map(id, fields)):
        raise LaunchError(
            "The body of dt.repeat() returns the fields of the next step, which are those it was "
            f"given in some order, or None; not {brief(found)}. {_STEPS}"
        )
    return result


# Steps


@dataclass(slots=True, eq=False)
class _Body:
    """The body while Python runs it for steps whose launches wait.

    Attributes:
        moment: The step.
        numbers_of: The numbers that follow from the number of the step, by their positions, of
            launches by their places in the queue.
    """

    moment: Moment = field(default_factory=Moment)
    numbers_of: dict[int, Mapping[int, StepExpression]] = field(
        default_factory=dict[int, Mapping[int, StepExpression]]
    )
    _given: dict[_Place, StepNumber] = field(default_factory=dict["_Place", StepNumber])
    _count: int = 0

    def begin(self, step: int) -> StepNumber:
        """Begin a step; return its number."""
        self.moment.live = False
        self.moment = Moment()
        return StepNumber(step, STEP, self.moment)

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

    def launched(self, launch: PreparedLaunch) -> None:
        """Note which numbers of a launch that is about to wait follow from the number of the step.

        Raises:
            LaunchError: A step number is compiled into the kernel.
        """
        given, self._given = self._given, {}
        if launch.code.streams:
            run_pending()  # as random numbers are drawn by the call
        if not given:
            return
        numbers: dict[int, StepExpression] = {}
        places = _places(launch, self._count)
        for place, number in given.items():
            if place not in places:
                advice = "Annotate the parameter 'int' or 'float', or write 'for t in dt.steps(n)'."
                if isinstance(plain_number(number), bool):
                    advice = "Pass np.where(condition, 1, 0), or write 'for t in dt.steps(n)'."
                raise LaunchError(
                    f"Kernel '{launch.code.name}' is given a step number where a value is compiled "
                    f"in. {advice}"
                )
            expression = expression_of(number, self.moment)
            if expression is not None:
                numbers[places[place]] = expression
        self.numbers_of[len(QUEUE.waiting)] = numbers


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
        first += sum(1 for _ in one.form.parts(""))
    return {places[slot.argument]: slot.value for slot in launch.numbers if slot.argument in places}


@dataclass(frozen=True, slots=True, eq=False)
class _Noted:
    """A launch of a step.

    Args:
        launch: The launch.
        values: Its arguments.
        numbers: The numbers among them that follow from the number of the step, by position.
    """

    launch: PreparedLaunch
    values: Arguments
    numbers: Mapping[int, StepExpression]

    def difference(self, other: _Noted) -> str:
        """Return in what another launch differs; empty if it is the same in another step."""
        code = self.launch.code
        if code is not other.launch.code:
            return f"is kernel '{code.name}' and then '{other.launch.code.name}'"
        for k, (one, two) in enumerate(zip(self.values, other.values, strict=True)):
            if self.numbers.get(k) is not None is not other.numbers.get(k):
                continue
            same = one is two if isinstance(one, Field) else repr(one) == repr(two)
            if not same or type(one) is not type(two):
                name = code.params[k].name
                return f"is kernel '{code.name}' with '{name}' {brief(one)} and then {brief(two)}"
        if self.numbers != other.numbers:
            return (
                f"is kernel '{code.name}', with numbers that follow otherwise from that of the step"
            )
        return ""


def _repeated(call: Call, count: int, fields: Fields) -> tuple[int, Fields]:
    """Run as many steps as can be one run; return their number, and the fields after them."""
    now, outer = RECORDING.get(), RECORDING.get().body
    if isinstance(outer, _Body):
        outer.moment.constant = True  # its number is one number here
    body = _Body()
    with Recording(now.recorder, constant=now.constant, observer=now.observer, body=body):
        loop = QUEUE.begin(count, LAUNCHES)
        if loop is None:
            return 0, fields
        try:
            return _run_steps(call, count, fields, body, loop)
        finally:
            body.moment.live = False
            QUEUE.end(loop)


def _run_steps(
    call: Call, count: int, fields: Fields, body: _Body, loop: WaitingLoop
) -> tuple[int, Fields]:
    states, ends = [fields], [0]
    order, period = tuple[int, ...](), 1
    for step in range(count):
        states.append(call(body.begin(step), states[-1]))
        ends.append(len(QUEUE.waiting))
        if loop.interrupted:
            return step + 1, states[-1]
        found = _order(*states[-2:])
        if not step:
            order, period = found, _period(found)
            if period > MOST_BODIES or ends[-1] * period > _MOST or count < FEWEST * period:
                return 1, states[-1]
        elif found != order:
            raise StepsError(
                f"The body of dt.repeat() returns its fields in another order in step {step} than "
                f"in step 0. {_STEPS}"
            )
        if step == period:
            break
    noted = [
        _Noted(launch, given, body.numbers_of.get(k, {}))
        for k, (launch, given) in enumerate(cast("list[Noted]", QUEUE.waiting))
    ]
    bodies = [noted[first:end] for first, end in pairwise(ends)]
    _check_same(bodies[0], bodies[period], period)
    tables = _tables(bodies[:period], count)
    if tables is None:
        return period + 1, states[-1]
    QUEUE.withdraw()
    return _perform(bodies[:period], tables, count, states)


def _order(fields: Fields, others: Fields) -> tuple[int, ...]:
    """Return the positions of fields among the fields of the previous step."""
    places = {id(one): k for k, one in enumerate(fields)}
    return tuple(places[id(one)] for one in others)


def _period(order: tuple[int, ...]) -> int:
    """Return after how many steps fields that change places are back in them."""
    lengths = [1]
    for first in range(len(order)):
        place, length = order[first], 1
        while place != first:
            place, length = order[place], length + 1
        lengths.append(length)
    return math.lcm(*lengths)


def _check_same(first: list[_Noted], last: list[_Noted], step: int) -> None:
    """Check that a step launches what step 0 has launched.

    Raises:
        StepsError: It does not.
    """
    said = ""
    for k, (one, two) in enumerate(zip(first, last, strict=False), 1):
        said = said or ((found := one.difference(two)) and f"Launch {k} of the body {found}")
    if not said and len(first) != len(last):
        said = f"The body has {counted(len(first), 'launch', 'launches')} and then {len(last)}"
    if said:
        raise StepsError(f"{said}, in steps 0 and {step} of dt.repeat(). {_STEPS}")


Tables: TypeAlias = dict[tuple[int, int, int], NDArray[Any]]
"""The numbers of all steps, by (step of the period, launch, position)."""


def _tables(bodies: Sequence[list[_Noted]], count: int) -> Tables | None:
    """Return the numbers of all steps; None where Python is to find out what is wrong with them."""
    tables: Tables = {}
    try:
        for k, body in enumerate(bodies):
            own = np.arange(k, count, len(bodies))
            for j, one in enumerate(body):
                for slot in one.launch.numbers:
                    if slot.value in one.numbers:
                        table = one.numbers[slot.value].at(own)
                        tables[k, j, slot.value] = _as_wanted(table, slot)
    except Exception:  # one that Python will raise in the step where it belongs
        return None
    return tables


def _as_wanted(table: NDArray[Any], slot: NumberSlot) -> NDArray[Any]:
    """Return the numbers of all steps as a kernel takes them, up to one that it may refuse.

    Raises:
        TypeError: The numbers are of another kind.
    """
    if table.dtype.kind not in ("iu" if slot.wanted is int else "iuf"):
        raise TypeError(table.dtype)
    if slot.wanted is not int:
        return table.astype(np.float64)
    leaving = (table < slot.low) | (table >= slot.high)
    table = table[: int(leaving.argmax()) if leaving.any() else len(table)]
    return table.astype(np.uint64 if slot.high > 2**63 else np.int64)


def _perform(
    bodies: Sequence[list[_Noted]], tables: Tables, count: int, states: Sequence[Fields]
) -> tuple[int, Fields]:
    """Perform all steps up to one whose numbers a kernel may refuse.

    Returns:
        Their number, and the fields after them.
    """
    period = len(bodies)
    done = min([count, *(len(table) * period + k for (k, _, _), table in tables.items())])
    done = _checked(bodies, tables, done)
    launches = [(k, j, one) for k, body in enumerate(bodies) for j, one in enumerate(body)]
    whole = done // period
    varying = {
        (n, position): tables[k, j, position][:whole]
        for n, (k, j, one) in enumerate(launches)
        for position in one.numbers
    }
    given = tuple(one.launch for *_, one in launches), tuple(one.values for *_, one in launches)
    run = Run(*given, whole, varying)
    if launches:
        for first in range(0, whole, _AT_ONCE):
            perform_run(run.part(first, min(_AT_ONCE, whole - first)))
        for k, j, one in launches:
            if k < done % period:
                values = _values_at(one, tables, k, j, whole)
                launch_one(one.launch, values)
    return done, states[done % period]


def _values_at(one: _Noted, tables: Tables, k: int, j: int, t: int) -> Arguments:
    """Return the arguments of a launch in period `t`."""
    values = one.values.copy()
    for position in one.numbers:
        values[position] = tables[k, j, position][t].item()
    return values


def _checked(bodies: Sequence[list[_Noted]], tables: Tables, count: int) -> int:
    """Return the number of steps before one whose accesses leave a shape or meet."""
    for k, body in enumerate(bodies):
        for j, one in enumerate(body):
            for step in range(k, count if one.numbers else k + 1, len(bodies)):
                if one.launch.suspect is None:
                    break
                values = _values_at(one, tables, k, j, step // len(bodies))
                try:
                    if one.launch.suspect(values):
                        one.launch.check(values)
                except KernelError:  # which Python will raise in that step
                    count = min(count, step)
                    break
    return count
