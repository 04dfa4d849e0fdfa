"""Every kind of step in every mode: the same cubes, computed by all that a tape takes for a step.

The oracle is the closed form. A step whose derivative of some order is not known is in `REFUSED`,
with the words of the error.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import distributed as dist
from difftile.diagnostics import NotDifferentiable
from difftile.distributed.transfer import Part, begin, transfer

try:
    import jax
except ImportError:
    jax = None

X = np.array([0.6, -0.4, 0.9])
W = np.array([1.0, 2.0, -0.5])
V = np.array([0.7, 1.1, -0.5])
U = np.array([-0.3, 0.8, 1.3])
Function = Callable[[Any, Any], object]


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Generator[None]:
    dt.init(arch="python", default_fp="f64")
    before = jax and jax.config.jax_enable_x64
    if jax is not None:
        jax.config.update("jax_enable_x64", True)
    yield
    if jax is not None:
        jax.config.update("jax_enable_x64", before)
    dt.init(arch="cpu")


@dt.kernel
def cube(x, y):
    for i in y:
        y[i] = x[i] ** 3


@dt.kernel
def add_slope(x, bar, into):
    for i in bar:
        into[i] += 3.0 * x[i] ** 2 * bar[i]


@dt.kernel
def weigh(y, w, loss):
    for i in y:
        loss[None] += w[i] * y[i]


def _kernel(*words: str) -> Function:
    @dt.kernel
    def ruled(x, y):
        for i in y:
            y[i] = x[i] ** 3

    if "backward" in words:

        @ruled.backward
        def _(x, y):
            for i in y:
                x.grad_out[i] += 3.0 * x[i] ** 2 * y.grad_in[i]

    if "forward" in words:

        @ruled.forward
        def _(x, y):
            for i in y:
                y.grad_in[i] = 3.0 * x[i] ** 2 * x.grad_out[i]

    return ruled


def _custom_op(*words: str) -> Function:
    @dt.custom_op
    def on_host(x: dt.In, y: dt.Out) -> None:
        y.from_numpy(x.to_numpy() ** 3)

    if "backward" in words:

        @on_host.backward
        def _(x: Any, y: Any) -> None:
            x.grad_out += 3.0 * x * x * y.grad_in

    if "forward" in words:

        @on_host.forward
        def _(x: Any, y: Any) -> None:
            y.grad_in.copy_from(3.0 * x * x * x.grad_out)

    return on_host


class Cube(dt.Step):
    """Cubes by NumPy, with a reverse of launches."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y
        super().__init__("cube", reads={"x": x}, writes={"y": y})

    def run(self) -> None:
        """Compute."""
        self.y.from_numpy(self.x.to_numpy() ** 3)

    def reverse(self, then: Any, saved: None) -> None:
        """Pull back."""
        add_slope(then[self.x], then[self.y].grad_in, then[self.x].grad_out)


class PushedCube(Cube):
    """Cubes with a rule for tangents, along one direction."""

    def push(self, at: Any, saved: None) -> bool:
        """Push."""
        if len(at) > 1:
            return False
        one = at[0]
        one[self.y].grad_in.fill(0.0)
        add_slope(one[self.x], one[self.x].grad_out, one[self.y].grad_in)
        return True


class OnlyPushedCube(PushedCube):
    """Cubes without a reverse."""

    reverse = dt.Step.reverse


class CubeOfSecondOrder(dt.Step):
    """Cubes whose rules compute in NumPy, up to second derivatives."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y
        super().__init__("cube", reads={"x": x}, writes={"y": y})

    def run(self) -> None:
        """Compute."""
        self.y.from_numpy(self.x.to_numpy() ** 3)

    def reverse(self, then: Any, saved: None) -> None:
        """Pull back."""
        slope = 3.0 * then[self.x].to_numpy() ** 2
        into = then[self.x].grad_out
        into.from_numpy(into.to_numpy() + slope * then[self.y].grad_in.to_numpy())

    def push(self, at: Any, saved: None) -> bool:
        """Push."""
        if len(at) > 1:
            return False
        slope = 3.0 * at[0][self.x].to_numpy() ** 2
        at[0][self.y].grad_in.from_numpy(slope * at[0][self.x].grad_out.to_numpy())
        return True

    def derivative(self, at: Any, saved: None) -> bool:
        """Pull back, with tangents."""
        then, dots = self.of_second_order(at)
        self.reverse(then, saved)
        x, dot = then[self.x].to_numpy(), dots[self.x].to_numpy()
        bar, bar_dot = (one[self.y].grad_in.to_numpy() for one in (then, dots))
        into = dots[self.x].grad_out
        into.from_numpy(into.to_numpy() + 6.0 * x * dot * bar + 3.0 * x**2 * bar_dot)
        return True


@dt.kernel
def miss(y, r, x):
    for i in y:
        r[i] = y[i] - x[i] ** 3


@dt.kernel
def cost(y, e, x):
    for i in y:
        e[None] += 0.5 * (y[i] - x[i] ** 3) ** 2


@dt.kernel
def speed(t: float, y, dy, x):
    for i in y:
        dy[i] = 3.0 * t**2 * x[i] ** 3 + 0.0 * y[i]


@dt.kernel
def quarter(x, e):
    for i in x:
        e[None] += x[i] ** 4 / 4.0


@dt.kernel
def itself(p, out):
    for i in p:
        out[i] = p[i]


def _energy(x: Any) -> Any:
    found = dt.zeros((), ti.f64)
    quarter(x, found)
    return found


def _solve(x: Any, y: Any) -> None:
    b = dt.zeros_like(y)
    cube(x, b)
    dt.linear_solve(itself, b, y)


def _transfer(move: Callable[..., object]) -> Function:
    def moved(x: Any, y: Any) -> None:
        sent = dt.zeros_like(y)
        cube(x, sent)
        move(sent, [Part(0, 0, 3)], y, [Part(0, 0, 3)], "the copy")

    return moved


def _exchange(x: Any, y: Any) -> None:
    grid = dist.Grid(3, halo=1, periodic=True)
    u = grid.field(ti.f64, grad=True)
    cube(x, u.inner)
    u.exchange()
    y[:1].copy_from(u[4:])  # the halo has the first cell after the last one
    y[1:2].copy_from(u[2:3])
    y[2:].copy_from(u[:1])  # and the last one before the first


def _odeint(adjoint: str) -> Function:
    def solved(x: Any, y: Any) -> None:
        y.fill(0.0)
        dt.odeint(speed, y, 0.0, 1.0, args=(x,), rtol=1e-12, atol=1e-12, adjoint=adjoint)

    return solved


def _torch(x: Any, y: Any) -> None:
    pytest.importorskip("torch")
    dt.torch.wrap(lambda given: given**3)(x, out=y)


def _jax(x: Any, y: Any) -> None:
    pytest.importorskip("jax")
    dt.jax.wrap(lambda given: given**3)(x, out=y)


STEPS: dict[str, Function] = {
    "a launch": cube,
    "a rule": _kernel("backward"),
    "both rules": _kernel("backward", "forward"),
    "a forward rule": _kernel("forward"),
    "a custom op": _custom_op("backward"),
    "a custom op with both rules": _custom_op("backward", "forward"),
    "a custom op with a forward": _custom_op("forward"),
    "a step": lambda x, y: Cube(x, y)(),
    "a step that pushes": lambda x, y: PushedCube(x, y)(),
    "a step that only pushes": lambda x, y: OnlyPushedCube(x, y)(),
    "a step of second order": lambda x, y: CubeOfSecondOrder(x, y)(),
    "a root": lambda x, y: dt.root(miss, y, args=(x,)),
    "a minimum": lambda x, y: dt.minimize_implicit(cost, y, args=(x,)),
    "a fixed point": lambda x, y: dt.fixed_point(
        lambda z, out, x: cube(x, out), y, args=(x,), diff="solution"
    ),
    "a linear system": _solve,
    "steps of an equation": _odeint("discrete"),
    "an equation": _odeint("continuous"),
    "a gradient": lambda x, y: y.copy_from(dt.grad(_energy)(x)),
    "an exchange": _exchange,
    "a transfer": _transfer(transfer),
    "a transfer in two": _transfer(lambda *given: begin(*given)()),
    "torch": _torch,
    "JAX": _jax,
}
TOLERANCE = {"an equation": 1e-8, "steps of an equation": 1e-9}

NO_BACKWARD = "has no backward|has no reverse"
REFUSED: dict[tuple[str, str], str] = {
    **{
        (step, mode): NO_BACKWARD
        for step in ("a custom op with a forward", "a step that only pushes")
        for mode in ("backward", "limit", "hvp", "hessian", "jacrev", "third")
    },
    ("a step of second order", "third"): "third derivative",
    ("an equation", "third"): "third derivative",
}


def loss_of(step: Function, w: Any) -> Callable[[Any], Any]:
    def loss(x: Any) -> Any:
        y, found = dt.zeros(3, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
        step(x, y)
        weigh(y, w, found)
        return found

    def cubes(x: Any) -> Any:
        y = dt.zeros(3, ti.f64, grad=True)
        step(x, y)
        return y

    loss.cubes = cubes  # pyrefly: ignore[missing-attribute]
    return loss


def by_tape(loss: Callable[[Any], Any], **options: Any) -> Any:
    x = dt.from_numpy(X, grad=True)
    with dt.Tape(**options) as tape:
        found = loss(x)
    tape.backward({found: 1.0})
    return x.grad.to_numpy()


def _third(loss: Callable[[Any], Any]) -> Any:
    _, found = dt.jvp(lambda x: dt.hvp(loss, x, V), dt.from_numpy(X), U)
    return found.to_numpy()


def _rows(loss: Callable[[Any], Any]) -> Any:
    return dt.jacrev(loss.cubes)(dt.from_numpy(X))  # pyrefly: ignore[missing-attribute]


MODES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "backward": (by_tape, 3.0 * W * X**2),
    "limit": (lambda loss: by_tape(loss, memory=200), 3.0 * W * X**2),
    "jvp": (lambda f: float(dt.jvp(f, dt.from_numpy(X), V)[1]), 3.0 * W * X**2 @ V),
    "jacfwd": (lambda f: dt.jacfwd(f)(dt.from_numpy(X)), 3.0 * W * X**2),
    "hvp": (lambda f: dt.hvp(f, dt.from_numpy(X), V).to_numpy(), 6.0 * W * X * V),
    "hessian": (lambda f: dt.hessian(f)(dt.from_numpy(X)), np.diag(6.0 * W * X)),
    "jacrev": (_rows, np.diag(3.0 * X**2)),
    "third": (_third, 6.0 * W * V * U),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_its_derivatives_in_every_mode(name: str, mode: str) -> None:
    derive, expected = MODES[mode]
    loss = loss_of(STEPS[name], dt.from_numpy(W))
    words = REFUSED.get((name, mode))
    if words is not None:
        with pytest.raises((dt.TapeError, NotDifferentiable), match=words):
            derive(loss)
        return
    np.testing.assert_allclose(derive(loss), expected, rtol=TOLERANCE.get(name, 1e-11), atol=1e-11)
