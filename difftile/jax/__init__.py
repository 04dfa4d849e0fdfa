"""`dt.jax`: functions over fields as operations of JAX, and its functions as steps of tapes."""

from difftile.jax.op import op
from difftile.jax.optimiser import optimiser
from difftile.jax.trees import arrays, fields
from difftile.jax.wrap import wrap

__all__ = ["arrays", "fields", "op", "optimiser", "wrap"]
