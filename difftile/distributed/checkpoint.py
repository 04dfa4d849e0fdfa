"""Checkpoints of ranks: written by all of them together, read by any number of ranks."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import numpy as np

from difftile.diagnostics import DatasetError, FieldError, did_you_mean
from difftile.distributed.blocks import (
    ABOUT,
    Checkpoint,
    FileBlock,
    Number,
    SavedArray,
    begin,
    crc32,
    finish,
    give_up,
    read_box,
    read_checkpoint,
    write_block,
)
from difftile.distributed.outside import field_of
from difftile.distributed.saved_items import (
    Contents,
    SavedItem,
    SavedPiece,
    State,
    item_of,
    kind_of,
    state_of,
)
from difftile.distributed.shared import shared
from difftile.fields.halos import exchange
from difftile.fields.recording import Recording, check_no_tape
from difftile.files.regular import read_bytes, shown
from difftile.ranks import current
from difftile.tracebacks import boundary

_SAVE, _LOAD = "dt.distributed.save()", "dt.distributed.load()"
_MOST = 2**53  # exact for all readers of JSON


@boundary
def save(path: str | os.PathLike[str], fields: Mapping[str, Any], /, **numbers: Number) -> None:
    """Write a checkpoint, of which every rank writes its own part; all ranks call this.

    The checkpoint is a folder, on a file system that all ranks share. It appears under its name
    when it is whole; an earlier one of that name stays until then, and is replaced.

    Args:
        path: The folder.
        fields: By name: fields of a grid, whose owned elements are saved, and their cells outside
            of the domain; other fields, parts of them, struct fields and `dt.Rows`, which are the
            same on all ranks; particles; optimisers, and other objects with `state_dict` and
            `load_state_dict`.
        numbers: Numbers and texts, the same on all ranks.

    Raises:
        FieldError: A value cannot be saved, or ranks differ where they must not; on all ranks.
        DatasetError: Something that is no checkpoint has that name, or the ranks do not share the
            file system; on all ranks.
        OSError: The files cannot be written, as on a full disk; on all ranks. What was written is
            removed.
        RankError: Another rank failed, or did not answer.
    """
    target, rank = Path(path), current().rank
    items: list[SavedItem] = []

    def describe() -> list[Any]:
        items.extend(_items(fields, states, _SAVE))
        given = {name: _number(name, number) for name, number in numbers.items()}
        return [os.fspath(path), given, [_described(one) for one in _pieces(items)]]

    with Recording():  # an open tape does not hear of it
        states = _states(fields, _SAVE)
        answers = shared(describe, _SAVE)
        _check_alike(answers)
        made = shared(lambda: _begun(target) if rank == 0 else None, _SAVE)[0]
        folder, number = Path(made[0]), str(made[1])
        arrays, owners = _laid_out([parts for _, _, parts in answers], number)

        def write() -> None:
            if not (folder / number).is_dir():
                raise DatasetError(
                    target, "is in a folder that only rank 0 sees", "one that all ranks share"
                )
            for piece in _pieces(items):
                for owner, block in zip(owners[piece.name], arrays[piece.name].blocks, strict=True):
                    if owner == rank:
                        write_block(folder / block.file, np.asarray(piece.read(), order="C"))

        saved = Checkpoint(target, answers[0][1], arrays)
        finished = False

        def complete() -> None:
            nonlocal finished
            if rank == 0:
                finish(target, folder, saved)
                finished = True

        try:
            shared(write, _SAVE)
            shared(complete, _SAVE)
        except Exception:  # on all ranks, which write no more
            if rank == 0 and not finished:
                give_up(target, folder, number)
            raise


@boundary
def load(
    path: str | os.PathLike[str], fields: Mapping[str, Any] | None = None, /
) -> dict[str, Number]:
    """Set fields and optimisers from a checkpoint; all ranks call this, in any number.

    Each rank reads the parts of the files that it needs. A field of a grid may have been saved by
    other ranks, or as a field that was the same on all of them, and the other way round; its halos
    are exchanged afterwards. Its cells outside of the domain are set if the checkpoint has them.
    Particles and `dt.Rows` take the rows of the checkpoint.

    Args:
        path: The folder that `save` wrote.
        fields: What to set, by the names in the checkpoint, which may have more.

    Returns:
        The numbers and texts that were saved.

    Raises:
        DatasetError: The checkpoint is missing or damaged, or lacks a name; or an array has another
            shape or type than the field. On all ranks, and nothing has changed.
        FieldError: A value cannot be set, or ranks load different names; on all ranks.
        LaunchError: A state belongs to another optimiser; on all ranks.
        TapeError: A tape is open.
        RankError: Another rank failed, or did not answer.
    """
    check_no_tape(_LOAD)
    items: list[SavedItem] = []
    saved: list[Checkpoint] = []
    found: dict[str, Contents] = {}

    def look() -> list[Any]:
        items.extend(_items(given, states, _LOAD))
        saved.append(read_checkpoint(Path(path)))
        _check_fits(saved[0], items)
        read = zlib.crc32(read_bytes(Path(path) / ABOUT))
        return [read, os.fspath(path)]

    def read() -> list[int]:
        for one in items:
            found.update(_read(saved[0], one))
        return [len(found[one.position]) for one in items if one.owns is not None]

    def put(*, together: bool = False) -> None:
        for one in items:
            if one.communicates == together:
                names = [piece.name for piece in one.pieces if piece.name in found]
                one.put({name: found[name] for name in names})

    given: Mapping[str, Any] = {} if fields is None else fields
    states = _states(given, _LOAD)
    answers = shared(look, _LOAD)
    for rank, (crc, _) in enumerate(answers):
        if crc != answers[0][0]:
            raise DatasetError(
                answers[0][1], f"is another checkpoint on rank {rank}", "one for all ranks"
            )
    _check_rows(saved[0], items, shared(read, _LOAD))
    shared(put, _LOAD)
    put(together=True)
    exchange([field for one in items for field in one.exchanged])
    return dict(saved[0].numbers)


# Given objects


def _states(fields: Mapping[str, Any], what: str) -> dict[str, State | None]:
    """Return the states of the objects that have one, after a check that ranks name the same.

    Raises:
        FieldError: An object cannot be saved, or ranks have different ones.
    """

    def look() -> list[list[str]]:
        if not isinstance(fields, Mapping):  # user input
            raise FieldError(f"{what} takes fields by name: ('checkpoint', {{'u': u}}).")
        return [[name, kind_of(name, one, what)] for name, one in fields.items()]

    first, *others = shared(look, what)
    for rank, other in enumerate(others, 1):
        if other != first:
            ours, theirs = (", ".join(f"'{n}' ({kind})" for n, kind in o) for o in (first, other))
            raise FieldError(f"{what}: rank 0 has {ours}, and rank {rank} {theirs or 'nothing'}.")
    return {name: state_of(one) for name, one in fields.items()}


def _items(
    fields: Mapping[str, Any], states: Mapping[str, State | None], what: str
) -> list[SavedItem]:
    items = [item_of(name, one, states[name]) for name, one in fields.items()]
    names = [piece.name for piece in _pieces(items)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FieldError(f"{what}: two arrays would be called '{twice}'; rename one.")
    return items


def _pieces(items: Sequence[SavedItem]) -> list[SavedPiece]:
    return [piece for one in items for piece in one.pieces]


def _number(name: str, given: Any) -> Number:
    """Return a number of a user as one that JSON holds."""
    one: object = cast("object", given.item()) if isinstance(given, np.generic) else given
    if isinstance(one, (bool, str)) or (isinstance(one, int) and abs(one) <= _MOST):
        return one
    if isinstance(one, float) and math.isfinite(one):
        return one
    raise FieldError(
        f"{_SAVE}: '{name}' is a finite number or a text, not {shown(given)}. Fields and "
        f"optimisers go into the dict: {{'{name}': ...}}."
    )


def _described(piece: SavedPiece) -> list[Any]:
    """Return the facts that other ranks have to know about an array."""
    crc = crc32(np.asarray(piece.read(), order="C"))
    return [piece.name, piece.dtype.str, piece.shape, piece.at, piece.size, piece.rows, crc]


# Writing


def _begun(target: Path) -> list[str]:
    folder, number = begin(target)
    return [str(folder), number]


def _check_alike(answers: Sequence[Any]) -> None:
    """Check that all ranks save the same.

    Raises:
        FieldError: They do not.
    """
    path, numbers, parts = answers[0]
    for rank, (other_path, other_numbers, other_parts) in enumerate(answers):
        for name, one, other in (
            ("to", path, other_path),
            ("the numbers", numbers, other_numbers),
            ("the names", [p[0] for p in parts], [p[0] for p in other_parts]),
        ):
            if one != other:
                raise FieldError(f"{_SAVE}: rank 0 saves {name} {one}, and rank {rank} {other}.")
        for one, other in zip(parts, other_parts, strict=True):
            if _kind(one) != _kind(other):
                raise FieldError(
                    f"{_SAVE}: '{one[0]}' has the shape {one[2]} of {one[1]} on rank 0, and "
                    f"{other[2]} of {other[1]} on rank {rank}."
                )
            if one[3] is None and one[6] != other[6]:
                raise FieldError(
                    f"{_SAVE}: '{one[0]}' differs between rank 0 and rank {rank}. Only fields of "
                    "a grid and particles may; dt.distributed.broadcast() makes others the same."
                )


def _kind(part: Any) -> tuple[Any, ...]:
    """Return the facts about an array that do not differ between ranks."""
    _, dtype, shape, at, _, rows, _ = part
    return dtype, shape[1:] if rows == "own" else shape, at is None, rows


def _laid_out(
    parts: Sequence[Sequence[Any]], number: str
) -> tuple[dict[str, SavedArray], dict[str, list[int]]]:
    """Return the arrays of a checkpoint, and by name which rank writes each block.

    Args:
        parts: The arrays as each rank has described them.
        number: The folder of the files.
    """
    arrays: dict[str, SavedArray] = {}
    owners: dict[str, list[int]] = {}
    files: set[str] = set()
    for place, of_ranks in enumerate(zip(*parts, strict=True)):
        name, dtype, shape, at, _, rows, _ = of_ranks[0]
        file = quote(name, safe="")
        if file.casefold() in files:  # one file for some file systems
            file = f"{file}~{place}"
        files.add(file.casefold())
        if at is None:  # the same on all ranks, which take turns in writing
            ranks = [place % len(parts)]
        else:
            ranks = [rank for rank, part in enumerate(of_ranks) if math.prod(part[4])]
        counts = [part[4][0] if rows == "own" else 0 for part in of_ranks]
        firsts = [0, *accumulate(counts)]
        blocks: list[FileBlock] = []
        for rank in ranks:
            _, _, _, start, size, _, crc = of_ranks[rank]
            start = start or [0] * len(size)
            if rows == "own":
                start = [firsts[rank], *start[1:]]
            suffix = "" if at is None else f".{rank}"
            blocks.append(FileBlock(f"{number}/{file}{suffix}.npy", tuple(start), tuple(size), crc))
        whole = (firsts[-1], *shape[1:]) if rows == "own" else tuple(shape)
        arrays[name] = SavedArray(np.dtype(dtype), whole, tuple(blocks))
        owners[name] = ranks
    return arrays, owners


# Reading


def _read(saved: Checkpoint, item: SavedItem) -> dict[str, Contents]:
    """Return the arrays of an object that this rank needs."""
    if item.owns is None:
        return {
            one.name: read_box(saved, one.name, *one.box(saved.arrays[one.name].shape))
            for one in item.pieces
            if one.outside is None or one.name in saved.arrays
        }
    # Each rank looks at all positions, and at the other arrays of files that have rows of its own.
    found: dict[str, list[Contents]] = {one.name: [] for one in item.pieces}
    for block in saved.arrays[item.position].blocks:
        first, count = block.at[0], block.shape[0]
        own = item.owns(read_box(saved, item.position, block.at, block.shape))
        for one in item.pieces if own.any() else ():
            inner = one.shape[1:]
            start, size = (first, *(0,) * len(inner)), (count, *inner)
            rows = read_box(saved, one.name, start, size)
            found[one.name].append(rows[own])
    return {
        one.name: np.concatenate([np.empty((0, *one.shape[1:]), one.dtype), *found[one.name]])
        for one in item.pieces
    }


def _check_rows(
    saved: Checkpoint, items: Sequence[SavedItem], counts: Sequence[Sequence[int]]
) -> None:
    """Check that every row is on one rank.

    Raises:
        DatasetError: Some rows belong to no rank.
    """
    filtered = [one for one in items if one.owns is not None]
    for one, *found in zip(filtered, *counts, strict=True):
        total = saved.arrays[one.position].shape[0]
        if sum(found) != total:
            raise DatasetError(
                saved.path,
                f"has {total} rows of '{one.name}', of which {total - sum(found)} belong to no "
                "rank",
                "positions in the grid",
            )


def _check_fits(saved: Checkpoint, items: Sequence[SavedItem]) -> None:
    """Check that a checkpoint has all arrays, of the right shapes and types.

    Raises:
        DatasetError: It has not.
    """
    for one in items:
        for piece in one.pieces:
            if piece.dtype.kind == "U":
                _check_text(saved, piece)
        wanted = {piece.name for piece in one.pieces if piece.outside is None}
        if wanted != {one.name}:
            for name in saved.arrays:
                if name.startswith(f"{one.name}.") and field_of(name) not in wanted:
                    raise DatasetError(
                        saved.path, f"has '{name}', which '{one.name}' has not", "the same members"
                    )
        for piece in one.pieces:
            _check_piece(saved, piece)


def _check_text(saved: Checkpoint, piece: SavedPiece) -> None:
    array, wanted = saved.arrays.get(piece.name), str(piece.read())
    if array is not None and array.dtype.kind == "U" and not array.shape:
        found = str(read_box(saved, piece.name, (), ()))
        if found != wanted:
            raise DatasetError(saved.path, f"has '{piece.name}' = {shown(found)}", shown(wanted))


def _check_piece(saved: Checkpoint, piece: SavedPiece) -> None:
    array = saved.arrays.get(piece.name)
    if array is None:
        if piece.outside is not None:
            return  # of a field that is not split, or of a periodic grid: they stay as they are
        names = ", ".join(map(repr, saved.arrays)) or "no arrays"
        raise DatasetError(
            saved.path,
            f"has no '{piece.name}'",
            f"one of those it has: {names}",
            hint=did_you_mean(piece.name, saved.arrays),
        )
    rows = bool(piece.rows) and len(array.shape) > 0
    is_text = array.dtype.kind == piece.dtype.kind == "U"
    if piece.outside is not None:
        fits = piece.outside.fits(array.shape, piece.shape)
    else:
        fits = array.shape[rows:] == tuple(piece.shape[rows:])
    if not fits:
        shape = ("any", *piece.shape[1:]) if rows else piece.shape
        raise DatasetError(
            saved.path, f"has '{piece.name}' of the shape {array.shape}", f"{tuple(shape)}"
        )
    if array.dtype.newbyteorder("=") != piece.dtype and not is_text:
        raise DatasetError(saved.path, f"has '{piece.name}' of {array.dtype}", f"{piece.dtype}")
