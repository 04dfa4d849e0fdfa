"""`dt.torch.op`: functions over fields as operations of PyTorch, and the traps of such bridges."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import Buffer

torch: Any = pytest.importorskip("torch")

F64 = torch.float64
pytestmark = [
    # torch says so of its own code, when forward mode is first used and when gradients are checked.
    pytest.mark.filterwarnings("ignore:.*torch.jit.*deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Backwards compatibility:UserWarning"),
]


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def cube(x):
    for i in x:
        x[i] = x[i] * x[i] * x[i]


@dt.kernel
def step(x, v, k, h: float):
    for i in x:
        v[i] -= h * k[None] * ti.sin(x[i])
        x[i] += h * v[i]


@dt.kernel
def exponential(x, y):
    for i in x:
        power = 0.0
        for j in range(x.shape[0]):
            power += x[i] * x[j]
        y[i] = ti.exp(power)


@dt.kernel
def total(x, s):
    for i in x:
        s[None] += x[i] * x[i]


@dt.kernel
def gather(x, index, y):
    for i in y:
        y[i] = x[index[i]] * x[index[i]]


@dt.kernel
def turn(x, A, y):
    for i in x:
        y[i] = A[None] @ x[i] + x[i].norm() * x[i]


@dt.kernel
def noisy(x, y):
    for i in x:
        y[i] = x[i] * ti.random(ti.f64)


@dt.kernel
def raised(x, y, n: int):
    for i in x:
        y[i] = x[i] ** n


@dt.func
def wave(a, b):
    return ti.sin(a) * b, a * b


def rollout(x, v, k, n=3, h=0.1):
    for _ in range(n):
        step(x, v, k, h)


def fused(x, v, k):
    for _ in dt.steps(12):
        step(x, v, k, 0.1)


def checkpointed(x, v, k):
    dt.checkpoint(lambda: rollout(x, v, k))()


def as_it_is(x, v):
    return x, v, x


@dt.kernel
def ruled(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@ruled.backward
def ruled_backward(x, y):
    for i in x:
        x.grad_out[i] += 3.0 * x[i] * y.grad_in[i]  # not 2, so that it shows


@dt.custom_op
def doubled_in_python(x: dt.In, y: dt.Out):
    y.from_numpy(2 * x.to_numpy())


@doubled_in_python.backward
def doubled_in_python_backward(x, y):
    x.grad_out.add_numpy(2 * y.grad_in.to_numpy())


squared = dt.torch.op(square, "x", outputs={"y": "x"})
cubed = dt.torch.op(cube, "x", outputs="x")
stepped = dt.torch.op(step, ("x", "v"), ("k",), ("x", "v"))
rolled = dt.torch.op(rollout, ("x", "v"), ("k",), ("x", "v"))
in_place = dt.torch.op(rollout, params="k", mutates=("x", "v"))


def leaf(*values: float, dtype: Any = F64) -> Any:
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def number(value: float, dtype: Any = F64) -> Any:
    return torch.tensor(value, dtype=dtype, requires_grad=True)


def arrays() -> tuple[Any, Any, Any]:
    return leaf(0.3, -0.2, 0.9), leaf(1.0, 0.5, -0.4), number(0.7)


SMOOTH = {
    "a kernel": (squared, lambda: (leaf(0.3, -0.4),)),
    "a kernel in place": (cubed, lambda: (leaf(0.3, -0.4),)),
    "several outputs": (lambda *a: stepped(*a, 0.1), arrays),
    "several launches": (lambda *a: rolled(*a, n=2), arrays),
    "dt.steps": (dt.torch.op(fused, ("x", "v"), ("k",), ("x", "v")), arrays),
    "a checkpoint": (dt.torch.op(checkpointed, ("x", "v"), ("k",), ("x", "v")), arrays),
    "a func": (dt.torch.op(wave, ("a", "b")), lambda: arrays()[:2]),
    "a sum": (dt.torch.op(total, "x", outputs={"s": ()}), lambda: (leaf(0.3, -0.4),)),
    "the result is read again": (
        dt.torch.op(exponential, "x", outputs={"y": "x"}),
        lambda: (leaf(0.3, -0.4),),
    ),
    "vectors and matrices": (
        dt.torch.op(turn, {"x": (3,)}, {"A": (3, 3)}, {"y": "x"}),
        lambda: (
            torch.linspace(0.1, 1, 6, dtype=F64).reshape(2, 3).requires_grad_(),
            torch.linspace(-1, 1, 9, dtype=F64).reshape(3, 3).requires_grad_(),
        ),
    ),
    "inputs as they are": (dt.torch.op(as_it_is, ("x", "v")), lambda: arrays()[:2]),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_agree_with_differences(name: str) -> None:
    f, inputs = SMOOTH[name]
    given = inputs()
    assert torch.autograd.gradcheck(f, given, check_forward_ad=True, check_undefined_grad=False)
    assert torch.autograd.gradgradcheck(f, given, check_fwd_over_rev=name != "inputs as they are")


@pytest.mark.parametrize("name", SMOOTH)
def test_a_retained_graph_gives_the_same_gradients_again(name: str) -> None:
    f, inputs = SMOOTH[name]
    given = inputs()
    outputs = f(*given)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    seeds = [torch.rand_like(one) for one in outputs]
    copies = [one.clone() for one in seeds]
    first = torch.autograd.grad(outputs, given, seeds, retain_graph=True)
    kept = [one.clone() for one in first]
    second = torch.autograd.grad(outputs, given, seeds, retain_graph=True)
    for one, other, early in zip(first, second, kept, strict=True):
        assert torch.equal(one, other) and torch.equal(one, early)
        assert one.data_ptr() != other.data_ptr()
    for one, other in zip(seeds, copies, strict=True):
        assert torch.equal(one, other)  # the incoming gradients are as they were
    torch.autograd.grad(outputs, given, seeds)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(outputs, given, seeds)


def test_gradients_add_up_once() -> None:
    x = leaf(0.5, 2.0)
    for count in (1, 2, 3):
        squared(x).sum().backward()
        assert torch.equal(x.grad, 2 * count * x.detach())
    y = squared(x)
    (y.sum() + y.sum()).backward()
    assert torch.equal(x.grad, 10 * x.detach())


def test_inputs_stay_as_they_are() -> None:
    x, v, k = arrays()
    before = [one.detach().clone() for one in (x, v, k)]
    y, w = stepped(x, v, k, 0.1)
    y.sum().backward()
    for one, other in zip((x, v, k), before, strict=True):
        assert torch.equal(one, other) and one._version == 0
    assert len({one.data_ptr() for one in (x, v, y, w)}) == 4


def test_an_input_that_is_returned_is_another_tensor() -> None:
    f = dt.torch.op(as_it_is, ("x", "v"))
    x, v, _ = arrays()
    y, w, z = f(x, v)
    y.data.fill_(9)
    assert torch.equal(z, x) and torch.equal(w, v)
    gradient = torch.autograd.grad((z, w), (x, v), (torch.ones(3, dtype=F64),) * 2)
    assert torch.equal(gradient[0], torch.ones(3, dtype=F64))
    both = torch.autograd.grad(sum(f(x, v)[::2]), x, torch.ones(3, dtype=F64))[0]
    assert torch.equal(both, torch.full((3,), 2.0, dtype=F64))


def test_one_tensor_for_two_inputs() -> None:
    x, _, k = arrays()
    for f in (stepped, rolled):
        y, w = f(x, x, k, h=0.1)
        other = x.detach().clone().requires_grad_()
        z, u = f(x, other, k, h=0.1)
        assert torch.equal(y, z) and torch.equal(w, u)
        (both,) = torch.autograd.grad(y.sum() + w.sum(), x)
        parts = torch.autograd.grad(z.sum() + u.sum(), (x, other))
        torch.testing.assert_close(both, sum(parts))


def test_views_of_one_tensor() -> None:
    base = torch.arange(12, dtype=F64).reshape(3, 4).requires_grad_()
    for view in (base[0], base[:, 1], base.t(), base[::2, 1:], base[1].expand(5, 4), base.mT[2]):
        y = squared_any(view)
        assert torch.equal(y, view * view)
        (ours,) = torch.autograd.grad(y.sum(), base, retain_graph=True)
        (theirs,) = torch.autograd.grad((view * view).sum(), base, retain_graph=True)
        assert torch.equal(ours, theirs)
    x, v = base.detach()[0], base.detach()[1:].T
    y, _w = stepped(x, v[:, 0], torch.tensor(1.0, dtype=F64), 0.1)
    assert torch.equal(base.detach(), torch.arange(12, dtype=F64).reshape(3, 4))


def squared_any(x: Any) -> Any:
    f = squared if x.ndim == 1 else dt.torch.op(square2, "x", outputs={"y": "x"})
    return f(x)


@dt.kernel
def square2(x, y):
    for i, j in x:
        y[i, j] = x[i, j] * x[i, j]


def test_expanded_gradients_and_those_of_no_elements() -> None:
    x = leaf(1.0, 2.0)
    squared(x).sum().backward()  # the gradient of a sum has strides of zero
    assert torch.equal(x.grad, 2 * x.detach())
    y, _w = stepped(*arrays(), 0.1)
    y.sum().backward()  # no gradient comes in for the other output


def test_numbers_as_tensors_and_as_constants() -> None:
    x, v, k = arrays()
    y, w = stepped(x, v, k, 0.1)
    z, u = stepped(x, v, 0.7, 0.1)  # a constant in the place of a tensor
    assert torch.equal(y, z) and torch.equal(w, u)
    assert torch.autograd.grad(y.sum(), k)[0].shape == ()
    power = dt.torch.op(raised, "x", outputs={"y": "x"})
    for n in (1, 2, 3, 2):
        assert torch.allclose(power(x, n), x**n)
        (ours,) = torch.autograd.grad(power(x, n=n).sum(), x)
        torch.testing.assert_close(ours, n * x.detach() ** (n - 1))


def test_integers_have_no_gradient() -> None:
    f = dt.torch.op(gather, ("x", "index"), outputs={"y": (4,)})
    x, index = leaf(1.0, 2.0, 3.0), torch.tensor([2, 0, 2, 1], dtype=torch.int32)
    y = f(x, index)
    assert torch.equal(y, (x * x)[index.long()])
    y.sum().backward()
    assert torch.equal(x.grad, torch.tensor([2.0, 4.0, 12.0], dtype=F64))

    def doubled(index):
        return index

    found = dt.torch.op(doubled, "index")(index)
    assert found.dtype == torch.int32 and not found.requires_grad


def test_single_and_double_precision_by_turns() -> None:
    for dtype in (torch.float32, F64, torch.float32, torch.float16):
        x = leaf(0.5, 2.0, dtype=dtype)
        y = squared(x)
        y.sum().backward()
        assert y.dtype == x.grad.dtype == dtype
        assert torch.equal(x.grad, 2 * x.detach())


def test_only_wanted_gradients_are_computed() -> None:
    x, v, k = arrays()
    y, _ = stepped(x.detach(), v, k.detach(), 0.1)
    y.sum().backward()
    assert x.grad is None and k.grad is None and v.grad is not None
    assert not stepped(x.detach(), v.detach(), k.detach(), 0.1)[0].requires_grad


@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
def test_without_gradients_nothing_is_kept(f: Any) -> None:
    x, v, k = arrays()
    pool = dt.zeros(1).buffer.pool
    gc.collect()
    kept = pool.kept
    with torch.no_grad():
        y, _w = f(x, v, k, h=0.1)
    assert y.grad_fn is None and not y.requires_grad and pool.kept == kept
    with torch.inference_mode():
        z, _ = f(x, v, k, h=0.1)
    assert torch.equal(y, z)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
def test_tensors_that_were_written_before_backward_are_noticed(f: Any) -> None:
    x, v, k = (one.detach() for one in arrays())
    k.requires_grad_()
    y, _ = f(x, v, k, h=0.1)
    x.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_results_that_were_written_before_backward_are_noticed() -> None:
    f = dt.torch.op(exponential, "x", outputs={"y": "x"})
    x = leaf(0.5, 1.0)
    y = f(x)
    y.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_mutated_tensors_are_written_in_place() -> None:
    x, v, k = (one.detach() for one in arrays())
    y, w = rolled(x, v, k)
    at, versions = x.data_ptr(), (x._version, v._version, k._version)
    assert in_place(x, v, k) is None
    assert torch.equal(x, y) and torch.equal(v, w) and x.data_ptr() == at
    assert (x._version, v._version, k._version) == (versions[0] + 1, versions[1] + 1, versions[2])
    base = torch.zeros(3, 2, dtype=F64)
    base[:, 0] = arrays()[0].detach()
    in_place(base[:, 0], arrays()[1].detach(), k)  # a column has steps
    assert torch.equal(base[:, 0], y) and torch.equal(base[:, 1], torch.zeros(3, dtype=F64))


def test_a_mutated_tensor_that_a_graph_needs_is_noticed() -> None:
    x, v, k = (one.detach() for one in arrays())
    w = number(2.0)
    loss = (w * x).sum()
    in_place(x, v, k)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def refusal(f: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(dt.LaunchError) as caught:
        f(*args, **kwargs)
    return str(caught.value)


def test_mutated_tensors_that_cannot_be() -> None:
    x, v, k = arrays()
    assert refusal(in_place, x, v.detach(), k.detach()) == (
        "rollout: 'x' requires a gradient, which does not pass through an operation that "
        "overwrites tensors; use outputs=, or call it inside torch.no_grad()."
    )
    with torch.no_grad():
        in_place(x, v, k)
    base = torch.arange(5, dtype=F64)
    assert refusal(in_place, base[:3], base[2:], k.detach()) == (
        "rollout: 'x' is overwritten, and shares memory with 'v'; pass a clone() of one of them."
    )


def test_wrong_tensors_are_refused_in_words() -> None:
    assert refusal(squared, torch.ones(3, dtype=torch.bfloat16)) == (
        "square: 'x' is of torch.bfloat16, which fields do not have; convert it: x.float()."
    )
    assert refusal(squared, torch.ones(3, dtype=torch.complex64)) == (
        "square: 'x' is of torch.complex64, which fields do not have; pass torch.view_as_real(x), "
        "whose last axis has the two parts."
    )
    assert refusal(squared, torch.ones(0)) == (
        "square: 'x' has the shape (0,) and so no elements; operations take one or more."
    )
    assert refusal(squared, torch.ones(3, device="meta")) == (
        "square: 'x' is on the device 'meta'; move it to the CPU, or to CUDA."
    )
    assert refusal(squared, torch.ones(3).to_sparse()) == (
        "square: 'x' is a sparse tensor; pass its parts, or x.to_dense()."
    )
    assert refusal(squared, np.ones(3)) == (
        "square: 'x' is a tensor, not an array of shape (3,), float64; convert it: "
        "torch.as_tensor(x)."
    )
    assert refusal(squared) == "square(x): missing a required argument: 'x'."
    assert refusal(stepped, *arrays(), 0.1, z=3) == (
        "step(x, v, k, h): got an unexpected keyword argument 'z'."
    )
    vectors = dt.torch.op(turn, {"x": (3,), "A": (3, 3)}, outputs={"y": "x"})
    assert refusal(vectors, torch.ones(4, 2), torch.ones(3, 3)) == (
        "turn: 'x' has the shape (4, 2); the last axes are those of an element and have the sizes "
        "(3,)."
    )


def test_second_derivatives_and_no_third_ones() -> None:
    x = leaf(0.5, 2.0)
    (first,) = torch.autograd.grad(cubed(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    torch.testing.assert_close(second, 6 * x)
    assert "third derivatives are not known" in refusal(torch.autograd.grad, second.sum(), x)


def test_gradient_penalty_as_in_training() -> None:
    x = leaf(0.5, 2.0)
    (first,) = torch.autograd.grad(rolled(x, 2 * x, 0.7)[0].sum(), x, create_graph=True)
    (first**2).sum().backward()

    def penalty(at: Any) -> Any:
        return (torch.func.grad(lambda z: rolled(z, 2 * z, 0.7)[0].sum())(at) ** 2).sum()

    for k in range(2):
        ahead, behind = x.detach().clone(), x.detach().clone()
        ahead[k] += 1e-5
        behind[k] -= 1e-5
        slope = (penalty(ahead) - penalty(behind)) / 2e-5
        assert x.grad[k].item() == pytest.approx(slope.item(), rel=1e-6)


def test_transformations_of_functions() -> None:
    x, v, k = (one.detach() for one in arrays())

    def loss(x: Any, v: Any) -> Any:
        y, w = rolled(torch.sin(x), v, k)
        return (y * w).sum()

    by_hand = x.clone().requires_grad_()
    loss(by_hand, v).backward()
    torch.testing.assert_close(torch.func.grad(loss)(x, v), by_hand.grad)
    xs = torch.stack([x, 2 * x, -x])
    each = torch.stack([loss(one, v) for one in xs])
    torch.testing.assert_close(torch.func.vmap(loss, (0, None))(xs, v), each)
    slopes = torch.func.vmap(torch.func.grad(loss), (0, None))(xs, v)
    torch.testing.assert_close(slopes[0], by_hand.grad)
    reverse, forward = (
        way(lambda x: rolled(x, v, k)[0])(x) for way in (torch.func.jacrev, torch.func.jacfwd)
    )
    torch.testing.assert_close(reverse, forward)
    value, pull = torch.func.vjp(lambda x: rolled(x, v, k)[1], x)
    torch.testing.assert_close(value, rolled(x, v, k)[1])
    assert pull(torch.ones_like(x))[0].shape == x.shape
    hessian = torch.func.hessian(loss)(x, v)
    torch.testing.assert_close(hessian, torch.func.jacrev(torch.func.grad(loss))(x, v))
    torch.testing.assert_close(hessian, torch.autograd.functional.hessian(loss, (x, v))[0][0])


@pytest.mark.parametrize("reentrant", [True, False], ids=["reentrant", "not reentrant"])
@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
def test_torch_checkpoints(f: Any, reentrant: bool) -> None:
    x, v, k = arrays()

    def run(x: Any, v: Any) -> Any:
        y, w = f(x, v, k, h=0.1)
        return f(y, w, k, h=0.1)[0].sum()

    expected = torch.autograd.grad(run(x, v), (x, v))
    loss = torch.utils.checkpoint.checkpoint(run, x, v, use_reentrant=reentrant)
    loss.backward()
    torch.testing.assert_close((x.grad, v.grad), expected)


@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
def test_hooks_of_saved_tensors(f: Any) -> None:
    x, v, k = arrays()
    expected = torch.autograd.grad(f(x, v, k, h=0.1)[0].sum(), (x, v, k))
    packed: list[Any] = []

    def pack(tensor: Any) -> Any:
        packed.append(tensor.shape)
        return tensor.detach().numpy().copy()

    with torch.autograd.graph.saved_tensors_hooks(pack, torch.from_numpy):
        y, _ = f(x, v, k, h=0.1)
    assert packed.count(x.shape) >= 2
    torch.testing.assert_close(torch.autograd.grad(y.sum(), (x, v, k)), expected)


def test_autocast_leaves_the_types_alone() -> None:
    x = leaf(0.5, 2.0, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = squared(x)
    assert y.dtype == torch.float32
    y.sum().backward()
    assert torch.equal(x.grad, 2 * x.detach())


@pytest.mark.parametrize("form", ["eager", "create_graph", "func", "vmap"])
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_the_output_of_a_network_under_autocast_goes_through_an_operation(
    form: str, kind: Any
) -> None:
    net = torch.nn.Linear(3, 1)
    inputs = torch.linspace(-1.0, 1.0, 12).reshape(4, 3)
    weights = torch.tensor([1.0, 2.0, -3.0, 4.0])

    def loss(square: Any) -> Any:
        with torch.autocast("cpu", dtype=kind):
            h = net(inputs)[:, 0]
            assert h.dtype == kind
            if form == "vmap":
                y = torch.func.vmap(square)(h[:, None])[:, 0]
            elif form == "func":
                y = square(h) + 0.0 * torch.func.grad(lambda h: square(h).float().sum())(h)
            else:
                y = square(h)
        return (weights * y.float()).sum()

    found, expected = (
        torch.autograd.grad(loss(one), list(net.parameters()), create_graph=form == "create_graph")
        for one in (squared, lambda h: h.float() ** 2)
    )
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == torch.float32
        torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-2)  # of 8 or 11 bits


def test_bfloat16_is_refused_where_autocast_is_off() -> None:
    h = torch.ones(3, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.autocast("cpu", enabled=False):
        assert "which fields do not have; convert it: x.float()." in refusal(squared, h)


class Swing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.op = stepped
        self.k = torch.nn.Parameter(torch.tensor(0.7))

    def forward(self, x: Any, v: Any) -> Any:
        return self.op(x, v, self.k, 0.1)


def test_modules_that_hold_an_operation_are_copied_and_pickled() -> None:
    module = Swing()
    x, v = torch.ones(3), torch.zeros(3)
    expected = module(x, v)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        torch.testing.assert_close(other(x, v), expected)
        other(x, v)[0].sum().backward()
        assert other.k.grad is not None and module.k.grad is None


def test_backward_from_several_threads() -> None:
    x, v, k = arrays()
    losses = [rolled(x * n, v, k)[0].sum() for n in range(1, 5)]
    expected = [torch.autograd.grad(one, (x, v, k), retain_graph=True) for one in losses]
    found: dict[int, Any] = {}

    def run(n: int) -> None:
        for _ in range(5):
            y, _ = rolled(x * (n + 1), v, k)
            found[n] = torch.autograd.grad(y.sum(), (x, v, k))
            again = torch.autograd.grad(losses[n], (x, v, k), retain_graph=True)
            torch.testing.assert_close(again, expected[n])

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 4
    for n, one in found.items():
        torch.testing.assert_close(one, expected[n])


def test_random_numbers_are_those_of_the_forward_pass() -> None:
    f = dt.torch.op(noisy, "x", outputs={"y": "x"})
    twice = dt.torch.op(noisy_twice, "x", outputs="x")
    for one in (f, twice):
        x = torch.ones(5, dtype=F64, requires_grad=True)
        y, z = one(x), one(x)
        assert not torch.equal(y, z)
        (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        torch.testing.assert_close(gradient, y)  # since x is one
        torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], y)


def noisy_twice(x):
    for _ in range(2):
        y = dt.zeros_like(x)
        noisy(x, y)
        x.copy_from(y)


def test_dt_init_between_calls() -> None:
    x = leaf(1.0, 2.0)
    kept = [squared(x), rolled(x, 2 * x, 0.7)[0]]
    dt.init(arch="cpu")
    assert torch.equal(squared(x), x * x)
    assert rolled(x, x, 0.7)[0].shape == x.shape
    for one in kept:
        with pytest.raises(dt.DifftileError, match=r"dt\.init"):
            one.sum().backward()


def test_an_open_tape_refuses_it() -> None:
    x = dt.zeros(3, ti.f64, grad=True)
    for f in (squared, dt.torch.op(as_it_is, ("x", "v"))):
        with pytest.raises(dt.TapeError, match="tape"):
            with dt.Tape():
                cube(x)
                f(*[torch.ones(3)] * len(f.operation.names))
    z = leaf(2.0)
    y = squared(z)
    loss = dt.zeros((), ti.f64, grad=True)
    x.fill(1.0)
    with dt.Tape(loss):
        total(x, loss)
        y.backward()  # a backward pass of torch is nothing to the tape
    assert z.grad.item() == 4.0 and x.grad[1] == 2.0


def test_a_function_may_not_leave_numbers_of_varying_fields_to_python() -> None:
    def halved(x, y):
        y[0] = x[0] + 0.0  # a number that derivatives pass through
        y[1] = 0.5 * x[1]

    x = leaf(1.0, 3.0)
    f = dt.torch.op(halved, "x", outputs={"y": "x"})
    y = f(x)
    assert torch.equal(y, torch.tensor([1.0, 1.5], dtype=F64))
    assert torch.equal(torch.autograd.grad(y.sum(), x)[0], torch.tensor([1.0, 0.5], dtype=F64))

    def printed(x, y):
        y.from_numpy(np.sin(x.to_numpy()))

    with pytest.warns(dt.GradientCut, match="an array read by Python"):
        dt.torch.op(printed, "x", outputs={"y": "x"})(x)


def test_rules_and_custom_operations_in_a_function() -> None:
    x = leaf(0.5, 2.0)
    f = dt.torch.op(ruled, "x", outputs={"y": "x"})
    for _ in range(2):
        (slope,) = torch.autograd.grad(f(x).sum(), x)
        assert torch.equal(slope, 3 * x.detach())

    def several(x, y):
        z = dt.zeros_like(x)
        square(x, z)
        doubled_in_python(z, y)

    g = dt.torch.op(several, "x", outputs={"y": "x"})
    y = g(x)
    assert torch.equal(y, 2 * x * x)
    for _ in range(2):
        (slope,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
        assert torch.equal(slope, 4 * x.detach())


def test_captured_fields_are_constants_of_their_time() -> None:
    weights = dt.from_numpy(np.array([2.0, 3.0]))

    @dt.kernel
    def weighted(x, y):
        for i in x:
            y[i] = weights[i] * x[i]

    def twice(x, y):
        weighted(x, y)

    x = leaf(0.5, 2.0)
    for function in (weighted, twice):
        weights.from_numpy(np.array([2.0, 3.0]))
        f = dt.torch.op(function, "x", outputs={"y": "x"})
        y = f(x)
        weights.fill(100.0)
        (slope,) = torch.autograd.grad(y.sum(), x)
        assert slope.tolist() == [2.0, 3.0]
        assert torch.equal(f(x), 100 * x)


def test_an_operation_that_calls_itself_is_refused() -> None:
    def again(x, y):
        f(torch.ones(2, dtype=F64))

    f = dt.torch.op(again, "x", outputs={"y": "x"})
    assert refusal(f, torch.ones(2, dtype=F64)) == (
        "again calls itself as an operation on arrays; call the function on its fields instead."
    )


def test_overwriting_below_transformations_is_refused() -> None:
    x, v, k = (one.detach() for one in arrays())
    assert "torch.func do not know" in refusal(torch.func.vmap(in_place), *[x[None]] * 3)
    assert v.shape == x.shape and k.ndim == 0


def test_arguments_that_alternate() -> None:
    power = dt.torch.op(fixed_power, "x", outputs={"y": "x"})
    for n in (2, 3, 2, 3, 2):
        for size in (2, 3):
            x = torch.linspace(1, 2, size, dtype=F64, requires_grad=True)
            (slope,) = torch.autograd.grad(power(x, n).sum(), x)
            torch.testing.assert_close(slope, n * x.detach() ** (n - 1))


@dt.kernel
def fixed_power(x, y, n: ti.template()):
    for i in x:
        power = 1.0
        for _ in ti.static(range(n)):
            power *= x[i]
        y[i] = power


def run_often(f: Any, count: int) -> None:
    x, v, k = arrays()
    for _ in range(count):
        y, w = f(x, v, k, h=0.1)
        (y.sum() + w.sum()).backward()
        x.grad = v.grad = k.grad = None


@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
@pytest.mark.parametrize(
    "count", [200, pytest.param(10_000, marks=pytest.mark.slow)], ids=["200", "10,000"]
)
def test_memory_stays_flat(f: Any, count: int) -> None:
    run_often(f, 50)
    gc.collect()
    pool = dt.zeros(1).buffer.pool
    tracemalloc.start()
    run_often(f, count // 4)  # what is kept for calls that repeat has all come by then
    grown = []
    for _ in range(3):  # what leaks grows each time, and what other threads keep for once does not
        gc.collect()
        first, held = tracemalloc.get_traced_memory()[0], (pool.kept, pool.held)
        before = buffers()
        run_often(f, count)
        gc.collect()
        grown.append(tracemalloc.get_traced_memory()[0] - first)
        # After a hundred thousand launches, those that repeat become a program with its own fields.
        same = (pool.kept, pool.held) == held and buffers() <= before + 2
        if grown[-1] < 20_000 and same:
            break
    tracemalloc.stop()
    assert min(grown) < 20_000, grown
    assert same


def buffers() -> int:
    return sum(isinstance(one, Buffer) for one in gc.get_objects())


@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
def test_what_a_graph_keeps_goes_with_its_backward_pass(f: Any) -> None:
    x, v, k = arrays()
    pool = dt.zeros(1).buffer.pool
    gc.collect()
    kept = pool.kept
    y, _ = f(x, v, k, h=0.1)
    loss = y.sum()
    loss.backward()
    assert pool.kept == kept  # although `loss` lives on
    assert loss.grad_fn is not None


def test_opcheck() -> None:
    x, v, k = (one.detach().float().requires_grad_() for one in arrays())
    found = torch.library.opcheck(rolled.overload(2, 0.1), (x, v, k, 2, 0.1))
    assert set(found.values()) == {"SUCCESS"} and len(found) == 4
    given = (*[one.detach() for one in (x, v, k)], 2, 0.1)
    found = torch.library.opcheck(in_place.overload(2, 0.1), given)
    assert set(found.values()) == {"SUCCESS"} and len(found) == 4


def compiled_agrees(backend: str) -> None:
    x, v, k = arrays()

    def loss(x: Any, v: Any, k: Any, h: float) -> Any:
        y = torch.sin(x)
        for _ in range(2):
            y, v = stepped(y, v, k, h=h)
        y, v = rolled(y, v, k)
        return (y * v).sum()

    fast = torch.compile(loss, fullgraph=True, backend=backend)
    for h in (0.1, 0.2):
        expected = torch.autograd.grad(loss(x, v, k, h), (x, v, k))
        found = torch.autograd.grad(fast(x, v, k, h), (x, v, k))
        torch.testing.assert_close(found, expected)

    def advance(x: Any, v: Any, k: Any) -> Any:
        in_place(x, v, k)
        return x + v

    given = [one.detach() for one in arrays()]
    other = [one.clone() for one in given]
    found = torch.compile(advance, fullgraph=True, backend=backend)(*given)
    torch.testing.assert_close(found, advance(*other))
    torch.testing.assert_close(given, other)


def test_compiled_with_backward() -> None:
    compiled_agrees("aot_eager")


@pytest.mark.slow
def test_compiled_by_inductor() -> None:
    compiled_agrees("inductor")


def test_a_function_that_returns_fields_is_not_compiled() -> None:
    f = dt.torch.op(wave, ("a", "b"))
    assert "name the results" in refusal(f.overload)


cuda = pytest.mark.gpu


@pytest.fixture
def on_cuda() -> Any:
    """A session on CUDA, where tensors of the test are as well."""
    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
    dt.init(arch="cuda")
    yield "cuda"
    torch.cuda.synchronize()
    dt.init(arch="cpu")


def on(device: Any, *tensors: Any) -> list[Any]:
    return [one.detach().to(device).requires_grad_() for one in tensors]


@cuda
def test_on_a_device_gradients_are_those_of_the_host(on_cuda: Any) -> None:
    dt.init(arch="cpu")
    expected: list[Any] = []
    for f in (stepped, rolled):
        x, v, k = arrays()
        y, w = f(x, v, k, h=0.1)
        expected.append(torch.autograd.grad((y * w).sum(), (x, v, k)))
    dt.init(arch="cuda")
    for f, theirs in zip((stepped, rolled), expected, strict=True):
        x, v, k = on(on_cuda, *arrays())
        y, w = f(x, v, k, h=0.1)
        assert y.device == x.device
        for _ in range(2):
            found = torch.autograd.grad((y * w).sum(), (x, v, k), retain_graph=True)
            torch.testing.assert_close([one.cpu() for one in found], list(theirs))
    x, v, k = on(on_cuda, *arrays())
    assert torch.autograd.gradcheck(lambda *a: rolled(*a, n=2), (x, v, k))
    assert torch.autograd.gradgradcheck(lambda *a: rolled(*a, n=2), (x, v, k))
    assert refusal(squared, torch.ones(3)) == (
        "square: 'x' is in memory of the host, and fields are on a device; move the array there, "
        "or call dt.init(arch='cpu')."
    )


@cuda
@pytest.mark.filterwarnings(
    "ignore:Synchronization debug mode is a prototype feature",
    "ignore:Warning. Profiler clears events",
)
@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
def test_on_a_device_nothing_waits(on_cuda: Any, f: Any) -> None:
    x, v, k = on(on_cuda, *arrays())
    optimiser = torch.optim.SGD([x, v, k], lr=1e-4)

    def train(count: int) -> None:
        for _ in range(count):
            y, w = f(x, v, k, h=0.1)
            optimiser.zero_grad()
            (y.sum() + w.sum()).backward()
            optimiser.step()

    train(10)
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        train(1000)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        train(20)
    names = {event.key for event in profile.key_averages()}
    waits = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cuStreamSynchronize"}
    calls = sum(e.count for e in profile.key_averages() if e.key in waits)
    assert calls <= 2, names  # the profiler itself waits at its end


@cuda
@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
@pytest.mark.parametrize(
    "count", [200, pytest.param(10_000, marks=pytest.mark.slow)], ids=["200", "10,000"]
)
def test_on_a_device_memory_stays_flat(on_cuda: Any, f: Any, count: int) -> None:
    x, v, k = on(on_cuda, *arrays())

    def run(count: int) -> tuple[int, int, int]:
        for _ in range(count):
            y, w = f(x, v, k, h=0.1)
            (y.sum() + w.sum()).backward()
            x.grad = v.grad = k.grad = None
        gc.collect()  # cycles
        torch.cuda.synchronize()
        pool = dt.zeros(1).buffer.pool
        return torch.cuda.memory_allocated(), pool.kept, pool.held

    seen = [run(50), run(50)]
    for _ in range(3):  # what leaks grows each time
        seen.append(run(count))
        if seen[-1] == seen[-2]:
            break
    assert seen[-1] == seen[-2], seen


@cuda
@pytest.mark.parametrize("f", [stepped, rolled], ids=["one launch", "launches"])
def test_on_streams_of_torch(on_cuda: Any, f: Any) -> None:
    n = 1 << 20
    x, v = (torch.linspace(0, 1, n, device=on_cuda, dtype=F64) for _ in range(2))
    k = torch.tensor(0.7, device=on_cuda, dtype=F64)
    expected = f(x * 3, v, k, h=0.1)[0] * 2
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    for _ in range(20):
        with torch.cuda.stream(stream):
            busy = x
            for _ in range(20):
                busy = busy * 1.0
            z = (busy * 3).requires_grad_()
            y = f(z, v, k, h=0.1)[0] * 2
            (slope,) = torch.autograd.grad(y.sum(), z)
            total = y.sum() + slope.sum()
        torch.cuda.current_stream().wait_stream(stream)
        assert torch.equal(y, expected)
        assert torch.isfinite(total)
