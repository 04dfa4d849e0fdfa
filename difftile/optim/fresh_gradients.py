"""Which gradients belong to the loss of a step, and which are left from an earlier one."""

from __future__ import annotations

from collections.abc import Sequence

import difftile as dt
from difftile.optim.parameters import NamedParameter
from difftile.recording.tapes import TAPES


class FreshGradients:
    """Remembers the gradients that a step has followed, and clears those at the next step.

    A tape clears the gradients of the fields that it uses. A field that the loss of a step does
    not use must not move along the gradient of another loss.
    """

    def __init__(self, parameters: Sequence[NamedParameter]) -> None:
        self.note(parameters)

    def note(self, parameters: Sequence[NamedParameter]) -> None:
        """Remember the gradients as they are after a step."""
        self._versions: list[object] = [one.grad.buffer.contents.version for one in parameters]
        self._passes = TAPES.replays

    @property
    def has_pass(self) -> bool:
        """Whether there was a backward pass since the last step."""
        return self._passes != TAPES.replays

    def clear_others(self, parameters: Sequence[NamedParameter]) -> None:
        """Set the gradients to zero that no backward pass has computed since the last step.

        If there was no pass at all, the next step follows the same gradients.
        """
        for one, version in zip(parameters, self._versions, strict=True):
            if one.tensor is None and one.grad.buffer.contents.version is version:
                dt.zero_grads(one.field)

    def used(self, parameters: Sequence[NamedParameter]) -> tuple[list[bool], bool]:
        """Return what of this lasts in another process, where versions mean nothing.

        Returns:
            Which gradients a step has used, and whether no pass has run since.
        """
        now = [one.grad.buffer.contents.version for one in parameters]
        used = [a is b for a, b in zip(self._versions, now, strict=True)]
        return used, self._passes == TAPES.replays

    @staticmethod
    def known(
        parameters: Sequence[NamedParameter], used: tuple[list[bool], bool]
    ) -> FreshGradients:
        """Return what `used` has told of these parameters."""
        made = FreshGradients(parameters)
        made._versions = [a if b else None for a, b in zip(made._versions, used[0], strict=True)]
        if not used[1]:
            made._passes = -1
        return made
