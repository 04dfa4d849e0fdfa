"""`dt.distributed`: one program on several ranks, each a process with memory of its own."""

from difftile.distributed.transfer import Part, transfer

__all__ = ["Part", "transfer"]
