"""Gradients that ranks add up: in buckets, and sent while the rest of them is computed."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError, LaunchError, TapeError
from difftile.distributed.messaging import device_memory
from difftile.fields.gradient_changes import GradientGuard
from difftile.fields.recording import check_no_tape
from difftile.fields.rows import Change
from difftile.fields.storage import Storage
from difftile.optim.parameters import FieldsLike, NamedParameter, after, follow_rows, parameters_of
from difftile.ranks import Pending, current
from difftile.ranks.collect import compare
from difftile.recording.budget import parse_memory
from difftile.recording.reduction import COMBINED, MIXED, FinalGradients
from difftile.recording.replay import Replay
from difftile.recording.steps import TapeStep
from difftile.recording.tapes import TAPES
from difftile.tracebacks import boundary

BUCKET = "25MB"
_WORTH_A_MESSAGE = 1 << 20  # bytes of a gradient on a device, which goes from there directly
_OPS = ("sum", "mean")

Numbers = npt.NDArray[Any]


@boundary
def all_reduce(fields: FieldsLike, op: str = "sum", *, bucket: str | int = BUCKET) -> None:
    """Replace the gradients of fields by their sums over all ranks; all ranks call it.

    Each rank gets the same bits. Gradients that no rank has written since they were last added up
    stay as they are; where only some ranks have written one, the others count as zero. So a second
    call changes nothing, and a parameter that the loss of a step does not use has no gradient.

    `dt.Tape(loss, reduce=dist.Gradients(fields))` does the same while the tape computes them.

    Args:
        fields: Fields with gradients as for `dt.optim`: a field, a field of structs, `dt.Rows`, a
            leaf tensor of torch, a sequence of those, or a mapping from names to them.
        op: "sum" or "mean".
        bucket: The bytes of a message, about: small gradients of one type travel together, and
            larger ones by themselves.

    Raises:
        TapeError: A tape is open.
        FieldError: A field has no gradient, is split among ranks, or differs by rank.
        RankError: Another rank failed, or did not answer.
    """
    Gradients(fields, op, bucket=bucket).all_reduce()


class Gradients:
    """The gradients of parameters that are the same on all ranks, each of which has its own loss.

        gradients = dist.Gradients(parameters)
        with dt.Tape(loss, reduce=gradients):
            simulate()
            dist.sum(loss)

    A backward pass of such a tape sends a bucket as soon as no record that is left can change its
    gradients, and goes on meanwhile. The ranks agree on the order of the buckets when a pass
    begins. At its end the gradients are the sums over all ranks, with the same bits on each.

    Gradients that accumulate over several tapes are combined once: give `reduce` to the last tape.

    Args:
        fields: See `all_reduce`.
        op: "sum" or "mean".
        bucket: The bytes of a message, about.

    Raises:
        FieldError: A field has no gradient, or is split among ranks.
        LaunchError: An option is invalid.
    """

    @boundary
    def __init__(self, fields: FieldsLike, op: str = "sum", *, bucket: str | int = BUCKET) -> None:
        self.parameters = parameters_of(fields, "dist.Gradients", tensors=True)
        for one in self.parameters:
            if one.field.split is not None:
                raise FieldError(
                    f"dist.Gradients: {one} is split among ranks, so each has the gradient of its "
                    "own elements, and there is nothing to add up."
                )
        if op not in _OPS:
            raise LaunchError(f"dist.Gradients: op is 'sum' or 'mean', not {op!r}.")
        try:
            self.bucket = parse_memory(bucket)
        except TapeError:
            raise LaunchError(
                f"dist.Gradients: bucket is a text such as '25MB' or a number of bytes, "
                f"not {bucket!r}."
            ) from None
        self.op = op
        self.compared = False  # whether the ranks are known to have as many fields
        self.free: dict[tuple[str, int], list[Numbers]] = {}
        follow_rows(self.parameters, self)

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.parameters)
        return f"<dt.distributed.Gradients of {names}: {self.op} over ranks>"

    @property
    def fields(self) -> list[dt.Field]:
        """The fields whose gradients are combined, without tensors."""
        return [one.field.origin for one in self.parameters if one.tensor is None]

    def follow(self, change: Change) -> None:
        """Continue with other rows."""
        self.parameters = after(self.parameters, change)

    @boundary
    def all_reduce(self) -> None:
        """Combine the gradients now; see the function of this name.

        Raises:
            TapeError: A tape is open.
            FieldError: The fields differ by rank.
            RankError: Another rank failed, or did not answer.
        """
        check_no_tape("dist.all_reduce()")
        if current().size > 1:
            counts = [_fetched(one) for one in self.parameters]
            again = [bool(MIXED.get(one.grad.storage)) for one in self.parameters]
            _Round(self, range(len(self.parameters)), counts, again=again).finish()
            TAPES.replays += 1  # a backward pass of some rank, of which optimisers hear on all

    def begin(
        self,
        steps: Iterable[TapeStep],
        replay: Replay,
        *,
        accumulate: bool,
        late: Container[Storage],
    ) -> RunningGradients:
        """Begin a backward pass; the tape calls this."""
        return RunningGradients(self, steps, replay, accumulate=accumulate, late=late)

    def describe(self) -> str:
        """Return the fields and options in a line for each, by which ranks are compared."""
        lines = [f"{one.name}: {one.field.element} {one.field.shape}" for one in self.parameters]
        return "\n".join((*lines, f"op {self.op}, bucket {self.bucket}"))

    def memory(self, dtype: np.dtype[Any], size: int) -> Numbers:
        """Return memory for a bucket, from an earlier pass if there is some."""
        free = self.free.get((dtype.str, size))
        return free.pop() if free else np.empty(size, dtype)


class RunningGradients:
    """The gradients of one backward pass."""

    def __init__(
        self,
        owner: Gradients,
        steps: Iterable[TapeStep],
        replay: Replay,
        *,
        accumulate: bool,
        late: Container[Storage],
    ) -> None:
        self._round: _Round | None = None
        self._owner = owner
        if current().size == 1:
            return
        parameters = owner.parameters
        self._final = FinalGradients(steps, [one.field for one in parameters])
        first = self._final.first
        self._late: set[int] = set()
        counts: list[bool] = []
        again: list[bool] = []
        for k, one in enumerate(parameters):
            combined = bool(COMBINED.get(one.grad.storage))
            counts.append(first[k] >= 0 or (accumulate and not combined))
            adds = combined and first[k] >= 0
            again.append(accumulate and (adds or bool(MIXED.get(one.grad.storage))))
            origin = one.field.origin
            if first[k] >= 0 and (
                one.field.storage in late or replay.gradient(origin) is not origin.grad_out
            ):
                self._late.add(k)
        places = [k for k, one in enumerate(parameters) if one.tensor is None]
        self._tensors = [k for k, one in enumerate(parameters) if one.tensor is not None]
        by_place = sorted(places, key=lambda k: (k in self._late, -first[k]))
        order = {k: number for number, k in enumerate(by_place)}
        self._round = _Round(owner, places, counts, again=again, order=order)
        self._round.final(k for k in places if first[k] < 0)

    def reached(self, step: TapeStep) -> None:
        """Send the buckets whose gradients are final before a record of this step is reversed."""
        if self._round is not None:
            found = self._final.before(step)
            if found:
                self._round.final(k for k in found if k not in self._late)

    def finish(self) -> None:
        """Wait for all gradients, and write them back."""
        if self._round is not None:
            self._round.finish()
            if self._tensors:
                parameters = self._owner.parameters
                counts = [one.tensor is not None and _fetched(one) for one in parameters]
                _Round(self._owner, self._tensors, counts).finish()


@dataclass(slots=True)
class _Bucket:
    """Gradients of one type that travel together.

    Args:
        places: Their places among the parameters.
        dtype: The type of the numbers on the way.
        size: How many numbers there are.
        array: The numbers, once they are on their way.
        in_place: Whether that is the memory of the gradient itself.
        from_device: Whether it is memory of a device, on all ranks.
        pending: Their way.
    """

    places: list[int]
    dtype: np.dtype[Any]
    size: int = 0
    array: Any = None
    in_place: bool = False
    from_device: bool = False
    pending: Pending | None = field(default=None)


class _Round:
    """One combination of gradients.

    Args:
        owner: The gradients.
        places: The positions that take part.
        counts: Whether the contents of each count on this rank; otherwise it adds zeros.
        again: Whether a sum over ranks is among what would be added up.
        order: The order in which they become final here.

    Raises:
        FieldError: The fields differ by rank.
        TapeError: A gradient would be added up twice.
    """

    def __init__(
        self,
        owner: Gradients,
        places: Sequence[int],
        counts: Sequence[bool],
        *,
        again: Sequence[bool] = (),
        order: dict[int, int] | None = None,
    ) -> None:
        self._owner = owner
        self._counts = counts
        self._final: set[int] = set()
        self._sent = 0
        self._buckets = self._agreed(places, again, order or {})

    def _agreed(
        self, places: Sequence[int], again: Sequence[bool], order: dict[int, int]
    ) -> list[_Bucket]:
        """Return the buckets, which are the same on all ranks."""
        owner, n = self._owner, len(places)
        text = owner.describe()
        if not owner.compared:
            _compare(text)  # by a message of one size, as there may be more fields on some rank
            owner.compared = True
            current().side_channel()  # made by all ranks together
        numbers = np.zeros(2 + 3 * n)
        numbers[:2] = _print(text)
        numbers[2:] = [
            *(self._counts[k] for k in places),
            *(bool(again) and again[k] for k in places),
            *(order.get(k, 0) for k in places),
        ]
        engine = current()
        engine.all_reduce(numbers).wait("the agreement on gradients")
        if _differ(numbers, engine.size):
            _compare(text)
        some, twice, numbered = numbers[2:].reshape(3, n)
        if twice.any():
            one = owner.parameters[places[int(np.argmax(twice))]]
            raise TapeError(
                f"The gradient of {one} holds the sum over all ranks already, to which a tape adds "
                "or has added: that sum would be counted once for each rank. Clear it first, "
                "dt.zero_grads(fields), or add up gradients only after the last of the tapes."
            )
        wanted = [j for j in range(n) if some[j] > 0]
        wanted.sort(key=lambda j: (numbered[j], j))
        return self._buckets_of([places[j] for j in wanted])

    def _buckets_of(self, places: Sequence[int]) -> list[_Bucket]:
        done: list[_Bucket] = []
        open_: dict[np.dtype[Any], _Bucket] = {}
        for k in places:
            one = self._owner.parameters[k]
            dtype = _dtype_of(one)
            size = _size_of(one)
            if self._goes_from_device(one):
                done.append(_Bucket([k], dtype, size, from_device=True))
                continue
            bucket = open_.get(dtype)
            if bucket is not None and (bucket.size + size) * dtype.itemsize > self._owner.bucket:
                done.append(open_.pop(dtype))
                bucket = None
            if bucket is None:
                bucket = open_[dtype] = _Bucket([], dtype)
            bucket.places.append(k)
            bucket.size += size
        return [*done, *open_.values()]

    def final(self, places: Iterable[int]) -> None:
        """Send the buckets that are complete now, in their order."""
        self._final.update(places)
        while self._sent < len(self._buckets):
            bucket = self._buckets[self._sent]
            if not self._final.issuperset(bucket.places):
                break
            self._send(bucket)
            self._sent += 1

    def finish(self) -> None:
        """Send the rest, wait, and write the combined gradients."""
        self.final(range(len(self._owner.parameters)))
        for bucket in self._buckets:
            self._take(bucket)

    def _send(self, bucket: _Bucket) -> None:
        parameters = self._owner.parameters
        if bucket.from_device:
            bucket.array = self._on_device(bucket.places[0])
            bucket.in_place = True
        elif len(bucket.places) == 1:
            bucket.array = self._whole(bucket)
            bucket.in_place = bucket.array is not None
        if bucket.array is None:
            bucket.array = self._owner.memory(bucket.dtype, bucket.size)
            start = 0
            for k in bucket.places:
                part = bucket.array[start : start + _size_of(parameters[k])]
                if self._counts[k]:
                    part[...] = parameters[k].grad.buffer.array().reshape(-1)
                else:
                    part.fill(0)
                start += part.size
        bucket.pending = current().side_channel().all_reduce(bucket.array, agreed=True)

    def _goes_from_device(self, one: NamedParameter) -> bool:
        """Tell whether a gradient is added up in memory of the device; all ranks decide alike."""
        return (
            self._owner.op == "sum"
            and one.tensor is None
            and one.field.numpy_dtype != np.float16
            and one.field.nbytes >= _WORTH_A_MESSAGE
            and device_memory(one.grad.storage.buffer) is not None
        )

    def _on_device(self, k: int) -> Any:
        """Return the memory of a gradient on the device."""
        gradient = self._owner.parameters[k].grad
        buffer = gradient.fresh_if_pinned(keep=self._counts[k])
        if not self._counts[k]:
            buffer.fill(0.0)
        buffer.zeros = False
        return device_memory(gradient.storage.buffer)

    def _whole(self, bucket: _Bucket) -> Numbers | None:
        """Return the memory of a large gradient, if it can be combined where it is."""
        k = bucket.places[0]
        one = self._owner.parameters[k]
        large = bucket.size * bucket.dtype.itemsize >= self._owner.bucket
        if (
            not large
            or not self._counts[k]
            or one.field.numpy_dtype == np.float16
            or one.tensor is not None
        ):
            return None
        storage = one.grad.storage
        if storage.buffer.is_shared or storage.buffer.pins or _dtype_of(one) != bucket.dtype:
            return None
        memory = storage.buffer.view
        return None if memory is None else memory.reshape(-1)

    def _take(self, bucket: _Bucket) -> None:
        array, pending = bucket.array, bucket.pending
        assert pending is not None
        parameters = [self._owner.parameters[k] for k in bucket.places]
        pending.wait(f"the sum of the gradients of {_names(parameters)}")
        if self._owner.op == "mean":
            array /= current().size
        start = 0
        for one in parameters:
            gradient, size = one.grad, _size_of(one)
            GradientGuard.changes({gradient.storage})
            if bucket.in_place:
                gradient.storage.buffer.zeros = False
            else:
                buffer = gradient.fresh_if_pinned(keep=False)
                shape, dtype = buffer.array().shape, one.field.numpy_dtype
                buffer.write(array[start : start + size].reshape(shape).astype(dtype, copy=False))
            start += size
            COMBINED.note(gradient.storage, True)
            _store(one)
        if not bucket.in_place:
            self._owner.free.setdefault((array.dtype.str, array.size), []).append(array)


def _names(parameters: Sequence[NamedParameter]) -> str:
    names = [f"'{one.name}'" for one in parameters[:3]]
    more = len(parameters) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _size_of(one: NamedParameter) -> int:
    return one.field.buffer.nbytes // one.field.numpy_dtype.itemsize


def _dtype_of(one: NamedParameter) -> np.dtype[Any]:
    """Return the type in which gradients are added up: single precision for half."""
    dtype = one.field.numpy_dtype
    return np.dtype(np.float32) if dtype == np.float16 else dtype


# Tensors of torch, whose gradients are copied into fields and back


def _fetched(one: NamedParameter) -> bool:
    """Tell whether the gradient of a parameter counts; a tensor's is fetched."""
    return one.tensor.fetch() if one.tensor is not None else not COMBINED.get(one.grad.storage)


def _store(one: NamedParameter) -> None:
    """Write a gradient back to a tensor."""
    if one.tensor is None:
        return
    tensor = one.tensor.tensor
    gradient = tensor.grad
    if gradient is None or gradient.is_sparse or not gradient.is_contiguous():
        tensor.grad = gradient = tensor.detach().new_zeros(tensor.shape)
    dt.from_dlpack(gradient.detach()).copy_from(one.grad)


# Whether the ranks mean the same


def _print(text: str) -> tuple[float, float]:
    """Return a fingerprint and its square, both exact in sums over thousands of ranks."""
    found = float(zlib.crc32(text.encode()) & 0xFFFFF)
    return found, found * found


def _differ(numbers: npt.NDArray[np.float64], size: int) -> bool:
    """Tell whether sums of a number and of its square show that the number differs by rank."""
    return bool(numbers[0] ** 2 != size * numbers[1])


def _compare(text: str) -> None:
    """Check that all ranks have the same fields.

    Raises:
        FieldError: They have not.
    """
    different = compare(text, "the agreement on gradients")
    if different is not None:
        rank, here, there = different
        raise FieldError(
            f"Gradients are added up element by element, and the fields differ by rank: rank "
            f"{rank} has {here}, and rank 0 has {there}."
        )
