"""`dt.distributed`: one program on several ranks, each a process with memory of its own.

A field that is split has a `Split`, which states what this rank owns and how halos are filled; code
that counts or moves elements uses `x.inner`. Everything that crosses ranks on a tape is an opaque
step that `communicates`. An exchange is a gather, a `Transfer` and a scatter: gather and scatter
are launches, and a transfer is linear, so derivatives of all orders are exchanges too (decision
66). A tape with a limit agrees with the other ranks before it runs such steps again (decision 67).

Gradients of parameters that all ranks have are no step. A tape with `reduce=` reports each record
to the reduction before reversing it; a gradient that no remaining record can change is sent then,
in buckets on which the ranks agreed when the pass began (decision 68).
"""

from difftile.distributed.checkpoint import load, save
from difftile.distributed.gradients import Gradients, all_reduce
from difftile.distributed.grid import Grid
from difftile.distributed.losses import max, mean, min, sum
from difftile.distributed.order import Order
from difftile.distributed.particles import Particles
from difftile.distributed.reductions import reduced
from difftile.distributed.replicas import broadcast, check
from difftile.distributed.split_rows import SplitRows
from difftile.distributed.start import rank, size, start
from difftile.distributed.transfer import Part, transfer
from difftile.fields.reductions import Reductions

__all__ = [
    "Gradients",
    "Grid",
    "Order",
    "Part",
    "Particles",
    "SplitRows",
    "all_reduce",
    "broadcast",
    "check",
    "load",
    "max",
    "mean",
    "min",
    "rank",
    "save",
    "size",
    "start",
    "sum",
    "transfer",
]

Reductions.over_ranks = reduced
