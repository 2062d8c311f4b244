"""Export ``pycuda.driver``: devices, memory, copies, streams, launches."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.contexts import Context as Context
from pycu2c.compat.pycuda.contexts import Device as Device
from pycu2c.compat.pycuda.contexts import get_driver_version as get_driver_version
from pycu2c.compat.pycuda.contexts import get_version as get_version
from pycu2c.compat.pycuda.contexts import init as init
from pycu2c.compat.pycuda.enums import compute_mode as compute_mode
from pycu2c.compat.pycuda.enums import ctx_flags as ctx_flags
from pycu2c.compat.pycuda.enums import device_attribute as device_attribute
from pycu2c.compat.pycuda.enums import event_flags as event_flags
from pycu2c.compat.pycuda.enums import func_cache as func_cache
from pycu2c.compat.pycuda.enums import function_attribute as function_attribute
from pycu2c.compat.pycuda.enums import host_alloc_flags as host_alloc_flags
from pycu2c.compat.pycuda.enums import mem_attach_flags as mem_attach_flags
from pycu2c.compat.pycuda.errors import CompileError as CompileError
from pycu2c.compat.pycuda.errors import Error as Error
from pycu2c.compat.pycuda.errors import LaunchError as LaunchError
from pycu2c.compat.pycuda.errors import LogicError as LogicError
from pycu2c.compat.pycuda.errors import MemoryError as MemoryError
from pycu2c.compat.pycuda.errors import RuntimeError as RuntimeError
from pycu2c.compat.pycuda.function import Function as Function
from pycu2c.compat.pycuda.function import PreparedFunction as PreparedFunction
from pycu2c.compat.pycuda.memory import DeviceAllocation as DeviceAllocation
from pycu2c.compat.pycuda.memory import PointerHolderBase as PointerHolderBase
from pycu2c.compat.pycuda.memory import from_device as from_device
from pycu2c.compat.pycuda.memory import from_device_like as from_device_like
from pycu2c.compat.pycuda.memory import managed_empty as managed_empty
from pycu2c.compat.pycuda.memory import managed_zeros as managed_zeros
from pycu2c.compat.pycuda.memory import mem_alloc as mem_alloc
from pycu2c.compat.pycuda.memory import mem_alloc_like as mem_alloc_like
from pycu2c.compat.pycuda.memory import mem_get_info as mem_get_info
from pycu2c.compat.pycuda.memory import memcpy_dtod as memcpy_dtod
from pycu2c.compat.pycuda.memory import memcpy_dtod_async as memcpy_dtod_async
from pycu2c.compat.pycuda.memory import memcpy_dtoh as memcpy_dtoh
from pycu2c.compat.pycuda.memory import memcpy_dtoh_async as memcpy_dtoh_async
from pycu2c.compat.pycuda.memory import memcpy_htod as memcpy_htod
from pycu2c.compat.pycuda.memory import memcpy_htod_async as memcpy_htod_async
from pycu2c.compat.pycuda.memory import memset_d8 as memset_d8
from pycu2c.compat.pycuda.memory import memset_d8_async as memset_d8_async
from pycu2c.compat.pycuda.memory import memset_d16 as memset_d16
from pycu2c.compat.pycuda.memory import memset_d16_async as memset_d16_async
from pycu2c.compat.pycuda.memory import memset_d32 as memset_d32
from pycu2c.compat.pycuda.memory import memset_d32_async as memset_d32_async
from pycu2c.compat.pycuda.memory import pagelocked_empty as pagelocked_empty
from pycu2c.compat.pycuda.memory import pagelocked_zeros as pagelocked_zeros
from pycu2c.compat.pycuda.memory import to_device as to_device
from pycu2c.compat.pycuda.modules import Module as Module
from pycu2c.compat.pycuda.modules import module_from_buffer as module_from_buffer
from pycu2c.compat.pycuda.modules import module_from_file as module_from_file
from pycu2c.compat.pycuda.streams import Event as Event
from pycu2c.compat.pycuda.streams import Stream as Stream
from pycu2c.devices.allocation import In as In
from pycu2c.devices.allocation import InOut as InOut
from pycu2c.devices.allocation import Out as Out

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of
