"""One call of an operation on tensors, and its derivatives on memory of torch."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from difftile.interop.linear import KeptNumbers, KeptValues
from difftile.interop.operation import ArrayLayout
from difftile.interop.plan import OperationPlan
from difftile.launch.streams import STREAMS
from difftile.torch.layouts import TORCH_DTYPES, on_current_stream, plain
from difftile.torch.library import Tensor, torch

Tensors: TypeAlias = Sequence[Tensor]
Some: TypeAlias = Sequence[Tensor | None]
Values: TypeAlias = tuple[Any, ...]

forward_ad: Any = importlib.import_module("torch.autograd.forward_ad")


class Planner(Protocol):
    """An operation on tensors."""

    def plan(self, tensors: Tensors) -> OperationPlan:
        """Return the plan for tensors of these shapes and types."""
        ...


class OperationCall:
    """One call of an operation; the tensors are passed each time, as torch keeps them.

    Args:
        op: The operation.
        constants: The other arguments.

    Attributes:
        position: The position of the streams of random numbers before the function runs.
        parts: The calls for the entries of a batch, if `torch.func.vmap` made some of this one.
    """

    __slots__ = ("_plan", "constants", "op", "parts", "position")

    def __init__(self, op: Planner, constants: Values) -> None:
        self.op = op
        self.constants = constants
        self.position = 0
        self.parts: list[OperationCall] = []
        self._plan: OperationPlan | None = None

    def plan(self, tensors: Tensors) -> OperationPlan:
        """Return the plan."""
        if self._plan is None:
            self._plan = self.op.plan(tensors)
            self.position = STREAMS.position(self._plan.session)
        return self._plan

    def adopt(self, plan: OperationPlan, position: int) -> None:
        """Stand for a call that has run already."""
        self._plan = plan
        self.position = position

    def part(self, k: int, *, begins: bool) -> OperationCall:
        """Return the call for one entry of a batch.

        Args:
            k: The entry.
            begins: Whether the function is about to run for it, and not one of its derivatives,
                of which a batch may belong to one call.
        """
        if not begins and not self.parts:
            return self
        while len(self.parts) <= k:
            self.parts.append(OperationCall(self.op, self.constants))
        return self.parts[k]

    def run(self, tensors: Tensors) -> Tensors:
        """Run the function without derivatives."""
        plan, given = self.plan(tensors), _Given(tensors)
        results = _Results(given)
        with on_current_stream(given.tensors[0]):
            plan.run(given.addresses, results.place, self.constants)
        return results.tensors

    def record(
        self, wanted: tuple[bool, ...], tensors: Tensors
    ) -> tuple[Tensors, KeptValues | KeptNumbers]:
        """Run the function; return the results, and the values kept for `pull`."""
        plan, given = self.plan(tensors), _Given(tensors)
        linear = plan.linear(wanted)
        results = _Results(given)
        with on_current_stream(given.tensors[0]):
            kept = linear.forward(given.addresses, results.place, self.constants, given.tensors)
        return results.tensors, kept

    def pull(
        self,
        wanted: tuple[bool, ...],
        kept: KeptValues | KeptNumbers | None,
        tensors: Tensors,
        cotangents: Some,
        outputs: Tensors = (),
    ) -> Tensors:
        """Return the cotangents of the requested tensors.

        Args:
            wanted: Which tensors to return cotangents of.
            kept: The result of `record`; None: the function runs once more.
            tensors: The tensors of the call.
            cotangents: The cotangents of its results; None for results without one.
            outputs: The results that are read as well, according to `kept`.
        """
        plan, given, seeds = self.plan(tensors), _Given(tensors), _Given(cotangents)
        bars, read = given.like(wanted), _Given(outputs)
        with on_current_stream(given.tensors[0]):
            plan.linear(wanted).pull(
                kept,
                given.addresses,
                seeds.some,
                bars.some,
                self.constants,
                self.position,
                read.addresses,
            )
        return bars.tensors

    def push(self, tensors: Tensors, tangents: Some) -> Some:
        """Return the tangents of the results, None for integers."""
        plan, given, dots = self.plan(tensors), _Given(tensors), _Given(tangents)
        results = _Results(given)
        with on_current_stream(given.tensors[0]):
            results.place(plan.discover(given.addresses, self.constants))
            tangents = [one if one.is_floating_point() else None for one in results.tensors]
            plan.push(
                given.addresses,
                dots.some,
                [None] * len(tangents),
                _Given(tangents).some,
                self.constants,
                self.position,
            )
        return tangents

    def second(
        self, wanted: tuple[bool, ...], tensors: Tensors, cotangents: Some, directions: Some
    ) -> Some:
        """Return the cotangents of the requested tensors, and of the cotangents, of `pull`.

        Args:
            wanted: The tensors whose cotangents `pull` returned.
            tensors: The tensors of the call.
            cotangents: The cotangents of its results; None for results without one.
            directions: The cotangents of the results of `pull`.
        """
        plan, given, seeds = self.plan(tensors), _Given(tensors), _Given(cotangents)
        each = iter(directions)
        along = _Given([next(each) if one else None for one in wanted])
        bars, dots = given.like(wanted), seeds.like([one is not None for one in cotangents])
        with on_current_stream(given.tensors[0]):
            plan.linear(wanted).second(
                given.addresses,
                seeds.some,
                along.some,
                bars.some,
                dots.some,
                self.constants,
                self.position,
            )
        return [*bars.tensors, *dots.tensors]

    def push_pull(
        self,
        wanted: tuple[bool, ...],
        tensors: Tensors,
        cotangents: Some,
        tangents: Some,
        seed_tangents: Some,
    ) -> Tensors:
        """Return the tangents of the results of `pull`."""
        plan, given, seeds = self.plan(tensors), _Given(tensors), _Given(cotangents)
        dots, seed_dots = _Given(tangents), _Given(seed_tangents)
        found = given.like(wanted)
        with on_current_stream(given.tensors[0]):
            plan.linear(wanted).push_pull(
                given.addresses,
                seeds.some,
                dots.some,
                seed_dots.some,
                found.some,
                self.constants,
                self.position,
            )
        return found.tensors


class _Results:
    """Memory for results, as soon as their layouts are known.

    Args:
        given: The tensors of the call.
    """

    __slots__ = ("_device", "tensors")

    def __init__(self, given: _Given) -> None:
        self._device = given.tensors[0].device
        self.tensors: Tensors = ()

    def place(self, layouts: Sequence[ArrayLayout]) -> list[int]:
        """Return the addresses of new tensors of some layouts."""
        self.tensors = [
            torch.empty(one.shape, dtype=TORCH_DTYPES[one.dtype], device=self._device)
            for one in layouts
        ]
        return _addresses(self.tensors)


class _Given:
    """Tensors in contiguous memory, and their addresses.

    Args:
        tensors: Tensors, and None for absent ones.
    """

    __slots__ = ("_all", "tensors")

    def __init__(self, tensors: Some) -> None:
        self._all = [None if one is None else plain(one) for one in tensors]
        self.tensors: Tensors = [one for one in self._all if one is not None]

    @property
    def addresses(self) -> list[int]:
        """The addresses of the tensors, none of which is absent."""
        return _addresses(self.tensors)

    @property
    def some(self) -> list[int | None]:
        """The addresses, and None."""
        return [None if one is None else one.data_ptr() for one in self._all]

    def like(self, wanted: Sequence[bool]) -> _Given:
        """Return new memory like some of the tensors."""
        pairs = zip(self._all, wanted, strict=True)
        return _Given([torch.empty_like(one) if is_wanted else None for one, is_wanted in pairs])


def _addresses(tensors: Tensors) -> list[int]:
    return [one.data_ptr() for one in tensors]
