"""What happened in a rollout: contacts made and lost, and steps that went wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.worlds.arrays import Array
from difftile.worlds.model import Model
from difftile.worlds.step import WorldStep
from difftile.worlds.topology import Sizes
from difftile.worlds.watch import BROKEN, INDEFINITE, STOPPED, WHERE, WHY, StepWatch, forget, watch

_WORDS = {
    STOPPED: "the solver ran out of steps",
    INDEFINITE: "the inertia matrix of the integrator is indefinite",
    BROKEN: "accelerations are not finite",
}


@dataclass(frozen=True)
class Summary:
    """What happened since the last reset of all worlds. Arrays have an entry for each world.

    Args:
        contact: The mode of contacts, and that of their gradients.
        steps: Steps taken.
        made: Contacts made, where there was none in the step before; lost likewise.
        lost: See `made`.
        changed: Rows that went to another piece of their penalty, where its second derivative
            jumps: contacts made and lost, sliding and sticking, limits and frictionloss reached.
        residual: The largest residual of the solver, the part of the forces that does not cancel.
        stopped: Steps whose search ended at the largest number of iterations.
        indefinite: Steps whose inertia matrix of the integrator was indefinite.
        broken: Steps whose accelerations were not finite.
        failures: A sentence for each world that failed: step, world, and the contact of the two
            geoms that approached fastest in it.
    """

    contact: tuple[str, str]
    steps: Array
    made: Array
    lost: Array
    changed: Array
    residual: Array
    stopped: Array
    indefinite: Array
    broken: Array
    failures: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def failed(self) -> Array:
        """The indices of worlds in which a step failed."""
        return np.flatnonzero(self.stopped + self.indefinite + self.broken)

    def __str__(self) -> str:
        """Return a table, with the first failures in words."""
        worst = int(np.argmax(self.residual))
        names = ("made", "lost", "changed")
        titles = ("contacts made", "contacts lost", "rows that changed")
        counted = [
            (title, f"{one.mean():.4g} a world, at most {one.max()}")
            for title, one in zip(titles, (getattr(self, name) for name in names), strict=True)
        ]
        rows = [
            ("contact", f'"{self.contact[0]}", gradient "{self.contact[1]}"'),
            ("steps", f"{len(self.steps)} worlds, at most {self.steps.max()} steps"),
            *counted,
            ("largest residual", f"{self.residual[worst]:.2g}, in world {worst}"),
            ("failed worlds", str(len(self.failed))),
        ]
        lines = [f"{title:<18} {said}" for title, said in rows]
        return "\n".join([*lines, *(f"  {said}" for said in list(self.failures.values())[:5])])


_WATCHED = ("qpos", "qvel", "ctrl", "act", "acc", "info", "zones", "counts", "failure", "residual")


class WorldDiagnosis:
    """What `Worlds(diagnose=True)` counts. Tapes do not see it.

    Args:
        sim: The worlds.
        step: The funcs of their steps.
    """

    def __init__(self, sim: Any, step: Any) -> None:
        self.funcs = _watch(sim.model.sizes, step)
        n = sim.worlds
        self.zones = dt.zeros((n, self.funcs.nrow), dtype=ti.i32)
        self.counts = dt.zeros((n, BROKEN + 1), dtype=ti.i32)
        self.failure = dt.zeros((n, WHERE + 1), dtype=ti.i32)
        self.residual = dt.zeros((n, 1), dtype=sim.dtype)
        own = tuple(f"m.{name}" for name in sim.per_world)
        self._kernel = dt.batch(watch, n, shared="m", batched=(*_WATCHED, *own))
        self._forget = dt.batch(forget, n, batched=("done", "zones"))

    def watch(self, sim: Any, info: Any) -> None:
        """Count what a step did, before the state is replaced."""
        seen = (sim.qpos, sim.qvel, sim.ctrl, sim.act, sim.qacc, info)
        with dt.stop_recording():
            self._kernel(
                self.funcs, sim.m, *seen, self.zones, self.counts, self.failure, self.residual
            )

    def reset(self, done: Any) -> None:
        """Forget the rows of worlds that are reset; if all are, everything."""
        with dt.stop_recording():
            if done is not None:
                self._forget(done, self.zones)
                return
            self.zones.fill(-1)
            for one in (self.counts, self.failure, self.residual):
                one.fill(0)

    def summary(self, model: Model, contact: tuple[str, str]) -> Summary:
        """Return what was counted."""
        with dt.stop_recording():
            counts, failure = self.counts.to_numpy(), self.failure.to_numpy()
            residual = self.residual.to_numpy()[:, 0]
        said = {
            w: _sentence(model, w, failure[w].tolist())
            for w in np.flatnonzero(failure[:, WHY]).tolist()
        }
        steps, made, lost, changed, *ends = counts.T
        return Summary(contact, steps, made, lost, changed, residual, *ends, failures=said)


@cache
def _watch(sizes: Sizes, step: WorldStep) -> StepWatch:
    return StepWatch(sizes, step)


def _sentence(model: Model, world: int, failure: list[int]) -> str:
    when, why, where = failure
    said = f"step {when} of world {world}: {_WORDS[why]}"
    if where < 0:
        return said
    geoms = (int(model.tables[f"slot_geom{k}"][where]) for k in (1, 2))
    first, second = (str(model.arrays["geom_name"][g]) or str(g) for g in geoms)
    return f"{said}; contact of geoms '{first}' and '{second}'"
