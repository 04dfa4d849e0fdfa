"""Graphs of torch's autograd: the memory that they keep, and their leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from difftile.torch.library import Tensor, torch


def _nodes(outputs: Sequence[Tensor]) -> Iterator[Any]:
    """Yield the nodes of the graph of some tensors."""
    waiting = [one.grad_fn for one in outputs if one.grad_fn is not None]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        yield node
        for other, _ in node.next_functions:
            if other is not None and other not in seen:
                seen.add(other)
                waiting.append(other)


def graph_nbytes(outputs: Sequence[Tensor], known: Sequence[Tensor]) -> int:
    """Return the bytes of the tensors that a graph keeps for its backward.

    Args:
        outputs: The tensors at the end of the graph.
        known: Tensors whose memory does not count, such as inputs.
    """
    leaves = [node.variable for node in _nodes(outputs) if hasattr(node, "variable")]
    counted = {one.untyped_storage().data_ptr() for one in (*known, *leaves)}
    total = 0
    for node in _nodes(outputs):
        saved = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
        saved += getattr(node, "saved_tensors", ())
        for one in saved:
            if not isinstance(one, torch.Tensor) or one.layout is not torch.strided:
                continue
            memory = one.untyped_storage()
            if memory.data_ptr() not in counted:
                counted.add(memory.data_ptr())
                total += memory.nbytes()
    return total


def other_leaves(outputs: Sequence[Tensor], own: Sequence[Tensor]) -> list[Tensor]:
    """Return the leaves of a graph that take gradients, such as parameters, except the given."""
    ends = [node.variable for node in _nodes(outputs) if hasattr(node, "variable")]
    ends += [one for one in outputs if one.grad_fn is None and one.requires_grad]
    return [one for one in ends if all(one is not other for other in own)]
