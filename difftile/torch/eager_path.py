"""Eager calls of one launch, on the memory of the tensors, with little work per call.

Everything that follows from the shapes and types of the tensors is computed once. Each call only
needs addresses, numbers, and memory for results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from difftile.compile.arguments import Arguments, number_at
from difftile.interop.direct import Direct, DirectAdjoint
from difftile.interop.plan import OperationPlan
from difftile.torch.call import OperationCall, Planner, Tensors, Values
from difftile.torch.functions import Pulled, spread
from difftile.torch.layouts import TORCH_DTYPES, on_current_stream, plain
from difftile.torch.library import Tensor, torch


class EagerPath:
    """One launch for tensors of certain shapes, types and needs of gradients.

    Args:
        op: The operation.
        plan: Its plan.
        direct: The launch.
        wanted: Which tensors take cotangents; None where nothing is recorded.
        tensors: The tensors of a call.

    Attributes:
        read: The numbers of the results that the adjoint reads.
    """

    def __init__(
        self,
        op: Planner,
        plan: OperationPlan,
        direct: Direct,
        wanted: tuple[bool, ...] | None,
        tensors: Tensors,
    ) -> None:
        self.op = op
        self.plan = plan
        self.session = plan.session
        self.direct = direct
        self.wanted = () if wanted is None else wanted
        self.adjoint: DirectAdjoint | None = None
        if wanted is not None:
            self.adjoint = plan.linear(wanted).direct_adjoint(direct)
        self.read: Sequence[int] = () if self.adjoint is None else self.adjoint.outputs
        device = tensors[0].device
        self._on_host = plan.session.on_host
        # One number each: a tensor like another one takes half the time of one of a shape.
        self._like = [
            torch.empty((), dtype=TORCH_DTYPES[one.dtype], device=device).expand(one.shape)
            for one in plan.outputs or ()
        ]

    def arguments(self, constants: Values) -> Arguments | None:
        """Return the arguments of the launch; None if it is another one for these constants."""
        launch = self.direct.launch
        values = launch.repeated_by(self.plan.arguments(constants), self.session)
        if values is None:
            return None
        launch.check_if_suspect(values)
        if self.adjoint is not None:
            self.adjoint.check(values)
        if launch.code.streams:
            launch.draw_anew(values)
        return values

    def position(self, values: Arguments) -> int:
        """Return the position of the streams of random numbers before the launch drew some."""
        code = self.direct.launch.code
        return int(number_at(values, code.drawn_at + 1)) if code.streams else 0

    def run(self, values: Arguments, tensors: Tensors) -> list[Tensor]:
        """Launch; return the results."""
        results = [torch.empty_like(one) for one in self._like]
        given = [one.data_ptr() for one in (*tensors, *results)]
        if self._on_host:
            self.direct.run(values, given)
        else:
            with on_current_stream(tensors[0]):
                self.direct.run(values, given)
        return results

    def pull(
        self, values: Arguments, saved: Tensors, cotangents: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """Return the cotangents of the tensors, None where they are not requested.

        Args:
            values: The arguments of the launch.
            saved: The tensors, and the results that the adjoint reads.
            cotangents: The cotangents of the results.
        """
        assert self.adjoint is not None
        wanted = self.wanted
        count = len(wanted)
        saved = [x if x.is_contiguous() else plain(x) for x in saved]
        seeds = [None if g is None else plain(g) for g in cotangents]
        bars = [torch.empty_like(x) if w else None for x, w in zip(saved, wanted, strict=False)]
        given = (
            [x.data_ptr() for x in saved[:count]],
            [y.data_ptr() for y in saved[count:]],
            [None if g is None else g.data_ptr() for g in seeds],
            [None if b is None else b.data_ptr() for b in bars],
        )
        if self._on_host:
            self.adjoint.run(values, *given)
        else:
            with on_current_stream(saved[0]):
                self.adjoint.run(values, *given)
        return bars


class Launched(torch.autograd.Function):  # pyrefly: ignore[unknown-base-class]
    """A call of one launch, which keeps numbers besides tensors."""

    @staticmethod
    def forward(
        ctx: Any, eager_path: EagerPath, constants: Values, values: Arguments, *tensors: Tensor
    ) -> Any:
        """Launch."""
        results = eager_path.run(values, tensors)
        ctx.call = eager_path, constants, values
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors, *[results[j] for j in eager_path.read])
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Pull cotangents back; on request so that torch can differentiate it."""
        eager_path: EagerPath
        eager_path, constants, values = ctx.call
        saved = ctx.saved_tensors
        if torch.is_grad_enabled():
            wanted = eager_path.wanted
            tensors = saved[: len(wanted)]
            call = OperationCall(eager_path.op, constants)
            call.adopt(eager_path.plan, eager_path.position(values))
            found: Any = Pulled.apply(  # pyrefly: ignore[unknown-attribute-access]
                call, wanted, len(wanted), *tensors, *cotangents
            )
            return None, None, None, *spread(wanted, found)
        eager_path.plan.check_session()
        return None, None, None, *eager_path.pull(values, saved, cotangents)


launched: Any = super(torch.autograd.Function, Launched).apply  # pyrefly: ignore[unknown-attribute-access]
"""`Launched.apply` without its look for transformations, which the caller has done."""
