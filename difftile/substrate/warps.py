"""Sums over the threads of a warp, for kernels on CUDA.

Source: NVIDIA, CUDA C++ Programming Guide, warp vote and warp shuffle functions.
"""

import taichi as ti

_SIZE = 32
_ALL = 0xFFFFFFFF


@ti.func
def lane(position, row, end):
    """Return the place of a thread in its warp, if all of that is there and in one row, or -1.

    Threads of a warp run iterations one after the other, so either all of them get -1 or none.

    Args:
        position: The iteration of a thread, from 0.
        row: How many iterations make a row.
        end: How many there are.
    """
    first = position & ~(_SIZE - 1)
    last = first + (_SIZE - 1)
    found = -1
    if last < end and first // row == last // row:
        found = position - first
    return found


@ti.func
def total(value, lane):
    """Return the sum over the warp in its first thread; or the value, for threads without a lane.

    All threads of a warp that have a lane must get here together.

    Args:
        value: A number, vector or matrix in single precision.
        lane: The place of the thread in its warp, or -1.
    """
    found = value
    if lane >= 0:  # noqa: SIM102 - no thread may vote before all of them are known to be there
        if ti.simt.warp.any_nonzero(ti.u32(_ALL), _is_not_zero(value)):
            if ti.static(isinstance(value, ti.Matrix)):
                for cell in ti.static(ti.grouped(ti.ndrange(*value.get_shape()))):
                    found[cell] = _sum(value[cell])
            else:
                found = _sum(value)
    return found


@ti.func
def adds(found, lane):
    """Tell whether a thread has something to add: the first of a warp, or one without a lane."""
    return lane <= 0 and _is_not_zero(found) != 0


@ti.func
def _sum(value):
    found = value
    for k in ti.static(range(5)):
        found += ti.simt.warp.shfl_down_f32(ti.u32(_ALL), found, _SIZE >> (k + 1))
    return found


@ti.func
def _is_not_zero(value):
    present = 0
    if ti.static(isinstance(value, ti.Matrix)):
        for cell in ti.static(ti.grouped(ti.ndrange(*value.get_shape()))):
            present |= ti.cast(value[cell] != 0, ti.i32)
    else:
        present = ti.cast(value != 0, ti.i32)
    return present
