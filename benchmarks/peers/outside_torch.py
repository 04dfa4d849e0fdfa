"""Programs of `benchmarks.outside` in PyTorch, on the CPU and in double precision, compiled.

Each takes inputs in NumPy and returns a call for the results. To import the module is to import
PyTorch.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

torch: Any = importlib.import_module("torch")
func: Any = importlib.import_module("torch.func")

Call = Callable[[], Any]


def tensors(*inputs: Any) -> list[Any]:
    return [torch.from_numpy(np.ascontiguousarray(of)) for of in inputs]


def both(f: Any, inputs: Any, constants: Any) -> Call:
    """Return a call for a value and its gradients by the inputs."""
    of, known = tensors(*inputs), tensors(*constants)
    for one in of:
        one.requires_grad_()

    def run() -> Any:
        value = f(*of, *known)
        return value.detach(), *torch.autograd.grad(value, of)

    return run


def gmm(
    alphas: Any, means: Any, factors: Any, x: Any, gamma: float, m: int, constant: float
) -> Call:
    (k, d), n = means.shape, len(x)
    columns, rows = tensors(*np.triu_indices(d, 1))  # below the diagonal, column by column

    def log_likelihood(alphas: Any, means: Any, factors: Any, x: Any) -> Any:
        logs, below = factors[:, :d], factors[:, d:]
        roots = torch.diag_embed(logs.exp())
        roots = roots.index_put((torch.arange(k)[:, None], rows[None], columns[None]), below)
        whitened = torch.einsum("kab,nkb->nka", roots, x[:, None] - means)
        terms = alphas + logs.sum(1) - 0.5 * (whitened**2).sum(2)
        total = torch.logsumexp(terms, 1).sum() - n * torch.logsumexp(alphas, 0)
        return constant + total + 0.5 * gamma**2 * (roots**2).sum() - m * logs.sum()

    return both(torch.compile(log_likelihood, dynamic=False), (alphas, means, factors), (x,))


def ba(camera: Any, x: Any, w: Any, features: Any, seen: Any) -> Call:
    def errors(camera: Any, x: Any, w: Any, feature: Any) -> Any:
        r, p = camera[:3], x - camera[3:6]
        angle = torch.sqrt((r * r).sum())
        axis, c, s = r / angle, torch.cos(angle), torch.sin(angle)
        q = c * p + s * torch.linalg.cross(axis, p) + (axis * p).sum() * (1 - c) * axis
        u = q[:2] / q[2]
        square = (u * u).sum()
        u = u * (1 + camera[9] * square + camera[10] * square * square)
        return w * (u * camera[6] + camera[7:9] - feature)

    rows = func.vmap(func.jacrev(errors, (0, 1, 2)))

    def jacobian(camera: Any, x: Any, w: Any, features: Any, at: Any, point: Any) -> Any:
        by_camera, by_x, by_w = rows(camera[at], x[point], w, features)
        first = torch.cat([by_camera, by_x, by_w[:, :, None]], 2)
        return torch.cat([first.reshape(-1), -2 * w])

    compiled = torch.compile(jacobian, dynamic=False)
    of = tensors(camera, x, w, features, seen[:, 0].astype(np.int64), seen[:, 1].astype(np.int64))
    return lambda: (compiled(*of),)


def lstm(weights: Any, ends: Any, state: Any, sequence: Any) -> Call:
    layers = len(weights)

    def step(x: Any, weights: Any, ends: Any, state: Any) -> Any:
        """Take one character; return the prediction and the state. Compiled, not the whole loop."""
        x, states = x * ends[0], []
        for k in range(layers):
            (hidden, cell), w, b = state[k], weights[k, 0], weights[k, 1]
            forget, write = torch.sigmoid(x * w[0] + b[0]), torch.sigmoid(hidden * w[1] + b[1])
            read, change = torch.sigmoid(x * w[2] + b[2]), torch.tanh(hidden * w[3] + b[3])
            cell = cell * forget + write * change
            x = read * torch.tanh(cell)
            states.append(torch.stack([x, cell]))
        return x * ends[1] + ends[2], torch.stack(states)

    compiled = torch.compile(step, dynamic=False)

    def loss(weights: Any, ends: Any, state: Any, sequence: Any) -> Any:
        predicted = []
        for x in sequence[:-1]:
            y, state = compiled(x, weights, ends, state)
            predicted.append(y)
        y = torch.stack(predicted)
        norm = torch.log(2 + y.exp().sum(1, keepdim=True))
        return -(sequence[1:] * (y - norm)).mean()

    return both(loss, (weights, ends), (state, sequence))


def hand(theta: Any, *known: Any) -> Call:
    parent, bend, spread = known[:3]
    frames, inverses, origins, shifts, x, weight, measured = tensors(*known[3:10])
    which = torch.from_numpy(known[10].astype(np.int64))
    local = torch.einsum("bij,vj->bvi", inverses, x) + shifts[:, None]

    def errors(theta: Any) -> Any:
        r = theta[:3]
        angle = torch.sqrt((r * r).sum())
        a, c, s, nought = r / angle, torch.cos(angle), torch.sin(angle), torch.zeros_like(r[0])
        cross = torch.stack([nought, -a[2], a[1], a[2], nought, -a[0], -a[1], a[0], nought])
        turn = c * torch.eye(3, dtype=r.dtype) + s * cross.reshape(3, 3) + (1 - c) * a.outer(a)
        turns, moves = [], []
        for b, above in enumerate(parent):
            frame, origin = frames[b], origins[b]
            if bend[b] >= 0:
                c, s = torch.cos(theta[bend[b]]), torch.sin(theta[bend[b]])
                one = torch.ones_like(c)
                d, e = one, nought
                if spread[b] >= 0:
                    d, e = torch.cos(theta[spread[b]]), torch.sin(theta[spread[b]])
                joint = torch.stack([d, -e * c, e * s, e, d * c, -d * s, nought, s, c])
                frame = frame @ joint.reshape(3, 3)
            if above >= 0:
                frame, origin = turns[above] @ frame, turns[above] @ origin + moves[above]
            turns.append(frame)
            moves.append(origin)
        moved = torch.einsum("bij,bvj->bvi", torch.stack(turns), local)
        moved = ((moved + torch.stack(moves)[:, None]) * weight[:, :, None]).sum(0)
        return measured - (moved @ turn.T + theta[3:6])[which]

    jacobian = torch.compile(func.jacfwd(errors), dynamic=False)
    (of,) = tensors(theta)
    return lambda: (jacobian(of),)


def kmeans(centres: Any, points: Any) -> Call:
    of, known = tensors(centres, points)

    def cost(centres: Any) -> Any:
        products = centres @ known.T
        squares = (centres**2).sum(1)[:, None] + (known**2).sum(1) - 2 * products
        return squares.min(0).values.sum()

    def direction(centres: Any) -> Any:
        return func.jvp(func.grad(cost), (centres,), (torch.ones_like(centres),))

    compiled = torch.compile(direction, dynamic=False)
    return lambda: compiled(of)


def lse(x: Any) -> Call:
    def value(x: Any) -> Any:
        top = x.max()
        return top + (x - top).exp().sum().log()

    return both(torch.compile(value, dynamic=False), (x,), ())


PROGRAMS: dict[str, Callable[..., Call]] = {
    "gmm": gmm,
    "ba": ba,
    "lstm": lstm,
    "hand": hand,
    "kmeans": kmeans,
    "lse": lse,
}
