"""`dt.jax`: functions over fields as operations of JAX, and its functions as steps of tapes.

To JAX an operation is five primitives, one for each kind of `Call`: run, push, pull, and the
tangents of the last two. `primitives.py` has their rules, each of which makes calls again, with
batch axes in front of all operands. `lowering.py` writes a call into a compiled program as a
foreign function, whose one handler (`ffi.py`, ctypes over XLA's C interface) finds a `CallTarget`
by its number, or as a callback. A `FunctionCall` keeps the contents of its fields and calls
derivatives that JAX compiles once for each `Form` of arguments. Only this package imports JAX.
"""

from difftile.jax.op import op
from difftile.jax.optimiser import optimiser
from difftile.jax.trees import arrays, fields
from difftile.jax.wrap import wrap

__all__ = ["arrays", "fields", "op", "optimiser", "wrap"]
