"""Define the results of ``cuda.jit``, kernels and device functions, with numba's methods."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, NoReturn, ParamSpec, TextIO, TypeVar

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import replace
from pycu2c.base.types import ParameterType, Signature, default_type
from pycu2c.compat.numba.source_adaptation import adapted_source
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.declarations.signatures import parse_signature
from pycu2c.devices import gpu_selection
from pycu2c.devices.gpu_device import Gpu
from pycu2c.kernels.configured_kernel import Configured
from pycu2c.kernels.kernel import DeviceFunction, Dims, Kernel
from pycu2c.kernels.kernel_object import ForAll
from pycu2c.runtime.launch_configuration import LaunchRequest, extent

P = ParamSpec("P")
R = TypeVar("R")
Types = tuple[ParameterType, ...]


def _attribute_getter(attribute: str, description: str) -> Callable[..., Any]:
    """Return a method of kernels that reads an attribute of their overloads."""

    def get(self: JitKernel[Any], signature: object = None) -> Any:
        return self._per_signature(signature, operator.attrgetter(attribute))

    get.__doc__ = _ATTRIBUTE_DOC.format(description)
    return get


_ATTRIBUTE_DOC = """Return {} for a signature.

        Parameters
        ----------
        signature : str, type or sequence, optional
            The types of the arguments.

        Returns
        -------
        int or dict
            The number; without a signature, a dict by parameter types if there are several.
        """


class Unconfigured(Configured[P]):
    """A kernel without a grid, whose calls raise LaunchError, as numba's raise ValueError."""

    __slots__ = ()

    def _launch_slow(self, *arguments: P.args, **named: P.kwargs) -> NoReturn:
        name = self._launches.launcher.name
        raise LaunchError(
            f"{name}: the launch configuration was not specified: call {name}[grid, block](…)"
        )


class JitKernel(Kernel[P]):
    """A kernel with numba's interface: ``k[grid, block, stream, bytes](…)``.

    Kernels may call it as a device function, which is typed for each call.
    """

    __slots__ = ()
    _may_return_value = True
    _read = staticmethod(adapted_source)

    def __init__(self, function: FunctionType, **options: Any) -> None:
        super().__init__(function, **options)
        # kernels may call it as a device function
        self.__pycu2c_device__ = replace(self.source, signature=None)

    def _without_configuration(self, request: LaunchRequest) -> Configured[P]:
        return (Configured if self.grid else Unconfigured)(self._launches, request)

    @property
    def py_func(self) -> Callable[P, None]:
        """Return the decorated Python function."""
        return self.python

    # ---- launching ----

    def configure(
        self, griddim: Dims, blockdim: Dims, stream: object = 0, sharedmem: int = 0
    ) -> Configured[P]:
        """Return the configured kernel ``k[griddim, blockdim, stream, sharedmem]``.

        Returns
        -------
        Configured
            The launch; call it with the arguments.
        """
        return self[griddim, blockdim, stream, sharedmem or self.shared_memory]

    def forall(  # type: ignore[override]  # numba's names
        self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0
    ) -> ForAll[P]:
        """Return a launch with one thread per task: ``k.forall(n)(…)``.

        Returns
        -------
        ForAll
            The launch; call it with the arguments.
        """
        return super().forall(ntasks, tpb, stream, sharedmem or None)

    def specialize(self, *args: Any) -> JitKernel[P]:
        """Return the kernel specialized for the types of these arguments.

        Returns
        -------
        JitKernel
            A kernel that accepts only these types.

        Raises
        ------
        RuntimeError
            If the kernel is specialized already.
        """
        if self.specialized:
            raise RuntimeError(f"{self.name} is specialized already")
        signature = self.launcher.signature_of(self.launcher.bind(args, {}))
        by_signature: dict[Signature, JitKernel[P]] = vars(self).setdefault("_specialized", {})
        if signature not in by_signature:
            by_signature[signature] = self._with_signatures([signature])
        return by_signature[signature]

    def _with_signatures(self, signatures: list[Signature]) -> JitKernel[P]:
        """Return a kernel of the same function and options with declared signatures."""
        launcher = self.launcher
        return JitKernel(
            self.python,
            grid=self.grid,
            block=self.block,
            shared_memory=self.shared_memory,
            signature=signatures,
            backend=launcher.backend,
            cache=launcher.cache,
            options=self.options,
        )

    @property
    def specialized(self) -> bool:
        """Return whether the kernel accepts exactly one signature."""
        return len(self.declared) == 1

    # ---- signatures ----

    @property
    def _compiled_signatures(self) -> tuple[Signature, ...]:
        """Return the declared signatures; without any, those of the launches so far."""
        return self.declared or self.launcher.signatures

    @property
    def signatures(self) -> list[Types]:
        """Return the parameter types of each declared signature; without any, of the launches.

        The type of a Python number has 64 bits.
        """
        return list(map(_parameter_types, self._compiled_signatures))

    nopython_signatures = signatures

    @property
    def overloads(self) -> Overloads:
        """Return the overload of each signature, by parameter types."""
        return Overloads(
            {_parameter_types(s): Overload(self, s) for s in self._compiled_signatures}
        )

    def compile(self, sig: object) -> Overload:
        """Type the kernel for a signature.

        Returns
        -------
        Overload
            The kernel for the signature.

        Raises
        ------
        CompileError
            If the kernel does not support the types.
        """
        signature = parse_signature(sig)
        self.launcher.typed_kernel(signature)
        return Overload(self, signature)

    # ---- inspection ----

    def inspect_asm(self, signature: object = None) -> Any:
        """Return the PTX for a signature.

        Returns
        -------
        str or dict
            The PTX; without a signature a dict, by parameter types.
        """
        return self._per_signature(signature, lambda overload: overload.inspect_asm(), as_dict=True)

    def inspect_sass(self, signature: object = None) -> Any:
        """Return the machine instructions for a signature; it requires nvdisasm.

        Returns
        -------
        str or dict
            The SASS; without a signature a dict, by parameter types.
        """
        return self._per_signature(
            signature, lambda overload: overload.inspect_sass(), as_dict=True
        )

    def inspect_llvm(self, signature: object = None) -> NoReturn:
        """Raise NotImplementedError, because kernels are compiled from CUDA C, not from LLVM IR."""
        raise NotImplementedError(
            f"{self.name} is compiled from CUDA C, not from LLVM IR: k.inspect('cuda') returns "
            "the C, and k.inspect('ir') the typed IR"
        )

    def inspect_types(self, file: TextIO | None = None) -> None:
        """Print the typed IR of each signature."""
        for signature in self._compiled_signatures:
            ir = self.launcher.compiler.text("ir", signature)
            print(f"{self.name} {signature}\n{ir}", file=file or sys.stdout)

    get_regs_per_thread = _attribute_getter("regs_per_thread", "the number of registers per thread")
    get_shared_mem_per_block = _attribute_getter(
        "shared_mem_per_block", "the static shared memory in bytes"
    )
    get_const_mem_size = _attribute_getter("const_mem_size", "the size of constant memory in bytes")
    get_local_mem_per_thread = _attribute_getter(
        "local_mem_per_thread", "the local memory in bytes"
    )
    get_max_threads_per_block = _attribute_getter("max_threads_per_block", "the maximum block size")

    def _per_signature(
        self, signature: object, read: Callable[[Overload], Any], *, as_dict: bool = False
    ) -> Any:
        """Return what ``read`` returns for a signature, or a dict by parameter types.

        as_dict: return a dict even if the kernel is specialized.
        """
        if signature is not None:
            parsed = parse_signature(signature)
            return read(self.overloads.get(parsed) or Overload(self, parsed))
        if self.specialized and not as_dict:
            return read(Overload(self, self.declared[0]))
        return {types: read(overload) for types, overload in self.overloads.items()}


def _parameter_types(signature: Signature) -> Types:
    """Return the parameter types, with default types for Python numbers."""
    return tuple(default_type(t) for t in signature.parameters)


def _attribute(name: str) -> property:
    """Return a property of overloads that reads an attribute of the compiled kernel."""

    def get(self: Overload) -> int:
        number: int = getattr(self._kernel.attributes(self.signature), name)
        return number

    return property(get, doc=f"Return ``{name}`` of the attributes of the kernel.")


class Overload:
    """A kernel compiled for one signature.

    Attributes
    ----------
    signature : Signature
        The types of the arguments.
    """

    def __init__(self, kernel: JitKernel[Any], signature: Signature) -> None:
        self._kernel, self.signature = kernel, signature

    def __repr__(self) -> str:
        return f"<kernel {self._kernel.name} for {self.signature}>"

    def inspect_asm(self) -> str:
        """Return the PTX."""
        return self._kernel.inspect("ptx", self.signature)

    def inspect_sass(self) -> str:
        """Return the machine instructions; it requires nvdisasm."""
        return self._kernel.inspect("sass", self.signature)

    @property
    def cooperative(self) -> bool:
        """Return whether the kernel synchronizes the grid."""
        return self._kernel.launcher.compiler.generate(
            "cuda", self.signature
        ).needs_cooperative_launch

    regs_per_thread = _attribute("registers")
    shared_mem_per_block = _attribute("shared_bytes")
    const_mem_size = _attribute("const_bytes")
    local_mem_per_thread = _attribute("local_bytes")
    max_threads_per_block = _attribute("max_threads")

    def max_cooperative_grid_blocks(self, blockdim: Dims, dynsmemsize: int = 0) -> int:
        """Return the maximum number of blocks that ``cg.this_grid().sync()`` can synchronize.

        The CPU has no limit; the result is that of a GPU with one multiprocessor per OS thread.
        """
        gpu: Any = gpu_selection.get_current_device()
        if isinstance(gpu, Gpu):
            per_multiprocessor = self._kernel.occupancy(
                blockdim, dynsmemsize, self.signature
            ).blocks
        else:
            threads = math.prod(extent(blockdim, "block", self._kernel.name))
            per_multiprocessor = gpu.MAX_THREADS_PER_MULTI_PROCESSOR // threads
        return int(gpu.MULTIPROCESSOR_COUNT * per_multiprocessor)


class Overloads(Mapping[Any, Overload]):
    """Overloads by parameter types; a key is any signature, also of numba's types."""

    def __init__(self, by_types: Mapping[Types, Overload]) -> None:
        self._by_types = by_types

    def __getitem__(self, signature: object) -> Overload:
        return self._by_types[_parameter_types(parse_signature(signature))]

    def __iter__(self) -> Iterator[Types]:
        return iter(self._by_types)

    def __len__(self) -> int:
        return len(self._by_types)

    def __repr__(self) -> str:
        return repr(self._by_types)


class JitDeviceFunction(DeviceFunction[P, R]):
    """A device function. Called outside of kernels, it runs the Python function."""

    _read = staticmethod(adapted_source)

    @property
    def py_func(self) -> Callable[P, R]:
        """Return the decorated Python function."""
        return self.python


def python_function(function: Any) -> FunctionType:
    """Return the Python function under decorators of numba or this package."""
    python = getattr(function, "py_func", None) or getattr(function, "python", function)
    if not isinstance(python, FunctionType):
        raise TypeError(f"the decorated object must be a function, not {function!r}")
    return python


document_parameters(
    globals(),
    """
griddim, blockdim : int or tuple of int | Blocks of the grid and threads of a block.
stream : Stream or int | The stream.
sharedmem, dynsmemsize : int | Bytes of dynamic shared memory of a block.
ntasks : int | The number of tasks.
tpb : int | Threads of a block; 0 chooses it by occupancy.
*args : object | Arguments whose types the kernel takes.
sig, signature : str, tuple or signature | The types of the parameters; by default all signatures.
file : file | The file to print to; by default stdout.
""",
)
