"""An operation for arrays of certain layouts: run, and differentiated, on memory of the caller.

Memory is given by addresses. Inputs, cotangents and tangents are only read. Outputs, and the memory
of derivatives, may hold anything before.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from difftile.compile.arguments import Arguments
from difftile.diagnostics import LaunchError
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.numbers import Number
from difftile.fields.recording import Recording
from difftile.interop.direct import Direct
from difftile.interop.lent import Addresses, LentField, Placing, Some, Values, buffer_at, copy_out
from difftile.interop.linear import Linear
from difftile.interop.operation import ArrayLayout, Operation
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.streams import STREAMS
from difftile.linearization.sweep import TANGENT, Sweep
from difftile.recording.tapes import TAPES
from difftile.runtime.kernel import Kernel
from difftile.runtime.number_operations import value
from difftile.substrate import current_session


class OperationPlan:
    """An operation for arrays of certain layouts, in one session.

    Calls from several threads take turns.

    Args:
        operation: The operation.
        layouts: The layouts of its arrays.

    Attributes:
        session: The session.
        outputs: The layouts of the outputs; None for fields that the function returns.
    """

    def __init__(self, operation: Operation, layouts: Sequence[ArrayLayout]) -> None:
        self.operation = operation
        self.layouts = tuple(layouts)
        self.session = current_session()
        self.outputs: tuple[ArrayLayout, ...] | None = None
        self._is_lent = False
        self._lent: list[LentField] = []
        for k, (element, layout) in enumerate(zip(operation.elements, layouts, strict=True)):
            kind = element.of(layout, operation.title(k))
            guarded = operation.names[k] not in operation.mutates
            self._lent.append(LentField(*kind, guarded=guarded))
        own = [operation.layout_of(one, layouts) for one in operation.pure]
        kinds = [
            operation.kind_of(one, layout) for one, layout in zip(operation.pure, own, strict=True)
        ]
        self._own = [LentField(*kind) for kind in kinds]
        self.inputs = [one.field for one in self._lent]
        self._fields = dict(zip(operation.names, self.inputs, strict=True))
        for output, one in zip(operation.pure, self._own, strict=True):
            self._fields[output.name] = one.field
        if operation.mutates:
            self.outputs = ()
        elif operation.results is not None:
            pure = dict(zip(operation.pure, own, strict=True))
            self.outputs = tuple(
                [
                    pure[one] if one.start is None else layouts[one.start]
                    for one in operation.results
                ]
            )
        self._kernel: Kernel | None = None
        if isinstance(operation.function, Kernel) and not operation.mutates:
            self._kernel = None if operation.function.rules else operation.function
        self._template = tuple([self._fields.get(name) for name in operation.parameters])
        self._constants_at = [list(operation.parameters).index(n) for n in operation.constants]
        self._direct: tuple[PreparedLaunch, Direct | None] | None = None
        self._overwritten = [k for k, n in enumerate(operation.names) if n in operation.mutates]
        self._returned: dict[object, tuple[ArrayLayout, ...]] = {}
        self._linear: dict[tuple[bool, ...], Linear] = {}

    def linear(self, wanted: tuple[bool, ...]) -> Linear:
        """Return the operation with derivatives along some of its arrays."""
        found = self._linear.get(wanted)
        if found is None:
            found = self._linear.setdefault(wanted, Linear(self, wanted))
        return found

    def discover(self, inputs: Addresses, constants: Values) -> tuple[ArrayLayout, ...]:
        """Return the layouts of the outputs, for which a function that returns fields runs once.

        Args:
            inputs: The arrays.
            constants: The other arguments; the shapes of the fields may follow from them.
        """
        if self.outputs is not None:
            return self.outputs
        key = _key(constants)
        found = None if key is None else self._returned.get(key)
        if found is None:
            position = STREAMS.position(self.session)
            with self.lent(inputs), Recording(), STREAMS.again_from(self.session, position):
                results = self.call(constants)
            found = self._returned[key] = tuple(map(self._layout_of, results))
        return found

    def _layout_of(self, one: Field) -> ArrayLayout:
        shape = (*one.shape, *shape_of(one.element))
        return ArrayLayout(
            shape, np.dtype(numpy_dtype(scalar_of(one.element))), self.layouts[0].device
        )

    def placed(self, outputs: Addresses | Placing) -> Addresses:
        """Return the memory for outputs whose layouts are known beforehand."""
        if not callable(outputs):
            return outputs
        assert self.outputs is not None
        return outputs(self.outputs)

    def deliver(
        self, results: Sequence[Field], outputs: Addresses | Placing, constants: Values
    ) -> None:
        """Copy the outputs to the memory of the caller."""
        if callable(outputs):
            outputs = outputs(self.outputs or [self._layout_of(one) for one in results])
        else:
            self.check(results, constants)
        for one, address in zip(results, outputs, strict=True):
            copy_out(one, address)

    def check(self, results: Sequence[Field], constants: Values) -> None:
        """Check that fields that the function has returned fit the caller's memory.

        Raises:
            LaunchError: Their layouts differ from the first run.
        """
        if self.outputs is not None:
            return
        found, expected = tuple(map(self._layout_of, results)), self._returned.get(_key(constants))
        if found != expected and expected is not None:
            raise LaunchError(
                f"{self.operation.name} returned {_shapes(expected)} before, and now returns "
                f"{_shapes(found)}; the shapes of its results follow from its arguments only."
            )

    def run(self, inputs: Addresses, outputs: Addresses | Placing, constants: Values) -> None:
        """Run the function, without derivatives."""
        direct, values = self.direct(constants)
        if direct is not None:
            direct.run(values, [*inputs, *self.placed(outputs)])
            return
        with self.lent(inputs):
            with Recording():
                results = self.call(constants)
            self.deliver(results, outputs, constants)
            for k in self._overwritten:
                copy_out(self.inputs[k], inputs[k])

    def push(
        self,
        inputs: Addresses,
        tangents: Some,
        outputs: Some,
        dots: Some,
        constants: Values,
        position: int | None = None,
    ) -> None:
        """Run the function and push tangents through it.

        Args:
            inputs: The arrays.
            tangents: The tangents of the arrays that have one.
            outputs: The results, where requested.
            dots: Their tangents, where requested.
            constants: The other arguments.
            position: The position of the streams of random numbers before the function has run.
        """
        with self.lent(inputs):
            moves = self.arrays(tangents)
            sweep = Sweep(moves, TANGENT)
            sweep.move([{}, moves])
            with self.streams(position), Recording(sweep):
                results = self.call(constants)
            self.check(results, constants)
            for one, address, dot in zip(results, outputs, dots, strict=True):
                if address is not None:
                    copy_out(one, address)
                if dot is not None:
                    copy_out(sweep.part(1, one), dot)

    # One call

    def check_session(self) -> None:
        """Check that the session has not ended.

        Raises:
            LaunchError: The session has ended.
        """
        if self.session is not current_session():
            raise LaunchError(
                f"{self.operation.name}: dt.init() was called since; call the operation again."
            )

    def direct(self, constants: Values) -> tuple[Direct | None, Arguments]:
        """Return the function as a launch on memory of the caller, if it is one; and arguments.

        The launch draws its random numbers now.
        """
        kernel = self._kernel
        if kernel is None:
            return None, []
        self.check_session()
        launch, values = kernel.prepared(self.arguments(constants))
        known = self._direct
        if known is None or known[0] is not launch:
            known = self._direct = launch, self._straight(launch)
        if known[1] is None:
            return None, values
        if launch.code.streams:
            launch.draw_anew(values)
        return known[1], values

    def arguments(self, constants: Values) -> tuple[Any, ...]:
        """Return the arguments of a kernel."""
        if not constants:
            return self._template
        args: list[Any] = [*self._template]
        for k, one in zip(self._constants_at, constants, strict=True):
            args[k] = one
        return tuple(args)

    def _straight(self, launch: PreparedLaunch) -> Direct | None:
        outputs = [self._fields[one.name] for one in self.operation.results or ()]
        if not Direct.suits(launch, list(self._fields.values()), outputs):
            return None
        return Direct(self.operation, launch, self.inputs, self._fields)

    @contextmanager
    def lent(self, inputs: Addresses, lender: object = None) -> Generator[None]:
        """Put the memory of the caller into the fields, for one call."""
        self.check_session()
        # Not a lock of each plan: a function may run backward passes, and these may run functions.
        with TAPES.turn.private():
            if self._is_lent:
                raise LaunchError(
                    f"{self.operation.name} calls itself as an operation on arrays; call the "
                    "function on its fields instead."
                )
            self._is_lent = True
            try:
                for one, address in zip(self._lent, inputs, strict=True):
                    one.lend(address, lender)
                for one in self._own:
                    one.start()
                yield
            finally:
                for one in (*self._lent, *self._own):
                    one.end()
                self._is_lent = False

    def call(self, constants: Values) -> list[Field]:
        """Call the function; return the fields of its outputs."""
        operation = self.operation
        returned = operation.call(self._fields, constants)
        if operation.results is not None:
            return [self._fields[one.name] for one in operation.results]
        if operation.mutates:
            return []
        several = isinstance(returned, (tuple, list))
        results = cast("Sequence[object]", returned if several else (returned,))
        return list(map(self._result, results))

    def _result(self, one: object) -> Field:
        if isinstance(one, (Number, float)):
            one = value(one)
        if isinstance(one, Field):
            return one
        if isinstance(one, ArrayLike):
            return one.base.copied(one)
        raise LaunchError(
            f"{self.operation.name} returns {one!r}; an operation returns fields, or name the "
            "parameters that it writes: outputs=('x',)."
        )

    @contextmanager
    def streams(self, position: int | None) -> Generator[None]:
        """Give launches in the block the random numbers from a position on."""
        if position is None:
            yield
        else:
            with STREAMS.again_from(self.session, position):
                yield

    def arrays(self, addresses: Some) -> dict[Field, HostArray]:
        """Return copies of memory of the caller that belongs to inputs."""
        pairs = zip(self.inputs, addresses, strict=True)
        return {
            one: buffer_at(one, address).read() for one, address in pairs if address is not None
        }


class Plans:
    """The plans of an operation, the latest of them.

    Args:
        operation: The operation.
    """

    _MOST = 64  # arrays of ever new shapes

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self._plans: dict[tuple[ArrayLayout, ...], OperationPlan] = {}

    def of(self, layouts: tuple[ArrayLayout, ...]) -> OperationPlan:
        """Return the plan for arrays of some layouts.

        Raises:
            LaunchError: An array does not fit, or is elsewhere than fields are.
        """
        found = self._plans.get(layouts)
        if found is None or found.session is not current_session():
            for k, layout in enumerate(layouts):
                self._check_device(k, layout)
            found = OperationPlan(self.operation, layouts)
            kept = list(self._plans.items())[1 - self._MOST :]
            self._plans = {**dict(kept), layouts: found}
        return found

    def _check_device(self, k: int, layout: ArrayLayout) -> None:
        on_host = current_session().on_host
        if on_host and layout.device is not None:
            raise LaunchError(
                f"{self.operation.title(k)} is on a CUDA device, and fields are in memory of the "
                "host; call dt.init(arch='cuda'), or move the array to the CPU."
            )
        if not on_host and layout.device is None:
            raise LaunchError(
                f"{self.operation.title(k)} is in memory of the host, and fields are on a device; "
                "move the array there, or call dt.init(arch='cpu')."
            )


def _key(constants: Values) -> object:
    """Return a key for constants; None for constants without a hash."""
    values: Sequence[object] = constants
    key = tuple([(one.__class__, one) for one in values])
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _shapes(layouts: Sequence[ArrayLayout]) -> str:
    return ", ".join([f"{one.dtype}{list(one.shape)}" for one in layouts])
