"""`dt.training`: training of splats: densification, pruning, and the command `difftile train`.

Names load on first use, so that the command line answers without starting Taichi.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from difftile.training.densify import Densification
    from difftile.training.from_points import gaussians_at
    from difftile.training.initial import gaussians_of, splats_of
    from difftile.training.mcmc import MCMC
    from difftile.training.options import Options
    from difftile.training.rates import degree_at, optimiser, rate_of_centres
    from difftile.training.scores import Score
    from difftile.training.trainer import Trainer

_HOME = {
    "MCMC": "mcmc",
    "Densification": "densify",
    "Options": "options",
    "Score": "scores",
    "Trainer": "trainer",
    "degree_at": "rates",
    "gaussians_at": "from_points",
    "gaussians_of": "initial",
    "optimiser": "rates",
    "rate_of_centres": "rates",
    "splats_of": "initial",
}

__all__ = [
    "MCMC",
    "Densification",
    "Options",
    "Score",
    "Trainer",
    "degree_at",
    "gaussians_at",
    "gaussians_of",
    "optimiser",
    "rate_of_centres",
    "splats_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'difftile.training' has no attribute '{name}'")
    return getattr(importlib.import_module(f"difftile.training.{_HOME[name]}"), name)
