"""Many second derivatives at once: one adjoint, and the tangents of it along many directions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from difftile.compile.adjoint_plan import make_plans
from difftile.compile.arguments import field_at
from difftile.compile.stage import Batched, Tangent, TangentOnly
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.ir.derived import After, Bar, Before, Dot, Role
from difftile.ir.nodes import Array, Var
from difftile.launch.binding import Binding, Fixed, Slot
from difftile.launch.tangents import make_writable
from difftile.linearization.batched import ManyDirections, ManyEnvironment, ManyPush
from difftile.linearization.forward_over_reverse import DualRecord
from difftile.linearization.pullback import Pullback
from difftile.linearization.rule_tangents import DualStepRecord, pushed_step
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.replay import AdjointEnvironment, Replay
from difftile.recording.seeds import Seed, add_seed
from difftile.recording.steps import HostStep, Launch, LaunchRecord, StepRecord
from difftile.recording.work_fields import copied

ManyRecord: TypeAlias = DualRecord | DualStepRecord | StepRecord


def push_pull_many(
    stretch: Pullback,
    tangents: Mapping[Field, HostArray],
    seeds: Mapping[ArrayLike, Seed],
    wrt: Iterable[Field],
) -> dict[Field, HostArray]:
    """Return the tangents of cotangents of fields along many directions; see `push_pull`.

    Args:
        stretch: The launches.
        tangents: For each input that varies the tangents of its contents before, one after the
            other along the first axis.
        seeds: For each output the cotangent of its contents after.
        wrt: The fields whose tangents of cotangents are returned.

    Raises:
        NotDifferentiable: A launch has no adjoint.
        Unbatchable: Loops have bounds that differ between directions.
    """
    fields = [field.origin for field in wrt]
    wanted = frozenset((*fields, *(one.origin for one in tangents)))
    stretch.warn_of_cuts(wanted)
    many = ManyDirections.of(tangents)
    recording = _Recording(stretch, wanted, many)
    try:
        recording.over(stretch)
        apart = all(_apart(record) for record in recording.records)
        replay = (_Replay if apart else _WideReplay)(many.width)
        replay.start(seeds)
        for record in reversed(recording.records):
            replay.reverse(record)
    finally:
        for record in recording.records:
            record.release()
    return {field: replay.dots.gradient(field).to_numpy() for field in fields}


def _apart(record: ManyRecord) -> bool:
    """Tell whether the tangents of an adjoint can be had without running it for each direction."""
    if not isinstance(record, DualRecord):
        return True
    plan = record.record.plan
    request = TangentOnly(plan.with_tangents(record.varies), plan.request)
    return plan.stage.derived(request) is not None


def directions_within(nbytes: int, stretch: Pullback, wrt: Iterable[Field]) -> int:
    """Return how many directions `push_pull_many` follows at once within some memory, at least 1.

    Each takes about as much as the gradient: the old values, and gradients of all fields.
    """
    kept = {id(one): one.nbytes for record in stretch.records(wrt) for one in record.buffers}
    fields = {one.storage: one.nbytes for one in stretch.fields}
    each = sum(kept.values()) + 2 * sum(fields.values())
    return max(1, nbytes // max(1, each))


class _Recording(ManyPush):
    """Pushes many tangents and records the steps, with the tangents of the kept contents."""

    def __init__(self, stretch: Pullback, wanted: frozenset[Field], dots: ManyDirections) -> None:
        super().__init__(stretch, wanted, dots)
        self.records: list[ManyRecord] = []

    def launch(self, step: Launch, *, constant: bool) -> None:
        """Launch a kernel with tangents and remember it, stage by stage."""
        grads = self.active.along(step)
        if not any(grads):
            step.prepared.run(step.values)
            return
        if constant:
            self.records += self.constant(step)
            return
        plans = make_plans(step.prepared.code, grads)
        wanted = self.active.launched(step)
        along = {
            k: self.dots.lanes(field_at(step.values, k)) for k, has in enumerate(wanted) if has
        }
        for plan in plans:
            dual = DualRecord(LaunchRecord(plan, step, []), [])
            try:
                dual.pin(plan.reads, along)
                self.push_stage(step, plan.stage, wanted)
                dual.pin(plan.reads_after, along)
            except BaseException:
                dual.release()
                raise
            if plan.adjoint is None:
                dual.release()
            else:
                self.records.append(dual)

    def pushed(self, record: OpaqueRecord, opaque: Opaque) -> None:
        """Push tangents through a run of an opaque step and remember it."""
        self.records.append(pushed_step(record, opaque, self.dots.each()))

    def host(self, step: HostStep) -> None:
        """Push tangents through a write from Python and remember it."""
        make_writable(self.dots.lanes(step.field))
        super().host(step)
        self.records.append(step)


class _Replay:
    """Cotangents, and their tangents along many directions.

    Args:
        width: The number of directions.
    """

    def __init__(self, width: int) -> None:
        self.bars = Replay((), accumulate=False, private=True)
        self.dots = ManyDirections(width)

    def start(self, seeds: Mapping[ArrayLike, Seed]) -> None:
        """Set the cotangents of the outputs."""
        for output, seed in seeds.items():
            add_seed(self.bars.gradient(output.base), output, seed)

    def reverse(self, record: ManyRecord) -> None:
        """Run the adjoint of one record, with tangents."""
        match record:
            case DualRecord():
                self._launch(record)
            case DualStepRecord():
                last = self.dots.width - 1
                for k, dots in enumerate(self.dots.each()):
                    # Each direction starts from the same gradients; the last one updates them.
                    bars = self.bars.gradient if k == last else _copies(self.bars.gradient)
                    record.reverse(bars, dots, k)
            case _:
                record.reverse(self.bars)
                record.reverse(self.dots)

    def _launch(self, record: DualRecord) -> None:
        plan = record.record.plan
        request = TangentOnly(plan.with_tangents(record.varies), plan.request)
        code = plan.stage.code(Batched(request))
        assert code is not None
        incoming = [role.array for role in code.roles if isinstance(role, Bar) and role.incoming]
        fields = {
            array: field_at(record.record.values, plan.code.position[array]) for array in incoming
        }
        old = {array: copied(self.bars.gradient(field)) for array, field in fields.items()}
        self.bars.reverse(record.record)
        env = _Environment(record, self.bars.gradient, self.dots, old)
        Binding(code, env).launch(record.record.values, record.record.kept)


class _WideReplay:
    """Cotangents for each of many directions, all the same, and their tangents.

    Serves adjoints that read gradients which they change several times.

    Args:
        width: The number of directions.
    """

    def __init__(self, width: int) -> None:
        self._bars = ManyDirections(width)
        self.dots = ManyDirections(width)

    def start(self, seeds: Mapping[ArrayLike, Seed]) -> None:
        """Set the cotangents of the outputs."""
        single = Replay((), accumulate=False, private=True)
        for output, seed in seeds.items():
            add_seed(single.gradient(output.base), output, seed)
        for output in seeds:
            values = single.gradient(output.base).to_numpy()
            lanes = self._bars.gradient(output.base)
            lanes.buffer.write(np.broadcast_to(values, lanes.to_numpy().shape))

    def reverse(self, record: ManyRecord) -> None:
        """Run the adjoint of one record, with tangents."""
        match record:
            case DualRecord():
                self._launch(record)
            case DualStepRecord():
                for k, (bars, dots) in enumerate(
                    zip(self._bars.each(), self.dots.each(), strict=True)
                ):
                    record.reverse(bars, dots, k)
            case _:
                record.reverse(self._bars)
                record.reverse(self.dots)

    def _launch(self, record: DualRecord) -> None:
        plan = record.record.plan
        code = plan.stage.code(Batched(Tangent(plan.with_tangents(record.varies), plan.request)))
        assert code is not None
        env = _Environment(record, self._bars.gradient, self.dots, {})
        Binding(code, env).launch(record.record.values, record.record.kept)


def _copies(gradient: Callable[[Field], Field]) -> Callable[[Field], Field]:
    """Return a function that returns copies of gradients, of each field one."""
    work: dict[Storage, Field] = {}

    def copy(field: Field) -> Field:
        if field.storage not in work:
            work[field.storage] = copied(gradient(field.origin))
        return work[field.storage].under(field.shape)

    return copy


class _Environment(ManyEnvironment, AdjointEnvironment):
    """Gradients, many tangents of each, and contents among the buffers of a record.

    Args:
        dual: The record.
        gradient: Returns the gradient of a field; or many of them, where each direction has one.
        dots: The tangents of gradients.
        old: Gradients from before the adjoint.
    """

    def __init__(
        self,
        dual: DualRecord,
        gradient: Callable[[Field], Field],
        dots: ManyDirections,
        old: Mapping[Array, Field],
    ) -> None:
        AdjointEnvironment.__init__(self, dual.record, gradient)
        self.many = dots
        self._dual = dual
        self._old = old

    def slot(self, param: Array | Var, role: Role) -> Slot:
        """Return the slot of a parameter."""
        if isinstance(role, Bar) and role.incoming:
            return Fixed(self._old[role.array].under(self.field(role.array).shape).buffer)
        return super().slot(param, role)

    def lane(self, of: Role) -> Slot | None:
        """Return the slot of the gradients, or tangents, of each direction."""
        match of:
            case Bar(array):
                return self.bar(array)
            case Dot(Before(array) | After(array) as role):
                dot = self._dual.dot(role)
                assert dot is not None
                shape = (self.many.width, *self.field(array).shape)
                return Fixed(dot if dot.shape == shape else dot.under(shape))
            case Dot(Bar(array)):
                return self.many.lane(self.field(array))
            case _:
                return None
