"""`dt.optim`: fields that move against their gradients."""

from difftile.optim import schedules
from difftile.optim.adam import Adam, AdamW
from difftile.optim.rmsprop import RMSProp
from difftile.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "RMSProp", "schedules"]
