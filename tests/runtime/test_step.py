"""`dt.Step`: operations that bring rules of their own, in every mode, and what is refused."""

import numpy as np
import pytest

import difftile as dt
import difftile.lang as ti
from difftile.diagnostics import LaunchError, NotDifferentiable, TapeError

pytestmark = pytest.mark.usefixtures("poisoned_memory")


class Solve(dt.Step):
    """x = A^-1 b, with rules of every order."""

    def __init__(self, a, b, x):
        super().__init__("solve", reads={"a": a, "b": b}, writes={"x": x})
        self.a, self.b, self.x = a, b, x

    def run(self):
        self.x.from_numpy(np.linalg.solve(self.a.to_numpy(), self.b.to_numpy()))

    def reverse(self, then, saved):
        self.derivative([then], saved)

    def derivative(self, at, saved):
        a, w = at[0][self.a].to_numpy(), []
        for part, one in enumerate(at):
            right = one[self.x].grad_in.to_numpy()
            for k, rest in _splits(part):
                if k:
                    right = right - at[k][self.a].to_numpy().T @ w[rest]
            w.append(np.linalg.solve(a.T, right))
            one[self.b].grad_out.add_numpy(w[part])
        for part, one in enumerate(at):
            x = {k: at[k][self.x].to_numpy() for k in range(part + 1)}
            outer = sum(np.outer(w[k], x[rest]) for k, rest in _splits(part))
            one[self.a].grad_out.add_numpy(-outer)
        return True

    def push(self, at, saved):
        a = at[0][self.a].to_numpy()
        old = [one[self.x].to_numpy() for one in at]
        new = []
        for part, one in enumerate(at):
            right = one[self.b].grad_out.to_numpy()
            for k, rest in _splits(part):
                right = right - at[k][self.a].grad_out.to_numpy() @ old[rest]
                if k:
                    right = right - at[k][self.a].to_numpy() @ new[rest]
            new.append(np.linalg.solve(a, right))
            one[self.x].grad_in.from_numpy(new[part])
        return True


def _splits(part):
    return [(k, part ^ k) for k in range(part + 1) if k & part == k]


@dt.kernel
def cube(x, out):
    for i in x:
        out[None] += x[i] * x[i] * x[i]


def loss(a, b):
    x, out = dt.zeros_like(b), dt.zeros((), ti.f64, grad=True)
    Solve(a, b, x)()
    cube(x, out)
    return out


A, B = np.eye(3) + 0.1 * np.arange(9.0).reshape(3, 3), np.array([0.3, -0.7, 0.5])
V = np.array([[0.2, -0.1, 0.4], [0.3, 0.5, -0.2], [0.1, 0.6, -0.3]])


def value(a):
    return np.sum(np.linalg.solve(a, B) ** 3)


def slopes(order):
    """Derivatives of s -> value(A + s V) at 0, from a polynomial through Chebyshev points."""
    nodes = 0.2 * np.cos(np.pi * (np.arange(15) + 0.5) / 15)
    fitted = np.polynomial.Polynomial.fit(nodes, [value(A + s * V) for s in nodes], 14)
    return fitted.deriv(order)(0.0)


def test_a_step_passes_gradcheck():
    assert dt.gradcheck(loss, (A, B))


def test_tapes_with_any_memory_agree():
    found = []
    for memory in (None, "2KB"):
        a, b = dt.from_numpy(A, grad=True), dt.from_numpy(B, grad=True)
        x, out = dt.zeros(3, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
        with dt.Tape(out, memory=memory):
            for _ in range(4):
                Solve(a, b, x)()
                cube(x, out)
                b.copy_from(x)
        found.append(np.concatenate([a.grad.to_numpy().ravel(), b.grad.to_numpy()]))
    assert np.array_equal(*found) and np.any(found[0])


def test_forward_mode_and_reverse_mode_find_the_first_derivative():
    _, pushed = dt.jvp(loss, (A, B), (V, np.zeros(3)))
    pulled, _ = dt.grad(loss, argnums=(0, 1))(A, B)
    assert float(pushed) == pytest.approx(slopes(1), rel=1e-9)
    assert np.sum(pulled * V) == pytest.approx(slopes(1), rel=1e-9)


def test_second_derivatives():
    moved, _ = dt.hvp(loss, (A, B), (V, np.zeros(3)))
    assert np.sum(moved * V) == pytest.approx(slopes(2), rel=1e-8)

    def first(a):
        return dt.jvp(lambda a: loss(a, dt.from_numpy(B)), (a,), (V,))[1]

    _, twice = dt.jvp(first, (A,), (V,))
    assert float(twice) == pytest.approx(slopes(2), rel=1e-8)


def test_third_derivatives():
    def first(a):
        return dt.jvp(lambda a: loss(a, dt.from_numpy(B)), (a,), (V,))[1]

    bent = dt.hvp(first, (A,), (V,))
    bent = bent[0] if isinstance(bent, tuple) else bent
    assert np.sum(np.asarray(bent) * V) == pytest.approx(slopes(3), rel=1e-7)


def test_many_directions_at_once():
    jacobian = dt.jacrev(_solution)(B)
    assert np.allclose(jacobian, np.linalg.inv(A), atol=1e-12)
    assert np.allclose(dt.jacfwd(_solution)(B), np.linalg.inv(A), atol=1e-12)


def _solution(b):
    x = dt.zeros_like(b)
    Solve(dt.from_numpy(A), b, x)()
    return x


class Doubled(dt.Step):
    """y = 2 x, whose reverse is a kernel: tangents go by its transpose."""

    def __init__(self, x, y):
        super().__init__("doubled", reads={"x": x}, writes={"y": y})
        self.x, self.y = x, y

    def run(self):
        self.y.from_numpy(2.0 * self.x.to_numpy())

    def reverse(self, then, saved):
        add_doubled(then[self.y].grad_in, then[self.x].grad_out)


@dt.kernel
def add_doubled(y, x):
    for i in x:
        x[i] += 2.0 * y[i]


def test_tangents_go_by_the_transpose_of_a_reverse_made_of_kernels():
    def doubled(x):
        y = dt.zeros_like(x)
        Doubled(x, y)()
        return y

    _, moved = dt.jvp(doubled, (B,), (V[0],))
    assert np.allclose(moved, 2.0 * V[0])


# What is refused


class Given(dt.Step):
    """Runs what it is given."""

    def __init__(self, work, **fields):
        super().__init__("given", **fields)
        self.work = work

    def run(self):
        return self.work()


def _graded():
    return dt.from_numpy(B, grad=True)


def test_a_step_needs_a_reverse_where_a_gradient_passes():
    x, y = _graded(), _graded()
    step = Given(lambda: y.fill(1.0), reads={"x": x}, writes={"y": y})
    with pytest.raises(NotDifferentiable, match="step 'given' has no reverse"), dt.Tape():
        step()
    with dt.Tape(), dt.no_grad():
        step()


def test_a_written_field_that_is_declared_as_read_is_an_error():
    x, y = _graded(), _graded()
    with pytest.raises(LaunchError, match="'x' is written by step 'given'"):
        Given(lambda: x.fill(1.0), reads={"x": x}, writes={"y": y})()


def test_an_undeclared_field_with_a_gradient_is_an_error():
    x, y, z = _graded(), _graded(), _graded()
    step = Given(lambda: y.from_numpy(z.to_numpy()), reads={"x": x}, writes={"y": y})
    with pytest.raises(LaunchError, match="has a gradient and is not among its fields"):
        step()


def test_a_step_within_a_step_uses_no_field_that_the_outer_one_does_not_declare():
    x, y, z = _graded(), _graded(), _graded()
    inner = Given(lambda: y.from_numpy(z.to_numpy()), reads={"z": z}, writes={"y": y})
    outer = Given(inner, reads={"x": x}, writes={"y": y})
    with pytest.raises(LaunchError, match="has a gradient and is not among its fields"):
        outer()
    Given(inner, reads={"z": z}, writes={"y": y})()


def test_a_rule_uses_the_fields_of_the_call():
    class Stray(Doubled):
        def reverse(self, then, saved):
            then[self.x].grad_out.add_numpy(self.x.to_numpy())

    x, y = _graded(), _graded()
    with dt.Tape() as tape:
        Stray(x, y)()
    with pytest.raises(LaunchError, match=r"write 'then\[field\]'"):
        tape.backward({y: 1.0})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reads": {"x": _graded}}, "'x' is a field, not"),
        ({"reads": {}}, "writes no field"),
    ],
)
def test_declarations_are_checked(fields, message):
    with pytest.raises(LaunchError, match=message):
        Given(lambda: None, **fields)


def test_parts_and_memory_declared_twice_are_refused():
    x = _graded()
    with pytest.raises(LaunchError, match="'x' is a part of a field"):
        Given(lambda: None, writes={"x": x[1:]})
    with pytest.raises(LaunchError, match="'x' and 'y' of step 'given' are the same memory"):
        Given(lambda: None, reads={"x": x}, writes={"y": x})


def test_a_step_without_declarations_says_how_to_declare():
    class Bare(dt.Step):
        def __init__(self):
            pass

        def run(self):
            pass

    with pytest.raises(LaunchError, match=r"Call super\(\).__init__"):
        Bare()()


def test_a_second_derivative_that_is_not_known_says_what_to_write():
    class Saving(Doubled):
        def run(self):
            super().run()
            return self.x.to_numpy()

        def reverse(self, then, saved):
            then[self.x].grad_out.add_numpy(2.0 * then[self.y].grad_in.to_numpy())

        def push(self, at, saved):
            at[0][self.y].grad_in.from_numpy(2.0 * at[0][self.x].grad_out.to_numpy())
            return True

    def squares(x):
        y, out = dt.zeros_like(x), dt.zeros((), ti.f64)
        Saving(x, y)()
        cube(y, out)
        return out

    with pytest.raises(TapeError, match="give Saving a method 'derivative"):
        dt.hvp(squares, (B,), (V[0],))


class Square(dt.Step):
    """y = x^2, whose rule for tangents reads what `run` returned."""

    def __init__(self, x, y):
        super().__init__("square", reads={"x": x}, writes={"y": y})
        self.x, self.y = x, y

    def run(self):
        x = self.x.to_numpy()
        self.y.from_numpy(x * x)
        return x

    def push(self, at, saved):
        if len(at) > 1:
            return False
        at[0][self.y].grad_in.from_numpy(2.0 * saved * at[0][self.x].grad_out.to_numpy())
        return True

    def reverse(self, then, saved):
        self.derivative([then], saved)

    def derivative(self, at, saved):
        for part, one in enumerate(at):
            bars = {k: at[k][self.y].grad_in.to_numpy() for k in range(part + 1)}
            x = {k: at[k][self.x].to_numpy() for k in range(part + 1)}
            one[self.x].grad_out.add_numpy(sum(2.0 * x[k] * bars[m] for k, m in _splits(part)))
        return True


def test_tangents_of_a_rule_that_reads_saved_numbers_come_from_the_reverse():
    def square(x):
        y = dt.zeros_like(x)
        Square(x, y)()
        return y

    _, twice = dt.jvp(lambda x: dt.jvp(square, (x,), (V[0],))[1], (B,), (V[1],))
    assert np.allclose(twice, 2.0 * V[0] * V[1], atol=1e-14)
