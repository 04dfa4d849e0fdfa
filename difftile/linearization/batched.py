"""Many directions at once: gradients or tangents with one axis more, in one launch each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.stage import Batched, Stage, Tangent, TangentOnly
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage, make
from difftile.fields.recording import Where
from difftile.fields.window import Window
from difftile.ir.derived import Bar, Dot, Logged, Role, Same
from difftile.ir.nodes import Array
from difftile.launch.binding import Binding, Environment, Fixed, Slot, Temporary
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.tangents import make_writable
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Sweep, record_launch
from difftile.linearization.tangents import push_step, run_step
from difftile.recording.opaque import Opaque, OpaqueRecord
from difftile.recording.replay import AdjointEnvironment
from difftile.recording.replayed_fields import reverse_opaque
from difftile.recording.runs import RunRecord
from difftile.recording.steps import HostStep, Launch, LaunchRecord, StepRecord
from difftile.substrate import Buffer, keep, unpin


def pull_many(
    stretch: Pullback, seeds: Mapping[Field, HostArray], wrt: Iterable[Field]
) -> dict[Field, HostArray]:
    """Return many cotangents of the fields' contents before the function.

    Args:
        stretch: The launches.
        seeds: For each output the cotangents of its contents after, one after the other along the
            first axis.
        wrt: The fields whose cotangents are returned.

    Raises:
        Unbatchable: Loops have bounds that differ between directions.
    """
    fields = [one.origin for one in wrt]
    records = stretch.records(fields)
    replay = ManyDirections.of(seeds)
    for record in reversed(records):
        record.reverse(replay)
    return {one: replay.gradient(one).to_numpy() for one in fields}


def push_many(
    stretch: Pullback, tangents: Mapping[Field, HostArray], outputs: Iterable[Field]
) -> dict[Field, HostArray]:
    """Return many tangents of the fields' contents after the function.

    Args:
        stretch: The launches.
        tangents: For each input that varies the tangents of its contents before, one after the
            other along the first axis.
        outputs: The fields whose tangents are returned.

    Raises:
        Unbatchable: Loops have bounds that differ between directions.
    """
    wanted = frozenset(one.origin for one in tangents)
    stretch.warn_of_cuts(wanted)
    dots = ManyDirections.of(tangents)
    ManyPush(stretch, wanted, dots).over(stretch)
    return {out: dots.gradient(out).to_numpy() for out in outputs}


class ManyDirections:
    """Gradients or tangents with one axis more."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._work: dict[Storage, Field] = {}

    @classmethod
    def of(cls, given: Mapping[Field, HostArray]) -> ManyDirections:
        """Return gradients or tangents that begin with some arrays, as many as these hold."""
        many = cls(len(next(iter(given.values()))))
        for one, values in given.items():
            many.gradient(one).buffer.write(np.asarray(values))
        return many

    def gradient(self, field: Field) -> Field:
        """Return the gradients of a field, which are zero to begin with."""
        return self.lanes(field).under((self.width, *field.shape))

    def lanes(self, field: Field) -> Field:
        """Return the gradients of a field in the shape of its origin."""
        work = self._work.get(field.storage)
        if work is None:
            work = self._work[field.storage] = make(
                field.element, (self.width, *field.origin.shape)
            )
            work.buffer.fill(0.0)
        return work

    def launch(self, record: LaunchRecord) -> None:
        """Run the adjoint of a launch."""
        adjoint = record.plan.stage.code(Batched(record.plan.request))
        assert adjoint is not None
        Binding(adjoint, _ManyGradients(self, record)).launch(record.values, record.kept)

    def run(self, record: RunRecord) -> None:
        """Run the adjoint of each launch of a run."""
        for one in record.expanded():
            self.launch(one)

    def opaque(self, record: OpaqueRecord) -> None:
        """Run the reverse of an opaque step, for one direction after the other."""
        for gradient in self.each():
            reverse_opaque(record, gradient)

    def each(self) -> Iterator[Callable[[Field], Field]]:
        """Yield a function for each direction, which returns the gradients of a field to work on.

        The gradients are stored when the next function is requested.
        """
        for k in range(self.width):
            work: dict[Storage, Field] = {}

            def gradient(field: Field, k: int = k, work: dict[Storage, Field] = work) -> Field:
                one = work.get(field.storage)
                if one is None:
                    one = work[field.storage] = make(field.element, field.origin.shape)
                    one.buffer.write(self.lanes(field).buffer.array()[k])
                return one.under(field.shape)

            yield gradient
            for storage, one in work.items():
                self._put(storage, k, one)

    def _put(self, storage: Storage, k: int, one: Field) -> None:
        lanes = self._work[storage]
        make_writable(lanes)

        def put(array: HostArray) -> None:
            array[k] = one.buffer.array()

        lanes.buffer.change(put)

    def passes(self, source: ArrayLike) -> bool:
        """Tell that all fields have gradients here."""
        return True

    def read(self, field: Field, window: Window | None) -> HostArray:
        """Return a copy of the gradients of a field or of a part of one."""
        lanes = self.gradient(field).buffer.array()
        return np.array([lane if window is None else window.of(lane) for lane in lanes])

    def take(self, field: Field, where: Where) -> HostArray:
        """Return the gradients of a field, a part or an element, and leave zero there."""
        taken: list[HostArray] = []

        def take(lanes: HostArray) -> None:
            for lane in _each(lanes):
                if isinstance(where, Window):
                    part = where.of(lane)
                    taken.append(np.array(part))
                    part[...] = 0.0
                else:
                    taken.append(np.array(lane[where or ...]))
                    lane[where or ...] = 0.0

        self.gradient(field).buffer.change(take)
        return np.array(taken)

    def drop(self, field: Field, where: Where) -> None:
        """Set the gradients of a field, a part or an element to zero."""
        self.take(field, where)

    def add(self, field: Field, window: Window | None, values: HostArray) -> None:
        """Add to the gradients of a field or of a part of one."""

        def add(lanes: HostArray) -> None:
            for lane, added in zip(_each(lanes), values, strict=True):
                if window is None:
                    np.add(lane, added, out=lane)
                else:
                    window.add(lane, added)

        self.gradient(field).buffer.change(add)

    def move(self, target: ArrayLike, source: ArrayLike) -> None:
        """Move the gradients of a copy to the copied field, to which they are added."""
        self.add(source.base, source.window, self.take(target.base, target.window))

    def lane(self, field: Field) -> Slot:
        """Return the slot of the gradients or tangents of a field."""
        return Fixed(self.gradient(field).buffer)


def _each(lanes: HostArray) -> list[HostArray]:
    """Return a view of each lane, also of lanes of one number."""
    return [lanes[k, ...] for k in range(len(lanes))]


class ManyPush(Sweep):
    """Pushes many tangents through a stretch."""

    def __init__(self, stretch: Pullback, wanted: frozenset[Field], dots: ManyDirections) -> None:
        super().__init__(wanted)
        self._stretch = stretch
        self.dots = dots

    def launch(self, step: Launch, *, constant: bool) -> None:
        """Run a kernel and push tangents through it."""
        if not any(self.active.along(step)):
            step.prepared.run(step.values)
            return
        if constant:
            self.constant(step)
            return
        grads = self.active.launched(step)
        for stage in step.prepared.code.stages:
            self.push_stage(step, stage, grads)

    def constant(self, step: Launch) -> list[StepRecord]:
        """Launch a kernel whose results are constants; return the records that clear gradients."""
        grads = self.active.along(step)
        for k in step.prepared.code.writes:
            if grads[k]:
                make_writable(self.dots.lanes(field_at(step.values, k)))
        records = record_launch(step, grads, constant=True)
        for record in records:
            record.reverse(self.dots)
        return records

    def push_stage(self, step: Launch, stage: Stage, grads: tuple[bool, ...]) -> None:
        """Launch one stage of a kernel and push tangents.

        Args:
            step: The launch.
            stage: The stage.
            grads: Which parameters have tangents.

        Raises:
            Unbatchable: Loops have bounds that differ between directions.
        """
        prepared, values, code = step.prepared, step.values, step.prepared.code
        wanted = code.arrays(grads)
        tangents = stage.code(Batched(TangentOnly(wanted)))
        code.check_passing(stage, wanted, values)
        writes = code.stage_writes[stage.number]
        for k in writes:
            if grads[k]:
                make_writable(self.dots.lanes(field_at(values, k)))
        if tangents is None:  # they need values that the stage overwrites again and again
            both = stage.code(Batched(Tangent(wanted)))
            assert both is not None
            Binding(both, _ManyTangents(self.dots, prepared, values, {})).launch(values)
            prepared.stages[stage.number].run(values)
            return
        # The tangents read the contents from before the stage as well.
        held = {k: keep(field_at(values, k).storage) for k in writes}
        binding = Binding(tangents, _ManyTangents(self.dots, prepared, values, held))
        try:
            prepared.stages[stage.number].run(values)
            binding.launch(values)
        finally:
            unpin(*held.values())

    def opaque(self, opaque: Opaque) -> None:
        """Run a step whose inside is not seen, and push tangents one after the other."""
        if not any(use.field.storage in self.active.storages for use in opaque.uses):
            self._stretch.again(opaque)
            return
        _, record = run_step(opaque, self.active)
        if record is not None:
            self.pushed(record, opaque)

    def pushed(self, record: OpaqueRecord, opaque: Opaque) -> None:
        """Push tangents through a run of an opaque step."""
        try:
            for dots in self.dots.each():
                push_step(record, dots)
        finally:
            record.release()

    def host(self, step: HostStep) -> None:
        """Push tangents through a write from Python."""
        step.push(self.dots)


class ManyEnvironment(Environment):
    """Memory with an axis more for the directions."""

    many: ManyDirections

    def width(self) -> Slot:
        """Return the slot of the number of directions."""
        return Fixed(self.many.width)

    def lead(self, param: Array, role: Logged) -> tuple[int, ...]:
        """Return the extents of a log along axes that come before its own."""
        return (self.many.width,) if param.type.ndim > len(role.extents) else ()

    def scratch(self, param: Array, like: Array | None) -> Slot:
        """Return the slot of memory that the program needs while it runs."""
        shape = () if like is None else self.field(like).shape
        lead = (self.many.width,) if param.type.ndim > len(shape) else ()
        return Temporary(param.type.element, (*lead, *shape))


class _ManyGradients(ManyEnvironment, AdjointEnvironment):
    """Gradients with an axis more, and contents among the buffers of a record."""

    def __init__(self, many: ManyDirections, record: LaunchRecord) -> None:
        AdjointEnvironment.__init__(self, record, many.gradient)
        self.many = many

    def lane(self, of: Role) -> Slot | None:
        return self.many.lane(self.field(of.array)) if isinstance(of, Bar) else None


class _ManyTangents(ManyEnvironment):
    """Tangents with an axis more, and contents that fields had when this was made.

    Args:
        many: The tangents.
        launch: The launch.
        values: Its arguments.
        held: The contents of the fields that the launch writes, by position.
    """

    def __init__(
        self,
        many: ManyDirections,
        launch: PreparedLaunch,
        values: Arguments,
        held: Mapping[int, Buffer],
    ) -> None:
        super().__init__(launch.code, values)
        self.many = many
        self._held = held
        self._copies = ManyDirections(many.width)

    def before(self, array: Array) -> Slot:
        field = self.field(array)
        held = self._held.get(self.code.position[array])
        return Fixed((held or field.storage.buffer).under(field.shape))

    def lane(self, of: Role) -> Slot | None:
        match of:
            case Dot(Same(Array() as array)):
                return self.many.lane(self.field(array))
            case Same(Array() as array):  # a copy for each direction
                lanes = self._copies.gradient(self.field(array)).buffer
                lanes.write(np.broadcast_to(self.field(array).buffer.array(), lanes.array().shape))
                return Fixed(lanes)
            case _:
                return None
