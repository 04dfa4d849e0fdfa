"""Writes of whole fields from Python as launches, which wait in loops over `dt.steps`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

import difftile.lang as ti
from difftile.compile.func import KernelValue
from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import as_array
from difftile.fields.number_field import NumberField
from difftile.fields.numbers import numbers_in
from difftile.fields.step_number import StepNumber
from difftile.ir.types import FLOATS, scalar_of, shape_of
from difftile.runtime.kernel import Kernel


class Launches:
    """Writes of whole fields by launches."""

    def fill(self, target: ArrayLike, value: object) -> bool:
        """Set every element to one value by a launch; return False if no kernel can do it."""
        if isinstance(target, NumberField) or numbers_in(value):
            return False
        kernel = fill if target.shape else fill_one
        if isinstance(value, StepNumber):
            kernel(target, value)
            return True
        inner = shape_of(target.element)
        array = as_array(cast(Any, value))
        if array.shape not in {(), inner} or array.dtype.kind not in "biuf":
            return False  # an error, or a case that only Python handles
        if array.dtype.kind == "f" and scalar_of(target.element) not in FLOATS:
            return False
        plain = array.tolist()
        if array.dtype.kind in "iu" and not np.all(np.abs(array) < 2**31):
            return False
        kernel(target, plain if array.dtype.kind != "b" else int(plain))
        return True

    def copy(self, target: ArrayLike, source: ArrayLike) -> bool:
        """Copy a field that fits by a launch; return False if no kernel can do it."""
        if isinstance(target, NumberField) or isinstance(source, NumberField):
            return False
        if target.base.storage is source.base.storage:
            return False  # parts that overlap
        kernel = copy if target.shape else copy_one
        kernel(target, source)
        return True


@Kernel
def fill(target: KernelValue, value: KernelValue) -> None:
    """Set every element to a value."""
    for place in ti.grouped(target):
        target[place] = value


@Kernel
def fill_one(target: KernelValue, value: KernelValue) -> None:
    """Set the one element of a field of shape ()."""
    target[None] = value


@Kernel
def copy(target: KernelValue, source: KernelValue) -> None:
    """Copy every element."""
    for place in ti.grouped(target):
        target[place] = source[place]


@Kernel
def copy_one(target: KernelValue, source: KernelValue) -> None:
    """Copy the one element of a field of shape ()."""
    target[None] = source[None]


LAUNCHES = Launches()
