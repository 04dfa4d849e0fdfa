"""Reverse mode: `grad`, `value_and_grad`, `vjp`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from difftile.diagnostics import LaunchError
from difftile.fields.recording import OPEN_TAPE
from difftile.recording.perform import perform
from difftile.recording.work_fields import copied
from difftile.transforms.nested import GradientStep
from difftile.transforms.stretch import Stretch
from difftile.transforms.trees import aligned, rebuilt, shown

Argnums = int | Sequence[int]


def places(argnums: Argnums) -> tuple[int, ...]:
    """Return `argnums` as a tuple."""
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Return the function that computes the gradient of `f`.

    `f` takes fields, or nested tuples, lists and dicts of them, launches kernels and host
    operations, and returns one number: a field with one element. Where arrays or numbers are
    passed, it is given fields that hold them. It works on copies of what it differentiates: it may
    overwrite them, and what was passed stays as it is.

    Args:
        f: The function.
        argnums: The position of the argument, or of several.
        has_aux: `f` returns a pair: the number, and anything else, which is handed through.

    Returns:
        A function of the same arguments. It returns a gradient of the kind and shape of the
        argument: fields for fields, arrays for arrays, a float for a number; a tuple of those for
        several `argnums`; with `has_aux` a pair of that and the rest.

    Raises:
        LaunchError: An argument has no derivative, or `f` returns no single number.
    """
    both = value_and_grad(f, argnums, has_aux=has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Return the function that computes the value and the gradient of `f`; see `grad`.

    Returns:
        A function that returns a pair: what `f` returns, and its gradient. The value is the field
        that `f` returned, or a float where no fields were passed.
    """
    numbers = places(argnums)

    @functools.wraps(f)
    def both(*args: Any, **kwargs: Any) -> Any:
        stretch = Stretch(f, args, numbers, has_aux=has_aux, kwargs=kwargs)
        if OPEN_TAPE.get() is None:
            linear = stretch.run()
            bars = linear.pull({stretch.number(): 1.0}, stretch.inputs)
            found = [copied(bars[field]) for field in stretch.inputs]
            linear.release()
        else:
            step = GradientStep(stretch)
            perform(step)
            found = step.results
        by_leaf = iter(leaf.like(one) for leaf, one in zip(stretch.leaves, found, strict=True))
        trees = [rebuilt(stretch.trees[k], by_leaf) for k in numbers]
        value = shown(stretch.value, stretch.leaves)
        gradients = trees[0] if isinstance(argnums, int) else tuple(trees)
        return ((value, stretch.aux) if has_aux else value), gradients

    return both


def vjp(f: Callable[..., Any], *args: Any, has_aux: bool = False) -> Any:
    """Run `f` and return its value and the function that pulls cotangents back.

    Args:
        f: A function as for `grad`, which may return fields of any shape, nested as one likes.
        *args: Its arguments; derivatives are taken with respect to all of them.
        has_aux: `f` returns a pair: what is differentiated, and anything else.

    Returns:
        The value, and a function: given a cotangent of the form of the value (fields, arrays or
        numbers) it returns a tuple with the cotangent of each argument. It may be called as often
        as one likes. With `has_aux` the rest comes third.

    Raises:
        LaunchError: An argument has no derivative, or it is called in another transformation.
    """
    refuse_nesting("vjp", "grad")
    stretch = Stretch(f, args, tuple(range(len(args))), has_aux=has_aux, kwargs={})
    linear = stretch.run()
    outputs = stretch.outputs

    def pull(cotangent: Any) -> tuple[Any, ...]:
        seeds = aligned(stretch.value, cotangent, "the result")
        bars = linear.pull(dict(zip(outputs, seeds, strict=True)), stretch.inputs)
        found = iter(
            leaf.like(copied(bars[field]))
            for leaf, field in zip(stretch.leaves, stretch.inputs, strict=True)
        )
        return tuple(rebuilt(stretch.trees[k], found) for k in range(len(args)))

    value = shown(stretch.value, stretch.leaves)
    return (value, pull, stretch.aux) if has_aux else (value, pull)


def refuse_nesting(name: str, instead: str) -> None:
    """Refuse a transformation whose results would not be seen by the one around it.

    Raises:
        LaunchError: There is one, or a tape is open.
    """
    if OPEN_TAPE.get() is not None:
        raise LaunchError(
            f"dt.{name} is not recorded by the tape or transformation around it; use dt.{instead}."
        )
