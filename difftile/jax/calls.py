"""Calls of an operation as JAX sees them: operands, results, and how they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from difftile.interop.operation import ArrayLayout, Operation
from difftile.interop.plan import OperationPlan, Plans
from difftile.jax.ffi import ArraySignature
from difftile.launch.streams import STREAMS
from difftile.substrate import current_session

Shape: TypeAlias = tuple[int, ...]
Positions: TypeAlias = tuple[int, ...]
Signatures: TypeAlias = tuple[ArraySignature, ...]
Addresses: TypeAlias = Sequence[int]


class CallSource:
    """An operation and its plans. Sources are compared by identity, as functions are.

    Args:
        operation: The operation.
        batches: Whether `jax.vmap` may run it for each element of a batch.
    """

    def __init__(self, operation: Operation, batches: bool) -> None:
        self.operation = operation
        self.batches = batches
        self._plans = Plans(operation)

    def plan(self, arrays: Signatures, device: int | None) -> OperationPlan:
        """Return the plan for arrays on a device; None is the host."""
        return self._plans.of(tuple([ArrayLayout(one.shape, one.dtype, device) for one in arrays]))


@dataclass(frozen=True, slots=True)
class JaxConstant:
    """An argument that compiled programs hold; 1, 1.0 and True are equal, but not as constants."""

    type: type
    value: Any


@dataclass(frozen=True, slots=True)
class Site:
    """An operation with all data of a call except the contents of its arrays.

    Args:
        source: The operation.
        constants: The other arguments.
        arrays: The arrays, without axes of batches.
        outputs: The outputs, without axes of batches.
    """

    source: CallSource
    constants: tuple[JaxConstant, ...]
    arrays: Signatures
    outputs: Signatures

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.source.operation.name

    @property
    def values(self) -> list[Any]:
        """The constants, as the function gets them."""
        return [one.value for one in self.constants]

    @property
    def floats(self) -> Positions:
        """The positions of the outputs that have derivatives."""
        return tuple([k for k, one in enumerate(self.outputs) if one.dtype.kind == "f"])


@dataclass(frozen=True)
class Call:
    """A call of an operation, or of one of its derivatives.

    `along` and `wrt` are positions of arrays, whose tangents or cotangents the call has.

    | kind | takes, after the arrays x | gives |
    |---|---|---|
    | run | | y = f(x) |
    | push | tangents v along | J v |
    | pull | cotangents s of y | (J^T s) wrt |
    | second | s, v along | the tangent of (J^T s) wrt along v |
    | bend | v along, and w wrt | the tangent of J v along w |

    Args:
        kind: One of these.
        site: The operation.
        along: Where it has tangents.
        wrt: Where it gives cotangents, or has the second tangents.
    """

    kind: str
    site: Site
    along: Positions = ()
    wrt: Positions = ()

    @cached_property
    def operands(self) -> Signatures:
        """The signatures of the operands, without axes of batches."""
        return (
            *self.site.arrays,
            *[one for name in _TAKES[self.kind] for one in self._group(name)],
        )

    @cached_property
    def linear(self) -> tuple[int, ...]:
        """The lengths of the groups after the arrays, in each of which the call is linear."""
        return tuple([len(self._group(name)) for name in _TAKES[self.kind]])

    @cached_property
    def results(self) -> Signatures:
        """The signatures of the results, without axes of batches."""
        return self._group(_GIVES[self.kind])

    def _group(self, name: str) -> Signatures:
        arrays, outputs = self.site.arrays, self.site.outputs
        match name:
            case "outputs":
                return outputs
            case "floats":
                return tuple([outputs[k] for k in self.site.floats])
            case "along":
                return tuple([arrays[k] for k in self.along])
            case _:
                return tuple([arrays[k] for k in self.wrt])


_TAKES = {
    "run": (),
    "push": ("along",),
    "pull": ("floats",),
    "second": ("floats", "along"),
    "bend": ("along", "wrt"),
}
_GIVES = {"run": "outputs", "push": "floats", "pull": "wrt", "second": "wrt", "bend": "floats"}


def runner(call: Call, batches: Sequence[Shape], device: int | None) -> Callable[..., None]:
    """Return a function of the addresses of the operands and of the results.

    Args:
        call: The call.
        batches: The sizes of the batch's axes for each operand, 1 where an operand has the same
            contents for all elements.
        device: Where the arrays are; None is the host.
    """
    do = _DO[call.kind]
    site = call.site
    plan = site.source.plan(site.arrays, device)

    def run(operands: Addresses, results: Addresses) -> None:
        nonlocal plan
        session = current_session()
        if plan.session is not session:
            plan = site.source.plan(site.arrays, device)
        # An op is a function: calls with the same arrays draw the same random numbers.
        with STREAMS.again_from(session, 0):
            do(call, plan, operands, results)

    batch = np.broadcast_shapes(*batches)
    if not batch:
        return run
    steps = [_strides(one, sizes) for one, sizes in zip(call.operands, batches, strict=True)]
    strides = [_strides(one, batch) for one in call.results]

    def run_all(operands: Addresses, results: Addresses) -> None:
        for index in np.ndindex(*batch):
            run(_at(operands, steps, index), _at(results, strides, index))

    return run_all


def _strides(one: ArraySignature, batch: Shape) -> list[int]:
    """Return by how many bytes an index of the batch moves along each of its axes."""
    nbytes = one.dtype.itemsize * int(np.prod(one.shape, dtype=np.int64))
    found: list[int] = []
    for size in reversed(batch):
        found.append(0 if size == 1 else nbytes)
        nbytes *= size
    return found[::-1]


def _at(addresses: Addresses, strides: list[list[int]], index: Shape) -> list[int]:
    moves = [sum(map(int.__mul__, index, one)) for one in strides]
    return [address + move for address, move in zip(addresses, moves, strict=True)]


def _run(call: Call, plan: OperationPlan, operands: Addresses, results: Addresses) -> None:
    plan.run(operands, results, call.site.values)


def _push(call: Call, plan: OperationPlan, operands: Addresses, results: Addresses) -> None:
    arrays, outputs = call.site.arrays, call.site.outputs
    inputs, tangents = operands[: len(arrays)], operands[len(arrays) :]
    plan.push(
        inputs,
        _spread(arrays, call.along, tangents),
        [None] * len(outputs),
        _spread(outputs, call.site.floats, results),
        call.site.values,
    )


def _pull(call: Call, plan: OperationPlan, operands: Addresses, results: Addresses) -> None:
    arrays, outputs = call.site.arrays, call.site.outputs
    inputs, cotangents = operands[: len(arrays)], operands[len(arrays) :]
    plan.linear(_mask(arrays, call.wrt)).pull(
        None,
        inputs,
        _spread(outputs, call.site.floats, cotangents),
        _spread(arrays, call.wrt, results),
        call.site.values,
    )


def _second(call: Call, plan: OperationPlan, operands: Addresses, results: Addresses) -> None:
    arrays, outputs = call.site.arrays, call.site.outputs
    inputs, rest = operands[: len(arrays)], operands[len(arrays) :]
    cotangents, tangents = rest[: len(call.site.floats)], rest[len(call.site.floats) :]
    plan.linear(_mask(arrays, call.wrt)).push_pull(
        inputs,
        _spread(outputs, call.site.floats, cotangents),
        _spread(arrays, call.along, tangents),
        [None] * len(outputs),
        _spread(arrays, call.wrt, results),
        call.site.values,
    )


_DO: dict[str, Callable[[Call, OperationPlan, Addresses, Addresses], None]] = {
    "run": _run,
    "push": _push,
    "pull": _pull,
    "second": _second,
}


def _spread(of: Signatures, positions: Positions, addresses: Addresses) -> list[int | None]:
    """Return the addresses at their positions, and None elsewhere."""
    found: list[int | None] = [None] * len(of)
    for k, address in zip(positions, addresses, strict=True):
        found[k] = address
    return found


def _mask(of: Signatures, positions: Positions) -> tuple[bool, ...]:
    return tuple([k in positions for k in range(len(of))])
