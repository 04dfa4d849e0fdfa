"""Linear systems A x = b of which only products with A are known.

Each method solves for a correction from zero; `solve` starts it again from the true residual until
that is small enough or stagnates. The reported residual is therefore the true one, not the residual
of a recurrence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from difftile.solvers.vectors import Vector

Product: TypeAlias = Callable[[Vector], Vector]
Progress: TypeAlias = Callable[[int, float], object]

_RESTART = 40  # vectors that GMRES holds
_FEW = 512  # up to so many unknowns, elimination takes the place of a restart of GMRES
_ROUNDINGS = 4.0  # rounding errors, of the largest numbers in play, that a residual may have
_PROGRESS = 0.99  # the factor by which a run must lower the residual to be worth another run


@dataclass(frozen=True, slots=True)
class LinearSolution:
    """The solution of a linear system, and how good it is.

    Attributes:
        x: The best solution found.
        converged: Whether the residual has reached its target.
        iterations: Iterations of the method.
        residual: |b - A x| / |b| in the Euclidean norm.
        reason: The reason why the method did not converge.
    """

    x: Vector
    converged: bool
    iterations: int
    residual: float
    reason: str = ""


@dataclass(slots=True)
class _System:
    """A system as a method sees it: solve A d = r to |r - A d| <= target.

    Args:
        product: Multiplies by A.
        precondition: Multiplies by an approximate inverse of A.
        target: The residual to be reached.
        left: The number of iterations left.
        tell: Called after each iteration with `left` and the norm of the residual.
    """

    product: Product
    precondition: Product
    target: float
    left: int
    tell: Callable[[int, float], object]

    def step(self, residual: float) -> bool:
        """Count an iteration; return whether to make another one."""
        self.left -= 1
        self.tell(self.left, residual)
        return residual > self.target and self.left > 0


Method: TypeAlias = Callable[[_System, Vector], tuple[Vector, str]]


def solve(
    method: Method,
    product: Product,
    b: Vector,
    *,
    tol: float,
    eps: float,
    start: Vector | None = None,
    max_iter: int | None = None,
    precondition: Product | None = None,
    progress: Progress | None = None,
) -> LinearSolution:
    """Solve A x = b to |b - A x| <= tol |b|.

    Args:
        method: `cg`, `bicgstab`, `gmres` or `dense`. GMRES may stall when it restarts; systems of
            few unknowns that it does not solve in one run are solved by elimination.
        product: Multiplies by A.
        b: The right-hand side.
        tol: The residual to be reached, relative to b.
        eps: The relative rounding error of products. A residual of that size counts as converged.
        start: The initial guess; zero by default.
        max_iter: The largest number of iterations; by default enough for a well-posed problem.
        precondition: Multiplies by an approximate inverse of A.
        progress: Called with the number of iterations and the relative residual.
    """
    size = float(np.linalg.norm(b))
    x = np.zeros_like(b) if start is None else start.copy()
    if size == 0.0:
        return LinearSolution(np.zeros_like(b), True, 0, 0.0)
    most = max_iter if max_iter is not None else min(10 * len(b) + 50, 10_000)

    def tell(left: int, residual: float) -> None:
        if progress is not None:
            progress(most - left, residual / size)

    scale = 0.0  # a lower bound of the norm of A

    def times(v: Vector) -> Vector:
        nonlocal scale
        found = product(v)
        length = float(np.linalg.norm(v))
        scale = max(scale, float(np.linalg.norm(found)) / length if length else 0.0)
        return found

    system = _System(times, precondition or (lambda r: r), tol * size, most, tell)
    r = b - times(x) if x.any() else b
    norm = float(np.linalg.norm(r))
    reason = ""
    while np.isfinite(norm) and norm > system.target:
        if system.left <= 0:
            reason = "max_iter was reached"
            break
        d, reason = method(system, r)
        if not np.isfinite(d).all():
            reason = "its numbers are not finite"
            break
        remaining = b - times(x + d)
        before, norm_after = norm, float(np.linalg.norm(remaining))
        if norm_after < before:
            x, r, norm = x + d, remaining, norm_after
        if method is gmres and len(b) <= _FEW:
            method = dense
        elif not norm_after <= _PROGRESS * before:
            reason = reason or "the residual has stopped falling"
            break
    if not np.isfinite(norm):
        reason = "its numbers are not finite"
    least = _ROUNDINGS * eps * (scale * float(np.linalg.norm(x)) + size)
    converged = norm <= max(system.target, least)
    return LinearSolution(
        x, converged, most - system.left, norm / size, "" if converged else reason
    )


def cg(system: _System, r: Vector) -> tuple[Vector, str]:
    """Conjugate gradients, for symmetric positive definite A (Hestenes and Stiefel, 1952)."""
    d = np.zeros_like(r)
    r = r.copy()
    z = system.precondition(r)
    p = z.copy()
    rz = float(r @ z)
    while True:
        q = system.product(p)
        curvature = float(p @ q)
        if not (curvature > 0.0 and rz > 0.0):
            return d, "the matrix, or the preconditioner, is not symmetric positive definite"
        alpha = rz / curvature
        d += alpha * p
        r -= alpha * q
        if not system.step(float(np.linalg.norm(r))):
            return d, ""
        z = system.precondition(r)
        rz, old = float(r @ z), rz
        p = z + (rz / old) * p


def bicgstab(system: _System, r: Vector) -> tuple[Vector, str]:
    """Stabilised biconjugate gradients, for any A (van der Vorst, 1992)."""
    breakdown = "the method broke down; another one may not"
    d = np.zeros_like(r)
    shadow = r
    r = r.copy()
    p = r.copy()
    rho = float(shadow @ r)
    while True:
        p_hat = system.precondition(p)
        v = system.product(p_hat)
        along = float(shadow @ v)
        if along == 0.0 or rho == 0.0:
            return d, breakdown
        alpha = rho / along
        s = r - alpha * v
        s_hat = system.precondition(s)
        t = system.product(s_hat)
        tt = float(t @ t)
        omega = float(t @ s) / tt if tt > 0.0 else 0.0
        d += alpha * p_hat + omega * s_hat
        r = s - omega * t
        if not system.step(float(np.linalg.norm(r))):
            return d, ""
        if omega == 0.0:
            return d, breakdown
        rho, old = float(shadow @ r), rho
        p = r + (rho / old) * (alpha / omega) * (p - omega * v)


def gmres(system: _System, r: Vector) -> tuple[Vector, str]:
    """GMRES, one cycle of it, for any A (Saad and Schultz, 1986), with modified Gram-Schmidt."""
    norm = float(np.linalg.norm(r))
    size = min(_RESTART, len(r), system.left)
    basis = [r / norm]
    hessenberg = np.zeros((size + 1, size))
    rhs = np.zeros(size + 1)
    rhs[0] = norm
    y = np.zeros(0)
    for k in range(size):
        w = system.product(system.precondition(basis[k]))
        before = float(np.linalg.norm(w))
        for j, v in enumerate(basis):
            hessenberg[j, k] = v @ w
            w -= hessenberg[j, k] * v
        hessenberg[k + 1, k] = np.linalg.norm(w)
        if not np.isfinite(hessenberg[: k + 2, k]).all():
            return np.full_like(r, np.nan), ""
        used = hessenberg[: k + 2, : k + 1]
        y = np.linalg.lstsq(used, rhs[: k + 2], rcond=None)[0]
        residual = float(np.linalg.norm(rhs[: k + 2] - used @ y))
        invariant = hessenberg[k + 1, k] <= 1e-15 * before
        if not system.step(residual) or invariant:
            break
        basis.append(w / hessenberg[k + 1, k])
    d = np.zeros_like(r)
    for weight, v in zip(y, basis, strict=False):
        d += weight * v
    return system.precondition(d), ""


def dense(system: _System, r: Vector) -> tuple[Vector, str]:
    """Elimination, for any A, after as many products as there are unknowns."""
    columns: list[Vector] = []
    unit = np.zeros_like(r)
    for k in range(len(r)):
        unit[k] = 1.0
        columns.append(system.product(unit))
        unit[k] = 0.0
    system.left -= 1
    try:
        d = np.linalg.solve(np.stack(columns, axis=1), r).astype(np.float64)
    except np.linalg.LinAlgError:
        return np.zeros_like(r), "the matrix is singular"
    return d, ""
