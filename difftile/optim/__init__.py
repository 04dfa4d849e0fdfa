"""`dt.optim`: fields that move against their gradients."""

from difftile.optim import schedules
from difftile.optim.adam import Adam, AdamW
from difftile.optim.lbfgs import LBFGS
from difftile.optim.rmsprop import RMSProp
from difftile.optim.scipy_minimize import scipy_minimize
from difftile.optim.sgd import SGD

__all__ = ["LBFGS", "SGD", "Adam", "AdamW", "RMSProp", "schedules", "scipy_minimize"]
