"""Losses over all ranks, as steps of a tape: sums, means and extremes of one number a rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError, TapeError, brief
from difftile.ranks import current
from difftile.ranks.collect import gather
from difftile.recording.opaque import OpaqueStep
from difftile.recording.perform import perform
from difftile.recording.replayed_fields import ReverseContext
from difftile.recording.uses import Keeps, Use
from difftile.tracebacks import boundary

Numbers = npt.NDArray[np.float64]


@boundary
def sum(number: dt.Field | float, *, local: bool = False) -> dt.Field:
    """Replace a number by its sum over all ranks; a step of the tape.

    Each rank calls it at the end of its loss, and gets the same bits. From then on all ranks
    compute the same, so that each has the whole gradient of what it added: the adjoint is the
    identity on each rank. Gradients of parameters that all ranks have are partial then;
    `dist.all_reduce(parameters)`, or `dt.Tape(loss, reduce=dist.Gradients(parameters))`, adds them.

    Args:
        number: A field of one element, which is overwritten; or a number, as `dt.value` takes it.
        local: Whether ranks use the result differently, as where each divides its part of a field
            by a norm of all of it. The adjoint adds up the gradients of all ranks then.

    Returns:
        The field.

    Raises:
        FieldError: This is no number, or a field that is split among ranks.
        RankError: Another rank failed, or did not answer.
        TapeError: In the backward pass: ranks use the result differently, and `local` is not set.
    """
    return _combined("sum", number, local)


@boundary
def mean(number: dt.Field | float, *, local: bool = False) -> dt.Field:
    """Replace a number by its mean over all ranks; see `dist.sum`.

    The adjoint divides by the number of ranks. Ranks without a scenario count as well: where ranks
    have different numbers of scenarios, divide by the number of all of them and use `dist.sum`.
    """
    return _combined("mean", number, local)


@boundary
def max(number: dt.Field | float, *, local: bool = False) -> dt.Field:
    """Replace a number by the largest of all ranks; see `dist.sum`.

    The gradient goes to the rank that holds it, and in equal parts to several that do.
    """
    return _combined("max", number, local)


@boundary
def min(number: dt.Field | float, *, local: bool = False) -> dt.Field:
    """Replace a number by the smallest of all ranks; see `dist.max`."""
    return _combined("min", number, local)


def _combined(op: str, number: dt.Field | float, local: bool) -> dt.Field:
    what = f"dist.{op}"
    if isinstance(number, dt.ArrayLike):
        if not isinstance(number, dt.Field):
            raise FieldError(f"{what} takes a whole field of one element, not {brief(number)}.")
        if number.split is not None:
            raise FieldError(
                f"{what}: {number!r} is split among ranks, each of which has other elements. Add "
                f"up those of each rank in a kernel, over x.inner, and give {what} the number."
            )
        if number.size != 1:
            raise FieldError(
                f"{what} takes a field of one element, not {brief(number)}. Gradients are added "
                "up by dist.all_reduce(fields)."
            )
    field = number if isinstance(number, dt.Field) else dt.value(number)
    if op == "mean" and field.numpy_dtype.kind != "f":
        raise FieldError(f"{what}: {field!r} holds integers, which have no mean of their type.")
    remedy = (
        "If these are combined again, tell the first combination so: "
        f"{what}(x, local=True). If not, each rank has a loss of its own, and there is no "
        "gradient of all."
    )
    combine(op, field, what, remedy, local=local)
    return field


def combine(
    op: str,
    field: dt.Field,
    name: str,
    remedy: str,
    *,
    local: bool = False,
    ties: Numbers | None = None,
) -> None:
    """Replace a number by a combination of the numbers of all ranks; a step of the tape.

    Args:
        op: "sum", "mean", "max" or "min".
        field: The number of this rank.
        name: The name of the step in errors, the same on all ranks.
        remedy: The text of the error about ranks that use the result differently.
        local: Whether they do.
        ties: The number of elements of this rank that have the extreme, for each component; all
            of them have an equal part of the gradient. By default there is one.
    """
    perform(_Combination(op, field, name, remedy, local=local, ties=ties))


@dataclass(frozen=True, slots=True)
class _Weights:
    """The derivatives of the result by the number of each rank, shape (ranks, components)."""

    each: Numbers

    @property
    def nbytes(self) -> int:
        """The bytes that a tape keeps."""
        return self.each.nbytes


class _Combination(OpaqueStep):
    """One number of each rank becomes one for all; for the arguments see `combine`."""

    is_contained = True
    communicates = True

    def __init__(
        self, op: str, field: dt.Field, name: str, remedy: str, *, local: bool, ties: Numbers | None
    ) -> None:
        super().__init__(name, [Use(field, True, True, Keeps.NOTHING, "number")])
        self.op, self.field, self.remedy, self.local, self.ties = op, field, remedy, local, ties

    def run(self) -> _Weights:
        """Combine the numbers."""
        field = self.field
        own = field.buffer.array().reshape(-1)
        ties = np.ones(own.size) if self.ties is None else self.ties
        each, counts = np.split(
            gather(np.concatenate((own, ties)), self.name, own.dtype), 2, axis=1
        )
        result, weights = _COMBINED[self.op](each, counts)
        buffer = field.fresh_if_pinned(keep=False)
        shape = (*field.shape, *field.element_shape)
        buffer.write(result.reshape(shape).astype(field.numpy_dtype))
        return _Weights(weights)

    def reverse(self, then: ReverseContext, saved: _Weights) -> None:
        """Pass the gradient to the numbers of the ranks."""
        self._pull(then, saved)

    def derivative(self, at: Sequence[ReverseContext], saved: _Weights) -> bool:
        """Pass the gradient and its tangents, as the step is linear wherever it is smooth."""
        for one in at:
            self.reverse(one, saved)
        return True

    def _pull(self, fields: ReverseContext, saved: _Weights) -> None:
        incoming, outgoing = fields[self.field].grad_in, fields[self.field].grad_out
        assert incoming is not None and outgoing is not None
        each = _gathered(incoming, f"the adjoint of {self.name}")
        rank = current().rank
        own = each.sum(axis=0) if self.local else each[rank]
        if not self.local:
            self._check(each, self.field.numpy_dtype == np.float64)
        added = saved.each[rank] * own
        outgoing.add_numpy(added.reshape((*self.field.shape, *self.field.element_shape)))

    def _check(self, each: Numbers, double: bool) -> None:
        """Check that the gradient of the result is the same on all ranks.

        Raises:
            TapeError: It is not, so that ranks do not use the result in the same way.
        """
        spread = np.abs(each - each[0]).max(axis=1)
        size = np.abs(each).max(initial=0.0)
        if np.isfinite(size) and (spread > (1e-9 if double else 1e-3) * size).any():
            other = int(np.argmax(spread))
            raise TapeError(
                f"The gradient of the result of {self.name} is {_shown(each[0])} on rank 0 and "
                f"{_shown(each[other])} on rank {other}: the ranks go on to compute different "
                f"things with it. {self.remedy}"
            )

    def push(self, at: Sequence[ReverseContext], saved: _Weights) -> bool:
        """Combine the tangents of all ranks."""
        for one in at:
            before, after = one[self.field].grad_out, one[self.field].grad_in
            assert before is not None and after is not None
            each = _gathered(before, f"the tangent of {self.name}")
            values = (saved.each * each).sum(axis=0)
            after.from_numpy(values.reshape((*self.field.shape, *self.field.element_shape)))
        return True


def _gathered(field: dt.Field, what: str) -> Numbers:
    """Return the components of a number on all ranks, shape (ranks, components)."""
    array = field.buffer.array()
    return gather(array, what, array.dtype)


def _extreme(each: Numbers, best: Numbers, ties: Numbers) -> tuple[Numbers, Numbers]:
    holds = (each == best) * ties
    return best, holds / np.maximum(holds.sum(axis=0), 1)


_COMBINED: dict[str, Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]] = {
    "sum": lambda each, _: (each.sum(axis=0), np.ones_like(each)),
    "mean": lambda each, _: (each.mean(axis=0), np.full_like(each, 1.0 / len(each))),
    "max": lambda each, ties: _extreme(each, each.max(axis=0), ties),
    "min": lambda each, ties: _extreme(each, each.min(axis=0), ties),
}


def _shown(numbers: Numbers) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers)
