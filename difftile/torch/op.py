"""`dt.torch.op`: a function over fields as a differentiable operation on tensors.

An eager call goes straight to the function, by a `torch.autograd.Function`. Calls that torch traces
go through operations of `torch.library`: see `traced.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from difftile.diagnostics import LaunchError
from difftile.fields.recording import check_no_tape
from difftile.interop.operation import Names, Operation
from difftile.interop.plan import Plan, Plans
from difftile.torch.call import Call, Tensors, Values, forward_ad
from difftile.torch.functions import Recorded, Transformed
from difftile.torch.layouts import layout_of, plain
from difftile.torch.library import Tensor, torch


def op(
    function: Callable[..., Any],
    inputs: Names = (),
    params: Names = (),
    outputs: Names | None = None,
    mutates: Names = (),
) -> TorchOp:
    """Return a function over fields as a differentiable operation on tensors.

    Args:
        function: A kernel, a func, or a Python function that launches kernels. It may run again for
            derivatives of derivatives, and must follow from its arguments.
        inputs: The parameters that are tensors. A mapping says what their elements are: a type such
            as `ti.math.vec3`, the sizes of the last axes, `(3,)`, or None for numbers.
        params: More of them, which stand for parameters; a tensor without axes is a field of shape
            (). Other parameters are constants.
        outputs: The parameters whose contents after the function are its results; by default the
            fields that the function returns. Kernels may overwrite inputs: the caller's tensors
            stay as they are. Outputs that are no inputs begin as zeros, and a mapping says which
            input they are like, or their shape: `{"y": "x"}`, `{"y": (3,)}`, or a function of the
            shapes of the tensors by name.
        mutates: The parameters whose tensors are overwritten in place, without derivatives.

    Raises:
        LaunchError: Names or shapes do not fit the function.
    """
    return TorchOp(function, inputs, params, outputs, mutates)


class TorchOp:
    """A function over fields as an operation on tensors; `dt.torch.op` makes one."""

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Names = (),
        params: Names = (),
        outputs: Names | None = None,
        mutates: Names = (),
    ) -> None:
        self._made = (function, inputs, params, outputs, mutates)
        self.operation = Operation(*self._made)
        self.__name__ = self.operation.name
        self._plans = Plans(self.operation)

    def __repr__(self) -> str:
        return f"<torch op {self.operation.name}({', '.join(self.operation.taken)})>"

    def __deepcopy__(self, memo: object) -> TorchOp:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TorchOp, self._made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function on tensors.

        Args:
            args: A tensor for each of `inputs` and `params`, and constants for other parameters.
            kwargs: The same by name.

        Returns:
            The tensor of the output, or a tuple of them; None if tensors were overwritten.

        Raises:
            LaunchError: The arguments do not fit.
            TapeError: A tape is open.
        """
        arrays, constants = self.operation.bind(args, kwargs)
        tensors = self._tensors(arrays)
        if self.operation.mutates:
            self._overwrite(tensors, constants)
            return None
        check_no_tape(f"{self!r}")
        call = Call(self, constants)
        if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
            results = Transformed.apply(call, *tensors)
        elif torch.is_grad_enabled() and any([one.requires_grad for one in tensors]):
            results = Recorded.apply(call, *tensors)
        else:
            results = call.run(tensors)
        return results[0] if len(results) == 1 else tuple(results)

    def _tensors(self, arrays: Values) -> Tensors:
        """Return the arrays of a call; numbers become tensors like the others."""
        for one in arrays:
            if not isinstance(one, torch.Tensor):
                break
        else:
            return arrays
        tensors = [one for one in arrays if isinstance(one, torch.Tensor)]
        like = next((one for one in tensors if one.is_floating_point()), None)
        return tuple([self._tensor(k, one, like) for k, one in enumerate(arrays)])

    def _tensor(self, k: int, one: object, like: Tensor | None) -> Tensor:
        if isinstance(one, torch.Tensor):
            return one
        if isinstance(one, (int, float)) and like is not None:
            return torch.tensor(float(one), dtype=like.dtype, device=like.device)
        raise LaunchError(
            f"{self.operation.title(k)} is a tensor, not {one!r}; torch.as_tensor(x)."
        )

    def plan(self, tensors: Tensors) -> Plan:
        """Return the plan for tensors of these shapes and types."""
        title = self.operation.title
        return self._plans.of(tuple([layout_of(x, title(k)) for k, x in enumerate(tensors)]))

    def _overwrite(self, tensors: Tensors, constants: Values) -> None:
        """Run the function in the memory of the tensors.

        Raises:
            LaunchError: A gradient would pass through a tensor, or two of them overlap.
        """
        operation = self.operation
        if torch.is_grad_enabled():
            for k, one in enumerate(tensors):
                if one.requires_grad:
                    raise LaunchError(
                        f"{operation.title(k)} requires a gradient, which does not pass through an "
                        "operation that overwrites tensors; use outputs=, or call it inside "
                        "torch.no_grad()."
                    )
        check_no_tape(f"{self!r}")
        plan = self.plan(tensors)
        given = [plain(one) for one in tensors]
        overwritten = [k for k, name in enumerate(operation.names) if name in operation.mutates]
        for k in overwritten:
            for j, other in enumerate(given):
                if j != k and _overlap(given[k], other):
                    raise LaunchError(
                        f"{operation.title(k)} is overwritten, and shares memory with "
                        f"'{operation.names[j]}'; pass a clone() of one of them."
                    )
        plan.run([one.data_ptr() for one in given], (), constants)
        for k in overwritten:
            if given[k] is not tensors[k]:
                tensors[k].copy_(given[k])
        counted = [tensors[k] for k in overwritten if given[k] is tensors[k]]
        torch.autograd.graph.increment_version([x for x in counted if not x.is_inference()])


def _overlap(one: Tensor, other: Tensor) -> bool:
    """Tell whether contiguous tensors have memory in common."""
    a, b = one.data_ptr(), other.data_ptr()
    return a < b + other.nbytes and b < a + one.nbytes
