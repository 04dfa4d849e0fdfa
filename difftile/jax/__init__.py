"""`dt.jax`: functions over fields as operations of JAX."""

from difftile.jax.op import op

__all__ = ["op"]
