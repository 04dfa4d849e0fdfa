"""Derivatives of functions as steps: cotangents, tangents and Jacobians.

The derivative of x -> J(x)^T s along v is a Hessian-vector product, forward over reverse. By the
symmetry of second derivatives, mixed ones of other fields included, its adjoint is the same
product, and so is the adjoint of x -> J(x) v. Their tangents are the same with one direction more
(`linearization/sweep.py`), so derivatives of any order are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from difftile.fields.array_like import ArrayLike
from difftile.fields.create import zeros_like
from difftile.fields.field import Field, make
from difftile.ir.types import F64, is_float, shape_of
from difftile.linearization.derivatives import pull_parts, push_parts
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Moves
from difftile.recording.opaque import OpaqueStep
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.transforms.nested import NestedCall, array
from difftile.transforms.trees import Array, units

Parts: TypeAlias = Sequence[list[Array]]
"""Arrays, and their tangents along directions, by part (`ir.derived.part_of`)."""


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
    def evaluated(self, linear: Pullback, given: Parts, moves: Moves) -> list[list[Array]]:
        """Return the results and their tangents, by part.

        Args:
            linear: The launches of the function.
            given: The contents of the given cotangents or tangents, and their tangents, by part.
            moves: The tangents of `found`, by part.
        """

    @abstractmethod
    def pulled(
        self, linear: Pullback, given: Parts, moves: Moves, bars: Parts
    ) -> list[tuple[dict[Field, Array], list[Array]]]:
        """Return the cotangents of `found` and of `given`, and their tangents, by part.

        The arguments of `evaluated`, and the cotangents of the results.
        """

    def run(self) -> None:
        """Compute the derivative."""
        with self.call.linear(self.call.found.__getitem__) as linear:
            given = [one.to_numpy() if isinstance(one, Field) else one for one in self._given]
            (found,) = self.evaluated(linear, [given], [{}])
        for result, values in zip(self.results, found, strict=True):
            result.from_numpy(values)

    def reverse(self, then: ReverseContext, saved: None) -> None:
        """Add second derivatives."""
        self.derivative([then], saved)

    def derivative(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Add second derivatives, and push tangents through them."""
        bars = [[array(one[result].grad_in) for result in self.results] for one in at]
        with self.call.linear(lambda one: at[0][self.call.found[one]]) as linear:
            given = self._given_at(at, lambda field: field)
            found = self.pulled(linear, given, self._moves(at), bars)
        for then, (each, others) in zip(at, found, strict=True):
            for one, values in each.items():
                _add(then[self.call.found[one]].grad_out, values)
            for one, values in zip(self._given, others, strict=False):
                if isinstance(one, Field):
                    _add(then[one].grad_out, values)
        return True

    def push(self, at: Sequence[ReverseContext], saved: None) -> bool:
        """Push tangents through the derivative along one direction, or several."""
        with self.call.linear(lambda one: at[0][self.call.found[one]]) as linear:
            given = self._given_at(at, lambda field: field)
            given += self._given_at(at, lambda field: field.grad_out, constant=True)
            source = self.call.found
            dots = [{one: array(then[source[one]].grad_out) for one in self.found} for then in at]
            found = self.evaluated(linear, given, [*self._moves(at), *dots])
        for then, each in zip(at, found[len(at) :], strict=True):
            for result, values in zip(self.results, each, strict=True):
                bar = then[result].grad_in
                assert bar is not None
                bar.from_numpy(values)
        return True

    def _moves(self, at: Sequence[ReverseContext]) -> list[dict[Field, Array]]:
        """Return the tangents of `found`, by part."""
        source = self.call.found
        return [
            {one: then[source[one]].to_numpy() for one in self.found if part}
            for part, then in enumerate(at)
        ]

    def _given_at(
        self,
        at: Sequence[ReverseContext],
        choose: Callable[[Field], Field | None],
        *,
        constant: bool = False,
    ) -> list[list[Array]]:
        """Return something of the fields of `given` by part; zeros for the tangents of arrays."""
        return [
            [
                array(choose(then[one]))
                if isinstance(one, Field)
                else np.zeros_like(one)
                if part or constant
                else one
                for one in self._given
            ]
            for part, then in enumerate(at)
        ]


class CotangentStep(DerivativeStep):
    """Cotangents of the arguments, J^T s; a gradient where s is 1."""

    def __init__(self, name: str, call: NestedCall, cotangents: Sequence[Any]) -> None:
        results = [zeros_like(one, grad=True) for one in call.stretch.inputs]
        super().__init__(name, call, cotangents, call.outputs, results)

    def evaluated(self, linear: Pullback, given: Parts, moves: Moves) -> list[list[Array]]:
        """Pull the cotangents back."""
        seeds = [_by_field(self.call.outputs, each) for each in given]
        return _arrays(pull_parts(linear, moves, seeds, self.inputs), self.inputs)

    def pulled(
        self, linear: Pullback, given: Parts, moves: Moves, bars: Parts
    ) -> list[tuple[dict[Field, Array], list[Array]]]:
        """Push the cotangents of the results through the pull, and to the outputs."""
        along = [*moves, *(dict(zip(self.inputs, each, strict=True)) for each in bars)]
        seeds = [_by_field(self.call.outputs, each) for each in given]
        bent = pull_parts(linear, along, seeds, self.found)[len(bars) :]
        moved = push_parts(linear, along, self.call.outputs)[len(bars) :]
        return [
            (_by_source(found, self.found), [dots[one] for one in self.call.outputs])
            for found, dots in zip(bent, moved, strict=True)
        ]


class TangentStep(DerivativeStep):
    """Tangents of the value, J v."""

    def __init__(self, name: str, call: NestedCall, tangents: Sequence[Any]) -> None:
        results = [zeros_like(one, grad=True) for one in call.outputs]
        super().__init__(name, call, tangents, call.stretch.inputs, results)

    def _along(self, given: Parts, moves: Moves) -> Moves:
        """Return the tangents by part, with the given ones along one more direction."""
        return [*moves, *(dict(zip(self.inputs, each, strict=True)) for each in given)]

    def evaluated(self, linear: Pullback, given: Parts, moves: Moves) -> list[list[Array]]:
        """Push the tangents."""
        found = push_parts(linear, self._along(given, moves), self.call.outputs)[len(moves) :]
        return [[dots[one] for one in self.call.outputs] for dots in found]

    def pulled(
        self, linear: Pullback, given: Parts, moves: Moves, bars: Parts
    ) -> list[tuple[dict[Field, Array], list[Array]]]:
        """Push the tangents through the reverse, and pull the cotangents back to the tangents."""
        seeds = [_by_field(self.call.outputs, each) for each in bars]
        wrt = [*self.found, *self.inputs]
        found = pull_parts(linear, self._along(given, moves), seeds, wrt)
        others = _arrays(found[: len(bars)], self.inputs)
        bent = [_by_source(each, self.found) for each in found[len(bars) :]]
        return list(zip(bent, others, strict=True))


class JacobianStep(DerivativeStep):
    """The blocks of a Jacobian, one for each output and input, row by row.

    Args:
        name: The transformation.
        call: The call of the function.
        fill: Returns the blocks, by output, for the launches of the function.
    """

    def __init__(
        self,
        name: str,
        call: NestedCall,
        fill: Callable[[Pullback], list[list[Array]]],
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

    def evaluated(self, linear: Pullback, given: Parts, moves: Moves) -> list[list[Array]]:
        """Fill the blocks, and push the tangents through the pull of each row's unit vector."""
        if len(moves) == 1:
            return [[block for row in self._fill(linear) for block in row]]
        blocks: list[list[Array]] = [[] for _ in moves]
        for out in self.call.outputs:
            rows = [
                _arrays(pull_parts(linear, moves, [{out: unit}], self.inputs), self.inputs)
                for _, unit in units(out)
            ]
            shape = out.to_numpy().shape
            for part, found in enumerate(zip(*rows, strict=True)):
                for several in zip(*found, strict=True):
                    blocks[part].append(np.stack(several).reshape(*shape, *several[0].shape))
        return blocks

    def pulled(
        self, linear: Pullback, given: Parts, moves: Moves, bars: Parts
    ) -> list[tuple[dict[Field, Array], list[Array]]]:
        """Push the cotangents of each row through the pull of its unit vector."""
        totals = [{one: np.zeros_like(one.to_numpy()) for one in self.found} for _ in bars]
        for row, out in enumerate(self.call.outputs):
            first = row * len(self.inputs)
            for cell, unit in units(out):
                along = [
                    {
                        one: block.reshape(unit.size, *one.to_numpy().shape)[cell]
                        for one, block in zip(self.inputs, each[first:], strict=False)
                    }
                    for each in bars
                ]
                found = pull_parts(linear, [*moves, *along], [{out: unit}], self.found)
                for total, bent in zip(totals, found[len(bars) :], strict=True):
                    for one, values in _by_source(bent, self.found).items():
                        total[one] += values
        return [(total, []) for total in totals]


def _arrays(parts: Sequence[Mapping[Field, Field]], fields: Iterable[Field]) -> list[list[Array]]:
    """Return what some fields lead to, by part."""
    fields = list(fields)
    return [[each[one.origin].to_numpy() for one in fields] for each in parts]


def _by_source(found: Mapping[Field, Field], fields: Iterable[Field]) -> dict[Field, Array]:
    return {one: found[one.origin].to_numpy() for one in fields}


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
