"""`difftile.worlds.learn`: policies that learn the tasks of `worlds.environment`.

`shac.py` learns by gradients through the simulation and `ppo.py` without them, from the same
`rollouts.py`, `policies.py` and `critics.py`; networks are kernels (`networks.py`) or a module of
PyTorch (`torch_networks.py`). `mpc.py` plans instead of learning. `training.py` is the loop around
them, `records.py` its files, and `film.py` its pictures; `run.py` is `difftile learn`, whose
arguments are in `difftile/commands/learn.py`.
"""

from difftile.worlds.learn.critics import Critic, CriticRates
from difftile.worlds.learn.mpc import Mpc, MpcRates
from difftile.worlds.learn.networks import Networks
from difftile.worlds.learn.policies import Policy, PolicyRates, fields_of
from difftile.worlds.learn.ppo import Ppo, PpoRates
from difftile.worlds.learn.records import TrainingRecord
from difftile.worlds.learn.rollouts import Measure, Progress, Rollouts
from difftile.worlds.learn.shac import Shac, ShacRates
from difftile.worlds.learn.training import Episode, evaluate, learner, networks_of, train

__all__ = [
    "Critic",
    "CriticRates",
    "Episode",
    "Measure",
    "Mpc",
    "MpcRates",
    "Networks",
    "Policy",
    "PolicyRates",
    "Ppo",
    "PpoRates",
    "Progress",
    "Rollouts",
    "Shac",
    "ShacRates",
    "TrainingRecord",
    "evaluate",
    "fields_of",
    "learner",
    "networks_of",
    "train",
]
