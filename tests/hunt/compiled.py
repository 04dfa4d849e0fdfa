"""The results of a program in compiled kernels: a tape's gradients and pushed tangents.

This goes the way of a user: launches on a tape, `backward`, and `fwds` for the tangents. Every
other program runs in code for many threads, however small it is, and stores gradients where
they are known to be zero; every third in code for much work, with narrow windows in the adjoint.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

import difftile as dt
from difftile.diagnostics import DifftileError, IndexOutOfRange, NotDifferentiable
from difftile.launch import prepared_launch as launches
from difftile.launch.streams import Streams
from difftile.substrate import current_session, zeros
from tests.harness import (
    SCATTERS,
    many_threads,
    narrow_windows,
    neighbours,
    scattering,
    vectors,
)
from tests.hunt.check import (
    Verdict,
    Wrong,
    arguments_of,
    compare,
    compare_products,
    directions_of,
    made_fields,
    names_of,
    title_of,
    weights_of,
)
from tests.hunt.duals import Discard
from tests.hunt.program import Launch, Program, Write
from tests.hunt.reference import Arrays, refer


def check_compiled(program: Program) -> Verdict:
    """Compare a program, compiled, with dual numbers.

    Raises:
        Wrong: They differ.
    """
    directions, weights = directions_of(program), weights_of(program)
    try:
        found = refer(program, directions, current_session().seed)
    except Discard as reason:
        return Verdict("discarded", str(reason))
    if found.met:
        return Verdict("discarded", "iterations meet", found.met)
    fields = made_fields(program)
    names = names_of(program, fields)
    kernels = {
        step.kernel: dt.kernel(names[step.kernel])
        for step in program.steps
        if isinstance(step, Launch)
    }
    with _surroundings(program):
        try:
            tangents = _pushed(program, fields, kernels, directions)
            if found.cut:
                found = replace(found, tangents=tangents)
            for name, expected in found.tangents.items():
                compare(f"tangent of {name}, compiled", tangents[name], expected)
            gradients, used = _pulled(program, fields, kernels, weights, found.values)
        except IndexOutOfRange as error:
            raise Wrong(f"refused, and no index leaves a shape: {error}") from None
        except NotDifferentiable as error:
            return Verdict("no adjoint", title_of(error))
        except DifftileError as error:
            return Verdict("refused", title_of(error))
    compare_products(found, directions, used, gradients)
    return Verdict("accepted")


@contextlib.contextmanager
def _surroundings(program: Program) -> Generator[None, None, None]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", dt.GradientCut)
        if program.number % 2:
            stack.enter_context(many_threads())
            stack.enter_context(scattering(SCATTERS[program.number // 2 % len(SCATTERS)]))
            stack.enter_context(mock.patch.object(zeros, "_FRESH_BYTES", 0))
        if program.number % 3 == 1:
            for one in (vectors(), neighbours(), narrow_windows()):
                stack.enter_context(one)
        yield


def _run(
    program: Program,
    fields: dict[str, Any],
    launch: Callable[[Launch], Any],
    write: Callable[[Write], Any],
) -> None:
    with mock.patch.object(launches, "STREAMS", Streams()):
        for step in program.steps:
            if isinstance(step, Launch):
                launch(step)
            else:
                fields[step.field][step.index] = step.value
                write(step)


def _pushed(
    program: Program, fields: dict[str, Any], kernels: dict[str, Any], directions: Arrays
) -> Arrays:
    """Return the tangents at the end."""
    for name, direction in directions.items():
        fields[name].grad.from_numpy(direction)

    def launch(step: Launch) -> None:
        kernels[step.kernel].fwds(*arguments_of(step, fields))

    def write(step: Write) -> None:
        if step.field in directions:
            fields[step.field].grad[step.index] = 0.0

    _run(program, fields, launch, write)
    return {name: fields[name].grad.to_numpy() for name in directions}


def _pulled(
    program: Program,
    fields: dict[str, Any],
    kernels: dict[str, Any],
    weights: Arrays,
    values: Arrays,
) -> tuple[Arrays, Arrays]:
    """Return the gradients, and their weights: 0 for elements that were not written.

    Raises:
        Wrong: The fields do not hold what they should.
    """
    for name, given in program.fields.items():
        fields[name].from_numpy(given.values)
        if given.graded:
            fields[name].grad.fill(0.0)

    def launch(step: Launch) -> None:
        kernels[step.kernel](*arguments_of(step, fields))

    with dt.Tape() as tape:
        _run(program, fields, launch, lambda _: None)
    for name, expected in values.items():
        compare(f"{name} at the end, compiled", fields[name].to_numpy(), expected)
    written = {field.storage for field in tape.written}
    used = {
        name: weight if fields[name].storage in written else np.zeros_like(weight)
        for name, weight in weights.items()
    }
    seeds = {fields[name]: w for name, w in used.items() if fields[name].storage in written}
    if seeds:
        tape.backward(seeds)
    return {name: fields[name].grad.to_numpy() for name in weights}, used
