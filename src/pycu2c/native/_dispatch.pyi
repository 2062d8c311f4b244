"""The C extension (module.c)."""

from typing import Any, Generic, ParamSpec

import numpy as np

P = ParamSpec("P")

INTERFACE: int
MAX_AXES: int
MAX_ENTRIES: int
INDEX32_LIMIT: int
BLOCKS32_LIMIT: int
HEADER_SIZE: int
HEADER_BLOCK_OFFSET: int
HEADER_SHARED_BYTES_OFFSET: int

class LaunchConfiguration:
    def __new__(
        cls,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared_bytes: int,
        stream: object,
        handle: int,
        ordered: bool,
        /,
    ) -> LaunchConfiguration: ...

class DispatchTableBase:
    compared: tuple[object, ...]
    def __init__(
        self, kernel: str, names: tuple[str, ...], defaults: dict[str, object], positional: int, /
    ) -> None: ...
    def add(self, entry: object, /) -> bool: ...
    def launch(
        self, configuration: LaunchConfiguration, arguments: tuple[object, ...], /
    ) -> bool: ...
    def take_latest(self) -> Any: ...

class TableReference:
    table: DispatchTableBase | None

class ConfiguredBase(Generic[P]):
    _launches: Any
    _configuration: LaunchConfiguration
    def __init__(self, launches: TableReference, configuration: LaunchConfiguration, /) -> None: ...
    def __call__(self, *arguments: P.args, **named: P.kwargs) -> None: ...

class KernelBase(Generic[P]):
    _own: Any
    _configured: dict[object, Any]
    def __call__(self, *arguments: P.args, **named: P.kwargs) -> None: ...
    def __getitem__(self, configuration: object) -> Any: ...

class TunedBase:
    _positions: tuple[int, ...]
    _configured: dict[Any, Any]
    def __call__(self, *arguments: object, **named: object) -> None: ...

class DeviceArrayBase:
    def __init__(
        self,
        address: int,
        device: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: np.dtype[Any],
        writeable: bool,
        c_contiguous: bool,
        /,
    ) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def writeable(self) -> bool: ...
    @property
    def _c_contiguous(self) -> bool: ...
    _unwritten: bool

class StagingBuffer:
    def __new__(
        cls,
        memory: object,
        size: int,
        device: int,
        host: int,
        copy_to_device: int,
        copy_to_host: int,
        synchronize: int,
        /,
    ) -> StagingBuffer: ...

class LaunchSequence:
    def __new__(cls, launches: tuple[tuple[int, int, bytes, int], ...], /) -> LaunchSequence: ...
    def run(self) -> tuple[int, int] | None: ...

def suspend() -> None: ...
def resume() -> None: ...
def recent_kernels() -> list[str]: ...
