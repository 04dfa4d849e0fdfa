"""The numbers by which MuJoCo's arrays name kinds of things."""

from __future__ import annotations

# jnt_type; a body without joints has a fixed node (`topology`).
FREE, BALL, SLIDE, HINGE, FIXED = range(5)

# geom_type
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)
GEOMS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")

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
