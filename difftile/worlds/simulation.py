"""`worlds.Worlds`: many copies of one model, stepped together."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, final

import numpy as np

import difftile as dt
from difftile import ti
from difftile.worlds import dynamics, resets
from difftile.worlds.advice import abrupt_contact
from difftile.worlds.collide import FAR
from difftile.worlds.distance import accelerate_afar, take_step_afar
from difftile.worlds.kinds import IMPLICIT, RK4
from difftile.worlds.model import Model
from difftile.worlds.noslip import NoSlip, slide
from difftile.worlds.observe import Observation, observe, respond
from difftile.worlds.runge_kutta import StageStates
from difftile.worlds.solution import Solution
from difftile.worlds.step import WorldStep
from difftile.worlds.summary import Summary, WorldDiagnosis
from difftile.worlds.topology import LARGEST, ROOM, Sizes

STATE = ("qpos", "qvel", "act")  # the fields that a step replaces
INPUTS = ("ctrl", "qfrc_applied")
# The fields of the kernels in `dynamics` and `observe` that have an axis of worlds.
_ACCELERATE = ("qpos", "qvel", "ctrl", "act", "qfrc", "xfrc", "acc", "out", "info")
_ADVANCE = ("qpos", "qvel", "ctrl", "act", "out")
_RESPOND = ("qpos", "qvel", "ctrl", "act", "qfrc", "xfrc", "start", "acc", "info")
_SLIDE = ("qpos", "qvel", "ctrl", "act", "start", "acc", "out", "outer")
_SENSED = ("solved", "acc", "outer", "sensordata", "xpos", "xquat")
_OBSERVE = ("qpos", "qvel", "ctrl", "act", "xfrc", *_SENSED)


@dataclass(frozen=True)
class Start:
    """A state that worlds are reset to: of one world, or of each.

    Args:
        qpos: Coordinates, (nq,) or (worlds, nq).
        qvel: Velocities, (nv,) or (worlds, nv).
        act: Activations of actuators, (na,) or (worlds, na); None for zeros.
    """

    qpos: Any
    qvel: Any
    act: Any = None


@cache
def _funcs(
    sizes: Sizes, pushed: bool, iterations: int, tolerance: float, smooth: bool, distance: float
) -> tuple[WorldStep | Solution, ...]:
    """Return the funcs that models of the same sizes share, and with them compiled kernels.

    A step and its solution, with a step from a distance between them if there is one.
    """
    searched = {"iterations": iterations, "tolerance": tolerance}
    step = WorldStep(sizes, pushed=pushed, smooth=smooth, **searched)
    afar = {"pushed": pushed, "smooth": smooth, "distance": distance}
    solution = Solution(sizes, **afar)
    return (step, WorldStep(sizes, **afar, **searched), solution) if distance else (step, solution)


@cache
def _sliding(sizes: Sizes, smooth: bool) -> NoSlip:
    return NoSlip(sizes, WorldStep(sizes, smooth=smooth))


@cache
def _observation(sizes: Sizes, pushed: bool, smooth: bool) -> Observation:
    return Observation(sizes, pushed=pushed, smooth=smooth)


@final
class Worlds:
    """Copies of a model, each in a state of its own.

    State and inputs are fields with the worlds first, stored with the worlds last, so that threads
    of a GPU read neighbours. Kernels read and write them as any other field, and a tape follows
    them.

    Args:
        model: The model.
        worlds: The number of copies.
        per_world: The names of parameters that each world has of its own, such as "body_mass".
        grad: The names of parameters that are given gradients. The gradient of a shared one is the
            sum over the worlds.
        dtype: `ti.f32` or `ti.f64`.
        iterations: The largest number of steps of Newton's method; by default the model's.
        tolerance: The relative residual at which it ends; by default 1e-6 in f32 and 1e-12 in f64,
            or the model's if that is more in f32 or less in f64.
        contact: "model" for MuJoCo's own contacts, limits and frictionloss, or "smooth" for forces
            that are smooth functions of the state: another model.
        contact_gradient: "exact" for the derivative of the steps as they are, or "distance" for
            gradients that reach contacts before they touch, which are approximate: in reverse,
            a contact between 0 and `distance` beyond its margin has the rows of one whose margin is
            larger by `distance`, with an impedance that grows from 0 there over this width.
        distance: The distance of contacts that gradients reach [m].
        diagnose: Whether steps count what `summary` returns, at the cost of another launch each.
        contacts: The number of contacts that each world has room for, 455 at most; by default as
            many as the model can have, if these are up to 256, and otherwise four for each degree
            of freedom and 128 at least. A step that finds more is an error, and makes the
            accelerations of its world NaN.

    Attributes:
        model: The model.
        m: The parameters, a struct of fields: `sim.m.body_mass`, with the worlds first if they are
            per world.
        qpos: Coordinates, (worlds, nq) [m, rad, or 1].
        qvel: Velocities, (worlds, nv) [m/s, rad/s].
        act: Activations of actuators, (worlds, na).
        ctrl: Controls, (worlds, nu).
        qfrc_applied: Forces on degrees of freedom, (worlds, nv) [N, N m].
        xfrc_applied: Forces and torques on bodies at their centres of mass, in world axes,
            (worlds, 6 nbody): three numbers of force [N] and three of torque [N m] for each body.
        sensordata: Readings of sensors, (worlds, nsensordata); see `sense`.
        xpos: Positions of bodies, (worlds, nbody) of vec3 [m]; see `sense`.
        xquat: Orientations of bodies, (worlds, nbody) of vec4; see `sense`.
        qacc: Accelerations of the last step, (worlds, nv), where the next one starts its search.

    Raises:
        FieldError: There is no world, the model has no joints, the type is neither `ti.f32` nor
            `ti.f64`, `contact` or `contact_gradient` is another word, `distance` is not positive,
            or the model is too large: it has more than 90 degrees of freedom, or 64 under the
            integrator implicit, or 455 bodies or geoms.
        KeyError: No parameter has such a name.
        TypeError: `model` is not a model.
        ValueError: `iterations` or `contacts` is below 1, `contacts` above 455, or `tolerance` is
            negative or NaN.
    """

    def __init__(
        self,
        model: Model,
        worlds: int,
        *,
        per_world: str | Sequence[str] = (),
        grad: str | Sequence[str] = (),
        dtype: Any = ti.f32,
        iterations: int | None = None,
        tolerance: float | None = None,
        contact: str = "model",
        contact_gradient: str = "exact",
        distance: float = 0.05,
        diagnose: bool = False,
        contacts: int | None = None,
    ) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"Worlds takes a model of worlds.load or load_arrays, not {model!r}.")
        if worlds < 1:
            raise dt.FieldError(f"Worlds(model, {worlds}): there must be one world at least.")
        if dtype not in (ti.f32, ti.f64):
            raise dt.FieldError(f"Worlds(dtype=...) is ti.f32 or ti.f64, not {dtype}.")
        if iterations is not None and iterations < 1:
            raise ValueError(f"Worlds(iterations=...) is at least 1, not {iterations}.")
        if tolerance is not None and not tolerance >= 0:
            raise ValueError(f"Worlds(tolerance=...) is at least 0, not {tolerance}.")
        if contacts is not None and not 1 <= contacts <= ROOM:
            raise ValueError(f"Worlds(contacts=...) is 1 to {ROOM}, not {contacts}.")
        if contact not in ("model", "smooth"):
            raise dt.FieldError(f'Worlds(contact=...) is "model" or "smooth", not {contact!r}.')
        if contact_gradient not in ("exact", "distance"):
            raise dt.FieldError(
                f'Worlds(contact_gradient=...) is "exact" or "distance", not {contact_gradient!r}.'
            )
        if not 0.0 < distance < FAR:
            raise dt.FieldError(f"Worlds(distance={distance}): a distance is positive, in metres.")
        if not model.sizes.nv:
            raise dt.FieldError(f"{model!r} has no joints: nothing in it moves.")
        _check_size(model.sizes)
        self.model, self.worlds, self.dtype = model, worlds, dtype
        sizes = model.sizes
        if contacts is not None:
            sizes = replace(sizes, ncontact=min(contacts, sizes.nslot))
        self._sizes, self._bounded = sizes, sizes.ncontact < sizes.nslot
        of_each, graded = _names(per_world), _names(grad)
        self.per_world = of_each
        if iterations is None:
            iterations = int(model.arrays["iterations"])
        if tolerance is None:
            given = float(model.arrays["tolerance"])
            tolerance = max(given, 1e-6) if dtype == ti.f32 else min(given, 1e-12)
        afar = contact_gradient == "distance" and model.sizes.nslot > 0
        if afar and sizes.noslip:
            raise dt.FieldError(
                'Worlds(contact_gradient="distance"): the model has noslip_iterations, whose '
                "gradients are exact; set model.noslip_iterations to 0, or load it with "
                'noslip="skip".'
            )
        self._options = iterations, tolerance, contact == "smooth"
        self._distance = distance if afar else 0.0
        self._choose(pushed=False)
        self.m = model.parameters(dtype, graded, worlds=worlds, per_world=of_each)
        shapes = {
            "qpos": sizes.nq,
            "qvel": sizes.nv,
            "act": sizes.na,
            "ctrl": sizes.nu,
            "qfrc_applied": sizes.nv,
            "qacc": sizes.nv,
        }
        made = {name: self._field(size) for name, size in shapes.items()}
        self.qpos, self.qvel, self.act = (made[name] for name in STATE)
        self.ctrl, self.qfrc_applied = (made[name] for name in INPUTS)
        self.qacc = made["qacc"]
        self._smooth = self._field(sizes.nv)  # accelerations that the integrator takes
        self._outcome = self._field(2, grad=False)
        own = tuple(f"m.{name}" for name in of_each)
        accelerate = accelerate_afar if afar else dynamics.accelerate
        take_step = take_step_afar if afar else dynamics.take_step
        self._take_step = dt.batch(take_step, worlds, shared="m", batched=(*_ACCELERATE, *own))
        self._accelerate = dt.batch(accelerate, worlds, shared="m", batched=(*_ACCELERATE, *own))
        self._advance = dt.batch(dynamics.advance, worlds, shared="m", batched=(*_ADVANCE, *own))
        self._runge_kutta = None
        if sizes.integrator == RK4:
            counts = sizes.nq, sizes.nv, sizes.na
            self._runge_kutta = StageStates(worlds, self._field, counts, own)
        self._hold = dt.batch(resets.hold, worlds)
        self._observe = dt.batch(observe, worlds, shared="m", batched=(*_OBSERVE, *own))
        self._respond = dt.batch(respond, worlds, shared="m", batched=(*_RESPOND, *own))
        self._acceleration = self._field(sizes.nv if self._observation.accelerated else 0)
        self._slide, self._sweeps = None, ()
        if sizes.noslip:
            self._slide = dt.batch(slide, worlds, shared="m", batched=(*_SLIDE, *own))
            # Of steps, and of sensors: accelerations before, and forces on bodies.
            names = (sizes.nv, 6 * sizes.nbody), (sizes.nv, sizes.nv, 6 * sizes.nbody)
            self._sweeps = tuple(tuple(self._field(n) for n in one) for one in names)
        self._modes = contact, contact_gradient if afar else "exact"
        self._diagnosis = WorldDiagnosis(self, self._funcs[0]) if diagnose else None
        self._advice = abrupt_contact(model) if contact == "model" else ""
        self.sensordata = self._field(sizes.nsensordata)
        self.xpos, self.xquat = (self._field(sizes.nbody, of=dt.vec(n, dtype)) for n in (3, 4))
        self.reset()

    def _field(self, size: int, grad: bool = True, of: Any = None) -> Any:
        """Return a field of zeros with the worlds first in its shape and last in memory."""
        kind = self.dtype if of is None else of
        return dt.field(kind, (size, self.worlds), grad=grad).transpose()

    def _choose(self, *, pushed: bool) -> None:
        """Choose the funcs of steps and sensors, with or without forces on bodies."""
        sizes = self._sizes
        self._xfrc = self._field(6 * sizes.nbody) if pushed else self._field(1, grad=False)
        self._funcs = _funcs(sizes, pushed, *self._options, self._distance)
        self._exact = _funcs(sizes, pushed, *self._options, 0.0)
        self._observation = _observation(sizes, pushed, self._options[-1])

    @property
    def xfrc_applied(self) -> Any:
        """Forces and torques on bodies. Steps read them from the first time they are asked for."""
        if not self._funcs[0].pushed:
            self._choose(pushed=True)
        return self._xfrc

    def step(self, substeps: int = 1) -> None:
        """Go on by some time steps of the model.

        Args:
            substeps: Their number, for which the inputs stay the same.

        Raises:
            FieldError: There are more contacts than worlds have room for; see `Worlds`.
            ValueError: The number is negative.
        """
        if substeps < 0:
            raise ValueError(f"step(substeps={substeps}): a simulation goes forward alone.")
        state, inputs = (self.qpos, self.qvel), (self.ctrl, self.act)
        pushed, out = (self.qfrc_applied, self._xfrc), self._smooth
        if self._advice and dt.is_recording():
            warnings.warn(self._advice, UserWarning, stacklevel=2)
            self._advice = ""
        given = (*self._funcs, self.m, *state, *inputs, *pushed, self.qacc, out, self._outcome)
        for _ in range(substeps):
            if self._runge_kutta is not None:
                step, whole = self._funcs[0], (*state, self.act)
                self._runge_kutta.step(step, self.m, whole, self.ctrl, self._solve)
            elif self._diagnosis is None and self._slide is None:
                self._take_step(*given)
                self._check_room()
            else:
                self._solve((*state, self.act), out)
                self._advance(self._funcs[0], self.m, *state, *inputs, out)

    def _solve(self, state: tuple[Any, Any, Any], found: Any) -> None:
        """Compute the accelerations of a state, into a field."""
        qpos, qvel, act = state
        given = (self.m, qpos, qvel, self.ctrl, act, self.qfrc_applied, self._xfrc)
        if self._slide is None:
            self._accelerate(*self._funcs, *given, self.qacc, found, self._outcome)
            self._check_room()
        else:
            solved, outer = self._sweeps[0]
            self._respond(*self._exact, *given, self.qacc, solved, self._outcome)
            self._check_room()
            sliding = _sliding(self._sizes, self._options[-1])
            self._slide(sliding, *given[:5], solved, self.qacc, found, outer)
        if self._diagnosis is not None and qpos is self.qpos:
            self._diagnosis.watch(self, self._outcome)

    def _check_room(self) -> None:
        """Raise an error if the last step found more contacts than worlds have room for."""
        if not self._bounded:
            return
        with dt.stop_recording():
            found = -np.nan_to_num(self._outcome.to_numpy()[:, 0])
        world = int(found.argmax())
        if found[world] > 0.0:
            raise dt.FieldError(
                f"World {world} has {found[world]:.0f} contacts, and there is room for "
                f"{self._sizes.ncontact} in Worlds(..., contacts=...), at most {ROOM}. This was no "
                "step of the model: its accelerations are NaN."
            )

    def sense(self) -> None:
        """Compute `sensordata`, `xpos` and `xquat` of the present state, under the present inputs.

        Accelerations and forces of constraints, which the sensors touch, accelerometer, force,
        torque, and those of limits read, are those of this moment too, as after `mj_forward`; a
        model with such sensors solves for them here, from `qacc`, which is left as it is. A step
        does not sense.

        Raises:
            FieldError: There are more contacts than worlds have room for; see `Worlds`.
        """
        given = (self.m, self.qpos, self.qvel, self.ctrl, self.act)
        pushed, solved = (self.qfrc_applied, self._xfrc), self._acceleration
        acc, _, outer = self._sweeps[1] if self._slide is not None else (self._outcome,) * 3
        if self._observation.accelerated:
            self._respond(*self._exact, *given, *pushed, self.qacc, solved, self._outcome)
            self._check_room()
            if self._slide is not None:
                sliding = _sliding(self._sizes, self._options[-1])
                self._slide(sliding, *given, solved, *self._sweeps[1])
        found = (self.sensordata, self.xpos, self.xquat)
        self._observe(self._observation, *given, pushed[1], solved, acc, outer, *found)

    def reset(self, done: Any = None, start: Start | None = None) -> None:
        """Put worlds into a state; others are left as they are.

        The gradient of a state ends where its world is reset, and goes on to the start.

        Args:
            done: A field of shape (worlds,), not 0 for the worlds to reset; by default all.
            start: The state; by default `qpos0` of the model, at rest.

        Raises:
            FieldError: The start is of another model, or of another number of worlds.
        """
        if self._diagnosis is not None:
            self._diagnosis.reset(done)
        if start is None:
            start = self.start()
        if start.act is None:
            start = replace(start, act=dt.zeros(self.act.shape[1:], self.dtype))
        for name in STATE:
            given, own_shape = tuple(getattr(start, name).shape), tuple(getattr(self, name).shape)
            if given not in (own_shape, own_shape[1:]):
                raise dt.FieldError(
                    f"reset(start=...): '{name}' has the shape {given}; expected {own_shape[1:]}, "
                    f"or {own_shape} for a state of each world."
                )
        if done is None:
            done = dt.full((self.worlds,), 1, ti.i32)
        of_each = [
            name for name in STATE if len(getattr(start, name).shape) == len(self.qpos.shape)
        ]
        names = [f"start_{name}" for name in STATE]
        own = tuple(f"start_{name}" for name in of_each)
        shared = tuple(name for name in names if name not in own)
        kernel = dt.batch(
            resets.reset,
            self.worlds,
            shared=shared,
            batched=("done", *STATE, "qacc", *own),
        )
        state = (getattr(self, name) for name in STATE)
        kernel(done, *(getattr(start, name) for name in STATE), *state, self.qacc)

    def start(self, key: str | int | None = None) -> Start:
        """Return a state of the model, of one world, as fields.

        Args:
            key: A keyframe, by name or index; by default `qpos0`, at rest.

        Raises:
            KeyError: There is no such keyframe.
        """
        arrays, sizes = self.model.arrays, self.model.sizes
        found = arrays["qpos0"], np.zeros(sizes.nv), np.zeros(sizes.na)
        if key is not None:
            at = self.model.id("key", key) if isinstance(key, str) else key
            count = len(arrays["key_qpos"])
            if not 0 <= at < count:
                raise KeyError(f"the model has no key {at}; it has {count}.")
            found = arrays["key_qpos"][at], arrays["key_qvel"][at], arrays["key_act"][at]
        return Start(*(dt.from_numpy(np.asarray(one), dtype=self.dtype) for one in found))

    def summary(self) -> Summary:
        """Return what happened since the last reset of all worlds: contacts, residuals, failures.

        Raises:
            FieldError: Steps did not count it: `Worlds(..., diagnose=True)`.
        """
        if self._diagnosis is None:
            raise dt.FieldError("Worlds(..., diagnose=True) makes steps count for summary().")
        return self._diagnosis.summary(self.model, self._modes)

    def detach(self) -> None:
        """Let the state go on as a constant: gradients of later steps end here."""
        for name in STATE:
            self._hold(getattr(self, name))


def _check_size(sizes: Sizes) -> None:
    """Check that arrays of the numbers of a world are not too large for a thread."""
    whole = sizes.integrator == IMPLICIT  # a matrix that is not symmetric
    most = {
        "nv": math.isqrt(LARGEST if whole else 2 * LARGEST),
        "nbody": LARGEST // 9,
        "ngeom": LARGEST // 9,
    }
    words = {"nv": "degrees of freedom", "nbody": "bodies", "ngeom": "geoms"}
    for name, limit in most.items():
        if getattr(sizes, name) > limit:
            raise dt.FieldError(
                f"The model has {getattr(sizes, name):,} {words[name]}; a world has at most "
                f"{limit}. Split it into several worlds, or leave out what does not move."
            )


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
