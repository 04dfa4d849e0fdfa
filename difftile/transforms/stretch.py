"""A call of a function, on arguments of its own, to be run and differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.ir.types import is_float
from difftile.linearization.pullback import Pullback
from difftile.transforms.trees import TreeLeaf, lifted, outputs_in


class Stretch:
    """A call of a function; `value` is what its latest run has returned.

    Args:
        f: The function.
        args: Its arguments.
        argnums: Those that derivatives are taken with respect to.
        has_aux: The function returns a tuple: what is differentiated, and anything else.
        kwargs: Its arguments by name, which are constants.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        argnums: tuple[int, ...],
        *,
        has_aux: bool = False,
        kwargs: dict[str, Any],
    ) -> None:
        self._name = name = getattr(f, "__name__", "the function")
        for k in argnums:
            if not -len(args) <= k < len(args):
                raise LaunchError(f"{name} is called with {len(args)} arguments; argnums has {k}.")
        self.trees: dict[int, Any] = {}
        self.leaves: list[TreeLeaf] = []
        given = list(args)
        for k in argnums:
            given[k] = lifted(args[k], f"argument {k}", self.leaves)
            self.trees[k] = args[k]
        self._has_aux = has_aux
        self._call = lambda: f(*given, **kwargs)
        self.value: Any = None
        self.aux: Any = None

    @property
    def inputs(self) -> list[Field]:
        """The fields that derivatives are taken with respect to."""
        return [leaf.field for leaf in self.leaves]

    def run(self) -> Pullback:
        """Run the function on what its arguments hold now, ready to be differentiated."""
        return Pullback(self.call)

    def call(self) -> None:
        """Run the function."""
        found = self._call()
        if self._has_aux:
            if not isinstance(found, tuple) or len(found) != 2:  # pyright: ignore[reportUnknownArgumentType]
                raise LaunchError("has_aux=True is for functions that return a pair.")
            found, self.aux = found  # pyright: ignore[reportUnknownVariableType]
        self.value = found

    def number(self) -> Field:
        """Return the one number that the function has returned, a field with one element.

        Raises:
            LaunchError: It returned something else.
        """
        value = self.value
        if isinstance(value, Field) and is_float(value.element):
            if value.to_numpy().size == 1:
                return value
            raise LaunchError(
                f"A gradient is that of one number; {self._name} returns a field of shape "
                f"{value.shape}. Add it up, or use dt.jacrev or dt.vjp."
            )
        raise LaunchError(
            f"A gradient is that of one number; {self._name} returns {value!r}. Return a field "
            "with one element."
        )

    @property
    def outputs(self) -> list[Field]:
        """The fields of floats in what the function returned."""
        return outputs_in(self.value)
