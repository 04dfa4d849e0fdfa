"""Robots that learn to run along x: what they see and are rewarded for are tasks of the library.

Their models are archives, so that MuJoCo is not needed, with joints and motors that can run.
"""

from dataclasses import dataclass
from pathlib import Path

from difftile import worlds

MODELS = Path(__file__).parent / "models"  # of ant.xml and hopper.xml, by `Model.save`
HINGE = 3  # MuJoCo's number of the type


@dataclass(frozen=True)
class Gait:
    """What a robot needs to run, beside the model in its file.

    Attributes:
        strength: Of the motors, relative to those in the file of the model.
        stiffness, damping: Of springs and dampers that hold the joints as in the model [N m/rad,
            N m s/rad].
    """

    strength: float = 1.0
    stiffness: float = 0.0
    damping: float = 0.0


GAITS = {"ant": Gait(strength=2.5, stiffness=120.0, damping=2.0), "hopper": Gait()}


def robot(name: str) -> worlds.Model:
    """Return the model of a robot, with motors as strong as it needs them to run."""
    model = worlds.load_arrays(MODELS / f"{name}.npz")
    gait = GAITS[name]
    model.actuator_gear[:, 0] *= gait.strength
    is_hinge = model.jnt_type == HINGE
    model.jnt_stiffness[is_hinge] += gait.stiffness
    at = model.jnt_qposadr[is_hinge]
    model.qpos_spring[at] = model.qpos0[at]
    model.dof_damping[model.jnt_dofadr[is_hinge]] += gait.damping
    return model


def task(name: str) -> worlds.Task:
    """Return what a robot is to do."""
    return worlds.tasks.named(name)
