"""Random programs with cells outside of the domain, run whole or with an interruption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import distributed as dist
from difftile import ti

Array = npt.NDArray[Any]

STEPS = 4
# Powers of two throughout: sums are exact, so their order, which differs by rank, changes no bit.
OPTIMISERS: dict[str, tuple[str, dict[str, Any]]] = {
    "exact": ("SGD", {"lr": 0.25, "momentum": 0.5}),
    "bounded": ("SGD", {"lr": 0.5, "low": -0.5, "high": 2.0}),
    "Adam": ("Adam", {"lr": 0.1}),
    "clipped": ("Adam", {"lr": 0.1, "clip_norm": 0.5, "weight_decay": 0.1}),
    "RMSProp": ("RMSProp", {"lr": 0.1, "momentum": 0.5}),
}
EXACT = ("exact", "bounded")


@dataclass(frozen=True)
class Case:
    """A program.

    Args:
        seed: The numbers of its fields.
        shape: Cells along each axis.
        halo: Width of the halo along each axis.
        periodic: Whether each axis is closed.
        vector: Whether the cells hold vectors.
        optimiser: A key of `OPTIMISERS`.
        rim: What happens outside of the domain: "zero", "set" once, or "blown" in every step.
    """

    seed: int
    shape: tuple[int, ...]
    halo: tuple[int, ...]
    periodic: tuple[bool, ...]
    vector: bool
    optimiser: str
    rim: str


def drawn(seed: int) -> Case:
    """Return a random program."""
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 3))
    shape = (int(rng.integers(4, 8)), int(rng.integers(2, 5)))[:axes]
    return Case(
        seed,
        shape,
        tuple(int(n) for n in rng.integers(1, 3, axes)),
        tuple(bool(n) for n in rng.integers(0, 4, axes) == 0),
        bool(rng.integers(0, 2)),
        str(rng.choice(list(OPTIMISERS))),
        str(rng.choice(["zero", "set", "blown", "blown"])),
    )


@dt.kernel
def flow1(k, u, w, h: int):
    for i in range(h, w.shape[0] - h):
        w[i] = u[i] + 0.25 * (k[i - h] + k[i + 1] - k[i]) * u[i - 1] - 0.5 * k[i] * u[i + h]


@dt.kernel
def flow2(k, u, w, h: int, g: int):
    for i, j in ti.ndrange((h, w.shape[0] - h), (g, w.shape[1] - g)):
        w[i, j] = u[i, j] + 0.25 * (k[i - h, j] - k[i + 1, j + g]) * u[i - 1, j]
        w[i, j] -= 0.5 * k[i, j] * u[i + h, j - g] + 0.25 * k[i, j - 1]


@dt.kernel
def cost(w, loss, several):
    for i in ti.grouped(w):
        if ti.static(several is not None):
            loss[None] += ((w[i] - 0.5) * (w[i] - 0.5)).sum()
        else:
            loss[None] += (w[i] - 0.5) * (w[i] - 0.5)


class Program:
    """A program on the ranks that run it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.grid = grid = dist.Grid(case.shape, halo=case.halo, periodic=case.periodic)
        dtype = dt.vec(2, ti.f64) if case.vector else ti.f64
        self.k, self.u, self.w = (grid.field(dtype, grad=True) for _ in range(3))
        self.loss = dt.zeros((), ti.f64, grad=True)
        inner = (2,) if case.vector else ()
        rng = np.random.default_rng(case.seed)
        for field in (self.k, self.u):
            field.from_global(rng.integers(-4, 5, (*case.shape, *inner)) / 4.0)
            if case.rim != "zero":
                self._set_rim(field, lambda at: (3 * at.sum(axis=-1) + at[..., 0]) % 7 / 4.0)
        name, options = OPTIMISERS[case.optimiser]
        self.descent: Any = getattr(dt.optim, name)({"k": self.k}, **options)

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"k": self.k, "u": self.u, "descent": self.descent}

    def _cells(self) -> tuple[Array, Array]:
        """Return the cells of the local fields as the domain counts, and which are outside."""
        grid = self.grid
        local = np.stack(np.indices(grid.local_shape), axis=-1) + np.array(grid.origin)
        out = np.zeros(grid.local_shape, bool)
        for axis, size in enumerate(grid.shape):
            if grid.periodic[axis]:
                local[..., axis] %= size
            else:
                out |= (local[..., axis] < 0) | (local[..., axis] >= size)
        return local, out

    def _set_rim(self, field: Any, values: Any) -> None:
        at, out = self._cells()
        contents = field.to_numpy()
        contents[out] = values(at)[out][..., None] if self.case.vector else values(at)[out]
        field.from_numpy(contents)

    def step(self) -> float:
        """Make a step of the optimisation; return the loss."""
        with dt.Tape(self.loss):
            self.loss.fill(0.0)
            self.k.exchange()
            self.u.exchange()
            (flow1 if len(self.case.shape) == 1 else flow2)(self.k, self.u, self.w, *self.case.halo)
            cost(self.w.inner, self.loss, True if self.case.vector else None)
            dist.sum(self.loss)
        self.descent.step()
        if self.case.rim == "blown":  # a boundary value that depends on the one before
            _, out = self._cells()
            contents = self.u.to_numpy()
            contents[out] = 0.5 * contents[out] + 0.25
            self.u.from_numpy(contents)
        return float(self.loss[None])

    def found(self) -> dict[str, Any]:
        """Return all numbers as bytes: of the whole grid, and of this rank's rim."""
        _, out = self._cells()
        found = {name: one.to_global().tobytes() for name, one in (("k", self.k), ("u", self.u))}
        for key, array in self.descent.state_dict().items():
            if array.shape[: len(self.grid.shape)] == self.grid.local_shape:
                kept = self.grid.field(self.k.dtype)
                kept.from_numpy(array)
                found[key] = kept.to_global().tobytes()
            else:
                found[key] = np.asarray(array).tobytes()
        found["rim of k"] = self.k.to_numpy()[out].tobytes()
        found["rim of u"] = self.u.to_numpy()[out].tobytes()
        return found


def whole(case: Case, path: str, at: int) -> list[dict[str, Any]]:
    """Run a program, and save it on the way; return what it holds after each step."""
    program = Program(case)
    found = [program.found()]
    for step in range(STEPS):
        loss = program.step()
        found.append({**program.found(), "loss": loss})
        if step + 1 == at:
            dist.save(path, program.state, at=at)
    return found


def resumed(case: Case, path: str) -> list[dict[str, Any]]:
    """Go on from a checkpoint; return what the program holds before and after each step."""
    program = Program(case)
    at = dist.load(path, program.state)["at"]
    found = [program.found()]
    for _ in range(int(at), STEPS):
        loss = program.step()
        found.append({**program.found(), "loss": loss})
    return found


def many(function: str, cases: list[tuple[Any, ...]]) -> list[Any]:
    """Run several cases."""
    return [{"whole": whole, "resumed": resumed}[function](*case) for case in cases]
