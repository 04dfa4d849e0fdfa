"""Values and errors of all ranks, on all ranks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from difftile.diagnostics import DatasetError, DifftileError, FieldError, LaunchError, TapeError
from difftile.ranks import RankError
from difftile.ranks.collect import gather_bytes

Plain: TypeAlias = Any
"""What JSON holds: texts, numbers, lists and objects of these."""

_KINDS: dict[str, type[DifftileError]] = {
    one.__name__: one for one in (FieldError, LaunchError, TapeError, RankError)
}
_DATASET, _SYSTEM = DatasetError.__name__, OSError.__name__


def shared(action: Callable[[], Plain], what: str) -> list[Plain]:
    """Run an action on every rank; return the results of all ranks, or raise one error on all.

    Args:
        action: Returns a value that JSON holds. It does not communicate.
        what: The step in errors: "dist.save()".

    Raises:
        DifftileError: The action raised it on some rank; the first such rank decides.
        OSError: Likewise.
        RankError: The action failed otherwise on another rank, or a rank did not answer.
    """
    own: Exception | None = None
    try:
        said = json.dumps([None, action()])
    except Exception as error:  # raised below, on all ranks
        own, said = error, json.dumps([_described(error), None])
    answers = [json.loads(one) for one in gather_bytes(said.encode(), what)]
    errors = [error for error, _ in answers]
    failed = next((rank for rank, error in enumerate(errors) if error is not None), None)
    if failed is None:
        return [value for _, value in answers]
    only = any(error != errors[failed] for error in errors)
    if own is not None and (not only or not isinstance(own, (DifftileError, OSError))):
        raise own
    raise _restored(errors[failed], failed if only else None, what)


def _described(error: Exception) -> list[Any]:
    if isinstance(error, DatasetError):
        return [_DATASET, error.path, error.found, error.expected, error.hint]
    if isinstance(error, OSError):
        said = str(error) if error.errno is None else error.strerror
        return [_SYSTEM, said, error.errno, None if error.filename is None else str(error.filename)]
    return [type(error).__name__, str(error)]


def _restored(error: list[Any], rank: int | None, what: str) -> Exception:
    """Return the error of a rank for all ranks.

    Args:
        error: Its description.
        rank: The rank; None if all have the same error.
        what: The step.
    """
    kind, *parts = error
    where = "" if rank is None else f"on rank {rank}: "
    if kind == _DATASET:
        path, found, expected, hint = parts
        return DatasetError(path, where + found, expected, hint=hint)
    if kind == _SYSTEM:
        said, number, path = parts
        if number is None:
            return OSError(where + said)
        return OSError(number, where + said, path)
    if kind in _KINDS:
        return _KINDS[kind]((where and where[0].upper() + where[1:]) + parts[0])
    return RankError(f"{what} failed on rank {rank}: {kind}: {parts[0]}")
