"""Cuts: places where a gradient stops, because a field on its way has no gradient buffer."""

from __future__ import annotations

from difftile.compile.adjoint_plan import AdjointPlan
from difftile.compile.arguments import Arguments, field_at
from difftile.diagnostics import GradientCut, Label, Span, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.recording import Where
from difftile.fields.storage import Storage
from difftile.ir.types import is_float
from difftile.recording.opaque import Opaque
from difftile.user_line import UserLine, user_line, warn_user


class Cuts:
    """The fields without gradient that hold values which vary with fields that have one.

    Reading such a field cuts the gradient, which is reported at the first read.

    Attributes:
        held: The name and place of the last write, by the memory of those fields.
        told: Whether a cut was reported.
    """

    def __init__(self) -> None:
        self.held: dict[Storage, tuple[str, Span | None]] = {}
        self.told = False
        self._ever: set[Storage] = set()  # that have been in `held`

    def may_wait(self, plan: AdjointPlan, values: Arguments) -> bool:
        """Tell whether a stage that has run before gives no warning when it is launched later."""
        if not self._ever:
            return True
        early, late = plan.ungraded
        return self._ever.isdisjoint(field_at(values, k).storage for k in (*early, *late))

    def launched(self, plan: AdjointPlan, values: Arguments) -> None:
        """Note the reads and writes of a stage, and warn of the gradients that it cuts."""
        early, late = plan.ungraded
        held = self.held
        for k in early:
            if field_at(values, k).storage in held:
                self._warn(field_at(values, k).storage, plan.code.params[k].name)
        for k, (name, span) in plan.cuts.items():
            storage = field_at(values, k).storage
            if storage.is_array:
                self.told = True
                warn_of_array(name, span)
            else:
                self._hold(storage, (name, span))
        for k in late:
            if field_at(values, k).storage in held:
                self._warn(field_at(values, k).storage, plan.code.params[k].name)

    def copied(self, target: Field, where: Where, source: ArrayLike) -> None:
        """Note that Python copied a field into another, or into a part of one."""
        if target.has_grads:
            self._warn(source.base.storage, "source")
        elif source.has_grads or source.base.storage in self.held:
            self._hold(target.storage, ("", None))
        elif where is None:
            self.overwritten(target.storage)

    def used(self, storage: Storage, name: str) -> None:
        """Note that Python computes with what it has read from a field without gradient."""
        self._warn(storage, name)

    def ran(self, opaque: Opaque) -> None:
        """Note the reads and writes of an opaque step."""
        graded = [use for use in opaque.uses if use.field.has_grads]
        read = [use for use in opaque.uses if use.reads and not use.passes]
        varies = opaque.step.has_parameters or any(use.field.has_grads for use in read)
        held = varies and not opaque.constant
        for use in read:
            storage = use.field.storage
            if storage in self.held and any(other.writes for other in graded):
                self._warn(storage, use.name)
                held = True
        for use in opaque.uses:
            if use.writes and not use.field.has_grads and is_float(use.field.element):
                if held:
                    self._hold(use.field.storage, (use.name, None))
                elif use.overwrites:
                    self.overwritten(use.field.storage)

    def _hold(self, storage: Storage, name_and_span: tuple[str, Span | None]) -> None:
        """Note that a field without gradient holds values that vary."""
        self.held[storage] = name_and_span
        self._ever.add(storage)

    def overwritten(self, storage: Storage) -> None:
        """Note that a field holds constants now."""
        self.held.pop(storage, None)

    def _warn(self, storage: Storage, reader: str) -> None:
        """Warn if the gradient is cut at a field that is now read under some name."""
        found = self.held.pop(storage, None)
        if found is not None:
            name, span = found
            self.told = True
            why, foreign = "has none and is read again", storage.memory.lender is not None
            warn_of_field(name or reader, span, "gradient", why, foreign=foreign)


def warn_of_array(
    name: str, span: Span | None, line: UserLine | None = None, *, readers: str = "is read from it"
) -> None:
    """Warn that a launch writes values that vary into an array, whose readers are not seen.

    Args:
        name: The array.
        span: Where it is written.
        line: The line of the launch; the present one by default.
        readers: What is taken for a constant, in words that follow 'what'.
    """
    labels = [] if span is None else [Label(span, "written here")]
    title = f"The gradient is cut: '{name}' is an array, and what {readers} is constant."
    hint = f"pass a field: dt.zeros(shape, grad=True), or dt.from_dlpack({name}, grad=True)."
    (line or user_line()).warn(GradientCut(render(title, labels, (), hint)))


def warn_of_field(
    name: str,
    span: Span | None,
    what: str,
    why: str,
    *,
    foreign: bool = False,
) -> None:
    """Warn that a gradient or tangent is cut, because a field has no buffer for it.

    Args:
        name: The field.
        span: Where it is written.
        what: The word for the missing buffer: a gradient or a tangent.
        why: The reason in words that follow the name of the field.
        foreign: Whether the field is over the memory of an array, which the user may have passed.
    """
    labels = [] if span is None else [Label(span, f"written here, without a {what}")]
    title = f"The {what} is cut: field '{name}' {why}."
    hint = f"make it with grad=True, or {name} = {name}.with_grads()."
    if foreign:
        hint = f"for an array pass a field with a gradient: dt.from_dlpack({name}, grad=True)."
    warn_user(GradientCut(render(title, labels, (), hint)))
