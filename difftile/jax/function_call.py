"""One call of a wrapped function of JAX, as a step of a tape.

The function and its derivatives are functions of the contents of the fields before the call: the
tape keeps these, and JAX runs the function again for each derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from difftile.fields.array_like import ArrayLike
from difftile.fields.recording import RECORDING
from difftile.interop.foreign_call import ForeignCall
from difftile.ir.types import Type, is_float
from difftile.jax.arrays import Array, add_array, array_of, write_array
from difftile.jax.derivatives import is_floating
from difftile.jax.form import Kind, form_of
from difftile.jax.library import jax
from difftile.jax.trees import aligned, leaves_of, mapped
from difftile.recording.replayed_fields import ReverseContext
from difftile.runtime.operands import FieldOperand

if TYPE_CHECKING:
    from difftile.jax.wrap import Wrapped


@dataclass(slots=True)
class Evaluation:
    """A run of the function.

    Args:
        outputs: The arrays of the result.
    """

    outputs: list[Array]


class FunctionCall(ForeignCall[Evaluation]):
    """A call of a wrapped function.

    Args:
        wrapped: The function.
        args: The arguments.
        kwargs: The arguments by name.
        out: The fields that take the result, in its structure; None for new ones.
    """

    kind, array = "JAX function", "array"
    is_seen = False

    def __init__(
        self, wrapped: Wrapped, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
    ) -> None:
        form, self._values = form_of(args, kwargs)
        self._kinds = form.leaves
        self._derivatives = wrapped.derivatives(form)
        self._types: list[Any] = []  # of the floats in the result
        recording = RECORDING.get()
        super().__init__(
            wrapped.name,
            wrapped.signature.named(args, kwargs),
            out,
            wrapped.dtype,
            differentiates=recording.recorder is not None and not recording.constant,
        )

    # What the library says

    def leaves_of(self, tree: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Return the leaves of pytrees, with their places in words."""
        return leaves_of(tree)

    def mapped(self, tree: Any, change: Callable[[Any, str], Any], name: str) -> Any:
        """Return a pytree with a function applied to each leaf and its place in words."""
        return mapped(tree, change, name)

    def aligned(self, tree: Any, other: Any, name: str) -> list[Any]:
        """Return the entries of a pytree at the leaves of another."""
        return aligned(tree, other, name)

    def is_array(self, value: object) -> bool:
        """Tell whether a value is an array."""
        return isinstance(value, (jax.Array, np.ndarray))

    def ends_gradients(self, first: Evaluation) -> bool:
        """Tell that gradients end in no function of JAX."""
        return False

    def write(self, target: ArrayLike, array: Array) -> None:
        """Set the contents of a field."""
        write_array(target, array)

    def again(self) -> Evaluation:
        """Call the function again."""
        return self.evaluated()[0]

    def evaluated(self) -> tuple[Evaluation, Any]:
        """Call the function on copies of the fields."""
        arrays = [array_of(one.value, self._told(one)) for one in self.inputs]
        with self.noted(arrays):
            result = self._derivatives.value(*self._sorted(arrays))
        found = Evaluation(self.converted(result, _unchanged))
        self._types = [one.dtype for one in found.outputs if is_floating(one)]
        return found, result

    def _told(self, operand: FieldOperand) -> str:
        return f"The argument {operand.name} of {self.title}"

    def _sorted(self, arrays: Iterable[Array]) -> tuple[list[Array], list[Any]]:
        """Return the floats among the arguments, and the others.

        Args:
            arrays: The contents of the fields among them.
        """
        floats: list[Array] = []
        others: list[Any] = []
        contents = iter(arrays)
        for kind, leaf in zip(self._kinds, self._values, strict=True):
            value = next(contents) if isinstance(leaf, ArrayLike) else leaf
            if kind is Kind.FLOAT:
                floats.append(value)
            elif kind is Kind.OTHER:
                others.append(value)
        return floats, others

    # Derivatives

    @property
    def _floats(self) -> list[FieldOperand]:
        """The inputs that carry derivatives."""
        return [one for one in self.inputs if is_float(one.value.element)]

    def _found(self, then: ReverseContext) -> tuple[list[Array], list[Any]]:
        """Return the arguments as they were, or their tangents."""
        return self._sorted(array_of(self.stand(then, one), self._told(one)) for one in self.inputs)

    def _bars(self, then: ReverseContext) -> list[Array]:
        """Return the cotangents of the floats in the result."""
        bars: list[Array] = []
        pairs = ((one, self.stand(then, one)) for one in self.outputs)
        floats = [(one, stand) for one, stand in pairs if is_float(one.value.element)]
        for (one, stand), dtype in zip(floats, self._types, strict=True):
            assert stand.grad_in is not None
            bars.append(array_of(stand.grad_in, self._told(one)).astype(dtype))
        return bars

    def _add(self, then: ReverseContext, found: Iterable[Array]) -> None:
        """Add to the gradients of the inputs."""
        for operand, array in zip(self._floats, found, strict=True):
            target = self.stand(then, operand).grad_out
            if target is not None:
                add_array(target, array)

    def reverse(self, then: ReverseContext, saved: Evaluation) -> None:
        """Pull cotangents back to the fields."""
        with self.differentiating("backward"):
            found = self._derivatives.pull(*self._found(then), self._bars(then))
        self._add(then, found)

    def derivative(self, at: Sequence[ReverseContext], saved: Evaluation) -> bool:
        """Push tangents through the reverse."""
        given = [self._found(one) for one in at]
        parts = [(floats, self._bars(one)) for (floats, _), one in zip(given, at, strict=True)]
        with self.differentiating("second derivative" if len(at) == 2 else "third derivative"):
            found = self._derivatives.bend(parts, given[0][1])
        for one, arrays in zip(at, found, strict=True):
            self._add(one, arrays)
        return True

    def push(self, at: Sequence[ReverseContext], saved: Evaluation) -> bool:
        """Push tangents from the fields to the result, along one direction."""
        if len(at) > 1:
            return False
        (then,) = at
        floats, others = self._found(then)
        dots: list[Array] = []
        for operand in self._floats:
            dot = self.stand(then, operand).grad_out
            assert dot is not None
            dots.append(array_of(dot, self._told(operand)))
        with self.differentiating("forward derivative"):
            moved = self._derivatives.push(floats, others, dots)
        outputs = [one for one in self.outputs if is_float(one.value.element)]
        for operand, array in zip(outputs, moved, strict=True):
            target = self.stand(then, operand).grad_in
            if target is not None:
                write_array(target, array)
        return True


def _unchanged(array: Array, element: Type) -> Array:
    """Return an array of the result, whose number type changes where it is written."""
    return array
