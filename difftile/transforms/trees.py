"""Arguments and results: fields, arrays and numbers in nested tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.create import from_numpy
from difftile.fields.field import Field, make
from difftile.fields.recording import OPEN_TAPE
from difftile.fields.structs import StructField
from difftile.fields.values import Values
from difftile.fields.view import View
from difftile.ir.types import F64, is_float


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """One place in nested arguments that derivatives are taken at.

    Args:
        given: What the user passed: a field, an array of floats or a number.
        field: What the function is given in its place.
        name: Where it stands, such as "x" or "params['w'][0]".
    """

    given: Any
    field: Field
    name: str

    def like(self, values: Field) -> Any:
        """Return a derivative in the kind of what was passed: a field, an array or a number."""
        if isinstance(self.given, Values) or OPEN_TAPE.get() is not None:
            return values
        array = values.to_numpy()
        given: Any = self.given
        if isinstance(given, np.ndarray):
            return array.astype(cast("npt.NDArray[Any]", given).dtype)
        return float(array)

    def tangent(self, given: Any) -> npt.NDArray[Any]:
        """Return a tangent as an array, checked against the shape.

        Raises:
            FieldError: It has another shape.
        """
        array = given.to_numpy() if isinstance(given, Values) else np.asarray(given, np.float64)
        wanted = self.field.to_numpy().shape
        if array.shape != wanted:
            raise FieldError(
                f"The tangent of {self.name} has the shape {array.shape}, and {self.name} has "
                f"{wanted}."
            )
        return array


def mapped(tree: Any, change: Callable[[Any, str], Any], name: str) -> Any:
    """Return nested tuples, lists and dicts with what is in them changed.

    Args:
        tree: What is changed.
        change: Takes an entry and where it stands.
        name: Where the whole stands.
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


def lifted(tree: Any, name: str, leaves: list[TreeLeaf]) -> Any:
    """Return an argument with fields of their own in place of floats, which are collected.

    The function may write into them: what was passed stays as it is.

    Raises:
        LaunchError: Something has no derivative.
    """

    def lift(value: Any, where: str) -> Any:
        leaf = TreeLeaf(value, _field_of(value, where), where)
        leaves.append(leaf)
        return leaf.field

    return mapped(tree, lift, name)


def _field_of(value: Any, name: str) -> Field:
    if isinstance(value, Values):
        base = value.base
        if not is_float(base.element):
            raise LaunchError(f"{name} is a field of {base.element}, which has no derivative.")
        if isinstance(value, View):
            raise LaunchError(
                f"{name} is a view of a field; pass the field, and take the view in the function."
            )
        twin = make(base.element, value.shape)
        if OPEN_TAPE.get() is not None:
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
    if isinstance(value, np.ndarray):
        array = cast("npt.NDArray[Any]", value)
        if array.dtype.kind != "f":
            raise LaunchError(f"{name} is an array of {array.dtype}, which has no derivative.")
        return from_numpy(array)
    raise LaunchError(
        f"{name} is {value!r}, which has no derivative: pass fields, arrays of floats or numbers, "
        "or name others in 'argnums'."
    )


def rebuilt(tree: Any, values: Iterator[Any]) -> Any:
    """Return nested arguments with other values in their places, taken one after the other."""
    return mapped(tree, lambda _, __: next(values), "")


def aligned(tree: Any, other: Any, name: str) -> list[Any]:
    """Return what stands in one tree where another has its leaves, one after the other.

    Args:
        tree: Nested arguments.
        other: What belongs to them, in the same form.
        name: Where the whole stands.

    Raises:
        LaunchError: It has another form.
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
    return f"what is given for it is {other!r}."


def outputs_in(tree: Any) -> list[Field]:
    """Return the fields of floats in the result of a function.

    Raises:
        LaunchError: A number is in it, which carries no derivative.
    """
    found: list[Field] = []

    def note(value: Any, name: str) -> Any:
        if isinstance(value, Field) and is_float(value.element):
            found.append(value)
        elif isinstance(value, (float, np.floating, np.ndarray)):
            raise LaunchError(
                f"{name} is {_kind(cast(Any, value))}, a constant for every derivative: return the "
                "field that holds it."
            )
        return value

    mapped(tree, note, "the result")
    return found


def _kind(value: object) -> str:
    return "a number" if isinstance(value, float) else "an array"


def shown(tree: Any, leaves: Sequence[TreeLeaf]) -> Any:
    """Return the result of a function as arrays and numbers, if it was passed no fields."""
    if OPEN_TAPE.get() is not None or any(isinstance(leaf.given, Values) for leaf in leaves):
        return tree

    def show(value: Any, name: str) -> Any:
        if not isinstance(value, Values):
            return value
        array = value.to_numpy()
        return array.item() if array.ndim == 0 else array

    return mapped(tree, show, "")


def units(one: Field) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield arrays like the contents of a field that are zero but for one number, and its place."""
    shape = one.to_numpy().shape
    for cell in range(int(np.prod(shape, dtype=int))):
        unit = np.zeros(shape)
        unit.reshape(-1)[cell] = 1.0
        yield cell, unit
