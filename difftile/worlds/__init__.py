"""`difftile.worlds`: batches of articulated rigid bodies with contact, and their gradients.

Models are MJCF, compiled by MuJoCo, or archives of its arrays.
"""

from difftile.worlds.constants import refresh_constants
from difftile.worlds.model import Model, load, load_arrays
from difftile.worlds.refusals import Unsupported
from difftile.worlds.simulation import Start, Worlds
from difftile.worlds.summary import Summary
from difftile.worlds.topology import Sizes

__all__ = [
    "Model",
    "Sizes",
    "Start",
    "Summary",
    "Unsupported",
    "Worlds",
    "load",
    "load_arrays",
    "refresh_constants",
]
