"""The parameters of PyCUDA's functions, in one table that completes the docstrings.

Most functions have the parameters of others. An entry describes a parameter by its name, or by
FUNCTION.NAME where a function differs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from types import FunctionType
from typing import Any

_TABLE = """
N : int | The number of seeds.
a, array, input_ary : GPUArray | The array.
dot.a, subset_dot.a, b : GPUArray | The factors.
maximum.a, minimum.a, maximum.b, minimum.b, x1, x2 : GPUArray or number | The operands.
access_size : {4, 8, 16} | The bytes of an access.
add_timer, devices, message_handler : object | Ignored.
alias_ok : bool | Whether the dtype may be registered already.
aligned : bool | Ignored.
alignment : int | The alignment in bytes.
allocator : callable | A function of a size in bytes that returns device memory.
arch, code : str | The architecture, such as "sm_90".
arg : GPUArray | The numbers.
fmod.arg : GPUArray | The dividends.
arg_types : str or sequence | Format characters of ``struct``, ``"PPif"``, or dtypes.
*args : object | The block and the arguments.
ElementwiseKernel.__call__.*args, ReductionKernel.__call__.*args : GPUArray or number | The
  arguments, as declared.
arange.*args : number | ``start`` (0 by default), ``stop`` and ``step`` (1 by default).
ExclusiveScanKernel.*args, ExclusiveScanKernel.**kwargs : object | The other parameters of
  ``InclusiveScanKernel``.
Function.__call__.*args : object | NumPy scalars, arrays, allocations and ``In``, ``Out``,
  ``InOut``.
Function.prepared_async_call.*args : object | The block, which may be omitted, the stream and the
  arguments.
arguments : str or list of Argument | Declarations in C; the first array determines the number of
  elements.
elementwise_text.arguments : list of Argument | The parameters.
ReductionKernel.arguments : str or list of Argument | Declarations in C.
arrays : sequence of GPUArray | The arrays.
concatenate.arrays : sequence of GPUArray | The arrays, with equal shapes except along the axis.
stack.arrays : sequence of GPUArray | The arrays, of one shape.
ary : array_like | The array.
register_host_memory.ary, to_gpu.ary : ndarray | The array.
GPUArray.set.ary, GPUArray.set_async.ary : ndarray | The array, of the same size and dtype.
to_gpu_async.ary : ndarray | The array; page-locked memory is copied asynchronously.
GPUArray.get.ary : ndarray | The target, of the same size and dtype; by default a new array.
GPUArray.get_async.ary : ndarray | The target; by default a new array.
async_ : bool | Whether to copy in the stream, without waiting.
attribute : function_attribute | The attribute.
Device.get_attribute.attribute : device_attribute | The attribute.
axes : sequence of int | The order of the axes; by default reversed.
axis : int | The axis.
stack.axis : int | The position of the new axis.
base : object | An object that owns the memory and is kept alive.
bf_obj : array_like or buffer | The array.
block : tuple of int | The default block.
buffer : bytes | The code.
_StridedCopy.set_src_host.buffer, memcpy_htod.src, memcpy_htod_async.src : array_like or buffer |
  The source.
_StridedCopy.set_dst_host.buffer, memcpy_dtoh.dest, memcpy_dtoh_async.dest : ndarray or buffer |
  The target.
c_arg : str | A declaration such as ``"const float *x"``.
c_names : str or sequence of str | The C types.
**c_texts : str | ``preamble`` before the kernel; ``loop_prep`` and ``after_loop`` before and after
  the loop.
elementwise_text.**c_texts : str | ``preamble``, ``loop_prep`` and ``after_loop``.
cache_dir : str | The cache directory.
config, fc : func_cache | The preference.
Context.set_shared_config.config, sc : shared_config | The bank size.
criterion, else_, then_ : GPUArray | The arrays, of one shape.
ctx_maker : callable | A function of a device that creates the context.
data : int | The integer.
PhiloxRandomNumberGenerator.fill_uniform.data : GPUArray | The array, of float32, float64, int32 or
  uint32.
PhiloxRandomNumberGenerator.fill_normal.data : GPUArray | The array, of float32 or float64.
default : int | The number of the device that is used otherwise.
dest : int, DeviceAllocation or GPUArray | The target.
dest_context, src_context : Context | Ignored: the addresses determine the devices.
dest_indices, indices, subset : GPUArray | The indices.
multi_take_put.dest_indices, src_indices : GPUArray | The indices, of one shape with one axis.
dest_shape : int or tuple of int | The shape of new arrays.
dev : Device | The device; by default that of the thread.
devdata : DeviceData | The limits of the device.
devptr : int or DeviceAllocation | The address.
_StridedCopy.set_src_device.devptr : int or DeviceAllocation | The source.
_StridedCopy.set_dst_device.devptr : int or DeviceAllocation | The target.
dispatcher : object | The kernel.
dtype : dtype_like | The dtype of the elements.
GPUArray.astype.dtype, Operators.map_elements.dtype, dot.dtype, subset_dot.dtype, subset_sum.dtype,
  sum.dtype, dtype_out : dtype_like | The dtype of the result.
empty_like.dtype, ones_like.dtype, zeros_like.dtype : dtype_like | The dtype; by default that of
  the other array.
GPUArray.view.dtype, dtype_to_ctype.dtype, register_dtype.dtype : dtype_like | The dtype.
Argument.dtype : dtype_like | The dtype of the number, or of the elements of the array.
get_or_register_dtype.dtype : dtype_like | The dtype to register; by default the registered one is
  looked up.
PhiloxRandomNumberGenerator.gen_uniform.dtype : dtype_like | float32, float64, int32 or uint32.
PhiloxRandomNumberGenerator.gen_normal.dtype : dtype_like | float32 or float64.
event : Event | The earlier event.
Event.time_till.event : Event | The later event.
evt : Event | The event.
exponent : GPUArray or number | The exponents.
filename : str | The path.
flags : int | Ignored.
Event.flags : int | Flags of ``event_flags``.
Stream.flags : int | 1 for a stream that does not synchronize with the default stream.
register_host_memory.flags : int | Flags of ``mem_host_register_flags``.
PageLockedAllocator.flags, pagelocked_empty.mem_flags : int | Flags of ``host_alloc_flags``.
func : callable | The function.
gpudata : int or DeviceAllocation | The address of existing memory; by default it is allocated.
grid : tuple of int | The grid.
has_range : bool | Whether the kernel has the bounds of a slice as parameters.
height : int | The number of rows.
memset_rows.height, memset_rows.width : int | The integers of a row, and the number of rows.
include_dirs : sequence of str | Folders with headers.
inner_f : callable | The test.
keep : bool | Whether to keep the files, and print their folder.
ElementwiseKernel.keep, ReductionKernel.keep : bool | Whether to keep the files of the compiler.
**kwargs : int | ``shared_size``, bytes of dynamic shared memory.
GPUArray.get.**kwargs, GPUArray.set.**kwargs : bool | ``async``, the older name of ``async_``.
arange.**kwargs : object | The same by name; ``dtype`` and ``stream``.
empty_like.**kwargs : object | ``allocator``, a function of a size in bytes.
reshape.**kwargs : str | ``order``, "C" or "F".
subset_dot.**kwargs : object | ``stream`` and ``allocator``.
Function.__call__.**kwargs : object | ``block``, a tuple of three, required unless ``prepare`` has
  set it; ``grid``, a tuple; ``stream``; ``shared``, bytes of dynamic shared memory;
  ``time_kernel``, whether to wait.
ElementwiseKernel.__call__.**kwargs : object | ``stream``; ``range`` or ``slice``, a slice of the
  elements.
ReductionKernel.__call__.**kwargs : object | ``stream``, ``out`` and ``allocator``.
language : {"cuda", "ptx", "sass", "c"} | The language.
layout : ArrayLayout | The layout of the array.
map_expr : str | C that maps the element ``i``; by default the element of the first array.
mem_flags : int | Flags of ``mem_attach_flags``.
memory : Memory | The allocation.
RegisteredHostMemory.memory : Memory | The memory.
mod : GPUArray or number | The divisors.
n : int | The number of elements.
name : str | The name of the kernel.
Module.get_function.name, Module.get_global.name : str | Its name.
Argument.name : str | The name of the parameter.
name_prefix : str | The start of the names of kernels.
neutral : str or number | The result for no elements.
ExclusiveScanKernel.neutral : str or number | The first result.
InclusiveScanKernel.neutral : str or number | The first result of an exclusive scan.
no_extern_c : bool | Whether the text itself declares its functions ``extern "C"``.
nvcc : str | Ignored: NVRTC compiles.
get_nvcc_version.nvcc : str | Ignored.
preprocess_source.nvcc : str | Ignored: the C compiler preprocesses.
offset : int | The number of the first array.
PointerHolderBase.as_buffer.offset : int | The offset in bytes.
operation : str | C for the element ``i``.
options : sequence of str | Options of nvcc; those that NVRTC supports are used.
preprocess_source.options : sequence of str | Options of nvcc; -I, -D and -U are used.
module_from_buffer.options : object | Ignored, as is ``message_handler``.
InclusiveScanKernel.options : sequence of str | Options of nvcc.
order : {"C", "F"} | The order of the axes in memory.
empty_like.order, ones_like.order, zeros_like.order : {"C", "F", "A", "K"} | The order of axes in
  memory; "K" keeps that of the other array.
GPUArray.reshape.order : {"C", "F"} | The order in which elements are read.
StridedMemory.flat.order : {"", "C", "F"} | The requested order; any by default.
other : Device | The other device.
Operators.mul_add.other, other_ary : GPUArray | The other array.
from_device_like.other_ary : ndarray | An array with the shape and dtype of the result.
otherfac : number | Its factor.
out : GPUArray | The array for the result.
multi_put.out, multi_take.out, multi_take_put.out : sequence of GPUArray | The targets; by default
  new arrays.
output_ary : GPUArray, "new" or None | The array for the result; None for in place.
owner : object | The owner of the memory.
pagelocked : bool | Whether a new array is page-locked.
peer : Context | The context of the other device.
pitch : int | The bytes from one row to the next.
preamble : str | C before the kernel.
InclusiveScanKernel.preamble : str | C before the kernels.
reduce_expr, scan_expr : str | C that combines two values ``a`` and ``b``.
registers : int | Registers of a thread.
seed_getter : callable | A function of a count that returns seeds, such as ``seed_getter_uniform``;
  by default random.
selffac : number | The factor of this array.
shape : int or tuple of int | The lengths of the axes.
*shape : int or tuple of int | The lengths of the axes; one may be -1.
shared : int | Bytes of dynamic shared memory.
shared_mem : int | Bytes of shared memory of a block.
significand : GPUArray | The significands.
size : int | The number of bytes.
DeviceMemoryPool.allocate.size, PointerHolderBase.as_buffer.size, mem_alloc.size : int | The size
  in bytes.
memset.size : int | The number of integers.
source : str | The text.
src : int, DeviceAllocation or GPUArray | The source.
src_offsets : sequence of int | The offset of each array; 0 by default.
stream : Stream | The stream.
ArgumentHandler.post_call.stream, ArgumentHandler.pre_call.stream : Stream | The stream of the
  launch.
stream_or_out : Stream or GPUArray | The stream or the array for the result, by position.
strides : tuple of int | The strides in bytes.
target : {"cubin", "ptx"} | The kind of code.
threads : int | Threads of a block.
value : int | A positive number.
Context.set_limit.value : int | Its value, mostly in bytes.
Function.set_attribute.value : int | Its value.
GPUArray.fill.value : number | The number.
which : limit | The limit.
width : int | The bytes of a row.
x, y : GPUArray | The coordinates.
logical_not.x : GPUArray or number | The operand.
"""
_ENTRY = re.compile(r"(.*?) : (.*?) \| (.*)")
_ENTRIES = {
    name: (kind, description)
    for names, kind, description in _ENTRY.findall(_TABLE.replace("\n  ", " "))
    for name in names.split(", ")
}
_SECTIONS = re.compile(r"\n\n(?:Returns|Yields|Raises|Examples)\n-|\Z")


def document_parameters(namespace: Mapping[str, Any]) -> None:
    """Add the section Parameters to the docstrings of functions, classes and their methods."""
    for value in namespace.values():
        for documented in (value, *_methods(value)):
            if getattr(documented, "__module__", "").startswith("pycu2c.compat.pycuda."):
                _document(documented)


def _methods(value: object) -> Iterator[object]:
    """Yield the methods of a class and its bases."""
    for cls in value.__mro__ if isinstance(value, type) else ():
        for member in vars(cls).values():
            function = getattr(member, "__func__", member)  # of static methods and class methods
            if isinstance(function, FunctionType):
                yield function


def _document(value: Any) -> None:
    if not isinstance(value, FunctionType | type) or not value.__doc__:
        return
    if isinstance(value, type) and not isinstance(vars(value).get("__init__"), FunctionType):
        return
    doc = inspect.cleandoc(value.__doc__)
    parameters = _parameters(value)
    if parameters and "\nParameters\n---" not in doc:
        section = f"\n\nParameters\n----------\n{parameters}"
        end = _SECTIONS.search(doc)
        assert end is not None
        value.__doc__ = f"{doc[: end.start()]}{section}{doc[end.start() :]}"


def _parameters(value: Any) -> str:
    """Return the entries of the parameters; equal ones in a row are one entry."""
    function = value.__qualname__.rpartition("<locals>.")[2]
    described = []
    for parameter in inspect.signature(value).parameters.values():
        name = str(parameter).partition(":")[0].partition("=")[0].strip()
        entry = _ENTRIES.get(f"{function}.{name}") or _ENTRIES.get(name)
        if entry is not None:  # not ``self``
            optional = "" if parameter.default is parameter.empty else ", optional"
            described.append((name, f"{entry[0]}{optional}\n    {entry[1]}"))
    groups = groupby(described, lambda each: each[1])
    return "\n".join(f"{', '.join(n for n, _ in group)} : {text}" for text, group in groups)
