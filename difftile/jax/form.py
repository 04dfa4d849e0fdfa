"""The form of a call's arguments: all of them but numbers and the contents of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.numbers import Number
from difftile.ir.types import is_float
from difftile.jax.library import jax
from difftile.jax.trees import opened


class Kind(Enum):
    """The kind of a leaf of the arguments to JAX."""

    FLOAT = "a field of floats, which carries derivatives"
    OTHER = "another field, an array or a number"


@dataclass(frozen=True, slots=True)
class Form:
    """The form of some arguments.

    Args:
        trees: The structure of each argument.
        names: The names of keyword arguments, which come last.
        leaves: For each leaf its kind; or its value, which is part of the form.
    """

    trees: tuple[Any, ...]
    names: tuple[str, ...]
    leaves: tuple[Any, ...]

    def rebuilt(
        self, floats: Sequence[Any], others: Sequence[Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments by position and by name.

        Args:
            floats: The values for leaves of kind FLOAT.
            others: The values for leaves of kind OTHER.
        """
        given = {Kind.FLOAT: iter(floats), Kind.OTHER: iter(others)}
        leaves = (next(given[one]) if isinstance(one, Kind) else one for one in self.leaves)
        values = [
            tree.unflatten([next(leaves) for _ in range(tree.num_leaves)]) for tree in self.trees
        ]
        count = len(values) - len(self.names)
        return values[:count], dict(zip(self.names, values[count:], strict=True))


def form_of(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Form, list[Any]]:
    """Return the form of arguments, and their leaves, arrays and numbers as JAX takes them.

    Raises:
        LaunchError: An argument is neither an array nor a number, and cannot be part of the form.
    """
    flat = [jax.tree.flatten(opened(one)) for one in (*args, *kwargs.values())]
    leaves = [_constant(one) for some, _ in flat for one in some]
    form = Form(tuple(tree for _, tree in flat), tuple(kwargs), tuple(map(_kind, leaves)))
    try:
        hash(form)
    except TypeError as error:
        raise LaunchError(
            f"An argument of a JAX function is an array, a number, or can be hashed: {error}."
        ) from None
    return form, leaves


def _kind(leaf: Any) -> Any:
    if isinstance(leaf, ArrayLike):
        return Kind.FLOAT if is_float(leaf.element) else Kind.OTHER
    numbers = (jax.Array, bool, int, float, complex, np.generic)
    return Kind.OTHER if isinstance(leaf, numbers) else leaf


def _constant(leaf: Any) -> Any:
    """Return a leaf as it is now: arrays of NumPy may change later."""
    if isinstance(leaf, Number):
        return leaf.plain
    return jax.numpy.array(leaf) if isinstance(leaf, np.ndarray) else leaf
