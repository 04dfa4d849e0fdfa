"""Sequences of launches as graphs of CUDA's driver.

Quadrants launches the tasks of a kernel one by one: it copies the arguments to the device and calls
the driver for each task. A launch is captured once, without running, to learn from the driver the
function and grid of each of its tasks, and what it passes them: a context by value, whose first
pointer is the memory of the arguments. A graph has the tasks of many launches one after the other,
and one memory for all arguments. Its launch is a copy to there and a call of the driver, and other
arguments need no other graph.

Arguments are packed as in C: of an array the sizes and the address, then the next argument at its
alignment. The captured copy is compared with that; where they differ, the kernel is launched as
ever.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from difftile.substrate.batch import Graph, Launches
from difftile.substrate.family.cuda import Allocation, Driver, current_stream, driver
from difftile.substrate.lock import LOCK
from difftile.substrate.quadrants import private

_KERNEL, _COPY, _ALLOCATION, _FREE = 0, 1, 10, 11  # types of nodes
_FROM_HOST = 1  # a type of memory
_NON_BLOCKING = 1  # a stream that does not wait for the null stream
_RELAXED = 2  # a capture during which other threads may call what they like
_POINTER = 8  # bytes

_Handle = ctypes.c_void_p
_Handles = ctypes.POINTER(ctypes.c_void_p)
_Count = ctypes.POINTER(ctypes.c_size_t)


class _KernelNode(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS of version 2."""

    _fields_ = (
        ("function", _Handle),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("params", _Handles),
        ("extra", _Handle),
        ("kernel", _Handle),
        ("context", _Handle),
    )


class _Place(ctypes.Structure):
    """One half of CUDA_MEMCPY3D: where a copy comes from, or goes."""

    _fields_ = (
        ("x", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("z", ctypes.c_size_t),
        ("level", ctypes.c_size_t),
        ("type", ctypes.c_uint),
        ("host", _Handle),
        ("device", ctypes.c_uint64),
        ("array", _Handle),
        ("reserved", _Handle),
        ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class _CopyNode(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = (
        ("source", _Place),
        ("target", _Place),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    )


_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuStreamCreate": (_Handles, ctypes.c_uint),
    "cuStreamDestroy_v2": (_Handle,),
    "cuStreamBeginCapture_v2": (_Handle, ctypes.c_int),
    "cuStreamEndCapture": (_Handle, _Handles),
    "cuGraphCreate": (_Handles, ctypes.c_uint),
    "cuGraphDestroy": (_Handle,),
    "cuGraphGetNodes": (_Handle, _Handles, _Count),
    "cuGraphGetEdges": (_Handle, _Handles, _Handles, _Count),
    "cuGraphNodeGetType": (_Handle, ctypes.POINTER(ctypes.c_int)),
    "cuGraphKernelNodeGetParams_v2": (_Handle, ctypes.POINTER(_KernelNode)),
    "cuGraphMemcpyNodeGetParams": (_Handle, ctypes.POINTER(_CopyNode)),
    "cuFuncGetParamInfo": (_Handle, ctypes.c_size_t, _Count, _Count),
    "cuGraphAddKernelNode_v2": (
        _Handles,
        _Handle,
        _Handles,
        ctypes.c_size_t,
        ctypes.POINTER(_KernelNode),
    ),
    "cuGraphInstantiateWithFlags": (_Handles, _Handle, ctypes.c_ulonglong),
    "cuGraphLaunch": (_Handle, _Handle),
    "cuGraphExecDestroy": (_Handle,),
}


class _GraphNode(NamedTuple):
    """A kernel of CUDA, as a launch starts it.

    Args:
        function: The driver's function.
        grid: How many blocks there are along each axis.
        block: How many threads each block has along each axis.
        shared: The dynamic shared memory of a block [bytes].
        context: What it is passed by value; begins with the address of the arguments.
    """

    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    context: bytes


class _Code(NamedTuple):
    """A captured launch.

    Args:
        tasks: The tasks, in their order.
        nbytes: The size of the packed arguments.
    """

    tasks: tuple[_GraphNode, ...]
    nbytes: int


class _NotCaptured(Exception):
    """A launch does something that a graph of ours has no node for."""


class TaskGraphs:
    """Makes graphs of the tasks of a session's kernels.

    Args:
        driver: The driver.
        set_stream: Sets the stream on which the calling thread launches.
    """

    def __init__(self, driver: Driver, set_stream: Callable[[int], None]) -> None:
        self._driver = driver
        self._set_stream = set_stream
        self._codes: dict[int, _Code | None] = {}
        stream = _Handle()
        driver.enter()
        driver.call("cuStreamCreate", ctypes.byref(stream), _NON_BLOCKING)
        self._stream = stream

    def __del__(self) -> None:
        if hasattr(self, "_stream"):
            self._driver.enter()
            self._driver.call("cuStreamDestroy_v2", self._stream)

    def make(self, launches: Launches) -> Graph | None:
        """Return a graph of the kernels of some launches; None if one of them has no code here."""
        codes: list[_Code] = []
        with LOCK:
            self._driver.enter()
            for kernel, args in launches:
                if kernel.number not in self._codes:
                    self._codes[kernel.number] = self._captured(kernel, args)
                code = self._codes[kernel.number]
                if code is None:
                    return None
                codes.append(code)
            return TaskGraph(self._driver, codes)

    def _captured(self, kernel: Any, args: Sequence[Any]) -> _Code | None:
        packed = kernel.packed(args)
        if packed is None:
            return None
        launch, context = kernel.prepared(args)  # the copy of the arguments reads the context
        graph = _Handle()
        call = self._driver.call
        self._set_stream(self._stream.value or 0)
        try:
            call("cuStreamBeginCapture_v2", self._stream, _RELAXED)
            try:
                launch(context)
            finally:
                call("cuStreamEndCapture", self._stream, ctypes.byref(graph))
            return self._read(graph, packed)
        except (RuntimeError, _NotCaptured):
            return None
        finally:
            self._set_stream(current_stream() or 0)
            if graph.value:
                call("cuGraphDestroy", graph)

    def _read(self, graph: _Handle, packed: bytes) -> _Code:
        """Return the tasks of a captured launch.

        Raises:
            _NotCaptured: It has other parts than tasks, or takes its arguments otherwise.
        """
        tasks: list[_GraphNode] = []
        given = b""
        for node in self._in_order(graph):
            kind = ctypes.c_int()
            self._driver.call("cuGraphNodeGetType", node, ctypes.byref(kind))
            if kind.value == _KERNEL:
                tasks.append(self._task(node))
            elif kind.value == _COPY and not given:
                given = self._source(node)
            elif kind.value not in (_ALLOCATION, _FREE):
                raise _NotCaptured
        if not tasks or len(packed) - len(given) not in range(_POINTER):
            raise _NotCaptured
        if packed != given.ljust(len(packed), b"\0"):
            raise _NotCaptured
        return _Code(tuple(tasks), len(packed))

    def _in_order(self, graph: _Handle) -> list[int]:
        """Return the nodes of a graph in which each one waits for the node before.

        Raises:
            _NotCaptured: Some do not.
        """
        count = ctypes.c_size_t()
        self._driver.call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        nodes = (_Handle * count.value)()
        self._driver.call("cuGraphGetNodes", graph, nodes, ctypes.byref(count))
        self._driver.call("cuGraphGetEdges", graph, None, None, ctypes.byref(count))
        if count.value != len(nodes) - 1:
            raise _NotCaptured
        sources, targets = (_Handle * count.value)(), (_Handle * count.value)()
        if count.value:
            self._driver.call("cuGraphGetEdges", graph, sources, targets, ctypes.byref(count))
        following = dict(zip(sources, targets, strict=True))
        [first] = set(nodes) - set(targets)
        ordered = [first]
        while ordered[-1] in following:
            ordered.append(following[ordered[-1]])
        if len(ordered) != len(nodes):
            raise _NotCaptured
        return ordered

    def _task(self, node: int) -> _GraphNode:
        params = _KernelNode()
        self._driver.call("cuGraphKernelNodeGetParams_v2", node, ctypes.byref(params))
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        function = params.function
        parts = ctypes.byref(offset), ctypes.byref(size)
        self._driver.call("cuFuncGetParamInfo", function, 0, *parts)
        context = ctypes.string_at(params.params[0], size.value)
        try:
            self._driver.call("cuFuncGetParamInfo", function, 1, *parts)
        except RuntimeError:  # there is no second parameter
            grid, block = tuple(params.grid), tuple(params.block)
            return _GraphNode(function, grid, block, params.shared, context)
        raise _NotCaptured

    def _source(self, node: int) -> bytes:
        """Return the bytes that a copy from the host takes."""
        copy = _CopyNode()
        self._driver.call("cuGraphMemcpyNodeGetParams", node, ctypes.byref(copy))
        source = copy.source
        if source.type != _FROM_HOST or copy.height != 1 or copy.depth != 1 or source.x:
            raise _NotCaptured
        return ctypes.string_at(source.host, copy.width)


class TaskGraph:
    """The tasks of a sequence of launches, as a graph that is ready to be launched.

    Args:
        driver: The driver.
        codes: The captured launches.
    """

    def __init__(self, driver: Driver, codes: Sequence[_Code]) -> None:
        self._driver = driver
        nbytes = sum(code.nbytes for code in codes)
        self._memory = Allocation(driver, nbytes) if nbytes else None
        self._held = b""  # the arguments in the memory
        self._executable = _Handle()
        graph = _Handle()
        driver.call("cuGraphCreate", ctypes.byref(graph), 0)
        try:
            self._add(graph, codes)
            made = ctypes.byref(self._executable)
            driver.call("cuGraphInstantiateWithFlags", made, graph, 0)
        finally:
            driver.call("cuGraphDestroy", graph)

    def _add(self, graph: _Handle, codes: Sequence[_Code]) -> None:
        call = self._driver.call
        address = 0 if self._memory is None else self._memory.address
        before, node = (_Handle * 1)(), _Handle()
        for code in codes:
            for task in code.tasks:
                own = address.to_bytes(_POINTER, "little") if code.nbytes else task.context[:8]
                context = ctypes.create_string_buffer(own + task.context[8:], len(task.context))
                params = (_Handle * 1)(ctypes.addressof(context))
                given = _KernelNode(
                    function=task.function,
                    grid=task.grid,
                    block=task.block,
                    shared=task.shared,
                    params=ctypes.cast(params, _Handles),
                )
                waits = 1 if before[0] else 0
                call(
                    "cuGraphAddKernelNode_v2",
                    ctypes.byref(node),
                    graph,
                    before if waits else None,
                    waits,
                    ctypes.byref(given),
                )
                before[0] = node.value
            address += code.nbytes

    def __del__(self) -> None:
        if getattr(self, "_executable", None):
            self._driver.enter()
            self._driver.call("cuGraphExecDestroy", self._executable)

    def launch(self, arguments: Sequence[bytes]) -> None:
        """Run the tasks of each launch on its own arguments."""
        self._driver.enter()
        given, stream = b"".join(arguments), current_stream()
        if self._memory is not None and given != self._held:
            # From memory that is not pinned, and so is read before the call returns.
            self._held = b""
            target = self._memory.address
            self._driver.call("cuMemcpyHtoDAsync_v2", target, given, len(given), stream)
            self._held = given
        self._driver.call("cuGraphLaunch", self._executable, stream)


def graphs_of_session() -> TaskGraphs | None:
    """Return what makes graphs on the device that was started; None where the driver cannot."""
    found = driver()
    if found is None:
        return None
    try:
        found.declare(_SIGNATURES)
    except AttributeError:
        return None
    program: Any = private.impl.get_runtime().prog
    return TaskGraphs(found, program.set_current_cuda_stream)
