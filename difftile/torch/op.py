"""`dt.torch.op`: a function over fields as a differentiable operation on tensors.

An eager call goes directly to the function, by a `torch.autograd.Function`. Calls that torch traces
go through operations of `torch.library`: see `traced.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from difftile.diagnostics import LaunchError, brief
from difftile.fields.recording import RECORDING, check_no_tape
from difftile.interop.operation import Names, Operation
from difftile.interop.plan import OperationPlan, Plans
from difftile.substrate import current_session
from difftile.torch.call import OperationCall, Tensors, Values, forward_ad
from difftile.torch.eager_path import EagerPath, launched
from difftile.torch.functions import Recorded, Transformed
from difftile.torch.layouts import layout_of, on_current_stream, plain
from difftile.torch.library import Tensor, torch
from difftile.torch.traced import Traced, kinds_of, numbers_in

Plain: Any = torch.Tensor
Parameter: Any = torch.nn.Parameter
_BFLOAT16: Any = torch.bfloat16
_MOST = 64  # calls with tensors of ever new shapes


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
        inputs: The parameters that are tensors. A mapping gives the type of their elements: a type
            such as `ti.math.vec3`, the sizes of the last axes, `(3,)`, or None for numbers.
        params: More of them, which stand for parameters; a tensor without axes is a field of shape
            (). Other parameters are constants.
        outputs: The parameters whose contents after the function are its results; by default the
            fields that the function returns. Kernels may overwrite inputs: the caller's tensors
            stay as they are. Outputs that are not inputs begin as zeros, and a mapping gives the
            input whose shape and type they have, or their shape: `{"y": "x"}`, `{"y": (3,)}`, or a
            function of the shapes of the tensors by name.
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
        self._traced = Traced(self)
        self._eager_paths: dict[Any, EagerPath] = {}

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
        if not self.operation.mutates:
            for one in arrays:
                if isinstance(one, torch.Tensor) and one.dtype is _BFLOAT16:
                    arrays = tuple([_widened(other) for other in arrays])
                    break
        if torch.compiler.is_compiling():
            return _packed(self._trace(self._tensors(arrays), constants))
        if RECORDING.get().recorder is not None:
            check_no_tape(repr(self))
        results = self._straightly(arrays, constants)
        if results is None:
            results = self._call(self._tensors(arrays), constants)
        return _packed(results)

    def _straightly(self, tensors: Values, constants: Values) -> Tensors | None:
        """Run one launch on plain tensors; return None for any other call."""
        if (
            torch._C._len_torch_dispatch_stack()
            or torch._C._are_functorch_transforms_active()
            or forward_ad._current_level >= 0
        ):
            return None
        recorded = torch.is_grad_enabled()
        needed = False
        key: list[Any] = []
        for one in tensors:
            kind: object = one.__class__
            if kind is not Plain and kind is not Parameter:
                return None
            if not one.is_contiguous() or one.is_neg():
                return None
            needs = recorded and one.requires_grad
            needed = needed or needs
            key += (one.shape, one.dtype, one.device, needs)
        session = current_session()
        known = tuple(key)
        eager_path = self._eager_paths.get(known)
        values = None
        if eager_path is not None and eager_path.session is session:
            values = eager_path.arguments(constants)
        if values is None or eager_path is None:
            eager_path = self._prepare(known, tensors, constants, needed)
            values = None if eager_path is None else eager_path.arguments(constants)
            if values is None or eager_path is None:
                return None
        if needed:
            return launched(eager_path, constants, values, *tensors)
        return eager_path.run(values, tensors)

    def _prepare(
        self, key: Any, tensors: Tensors, constants: Values, needed: bool
    ) -> EagerPath | None:
        """Return how a call with tensors such as these is one launch, if it is."""
        if self.operation.mutates or any([one.data_ptr() % one.itemsize for one in tensors]):
            return None
        plan = self.plan(tensors)
        direct, _ = plan.direct(constants)
        if direct is None:
            return None
        wanted = None
        if needed:
            wanted = tuple([one.requires_grad and one.is_floating_point() for one in tensors])
            if plan.linear(wanted).direct_adjoint(direct) is None:
                return None
        made = EagerPath(self, plan, direct, wanted, tensors)
        kept = list(self._eager_paths.items())[1 - _MOST :]
        self._eager_paths = {**dict(kept), key: made}
        return made

    def _call(self, tensors: Tensors, constants: Values) -> Tensors:
        """Run any function on any tensors."""
        if _is_traced(tensors):
            return self._trace(tensors, constants)
        transformed = torch._C._are_functorch_transforms_active()
        if self.operation.mutates:
            if transformed:
                raise LaunchError(
                    f"{self!r} overwrites tensors, which transformations of torch.func do not know "
                    "of; name the results instead, outputs=."
                )
            self.overwrite(tensors, constants)
            return ()
        call = OperationCall(self, constants)
        if transformed or forward_ad._current_level >= 0:
            return Transformed.apply(call, *tensors)  # pyrefly: ignore[no-any-return-implicit, unknown-attribute-access]
        if torch.is_grad_enabled() and any([one.requires_grad for one in tensors]):
            return Recorded.apply(call, *tensors)  # pyrefly: ignore[no-any-return-implicit, unknown-attribute-access]
        return call.run(tensors)

    def _trace(self, tensors: Tensors, constants: Values) -> Tensors:
        """Run the operation of `torch.library`."""
        name = _name_of(self._traced, kinds_of(constants))
        operator = getattr(torch.ops.difftile, name).default
        results = operator(*tensors, *numbers_in(constants))
        return () if self.operation.mutates else results[:-1]

    def overload(self, *constants: Any) -> Any:
        """Return the operation of `torch.library` that compiled code calls.

        The operation takes the tensors, and then the constants that are numbers or texts. Its last
        result is the position of the streams of random numbers.

        Args:
            constants: The constants of a call, in the order of the parameters.
        """
        return getattr(torch.ops.difftile, self._traced.of(kinds_of(constants))).default

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
            f"{self.operation.title(k)} is a tensor, not {brief(one)}; convert it: "
            "torch.as_tensor(x)."
        )

    def plan(self, tensors: Tensors) -> OperationPlan:
        """Return the plan for tensors of these shapes and types."""
        title = self.operation.title
        return self._plans.of(tuple([layout_of(x, title(k)) for k, x in enumerate(tensors)]))

    def overwrite(self, tensors: Tensors, constants: Values) -> None:
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
        with on_current_stream(given[0]):
            plan.run([one.data_ptr() for one in given], (), constants)
        for k in overwritten:
            if given[k] is not tensors[k]:
                tensors[k].copy_(given[k])
        counted = [tensors[k] for k in overwritten if given[k] is tensors[k]]
        torch.autograd.graph.increment_version([x for x in counted if not x.is_inference()])


def _widened(given: object) -> object:
    """Return a tensor of a type that fields have, as `custom_fwd(cast_inputs=torch.float32)` does.

    Autocast makes tensors of bfloat16, which fields do not have; the gradient is cast back.
    """
    if not isinstance(given, torch.Tensor) or given.dtype is not _BFLOAT16:
        return given
    return given.float() if torch.is_autocast_enabled(given.device.type) else given


def _packed(results: Tensors) -> Any:
    """Return results as a call returns them."""
    if len(results) == 1:
        return results[0]
    return tuple(results) if results else None


def _name_of(traced: Traced, kinds: Values) -> str:
    return traced.of(kinds)


# What `torch.compiler.assume_constant_result` sets; it imports `torch._dynamo`, a second and more.
vars(_name_of)["_dynamo_marked_constant"] = True


def _is_traced(tensors: Tensors) -> bool:
    """Tell whether a tensor is not plain, or a mode of torch intercepts operations."""
    if torch._C._len_torch_dispatch_stack():
        return True
    return any([type(one) is not Plain and type(one) is not Parameter for one in tensors])


def _overlap(one: Tensor, other: Tensor) -> bool:
    """Tell whether contiguous tensors have memory in common."""
    a, b = one.data_ptr(), other.data_ptr()
    return a < b + other.nbytes and b < a + one.nbytes
