"""Transformations on a tape or inside others, as steps: their derivatives have the next order.

The value of a function is one step (`ValueStep`), and each of its derivatives another
(`nested_steps.py`), which runs the steps of the function again, in private: Python, whose names may
be bound to other values by then, runs it once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from difftile.fields.array_like import ArrayLike
from difftile.fields.create import zeros_like
from difftile.fields.field import Field
from difftile.ir.types import is_float
from difftile.linearization.derivatives import pull_parts, push_parts
from difftile.linearization.pullback import Pullback
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.snapshots import Snapshot
from difftile.recording.uses import Keeps, Use
from difftile.transforms.stretch import Stretch
from difftile.transforms.trees import Array, Tree, outputs_in, with_outputs


class NestedCall:
    """A call of a function that is differentiated on a tape or inside another transformation.

    The function runs once beforehand, to find the fields that it uses; they hold what they held
    then.

    Args:
        stretch: The call.

    Attributes:
        outputs: The fields of floats that this run has returned.
        found: The fields that the function reads, by the field that holds the contents met in the
            call: the field itself, or after `keep` a copy.
        written: The fields that the function writes.
    """

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self._linear = linear = stretch.run()
        self._value, self.outputs = stretch.value, outputs_in(stretch.value)
        self.found: dict[Field, Field] = {one: one for one in linear.found}
        self.written = linear.written
        linear.rewind()
        self._is_first = True

    def keep(self) -> None:
        """Copy the fields that the function reads, so that derivatives can be computed later."""
        for one in self.found:
            copy = self.found[one] = zeros_like(one, grad=is_float(one.element))
            copy.copy_from(one)

    def value(self) -> Tree:
        """Run the function as a step and return its value."""
        step = ValueStep(self)
        perform(step)
        return with_outputs(self._value, iter(step.values))

    def run(self) -> None:
        """Run the function at the present contents of its fields."""
        for step, _ in self._linear.steps:
            self._linear.again(step)

    @contextmanager
    def linear(self, now: Callable[[Field], Field]) -> Generator[Pullback]:
        """Return the steps of the function, and leave all fields as they were.

        Args:
            now: Returns for a field of `found` one with the contents that it had in the call.
        """
        if self._is_first:
            self._is_first = False
            yield self._linear
            self._linear.forget()
            return
        before = Snapshot(0)
        for storage in {one.storage for one in (*self.found, *self.written)}:
            before.hold(storage)
        try:
            for one in self.found:
                one.storage.restore(now(one).storage.buffer)
            linear = self._linear.anew()
            yield linear
            linear.release()
        finally:
            before.restore()
            before.release()


class ValueStep(OpaqueStep):
    """The value of a function, with its writes into fields from outside.

    Args:
        call: The call of the function.

    Attributes:
        values: The fields that the function returns.
    """

    def __init__(self, call: NestedCall) -> None:
        self._call = call
        self.values = [zeros_like(one, grad=True) for one in call.outputs]
        changed = {one.storage for one in call.written}
        uses = {
            one.storage: Use(one, True, one.storage in changed, Keeps.BEFORE, "a field")
            for one in call.found
        }
        for one in (*call.written, *self.values):
            uses.setdefault(one.storage, Use(one, False, True, Keeps.NOTHING, "a result"))
        self._found = [one for one in call.found if is_float(one.element)]
        self._written = [one for one in call.written if is_float(one.element)]
        super().__init__(call.stretch.name, list(uses.values()))

    def run(self) -> None:
        """Run the function."""
        self._call.run()
        for value, one in zip(self.values, self._call.outputs, strict=True):
            value.copy_from(one)

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Pull cotangents back."""
        self.derivative([then], saved)

    def derivative(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Push tangents through the reverse of the function."""
        with self._call.linear(lambda one: at[0][one]) as linear:
            seeds = [self._seeds(one) for one in at]
            bars = pull_parts(linear, moves_of(at, self._found), seeds, self._found)
            for one, found in zip(at, bars, strict=True):
                self._set(one, found)
        return True

    def push(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Push tangents along one direction, or several."""
        dots = [{one: array(along[one].grad_out) for one in self._found} for along in at]
        moves = [*moves_of(at, self._found), *dots]
        with self._call.linear(lambda one: at[0][one]) as linear:
            found = push_parts(linear, moves, [*self._written, *self._call.outputs])
        pairs = [(one, one) for one in self._written]
        pairs += zip(self.values, self._call.outputs, strict=True)
        for along, moved in zip(at, found[len(at) :], strict=True):
            for target, source in pairs:
                bar = along[target].grad_in
                assert bar is not None
                bar.from_numpy(moved[source])
        return True

    def _seeds(self, then: ReverseContext) -> dict[ArrayLike, Any]:
        """Return the cotangents of the written fields and of the values."""
        seeds: dict[ArrayLike, Any] = {one: array(then[one].grad_in) for one in self._written}
        for value, one in zip(self.values, self._call.outputs, strict=True):
            seeds[one] = seeds.get(one, 0.0) + array(then[value].grad_in)
        return seeds

    def _set(self, then: ReverseContext, bars: Mapping[Field, Field]) -> None:
        for one in self._found:
            target = then[one].grad_out
            if target is not None:
                target.from_numpy(bars[one.origin].to_numpy())


def moves_of(at: Sequence[ReverseContext], fields: Iterable[Field]) -> list[dict[Field, Array]]:
    """Return the tangents of what fields held in a step, by part; nothing for part 0."""
    fields = list(fields)
    return [{one: along[one].to_numpy() for one in fields if k} for k, along in enumerate(at)]


def array(field: Field | None) -> Array:
    """Return the contents of a gradient that exists."""
    assert field is not None
    return field.to_numpy()
