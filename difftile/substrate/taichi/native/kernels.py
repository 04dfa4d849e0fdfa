"""The table of native kernels, by the names that the library uses."""

from difftile.substrate.taichi.native import scan
from difftile.substrate.taichi.native.launch import NativeKernel

KERNELS: dict[str, NativeKernel] = {
    "exclusive_scan": scan.exclusive_scan,
}
