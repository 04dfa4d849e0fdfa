"""`dt.batch`: a kernel of one world for many of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from difftile.compile.batched import BatchedBody
from difftile.compile.definition import Definition
from difftile.compile.methods import BoundKernel
from difftile.diagnostics import LaunchError, brief, did_you_mean
from difftile.fields.exchange import as_integer
from difftile.frontend.worlds import WorldFields
from difftile.ir.types import Scalar
from difftile.runtime.kernel import Kernel
from difftile.tracebacks import boundary

_THREADS = ("worlds", "slots")


@boundary
def batch(
    kernel: Any,
    worlds: int,
    *,
    batched: str | Iterable[str] = (),
    shared: str | Iterable[str] = (),
    threads: str = "worlds",
) -> Any:
    """Return a kernel that does for many worlds what a kernel does for one.

    The fields of each world are elements of the fields that are passed, along their first axis:
    `x[i]` in the kernel is `x[world, i]`. Other fields are shared by all worlds, as numbers,
    captured fields and functions are. All field arguments have the axis, unless `batched` or
    `shared` says otherwise; shapes do not decide. A parameter annotated as a number may be given a
    field of shape `(worlds,)`, with one number for each world.

    Parallel loops of the kernel become serial loops of the thread that runs a world. Races are
    judged for one world, and between worlds for what they share: stores into shared fields are
    races, `+=` is not. The gradient of a shared field is the sum over the worlds.

    Args:
        kernel: The kernel of one world, which may be a method.
        worlds: The number of worlds, at least 1.
        batched: The parameters that have the axis, if not all do; `"m.body_mass"` names a field in
            a struct.
        shared: The parameters that do not have it. Given both, each field must be in one of them,
            and the longer name decides: `batched=("q", "m.body_mass"), shared=("m",)`.
        threads: "worlds", or "slots": then the loops of the kernel run for all worlds at once, with
            a thread for each iteration in each world. That suits few worlds with long loops.

    Raises:
        LaunchError: The first argument is not a kernel, or an option is not valid.
    """
    if isinstance(kernel, BoundKernel):
        unbound = batch(kernel.unbound, worlds, batched=batched, shared=shared, threads=threads)
        return BoundKernel(unbound, kernel.instance)
    if not isinstance(kernel, Kernel):
        raise LaunchError(f"dt.batch takes a kernel, not {brief(kernel)}.")
    body = kernel.body
    if not isinstance(body, Definition):
        raise LaunchError(f"{kernel!r} is batched already: give it the number of all worlds.")
    count = as_integer(worlds)
    if count is None or count < 1:
        raise LaunchError(f"dt.batch takes a number of worlds of 1 or more, not {brief(worlds)}.")
    if threads not in _THREADS:
        raise LaunchError(f"threads= is 'worlds' or 'slots', not {brief(threads)}.")
    if kernel.rules:
        words = " and ".join(kernel.rules)
        raise LaunchError(
            f"{kernel!r} has a {words} rule, which is one of a whole launch. Give the rule to a "
            "func that the kernel calls."
        )
    names = _world_names(kernel, batched, shared)
    numbers = {
        name: kind
        for name, kind in body.kinds.items()
        if isinstance(kind, Scalar) or kind == "float"
    }
    made = BatchedBody(body, count, WorldFields(*names, threads == "slots", numbers))
    # The number of worlds is not compiled in.
    compiled, steps = kernel.batches.setdefault((*names, threads), ({}, {}))
    return Kernel(kernel.function, made, compiled, steps)


def _world_names(
    kernel: Kernel, batched: str | Iterable[str], shared: str | Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parameters that have the axis of worlds, and those that do not.

    Raises:
        LaunchError: The kernel has no such parameter, or one is named twice.
    """
    names = _names(batched, "batched"), _names(shared, "shared")
    both = sorted(set(names[0]) & set(names[1]))
    if both:
        raise LaunchError(f"{kernel!r}: '{both[0]}' is in batched=(...) and in shared=(...).")
    kinds = kernel.body.kinds
    for name in (*names[0], *names[1]):
        parameter = name.partition(".")[0]
        if parameter not in kinds:
            guess = did_you_mean(parameter, kinds) or f"it has {', '.join(kinds)}."
            raise LaunchError(f"{kernel!r} has no argument '{parameter}'; {guess}")
    return names


def _names(given: str | Iterable[str], option: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if not isinstance(name, str):  # user input
            raise LaunchError(f"{option}= takes the names of parameters, not {brief(name)}.")
    return names
