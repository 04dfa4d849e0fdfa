"""Arguments and results: fields, arrays and numbers in nested tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.array_kinds import kind_of
from difftile.fields.array_like import ArrayLike
from difftile.fields.arrays import host_values, is_array, is_numpy
from difftile.fields.create import from_numpy
from difftile.fields.field import Field, make, make_like
from difftile.fields.recording import RECORDING, no_grad
from difftile.fields.structs import StructField
from difftile.fields.view import View
from difftile.ir.types import F64, is_float, shape_of

Tree: TypeAlias = Any
"""Fields, arrays or numbers, in nested tuples, lists and dicts or fields of structs."""

Array: TypeAlias = npt.NDArray[Any]
"""The contents of a field, or a derivative of it."""


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """One place in nested arguments that derivatives are taken at.

    Args:
        given: The argument of the user: a field, an array of floats or a number.
        field: The field that the function is given in its place.
        name: The place in words, such as "x" or "params['w'][0]".
    """

    given: Any
    field: Field
    name: str

    def like(self, values: Field) -> Any:
        """Return a derivative in the kind of the argument: a field, an array or a number."""
        if isinstance(self.given, ArrayLike) or RECORDING.get().recorder is not None:
            return values
        array = values.to_numpy()
        if is_array(self.given):
            return kind_of(self.given)(array)
        return float(array)

    def tangent(self, given: Any) -> Array:
        """Return a tangent as an array, checked against the shape.

        Raises:
            FieldError: The tangent has another shape.
        """
        with no_grad():  # derivatives by tangents are not derivatives by this array
            array = (
                given.to_numpy() if isinstance(given, ArrayLike) else np.asarray(given, np.float64)
            )
        wanted = (*self.field.shape, *shape_of(self.field.element))
        if array.shape != wanted:
            raise FieldError(
                f"The tangent of {self.name} has the shape {array.shape}, and {self.name} has "
                f"{wanted}."
            )
        return array


def mapped(tree: Tree, change: Callable[[Any, str], Any], name: str) -> Tree:
    """Return a tree with a function applied to its leaves.

    Args:
        tree: The tree.
        change: The function, which takes a leaf and its place in words.
        name: The place of the whole.
    """
    if isinstance(tree, StructField):
        members = {k: mapped(v, change, f"{name}.{k}") for k, v in tree.members.items()}
        if all(isinstance(v, (Field, StructField)) for v in members.values()):
            return StructField(members, tree.methods)
        return members
    if isinstance(tree, Mapping):
        entries = cast("Mapping[Any, Any]", tree)
        return {k: mapped(v, change, f"{name}[{k!r}]") for k, v in entries.items()}
    if isinstance(tree, (tuple, list)):
        parts = [
            mapped(v, change, f"{name}[{k}]") for k, v in enumerate(cast("Sequence[Any]", tree))
        ]
        if isinstance(tree, list):
            return parts
        made: Any = type(cast("tuple[Any, ...]", tree))
        return made(*parts) if hasattr(made, "_fields") else tuple(parts)
    return change(tree, name)


def lifted(tree: Tree, name: str, leaves: list[TreeLeaf]) -> Tree:
    """Return an argument with a new field in place of each leaf, and collect the leaves.

    The function may write into these fields: the arguments of the user do not change.

    Raises:
        LaunchError: A leaf has no derivative.
    """

    def lift(value: Any, where: str) -> Any:
        leaf = TreeLeaf(value, _field_of(value, where), where)
        leaves.append(leaf)
        return leaf.field

    return mapped(tree, lift, name)


def _field_of(value: Any, name: str) -> Field:
    if isinstance(value, ArrayLike):
        base = value.base
        if not is_float(base.element):
            raise LaunchError(f"{name} is a field of {base.element}, which has no derivative.")
        if isinstance(value, View):
            raise LaunchError(
                f"{name} is a view of a field; pass the field, and take the view in the function."
            )
        twin = make_like(value)
        if RECORDING.get().recorder is not None:
            twin = twin.with_grads()
        twin.copy_from(value)
        return twin
    if isinstance(value, (bool, np.bool_)):
        raise LaunchError(
            f"{name} is {value!r}, which has no derivative; name others in 'argnums'."
        )
    if isinstance(value, (int, float, np.integer, np.floating)):
        number = make(F64, ())
        number.fill(float(cast(Any, value)))
        return number
    if is_array(value):
        try:
            array = host_values(value)
        except FieldError as error:
            raise LaunchError(f"{name} makes no field. {error}") from None
        if array.dtype.kind != "f":
            raise LaunchError(f"{name} is an array of {array.dtype}, which has no derivative.")
        return from_numpy(array)
    raise LaunchError(
        f"{name} is {value!r}, which has no derivative: pass fields, arrays of floats or numbers, "
        "or name others in 'argnums'."
    )


def rebuilt(tree: Tree, values: Iterator[Any]) -> Tree:
    """Return a tree with other values in the places of its leaves, taken one after the other."""
    return mapped(tree, lambda _, __: next(values), "")


def aligned(tree: Tree, other: Tree, name: str) -> list[Any]:
    """Return the entries of one tree at the leaves of another, one after the other.

    Args:
        tree: The tree whose leaves count.
        other: The tree with the entries, in the same form.
        name: The place of the whole.

    Raises:
        LaunchError: The trees differ in form.
    """
    if isinstance(tree, StructField):
        given = other.members if isinstance(other, StructField) else other
        return aligned(dict(tree.members), given, name)
    if isinstance(tree, Mapping):
        keys = cast("Mapping[Any, Any]", tree)
        if not isinstance(other, Mapping) or set(keys) != set(cast("Mapping[Any, Any]", other)):
            raise LaunchError(f"{name} has the keys {', '.join(map(str, keys))}; {_not(other)}")
        given = cast("Mapping[Any, Any]", other)
        return [one for k, v in keys.items() for one in aligned(v, given[k], f"{name}[{k!r}]")]
    if isinstance(tree, (tuple, list)):
        parts = cast("Sequence[Any]", tree)
        if not isinstance(other, (tuple, list)) or len(cast("Sequence[Any]", other)) != len(parts):
            raise LaunchError(f"{name} has {len(parts)} entries; {_not(other)}")
        pairs = zip(parts, cast("Sequence[Any]", other), strict=True)
        return [one for k, (v, o) in enumerate(pairs) for one in aligned(v, o, f"{name}[{k}]")]
    return [other]


def _not(other: Any) -> str:
    return f"{other!r} does not match."


def outputs_in(tree: Tree) -> list[Field]:
    """Return the fields of floats in the result of a function.

    Raises:
        LaunchError: The result has a number in it, which carries no derivative.
    """
    found: list[Field] = []

    def note(value: Any, name: str) -> Any:
        if isinstance(value, Field) and is_float(value.element):
            found.append(value)
        elif isinstance(value, (float, np.floating)) or is_array(value):
            kind = "a number" if isinstance(value, float) else "an array"
            raise LaunchError(
                f"{name} is {kind}, a constant for every derivative: return a field that holds it."
            )
        return value

    mapped(tree, note, "the result")
    return found


def with_outputs(tree: Tree, values: Iterator[Any]) -> Tree:
    """Return the result of a function with other values in the places of its fields of floats."""

    def change(value: Any, name: str) -> Any:
        return next(values) if isinstance(value, Field) and is_float(value.element) else value

    return mapped(tree, change, "the result")


def shown(tree: Tree, leaves: Sequence[TreeLeaf]) -> Tree:
    """Return the result of a function as arrays and numbers, if no fields were passed."""
    if RECORDING.get().recorder is not None or any(
        isinstance(leaf.given, ArrayLike) for leaf in leaves
    ):
        return tree

    first = next((leaf.given for leaf in leaves if is_array(leaf.given)), None)

    def show(value: Any, name: str) -> Any:
        if not isinstance(value, ArrayLike):
            return value
        array = value.to_numpy()
        if first is None or is_numpy(first):
            return array.item() if array.ndim == 0 else array
        return kind_of(first)(array)

    return mapped(tree, show, "")


def units(one: Field) -> Iterator[tuple[int, Array]]:
    """Yield the unit vectors of the numbers in a field, as arrays of its shape, and the places."""
    shape = one.to_numpy().shape
    for cell in range(int(np.prod(shape, dtype=int))):
        unit = np.zeros(shape)
        unit.reshape(-1)[cell] = 1.0
        yield cell, unit
