"""What is detached is constant: in every transformation, of any order, with gradients or without.

Random functions detach fields in many places. A twin of each reads other fields there, which hold
the same numbers and nothing varies with: both have the same derivatives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
import taichi as ti

import difftile as dt

pytestmark = pytest.mark.filterwarnings("ignore::difftile.GradientCut")

X = np.array([0.6, -0.4, 0.9])
V = np.array([0.7, 1.1, -0.5])
Detach: TypeAlias = Callable[[Any], Any]


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Generator[None]:
    dt.init(arch="python", default_fp="f64")
    yield
    dt.init(arch="cpu")


@dt.kernel
def mixed(a, b, out):
    for i in out:
        out[i] = ti.sin(a[i]) * b[i] + 0.3 * a[i] * b[i] * b[i]


@dt.kernel
def added(a, b, out):
    for i in out:
        out[i] += a[i] * a[i] * b[i]


@dt.kernel
def total(a, out):
    for i in a:
        out[None] += a[i] ** 3


@dt.func
def product(a, b):
    return a * b * b


@dt.custom_op
def host_product(a: dt.In, b: dt.In, out: dt.Out) -> None:
    out.from_numpy(a.to_numpy() * b.to_numpy())


@host_product.backward
def _(a: Any, b: Any, out: Any) -> None:
    a.grad_out += b * out.grad_in
    b.grad_out += a * out.grad_in


class Product(dt.Step):
    """A product of two fields, which may be one."""

    def __init__(self, a: Any, b: Any, out: Any) -> None:
        if a is not b and a.storage is b.storage:  # a step declares a field once
            source, b = b, dt.zeros_like(b)
            b.copy_from(source)
        read = {"a": a} if a is b else {"a": a, "b": b}
        self._fields = a, b, out
        super().__init__("product", reads=read, writes={"out": out})

    def run(self) -> None:
        """Multiply."""
        a, b, out = self._fields
        mixed(a, b, out)

    def reverse(self, then: Any, saved: None) -> None:
        """Pull back."""
        a, b, out = self._fields
        one, other, bar = then[a], then[b], then[out].grad_in
        mixed_a(one, other, bar, one.grad_out)
        mixed_b(one, other, bar, other.grad_out)


@dt.kernel
def mixed_a(a, b, bar, into):
    for i in bar:
        into[i] += bar[i] * (ti.cos(a[i]) * b[i] + 0.3 * b[i] * b[i])


@dt.kernel
def mixed_b(a, b, bar, into):
    for i in bar:
        into[i] += bar[i] * (ti.sin(a[i]) + 0.6 * a[i] * b[i])


@dt.kernel
def ruled(a, b, out):
    for i in out:
        out[i] = a[i] * b[i] * b[i]


@ruled.backward
def _(a, b, out):
    for i in out:
        a.grad_out[i] += out.grad_in[i] * b[i] * b[i]
        b.grad_out[i] += 2.0 * out.grad_in[i] * a[i] * b[i]


def _inner(a: Any, b: Any) -> Any:
    out = dt.zeros((), ti.f64)
    z = dt.zeros(3, ti.f64)
    mixed(a, b, z)
    total(z, out)
    return out


def _sliced(a: Any, b: Any, out: Any) -> None:
    out.copy_from(b)
    mixed(a[:2], b[1:], out[:2])


def _nested(a: Any, b: Any, out: Any) -> None:
    out.copy_from(dt.grad(lambda one: _inner(one, b))(a))


def _read(a: Any, b: Any, out: Any) -> None:
    out.copy_from(b)
    out[0] = a[1] * b[2]


ACTIONS: dict[str, Callable[[Any, Any, Any], object]] = {
    "a kernel": mixed,
    "a kernel that adds": added,
    "a copy": lambda a, b, out: out.copy_from(a),
    "a func": lambda a, b, out: product(a, b, _result=out),
    "a custom op": host_product,
    "a step": lambda a, b, out: Product(a, b, out)(),
    "a kernel with a rule": ruled,
    "numbers": _read,
    "a view": lambda a, b, out: mixed(a.view(3, 1).view(3), b.view(1, 3).view(3), out),
    "parts": _sliced,
    "operators": lambda a, b, out: out.copy_from(a * b + a),
    "a derivative": _nested,
}


def function(
    actions: Sequence[str], seed: int, detach: Detach, *, grad: bool
) -> Callable[[Any], Any]:
    """Return a random function that detaches what it reads in some places."""

    def f(x: Any) -> Any:
        rng = random.Random(seed)
        fields = [x, *(dt.zeros(3, ti.f64, grad=grad) for _ in range(2))]
        for one in fields[1:]:
            one.copy_from(x)
        for action in actions:
            a, b, out = *rng.choices(fields, k=2), rng.choice(fields[1:])
            a, b = (detach(one) if rng.random() < 0.5 else one for one in (a, b))
            made = dt.zeros(3, ti.f64, grad=grad)
            ACTIONS[action](a, b, made)
            out.copy_from(made)
        loss = dt.zeros((), ti.f64, grad=grad)
        for one in fields:
            total(one, loss)
        return loss

    return f


def _tape(f: Any, x: Any) -> Any:
    x = x.with_grads()
    with dt.Tape() as tape:
        loss = f(x)
    tape.backward({loss: 1.0})
    return x.grad.to_numpy()


TRANSFORMS: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda f, x: dt.grad(f)(x),
    "jvp": lambda f, x: dt.jvp(f, x, V)[1],
    "jacrev": lambda f, x: dt.jacrev(f)(x),
    "jacfwd": lambda f, x: dt.jacfwd(f)(x),
    "hvp": lambda f, x: dt.hvp(f, x, V),
    "hessian": lambda f, x: dt.hessian(f)(x),
    "the gradient of a derivative": lambda f, x: dt.grad(lambda y: dt.jvp(f, y, V)[1])(x),
    "the derivative of a gradient": lambda f, x: dt.jvp(dt.grad(f), x, V)[1],
    "a tape": _tape,
}


def numbers(value: Any) -> Any:
    return value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("grad", [False, True])
def test_what_is_detached_is_constant(name: str, grad: bool) -> None:
    grad = grad or name == "a tape"  # which differentiates along fields with gradients
    for seed in range(2):
        check(name, random.Random(seed).sample(list(ACTIONS), 4), seed, grad=grad)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("grad", [False, True])
def test_whatever_reads_it(action: str, grad: bool) -> None:
    for name in ("grad", "jvp", "hvp"):
        check(name, [action] * 4, 1, grad=grad)


def check(name: str, actions: Sequence[str], seed: int, *, grad: bool) -> None:
    """Compare the derivatives of a function that detaches with those of its twin."""
    kept: list[Any] = []

    def keep(one: Any) -> Any:
        kept.append(one.to_numpy())
        return one

    function(actions, seed, keep, grad=False)(dt.from_numpy(X))

    def replaced(x: Any) -> Any:
        constants = map(dt.from_numpy, kept)
        return function(actions, seed, lambda one: next(constants), grad=grad)(x)

    detached = function(actions, seed, lambda one: one.detach(), grad=grad)
    found, wanted = (
        numbers(TRANSFORMS[name](f, dt.from_numpy(X, grad=grad))) for f in (detached, replaced)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12, err_msg=f"program {seed}")


@pytest.mark.parametrize("places", [(0, 1, 0), (1, 0, 0), (0, 0, 1)])
def test_a_kernel_does_not_write_what_it_reads_as_constant(places: tuple[int, ...]) -> None:
    message = "the same memory, which the kernel writes, and one of them is detached"

    def f(x: Any) -> Any:
        given = x, x.detach()
        added(*(given[k] for k in places))
        return x

    x = dt.from_numpy(X)
    np.testing.assert_allclose(f(x).to_numpy(), X + X**3)
    for derivative in (dt.vjp, lambda f, x: dt.jvp(f, x, V)):
        with pytest.raises(dt.LaunchError, match=message):
            derivative(f, x)
    x = x.with_grads()
    with pytest.raises((dt.LaunchError, dt.TapeError), match=f"{message}|shares its memory"):
        _tape(lambda _: f(x), x)


def test_a_captured_field_is_not_an_argument_that_is_detached() -> None:
    x, y = dt.from_numpy(X), dt.zeros(3, ti.f64)

    @dt.kernel
    def by_captured(a, out):
        for i in out:
            out[i] += a[i] * x[i]

    by_captured(x, y)
    by_captured(x, y)
    with pytest.raises(dt.LaunchError, match="'x' and 'a' are the same memory, and one of them"):
        by_captured(x.detach(), y)


@dt.kernel
def doubled(a, out):
    for i in out:
        out[i] = 2.0 * a[i]


@dt.kernel
def doubled_by_rule(a, out):
    for i in out:
        out[i] = 2.0 * a[i]


@doubled_by_rule.backward
def _(a, out):
    for i in out:
        a.grad_out[i] += 2.0 * out.grad_in[i]


@dt.custom_op
def doubled_on_host(a: dt.In, out: dt.Out) -> None:
    out.from_numpy(2.0 * a.to_numpy())


@doubled_on_host.backward
def _(a: Any, out: Any) -> None:
    a.grad_out += 2.0 * out.grad_in


@dt.custom_op
def found_out(a: Any, out: Any) -> None:
    out.from_numpy(a.to_numpy() * out.to_numpy())


@found_out.backward
def _(a: Any, out: Any) -> None: ...


@dt.kernel
def multiplied(a, out):
    for i in out:
        out[i] *= a[i]


@dt.kernel
def multiplied_by_rule(a, out):
    for i in out:
        out[i] *= a[i]


@multiplied_by_rule.backward
def _(a, out):
    for i in out:
        a.grad_out[i] += out[i] * out.grad_in[i]
        out.grad_out[i] += a[i] * out.grad_in[i]


@dt.custom_op
def multiplied_on_host(a: dt.In, out: dt.InOut) -> None:
    out.from_numpy(a.to_numpy() * out.to_numpy())


@multiplied_on_host.backward
def _(a: Any, out: Any) -> None:
    a.grad_out += out * out.grad_in
    out.grad_out += a * out.grad_in


@dt.kernel
def squared(out):
    for i in out:
        out[i] = out[i] * out[i]


class Multiplied(dt.Step):
    """A product in place of its second factor."""

    def __init__(self, a: Any, out: Any) -> None:
        self._fields = a, out
        super().__init__("multiplied", reads={"a": a}, updates={"out": out})

    def run(self) -> None:
        """Multiply."""
        multiplied(*self._fields)

    def reverse(self, then: Any, saved: None) -> None:
        """Pull back."""
        a, out = (then[one] for one in self._fields)
        a.grad_out += out * out.grad_in
        out.grad_out += a * out.grad_in

    def push(self, at: Any, saved: None) -> bool:
        """Push tangents."""
        a, out = (at[0][one] for one in self._fields)
        out.grad_in.copy_from(a * out.grad_out + a.grad_out * out)
        return len(at) == 1


OVERWRITES: dict[str, Callable[[Any, Any], object]] = {
    "a kernel": doubled,
    "a kernel with a rule": doubled_by_rule,
    "a custom op": doubled_on_host,
    "a step": lambda a, out: Product(a, a, out)(),
    "a copy": lambda a, out: out.copy_from(a),
}
UPDATES: dict[str, Callable[[Any, Any], object]] = {
    "a kernel": multiplied,
    "a kernel of one field": lambda a, out: squared(out),
    "a kernel with a rule": multiplied_by_rule,
    "a custom op": multiplied_on_host,
    "a custom op that does not declare it": found_out,
    "a step": lambda a, out: Multiplied(a, out)(),
}


def _through(write: Callable[[Any, Any], object], given: Detach, *, constant: bool) -> Any:
    """Return a function that writes a field by another one in its memory."""

    def f(x: Any) -> Any:
        y, loss = dt.zeros(3, ti.f64), dt.zeros((), ti.f64)
        y.copy_from(x)
        write(dt.from_numpy(X) if constant else x, given(y))
        total(y, loss)
        return loss

    return f


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("write", OVERWRITES)
@pytest.mark.parametrize("name", ["grad", "jvp", "hvp", "the gradient of a derivative"])
def test_memory_overwritten_by_a_detached_field_varies_as_written(
    name: str, write: str, constant: bool
) -> None:
    x = dt.from_numpy(X)
    found, wanted = (
        numbers(TRANSFORMS[name](_through(OVERWRITES[write], given, constant=constant), x))
        for given in (lambda y: y.detach(), lambda y: y)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert constant == (not np.any(found))


@pytest.mark.parametrize("write", [one for one in UPDATES if "declare" not in one])
def test_an_update_by_the_field_itself_varies(write: str) -> None:
    found = dt.grad(_through(UPDATES[write], lambda y: y, constant=False))(dt.from_numpy(X))
    np.testing.assert_allclose(found.to_numpy(), 6.0 * X**5)


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("write", UPDATES)
@pytest.mark.parametrize("name", ["grad", "jvp", "hvp"])
def test_no_varying_memory_is_updated_by_a_detached_field(
    name: str, write: str, constant: bool
) -> None:
    f = _through(UPDATES[write], lambda y: y.detach(), constant=constant)
    x = dt.from_numpy(X)
    assert np.isfinite(f(x)[None])
    with pytest.raises(dt.LaunchError, match=r"'out' of .* is detached.* updates it"):
        TRANSFORMS[name](f, x)


def test_memory_with_its_gradient_elsewhere_is_not_updated() -> None:
    def f(x: Any, *, by_owner: bool) -> Any:
        y, loss = dt.zeros(3, ti.f64), dt.zeros((), ti.f64)
        owner = y.with_grads()
        doubled(x, owner)
        squared(owner if by_owner else y)
        total(owner, loss)
        return loss

    x = dt.from_numpy(X)
    found = dt.grad(lambda x: f(x, by_owner=True))(x)
    np.testing.assert_allclose(found.to_numpy(), 384.0 * X**5)
    with pytest.raises(dt.LaunchError, match="another field has the gradient of its memory"):
        dt.grad(lambda x: f(x, by_owner=False))(x)


@pytest.mark.parametrize("write", UPDATES)
def test_constant_memory_is_updated_by_a_detached_field(write: str) -> None:
    def f(x: Any) -> Any:
        y = dt.from_numpy(X)
        UPDATES[write](dt.from_numpy(X), y.detach())
        z, loss = dt.zeros(3, ti.f64), dt.zeros((), ti.f64)
        mixed(x, y, z)
        total(z, loss)
        return loss

    assert np.all(np.isfinite(dt.grad(f)(dt.from_numpy(X)).to_numpy()))


@pytest.mark.parametrize("write", UPDATES)
@pytest.mark.parametrize("name", ["grad", "jvp"])
def test_updates_by_a_detached_field_are_constants_without_gradients(name: str, write: str) -> None:
    def update(a: Any, out: Any) -> None:
        with dt.no_grad():
            UPDATES[write](a, out)

    f = _through(update, lambda y: y.detach(), constant=False)
    assert not np.any(numbers(TRANSFORMS[name](f, dt.from_numpy(X))))
