"""Sums over the threads of a warp, for kernels on CUDA.

Source: NVIDIA, CUDA C++ Programming Guide, warp vote and warp shuffle functions.
"""

import taichi as ti

_SIZE = 32
_ALL = 0xFFFFFFFF


@ti.func
def alike(position, row, end):
    """Tell whether the iterations of a warp are all there, and in one row.

    The answer is the same in all threads of the warp: they run iterations one after the other.

    Args:
        position: The iteration of a thread, from 0.
        row: How many iterations make a row.
        end: How many there are.
    """
    first = position & ~(_SIZE - 1)
    last = first + (_SIZE - 1)
    return last < end and first // row == last // row


@ti.func
def total(value, alike):
    """Return the sum over the warp in its first thread, if they add to one element.

    Otherwise each has its own value. All threads of the warp must get here, or none is alike.

    Args:
        value: A number, vector or matrix in single precision.
        alike: Whether they add to one element, the same in all of them.
    """
    found = value
    if alike:  # noqa: SIM102 - no thread may vote before all of them are known to be there
        if ti.simt.warp.any_nonzero(ti.u32(_ALL), _is_not_zero(value)):
            if ti.static(isinstance(value, ti.Matrix)):
                for cell in ti.static(ti.grouped(ti.ndrange(*value.get_shape()))):
                    found[cell] = _sum(value[cell])
            else:
                found = _sum(value)
    return found


@ti.func
def adds(found, alike):
    """Tell whether a thread has something to add: all threads, or the first of an alike warp."""
    lane = ti.cast(ti.simt.block.thread_idx(), ti.i32) & (_SIZE - 1)
    return _is_not_zero(found) != 0 and (lane == 0 or not alike)


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
