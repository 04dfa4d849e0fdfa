"""Forces of a fluid, which a wind may move: drag, lift and added mass.

A body without geoms of a shape in the fluid is a box with its inertia; geoms with `fluidshape`
are ellipsoids. Source: MuJoCo's documentation, "Computation", "Passive forces", "Fluid forces";
`mj_inertiaBoxFluidModel` and `mj_ellipsoidFluidModel`. Where the speed is 0 the forces are 0, and
their derivatives those of viscosity.
"""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import CAPSULE, CYLINDER, SPHERE
from difftile.worlds.quaternions import conjugate, product, turned
from difftile.worlds.topology import Sizes

_LEAST = 1e-15
_PI = 3.141592653589793
_MOMENT = 8.0 / 15.0 * _PI  # of the angular drag of an ellipsoid
BLUNT, SLENDER, ANGULAR, KUTTA, MAGNUS, MASS, INERTIA = 1, 2, 3, 4, 5, 6, 9  # in `geom_fluid`


@dt.func
def size_of(v):
    """Return the length of a vector, whose derivative is 0 at 0."""
    square, found = v.norm_sqr(), 0.0
    if square > 0.0:
        found = ti.sqrt(square)
    return found


@dt.func
def drag(v):
    """Return each number times its size."""
    return ti.Vector([abs(v[0]) * v[0], abs(v[1]) * v[1], abs(v[2]) * v[2]])


@dt.func
def largest_moment(size, k):
    """Return the moment of the angular drag of an ellipsoid about an axis."""
    return _MOMENT * size[k] * max(size[(k + 1) % 3], size[(k + 2) % 3]) ** 4


@dt.func
def on_box(mass, inertia, density, viscosity, spin, speed):
    """Return torque and force on a box with an inertia, in its axes.

    Args:
        mass, inertia: Of the body [kg, kg m²].
        density, viscosity: Of the fluid [kg/m³, Pa s].
        spin, speed: Angular velocity, and velocity through the fluid, in the axes of the body.
    """
    x, y, z = inertia[0], inertia[1], inertia[2]
    a = ti.sqrt(max(_LEAST, y + z - x) / mass * 6.0)
    b = ti.sqrt(max(_LEAST, x + z - y) / mass * 6.0)
    c = ti.sqrt(max(_LEAST, x + y - z) / mass * 6.0)
    d = (a + b + c) / 3.0
    faces = ti.Vector([b * c, a * c, a * b])
    arms = ti.Vector([a * (b**4 + c**4), b * (a**4 + c**4), c * (a**4 + b**4)])
    torque = -_PI * d**3 * viscosity * spin - density / 64.0 * arms * drag(spin)
    force = -3.0 * _PI * d * viscosity * speed - 0.5 * density * faces * drag(speed)
    return torque, force


@dt.func
def lift_and_drag(size, given, density, speed):
    """Return the force of Kutta and the coefficient of drag of an ellipsoid: what a speed needs."""
    force, coefficient = 0.0 * speed, 0.0
    square = speed.norm_sqr()
    faces = ti.Vector([size[1] * size[2], size[2] * size[0], size[0] * size[1]])
    normal = faces * faces * speed
    across, denominator = normal.dot(speed), normal.norm_sqr()
    if square > 0.0 and denominator > 0.0:
        large, small = max(size[0], size[1], size[2]), min(size[0], size[1], size[2])
        middle = size[0] + size[1] + size[2] - large - small
        projected = _PI * ti.sqrt(denominator / max(_LEAST, across))
        cosine = across / max(_LEAST, ti.sqrt(square) * denominator)
        circulation = given[KUTTA] * density * cosine * projected * normal.cross(speed)
        force = circulation.cross(speed)
        sides = given[SLENDER] * (_PI * large * middle - projected)
        coefficient = density * ti.sqrt(square) * (projected * given[BLUNT] + sides)
    return force, coefficient


@dt.func
def on_ellipsoid(size, given, density, viscosity, spin, speed):
    """Return torque and force on an ellipsoid, in its axes.

    Args:
        size: Half its axes [m].
        given: A row of `geom_fluid`.
        density, viscosity, spin, speed: As for `on_box`.
    """
    d = 2.0 / 3.0 * (size[0] + size[1] + size[2])
    mass = ti.Vector([given[MASS], given[MASS + 1], given[MASS + 2]])
    inertia = ti.Vector([given[INERTIA], given[INERTIA + 1], given[INERTIA + 2]])
    momentum, turning = density * mass * speed, density * inertia * spin
    kutta, coefficient = lift_and_drag(size, given, density, speed)
    volume = 4.0 / 3.0 * _PI * size[0] * size[1] * size[2]
    force = momentum.cross(spin) + kutta
    force += given[MAGNUS] * density * volume * spin.cross(speed)
    force -= (3.0 * _PI * d * viscosity + coefficient) * speed
    large, small = max(size[0], size[1], size[2]), min(size[0], size[1], size[2])
    most = _MOMENT * (size[0] + size[1] + size[2] - large - small) * large**4
    own = ti.Vector([largest_moment(size, 0), largest_moment(size, 1), largest_moment(size, 2)])
    moments = spin * (given[ANGULAR] * own + given[SLENDER] * (most - own))
    torque = momentum.cross(speed) + turning.cross(spin)
    torque -= (_PI * d**3 * viscosity + density * size_of(moments)) * spin
    return torque, force


@dt.func
def half_axes(kind, size):
    """Return half the axes of the ellipsoid that a geom is in a fluid [m]."""
    found = size
    if kind == SPHERE:
        found = ti.Vector([size[0], size[0], size[0]])
    elif kind == CAPSULE:
        found = ti.Vector([size[0], size[0], size[0] + size[1]])
    elif kind == CYLINDER:
        found = ti.Vector([size[0], size[0], size[1]])
    return found


@dt.data_oriented(frozen=True)
class Fluid:
    """The fluid around models of some sizes.

    Args:
        sizes: The sizes.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.some, self.boxes, self.ellipsoids = sizes.fluid, sizes.nfluidbody, sizes.nfluidgeom

    @dt.func
    def push(self, m, bodies, com, vel, f_r, f_t):
        """Add the forces of the fluid to those on bodies.

        Args:
            m: The parameters of the model.
            bodies: Positions and orientations of bodies, and centres of mass.
            com, vel: Centres of trees, and velocities of nodes.
            f_r, f_t: Torques about c, and forces, (nbody,) of vec3.
        """
        for k in range(self.boxes):
            b = m.fluid_bodyid[k]
            q, x = product(bodies[1][b], m.body_iquat[b]), bodies[2][b]
            spin, speed = self.through(m, b, q, x, com, vel)
            torque, force = on_box(
                m.body_mass[b], m.body_inertia[b], m.density[None], m.viscosity[None], spin, speed
            )
            f_r[b] += turned(q, torque) + (x - com[b]).cross(turned(q, force))
            f_t[b] += turned(q, force)
        for k in range(self.ellipsoids):
            g = m.fluid_geomid[k]
            b = m.geom_bodyid[g]
            q = product(bodies[1][b], m.geom_quat[g])
            x = bodies[0][b] + turned(bodies[1][b], m.geom_pos[g])
            spin, speed = self.through(m, b, q, x, com, vel)
            size = half_axes(m.geom_type[g], m.geom_size[g])
            torque, force = on_ellipsoid(
                size, m.geom_fluid[g], m.density[None], m.viscosity[None], spin, speed
            )
            f_r[b] += turned(q, torque) + (x - com[b]).cross(turned(q, force))
            f_t[b] += turned(q, force)

    @dt.func
    def slope(self, m, bodies, com, vel, change, f_r, f_t):
        """Add the derivative of the forces of the fluid along a change of velocities; see `push`.

        Args:
            m, bodies, com, vel, f_r, f_t: As for `push`.
            change: The change of the velocities of nodes.
        """
        for k in range(self.boxes):
            b = m.fluid_bodyid[k]
            q, x = product(bodies[1][b], m.body_iquat[b]), bodies[2][b]
            mass, inertia = m.body_mass[b], m.body_inertia[b]
            torque, force = dt.fwd_diff(on_box)(
                *(mass, inertia, m.density[None], m.viscosity[None]),
                *self.through(m, b, q, x, com, vel),
                *(0.0, 0.0 * inertia, 0.0, 0.0),
                *self.moved(m, b, q, x, com, change),
            )
            f_r[b] += turned(q, torque) + (x - com[b]).cross(turned(q, force))
            f_t[b] += turned(q, force)
        for k in range(self.ellipsoids):
            g = m.fluid_geomid[k]
            b = m.geom_bodyid[g]
            q = product(bodies[1][b], m.geom_quat[g])
            x = bodies[0][b] + turned(bodies[1][b], m.geom_pos[g])
            size, given = half_axes(m.geom_type[g], m.geom_size[g]), m.geom_fluid[g]
            torque, force = dt.fwd_diff(on_ellipsoid)(
                *(size, given, m.density[None], m.viscosity[None]),
                *self.through(m, b, q, x, com, vel),
                *(0.0 * size, 0.0 * given, 0.0, 0.0),
                *self.moved(m, b, q, x, com, change),
            )
            f_r[b] += turned(q, torque) + (x - com[b]).cross(turned(q, force))
            f_t[b] += turned(q, force)

    @dt.func
    def through(self, m, b, q, x, com, vel):
        """Return how the point x of a body turns, and moves through the fluid, in the axes q."""
        spin, speed = self.moved(m, b, q, x, com, vel)
        return spin, speed - turned(conjugate(q), m.wind[None])

    @dt.func
    def moved(self, m, b, q, x, com, vel):
        """Return how the point x of a body turns and moves, in the axes q."""
        n, back = m.body_nodeid[b], conjugate(q)
        speed = vel[1][n] + vel[0][n].cross(x - com[b])
        return turned(back, vel[0][n]), turned(back, speed)
