"""Tangents of cotangents: forward mode over the reverse of a stretch of launches.

The derivative of `x -> J(x)^T s` along v is a Hessian-vector product where s is one number. Every
second derivative is one of those: mixed ones by symmetry (Griewank and Walther, Evaluating
Derivatives, 2nd ed., chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.stage import Tangent
from difftile.diagnostics import TapeError
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.ir.derived import After, Bar, Before, Role, Scratch
from difftile.ir.nodes import Array
from difftile.ir.types import is_float
from difftile.launch.binding import Binding, Fixed, Slot
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.tangents import make_writable, push_stage
from difftile.linearization.pullback import Pullback, Tangents
from difftile.recording.opaque import Opaque
from difftile.recording.records import HostCopy, HostWrite, LaunchRecord
from difftile.recording.replay import AdjointEnvironment, Replay
from difftile.recording.seeds import add_seed
from difftile.recording.steps import Launch, field_of
from difftile.substrate import Buffer, silence, unpin


@dataclass(slots=True)
class DualRecord:
    """A launch of a stage, and the tangents of what was kept of it.

    Args:
        record: The launch.
        dots: The pinned tangents of its kept buffers; None for those of constants.
    """

    record: LaunchRecord
    dots: list[Buffer | None]

    def release(self) -> None:
        """Let go of the old values."""
        self.record.release()
        dots, self.dots = self.dots, []
        unpin(*(dot for dot in dots if dot is not None))


def push_pull(
    stretch: Pullback,
    tangents: Mapping[Field, npt.NDArray[Any]],
    seeds: Mapping[ArrayLike, Any],
    seed_tangents: Mapping[ArrayLike, Any],
    wrt: Iterable[Field],
) -> tuple[dict[Field, Field], dict[Field, Field]]:
    """Return cotangents of what fields held before the function, and their tangents.

    Args:
        stretch: The launches.
        tangents: For each input that varies the tangent of what it held before.
        seeds: For each output the cotangent of what it held after.
        seed_tangents: The tangents of those that vary.
        wrt: The fields whose cotangents are wanted.

    Raises:
        NotDifferentiable: A launch has no adjoint.
        TapeError: A step whose inside is not seen reads a field that varies.
    """
    wanted = frozenset(one.origin for one in (*wrt, *tangents))
    stretch.check_writes(wanted)
    dots = Tangents(wanted)
    for one, values in tangents.items():
        dots.of(one).buffer.write(values)
    replay = DualReplay()
    records: list[DualRecord | HostWrite | HostCopy] = []
    try:
        with stretch.from_start(), silence():
            for step, constant in stretch.steps:
                if isinstance(step, Launch):
                    records += _record(step.call, step.values, dots, constant=constant)
                    continue
                if isinstance(step, Opaque):
                    dots.refuse(step)
                stretch.again(step)
                if isinstance(step, Opaque):
                    continue
                if field_of(step).storage in dots.active.storages or (
                    isinstance(step, HostCopy) and step.source.base in dots.active
                ):
                    make_writable(dots.of(field_of(step)))
                    dots.wrote(step)
                    records.append(dots.as_record(step))
        for output, seed in seeds.items():
            add_seed(replay.bars.gradient(output.base), output, seed)
        for output, seed in seed_tangents.items():
            add_seed(replay.dots.gradient(output.base), output, seed)
        for record in reversed(records):
            replay.reverse(record)
    finally:
        for record in records:
            if isinstance(record, DualRecord):
                record.release()
    bars = {one.origin: replay.bars.gradient(one) for one in wrt}
    return bars, {one.origin: replay.dots.gradient(one) for one in wrt}


def _record(
    call: PreparedLaunch, values: list[Any], dots: Tangents, *, constant: bool
) -> list[DualRecord]:
    """Launch a kernel with tangents and remember it, stage by stage."""
    grads = dots.active.along(call, values)
    plans = make_plans(call.code, grads, constant=constant)
    if constant:
        raise TapeError("Second derivatives do not pass a launch inside dt.no_grad().")
    dots.active.storages |= {values[k].storage for k in call.code.writes if grads[k]}
    along = {k: dots.of(values[k]) for k, has in enumerate(grads) if has}
    found: list[DualRecord] = []
    for plan in plans:
        kept = _Kept(values, along)
        try:
            kept.pin(plan.reads)
            push_stage(plan.code, plan.stage, values, along)
            kept.pin(plan.reads_after)
        except BaseException:
            kept.record(plan, call).release()
            raise
        record = kept.record(plan, call)
        if plan.adjoint is None:
            record.release()
        else:
            found.append(record)
    return found


class _Kept:
    """Collects the buffers that the reverse of a stage reads, pinned."""

    def __init__(self, values: list[Any], along: Mapping[int, Field]) -> None:
        self._values = values
        self._along = along
        self._kept: list[Buffer] = []
        self._dots: list[Buffer | None] = []

    def pin(self, positions: Iterable[int]) -> None:
        for k in positions:
            self._kept.append(self._values[k].storage.buffer)
            self._dots.append(self._along[k].storage.buffer if k in self._along else None)
            for buffer in (self._kept[-1], self._dots[-1]):
                if buffer is not None:
                    buffer.pins += 1

    def record(self, plan: AdjointPlan, call: PreparedLaunch) -> DualRecord:
        return DualRecord(LaunchRecord(plan, call, self._values, self._kept), self._dots)


class DualReplay:
    """Cotangents and their tangents, from the end of a stretch to its beginning."""

    def __init__(self) -> None:
        self.bars = Replay((), accumulate=False, private=True)
        self.dots = Replay((), accumulate=False, private=True)

    def reverse(self, record: DualRecord | HostWrite | HostCopy) -> None:
        """Run the adjoint of one record, with tangents."""
        if isinstance(record, DualRecord):
            self._launch(record)
        else:  # linear in the cotangents
            self.bars.reverse(record)
            self.dots.reverse(record)

    def _launch(self, dual: DualRecord) -> None:
        record, adjoint = dual.record, dual.record.plan.adjoint
        assert adjoint is not None
        env = _DualEnvironment(dual, self.bars.gradient, self.dots.gradient)
        derived = adjoint.derived
        own = (t for t in derived.program.temps if is_float(t.type.element))
        varying = frozenset(
            (
                *(t for t in own if isinstance(derived.role(t), Scratch)),
                *(
                    p
                    for p, role in zip(adjoint.code.params, adjoint.roles, strict=True)
                    if isinstance(p, Array) and env.varies(role)
                ),
            )
        )
        tangent = record.plan.stage.code(Tangent(varying, record.plan.request))
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
        self._dots = dual.dots
        self._tangent = tangent

    def varies(self, role: Role) -> bool:
        """Tell whether a parameter of the adjoint has a tangent that may not be zero."""
        match role:
            case Before() | After():
                return self._dots[self.kept_at(role)] is not None
            case Bar():
                return True
            case _:
                return False

    def dot(self, of: Role) -> Slot | None:
        """Return the slot of the tangent of a parameter of the adjoint."""
        match of:
            case Before(array) | After(array):
                dot, shape = self._dots[self.kept_at(of)], self.field(array).shape
                assert dot is not None
                return Fixed(dot if dot.shape == shape else dot.under(shape))
            case Bar(array):
                return Fixed(self._tangent(self.field(array)).buffer)
            case _:
                return None
