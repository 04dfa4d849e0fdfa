"""Parameters of which each rank moves a part: its gradients, its state, and the parts of others.

The elements of all parameters, one after the other, are divided among the ranks by their bytes. A
rank has the optimiser's state of its own part only. A step brings the gradients there, moves the
part, and sends it to all others (Rajbhandari et al., ZeRO: Memory Optimizations Toward Training
Trillion Parameter Models, 2020, stages 1 and 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.rows import rows_of
from difftile.optim.parameters import NamedParameter
from difftile.ranks import Message, agree, current
from difftile.ranks.collect import compare, gather, gather_bytes
from difftile.recording.reduction import COMBINED

Array = npt.NDArray[Any]
_ROUND = 25_000_000  # bytes of gradients that travel at a time


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a parameter that one rank moves.

    Args:
        start: The first element, of those in a row.
        stop: The first one after them.
    """

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def of(self, values: Array, inner: int) -> Array:
        """Return this part of a whole parameter, whose last axes are `inner`."""
        shape = values.shape[values.ndim - inner :]
        return values.reshape(-1, *shape)[self.start : self.stop]


class Shards:
    """The division of parameters among ranks; all ranks make it together.

    Args:
        parameters: The parameters.
        who: The optimiser in messages.
        reduce: How the gradients of ranks are combined: "sum" or "mean"; None where they are the
            same on all ranks.

    Attributes:
        fields: The part that this rank moves of each parameter; None where it moves none.
        gradients: The gradients of those.

    Raises:
        FieldError: A parameter cannot be divided, or differs by rank.
    """

    def __init__(self, parameters: Sequence[NamedParameter], who: str, reduce: str | None) -> None:
        self._who, self._reduce = who, reduce
        for one in parameters:
            _check(one, who)
        lines = [f"{one.name}: {one.field.element} {one.field.shape}" for one in parameters]
        different = compare("\n".join(lines), f"the start of {who}")
        if different is not None:
            rank, here, there = different
            raise FieldError(
                f"{who}: the ranks move different fields: rank {rank} has {here}, and rank 0 has "
                f"{there}."
            )
        self.rank, self.size = current().rank, current().size
        self._inner = [len(one.field.element_shape) for one in parameters]
        self._pieces = _pieces(parameters, self.size)
        own = self._pieces[self.rank]
        self.fields: list[dt.Field | None] = []
        self.gradients: list[dt.Field | None] = []
        for one, piece in zip(parameters, own, strict=True):
            for side in (self.fields, self.gradients):
                side.append(dt.empty(len(piece), one.field.dtype) if len(piece) else None)

    @property
    def own(self) -> list[Piece]:
        """The part of each parameter that this rank moves."""
        return self._pieces[self.rank]

    def state_shape(self, k: int) -> tuple[int, ...] | None:
        """Return the shape of the state of a parameter on this rank; None where it has none."""
        return (len(self.own[k]),) if len(self.own[k]) else None

    # A step

    def fetch(self, parameters: Sequence[NamedParameter]) -> None:
        """Bring values and gradients of the own part.

        Raises:
            LaunchError: The gradients do not match the option.
        """
        own = self.own
        for k, one in enumerate(parameters):
            part = self.fields[k]
            if part is not None:
                part.buffer.write(own[k].of(one.field.buffer.array(), self._inner[k]))
        self._check_gradients(parameters)
        if self._reduce is None:
            for k, one in enumerate(parameters):
                part = self.gradients[k]
                if part is not None:
                    part.buffer.write(own[k].of(one.grad.buffer.array(), self._inner[k]))
            return
        for some in _rounds(parameters):
            self._reduce_some(parameters, some)

    def _reduce_some(self, parameters: Sequence[NamedParameter], some: Sequence[int]) -> None:
        """Send gradients to the ranks that move them, and combine what comes, by rank."""
        values = {k: parameters[k].grad.buffer.array() for k in some}

        def parts(rank: int) -> Iterator[Array]:
            for k in some:
                yield self._pieces[rank][k].of(values[k], self._inner[k])

        own = _joined(parts(self.rank))
        came = [own if rank == self.rank else np.empty_like(own) for rank in range(self.size)]
        others = [rank for rank in range(self.size) if rank != self.rank]
        current().exchange(
            [Message(rank, _joined(parts(rank))) for rank in others],
            [Message(rank, came[rank]) for rank in others],
        ).wait(f"the gradients of {self._who}")
        start = 0
        for k in some:
            part = self.gradients[k]
            if part is None:
                continue
            dtype = part.numpy_dtype
            shape = part.buffer.array().shape
            stop = start + part.buffer.nbytes
            each = [one[start:stop].view(dtype) for one in came]
            total = each[0].astype(_wide(dtype))
            for one in each[1:]:
                total += one
            if self._reduce == "mean":
                total /= self.size
            part.buffer.write(total.astype(dtype, copy=False).reshape(shape))
            start = stop

    def _check_gradients(self, parameters: Sequence[NamedParameter]) -> None:
        """Check that gradients are the same on all ranks, or are not sums over ranks already.

        Raises:
            LaunchError: They are not, or they are.
        """
        combined = [bool(COMBINED.get(one.grad.storage)) for one in parameters]
        if self._reduce is not None:
            if agree(float(any(combined)), "max"):
                raise LaunchError(
                    f"{self._who}: reduce={self._reduce!r} combines the gradients of the ranks in "
                    "the step, and they are combined already. Leave out either that or "
                    "dist.all_reduce()."
                )
            return
        if not agree(float(not all(combined)), "max"):
            return
        prints = [crc32(one.grad.buffer.array().tobytes()) for one in parameters]
        each = gather(prints, f"the gradients of {self._who}")
        if (each != each[0]).any():
            k = int(np.argmax((each != each[0]).any(axis=0)))
            raise LaunchError(
                f"{self._who}: the gradient of {parameters[k]} differs by rank. Add them up first, "
                "dist.all_reduce(fields), or in the step: reduce='sum'."
            )

    def give(self, parameters: Sequence[NamedParameter]) -> None:
        """Send the own part, which has moved, to all ranks."""
        own = _joined(part.buffer.array() for part in self.fields if part is not None)
        sizes = [
            sum(
                len(piece) * _nbytes_of(one.field)
                for piece, one in zip(pieces, parameters, strict=True)
            )
            for pieces in self._pieces
        ]
        came = [own if rank == self.rank else np.empty(n, np.uint8) for rank, n in enumerate(sizes)]
        others = [rank for rank in range(self.size) if rank != self.rank]
        current().exchange(
            [Message(rank, own) for rank in others],
            [Message(rank, came[rank]) for rank in others],
        ).wait(f"the parameters of {self._who}")
        arrays = self._assembled(
            came,
            [(one.field.shape, one.field.buffer.array().dtype) for one in parameters],
            parameters,
        )
        for one, values in zip(parameters, arrays, strict=True):
            one.field.before_write()
            one.field.put(None, values)

    # State

    def whole(
        self,
        parameters: Sequence[NamedParameter],
        states: Mapping[str, Mapping[str, dt.Field]],
        slots: Sequence[str],
    ) -> dict[str, Array]:
        """Return the state of all ranks as arrays by parameter and slot; all ranks call it."""
        dtypes = [state_dtype(one.field) for one in parameters]
        own = _joined(
            states[one.name][slot].buffer.array()
            for slot in slots
            for one in parameters
            if slot in states[one.name]
        )
        came = [np.frombuffer(one, np.uint8) for one in gather_bytes(own.tobytes(), "the state")]
        found: dict[str, Array] = {}
        starts = [0] * self.size
        for slot in slots:
            parts: list[Array] = []
            for rank, pieces in enumerate(self._pieces):
                nbytes = sum(
                    len(piece) * dtype.itemsize * math.prod(one.field.element_shape)
                    for piece, dtype, one in zip(pieces, dtypes, parameters, strict=True)
                )
                parts.append(came[rank][starts[rank] : starts[rank] + nbytes])
                starts[rank] += nbytes
            kinds = [
                (one.field.shape, dtype) for one, dtype in zip(parameters, dtypes, strict=True)
            ]
            arrays = self._assembled(parts, kinds, parameters)
            found |= {
                f"{one.name}.{slot}": array for one, array in zip(parameters, arrays, strict=True)
            }
        return {
            f"{one.name}.{slot}": found[f"{one.name}.{slot}"]
            for one in parameters
            for slot in slots
        }

    def own_part(self, k: int, values: Array) -> Array:
        """Return the own part of the state of a parameter."""
        return self.own[k].of(values, self._inner[k])

    def _assembled(
        self,
        came: Sequence[Array],
        kinds: Sequence[tuple[tuple[int, ...], np.dtype[Any]]],
        parameters: Sequence[NamedParameter],
    ) -> list[Array]:
        """Return whole arrays of the bytes of all ranks.

        Args:
            came: The bytes of each rank: its parts of all parameters.
            kinds: The shape of each parameter, and the type of its numbers.
            parameters: The parameters.
        """
        found: list[Array] = []
        starts = [0] * self.size
        for k, (one, (shape, dtype)) in enumerate(zip(parameters, kinds, strict=True)):
            inner = one.field.element_shape
            values = np.empty((*shape, *inner), dtype)
            for rank in range(self.size):
                part = self._pieces[rank][k].of(values, self._inner[k])
                stop = starts[rank] + part.nbytes
                part[...] = came[rank][starts[rank] : stop].view(dtype).reshape(part.shape)
                starts[rank] = stop
            found.append(values)
        return found


def _check(one: NamedParameter, who: str) -> None:
    """Refuse a parameter that cannot be divided.

    Raises:
        FieldError: It has rows that change, or belongs to torch, or is split already.
    """
    if one.tensor is not None:
        why = "is a tensor of torch, whose optimisers torch shards: torch.distributed.optim"
    elif rows_of(one.field) is not None:
        why = "belongs to rows, which change their number. Split the rows themselves among ranks"
    elif one.field.split is not None:
        why = "is split among ranks already, and so is its state"
    else:
        return
    raise FieldError(f"{who}: sharded=True divides whole fields, and {one} {why}.")


def _pieces(parameters: Sequence[NamedParameter], size: int) -> list[list[Piece]]:
    """Return the piece of each parameter for each rank, with as many bytes as elements allow."""
    each = [_nbytes_of(one.field) for one in parameters]
    counts = [one.field.size for one in parameters]
    ends = np.cumsum([n * nbytes for n, nbytes in zip(counts, each, strict=True)]).tolist()
    total = ends[-1]
    found: list[list[Piece]] = []
    for rank in range(size):
        pieces: list[Piece] = []
        for n, nbytes, end in zip(counts, each, ends, strict=True):
            begin = end - n * nbytes
            cuts = (-(-(total * r // size - begin) // nbytes) for r in (rank, rank + 1))
            pieces.append(Piece(*(min(max(cut, 0), n) for cut in cuts)))
        found.append(pieces)
    return found


def _rounds(parameters: Sequence[NamedParameter]) -> Iterator[list[int]]:
    """Yield the parameters whose gradients travel together."""
    some: list[int] = []
    nbytes = 0
    for k, one in enumerate(parameters):
        if some and nbytes + one.field.nbytes > _ROUND:
            yield some
            some, nbytes = [], 0
        some.append(k)
        nbytes += one.field.nbytes
    yield some


def _joined(arrays: Iterator[Array]) -> Array:
    """Return the bytes of arrays, one after the other."""
    parts = [np.ascontiguousarray(one).reshape(-1).view(np.uint8) for one in arrays]
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def _nbytes_of(field: dt.Field) -> int:
    """Return the bytes of an element."""
    return field.nbytes // field.size


def state_dtype(field: dt.Field) -> np.dtype[Any]:
    """Return the type of the numbers of the state: single precision for half."""
    return _wide(field.numpy_dtype)


def state_type(field: dt.Field) -> Any:
    """Return the type of the elements of the state."""
    number, shape = state_dtype(field), field.element_shape
    if not shape:
        return number
    return dt.vec(shape[0], number) if len(shape) == 1 else dt.mat(shape[0], shape[1], number)


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type for sums of many small numbers, for which half precision is too coarse."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype
