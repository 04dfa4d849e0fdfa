"""Transformations inside others: each is one step whose derivatives are second derivatives.

The derivative of a gradient along v is a Hessian-vector product, forward over reverse
(`linearization/forward_over_reverse.py`). By the symmetry of second derivatives, mixed ones of
other fields included, its adjoint is the same product. The same holds for the adjoint of a tangent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from difftile.diagnostics import TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import zeros_like
from difftile.fields.field import Field
from difftile.ir.types import is_float
from difftile.linearization.forward_over_reverse import push_pull
from difftile.linearization.pullback import Pullback
from difftile.linearization.tangents import push
from difftile.recording.opaque import Keeps, OpaqueStep, Use
from difftile.recording.replayed_fields import ReverseContext
from difftile.transforms.stretch import Stretch
from difftile.transforms.trees import Array, outputs_in, units


class TransformStep(OpaqueStep):
    """A derivative of a function, which runs once beforehand to find the fields that it uses.

    Args:
        name: The name of the derivative.
        stretch: The call of the function.
        more: Other fields that the derivative reads.
    """

    def __init__(self, name: str, stretch: Stretch, more: Sequence[Field] = ()) -> None:
        self.stretch = stretch
        linear = stretch.run()
        self._value = stretch.value
        self.outputs = outputs_in(stretch.value)
        self.found, self.written = linear.found, linear.written
        linear.rewind()
        linear.release()
        self.results = [zeros_like(one, grad=True) for one in self.models()]
        changed = {one.storage for one in self.written}
        uses = {
            one.storage: Use(one, True, one.storage in changed, Keeps.BEFORE, "a field")
            for one in dict.fromkeys((*self.found, *more))
        }
        for one in (*self.written, *self.results):
            uses.setdefault(one.storage, Use(one, False, True, Keeps.NOTHING, "a result"))
        self.found = [one for one in self.found if is_float(one.element)]
        self.written = [one for one in self.written if is_float(one.element)]
        super().__init__(name, list(uses.values()))

    @abstractmethod
    def models(self) -> list[Field]:
        """Return the fields whose shapes and types the results take."""

    @abstractmethod
    def derivatives(self, linear: Pullback, fresh: list[Field]) -> list[Array]:
        """Return the results; `fresh` are the fields that the run has returned."""

    @abstractmethod
    def pulled(
        self, linear: Pullback, fresh: list[Field], cotangents: list[Array], then: ReverseContext
    ) -> dict[Field, Field]:
        """Return the cotangents of the fields in `found`, given those of the results."""

    @abstractmethod
    def pushed(
        self, linear: Pullback, fresh: list[Field], dots: dict[Field, Array], then: ReverseContext
    ) -> list[Array]:
        """Return the tangents of the results, given those of the fields in `found`."""

    def forward(self) -> OpaqueStep:
        """Return the step whose reverse pushes tangents through the derivative."""
        return _NestedTangent(self)

    def run(self) -> None:
        """Run the function and compute its derivative."""
        linear, fresh = self.again()
        for result, found in zip(self.results, self.derivatives(linear, fresh), strict=True):
            result.from_numpy(found)
        for old, new in zip(self.outputs, fresh, strict=True):
            if old is not new:
                old.copy_from(new)
        linear.release()

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Pull cotangents of the written fields back, and add second derivatives of the results."""
        with then.restored():
            linear, fresh = self.again()
        now = dict(zip(self.outputs, fresh, strict=True))
        seeds: dict[ArrayLike, Any] = {
            now.get(one, one): _array(then[one].grad_in) for one in self.written
        }
        first = {one: bar.to_numpy() for one, bar in linear.pull(seeds, self.found).items()}
        cotangents = [_array(then[result].grad_in) for result in self.results]
        more = self.pulled(linear, fresh, cotangents, then)
        for one in self.found:
            target = then[one].grad_out
            if target is not None:
                target.from_numpy(first[one.origin] + more[one.origin].to_numpy())
        linear.release()

    def second(self, then: ReverseContext, dots: ReverseContext, saved: None) -> bool:
        """Refuse a third derivative.

        Raises:
            TapeError: Always.
        """
        raise TapeError(
            f"dt.{self.name} inside two other transformations is a third derivative, which is "
            "refused. Write the inner derivative in a kernel, with dt.bwd_diff or dt.fwd_diff."
        )

    def again(self) -> tuple[Pullback, list[Field]]:
        """Run the function once more; it may return other fields, with the same contents."""
        linear = self.stretch.run()
        fresh = outputs_in(self.stretch.value)
        self.stretch.value = self._value
        return linear, fresh


class GradientStep(TransformStep):
    """The gradient of a function of one number."""

    def __init__(self, stretch: Stretch) -> None:
        super().__init__("grad", stretch)
        stretch.number()

    def models(self) -> list[Field]:
        """Return the inputs."""
        return self.stretch.inputs

    def derivatives(self, linear: Pullback, fresh: list[Field]) -> list[Array]:
        """Pull 1 back."""
        bars = linear.pull({fresh[0]: 1.0}, self.stretch.inputs)
        return [bars[one].to_numpy() for one in self.stretch.inputs]

    def pulled(
        self, linear: Pullback, fresh: list[Field], cotangents: list[Array], then: ReverseContext
    ) -> dict[Field, Field]:
        """Push the cotangents through the gradient."""
        along = dict(zip(self.stretch.inputs, cotangents, strict=True))
        return push_pull(linear, along, {fresh[0]: 1.0}, {}, self.found)[1]

    def pushed(
        self, linear: Pullback, fresh: list[Field], dots: dict[Field, Array], then: ReverseContext
    ) -> list[Array]:
        """Push the tangents through the gradient."""
        _, found = push_pull(linear, dots, {fresh[0]: 1.0}, {}, self.stretch.inputs)
        return [found[one].to_numpy() for one in self.stretch.inputs]


class TangentStep(TransformStep):
    """The tangent of a function.

    Args:
        stretch: The call of the function.
        tangents: The tangent of each input: a field, an array or a number.
    """

    def __init__(self, stretch: Stretch, tangents: Sequence[Any]) -> None:
        self._tangents = list(tangents)
        super().__init__("jvp", stretch, [one for one in tangents if isinstance(one, Field)])

    def models(self) -> list[Field]:
        """Return the outputs."""
        return self.outputs

    def derivatives(self, linear: Pullback, fresh: list[Field]) -> list[Array]:
        """Push the tangents."""
        found = push(linear, self.stretch.along(self._tangents), fresh)
        return [found[one] for one in fresh]

    def pulled(
        self, linear: Pullback, fresh: list[Field], cotangents: list[Array], then: ReverseContext
    ) -> dict[Field, Field]:
        """Push the tangents through the reverse, and pull the cotangents back to the tangents."""
        seeds: dict[ArrayLike, Any] = dict(zip(fresh, cotangents, strict=True))
        bars = linear.pull(seeds, self.stretch.inputs)
        for one, given in zip(self.stretch.inputs, self._tangents, strict=True):
            target = then[given].grad_out if isinstance(given, Field) else None
            if target is not None:
                target.add_numpy(bars[one].to_numpy())
        return push_pull(linear, self._along(then), seeds, {}, self.found)[1]

    def pushed(
        self, linear: Pullback, fresh: list[Field], dots: dict[Field, Array], then: ReverseContext
    ) -> list[Array]:
        """Push the tangents of the tangents, and add the contribution of the point.

        Reverse mode computes that, once for each number in the results.
        """
        along = self._along(then)
        own = {
            leaf.field: _array(then[one].grad_out)
            if isinstance(one, Field)
            else 0.0 * along[leaf.field]
            for leaf, one in zip(self.stretch.leaves, self._tangents, strict=True)
        }
        first = push(linear, own, fresh)
        tangents: list[Array] = []
        for one in fresh:
            found = first[one].copy()
            for cell, unit in units(one):
                _, second = push_pull(linear, dots, {one: unit}, {}, self.stretch.inputs)
                found.reshape(-1)[cell] += sum(
                    float(np.sum(second[leaf.field].to_numpy() * along[leaf.field]))
                    for leaf in self.stretch.leaves
                )
            tangents.append(found)
        return tangents

    def _along(self, then: ReverseContext) -> dict[Field, Array]:
        """Return the tangents as they were when the step ran."""
        given = (then[one] if isinstance(one, Field) else one for one in self._tangents)
        return self.stretch.along(given)


class _NestedTangent(OpaqueStep):
    """A transformation whose reverse pushes tangents."""

    def __init__(self, step: TransformStep) -> None:
        super().__init__(step.name, step.uses)
        self._step = step

    def run(self) -> None:
        """Run the transformation."""
        self._step.run()

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Push tangents through the function, and through its derivative."""
        step = self._step
        with then.restored():
            linear, fresh = step.again()
        now = dict(zip(step.outputs, fresh, strict=True))
        dots = {
            one: dot.to_numpy() for one in step.found if (dot := then[one].grad_out) is not None
        }
        written = [one for one in step.written if then[one].grad_in is not None]
        found = push(linear, dots, [now.get(one, one) for one in written])
        results = step.pushed(linear, fresh, dots, then)
        pairs = [(one, found[now.get(one, one)]) for one in written]
        for one, values in (*pairs, *zip(step.results, results, strict=True)):
            target = then[one].grad_in
            assert target is not None
            target.from_numpy(values)
        linear.release()


def _array(field: Field | None) -> Array:
    assert field is not None
    return field.to_numpy()
