"""Prefix sums of integers, and the division of lists of integers among threads.

Each thread sums up its own part of the rows; the sums of the parts are summed in the same way. No
step is atomic, and the result does not depend on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.diagnostics import FieldError
from difftile.fields.create import zeros
from difftile.fields.field import Field
from difftile.fields.recording import RECORDING
from difftile.ir.types import I32, I64
from difftile.runtime.kernel import kernel
from difftile.substrate import Buffer, NativeKernel, current_session
from difftile.tracebacks import boundary


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


def native_kernel(name: str) -> NativeKernel | None:
    """Return a native kernel; none while a tape is open, which would not hear of its launch."""
    return None if RECORDING.get().recorder is not None else current_session().native.get(name)


@kernel
def _sum_blocks(
    counts: KernelValue, rows: int, block: int, blocks: int, columns: int, sums: KernelValue
) -> None:
    for b, d in ti.ndrange(blocks, columns):
        total = ti.cast(0, ti.i64)
        for j in range(block):
            row = b * block + j
            if row < rows:
                total += ti.cast(counts[row, d], ti.i64)
        sums[b, d] = total


@kernel
def _scan_blocks(
    counts: KernelValue, rows: int, block: int, blocks: int, columns: int, sums: KernelValue
) -> None:
    for b, d in ti.ndrange(blocks, columns):
        before = sums[b, d]
        for j in range(block):
            row = b * block + j
            if row < rows:
                count = ti.cast(counts[row, d], ti.i64)
                counts[row, d] = before
                before += count


@kernel
def _scan_alone(counts: KernelValue, rows: int, columns: int, total: KernelValue) -> None:
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
        scan = native_kernel("exclusive_scan")
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


@kernel
def _as_rows(counts: KernelValue, rows: KernelValue) -> None:
    for k in range(counts.shape[0]):
        rows[k, 0] = counts[k]


@kernel
def _from_rows(rows: KernelValue, counts: KernelValue) -> None:
    for k in range(counts.shape[0]):
        counts[k] = rows[k, 0]


@boundary
def prefix_sum(counts: Field) -> int:
    """Replace each count by the sum of those before it, and return the sum of all.

    The result does not depend on the number of threads. Returning the sum waits for the device.

    Args:
        counts: Integers, shape (n,).

    Raises:
        FieldError: The field has another type or shape, or the sum is too large for it.
    """
    if counts.element not in (I32, I64) or len(counts.shape) != 1:
        raise FieldError(f"dt.prefix_sum adds fields of integers of shape (n,), not {counts!r}.")
    n = counts.shape[0]
    if not n:
        return 0
    rows, scan = zeros((n, 1), I64), Scan()
    _as_rows(counts, rows)
    scan(rows, n)
    if counts.element == I32 and scan.total >= 1 << 31:
        raise FieldError(f"The sum of these counts is {scan.total:,}; make them a field of i64.")
    _from_rows(rows, counts)
    return scan.total
