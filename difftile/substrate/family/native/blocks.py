"""Operations of the threads of a block together."""

from difftile.substrate.compiler import ti

BLOCK = 512  # as Taichi lets each of 512 threads have 64 registers, and each of 256 have 128
WARPS = BLOCK // 32
ALL = 0xFFFFFFFF


@ti.func
def scan_warp(value, lane):
    """Return the sum of the integers of earlier threads of a warp, and the sum of all."""
    found = value
    for k in ti.static(range(5)):
        earlier = ti.simt.warp.shfl_up_i32(ti.u32(ALL), found, 1 << k)
        if lane >= 1 << k:
            found += earlier
    return found - value, ti.simt.warp.shfl_sync_i32(ti.u32(ALL), found, 31)


@ti.func
def sum_before(value, thread, shared: ti.template(), at: ti.template()):
    """Return the sum of the integers of earlier threads of a block, and the sum of all.

    All threads of the block get here together, and have passed a barrier since they last read the
    shared memory.

    Args:
        value: An integer.
        thread: The place in the block.
        shared: Shared memory, which has a number for each warp.
        at: Where those are.
    """
    lane = thread & 31
    before, of_mine = scan_warp(value, lane)
    if lane == 0:
        shared[at + (thread >> 5)] = of_mine
    ti.simt.block.sync()
    total = 0
    for warp in ti.static(range(WARPS)):
        of_warp = ti.cast(shared[at + warp], ti.i32)
        if warp < thread >> 5:
            before += of_warp
        total += of_warp
    return before, total


@ti.func
def earlier_in(peers, lane):
    """Return how many threads of a set come before a thread of the warp.

    Args:
        peers: A bit for each thread of the warp.
        lane: The place in the warp.
    """
    return ti.math.popcnt(peers & ((ti.u32(1) << ti.u32(lane)) - ti.u32(1)))
