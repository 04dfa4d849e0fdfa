"""Derivatives of functions as steps: cotangents, tangents and Jacobians.

The derivative of x -> J(x)^T s along v is a Hessian-vector product, forward over reverse
(`linearization/forward_over_reverse.py`). By the symmetry of second derivatives, mixed ones of
other fields included, its adjoint is the same product, and so is the adjoint of x -> J(x) v.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from difftile.diagnostics import TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import zeros_like
from difftile.fields.field import Field, make
from difftile.ir.types import F64, is_float, shape_of
from difftile.linearization.forward_over_reverse import push_pull
from difftile.linearization.pullback import Pullback
from difftile.linearization.tangents import push
from difftile.recording.opaque import Keeps, OpaqueStep, Use
from difftile.recording.replayed_fields import ReverseContext
from difftile.transforms.nested import NestedCall, array
from difftile.transforms.trees import Array, units

Now = Callable[[Field], Field]
"""Returns what stands for a field in a derivative of a step."""


class DerivativeStep(OpaqueStep):
    """A derivative of a function at the contents of its fields in a call.

    Args:
        name: The name of the derivative.
        call: The call.
        given: Cotangents or tangents that the derivative is multiplied by: fields, arrays, numbers.
        models: A field for each of these, in its shape.
        results: The fields that take the derivative.
    """

    def __init__(
        self,
        name: str,
        call: NestedCall,
        given: Sequence[Any],
        models: Sequence[Field],
        results: Sequence[Field],
    ) -> None:
        self.call = call
        self.results = list(results)
        self._given = [_as_field(one, model) for one, model in zip(given, models, strict=True)]
        self._models = list(models)
        reads = [*call.found.values(), *(one for one in self._given if isinstance(one, Field))]
        uses = {one.storage: Use(one, True, False, Keeps.BEFORE, "a field") for one in reads}
        uses |= {one.storage: Use(one, False, True, Keeps.NOTHING, "a result") for one in results}
        super().__init__(name, list(uses.values()))

    @property
    def inputs(self) -> list[Field]:
        """The fields that the derivative is taken with respect to."""
        return self.call.stretch.inputs

    @property
    def found(self) -> list[Field]:
        """The fields of floats that the function reads."""
        return [one for one in self.call.found if is_float(one.element)]

    @abstractmethod
    def derivative(self, linear: Pullback, fresh: list[Field], given: list[Array]) -> list[Array]:
        """Return the results.

        Args:
            linear: The launches of the function.
            fresh: The fields that it returned there.
            given: The contents of the given cotangents or tangents.
        """

    @abstractmethod
    def pulled(
        self, linear: Pullback, fresh: list[Field], given: list[Array], bars: list[Array]
    ) -> tuple[dict[Field, Array], list[Array]]:
        """Return the cotangents of `found` and of `given`, for cotangents of the results."""

    @abstractmethod
    def pushed(
        self,
        linear: Pullback,
        fresh: list[Field],
        given: list[Array],
        dots: dict[Field, Array],
        given_dots: list[Array],
    ) -> list[Array]:
        """Return the tangents of the results, for tangents of `found` and of `given`."""

    def run(self) -> None:
        """Compute the derivative."""
        with self.call.linear(lambda one: one) as (linear, fresh):
            found = self.derivative(linear, fresh, self._arrays(lambda one: one))
        for result, values in zip(self.results, found, strict=True):
            result.from_numpy(values)

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Add second derivatives."""
        bars = [array(then[result].grad_in) for result in self.results]
        with self.call.linear(lambda one: then[one]) as (linear, fresh):
            given = self._arrays(lambda one: then[one])
            found, others = self.pulled(linear, fresh, given, bars)
        for one, values in found.items():
            _add(then[self.call.found[one]].grad_out, values)
        for one, values in zip(self._given, others, strict=False):
            if isinstance(one, Field):
                _add(then[one].grad_out, values)

    def forward(self) -> OpaqueStep:
        """Return the step whose reverse pushes tangents through the derivative."""
        return _DerivativeTangent(self)

    def push(self, then: ReverseContext) -> None:
        """Push tangents through the derivative."""
        with self.call.linear(lambda one: then[one]) as (linear, fresh):
            given = self._arrays(lambda one: then[one])
            dots = {one: array(then[self.call.found[one]].grad_out) for one in self.found}
            given_dots = [
                array(then[one].grad_out) if isinstance(one, Field) else np.zeros_like(value)
                for one, value in zip(self._given, given, strict=True)
            ]
            found = self.pushed(linear, fresh, given, dots, given_dots)
        for result, values in zip(self.results, found, strict=True):
            bar = then[result].grad_in
            assert bar is not None
            bar.from_numpy(values)

    def second(self, then: ReverseContext, dots: ReverseContext, saved: None) -> bool:
        """Refuse a third derivative.

        Raises:
            TapeError: Always.
        """
        raise TapeError(
            f"dt.{self.name} is differentiated twice here, which is a third derivative. Write the "
            "inner derivative in a kernel, with dt.bwd_diff or dt.fwd_diff."
        )

    def _arrays(self, now: Now) -> list[Array]:
        """Return the contents of `given`."""
        return [now(one).to_numpy() if isinstance(one, Field) else one for one in self._given]


class CotangentStep(DerivativeStep):
    """Cotangents of the arguments, J^T s; a gradient where s is 1."""

    def __init__(self, name: str, call: NestedCall, cotangents: Sequence[Any]) -> None:
        results = [zeros_like(one, grad=True) for one in call.stretch.inputs]
        super().__init__(name, call, cotangents, call.outputs, results)

    def derivative(self, linear: Pullback, fresh: list[Field], given: list[Array]) -> list[Array]:
        """Pull the cotangents back."""
        bars = linear.pull(_by_field(fresh, given), self.inputs)
        return [bars[one].to_numpy() for one in self.inputs]

    def pulled(
        self, linear: Pullback, fresh: list[Field], given: list[Array], bars: list[Array]
    ) -> tuple[dict[Field, Array], list[Array]]:
        """Push the cotangents of the results through the pull, and to the outputs."""
        along = dict(zip(self.inputs, bars, strict=True))
        _, bent = push_pull(linear, along, _by_field(fresh, given), {}, self.found)
        moved = push(linear, along, fresh)
        return {one: bent[one.origin].to_numpy() for one in self.found}, [moved[o] for o in fresh]

    def pushed(
        self,
        linear: Pullback,
        fresh: list[Field],
        given: list[Array],
        dots: dict[Field, Array],
        given_dots: list[Array],
    ) -> list[Array]:
        """Push the tangents through the pull."""
        seeds, seed_dots = _by_field(fresh, given), _by_field(fresh, given_dots)
        _, found = push_pull(linear, dots, seeds, seed_dots, self.inputs)
        return [found[one].to_numpy() for one in self.inputs]


class TangentStep(DerivativeStep):
    """Tangents of the value, J v."""

    def __init__(self, name: str, call: NestedCall, tangents: Sequence[Any]) -> None:
        results = [zeros_like(one, grad=True) for one in call.outputs]
        super().__init__(name, call, tangents, call.stretch.inputs, results)

    def derivative(self, linear: Pullback, fresh: list[Field], given: list[Array]) -> list[Array]:
        """Push the tangents."""
        found = push(linear, dict(zip(self.inputs, given, strict=True)), fresh)
        return [found[one] for one in fresh]

    def pulled(
        self, linear: Pullback, fresh: list[Field], given: list[Array], bars: list[Array]
    ) -> tuple[dict[Field, Array], list[Array]]:
        """Push the tangents through the reverse, and pull the cotangents back to the tangents."""
        seeds, along = _by_field(fresh, bars), dict(zip(self.inputs, given, strict=True))
        others = linear.pull(seeds, self.inputs)
        given_bars = [others[one].to_numpy() for one in self.inputs]
        _, bent = push_pull(linear, along, seeds, {}, self.found)
        return {one: bent[one.origin].to_numpy() for one in self.found}, given_bars

    def pushed(
        self,
        linear: Pullback,
        fresh: list[Field],
        given: list[Array],
        dots: dict[Field, Array],
        given_dots: list[Array],
    ) -> list[Array]:
        """Push the tangents of the tangents, and add the contribution of the point.

        Reverse mode computes that, once for each number in the results.
        """
        first = push(linear, dict(zip(self.inputs, given_dots, strict=True)), fresh)
        tangents: list[Array] = []
        for one in fresh:
            found = first[one].copy()
            for cell, unit in units(one):
                _, bent = push_pull(linear, dots, {one: unit}, {}, self.inputs)
                found.reshape(-1)[cell] += sum(
                    float(np.sum(bent[field].to_numpy() * along))
                    for field, along in zip(self.inputs, given, strict=True)
                )
            tangents.append(found)
        return tangents


class JacobianStep(DerivativeStep):
    """The blocks of a Jacobian, one for each output and input, row by row.

    Args:
        name: The transformation.
        call: The call of the function.
        fill: Returns the blocks, by output, for the launches and the outputs of the function.
    """

    def __init__(
        self,
        name: str,
        call: NestedCall,
        fill: Callable[[Pullback, list[Field]], list[list[Array]]],
    ) -> None:
        self._fill = fill
        outer, inner = (
            [(*one.shape, *shape_of(one.element)) for one in some]
            for some in (call.outputs, call.stretch.inputs)
        )
        results = [make(F64, (*m, *n)).with_grads() for m in outer for n in inner]
        super().__init__(name, call, (), (), results)

    @property
    def rows(self) -> list[list[Field]]:
        """The blocks of each output."""
        width = len(self.inputs)
        return [self.results[k : k + width] for k in range(0, len(self.results), width)]

    def derivative(self, linear: Pullback, fresh: list[Field], given: list[Array]) -> list[Array]:
        """Fill the blocks."""
        return [block for row in self._fill(linear, fresh) for block in row]

    def pulled(
        self, linear: Pullback, fresh: list[Field], given: list[Array], bars: list[Array]
    ) -> tuple[dict[Field, Array], list[Array]]:
        """Push the cotangents of each row through the pull of its unit vector."""
        total = {one: np.zeros_like(one.to_numpy()) for one in self.found}
        blocks = iter(bars)
        for out in fresh:
            row = {one: next(blocks) for one in self.inputs}
            for cell, unit in units(out):
                along = {
                    one: block.reshape(unit.size, *one.to_numpy().shape)[cell]
                    for one, block in row.items()
                }
                _, bent = push_pull(linear, along, {out: unit}, {}, self.found)
                for one in self.found:
                    total[one] += bent[one.origin].to_numpy()
        return total, []

    def pushed(
        self,
        linear: Pullback,
        fresh: list[Field],
        given: list[Array],
        dots: dict[Field, Array],
        given_dots: list[Array],
    ) -> list[Array]:
        """Push the tangents through the pull of each row's unit vector."""
        found: list[Array] = []
        for out in fresh:
            rows: list[list[Array]] = []
            for _, unit in units(out):
                _, bent = push_pull(linear, dots, {out: unit}, {}, self.inputs)
                rows.append([bent[one].to_numpy() for one in self.inputs])
            shape = out.to_numpy().shape
            for blocks in zip(*rows, strict=True):
                found.append(np.stack(blocks).reshape(*shape, *blocks[0].shape))
        return found


class _DerivativeTangent(OpaqueStep):
    """A derivative whose reverse pushes tangents."""

    def __init__(self, step: DerivativeStep) -> None:
        super().__init__(step.name, step.uses)
        self._step = step

    def run(self) -> None:
        """Compute the derivative."""
        self._step.run()

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Push tangents through the derivative."""
        self._step.push(then)


def _by_field(fields: Sequence[Field], values: Sequence[Array]) -> dict[ArrayLike, Any]:
    return dict(zip(fields, values, strict=True))


def _add(target: Field | None, values: Array) -> None:
    if target is not None:
        target.add_numpy(values)


def _as_field(given: Any, model: Field) -> Field | Array:
    """Return a cotangent or tangent as a field that carries derivatives, or as an array.

    Raises:
        FieldError: The shape differs.
    """
    if isinstance(given, Field):
        return given
    if isinstance(given, ArrayLike):
        twin = make(given.base.element, given.shape).with_grads()
        twin.copy_from(given)
        return twin
    values = np.asarray(given, np.float64)
    return (
        np.broadcast_to(values, (*model.shape, *shape_of(model.element)))
        if values.ndim == 0
        else values
    )
