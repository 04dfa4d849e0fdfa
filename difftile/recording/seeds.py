"""Seeds: the adjoints of outputs, with which a backward pass begins."""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import suppress
from numbers import Real
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, TapeError, brief
from difftile.fields.array_like import ArrayLike
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.recording.work_fields import add_to

Seed: TypeAlias = ArrayLike | npt.ArrayLike
"""The adjoint of an output: a field, an array of its shape, or a number for all elements."""


def checked_seeds(
    seeds: ArrayLike | Mapping[ArrayLike, Seed] | None, written: Container[Storage]
) -> Mapping[ArrayLike, Seed]:
    """Return seeds as a mapping.

    Args:
        seeds: A loss, whose adjoint is 1; or for each output its adjoint.
        written: The memory of the fields that the tape has seen written.

    Raises:
        TapeError: They are of the wrong kind, or of a field that no launch wrote.
    """
    if seeds is None:
        raise TapeError("backward() needs an output: backward(loss), or backward({y: seed}).")
    if isinstance(seeds, ArrayLike):
        check_loss(seeds)
        seeds = {seeds: 1.0}
    if not isinstance(seeds, Mapping) or not all(isinstance(f, ArrayLike) for f in seeds):
        wanted = f"backward() takes a field of one element, or {{field: seed}}, not {brief(seeds)}."
        if isinstance(cast(object, seeds), Real):
            wanted += " Inside the tape, dt.value(number) is a field that holds a number."
        raise TapeError(wanted)
    for field in seeds:
        if field.base.storage not in written:
            raise TapeError(
                f"No launch on this tape wrote {field!r}, so nothing can be differentiated."
            )
        if not field.has_grads:
            raise TapeError(f"{field!r} has no gradient; make it with grad=True.")
    return seeds


def check_loss(loss: ArrayLike) -> None:
    """Check that a field is one number and has a gradient.

    Raises:
        TapeError: The field holds more than one number, or has no gradient.
    """
    if not isinstance(loss, ArrayLike):
        raise TapeError(f"A loss is a field of one element, not {brief(loss)}.")
    if loss.size != 1 or shape_of(loss.element):
        raise TapeError(
            f"A loss is one number, and {loss!r} is more; use backward({{field: seeds}})."
        )
    if not loss.has_grads:
        raise TapeError(f"The loss {loss!r} has no gradient; make it with grad=True.")


def add_seed(gradient: Field, output: ArrayLike, seed: Seed) -> None:
    """Add the seed of an output, a field or a part of one, to the gradient of the field."""
    buffer, whole = gradient.buffer, output.window is None
    if isinstance(seed, ArrayLike):
        if whole and isinstance(seed, Field) and _fits(seed, output):
            buffer.add(seed.buffer)
            return
        values = seed.to_numpy() if seed.window is not None else seed.base.buffer.array()
    else:
        if (type(seed) is float or type(seed) is int) and whole and buffer.zeros:
            buffer.fill(seed)
            return
        values = np.asarray(seed)
        if values.dtype.kind == "O":  # numbers of Python, or of a tape
            with suppress(AttributeError):
                values = np.array([one.__float__() for one in values.flat]).reshape(values.shape)
        if values.dtype.kind not in "biuf":
            raise TapeError(f"The seed of {output!r} is no number and no array: {seed!r}.")
    wanted = (*output.shape, *shape_of(output.element))
    if values.ndim and values.shape != wanted:
        raise FieldError(f"The seed of {output!r} has the shape {values.shape}, not {wanted}.")
    values = values.astype(numpy_dtype(scalar_of(gradient.element)), copy=False)
    if whole and buffer.zeros:  # reads no memory, which may be on a device
        if values.ndim:
            buffer.write(values)
        else:
            buffer.fill(values.item())
    else:
        add_to(gradient, np.broadcast_to(values, wanted), output.window)


def _fits(seed: Field, output: ArrayLike) -> bool:
    return seed.type.element == output.base.type.element and seed.shape == output.shape
