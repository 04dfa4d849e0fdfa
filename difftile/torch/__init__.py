"""`dt.torch`: PyTorch modules as steps of tapes."""

from difftile.torch.wrap import wrap

__all__ = ["wrap"]
