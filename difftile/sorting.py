"""Sorting of integers and floats: `dt.sort`, and sorts that keep their memory.

A least significant digit radix sort (Knuth, TAOCP 3, 5.2.5), stable. Each thread counts the digits
of its own chunk of keys; prefix sums over the chunks give the place of each digit of each chunk,
and the thread moves its keys there in order. No step is atomic, and the result does not depend on
the number of threads.
"""

from __future__ import annotations

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.diagnostics import FieldError
from difftile.fields.create import zeros
from difftile.fields.field import Field
from difftile.ir.types import F32, I32, U32
from difftile.prefix_sums import Scan, grain, memory_to_write, native_kernel
from difftile.runtime.kernel import kernel
from difftile.substrate import Buffer, NativeKernel
from difftile.tracebacks import boundary

_NATIVE = 1 << 30  # pairs that the sort by warps counts without overflow


@kernel
def _count_digits(
    keys: KernelValue,
    n: int,
    chunk: int,
    chunks: int,
    shift: int,
    digits: int,
    counts: KernelValue,
) -> None:
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
    keys: KernelValue,
    values: KernelValue,
    n: int,
    chunk: int,
    chunks: int,
    shift: int,
    digits: int,
    starts: KernelValue,
    sorted_keys: KernelValue,
    sorted_values: KernelValue,
) -> None:
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
        native = native_kernel("sort_pairs")
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


@kernel
def _number(keys: KernelValue, numbers: KernelValue, order: KernelValue, kind: str) -> None:
    """Write keys as unsigned integers in the same order, and the index of each."""
    for k in range(keys.shape[0]):
        number = ti.bit_cast(keys[k], ti.u32)
        sign = ti.cast(1, ti.u32) << 31
        if ti.static(kind == "signed"):
            number ^= sign
        if ti.static(kind == "float"):
            number = ~number if number >= sign else number ^ sign
        numbers[k] = number
        order[k] = k


@kernel
def _gather(keys: KernelValue, order: KernelValue, ordered: KernelValue) -> None:
    for k in range(ordered.shape[0]):
        ordered[k] = keys[order[k]]


@boundary
def sort(keys: Field) -> Field:
    """Sort 32-bit numbers in place, and return where each of them was.

    Equal numbers stay in their order; NaN comes last, or first with a negative sign, and -0.0
    before 0.0. The result does not depend on the number of threads. `x[order[k]]` reads another
    field in the new order. There is no derivative: the order of floats is constant, and sorting a
    field with a gradient is an error.

    Args:
        keys: Integers or floats of 32 bits, shape (n,).

    Returns:
        The old index of each key, integers of shape (n,).

    Raises:
        FieldError: The field has another type or shape, or a gradient.
    """
    kinds = {U32: "unsigned", I32: "signed", F32: "float"}
    if keys.element not in kinds or len(keys.shape) != 1:
        raise FieldError(f"dt.sort sorts fields of 32-bit numbers of shape (n,), not {keys!r}.")
    if keys.has_grads:
        raise FieldError(
            "dt.sort has no derivative. Sort keys.detach().copy(), and read the field by the order."
        )
    n = keys.shape[0]
    sorter = Sorter(n)
    if n:
        _number(keys, sorter.keys, sorter.values, kinds[keys.element])
        sorter.sort(n)
        ordered = zeros(n, keys.element)
        _gather(keys, sorter.values, ordered)
        keys.copy_from(ordered)
    return sorter.values
