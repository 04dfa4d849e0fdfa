"""Prefix sums and sorting of integers, for lists of splats.

A least significant digit radix sort (Knuth, TAOCP 3, 5.2.5), stable. Each thread counts the digits
of its own chunk of keys; prefix sums over the chunks give the place of each digit of each chunk,
and the thread moves its keys there in order. No step is atomic, and the result does not depend on
the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import difftile.lang as ti
from difftile.fields.create import zeros
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING
from difftile.ir.types import I32, I64, U32
from difftile.runtime.kernel import kernel
from difftile.substrate import Buffer, NativeKernel, current_session
from difftile.tracebacks import boundary

_NATIVE = 1 << 30  # pairs that the sort by warps counts without overflow


@dataclass(frozen=True, slots=True)
class Grain:
    """The division of work among threads.

    Args:
        chunks: The largest number of chunks of keys.
        chunk: The least number of keys in a chunk.
        bits: The largest number of bits of a digit.
        block: The least number of rows of a table for one thread to sum up.
        serial: The largest table that one thread sums up by itself.
    """

    chunks: int
    chunk: int
    bits: int
    block: int
    serial: int

    def chunk_of(self, n: int) -> int:
        """Return the number of keys in a chunk of n keys."""
        return max(self.chunk, -(-n // self.chunks))

    def block_of(self, rows: int) -> int:
        """Return the number of rows in a block of a table."""
        return max(self.block, -(-rows // self.chunks))


def grain() -> Grain:
    """Return the division of work for the running device."""
    session = current_session()
    if session.on_host:
        # 256 counters fit the first cache of a core; each launch costs as much as 10,000 keys.
        return Grain(4 * session.threads, 4096, 8, 4096, 1 << 16)
    # Many threads hide the latency of memory at each key, and a launch takes as long as some
    # millions of keys: few passes over many short chunks.
    return Grain(1 << 17, 64, 8, 128, 256)


def memory_to_write(field: Field) -> Buffer:
    """Return the memory of a field for a native kernel that writes it, or some of it.

    Memory that a tape needs stays as it is: the field moves, with its contents.
    """
    return field.fresh_if_pinned(keep=True)


def _native(name: str) -> NativeKernel | None:
    """Return a native kernel; none while a tape is open, which would not hear of its launch."""
    return None if RECORDING.get().recorder is not None else current_session().native.get(name)


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
    """An exclusive prefix sum in place, with its memory."""

    def __init__(self) -> None:
        self._total = zeros((), I64)
        self._levels: list[Field] = []

    def __call__(self, counts: Field, rows: int, columns: int = 1) -> None:
        """Replace each count by the sum of those before it.

        Columns follow one another: for counts of digits by chunk, the sums are the places for the
        digits of each chunk.

        Args:
            counts: Integers, shape (rows or more, columns or more).
            rows: The number of rows to sum; at least one.
            columns: The number of columns to sum.
        """
        scan = _native("exclusive_scan")
        if scan is not None and columns == 1 and counts.element == I32:
            scan(memory_to_write(counts), rows, memory_to_write(self._total))
        else:
            self._scan(counts, rows, columns, 0)

    @property
    def total(self) -> int:
        """The sum of all counts of the last call; reading it waits for the device."""
        return int(self._total[None])

    def _scan(self, counts: Field, rows: int, columns: int, level: int) -> None:
        share = grain()
        # On a device with many slow threads only a single row is left to one of them.
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
    """A sort of pairs of a key and a value by the key, with its memory.

    Write the pairs into the first elements of `keys` and `values`, sort, and read them there. Both
    are other fields afterwards.

    Args:
        capacity: The number of pairs to make room for at first.

    Attributes:
        keys: Unsigned integers, shape (capacity,).
        values: Integers, shape (capacity,).
    """

    @boundary
    def __init__(self, capacity: int = 1) -> None:
        self._scan = Scan()
        self._counts = zeros((1, 1), I32)
        self._make(max(1, capacity))

    @property
    def capacity(self) -> int:
        """The number of pairs that there is room for."""
        return self.keys.shape[0]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The memory: of keys, of values, and of both once more."""
        fields = self.keys, self.values, self._keys, self._values
        return tuple(memory_to_write(field) for field in fields)

    def reserve(self, n: int) -> None:
        """Make room for n pairs; the contents are lost if that takes new fields."""
        if n > self.capacity:
            self._make(max(n, self.capacity * 5 // 4))

    def _make(self, capacity: int) -> None:
        self.keys, self._keys = zeros(capacity, U32), zeros(capacity, U32)
        self.values, self._values = zeros(capacity, I32), zeros(capacity, I32)

    def sort(self, n: int, bits: int = 32, into: Field | None = None) -> None:
        """Sort the first n pairs by the lowest bits of their keys; equal ones stay in their order.

        Args:
            n: The number of pairs.
            bits: The number of bits of the keys to sort by, 1 to 32.
            into: The field for the values instead of `values`: integers, shape (n or more,).
        """
        if not n:
            return
        native = _native("sort_pairs")
        if native is not None and n <= _NATIVE:
            self._sort_natively(native, n, bits, into)
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

    def _sort_natively(self, sort: NativeKernel, n: int, bits: int, into: Field | None) -> None:
        memory, unused = self.buffers, self.values.buffer
        for shift in range(0, bits, 16):
            done = shift + 16 >= bits
            values = memory_to_write(into) if into is not None and done else memory[1]
            sort(*memory, values, n, unused, shift, min(16, bits - shift), -1, unused)
