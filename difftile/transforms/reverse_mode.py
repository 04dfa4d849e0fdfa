"""Reverse mode: `grad`, `value_and_grad`, `vjp`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from difftile.fields.field import Field
from difftile.fields.recording import RECORDING
from difftile.recording.perform import perform
from difftile.tracebacks import boundary
from difftile.transforms.nested import NestedCall
from difftile.transforms.nested_steps import CotangentStep
from difftile.transforms.stretch import Argnums, Stretch
from difftile.transforms.trees import Tree, aligned, shown


@boundary
def grad(f: Callable[..., Tree], argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Return the function that computes the gradient of `f`.

    `f` takes fields, or nested tuples, lists and dicts of them, launches kernels and host
    operations, and returns one number: a field with one element, or a value that Python computes
    from results of kernels. Arrays and numbers are passed to `f` in fields. `f` works on copies of
    the arguments that it is differentiated by: it may overwrite them, and the arguments of the
    caller do not change.

    Args:
        f: The function.
        argnums: The position of the argument, or of several.
        has_aux: `f` returns a pair: the number, and an auxiliary value that is passed through.

    Returns:
        A function of the same arguments that returns a gradient of the kind and shape of the
        argument: fields for fields, arrays for arrays, a float for a number; a tuple of those for
        several `argnums`; with `has_aux` a pair of the gradient and the auxiliary value.

    Raises:
        LaunchError: An argument has no derivative, or `f` does not return one number.
    """
    both = value_and_grad(f, argnums, has_aux=has_aux)

    @functools.wraps(f)
    @boundary
    def gradient(*args: Tree, **kwargs: Any) -> Tree:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


@boundary
def value_and_grad(f: Callable[..., Tree], argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Return the function that computes the value and the gradient of `f`; see `grad`.

    Returns:
        A function that returns a pair: the result of `f`, and its gradient. The value is the field
        that `f` returned, or a float where no fields were passed.
    """

    @functools.wraps(f)
    @boundary
    def both(*args: Tree, **kwargs: Any) -> tuple[Tree, Tree]:
        stretch = Stretch(f, args, argnums, has_aux=has_aux, kwargs=kwargs)
        if RECORDING.get().recorder is None:
            records = stretch.recorded()
            (bars,) = records.pull([{stretch.number(): 1.0}])
            records.release()
            found = [bars.gradient(field) for field in stretch.inputs]
            value = stretch.value
        else:
            call = NestedCall(stretch)
            stretch.number()
            step = CotangentStep("grad", call, [1.0])
            perform(step)
            found, value = step.results, call.value()
        gradients = stretch.as_arguments(found)
        value = shown(value, stretch.leaves)
        return ((value, stretch.aux) if has_aux else value), gradients

    return both


@boundary
def vjp(f: Callable[..., Tree], *args: Tree, has_aux: bool = False) -> Any:
    """Run `f` and return its value and the function that pulls cotangents back.

    Args:
        f: A function as for `grad`, which may return fields of any shape, nested in any way.
        *args: Its arguments; derivatives are taken with respect to all of them.
        has_aux: `f` returns a pair: the value to differentiate, and an auxiliary value.

    Returns:
        The value, and a function: given a cotangent of the form of the value (fields, arrays or
        numbers) it returns a tuple with the cotangent of each argument. It may be called any number
        of times. With `has_aux` the auxiliary value comes third.

    Raises:
        LaunchError: An argument has no derivative.
    """
    stretch = Stretch(f, args, tuple(range(len(args))), has_aux=has_aux, kwargs={})
    if RECORDING.get().recorder is None:
        records = stretch.recorded()
        outputs, value = stretch.outputs, stretch.value

        @boundary
        def pulled(seeds: list[Any]) -> list[Field]:
            (bars,) = records.pull([dict(zip(outputs, seeds, strict=True))])
            return [bars.gradient(field) for field in stretch.inputs]
    else:
        call = NestedCall(stretch)
        call.keep()
        value = call.value()

        @boundary
        def pulled(seeds: list[Any]) -> list[Field]:
            step = CotangentStep("vjp", call, seeds)
            perform(step)
            return step.results

    @boundary
    def pull(cotangent: Tree) -> tuple[Tree, ...]:
        return stretch.as_arguments(pulled(aligned(value, cotangent, "the result")))

    value = shown(value, stretch.leaves)
    return (value, pull, stretch.aux) if has_aux else (value, pull)
