"""Define the class of kernels, and the launches that they make."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias

from pycu2c.base.backends import BACKENDS
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.numba_typing import reject_kernel
from pycu2c.base.source import Source
from pycu2c.base.types import Signature
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.kernels.configured_kernel import (
    Configured,
    Launches,
    P,
    checked_request,
    key_of,
    untraced,
)
from pycu2c.kernels.decorated_functions import check_subset, parse_declared, source_of
from pycu2c.kernels.kernel_inspection import InspectedKernel
from pycu2c.kernels.kernel_pickling import Pickled
from pycu2c.kernels.launcher import Launcher
from pycu2c.native.extension import KernelBase
from pycu2c.runtime.arguments import record_references
from pycu2c.runtime.launch_configuration import Dims, LaunchRequest, shared_size

Backend: TypeAlias = 'Literal["auto", "cuda", "cpu", "cpu-resumable", "python"]'
_MAX_CONFIGURED = 256  # configurations that a kernel caches


class Kernel(KernelBase[P], InspectedKernel, Pickled):
    """A kernel: ``k[grid, block](arguments)`` launches it on a grid of threads.

    ``k[grid, block, stream, bytes]`` selects a stream, and the bytes of dynamic shared memory of a
    block. The kernel is compiled at the first launch with each combination of argument types, or
    earlier by ``prepare``. ``k(arguments)`` launches with the grid and block of the decorator.
    Without a grid there, it is inferred from the lengths that ``cuda.grid`` is compared with.
    ``kernel`` creates kernels.

    Attributes
    ----------
    name : str
        The name of the function.
    python : function
        The Python function.
    grid, block : tuple of int or None
        The declared launch configuration, along x, y and z.
    backend : str
        The back end of launches.

    Raises
    ------
    LaunchError
        By launches with an invalid configuration or invalid arguments.
    CompileError
        By the first launch with argument types that the kernel does not support.
    """

    __slots__ = ("__dict__", "__weakref__")
    __pycu2c_kernel__ = True  # for the error about a call in another kernel
    _may_return_value = False  # whether kernels may call it as a device function
    _numba_type_ = property(reject_kernel)

    def __init__(
        self,
        function: FunctionType,
        *,
        grid: Dims | None = None,
        block: Dims | None = None,
        shared_memory: int = 0,
        signature: object = None,
        backend: Backend = "auto",
        cache: bool = True,
        options: Options = DEFAULT_OPTIONS,
    ) -> None:
        self.source = self._read(function)
        functools.update_wrapper(self, function)
        self.name = function.__name__
        self.python = function
        if backend not in BACKENDS:
            raise ValueError(f"backend is one of {', '.join(BACKENDS)}, not {backend!r}")
        self.backend = backend
        self.shared_memory = shared_size(shared_memory, self.name)
        self.options = options
        request = self._launch_request(grid, block, None, self.shared_memory)
        self.grid, self.block = request.grid, request.block
        check_subset(self.source, may_return_value=self._may_return_value)
        self.declared = tuple(
            record_references.with_references(declared)
            for declared in parse_declared(self.source, signature, is_kernel=True)
        )
        self._launches = Launches(Launcher(self.source, self.declared, backend, cache, options))
        self._configured = {}
        self._own = self._without_configuration(request)
        for declared in self.declared:
            self.launcher.typed_kernel(declared)

    def _launch_request(
        self, grid: object, block: object, stream: object, shared: int
    ) -> LaunchRequest:
        """Return a checked launch configuration; None for a grid or block to infer."""
        return checked_request(self.name, self.options, grid, block, stream, shared)

    def _without_configuration(self, request: LaunchRequest) -> Configured[P]:
        """Return the launch of a call without ``[grid, block]``."""
        return Configured(self._launches, request)

    @staticmethod
    def _read(function: FunctionType) -> Source:
        return source_of(function)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def _pickled_state(self) -> dict[str, Any]:
        """Return the arguments of ``__init__``."""
        return {
            "function": self.python,
            "grid": self.grid,
            "block": self.block,
            "shared_memory": self.shared_memory,
            "signature": list(self.declared),
            "backend": self.backend,
            "cache": self.launcher.cache,
            "options": self.options,
        }

    def _unpickled_from(self, state: dict[str, Any]) -> None:
        type(self).__init__(self, **state)

    @property
    def signature(self) -> Signature | None:
        """The declared signature; None if there is none, or more than one."""
        return self.declared[0] if len(self.declared) == 1 else None

    def recompile(self) -> None:
        """Read globals and closures again: compiled code contains their values as constants."""
        self._launches.reset()
        for declared in self.declared:
            self.launcher.compiler.build(declared)

    # ---- launches ----

    if TYPE_CHECKING:  # methods of the base class

        def __getitem__(self, configuration: object) -> Configured[P]: ...

        def __call__(self, *arguments: P.args, **named: P.kwargs) -> None: ...

    def _configured_as(self, configuration: object) -> Configured[P]:
        """Return ``k[grid, block]``; a stream and the bytes of shared memory may follow.

        ``k[grid]`` is possible if the block is declared.
        """
        key = key_of(configuration)
        configured: Configured[P] | None = self._configured.get(key)
        if configured is None:
            configured = Configured(self._launches, self._request_of(configuration))
            if key is not None:
                if len(self._configured) >= _MAX_CONFIGURED:
                    self._configured = {}
                self._configured[key] = configured
        return configured

    def _with_declared_block(self, configuration: object) -> tuple[object, ...]:
        """Return grid, block, stream and bytes; add the declared block to a grid alone."""
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if self.block is None:
            return parts
        if (
            len(parts) == 2
            and self.block[1:] != (1, 1)
            and not any(isinstance(part, (tuple, list)) for part in parts)
        ):
            x, y = parts
            raise LaunchError(
                f"{self.name}[{x}, {y}] is a grid of {x} and a block of {y}, and the block of "
                f"{self.name} is declared as {self.block}: for a grid of {x} by {y} write "
                f"{self.name}[({x}, {y}),], for another block {self.name}[{x}, ({y},)]"
            )
        return (*parts, self.block) if len(parts) == 1 else parts

    def _request_of(self, configuration: object) -> LaunchRequest:
        parts = self._with_declared_block(configuration)
        if not 2 <= len(parts) <= 4:
            raise LaunchError(
                f"{self.name}: write {self.name}[grid, block] or "
                f"{self.name}[grid, block, stream, shared_bytes]"
            )
        if len(parts) == 2:
            return self._launch_request(parts[0], parts[1], None, self.shared_memory)
        extents = self._configured_as(parts[:2])._request
        shared = shared_size(parts[3], self.name) if len(parts) > 3 else self.shared_memory
        return LaunchRequest(extents.grid, extents.block, parts[2], shared)

    def forall(
        self, n: int, threads: int = 0, stream: object = None, shared: int | None = None
    ) -> ForAll[P]:
        """Return a launch with a thread for each of n elements: ``k.forall(n)(…)``.

        Parameters
        ----------
        n : int
            The number of elements; for 0 nothing is launched.
        threads : int, optional
            Threads of a block, which has one axis. 0 is the size of the declared block, or else the
            size with the best occupancy of the GPU.
        stream : Stream or object, optional
            The stream of the launch.
        shared : int, optional
            Bytes of dynamic shared memory; by default those of the decorator.

        Returns
        -------
        ForAll
            The launch; call it with the arguments.

        Raises
        ------
        LaunchError
            If a number is negative or not an integer.
        """
        return ForAll(self, n, threads, stream, shared)


class ForAll(Generic[P]):
    """A kernel with a number of elements; call it with the kernel's arguments.

    Blocks have one axis. Their size is ``threads``, or else the size of the declared block, or else
    the one with the best occupancy of the GPU, or 256 threads on the CPU.
    """

    __slots__ = ("_kernel", "_n", "_shared", "_stream", "_threads")

    def __init__(
        self,
        kernel: Kernel[P],
        n: object,
        threads: object,
        stream: object,
        shared: int | None,
    ) -> None:
        self._kernel, self._stream = kernel, stream
        self._shared = kernel.shared_memory if shared is None else shared
        self._n = _count(n, "a number of elements", kernel.name)
        self._threads = _count(threads, "a number of threads", kernel.name)

    @property
    def __call__(self) -> Callable[P, None]:
        """Launch the kernel with its arguments."""
        return untraced(self._launch, self._kernel.name)

    def _launch(self, *arguments: P.args, **named: P.kwargs) -> None:
        if not self._n:
            return
        threads = self._threads or self._default_threads(arguments, named)
        cluster = (self._kernel.options.cluster or (1,))[0]
        blocks = -(-self._n // (threads * cluster)) * cluster
        configuration: tuple[Any, ...] = (blocks, threads)
        if self._stream is not None or self._shared:
            configuration = (blocks, threads, self._stream, self._shared)
        self._kernel[configuration](*arguments, **named)

    def _default_threads(self, arguments: tuple[object, ...], named: dict[str, Any]) -> int:
        launcher, declared = self._kernel.launcher, self._kernel.block
        if declared is not None:
            return math.prod(declared)
        signature = launcher.signature_of(launcher.bind(arguments, named))
        return launcher.best_block(signature, self._shared)


def _count(number: object, expected: str, kernel: str) -> int:
    try:
        count = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < 0:
        raise LaunchError(f"{kernel}.forall takes {expected}, not {number!r}")
    return count
