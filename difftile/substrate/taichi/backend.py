"""Taichi as a backend."""

from difftile.substrate.backend import Backend
from difftile.substrate.spellings import SPELLINGS
from difftile.substrate.taichi import device, names
from difftile.substrate.taichi.desktop import GuiWindow
from difftile.substrate.taichi.launcher import CompiledKernel
from difftile.substrate.taichi.ndarrays import Ndarray

TAICHI = Backend(
    language=names,
    spellings=SPELLINGS,
    devices=device,
    memory=Ndarray,
    compile=CompiledKernel,
    desktop=GuiWindow,
)
