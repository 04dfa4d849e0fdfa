"""`dt.distributed`: one program on several ranks, each a process with memory of its own."""

from difftile.distributed.grid import Grid
from difftile.distributed.transfer import Part, transfer

__all__ = ["Grid", "Part", "transfer"]
