"""What a checkpoint keeps of each kind of object: arrays, of which every rank has a box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError
from difftile.distributed.blocks import Index
from difftile.distributed.grid_split import GridSplit
from difftile.distributed.outside import OutsideCells, outsides
from difftile.distributed.particles import Particles
from difftile.distributed.split_rows import SplitRows, cuts
from difftile.fields.rows import rows_of
from difftile.fields.split import Split
from difftile.optim.optimiser import Optimiser
from difftile.ranks import current

Contents: TypeAlias = "npt.NDArray[Any]"
State: TypeAlias = "dict[str, npt.NDArray[Any]]"


@dataclass(frozen=True, slots=True)
class SavedPiece:
    """An array of an object, and the box of it that this rank has.

    Args:
        name: The name of the array in a checkpoint.
        dtype: The type of its numbers.
        shape: Its shape on all ranks together; of the rows of `dist.Particles`, on this rank.
        read: Returns the box.
        at: The index of the box's first element; None for arrays that are the same on all ranks.
        size: The shape of the box.
        rows: For arrays that may have another number of rows in a checkpoint, which of them a rank
            takes: "all", a "stretch" (see `SplitRows`), or its "own" (see `SavedItem.owns`).
        outside: The cells outside of the domain that these are; a checkpoint may have none.
    """

    name: str
    dtype: np.dtype[Any]
    shape: Index
    read: Callable[[], Contents]
    at: Index | None = None
    size: Index = ()
    rows: str = ""
    outside: OutsideCells | None = None

    def box(self, shape: Index) -> tuple[Index, Index]:
        """Return the first element and the shape of the box to load from an array of a shape."""
        start = (0,) * len(shape)
        if self.rows == "stretch":
            rank, ends = current().rank, cuts(shape[0])
            return (ends[rank], *start[1:]), (ends[rank + 1] - ends[rank], *shape[1:])
        if self.at is None or self.rows or self.outside is not None:
            return start, shape
        return self.at, self.size


@dataclass(frozen=True, slots=True)
class SavedItem:
    """An object that is saved and loaded.

    Args:
        name: The user's name of it.
        pieces: Its arrays as they are now.
        put: Sets it from its arrays by name.
        exchanged: The split fields whose halos are filled afterwards.
        communicates: Whether ranks set it together: parts of a state are on different ranks.
        position: The array that says which rows are the rank's own.
        owns: Tells from some rows of that array which ones are.
    """

    name: str
    pieces: tuple[SavedPiece, ...]
    put: Callable[[Mapping[str, Contents]], None]
    exchanged: list[dt.Field] = field(default_factory=list[dt.Field])
    communicates: bool = False
    position: str = ""
    owns: Callable[[Contents], npt.NDArray[np.bool_]] | None = None


@runtime_checkable
class Stateful(Protocol):
    """Optimisers, and whatever else has a state of arrays."""

    def state_dict(self) -> dict[str, Contents]:
        """Return the state, the same on all ranks."""
        ...

    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike], /) -> None:
        """Go on from a state."""
        ...


def kind_of(name: object, given: object, what: str) -> str:
    """Return the kind of an object that is saved, the same on all ranks.

    Args:
        name: The user's name of it.
        given: The object.
        what: The caller in errors.

    Raises:
        FieldError: It cannot be saved.
    """
    if not isinstance(name, str) or not name or not name.isprintable():
        raise FieldError(f"{what}: a name is a text, not {name!r}.")
    for title, kind, _ in _KINDS:
        if isinstance(given, kind):
            return title
    advice = " Give numbers by keyword: step=3." if isinstance(given, (int, float)) else ""
    raise FieldError(
        f"{what} takes fields, particles and optimisers, and '{name}' is of type "
        f"{type(given).__name__}.{advice}"
    )


def item_of(name: str, given: object, state: State | None) -> SavedItem:
    """Return the arrays of an object of a known kind.

    Args:
        name: The user's name of it.
        given: The object.
        state: Its state, if it has one; ranks may have made it together.

    Raises:
        FieldError: It is a part of a split field.
    """
    if state is not None:
        return _of_state(name, given, state)
    return next(make for _, kind, make in _KINDS if isinstance(given, kind))(name, given)


def state_of(given: object) -> State | None:
    """Return the state of an optimiser, to whose parts all ranks may contribute."""
    return given.state_dict() if isinstance(given, Stateful) else None


def _of_field(name: str, given: Any) -> SavedItem:
    one = cast("dt.ArrayLike", given)
    base = one.base
    if base.split is None:
        return SavedItem(name, (_whole(name, one),), lambda found: one.from_numpy(found[name]))
    if one is not base:
        raise FieldError(
            f"'{name}' is a part of a field that is split among ranks: give the field itself."
        )
    split = _known(name, base, base.split)
    around = outsides(split)
    pieces = (_owned(name, base, split), *(_outside(name, base, side) for side in around))

    def put(found: Mapping[str, Contents]) -> None:
        contents = base.to_numpy()
        split.part(contents)[...] = found[name]
        for side in around:
            if side.named(name) in found:
                side.put(contents, found[side.named(name)])
        base.from_numpy(contents)

    return SavedItem(name, pieces, put, [base])


def _whole(name: str, given: dt.ArrayLike, rows: str = "") -> SavedPiece:
    shape = (*given.shape, *given.element_shape)
    dtype = given.numpy_dtype
    return SavedPiece(name, dtype, shape, given.to_numpy, None, shape, rows)


def _known(name: str, given: dt.Field, split: Split) -> GridSplit:
    """Return the division of a split field.

    Raises:
        FieldError: Checkpoints do not know it.
    """
    if not isinstance(split, GridSplit):
        raise FieldError(f"'{name}', {given!r}, is split in a way that checkpoints do not know.")
    return split


def _owned(name: str, given: dt.Field, split: GridSplit) -> SavedPiece:
    """Return the owned part of a split field."""
    inner = given.element_shape
    origin = zip(split.origin, split.owned, strict=True)
    start = (*(first + one.start for first, one in origin), *(0,) * len(inner))
    size = (*(one.stop - one.start for one in split.owned), *inner)
    return SavedPiece(
        name,
        given.numpy_dtype,
        (*split.layout.shape, *inner),
        lambda: split.part(given.to_numpy()),
        start,
        size,
    )


def _outside(name: str, given: dt.Field, outside: OutsideCells) -> SavedPiece:
    """Return the cells of a split field outside of the domain, on one side along an axis."""
    inner = given.element_shape
    at, size, cells = outside.part()
    return SavedPiece(
        outside.named(name),
        given.numpy_dtype,
        (*outside.shape, *inner),
        lambda: given.to_numpy()[cells],
        (*at, *(0,) * len(inner)),
        (*size, *inner),
        outside=outside,
    )


def _of_struct(name: str, given: Any) -> SavedItem:
    items = [_of_field(key, one) for key, one in cast("dt.StructField", given).fields(name)]

    def put(found: Mapping[str, Contents]) -> None:
        for one in items:
            one.put(found)

    pieces = tuple(piece for one in items for piece in one.pieces)
    return SavedItem(name, pieces, put, [field for one in items for field in one.exchanged])


def _of_rows(name: str, given: Any) -> SavedItem:
    rows = cast("dt.Rows", given)
    keys = {f"{name}.{key}": key for key in rows}
    pieces = tuple(_rows_piece(long, rows, rows[key], "all") for long, key in keys.items())
    return SavedItem(
        name, pieces, lambda found: rows.from_numpy({keys[long]: found[long] for long in keys})
    )


def _rows_piece(name: str, rows: dt.Rows | None, given: dt.Field, taken: str) -> SavedPiece:
    """Return the values for each row of some rows, of which a rank may have a stretch."""
    piece = _whole(name, given, taken)
    if not isinstance(rows, SplitRows):
        return piece
    start = (rows.stretch[0], *(0,) * (len(piece.shape) - 1))
    return replace(piece, shape=(rows.total, *piece.shape[1:]), at=start)


def _of_particles(name: str, given: Any) -> SavedItem:
    particles = cast("Particles", given)
    count = int(particles.count.to_numpy())
    keys = {f"{name}.{key}": key for key in particles}
    pieces: list[SavedPiece] = []
    for long, key in keys.items():
        one = _whole(long, particles[key], "own")
        shape = (count, *one.shape[1:])
        pieces.append(
            replace(
                one,
                shape=shape,
                read=_first(particles[key], count),
                at=(0,) * len(shape),
                size=shape,
            )
        )
    return SavedItem(
        name,
        tuple(pieces),
        lambda found: particles.from_global({keys[long]: found[long] for long in keys}),
        position=f"{name}.{particles.name_of_positions}",
        owns=particles.owned,
    )


def _first(given: dt.Field, count: int) -> Callable[[], Contents]:
    return lambda: given.to_numpy()[:count]


def _of_state(name: str, given: Any, arrays: State) -> SavedItem:
    state = cast("Stateful", given)
    parameters = _parameters(given) if isinstance(given, Optimiser) else {}
    pieces: list[SavedPiece] = []
    splits: dict[str, Split] = {}
    for key, array in arrays.items():
        long = f"{name}.{key}"
        parameter, kept = parameters.get(key, (None, None))
        if parameter is None or kept is None or kept.shape != parameter.shape:
            pieces.append(
                SavedPiece(long, array.dtype, array.shape, _reader(array), None, array.shape)
            )
        elif parameter.split is not None:
            # Optimisers move what a rank owns: there is no state of other cells.
            splits[key] = split = _known(long, kept, parameter.split)
            pieces.append(_owned(long, kept, split))
        else:
            rows = rows_of(parameter)
            taken = "" if rows is None else "stretch" if isinstance(rows, SplitRows) else "all"
            pieces.append(_rows_piece(long, rows, kept, taken))

    def put(found: Mapping[str, Contents]) -> None:
        given_back = {key: found[f"{name}.{key}"] for key in arrays}
        for key, split in splits.items():
            contents = np.zeros_like(arrays[key])
            split.part(contents)[...] = given_back[key]
            given_back[key] = contents
        state.load_state_dict(given_back)

    sharded = any(kept.shape != one.shape for one, kept in parameters.values())
    return SavedItem(name, tuple(pieces), put, communicates=sharded)


def _reader(array: Contents) -> Callable[[], Contents]:
    return lambda: array


def _parameters(optimiser: Optimiser) -> dict[str, tuple[dt.Field, dt.Field]]:
    """Return, by the keys of `state_dict`, each parameter and the field of its state."""
    return {
        f"{one.name}.{slot}": (one.field, kept)
        for one in optimiser.parameters
        for slot, kept in optimiser.state[one.name].items()
    }


def _not_here(name: str, given: Any) -> SavedItem:
    raise AssertionError(f"{name}, {given!r}, is made of its state")


_KINDS: tuple[tuple[str, type, Callable[[str, Any], SavedItem]], ...] = (
    ("field", dt.ArrayLike, _of_field),
    ("struct", dt.StructField, _of_struct),
    ("rows", dt.Rows, _of_rows),
    ("particles", Particles, _of_particles),
    ("state", Stateful, _not_here),
)
