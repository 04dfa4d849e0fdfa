"""Write `torch_iterates.json`, the iterates of PyTorch's optimisers, which needs PyTorch.

    python tests/torch_iterates.py

All runs begin at START and follow the gradient of `sum_k (1 - x_k)^2 / (k + 1) + 3 sin(x_k) x_{k+1}
+ 0.1 x_k^4`, the last one followed by the first, in double precision.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

DATA = Path(__file__).with_suffix(".json")
START = [0.3, -0.8, 1.2, 0.05, -1.5, 0.7]
STEPS = (1, 2, 10, 100)

# An optimiser and its options, which have the same names in difftile; clipping is not an option in
# PyTorch, but a function to be called before the step.
RUNS = {
    "sgd": ("SGD", {"lr": 0.02}),
    "sgd_decay": ("SGD", {"lr": 0.02, "weight_decay": 0.3}),
    "sgd_momentum": ("SGD", {"lr": 0.01, "momentum": 0.9}),
    "sgd_dampening": ("SGD", {"lr": 0.03, "momentum": 0.8, "dampening": 0.4, "weight_decay": 0.1}),
    "sgd_nesterov": ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 0.05}),
    "sgd_clip_norm": ("SGD", {"lr": 0.05, "clip_norm": 1.0}),
    "sgd_clip_value": ("SGD", {"lr": 0.05, "momentum": 0.5, "clip_value": 0.3}),
    "adam": ("Adam", {"lr": 0.05}),
    "adam_decay": ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.2}),
    "adam_amsgrad": ("Adam", {"lr": 0.1, "betas": (0.9, 0.9), "amsgrad": True}),
    "adamw": ("AdamW", {"lr": 0.05}),
    "adamw_amsgrad": ("AdamW", {"lr": 0.1, "weight_decay": 0.5, "amsgrad": True}),
    "rmsprop": ("RMSprop", {"lr": 0.01}),
    "rmsprop_momentum": ("RMSprop", {"lr": 0.01, "momentum": 0.8, "alpha": 0.9, "eps": 1e-4}),
    "rmsprop_centered": ("RMSprop", {"lr": 0.005, "centered": True, "weight_decay": 0.1}),
    "rmsprop_all": ("RMSprop", {"lr": 0.003, "centered": True, "momentum": 0.7, "alpha": 0.95}),
}


def main() -> None:
    torch = importlib.import_module("torch")
    iterates = {}
    for name, (optimiser, given) in RUNS.items():
        options = dict(given)
        clip_norm, clip_value = (options.pop(key, None) for key in ("clip_norm", "clip_value"))
        x = torch.tensor(START, dtype=torch.float64, requires_grad=True)
        steps = getattr(torch.optim, optimiser)([x], **options)
        found = []
        for step in range(1, max(STEPS) + 1):
            steps.zero_grad()
            scales = torch.arange(1, len(START) + 1, dtype=torch.float64)
            terms = (1 - x) ** 2 / scales + 3 * torch.sin(x) * x.roll(-1) + 0.1 * x**4
            terms.sum().backward()
            if clip_norm is not None:
                torch.nn.utils.clip_grad_norm_([x], clip_norm)
            if clip_value is not None:
                torch.nn.utils.clip_grad_value_([x], clip_value)
            steps.step()
            if step in STEPS:
                found.append(x.tolist())
        iterates[name] = found
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in iterates.items()]
    version = json.dumps(torch.__version__)
    DATA.write_text(f'{{"torch": {version},\n' + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
