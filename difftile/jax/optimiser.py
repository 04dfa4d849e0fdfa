"""`dt.jax.optimiser`: gradient transformations of optax that move fields."""

from __future__ import annotations

from typing import Any

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.gradients import zero_grads
from difftile.fields.recording import check_no_tape
from difftile.fields.rows import rows_of
from difftile.jax.arrays import Array, array_of, write_array
from difftile.jax.library import jax
from difftile.optim.fresh_gradients import FreshGradients
from difftile.optim.parameters import FieldsLike, parameters_of


def _moved(value: Array, update: Array) -> Array:
    return (value + update).astype(value.dtype)


class Optimiser:
    """Moves fields against their gradients, by a transformation of optax.

    Attributes:
        state: The state of the transformation, a pytree of arrays, whose parameters are a dict of
            the fields by name; it may be saved, and set again.
        steps: The number of steps.
    """

    def __init__(self, transformation: Any, fields: FieldsLike) -> None:
        if not (hasattr(transformation, "init") and hasattr(transformation, "update")):
            raise LaunchError(
                f"{self!r} takes a transformation such as optax.adam(1e-2), not {transformation!r}."
            )
        self.parameters = parameters_of(fields, repr(self))
        for one in self.parameters:
            if rows_of(one.field) is not None:
                raise FieldError(
                    f"{self!r}: {one} belongs to rows, whose changes optax does not follow. Use an "
                    "optimiser of dt.optim."
                )
        self.state: Any = transformation.init(jax.tree.map(jax.numpy.array, self._values()))
        self.steps = 0
        self._fresh = FreshGradients(self.parameters)

        def step(values: Any, gradients: Any, state: Any, more: dict[str, Any]) -> Any:
            updates, state = transformation.update(gradients, state, values, **more)
            return jax.tree.map(_moved, values, updates), state

        self._step: Any = jax.jit(step)

    def __repr__(self) -> str:
        return "dt.jax.optimiser"

    def step(self, **more: Any) -> None:
        """Move all fields.

        Args:
            more: Numbers that the transformation takes besides, such as `value=loss[None]`.

        Raises:
            TapeError: A tape is open.
        """
        check_no_tape(f"{self!r}: step()")
        self._fresh.clear_others(self.parameters)
        gradients = {one.name: array_of(one.grad, str(one)) for one in self.parameters}
        moved, self.state = self._step(self._values(), gradients, self.state, more)
        for one in self.parameters:
            write_array(one.field, moved[one.name])
        self.steps += 1
        self._fresh.note(self.parameters)

    def zero_grads(self) -> None:
        """Set the gradients of the fields to zero, as a tape does with the fields it meets."""
        zero_grads([one.field for one in self.parameters])

    def _values(self) -> dict[str, Any]:
        return {one.name: array_of(one.field, str(one)) for one in self.parameters}


def optimiser(transformation: Any, fields: FieldsLike) -> Optimiser:
    """Return an optimiser that moves fields by a transformation of optax.

        optimiser = dt.jax.optimiser(optax.adam(1e-2), {"k": k, "w": w})
        for _ in range(100):
            with dt.Tape(loss):
                simulate(k, w, loss)
            optimiser.step()

    Args:
        transformation: A `optax.GradientTransformation`, or anything with its `init` and `update`.
        fields: Fields of floats with gradients, fields of structs, a sequence of these, or a
            mapping from names to them. The transformation sees a dict of arrays by these names.

    Raises:
        ImportError: JAX is not installed.
        FieldError: A field has no gradient, is given twice, or belongs to `dt.Rows`.
        LaunchError: The object is not a transformation, or JAX would cut numbers to 32 bits.
    """
    return Optimiser(transformation, fields)
