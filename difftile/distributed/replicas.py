"""Fields that all ranks have with the same contents: given by one rank, and compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

import difftile as dt
from difftile.diagnostics import FieldError, brief
from difftile.fields.exchange import as_integer
from difftile.fields.recording import check_no_tape
from difftile.optim.tensors import is_tensor
from difftile.ranks import current
from difftile.ranks.collect import broadcast as broadcast_array
from difftile.ranks.collect import compare, gather
from difftile.tracebacks import boundary

Given: TypeAlias = Any
"""A field, a field of structs, `dt.Rows`, a tensor of torch; a sequence or a mapping of those."""


@boundary
def broadcast(fields: Given, root: int = 0) -> None:
    """Overwrite fields with one rank's; all ranks call it, with fields of the same shapes.

    At the start of data-parallel training all ranks take the parameters of rank 0:
    `dist.broadcast(parameters)`.

    Args:
        fields: A field, a field of structs, `dt.Rows`, a tensor of torch, a sequence of those, or a
            mapping from names to them. Gradients are left as they are.
        root: The rank that gives its contents.

    Raises:
        TapeError: A tape is open.
        FieldError: Names, types or shapes differ by rank, or a field is split among ranks.
        RankError: There is no such rank, or another rank failed, or did not answer.
    """
    check_no_tape("dist.broadcast()")
    found = _named(fields, "dist.broadcast")
    rank = as_integer(root)
    if rank is None or not 0 <= rank < current().size:
        raise FieldError(
            f"dist.broadcast: root is a rank from 0 to {current().size - 1}, not {brief(root)}."
        )
    _compare_shapes(found, "dist.broadcast")
    if current().size == 1:
        return
    for name, field in found:
        values = field.buffer.read()
        broadcast_array(values, rank, f"the broadcast of '{name}'")
        if current().rank != rank:
            field.before_write()
            field.put(None, values)


@boundary
def check(fields: Given) -> None:
    """Check that fields are the same on all ranks, to the last bit; all ranks call it.

    One number for each field travels, so this is cheap enough for every few steps.

    Args:
        fields: See `broadcast`.

    Raises:
        TapeError: A tape is open.
        FieldError: Contents, names, types or shapes differ. The error names the field, a rank and
            the first element that differs; it is the same on all ranks.
        RankError: Another rank failed, or did not answer.
    """
    check_no_tape("dist.check()")
    found = _named(fields, "dist.check")
    _compare_shapes(found, "dist.check")
    if current().size == 1:
        return
    prints = gather([_print(_bytes(field)) for _, field in found], "the comparison of fields")
    for (name, field), each in zip(found, prints.T, strict=True):
        if (each != each[0]).any():
            _raise_difference(name, field, int(np.argmax(each != each[0])))


def _raise_difference(name: str, field: dt.Field, rank: int) -> None:
    """Raise the error about a field whose contents on a rank differ from those on rank 0."""
    what = f"the comparison of '{name}'"
    own = np.ascontiguousarray(field.buffer.array())
    values = own.copy()
    broadcast_array(values, 0, what)
    raw = (one.reshape(-1).view(np.uint8).reshape(own.size, -1) for one in (own, values))
    differs = np.any(np.not_equal(*raw), axis=1)
    at = int(np.argmax(differs))
    numbers = own.reshape(-1)
    place = gather([at, float(numbers[at])], what)[rank]
    first = int(place[0])
    index = tuple(int(k) for k in np.unravel_index(first, own.shape))
    at_, parts = index[: field.ndim], index[field.ndim :]
    where = f"at index {at_ if len(at_) != 1 else at_[0]}" if at_ else "in its element"
    where += f", component {parts if len(parts) != 1 else parts[0]}" if parts else ""
    there = values.reshape(-1)[first]
    raise FieldError(
        f"dist.check: '{name}', {field.named()}, differs by rank: {where} it is "
        f"{place[1]:.17g} on rank {rank} and {there:.17g} on rank 0. Parameters stay the same if "
        "they start from dist.broadcast(parameters), and all ranks move them along the same "
        "gradients, dist.all_reduce(parameters)."
    )


def _compare_shapes(found: Sequence[tuple[str, dt.Field]], what: str) -> None:
    """Check that all ranks have fields of the same names, types and shapes."""
    lines = [f"'{name}' of {field.element}, shape {field.shape}" for name, field in found]
    different = compare("\n".join(lines), what)
    if different is not None:
        rank, here, there = different
        raise FieldError(
            f"{what}: the ranks have different fields: rank {rank} has {here}, and rank 0 has "
            f"{there}."
        )


def _bytes(field: dt.Field) -> bytes:
    return np.ascontiguousarray(field.buffer.array()).tobytes()


def _print(data: bytes) -> float:
    """Return a number that differs for different bytes, and is exact in double precision."""
    return float(int.from_bytes(hashlib.blake2b(data, digest_size=6).digest(), "little"))


def _named(fields: Given, what: str) -> list[tuple[str, dt.Field]]:
    """Return the fields that a user gave, with names.

    Raises:
        FieldError: One is no whole field, or is split among ranks.
    """
    if isinstance(fields, Mapping):
        given = [(str(name), one) for name, one in cast("Mapping[Any, Any]", fields).items()]
    elif isinstance(fields, (dt.ArrayLike, dt.StructField, dt.Rows)) or is_tensor(fields):
        given = [("", fields)]
    elif isinstance(fields, Sequence) or hasattr(fields, "__next__"):
        given = [(str(place), one) for place, one in enumerate(cast("Sequence[Any]", fields))]
    else:
        given = [("", fields)]
    found: list[tuple[str, dt.Field]] = []
    for name, one in given:
        if isinstance(one, (dt.StructField, dt.Rows)):
            prefix = f"{name}." if name else ""
            inner = one.items() if isinstance(one, dt.Rows) else one.fields()
            found += [(prefix + n, field) for n, field in inner]
        elif isinstance(one, dt.Field):
            found.append((name or "field", one))
        elif is_tensor(one):
            found.append((name or "tensor", dt.from_dlpack(cast(Any, one).detach())))
        else:
            raise FieldError(f"{what} takes whole fields, not {brief(one)}.")
    for name, field in found:
        if field.split is not None:
            raise FieldError(
                f"{what}: '{name}', {field!r}, is split among ranks, each of which has other "
                "elements. Parts meet by x.exchange()."
            )
    return found
