"""Operations that the threads of a warp do together on CUDA: sums, additions, copies of rows.

Source: NVIDIA, CUDA C++ Programming Guide, warp vote and warp shuffle functions.
"""

# Functions of Taichi's: their annotations are objects.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-argument-type, unknown-attribute-access]
# pyrefly: ignore-errors[unknown-return-type, unknown-variable-type]
# pyrefly: ignore-errors[untyped-function-decorator]

from typing import Any

from difftile.passes.tile_rows import BLOCK, PITCH
from difftile.substrate.compiler import ti

_SIZE = 32
_TOGETHER = 8  # rows of which a thread asks for an element before it waits for the first
_ALL = 0xFFFFFFFF


@ti.func
def lane(thread, place, row):
    """Return the place of a thread in its warp, if all of that is there and in one row, or -1.

    Threads of a warp run iterations one after the other, so either all of them get -1 or none.

    Args:
        thread: The number of the thread, of which each warp has 32 that begin at a multiple of 32.
        place: Where in its row the iteration of the thread is, from 0.
        row: How many iterations make a row.
    """
    found = thread & (_SIZE - 1)
    first = place - found  # negative if the row began after the first thread of the warp
    if first < 0 or first > row - _SIZE:
        found = -1
    return found


@ti.func
def total(shape: ti.template(), value, lane):
    """Return the sum over the warp in its first thread; or the value, for threads without a lane.

    All threads of a warp that have a lane must get here together.

    Args:
        shape: Of the value: (), (n,) or (n, m).
        value: A number, vector or matrix in single precision.
        lane: The place of the thread in its warp, or -1.
    """
    found = value
    if lane >= 0:  # noqa: SIM102 - no thread may vote before all of them are known to be there
        if ti.simt.warp.any_nonzero(ti.u32(_ALL), _is_not_zero(shape, value)):
            for k in ti.static(range(5)):
                found += _of_later(shape, found, _SIZE >> (k + 1))
    return found


@ti.func
def adds(shape: ti.template(), found, lane):
    """Tell whether a thread has something to add: the first of a warp, or one without a lane."""
    return lane <= 0 and _is_not_zero(shape, found) != 0


@ti.func
def all_add(shape: ti.template(), value):
    """Return the sum over the warp, the same in all its threads, which get here together.

    Args:
        shape: Of the value: (), (n,) or (n, m).
        value: A number, vector or matrix in single precision.
    """
    found = value
    for k in ti.static(range(5)):
        found += _of_other(shape, found, _SIZE >> (k + 1))
    return found


@ti.func
def all_max(shape: ti.template(), value):
    """Return the greatest values of the warp; see `all_add`."""
    found = value
    for k in ti.static(range(5)):
        found = ti.max(found, _of_other(shape, found, _SIZE >> (k + 1)))
    return found


@ti.func
def all_min(shape: ti.template(), value):
    """Return the least values of the warp; see `all_add`."""
    found = value
    for k in ti.static(range(5)):
        found = ti.min(found, _of_other(shape, found, _SIZE >> (k + 1)))
    return found


@ti.func
def meet():
    """Wait for the other threads of the warp: what they have read, they have read before."""
    ti.simt.warp.sync(ti.u32(_ALL))


@ti.func
def _of_other(shape: ti.template(), value, places: ti.template()):
    """Return the value of the thread whose place differs in one bit."""
    if ti.static(len(shape) == 1):
        return ti.Vector([_exchanged(value[i], places) for i in ti.static(range(shape[0]))])
    if ti.static(len(shape) == 2):
        columns = ti.static(range(shape[1]))
        return ti.Matrix(
            [[_exchanged(value[i, j], places) for j in columns] for i in ti.static(range(shape[0]))]
        )
    return _exchanged(value, places)


@ti.func
def _exchanged(number, places: ti.template()):
    bits = ti.bit_cast(number, ti.i32)
    return ti.bit_cast(ti.simt.warp.shfl_xor_i32(ti.u32(_ALL), bits, places), ti.f32)


@ti.func
def add(array: ti.template(), index, value, thread):
    """Add a vector in single precision to an element of an array, with atomics.

    Memory adds at once what the threads of a warp have for one sector of 32 bytes. So groups of two
    or four threads go through their vectors one after the other, and each thread adds a component.

    Args:
        array: Of vectors, with one axis or more.
        index: Of the element, as a vector.
        value: What is added, of two components or more.
        thread: The number of the thread, of which each warp has 32 that begin at a multiple of 32.
    """
    if ti.simt.warp.active_mask() == ti.u32(_ALL):
        width = ti.static(2 if value.n == 2 else 4)
        lane = thread & (_SIZE - 1)
        own = lane & (width - 1)
        for start in ti.static(range(0, value.n, width)):
            parts = _transposed(value, lane, start, width)
            for k in ti.static(range(width)):
                at = _of_thread(index, lane - own + k)
                if start + own < value.n:
                    array[at][start + own] += parts[k]
    else:
        array[index] += value


@ti.func
def _transposed(value, lane, start: ti.template(), width: ti.template()):
    """Return one component of the vectors of each thread in a group, of which each has another.

    Args:
        value: The vector of this thread.
        lane: The place of the thread in its warp.
        start: The component of the group's first thread.
        width: The number of threads in a group, 2 or 4.
    """
    parts = ti.Vector([0.0] * width)
    for k in ti.static(range(width)):
        if ti.static(start + k < value.n):
            parts[k] = value[start + k]
    for step in ti.static([1, 2] if width == 4 else [1]):
        is_upper = (lane & step) != 0
        for k in ti.static(range(width)):
            if ti.static(not k & step):
                # The lower thread keeps its first part and gives its second, the upper the reverse.
                given = ti.select(is_upper, parts[k], parts[k + step])
                taken = ti.simt.warp.shfl_sync_f32(ti.u32(_ALL), given, lane ^ step)
                parts[k + step] = ti.select(is_upper, parts[k + step], taken)
                parts[k] = ti.select(is_upper, taken, parts[k])
    return parts


@ti.func
def _of_thread(index, lane):
    """Return the index that another thread has."""
    return ti.Vector(
        [
            ti.simt.warp.shfl_sync_i32(ti.u32(_ALL), index[a], lane)
            for a in ti.static(range(index.n))
        ]
    )


@ti.func
def _of_later(shape: ti.template(), value, places: ti.template()):
    """Return the value of the thread some places later."""
    if ti.static(len(shape) == 1):
        return ti.Vector([_shift(value[i], places) for i in ti.static(range(shape[0]))])
    if ti.static(len(shape) == 2):
        columns = ti.static(range(shape[1]))
        return ti.Matrix(
            [[_shift(value[i, j], places) for j in columns] for i in ti.static(range(shape[0]))]
        )
    return _shift(value, places)


@ti.func
def _shift(number, places: ti.template()):
    return ti.simt.warp.shfl_down_f32(ti.u32(_ALL), number, places)


@ti.func
def _is_not_zero(shape: ti.template(), value):
    present = 0
    if ti.static(len(shape) == 1):
        for i in ti.static(range(shape[0])):
            present |= ti.cast(value[i] != 0, ti.i32)
    elif ti.static(len(shape) == 2):
        for i, j in ti.static(ti.ndrange(*shape)):
            present |= ti.cast(value[i, j] != 0, ti.i32)
    else:
        present = ti.cast(value != 0, ti.i32)
    return present


def tile(scalar: Any) -> Any:
    """Declare a tile of a block of threads: a row for each of them."""
    return shared(scalar, BLOCK * PITCH)


def shared(scalar: Any, count: int) -> Any:
    """Declare an array that a block of threads has together, with any contents."""
    found: Any = ti.simt.block.SharedArray((count,), scalar)
    return found.shared_array_proxy


@ti.func
def row(thread):
    """Return where the row of a thread begins in a tile."""
    return (thread & (BLOCK - 1)) * PITCH


@ti.func
def load_rows(tile: ti.template(), array: ti.template(), at: ti.template(), count, thread):
    """Copy a piece of a row into the tile for each thread of a warp, row after row.

    All threads of a warp must get here together, and have read what they need of the tile.

    Args:
        tile: The tile.
        array: The array that has the rows.
        at: The indices of the first element of the thread's piece.
        count: The length of all pieces, from 1 to TILE.
        thread: The number of the thread.
    """
    lane = thread & (_SIZE - 1)
    first = row(thread - lane)
    place = ti.min(lane, count - 1)
    ti.simt.warp.sync(ti.u32(_ALL))
    for batch in range(_SIZE // _TOGETHER):
        start = batch * _TOGETHER
        values = ti.Vector(
            [_loaded(array, at, start + k, place) for k in ti.static(range(_TOGETHER))]
        )
        for k in ti.static(range(_TOGETHER)):
            tile[first + (start + k) * PITCH + lane] = values[k]
    ti.simt.warp.sync(ti.u32(_ALL))


@ti.func
def store_rows(tile: ti.template(), array: ti.template(), at: ti.template(), count, thread):
    """Copy pieces of rows out of the tile; the rest is as for `load_rows`.

    Each thread has a count of its own: 0 where there is nothing to copy.
    """
    lane = thread & (_SIZE - 1)
    first = row(thread - lane)
    ti.simt.warp.sync(ti.u32(_ALL))
    for of in range(_SIZE):
        long = _told_by(count, of)
        i, j = _told_by(at[0], of), _told_by(at[1], of)
        k, m = _told_by(at[-2], of), _told_by(at[-1], of)
        if lane < long:
            value = tile[first + of * PITCH + lane]
            if ti.static(len(at) == 2):
                array[i, j + lane] = value
            elif ti.static(len(at) == 3):
                array[i, j, m + lane] = value
            else:
                array[i, j, k, m + lane] = value
    ti.simt.warp.sync(ti.u32(_ALL))


@ti.func
def _loaded(array: ti.template(), at: ti.template(), of, place):
    """Return the element at a place of the piece that another thread of the warp has."""
    i, j = _told_by(at[0], of), _told_by(at[1], of)
    k, m = _told_by(at[-2], of), _told_by(at[-1], of)
    if ti.static(len(at) == 2):
        return array[i, j + place]
    if ti.static(len(at) == 3):
        return array[i, j, m + place]
    return array[i, j, k, m + place]


@ti.func
def _told_by(number, of):
    """Return an integer that another thread of the warp has."""
    return ti.simt.warp.shfl_sync_i32(ti.u32(_ALL), number, of)
