"""A call of a function on arguments of its own, ready to be run and differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field, make_like
from difftile.fields.numbers import Number
from difftile.fields.recording import RECORDING, Recording
from difftile.ir.types import is_float, shape_of
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import ADJOINT, Sweep
from difftile.runtime.number_flow import field_of
from difftile.runtime.number_operations import value
from difftile.transforms.trees import (
    Array,
    Tree,
    TreeLeaf,
    aligned,
    lifted,
    mapped,
    outputs_in,
    rebuilt,
)

Argnums: TypeAlias = int | Sequence[int]


class Stretch:
    """A call of a function; `value` is the result of its latest run.

    Args:
        f: The function.
        args: Its arguments.
        argnums: The position of the argument that derivatives are taken with respect to, or of
            several.
        has_aux: The function returns a pair: the value to differentiate, and an auxiliary value.
        kwargs: Its arguments by name, which are constants.

    Attributes:
        single: Whether `argnums` is one position, so that derivatives are not in a tuple.
    """

    def __init__(
        self,
        f: Callable[..., Tree],
        args: Sequence[Tree],
        argnums: Argnums,
        *,
        has_aux: bool = False,
        kwargs: dict[str, Any],
    ) -> None:
        self.name = name = getattr(f, "__name__", "the function")
        self.single = isinstance(argnums, int)
        self._argnums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for k in self._argnums:
            if not -len(args) <= k < len(args):
                raise LaunchError(f"{name} is called with {len(args)} arguments; argnums has {k}.")
        self.leaves: list[TreeLeaf] = []
        self._trees: dict[int, Tree] = {}
        given = list(args)
        for k in self._argnums:
            given[k] = lifted(args[k], f"argument {k}", self.leaves)
            self._trees[k] = args[k]
        self._has_aux = has_aux
        self._call = lambda: f(*given, **kwargs)
        self.value: Tree = None
        self.aux: Any = None

    @property
    def inputs(self) -> list[Field]:
        """The fields that derivatives are taken with respect to."""
        return [leaf.field for leaf in self.leaves]

    def run(self) -> Pullback:
        """Run the function on the current contents of its arguments, ready to be differentiated."""
        return Pullback(self.call)

    def recorded(self) -> Sweep:
        """Run the function in the same way, for cotangents of its arguments only."""
        sweep = Sweep(self.inputs, ADJOINT)
        with Recording(sweep, observer=RECORDING.get().observer):
            self.call()
        return sweep

    def call(self) -> None:
        """Run the function."""
        found = self._call()
        if self._has_aux:
            if not isinstance(found, tuple) or len(found) != 2:
                raise LaunchError("has_aux=True is for functions that return a pair.")
            found, self.aux = found  # pyrefly: ignore[unknown-variable-type]
        self.value = _in_own_fields(_with_numbers_in_fields(found))

    def number(self) -> Field:
        """Return the one number that the function has returned, a field with one element.

        Raises:
            LaunchError: The result is anything else.
        """
        value = self.value
        if isinstance(value, Field) and is_float(value.element):
            if value.size * math.prod(shape_of(value.element)) == 1:
                return value
            raise LaunchError(
                f"A gradient is taken of one number; {self.name} returns a field of shape "
                f"{value.shape}. Add it up, or use dt.jacrev or dt.vjp."
            )
        raise LaunchError(
            f"A gradient is taken of one number; {self.name} returns {value!r}. Return a field "
            "with one element."
        )

    @property
    def outputs(self) -> list[Field]:
        """The fields of floats in the result of the function."""
        return outputs_in(self.value)

    def matched(self, tangents: Sequence[Tree]) -> list[Any]:
        """Return the tangents of all leaves, one after the other.

        Raises:
            LaunchError: The tangents have another form than the arguments.
        """
        if len(tangents) != len(self._trees):
            raise LaunchError(
                f"{len(tangents)} tangents are given for {len(self._trees)} arguments."
            )
        pairs = zip(self._trees.items(), tangents, strict=True)
        return [one for (k, tree), dot in pairs for one in aligned(tree, dot, f"argument {k}")]

    def along(self, tangents: Iterable[Any]) -> dict[Field, Array]:
        """Return the tangents of all leaves as arrays by field, checked against the shapes."""
        pairs = zip(self.leaves, tangents, strict=True)
        return {leaf.field: leaf.tangent(one) for leaf, one in pairs}

    def nested(self, values: Iterable[Any]) -> Tree:
        """Return a value for each leaf in the nesting of the arguments."""
        each = iter(values)
        trees = tuple(rebuilt(self._trees[k], each) for k in self._argnums)
        return trees[0] if self.single else trees

    def as_arguments(self, fields: Iterable[Field]) -> Tree:
        """Return a field for each leaf in the nesting and of the kind of the arguments."""
        pairs = zip(self.leaves, fields, strict=True)
        return self.nested([leaf.like(one) for leaf, one in pairs])


def _with_numbers_in_fields(tree: Tree) -> Tree:
    """Return the result of a function with the numbers that carry derivatives in fields.

    Without a recorder only values are asked for, and all numbers are held by fields.
    """
    every = RECORDING.get().recorder is None
    carried: list[Any] = []

    def note(one: Any, name: str) -> None:
        follows = isinstance(one, Number) and field_of(one) is not None
        if follows or (every and isinstance(one, float)):
            carried.append(one)

    def in_field(one: Any, name: str) -> Any:
        return value(one) if any(one is other for other in carried) else one

    mapped(tree, note, "")
    return mapped(tree, in_field, "") if carried else tree


def _in_own_fields(tree: Tree) -> Tree:
    """Return the result of a function with each part of a field in a field of its own.

    So is a field that occurs again: derivatives of a result are found by its memory.
    """
    several: list[ArrayLike] = []

    def note(one: Any, name: str) -> None:
        if isinstance(one, ArrayLike) and is_float(one.element):
            several.append(one)

    mapped(tree, note, "")
    seen = {one.storage for one in several if isinstance(one, Field)}
    if len(seen) == len(several):
        return tree
    seen.clear()

    def own(one: Any, name: str) -> Any:
        if not isinstance(one, ArrayLike) or not is_float(one.element):
            return one
        if isinstance(one, Field) and one.storage not in seen:
            seen.add(one.storage)
            return one
        copy = make_like(one)
        copy.copy_from(one)
        return copy

    return mapped(tree, own, "")


def refuse_nesting(name: str, instead: str) -> None:
    """Refuse a transformation whose results a tape or transformation around it would not see.

    Raises:
        LaunchError: A tape is open.
    """
    if RECORDING.get().recorder is not None:
        raise LaunchError(
            f"dt.{name} is not recorded by the tape or transformation around it; use dt.{instead}."
        )
