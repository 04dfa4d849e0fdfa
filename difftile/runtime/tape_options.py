"""What the arguments of a tape ask for."""

from __future__ import annotations

from collections.abc import Sequence

from difftile.diagnosis.diagnosis import Diagnosis
from difftile.diagnostics import TapeError, brief
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import as_integer
from difftile.fields.field import Field
from difftile.recording.budget import parse_memory
from difftile.recording.history import FullHistory, History
from difftile.recording.limited_history import LimitedHistory
from difftile.recording.tapes import TAPES


def history_for(memory: str | int | None, snapshots: int | None) -> History:
    """Return the way of keeping old values that a tape's arguments ask for.

    Raises:
        TapeError: A limit is invalid, or both are given.
    """
    if memory is None and snapshots is None:
        return FullHistory(lambda: len(TAPES.holders) == 1)
    if memory is not None and snapshots is not None:
        raise TapeError("Give a tape 'memory' or 'snapshots', not both.")
    if memory is not None:
        limit = parse_memory(memory)
        return LimitedHistory(lambda _: limit)
    count = as_integer(snapshots)
    if count is None or count < 3:
        raise TapeError(f"'snapshots' is a number from 3 on, not {brief(snapshots)}.")
    return LimitedHistory(lambda state: count * state)


def diagnosis_for(diagnose: bool | Field | Sequence[Field]) -> Diagnosis | None:
    """Return the diagnosis of the tape, if requested.

    Raises:
        TapeError: An object to be diagnosed is not a field, or has no gradient.
    """
    if isinstance(diagnose, bool):
        return Diagnosis(()) if diagnose else None
    diagnose = (diagnose,) if isinstance(diagnose, ArrayLike) else tuple(diagnose)
    for field in diagnose:
        if not isinstance(field, Field):
            raise TapeError(f"diagnose is True, or takes whole fields, not {brief(field)}.")
        if not field.has_grads:
            raise TapeError(f"{field!r} has no gradient to diagnose; make it with grad=True.")
    return Diagnosis(diagnose)


def retained_fields(retain: Field | Sequence[Field]) -> tuple[Field, ...]:
    """Return the fields that keep the gradient with respect to the values last written to them.

    Raises:
        TapeError: An object is not a field.
    """
    fields = (retain,) if isinstance(retain, ArrayLike) else tuple(retain)
    for field in fields:
        if not isinstance(field, Field):
            raise TapeError(f"retain takes whole fields, not {brief(field)}.")
    return fields
