"""A launch, prepared: the next one with the same fields only replaces the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, ClassVar

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Argument, Arguments, field_at
from difftile.compile.ownership import Ownership
from difftile.compile.specialisation import Specialisation
from difftile.diagnostics import Span
from difftile.fields.derived import DerivedField
from difftile.fields.field import GRADIENTS, Field, Storage
from difftile.fields.tracked import TrackedFloat
from difftile.launch.captured import Captured
from difftile.launch.prepared_stage import PreparedStage
from difftile.launch.streams import STREAMS
from difftile.substrate import LOCK, Session

_I32_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class NumberSlot:
    """A run-time number: its place in the call and among the program's arguments.

    An integer of a launch that repeats another one is `low` or more, and less than `high`.
    """

    argument: int
    value: int
    given: type
    wanted: type
    low: int = -_I32_LIMIT
    high: int = _I32_LIMIT


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a launch is recorded, as long as no field is given other gradients.

    Args:
        stages: The plans of its stages.
        written: The fields that it writes, by their memory.
        result_cut: Where the kernel returns a value that varies with fields that have gradients.
        ownership: What has to be checked of each launch before it is recorded.
    """

    stages: list[AdjointPlan]
    written: dict[Storage, Field]
    result_cut: Span | None
    ownership: tuple[Ownership, ...]

    def check(self, values: Sequence[Argument]) -> None:
        """Check a launch that is going to be recorded.

        Raises:
            Race: A gradient would have to pass through stores of different iterations that meet.
        """
        for one in self.ownership:
            one.check(values)


@dataclass(slots=True, eq=False)
class PreparedLaunch:
    """A launch: a specialisation and the fields that it runs on.

    Args:
        code: The specialisation.
        values: The arguments of the program; a template for later launches.
        numbers: Which of them are numbers of the call.
        objects: The arguments of the call that are looked into, such as `self`: the name of the
            parameter, the position, and the type.
        invariant: Takes the other arguments of the call, in which two launches must not differ.
        key: Those of this launch.
        session: The session that this belongs to.
        captured: What the kernel takes from outside, to be compared at each launch.
        arrays: The field passed for each parameter that is an array of its own.
        captured_at: The position of the first captured argument.

    Attributes:
        stages: Its stages, bound to the fields.
        exclusive: Whether it uses memory that others use as well, from one stage to the next or
            from the launch to its end: hidden fields, derived fields, and reports.
        derived: The fields among the arguments that follow from others.
        tracked: The positions of numbers that follow from values which Python read.
        suspect: Tells of arguments whether `check` has to look at them, since indices may leave a
            shape; None where the fields and the intervals of the numbers rule it out.
        met: A mark of the tape that has met the fields of this launch, and may record it at once.
    """

    code: Specialisation
    values: Arguments
    numbers: tuple[NumberSlot, ...]
    objects: tuple[tuple[str, int, type], ...]
    invariant: Callable[[tuple[Any, ...]], object]
    key: object
    session: Session
    captured: Captured | None
    arrays: dict[str, Field]
    captured_at: int
    stages: list[PreparedStage] = field(init=False)
    derived: tuple[DerivedField, ...] = field(init=False)
    tracked: tuple[int, ...] = field(init=False)
    exclusive: bool = field(init=False)
    met: object = None
    suspect: Callable[[Arguments], bool] | None = None
    _epoch: int = -1
    _plans: dict[bool, LaunchPlan] = field(default_factory=dict[bool, LaunchPlan])

    def __post_init__(self) -> None:
        self.stages = [PreparedStage(self.code, one, self.values) for one in self.code.stages]
        self.derived = tuple([one for one in self.values if isinstance(one, DerivedField)])
        self.tracked = tuple([n.value for n in self.numbers if n.given is TrackedFloat])
        self.exclusive = bool(self.code.temps or self.derived or self.session.debug)
        if self.code.limits is not None or self.code.ownership is not None:
            self.suspect = _unchecked

    def check(self, values: Arguments) -> None:
        """Check the accesses of a launch, and note which numbers need no check another time.

        Raises:
            IndexOutOfRange: One certainly leaves its shape.
            Race: Two of different iterations meet.
        """
        limits, ownership = self.code.limits, self.code.ownership
        self.code.check(values)
        if ownership is not None and ownership.by_numbers:
            return
        if limits is None:
            self.suspect = None
            return
        given = frozenset(number.value for number in self.numbers if number.wanted is int)
        varying = given.union(range(self.captured_at, len(values) - len(self.code.temps)))
        intervals = limits.intervals(values, varying)
        if intervals is None or not given.issuperset(intervals):
            self.suspect = limits.leaving_by(values, varying)
            return
        self.numbers = tuple(
            number
            if number.value not in intervals
            else replace(number, low=intervals[number.value][0], high=intervals[number.value][1])
            for number in self.numbers
        )
        self.suspect = None  # last: other threads look at it first

    def repeated(self, args: tuple[Any, ...], session: Session) -> Arguments | None:
        """Return the arguments of a launch that differs in numbers only, or None."""
        # Fields have no equality of their own: tuples of them are compared by identity.
        if session is not self.session or self.invariant(args) != self.key:
            return None
        for _, position, type_ in self.objects:
            if type(args[position]) is not type_:
                return None
        values = self.values.copy()
        for number in self.numbers:
            arg = args[number.argument]
            if type(arg) is not number.given:
                return None
            if number.wanted is int and not number.low <= arg < number.high:
                return None
            values[number.value] = arg if number.given is number.wanted else number.wanted(arg)
        if self.captured is not None and not self.captured.put(args, values):
            return None
        return values

    def draw_anew(self, values: Arguments) -> None:
        """Give a launch random numbers that no other has had."""
        at = self.code.drawn_at
        values[at : at + 2] = self.code.drawn = STREAMS.take(self.session, self.code.streams)

    def draw_again(self, values: Arguments) -> None:
        """Give a launch the random numbers of the last one of this specialisation."""
        at = self.code.drawn_at
        values[at : at + 2] = self.code.drawn

    def run(self, values: Arguments) -> None:
        """Launch without a tape."""
        for stage in self.stages:
            stage.run(values)

    def plans(self, *, constant: bool = False) -> LaunchPlan:
        """Return how the call is recorded, worked out again when some gradient was attached.

        Args:
            constant: Take all that the kernel computes as constants.
        """
        if self._epoch == GRADIENTS.epoch:
            found = self._plans.get(constant)
            if found is not None:
                return found
        with LOCK:
            if self._epoch != GRADIENTS.epoch:
                self._plans = {}
                self._epoch = GRADIENTS.epoch
            return self._plans.setdefault(constant, self._planned(constant))

    def _planned(self, constant: bool) -> LaunchPlan:
        grads, values = self.grads(), self.values
        stages = make_plans(self.code, grads, constant=constant)
        given = [field_at(values, k) for plan in stages for k in plan.writes]
        cut = None if constant else self.code.result_cut(grads)
        owned = tuple([plan.ownership for plan in stages if plan.ownership is not None])
        return LaunchPlan(stages, {one.storage: one for one in given}, cut, owned)

    def fields(self) -> list[Field]:
        """Return the fields that are passed."""
        return [value for value in self.values if isinstance(value, Field)]

    def grads(self) -> tuple[bool, ...]:
        """Return which of the parameters have gradients now."""
        return tuple(isinstance(v, Field) and v.has_grads for v in self.values)


def _unchecked(values: Arguments) -> bool:
    """Suspect any launch."""
    return True


class RecentLaunches:
    """The calls that a kernel may be given again, the latest first.

    Fields that change roles from step to step give the same few calls in turn. The latest one keeps
    its fields alive, however large they are; the others no more than a little memory besides.
    """

    _MOST = 8
    # On the host larger fields take longer to be computed than a call to be prepared.
    _MOST_BYTES: ClassVar = {True: 2**20, False: 2**28}

    def __init__(self) -> None:
        self._calls: list[PreparedLaunch] = []

    @property
    def latest(self) -> PreparedLaunch | None:
        """The call of the last launch."""
        return self._calls[0] if self._calls else None

    def find(
        self, args: tuple[Any, ...], session: Session
    ) -> tuple[PreparedLaunch, Arguments] | None:
        """Return the call that some arguments repeat, and the values of its parameters now."""
        calls = self._calls
        for k, call in enumerate(calls):
            values = call.repeated(args, session)
            if values is not None:
                if k:  # another list, since other threads may go through this one
                    self._calls = [call, *calls[:k], *calls[k + 1 :]]
                return call, values
        return None

    def add(self, call: PreparedLaunch) -> None:
        """Note the call of a launch that repeats none."""
        held = {id(field.storage) for field in call.fields()}
        kept, room = [call], self._MOST_BYTES[call.session.on_host]
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


def invariant_key(positions: list[int]) -> Callable[[tuple[Any, ...]], Any]:
    """Return a function that takes the arguments at some positions."""
    return itemgetter(*positions) if positions else lambda args: None
