"""Gaussians as rows of fields: the parameters that files hold and optimisers move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError, did_you_mean
from difftile.fields.exchange import as_array

_SIZES = {"means": 3, "scales": 3, "quaternions": 4, "opacities": None}
_COLOURS = ("sh0", "shN", "features")


def make_gaussians(
    parameters: Mapping[str, npt.ArrayLike] | None = None,
    /,
    *,
    dtype: Any = float,
    grad: bool = True,
    **more: npt.ArrayLike,
) -> dt.Rows:
    """Return gaussians as rows of fields.

    Args:
        parameters: Arrays by name, n rows each: "means", centres [scene units], (n, 3); "scales",
            logarithms of standard deviations, (n, 3); "quaternions", w, x, y, z of any length but
            zero, (n, 4); "opacities", logits, (n,). Colours are either coefficients of harmonics,
            "sh0" (n, channels) and optionally "shN" (n, 3, 8 or 15, channels); or "features" (n,
            channels), the same in all directions.
        dtype: The type of the numbers.
        grad: Give the fields gradients.
        more: More arrays by name.

    Raises:
        FieldError: A parameter is missing, unknown or superfluous, or has another shape.
    """
    given = {name: as_array(values) for name, values in {**(parameters or {}), **more}.items()}
    if "shN" in given and given["shN"].shape[1:2] == (0,):
        del given["shN"]
    for name in given:
        if name not in (*_SIZES, *_COLOURS):
            known = (*_SIZES, *_COLOURS)
            guess = did_you_mean(name, known) or f"they have {', '.join(known)}."
            raise FieldError(f"Gaussians have no parameter '{name}'; {guess}")
    if "features" in given and ("sh0" in given or "shN" in given):
        raise FieldError("Gaussians have either harmonics, sh0 and shN, or features; drop one.")
    missing = [name for name in _SIZES if name not in given]
    if not missing and not ("features" in given or "sh0" in given):
        missing = ["sh0", "features"]
    if missing:
        raise FieldError(f"Gaussians without {' or '.join(missing)}; given: {', '.join(given)}.")
    made = {name: _field(name, given[name], size, dtype, grad) for name, size in _SIZES.items()}
    for name in _COLOURS:
        if name in given:
            channels = given[name].shape[-1] if given[name].ndim > 1 else 0
            made[name] = _field(name, given[name], channels, dtype, grad)
    return dt.Rows(made)


def _field(name: str, values: Any, size: int | None, dtype: Any, grad: bool) -> Any:
    inner = () if size is None else (size,)
    axes = 2 if name == "shN" else 1
    if values.ndim != axes + len(inner) or values.shape[axes:] != inner:
        rows = "(n, bands" if axes == 2 else "(n"
        wanted = f"{rows}, {size or 'channels'})" if inner else f"{rows},)"
        raise FieldError(f"The {name} of gaussians have the shape {wanted}, not {values.shape}.")
    element = dt.vec(size or 1, dtype)
    if size is None:
        element = element.dtype
    return dt.from_numpy(values, element, grad=grad)
