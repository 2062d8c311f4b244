"""The arrays that an instrumented kernel has besides its arguments: findings and shadows."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pycu2c.base.dtypes import INT64, UINT64, DType
from pycu2c.base.errors import environment_setting, parse_count
from pycu2c.checks.decoding import FindingRows, found_offset, is_clear, new_rows
from pycu2c.checks.device_functions import block_clocks
from pycu2c.checks.device_functions.barrier_divergence import ROWS
from pycu2c.checks.device_functions.lane_clocks import ROW_WORDS
from pycu2c.checks.device_functions.shadow_words import CELL_WORDS, MAX_BLOCKS, SYNC_CELL_WORDS
from pycu2c.checks.device_functions.timed_barriers import BARRIER_ENTRIES
from pycu2c.checks.hidden_arrays import (
    ARRIVALS,
    BARRIERS,
    BLOCK_CLOCKS,
    LANES,
    HiddenArray,
)
from pycu2c.checks.instrumentation import InstrumentedKernel
from pycu2c.cuda_driver import driver, libcuda
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.cuda import memory_pool
from pycu2c.runtime.cuda.memory import DeviceMemory, PinnedMemory
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import HiddenArguments

Shapes: TypeAlias = tuple[tuple[int, ...], ...]
_ALIGNED_WORDS = 32
_MAX_PERSISTENT_ON_HOST, _MAX_PERSISTENT_ON_GPU = 1 << 20, 1 << 24  # bytes of shadows


# ---- sizes -------------------------------------------------------------------------------------


def shadow_shapes(kernel: InstrumentedKernel, launch: Launch) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of the shadows of a launch."""
    blocks, size = math.prod(launch.grid), 0
    cell_words = SYNC_CELL_WORDS if BLOCK_CLOCKS in kernel.shadows else CELL_WORDS
    for shadow in kernel.shadows if kernel.sites else ():
        if shadow == BLOCK_CLOCKS:  # the last one
            columns = block_clocks.ENTRIES + 2 * blocks
            is_small = blocks <= MAX_BLOCKS and size + 8 * blocks * columns <= memory_limit()
            yield blocks, columns if is_small else block_clocks.ENTRIES + 2
        else:
            shape = _shape(shadow, launch, cell_words)
            size += 8 * math.prod(shape)
            yield shape


def _shape(shadow: HiddenArray, launch: Launch, cell_words: int) -> tuple[int, ...]:
    blocks, threads = math.prod(launch.grid), math.prod(launch.block)
    if shadow == BARRIERS:
        return blocks, ROWS, 2
    if shadow == ARRIVALS:
        return blocks, threads + (threads + 31) // 32 + BARRIER_ENTRIES, 2
    if shadow == LANES:
        return blocks, threads, ROW_WORDS
    if shadow.region:
        return (-(-shadow.region.size // shadow.unit) * cell_words,)
    size = launch.shared_bytes if shadow.size is None else shadow.size
    return blocks, -(-size // shadow.unit) * cell_words


def has_clocks(kernel: InstrumentedKernel, launch: Launch) -> bool:
    """Return whether the shadows of a launch have an entry for each pair of blocks, if needed."""
    if not kernel.sites or BLOCK_CLOCKS not in kernel.shadows:
        return True
    *_, (blocks, columns) = shadow_shapes(kernel, launch)
    return columns == block_clocks.ENTRIES + 2 * blocks


def starts(shapes: Shapes) -> tuple[int, ...]:
    """Return the first words of arrays in one allocation, and the end; lines of caches differ."""
    sizes = [-(-math.prod(shape) // _ALIGNED_WORDS) * _ALIGNED_WORDS for shape in shapes]
    return tuple(accumulate(sizes, initial=0))


def memory_limit() -> int:
    """Return how many bytes the shadows of a launch may take."""
    return environment_setting("PYCU2C_CHECK_MEMORY", parse_count, "a number of bytes", 1 << 30)


def wait_limit() -> float:
    """Return how many seconds a thread may wait for others on a GPU."""
    allowed = "a number of seconds, more than 0 and less than 1e6"
    return environment_setting("PYCU2C_CHECK_TIMEOUT", _parse_seconds, allowed, 10.0)


def _parse_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e6:
        raise ValueError(text)
    return seconds


def persistent_arrays(
    site_count: int, shapes: Shapes, limit: float, *, on_gpu: bool
) -> PersistentArrays | None:
    """Return arrays for later launches, one at a time; None if the shadows are too large."""
    size = 8 * starts(shapes)[-1]
    if not on_gpu:
        return HostArrays(site_count, shapes) if size <= _MAX_PERSISTENT_ON_HOST else None
    if size > _MAX_PERSISTENT_ON_GPU or not memory_pool.caches_blocks():
        return None
    return _PersistentDeviceArrays(site_count, shapes, limit)


# ---- on the CPU --------------------------------------------------------------------------------


class HostArrays:
    """The arrays of one launch at a time on the CPU.

    rows: the findings. shadows: the words of all shadows.
    """

    __slots__ = ("arguments", "rows", "shadows")

    def __init__(self, site_count: int, shapes: Shapes) -> None:
        self.rows = new_rows(site_count)
        *first, end = starts(shapes)
        self.shadows = np.zeros(end, np.uint64)
        self.arguments = [host_argument(self.rows, INT64)]
        for shape, start in zip(shapes, first):
            words = self.shadows[start : start + math.prod(shape)].reshape(shape)
            self.arguments.append(host_argument(words, UINT64))

    def hidden(self, packed: bytes) -> HiddenArguments:
        """Return what an entry of the dispatch table needs. packed: the parameters of a launch."""
        shadows, found = self.shadows.ctypes.data, self.rows.ctypes.data + found_offset(self.rows)
        return HiddenArguments(packed, shadows, self.shadows.nbytes, found)

    def take_findings(self) -> FindingRows:
        """Return the findings of the launch that has ended, and remove them."""
        rows = self.rows.copy()
        self.rows.fill(0)
        return rows


def host_argument(array: npt.NDArray[Any], dtype: DType) -> ArrayArgument:
    address = array.ctypes.data
    return ArrayArgument(dtype, array.shape, array.strides, address, False, True, "host", array)


# ---- on a GPU ----------------------------------------------------------------------------------


class DeviceFindings:
    """Arrays of findings on GPUs, which no launch uses and which have none."""

    def __init__(self, site_count: int) -> None:
        self._site_count = site_count
        self._unused: defaultdict[tuple[int, float], list[DeviceMemory]] = defaultdict(list)

    @contextmanager
    def arrays(self, shapes: Shapes, limit: float, launch: Launch) -> Iterator[_DeviceArrays]:
        """Yield the arrays of a launch; their findings are copied to the host at the end.

        limit: how many seconds a thread may wait.
        """
        driver.make_current()
        unused = self._unused[driver.current_ordinal(), limit]
        clean = new_rows(self._site_count, limit)
        try:
            memory = unused.pop()
        except IndexError:  # perhaps another thread has the last one
            memory = _copy_of(clean)
        arrays = _DeviceArrays(memory, shapes, clean, launch)
        try:
            yield arrays
        except BaseException:
            memory.used_on(launch.stream)  # the stream may still use what is freed now
            raise
        arrays.copy_findings()
        if is_clear(arrays.rows):
            unused.append(memory)


class _DeviceArrays:
    """The arrays of a launch on a GPU. ``rows``: its findings, on the host."""

    def __init__(
        self, findings: DeviceMemory, shapes: Shapes, clean: FindingRows, launch: Launch
    ) -> None:
        self.rows, self._findings, self._stream = clean, findings, driver.stream_of(launch.stream)
        *_, end = starts(shapes)
        self._shadows = DeviceMemory(8 * end)
        if end:
            self._shadows.used_on(launch.stream)
            driver.fill(self._shadows.address, bytes(4), 2 * end, self._stream)
        self.arguments = _device_arguments(clean, findings, shapes, self._shadows)

    def copy_findings(self) -> None:
        """Copy the state of the launch to ``rows``, and the findings if there are any."""
        *_, state = self.rows
        offset = self.rows.nbytes - state.nbytes
        self._copy_out(state, self._findings.address + offset)
        if not is_clear(self.rows):
            self._copy_out(self.rows, self._findings.address)

    def _copy_out(self, array: npt.NDArray[np.int64], address: int) -> None:
        driver.copy_out(array.ctypes.data, address, array.nbytes, self._stream)
        driver.synchronize(self._stream)


class _PersistentDeviceArrays:
    """The arrays of an entry of the dispatch table on a GPU, which every stream may use."""

    def __init__(self, site_count: int, shapes: Shapes, limit: float) -> None:
        self._clean = new_rows(site_count, limit)
        self._shadows = DeviceMemory(8 * starts(shapes)[-1])
        self._found = PinnedMemory(8)
        self._findings = _copy_of(self._clean)
        self.arguments = _device_arguments(self._clean, self._findings, shapes, self._shadows)

    def hidden(self, packed: bytes) -> HiddenArguments:
        return HiddenArguments(
            packed,
            self._shadows.address,
            self._shadows.size,
            self._found.address,
            self._findings.address + found_offset(self._clean),
            *(libcuda.address_of(name, takes_stream=True) for name in _DRIVER_FUNCTIONS),
        )

    def take_findings(self) -> FindingRows:
        rows = np.empty_like(self._clean)
        driver.copy_out(rows.ctypes.data, self._findings.address, rows.nbytes)
        driver.copy_in(self._findings.address, self._clean.ctypes.data, rows.nbytes)
        driver.synchronize()
        return rows


PersistentArrays: TypeAlias = HostArrays | _PersistentDeviceArrays
CheckArrays: TypeAlias = HostArrays | _DeviceArrays  # of one launch
_DRIVER_FUNCTIONS = "cuMemsetD32Async", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"


def _copy_of(rows: FindingRows) -> DeviceMemory:
    """Return rows on the device, which every stream may use."""
    memory = DeviceMemory(rows.nbytes)
    driver.copy_in(memory.address, rows.ctypes.data, rows.nbytes)
    driver.synchronize()
    return memory


def _device_arguments(
    rows: FindingRows, findings: DeviceMemory, shapes: Shapes, shadows: DeviceMemory
) -> list[ArrayArgument]:
    addresses = (shadows.address + 8 * start for start in starts(shapes))
    words = [_device_argument(UINT64, shape, at) for shape, at in zip(shapes, addresses)]
    return [_device_argument(INT64, rows.shape, findings.address), *words]


def _device_argument(dtype: DType, shape: Sequence[int], address: int) -> ArrayArgument:
    strides = tuple(8 * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return ArrayArgument(dtype, tuple(shape), strides, address, False, True, "device", None)
