"""`dt.packed`: symmetric matrices in arrays of a thread, as packed lower triangles."""

from difftile.packed.factors import factor, solve
from difftile.packed.products import multiply

__all__ = ["factor", "multiply", "solve"]
