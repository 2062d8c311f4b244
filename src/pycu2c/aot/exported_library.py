"""Describe a library: its kernels, their arguments, and the functions of the generated text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.errors import Error
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import MAX_BLOCK_THREADS
from pycu2c.base.parameters import ArgumentPart, OverlapRule, Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Scalar, Signature, assumed_magnitude_limit
from pycu2c.codegen.reserved_names import is_reserved
from pycu2c.declarations.options import Options
from pycu2c.runtime.launch_configuration import Extent
from pycu2c.toolchain.nvrtc.flags import BinaryKind

K = TypeVar("K")
TargetName: TypeAlias = str  # "cuda" or "cpu"
MAX_ARGUMENTS = 64  # as in runtime/launch.h
_POINTER_SIZE = 8
_NAMES_OF_PARAMETERS = (
    *("grid", "block", "shared_bytes", "stream", "arguments", "l", "state"),
    "launch",  # in C++
)
_SCALAR_KINDS = (DTypeKind.BOOL, DTypeKind.SIGNED, DTypeKind.UNSIGNED, DTypeKind.FLOAT)
_ARRAY_KINDS = (*_SCALAR_KINDS, DTypeKind.COMPLEX)


class ExportError(Error, ValueError):
    """A library cannot have a kernel, such as one with another kind of argument."""


@dataclass(frozen=True, slots=True)
class KernelRequest(Generic[K]):
    """A kernel, the signatures to compile it for, and the shape of its blocks on the CPU.

    block: launches with other blocks are possible, too, but slower on the CPU; None for any.
    """

    kernel: K
    signatures: Sequence[Signature]
    block: Extent | None = None


@dataclass(frozen=True, slots=True)
class ExportedArgument:
    """An argument of a kernel: a number or an array.

    lanes: of the vectors that the kernel takes the elements of an array for.
    has_any_axes: whether an array may have any number of axes.
    is_implicit: whether the launch function computes the number.
    is_read: False for an array of which the kernel only stores elements.
    """

    name: str
    type: Scalar | Array
    is_written: bool
    lanes: int = 1
    has_any_axes: bool = False
    is_implicit: bool = False
    is_read: bool = True

    @property
    def is_array(self) -> bool:
        return isinstance(self.type, Array)

    @property
    def index_limit(self) -> int:
        """Return the greatest magnitude of an integer with which indices have 32 bits, or 0."""
        return assumed_magnitude_limit(self.type) or 0


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """A function of the generated text: its name, and its parameters in order.

    is_coroutine: whether threads on the CPU are coroutines; the name is that of a structure then.
    runs_fibers: the function of the scheduler that runs such a structure of CUDA C; empty if none.
    module: the number of its text among those that are compiled for GPUs.
    has_avx512: whether it is compiled for AVX-512, too.
    """

    name: str
    parameters: tuple[Parameter, ...]
    is_coroutine: bool = False
    runs_fibers: str = ""
    module: int = 0
    has_avx512: bool = False

    @property
    def avx512_name(self) -> str:
        """Return the name of the function that is compiled for AVX-512."""
        return f"{self.name}_avx512"

    def sizes(self) -> Iterator[int]:
        """Yield the sizes of the parameters, in bytes."""
        for p in self.parameters:
            yield _POINTER_SIZE if p.part is ArgumentPart.DATA else p.type.dtype.size


@dataclass(frozen=True, slots=True)
class Variant:
    """The functions of a signature for some launches, by target."""

    assumptions: LaunchAssumptions
    functions: dict[TargetName, KernelFunction]


@dataclass(frozen=True, slots=True)
class ExportedSignature:
    """A signature of a kernel, and its variants; a launch uses the first that is possible."""

    name: str
    arguments: tuple[ExportedArgument, ...]
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class InferredGrid:
    """A launch whose grid follows from the shapes of arrays, as in runtime/inferred_grids.h.

    kind: "elementwise" or "reduction", the name of the structure that has its state. state: initial
    values. implicit: the fields that are implicit arguments, in order.
    """

    kind: str
    state: dict[str, int]
    implicit: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportedKernel:
    """A kernel of a library, with at least one signature."""

    name: str
    doc: str
    location: str
    signatures: tuple[ExportedSignature, ...]
    rules: tuple[OverlapRule, ...] = ()
    max_threads: int = MAX_BLOCK_THREADS
    cluster: tuple[int, int, int] = (1, 1, 1)
    is_cooperative: bool = False
    inferred_grid: InferredGrid | None = None

    @property
    def arguments(self) -> tuple[ExportedArgument, ...]:
        """Return the arguments of the first signature that a launch function takes."""
        return tuple(a for a in self.signatures[0].arguments if not a.is_implicit)

    def functions(self) -> Iterator[KernelFunction]:
        """Yield the functions of all variants."""
        for signature in self.signatures:
            for variant in signature.variants:
                yield from variant.functions.values()


@dataclass(frozen=True, slots=True)
class TranslationUnit:
    """CUDA C of a user, or C++ from it: a text that is compiled by itself.

    name: of its files. cpp: for the CPU, or empty. compiler, flags: of C++; the compiler that is
    tried first. compile: returns a cubin or PTX for an architecture.
    """

    name: str
    cuda: str
    cpp: str
    compiler: str
    flags: tuple[str, ...]
    compile: Callable[[str, BinaryKind], bytes]


@dataclass(frozen=True, slots=True)
class ExportedLibrary:
    """The kernels of a library. texts: those that are generated from Python, by target."""

    name: str
    kernels: tuple[ExportedKernel, ...]
    texts: dict[TargetName, str]
    options: Options
    targets: tuple[TargetName, ...]
    units: tuple[TranslationUnit, ...] = ()

    @property
    def cpp_units(self) -> tuple[TranslationUnit, ...]:
        return tuple(unit for unit in self.units if unit.cpp)

    def launch_function(self, kernel: ExportedKernel) -> str:
        """Return the name of the C function that launches a kernel."""
        return f"{'' if kernel.name == self.name else f'{self.name}_'}{kernel.name}_launch"

    @property
    def has_coroutines(self) -> bool:
        return any(f.is_coroutine for k in self.kernels for f in k.functions())


def c_name(name: str) -> str:
    """Return the name of an argument of a launch function."""
    return f"{name}_" if is_reserved(name) or name in _NAMES_OF_PARAMETERS else name


def check_arguments(name: str, arguments: Sequence[ExportedArgument]) -> None:
    """Check that a launch function can take the arguments of a kernel. Raises ExportError."""
    if not any(a.is_array for a in arguments):
        raise ExportError(f"{name} has no array argument, and so no result")
    if len(arguments) > MAX_ARGUMENTS:
        raise ExportError(f"{name} has {len(arguments)} arguments; {MAX_ARGUMENTS} are possible")
    for argument in arguments:
        kinds = _ARRAY_KINDS if argument.is_array else _SCALAR_KINDS
        is_half = not argument.is_array and argument.type.dtype.is_half
        if argument.type.dtype.kind not in kinds or is_half:
            what = "an array of" if argument.is_array else "a"
            raise ExportError(
                f"{argument.name} of {name} is {what} {argument.type.dtype}, which functions of a "
                "library do not take: pass an array of numbers"
            )
