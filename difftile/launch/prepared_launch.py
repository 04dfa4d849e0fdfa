"""A launch, prepared: the next one with the same fields only replaces the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from operator import is_, itemgetter
from typing import Any, ClassVar

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Argument, Arguments, CallArgs, field_at
from difftile.compile.ownership import Ownership
from difftile.compile.specialisation import Specialisation
from difftile.diagnostics import NotDifferentiable, ReadOnlyMemory
from difftile.fields.derived import DerivedField
from difftile.fields.field import Field
from difftile.fields.gradient_changes import GRADIENTS
from difftile.fields.storage import Storage
from difftile.fields.view import View
from difftile.ir.nodes import Accumulate, Combine, Store
from difftile.ir.walk import walk
from difftile.launch.binding import Binding
from difftile.launch.captured import Captured
from difftile.launch.forms import OpenedArgument, Single, opened_again
from difftile.launch.prepared_stage import PreparedStage
from difftile.launch.shortcut import Repeated, shortcut_of
from difftile.launch.streams import STREAMS
from difftile.records import dataclass
from difftile.substrate import LOCK, Buffer, Session, current_session

# Statements of a kernel that is not fused with other launches by itself: it takes seconds to
# compile, and launching it is a small part of the time that it runs.
_LARGE = 1000
_NEVER = 2**62


@dataclass(frozen=True, slots=True)
class NumberSlot:
    """A run-time number: its place among the arguments of the call and among the values.

    A launch that repeats another one has an integer from `low` to below `high`.
    """

    argument: int
    value: int
    given: type
    wanted: type
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How a launch is recorded, as long as no field is given other gradients.

    Args:
        stages: The plans of the stages.
        written: The fields that the launch writes, by their memory.
        varying: The positions of the results that vary with fields that have gradients.
        followed: Whether gradients pass from those results to the fields.
        ownership: The checks of each launch before it is recorded.
    """

    stages: list[AdjointPlan]
    written: dict[Storage, Field]
    varying: frozenset[int]
    followed: bool
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
        numbers: The slots of the numbers among them.
        objects: The arguments of the call in which names are looked up, such as `self`: the name of
            the parameter, the position, and the type.
        invariant: Returns the fields among the arguments of a call, in which two launches must not
            differ.
        key: The result of `invariant` for this launch.
        captured: The names that the kernel takes from outside, to be compared at each launch.
        arrays: The field passed for each parameter that is an array of its own.
        captured_at: The position of the first captured argument.
        statics: The arguments that are compiled in, by position.
        several: The arguments of several values. Positions among the arguments of a call go on with
            the parts of these.
        mixed: The error of derivatives, where memory that is written is also passed detached.

    Attributes:
        session: The session that this belongs to.
        fields: The fields that are passed.
        nbytes: The bytes of their memory, which may be the same for several.
        stages: The stages, bound to the fields.
        exclusive: Whether the launch uses memory that others use as well, from one stage to the
            next or from the launch to its end: hidden fields, derived fields, and reports.
        derived: The fields among the arguments that follow from others.
        suspect: Tells of arguments whether `check` has to look at them, since indices may leave a
            shape; None where the fields and the intervals of the numbers rule it out.
        unbounded: No conditions are known under which a launch needs no check.
        again: The calls of the kernel from which on the queue of launches looks at it again.
        refusals: How often the queue has refused it, one time after the other.
        fusion: Why it is not fused with others; None if it is, or if that was not tried.
        fused: How it was fused the last time; empty if it was not.
        repetitions: The periods that end with the launch, as `runtime/queue` knows them.
        perform: Performs the calls of the launch, with all that the kernel does besides.
        run: Launches without a tape.
        quick: The shortcut of calls, once one has repeated the launch.
        met: The mark of the tape that has met the fields, and may record the launch at once.
        adjoints: The adjoint of each recorded stage, bound to the gradients of the last pass.
        seen: The fields that it reads and writes, for observers; None until the first one asks.
        ruled: The data shared with later launches as steps with a rule.
    """

    code: Specialisation
    values: Arguments
    numbers: tuple[NumberSlot, ...]
    objects: tuple[tuple[str, int, type], ...]
    invariant: Callable[[CallArgs], Sequence[object]]
    key: Sequence[object]
    captured: Captured | None
    arrays: dict[str, Field]
    captured_at: int
    statics: tuple[tuple[int, object], ...] = ()
    several: tuple[OpenedArgument, ...] = ()
    mixed: str = ""
    session: Session = field(init=False)
    stages: list[PreparedStage] = field(init=False)
    derived: tuple[DerivedField, ...] = field(init=False)
    fields: Sequence[Field] = field(init=False)
    nbytes: int = field(init=False)
    exclusive: bool = field(init=False)
    perform: Callable[..., Any] = field(init=False)
    run: Callable[[Arguments], None] = field(init=False)
    unbounded: bool = False
    again: int = 0
    refusals: int = 0
    fusion: str | None = None
    fused: str = ""
    repetitions: dict[Any, Any] = field(default_factory=dict[Any, Any])
    quick: Repeated | None = None
    met: object = None
    adjoints: dict[AdjointPlan, tuple[list[Buffer], Binding]] = field(init=False)
    seen: tuple[Sequence[Field], Sequence[Field]] | None = None
    ruled: dict[object, Any] = field(default_factory=dict[object, Any])
    suspect: Callable[[Arguments], bool] | None = None
    _by_parts: Repeated | None = None
    _has_shortcut: bool = True
    _has_views: bool = field(init=False)
    _epoch: int = -1
    _plans: dict[bool, LaunchPlan] = field(default_factory=dict[bool, LaunchPlan])

    def __post_init__(self) -> None:
        self.session = self.code.session
        self.fields = [value for value in self.values if isinstance(value, Field)]
        self.nbytes = sum(one.storage.memory.nbytes for one in self.fields)
        self._has_views = any(type(one) is View for one in self.key)
        self._check_writes()
        self.rebind()
        self.derived = tuple([one for one in self.fields if isinstance(one, DerivedField)])
        self.exclusive = bool(self.code.temps or self.derived or self.session.debug)
        if self.code.statements > _LARGE:
            self.again = _NEVER
        if self.code.limits is not None or self.code.ownership is not None:
            self.suspect = _unchecked

    def rebind(self) -> None:
        """Bind the stages to the fields anew: from now on other variants of their code may run."""
        self.adjoints, self.repetitions, self.fusion = {}, {}, None
        self.stages = [PreparedStage(self.code, one, self.values) for one in self.code.stages]
        one = len(self.stages) == 1
        self.run = self.stages[0].run if one else partial(_run_in_turn, self.stages)

    def _check_writes(self) -> None:
        """Check that the launch writes no memory of others that is read-only.

        Raises:
            ReadOnlyMemory: The launch writes such memory.
        """
        for k in self.code.writes:
            if field_at(self.values, k).storage.read_only:
                array = self.code.params[k]
                stmts = (stmt for stage in self.code.stages for stmt in walk(stage.program.body))
                writes = (stmt for stmt in stmts if isinstance(stmt, (Store, Accumulate, Combine)))
                spans = (stmt.span for stmt in writes if stmt.array is array)
                raise ReadOnlyMemory(next(spans, None), array.name)

    @staticmethod
    def bare(code: Specialisation, values: Arguments) -> PreparedLaunch:
        """Return a launch that no call repeats."""
        return PreparedLaunch(code, values, (), (), invariant_key([]), (), None, {}, len(values))

    def check_if_suspect(self, values: Arguments) -> None:
        """Check the accesses of a launch if its arguments are suspect, as `check` does."""
        if self.suspect is not None and self.suspect(values):
            self.check(values)

    def check(self, values: Arguments) -> None:
        """Check the accesses of a launch, and note which numbers need no check another time.

        Raises:
            IndexOutOfRange: An access certainly leaves its shape.
            Race: Two accesses of different iterations meet.
        """
        limits, ownership = self.code.limits, self.code.ownership
        self.code.check(values)
        if self.unbounded or (ownership is not None and ownership.by_numbers):
            return
        if limits is None:
            self.suspect = None
            return
        given = frozenset(number.value for number in self.numbers if number.wanted is int)
        varying = given.union(range(self.captured_at, len(values) - len(self.code.temps)))
        conditions = limits.conditions(values, varying)
        self.unbounded = conditions.is_none
        if conditions.sums or conditions.is_none or not given.issuperset(conditions.box):
            self.suspect = conditions.test
            return
        self.numbers = tuple(
            number
            if number.value not in conditions.box
            else replace(number, low=ends[0], high=ends[1])
            for number in self.numbers
            for ends in (conditions.box.get(number.value, (0, 0)),)
        )
        self.quick = self._by_parts = None  # which have the limits of before
        self.suspect = None  # last: other threads look at it first

    def shortcut(self) -> Repeated | None:
        """Return a quick `repeated_by` for calls in the session; None for other arguments."""
        captured = self.captured
        if captured is not None and captured.single:
            return None
        if any(n.given is not n.wanted for n in self.numbers):
            return None
        tests: dict[int, tuple[str, tuple[object, ...]]] = {}
        for number in self.numbers:
            limits = (number.low, number.high) if number.wanted is int else ()
            tests[number.argument] = number.wanted.__name__, limits
        tests |= {k: ("is", (static,)) for k, static in self.statics}
        tests |= {k: ("type", (type_,)) for _, k, type_ in self.objects}
        if captured is not None:
            tests |= {k: ("is", (frozen,)) for k, frozen in captured.frozen}
        tests |= {one.position: ("any", ()) for one in self.several}
        others = (k for k in range(len(tests) + len(self.key)) if k not in tests)
        tests |= {k: ("is", (field,)) for k, field in zip(others, self.key, strict=False)}
        forms = tuple(tests[k][0] for k in range(len(tests)))
        given = [one for k in range(len(tests)) for one in tests[k][1]]
        groups = [] if captured is None else [group.is_same for group in captured.groups]
        places = tuple([(number.argument, number.value) for number in self.numbers])
        return shortcut_of(forms, places, len(groups))(self.values.copy, *given, *groups)

    def repeated(self, args: CallArgs, session: Session) -> Arguments | None:
        """Return the arguments of a launch that differs in numbers only, or None."""
        opened = opened_again(self.several, args)
        return None if opened is None else self.repeated_by(opened, session)

    def repeated_by(self, args: CallArgs, session: Session) -> Arguments | None:
        """Return the arguments of a launch as `repeated` does, given their parts as well."""
        quick = self._by_parts  # once, as other threads may take it away
        if quick is not None and session is self.session:
            values = quick(args)
            if values is not None:
                return values
        if session is not self.session:
            return None
        fields = self.invariant(args)
        if not all(map(is_, self.key, fields)) and not self._are_same(fields):
            return None
        for position, static in self.statics:
            arg = args[position]
            if arg is not static and (type(arg) is not type(static) or arg != static):
                return None
        for _, position, type_ in self.objects:
            if type(args[position]) is not type_:
                return None
        values = self.values.copy()
        for number in self.numbers:
            arg: Any = args[number.argument]
            if type(arg) is not number.given:
                return None
            if number.wanted is int and not number.low <= arg < number.high:
                return None
            try:
                values[number.value] = arg if number.given is number.wanted else number.wanted(arg)  # pyrefly: ignore[unknown-argument-type]
            except OverflowError:
                return None
        if self.captured is not None and not self.captured.put(args, values):
            return None
        if self._by_parts is None and self._has_shortcut:
            self._note_shortcut()
        return values

    def _are_same(self, fields: Sequence[object]) -> bool:
        """Tell whether fields are those of this launch; views are made anew at each use."""
        return self._has_views and all(
            one is other or (type(one) is View and one.equals(other))
            for one, other in zip(self.key, fields, strict=True)
        )

    def _note_shortcut(self) -> None:
        shortcut = self._by_parts = self.shortcut()
        self._has_shortcut = shortcut is not None
        if shortcut is None or not self.several:
            self.quick = shortcut
        elif not any(isinstance(one.form, Single) for one in self.several):
            # New fields of arrays are to live on in the search for another launch.
            self.quick = partial(_opened_quickly, shortcut, self.several)

    def draw_anew(self, values: Arguments) -> None:
        """Give a launch fresh random numbers."""
        at = self.code.drawn_at
        values[at : at + 2] = self.code.drawn = STREAMS.take(self.session, self.code.streams)

    def draw_again(self, values: Arguments) -> None:
        """Give a launch the random numbers of the last one of this specialisation."""
        at = self.code.drawn_at
        values[at : at + 2] = self.code.drawn

    def plans(self, *, constant: bool = False) -> LaunchPlan:
        """Return how the launch is recorded, worked out again when some gradient was attached.

        Args:
            constant: Whether all computed values count as constants.
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
        varying = frozenset[int]() if constant else self.code.varying_results(grads)
        followed = bool(varying)
        if not followed and not constant:
            grads = self.code.without_results(grads)
        try:
            stages = make_plans(self.code, grads, constant=constant)
        except NotDifferentiable:
            if not followed:
                raise
            followed = False  # the rest of the kernel may have an adjoint
            grads = self.code.without_results(grads)
            stages = make_plans(self.code, grads, constant=constant)
        given = [field_at(values, k) for plan in stages for k in plan.writes]
        owned = tuple([plan.ownership for plan in stages if plan.ownership is not None])
        written = {one.storage: one for one in given}
        return LaunchPlan(stages, written, varying, followed, owned)

    def grads(self) -> tuple[bool, ...]:
        """Return which of the parameters have gradients now."""
        return tuple(isinstance(v, Field) and v.has_grads for v in self.values)


def _opened_quickly(
    quick: Repeated, several: Sequence[OpenedArgument], args: CallArgs
) -> Arguments | None:
    opened = opened_again(several, args)
    return None if opened is None else quick(opened)


def _run_in_turn(stages: Sequence[PreparedStage], values: Arguments) -> None:
    for stage in stages:
        stage.run(values)


def _unchecked(values: Arguments) -> bool:
    """Suspect any launch."""
    return True


class RecentLaunches:
    """The launches that a kernel may repeat, the latest first.

    Fields that change roles from step to step give the same few launches in turn. The latest one
    keeps its fields alive, however large they are; the others no more than a little memory besides.
    """

    _MOST = 32
    # On the host larger fields take longer to compute than a launch takes to prepare.
    _MOST_BYTES: ClassVar = {True: 2**20, False: 2**28}

    def __init__(self) -> None:
        self._launches: list[PreparedLaunch] = []

    @property
    def latest(self) -> PreparedLaunch | None:
        """The last launch."""
        return self._launches[0] if self._launches else None

    def repeated(self, args: CallArgs) -> tuple[PreparedLaunch, Arguments] | None:
        """Return the last launch and its values now, if its shortcut says that a call repeats it.

        Most calls do so; the others may still repeat some earlier launch.
        """
        launches = self._launches
        if launches:
            latest = launches[0]
            quick = latest.quick
            if quick is not None and latest.session is current_session():
                values = quick(args)
                if values is not None:
                    return latest, values
        return None

    def find(
        self, args: CallArgs, session: Session
    ) -> tuple[tuple[PreparedLaunch, Arguments] | None, object]:
        """Return the launch that some arguments repeat, with the values of its parameters now.

        The second result keeps the new fields of arrays among the arguments alive.
        """
        launches = self._launches
        several: tuple[OpenedArgument, ...] = ()
        given: CallArgs | None = args
        kept: list[object] = []
        for k, launch in enumerate(launches):
            if launch.several != several:
                several = launch.several
                given = opened_again(several, args)
                kept.append(given)
            values = None if given is None else launch.repeated_by(given, session)
            if values is not None:
                if k:  # another list, since other threads may go through this one
                    self._launches = [launch, *launches[:k], *launches[k + 1 :]]
                return (launch, values), kept
        return None, kept

    def add(self, launch: PreparedLaunch) -> None:
        """Add a launch that does not repeat an earlier one."""
        kept = [old for old in self._launches[: self._MOST - 1] if old.session is launch.session]
        room = self._MOST_BYTES[launch.session.on_host]
        if sum([old.nbytes for old in kept]) > room:
            kept = _within(room, launch, kept)
        self._launches = [launch, *kept]

    def rebind(self) -> None:
        """Bind all anew."""
        for launch in self._launches:
            launch.rebind()

    def clear(self) -> None:
        """Forget all."""
        self._launches = []


def _within(
    room: int, latest: PreparedLaunch, launches: Sequence[PreparedLaunch]
) -> list[PreparedLaunch]:
    """Return the first ones of some launches, with little memory besides that of the latest."""
    held = {one.storage for one in latest.fields}
    kept: list[PreparedLaunch] = []
    for old in launches:
        others = {one.storage for one in old.fields} - held
        room -= sum(storage.memory.nbytes for storage in others)
        if room < 0:
            break
        held |= others
        kept.append(old)
    return kept


def invariant_key(positions: list[int]) -> Callable[[CallArgs], Sequence[object]]:
    """Return a function that returns the arguments at some positions, as a tuple."""
    if len(positions) == 1:
        return itemgetter(slice(positions[0], positions[0] + 1))
    return itemgetter(*positions) if positions else lambda args: ()
