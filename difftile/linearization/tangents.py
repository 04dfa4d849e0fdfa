"""Tangents of fields as the steps of a stretch go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from difftile.compile.arguments import field_at
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field, Storage
from difftile.launch.tangents import make_writable, push_tangents
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Active, Sweep, record_launch, varying_uses
from difftile.linearization.transposed import forward_of
from difftile.recording.opaque import Keeps, Opaque, OpaqueRecord, Use
from difftile.recording.replay import Replay
from difftile.recording.replayed_fields import reverse_opaque, tangents_after
from difftile.recording.steps import HostStep, Launch, StepRecord
from difftile.recording.work_fields import copied
from difftile.records import dataclass


def push(
    stretch: Pullback, tangents: Mapping[Field, HostArray], outputs: Iterable[Field]
) -> dict[Field, HostArray]:
    """Return the tangents of the fields' contents after a function.

    Args:
        stretch: The launches of the function.
        tangents: For each input the tangent of its contents before, an array of its shape.
        outputs: The fields whose tangents are returned.

    Raises:
        TapeError: A step has no rule for tangents.
    """
    wanted = frozenset(one.origin for one in tangents)
    dots = Tangents(wanted)
    stretch.warn_of_cuts(wanted)
    for one, values in tangents.items():
        dots.of(one).buffer.write(values)
    dots.over(stretch)
    return {one: dots.of(one).to_numpy() for one in outputs}


@dataclass(frozen=True, slots=True)
class StepTangents:
    """The tangents of the fields of an opaque step, by their memory.

    Args:
        before: Those of the fields that the step has read.
        after: Those of the fields that it has written.
    """

    before: dict[Storage, Field]
    after: dict[Storage, Field]


class Tangents(Sweep):
    """The tangents of fields as steps go on.

    Writing constants leaves zero in tangents, as it does in cotangents.
    """

    def __init__(self, wanted: frozenset[Field]) -> None:
        super().__init__(wanted)
        self._zeroing = Replay((), accumulate=False, private=True)

    def of(self, one: Field) -> Field:
        """Return the memory of a field's tangent, which is zero to begin with."""
        return self._zeroing.gradient(one)

    def clear(self, record: StepRecord) -> None:
        """Leave zero in tangents where a step has written constants."""
        self._zeroing.reverse(record)

    def launch(self, step: Launch, *, constant: bool) -> None:
        """Run a kernel and push tangents through it."""
        grads = self.active.along(step)
        if not any(grads):
            step.prepared.run(step.values)
        elif constant:
            for record in record_launch(step, grads, constant=True):
                self.clear(record)
                record.release()
        else:
            self.active.launched(step)
            dots = {k: self.of(field_at(step.values, k)) for k, has in enumerate(grads) if has}
            push_tangents(step.prepared.code, step.values, dots)

    def opaque(self, opaque: Opaque) -> object:
        """Run a step whose inside is not seen and push tangents through it; return its result.

        Raises:
            TapeError: The step reads fields that vary, and has no rule for tangents.
        """
        saved, record = run_step(opaque, self.active)
        if record is not None:
            try:
                push_step(record, self.of)
            finally:
                record.release()
        return saved

    def host(self, step: HostStep) -> None:
        """Push tangents through a write from Python."""
        step.push(self._zeroing)


def run_step(opaque: Opaque, active: Active) -> tuple[object, OpaqueRecord | None]:
    """Run an opaque step, and add the memory that varies after it.

    Returns:
        The result, and the record of the run, whose reverse pushes tangents; None if no varying
        field was written.
    """
    uses = varying_uses(opaque, active)
    if opaque.constant or not any(u.reads and u.field in active for u in opaque.uses):
        return replace(opaque, uses=uses).execute(record=True)
    step = forward_of(opaque.step)
    pushing = replace(opaque, step=step, uses=_keeping(uses, step.uses))
    found = pushing.execute(record=True)
    active.storages |= {use.field.storage for use in pushing.uses if use.writes}
    return found


def push_step(record: OpaqueRecord, dots: Callable[[Field], Field]) -> StepTangents:
    """Push tangents through a run of `run_step`.

    Args:
        record: The run.
        dots: Returns the memory of the tangent of a field.
    """
    found = StepTangents({}, {})
    if not record.opaque.flows:  # writing constants leaves zero
        for use in record.opaque.uses:
            if use.writes and use.field.has_grads:
                make_writable(dots(use.field.origin))
        reverse_opaque(record, dots)
        return found

    def before(one: Field) -> Field:
        found.before[one.storage] = copied(dots(one))
        return copied(dots(one))

    for use, dot in tangents_after(record, before).items():
        target = dots(use.field.origin)
        make_writable(target)
        target.buffer.copy_from(dot.buffer)
        found.after[use.field.storage] = dot
    return found


def _keeping(uses: Iterable[Use], more: Iterable[Use]) -> tuple[Use, ...]:
    """Return uses that keep the contents read by the rules of both directions."""
    others = {use.field.storage: use.keeps for use in more}

    def kept(use: Use) -> Keeps:
        other = others.get(use.field.storage, use.keeps)
        if use.keeps in (Keeps.NOTHING, other):
            return other
        return use.keeps if other in (Keeps.NOTHING, Keeps.UNWRITTEN) else Keeps.BOTH

    return tuple(replace(use, keeps=kept(use)) for use in uses)
