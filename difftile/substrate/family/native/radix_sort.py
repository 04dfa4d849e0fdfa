"""A stable sort of pairs by the lowest bits of their keys, least significant digit first.

Each block sorts a range of the pairs, tile by tile. For a digit, blocks first count how often each
value of it occurs in their ranges. From the counts of all blocks each one finds where its pairs
with that value go, ranks the pairs of a tile, brings them in order in shared memory, and writes
runs of neighbours.

Sources: Satish, Harris and Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs"
(2009); for ranks in a warp by votes: Adinets and Merrill, "Onesweep" (2022), section 4.3.
"""

from difftile.substrate.compiler import ti
from difftile.substrate.family.native.blocks import ALL, BLOCK, WARPS, earlier_in, sum_before
from difftile.substrate.family.native.launch import native

BITS = 8
DIGITS = 1 << BITS
EACH = 8  # pairs of a thread in a tile
TILE = BLOCK * EACH
BLOCKS = 264  # two for each multiprocessor of an H100
FINDERS = 64  # blocks that look for the starts of lists
GROUP = 32  # blocks whose counts are added up
GROUPS = -(-BLOCKS // GROUP)
PASSES = 4  # of one launch, at most
# Of shared memory: the pairs of a tile, how often each digit was seen in each warp, where digits go
# from a tile and where they begin in it, and a number for each warp.
SEEN = TILE
BASES = SEEN + WARPS * DIGITS
STARTS = BASES + DIGITS
TOTALS = STARTS + DIGITS
SHARED = TOTALS + WARPS
# Of the table of counts: for blocks, and in each pass for groups of blocks.
OF_GROUPS = BLOCKS * DIGITS
TABLE = OF_GROUPS + PASSES * GROUPS * DIGITS


@ti.func
def digit_of(key, shift, width):
    """Return a digit of a key."""
    return ti.cast(key >> ti.u32(shift), ti.i32) & ((1 << width) - 1)


@ti.func
def size_of(n, size: ti.template()):
    """Return a number, or what an array holds if that is negative."""
    found = n
    if n < 0:
        found = size[0]
    return found


@ti.func
def range_of(block, n):
    """Return the first pair of a block, and the end of its range."""
    tiles = (n + (TILE - 1)) // TILE
    each = (tiles + (BLOCKS - 1)) // BLOCKS * TILE
    return ti.min(block * each, n), ti.min(block * each + each, n)


@ti.func
def clear_groups(i, table: ti.template()):
    """Set the counts of groups to zero, as one of the threads of all blocks."""
    at = i
    while at < PASSES * GROUPS * DIGITS:
        table[OF_GROUPS + at] = 0
        at += BLOCKS * BLOCK


@ti.func
def count_digits(
    i,
    keys: ti.template(),
    n,
    number: ti.template(),
    shift,
    width,
    table: ti.template(),
):
    """Count the values of a digit, as a thread of its block.

    Args:
        i: The thread.
        keys: The keys.
        n: How many.
        number: The pass.
        shift: The first bit of the digit.
        width: The number of its bits.
        table: The counts.
    """
    thread = i & (BLOCK - 1)
    block = i // BLOCK
    counts = ti.simt.block.SharedArray((SHARED,), ti.i32)
    if thread < DIGITS:
        counts[thread] = 0
    ti.simt.block.sync()
    first, end = range_of(block, n)
    for tile in range((end - first + (TILE - 1)) // TILE):
        own = ti.Vector([ti.u32(0) for _ in ti.static(range(EACH))])
        start = first + tile * TILE + thread
        for k in ti.static(range(EACH)):
            if start + k * BLOCK < end:
                own[k] = keys[start + k * BLOCK]
        for k in ti.static(range(EACH)):
            if start + k * BLOCK < end:
                ti.atomic_add(counts[digit_of(own[k], shift, width)], 1)
    ti.simt.block.sync()
    if thread < DIGITS:
        count = counts[thread]
        table[block * DIGITS + thread] = count
        if count > 0:
            group = number * GROUPS + block // GROUP
            ti.atomic_add(table[OF_GROUPS + group * DIGITS + thread], count)


@ti.func
def move(
    i,
    keys: ti.template(),
    values: ti.template(),
    n,
    number: ti.template(),
    shift,
    width,
    table: ti.template(),
    to_keys: ti.template(),
    to_values: ti.template(),
):
    """Move the pairs of a block to their places by a digit, as one of its threads.

    Args:
        i: The thread.
        keys: The keys.
        values: The values.
        n: The number of pairs.
        number: The pass.
        shift: The first bit of the digit.
        width: The number of its bits.
        table: The counts.
        to_keys: Where the keys go.
        to_values: Where the values go.
    """
    thread = i & (BLOCK - 1)
    block = i // BLOCK
    lane = thread & 31
    warp = thread >> 5
    shared = ti.simt.block.SharedArray((SHARED,), ti.i32)
    first, end = range_of(block, n)
    if first < end:
        # Thread d finds where the pairs of the block with digit d go.
        group = block // GROUP
        every = 0
        base = 0
        if thread < DIGITS:
            for g in range(GROUPS):
                count = table[OF_GROUPS + (number * GROUPS + g) * DIGITS + thread]
                every += count
                if g < group:
                    base += count
            for b in range(group * GROUP, block):
                base += table[b * DIGITS + thread]
        before, _ = sum_before(every, thread, shared, TOTALS)
        base += before
        for tile in range((end - first + (TILE - 1)) // TILE):
            start = first + tile * TILE
            valid = ti.min(end - start, TILE)
            own = ti.Vector([ti.u32(ALL) for _ in ti.static(range(EACH))])
            mine = ti.Vector([0 for _ in ti.static(range(EACH))])
            place = ti.Vector([0 for _ in ti.static(range(EACH))])
            at = warp * (32 * EACH) + lane
            for k in ti.static(range(EACH)):
                if at + 32 * k < valid:
                    own[k] = keys[start + at + 32 * k]
            for k in ti.static(range(EACH)):
                if at + 32 * k < valid:
                    mine[k] = values[start + at + 32 * k]
            for k in ti.static(range(WARPS * DIGITS // BLOCK)):
                shared[SEEN + k * BLOCK + thread] = 0
            ti.simt.block.sync()
            # Ranks among the pairs of the warp with the same digit.
            for k in ti.static(range(EACH)):
                digit = digit_of(own[k], shift, width)
                peers = peers_of(digit)
                earlier = earlier_in(peers, lane)
                slot = warp * DIGITS + digit
                rank = shared[SEEN + slot]
                ti.simt.warp.sync(ti.u32(ALL))
                if earlier == 0:
                    shared[SEEN + slot] = rank + ti.math.popcnt(peers)
                ti.simt.warp.sync(ti.u32(ALL))
                place[k] = rank + earlier
            ti.simt.block.sync()
            count = 0
            if thread < DIGITS:
                for w in ti.static(range(WARPS)):
                    of_warp = shared[SEEN + w * DIGITS + thread]
                    shared[SEEN + w * DIGITS + thread] = count
                    count += of_warp
            smaller, _ = sum_before(count, thread, shared, TOTALS)
            if thread < DIGITS:
                shared[STARTS + thread] = smaller
                shared[BASES + thread] = base - smaller
            base += count
            ti.simt.block.sync()
            for k in ti.static(range(EACH)):
                digit = digit_of(own[k], shift, width)
                place[k] += shared[STARTS + digit] + shared[SEEN + warp * DIGITS + digit]
                shared[place[k]] = ti.bit_cast(own[k], ti.i32)
            ti.simt.block.sync()
            target = ti.Vector([0 for _ in ti.static(range(EACH))])
            for k in ti.static(range(EACH)):
                j = k * BLOCK + thread
                if j < valid:
                    key = ti.bit_cast(shared[j], ti.u32)
                    target[k] = shared[BASES + digit_of(key, shift, width)] + j
                    to_keys[target[k]] = key
            ti.simt.block.sync()
            for k in ti.static(range(EACH)):
                shared[place[k]] = mine[k]
            ti.simt.block.sync()
            for k in ti.static(range(EACH)):
                j = k * BLOCK + thread
                if j < valid:
                    to_values[target[k]] = shared[j]


@ti.func
def peers_of(digit):
    """Return the threads of the warp with the same digit, a bit for each."""
    peers = ti.u32(ALL)
    for b in ti.static(range(BITS)):
        bit = (digit >> b) & 1
        votes = ti.cast(ti.simt.warp.ballot(bit), ti.u32)
        peers &= ti.select(bit != 0, votes, ~votes)
    return peers


@native(
    "keys",
    "values",
    "other_keys",
    "other_values",
    "into",
    "starts",
    memory={"table": TABLE},
    searched=False,
)
@ti.kernel
def sort_pairs(
    keys: ti.types.ndarray(ti.u32, ndim=1),
    values: ti.types.ndarray(ti.i32, ndim=1),
    other_keys: ti.types.ndarray(ti.u32, ndim=1),
    other_values: ti.types.ndarray(ti.i32, ndim=1),
    into: ti.types.ndarray(ti.i32, ndim=1),
    n: ti.i32,
    size: ti.types.ndarray(ti.i32, ndim=1),
    shift: ti.i32,
    bits: ti.i32,
    lists: ti.i32,
    starts: ti.types.ndarray(ti.i32, ndim=1),
    table: ti.types.ndarray(ti.i32, ndim=1),
):
    """Sort pairs by some bits of their keys.

    Args:
        keys: The keys, shape (n or more,).
        values: The values, which are any afterwards unless they are `into`.
        other_keys: Memory of the same shape.
        other_values: Memory of the same shape.
        into: Is set to the sorted values.
        n: The number of pairs, or -1.
        size: The number of pairs, if n is -1.
        shift: The first of the bits.
        bits: The number of bits, 1 to 16.
        lists: The number of lists that the pairs of a key make, each; or -1.
        starts: Is set to where each list begins, and to the number of pairs, shape (lists + 1,).
        table: The counts of digits.
    """
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        clear_groups(i, table)
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        m = size_of(n, size)
        count_digits(i, keys, m, 0, shift, (bits + 1) // 2, table)
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        m = size_of(n, size)
        width = (bits + 1) // 2
        move(i, keys, values, m, 0, shift, width, table, other_keys, other_values)
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        m = size_of(n, size)
        width = (bits + 1) // 2
        count_digits(i, other_keys, m, 1, shift + width, bits - width, table)
    ti.loop_config(block_dim=BLOCK)
    for i in range(BLOCKS * BLOCK):
        m = size_of(n, size)
        width = (bits + 1) // 2
        move(
            i, other_keys, other_values, m, 1, shift + width, bits - width, table, keys, into
        )  # fmt: skip
    ti.loop_config(block_dim=BLOCK)
    for i in range(FINDERS * BLOCK):
        number = i
        while number <= lists:
            low = 0
            end = size_of(n, size)
            while low < end:
                middle = (low + end) // 2
                if ti.cast(keys[middle], ti.i32) < number:
                    low = middle + 1
                else:
                    end = middle
            starts[number] = low
            number += FINDERS * BLOCK
