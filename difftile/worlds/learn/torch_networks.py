"""The networks of `networks.py` as a module of PyTorch, with the same weights."""

from collections.abc import Sequence
from typing import Any

import torch

import difftile as dt
from difftile import ti
from difftile.worlds.learn.networks import LEAST, Networks


class Perceptrons(torch.nn.Module):
    """Multilayer perceptrons of one shape, each for its share of the rows.

    Args:
        parameters: Weights, (networks, n, m), and biases, (networks, 1, m), from the first layer
            to the last.
    """

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.weights = torch.nn.ParameterList(parameters[0::2])
        self.biases = torch.nn.ParameterList(parameters[1::2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the results, (rows, m), of rows x, (rows, n)."""
        y = x.reshape(len(self.weights[0]), -1, x.shape[-1])
        for k, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            if k:
                y = torch.nn.functional.elu(y)
                y = torch.nn.functional.layer_norm(y, y.shape[-1:], eps=LEAST)
            y = torch.baddbmm(b, y, w)
        return y.reshape(len(x), -1)


class TorchNetworks(Networks):
    """Networks that a module of PyTorch evaluates, as one step of the tape.

    The weights are fields, for which the parameters of the module stand in a call. So optimisers
    and checkpoints are those of other networks.

    Args:
        sizes: Of the input, the hidden layers, and the output.
        seeds: One for each network.
        last: The scale of the weights of the output at first.
        dtype: `ti.f32` or `ti.f64`.

    Attributes:
        module: The module, with the weights as they were first.
    """

    def __init__(
        self, sizes: Sequence[int], seeds: Sequence[int], last: float = 1.0, dtype: Any = ti.f32
    ) -> None:
        super().__init__(sizes, seeds, last, dtype)
        names = [f"{kind}{k}" for k in range(self.layers) for kind in "wb"]
        given = [self.parameters[name] for name in names]
        self.module = module = Perceptrons([torch.from_numpy(one.to_numpy()) for one in given])
        self._given = {
            name: given[2 * int(name.split(".")[1]) + name.startswith("biases")]
            for name, _ in module.named_parameters()
        }

        def evaluate(x: torch.Tensor, parameters: dict[str, torch.Tensor]) -> torch.Tensor:
            return torch.func.functional_call(module, parameters, (x,))

        self._evaluate = dt.torch.wrap(evaluate)

    def run(self, x: dt.Field, found: Sequence[dt.Field]) -> dt.Field:
        """Evaluate all rows of x into the last of `found`."""
        return self._evaluate(x, self._given, out=found[-1])

    def rows(self, count: int) -> list[dt.Field]:
        """Return a field for the results, for a number of rows of each network."""
        return super().rows(count)[-1:]
