"""The state of torch that a call finds, so that the call can run again as it ran first."""

from __future__ import annotations

import inspect
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias

from difftile.diagnostics import TapeError
from difftile.torch.library import Tensor, torch

Module: TypeAlias = Any
"""A `torch.nn.Module`."""


def modules_of(function: object) -> tuple[Module, ...]:
    """Return the modules of a function: itself, its object, and the modules that it names."""
    if isinstance(function, torch.nn.Module):
        return (function,)
    found: list[object] = [getattr(function, "__self__", None)]
    code = getattr(function, "__func__", function)
    if isinstance(code, FunctionType):
        outside = inspect.getclosurevars(code)
        found += [*outside.nonlocals.values(), *outside.globals.values()]
    return tuple({id(one): one for one in found if isinstance(one, torch.nn.Module)}.values())


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A tensor of a module that is not a parameter, such as the statistics of a norm."""

    owner: Module
    name: str
    tensor: Tensor
    version: int

    @property
    def now(self) -> Tensor:
        """The tensor in its place now."""
        return self.owner._buffers[self.name]

    def changed(self, copy: Tensor | None) -> bool:
        """Tell whether the buffer was written or replaced since.

        Args:
            copy: What it held, if that is known: torch counts no writes of running statistics.
        """
        if self.now is not self.tensor or self.tensor._version != self.version:
            return True
        return copy is not None and not torch.equal(copy, self.tensor)


def _buffers_of(modules: Iterable[Module]) -> list[_Buffer]:
    return [
        _Buffer(part, name, tensor, tensor._version)
        for module in modules
        for part in module.modules()
        for name, tensor in part._buffers.items()
        if tensor is not None
    ]


class ChangingBuffers:
    """The modules whose buffers calls change, by the modes of all modules.

    The first call in a mode copies all buffers, since a buffer that it changes may have to be put
    back; later calls copy only the buffers of modules that changed one.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[bool, ...], set[int]] = {}

    def copies(self, modes: tuple[bool, ...], buffers: Sequence[_Buffer]) -> dict[int, Tensor]:
        """Return copies of the buffers that a call may change, by their place."""
        known = self._known.get(modes)
        return {
            k: one.tensor.clone()
            for k, one in enumerate(buffers)
            if known is None or id(one.owner) in known
        }

    def note(self, modes: tuple[bool, ...], changed: Iterable[_Buffer]) -> None:
        """Remember which buffers a call has changed."""
        self._known.setdefault(modes, set()).update(id(one.owner) for one in changed)


class CallState:
    """The state of torch that a call found: random numbers, modes, parameters and buffers.

    Args:
        modules: The modules that the call may use.
        tensors: The tensors among its arguments.
        changing: The record of buffers that calls change.
    """

    def __init__(
        self, modules: Sequence[Module], tensors: Sequence[Tensor], changing: ChangingBuffers
    ) -> None:
        self._modes = [(part, part.training) for one in modules for part in one.modules()]
        self._versions = [
            (tensor, tensor._version)
            for tensor in (*tensors, *(p for one in modules for p in one.parameters()))
        ]
        self._buffers = _buffers_of(modules)
        self._changing = changing
        self._copies = changing.copies(self._flags, self._buffers)
        self._lost = ""
        self._autocast = [
            (kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind))
            for kind in ("cpu", "cuda")
        ]
        self._random = torch.get_rng_state()
        self._device = torch.cuda.is_available() and torch.cuda.is_initialized()
        self._device_random = torch.cuda.get_rng_state() if self._device else None

    @property
    def _flags(self) -> tuple[bool, ...]:
        return tuple(training for _, training in self._modes)

    def ran(self) -> None:
        """Called after the first run: keep copies of the buffers that it has changed."""
        copies = self._copies
        changed = {k for k, one in enumerate(self._buffers) if one.changed(copies.get(k))}
        self._changing.note(self._flags, (self._buffers[k] for k in changed))
        lost = next((self._buffers[k] for k in changed if k not in self._copies), None)
        self._lost = "" if lost is None else lost.name
        self._copies = {k: copy for k, copy in self._copies.items() if k in changed}
        self._versions += [
            (one.tensor, one.version) for k, one in enumerate(self._buffers) if k not in changed
        ]

    @contextmanager
    def restored(self, title: str) -> Generator[None]:
        """Restore the state before the call inside the block.

        Args:
            title: The call, for errors.

        Raises:
            TapeError: A parameter or a tensor has changed since, which cannot be put back.
        """
        if self._lost:
            raise TapeError(
                f"{title} has changed the buffer '{self._lost}' of its module, which it had not in "
                "calls before, and has to run again. Call it on a tape without a limit."
            )
        if any(tensor._version != version for tensor, version in self._versions):
            raise TapeError(changed_since(title))
        with ExitStack() as stack:
            devices = [torch.cuda.current_device()] if self._device else []
            stack.enter_context(torch.random.fork_rng(devices))
            torch.set_rng_state(self._random)
            if self._device:
                torch.cuda.set_rng_state(self._device_random)
            for kind, enabled, dtype in self._autocast:
                if enabled or torch.is_autocast_enabled(kind):
                    stack.enter_context(torch.autocast(kind, dtype=dtype, enabled=enabled))
            for part, training in self._modes:
                if part.training != training:
                    stack.callback(setattr, part, "training", part.training)
                    part.training = training
            for k, copy in self._copies.items():
                one = self._buffers[k]
                stack.callback(one.owner._buffers.__setitem__, one.name, one.now)
                one.owner._buffers[one.name] = copy.clone()
            yield


def changed_since(title: str) -> str:
    """Return the error for tensors that were changed between a call and its backward."""
    return (
        f"A parameter, a buffer or a tensor that {title} reads was changed after the call, and the "
        "tape needs it as it was. Change it after the backward pass: call optimizer.step() after "
        "the 'with' block."
    )
