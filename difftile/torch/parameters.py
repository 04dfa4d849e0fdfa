"""`dt.torch.parameters`: fields as the parameters of torch's optimisers."""

from __future__ import annotations

from typing import Any

from difftile.diagnostics import FieldError
from difftile.fields.field import Field
from difftile.fields.rows import rows_of
from difftile.optim.parameters import FieldsLike, parameters_of
from difftile.torch.library import Tensor, torch

_slot: Any = torch.Tensor.grad  # torch's own backward adds to this


class FieldParameter(torch.nn.Parameter):  # pyrefly: ignore[unknown-base-class]
    """A leaf tensor over the memory of a field, whose `.grad` is over the field's gradient.

    The two stay together: `zero_grad()`, which sets `.grad` to None elsewhere, clears the field's
    gradient, and an assigned tensor is copied into it.

    Attributes:
        field: The field; None for copies of the tensor.
    """

    field: Field | None
    _shared: Tensor

    @staticmethod
    def over(field: Field) -> FieldParameter:
        """Return the parameter of a field that has a gradient."""
        made: FieldParameter = FieldParameter(torch.from_dlpack(field.detach()))
        made.field, made._shared = field, torch.from_dlpack(field.grad)
        _slot.__set__(made, made._shared)
        made.register_post_accumulate_grad_hook(_join)  # pyrefly: ignore[unknown-attribute-access]
        return made

    @property
    def grad(self) -> Tensor:
        """The gradient of the field; a copy of the tensor has its own, as usual in torch."""
        found = _slot.__get__(self)
        shared = getattr(self, "_shared", None)
        if shared is None or found is shared:
            return found
        self.grad = found
        return shared

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        shared = getattr(self, "_shared", None)
        if shared is None:
            _slot.__set__(self, gradient)
            return
        with torch.no_grad():
            if gradient is None:
                shared.zero_()
            elif gradient is not shared:
                shared.copy_(gradient.to_dense() if gradient.is_sparse else gradient)
        _slot.__set__(self, shared)

    @grad.deleter
    def grad(self) -> None:
        self.grad = None


def _join(parameter: FieldParameter) -> None:
    """Bring a gradient back that torch did not add in place, as with create_graph=True."""
    _ = parameter.grad


def parameters(*fields: FieldsLike) -> list[FieldParameter]:
    """Return fields as leaf tensors for optimisers of torch; values and gradients are shared.

        optimiser = torch.optim.Adam(dt.torch.parameters(k, w), lr=1e-2)
        for _ in range(100):
            with dt.Tape(loss):
                simulate(k, w, loss)
            optimiser.step()

    A tape clears the gradients of the fields that it uses, so gradients that torch's own backward
    adds to the same tensors come after it. `zero_grad()` sets the fields' gradients to zero.

    Args:
        fields: Fields of floats with gradients, fields of structs, or sequences or mappings of
            them. Components of vectors are trailing axes.

    Raises:
        ImportError: PyTorch is not installed.
        FieldError: A field has no gradient, is given twice, or belongs to `dt.Rows`.
    """
    given: Any = fields[0] if len(fields) == 1 else _together(fields)
    found = parameters_of(given, "dt.torch.parameters")
    for one in found:
        if rows_of(one.field) is not None:
            raise FieldError(
                f"dt.torch.parameters: {one} belongs to rows, which move to other memory when they "
                "change. Use an optimiser of dt.optim, which follows them."
            )
    return [FieldParameter.over(one.field) for one in found]


def _together(fields: tuple[FieldsLike, ...]) -> list[Any]:
    """Return the fields in several arguments as one sequence."""
    found: list[Any] = []
    for one in fields:
        found += [p.field for p in parameters_of(one, "dt.torch.parameters")]
    return found
