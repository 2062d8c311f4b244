"""What ``cuda.jit`` gives: a kernel, or a device function, with numba's names for what can be asked
of it. Launching and compiling are the kernel's own."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn, ParamSpec, TextIO, TypeVar

from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType, Signature, default_type
from pycu2c.compat.numba.source_adaptation import as_numba_reads
from pycu2c.declarations.signatures import parse_signature
from pycu2c.devices import gpu_selection
from pycu2c.kernels.configured_kernel import Configured
from pycu2c.kernels.forall import ForAll
from pycu2c.kernels.kernel import Device, Dims, Kernel
from pycu2c.runtime.launch_configuration import extent

P = ParamSpec("P")
R = TypeVar("R")
Types = tuple[ParameterType, ...]


class Jitted(Kernel[P]):
    """A kernel that is launched as ``k[grid, block, stream, bytes](…)``, and that kernels may call
    as a device function, typed for each call."""

    __slots__ = ()

    def __init__(self, function: FunctionType, **given: Any) -> None:
        super().__init__(function, **given)
        self.__pycu2c_device__ = replace(self.source, signature=None)  # what kernels look for

    @staticmethod
    def _read(function: FunctionType) -> Source:
        return as_numba_reads(Kernel._read(function))

    @property
    def py_func(self) -> Callable[P, None]:
        """The Python function that it was made of."""
        return self.python

    # ---- launching ----

    def configure(
        self, griddim: Dims, blockdim: Dims, stream: object = 0, sharedmem: int = 0
    ) -> Configured[P]:
        """``k[griddim, blockdim, stream, sharedmem]``."""
        return self[griddim, blockdim, stream, sharedmem or self.shared_memory]

    def forall(  # type: ignore[override]  # numba's names
        self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0
    ) -> ForAll[P]:
        """``k.forall(n)(…)`` launches a thread for each of n elements, in blocks of ``tpb``; 0
        chooses."""
        return super().forall(ntasks, tpb, stream, sharedmem or None)

    def specialize(self, *args: Any) -> Jitted[P]:
        """The kernel for arguments of the types of these, and for no others."""
        if self.specialized:
            raise RuntimeError(f"{self.name} is specialized already")
        signature = self.launcher.signature_of(self.launcher.values(args, {}))
        known: dict[Signature, Jitted[P]] = vars(self).setdefault("_specialized", {})
        if signature not in known:
            known[signature] = self._declared([signature])
        return known[signature]

    def _declared(self, signatures: list[Signature]) -> Jitted[P]:
        launcher = self.launcher
        return Jitted(
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
        """Whether it is for one signature alone."""
        return len(self.declared) == 1

    # ---- what it is compiled for ----

    @property
    def _known(self) -> tuple[Signature, ...]:
        """The signatures that it is declared for, or else those of its launches until now."""
        return self.declared or self.launcher.signatures

    @property
    def signatures(self) -> list[Types]:
        """The types of the parameters, for each signature that it is declared for, or else for
        those of its launches until now. A Python number has 64 bits there."""
        return list(map(_types_of, self._known))

    nopython_signatures = signatures

    @property
    def overloads(self) -> dict[Types, Overload]:
        """The kernel for each signature, by the types of the parameters."""
        return {_types_of(s): Overload(self, s) for s in self._known}

    def compile(self, sig: object) -> Overload:
        """Type the kernel for a signature. Raises CompileError."""
        signature = parse_signature(sig)
        self.launcher.typed(signature)
        return Overload(self, signature)

    # ---- looking inside ----

    def inspect_asm(self, signature: object = None) -> Any:
        """The PTX for a signature; without one a dict with that of each, by its types."""
        return self._for(signature, lambda overload: overload.inspect_asm(), each=True)

    def inspect_sass(self, signature: object = None) -> Any:
        """A GPU's instructions, as ``inspect_asm``; it needs nvdisasm."""
        return self._for(signature, lambda overload: overload.inspect_sass(), each=True)

    def inspect_llvm(self, signature: object = None) -> NoReturn:
        """There is none: kernels become CUDA C."""
        raise NotImplementedError(
            f"{self.name} is compiled from CUDA C, not from LLVM's code: k.inspect('cuda') shows "
            "that, and k.inspect('ir') the typed tree before it"
        )

    def inspect_types(self, file: TextIO | None = None) -> None:
        """Print the kernel with the type of every value, for each signature."""
        for signature in self._known:
            shown = self.launcher.text("ir", signature)
            print(f"{self.name} {signature}\n{shown}", file=file or sys.stdout)

    def get_regs_per_thread(self, signature: object = None) -> Any:
        """The registers of a thread on a GPU, for a signature; of a kernel that is for several, and
        without one, a dict by types. The same goes for all that begins with ``get``."""
        return self._for(signature, lambda overload: overload.regs_per_thread)

    def get_shared_mem_per_block(self, signature: object = None) -> Any:
        """The bytes of static shared memory of a block."""
        return self._for(signature, lambda overload: overload.shared_mem_per_block)

    def get_const_mem_size(self, signature: object = None) -> Any:
        """The bytes of constant memory."""
        return self._for(signature, lambda overload: overload.const_mem_size)

    def get_local_mem_per_thread(self, signature: object = None) -> Any:
        """The bytes of a thread in local memory."""
        return self._for(signature, lambda overload: overload.local_mem_per_thread)

    def get_max_threads_per_block(self, signature: object = None) -> Any:
        """The most threads of a block."""
        return self._for(signature, lambda overload: overload.max_threads_per_block)

    def _for(
        self, signature: object, read: Callable[[Overload], Any], *, each: bool = False
    ) -> Any:
        if signature is not None:
            chosen = parse_signature(signature)
            known = self.overloads.get(chosen.parameters)
            return read(known or Overload(self, chosen))
        if self.specialized and not each:
            return read(Overload(self, self.declared[0]))
        return {types: read(overload) for types, overload in self.overloads.items()}


def _types_of(signature: Signature) -> Types:
    """The types of the parameters, a Python number's by itself."""
    return tuple(default_type(kind) for kind in signature.parameters)


class Overload:
    """A kernel for one signature."""

    def __init__(self, kernel: Jitted[Any], signature: Signature) -> None:
        self._kernel, self.signature = kernel, signature

    def __repr__(self) -> str:
        return f"<kernel {self._kernel.name} for {self.signature}>"

    def inspect_asm(self) -> str:
        return self._kernel.inspect("ptx", self.signature)

    def inspect_sass(self) -> str:
        return self._kernel.inspect("sass", self.signature)

    @property
    def cooperative(self) -> bool:
        """Whether all blocks of the grid meet in it."""
        return self._kernel.launcher.generated("cuda", self.signature).needs_cooperative_launch

    @property
    def regs_per_thread(self) -> int:
        return self._kernel.attributes(self.signature).registers

    @property
    def shared_mem_per_block(self) -> int:
        return self._kernel.attributes(self.signature).shared_bytes

    @property
    def const_mem_size(self) -> int:
        return self._kernel.attributes(self.signature).const_bytes

    @property
    def local_mem_per_thread(self) -> int:
        return self._kernel.attributes(self.signature).local_bytes

    @property
    def max_threads_per_block(self) -> int:
        return self._kernel.attributes(self.signature).max_threads

    def max_cooperative_grid_blocks(self, blockdim: Dims, dynsmemsize: int = 0) -> int:
        """The most blocks that wait for each other in ``cg.this_grid().sync()``. The CPU takes any
        number; it says as many as a GPU with a multiprocessor for each OS thread would."""
        gpu: Any = gpu_selection.get_current_device()
        if isinstance(gpu, gpu_selection.Gpu):
            of_one = self._kernel.occupancy(blockdim, dynsmemsize, self.signature).blocks
        else:
            threads = math.prod(extent(blockdim, "block", self._kernel.name))
            of_one = gpu.MAX_THREADS_PER_MULTI_PROCESSOR // threads
        return int(gpu.MULTIPROCESSOR_COUNT * of_one)


class JittedDevice(Device[P, R]):
    """A function that kernels call. Outside of kernels it is the Python function that it was."""

    @staticmethod
    def _read(function: object) -> Source:
        return as_numba_reads(Device._read(function))

    @property
    def py_func(self) -> Callable[P, R]:
        """The Python function that it was made of."""
        return self.python


def python_of(function: Any) -> FunctionType:
    """The Python function in what numba or this package has decorated, or the function itself."""
    found = getattr(function, "py_func", None) or getattr(function, "python", function)
    if not isinstance(found, FunctionType):
        raise TypeError(f"what is decorated is a function, not {function!r}")
    return found
