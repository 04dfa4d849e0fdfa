"""Floats by their bits, for functions that loops compute as vectors.

Under fast math LLVM adds up in any order, and assumes that no number is infinite. Operations that
depend on the order go through a `barrier`, and infinities, NaN and signs are integers here.
"""

# Functions of Taichi's language: their annotations are objects, and what they index has no types.
# pyrefly: ignore-errors[implicit-any, invalid-annotation, unannotated-return]
# pyrefly: ignore-errors[unknown-attribute-access, unknown-return-type]
# pyrefly: ignore-errors[unknown-variable-type, untyped-function-decorator]

import struct
from typing import Any

from difftile.records import dataclass
from difftile.substrate.compiler import ti

_SHORT = 6  # coefficients


@dataclass(frozen=True, slots=True)
class Format:
    """A type of floats, and the numbers of its bits.

    Args:
        real: The type.
        whole: The integers of the same size.
        digits: The bits after the first one of a number.
        bias: The exponent field of 1.
        lowest: A number below all that matter.
    """

    real: Any
    whole: Any
    digits: int
    bias: int
    lowest: float

    @property
    def is_double(self) -> bool:
        """Whether this is double precision."""
        return self.digits == 52

    @property
    def sign(self) -> int:
        """The bit of the sign, as an integer of that size."""
        return -(2**63) if self.is_double else -(2**31)

    @property
    def rest(self) -> int:
        """All bits except the sign bit."""
        return -1 - self.sign

    @property
    def infinity(self) -> int:
        """The bits of infinity."""
        return (2 * self.bias + 1) << self.digits

    @property
    def nan(self) -> int:
        """The bits of NaN."""
        return self.infinity | 1 << (self.digits - 1)

    def bits(self, number: float) -> int:
        """Return the bits of a number."""
        form = ("<d", "<q") if self.is_double else ("<f", "<i")
        return struct.unpack(form[1], struct.pack(form[0], number))[0]


SINGLE = Format(ti.f32, ti.i32, 23, 127, -1e30)
DOUBLE = Format(ti.f64, ti.i64, 52, 1023, -1e300)


def format_of(dtype: Any) -> Format:
    """Return the format of Taichi's type."""
    return DOUBLE if dtype == ti.f64 else SINGLE


def of(dtype: Any, single: Any, double: Any) -> Any:
    """Return `single` or `double`, by the type."""
    return double if dtype == ti.f64 else single


@ti.func
def magnitude(x, f):
    """The bits of |x|: they order floats by size, then infinity, then NaN."""
    return ti.bit_cast(x, f.whole) & f.whole(f.rest)


@ti.func
def barrier(x, f):
    """The number x, of which the compiler does not know how it was computed.

    Also of use for arguments: the user's last step may otherwise be joined with a first one here.
    """
    return ti.select(x < f.real(f.lowest), f.real(f.lowest), x)


@ti.func
def polynomial(x, coefficients: ti.template(), f):
    """The polynomial with such coefficients, the highest power first.

    A long one is two, of the even and the odd powers, which the processor computes side by side.
    They are large for arguments whose negative is far from the interval of the approximation.
    """
    if ti.static(len(coefficients) <= _SHORT):
        return by_horner(x, coefficients, f)
    z = x * x
    odd_powers = by_horner(z, ti.static(coefficients[-2::-2][::-1]), f)
    return odd_powers * x + by_horner(z, ti.static(coefficients[::-2][::-1]), f)


@ti.func
def by_horner(x, coefficients: ti.template(), f):
    """The polynomial with such coefficients, computed in one line."""
    y = f.real(ti.static(coefficients[0]))
    for c in ti.static(coefficients[1:]):
        y = y * x + f.real(c)
    return y


@ti.func
def power_of_two(n, f):
    """2^n for the integer n of a normal number."""
    return ti.bit_cast((ti.cast(n, f.whole) + f.whole(f.bias)) << f.whole(f.digits), f.real)


@ti.func
def as_normal(bits, f):
    """The subnormal number with such bits, times 2^126 or in double precision 2^1022.

    Arithmetic may take subnormal numbers for 0. Bits of numbers below 0 give some such number.
    """
    return ti.bit_cast(bits | f.whole(ti.static(f.bits(1.0))), f.real) - 1


@ti.func
def scaled(y, n, f):
    """The product of 2^n and y, for an integer n and y from 1/4 to 2.

    Subnormal results are rounded, or flushed to 0; what is not finite has arbitrary bits.
    """
    below = ti.min(n + ti.i32(f.bias - 3), 0)
    normal = ti.bit_cast(y, f.whole) + (ti.cast(n - below, f.whole) << f.whole(f.digits))
    return ti.bit_cast(normal, f.real) * power_of_two(below, f)


@ti.func
def odd(x, y, small: ti.template(), f):
    """An odd function, which is y at |x|; x itself below `small`, and NaN of NaN."""
    size = magnitude(x, f)
    own = ti.bit_cast(x, f.whole)
    y_bits = ti.bit_cast(y, f.whole) | (own & f.whole(f.sign))
    itself = (size < f.whole(ti.static(f.bits(small)))) | (size > f.whole(f.infinity))
    return ti.bit_cast(ti.select(itself, own, y_bits), f.real)
