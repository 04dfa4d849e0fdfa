"""The table of native kernels, by the names that the library uses."""

from difftile.substrate.backend import NativeKernel
from difftile.substrate.taichi.native import blend, scan

KERNELS: dict[str, NativeKernel] = {
    "exclusive_scan": scan.exclusive_scan,
    "blend": blend.blend,
    "blend_adjoint": blend.blend_adjoint,
}
