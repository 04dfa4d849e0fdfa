"""Tangents through steps that only have a backward, by its transpose.

A backward multiplies the gradients of the written fields by the transposed Jacobian, so the adjoint
of the backward multiplies tangents by the Jacobian itself. Tangents along further directions follow
from the adjoint in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from difftile.diagnostics import FieldError, Label, LaunchError, TapeError, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, Recording
from difftile.ir.types import is_float, shape_of
from difftile.recording.opaque import OpaqueStep, Pushing
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use

if TYPE_CHECKING:
    from difftile.linearization.sweep import Sweep

Inside = Callable[[Iterable[Field], int, bool], "Sweep"]
"""Returns a sweep through the launches of a rule, for fields that vary: with tangents along so many
directions, and with the adjoint or without. It raises `ReadInPython`."""


class ReadInPython(Exception):
    """A rule reads varying values in Python, so the derivative of its result is not known."""


class TransposedStep(Pushing):
    """A step whose `reverse` pushes tangents by the adjoint of the step's own reverse.

    Args:
        step: The step.
        inside: Returns a sweep through a rule.
    """

    def __init__(self, step: OpaqueStep, inside: Inside) -> None:
        super().__init__(step)
        self._inside = inside

    def settle(self, uses: Sequence[Use], *, flows: bool) -> None:
        """Check the uses as the step itself does, whose reverse is needed."""
        self._step.settle(uses, flows=flows)

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Push tangents.

        Raises:
            TapeError: The backward of the step computes in Python.
        """
        self.derivative([then], saved)

    def derivative(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Push tangents along several directions.

        Raises:
            TapeError: The backward of the step computes in Python.
        """
        inner = at[0].emptied()
        fields = [use.field.origin for use in self.uses if is_float(use.field.element)]
        sources = {one: bar for one in fields if (bar := inner[one].grad_in) is not None}
        # A linear function may be transposed at any point, but derivatives of adjoints skip terms
        # with a factor of zero: at zeros, all of them would be skipped.
        rng = np.random.default_rng(0)
        for bar in sources.values():
            bar.from_numpy(rng.uniform(0.5, 1.5, (*bar.shape, *shape_of(bar.element))))
        seeds: list[dict[ArrayLike, Any]] = [
            {
                bar: dot
                for one in fields
                if (bar := inner[one].grad_out) is not None
                and (dot := along[one].grad_out) is not None
            }
            for along in at
        ]
        varying = varying_contents(self.uses) if len(at) > 1 else []
        moves = [
            move
            for part, along in enumerate(at)
            if part
            for move in contents_of(inner, along, part, varying)
        ]
        wanted = {*sources.values(), *(one for _, one, _ in moves)}
        try:
            if varying and self._step.reads_saved(saved):
                raise ReadInPython
            sweep = self._inside(wanted, len(at).bit_length() - 1, True)
            for part, one, dot in moves:
                sweep.part(part, one).buffer.copy_from(dot.buffer)
            with Recording(sweep, observer=RECORDING.get().observer):
                self._step.reverse(inner, saved)
            bars = sweep.pull(seeds)
        except (ReadInPython, FieldError, LaunchError, TapeError) as error:
            raise self._error() from error
        for along, found in zip(at, bars, strict=True):
            for one, bar in sources.items():
                target = along[one].grad_in
                assert target is not None
                target.copy_from(found.gradient(bar))
        sweep.release()
        return True

    def _error(self) -> TapeError:
        step = self._step
        title = f"Tangents are not pushed through {step.title}, and they are needed here"
        why = "Its backward computes in Python, so it cannot be transposed."
        labels = () if step.place is None else (Label(step.place, "called here"),)
        return TapeError(render(f"{title}.", labels, (why,), step.advice("forward")))


def varying_contents(uses: Iterable[Use]) -> list[Field]:
    """Return the fields of a step whose contents vary and are read by its rule."""
    kept = (Keeps.BEFORE, Keeps.AFTER, Keeps.BOTH)
    return [
        use.field.origin
        for use in uses
        if is_float(use.field.element) and use.field.has_grads and use.keeps in kept
    ]


def contents_of(
    then: ReverseContext, along: ReverseContext, part: int, fields: Iterable[Field]
) -> Iterable[tuple[int, Field, Field]]:
    """Yield a part of the tangents of the contents of fields, from before and after a step."""
    for one in fields:
        yield part, then[one], along[one]
        if then.after(one).storage is not then[one].storage:
            yield part, then.after(one), along.after(one)
