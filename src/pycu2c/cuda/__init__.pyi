# Made by docs/generate.py from the rows of pycu2c/intrinsics: edit those.
# ruff: noqa
# fmt: off
"""The names of CUDA, inside a kernel and on the host: ``from pycu2c import cuda``."""

from typing import Any, Literal, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from pycu2c.declarations.annotations import Array
from pycu2c.declarations.annotations import surface1d, surface2d, surface3d
from pycu2c.declarations.annotations import texture1d, texture2d, texture3d
from pycu2c import types as types
from pycu2c.compat.numba.compile_ptx import compile as compile
from pycu2c.compat.numba.compile_ptx import compile_for_current_device as compile_for_current_device
from pycu2c.compat.numba.compile_ptx import compile_ptx as compile_ptx
from pycu2c.compat.numba.compile_ptx import compile_ptx_for_current_device as compile_ptx_for_current_device
from pycu2c.compat.numba.device_ufuncs import guvectorize as guvectorize
from pycu2c.compat.numba.device_ufuncs import vectorize as vectorize
from pycu2c.compat.numba.jit_decorator import jit as jit
from pycu2c.compat.numba.reduce import Reduce as Reduce
from pycu2c.compat.numba.reduce import reduce as reduce
from pycu2c.cuda import barrier as barrier
from pycu2c.cuda import block as block
from pycu2c.cuda import cudadrv as cudadrv
from pycu2c.cuda import griddepcontrol as griddepcontrol
from pycu2c.cuda import mma as mma
from pycu2c.cuda import pipeline as pipeline
from pycu2c.cuda import random as random
from pycu2c.cuda import tcgen05 as tcgen05
from pycu2c.cuda import tma as tma
from pycu2c.cuda import warp as warp
from pycu2c.cuda import wgmma as wgmma
from pycu2c.cuda import wmma as wmma
from pycu2c.cuda.cudadrv import devicearray as devicearray
from pycu2c.cuda.cudadrv import devices as devices
from pycu2c.cuda.cudadrv import driver as driver
from pycu2c.cuda.cudadrv.error import CudaSupportError as CudaSupportError
from pycu2c.devices.allocation import In as In
from pycu2c.devices.allocation import InOut as InOut
from pycu2c.devices.allocation import Out as Out
from pycu2c.devices.allocation import device_array as device_array
from pycu2c.devices.allocation import device_array_like as device_array_like
from pycu2c.devices.allocation import managed_array as managed_array
from pycu2c.devices.allocation import mapped as mapped
from pycu2c.devices.allocation import mapped_array as mapped_array
from pycu2c.devices.allocation import mapped_array_like as mapped_array_like
from pycu2c.devices.allocation import pinned as pinned
from pycu2c.devices.allocation import pinned_array as pinned_array
from pycu2c.devices.allocation import pinned_array_like as pinned_array_like
from pycu2c.devices.allocation import to_device as to_device
from pycu2c.devices.array import DeviceArray as DeviceArray
from pycu2c.devices.array import as_cuda_array as as_cuda_array
from pycu2c.devices.array import from_cuda_array_interface as from_cuda_array_interface
from pycu2c.devices.array import from_dlpack as from_dlpack
from pycu2c.devices.contexts import close as close
from pycu2c.devices.contexts import cuda_error as cuda_error
from pycu2c.devices.contexts import current_context as current_context
from pycu2c.devices.contexts import detect as detect
from pycu2c.devices.contexts import is_bfloat16_supported as is_bfloat16_supported
from pycu2c.devices.contexts import is_float16_supported as is_float16_supported
from pycu2c.devices.contexts import is_fp8_supported as is_fp8_supported
from pycu2c.devices.contexts import is_supported_version as is_supported_version
from pycu2c.devices.contexts import require_context as require_context
from pycu2c.devices.contexts import runtime as runtime
from pycu2c.devices.cpu_device import MemoryInfo as MemoryInfo
from pycu2c.devices.gpu_device import Gpu as Gpu
from pycu2c.devices.gpu_device import defer_cleanup as defer_cleanup
from pycu2c.devices.gpu_selection import can_access_peer as can_access_peer
from pycu2c.devices.gpu_selection import get_current_device as get_current_device
from pycu2c.devices.gpu_selection import gpus as gpus
from pycu2c.devices.gpu_selection import is_available as is_available
from pycu2c.devices.gpu_selection import list_devices as list_devices
from pycu2c.devices.gpu_selection import select_device as select_device
from pycu2c.devices.graphs import Graph as Graph
from pycu2c.devices.graphs import graph as graph
from pycu2c.devices.interoperability import is_cuda_array as is_cuda_array
from pycu2c.devices.ipc import IpcArrayHandle as IpcArrayHandle
from pycu2c.devices.streams import Event as Event
from pycu2c.devices.streams import Stream as Stream
from pycu2c.devices.streams import default_stream as default_stream
from pycu2c.devices.streams import event as event
from pycu2c.devices.streams import event_elapsed_time as event_elapsed_time
from pycu2c.devices.streams import external_stream as external_stream
from pycu2c.devices.streams import legacy_default_stream as legacy_default_stream
from pycu2c.devices.streams import per_thread_default_stream as per_thread_default_stream
from pycu2c.devices.streams import profile_start as profile_start
from pycu2c.devices.streams import profile_stop as profile_stop
from pycu2c.devices.streams import profiling as profiling
from pycu2c.devices.streams import stream as stream
from pycu2c.devices.streams import synchronize as synchronize
from pycu2c.devices.tensor_maps import TensorMap as TensorMap
from pycu2c.devices.textures import Surface as Surface
from pycu2c.devices.textures import Texture as Texture
from pycu2c.devices.textures import surface as surface
from pycu2c.devices.textures import texture as texture
from pycu2c.inline_c.functions import c_function as c_function
from pycu2c.inline_c.functions import declare_device as declare_device
from pycu2c.inline_c.functions import ptx_function as ptx_function
from pycu2c.inline_c.link_objects import Archive as Archive
from pycu2c.inline_c.link_objects import CSource as CSource
from pycu2c.inline_c.link_objects import CUSource as CUSource
from pycu2c.inline_c.link_objects import Cubin as Cubin
from pycu2c.inline_c.link_objects import Fatbin as Fatbin
from pycu2c.inline_c.link_objects import LTOIR as LTOIR
from pycu2c.inline_c.link_objects import LinkableCode as LinkableCode
from pycu2c.inline_c.link_objects import Object as Object
from pycu2c.inline_c.link_objects import PTXSource as PTXSource
from pycu2c.ops.names.loop_hints import literal_unroll as literal_unroll
from pycu2c.ops.names.loop_hints import unroll as unroll
from pycu2c.types import none as none
from pycu2c.types import void as void
from pycu2c.base.vector_types import *
from pycu2c.declarations.annotations import bfloat16 as bfloat16
from pycu2c.declarations.annotations import bool_ as bool_
from pycu2c.declarations.annotations import boolean as boolean
from pycu2c.declarations.annotations import complex128 as complex128
from pycu2c.declarations.annotations import complex64 as complex64
from pycu2c.declarations.annotations import float16 as float16
from pycu2c.declarations.annotations import float32 as float32
from pycu2c.declarations.annotations import float64 as float64
from pycu2c.declarations.annotations import int16 as int16
from pycu2c.declarations.annotations import int32 as int32
from pycu2c.declarations.annotations import int64 as int64
from pycu2c.declarations.annotations import int8 as int8
from pycu2c.declarations.annotations import uint16 as uint16
from pycu2c.declarations.annotations import uint32 as uint32
from pycu2c.declarations.annotations import uint64 as uint64
from pycu2c.declarations.annotations import uint8 as uint8
from pycu2c.types import b1 as b1
from pycu2c.types import byte as byte
from pycu2c.types import c16 as c16
from pycu2c.types import c8 as c8
from pycu2c.types import char as char
from pycu2c.types import double as double
from pycu2c.types import f2 as f2
from pycu2c.types import f4 as f4
from pycu2c.types import f8 as f8
from pycu2c.types import float_ as float_
from pycu2c.types import i1 as i1
from pycu2c.types import i2 as i2
from pycu2c.types import i4 as i4
from pycu2c.types import i8 as i8
from pycu2c.types import int_ as int_
from pycu2c.types import intc as intc
from pycu2c.types import intp as intp
from pycu2c.types import long_ as long_
from pycu2c.types import longlong as longlong
from pycu2c.types import short as short
from pycu2c.types import size_t as size_t
from pycu2c.types import ssize_t as ssize_t
from pycu2c.types import u1 as u1
from pycu2c.types import u2 as u2
from pycu2c.types import u4 as u4
from pycu2c.types import u8 as u8
from pycu2c.types import uchar as uchar
from pycu2c.types import uint as uint
from pycu2c.types import uintc as uintc
from pycu2c.types import uintp as uintp
from pycu2c.types import ulong as ulong
from pycu2c.types import ulonglong as ulonglong
from pycu2c.types import ushort as ushort

_Number: TypeAlias = complex | np.number[Any] | np.bool_
_Real: TypeAlias = float | np.number[Any] | np.bool_
_Index: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...]
_T = TypeVar("_T", bound=_Number)
_E = TypeVar("_E")

def activemask() -> int:
    """Return the mask of the active lanes of the warp, which depends on the hardware."""

def all_sync(mask: SupportsIndex, predicate: _Real) -> bool:
    """Return whether ``predicate`` is true for all lanes of ``mask``."""

def any_sync(mask: SupportsIndex, predicate: _Real) -> bool:
    """Return whether ``predicate`` is true for any lane of ``mask``."""

class _atomic:
    @staticmethod
    def add(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Add ``value`` to ``array[index]`` atomically; complex numbers and vectors by component; return the old element."""
    @staticmethod
    def and_(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Clear the bits of ``array[index]`` that ``value`` does not have, atomically; return the old element."""
    @staticmethod
    def cas(array: Array[_E, Any, Any], index: _Index, old: _Number, value: _Number) -> _E:
        """Set ``array[index]`` to ``value`` if it is ``old``, atomically; return what it was."""
    @staticmethod
    def compare_and_swap(array: Array[_E, Any, Any], old: _Number, value: _Number) -> _E:
        """Set the first element to ``value`` if it is ``old``, atomically; return what it was."""
    @staticmethod
    def dec(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Subtract 1 from ``array[index]``, or set it to ``value`` if it is 0 or greater than that, in one step; return the old element."""
    @staticmethod
    def exch(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Set ``array[index]`` to ``value`` atomically; return the old element."""
    @staticmethod
    def inc(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Add 1 to ``array[index]``, or set it to 0 if it is at least ``value``, atomically; return the old element."""
    @staticmethod
    def max(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Set ``array[index]`` to ``value`` if that is greater, atomically; return the old element."""
    @staticmethod
    def min(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Set ``array[index]`` to ``value`` if that is less, atomically; return the old element."""
    @staticmethod
    def nanmax(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Set ``array[index]`` to ``value`` if that is greater, or it is NaN, atomically; return the old element."""
    @staticmethod
    def nanmin(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Set ``array[index]`` to ``value`` if that is less, or it is NaN, atomically; return the old element."""
    @staticmethod
    def or_(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Set the bits of ``value`` in ``array[index]``, atomically; return the old element."""
    @staticmethod
    def sub(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Subtract ``value`` from ``array[index]`` atomically; complex numbers and vectors by component; return the old element."""
    @staticmethod
    def xor(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Flip the bits of ``value`` in ``array[index]``, atomically; return the old element."""

atomic: _atomic

def ballot_sync(mask: SupportsIndex, predicate: _Real) -> int:
    """Return the mask of the lanes of ``mask`` for which ``predicate`` is true."""

class _bf16:
    @staticmethod
    def bfloat16(values: Any) -> Any:
        """A scalar type. ``float32[:]`` is an array type of it, ``float32(x)`` a conversion."""
    @staticmethod
    def bfloat1622float2(a: Any) -> Any:
        """Return both components as float32."""
    @staticmethod
    def float22bfloat162_rn(a: Any) -> Any:
        """Return both components as bfloat16."""
    @staticmethod
    def float2bfloat162_rn(a: Any) -> Any:
        """Return ``(a, a)`` as bfloat16."""
    @staticmethod
    def floats2bfloat162_rn(a: Any, b: Any) -> Any:
        """Return ``(a, b)`` as bfloat16."""
    @staticmethod
    def h2ceil(a: Any) -> Any:
        """Round up to integers."""
    @staticmethod
    def h2cos(a: Any) -> Any:
        """Return the cosines."""
    @staticmethod
    def h2div(a: Any, b: Any) -> Any:
        """Return the quotients, each rounded once."""
    @staticmethod
    def h2exp(a: Any) -> Any:
        """Return e to the power ``x``."""
    @staticmethod
    def h2exp10(a: Any) -> Any:
        """Return 10 to the power ``x``."""
    @staticmethod
    def h2exp2(a: Any) -> Any:
        """Return 2 to the power ``x``."""
    @staticmethod
    def h2floor(a: Any) -> Any:
        """Round down to integers."""
    @staticmethod
    def h2log(a: Any) -> Any:
        """Return the natural logarithms."""
    @staticmethod
    def h2log10(a: Any) -> Any:
        """Return the base-10 logarithms."""
    @staticmethod
    def h2log2(a: Any) -> Any:
        """Return the base-2 logarithms."""
    @staticmethod
    def h2rcp(a: Any) -> Any:
        """Return ``1 / x``."""
    @staticmethod
    def h2rint(a: Any) -> Any:
        """Round to the nearest integers, ties to even."""
    @staticmethod
    def h2rsqrt(a: Any) -> Any:
        """Return ``1 / sqrt(x)``."""
    @staticmethod
    def h2sin(a: Any) -> Any:
        """Return the sines."""
    @staticmethod
    def h2sqrt(a: Any) -> Any:
        """Return the square roots."""
    @staticmethod
    def h2tanh(a: Any) -> Any:
        """Return the hyperbolic tangents."""
    @staticmethod
    def h2trunc(a: Any) -> Any:
        """Round toward zero."""
    @staticmethod
    def habs(x: Any) -> Any:
        """Return the absolute value; the minimum of an integer type wraps to itself."""
    @staticmethod
    def habs2(a: Any) -> Any:
        """Return the absolute values."""
    @staticmethod
    def hadd(x: Any, y: Any) -> Any:
        """``a + b``, rounded once."""
    @staticmethod
    def hadd2(a: Any, b: Any) -> Any:
        """Return the sums, each rounded once."""
    @staticmethod
    def halves2bfloat162(a: Any, b: Any) -> Any:
        """Return ``(a, b)``."""
    @staticmethod
    def hbeq2(a: Any, b: Any) -> Any:
        """Whether in both components ``a == b``."""
    @staticmethod
    def hbequ2(a: Any, b: Any) -> Any:
        """Whether in both components ``a == b``, or one is a NaN."""
    @staticmethod
    def hbge2(a: Any, b: Any) -> Any:
        """Whether in both components ``a >= b``."""
    @staticmethod
    def hbgeu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a >= b``, or one is a NaN."""
    @staticmethod
    def hbgt2(a: Any, b: Any) -> Any:
        """Whether in both components ``a > b``."""
    @staticmethod
    def hbgtu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a > b``, or one is a NaN."""
    @staticmethod
    def hble2(a: Any, b: Any) -> Any:
        """Whether in both components ``a <= b``."""
    @staticmethod
    def hbleu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a <= b``, or one is a NaN."""
    @staticmethod
    def hblt2(a: Any, b: Any) -> Any:
        """Whether in both components ``a < b``."""
    @staticmethod
    def hbltu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a < b``, or one is a NaN."""
    @staticmethod
    def hbne2(a: Any, b: Any) -> Any:
        """Whether in both components ``a < b or a > b``."""
    @staticmethod
    def hbneu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a != b``."""
    @staticmethod
    def hceil(x: Any) -> Any:
        """The smallest integer not below ``x``, as a float."""
    @staticmethod
    def hcos(x: Any) -> Any:
        """The cosine of ``x`` radians."""
    @staticmethod
    def hdiv(x: Any, y: Any) -> Any:
        """``a / b``, rounded once."""
    @staticmethod
    def heq(x: Any, y: Any) -> bool:
        """``x == y``."""
    @staticmethod
    def heq2(a: Any, b: Any) -> Any:
        """1.0 where ``a == b``, else 0.0."""
    @staticmethod
    def heq2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a == b``, else 0."""
    @staticmethod
    def hequ(x: Any, y: Any) -> bool:
        """``x == y``, or one is a NaN."""
    @staticmethod
    def hequ2(a: Any, b: Any) -> Any:
        """1.0 where ``a == b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hequ2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a == b``, or one is a NaN, else 0."""
    @staticmethod
    def hexp(x: Any) -> Any:
        """e to the power ``x``."""
    @staticmethod
    def hexp10(x: Any) -> Any:
        """10 to the power ``x``."""
    @staticmethod
    def hexp2(x: Any) -> Any:
        """2 to the power ``x``."""
    @staticmethod
    def hfloor(x: Any) -> Any:
        """The largest integer not above ``x``, as a float."""
    @staticmethod
    def hfma(x: Any, y: Any, z: Any) -> Any:
        """``a * b + c``, rounded once."""
    @staticmethod
    def hfma2(a: Any, b: Any, c: Any) -> Any:
        """Return ``a * b + c``, each rounded once."""
    @staticmethod
    def hge(x: Any, y: Any) -> bool:
        """``x >= y``."""
    @staticmethod
    def hge2(a: Any, b: Any) -> Any:
        """1.0 where ``a >= b``, else 0.0."""
    @staticmethod
    def hge2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a >= b``, else 0."""
    @staticmethod
    def hgeu(x: Any, y: Any) -> bool:
        """``x >= y``, or one is a NaN."""
    @staticmethod
    def hgeu2(a: Any, b: Any) -> Any:
        """1.0 where ``a >= b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hgeu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a >= b``, or one is a NaN, else 0."""
    @staticmethod
    def hgt(x: Any, y: Any) -> bool:
        """``x > y``."""
    @staticmethod
    def hgt2(a: Any, b: Any) -> Any:
        """1.0 where ``a > b``, else 0.0."""
    @staticmethod
    def hgt2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a > b``, else 0."""
    @staticmethod
    def hgtu(x: Any, y: Any) -> bool:
        """``x > y``, or one is a NaN."""
    @staticmethod
    def hgtu2(a: Any, b: Any) -> Any:
        """1.0 where ``a > b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hgtu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a > b``, or one is a NaN, else 0."""
    @staticmethod
    def high2bfloat16(a: Any) -> Any:
        """Return ``y``."""
    @staticmethod
    def high2float(a: Any) -> Any:
        """Return ``y`` as float32."""
    @staticmethod
    def hisinf(x: Any) -> bool:
        """Whether ``x`` is an infinity."""
    @staticmethod
    def hisnan(x: Any) -> bool:
        """Whether ``x`` is not a number."""
    @staticmethod
    def hle(x: Any, y: Any) -> bool:
        """``x <= y``."""
    @staticmethod
    def hle2(a: Any, b: Any) -> Any:
        """1.0 where ``a <= b``, else 0.0."""
    @staticmethod
    def hle2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a <= b``, else 0."""
    @staticmethod
    def hleu(x: Any, y: Any) -> bool:
        """``x <= y``, or one is a NaN."""
    @staticmethod
    def hleu2(a: Any, b: Any) -> Any:
        """1.0 where ``a <= b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hleu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a <= b``, or one is a NaN, else 0."""
    @staticmethod
    def hlog(x: Any) -> Any:
        """The natural logarithm; -inf of 0, NaN of a negative number."""
    @staticmethod
    def hlog10(x: Any) -> Any:
        """The logarithm to base 10."""
    @staticmethod
    def hlog2(x: Any) -> Any:
        """The logarithm to base 2."""
    @staticmethod
    def hlt(x: Any, y: Any) -> bool:
        """``x < y``."""
    @staticmethod
    def hlt2(a: Any, b: Any) -> Any:
        """1.0 where ``a < b``, else 0.0."""
    @staticmethod
    def hlt2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a < b``, else 0."""
    @staticmethod
    def hltu(x: Any, y: Any) -> bool:
        """``x < y``, or one is a NaN."""
    @staticmethod
    def hltu2(a: Any, b: Any) -> Any:
        """1.0 where ``a < b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hltu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a < b``, or one is a NaN, else 0."""
    @staticmethod
    def hmax(x: Any, y: Any) -> Any:
        """The greater; of a NaN and a number, the number."""
    @staticmethod
    def hmax2(a: Any, b: Any) -> Any:
        """Return the maxima; of a NaN and a number, the number."""
    @staticmethod
    def hmin(x: Any, y: Any) -> Any:
        """The lesser; of a NaN and a number, the number."""
    @staticmethod
    def hmin2(a: Any, b: Any) -> Any:
        """Return the minima; of a NaN and a number, the number."""
    @staticmethod
    def hmul(x: Any, y: Any) -> Any:
        """``a * b``, rounded once."""
    @staticmethod
    def hmul2(a: Any, b: Any) -> Any:
        """Return the products, each rounded once."""
    @staticmethod
    def hne(x: Any, y: Any) -> bool:
        """``x < y or x > y``: false of a NaN."""
    @staticmethod
    def hne2(a: Any, b: Any) -> Any:
        """1.0 where ``a < b or a > b``, else 0.0."""
    @staticmethod
    def hne2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a < b or a > b``, else 0."""
    @staticmethod
    def hneg(x: Any) -> Any:
        """``-x``."""
    @staticmethod
    def hneg2(a: Any) -> Any:
        """Return the negated components."""
    @staticmethod
    def hneu(x: Any, y: Any) -> bool:
        """``x != y``: true of a NaN, as Python's operator."""
    @staticmethod
    def hneu2(a: Any, b: Any) -> Any:
        """1.0 where ``a != b``, else 0.0."""
    @staticmethod
    def hneu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a != b``, else 0."""
    @staticmethod
    def hrcp(x: Any) -> Any:
        """``1 / x``."""
    @staticmethod
    def hrint(x: Any) -> Any:
        """The nearest integer, ties to even, as a float."""
    @staticmethod
    def hrsqrt(x: Any) -> Any:
        """``1 / sqrt(x)``."""
    @staticmethod
    def hsin(x: Any) -> Any:
        """The sine of ``x`` radians."""
    @staticmethod
    def hsqrt(x: Any) -> Any:
        """The square root; NaN of a negative number."""
    @staticmethod
    def hsub(x: Any, y: Any) -> Any:
        """``a - b``, rounded once."""
    @staticmethod
    def hsub2(a: Any, b: Any) -> Any:
        """Return the differences, each rounded once."""
    @staticmethod
    def htanh(x: Any) -> Any:
        """The hyperbolic tangent."""
    @staticmethod
    def htrunc(x: Any) -> Any:
        """``x`` without its fraction, as a float."""
    @staticmethod
    def low2bfloat16(a: Any) -> Any:
        """Return ``x``."""
    @staticmethod
    def low2float(a: Any) -> Any:
        """Return ``x`` as float32."""
    @staticmethod
    def lowhigh2highlow(a: Any) -> Any:
        """Return ``(y, x)``."""

bf16: _bf16

def bfloat16_as_short(x: _Real) -> np.int16:
    """The int16 that has the bits of ``x``."""

def bfloat16_as_ushort(x: _Real) -> np.uint16:
    """The uint16 that has the bits of ``x``."""

class _blockDim:
    @property
    def x(self) -> int:
        """Return the threads per block, along x."""
    @property
    def y(self) -> int:
        """Return the threads per block, along y."""
    @property
    def z(self) -> int:
        """Return the threads per block, along z."""

blockDim: _blockDim

class _blockIdx:
    @property
    def x(self) -> int:
        """Return the index of the block in the grid, along x."""
    @property
    def y(self) -> int:
        """Return the index of the block in the grid, along y."""
    @property
    def z(self) -> int:
        """Return the index of the block in the grid, along z."""

blockIdx: _blockIdx

def brev(x: _T) -> _T:
    """Return the bits of ``x`` in reverse order."""

def byte_perm(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """Four of the eight bytes of ``x`` and ``y``, the lowest first; the lower 3 bits of each 4 bits of ``z`` select one."""

def cbrt(x: _Real) -> float:
    """The cube root."""

class _cg:
    @staticmethod
    def binary_partition(group: Any, predicate: Any) -> Any:
        """Return the group of the threads of a tile or coalesced group with the same ``predicate``.

        Of two groups, the one for which it is true has rank 1."""
    @staticmethod
    def bit_and(a: Any, b: Any) -> Any:
        """Return ``a & b``, for ``reduce``."""
    @staticmethod
    def bit_or(a: Any, b: Any) -> Any:
        """Return ``a | b``, for ``reduce``."""
    @staticmethod
    def bit_xor(a: Any, b: Any) -> Any:
        """Return ``a ^ b``, for ``reduce``."""
    @staticmethod
    def coalesced_threads() -> Any:
        """Return the group of the active lanes of the warp."""
    @staticmethod
    def greater(a: Any, b: Any) -> Any:
        """Return the greater value, for ``reduce``."""
    @staticmethod
    def inclusive_scan(group: Any, value: Any, op: Any) -> Any:
        """Return the inclusive scan of the values of a tile or coalesced group, by rank."""
    @staticmethod
    def labeled_partition(group: Any, label: Any) -> Any:
        """Return the group of the threads of a tile or coalesced group with the same ``label``."""
    @staticmethod
    def less(a: Any, b: Any) -> Any:
        """Return the lesser value, for ``reduce``."""
    @staticmethod
    def plus(a: Any, b: Any) -> Any:
        """Return ``a + b``, for ``reduce``."""
    @staticmethod
    def reduce(group: Any, value: Any, op: Any) -> Any:
        """Reduce the values of a tile or coalesced group: ``reduce(g, x, cuda.cg.plus)``.

        The reduction is a tree over consecutive ranks. Every thread receives the result."""
    @staticmethod
    def this_cluster() -> Any:
        """Return the cluster of the block; ``@kernel(cluster=…)`` sets its size.

        The blocks synchronize with ``cuda.cg.this_cluster().sync()``, and access each other's shared
        arrays with ``cuda.cg.this_cluster().map_shared_rank(array, rank)``."""
    @staticmethod
    def this_grid() -> Any:
        """Return the group of all threads of the launch; ``cuda.cg.this_grid().sync()`` is a barrier.

        No thread may return before the barrier. The blocks of such a launch must fit on the device."""
    @staticmethod
    def this_thread_block() -> Any:
        """Return the group of the threads of the block: ``block.sync()``, ``block.thread_rank()``."""
    @staticmethod
    def tiled_partition(group: _Number, size: Any) -> Any:
        """Return the tile of the thread in a block or tile: 1, 2, 4, 8, 16 or 32 consecutive lanes."""

cg: _cg

def clock() -> int:
    """Return the lower 32 bits of ``clock64``."""

def clock64() -> int:
    """Return the cycle counter of the multiprocessor; on the CPU, nanoseconds."""

def clz(x: _T) -> int:
    """Return the number of leading zero bits of ``x``; for 0, the number of all bits."""

class _const:
    @overload
    @staticmethod
    def array_like(ndarray: Array[_E, Any, Any]) -> Array[_E, Any, Any]:
        """Return a global NumPy array in constant memory; compilation reads its elements.

        Every global array that a kernel reads is in constant memory, so the call may be omitted."""
    @overload
    @staticmethod
    def array_like(ndarray: Any) -> Any:
        """Return a global NumPy array in constant memory; compilation reads its elements.

        Every global array that a kernel reads is in constant memory, so the call may be omitted."""

const: _const

def cospi(x: _Real) -> float:
    """The cosine of ``pi * x``."""

def cyl_bessel_i0(x: _Real) -> float:
    """The modified Bessel function of the first kind, order 0."""

def cyl_bessel_i1(x: _Real) -> float:
    """The modified Bessel function of the first kind, order 1."""

def dadd_rd(a: _Real, b: _Real) -> np.float64:
    """``a + b``, rounded down."""

def dadd_rn(a: _Real, b: _Real) -> np.float64:
    """``a + b``, rounded to nearest, ties to even."""

def dadd_ru(a: _Real, b: _Real) -> np.float64:
    """``a + b``, rounded up."""

def dadd_rz(a: _Real, b: _Real) -> np.float64:
    """``a + b``, rounded toward 0."""

def ddiv_rd(a: _Real, b: _Real) -> np.float64:
    """``a / b``, rounded down."""

def ddiv_rn(a: _Real, b: _Real) -> np.float64:
    """``a / b``, rounded to nearest, ties to even."""

def ddiv_ru(a: _Real, b: _Real) -> np.float64:
    """``a / b``, rounded up."""

def ddiv_rz(a: _Real, b: _Real) -> np.float64:
    """``a / b``, rounded toward 0."""

def dmul_rd(a: _Real, b: _Real) -> np.float64:
    """``a * b``, rounded down."""

def dmul_rn(a: _Real, b: _Real) -> np.float64:
    """``a * b``, rounded to nearest, ties to even."""

def dmul_ru(a: _Real, b: _Real) -> np.float64:
    """``a * b``, rounded up."""

def dmul_rz(a: _Real, b: _Real) -> np.float64:
    """``a * b``, rounded toward 0."""

def double2float_rd(x: _Real) -> np.float32:
    """The number as a float32, rounded down."""

def double2float_rn(x: _Real) -> np.float32:
    """The number as a float32, rounded to nearest, ties to even."""

def double2float_ru(x: _Real) -> np.float32:
    """The number as a float32, rounded up."""

def double2float_rz(x: _Real) -> np.float32:
    """The number as a float32, rounded toward 0."""

def double2hiint(x: _Real) -> np.int32:
    """The upper 32 bits of ``x``."""

def double2int_rd(x: _Real) -> np.int32:
    """A float as an integer, rounded down; saturates to the range of the type."""

def double2int_rn(x: _Real) -> np.int32:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def double2int_ru(x: _Real) -> np.int32:
    """A float as an integer, rounded up; saturates to the range of the type."""

def double2int_rz(x: _Real) -> np.int32:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def double2ll_rd(x: _Real) -> np.int64:
    """A float as an integer, rounded down; saturates to the range of the type."""

def double2ll_rn(x: _Real) -> np.int64:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def double2ll_ru(x: _Real) -> np.int64:
    """A float as an integer, rounded up; saturates to the range of the type."""

def double2ll_rz(x: _Real) -> np.int64:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def double2loint(x: _Real) -> np.int32:
    """The lower 32 bits of ``x``."""

def double2uint_rd(x: _Real) -> np.uint32:
    """A float as an integer, rounded down; saturates to the range of the type."""

def double2uint_rn(x: _Real) -> np.uint32:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def double2uint_ru(x: _Real) -> np.uint32:
    """A float as an integer, rounded up; saturates to the range of the type."""

def double2uint_rz(x: _Real) -> np.uint32:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def double2ull_rd(x: _Real) -> np.uint64:
    """A float as an integer, rounded down; saturates to the range of the type."""

def double2ull_rn(x: _Real) -> np.uint64:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def double2ull_ru(x: _Real) -> np.uint64:
    """A float as an integer, rounded up; saturates to the range of the type."""

def double2ull_rz(x: _Real) -> np.uint64:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def double_as_longlong(x: _Real) -> np.int64:
    """The int64 that has the bits of ``x``."""

def dp2a_hi(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.int32:
    """``z``, and the halves of ``x`` times the upper two bytes of ``y``."""

def dp2a_lo(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.int32:
    """``z``, and the halves of ``x`` times the lower two bytes of ``y``."""

def dp4a(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.int32:
    """``z``, and the products of the four bytes of ``x`` with those of ``y``."""

def drcp_rd(x: _Real) -> np.float64:
    """``1 / x``, rounded down."""

def drcp_rn(x: _Real) -> np.float64:
    """``1 / x``, rounded to nearest, ties to even."""

def drcp_ru(x: _Real) -> np.float64:
    """``1 / x``, rounded up."""

def drcp_rz(x: _Real) -> np.float64:
    """``1 / x``, rounded toward 0."""

def dsqrt_rd(x: _Real) -> np.float64:
    """The square root, rounded down."""

def dsqrt_rn(x: _Real) -> np.float64:
    """The square root, rounded to nearest, ties to even."""

def dsqrt_ru(x: _Real) -> np.float64:
    """The square root, rounded up."""

def dsqrt_rz(x: _Real) -> np.float64:
    """The square root, rounded toward 0."""

def dsub_rd(a: _Real, b: _Real) -> np.float64:
    """``a - b``, rounded down."""

def dsub_rn(a: _Real, b: _Real) -> np.float64:
    """``a - b``, rounded to nearest, ties to even."""

def dsub_ru(a: _Real, b: _Real) -> np.float64:
    """``a - b``, rounded up."""

def dsub_rz(a: _Real, b: _Real) -> np.float64:
    """``a - b``, rounded toward 0."""

def e4m3_to_float(x: SupportsIndex) -> np.float32:
    """The float32 value of the E4M3 with these bits."""

def e5m2_to_float(x: SupportsIndex) -> np.float32:
    """The float32 value of the E5M2 with these bits."""

def eq_sync(mask: SupportsIndex, predicate: _Real) -> bool:
    """Return whether ``predicate`` is the same for all lanes of ``mask``."""

def erfcinv(x: _Real) -> float:
    """The inverse of ``erfc``."""

def erfcx(x: _Real) -> float:
    """``exp(x * x) * erfc(x)``, without overflow."""

def erfinv(x: _Real) -> float:
    """The inverse of ``erf``."""

def exp10(x: _Real) -> float:
    """10 to the power ``x``."""

def fadd_rd(a: _Real, b: _Real) -> np.float32:
    """``a + b``, rounded down."""

def fadd_rn(a: _Real, b: _Real) -> np.float32:
    """``a + b``, rounded to nearest, ties to even."""

def fadd_ru(a: _Real, b: _Real) -> np.float32:
    """``a + b``, rounded up."""

def fadd_rz(a: _Real, b: _Real) -> np.float32:
    """``a + b``, rounded toward 0."""

def fast_cosf(x: _Real) -> np.float32:
    """The cosine, fast and less exact on a GPU."""

def fast_exp10f(x: _Real) -> np.float32:
    """10 to the power ``x``, fast and less exact on a GPU."""

def fast_expf(x: _Real) -> np.float32:
    """e to the power ``x``, fast and less exact on a GPU."""

def fast_fdividef(a: _Real, b: _Real) -> np.float32:
    """Return ``a / b``; faster and less exact on a GPU."""

def fast_log10f(x: _Real) -> np.float32:
    """The logarithm to base 10, fast and less exact on a GPU."""

def fast_log2f(x: _Real) -> np.float32:
    """The logarithm to base 2, fast and less exact on a GPU."""

def fast_logf(x: _Real) -> np.float32:
    """The natural logarithm, fast and less exact on a GPU."""

def fast_powf(a: _Real, b: _Real) -> np.float32:
    """Return ``a`` to the power ``b`` for a positive ``a``; faster and less exact on a GPU."""

def fast_sinf(x: _Real) -> np.float32:
    """The sine, fast and less exact on a GPU."""

def fast_tanf(x: _Real) -> np.float32:
    """The tangent, fast and less exact on a GPU."""

def fdim(a: _Real, b: _Real) -> float:
    """``a - b`` if that is positive, else 0."""

def fdiv_rd(a: _Real, b: _Real) -> np.float32:
    """``a / b``, rounded down."""

def fdiv_rn(a: _Real, b: _Real) -> np.float32:
    """``a / b``, rounded to nearest, ties to even."""

def fdiv_ru(a: _Real, b: _Real) -> np.float32:
    """``a / b``, rounded up."""

def fdiv_rz(a: _Real, b: _Real) -> np.float32:
    """``a / b``, rounded toward 0."""

def ffs(x: _T) -> int:
    """Return the position of the lowest set bit, counted from 1; 0 for 0."""

def float2int_rd(x: _Real) -> np.int32:
    """A float as an integer, rounded down; saturates to the range of the type."""

def float2int_rn(x: _Real) -> np.int32:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def float2int_ru(x: _Real) -> np.int32:
    """A float as an integer, rounded up; saturates to the range of the type."""

def float2int_rz(x: _Real) -> np.int32:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def float2ll_rd(x: _Real) -> np.int64:
    """A float as an integer, rounded down; saturates to the range of the type."""

def float2ll_rn(x: _Real) -> np.int64:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def float2ll_ru(x: _Real) -> np.int64:
    """A float as an integer, rounded up; saturates to the range of the type."""

def float2ll_rz(x: _Real) -> np.int64:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def float2uint_rd(x: _Real) -> np.uint32:
    """A float as an integer, rounded down; saturates to the range of the type."""

def float2uint_rn(x: _Real) -> np.uint32:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def float2uint_ru(x: _Real) -> np.uint32:
    """A float as an integer, rounded up; saturates to the range of the type."""

def float2uint_rz(x: _Real) -> np.uint32:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def float2ull_rd(x: _Real) -> np.uint64:
    """A float as an integer, rounded down; saturates to the range of the type."""

def float2ull_rn(x: _Real) -> np.uint64:
    """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""

def float2ull_ru(x: _Real) -> np.uint64:
    """A float as an integer, rounded up; saturates to the range of the type."""

def float2ull_rz(x: _Real) -> np.uint64:
    """A float as an integer, rounded toward 0; saturates to the range of the type."""

def float_as_int(x: _Real) -> np.int32:
    """The int32 that has the bits of ``x``."""

def float_as_uint(x: _Real) -> np.uint32:
    """The uint32 that has the bits of ``x``."""

def float_to_e4m3(x: _Real) -> np.uint8:
    """The bits of the nearest E4M3; numbers out of range saturate."""

def float_to_e5m2(x: _Real) -> np.uint8:
    """The bits of the nearest E5M2; numbers out of range saturate."""

def fma(a: _Real, b: _Real, c: _Real) -> float:
    """Return ``a * b + c``, rounded once."""

def fma_rd(a: _Real, b: _Real, c: _Real) -> np.float64:
    """``a * b + c``, rounded once, down."""

def fma_rn(a: _Real, b: _Real, c: _Real) -> np.float64:
    """``a * b + c``, rounded once, to nearest, ties to even."""

def fma_ru(a: _Real, b: _Real, c: _Real) -> np.float64:
    """``a * b + c``, rounded once, up."""

def fma_rz(a: _Real, b: _Real, c: _Real) -> np.float64:
    """``a * b + c``, rounded once, toward 0."""

def fmaf_rd(a: _Real, b: _Real, c: _Real) -> np.float32:
    """``a * b + c``, rounded once, down."""

def fmaf_rn(a: _Real, b: _Real, c: _Real) -> np.float32:
    """``a * b + c``, rounded once, to nearest, ties to even."""

def fmaf_ru(a: _Real, b: _Real, c: _Real) -> np.float32:
    """``a * b + c``, rounded once, up."""

def fmaf_rz(a: _Real, b: _Real, c: _Real) -> np.float32:
    """``a * b + c``, rounded once, toward 0."""

def fmul_rd(a: _Real, b: _Real) -> np.float32:
    """``a * b``, rounded down."""

def fmul_rn(a: _Real, b: _Real) -> np.float32:
    """``a * b``, rounded to nearest, ties to even."""

def fmul_ru(a: _Real, b: _Real) -> np.float32:
    """``a * b``, rounded up."""

def fmul_rz(a: _Real, b: _Real) -> np.float32:
    """``a * b``, rounded toward 0."""

class _fp16:
    @staticmethod
    def float22half2_rn(a: Any) -> Any:
        """Return both components as float16."""
    @staticmethod
    def float2half2_rn(a: Any) -> Any:
        """Return ``(a, a)`` as float16."""
    @staticmethod
    def floats2half2_rn(a: Any, b: Any) -> Any:
        """Return ``(a, b)`` as float16."""
    @staticmethod
    def h2ceil(a: Any) -> Any:
        """Round up to integers."""
    @staticmethod
    def h2cos(a: Any) -> Any:
        """Return the cosines."""
    @staticmethod
    def h2div(a: Any, b: Any) -> Any:
        """Return the quotients, each rounded once."""
    @staticmethod
    def h2exp(a: Any) -> Any:
        """Return e to the power ``x``."""
    @staticmethod
    def h2exp10(a: Any) -> Any:
        """Return 10 to the power ``x``."""
    @staticmethod
    def h2exp2(a: Any) -> Any:
        """Return 2 to the power ``x``."""
    @staticmethod
    def h2floor(a: Any) -> Any:
        """Round down to integers."""
    @staticmethod
    def h2log(a: Any) -> Any:
        """Return the natural logarithms."""
    @staticmethod
    def h2log10(a: Any) -> Any:
        """Return the base-10 logarithms."""
    @staticmethod
    def h2log2(a: Any) -> Any:
        """Return the base-2 logarithms."""
    @staticmethod
    def h2rcp(a: Any) -> Any:
        """Return ``1 / x``."""
    @staticmethod
    def h2rint(a: Any) -> Any:
        """Round to the nearest integers, ties to even."""
    @staticmethod
    def h2rsqrt(a: Any) -> Any:
        """Return ``1 / sqrt(x)``."""
    @staticmethod
    def h2sin(a: Any) -> Any:
        """Return the sines."""
    @staticmethod
    def h2sqrt(a: Any) -> Any:
        """Return the square roots."""
    @staticmethod
    def h2tanh(a: Any) -> Any:
        """Return the hyperbolic tangents."""
    @staticmethod
    def h2trunc(a: Any) -> Any:
        """Round toward zero."""
    @staticmethod
    def habs(x: np.float16) -> np.float16:
        """Return the absolute value; the minimum of an integer type wraps to itself."""
    @staticmethod
    def habs2(a: Any) -> Any:
        """Return the absolute values."""
    @staticmethod
    def hadd(x: np.float16, y: np.float16) -> np.float16:
        """``a + b``, rounded once."""
    @staticmethod
    def hadd2(a: Any, b: Any) -> Any:
        """Return the sums, each rounded once."""
    @staticmethod
    def half22float2(a: Any) -> Any:
        """Return both components as float32."""
    @staticmethod
    def halves2half2(a: Any, b: Any) -> Any:
        """Return ``(a, b)``."""
    @staticmethod
    def hbeq2(a: Any, b: Any) -> Any:
        """Whether in both components ``a == b``."""
    @staticmethod
    def hbequ2(a: Any, b: Any) -> Any:
        """Whether in both components ``a == b``, or one is a NaN."""
    @staticmethod
    def hbge2(a: Any, b: Any) -> Any:
        """Whether in both components ``a >= b``."""
    @staticmethod
    def hbgeu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a >= b``, or one is a NaN."""
    @staticmethod
    def hbgt2(a: Any, b: Any) -> Any:
        """Whether in both components ``a > b``."""
    @staticmethod
    def hbgtu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a > b``, or one is a NaN."""
    @staticmethod
    def hble2(a: Any, b: Any) -> Any:
        """Whether in both components ``a <= b``."""
    @staticmethod
    def hbleu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a <= b``, or one is a NaN."""
    @staticmethod
    def hblt2(a: Any, b: Any) -> Any:
        """Whether in both components ``a < b``."""
    @staticmethod
    def hbltu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a < b``, or one is a NaN."""
    @staticmethod
    def hbne2(a: Any, b: Any) -> Any:
        """Whether in both components ``a < b or a > b``."""
    @staticmethod
    def hbneu2(a: Any, b: Any) -> Any:
        """Whether in both components ``a != b``."""
    @staticmethod
    def hceil(x: np.float16) -> np.float16:
        """The smallest integer not below ``x``, as a float."""
    @staticmethod
    def hcos(x: np.float16) -> np.float16:
        """The cosine of ``x`` radians."""
    @staticmethod
    def hdiv(x: np.float16, y: np.float16) -> np.float16:
        """``a / b``, rounded once."""
    @staticmethod
    def heq(x: np.float16, y: np.float16) -> bool:
        """``x == y``."""
    @staticmethod
    def heq2(a: Any, b: Any) -> Any:
        """1.0 where ``a == b``, else 0.0."""
    @staticmethod
    def heq2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a == b``, else 0."""
    @staticmethod
    def hequ(x: np.float16, y: np.float16) -> bool:
        """``x == y``, or one is a NaN."""
    @staticmethod
    def hequ2(a: Any, b: Any) -> Any:
        """1.0 where ``a == b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hequ2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a == b``, or one is a NaN, else 0."""
    @staticmethod
    def hexp(x: np.float16) -> np.float16:
        """e to the power ``x``."""
    @staticmethod
    def hexp10(x: np.float16) -> np.float16:
        """10 to the power ``x``."""
    @staticmethod
    def hexp2(x: np.float16) -> np.float16:
        """2 to the power ``x``."""
    @staticmethod
    def hfloor(x: np.float16) -> np.float16:
        """The largest integer not above ``x``, as a float."""
    @staticmethod
    def hfma(x: np.float16, y: np.float16, z: np.float16) -> np.float16:
        """``a * b + c``, rounded once."""
    @staticmethod
    def hfma2(a: Any, b: Any, c: Any) -> Any:
        """Return ``a * b + c``, each rounded once."""
    @staticmethod
    def hge(x: np.float16, y: np.float16) -> bool:
        """``x >= y``."""
    @staticmethod
    def hge2(a: Any, b: Any) -> Any:
        """1.0 where ``a >= b``, else 0.0."""
    @staticmethod
    def hge2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a >= b``, else 0."""
    @staticmethod
    def hgeu(x: np.float16, y: np.float16) -> bool:
        """``x >= y``, or one is a NaN."""
    @staticmethod
    def hgeu2(a: Any, b: Any) -> Any:
        """1.0 where ``a >= b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hgeu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a >= b``, or one is a NaN, else 0."""
    @staticmethod
    def hgt(x: np.float16, y: np.float16) -> bool:
        """``x > y``."""
    @staticmethod
    def hgt2(a: Any, b: Any) -> Any:
        """1.0 where ``a > b``, else 0.0."""
    @staticmethod
    def hgt2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a > b``, else 0."""
    @staticmethod
    def hgtu(x: np.float16, y: np.float16) -> bool:
        """``x > y``, or one is a NaN."""
    @staticmethod
    def hgtu2(a: Any, b: Any) -> Any:
        """1.0 where ``a > b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hgtu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a > b``, or one is a NaN, else 0."""
    @staticmethod
    def high2float(a: Any) -> Any:
        """Return ``y`` as float32."""
    @staticmethod
    def high2half(a: Any) -> Any:
        """Return ``y``."""
    @staticmethod
    def hisinf(x: np.float16) -> bool:
        """Whether ``x`` is an infinity."""
    @staticmethod
    def hisnan(x: np.float16) -> bool:
        """Whether ``x`` is not a number."""
    @staticmethod
    def hle(x: np.float16, y: np.float16) -> bool:
        """``x <= y``."""
    @staticmethod
    def hle2(a: Any, b: Any) -> Any:
        """1.0 where ``a <= b``, else 0.0."""
    @staticmethod
    def hle2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a <= b``, else 0."""
    @staticmethod
    def hleu(x: np.float16, y: np.float16) -> bool:
        """``x <= y``, or one is a NaN."""
    @staticmethod
    def hleu2(a: Any, b: Any) -> Any:
        """1.0 where ``a <= b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hleu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a <= b``, or one is a NaN, else 0."""
    @staticmethod
    def hlog(x: np.float16) -> np.float16:
        """The natural logarithm; -inf of 0, NaN of a negative number."""
    @staticmethod
    def hlog10(x: np.float16) -> np.float16:
        """The logarithm to base 10."""
    @staticmethod
    def hlog2(x: np.float16) -> np.float16:
        """The logarithm to base 2."""
    @staticmethod
    def hlt(x: np.float16, y: np.float16) -> bool:
        """``x < y``."""
    @staticmethod
    def hlt2(a: Any, b: Any) -> Any:
        """1.0 where ``a < b``, else 0.0."""
    @staticmethod
    def hlt2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a < b``, else 0."""
    @staticmethod
    def hltu(x: np.float16, y: np.float16) -> bool:
        """``x < y``, or one is a NaN."""
    @staticmethod
    def hltu2(a: Any, b: Any) -> Any:
        """1.0 where ``a < b``, or one is a NaN, else 0.0."""
    @staticmethod
    def hltu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a < b``, or one is a NaN, else 0."""
    @staticmethod
    def hmax(x: np.float16, y: np.float16) -> np.float16:
        """The greater; of a NaN and a number, the number."""
    @staticmethod
    def hmax2(a: Any, b: Any) -> Any:
        """Return the maxima; of a NaN and a number, the number."""
    @staticmethod
    def hmin(x: np.float16, y: np.float16) -> np.float16:
        """The lesser; of a NaN and a number, the number."""
    @staticmethod
    def hmin2(a: Any, b: Any) -> Any:
        """Return the minima; of a NaN and a number, the number."""
    @staticmethod
    def hmul(x: np.float16, y: np.float16) -> np.float16:
        """``a * b``, rounded once."""
    @staticmethod
    def hmul2(a: Any, b: Any) -> Any:
        """Return the products, each rounded once."""
    @staticmethod
    def hne(x: np.float16, y: np.float16) -> bool:
        """``x < y or x > y``: false of a NaN."""
    @staticmethod
    def hne2(a: Any, b: Any) -> Any:
        """1.0 where ``a < b or a > b``, else 0.0."""
    @staticmethod
    def hne2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a < b or a > b``, else 0."""
    @staticmethod
    def hneg(x: np.float16) -> np.float16:
        """``-x``."""
    @staticmethod
    def hneg2(a: Any) -> Any:
        """Return the negated components."""
    @staticmethod
    def hneu(x: np.float16, y: np.float16) -> bool:
        """``x != y``: true of a NaN, as Python's operator."""
    @staticmethod
    def hneu2(a: Any, b: Any) -> Any:
        """1.0 where ``a != b``, else 0.0."""
    @staticmethod
    def hneu2_mask(a: Any, b: Any) -> Any:
        """The 16 bits of a component are 1 where ``a != b``, else 0."""
    @staticmethod
    def hrcp(x: np.float16) -> np.float16:
        """``1 / x``."""
    @staticmethod
    def hrint(x: np.float16) -> np.float16:
        """The nearest integer, ties to even, as a float."""
    @staticmethod
    def hrsqrt(x: np.float16) -> np.float16:
        """``1 / sqrt(x)``."""
    @staticmethod
    def hsin(x: np.float16) -> np.float16:
        """The sine of ``x`` radians."""
    @staticmethod
    def hsqrt(x: np.float16) -> np.float16:
        """The square root; NaN of a negative number."""
    @staticmethod
    def hsub(x: np.float16, y: np.float16) -> np.float16:
        """``a - b``, rounded once."""
    @staticmethod
    def hsub2(a: Any, b: Any) -> Any:
        """Return the differences, each rounded once."""
    @staticmethod
    def htanh(x: np.float16) -> np.float16:
        """The hyperbolic tangent."""
    @staticmethod
    def htrunc(x: np.float16) -> np.float16:
        """``x`` without its fraction, as a float."""
    @staticmethod
    def low2float(a: Any) -> Any:
        """Return ``x`` as float32."""
    @staticmethod
    def low2half(a: Any) -> Any:
        """Return ``x``."""
    @staticmethod
    def lowhigh2highlow(a: Any) -> Any:
        """Return ``(y, x)``."""

fp16: _fp16

def frcp_rd(x: _Real) -> np.float32:
    """``1 / x``, rounded down."""

def frcp_rn(x: _Real) -> np.float32:
    """``1 / x``, rounded to nearest, ties to even."""

def frcp_ru(x: _Real) -> np.float32:
    """``1 / x``, rounded up."""

def frcp_rz(x: _Real) -> np.float32:
    """``1 / x``, rounded toward 0."""

def frexp(x: _Real) -> tuple[Any, Any]:
    """``m, e`` with ``x == m * 2**e`` and ``m`` at least 1/2 and less than 1."""

def frsqrt_rn(x: _Real) -> np.float32:
    """``1 / sqrt(x)``, rounded to nearest, ties to even."""

def fsqrt_rd(x: _Real) -> np.float32:
    """The square root, rounded down."""

def fsqrt_rn(x: _Real) -> np.float32:
    """The square root, rounded to nearest, ties to even."""

def fsqrt_ru(x: _Real) -> np.float32:
    """The square root, rounded up."""

def fsqrt_rz(x: _Real) -> np.float32:
    """The square root, rounded toward 0."""

def fsub_rd(a: _Real, b: _Real) -> np.float32:
    """``a - b``, rounded down."""

def fsub_rn(a: _Real, b: _Real) -> np.float32:
    """``a - b``, rounded to nearest, ties to even."""

def fsub_ru(a: _Real, b: _Real) -> np.float32:
    """``a - b``, rounded up."""

def fsub_rz(a: _Real, b: _Real) -> np.float32:
    """``a - b``, rounded toward 0."""

def funnelshift_l(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """The upper word of ``y:x`` shifted left by ``z & 31``."""

def funnelshift_lc(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """The upper word of ``y:x`` shifted left by ``min(z, 32)``."""

def funnelshift_r(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """The lower word of ``y:x`` shifted right by ``z & 31``."""

def funnelshift_rc(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """The lower word of ``y:x`` shifted right by ``min(z, 32)``."""

def globaltimer() -> int:
    """Return a clock in nanoseconds."""

@overload
def grid(ndim: Literal[1]) -> int:
    """Return the thread's index in the grid: an int for 1 axis, a tuple (x, y, …) for more."""
@overload
def grid(ndim: Literal[2]) -> tuple[int, int]:
    """Return the thread's index in the grid: an int for 1 axis, a tuple (x, y, …) for more."""
@overload
def grid(ndim: Literal[3]) -> tuple[int, int, int]:
    """Return the thread's index in the grid: an int for 1 axis, a tuple (x, y, …) for more."""

class _gridDim:
    @property
    def x(self) -> int:
        """Return the blocks per grid, along x."""
    @property
    def y(self) -> int:
        """Return the blocks per grid, along y."""
    @property
    def z(self) -> int:
        """Return the blocks per grid, along z."""

gridDim: _gridDim

@overload
def gridsize(ndim: Literal[1]) -> int:
    """Return the threads of the grid: an int for 1 axis, a tuple for 2 or 3."""
@overload
def gridsize(ndim: Literal[2]) -> tuple[int, int]:
    """Return the threads of the grid: an int for 1 axis, a tuple for 2 or 3."""
@overload
def gridsize(ndim: Literal[3]) -> tuple[int, int, int]:
    """Return the threads of the grid: an int for 1 axis, a tuple for 2 or 3."""

def hadd(x: SupportsIndex, y: SupportsIndex) -> np.int32:
    """The average of ``x`` and ``y``, rounded down, without overflow."""

def half_as_short(x: _Real) -> np.int16:
    """The int16 that has the bits of ``x``."""

def half_as_ushort(x: _Real) -> np.uint16:
    """The uint16 that has the bits of ``x``."""

def hiloint2double(high: SupportsIndex, low: SupportsIndex) -> np.float64:
    """Return the float64 with these upper and lower 32 bits."""

def ilogb(x: _Real) -> int:
    """The exponent of ``x`` to base 2, as an int; the minimum of int32 for 0 and NaN, its
    maximum for infinity."""

def int2double_rn(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded to nearest, ties to even."""

def int2float_rd(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded down."""

def int2float_rn(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded to nearest, ties to even."""

def int2float_ru(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded up."""

def int2float_rz(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded toward 0."""

def int_as_float(x: SupportsIndex) -> np.float32:
    """The float32 that has the bits of ``x``."""

def j0(x: _Real) -> float:
    """The Bessel function of the first kind, order 0."""

def j1(x: _Real) -> float:
    """The Bessel function of the first kind, order 1."""

def jn(n: SupportsIndex, x: _Real) -> float:
    """The Bessel function of the first kind, order ``n``."""

laneid: int
"""Return the lane of the thread in its warp, 0 to 31."""

def lanemask_eq() -> int:
    """Return the mask of the lanes equal to the thread's own."""

def lanemask_ge() -> int:
    """Return the mask of the lanes from the thread's own on."""

def lanemask_gt() -> int:
    """Return the mask of the lanes above the thread's own."""

def lanemask_le() -> int:
    """Return the mask of the lanes up to the thread's own."""

def lanemask_lt() -> int:
    """Return the mask of the lanes below the thread's own."""

def ldca(array: Array[_E, Any, Any], index: _Index) -> _E:
    """``array[index]`` in global memory, cached at all levels."""

def ldcg(array: Array[_E, Any, Any], index: _Index) -> _E:
    """``array[index]`` in global memory, cached in L2 only."""

def ldcs(array: Array[_E, Any, Any], index: _Index) -> _E:
    """``array[index]`` in global memory, with the streaming hint: likely accessed once."""

def ldcv(array: Array[_E, Any, Any], index: _Index) -> _E:
    """``array[index]`` in global memory, not cached: fetched again from memory."""

def ldg(array: Array[_E, Any, Any], index: _Index) -> _E:
    """``array[index]`` in global memory, through the read-only cache; the data must not change during the kernel."""

def ldlu(array: Array[_E, Any, Any], index: _Index) -> _E:
    """``array[index]`` in global memory, with the last-use hint."""

class _libdevice:
    @staticmethod
    def abs(x: SupportsIndex) -> SupportsIndex:
        """Return the absolute value; the minimum of an integer type wraps to itself."""
    @staticmethod
    def acos(x: np.float64) -> np.float64:
        """The arc cosine, in radians."""
    @staticmethod
    def acosf(x: np.float32) -> np.float32:
        """The arc cosine, in radians."""
    @staticmethod
    def acosh(x: np.float64) -> np.float64:
        """The inverse hyperbolic cosine."""
    @staticmethod
    def acoshf(x: np.float32) -> np.float32:
        """The inverse hyperbolic cosine."""
    @staticmethod
    def asin(x: np.float64) -> np.float64:
        """The arc sine, in radians."""
    @staticmethod
    def asinf(x: np.float32) -> np.float32:
        """The arc sine, in radians."""
    @staticmethod
    def asinh(x: np.float64) -> np.float64:
        """The inverse hyperbolic sine."""
    @staticmethod
    def asinhf(x: np.float32) -> np.float32:
        """The inverse hyperbolic sine."""
    @staticmethod
    def atan(x: np.float64) -> np.float64:
        """The arc tangent, in radians."""
    @staticmethod
    def atan2(x: np.float64, y: np.float64) -> np.float64:
        """The angle of the point (``b``, ``a``), in radians."""
    @staticmethod
    def atan2f(x: np.float32, y: np.float32) -> np.float32:
        """The angle of the point (``b``, ``a``), in radians."""
    @staticmethod
    def atanf(x: np.float32) -> np.float32:
        """The arc tangent, in radians."""
    @staticmethod
    def atanh(x: np.float64) -> np.float64:
        """The inverse hyperbolic tangent."""
    @staticmethod
    def atanhf(x: np.float32) -> np.float32:
        """The inverse hyperbolic tangent."""
    @staticmethod
    def brev(x: SupportsIndex) -> SupportsIndex:
        """Return the bits of ``x`` in reverse order."""
    @staticmethod
    def brevll(x: SupportsIndex) -> SupportsIndex:
        """Return the bits of ``x`` in reverse order."""
    @staticmethod
    def byte_perm(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> SupportsIndex:
        """Four of the eight bytes of ``x`` and ``y``, the lowest first; the lower 3 bits of each 4 bits of ``z`` select one."""
    @staticmethod
    def cbrt(x: np.float64) -> np.float64:
        """The cube root."""
    @staticmethod
    def cbrtf(x: np.float32) -> np.float32:
        """The cube root."""
    @staticmethod
    def ceil(x: np.float64) -> np.float64:
        """The smallest integer not below ``x``, as a float."""
    @staticmethod
    def ceilf(x: np.float32) -> np.float32:
        """The smallest integer not below ``x``, as a float."""
    @staticmethod
    def clz(x: SupportsIndex) -> SupportsIndex:
        """Return the number of leading zero bits of ``x``; for 0, the number of all bits."""
    @staticmethod
    def clzll(x: SupportsIndex) -> SupportsIndex:
        """Return the number of leading zero bits of ``x``; for 0, the number of all bits."""
    @staticmethod
    def copysign(x: np.float64, y: np.float64) -> np.float64:
        """``a`` with the sign of ``b``."""
    @staticmethod
    def copysignf(x: np.float32, y: np.float32) -> np.float32:
        """``a`` with the sign of ``b``."""
    @staticmethod
    def cos(x: np.float64) -> np.float64:
        """The cosine of ``x`` radians."""
    @staticmethod
    def cosf(x: np.float32) -> np.float32:
        """The cosine of ``x`` radians."""
    @staticmethod
    def cosh(x: np.float64) -> np.float64:
        """The hyperbolic cosine."""
    @staticmethod
    def coshf(x: np.float32) -> np.float32:
        """The hyperbolic cosine."""
    @staticmethod
    def cospi(x: np.float64) -> np.float64:
        """The cosine of ``pi * x``."""
    @staticmethod
    def cospif(x: np.float32) -> np.float32:
        """The cosine of ``pi * x``."""
    @staticmethod
    def dadd_rd(x: np.float64, y: np.float64) -> np.float64:
        """``a + b``, rounded down."""
    @staticmethod
    def dadd_rn(x: np.float64, y: np.float64) -> np.float64:
        """``a + b``, rounded to nearest, ties to even."""
    @staticmethod
    def dadd_ru(x: np.float64, y: np.float64) -> np.float64:
        """``a + b``, rounded up."""
    @staticmethod
    def dadd_rz(x: np.float64, y: np.float64) -> np.float64:
        """``a + b``, rounded toward 0."""
    @staticmethod
    def ddiv_rd(x: np.float64, y: np.float64) -> np.float64:
        """``a / b``, rounded down."""
    @staticmethod
    def ddiv_rn(x: np.float64, y: np.float64) -> np.float64:
        """``a / b``, rounded to nearest, ties to even."""
    @staticmethod
    def ddiv_ru(x: np.float64, y: np.float64) -> np.float64:
        """``a / b``, rounded up."""
    @staticmethod
    def ddiv_rz(x: np.float64, y: np.float64) -> np.float64:
        """``a / b``, rounded toward 0."""
    @staticmethod
    def dmul_rd(x: np.float64, y: np.float64) -> np.float64:
        """``a * b``, rounded down."""
    @staticmethod
    def dmul_rn(x: np.float64, y: np.float64) -> np.float64:
        """``a * b``, rounded to nearest, ties to even."""
    @staticmethod
    def dmul_ru(x: np.float64, y: np.float64) -> np.float64:
        """``a * b``, rounded up."""
    @staticmethod
    def dmul_rz(x: np.float64, y: np.float64) -> np.float64:
        """``a * b``, rounded toward 0."""
    @staticmethod
    def double2float_rd(x: np.float64) -> np.float32:
        """The number as a float32, rounded down."""
    @staticmethod
    def double2float_rn(x: np.float64) -> np.float32:
        """The number as a float32, rounded to nearest, ties to even."""
    @staticmethod
    def double2float_ru(x: np.float64) -> np.float32:
        """The number as a float32, rounded up."""
    @staticmethod
    def double2float_rz(x: np.float64) -> np.float32:
        """The number as a float32, rounded toward 0."""
    @staticmethod
    def double2hiint(x: np.float64) -> SupportsIndex:
        """The upper 32 bits of ``x``."""
    @staticmethod
    def double2int_rd(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def double2int_rn(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def double2int_ru(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def double2int_rz(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def double2ll_rd(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def double2ll_rn(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def double2ll_ru(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def double2ll_rz(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def double2loint(x: np.float64) -> SupportsIndex:
        """The lower 32 bits of ``x``."""
    @staticmethod
    def double2uint_rd(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def double2uint_rn(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def double2uint_ru(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def double2uint_rz(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def double2ull_rd(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def double2ull_rn(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def double2ull_ru(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def double2ull_rz(x: np.float64) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def double_as_longlong(x: np.float64) -> SupportsIndex:
        """The int64 that has the bits of ``x``."""
    @staticmethod
    def drcp_rd(x: np.float64) -> np.float64:
        """``1 / x``, rounded down."""
    @staticmethod
    def drcp_rn(x: np.float64) -> np.float64:
        """``1 / x``, rounded to nearest, ties to even."""
    @staticmethod
    def drcp_ru(x: np.float64) -> np.float64:
        """``1 / x``, rounded up."""
    @staticmethod
    def drcp_rz(x: np.float64) -> np.float64:
        """``1 / x``, rounded toward 0."""
    @staticmethod
    def dsqrt_rd(x: np.float64) -> np.float64:
        """The square root, rounded down."""
    @staticmethod
    def dsqrt_rn(x: np.float64) -> np.float64:
        """The square root, rounded to nearest, ties to even."""
    @staticmethod
    def dsqrt_ru(x: np.float64) -> np.float64:
        """The square root, rounded up."""
    @staticmethod
    def dsqrt_rz(x: np.float64) -> np.float64:
        """The square root, rounded toward 0."""
    @staticmethod
    def erf(x: np.float64) -> np.float64:
        """The error function."""
    @staticmethod
    def erfc(x: np.float64) -> np.float64:
        """The complementary error function."""
    @staticmethod
    def erfcf(x: np.float32) -> np.float32:
        """The complementary error function."""
    @staticmethod
    def erfcinv(x: np.float64) -> np.float64:
        """The inverse of ``erfc``."""
    @staticmethod
    def erfcinvf(x: np.float32) -> np.float32:
        """The inverse of ``erfc``."""
    @staticmethod
    def erfcx(x: np.float64) -> np.float64:
        """``exp(x * x) * erfc(x)``, without overflow."""
    @staticmethod
    def erfcxf(x: np.float32) -> np.float32:
        """``exp(x * x) * erfc(x)``, without overflow."""
    @staticmethod
    def erff(x: np.float32) -> np.float32:
        """The error function."""
    @staticmethod
    def erfinv(x: np.float64) -> np.float64:
        """The inverse of ``erf``."""
    @staticmethod
    def erfinvf(x: np.float32) -> np.float32:
        """The inverse of ``erf``."""
    @staticmethod
    def exp(x: np.float64) -> np.float64:
        """e to the power ``x``."""
    @staticmethod
    def exp10(x: np.float64) -> np.float64:
        """10 to the power ``x``."""
    @staticmethod
    def exp10f(x: np.float32) -> np.float32:
        """10 to the power ``x``."""
    @staticmethod
    def exp2(x: np.float64) -> np.float64:
        """2 to the power ``x``."""
    @staticmethod
    def exp2f(x: np.float32) -> np.float32:
        """2 to the power ``x``."""
    @staticmethod
    def expf(x: np.float32) -> np.float32:
        """e to the power ``x``."""
    @staticmethod
    def expm1(x: np.float64) -> np.float64:
        """``exp(x) - 1``, exact near 0."""
    @staticmethod
    def expm1f(x: np.float32) -> np.float32:
        """``exp(x) - 1``, exact near 0."""
    @staticmethod
    def fabs(x: np.float64) -> np.float64:
        """The absolute value, as a float."""
    @staticmethod
    def fabsf(x: np.float32) -> np.float32:
        """The absolute value, as a float."""
    @staticmethod
    def fadd_rd(x: np.float32, y: np.float32) -> np.float32:
        """``a + b``, rounded down."""
    @staticmethod
    def fadd_rn(x: np.float32, y: np.float32) -> np.float32:
        """``a + b``, rounded to nearest, ties to even."""
    @staticmethod
    def fadd_ru(x: np.float32, y: np.float32) -> np.float32:
        """``a + b``, rounded up."""
    @staticmethod
    def fadd_rz(x: np.float32, y: np.float32) -> np.float32:
        """``a + b``, rounded toward 0."""
    @staticmethod
    def fast_cosf(x: np.float32) -> np.float32:
        """The cosine, fast and less exact on a GPU."""
    @staticmethod
    def fast_exp10f(x: np.float32) -> np.float32:
        """10 to the power ``x``, fast and less exact on a GPU."""
    @staticmethod
    def fast_expf(x: np.float32) -> np.float32:
        """e to the power ``x``, fast and less exact on a GPU."""
    @staticmethod
    def fast_fdividef(x: np.float32, y: np.float32) -> np.float32:
        """Return ``a / b``; faster and less exact on a GPU."""
    @staticmethod
    def fast_log10f(x: np.float32) -> np.float32:
        """The logarithm to base 10, fast and less exact on a GPU."""
    @staticmethod
    def fast_log2f(x: np.float32) -> np.float32:
        """The logarithm to base 2, fast and less exact on a GPU."""
    @staticmethod
    def fast_logf(x: np.float32) -> np.float32:
        """The natural logarithm, fast and less exact on a GPU."""
    @staticmethod
    def fast_powf(x: np.float32, y: np.float32) -> np.float32:
        """Return ``a`` to the power ``b`` for a positive ``a``; faster and less exact on a GPU."""
    @staticmethod
    def fast_sincosf(x: np.float32) -> tuple[np.float32, np.float32]:
        """The sine and the cosine of ``x`` radians."""
    @staticmethod
    def fast_sinf(x: np.float32) -> np.float32:
        """The sine, fast and less exact on a GPU."""
    @staticmethod
    def fast_tanf(x: np.float32) -> np.float32:
        """The tangent, fast and less exact on a GPU."""
    @staticmethod
    def fdim(x: np.float64, y: np.float64) -> np.float64:
        """``a - b`` if that is positive, else 0."""
    @staticmethod
    def fdimf(x: np.float32, y: np.float32) -> np.float32:
        """``a - b`` if that is positive, else 0."""
    @staticmethod
    def fdiv_rd(x: np.float32, y: np.float32) -> np.float32:
        """``a / b``, rounded down."""
    @staticmethod
    def fdiv_rn(x: np.float32, y: np.float32) -> np.float32:
        """``a / b``, rounded to nearest, ties to even."""
    @staticmethod
    def fdiv_ru(x: np.float32, y: np.float32) -> np.float32:
        """``a / b``, rounded up."""
    @staticmethod
    def fdiv_rz(x: np.float32, y: np.float32) -> np.float32:
        """``a / b``, rounded toward 0."""
    @staticmethod
    def ffs(x: SupportsIndex) -> SupportsIndex:
        """Return the position of the lowest set bit, counted from 1; 0 for 0."""
    @staticmethod
    def ffsll(x: SupportsIndex) -> SupportsIndex:
        """Return the position of the lowest set bit, counted from 1; 0 for 0."""
    @staticmethod
    def finitef(x: np.float32) -> SupportsIndex:
        """Whether ``x`` is neither infinite nor NaN."""
    @staticmethod
    def float2half_rn(x: np.float32) -> SupportsIndex:
        """The bits of the nearest float16."""
    @staticmethod
    def float2int_rd(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def float2int_rn(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def float2int_ru(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def float2int_rz(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def float2ll_rd(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def float2ll_rn(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def float2ll_ru(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def float2ll_rz(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def float2uint_rd(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def float2uint_rn(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def float2uint_ru(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def float2uint_rz(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def float2ull_rd(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded down; saturates to the range of the type."""
    @staticmethod
    def float2ull_rn(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded to nearest, ties to even; saturates to the range of the type."""
    @staticmethod
    def float2ull_ru(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded up; saturates to the range of the type."""
    @staticmethod
    def float2ull_rz(x: np.float32) -> SupportsIndex:
        """A float as an integer, rounded toward 0; saturates to the range of the type."""
    @staticmethod
    def float_as_int(x: np.float32) -> SupportsIndex:
        """The int32 that has the bits of ``x``."""
    @staticmethod
    def floor(x: np.float64) -> np.float64:
        """The largest integer not above ``x``, as a float."""
    @staticmethod
    def floorf(x: np.float32) -> np.float32:
        """The largest integer not above ``x``, as a float."""
    @staticmethod
    def fma(x: np.float64, y: np.float64, z: np.float64) -> np.float64:
        """Return ``a * b + c``, rounded once."""
    @staticmethod
    def fma_rd(x: np.float64, y: np.float64, z: np.float64) -> np.float64:
        """``a * b + c``, rounded once, down."""
    @staticmethod
    def fma_rn(x: np.float64, y: np.float64, z: np.float64) -> np.float64:
        """``a * b + c``, rounded once, to nearest, ties to even."""
    @staticmethod
    def fma_ru(x: np.float64, y: np.float64, z: np.float64) -> np.float64:
        """``a * b + c``, rounded once, up."""
    @staticmethod
    def fma_rz(x: np.float64, y: np.float64, z: np.float64) -> np.float64:
        """``a * b + c``, rounded once, toward 0."""
    @staticmethod
    def fmaf(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
        """Return ``a * b + c``, rounded once."""
    @staticmethod
    def fmaf_rd(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
        """``a * b + c``, rounded once, down."""
    @staticmethod
    def fmaf_rn(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
        """``a * b + c``, rounded once, to nearest, ties to even."""
    @staticmethod
    def fmaf_ru(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
        """``a * b + c``, rounded once, up."""
    @staticmethod
    def fmaf_rz(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
        """``a * b + c``, rounded once, toward 0."""
    @staticmethod
    def fmax(x: np.float64, y: np.float64) -> np.float64:
        """The greater; of a NaN and a number, the number."""
    @staticmethod
    def fmaxf(x: np.float32, y: np.float32) -> np.float32:
        """The greater; of a NaN and a number, the number."""
    @staticmethod
    def fmin(x: np.float64, y: np.float64) -> np.float64:
        """The lesser; of a NaN and a number, the number."""
    @staticmethod
    def fminf(x: np.float32, y: np.float32) -> np.float32:
        """The lesser; of a NaN and a number, the number."""
    @staticmethod
    def fmod(x: np.float64, y: np.float64) -> np.float64:
        """The remainder with the sign of ``a``, as in C."""
    @staticmethod
    def fmodf(x: np.float32, y: np.float32) -> np.float32:
        """The remainder with the sign of ``a``, as in C."""
    @staticmethod
    def fmul_rd(x: np.float32, y: np.float32) -> np.float32:
        """``a * b``, rounded down."""
    @staticmethod
    def fmul_rn(x: np.float32, y: np.float32) -> np.float32:
        """``a * b``, rounded to nearest, ties to even."""
    @staticmethod
    def fmul_ru(x: np.float32, y: np.float32) -> np.float32:
        """``a * b``, rounded up."""
    @staticmethod
    def fmul_rz(x: np.float32, y: np.float32) -> np.float32:
        """``a * b``, rounded toward 0."""
    @staticmethod
    def frcp_rd(x: np.float32) -> np.float32:
        """``1 / x``, rounded down."""
    @staticmethod
    def frcp_rn(x: np.float32) -> np.float32:
        """``1 / x``, rounded to nearest, ties to even."""
    @staticmethod
    def frcp_ru(x: np.float32) -> np.float32:
        """``1 / x``, rounded up."""
    @staticmethod
    def frcp_rz(x: np.float32) -> np.float32:
        """``1 / x``, rounded toward 0."""
    @staticmethod
    def frexp(x: np.float64) -> tuple[np.float64, np.int32]:
        """``m, e`` with ``x == m * 2**e`` and ``m`` at least 1/2 and less than 1."""
    @staticmethod
    def frexpf(x: np.float32) -> tuple[np.float32, np.int32]:
        """``m, e`` with ``x == m * 2**e`` and ``m`` at least 1/2 and less than 1."""
    @staticmethod
    def frsqrt_rn(x: np.float32) -> np.float32:
        """``1 / sqrt(x)``, rounded to nearest, ties to even."""
    @staticmethod
    def fsqrt_rd(x: np.float32) -> np.float32:
        """The square root, rounded down."""
    @staticmethod
    def fsqrt_rn(x: np.float32) -> np.float32:
        """The square root, rounded to nearest, ties to even."""
    @staticmethod
    def fsqrt_ru(x: np.float32) -> np.float32:
        """The square root, rounded up."""
    @staticmethod
    def fsqrt_rz(x: np.float32) -> np.float32:
        """The square root, rounded toward 0."""
    @staticmethod
    def fsub_rd(x: np.float32, y: np.float32) -> np.float32:
        """``a - b``, rounded down."""
    @staticmethod
    def fsub_rn(x: np.float32, y: np.float32) -> np.float32:
        """``a - b``, rounded to nearest, ties to even."""
    @staticmethod
    def fsub_ru(x: np.float32, y: np.float32) -> np.float32:
        """``a - b``, rounded up."""
    @staticmethod
    def fsub_rz(x: np.float32, y: np.float32) -> np.float32:
        """``a - b``, rounded toward 0."""
    @staticmethod
    def hadd(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The average of ``x`` and ``y``, rounded down, without overflow."""
    @staticmethod
    def half2float(x: SupportsIndex) -> np.float32:
        """The float16 that has the bits of ``x``."""
    @staticmethod
    def hiloint2double(x: SupportsIndex, y: SupportsIndex) -> np.float64:
        """Return the float64 with these upper and lower 32 bits."""
    @staticmethod
    def hypot(x: np.float64, y: np.float64) -> np.float64:
        """``sqrt(a * a + b * b)`` without overflow."""
    @staticmethod
    def hypotf(x: np.float32, y: np.float32) -> np.float32:
        """``sqrt(a * a + b * b)`` without overflow."""
    @staticmethod
    def ilogb(x: np.float64) -> SupportsIndex:
        """The exponent of ``x`` to base 2, as an int; the minimum of int32 for 0 and NaN, its"""
    @staticmethod
    def ilogbf(x: np.float32) -> SupportsIndex:
        """The exponent of ``x`` to base 2, as an int; the minimum of int32 for 0 and NaN, its"""
    @staticmethod
    def int2double_rn(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded to nearest, ties to even."""
    @staticmethod
    def int2float_rd(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded down."""
    @staticmethod
    def int2float_rn(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded to nearest, ties to even."""
    @staticmethod
    def int2float_ru(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded up."""
    @staticmethod
    def int2float_rz(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded toward 0."""
    @staticmethod
    def int_as_float(x: SupportsIndex) -> np.float32:
        """The float32 that has the bits of ``x``."""
    @staticmethod
    def isfinited(x: np.float64) -> SupportsIndex:
        """Whether ``x`` is neither infinite nor NaN."""
    @staticmethod
    def isinfd(x: np.float64) -> SupportsIndex:
        """Whether ``x`` is an infinity."""
    @staticmethod
    def isinff(x: np.float32) -> SupportsIndex:
        """Whether ``x`` is an infinity."""
    @staticmethod
    def isnand(x: np.float64) -> SupportsIndex:
        """Whether ``x`` is not a number."""
    @staticmethod
    def isnanf(x: np.float32) -> SupportsIndex:
        """Whether ``x`` is not a number."""
    @staticmethod
    def j0(x: np.float64) -> np.float64:
        """The Bessel function of the first kind, order 0."""
    @staticmethod
    def j0f(x: np.float32) -> np.float32:
        """The Bessel function of the first kind, order 0."""
    @staticmethod
    def j1(x: np.float64) -> np.float64:
        """The Bessel function of the first kind, order 1."""
    @staticmethod
    def j1f(x: np.float32) -> np.float32:
        """The Bessel function of the first kind, order 1."""
    @staticmethod
    def jn(x: SupportsIndex, y: np.float64) -> np.float64:
        """The Bessel function of the first kind, order ``n``."""
    @staticmethod
    def jnf(x: SupportsIndex, y: np.float32) -> np.float32:
        """The Bessel function of the first kind, order ``n``."""
    @staticmethod
    def ldexp(x: np.float64, y: SupportsIndex) -> np.float64:
        """Return ``x * 2**exponent``, rounded once."""
    @staticmethod
    def ldexpf(x: np.float32, y: SupportsIndex) -> np.float32:
        """Return ``x * 2**exponent``, rounded once."""
    @staticmethod
    def lgamma(x: np.float64) -> np.float64:
        """The logarithm of the absolute value of the gamma function."""
    @staticmethod
    def lgammaf(x: np.float32) -> np.float32:
        """The logarithm of the absolute value of the gamma function."""
    @staticmethod
    def ll2double_rd(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded down."""
    @staticmethod
    def ll2double_rn(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded to nearest, ties to even."""
    @staticmethod
    def ll2double_ru(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded up."""
    @staticmethod
    def ll2double_rz(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded toward 0."""
    @staticmethod
    def ll2float_rd(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded down."""
    @staticmethod
    def ll2float_rn(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded to nearest, ties to even."""
    @staticmethod
    def ll2float_ru(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded up."""
    @staticmethod
    def ll2float_rz(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded toward 0."""
    @staticmethod
    def llabs(x: SupportsIndex) -> SupportsIndex:
        """Return the absolute value; the minimum of an integer type wraps to itself."""
    @staticmethod
    def llmax(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b > a else a``."""
    @staticmethod
    def llmin(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b < a else a``."""
    @staticmethod
    def llrint(x: np.float64) -> SupportsIndex:
        """Round to the nearest integer, ties to even; return an int."""
    @staticmethod
    def llrintf(x: np.float32) -> SupportsIndex:
        """Round to the nearest integer, ties to even; return an int."""
    @staticmethod
    def llround(x: np.float64) -> SupportsIndex:
        """Round to the nearest integer, ties away from 0, as in C; return an int."""
    @staticmethod
    def llroundf(x: np.float32) -> SupportsIndex:
        """Round to the nearest integer, ties away from 0, as in C; return an int."""
    @staticmethod
    def log(x: np.float64) -> np.float64:
        """The natural logarithm; -inf of 0, NaN of a negative number."""
    @staticmethod
    def log10(x: np.float64) -> np.float64:
        """The logarithm to base 10."""
    @staticmethod
    def log10f(x: np.float32) -> np.float32:
        """The logarithm to base 10."""
    @staticmethod
    def log1p(x: np.float64) -> np.float64:
        """``log(1 + x)``, exact near 0."""
    @staticmethod
    def log1pf(x: np.float32) -> np.float32:
        """``log(1 + x)``, exact near 0."""
    @staticmethod
    def log2(x: np.float64) -> np.float64:
        """The logarithm to base 2."""
    @staticmethod
    def log2f(x: np.float32) -> np.float32:
        """The logarithm to base 2."""
    @staticmethod
    def logb(x: np.float64) -> np.float64:
        """The exponent of ``x`` to base 2, as a float."""
    @staticmethod
    def logbf(x: np.float32) -> np.float32:
        """The exponent of ``x`` to base 2, as a float."""
    @staticmethod
    def logf(x: np.float32) -> np.float32:
        """The natural logarithm; -inf of 0, NaN of a negative number."""
    @staticmethod
    def longlong_as_double(x: SupportsIndex) -> np.float64:
        """The float64 that has the bits of ``x``."""
    @staticmethod
    def max(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b > a else a``."""
    @staticmethod
    def min(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b < a else a``."""
    @staticmethod
    def modf(x: np.float64) -> tuple[np.float64, np.float64]:
        """The fraction and the whole part, both with the sign of ``x``."""
    @staticmethod
    def modff(x: np.float32) -> tuple[np.float32, np.float32]:
        """The fraction and the whole part, both with the sign of ``x``."""
    @staticmethod
    def mul24(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The lower 32 bits of the product of the lower 24 bits of each."""
    @staticmethod
    def mul64hi(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The upper 64 bits of ``x * y``."""
    @staticmethod
    def mulhi(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The upper 32 bits of ``x * y``."""
    @staticmethod
    def nearbyint(x: np.float64) -> np.float64:
        """The nearest integer, ties to even, as a float."""
    @staticmethod
    def nearbyintf(x: np.float32) -> np.float32:
        """The nearest integer, ties to even, as a float."""
    @staticmethod
    def nextafter(x: np.float64, y: np.float64) -> np.float64:
        """The next number from ``a`` towards ``b``."""
    @staticmethod
    def nextafterf(x: np.float32, y: np.float32) -> np.float32:
        """The next number from ``a`` towards ``b``."""
    @staticmethod
    def normcdf(x: np.float64) -> np.float64:
        """The cumulative normal distribution function."""
    @staticmethod
    def normcdff(x: np.float32) -> np.float32:
        """The cumulative normal distribution function."""
    @staticmethod
    def normcdfinv(x: np.float64) -> np.float64:
        """The inverse of ``normcdf``."""
    @staticmethod
    def normcdfinvf(x: np.float32) -> np.float32:
        """The inverse of ``normcdf``."""
    @staticmethod
    def popc(x: SupportsIndex) -> SupportsIndex:
        """Return the number of set bits of ``x``."""
    @staticmethod
    def popcll(x: SupportsIndex) -> SupportsIndex:
        """Return the number of set bits of ``x``."""
    @staticmethod
    def pow(x: np.float64, y: np.float64) -> np.float64:
        """``a`` to the power ``b``, as floats."""
    @staticmethod
    def powf(x: np.float32, y: np.float32) -> np.float32:
        """``a`` to the power ``b``, as floats."""
    @staticmethod
    def powi(x: np.float64, y: SupportsIndex) -> np.float64:
        """Return ``x`` to an integer power."""
    @staticmethod
    def powif(x: np.float32, y: SupportsIndex) -> np.float32:
        """Return ``x`` to an integer power."""
    @staticmethod
    def rcbrt(x: np.float64) -> np.float64:
        """``1 / cbrt(x)``."""
    @staticmethod
    def rcbrtf(x: np.float32) -> np.float32:
        """``1 / cbrt(x)``."""
    @staticmethod
    def remainder(x: np.float64, y: np.float64) -> np.float64:
        """``a - b * n`` for the whole ``n`` nearest ``a / b``."""
    @staticmethod
    def remainderf(x: np.float32, y: np.float32) -> np.float32:
        """``a - b * n`` for the whole ``n`` nearest ``a / b``."""
    @staticmethod
    def remquo(x: np.float64, y: np.float64) -> tuple[np.float64, np.int32]:
        """The remainder of ``x / y``, and the lowest 3 bits of the quotient."""
    @staticmethod
    def remquof(x: np.float32, y: np.float32) -> tuple[np.float32, np.int32]:
        """The remainder of ``x / y``, and the lowest 3 bits of the quotient."""
    @staticmethod
    def rhadd(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The average of ``x`` and ``y``, rounded up, without overflow."""
    @staticmethod
    def rint(x: np.float64) -> np.float64:
        """The nearest integer, ties to even, as a float."""
    @staticmethod
    def rintf(x: np.float32) -> np.float32:
        """The nearest integer, ties to even, as a float."""
    @staticmethod
    def round(x: np.float64) -> np.float64:
        """The nearest integer as a float, ties away from 0, as in C."""
    @staticmethod
    def roundf(x: np.float32) -> np.float32:
        """The nearest integer as a float, ties away from 0, as in C."""
    @staticmethod
    def rsqrt(x: np.float64) -> np.float64:
        """``1 / sqrt(x)``."""
    @staticmethod
    def rsqrtf(x: np.float32) -> np.float32:
        """``1 / sqrt(x)``."""
    @staticmethod
    def sad(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> SupportsIndex:
        """``|x - y| + z``."""
    @staticmethod
    def saturatef(x: np.float32) -> np.float32:
        """``x`` clamped to the range from 0 to 1; 0 for NaN."""
    @staticmethod
    def scalbn(x: np.float64, y: SupportsIndex) -> np.float64:
        """Return ``x * 2**exponent``, rounded once."""
    @staticmethod
    def scalbnf(x: np.float32, y: SupportsIndex) -> np.float32:
        """Return ``x * 2**exponent``, rounded once."""
    @staticmethod
    def signbitd(x: np.float64) -> SupportsIndex:
        """Return whether the sign bit of ``x`` is set."""
    @staticmethod
    def signbitf(x: np.float32) -> SupportsIndex:
        """Return whether the sign bit of ``x`` is set."""
    @staticmethod
    def sin(x: np.float64) -> np.float64:
        """The sine of ``x`` radians."""
    @staticmethod
    def sincos(x: np.float64) -> tuple[np.float64, np.float64]:
        """The sine and the cosine of ``x`` radians."""
    @staticmethod
    def sincosf(x: np.float32) -> tuple[np.float32, np.float32]:
        """The sine and the cosine of ``x`` radians."""
    @staticmethod
    def sincospi(x: np.float64) -> tuple[np.float64, np.float64]:
        """The sine and the cosine of ``pi * x``."""
    @staticmethod
    def sincospif(x: np.float32) -> tuple[np.float32, np.float32]:
        """The sine and the cosine of ``pi * x``."""
    @staticmethod
    def sinf(x: np.float32) -> np.float32:
        """The sine of ``x`` radians."""
    @staticmethod
    def sinh(x: np.float64) -> np.float64:
        """The hyperbolic sine."""
    @staticmethod
    def sinhf(x: np.float32) -> np.float32:
        """The hyperbolic sine."""
    @staticmethod
    def sinpi(x: np.float64) -> np.float64:
        """The sine of ``pi * x``."""
    @staticmethod
    def sinpif(x: np.float32) -> np.float32:
        """The sine of ``pi * x``."""
    @staticmethod
    def sqrt(x: np.float64) -> np.float64:
        """The square root; NaN of a negative number."""
    @staticmethod
    def sqrtf(x: np.float32) -> np.float32:
        """The square root; NaN of a negative number."""
    @staticmethod
    def tan(x: np.float64) -> np.float64:
        """The tangent of ``x`` radians."""
    @staticmethod
    def tanf(x: np.float32) -> np.float32:
        """The tangent of ``x`` radians."""
    @staticmethod
    def tanh(x: np.float64) -> np.float64:
        """The hyperbolic tangent."""
    @staticmethod
    def tanhf(x: np.float32) -> np.float32:
        """The hyperbolic tangent."""
    @staticmethod
    def tgamma(x: np.float64) -> np.float64:
        """The gamma function."""
    @staticmethod
    def tgammaf(x: np.float32) -> np.float32:
        """The gamma function."""
    @staticmethod
    def trunc(x: np.float64) -> np.float64:
        """``x`` without its fraction, as a float."""
    @staticmethod
    def truncf(x: np.float32) -> np.float32:
        """``x`` without its fraction, as a float."""
    @staticmethod
    def uhadd(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The average of ``x`` and ``y``, rounded down, without overflow."""
    @staticmethod
    def uint2double_rn(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded to nearest, ties to even."""
    @staticmethod
    def uint2float_rd(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded down."""
    @staticmethod
    def uint2float_rn(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded to nearest, ties to even."""
    @staticmethod
    def uint2float_ru(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded up."""
    @staticmethod
    def uint2float_rz(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded toward 0."""
    @staticmethod
    def ull2double_rd(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded down."""
    @staticmethod
    def ull2double_rn(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded to nearest, ties to even."""
    @staticmethod
    def ull2double_ru(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded up."""
    @staticmethod
    def ull2double_rz(x: SupportsIndex) -> np.float64:
        """The number as a float64, rounded toward 0."""
    @staticmethod
    def ull2float_rd(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded down."""
    @staticmethod
    def ull2float_rn(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded to nearest, ties to even."""
    @staticmethod
    def ull2float_ru(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded up."""
    @staticmethod
    def ull2float_rz(x: SupportsIndex) -> np.float32:
        """The number as a float32, rounded toward 0."""
    @staticmethod
    def ullmax(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b > a else a``."""
    @staticmethod
    def ullmin(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b < a else a``."""
    @staticmethod
    def umax(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b > a else a``."""
    @staticmethod
    def umin(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """Return ``b if b < a else a``."""
    @staticmethod
    def umul24(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The lower 32 bits of the product of the lower 24 bits of each."""
    @staticmethod
    def umul64hi(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The upper 64 bits of ``x * y``."""
    @staticmethod
    def umulhi(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The upper 32 bits of ``x * y``."""
    @staticmethod
    def urhadd(x: SupportsIndex, y: SupportsIndex) -> SupportsIndex:
        """The average of ``x`` and ``y``, rounded up, without overflow."""
    @staticmethod
    def usad(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> SupportsIndex:
        """``|x - y| + z``."""
    @staticmethod
    def y0(x: np.float64) -> np.float64:
        """The Bessel function of the second kind, order 0."""
    @staticmethod
    def y0f(x: np.float32) -> np.float32:
        """The Bessel function of the second kind, order 0."""
    @staticmethod
    def y1(x: np.float64) -> np.float64:
        """The Bessel function of the second kind, order 1."""
    @staticmethod
    def y1f(x: np.float32) -> np.float32:
        """The Bessel function of the second kind, order 1."""
    @staticmethod
    def yn(x: SupportsIndex, y: np.float64) -> np.float64:
        """The Bessel function of the second kind, order ``n``."""
    @staticmethod
    def ynf(x: SupportsIndex, y: np.float32) -> np.float32:
        """The Bessel function of the second kind, order ``n``."""

libdevice: _libdevice

def ll2double_rd(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded down."""

def ll2double_rn(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded to nearest, ties to even."""

def ll2double_ru(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded up."""

def ll2double_rz(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded toward 0."""

def ll2float_rd(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded down."""

def ll2float_rn(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded to nearest, ties to even."""

def ll2float_ru(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded up."""

def ll2float_rz(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded toward 0."""

def llround(x: _Real) -> int:
    """Round to the nearest integer, ties away from 0, as in C; return an int."""

class _local:
    @overload
    @staticmethod
    def array(shape: int | tuple[int], dtype: type[_E], alignment: int = 0) -> Array[_E, Literal[1], Literal["C"]]:
        """Return an uninitialized array that is private to the thread.

        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int], dtype: type[_E], alignment: int = 0) -> Array[_E, Literal[2], Literal["C"]]:
        """Return an uninitialized array that is private to the thread.

        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int, int], dtype: type[_E], alignment: int = 0) -> Array[_E, Literal[3], Literal["C"]]:
        """Return an uninitialized array that is private to the thread.

        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""
    @overload
    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: Any, alignment: int = 0) -> Any:
        """Return an uninitialized array that is private to the thread.

        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""

local: _local

def logb(x: _Real) -> float:
    """The exponent of ``x`` to base 2, as a float."""

def longlong_as_double(x: SupportsIndex) -> np.float64:
    """The float64 that has the bits of ``x``."""

def match_all_sync(mask: SupportsIndex, value: _Number) -> tuple[int, bool]:
    """Return ``(mask, True)`` if all lanes of ``mask`` have the same value, else ``(0, False)``."""

def match_any_sync(mask: SupportsIndex, value: _T) -> int:
    """Return the lanes of ``mask`` with the same value, bit for bit.

    NaN equals NaN, and -0.0 differs from 0.0."""

def modf(x: _Real) -> tuple[Any, Any]:
    """The fraction and the whole part, both with the sign of ``x``."""

def mul24(x: SupportsIndex, y: SupportsIndex) -> np.int32:
    """The lower 32 bits of the product of the lower 24 bits of each."""

def mul64hi(x: SupportsIndex, y: SupportsIndex) -> np.int64:
    """The upper 64 bits of ``x * y``."""

def mulhi(x: SupportsIndex, y: SupportsIndex) -> np.int32:
    """The upper 32 bits of ``x * y``."""

def nanosleep(ns: SupportsIndex) -> None:
    """Suspend the thread for about ``ns`` nanoseconds; has no effect on the CPU."""

def norm3d(a: _Real, b: _Real, c: _Real) -> float:
    """``sqrt(a*a + b*b + c*c)`` without overflow."""

def norm4d(a: _Real, b: _Real, c: _Real, d: _Real) -> float:
    """``sqrt(a*a + b*b + c*c + d*d)`` without overflow."""

def normcdf(x: _Real) -> float:
    """The cumulative normal distribution function."""

def normcdfinv(x: _Real) -> float:
    """The inverse of ``normcdf``."""

def popc(x: _T) -> int:
    """Return the number of set bits of ``x``."""

def powi(x: _Real, n: SupportsIndex) -> float:
    """Return ``x`` to an integer power."""

def rcbrt(x: _Real) -> float:
    """``1 / cbrt(x)``."""

def rcp(x: _Real) -> float:
    """``1 / x``."""

def reduce_add_sync(mask: SupportsIndex, value: _T) -> _T:
    """Return the sum of the values of the lanes of ``mask``."""

def reduce_and_sync(mask: SupportsIndex, value: _T) -> _T:
    """Return the bitwise and of the values of the lanes of ``mask``."""

def reduce_max_sync(mask: SupportsIndex, value: _T) -> _T:
    """Return the maximum of the values of the lanes of ``mask``."""

def reduce_min_sync(mask: SupportsIndex, value: _T) -> _T:
    """Return the minimum of the values of the lanes of ``mask``."""

def reduce_or_sync(mask: SupportsIndex, value: _T) -> _T:
    """Return the bitwise or of the values of the lanes of ``mask``."""

def reduce_xor_sync(mask: SupportsIndex, value: _T) -> _T:
    """Return the bitwise exclusive or of the values of the lanes of ``mask``."""

def remquo(x: _Real, y: _Real) -> tuple[Any, Any]:
    """The remainder of ``x / y``, and the lowest 3 bits of the quotient."""

def rhadd(x: SupportsIndex, y: SupportsIndex) -> np.int32:
    """The average of ``x`` and ``y``, rounded up, without overflow."""

def rhypot(a: _Real, b: _Real) -> float:
    """``1 / sqrt(a*a + b*b)`` without overflow."""

def rnorm3d(a: _Real, b: _Real, c: _Real) -> float:
    """``1 / sqrt(a*a + b*b + c*c)`` without overflow."""

def rnorm4d(a: _Real, b: _Real, c: _Real, d: _Real) -> float:
    """``1 / sqrt(a*a + b*b + c*c + d*d)`` without overflow."""

def round(x: _Real) -> float:
    """The nearest integer as a float, ties away from 0, as in C."""

def rsqrt(x: _Real) -> float:
    """``1 / sqrt(x)``."""

def sad(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """``|x - y| + z``."""

def saturate(x: _Real) -> float:
    """``x`` clamped to the range from 0 to 1; 0 for NaN."""

def selp(a: _Number, b: _Number, c: _Number) -> Any:
    """Return ``b if a else c``; both are evaluated."""

class _shared:
    @overload
    @staticmethod
    def array(shape: int | tuple[int], dtype: type[_E], alignment: int = 0) -> Array[_E, Literal[1], Literal["C"]]:
        """Return an uninitialized array that the threads of a block share.

        There is one per block and call. A shape of 0 is the dynamic shared memory of the launch.
        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int], dtype: type[_E], alignment: int = 0) -> Array[_E, Literal[2], Literal["C"]]:
        """Return an uninitialized array that the threads of a block share.

        There is one per block and call. A shape of 0 is the dynamic shared memory of the launch.
        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int, int], dtype: type[_E], alignment: int = 0) -> Array[_E, Literal[3], Literal["C"]]:
        """Return an uninitialized array that the threads of a block share.

        There is one per block and call. A shape of 0 is the dynamic shared memory of the launch.
        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""
    @overload
    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: Any, alignment: int = 0) -> Any:
        """Return an uninitialized array that the threads of a block share.

        There is one per block and call. A shape of 0 is the dynamic shared memory of the launch.
        ``alignment`` is that of the first element in bytes, a power of two up to 1024."""

shared: _shared

def shfl_down_sync(mask: SupportsIndex, value: _E, delta: SupportsIndex, width: SupportsIndex = 32) -> _E:
    """Return the value of the lane ``delta`` above, or the thread's own beyond its segment."""

def shfl_sync(mask: SupportsIndex, value: _E, src_lane: SupportsIndex, width: SupportsIndex = 32) -> _E:
    """Return the value of lane ``src_lane``.

    Lanes count modulo ``width`` (2, 4, 8, 16 or 32) in the segment of the thread."""

def shfl_up_sync(mask: SupportsIndex, value: _E, delta: SupportsIndex, width: SupportsIndex = 32) -> _E:
    """Return the value of the lane ``delta`` below, or the thread's own beyond its segment."""

def shfl_xor_sync(mask: SupportsIndex, value: _E, lane_mask: SupportsIndex, width: SupportsIndex = 32) -> _E:
    """Return the value of lane ``laneid ^ lane_mask``, or the thread's own in a later segment."""

def short_as_bfloat16(x: SupportsIndex) -> Any:
    """The bfloat16 that has the bits of ``x``."""

def short_as_half(x: SupportsIndex) -> np.float16:
    """The float16 that has the bits of ``x``."""

def sincos(x: _Real) -> tuple[Any, Any]:
    """The sine and the cosine of ``x`` radians."""

def sincospi(x: _Real) -> tuple[Any, Any]:
    """The sine and the cosine of ``pi * x``."""

def sinpi(x: _Real) -> float:
    """The sine of ``pi * x``."""

def stcg(array: Array[_E, Any, Any], index: _Index, value: _Number) -> None:
    """``array[index] = value`` in global memory, cached in L2 only."""

def stcs(array: Array[_E, Any, Any], index: _Index, value: _Number) -> None:
    """``array[index] = value`` in global memory, with the streaming hint: likely accessed once."""

def stwb(array: Array[_E, Any, Any], index: _Index, value: _Number) -> None:
    """``array[index] = value`` in global memory, with write-back at all levels."""

def stwt(array: Array[_E, Any, Any], index: _Index, value: _Number) -> None:
    """``array[index] = value`` in global memory, written through to memory."""

def surf1Dread(surface: surface1d[_E], x: SupportsIndex) -> _E:
    """Element ``x`` of a surface; 0 outside of it."""

def surf1Dwrite(value: Any, surface: surface1d[_E], x: SupportsIndex) -> None:
    """Set element ``x`` of a surface; a write outside of it is ignored."""

def surf2Dread(surface: surface2d[_E], x: SupportsIndex, y: SupportsIndex) -> _E:
    """The element of a surface at ``x`` along its last axis and ``y`` along its first; 0 outside of
    it."""

def surf2Dwrite(value: Any, surface: surface2d[_E], x: SupportsIndex, y: SupportsIndex) -> None:
    """Set the element at ``x``, ``y`` of a surface; a write outside of it is ignored."""

def surf3Dread(surface: surface3d[_E], x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> _E:
    """The element of a surface at ``x`` along its last axis, ``y`` and ``z`` along those before; 0
    outside of it."""

def surf3Dwrite(value: Any, surface: surface3d[_E], x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> None:
    """Set the element at ``x``, ``y``, ``z`` of a surface; a write outside of it is ignored."""

def syncthreads() -> None:
    """Wait until every thread of the block has reached the barrier.

    Their earlier writes are then visible to all of them."""

def syncthreads_and(predicate: _Real) -> int:
    """As ``syncthreads``; return 1 if ``predicate`` is true for all threads of the block, else 0."""

def syncthreads_count(predicate: _Real) -> int:
    """As ``syncthreads``; return for how many threads of the block ``predicate`` is true."""

def syncthreads_or(predicate: _Real) -> int:
    """As ``syncthreads``; return 1 if ``predicate`` is true for some thread of the block, else 0."""

def syncwarp(mask: SupportsIndex = 4294967295) -> None:
    """Wait until the lanes of ``mask`` have reached a ``syncwarp``.

    Their earlier writes are then visible to all of them."""

def tex1D(texture: texture1d[_E], x: _Real) -> _E:
    """Return the value of a texture with one axis at ``x``."""

def tex1Dfetch(texture: texture1d[_E], i: SupportsIndex) -> _E:
    """Return element ``i`` of a 1D texture with unnormalized coordinates, as ``tex1D`` at
    ``i + 0.5``."""

def tex2D(texture: texture2d[_E], x: _Real, y: _Real) -> _E:
    """Return the value of a texture at ``x`` along its last axis and ``y`` along its first."""

def tex3D(texture: texture3d[_E], x: _Real, y: _Real, z: _Real) -> _E:
    """Return the value of a texture at ``x`` along its last axis, then ``y`` and ``z``."""

class _threadIdx:
    @property
    def x(self) -> int:
        """Return the index of the thread in its block, along x."""
    @property
    def y(self) -> int:
        """Return the index of the thread in its block, along y."""
    @property
    def z(self) -> int:
        """Return the index of the thread in its block, along z."""

threadIdx: _threadIdx

def threadfence() -> None:
    """Make earlier writes of this thread visible to all threads of the device before its later writes."""

def threadfence_block() -> None:
    """Make earlier writes of this thread visible to the threads of its block before its later writes."""

def threadfence_system() -> None:
    """Make earlier writes of this thread visible to the device and the host before its later writes."""

def udp2a_hi(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """``z``, and the halves of ``x`` times the upper two bytes of ``y``."""

def udp2a_lo(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """``z``, and the halves of ``x`` times the lower two bytes of ``y``."""

def udp4a(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """``z``, and the products of the four bytes of ``x`` with those of ``y``."""

def uhadd(x: SupportsIndex, y: SupportsIndex) -> np.uint32:
    """The average of ``x`` and ``y``, rounded down, without overflow."""

def uint2double_rn(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded to nearest, ties to even."""

def uint2float_rd(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded down."""

def uint2float_rn(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded to nearest, ties to even."""

def uint2float_ru(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded up."""

def uint2float_rz(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded toward 0."""

def uint_as_float(x: SupportsIndex) -> np.float32:
    """The float32 that has the bits of ``x``."""

def ull2double_rd(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded down."""

def ull2double_rn(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded to nearest, ties to even."""

def ull2double_ru(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded up."""

def ull2double_rz(x: SupportsIndex) -> np.float64:
    """The number as a float64, rounded toward 0."""

def ull2float_rd(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded down."""

def ull2float_rn(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded to nearest, ties to even."""

def ull2float_ru(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded up."""

def ull2float_rz(x: SupportsIndex) -> np.float32:
    """The number as a float32, rounded toward 0."""

def umul24(x: SupportsIndex, y: SupportsIndex) -> np.uint32:
    """The lower 32 bits of the product of the lower 24 bits of each."""

def umul64hi(x: SupportsIndex, y: SupportsIndex) -> np.uint64:
    """The upper 64 bits of ``x * y``."""

def umulhi(x: SupportsIndex, y: SupportsIndex) -> np.uint32:
    """The upper 32 bits of ``x * y``."""

def urhadd(x: SupportsIndex, y: SupportsIndex) -> np.uint32:
    """The average of ``x`` and ``y``, rounded up, without overflow."""

def usad(x: SupportsIndex, y: SupportsIndex, z: SupportsIndex) -> np.uint32:
    """``|x - y| + z``."""

def ushort_as_bfloat16(x: SupportsIndex) -> Any:
    """The bfloat16 that has the bits of ``x``."""

def ushort_as_half(x: SupportsIndex) -> np.float16:
    """The float16 that has the bits of ``x``."""

warpsize: int
"""Return the number of threads of a warp: 32."""

def y0(x: _Real) -> float:
    """The Bessel function of the second kind, order 0."""

def y1(x: _Real) -> float:
    """The Bessel function of the second kind, order 1."""

def yn(n: SupportsIndex, x: _Real) -> float:
    """The Bessel function of the second kind, order ``n``."""
