"""Native kernels in place of `composite` and its rule, where a device has them.

They are for numbers in single precision and a few channels, and for tiles that fall into their
squares of pixels. All else is left to the kernels in the language, which say what is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from difftile.ir.nodes import Array, Program
from difftile.ir.types import F32, I32, Type, Vector
from difftile.substrate import NativeLaunch, current_session

SIDES = (16, 8)  # of the squares that blocks of threads draw [pixels]
MOST_CHANNELS = 8  # shared memory has room for so many

_Arrays: TypeAlias = dict[str, tuple[Type | None, int]]
"""The element, None for a colour, and the number of dimensions of arrays, by name.

Arrays of gaussians may lack the axis of cameras, if all of them do.
"""

# In the order in which native kernels take them; the side of a tile follows `starts`.
_GAUSSIANS: _Arrays = {
    "means": (Vector(2, F32), 2),
    "conics": (Vector(3, F32), 2),
    "opacities": (F32, 2),
    "colours": (None, 2),
    "depths": (F32, 2),
    "background": (None, 0),
}
_LISTS: _Arrays = {"order": (I32, 1), "starts": (I32, 1)}
_IMAGES: _Arrays = {"image": (None, 3), "alpha": (F32, 3), "depth": (F32, 3), "light": (F32, 3)}
_LAST: _Arrays = {"last": (I32, 3)}
FORWARD = _GAUSSIANS | _LISTS | _IMAGES | _LAST
ADJOINT = (
    _GAUSSIANS
    | _LISTS
    | {"depth": (F32, 3), "light": (F32, 3)}
    | _LAST
    | {f"{name}_in_bar": kind for name, kind in _IMAGES.items()}
    | {f"{name}_out_bar": kind for name, kind in _GAUSSIANS.items()}
    | {"absolute_out_bar": (Vector(2, F32), 2)}
)

# What stands for an array that is not given; None is memory of one colour.
_STAND_INS = {
    "depths": "opacities",
    "background": None,
    "depth": "light",
    "depth_in_bar": "light_in_bar",
    "depths_out_bar": "opacities_out_bar",
    "background_out_bar": None,
    "absolute_out_bar": "means_out_bar",
}
_NUMBERS = {"tile", "MAX_SIGMA", "MAX_ALPHA", "MIN_ALPHA", "MIN_LIGHT", "MIN_COVER"}


def has_warps() -> bool:
    """Return whether kernels run in warps of CUDA, for which there are native ones."""
    return current_session().warps


def forward(program: Program) -> NativeLaunch | None:
    """Return what launches a native kernel in place of `composite`, or None."""
    return _launch_of(program, "blend", FORWARD, ("depth", "background"))


def adjoint(program: Program) -> NativeLaunch | None:
    """Return what launches a native kernel in place of the rule of `composite`, or None."""
    options = "depths_out_bar", "background_out_bar", "absolute_out_bar"
    return _launch_of(program, "blend_adjoint", ADJOINT, options)


def _launch_of(
    program: Program, name: str, arrays: Mapping[str, Any], options: Sequence[str]
) -> NativeLaunch | None:
    """Return what launches a native kernel in place of a program, or None.

    Args:
        program: The program.
        name: The native kernel.
        arrays: Its arrays.
        options: The arrays whose presence the kernel is told, after the side of its squares.
    """
    session = current_session()
    launch_native = session.native.get(name)
    params = (*program.params, *program.temps)
    position = {param.name: k for k, param in enumerate(params)}
    given = {param.name: param.type for param in params if isinstance(param, Array)}
    missing = arrays.keys() - given.keys()
    # Views of fields come with more numbers.
    others = position.keys() - given.keys() - _NUMBERS
    if launch_native is None or others or missing - _STAND_INS.keys():
        return None
    colour, flat = given["colours"].element, given["colours"].ndim == 1
    channels = colour.n if isinstance(colour, Vector) and colour.scalar == F32 else 0
    if not 1 <= channels <= MOST_CHANNELS:
        return None
    for array, type_ in given.items():
        element, ndim = arrays.get(array, _IMAGES["image"])
        ndim = 1 if flat and ndim == 2 else ndim
        if (type_.element, type_.ndim) != (element or colour, ndim):
            return None
    blank = session.pool.allocate(colour, ())
    places: list[int | None] = []
    for array in arrays:
        found = _STAND_INS[array] if array in missing else array
        places.append(None if found is None else position[found])
        if array == "starts":
            places.append(position["tile"])
    flags = [int(array in given) for array in options]

    def launch(args: Sequence[Any]) -> bool:
        tile = args[position["tile"]]
        side = next((side for side in SIDES if tile % side == 0), None)
        if side is not None:
            values = [blank if k is None else args[k] for k in places]
            launch_native(channels, flat, *values, side, *flags)
        return side is not None

    return launch
