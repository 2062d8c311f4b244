"""The description of a library: kernels, signatures, arguments and generated functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pycu2c.aot.record_types import RecordNames, lane_type
from pycu2c.base.dtypes import DType, DTypeKind
from pycu2c.base.errors import Error
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import MAX_BLOCK_THREADS
from pycu2c.base.parameters import ArgumentPart, OverlapRule, Parameter
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array, Scalar, Signature, assumed_magnitude_limit
from pycu2c.codegen.reserved_names import is_reserved
from pycu2c.declarations.options import Options
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.launch_configuration import Extent

TargetName: TypeAlias = str  # "cuda" or "cpu"
MAX_ARGUMENTS = 64  # as in runtime/launch.h
_POINTER_SIZE = 8
# parameters and variables of launch functions; "launch" is one in C++
_RESERVED_NAMES = (
    *("grid", "block", "shared_bytes", "stream"),
    *("arguments", "l", "launch"),
    *("pycu2c", "pycu2c_dim3", "DLTensor"),
)
_NUMBER_KINDS = frozenset(DTypeKind) - {DTypeKind.VECTOR, DTypeKind.RECORD, DTypeKind.HANDLE}
_ARRAY_KINDS = frozenset(DTypeKind) - {DTypeKind.HANDLE}
_MAX_LANES = 65535  # of a DLDataType


class ExportError(Error, ValueError):
    """A library cannot have a kernel, for example one with an argument of another kind."""


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """A kernel and the signatures to compile it for.

    block: the block shape that the CPU code is specialized for, besides code for any shape.
    """

    kernel: Kernel[object]
    signatures: Sequence[Signature]
    block: Extent | None = None


@dataclass(frozen=True, slots=True)
class ExportedArgument:
    """An argument of a kernel: a number or an array.

    is_read: whether the kernel may load elements of an array.
    """

    name: str
    type: Scalar | Array
    is_written: bool
    is_read: bool = True

    @property
    def is_array(self) -> bool:
        return isinstance(self.type, Array)

    @property
    def lane_type(self) -> DType:
        return lane_type(self.type.dtype)

    @property
    def lanes(self) -> int:
        """Return the number of lanes of elements; 1 for numbers."""
        return self.type.dtype.size // self.lane_type.size

    @property
    def index_limit(self) -> int:
        """Return the limit on an integer's magnitude for 32-bit indices; 0 if there is none."""
        return assumed_magnitude_limit(self.type) or 0


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """A generated function for one target.

    is_coroutine: whether its threads are coroutines; ``name`` is then that of a structure.
    has_avx512: whether the function is also compiled for AVX-512.
    """

    name: str
    parameters: tuple[Parameter, ...]
    is_coroutine: bool = False
    has_avx512: bool = False

    @property
    def avx512_name(self) -> str:
        """Return the name of the AVX-512 version."""
        return f"{self.name}_avx512"

    def sizes(self) -> Iterator[int]:
        """Yield the sizes of the parameters, in bytes."""
        for p in self.parameters:
            yield _POINTER_SIZE if p.part is ArgumentPart.DATA else p.type.dtype.size


@dataclass(frozen=True, slots=True)
class Variant:
    """A specialization for some launches: its function for each target."""

    assumptions: LaunchAssumptions
    functions: dict[TargetName, KernelFunction]


@dataclass(frozen=True, slots=True)
class ExportedSignature:
    """A signature of a kernel. A launch uses the first variant whose assumptions hold."""

    name: str
    arguments: tuple[ExportedArgument, ...]
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class ExportedKernel:
    """A kernel of a library.

    doc: the docstring. location: the file and line. signatures: at least one.
    """

    name: str
    doc: str
    location: str
    signatures: tuple[ExportedSignature, ...]
    overlap_rules: tuple[OverlapRule, ...] = ()
    max_threads: int = MAX_BLOCK_THREADS
    cluster: tuple[int, int, int] = (1, 1, 1)
    is_cooperative: bool = False

    @property
    def arguments(self) -> tuple[ExportedArgument, ...]:
        """Return the arguments of the launch function, with the types of the first signature."""
        return self.signatures[0].arguments

    def functions(self) -> Iterator[KernelFunction]:
        """Yield the functions of all variants."""
        for signature in self.signatures:
            for variant in signature.variants:
                yield from variant.functions.values()


@dataclass(frozen=True, slots=True)
class ExportedLibrary:
    """The kernels of a library.

    texts: the generated text, by target.
    records: the names in C of the records in arrays.
    """

    name: str
    kernels: tuple[ExportedKernel, ...]
    texts: dict[TargetName, str]
    options: Options
    targets: tuple[TargetName, ...]
    records: RecordNames = field(default_factory=dict)

    def launch_function(self, kernel: ExportedKernel) -> str:
        """Return the name of the C function that launches a kernel."""
        return f"{'' if kernel.name == self.name else f'{self.name}_'}{kernel.name}_launch"

    @property
    def has_coroutines(self) -> bool:
        return any(f.is_coroutine for k in self.kernels for f in k.functions())


def c_name(name: str) -> str:
    """Return the C name of a kernel's argument; reserved names get an underscore."""
    return f"{name}_" if is_reserved(name) or name in _RESERVED_NAMES else name


def check_arguments(name: str, arguments: Sequence[ExportedArgument]) -> None:
    """Check that a launch function can take the arguments of a kernel. Raises ExportError."""
    if not any(a.is_array for a in arguments):
        raise ExportError(f"{name} has no array argument, so it cannot return a result")
    if len(arguments) > MAX_ARGUMENTS:
        raise ExportError(f"{name} has {len(arguments)} arguments; the limit is {MAX_ARGUMENTS}")
    for argument in arguments:
        kinds = _ARRAY_KINDS if argument.is_array else _NUMBER_KINDS
        if argument.type.dtype.kind not in kinds:
            what = "an array of" if argument.is_array else "a"
            raise ExportError(
                f"{argument.name} of {name} is {what} {argument.type.dtype}, which libraries do "
                "not support: pass an array of numbers"
            )
        if argument.lanes > _MAX_LANES:
            raise ExportError(
                f"{argument.name} of {name} has records of {argument.lanes} bytes; "
                f"{_MAX_LANES} are possible"
            )
