"""A kernel with its launch configuration, ``k[grid, block]``, and the state they all share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

from pycu2c.base.diagnostics import CompileError, LaunchError, LaunchWarning, warn
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options
from pycu2c.kernels.launcher import Launcher
from pycu2c.native.extension import ConfiguredBase, TableReference
from pycu2c.runtime.cuda import memory
from pycu2c.runtime.launch_configuration import (
    CACHEABLE_STREAM_TYPES,
    LaunchRequest,
    check_bounds,
    check_clusters,
    extent,
)

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])


def untraced(function: F, kernel: str) -> F:
    """Return a function for one call, which ``torch.compile`` does not trace.

    A launch breaks the graph of a function that is traced. The tracer then starts anew with each
    Python function that is called, and it cannot trace the slow path of a launch. Warns of the
    graph break. The caller must have no tensors in its variables, so that the tracer skips it.
    """
    tracer: Any = sys.modules.get("torch._C._dynamo.eval_frame")
    if tracer is None or not callable(tracer.get_eval_frame_callback()):
        return function
    warn(
        f"{kernel} is launched in a function that torch.compile compiles, which breaks its graph: "
        "call an operator of the kernel, which pycu2c.torch.op(…) makes",
        LaunchWarning,
    )
    untraced: F = sys.modules["torch"].compiler.disable(function)
    return untraced


class Launches(TableReference):
    """The launcher and the dispatch table of a kernel, which its configurations share."""

    __slots__ = ("launcher",)

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher

    def reset(self) -> None:
        """Forget all compiled code."""
        self.launcher, self.table = self.launcher.without_code(), None


class Configured(ConfiguredBase[P]):
    """A kernel with its grid and block, ``k[grid, block]``; call it with the arguments of the
    kernel.

    Raises
    ------
    LaunchError
        By calls with invalid arguments.
    CompileError
        By the first call with argument types that the kernel does not support.
    """

    __slots__ = ("_request",)
    _launches: Launches

    def __init__(self, launches: Launches, request: LaunchRequest) -> None:
        self._request, stream = request, request.stream
        if stream is None:
            configuration = request.configuration(0, ordered=True)
        else:
            ordered = memory.in_order_with_default(stream)
            configuration = request.configuration(driver.stream_of(stream), ordered)
        super().__init__(launches, configuration)

    def __repr__(self) -> str:
        request, name = self._request, self._launches.launcher.name
        stream = "" if request.stream is None else f", stream {request.stream!r}"
        return f"<kernel {name}, grid {request.grid}, block {request.block}{stream}>"

    def __copy__(self) -> Configured[P]:
        return self

    def __deepcopy__(self, memo: object) -> Configured[P]:
        return self

    def __reduce__(self) -> NoReturn:
        name = self._launches.launcher.name
        raise TypeError(f"{name}[grid, block] cannot be pickled: pickle {name}")

    @property
    def _launch_slow(self) -> Callable[P, None]:
        """Launch by the Python slow path."""
        return untraced(self._launch, self._launches.launcher.name)

    def _launch(self, *arguments: P.args, **named: P.kwargs) -> None:
        """Launch and record the launch in the dispatch table."""
        launches = self._launches
        launcher = launches.launcher
        try:
            values = launcher.bind(arguments, named)
            launcher.launch(self._configuration, self._request, values)
        except (CompileError, LaunchError) as error:
            __tracebackhide__ = True  # pytest and IPython show the caller's line only
            raise error.with_traceback(None) from error.__cause__  # the message has the location
        launches.table = launcher.table_for_calls


def checked_request(
    kernel: str, options: Options, grid: object, block: object, stream: object, shared: int
) -> LaunchRequest:
    """Return a checked launch configuration; None for a grid or block to infer."""
    blocks = None if grid is None else extent(grid, "grid", kernel)
    threads = None if block is None else extent(block, "block", kernel)
    if threads is not None:
        check_bounds(threads, options.launch_bounds, kernel)
    if blocks is not None:
        check_clusters(blocks, options.cluster, kernel)
    return LaunchRequest(blocks, threads, stream, shared)


def key_of(configuration: Any) -> object:
    """Return a dictionary key that distinguishes 4 from 4.0, which is an error as an extent.

    If all extents are ints it is the configuration itself, which C looks up (native/callables.c).
    None for configurations that are not cached: invalid ones, lists, and those with a stream of
    another package, which would be kept alive.
    """
    if type(configuration) is not tuple or len(configuration) < 2:
        return None
    grid, block, *rest = configuration
    if rest and type(rest[0]) not in CACHEABLE_STREAM_TYPES:
        return None
    types = [_extent_type(grid), _extent_type(block), *map(type, rest[1:])]
    key = configuration if all(t is int for t in types) else (configuration, *types)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _extent_type(extent: object) -> object:
    """Return ``int`` for an int or a tuple of ints, else the type or types."""
    if type(extent) is not tuple:
        return type(extent)
    types = tuple(map(type, extent))
    return int if all(t is int for t in types) else types
