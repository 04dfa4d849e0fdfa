"""One call of a host operation, as a step of a tape."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FunctionType
from typing import cast

import numpy as np

from difftile.diagnostics import (
    Label,
    LaunchError,
    NotDifferentiable,
    Span,
    TapeError,
    place,
    render,
)
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.gradients import fields_with_grads
from difftile.fields.recording import RECORDING
from difftile.recording.access_observer import RefusingObserver, observed_by
from difftile.recording.opaque import OpaqueStep, nbytes_of
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Use
from difftile.records import dataclass
from difftile.runtime.operands import (
    FieldOperand,
    Fingerprint,
    fingerprint,
    replaced,
    stand_in,
    undeclared,
    uses_of,
)
from difftile.runtime.poison import poisoned
from difftile.runtime.source_location import caller, span_of
from difftile.substrate import current_session


@dataclass(frozen=True, slots=True)
class HostRule:
    """A derivative that the user wrote for an operation.

    Args:
        function: A function of the operation's arguments, with fields in the place of its fields.
        signature: The parameters of the function.
        saved: The parameter that takes the result of the operation, if there is one.
        approximate: Whether the derivative is approximate.
    """

    function: FunctionType
    signature: inspect.Signature
    saved: str
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of a run of an operation, and fingerprints of the arrays in it."""

    value: object
    prints: Fingerprint
    nbytes: int


class HostCall(OpaqueStep):
    """A call of a host operation.

    Args:
        name: The operation.
        function: The code of the operation.
        bound: The arguments.
        operands: The fields among them.
        rules: The derivatives that the user wrote, by 'backward' and 'forward'.
        checked: Whether arrays among the arguments must stay as they are until the rule has run.
    """

    def __init__(
        self,
        name: str,
        function: FunctionType,
        bound: inspect.BoundArguments,
        operands: Sequence[FieldOperand],
        rules: Mapping[str, HostRule],
        *,
        checked: bool = True,
    ) -> None:
        title = f"custom op '{name}'"
        super().__init__(
            name,
            uses_of(title, operands),
            kind="custom op",
            approximate="backward" in rules and rules["backward"].approximate,
        )
        self._function = function
        self._bound = bound
        self._operands = operands
        self._rules = rules
        self._checked = checked
        self._where = caller() if checked else ("", 0)
        self._constant = RECORDING.get().constant
        self._prints = fingerprint(bound.arguments) if checked else None

    def run(self) -> Saved:
        """Call the function.

        Raises:
            LaunchError: The function changed a part of a field that is declared dt.In.
            TapeError: The function runs again and an array among its arguments has changed.
        """
        self._check_arguments()
        own = {use.field.storage for use in self.uses}
        written = {use.field.storage for use in self.uses if use.writes is not False}
        read = {
            operand.name: (operand.value, operand.value.to_numpy())
            for operand in self._operands
            if operand.role == "In" and operand.value.base.storage in written
        }
        with ExitStack() as checks:
            if current_session().debug:
                checks.enter_context(poisoned(self.title, self._operands))
            if self._checked:
                outside = {field.storage for field in fields_with_grads()} - own
                refusing = RefusingObserver(outside, self._refuse_outside)
                checks.enter_context(observed_by(refusing))
            value = self._function(*self._bound.args, **self._bound.kwargs)
        for name, (part, before) in read.items():
            if not np.array_equal(part.to_numpy(), before, equal_nan=True):
                raise LaunchError(f"'{name}' is written by {self.title}, and declared dt.In.")

        def counted(field: ArrayLike) -> ArrayLike | None:
            return None if field.base.storage in own else field

        prints = fingerprint(value) if self._checked else None
        return Saved(value, prints, nbytes_of(replaced(value, counted)))

    @property
    def pushes(self) -> bool:
        """Whether the user wrote a rule that pushes tangents."""
        return "forward" in self._rules

    def reads_saved(self, saved: Saved) -> bool:
        """Tell whether a rule takes numbers returned by the function."""
        own = {use.field.storage for use in self.uses}

        def is_number(value: object) -> bool:
            if isinstance(value, ArrayLike):
                return value.base.storage not in own
            if isinstance(value, (tuple, list)):
                return any(is_number(one) for one in cast("Sequence[object]", value))
            if isinstance(value, dict):
                return any(is_number(one) for one in cast("dict[object, object]", value).values())
            return not isinstance(value, (int, str, type(None)))

        return any(rule.saved for rule in self._rules.values()) and is_number(saved.value)

    @property
    def place(self) -> Span | None:
        """The call."""
        return span_of(*self._where) if self._where[0] else None

    def advice(self, word: str) -> str:
        """Return a hint for a call whose derivative is not known."""
        names = ", ".join(self._bound.signature.parameters)
        if word == "forward":
            return f"write '@{self.name}.forward' above 'def _({names}): ...'."
        return (
            f"write the backward of '{self.name}' with kernels and arithmetic of fields, or let it "
            "call another custom op that has a backward and a forward."
        )

    def settle(self, uses: Sequence[Use], *, flows: bool) -> None:
        """Refuse a call that cannot be recorded.

        Raises:
            LaunchError: Several parts of one field were written, or might have been.
            NotDifferentiable: A gradient passes through, and there is no rule for it.
        """
        for use in uses:
            names = undeclared(self._operands, use) if use.writes else []
            if names and use.field.has_grads:
                raise LaunchError(
                    f"It is not known whether {self.title} writes '{names[0]}', since it is given "
                    "other parts of the same field, too. Declare it dt.In, dt.Out or dt.InOut."
                )
        if flows and "backward" not in self._rules:
            raise self._no_rule("backward")

    def _no_rule(self, word: str) -> NotDifferentiable:
        names = ", ".join(self._bound.signature.parameters)
        hint = f"write '@{self.name}.{word}' above 'def _({names}): ...'"
        if word == "backward":
            hint += ", or call it inside 'with dt.no_grad():' if its results are constant"
        return NotDifferentiable(
            span_of(*self._where),
            f"{self.title} has no {word}, and a field that it writes has a gradient.",
            "called here",
            hint=f"{hint}.",
        )

    def reverse(self, then: ReverseContext, saved: Saved) -> None:
        """Call the backward."""
        self._call_rule("backward", then, saved)

    def push(self, at: Sequence[ReverseContext], saved: Saved) -> bool:
        """Call the forward, along one direction."""
        if len(at) > 1:
            return False
        self._call_rule("forward", at[0], saved)
        return True

    def _call_rule(self, word: str, then: ReverseContext, saved: Saved) -> None:
        rule = self._rules.get(word)
        if rule is None:  # it is differentiated where no derivative was wanted when it ran
            raise self._no_rule(word)
        self._check_arguments()
        if self._checked and fingerprint(saved.value) != saved.prints:
            raise TapeError(
                f"An array that {self.title} returned was changed before its {word} ran, "
                "which reads it. Return a copy."
            )
        uses = {use.field.storage: use for use in self.uses}

        def stand(value: ArrayLike) -> ArrayLike:
            return stand_in(then, uses, value)

        arguments = {name: replaced(arg, stand) for name, arg in self._bound.arguments.items()}
        if rule.saved:
            arguments[rule.saved] = replaced(saved.value, stand)
        bound = inspect.BoundArguments(rule.signature, OrderedDict(arguments))
        refuse = partial(self._refuse_own, word)
        with self._noted(word), observed_by(RefusingObserver(uses, refuse)):
            rule.function(*bound.args, **bound.kwargs)

    def _refuse_outside(self, field: Field, what: str) -> None:
        """Refuse that the operation touches a field with a gradient that is not an argument."""
        constant = self._constant or not any(
            use.writes is not False and use.field.has_grads for use in self.uses
        )
        if what == "reads" and (constant or not field.has_grads):
            return
        reads = "no gradient would flow to it", ", or read x.detach() if it is a constant"
        label, hint = reads if what == "reads" else ("no tape would know", "")
        title = (
            f"{self.title} {what} {field!r}, which has a gradient and is not among its arguments."
        )
        raise LaunchError(
            render(title, [Label(span_of(*caller()), label)], (), f"pass it as an argument{hint}.")
        )

    def _refuse_own(self, word: str, field: Field, what: str) -> None:
        """Raise an error: the rule uses a field of the call instead of its own parameter."""
        title = f"The {word} of {self.title} {what} {field!r} itself, not as it was in the call."
        label = "not what the rule was given"
        hint = "use the parameters of the rule: they stand for the fields of the call."
        raise LaunchError(render(title, [Label(span_of(*caller()), label)], (), hint))

    def _check_arguments(self) -> None:
        if self._checked and fingerprint(self._bound.arguments) != self._prints:
            raise TapeError(
                f"An array among the arguments of {self.title} was changed since the call, and the "
                "tape needs it as it was. Pass a copy, or a field."
            )

    @contextmanager
    def _noted(self, word: str) -> Generator[None]:
        """Note the place of the rule on its exceptions."""
        try:
            yield
        except Exception as error:
            file, line = self._where
            called = f", called at {place(file, line)}" if file else ""
            add_note: Callable[[str], None] | None = getattr(error, "add_note", None)
            if add_note is not None:  # from Python 3.11 on
                add_note(f"In the {word} of {self.title}{called}.")
            raise
