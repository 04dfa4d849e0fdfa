"""Taichi as a backend."""

from difftile.ir.types import F32, F64
from difftile.ops.table import OPS
from difftile.substrate.backend import Backend, VectorMath
from difftile.substrate.spellings import SPELLINGS, Call
from difftile.substrate.taichi import (
    device,
    foreign_tape,  # noqa: F401 - replaces a method of Taichi's tape
    names,
)
from difftile.substrate.taichi.desktop import GuiWindow
from difftile.substrate.taichi.launcher import CompiledKernel
from difftile.substrate.taichi.lent import LentArray, shareable
from difftile.substrate.taichi.native.kernels import KERNELS
from difftile.substrate.taichi.ndarrays import Ndarray
from difftile.substrate.vector_functions import FUNCTIONS, LIMITS

TAICHI = Backend(
    language=names,
    spellings=SPELLINGS,
    vector_math=VectorMath(
        {name: Call(f"vector_math.{name}", typed=True) for name in FUNCTIONS if name in OPS},
        {name: {F32: single, F64: double} for name, (single, double) in LIMITS.items()},
    ),
    devices=device,
    memory=Ndarray,
    lent_memory=LentArray,
    shareable_memory=shareable,
    compile=CompiledKernel,
    native=KERNELS,
    desktop=GuiWindow,
)
