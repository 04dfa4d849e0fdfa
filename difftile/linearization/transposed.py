"""Tangents through steps that only have a backward, by its transpose.

A backward multiplies the gradients of the written fields by the transposed Jacobian, so the adjoint
of the backward multiplies tangents by the Jacobian itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from difftile.compile.arguments import Arguments, field_at
from difftile.diagnostics import FieldError, Label, LaunchError, TapeError, render
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.numbers import HostRead
from difftile.fields.recording import RECORDING, Where
from difftile.ir.types import is_float, shape_of
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Active
from difftile.recording.opaque import OpaqueStep, Use
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.steps import TapeStep


class ReadInPython(Exception):
    """A rule reads varying values in Python, so the derivative of its result is not known."""


def forward_of(step: OpaqueStep) -> OpaqueStep:
    """Return a step as one whose `reverse` pushes tangents."""
    return step.forward() or TransposedStep(step)


class TransposedStep(OpaqueStep):
    """A step whose `reverse` pushes tangents by the adjoint of the step's own reverse."""

    def __init__(self, step: OpaqueStep) -> None:
        super().__init__(step.name, step.uses, approximate=step.approximate)
        self.title = step.title
        self._step = step

    def run(self) -> Any:
        """Run the step."""
        return self._step.run()

    def settle(self, uses: Sequence[Use], *, flows: bool) -> None:
        """Check the uses as the step itself does."""
        self._step.settle(uses, flows=flows)

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Push tangents.

        Raises:
            TapeError: The backward of the step computes in Python.
        """
        inner = then.emptied()
        fields = [use.field.origin for use in self.uses if is_float(use.field.element)]
        sources = {one: bar for one in fields if (bar := inner[one].grad_in) is not None}
        # A linear function may be transposed at any point, but derivatives of adjoints skip terms
        # with a factor of zero: at zeros, all of them would be skipped.
        rng = np.random.default_rng(0)
        for bar in sources.values():
            bar.from_numpy(rng.uniform(0.5, 1.5, (*bar.shape, *shape_of(bar.element))))
        seeds: dict[ArrayLike, Any] = {
            bar: dot
            for one in fields
            if (bar := inner[one].grad_out) is not None and (dot := then[one].grad_out) is not None
        }
        try:
            linear = _RuleRun(lambda: self._step.reverse(inner, saved), list(sources.values()))
            bars = linear.pull(seeds, sources.values())
        except (ReadInPython, FieldError, LaunchError, TapeError) as error:
            raise self._error() from error
        for one, bar in sources.items():
            target = then[one].grad_in
            assert target is not None
            target.copy_from(bars[bar])
        linear.release()

    def _error(self) -> TapeError:
        step = self._step
        title = f"Tangents are not pushed through {step.title}, and they are needed here"
        why = "Its backward computes in Python, so it cannot be transposed."
        labels = () if step.place is None else (Label(step.place, "called here"),)
        return TapeError(render(f"{title}.", labels, (why,), step.advice("forward")))


class _RuleRun(Pullback):
    """The launches of a rule; Python must not read values that vary with its gradients."""

    def __init__(self, rule: Any, gradients: list[Field]) -> None:
        self._varying = Active(gradients)
        super().__init__(rule)

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it."""
        result = super().record(step)
        self._varying.follow(step)
        return result

    def result(self, launch: PreparedLaunch, values: Arguments, position: int) -> HostRead | None:
        """Refuse a result of a launch that varies."""
        return self.host_read(field_at(values, position), ())

    def host_read(self, field: Field, where: Where) -> HostRead | None:
        """Refuse a read of a field that varies."""
        if field in self._varying and is_float(field.element) and not RECORDING.get().constant:
            raise ReadInPython
        return super().host_read(field, where)
