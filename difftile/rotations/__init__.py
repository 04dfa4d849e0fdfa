"""`dt.rotations`: quaternions, and the groups SO(3) and SE(3), in kernels and in Python."""

from difftile.rotations.quaternions import (
    quat_conjugate,
    quat_exp,
    quat_from_axis_angle,
    quat_from_matrix,
    quat_log,
    quat_multiply,
    quat_rotate,
    quat_to_matrix,
    slerp,
)
from difftile.rotations.rigid_motions import se3_exp, se3_log
from difftile.rotations.rotation_vectors import skew, so3_exp, so3_log

__all__ = [
    "quat_conjugate",
    "quat_exp",
    "quat_from_axis_angle",
    "quat_from_matrix",
    "quat_log",
    "quat_multiply",
    "quat_rotate",
    "quat_to_matrix",
    "se3_exp",
    "se3_log",
    "skew",
    "slerp",
    "so3_exp",
    "so3_log",
]
