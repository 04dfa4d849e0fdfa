"""`dt.Step`: an operation that brings its own derivatives, as one step of a tape."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from difftile.diagnostics import Label, LaunchError, NotDifferentiable, Span, brief, render
from difftile.fields.field import Field
from difftile.fields.gradients import fields_with_grads
from difftile.fields.storage import Storage
from difftile.fields.view import View
from difftile.recording.access_observer import RefusingObserver, observed_by
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.runtime.source_location import caller, span_of
from difftile.tracebacks import boundary

_READS = True, False, Keeps.BEFORE
_WRITES = False, True, Keeps.AFTER
_UPDATES = True, True, Keeps.BEFORE


class Step(OpaqueStep):
    """An operation over fields that brings its own derivatives; a call is one step of a tape.

    A subclass declares its fields, computes in `run`, and pulls gradients back in `reverse`. It may
    push tangents in `push`, which otherwise go by the transpose of `reverse`, and say in
    `derivative` how tangents pass through `reverse`, which a sweep through its launches finds
    otherwise. Then tapes with a limit, `dt.jvp`, `dt.hvp`, `dt.gradcheck` and all other
    transformations know the operation.

    In the rules, `at[field]` stands for a field of the step, with the contents from before the step
    for `reads` and `updates`, and from after it for `writes`. `at[field].grad_in` is the gradient,
    or in `push` the tangent, of the contents after the step; `at[field].grad_out` that of the
    contents before it.

    Args:
        name: The name of the operation in errors, summaries and pictures.
        reads: The fields that it only reads, by the names that errors give them.
        writes: The fields that it overwrites entirely, without reading them.
        updates: The fields that it reads and writes.
        approximate: Whether `reverse` is no exact derivative, which `tape.summary()` reports.

    Raises:
        LaunchError: A name stands for no whole field, two share their memory, or nothing is
            written.
    """

    def __init__(
        self,
        name: str,
        *,
        reads: Mapping[str, Field] | None = None,
        writes: Mapping[str, Field] | None = None,
        updates: Mapping[str, Field] | None = None,
        approximate: bool = False,
    ) -> None:
        title = f"step '{name}'"
        uses: dict[Storage, Use] = {}
        for fields, (read, written, keeps) in (
            (reads, _READS),
            (writes, _WRITES),
            (updates, _UPDATES),
        ):
            for label, field in (fields or {}).items():
                _check_is_whole(title, label, field)
                known = uses.setdefault(field.storage, Use(field, read, written, keeps, label))
                if known.name != label or known.keeps is not keeps:
                    raise LaunchError(
                        f"'{known.name}' and '{label}' of {title} are the same memory. Declare it "
                        "once, in 'updates' if it is read and written."
                    )
        if not writes and not updates:
            raise LaunchError(f"{title} writes no field: name its results in 'writes'.")
        super().__init__(name, list(uses.values()), kind="step", approximate=approximate)
        self._where = "", 0

    @boundary
    def __call__(self) -> Any:
        """Run the operation; on an open tape it is recorded.

        Returns:
            The result of `run`, which the rules get as `saved`.

        Raises:
            LaunchError: A field is written that is declared in 'reads', or `run` uses a field with
                a gradient that is not declared.
            NotDifferentiable: A gradient passes through the step, and there is no `reverse`.
        """
        if not hasattr(self, "_where"):
            raise LaunchError(
                f"{type(self).__name__}: its fields are not declared. Call super().__init__(name, "
                "reads={...}, writes={...}) in __init__."
            )
        if self.is_contained:  # a promise of the class, so nothing is left to check
            return perform(self)
        self._where = caller()
        own = {use.field.storage for use in self.uses}
        outside = {field.storage for field in fields_with_grads()} - own
        with observed_by(RefusingObserver(outside, self._refuse_outside)):
            return perform(self)

    @abstractmethod
    def run(self) -> Any:
        """Compute the written fields from the others; return what the rules need besides them.

        Fields that the step does not declare must not matter: it may run again, on tapes with a
        limit and in checkpoints, and has to lead to the same results.
        """

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Add to `grad_out` of the fields that the step reads, from `grad_in` of those it writes.

        Args:
            then: The fields as they were.
            saved: The result of `run`.
        """
        raise self._no_rule()

    def reads_saved(self, saved: Any) -> bool:
        """Tell whether the rules may read values that `run` has computed in Python."""
        return saved is not None

    def settle(self, uses: Sequence[Use], *, flows: bool) -> None:
        """Check that there is a rule if a gradient passes.

        Raises:
            NotDifferentiable: There is none.
        """
        if flows and type(self).reverse is Step.reverse:
            raise self._no_rule()

    @property
    def place(self) -> Span | None:
        """The place where the user called the step, for errors."""
        return span_of(*self._where) if self._where[0] else None

    def advice(self, word: str) -> str:
        """Return a hint for a derivative that is not known."""
        if word == "forward":
            return f"give {type(self).__name__} a method 'push(self, at, saved)'."
        return f"give {type(self).__name__} a method 'derivative(self, at, saved)'."

    def around_rule(self) -> AbstractContextManager[object]:
        """Return a context for rules, in which the step's own fields are not to be used."""
        own = {use.field.storage for use in self.uses}
        return observed_by(RefusingObserver(own, self._refuse_own))

    def _no_rule(self) -> NotDifferentiable:
        return NotDifferentiable(
            self.place,
            f"{self.title} has no reverse, and a field that it writes has a gradient.",
            "called here",
            hint=f"give {type(self).__name__} a method 'reverse(self, then, saved)', or call the "
            "step inside 'with dt.no_grad():' if its results are constant.",
        )

    def _refuse_outside(self, field: Field, what: str) -> NoReturn:
        """Refuse that `run` uses a field with a gradient that is not declared."""
        title = f"{self.title} {what} {field!r}, which has a gradient and is not among its fields."
        label = "no gradient would flow to it" if what == "reads" else "no tape would know"
        hint = "declare it in super().__init__(...), or use x.detach() if it is a constant."
        raise LaunchError(render(title, [Label(span_of(*caller()), label)], (), hint))

    def _refuse_own(self, field: Field, what: str) -> NoReturn:
        """Refuse that a rule uses a field of the step as it is now."""
        title = f"A rule of {self.title} {what} {field!r} itself, not as it was in the call."
        hint = "write 'then[field]', which stands for the field as it was."
        raise LaunchError(render(title, [Label(span_of(*caller()), "changed since")], (), hint))


def _check_is_whole(title: str, label: str, field: object) -> None:
    """Check that a declared field is one.

    Raises:
        LaunchError: It is a part of a field, or something else.
    """
    if isinstance(field, View):
        raise LaunchError(
            f"{title}: '{label}' is a part of a field. Pass the whole field, or write the "
            "operation as '@dt.custom_op', which takes parts."
        )
    if not isinstance(field, Field):
        raise LaunchError(f"{title}: '{label}' is a field, not {brief(field)}.")
