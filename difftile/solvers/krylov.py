"""Linear systems A x = b of which only products with A are known.

Each method solves for a correction from zero; `solve` starts it again from the true residual until
that is small enough or stagnates. The reported residual is therefore the true one, not the residual
of a recurrence. The methods see only their part of vectors that are divided among ranks; sums come
from a `Space`, several by one message.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from difftile.solvers.space import HERE, Space, Vector

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
        space: The space of the vectors.
        target: The residual to be reached.
        left: The number of iterations left.
        tell: Called after each iteration with `left` and the norm of the residual.

    Attributes:
        scale: A lower bound of the norm of A, found on the way.
    """

    product: Product
    precondition: Product
    space: Space
    target: float
    left: int
    tell: Callable[[int, float], object]
    scale: float = 0.0

    def times(self, v: Vector, *others: Vector) -> tuple[Vector, list[float]]:
        """Return A v, and its dot products with other vectors and with itself."""
        found = self.product(v)
        pairs = [(v, v), *((one, found) for one in others), (found, found)]
        length, *dots = self.space.dots(*pairs)
        if length:
            self.scale = max(self.scale, math.sqrt(dots[-1]) / math.sqrt(length))
        return found, dots

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
    space: Space = HERE,
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
        space: The space of the vectors.
    """
    size = space.norm(b)
    x = np.zeros_like(b) if start is None else start.copy()
    if size == 0.0:
        return LinearSolution(np.zeros_like(b), True, 0, 0.0)
    most = max_iter if max_iter is not None else min(10 * space.size(b) + 50, 10_000)

    def tell(left: int, residual: float) -> None:
        if progress is not None:
            progress(most - left, residual / size)

    system = _System(product, precondition or (lambda r: r), space, tol * size, most, tell)
    r = b if space.is_zero(x) else b - system.times(x)[0]
    norm = space.norm(r)
    reason = ""
    while math.isfinite(norm) and norm > system.target:
        if system.left <= 0:
            reason = "max_iter was reached"
            break
        d, reason = method(system, r)
        if not space.is_finite(d):
            reason = "its numbers are not finite"
            break
        remaining = b - system.times(x + d)[0]
        before, norm_after = norm, space.norm(remaining)
        if norm_after < before:
            x, r, norm = x + d, remaining, norm_after
        if method is gmres and space.size(b) <= _FEW:
            method = dense
        elif not norm_after <= _PROGRESS * before:
            reason = reason or "the residual has stopped falling"
            break
    if not math.isfinite(norm):
        reason = "its numbers are not finite"
    least = _ROUNDINGS * eps * (system.scale * space.norm(x) + size)
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
    rz = system.space.dot(r, z)
    while True:
        q, (curvature, _) = system.times(p, p)
        if not (curvature > 0.0 and rz > 0.0):
            return d, "the matrix, or the preconditioner, is not symmetric positive definite"
        alpha = rz / curvature
        d += alpha * p
        r -= alpha * q
        z = system.precondition(r)
        rr, rz_next = system.space.dots((r, r), (r, z))
        if not system.step(math.sqrt(rr)):
            return d, ""
        rz, old = rz_next, rz
        p = z + (rz / old) * p


def bicgstab(system: _System, r: Vector) -> tuple[Vector, str]:
    """Stabilised biconjugate gradients, for any A (van der Vorst, 1992)."""
    breakdown = "the method broke down; another one may not"
    d = np.zeros_like(r)
    shadow = r
    r = r.copy()
    p = r.copy()
    rho = system.space.dot(shadow, r)
    while True:
        p_hat = system.precondition(p)
        v, (along, _) = system.times(p_hat, shadow)
        if along == 0.0 or rho == 0.0:
            return d, breakdown
        alpha = rho / along
        s = r - alpha * v
        s_hat = system.precondition(s)
        t, (ts, tt) = system.times(s_hat, s)
        omega = ts / tt if tt > 0.0 else 0.0
        d += alpha * p_hat + omega * s_hat
        r = s - omega * t
        rr, rho_next = system.space.dots((r, r), (shadow, r))
        if not system.step(math.sqrt(rr)):
            return d, ""
        if omega == 0.0:
            return d, breakdown
        rho, old = rho_next, rho
        p = r + (rho / old) * (alpha / omega) * (p - omega * v)


def gmres(system: _System, r: Vector) -> tuple[Vector, str]:
    """GMRES, one cycle of it, for any A (Saad and Schultz, 1986).

    Classical Gram-Schmidt, done twice, takes two messages between ranks however many vectors there
    are (Giraud, Langou and Rozloznik, The loss of orthogonality in the Gram-Schmidt
    orthogonalization process, 2005).
    """
    space = system.space
    norm = space.norm(r)
    size = min(_RESTART, space.size(r), system.left)
    basis = [r / norm]
    hessenberg = np.zeros((size + 1, size))
    rhs = np.zeros(size + 1)
    rhs[0] = norm
    y = np.zeros(0)
    for k in range(size):
        w, dots = system.times(system.precondition(basis[k]), *basis)
        shares, before = dots[:-1], math.sqrt(dots[-1])
        for again in range(2):
            if again:
                shares = space.dots(*((v, w) for v in basis))
            hessenberg[: k + 1, k] += shares
            for share, v in zip(shares, basis, strict=True):
                w -= share * v
        hessenberg[k + 1, k] = space.norm(w)
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
    """Elimination, for any A, after as many products as there are unknowns.

    Each rank holds the whole matrix and solves the same system.
    """
    space = system.space
    columns: list[Vector] = []
    unit = np.zeros(space.size(r))
    for k in range(len(unit)):
        unit[k] = 1.0
        columns.append(system.product(space.own(unit).copy()))
        unit[k] = 0.0
    system.left -= 1
    matrix, whole = space.gathered(np.stack(columns, axis=1)), space.gathered(r)
    system.scale = max(system.scale, float(np.max(np.linalg.norm(matrix, axis=0))))
    try:
        d = np.linalg.solve(matrix, whole).astype(np.float64)
    except np.linalg.LinAlgError:
        return np.zeros_like(r), "the matrix is singular"
    return space.own(d).copy(), ""
