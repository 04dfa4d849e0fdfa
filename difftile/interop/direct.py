"""One launch of a kernel, directly on the caller's memory, without copies or records.

The kernel reads the inputs and writes the outputs where they are. The adjoint reads the inputs and
the outputs again, so only numbers have to be kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Arguments
from difftile.compile.stage import Renamed
from difftile.fields.field import Field
from difftile.interop.lent import Addresses, Some
from difftile.interop.operation import Operation
from difftile.ir.nodes import Array
from difftile.ir.types import is_float
from difftile.launch.binding import Binding, Kept, LaunchEnvironment, Slot
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.substrate import Buffer


class _BroughtMemory(LaunchEnvironment):
    """The slots of a launch whose fields have their memory brought along.

    Args:
        launch: The launch.
        fields: The position of the memory of each such field, by the position of the parameter.
        before: The same for contents from before the launch.
        bars: The same for gradients.
    """

    def __init__(
        self,
        launch: PreparedLaunch,
        fields: dict[int, int],
        before: dict[int, int],
        bars: dict[int, int],
    ) -> None:
        super().__init__(launch.code, launch.values)
        self._fields = fields
        self._before = before
        self._bars = bars

    def _kept(self, array: Array, among: dict[int, int]) -> Slot | None:
        place = among.get(self.code.position[array])
        return None if place is None else Kept(place, self.field(array))

    def live(self, array: Array) -> Slot:
        """Return the slot of a field."""
        return self._kept(array, self._fields) or super().live(array)

    def shape(self, array: Array) -> Slot:
        """Return the slot of a field of which only the shape matters."""
        return self.live(array)

    def before(self, array: Array) -> Slot:
        """Return the slot of contents from before the launch."""
        return self._kept(array, self._before) or super().before(array)

    def after(self, array: Array) -> Slot:
        """Return the slot of contents from after the launch."""
        return self._kept(array, self._fields) or super().after(array)

    def bar(self, array: Array) -> Slot:
        """Return the slot of a gradient."""
        return self._kept(array, self._bars) or super().bar(array)


class Direct:
    """A launch whose fields stand for arrays of the caller.

    Memory comes in the order of `places`: first the inputs, then the outputs.

    Args:
        operation: The operation.
        launch: The launch.
        inputs: The fields of the inputs.
        fields: The fields of all inputs and outputs by the name of the parameter.
    """

    def __init__(
        self,
        operation: Operation,
        launch: PreparedLaunch,
        inputs: Sequence[Field],
        fields: dict[str, Field],
    ) -> None:
        self.launch = launch
        self._stage = stage = launch.stages[0]
        code = launch.code
        at = {id(value): k for k, value in enumerate(launch.values) if isinstance(value, Field)}
        results = operation.results or ()
        self._inputs = [at[id(one)] for one in inputs]
        self.outputs = [at[id(fields[one.name])] for one in results]
        self._starts = [one.start for one in results]
        self.kinds = [one.storage.memory for one in inputs]
        self.kinds += [fields[one.name].storage.memory for one in results]
        count, written = len(inputs), set(code.writes)
        self.before = {k: place for place, k in enumerate(self._inputs)}
        self.places = dict(self.before)
        self.places.update({k: count + j for j, k in enumerate(self.outputs) if k in written})
        loaded = {code.position[array] for array in code.stages[0].loaded}
        # What a loop overwrites whole is read where it was, and need not be copied.
        moved: list[Array] = []
        self._copied: list[tuple[int, int]] = []
        self._cleared: list[int] = []
        for j, (k, start) in enumerate(zip(self.outputs, self._starts, strict=True)):
            array = code.params[k]
            whole = k in stage.overwritten
            if start is None:
                if not whole or k in loaded:
                    self._cleared.append(count + j)
            elif not whole or k not in written:
                self._copied.append((start, count + j))
            elif k in loaded and isinstance(array, Array):
                moved.append(array)
        derived = code.stages[0].code(Renamed(frozenset(moved))) if moved else code.stages[0].primal
        assert derived is not None
        self._binding = Binding(derived, _BroughtMemory(launch, self.places, self.before, {}))
        moves = [place for pair in self._copied for place in pair]
        self._used = [*{*self._binding.brought, *moves, *self._cleared}]

    @staticmethod
    def suits(launch: PreparedLaunch, fields: Sequence[Field], outputs: Sequence[Field]) -> bool:
        """Tell whether a launch can run on the caller's memory only.

        Args:
            launch: The launch.
            fields: The fields of the inputs and the outputs.
            outputs: The fields of the outputs, including outputs that are also inputs.
        """
        code, values = launch.code, launch.values
        if len(code.stages) > 1 or launch.exclusive or launch.several or code.result is not None:
            return False
        given = [id(value) for value in values if isinstance(value, Field)]
        results = {id(one) for one in outputs}
        written = all(id(values[k]) in results for k in code.writes)
        return written and all(given.count(id(one)) == 1 for one in fields)

    def run(self, values: Arguments, addresses: Addresses) -> None:
        """Launch.

        Args:
            values: The arguments of the launch; fields among them are ignored.
            addresses: The inputs, and the memory for the outputs.
        """
        self.launch_on(values, _lent(self.kinds, addresses, self._used))

    def launch_on(self, values: Arguments, memory: list[Any]) -> None:
        """Launch on the memory of inputs and outputs."""
        for source, target in self._copied:
            copy(memory[target], memory[source])
        for target in self._cleared:
            clear(memory[target])
        self._binding.launch(values, memory)

    def adjoint(self, wanted: Sequence[bool]) -> DirectAdjoint | None:
        """Return the adjoint for some inputs; None if it reads more than inputs and outputs.

        Raises:
            NotDifferentiable: The launch has no adjoint.
        """
        code, values = self.launch.code, self.launch.values
        written = set(code.writes)
        chosen = {k for k, one in zip(self._inputs, wanted, strict=True) if one}
        grads = tuple(
            isinstance(value, Field)
            and is_float(value.element)
            and bool(chosen)
            and (k in written or k in chosen)
            for k, value in enumerate(values)
        )
        (plan,) = make_plans(code, grads)
        known = (
            set(plan.reads) <= self.before.keys()
            and set(plan.reads_after) <= self.places.keys()
            and set(plan.bars) <= self.places.keys()
        )
        return DirectAdjoint(self, plan, self._inputs, self.outputs, wanted) if known else None

    def kind(self, k: int) -> Buffer:
        """Return a buffer of the kind of a parameter."""
        return self.kinds[self.places[k]]


class DirectAdjoint:
    """The adjoint of a launch on memory of the caller.

    Args:
        direct: The launch.
        plan: How it is recorded.
        inputs: The positions of the inputs among the parameters.
        outputs: The same for the outputs.
        wanted: Which inputs take cotangents.

    Attributes:
        outputs: The numbers of the outputs that the adjoint reads.
    """

    def __init__(
        self,
        direct: Direct,
        plan: AdjointPlan,
        inputs: Sequence[int],
        outputs: Sequence[int],
        wanted: Sequence[bool],
    ) -> None:
        self.direct = direct
        self.plan = plan
        count = len(inputs)
        read = {direct.places[k] for k in plan.reads_after}
        self.outputs = [place - count for place in sorted(read) if place >= count]
        # The memory of a gradient: whose it is, the input that it is for, and where it begins.
        chosen = {k: i for i, (k, one) in enumerate(zip(inputs, wanted, strict=True)) if one}
        seeds = {k: j for j, k in enumerate(outputs)}
        order = [*chosen, *[k for k in plan.bars if k not in chosen]]
        total = count + len(outputs)
        bars = {k: total + place for place, k in enumerate(order)}
        self._bars = [(p, direct.kind(k), chosen.get(k), seeds.get(k)) for k, p in bars.items()]
        self._binding: Binding | None = None
        self._used: list[int] = []
        self._reduced: tuple[frozenset[int], frozenset[int]] | None = None
        if plan.adjoint is not None:
            env = _BroughtMemory(direct.launch, direct.places, direct.before, bars)
            self._binding = Binding(plan.adjoint, env)
            self._used = [place for place in self._binding.brought if place < total]

    def check(self, values: Arguments) -> None:
        """Check the accesses of a launch through which gradients pass.

        Raises:
            Race: Stores of different iterations meet.
        """
        if self.plan.ownership is not None:
            self.plan.ownership.check(values)

    def run_again(self, values: Arguments, inputs: Addresses, cotangents: Some, bars: Some) -> None:
        """Pull cotangents back as `run` does, without the outputs."""
        direct, count = self.direct, len(inputs)
        if not self.outputs:
            self.run(values, inputs, (), cotangents, bars)
            return
        taken = [kind.empty_like() for kind in direct.kinds[count:]]
        memory = [*_lent(direct.kinds[:count], inputs, range(count)), *taken]
        direct.launch_on(values, memory)
        self._run(values, memory, cotangents, bars)
        for one in taken:
            one.free()

    def run(
        self,
        values: Arguments,
        inputs: Addresses,
        outputs: Addresses,
        cotangents: Some,
        bars: Some,
    ) -> None:
        """Pull cotangents back.

        Args:
            values: The arguments of the launch.
            inputs: The inputs.
            outputs: The outputs that are read.
            cotangents: The cotangents of the outputs that have one.
            bars: The memory for the cotangents of the inputs, where requested.
        """
        addresses = [*inputs, *[0] * len(self.direct.outputs)]
        for j, address in zip(self.outputs, outputs, strict=True):
            addresses[len(inputs) + j] = address
        self._run(values, _lent(self.direct.kinds, addresses, self._used), cotangents, bars)

    def _run(self, values: Arguments, memory: list[Any], cotangents: Some, bars: Some) -> None:
        taken: list[Buffer] = []
        sets, writes = self._reduced or self._reduce(values)
        for place, kind, i, j in self._bars:
            address = None if i is None else bars[i]
            seed = None if j is None else cotangents[j]
            if address is None and seed is not None and place not in writes:
                memory.append(Buffer.passing(kind, seed))
                continue
            if address is None:
                bar = kind.empty_like()
                taken.append(bar)
            else:
                bar = Buffer.passing(kind, address)
            if seed is not None:
                copy(bar, Buffer.passing(kind, seed))
            elif place not in sets:
                clear(bar)
            memory.append(bar)
        if self._binding is not None:
            self._binding.launch(values, memory)
        for bar in taken:
            bar.free()

    def _reduce(self, values: Arguments) -> tuple[frozenset[int], frozenset[int]]:
        """Return the gradients that the adjoint overwrites entirely, and all that it writes."""
        found = frozenset[int](), frozenset[int]()
        if self._binding is not None:
            kinds = [*self.direct.kinds, *[kind for _, kind, _, _ in self._bars]]
            fresh = [place for place, _, _, j in self._bars if j is None]
            spent = [place for place, _, i, _ in self._bars if i is None]
            found = self._binding.reduce(values, kinds, fresh, spent)
        self._reduced = found
        return found


def _lent(kinds: Sequence[Buffer], addresses: Addresses, used: Iterable[int]) -> list[Any]:
    """Return memory of the caller as buffers, and None in the other places."""
    memory: list[Any] = [None] * len(kinds)
    passing = Buffer.passing
    for place in used:
        memory[place] = passing(kinds[place], addresses[place])
    return memory


def copy(target: Buffer, source: Buffer) -> None:
    """Copy memory to memory of the same kind."""
    target.contents.known = None
    if target.device is None:
        ctypes.memmove(target.address, source.address, target.nbytes)
    else:
        target.copy_from(source)


def clear(target: Buffer) -> None:
    """Set memory to zeros."""
    if target.device is None:
        ctypes.memset(target.address, 0, target.nbytes)
        target.zeros = True
    else:
        target.fill(0.0)
