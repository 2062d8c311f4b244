"""``k.forall(n)(…)``: a launch with a thread for each of n elements, in blocks chosen for it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Protocol

from pycu2c.base.diagnostics import LaunchError
from pycu2c.declarations.options import Options
from pycu2c.kernels.launcher import Launcher

P = ParamSpec("P")


class Configurable(Protocol[P]):
    """A kernel."""

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
    """Call it with the kernel's arguments. Blocks have one axis, and as many threads as the kernel
    declares; or, on a GPU, such that a multiprocessor holds as many as it can; or 256."""

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

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> None:
        if not self._n:
            return
        threads = self._threads or self._chosen(arguments, named)
        (along, *_), blocks = self._kernel.options.cluster or (1,), -(-self._n // threads)
        blocks = -(-blocks // along) * along
        configuration: tuple[Any, ...] = (blocks, threads)
        if self._stream is not None or self._shared:
            configuration = (blocks, threads, self._stream, self._shared)
        self._kernel[configuration](*arguments, **named)

    def _chosen(self, arguments: tuple[object, ...], named: dict[str, Any]) -> int:
        launcher, declared = self._kernel.launcher, self._kernel.block
        if declared is not None:
            return declared[0] * declared[1] * declared[2]
        signature = launcher.signature_of(launcher.values(arguments, named))
        return launcher.best_block(signature, self._shared)


def _count(given: object, what: str, kernel: str) -> int:
    try:
        count = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < 0:
        raise LaunchError(f"{kernel}.forall takes {what}, not {given!r}")
    return count
