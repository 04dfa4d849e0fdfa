"""Pytrees of JAX with fields in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.create import from_numpy
from difftile.fields.field import Field
from difftile.fields.structs import StructField
from difftile.ir.types import is_float
from difftile.jax.arrays import array_of
from difftile.jax.library import jax


def _is_struct(value: object) -> bool:
    return isinstance(value, StructField)


def _opened(value: Any) -> Any:
    """Return a field of structs as a dict of its members."""
    if not isinstance(value, StructField):
        return value
    return {name: _opened(one) for name, one in value.members.items()}


def opened(tree: Any) -> Any:
    """Return a pytree with dicts in place of fields of structs."""
    return jax.tree.map(_opened, tree, is_leaf=_is_struct)


def leaves_of(tree: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the leaves of pytrees, with their places in words."""
    found: list[tuple[str, Any]] = []
    for name, one in tree.items():
        pairs = jax.tree_util.tree_flatten_with_path(opened(one))[0]
        found += [(name + jax.tree_util.keystr(path), leaf) for path, leaf in pairs]
    return found


def mapped(tree: Any, change: Callable[[Any, str], Any], name: str) -> Any:
    """Return a pytree with a function applied to each leaf and its place in words."""

    def at(path: Any, leaf: Any) -> Any:
        return change(leaf, name + jax.tree_util.keystr(path))

    return jax.tree_util.tree_map_with_path(at, opened(tree))


def aligned(tree: Any, other: Any, name: str) -> list[Any]:
    """Return the entries of a pytree at the leaves of another.

    Raises:
        LaunchError: They differ in form.
    """
    try:
        return jax.tree.structure(tree).flatten_up_to(opened(other))
    except (ValueError, TypeError) as error:
        raise LaunchError(f"{name} does not have the structure of the result: {error}") from None


def fields(tree: Any, *, grad: bool = True) -> Any:
    """Return a pytree of arrays as one of fields, such as the parameters of a network.

    Functions that `dt.jax.wrap` has wrapped take it in place of the arrays, and gradients pass to
    the fields.

    Args:
        tree: A pytree of arrays of JAX or NumPy.
        grad: Attach gradients to the fields of floats.

    Raises:
        FieldError: Fields cannot hold an array.
    """

    def change(value: Any, name: str) -> Field:
        if value is not None and np.asarray(value).dtype.kind not in "biuf":
            raise FieldError(f"{name} holds {value.dtype}, which fields cannot; cast it first.")
        made = from_numpy(np.asarray(value))
        return made.with_grads() if grad and is_float(made.element) else made

    return mapped(tree, change, "the tree")


def arrays(tree: Any) -> Any:
    """Return a pytree of fields as a pytree of JAX arrays with copies of their contents.

    Raises:
        LaunchError: JAX would cut numbers to 32 bits.
    """

    def change(value: Any, name: str) -> Any:
        return jax.numpy.array(array_of(value, name)) if isinstance(value, ArrayLike) else value

    return mapped(tree, change, "the tree")
