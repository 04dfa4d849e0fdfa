"""Ranks: the processes that run one program together, and the engines that connect them.

An engine exists already (torch.distributed, MPI); this package gives it four calls, which the rest
of the library uses: `rank`, `size`, `all_reduce`, `exchange`. Both calls that communicate start
work and return a `Pending`. Another engine is a row in `choice.py` and a file that implements
`engine.py`. The watch (`watch.py`), by which ranks learn of failures, has a port that any program
can reach: its secret is sent through the engine, and no message that arrives can end its thread.
"""

from difftile.diagnostics import RankError
from difftile.ranks.choice import agree, current, start
from difftile.ranks.devices import choose_device, threads
from difftile.ranks.engine import Engine, Message, Pending
from difftile.ranks.first import is_first
from difftile.ranks.streams import use_stream

__all__ = [
    "Engine",
    "Message",
    "Pending",
    "RankError",
    "agree",
    "choose_device",
    "current",
    "is_first",
    "start",
    "threads",
    "use_stream",
]
