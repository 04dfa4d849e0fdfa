"""`dt.optim`: optimisers, which move fields against their gradients."""

from difftile.optim import schedules
from difftile.optim.adam import Adam, AdamW
from difftile.optim.constraint import Constraint
from difftile.optim.lbfgs import LBFGS
from difftile.optim.optimiser import Rate
from difftile.optim.rmsprop import RMSProp
from difftile.optim.saved import read_state, write_state
from difftile.optim.scipy_minimize import scipy_minimize
from difftile.optim.sgd import SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adam",
    "AdamW",
    "Constraint",
    "RMSProp",
    "Rate",
    "read_state",
    "schedules",
    "scipy_minimize",
    "write_state",
]
