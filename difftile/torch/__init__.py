"""`dt.torch`: functions over fields as operations of PyTorch, and its modules as steps of tapes.

`op.py` finds the shortest path for a call. Plain tensors and one launch take the path in which
everything that depends on shapes is known. Other eager calls use the functions of `functions.py`,
which have each other as derivatives, as `torch.func` and forward mode require. Calls traced by
torch are operations of `torch.library` (`traced.py`). A `ModuleCall` keeps a graph of torch,
through which all derivatives pass; `CallState` is the state that a repeated call must find. Only
this package imports PyTorch.
"""

from difftile.torch.op import op
from difftile.torch.parameters import parameters
from difftile.torch.wrap import wrap

__all__ = ["op", "parameters", "wrap"]
