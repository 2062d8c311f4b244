"""Implement ``k.forall(n)(…)``: launch a thread for each of n elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Protocol

from pycu2c.base.diagnostics import LaunchError
from pycu2c.declarations.options import Options
from pycu2c.kernels.launcher import Launcher
from pycu2c.kernels.traced_launch import untraced

P = ParamSpec("P")


class Configurable(Protocol[P]):
    """The part of ``Kernel`` that ``ForAll`` uses."""

    @property
    def name(self) -> str: ...
    @property
    def launcher(self) -> Launcher: ...
    @property
    def block(self) -> tuple[int, int, int] | None: ...
    @property
    def options(self) -> Options: ...
    @property
    def shared_memory(self) -> int: ...
    def __getitem__(self, configuration: object, /) -> Callable[P, None]: ...


class ForAll(Generic[P]):
    """A kernel with a number of elements; call it with the kernel's arguments.

    Blocks have one axis. Their size is ``threads``, or else the size of the declared block, or else
    the one with the best occupancy of the GPU, or 256 threads on the CPU.
    """

    __slots__ = ("_kernel", "_n", "_shared", "_stream", "_threads")

    def __init__(
        self,
        kernel: Configurable[P],
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
