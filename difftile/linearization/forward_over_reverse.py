"""Tangents of cotangents: forward mode over the reverse of a stretch of launches.

The derivative of `x -> J(x)^T s` along v is a Hessian-vector product where s is one number. Every
second derivative has this form, mixed ones by symmetry (Griewank and Walther, Evaluating
Derivatives, 2nd ed., chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from difftile.compile.adjoint_plan import make_plans
from difftile.compile.arguments import field_at
from difftile.compile.stage import Tangent
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.ir.derived import After, Bar, Before, Role
from difftile.launch.binding import Binding, Fixed, Slot
from difftile.launch.tangents import make_writable, push_stage
from difftile.linearization.pullback import Pullback
from difftile.linearization.rule_tangents import DualStepRecord, pushed_step
from difftile.linearization.sweep import record_launch
from difftile.linearization.tangents import Tangents, run_step
from difftile.recording.opaque import Opaque
from difftile.recording.replay import AdjointEnvironment, Replay
from difftile.recording.seeds import Seed, add_seed
from difftile.recording.steps import HostStep, Launch, LaunchRecord, StepRecord
from difftile.records import dataclass
from difftile.substrate import Buffer, keep, unpin


@dataclass(slots=True)
class DualRecord:
    """A launch of a stage, and the tangents of its kept buffers.

    Args:
        record: The launch.
        dots: The pinned tangents of its kept buffers; None for constants.
    """

    record: LaunchRecord
    dots: list[Buffer | None]

    def pin(self, positions: Iterable[int], along: Mapping[int, Field]) -> None:
        """Keep the contents that some fields hold now, and their tangents."""
        for k in positions:
            self.record.kept.append(keep(field_at(self.record.values, k).storage))
            self.dots.append(keep(along[k].storage) if k in along else None)

    def dot(self, role: Before | After) -> Buffer | None:
        """Return the tangents of kept contents, or None if these are constants."""
        plan, position = self.record.plan, self.record.plan.code.position[role.array]
        if isinstance(role, Before):
            return self.dots[plan.reads.index(position)]
        return self.dots[len(plan.reads) + plan.reads_after.index(position)]

    def varies(self, role: Role) -> bool:
        """Tell whether a parameter of the adjoint has a tangent that may not be zero."""
        match role:
            case Before() | After():
                return self.dot(role) is not None
            case Bar():
                return True
            case _:
                return False

    def release(self) -> None:
        """Release the old values."""
        self.record.release()
        dots, self.dots = self.dots, []
        unpin(*(dot for dot in dots if dot is not None))


def push_pull(
    stretch: Pullback,
    tangents: Mapping[Field, HostArray],
    seeds: Mapping[ArrayLike, Seed],
    seed_tangents: Mapping[ArrayLike, Seed],
    wrt: Iterable[Field],
) -> tuple[dict[Field, Field], dict[Field, Field]]:
    """Return cotangents of the fields' contents before the function, and their tangents.

    Args:
        stretch: The launches.
        tangents: For each input that varies the tangent of its contents before.
        seeds: For each output the cotangent of its contents after.
        seed_tangents: The tangents of the cotangents that vary.
        wrt: The fields whose cotangents are returned.

    Raises:
        NotDifferentiable: A launch has no adjoint.
        TapeError: The derivative of a step, or of its backward, is not known.
    """
    wanted = frozenset(one.origin for one in (*wrt, *tangents))
    stretch.warn_of_cuts(wanted)
    dots = _DualRecording(stretch, wanted)
    for one, values in tangents.items():
        dots.of(one).buffer.write(values)
    replay = DualReplay()
    try:
        dots.over(stretch)
        for output, seed in seeds.items():
            add_seed(replay.bars.gradient(output.base), output, seed)
        for output, seed in seed_tangents.items():
            add_seed(replay.dots.gradient(output.base), output, seed)
        for record in reversed(dots.records):
            replay.reverse(record)
    finally:
        for record in dots.records:
            record.release()
    bars = {one.origin: replay.bars.gradient(one) for one in wrt}
    return bars, {one.origin: replay.dots.gradient(one) for one in wrt}


class _DualRecording(Tangents):
    """Pushes tangents and records the steps, each launch with the tangents of the kept contents."""

    def __init__(self, stretch: Pullback, wanted: frozenset[Field]) -> None:
        super().__init__(wanted)
        self.records: list[DualRecord | DualStepRecord | StepRecord] = []
        self._stretch = stretch

    def launch(self, step: Launch, *, constant: bool) -> None:
        """Launch a kernel with tangents and remember it, stage by stage."""
        code, values = step.prepared.code, step.values
        if constant:
            self._constant(step)
            return
        plans = make_plans(code, self.active.along(step))
        grads = self.active.launched(step)
        along = {k: self.of(field_at(values, k)) for k, has in enumerate(grads) if has}
        for plan in plans:
            dual = DualRecord(LaunchRecord(plan, step, []), [])
            try:
                dual.pin(plan.reads, along)
                push_stage(code, plan.stage, values, along)
                dual.pin(plan.reads_after, along)
            except BaseException:
                dual.release()
                raise
            if plan.adjoint is None:
                dual.release()
            else:
                self.records.append(dual)

    def _constant(self, step: Launch) -> None:
        """Launch a kernel whose results are constants, which leaves zero in their derivatives."""
        grads = self.active.along(step)
        for k in step.prepared.code.writes:
            if grads[k]:
                make_writable(self.of(field_at(step.values, k)))
        for record in record_launch(step, grads, constant=True):
            self.records.append(record)
            self.clear(record)

    def opaque(self, opaque: Opaque) -> None:
        """Run an opaque step, push tangents through it and record both.

        Raises:
            TapeError: The step reads fields that vary, and has no rule for tangents.
        """
        if not any(use.field.storage in self.active.storages for use in opaque.uses):
            self._stretch.again(opaque)
            return
        _, record = run_step(opaque, self.active)
        if record is not None:
            self.records.append(pushed_step(record, opaque, [self.of]))

    def host(self, step: HostStep) -> None:
        """Push tangents through a write from Python and remember it."""
        make_writable(self.of(step.field))
        super().host(step)
        self.records.append(step)


class DualReplay:
    """Cotangents and their tangents, from the end of a stretch to its beginning."""

    def __init__(self) -> None:
        self.bars = Replay((), accumulate=False, private=True)
        self.dots = Replay((), accumulate=False, private=True)

    def reverse(self, record: DualRecord | DualStepRecord | StepRecord) -> None:
        """Run the adjoint of one record, with tangents."""
        match record:
            case DualRecord():
                self._launch(record)
            case DualStepRecord():
                record.reverse(self.bars.gradient, self.dots.gradient)
            case _:  # linear in the cotangents
                self.bars.reverse(record)
                self.dots.reverse(record)

    def _launch(self, dual: DualRecord) -> None:
        record = dual.record
        env = _DualEnvironment(dual, self.bars.gradient, self.dots.gradient)
        request = Tangent(record.plan.with_tangents(dual.varies), record.plan.request)
        tangent = record.plan.stage.code(request)
        assert tangent is not None
        Binding(tangent, env).launch(record.values, record.kept)


class _DualEnvironment(AdjointEnvironment):
    """Adds the tangents of kept contents and of gradients."""

    def __init__(
        self,
        dual: DualRecord,
        gradient: Callable[[Field], Field],
        tangent: Callable[[Field], Field],
    ) -> None:
        super().__init__(dual.record, gradient)
        self._dual = dual
        self._tangent = tangent

    def dot(self, of: Role) -> Slot | None:
        """Return the slot of the tangent of a parameter of the adjoint."""
        match of:
            case Before(array) | After(array):
                dot, shape = self._dual.dot(of), self.field(array).shape
                assert dot is not None
                return Fixed(dot if dot.shape == shape else dot.under(shape))
            case Bar(array):
                return Fixed(self._tangent(self.field(array)).buffer)
            case _:
                return None
