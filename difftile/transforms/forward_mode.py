"""Forward mode: `jvp`, `linearize`; and forward over reverse: `hvp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.fields.recording import OPEN_TAPE
from difftile.linearization.forward_over_reverse import push_pull
from difftile.linearization.pullback import recording
from difftile.linearization.pushforward import Pushforward
from difftile.recording.perform import perform
from difftile.recording.work_fields import copied
from difftile.transforms.nested import TangentStep
from difftile.transforms.reverse_mode import Argnums, places, refuse_nesting
from difftile.transforms.stretch import Stretch
from difftile.transforms.trees import TreeLeaf, aligned, outputs_in, rebuilt, shown


def jvp(f: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """Run `f`, and push tangents of its arguments through it.

    The tangents are carried beside the fields while `f` runs: nothing is kept of its launches.

    Args:
        f: A function as for `dt.grad`, which may return fields of any shape, nested as one likes.
        primals: A tuple of its arguments; one argument may stand alone.
        tangents: Their tangents, in the same form: fields, arrays or numbers.
        has_aux: `f` returns a pair: what is differentiated, and anything else.

    Returns:
        What `f` returns, and its tangent in the same form. With `has_aux` the rest comes third.

    Raises:
        LaunchError: An argument has no derivative, or the tangents have another form.
        FieldError: A tangent has another shape.
    """
    args, dots = _as_tuples(primals, tangents)
    numbers = tuple(range(len(args)))
    stretch = Stretch(f, args, numbers, has_aux=has_aux, kwargs={})
    flat = _matched(stretch, dots)
    if OPEN_TAPE.get() is None:
        arrays = (leaf.tangent(dot) for leaf, dot in zip(stretch.leaves, flat, strict=True))
        pushing = Pushforward(dict(zip(stretch.inputs, arrays, strict=True)))
        with recording(pushing):
            stretch.call()
        found = [copied(pushing.tangent(one)) for one in outputs_in(stretch.value)]
    else:
        step = TangentStep(stretch, flat)
        perform(step)
        found = step.results
    value = shown(stretch.value, stretch.leaves)
    tangent = shown(rebuilt(stretch.value, iter(found)), stretch.leaves)
    return (value, tangent, stretch.aux) if has_aux else (value, tangent)


def linearize(f: Callable[..., Any], *args: Any) -> Any:
    """Run `f` and return its value and the function that pushes tangents through it.

    Args:
        f: A function as for `dt.jvp`.
        *args: Its arguments.

    Returns:
        The value, and a function of a tangent for each argument that returns the tangent of the
        value. It runs the launches of `f` again at each call, at the arguments of the first.

    Raises:
        LaunchError: An argument has no derivative, or it is called in another transformation.
    """
    refuse_nesting("linearize", "jvp")
    stretch = Stretch(f, args, tuple(range(len(args))), kwargs={})
    linear = stretch.run()

    def push(*tangents: Any) -> Any:
        flat = _matched(stretch, tangents)
        arrays = (leaf.tangent(dot) for leaf, dot in zip(stretch.leaves, flat, strict=True))
        outputs = stretch.outputs
        found = linear.push(dict(zip(stretch.inputs, arrays, strict=True)), outputs)
        return rebuilt(stretch.value, (_kind(stretch.leaves, found[one], one) for one in outputs))

    return shown(stretch.value, stretch.leaves), push


def hvp(f: Callable[..., Any], primals: Any, tangents: Any, argnums: Argnums | None = None) -> Any:
    """Return the product of the Hessian of `f` and a vector, in one run forward and one backward.

    Args:
        f: A function as for `dt.grad`: its result is one number.
        primals: A tuple of its arguments; one argument may stand alone.
        tangents: The vector, in the same form; of those in `argnums` alone, if they are given.
        argnums: The arguments that derivatives are taken with respect to; all by default.

    Returns:
        The product, in the form of the tangents and of the kind of the arguments.

    Raises:
        LaunchError: An argument has no derivative, or the tangents have another form.
        FieldError: A tangent has another shape.
    """
    refuse_nesting("hvp", "jvp of dt.grad")
    args, dots = _as_tuples(primals, tangents)
    numbers = tuple(range(len(args))) if argnums is None else places(argnums)
    if isinstance(argnums, int) and isinstance(primals, tuple):
        dots = (tangents,)
    stretch = Stretch(f, args, numbers, kwargs={})
    linear = stretch.run()
    output = stretch.number()
    flat = _matched(stretch, dots)
    arrays = (leaf.tangent(dot) for leaf, dot in zip(stretch.leaves, flat, strict=True))
    along = dict(zip(stretch.inputs, arrays, strict=True))
    _, second = push_pull(linear, along, {output: 1.0}, {}, stretch.inputs)
    linear.release()
    found = iter([leaf.like(copied(second[leaf.field])) for leaf in stretch.leaves])
    products = tuple(rebuilt(stretch.trees[k], found) for k in numbers)
    return products[0] if not isinstance(primals, tuple) or isinstance(argnums, int) else products


def _as_tuples(primals: Any, tangents: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if not isinstance(primals, tuple):
        return (primals,), (tangents,)
    several = cast("tuple[Any, ...]", primals)
    dots = cast("tuple[Any, ...]", tangents) if isinstance(tangents, tuple) else (tangents,)
    return several, dots


def _matched(stretch: Stretch, tangents: Sequence[Any]) -> list[Any]:
    """Return the tangents of all leaves, one after the other.

    Raises:
        LaunchError: They have another form than the arguments.
    """
    if len(tangents) != len(stretch.trees):
        raise LaunchError(f"{len(tangents)} tangents are given for {len(stretch.trees)} arguments.")
    pairs = zip(stretch.trees.items(), tangents, strict=True)
    return [one for (k, tree), dot in pairs for one in aligned(tree, dot, f"argument {k}")]


def _kind(leaves: Sequence[TreeLeaf], values: Any, like: Field) -> Any:
    """Return a tangent as an array, or as a field where fields were passed."""
    made = copied(like)
    made.from_numpy(values)
    return shown(made, leaves)
