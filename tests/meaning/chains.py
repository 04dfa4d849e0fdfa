"""Launches as chains of stages, each bound to memory by name; nothing is compiled.

Both kinds of programs become chains: those of `tests/programs`, and those that `tests/hunt` draws.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

import difftile as dt
from difftile.compile import stage as stages
from difftile.compile.stage import Stage
from difftile.ir.nodes import Array, Var
from difftile.ir.types import F64, Scalar, numpy_dtype, scalar_of
from difftile.substrate import CompiledProgram
from tests import harness
from tests.meaning.meaning import Memory, inner_of, is_smooth


@dataclass
class Link:
    """A stage of a launch, and the memory of its parameters.

    Args:
        stage: The stage.
        keys: The name of the memory of each field.
        shapes: The shape in which each field sees its memory.
        numbers: The other arguments.
        wanted: The fields with derivatives.
    """

    stage: Stage
    keys: Mapping[Array, Hashable]
    shapes: Mapping[Array, tuple[int, ...]]
    numbers: Mapping[Var, Any]
    wanted: frozenset[Array]


@dataclass
class Chain:
    """Stages one after the other.

    Args:
        links: The stages.
        memory: The contents of the fields at the start; hidden fields are written before they are
            read.
        smooth: The names of the memory with gradients.
    """

    links: list[Link] = field(default_factory=list[Link])
    memory: Memory = field(default_factory=dict)
    smooth: set[Hashable] = field(default_factory=set)


def without_compiling() -> Any:
    """Let kernels be lowered and bound, and none of their programs finished or compiled."""
    return mock.patch.object(stages, "compiled", CompiledProgram)


def chain_of(one: harness.Program, scalar: Scalar = F64) -> Chain:
    """Return the chain of a program of `tests/programs`."""
    values = harness.drawn(one, np.random.default_rng(7))
    kernel: Any = dt.kernel(one.function)
    with without_compiling():
        kernel._ready((), harness.arguments(one, harness._fields(one, values, scalar)))
    code, passed = kernel._latest, kernel._launches.latest.values
    chain = Chain()
    floats = numpy_dtype(scalar)
    for name, given in values.items():
        chain.memory[name] = given.astype(floats) if given.dtype.kind == "f" else given
        if given.dtype.kind == "f" and name not in one.frozen:
            chain.smooth.add(name)
    owners: dict[str, str] = {}
    for name, argument in one.leaves.items():
        shared = isinstance(argument, harness.Part) and isinstance(argument.of, str)
        same = harness.whole(one, name)
        owners[name] = (
            argument.of if shared else same.name if isinstance(same, harness.Same) else name
        )
    keys: dict[Array, Hashable] = {}
    shapes: dict[Array, tuple[int, ...]] = {}
    for param, value in zip(code.params, passed, strict=True):
        if isinstance(param, Array):
            keys[param] = owners.get(param.name, param)
            shapes[param] = value.shape
            if keys[param] not in chain.memory:
                _add_hidden(chain, param, value)
    numbers = {p: v for p, v in zip(code.params, passed, strict=True) if isinstance(p, Var)}
    for number in range(one.launches):
        if code.streams:
            hidden = code.params[code.drawn_at : code.drawn_at + 2]
            numbers = numbers | dict(zip(hidden, (0, number * code.streams), strict=True))
        add_launch(chain, code, keys, shapes, numbers)
    return chain


def _add_hidden(chain: Chain, param: Array, value: Any) -> None:
    """Give a field that no argument names memory: a captured or a hidden one."""
    contents = value.to_numpy() if hasattr(value, "to_numpy") else None
    shape = (*value.shape, *inner_of(param))
    chain.memory[param] = (
        np.zeros(shape, numpy_dtype(scalar_of(param.type.element)))
        if contents is None
        else contents
    )
    if is_smooth(param):
        chain.smooth.add(param)


def add_launch(
    chain: Chain,
    code: Any,
    keys: Mapping[Array, Hashable],
    shapes: Mapping[Array, tuple[int, ...]],
    numbers: Mapping[Var, Any],
) -> None:
    """Append the stages of a launch."""
    grads = tuple(isinstance(p, Array) and keys[p] in chain.smooth for p in code.params)
    every = code.wanted(grads)
    for one in code.stages:
        mine = [p for p in one.program.arrays if p.size is None]
        wanted = every & frozenset(mine)
        chain.links.append(Link(one, {p: keys[p] for p in mine}, shapes, numbers, wanted))
