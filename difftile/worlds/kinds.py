"""The numbers by which MuJoCo's arrays name kinds of things."""

from __future__ import annotations

# jnt_type; a body without joints has a fixed node (`topology`).
FREE, BALL, SLIDE, HINGE, FIXED = range(5)

# geom_type
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)

# opt.integrator, opt.cone
EULER, RK4, IMPLICIT, IMPLICITFAST = 0, 1, 2, 3
PYRAMIDAL, ELLIPTIC = 0, 1

# actuator_dyntype, actuator_gaintype and actuator_biastype, actuator_trntype
INTEGRATOR, FILTER, FILTEREXACT, MUSCULAR = 1, 2, 3, 4
AFFINE, MUSCLE = 1, 2
JOINT, JOINTINPARENT, CRANK, TENDON, SITED = 0, 1, 2, 3, 4

# wrap_type
ON_JOINT, ON_PULLEY, ON_SITE = 1, 2, 3
ON_GEOMS = (4, 5)  # a sphere, a cylinder

# eq_type: a connected point, a welded body, a joint that follows another, a tendon that does
CONNECT, WELD, FOLLOWER, ROPE = 0, 1, 2, 3

# sensor_type; those of accelerations, of limits, and that need the solution; sensor_datatype
TOUCH, ACCELEROMETER, VELOCIMETER, GYRO, FORCE, TORQUE, MAGNETOMETER, RANGEFINDER = range(8)
JOINTPOS, JOINTVEL, TENDONPOS, TENDONVEL, ACTUATORPOS, ACTUATORVEL, ACTUATORFRC = range(9, 16)
JOINTACTFRC, TENDONACTFRC, BALLQUAT, BALLANGVEL = range(16, 20)
JOINTLIMITPOS, JOINTLIMITVEL, JOINTLIMITFRC = range(20, 23)
TENDONLIMITPOS, TENDONLIMITVEL, TENDONLIMITFRC = range(23, 26)
FRAMEPOS, FRAMEQUAT, FRAMEXAXIS, FRAMEYAXIS, FRAMEZAXIS, FRAMELINVEL, FRAMEANGVEL = range(26, 33)
FRAMELINACC, FRAMEANGACC, SUBTREECOM, SUBTREELINVEL, SUBTREEANGMOM = range(33, 38)
GEOMDIST, GEOMNORMAL, GEOMFROMTO = 39, 40, 41
E_POTENTIAL, E_KINETIC = 43, 44
MOVED = (ACCELEROMETER, FORCE, TORQUE, FRAMELINACC, FRAMEANGACC)
LIMITS = range(JOINTLIMITPOS, TENDONLIMITFRC + 1)
SOLVED = (TOUCH, *MOVED, *LIMITS)
ENERGIES = (E_POTENTIAL, E_KINETIC)
GAPS = (GEOMDIST, GEOMNORMAL, GEOMFROMTO)
REAL, POSITIVE = 0, 1

# sensor_objtype
BODY, XBODY, GEOM, SITE, CAMERA = 1, 2, 5, 6, 7

# Bits of opt.disableflags
NO_CONSTRAINT, NO_EQUALITY, NO_FRICTIONLOSS, NO_LIMIT, NO_CONTACT = 1, 2, 4, 8, 16
NO_SPRING, NO_DAMPER, NO_GRAVITY, NO_CLAMPCTRL = 32, 64, 128, 256
NO_FILTERPARENT, NO_ACTUATION, NO_REFSAFE, NO_SENSOR, NO_EULERDAMP = 1024, 2048, 4096, 8192, 32768
NO_ISLAND, NO_MULTICCD = 262144, 524288

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
