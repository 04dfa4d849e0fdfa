"""Forward mode: `jvp`, `linearize`; and forward over reverse: `hvp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from difftile.fields.field import Field
from difftile.fields.recording import RECORDING, Recording
from difftile.linearization.derivatives import push as push_tangents
from difftile.linearization.derivatives import push_pull
from difftile.linearization.sweep import TANGENT, Sweep
from difftile.recording.perform import perform
from difftile.recording.work_fields import copied
from difftile.tracebacks import boundary
from difftile.transforms.nested import NestedCall
from difftile.transforms.nested_steps import TangentStep
from difftile.transforms.reverse_mode import grad
from difftile.transforms.stretch import Argnums, Stretch
from difftile.transforms.trees import Tree, outputs_in, shown, with_outputs


@boundary
def jvp(f: Callable[..., Tree], primals: Tree, tangents: Tree, *, has_aux: bool = False) -> Any:
    """Run `f`, and push tangents of its arguments through it.

    The tangents are carried along while `f` runs, and its launches are not kept.

    Args:
        f: A function as for `dt.grad`, which may return fields of any shape, nested in any way.
        primals: A tuple of its arguments; a single argument needs no tuple.
        tangents: Their tangents, in the same form: fields, arrays or numbers.
        has_aux: `f` returns a pair: the value to differentiate, and an auxiliary value.

    Returns:
        The result of `f`, and its tangent in the same form. With `has_aux` the auxiliary value
        comes third.

    Raises:
        LaunchError: An argument has no derivative, or the tangents have another form.
        FieldError: A tangent has another shape.
    """
    args, dots = _as_tuples(primals, tangents)
    stretch = Stretch(f, args, tuple(range(len(args))), has_aux=has_aux, kwargs={})
    flat = stretch.matched(dots)
    if RECORDING.get().recorder is None:
        moves = stretch.along(flat)
        sweep = Sweep(moves, TANGENT)
        sweep.move([{}, moves])
        with Recording(sweep):
            stretch.call()
        value = stretch.value
        found = [copied(sweep.part(1, one)) for one in outputs_in(value)]
    else:
        call = NestedCall(stretch)
        stretch.along(flat)
        step = TangentStep("jvp", call, flat)
        perform(step)
        found, value = step.results, call.value()
    tangent = shown(with_outputs(value, iter(found)), stretch.leaves)
    value = shown(value, stretch.leaves)
    return (value, tangent, stretch.aux) if has_aux else (value, tangent)


@boundary
def linearize(f: Callable[..., Tree], *args: Tree) -> Any:
    """Run `f` and return its value and the function that pushes tangents through it.

    Args:
        f: A function as for `dt.jvp`.
        *args: Its arguments.

    Returns:
        The value, and a function of a tangent for each argument that returns the tangent of the
        value. Each call runs the launches of `f` again, at the original arguments.

    Raises:
        LaunchError: An argument has no derivative.
    """
    stretch = Stretch(f, args, tuple(range(len(args))), kwargs={})
    if RECORDING.get().recorder is None:
        linear = stretch.run()
        outputs, value = stretch.outputs, stretch.value

        def pushed(tangents: list[Any]) -> list[Field]:
            found = push_tangents(linear, stretch.along(tangents), outputs)
            fields = [copied(one) for one in outputs]
            for field, one in zip(fields, outputs, strict=True):
                field.from_numpy(found[one])
            return fields
    else:
        call = NestedCall(stretch)
        call.keep()
        value = call.value()

        def pushed(tangents: list[Any]) -> list[Field]:
            stretch.along(tangents)
            step = TangentStep("linearize", call, tangents)
            perform(step)
            return step.results

    @boundary
    def push(*tangents: Tree) -> Tree:
        found = pushed(stretch.matched(tangents))
        return shown(with_outputs(value, iter(found)), stretch.leaves)

    return shown(value, stretch.leaves), push


@boundary
def hvp(
    f: Callable[..., Tree], primals: Tree, tangents: Tree, argnums: Argnums | None = None
) -> Any:
    """Return the product of the Hessian of `f` and a vector, in one run forward and one backward.

    Args:
        f: A function as for `dt.grad`: its result is one number.
        primals: A tuple of its arguments; a single argument needs no tuple.
        tangents: The vector, in the same form; only for the arguments in `argnums`, if given.
        argnums: The arguments that derivatives are taken with respect to; all by default.

    Returns:
        The product, in the form of the tangents and of the kind of the arguments.

    Raises:
        LaunchError: An argument has no derivative, or the tangents have another form.
        FieldError: A tangent has another shape.
    """
    args, dots = _as_tuples(primals, tangents)
    numbers = tuple(range(len(args))) if argnums is None else argnums
    if isinstance(argnums, int) and isinstance(primals, tuple):
        dots = (tangents,)
    if RECORDING.get().recorder is not None:
        return _nested_hvp(f, primals, args, dots, numbers)
    stretch = Stretch(f, args, numbers, kwargs={})
    linear = stretch.run()
    output = stretch.number()
    along = stretch.along(stretch.matched(dots))
    _, second = push_pull(linear, along, {output: 1.0}, {}, stretch.inputs)
    linear.release()
    product = stretch.as_arguments([copied(second[leaf.field]) for leaf in stretch.leaves])
    return product if isinstance(primals, tuple) or isinstance(numbers, int) else product[0]


def _nested_hvp(
    f: Callable[..., Tree], primals: Tree, args: Sequence[Tree], dots: Tree, numbers: Argnums
) -> Any:
    """Return the product of the Hessian and a vector as the tangent of a gradient."""
    chosen = (numbers,) if isinstance(numbers, int) else tuple(numbers)

    def gradient(*several: Tree) -> Tree:
        given = list(args)
        for k, one in zip(chosen, several, strict=True):
            given[k] = one
        return grad(f, numbers)(*given)

    _, product = jvp(gradient, tuple(args[k] for k in chosen), dots)
    return product if isinstance(primals, tuple) or isinstance(numbers, int) else product[0]


def _as_tuples(primals: Tree, tangents: Tree) -> tuple[tuple[Tree, ...], tuple[Tree, ...]]:
    if not isinstance(primals, tuple):
        return (primals,), (tangents,)
    several = cast("tuple[Tree, ...]", primals)
    dots = cast("tuple[Tree, ...]", tangents) if isinstance(tangents, tuple) else (tangents,)
    return several, dots
