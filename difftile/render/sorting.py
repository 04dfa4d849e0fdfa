"""Sums over what comes before, and sorting of integers: what lists of splats are made with.

A least significant digit radix sort (Knuth, TAOCP 3, 5.2.5), stable. Each thread has a chunk of the
keys of its own: it counts their digits, sums over the chunks say where each digit of each chunk
begins, and the thread moves its keys there in order. So nothing is atomic, and the result does not
depend on the threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from difftile.fields.create import zeros
from difftile.fields.field import Field
from difftile.ir.types import I32, I64, U32
from difftile.runtime.kernel import kernel
from difftile.substrate import current_session, ti


@dataclass(frozen=True, slots=True)
class Grain:
    """How work is shared among threads.

    Args:
        chunks: Into how many chunks keys are cut at most.
        chunk: The fewest keys in one, besides.
        bits: The most bits of a digit.
        block: How many rows of a table one thread sums up at least.
        serial: The largest table that one thread sums up by itself.
    """

    chunks: int
    chunk: int
    bits: int
    block: int
    serial: int

    def chunk_of(self, n: int) -> int:
        """Return how many of n keys make a chunk."""
        return max(self.chunk, -(-n // self.chunks))

    def block_of(self, rows: int) -> int:
        """Return how many rows of a table make a block."""
        return max(self.block, -(-rows // self.chunks))


def grain() -> Grain:
    """Return how work is shared on the running device."""
    session = current_session()
    if session.on_host:
        # A thread finds 256 counters in its first cache; each launch costs as much as 10,000 keys.
        return Grain(4 * session.threads, 4096, 8, 4096, 1 << 16)
    # A thread that waits for memory at each key needs many others beside it, and a launch takes as
    # long as some millions of keys: few passes over many short chunks.
    return Grain(1 << 17, 64, 8, 128, 256)


# Sums


@kernel
def _sum_blocks(counts, rows: ti.i32, block: ti.i32, blocks: ti.i32, columns: ti.i32, sums):
    for b, d in ti.ndrange(blocks, columns):
        total = ti.cast(0, ti.i64)
        for j in range(block):
            row = b * block + j
            if row < rows:
                total += ti.cast(counts[row, d], ti.i64)
        sums[b, d] = total


@kernel
def _scan_blocks(counts, rows: ti.i32, block: ti.i32, blocks: ti.i32, columns: ti.i32, sums):
    for b, d in ti.ndrange(blocks, columns):
        before = sums[b, d]
        for j in range(block):
            row = b * block + j
            if row < rows:
                count = ti.cast(counts[row, d], ti.i64)
                counts[row, d] = before
                before += count


@kernel
def _scan_alone(counts, rows: ti.i32, columns: ti.i32, total):
    for _ in range(1):
        before = ti.cast(0, ti.i64)
        for d in range(columns):
            for row in range(rows):
                count = ti.cast(counts[row, d], ti.i64)
                counts[row, d] = before
                before += count
        total[None] = before


class Scan:
    """Replaces counts by the sums of all that come before, and owns the memory for that."""

    def __init__(self) -> None:
        self._total = zeros((), I64)
        self._levels: list[Field] = []

    def __call__(self, counts: Field, rows: int, columns: int = 1) -> None:
        """Replace each count by the sum of those before it.

        A column comes after all of the column before: where counts are those of chunks by digits,
        the sums are where each chunk finds room for a digit.

        Args:
            counts: Integers, shape (rows or more, columns or more).
            rows: How many rows count; at least one.
            columns: How many columns do.
        """
        self._scan(counts, rows, columns, 0)

    @property
    def total(self) -> int:
        """The sum of all counts of the last call; reading it waits for the device."""
        return int(self._total[None])

    def _scan(self, counts: Field, rows: int, columns: int, level: int) -> None:
        share = grain()
        # On a device with many threads one of them is slow: the top is a single row there.
        if rows == 1 or rows * columns <= share.serial:
            _scan_alone(counts, rows, columns, self._total)
            return
        block = share.block_of(rows)
        blocks = -(-rows // block)
        sums = self._level(level, blocks, columns)
        _sum_blocks(counts, rows, block, blocks, columns, sums)
        self._scan(sums, blocks, columns, level + 1)
        _scan_blocks(counts, rows, block, blocks, columns, sums)

    def _level(self, level: int, rows: int, columns: int) -> Field:
        if level == len(self._levels):
            self._levels.append(zeros((rows, columns), I64))
        have = self._levels[level].shape
        if have[0] < rows or have[1] < columns:
            shape = max(have[0], rows), max(have[1], columns)
            self._levels[level] = zeros(shape, I64)
        return self._levels[level]


# Sorting


@kernel
def _count_digits(
    keys, n: ti.i32, chunk: ti.i32, chunks: ti.i32, shift: ti.i32, digits: ti.i32, counts
):
    for c in range(chunks):
        for d in range(digits):
            counts[c, d] = 0
        for j in range(chunk):
            k = c * chunk + j
            if k < n:
                digit = ti.cast(keys[k] >> shift, ti.i32) & (digits - 1)
                counts[c, digit] += 1


@kernel
def _scatter(
    keys,
    values,
    n: ti.i32,
    chunk: ti.i32,
    chunks: ti.i32,
    shift: ti.i32,
    digits: ti.i32,
    starts,
    sorted_keys,
    sorted_values,
):
    for c in range(chunks):
        for j in range(chunk):
            k = c * chunk + j
            if k < n:
                digit = ti.cast(keys[k] >> shift, ti.i32) & (digits - 1)
                at = starts[c, digit]
                starts[c, digit] = at + 1
                sorted_keys[at] = keys[k]
                sorted_values[at] = values[k]


class Sorter:
    """Sorts pairs of a key and a value by the key, and owns the memory for that.

    Write the pairs into the first elements of `keys` and `values`, sort, and read them there: they
    are other fields afterwards.

    Args:
        capacity: For how many pairs there is room at first.

    Attributes:
        keys: Unsigned integers, shape (capacity,).
        values: Integers, shape (capacity,).
    """

    def __init__(self, capacity: int = 1) -> None:
        self._scan = Scan()
        self._counts = zeros((1, 1), I32)
        self._make(max(1, capacity))

    @property
    def capacity(self) -> int:
        """For how many pairs there is room."""
        return self.keys.shape[0]

    def reserve(self, n: int) -> None:
        """Make room for n pairs; what the fields held is lost where there was none."""
        if n > self.capacity:
            self._make(max(n, self.capacity * 5 // 4))

    def _make(self, capacity: int) -> None:
        self.keys, self._keys = zeros(capacity, U32), zeros(capacity, U32)
        self.values, self._values = zeros(capacity, I32), zeros(capacity, I32)

    def sort(self, n: int, bits: int = 32, into: Field | None = None) -> None:
        """Sort the first n pairs by the lowest bits of their keys; equal ones stay in their order.

        Args:
            n: How many pairs there are.
            bits: How many bits of the keys are looked at, 1 to 32.
            into: Takes the values instead of `values`: integers, shape (n or more,).
        """
        if not n:
            return
        share = grain()
        passes = -(-bits // share.bits)
        width = -(-bits // passes)
        chunk = share.chunk_of(n)
        chunks = -(-n // chunk)
        have = self._counts.shape
        if have[0] < chunks or have[1] < 1 << width:
            self._counts = zeros((max(have[0], chunks), max(have[1], 1 << width)), I32)
        for k in range(passes):
            digits = 1 << min(width, bits - k * width)
            cut = n, chunk, chunks, k * width, digits
            _count_digits(self.keys, *cut, self._counts)
            self._scan(self._counts, chunks, digits)
            values = into if into is not None and k == passes - 1 else self._values
            _scatter(self.keys, self.values, *cut, self._counts, self._keys, values)
            self.keys, self._keys = self._keys, self.keys
            self.values, self._values = self._values, self.values
