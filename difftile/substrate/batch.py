"""Launches of a device that start together: a sequence of kernels that comes again is one graph.

Inside a batch, launches wait. They start at its end, and earlier where memory of the device is used
otherwise: what reads, writes or fills it calls `start_launches` first. So a batch changes when
launches run, and never their order. A graph knows the kernels of a sequence; buffers and numbers
are its arguments, so that it serves other fields and other numbers as well.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

_MOST_TASKS = 128  # of one graph; the device runs it while Python notes the next launches
_FEWEST_TASKS = 4  # of one graph, to be worth the copy of its arguments
_MOST_GRAPHS = 128  # of a session


class Launchable(Protocol):
    """A kernel whose launches can wait.

    Attributes:
        number: Identifies the kernel in the process.
        tasks: About how many tasks of the device one launch is.
    """

    number: int
    tasks: int

    def start(self, args: Sequence[Any]) -> None:
        """Launch at once."""
        ...

    def packed(self, args: Sequence[Any]) -> bytes | None:
        """Return the arguments as tasks read them; None where only a launch can pass them."""
        ...


Launches: TypeAlias = Sequence[tuple[Launchable, tuple[Any, ...]]]


class Graph(Protocol):
    """A sequence of kernels as one launch."""

    def launch(self, arguments: Sequence[bytes]) -> None:
        """Run the kernels, each on its own arguments.

        Raises:
            RuntimeError: The driver, or earlier work on the device, has failed.
        """
        ...


class Graphs(Protocol):
    """The making of graphs, by a backend that can."""

    def make(self, launches: Launches) -> Graph | None:
        """Return a graph of the kernels of some launches, which are not run.

        Each has run before. None if one of them does what a graph cannot.
        """
        ...


class Batches:
    """The graphs of a session, by their sequences of kernels.

    Making a graph takes longer than the launches, so a sequence becomes one when it is seen for the
    second time.

    Args:
        graphs: Makes them.
    """

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs
        self._known: OrderedDict[tuple[int, ...], Graph | None] = OrderedDict()
        self._seen: OrderedDict[tuple[int, ...], None] = OrderedDict()

    def start(self, launches: Launches) -> None:
        """Run launches in their order."""
        graph = self._graph(launches)
        if graph is not None:
            packed = [kernel.packed(args) for kernel, args in launches]
            arguments = [one for one in packed if one is not None]
            if len(arguments) == len(packed):
                graph.launch(arguments)
                return
        for kernel, args in launches:
            kernel.start(args)

    def _graph(self, launches: Launches) -> Graph | None:
        if sum(kernel.tasks for kernel, _ in launches) < _FEWEST_TASKS:
            return None
        key = tuple([kernel.number for kernel, _ in launches])
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if key not in self._seen:
            _remember(self._seen, key, None)
            return None
        graph = self._graphs.make(launches)
        _remember(self._known, key, graph)
        return graph


def _remember(known: OrderedDict[tuple[int, ...], Any], key: tuple[int, ...], value: Any) -> None:
    known[key] = value
    if len(known) > _MOST_GRAPHS:
        known.popitem(last=False)


class Batch:
    """Launches that wait.

    Args:
        batches: The graphs of the session.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._launches: list[tuple[Launchable, tuple[Any, ...]]] = []
        self._tasks = 0

    def add(self, kernel: Launchable, args: Sequence[Any]) -> None:
        """Note a launch; the arguments live until it has started."""
        self._launches.append((kernel, tuple(args)))
        self._tasks += kernel.tasks
        if self._tasks >= _MOST_TASKS:
            self.start()

    def start(self) -> None:
        """Run the launches that wait."""
        if self._launches:
            launches, self._launches, self._tasks = self._launches, [], 0
            self._batches.start(launches)


class _Open(threading.local):
    """The open batch of a thread."""

    batch: Batch | None = None


OPEN = _Open()


@contextmanager
def batch_of(batches: Batches | None) -> Generator[None]:
    """Let launches in the block wait for each other, unless there are no graphs.

    Args:
        batches: The graphs of the session; None where it has none.
    """
    if batches is None or OPEN.batch is not None:
        yield
        return
    batch = OPEN.batch = Batch(batches)
    try:
        yield
    finally:
        OPEN.batch = None
        batch.start()


@contextmanager
def apart() -> Generator[None]:
    """Run the launches that wait, and let launches in the block run at once.

    For code of others, which looks at memory of the device without asking for it.
    """
    batch = OPEN.batch
    start_launches()
    OPEN.batch = None
    try:
        yield
    finally:
        OPEN.batch = batch


def start_launches() -> None:
    """Run the launches of this thread that wait, before memory of the device is used otherwise."""
    if OPEN.batch is not None:
        OPEN.batch.start()
