"""`dt.training`: training of splats: what grows, what goes, and the command that does it all."""

from difftile.training.densify import Densification
from difftile.training.mcmc import MCMC
from difftile.training.rates import degree_at, optimiser, rate_of_centres
from difftile.training.start import gaussians_at

__all__ = [
    "MCMC",
    "Densification",
    "degree_at",
    "gaussians_at",
    "optimiser",
    "rate_of_centres",
]
