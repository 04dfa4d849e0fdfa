"""Exclusive prefix sums, in place.

Each block sums a range of its own, one block scans the sums, and each block scans its range.
Source: Blelloch, "Prefix Sums and Their Applications" (1990), 1.3.
"""

from difftile.substrate.compiler import ti
from difftile.substrate.family.native.blocks import BLOCK, sum_before
from difftile.substrate.family.native.launch import native

BLOCKS = 1024
SHARED = BLOCKS  # the same in all tasks, see `native/__init__.py`
_EACH = 4  # numbers of a thread at a time
_TILE = BLOCK * _EACH


@native("counts", "total", memory={"sums": BLOCKS})
@ti.kernel
def exclusive_scan(
    counts: ti.types.ndarray(ti.i32, ndim=2),
    n: ti.i32,
    total: ti.types.ndarray(ti.i64, ndim=0),
    sums: ti.types.ndarray(ti.i64, ndim=1),
):
    """Replace each count in a column by the sum of those before it.

    Args:
        counts: Integers, shape (n or more, 1); the sums are right modulo 2^32.
        n: The number of counts.
        total: The sum of all.
        sums: The sum of the range of each block.
    """
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        thread = i & (BLOCK - 1)
        block = i // BLOCK
        parts = ti.simt.block.SharedArray((SHARED,), ti.i64)
        tiles = (n + _TILE * BLOCKS - 1) // (_TILE * BLOCKS)
        part = ti.i64(0)
        for k in range(tiles * _EACH):
            at = (block * tiles * _EACH + k) * BLOCK + thread
            if at < n:
                part += ti.i64(counts[at, 0])
        parts[thread] = part
        for k in ti.static(range(BLOCK.bit_length() - 1)):
            ti.simt.block.sync()
            if thread < BLOCK >> (k + 1):
                parts[thread] += parts[thread + (BLOCK >> (k + 1))]
        if thread == 0:
            sums[block] = parts[0]

    ti.loop_config(block_dim=BLOCKS)
    for thread in range(BLOCKS):
        parts = ti.simt.block.SharedArray((SHARED,), ti.i64)
        own = sums[thread]
        found = own
        for k in ti.static(range(10)):
            parts[thread] = found
            ti.simt.block.sync()
            if thread >= 1 << k:
                found += parts[thread - (1 << k)]
            ti.simt.block.sync()
        sums[thread] = found - own
        if thread == BLOCKS - 1:
            total[None] = found

    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        thread = i & (BLOCK - 1)
        block = i // BLOCK
        totals = ti.simt.block.SharedArray((SHARED,), ti.i64)
        tiles = (n + _TILE * BLOCKS - 1) // (_TILE * BLOCKS)
        before = ti.i32(sums[block])
        for tile in range(tiles):
            first = (block * tiles + tile) * _TILE + thread * _EACH
            own = ti.Vector([0, 0, 0, 0])
            for k in ti.static(range(_EACH)):
                if first + k < n:
                    own[k] = counts[first + k, 0]
            earlier, all_of_tile = sum_before(own.sum(), thread, totals, 0)
            at = before + earlier
            for k in ti.static(range(_EACH)):
                if first + k < n:
                    counts[first + k, 0] = at
                at += own[k]
            before += all_of_tile
            ti.simt.block.sync()
