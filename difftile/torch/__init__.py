"""`dt.torch`: functions over fields as operations of PyTorch, and its modules as steps of tapes."""

from difftile.torch.op import op
from difftile.torch.parameters import parameters
from difftile.torch.wrap import wrap

__all__ = ["op", "parameters", "wrap"]
