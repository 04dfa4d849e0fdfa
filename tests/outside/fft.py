"""The fast Fourier transform in place: the benchmark `fft` of Enzyme.

Data are pairs of real and imaginary parts. Factors come from a recurrence, as there, but the levels
are a loop instead of a recursion.
"""

from __future__ import annotations

import taichi as ti

import difftile as dt


@dt.kernel
def transform(data, sign: float):
    """Transform a power of two of pairs; a negative sign goes back, without the factor 1 / n."""
    n = data.shape[0]
    ti.loop_config(serialize=True)
    for i in range(n):
        j, rest, half = 0, i, n // 2
        while half > 0:
            j += half * (rest & 1)
            rest //= 2
            half //= 2
        if j > i:
            for part in range(2):
                kept = data[i, part]
                data[i, part] = data[j, part]
                data[j, part] = kept
    half = 1
    while half < n:
        turn = ti.math.pi / half
        step = ti.Vector([-2.0 * ti.sin(0.5 * turn) ** 2, -sign * ti.sin(turn)])
        factor = ti.Vector([1.0, 0.0])
        for k in range(half):
            for block in range(n // (2 * half)):
                i = 2 * half * block + k
                j = i + half
                moved = ti.math.cmul(ti.Vector([data[j, 0], data[j, 1]]), factor)
                for part in ti.static(range(2)):
                    data[j, part] = data[i, part] - moved[part]
                    data[i, part] += moved[part]
            factor += ti.math.cmul(factor, step)
        half *= 2


@dt.kernel
def rescale(data):
    for i, part in data:
        data[i, part] /= data.shape[0]


def there_and_back(data: dt.Field) -> dt.Field:
    """Return the inverse of the transform of data."""
    transform(data, 1.0)
    transform(data, -1.0)
    rescale(data)
    return data
