"""A launch, prepared: the next one with the same fields only replaces the numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from difftile.diagnostics import Span
from difftile.fields.field import GRADIENTS, Field
from difftile.launch.captured import Captured
from difftile.launch.random import STREAMS
from difftile.launch.specialisation import Specialisation
from difftile.substrate.device import Session

if TYPE_CHECKING:
    from difftile.launch.plan import StagePlan

_I32_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class Number:
    """A run-time number: its place among the arguments and among the values."""

    argument: int
    value: int
    given: type
    wanted: type


@dataclass(frozen=True, slots=True)
class Object:
    """An argument of which a launch takes what is in it, such as `self`: its place and type."""

    name: str
    argument: int
    type: type


@dataclass(slots=True)
class Call:
    """A launch: the specialisation and the values of its parameters.

    Args:
        code: The specialisation.
        values: Fields and numbers in the order of `code.params`; a template for later launches.
        numbers: Which of the values are numbers among the arguments.
        objects: Which of the arguments are looked into.
        pick: Takes the other arguments, in which two launches must not differ.
        same: Those of this launch.
        session: The start of Taichi that this belongs to.
        captured: What the kernel takes from outside, to be compared at each launch; None for
            nothing.
        arrays: The field passed for each parameter that is an array of its own.
        captured_at: Where the captured values begin.
        result_cut: Where the kernel returns a value that varies with fields that have gradients.
    """

    code: Specialisation
    values: list[Any]
    numbers: tuple[Number, ...]
    objects: tuple[Object, ...]
    pick: Callable[[tuple[Any, ...]], Any]
    same: Any
    session: Session
    captured: Captured | None
    arrays: dict[str, Field]
    captured_at: int
    result_cut: Span | None = None
    _epoch: int = -1
    _plans: list[StagePlan] = field(default_factory=list[Any])

    def repeated(self, args: tuple[Any, ...], session: Session) -> list[Any] | None:
        """Return the values for a launch that differs in numbers alone, or None."""
        # Fields have no equality of their own: tuples of them are compared by identity.
        if session is not self.session or self.pick(args) != self.same:
            return None
        for one in self.objects:
            if type(args[one.argument]) is not one.type:
                return None
        values = self.values.copy()
        for number in self.numbers:
            arg = args[number.argument]
            if type(arg) is not number.given:
                return None
            if number.wanted is int and not -_I32_LIMIT <= arg < _I32_LIMIT:
                return None
            values[number.value] = arg if number.given is number.wanted else number.wanted(arg)
        if self.captured is not None:
            known = {one.name: args[one.argument] for one in self.objects}
            if not self.captured.put(known, values):
                return None
        return values

    def draw_anew(self, values: list[Any]) -> None:
        """Give a launch random numbers that no other has had."""
        self.code.drawn = STREAMS.take(self.session, self.code.streams)
        self.draw_again(values)

    def draw_again(self, values: list[Any]) -> None:
        """Give a launch the random numbers of the last one of this specialisation."""
        at = self.code.drawn_at
        values[at : at + 2] = self.code.drawn

    def plans(self, make: Callable[[Specialisation, tuple[bool, ...]], list[StagePlan]]) -> Any:
        """Return how the stages are recorded, worked out again when some gradient was attached."""
        if self._epoch != GRADIENTS.epoch:
            grads = self.grads()
            self._plans = make(self.code, grads)
            self.result_cut = self.code.result_cut(grads)
            self._epoch = GRADIENTS.epoch
        return self._plans

    def fields(self) -> list[Field]:
        """Return the fields that are passed."""
        return [value for value in self.values if isinstance(value, Field)]

    def grads(self) -> tuple[bool, ...]:
        """Return which of the parameters have gradients now."""
        return tuple(isinstance(v, Field) and v.has_grads for v in self.values)


class RecentCalls:
    """The calls that a kernel may be given again, the latest first.

    Fields that change roles from step to step give the same few calls in turn. The latest one keeps
    its fields alive, however large they are; the others no more than a little memory besides.
    """

    _MOST = 8
    _MOST_BYTES = 2**20  # larger fields take longer to be computed than a call to be prepared

    def __init__(self) -> None:
        self._calls: list[Call] = []

    @property
    def latest(self) -> Call | None:
        """The call of the last launch."""
        return self._calls[0] if self._calls else None

    def find(self, args: tuple[Any, ...], session: Session) -> tuple[Call, list[Any]] | None:
        """Return the call that some arguments repeat, and the values of its parameters now."""
        calls = self._calls
        for k, call in enumerate(calls):
            values = call.repeated(args, session)
            if values is not None:
                if k:
                    calls.insert(0, calls.pop(k))
                return call, values
        return None

    def add(self, call: Call) -> None:
        """Note the call of a launch that repeats none."""
        held = {id(field.storage) for field in call.fields()}
        kept, room = [call], self._MOST_BYTES
        for old in self._calls[: self._MOST - 1]:
            others = {id(s): s for f in old.fields() if id(s := f.storage) not in held}
            room -= sum(storage.buffer.nbytes for storage in others.values())
            if old.session is not call.session or room < 0:
                break
            held |= others.keys()
            kept.append(old)
        self._calls = kept

    def clear(self) -> None:
        """Forget all."""
        self._calls = []


def picker(positions: list[int]) -> Callable[[tuple[Any, ...]], Any]:
    """Return a function that takes the arguments at some positions."""
    return itemgetter(*positions) if positions else lambda args: None
