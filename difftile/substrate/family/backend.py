"""The backend of the compiler that is loaded."""

from collections.abc import Callable

from difftile.ir.types import F32, F64
from difftile.ops.table import OPS
from difftile.substrate.backend import Backend, VectorMath
from difftile.substrate.batch import Graphs
from difftile.substrate.family import (
    device,
    foreign_tape,  # noqa: F401 - replaces a method of the compiler's tape
)
from difftile.substrate.family.cuda import staging_memory
from difftile.substrate.family.launcher import CompiledKernel
from difftile.substrate.family.lent import LentArray, shareable
from difftile.substrate.family.native.kernels import KERNELS
from difftile.substrate.family.ndarrays import Ndarray
from difftile.substrate.spellings import SPELLINGS, CallSpelling
from difftile.substrate.vector_functions import FUNCTIONS, LIMITS


def backend_of(graphs: Callable[[], Graphs | None], *, unrolls: bool) -> Backend:
    """Return the backend with the parts that the compilers do not share.

    Args:
        graphs: Returns what makes graphs of launches, if there is something.
        unrolls: As for `Backend`.
    """
    return Backend(
        spellings=SPELLINGS,
        vector_math=VectorMath(
            {
                name: CallSpelling(f"vector_math.{name}", typed=True)
                for name in FUNCTIONS
                if name in OPS
            },
            {name: {F32: single, F64: double} for name, (single, double) in LIMITS.items()},
        ),
        devices=device,
        memory=Ndarray,
        lent_memory=LentArray,
        shareable_memory=shareable,
        staging_memory=staging_memory,
        compile=CompiledKernel,
        native=KERNELS,
        graphs=graphs,
        unrolls=unrolls,
    )
