"""The number types of the kernel language: `ti.f32`, `ti.i64`, `ti.u1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from difftile.ir.types import (
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Scalar,
    numpy_dtype,
    scalar_of,
)
from difftile.lang.type_objects import TypeObject
from difftile.lang.values import converted


class ScalarType(TypeObject):
    """A number type; calling it converts numbers, arrays and vectors.

    NumPy takes it as a type as well: `np.zeros(3, ti.f32)`.
    """

    __slots__ = ()

    def __call__(self, value: Any = 0, /) -> Any:
        """Return a value in this type.

        Floats are cut towards zero where the type is of integers, and integers keep their low bits.

        Raises:
            LaunchError: The value is no number, or is not finite and the type one of integers.
        """
        return converted(value, scalar_of(self.type))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of NumPy."""
        return numpy_dtype(scalar_of(self.type))

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        return _by_name, (self.name,)


def _named(scalar: Scalar, name: str) -> ScalarType:
    return ScalarType(scalar, name=name)


def _by_name(name: str) -> ScalarType:
    return globals()[name]


if TYPE_CHECKING:
    from difftile.lang.checked import Checked

    class f16(Checked):
        """16-bit floats."""

    class f32(Checked):
        """32-bit floats."""

    class f64(Checked):
        """64-bit floats."""

    class i8(Checked):
        """8-bit signed integers."""

    class i16(Checked):
        """16-bit signed integers."""

    class i32(Checked):
        """32-bit signed integers."""

    class i64(Checked):
        """64-bit signed integers."""

    class u1(Checked):
        """True and false."""

    class u8(Checked):
        """8-bit unsigned integers."""

    class u16(Checked):
        """16-bit unsigned integers."""

    class u32(Checked):
        """32-bit unsigned integers."""

    class u64(Checked):
        """64-bit unsigned integers."""

else:
    f16, f32, f64 = _named(F16, "f16"), _named(F32, "f32"), _named(F64, "f64")
    i8, i16 = _named(I8, "i8"), _named(I16, "i16")
    i32, i64 = _named(I32, "i32"), _named(I64, "i64")
    u8, u16 = _named(U8, "u8"), _named(U16, "u16")
    u32, u64 = _named(U32, "u32"), _named(U64, "u64")
    u1 = _named(BOOL, "u1")

# Long names of the same types.
float16, float32, float64 = f16, f32, f64
int8, int16, int32, int64 = i8, i16, i32, i64
uint1, uint8, uint16, uint32, uint64 = u1, u8, u16, u32, u64

BY_SCALAR: dict[Scalar, Any] = {
    **{F16: f16, F32: f32, F64: f64, I8: i8, I16: i16, I32: i32, I64: i64},
    **{U8: u8, U16: u16, U32: u32, U64: u64, BOOL: u1},
}
