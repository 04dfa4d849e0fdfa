"""`difftile.worlds`: batches of articulated rigid bodies with contact, and their gradients.

Models are MJCF, compiled by MuJoCo, or archives of its arrays. `mjcf.py` limits what MuJoCo may
read; `refusals.py` lists the features that are refused, `arrays.py` the arrays that a model keeps,
`topology.py` what follows from them. `step.py` has the order of a step and its derivative:
kinematics and inertia, `transmission.py` and `forces.py`, contacts (`collide.py`, `rows.py`,
`impedance.py`, `cones.py`, `constraint_forces.py`), equality constraints (`equalities.py`, added to
the matrix of the solver's problem), and `solution.py`, whose derived adjoint is the adjoint of the
solver. `distance.py` passes gradients to contacts before they touch. `sensors.py` reads sensors,
with accelerations and forces from `reactions.py`. `watch.py` and `summary.py` count what `summary`
reports, and `advice.py` warns of unsuitable models. `joints.py` leaves out code for joints that a
model does not have, and `bounds.py` finds geoms that are apart. `tied.py` ties entries of a model
to unknowns, and `check.py` says which models of a folder load. `environment.py` has episodes of a
`task.py` from `starts.py`, with the kernels of a decision in `decisions.py`; `tasks` are examples,
`gymnasium_env.py` is what Gymnasium sees of them, and `robots.py` draws.
"""

from difftile.worlds import tasks
from difftile.worlds.constants import refresh_constants
from difftile.worlds.distance_query import DistanceQuery
from difftile.worlds.distances import GeomDistances
from difftile.worlds.environment import Environment, Transition, environment
from difftile.worlds.model import Model, load, load_arrays
from difftile.worlds.refusals import MissingFeature, Unsupported
from difftile.worlds.simulation import Start, Worlds
from difftile.worlds.summary import Summary
from difftile.worlds.task import Task
from difftile.worlds.tied import TiedParameters, parameters
from difftile.worlds.topology import Sizes

__all__ = [
    "DistanceQuery",
    "Environment",
    "GeomDistances",
    "MissingFeature",
    "Model",
    "Sizes",
    "Start",
    "Summary",
    "Task",
    "TiedParameters",
    "Transition",
    "Unsupported",
    "Worlds",
    "environment",
    "load",
    "load_arrays",
    "parameters",
    "refresh_constants",
    "tasks",
]
