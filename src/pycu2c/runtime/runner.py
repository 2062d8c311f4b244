"""Define the interface between compiled kernels and launches, which all back ends implement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.parameters import OverlapRule
from pycu2c.base.records import dataclass, field
from pycu2c.native.extension import StagingBuffer
from pycu2c.runtime.arguments.arguments import Layout
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.launch_configuration import Launch

# the index of a leaf of the arguments, and its axis, or NO_AXIS if the leaf is a number
ExtentSource: TypeAlias = tuple[int, int]
NO_AXIS = -1
HAS_FINDINGS = -1  # in place of an exit code; as in dispatch.h
ANY_BLOCK_COUNT = 0, 1 << 62  # a range; the end is exclusive


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """Properties of a kernel for one signature that launches need.

    written: the positions among the leaves of the arrays that it may write.
    lengths: the lengths that determine its grid; empty if the kernel does not imply them.
    uses_threads: whether it uses CUDA threads; otherwise it contains only sequential loops.
    needs_dynamic_shared: whether a launch must allocate dynamic shared memory.
    accumulator_arguments: arrays that it only adds to (``privatize_accumulators``).
    streamed_bytes: bytes of the arrays per thread, if non-temporal stores may be used for them
        (``nontemporal_stores``); else 0.
    overlap_rules: the arrays that may overlap, by their positions among the leaves.
    aliasing_matters: whether it is faster if no array that it writes overlaps another one
        (``restrict_pointers``).
    short_axis_candidates: arrays whose last axis is short in some launches, and that axis
        (``fix_short_axes``).
    integer_products: products of integer arguments, by the positions of the factors, without which
        the compiler cannot prove that arithmetic does not wrap (``argument_products``).
    """

    written: frozenset[int]
    lengths: tuple[ExtentSource, ...] = ()
    uses_threads: bool = True
    needs_dynamic_shared: bool = False
    accumulator_arguments: tuple[int, ...] = ()
    streamed_bytes: int = 0
    overlap_rules: tuple[OverlapRule, ...] = ()
    aliasing_matters: bool = False
    short_axis_candidates: tuple[tuple[int, int], ...] = ()
    integer_products: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class SpecializationKey:
    """The target of a compilation for one signature: back end, assumptions and device."""

    backend: str
    assumptions: LaunchAssumptions
    device: int = 0


@dataclass(frozen=True, slots=True)
class HiddenArguments:
    """Hidden arguments of a kernel, which follow those of the user.

    packed: the packed parameters.
    cleared, cleared_size: the address and the bytes of memory that is zeroed before each launch.
    found: the address of an int64. If it is not 0 after a launch, the code is ``HAS_FINDINGS``.
    found_on_device: the address on a GPU from which a launch copies the int64.
    memset, copy_to_host, synchronize: the addresses of driver functions, for launches on a GPU.
    """

    packed: bytes = b""
    cleared: int = 0
    cleared_size: int = 0
    found: int = 0
    found_on_device: int = 0
    memset: int = 0
    copy_to_host: int = 0
    synchronize: int = 0


@dataclass(frozen=True, slots=True)
class FastPathLaunch:
    """How the dispatch table starts a kernel from C: ``start(body, packed, blocks)``.

    layout: the layout of the parameters. ``packed`` is the launch header and the parameters.
    start, body: the addresses of a function of the runtime and of the kernel. With a ``context``,
        ``start`` is cuLaunchKernel, and ``body`` the handle of the kernel.
    raise_for_code: raises the error of a code other than 0 that ``start`` returned, given the code
        and the launch header. With a ``context``, the launch takes the slow path instead.
    context: the address of cuCtxGetCurrent, and the context in which the kernel is loaded.
    staging: returns memory for copies of host arrays, or None. Launches that use it are
        synchronous; they call ``raise_for_code`` if they fail.
    flags: a bit for each launch attribute that is set, by its number; ``start`` is then
        cuLaunchKernelEx.
    is_exact: whether launches must have the same grid, block and shapes as the recorded one, and
        arrays that do not overlap.
    integers: the range of the integers among the leaves, by position.
    hidden: the hidden arguments. With ``found``, the entry runs one launch at a time; concurrent
        launches take the slow path.
    """

    layout: Layout
    start: int
    body: int
    raise_for_code: Callable[[int, bytes], None]
    context: tuple[int, int] | None = None
    staging: Callable[[], StagingBuffer | None] | None = None
    flags: int = 0
    is_exact: bool = False
    integers: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    hidden: HiddenArguments = HiddenArguments()


class Runner:
    """The base class of compiled kernels."""

    __slots__ = ()

    @property
    def fast_path(self) -> FastPathLaunch | None:
        """How C starts the kernel; None if launches must take the slow path."""
        return None

    def fast_path_for(self, launch: Launch, arguments: Sequence[Argument]) -> FastPathLaunch | None:
        """Return how C starts the kernel for launches like this one."""
        return self.fast_path

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        """Launch the kernel."""
        raise NotImplementedError
