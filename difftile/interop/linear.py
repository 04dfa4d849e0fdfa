"""The derivatives of an operation for arrays of certain layouts, on memory of the caller."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from difftile.compile.arguments import Arguments
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.recording import Recording
from difftile.fields.storage import Storage
from difftile.interop.direct import Direct, DirectAdjoint
from difftile.interop.lent import Addresses, Placing, Some, Values, buffer_at, copy_out
from difftile.ir.types import is_float
from difftile.linearization.derivatives import push, push_pull
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import ADJOINT, Sweep
from difftile.recording.replay import Replay
from difftile.recording.tapes import TAPES

if TYPE_CHECKING:
    from difftile.interop.plan import OperationPlan


class Linear:
    """An operation with derivatives along some of its arrays.

    Args:
        plan: The operation.
        wanted: Which arrays these are.
    """

    def __init__(self, plan: OperationPlan, wanted: tuple[bool, ...]) -> None:
        self._plan = plan
        self._wanted = [
            one for one, is_wanted in zip(plan.inputs, wanted, strict=True) if is_wanted
        ]
        self._chosen = wanted
        self._replay: tuple[set[Storage], Replay] | None = None
        self._adjoint: tuple[Direct, DirectAdjoint | None] | None = None

    def forward(
        self,
        inputs: Addresses,
        outputs: Addresses | Placing,
        constants: Values,
        lender: object,
    ) -> KeptValues | KeptNumbers:
        """Run the function; return the values kept for `pull`, with the lender of the inputs."""
        plan = self._plan
        adjoint, values = self._direct(constants)
        if adjoint is not None:
            adjoint.check(values)
            adjoint.direct.run(values, [*inputs, *plan.placed(outputs)])
            return KeptNumbers(adjoint, values)
        with plan.lent(inputs, lender):
            sweep = Sweep(self._wanted, ADJOINT)
            with Recording(sweep):
                results = plan.call(constants)
            plan.deliver(results, outputs, constants)
        return KeptValues(sweep, results)

    def pull(
        self,
        kept: KeptValues | KeptNumbers | None,
        inputs: Addresses,
        cotangents: Some,
        bars: Some,
        constants: Values,
        position: int | None = None,
        outputs: Addresses = (),
    ) -> None:
        """Pull cotangents of the outputs back to the arrays.

        Args:
            kept: The result of `forward`; None: the function runs once more.
            inputs: The arrays.
            cotangents: The cotangents of the outputs that have one.
            bars: The memory for the cotangents of the arrays, where requested.
            constants: The other arguments.
            position: The position of the random streams before the function has run.
            outputs: The outputs that are kept according to `forward`.
        """
        plan = self._plan
        plan.check_session()
        if kept is None:
            with plan.streams(position):
                adjoint, values = self._direct(constants)
            if adjoint is not None:
                adjoint.check(values)
                adjoint.run_again(values, inputs, cotangents, bars)
                return
            with plan.lent(inputs):
                sweep = Sweep(self._wanted, ADJOINT)
                with plan.streams(position), Recording(sweep):
                    results = plan.call(constants)
            try:
                plan.check(results, constants)
                self.pull(KeptValues(sweep, results), inputs, cotangents, bars, constants)
            finally:
                sweep.release()
            return
        if isinstance(kept, KeptNumbers):
            kept.adjoint.run(kept.values, inputs, outputs, cotangents, bars)
            return
        with TAPES.turn.private(), Recording():
            replay = self._replay_for(kept.sweep)
            for one, address in zip(kept.results, cotangents, strict=True):
                if address is not None and is_float(one.element):
                    replay.gradient(one).buffer.add(buffer_at(one, address))
            kept.sweep.pull([{}], [replay])
            for one, address in zip(plan.inputs, bars, strict=True):
                if address is not None:
                    copy_out(replay.gradient(one), address)

    def _direct(self, constants: Values) -> tuple[DirectAdjoint | None, Arguments]:
        """Return the adjoint of the function as one launch and its arguments, if it is one."""
        direct, values = self._plan.direct(constants)
        return None if direct is None else self.direct_adjoint(direct), values

    def direct_adjoint(self, direct: Direct) -> DirectAdjoint | None:
        """Return the adjoint of a launch; None if it reads more than inputs and outputs."""
        known = self._adjoint
        if known is None or known[0] is not direct:
            known = self._adjoint = direct, direct.adjoint(self._chosen)
        return known[1]

    def _replay_for(self, sweep: Sweep) -> Replay:
        """Return the memory of gradients, reused from the last pass for the same fields."""
        if self._replay is not None and self._replay[0] == sweep.touched:
            self._replay[1].clear()
        else:
            self._replay = set(sweep.touched), Replay((), accumulate=False, private=True)
        return self._replay[1]

    def second(
        self,
        inputs: Addresses,
        cotangents: Some,
        directions: Some,
        bars: Some,
        dots: Some,
        constants: Values,
        position: int | None = None,
    ) -> None:
        """Pull cotangents of the results of `pull` back to its arguments.

        By symmetry the derivative of <w, J^T s> by the arrays is the derivative of J^T s in the
        direction w (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 5), and its
        derivative by s is J w.

        Args:
            inputs: The arrays.
            cotangents: s, the cotangents of the outputs that have one.
            directions: w, the cotangents of the arrays' cotangents that have one.
            bars: The memory for the derivatives by the arrays, where requested.
            dots: The memory for the derivatives by the cotangents, where requested.
            constants: The other arguments.
            position: The position of the random streams before the function has run.
        """
        plan = self._plan
        along = plan.arrays(directions)
        with self._stretch(inputs, constants, position) as (stretch, results):
            seeds = self._seeds(results, cotangents)
            if seeds and along:
                found = push_pull(stretch, along, seeds, {}, self._wanted)[1]
            else:
                found = dict.fromkeys(self._wanted)
            for one, address in zip(plan.inputs, bars, strict=True):
                if address is not None:
                    _set(one, address, found[one])
            floats = [one for one in results if is_float(one.element)]
            moved = push(stretch, along, floats) if along else {}
            for one, address in zip(results, dots, strict=True):
                if address is not None:
                    _set(one, address, moved.get(one))

    def push_pull(
        self,
        inputs: Addresses,
        cotangents: Some,
        tangents: Some,
        seed_tangents: Some,
        dots: Some,
        constants: Values,
        position: int | None = None,
    ) -> None:
        """Push tangents through `pull`.

        Args:
            inputs: The arrays.
            cotangents: The cotangents of the outputs that have one.
            tangents: The tangents of the arrays that have one.
            seed_tangents: The tangents of the cotangents that have one.
            dots: Where the tangents of the arrays' cotangents go, where requested.
            constants: The other arguments.
            position: The position of the streams of random numbers before the function has run.
        """
        plan = self._plan
        along = plan.arrays(tangents)
        with self._stretch(inputs, constants, position) as (stretch, results):
            seeds = self._seeds(results, cotangents)
            seed_dots = self._seeds(results, seed_tangents)
            found = push_pull(stretch, along, seeds, seed_dots, self._wanted)[1]
            for one, address in zip(plan.inputs, dots, strict=True):
                if address is not None:
                    copy_out(found[one], address)

    @contextmanager
    def _stretch(
        self, inputs: Addresses, constants: Values, position: int | None
    ) -> Generator[tuple[Pullback, list[Field]]]:
        """Run the function for second derivatives; give its launches and its results."""
        plan = self._plan
        results: list[Field] = []
        with plan.lent(inputs):
            with plan.streams(position):
                stretch = Pullback(lambda: results.extend(plan.call(constants)))
            try:
                plan.check(results, constants)
                with TAPES.turn.private(), Recording():
                    yield stretch, results
            finally:
                stretch.release()

    def _seeds(self, results: Sequence[Field], addresses: Some) -> dict[ArrayLike, HostArray]:
        """Return the cotangents of outputs, added up where a field is several of them."""
        seeds: dict[ArrayLike, HostArray] = {}
        for one, address in zip(results, addresses, strict=True):
            if address is not None and is_float(one.element):
                found = buffer_at(one, address).read()
                seeds[one] = seeds[one] + found if one in seeds else found
        return seeds


class KeptValues:
    """The values kept for the reverse of one call.

    Args:
        sweep: The records.
        results: The fields of the outputs.
    """

    __slots__ = ("results", "sweep")

    outputs: Sequence[int] = ()

    def __init__(self, sweep: Sweep, results: list[Field]) -> None:
        self.sweep = sweep
        self.results = results


class KeptNumbers:
    """The values kept for the reverse of one launch, besides inputs and outputs.

    Args:
        adjoint: The adjoint of the launch.
        values: The arguments of the launch.
    """

    __slots__ = ("adjoint", "values")

    def __init__(self, adjoint: DirectAdjoint, values: Arguments) -> None:
        self.adjoint = adjoint
        self.values = values

    @property
    def outputs(self) -> Sequence[int]:
        """The numbers of the outputs that are read as well."""
        return self.adjoint.outputs


def _set(like: Field, address: int, values: Field | HostArray | None) -> None:
    """Set memory of the caller; without values, to zeros."""
    if isinstance(values, Field):
        copy_out(values, address)
    elif values is None:
        buffer_at(like, address).fill(0.0)
    else:
        buffer_at(like, address).write(values)
