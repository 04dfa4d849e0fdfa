"""Arrays of the host as arguments of a kernel on a device, which has copies of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from difftile.compile.annotations import FieldOf, Kind
from difftile.compile.arguments import CallArgs
from difftile.diagnostics import FieldError, LaunchError
from difftile.fields.arrays import Copied, copied_to_device
from difftile.launch.kinds import is_shared


class CopiedArguments:
    """Arrays of the host among the arguments of a launch on a device.

    Their contents are copied into fields before the launch, and back after one that writes them.

    Args:
        kernel: The kernel, for errors.
        args: The arguments.
        names: The parameters.
        kinds: The kind of each.

    Attributes:
        args: The arguments with fields in the places of those arrays.

    Raises:
        LaunchError: An array is not one that a field can hold, or two have memory in common.
    """

    def __init__(
        self, kernel: object, args: CallArgs, names: Sequence[str], kinds: Sequence[Kind]
    ) -> None:
        self._copies: list[Copied] = []
        found = list(args)
        for k, (name, arg, kind) in enumerate(zip(names, args, kinds, strict=True)):
            if not is_shared(arg, kind):
                continue
            try:
                copy = copied_to_device(arg, kind.dtype if isinstance(kind, FieldOf) else None)
            except FieldError as error:
                raise LaunchError(f"{kernel!r}: '{name}' makes no field. {error}") from None
            if copy is None:
                continue
            for other in self._copies:
                if other.field is not copy.field and np.may_share_memory(other.array, copy.array):
                    raise LaunchError(
                        f"{kernel!r}: '{name}' and another array have memory in common, which "
                        "copies on a device would not have. Pass parts of one field."
                    )
            found[k] = copy.field
            self._copies.append(copy)
        self.args: CallArgs = tuple(found)
        for copy in self._copies:
            read_only, copy.field.storage.read_only = copy.field.storage.read_only, False
            copy.field.from_numpy(copy.array)
            copy.field.storage.read_only = read_only
        self._versions = [one.field.storage.buffer.contents.version for one in self._copies]

    def put_back(self) -> None:
        """Copy the contents that the launch has written back into the arrays."""
        for one, version in zip(self._copies, self._versions, strict=True):
            if one.field.storage.buffer.contents.version is not version:
                one.array[...] = one.field.to_numpy()
