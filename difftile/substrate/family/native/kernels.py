"""The table of native kernels, by the names that the library uses."""

from difftile.substrate.backend import NativeKernel
from difftile.substrate.family.native import blend, radix_sort, scan, tile_lists

KERNELS: dict[str, NativeKernel] = {
    "exclusive_scan": scan.exclusive_scan,
    "sort_pairs": radix_sort.sort_pairs,
    "count_tiles": tile_lists.count_tiles,
    "list_tiles": tile_lists.list_tiles,
    "blend": blend.blend,
    "blend_adjoint": blend.blend_adjoint,
}
