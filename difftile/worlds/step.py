"""One step of one world: forces, the acceleration under constraints, and the integrator."""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti
from difftile.worlds.bias import Bias
from difftile.worlds.equalities import Equalities
from difftile.worlds.forces import Forces
from difftile.worlds.inertia import Inertia
from difftile.worlds.integrate import WorldIntegrator
from difftile.worlds.kinematics import Kinematics
from difftile.worlds.packed import factor, factored, multiply, solution_of, solve
from difftile.worlds.quaternions import mat3, vec3, vec4
from difftile.worlds.solver import Solver
from difftile.worlds.topology import Sizes


@dt.data_oriented(frozen=True)
class WorldStep:
    """The step of models of some sizes.

    Args:
        sizes: The sizes.
        pushed: Whether there are forces on bodies.
        options: Of `Solver`: iterations, tolerance, smooth, width, distance.
    """

    def __init__(self, sizes: Sizes, pushed: bool = False, **options: Any) -> None:
        self.pushed = pushed
        self.nq, self.nv = sizes.nq, sizes.nv
        self.nbody, self.nnode = sizes.nbody, sizes.nnode
        self.njnt, self.ngeom = max(1, sizes.njnt), max(1, sizes.ngeom)
        self.nu, self.na = max(1, sizes.nu), max(1, sizes.na)
        self.nact = sizes.na  # fields of activations may be empty, local arrays may not
        self.npacked = sizes.nv * (sizes.nv + 1) // 2
        self.alone, self.nalone = sizes.nalone > 0, sizes.nalone
        self.kinematics, self.inertia, self.bias = Kinematics(sizes), Inertia(sizes), Bias(sizes)
        self.forces, self.integrator = Forces(sizes), WorldIntegrator(sizes)
        self.tied, self.equalities = sizes.nequality > 0, Equalities(sizes)
        self.solver = Solver(sizes, **options)
        self.contacts, self.limits = self.solver.contacts, self.solver.limits
        self.bounded = sizes.nslot > sizes.ncontact
        self.dries, self.noslip = self.solver.dries, sizes.noslip

    @dt.func
    def laws(self, paths):
        """Return arrays for the laws of rows; see `Solver`."""
        contacts = (
            dt.local(self.contacts, int),
            dt.local(self.contacts, vec3),
            dt.local(self.contacts, mat3),
            dt.local(self.contacts, self.solver.row),
            dt.local(self.contacts),
            dt.local(self.contacts, self.solver.row),
            dt.local(self.contacts, int),
            dt.local(2, int),
        )
        ends = (dt.local(self.limits, vec3), dt.local(self.limits), dt.local(self.limits))
        return contacts, ends, (dt.local(self.dries), dt.local(self.dries)), paths

    @dt.func
    def smooth_forces(self, m, h, qpos, qvel, ctrl, act, qfrc, paths, tau, slope):
        """Set tau to all forces but bias and constraints: springs, dampers, actuators, applied.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            qpos, qvel, ctrl, act: The state, and controls.
            qfrc: Applied forces, (nv,).
            paths: From `Forces.reach`.
            tau: Result, (nv,).
            slope: Result: derivatives of actuator forces by their velocities, (nu,).
        """
        force, drive = dt.local(self.nu), dt.local(self.nv)
        self.forces.actuation(m, h, qpos, qvel, ctrl, act, paths, force, slope, drive)
        for i in range(self.nv):
            tau[i] += drive[i] + qfrc[i]
        self.forces.passive(m, qpos, qvel, paths, tau)

    @dt.func
    def frames(self, m, qpos):
        """Return frames, centres, axes and inertias of the bodies in a state.

        Returns:
            Positions and orientations of bodies, centres of mass; c and the motion axes; frames of
            geoms; moments and rotational inertias about c.
        """
        xpos, xquat = dt.local(self.nbody, vec3), dt.local(self.nbody, vec4)
        anchor, axis = dt.local(self.njnt, vec3), dt.local(self.njnt, vec3)
        xipos, com = dt.local(self.nbody, vec3), dt.local(self.nbody, vec3)
        axis_r, axis_t = dt.local(self.nv, vec3), dt.local(self.nv, vec3)
        geom_xpos, geom_xmat = dt.local(self.ngeom, vec3), dt.local(self.ngeom, mat3)
        moment, rotational = dt.local(self.nbody, vec3), dt.local(self.nbody, mat3)
        self.kinematics.frames(m, qpos, xpos, xquat, anchor, axis)
        self.kinematics.colliders(m, xpos, xquat, geom_xpos, geom_xmat)
        self.kinematics.roots(m, xpos, xquat, xipos, com)
        self.kinematics.axes(m, xquat, com, anchor, axis, axis_r, axis_t)
        self.inertia.bodies(m, xquat, xipos, com, moment, rotational)
        bodies, tree = (xpos, xquat, xipos), (com, axis_r, axis_t)
        return bodies, tree, (geom_xpos, geom_xmat), (moment, rotational)

    @dt.func
    def mass(self, m, tree, inertias, paths):
        """Return the inertia matrix, packed; inertias become those of whole subtrees."""
        mass = dt.local(self.npacked)
        self.inertia.matrix(m, inertias[0], inertias[1], tree[1], tree[2], paths, mass)
        return mass

    @dt.func
    def integrated(
        self,
        m,
        h,
        qvel,
        slope,
        paths,
        bodies,
        tree,
        rotational,
        mass,
        push,
        b,
        transposed: ti.template(),
    ):
        """Set b to the solution of M̂ b = push, or with the transpose of M̂.

        Args:
            m: The parameters of the model.
            h: The time step [s].
            qvel: Velocities.
            slope: Derivatives of actuator forces by their velocities.
            paths: From `Forces.reach`.
            bodies, tree: Frames of bodies, and c and the motion axes.
            rotational: Of subtrees.
            mass: The inertia matrix, which is lost.
            push: The right-hand side, (nv,).
            b: Result, (nv,).
            transposed: Whether to solve with the transpose.
        """
        self.integrator.add_implicit(m, h, qvel, slope, paths, bodies, tree, mass)
        if ti.static(self.alone):
            moving = dt.local(self.nv)
            self.integrator.solve_alone(
                m, h, mass, push, qvel, bodies, tree, rotational, moving, transposed
            )
            self.solved(mass, push, b)
            for k in range(self.nalone):
                for i in range(m.alone_dofadr[k], m.alone_dofadr[k] + 6):
                    b[i] = moving[i]
        elif ti.static(self.integrator.whole):
            inertias = (dt.local(self.nbody, vec3), dt.local(self.nbody, mat3))
            self.inertia.bodies(m, bodies[1], bodies[2], tree[0], *inertias)
            given = (m, h, mass, push, qvel, bodies, tree, inertias, b)
            self.integrator.solve_whole(*given, transposed)
        else:
            self.solved(mass, push, b)

    @dt.func
    def solved(self, matrix, push, b):
        """Set b to the solution of a packed system, whose matrix may become its factors."""
        if ti.static(self.noslip):  # whose sweeps, and what follows, are differentiated as they are
            factors = dt.local(self.npacked)
            factored(matrix, factors, self.nv)
            solution_of(matrix, factors, push, b, self.nv)
        else:
            for i in range(self.nv):
                b[i] = push[i]
            factor(matrix, self.nv)
            solve(matrix, b, self.nv)

    @dt.func
    def exactly(self, h):
        """Return the time step, and have the kernel compiled without fast math.

        In single precision sums in another order cost half of the digits that a step has to have.
        """
        return dt.exact(h)

    @dt.func
    def accelerate(self, m, qpos, qvel, ctrl, act, qfrc, xfrc, a, b):
        """Compute accelerations.

        Args:
            m: The parameters of the model.
            qpos, qvel, ctrl, act: The state, and controls.
            qfrc, xfrc: Applied forces, (nv,), and those on bodies, (6 nbody,), see
                `Forces.applied`; these are read if `pushed`.
            a: A start for the solver, and the result: the acceleration under constraints, (nv,).
            b: Result: the acceleration that the integrator takes, (nv,).

        Returns:
            The residual and the number of steps of the solver; the negative number of contacts, if
            there is no room for them, and then accelerations are NaN.
        """
        h = self.exactly(m.timestep[None])
        bodies, tree, geoms, inertias = self.frames(m, qpos)
        paths = self.forces.reach(m, qpos, bodies, tree)
        tau, slope = dt.local(self.nv), dt.local(self.nu)
        self.smooth_forces(m, h, qpos, qvel, ctrl, act, qfrc, paths, tau, slope)
        vel_r, vel_t = dt.local(self.nnode, vec3), dt.local(self.nnode, vec3)
        bias = dt.local(self.nv)
        self.bias.velocities(m, qvel, tree[1], tree[2], vel_r, vel_t)
        self.forces.applied(m, xfrc, bodies, *tree, (vel_r, vel_t), paths, tau, self.pushed)
        self.bias.forces(m, qvel, tree[1], tree[2], vel_r, vel_t, inertias[0], inertias[1], bias)
        self.forces.sway(m, qvel, bodies, tree, (vel_r, vel_t), paths, bias)
        for i in range(self.nv):
            tau[i] -= bias[i]
        mass = self.mass(m, tree, inertias, paths)
        laws = self.laws(paths)
        if ti.static(self.nnode == self.nbody):
            self.solver.set_laws(m, h, qpos, qvel, (vel_r, vel_t), geoms, tree, laws)
        else:
            self.set_laws(m, h, qpos, qvel, geoms, tree, laws)
        push = dt.local(self.nv)
        if ti.static(self.tied):
            whole = self.with_equalities(m, h, qpos, qvel, bodies, tree, laws[3], mass, tau)
            residual, steps = self.solver.minimise(m, tree, laws, whole, tau, a, push)
            multiply(mass, a, push, self.nv)
        else:
            residual, steps = self.solver.minimise(m, tree, laws, mass, tau, a, push)
        self.integrated(m, h, qvel, slope, paths, bodies, tree, inertias[1], mass, push, b, False)
        if ti.static(self.bounded):
            count = laws[0][7][1]
            if count > self.contacts:  # no number of this step may pass for one of the model
                residual = -1.0 * count
                for i in range(self.nv):
                    a[i] = ti.math.nan
                    b[i] = ti.math.nan
        return residual, steps

    @dt.func
    def set_laws(self, m, h, qpos, qvel, geoms, tree, laws):
        """Set the laws of all rows in a state."""
        motions = (dt.local(self.nbody, vec3), dt.local(self.nbody, vec3))
        self.solver.rows.motions(m, tree[1], tree[2], qvel, motions[0], motions[1])
        self.solver.set_laws(m, h, qpos, qvel, motions, geoms, tree, laws)

    @dt.func
    def with_equalities(self, m, h, qpos, qvel, bodies, tree, paths, mass, tau):
        """Return the matrix of the problem, and add the references of equalities to its forces."""
        whole = dt.local(self.npacked)
        for e in range(self.npacked):
            whole[e] = mass[e]
        self.equalities.absorb(m, h, qpos, qvel, bodies, tree, paths, whole, tau)
        return whole

    @dt.func
    def adjoint(self, m, h, qpos, qvel, bodies, tree, laws, mass, a, a_bar):
        """Replace a_bar by H^-1 a_bar."""
        if ti.static(self.tied):
            tau = dt.local(self.nv)
            whole = self.with_equalities(m, h, qpos, qvel, bodies, tree, laws[3], mass, tau)
            self.solver.adjoint(m, tree, laws, whole, a, a_bar)
        else:
            self.solver.adjoint(m, tree, laws, mass, a, a_bar)

    @dt.func
    def centres(self, m, qpos, com):
        """Set com to the centres of trees."""
        tree = self.frames(m, qpos)[1]
        for n in range(self.nbody):
            com[n] = tree[0][n]

    @dt.func
    def linearised(self, m, qpos, qvel, ctrl, act):
        """Return what the linear problems of derivatives consist of.

        Args:
            m: The parameters of the model.
            qpos, qvel, ctrl, act: The state, and controls.

        Returns:
            The time step; frames of bodies; c and the motion axes; rotational inertias of subtrees;
            slopes of actuator forces; the laws of rows; the inertia matrix and a copy.
        """
        h = self.exactly(m.timestep[None])
        bodies, tree, geoms, inertias = self.frames(m, qpos)
        slope, paths = dt.local(self.nu), self.forces.reach(m, qpos, bodies, tree)
        mass, copy = self.mass(m, tree, inertias, paths), dt.local(self.npacked)
        if ti.static(self.integrator.implicit):
            force, drive = dt.local(self.nu), dt.local(self.nv)
            self.forces.actuation(m, h, qpos, qvel, ctrl, act, paths, force, slope, drive)
        laws = self.laws(paths)
        self.set_laws(m, h, qpos, qvel, geoms, tree, laws)
        for e in range(self.npacked):
            copy[e] = mass[e]
        return h, bodies, tree, inertias[1], slope, laws, mass, copy

    @dt.func
    def multipliers(self, m, qpos, qvel, ctrl, act, a, b_bar, com, multiplier, beta):
        """Compute lambda and beta of a gradient by b; see `solution`.

        Args:
            m: The parameters of the model.
            qpos, qvel, ctrl, act: The state, and controls.
            a: The acceleration that `accelerate` found.
            b_bar: The gradient.
            com: Result: the centres of trees.
            multiplier, beta: Result, (nv,).
        """
        h, bodies, tree, rotational, slope, laws, mass, implicit = self.linearised(
            m, qpos, qvel, ctrl, act
        )
        self.integrated(
            m, h, qvel, slope, laws[3], bodies, tree, rotational, implicit, b_bar, beta, True
        )
        multiply(mass, beta, multiplier, self.nv)
        self.adjoint(m, h, qpos, qvel, bodies, tree, laws, mass, a, multiplier)
        for n in range(self.nbody):
            com[n] = tree[0][n]

    @dt.func
    def tangents(self, m, qpos, qvel, ctrl, act, a, push, excess, a_dot, b_dot):
        """Compute the tangents of both accelerations; see `solution`.

        Args:
            m: The parameters of the model.
            qpos, qvel, ctrl, act: The state, and controls.
            a: The acceleration that `accelerate` found.
            push, excess: The tangents of the derivatives of Phi by lambda and beta, (nv,).
            a_dot, b_dot: Result, (nv,).
        """
        h, bodies, tree, rotational, slope, laws, mass, implicit = self.linearised(
            m, qpos, qvel, ctrl, act
        )
        whole = dt.local(self.npacked)
        for e in range(self.npacked):
            whole[e] = mass[e]
        for i in range(self.nv):
            a_dot[i] = push[i]
        self.adjoint(m, h, qpos, qvel, bodies, tree, laws, whole, a, a_dot)
        moved = dt.local(self.nv)
        multiply(mass, a_dot, moved, self.nv)
        for i in range(self.nv):
            moved[i] += excess[i]
        self.integrated(
            m, h, qvel, slope, laws[3], bodies, tree, rotational, implicit, moved, b_dot, False
        )

    @dt.func
    def step(self, m, qpos, qvel, ctrl, act, qfrc, xfrc, a, qpos_next, qvel_next, act_next):
        """Compute the state after a step.

        Args:
            m: The parameters of the model.
            qpos, qvel, ctrl, act, qfrc, xfrc: The state, controls, and applied forces.
            a: A start for the solver, and the acceleration that it finds.
            qpos_next, qvel_next, act_next: Result.

        Returns:
            The residual and the number of steps of the solver.
        """
        b = dt.local(self.nv)
        residual, steps = self.accelerate(m, qpos, qvel, ctrl, act, qfrc, xfrc, a, b)
        self.advance(m, qpos, qvel, ctrl, act, b, qpos_next, qvel_next, act_next)
        return residual, steps

    @dt.func
    def advance(self, m, qpos, qvel, ctrl, act, b, qpos_next, qvel_next, act_next):
        """Compute the state after a step from the accelerations b."""
        h = m.timestep[None]
        self.forces.activations(m, h, ctrl, act, act_next)
        self.integrator.advance(m, h, qpos, qvel, b, qpos_next, qvel_next)
