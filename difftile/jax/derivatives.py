"""A function of JAX and its derivatives, compiled for one form of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from difftile.jax.arrays import Array
from difftile.jax.library import jax


class ArrayDerivatives:
    """A function of arrays and its derivatives along the floats among them.

    Args:
        function: The function.
        rebuild: Returns the positional and keyword arguments, given the floats that carry
            derivatives and the other arrays and numbers.
        jit: Whether to compile.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        rebuild: Callable[[Sequence[Array], Sequence[Any]], tuple[Sequence[Any], dict[str, Any]]],
        *,
        jit: bool,
    ) -> None:
        def value(floats: Sequence[Array], others: Sequence[Any]) -> Any:
            args, kwargs = rebuild(floats, others)
            return function(*args, **kwargs)

        def outputs(floats: Sequence[Array], others: Sequence[Any]) -> list[Array]:
            """Return the floats in the result."""
            leaves = map(jax.numpy.asarray, jax.tree.leaves(value(floats, others)))
            return [one for one in leaves if is_floating(one)]

        def pull(floats: Sequence[Array], others: Sequence[Any], bars: Sequence[Array]) -> Any:
            def along(these: Sequence[Array]) -> list[Array]:
                return outputs(these, others)

            return jax.vjp(along, floats)[1](bars)[0]

        def push(floats: Sequence[Array], others: Sequence[Any], dots: Sequence[Array]) -> Any:
            def along(these: Sequence[Array]) -> list[Array]:
                return outputs(these, others)

            return jax.jvp(along, (floats,), (dots,))[1]

        def bend(parts: Sequence[tuple[Sequence[Array], Sequence[Array]]], others: Any) -> Any:
            def along(parts: Sequence[tuple[Sequence[Array], Sequence[Array]]]) -> list[Any]:
                if len(parts) == 1:
                    return [pull(parts[0][0], others, parts[0][1])]
                half = len(parts) // 2
                found, dots = jax.jvp(along, (parts[:half],), (parts[half:],))
                return [*found, *dots]

            return along(parts)

        compiled: Callable[[Any], Any] = jax.jit if jit else _on_arrays
        self.value = compiled(value)
        """Returns the result."""
        self.pull = compiled(pull)
        """Returns the cotangents of the floats, from the cotangents of the floats in the result."""
        self.push = compiled(push)
        """Returns the tangents of the floats in the result."""
        self.bend = compiled(bend)
        """Returns the cotangents of the floats and their tangents by part, of floats and bars."""


def _on_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that converts arrays of NumPy among its arguments to arrays of JAX."""

    def run(*given: Any) -> Any:
        return function(*jax.tree.map(_as_array, given))

    return run


def _as_array(value: Any) -> Any:
    return jax.numpy.array(value) if isinstance(value, np.ndarray) else value


def is_floating(array: Array) -> bool:
    """Tell whether derivatives pass through an array."""
    return bool(jax.numpy.issubdtype(array.dtype, jax.numpy.floating))
