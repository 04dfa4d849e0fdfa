"""Derivatives of a single launch without a tape, for `kernel.bwds` and `kernel.fwds`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Set
from contextlib import contextmanager
from typing import Any

from difftile.compile.arguments import Arguments, field_at
from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.launch.tangents import make_writable, push_tangents
from difftile.recording.gradient_cuts import warn_of_field
from difftile.recording.history import FullHistory
from difftile.recording.opaque import Opaque, OpaqueStep
from difftile.recording.passes import begin_pass
from difftile.recording.replay import Replay
from difftile.recording.replayed_fields import tangents_after
from difftile.recording.snapshots import Snapshot
from difftile.recording.steps import Launch
from difftile.recording.uses import Use
from difftile.recording.work_fields import copied, zeros_of


def run_adjoint(kernel: str, launch: PreparedLaunch, values: Arguments) -> None:
    """Run the adjoint of a launch whose fields hold their contents from before it.

    Arguments and errors as for `launched_for_adjoint`.
    """
    with launched_for_adjoint(kernel, launch, values) as reverse:
        reverse()


@contextmanager
def launched_for_adjoint(
    kernel: str, launch: PreparedLaunch, values: Arguments
) -> Generator[Callable[[], None]]:
    """Launch in other memory, and give a block the function that runs the adjoint.

    A kernel of several stages needs the launch. The fields hold their contents from before it, and
    do so again after the block.

    Args:
        kernel: The kernel in the words of an error.
        launch: The launch.
        values: The values of its parameters.

    Raises:
        LaunchError: No field that the launch writes has a gradient.
    """
    found = launch.plans()
    found.check(values)
    plans = found.stages
    written = {one.storage: one for plan in plans for one in _fields(values, plan.writes)}
    code = launch.code
    outputs = {
        code.params[k].name: field
        for k in code.writes
        if (field := field_at(values, k)) not in code.temps
    }
    _check_seeds(kernel, outputs)
    read = {one.storage for plan in plans for one in _fields(values, plan.loads)}
    with _held(written) as history:
        history.record(Launch(launch, values, plans))
        yield lambda: _replay(history, written, read)


def run_adjoint_of_step(title: str, step: OpaqueStep) -> None:
    """Run the reverse of a step whose fields hold their contents from before it.

    The step itself runs once more, in other memory.

    Args:
        title: The step in the words of an error.
        step: The step.

    Raises:
        LaunchError: No field that the step writes has a gradient.
    """
    opaque = Opaque(step, step.uses, constant=False)
    with _held(field.storage for field in opaque.writes) as history:
        history.record(opaque)
        used = [use for use in opaque.uses if use.writes]
        _check_seeds(title, {use.name: use.field for use in used})
        written = {use.field.storage: use.field for use in used}
        # Outside the parts that are written, a gradient stays unchanged.
        read = {use.field.storage for use in used if not use.overwrites}
        _replay(history, written, read)


@contextmanager
def _held(storages: Iterable[Storage]) -> Generator[FullHistory]:
    """Let fields be changed and recorded inside a block; restore their contents at its end."""
    before = Snapshot(0)
    for storage in storages:
        before.hold(storage)
    history = FullHistory()
    try:
        yield history
    finally:
        history.release()
        before.restore()
        before.release()


def _replay(history: FullHistory, written: Mapping[Storage, Field], read: Set[Storage]) -> None:
    """Replay the records; gradients of fields that are only written stay as they are."""
    begin_pass()
    replay = Replay(written, accumulate=False, seeds=written.keys() - read)
    for field in written.values():
        if field.has_grads:
            replay.gradient(field)  # elements that no adjoint touches pass through, too
    for record in history.backwards(keep=False):
        replay.reverse(record)
    replay.finish()


def _fields(values: Arguments, positions: Iterable[int]) -> list[Field]:
    return [field_at(values, k) for k in positions]


def _check_seeds(title: str, outputs: Mapping[str, Field]) -> None:
    if not any(field.grad_in is not None for field in outputs.values()):
        names = " and ".join(f"'{name}'" for name in outputs) or "no field"
        raise LaunchError(
            f"{title}: bwds() reads the gradients of the written fields, and {names} has none. "
            "Make it with grad=True, set y.grad, then call bwds()."
        )


def _check_tangents(title: str, fields: Iterable[Field]) -> None:
    if not any(field.has_grads for field in fields):
        raise LaunchError(
            f"{title}: fwds() keeps tangents in gradient buffers, and no field has one. "
            "Make fields with grad=True, set x.grad, then call fwds()."
        )


def run_tangents(kernel: str, launch: PreparedLaunch, values: Arguments) -> None:
    """Launch a kernel and push the tangents of its fields through the launch.

    Args:
        kernel: The kernel in the words of an error.
        launch: The launch.
        values: The values of its parameters.

    Raises:
        LaunchError: No field has a gradient buffer, which holds the tangents.
    """
    code = launch.code
    graded = {k: v for k, v in enumerate(values) if isinstance(v, Field) and v.has_grads}
    _check_tangents(kernel, (field for field in graded.values() if field not in code.temps))
    wanted = code.wanted(launch.grads())
    cuts = [cut for stage in code.stages for cut in stage.cuts(wanted).items()]
    for array, span in cuts:  # no adjoint has to exist for that
        why = "has no gradient buffer to hold it"
        warn_of_field(array.name, span, "tangent", why)
    dots = {k: _tangent_of(field) for k, field in graded.items()}
    push_tangents(code, values, dots)
    for k, field in graded.items():
        if field.grad_in is not None and dots[k] is not field.grad_in:
            field.grad_in.fresh_if_pinned(keep=False).copy_from(dots[k].buffer)


def run_tangents_of_step(title: str, step: OpaqueStep) -> Any:
    """Run a step, push the tangents of its fields through it, and return the values it saved.

    Args:
        title: The step in the words of an error.
        step: The step; its `reverse` is given tangents in `grad_out` and sets `grad_in`.

    Raises:
        LaunchError: No field has a gradient buffer, which holds the tangents.
    """
    _check_tangents(title, (use.field for use in step.uses))
    opaque = Opaque(step, step.uses, constant=False)
    saved, record = opaque.execute(record=True)
    after: dict[Use, Field] = {}
    try:
        if record is not None:
            after = tangents_after(record, _tangent_before)
    finally:
        if record is not None:
            record.release()
    for use in opaque.uses:
        tangent = use.field.origin.grad_in
        if tangent is not None:
            dots = after.get(use)
            dots = _tangent_before(use.field.origin) if dots is None else dots
            tangent.fresh_if_pinned(keep=False).copy_from(dots.buffer)
    return saved


def _tangent_before(field: Field) -> Field:
    """Return a copy of a field's tangent as it is before a step."""
    return zeros_of(field) if field.grad_out is None else copied(field.grad_out)


def _tangent_of(field: Field) -> Field:
    """Return the memory for a field's tangent, as it is before the launch."""
    if field.grad_out is not None and field.grad_in is field.grad_out:
        make_writable(field.grad_out)
        return field.grad_out
    return _tangent_before(field)
