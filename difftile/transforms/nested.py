"""Transformations on a tape or inside others, as steps: their derivatives have the next order.

The value of a function is one step (`ValueStep`), and each of its derivatives another
(`nested_steps.py`), which runs the function again, in private.
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
from difftile.recording.opaque import Keeps, OpaqueStep, Use
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.snapshots import Snapshot
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
        linear = stretch.run()
        self._value, self.outputs = stretch.value, outputs_in(stretch.value)
        self.found: dict[Field, Field] = {one: one for one in linear.found}
        self.written = linear.written
        linear.rewind()
        self._first: Pullback | None = linear

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

    def again(self) -> tuple[Pullback, list[Field]]:
        """Run the function once more; it may return other fields, with the same contents."""
        linear = self.stretch.run()
        fresh = outputs_in(self.stretch.value)
        self.stretch.value = self._value
        return linear, fresh

    @contextmanager
    def linear(self, now: Callable[[Field], Field]) -> Generator[tuple[Pullback, list[Field]]]:
        """Return the launches of the function and its outputs, and leave all fields as they were.

        Args:
            now: Returns for a value of `found` a field with the contents that it had in the call.
        """
        if self._first is not None:
            linear, self._first = self._first, None
            yield linear, self.outputs
            linear.release()
            return
        before = Snapshot(0)
        for storage in {one.storage for one in (*self.found, *self.written)}:
            before.hold(storage)
        try:
            for one, source in self.found.items():
                one.storage.restore(now(source).storage.buffer)
            linear, fresh = self.again()
            yield linear, fresh
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
        self._call.stretch.call()
        for value, fresh in zip(self.values, outputs_in(self._call.stretch.value), strict=True):
            value.copy_from(fresh)

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Pull cotangents back."""
        self.derivative([then], saved)

    def derivative(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Push tangents through the reverse of the function."""
        with at[0].restored():
            linear, fresh = self._call.again()
        seeds = [self._seeds(one, fresh) for one in at]
        bars = pull_parts(linear, moves_of(at, self._found), seeds, self._found)
        for one, found in zip(at, bars, strict=True):
            self._set(one, found)
        linear.release()
        return True

    def push(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Push tangents along one direction, or several."""
        with at[0].restored():
            linear, fresh = self._call.again()
        dots = [{one: array(along[one].grad_out) for one in self._found} for along in at]
        found = push_parts(linear, [*moves_of(at, self._found), *dots], [*self._written, *fresh])
        pairs = [(one, one) for one in self._written] + [*zip(self.values, fresh, strict=True)]
        for along, moved in zip(at, found[len(at) :], strict=True):
            for target, source in pairs:
                bar = along[target].grad_in
                assert bar is not None
                bar.from_numpy(moved[source])
        linear.release()
        return True

    def _seeds(self, then: ReverseContext, fresh: list[Field]) -> dict[ArrayLike, Any]:
        """Return the cotangents of the written fields and of the values."""
        seeds: dict[ArrayLike, Any] = {one: array(then[one].grad_in) for one in self._written}
        for value, one in zip(self.values, fresh, strict=True):
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
