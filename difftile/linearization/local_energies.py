"""The launches of a function as sums of local energies, and their Hessians on the device.

While the function runs, each stage that computes something from the field is remembered with the
contents that it has read. The Hessian is computed from the end to the beginning, as adjoints are:
the result of the function has the weight 1, and each stage passes weights on to its inputs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from weakref import WeakKeyDictionary

from difftile.ad.local_hessian import LocalHessian, local_hessian
from difftile.compile.arguments import Arguments, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import DerivedCode, Stage
from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING
from difftile.fields.storage import Storage
from difftile.ir.derived import After, Bar, Before, Same, Shape
from difftile.ir.nodes import Array, Var
from difftile.ir.types import Type, is_float
from difftile.launch.binding import Binding, Fixed, Kept, LaunchEnvironment, Slot
from difftile.linearization.varying_reads import VaryingReads
from difftile.recording.opaque import Opaque
from difftile.recording.steps import Launch, TapeStep
from difftile.recording.work_fields import add_to, zeros_of
from difftile.recording.write import Write
from difftile.records import dataclass
from difftile.substrate import Buffer, keep, unpin

_HVP = "Or use dt.hvp, which takes any function."


@dataclass(slots=True, eq=False)
class StageRun:
    """A stage that has run, and the contents that it read.

    Args:
        code: The kernel.
        stage: The stage.
        values: The arguments of the launch.
        wrt: The parameters that are the field.
        varying: The other parameters whose contents before the stage varied with it.
        kept: The pinned contents, from before the stage or from after it.
    """

    code: Specialisation
    stage: Stage
    values: Arguments
    wrt: frozenset[Array]
    varying: frozenset[Array]
    kept: dict[Before | After, Buffer] = field(default_factory=dict["Before | After", Buffer])

    def keep(self, arrays: Sequence[Array], role: type[Before | After]) -> None:
        """Pin the present contents of some fields."""
        for array in arrays:
            storage = field_at(self.values, self.code.position[array]).storage
            self.kept[role(array)] = keep(storage)

    def release(self) -> None:
        """Release the contents."""
        kept, self.kept = self.kept, {}
        unpin(*kept.values())

    def field(self, array: Array) -> Field:
        """Return the field that was passed for a parameter."""
        return field_at(self.values, self.code.position[array])

    def held(self, fields: Container[Field]) -> frozenset[Array]:
        """Return the parameters whose field is among some."""
        params = (*self.stage.program.params, *self.stage.program.temps)
        return frozenset(p for p in params if isinstance(p, Array) and self.field(p) in fields)

    def sources(self, code: DerivedCode) -> Iterator[object]:
        """Yield the inputs of a program: contents, shapes and numbers."""
        for role in code.roles:
            match role:
                case Before(array) | After(array):
                    yield self.kept[role].contents.version
                    yield self.field(array).shape
                case Shape(array):
                    yield self.field(array).shape
                case Same(Var() as number) if number in self.code.position:
                    yield self.values[self.code.position[number]]
                case _:
                    pass


@dataclass(frozen=True, slots=True)
class FieldCopy:
    """A copy of a whole field that varies into another one."""

    source: Field
    target: Field


class LocalEnergies(VaryingReads):
    """A recorder that remembers the stages which compute something from one field.

    Args:
        wrt: The field.

    Attributes:
        runs: The stages, and between them copies and writes from Python, in their order.
    """

    def __init__(self, wrt: Field) -> None:
        super().__init__([wrt])
        self.runs: list[StageRun | FieldCopy | Storage] = []
        self._wrt = wrt

    def misses(self, storage: Storage) -> bool:
        """Tell whether a write from another thread into this memory would falsify the record."""
        return storage in self.active.storages

    def record(self, step: TapeStep) -> object:
        """Run a step and remember it."""
        match step:
            case Launch():
                self._launch(step)
                return None
            case Opaque():
                return self._opaque(step)
            case Write():
                self._host(step)
                step.run(None)
                return None
            case _:
                raise NotImplementedError(step)

    def release(self) -> None:
        """Release the contents."""
        for run in self.runs:
            if isinstance(run, StageRun):
                run.release()

    def _launch(self, step: Launch) -> None:
        code, values = step.prepared.code, step.values
        for one in step.prepared.derived:
            if any(source.storage in self.active.storages for source in one.sources):
                raise LaunchError(
                    f"The Hessian is not seen through {one!r}, which follows from a field that "
                    f"varies: compute it in the kernels of the energy. {_HVP}"
                )
        for stage, prepared in zip(code.stages, step.prepared.stages, strict=True):
            self._check_unchanged(self._written(code, stage, values))
            run = None if RECORDING.get().constant else self._run_of(code, stage, values)
            if run is None:
                prepared.run(values)
                continue
            self.runs.append(run)
            run.keep(sorted(stage.loaded, key=_name), Before)
            prepared.run(values)
            run.keep(sorted(stage.loaded_late, key=_name), After)
            for array in stage.reached(run.wrt | run.varying):
                self.active.storages.add(run.field(array).storage)

    def _run_of(self, code: Specialisation, stage: Stage, values: Arguments) -> StageRun | None:
        """Return the run of a stage that writes something that varies with the field."""
        wrt: set[Array] = set()
        varying: set[Array] = set()
        for array in (*stage.program.params, *stage.program.temps):
            if isinstance(array, Array) and is_float(array.type.element):
                passed = field_at(values, code.position[array])
                if passed.storage is self._wrt.storage:
                    if passed in self.active:
                        wrt.add(array)
                elif passed.storage in self.active.storages:
                    varying.add(array)
        sources = frozenset(wrt | varying)
        if not sources or not (stage.reached(sources) or stage.written & varying):
            return None
        return StageRun(code, stage, values, frozenset(wrt), frozenset(varying))

    def _written(self, code: Specialisation, stage: Stage, values: Arguments) -> Iterator[Storage]:
        for k in code.stage_writes[stage.number]:
            yield field_at(values, k).storage

    def varies(self, one: Field) -> bool:
        """Tell whether a field other than the one itself was given values that vary with it."""
        return one.storage in self.active.storages and one.storage is not self._wrt.storage

    def _check_unchanged(self, written: Iterable[Storage]) -> None:
        if any(storage is self._wrt.storage for storage in written):
            raise LaunchError(
                f"The energy function writes into {self._wrt!r}, the field that the Hessian is "
                "for. Compute the energy from it without a change."
            )

    def _opaque(self, step: Opaque) -> object:
        if any(use.reads and use.field.storage in self.active.storages for use in step.uses):
            raise LaunchError(
                f"The Hessian is not seen through {step.step.name}, which reads a field that "
                f"varies: write the energy with kernels. {_HVP}"
            )
        self._check_unchanged(use.field.storage for use in step.uses if use.writes)
        return step.run(None)

    def _host(self, step: Write) -> None:
        self._check_unchanged((step.field.storage,))
        if step.source is not None and step.source.base in self.active:
            source, target = step.source, step.field
            of_field = source.base.storage is self._wrt.storage
            if of_field or not isinstance(source, Field) or step.where is not None:
                raise LaunchError(
                    f"The energy function copies {source!r}, which varies. Pass it to the "
                    f"kernels as it is. {_HVP}"
                )
            self.runs.append(FieldCopy(source, target))
            self.active.storages.add(target.storage)
            return
        if step.field.storage in self.active.storages:
            if step.where is not None and step.field.shape:
                raise LaunchError(
                    f"The energy function writes a part of {step.field!r}, which holds a sum. "
                    f"Write all of it, before the sum. {_HVP}"
                )
            self.runs.append(step.field.storage)  # earlier sums in this field have no weight


def _name(array: Array) -> str:
    return array.name


@dataclass(frozen=True, slots=True, eq=False)
class LocalCode:
    """The compiled Hessians of a stage."""

    hessian: LocalHessian
    bounds: DerivedCode
    gather: DerivedCode
    blocks: DerivedCode

    @property
    def weighted(self) -> list[Array]:
        """The parameters whose weights are used."""
        return [role.array for role in self.blocks.roles if isinstance(role, Bar)]


_CODES: WeakKeyDictionary[Stage, dict[object, LocalCode | None]] = WeakKeyDictionary()
"""The compiled Hessians of stages, by the roles of their parameters and the kind of Hessian."""


def local_code(
    run: StageRun, outputs: frozenset[Array], element: Type, *, psd: bool
) -> LocalCode | None:
    """Return the compiled Hessian of a stage; None where it adds no terms and passes no weights on.

    Args:
        run: The stage.
        outputs: The parameters that hold the sum.
        element: The type of an element of the field.
        psd: Whether the negative eigenvalues of each term are replaced by zero.

    Raises:
        NotLocal: The stage is not a sum of local terms.
    """
    known = _CODES.setdefault(run.stage, {})
    key = (run.wrt, run.varying, outputs, element, psd)
    if key not in known:
        program = run.stage.program
        found = local_hessian(program, run.wrt, outputs, run.varying, element, psd=psd)
        known[key] = (
            None
            if found is None
            else LocalCode(
                found, *(DerivedCode(one) for one in (found.bounds, found.gather, found.blocks))
            )
        )
    return known[key]


class Weights:
    """The weights of the contents of fields: the derivatives of the result by each element."""

    def __init__(self, output: Field) -> None:
        self._known: dict[Storage, Field] = {}
        self.of(output).buffer.fill(1.0)

    def __contains__(self, one: Field) -> bool:
        return one.storage in self._known

    def of(self, one: Field) -> Field:
        """Return the weights of a field."""
        found = self._known.get(one.storage)
        if found is None:
            found = self._known[one.storage] = zeros_of(one)
        return found

    def copied(self, step: FieldCopy) -> None:
        """Handle a copy of a field: the weight of the target passes to the source."""
        passed = self.of(step.target)
        add_to(self.of(step.source), passed.buffer.read())
        passed.buffer.fill(0.0)

    def written(self, storage: Storage) -> None:
        """Handle a write from Python: the contents of the field before it have no weight."""
        found = self._known.get(storage)
        if found is not None:
            found.buffer.fill(0.0)


class LocalEnvironment(LaunchEnvironment):
    """The contents that a stage read, weights, and the memory of the Hessian.

    Args:
        run: The stage.
        memory: The buffers for arrays of the program's own.
        numbers: The values of numbers of the program's own.
        weights: The weights of the contents of fields.
    """

    def __init__(
        self,
        run: StageRun,
        memory: Mapping[Array, Field],
        numbers: Mapping[Var, int],
        weights: Weights | None,
    ) -> None:
        super().__init__(run.code, run.values)
        self._run = run
        self._memory = memory
        self._numbers = numbers
        self._weights = weights
        self._places = {role: k for k, role in enumerate(run.kept)}

    def before(self, array: Array) -> Slot:
        """Return the slot of contents from before the stage."""
        return Kept(self._places[Before(array)], self.field(array))

    def after(self, array: Array) -> Slot:
        """Return the slot of contents from after it."""
        return Kept(self._places[After(array)], self.field(array))

    def bar(self, array: Array) -> Slot:
        """Return the slot of a weight."""
        assert self._weights is not None
        return Fixed(self._weights.of(self.field(array)).buffer)

    def number(self, param: Var) -> Slot:
        """Return the slot of a number."""
        known = self._numbers.get(param)
        return super().number(param) if known is None else Fixed(known)

    def scratch(self, param: Array, like: Array | None) -> Slot:
        """Return the slot of memory of the program's own."""
        known = self._memory.get(param)
        return super().scratch(param, like) if known is None else Fixed(known.buffer)


def run_local(
    run: StageRun,
    code: DerivedCode,
    memory: Mapping[Array, Field],
    numbers: Mapping[Var, int],
    weights: Weights | None = None,
) -> None:
    """Launch one of the programs of a Hessian.

    Args:
        run: The stage.
        code: The program.
        memory: The fields for arrays of the program's own.
        numbers: The values of its numbers.
        weights: The weights of the contents of fields, where the program uses them.
    """
    env = LocalEnvironment(run, memory, numbers, weights)
    Binding(code, env).launch(run.values, list(run.kept.values()))
