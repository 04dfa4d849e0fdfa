"""What is done to ndarrays where they are: in memory that the host does not see."""

# Kernels of Taichi's: their annotations are objects.
# pyright: reportInvalidTypeForm=false

import taichi as ti


@ti.kernel
def copy_rows(x: ti.types.ndarray(), index: ti.types.ndarray(), y: ti.types.ndarray()):
    """Set each element of `y` from the row of `x` that the index has for its own; -1 sets zeros."""
    for at in ti.grouped(y):
        row = index[at[0]]
        source = at
        source[0] = ti.max(row, 0)
        y[at] = ti.select(row < 0, ti.zero(y[at]), x[source])


@ti.kernel
def add(into: ti.types.ndarray(), values: ti.types.ndarray()):
    """Add an ndarray to one of the same shape and element."""
    for at in ti.grouped(into):
        into[at] += values[at]


@ti.kernel
def fill(x: ti.types.ndarray(), value: ti.f64, scalar: ti.template()):
    """Set every number of an ndarray.

    Taichi's own method rounds to single precision, and compiles a kernel anew at each call where
    elements are vectors.

    Args:
        x: The ndarray.
        value: A number that its type and double precision hold.
        scalar: The type of its numbers.
    """
    for at in ti.grouped(x):
        x[at] = ti.cast(ti.zero(x[at]) + ti.cast(value, scalar), scalar)
