"""`dt.torch.wrap`: torch modules and functions over fields, as steps of tapes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from difftile.diagnostics import LaunchError, brief
from difftile.interop.signature import WrappedFunction
from difftile.torch.module_call import ModuleCall, WantedDerivatives
from difftile.torch.module_state import ChangingBuffers, modules_of


class WrappedModule(WrappedFunction):
    """A torch module, or a function of tensors, that takes and returns fields.

    Fields among the arguments, also in tuples, lists, dicts and fields of structs, arrive as
    tensors over the same memory; the components of vectors are a trailing axis. Tensors in the
    result become new fields, in the same structure; `out=` names fields to write instead.

    On a tape a call is one step. Gradients pass to the fields, and are added to the `.grad` of the
    module's parameters as torch does it, so that optimisers of torch may follow.
    """

    def __init__(self, function: Callable[..., Any], dtype: Any) -> None:
        super().__init__(function, dtype)
        self.modules = modules_of(function)
        self.buffers = ChangingBuffers()
        self.graph_nbytes: dict[object, int] = {}
        self.seen: set[object] = set()  # forms of inputs for which the graph was looked at

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Call the module; on an open tape the call is recorded.

        Args:
            args: The arguments of the module, with fields in place of tensors.
            out: Fields, or parts of fields, that take the result, in its structure.
            kwargs: More arguments.

        Returns:
            The result with fields in place of tensors: `out`, or new ones.

        Raises:
            LaunchError: The result does not fit, or the module has written into a field.
        """
        self.signature.announce(args, kwargs)
        return ModuleCall(self, args, kwargs, out, WantedDerivatives.wanted()).perform()


def wrap(function: Callable[..., Any] | None = None, *, dtype: Any = None) -> Any:
    """Make a torch module, or a function of tensors, a function of fields and a step of tapes.

        policy = dt.torch.wrap(torch.nn.Linear(3, 2))
        with dt.Tape(loss):
            u = policy(x)       # a field of shape (2,), for a field of shape (3,)
            simulate(x, u)

    Also a decorator: `@dt.torch.wrap`, or `@dt.torch.wrap(dtype=ti.math.vec2)`.

    Args:
        function: A `torch.nn.Module`, or a function of tensors that returns tensors.
        dtype: The element type of the fields that are made: `ti.math.vec2` takes the last axis of a
            tensor for components. One for all tensors in the result, or in the structure of the
            result; numbers of the tensors' type by default.

    Raises:
        ImportError: PyTorch is not installed.
        LaunchError: The object cannot be called, or is a kernel.
    """
    if function is None:
        return functools.partial(wrap, dtype=dtype)
    if isinstance(function, WrappedModule) or not callable(function) or isinstance(function, type):
        raise LaunchError(
            f"dt.torch.wrap takes a module or a function of tensors, not {brief(function)}."
        )
    return WrappedModule(function, dtype)
