"""Programs of `benchmarks.first_gradient` under torch.compile, with its caches on disk.

To import the module is to import PyTorch.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.first_rows import inputs

# One process compiles: others would only be started, and each has one thing to compile.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.environ["XDG_CACHE_HOME"], "torch")
torch: Any = importlib.import_module("torch")

Arrays = list[np.ndarray]


def start(program: str) -> None:
    """PyTorch has started when it is imported."""


def _both(loss: Callable[..., Any], *of: np.ndarray) -> Arrays:
    given = [torch.tensor(values, requires_grad=True) for values in of]
    value = loss(*given)
    value.backward()
    return [value.detach().numpy(), *(one.grad.numpy() for one in given)]


def gmm(quick: bool) -> Arrays:
    *given, points = inputs.gmm(quick)
    size, x = points.shape[1], torch.tensor(points)
    rows, columns = map(torch.tensor, np.tril_indices(size, -1))

    def loss(alpha: Any, mu: Any, icf: Any) -> Any:
        logs, below = icf[:, :size], icf[:, size:]
        which = torch.arange(len(mu))[:, None]
        roots = torch.diag_embed(logs.exp())
        roots = roots.index_put((which, rows[None], columns[None]), below)
        white = torch.einsum("kij,nkj->nki", roots, x[:, None] - mu)
        terms = alpha + logs.sum(1) - 0.5 * (white**2).sum(2)
        prior = (0.5 * torch.exp(2.0 * logs) - logs).sum() + 0.5 * (below**2).sum()
        return prior - torch.logsumexp(terms, 1).sum()

    return _both(torch.compile(loss, dynamic=False), *given)


def network(quick: bool) -> Arrays:
    *given, samples = inputs.network(quick)
    x = torch.tensor(samples)

    def loss(first: Any, second: Any, last: Any) -> Any:
        return ((torch.tanh(torch.tanh(x @ first.T) @ second.T) @ last.T) ** 2).sum()

    return _both(torch.compile(loss, dynamic=False), *given)


def wave(quick: bool) -> Arrays:
    initial, wanted = inputs.wave(quick)
    target = torch.tensor(wanted)

    @torch.compile(dynamic=False)  # all steps in one would be compiled one by one
    def step(p: Any, older: Any) -> Any:
        around = torch.nn.functional.pad(p, (1, 1, 1, 1))
        laplacian = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        return 2.0 * p - older + inputs.COURANT * (laplacian - 4.0 * p)

    def loss(initial: Any) -> Any:
        p, older = torch.zeros_like(initial), initial
        for _ in range(inputs.wave_steps(quick) - 2):
            p, older = step(p, older), p
        return ((target - p) ** 2).mean()

    return _both(loss, initial)


PROGRAMS: dict[str, Any] = {"gmm": gmm, "network": network, "wave": wave}
