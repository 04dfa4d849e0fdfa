"""The numbers by which MuJoCo's arrays name kinds of things."""

from __future__ import annotations

# jnt_type; a body without joints has a fixed node (`topology`).
FREE, BALL, SLIDE, HINGE, FIXED = range(5)

# geom_type
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)

# opt.integrator, opt.cone
EULER, RK4, IMPLICITFAST = 0, 1, 3
PYRAMIDAL, ELLIPTIC = 0, 1

# actuator_dyntype, actuator_gaintype and actuator_biastype, actuator_trntype
INTEGRATOR, FILTER, FILTEREXACT = 1, 2, 3
AFFINE = 1
JOINT, JOINTINPARENT, TENDON = 0, 1, 3
ON_JOINT = 1  # wrap_type

# eq_type: a connected point, a welded body, a joint that follows another
CONNECT, WELD, FOLLOWER = 0, 1, 2

# sensor_type, sensor_datatype
TOUCH, ACCELEROMETER, VELOCIMETER, GYRO, FORCE, TORQUE = range(6)
JOINTPOS, JOINTVEL, ACTUATORFRC = 9, 10, 15
FRAMEPOS, FRAMEQUAT, FRAMEXAXIS, FRAMEYAXIS, FRAMEZAXIS = 26, 27, 28, 29, 30
FRAMELINVEL, FRAMEANGVEL, SUBTREECOM = 31, 32, 35
REAL, POSITIVE = 0, 1

# sensor_objtype
BODY, XBODY, GEOM, SITE = 1, 2, 5, 6

# Bits of opt.disableflags
NO_CONSTRAINT, NO_EQUALITY, NO_FRICTIONLOSS, NO_LIMIT, NO_CONTACT = 1, 2, 4, 8, 16
NO_SPRING, NO_DAMPER, NO_GRAVITY, NO_CLAMPCTRL = 32, 64, 128, 256
NO_FILTERPARENT, NO_ACTUATION, NO_REFSAFE, NO_SENSOR, NO_EULERDAMP = 1024, 2048, 4096, 8192, 32768
NO_MULTICCD = 524288

# Names of types, as MJCF has them, by the array that holds their numbers; those that models may
# have, or be refused for.
TYPES = {
    "geom_type": "plane hfield sphere capsule ellipsoid cylinder box mesh sdf",
    "eq_type": "connect weld joint tendon flex flexvert flexstrain distance",
    "actuator_trntype": "joint jointinparent slidercrank tendon site body so3",
    "actuator_gaintype": "fixed affine muscle dcmotor so3 pid user",
    "actuator_biastype": "none affine muscle dcmotor so3 user",
    "actuator_dyntype": "none integrator filter filterexact muscle dcmotor pid user",
    "integrator": "Euler RK4 implicit implicitfast discrete",
    "sensor_type": (
        "touch accelerometer velocimeter gyro force torque magnetometer rangefinder camprojection "
        "jointpos jointvel tendonpos tendonvel actuatorpos actuatorvel actuatorfrc "
        "jointactuatorfrc tendonactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel "
        "jointlimitfrc tendonlimitpos tendonlimitvel tendonlimitfrc framepos framequat framexaxis "
        "frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc subtreecom "
        "subtreelinvel subtreeangmom insidesite distance normal fromto contact e_potential "
        "e_kinetic clock tactile plugin user"
    ),
}


def type_name(array: str, number: int) -> str:
    """Return the name of a type by the array that holds it; its number if it has none."""
    names = TYPES.get(array, "").split()
    return names[number] if 0 <= number < len(names) else str(number)
