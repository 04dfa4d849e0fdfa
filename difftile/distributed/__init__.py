"""`dt.distributed`: one program on several ranks, each a process with memory of its own."""

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
