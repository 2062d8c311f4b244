"""Python classes in place of those of the C extension: no dispatch table, only the slow path."""

from __future__ import annotations

from typing import Any, Generic, ParamSpec

P = ParamSpec("P")


class LaunchConfiguration:
    """The configuration that the dispatch table reads: empty here."""

    __slots__ = ()

    def __init__(self, *_: object) -> None:
        pass


class DispatchTableBase:
    """A dispatch table that accepts no entries."""

    __slots__ = ("compared",)

    def __init__(self, *_: object) -> None:
        pass

    def add(self, entry: object) -> bool:
        """Return False: the table accepts no entries."""
        return False

    def launch(self, configuration: LaunchConfiguration, arguments: tuple[object, ...]) -> bool:
        """Return False: no entry ran the launch."""
        return False

    def take_latest(self) -> None:
        """Return None: no entry has run."""


class TableReference:
    """The dispatch table that the configurations of a kernel share; not used here."""

    table: Any = None


class ConfiguredBase(Generic[P]):
    """A configured kernel, of which each call is passed to ``_launch_slow``."""

    __slots__ = ("_configuration", "_launches")

    def __init__(self, launches: Any, configuration: LaunchConfiguration) -> None:
        self._launches, self._configuration = launches, configuration

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> None:
        self._launch_slow(*arguments, **named)

    def _launch_slow(self, *arguments: P.args, **named: P.kwargs) -> None:
        raise NotImplementedError


class KernelBase(Generic[P]):
    """A kernel: a call launches ``_own``; a subscript returns that of ``_configured_as``."""

    __slots__ = ("_configured", "_own")
    _own: Any

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> None:
        self._own(*arguments, **named)

    def __getitem__(self, key: object) -> Any:
        return self._configured_as(key)

    def _configured_as(self, configuration: object) -> Any:
        raise NotImplementedError


class TunedBase:
    """The launch of a tuned kernel, of which each call is passed to ``_launch_slow``."""

    _positions: tuple[int, ...]
    _configured: dict[Any, Any]

    def __call__(self, *arguments: object, **named: object) -> None:
        self._launch_slow(*arguments, **named)

    def _launch_slow(self, *arguments: object, **named: object) -> None:
        raise NotImplementedError


class DeviceArrayBase:
    """The attributes of an array that launches read."""

    __slots__ = (
        *("_address", "_c_contiguous", "_unwritten"),
        *("device", "dtype", "shape", "strides", "writeable"),
    )

    def __init__(
        self,
        address: int,
        device: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: Any,
        writeable: bool,
        c_contiguous: bool,
    ) -> None:
        self._address, self.device, self.dtype = address, device, dtype
        self.shape, self.strides = shape, strides
        self.writeable, self._c_contiguous = writeable, c_contiguous
        self._unwritten = False

    @property
    def address(self) -> int:
        """Of the first element. Whoever gets it may write the memory."""
        self._unwritten = False
        return self._address

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


class StagingBuffer:
    """Not used: there are no entries of a dispatch table."""


class LaunchSequence:
    """Not used: only the C extension runs launches in sequence."""


def suspend() -> None:
    """Do nothing: every launch takes the slow path."""


def resume() -> None:
    """Do nothing."""


def recent_kernels() -> list[str]:
    """Return an empty list: the dispatch table has started no kernel."""
    return []
