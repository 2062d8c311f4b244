"""The methods of kernels that return generated code, costs and resources, and that tune."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pycu2c.base.lazy_imports import import_module
from pycu2c.base.types import Signature
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.configured_kernel import Launches
from pycu2c.kernels.launcher import Launcher
from pycu2c.kernels.tuning_report import TuningReport
from pycu2c.runtime.launch_configuration import Dims, Extent, Language, extent, shared_size
from pycu2c.toolchain.nvrtc import occupancy as occupancies
from pycu2c.toolchain.nvrtc.occupancy import Occupancy
from pycu2c.toolchain.nvrtc.resource_usage import KernelAttributes

Restrictions: TypeAlias = "Callable[[Any], object] | Sequence[Callable[[Any], object]]"


class InspectedKernel:
    """A base class of kernels, for what needs no launch."""

    __slots__ = ()
    name: str
    block: Extent | None
    shared_memory: int
    declared: tuple[Signature, ...]
    _launches: Launches

    @property
    def launcher(self) -> Launcher:
        """The compiled specializations."""
        return self._launches.launcher

    def inspect(
        self,
        what: Language = "cuda",
        signature: object = None,
        block: Dims | None = None,
        arch: str | None = None,
    ) -> str:
        """Return the generated code of the kernel.

        Raises
        ------
        ValueError
            If the kernel has no types yet: it was not launched and has no signature.
        ToolchainError
            If NVRTC or nvdisasm is missing.
        """
        shape = self.block if block is None else extent(block, "block", self.name)
        return self.launcher.compiler.text(what, self._signature_or_latest(signature), shape, arch)

    def attributes(self, signature: object = None, arch: str | None = None) -> KernelAttributes:
        """Return what the kernel uses of a GPU: registers, memory, spills, threads per block.

        Returns
        -------
        KernelAttributes
            Counts per thread, and sizes in bytes.

        Raises
        ------
        ToolchainError
            If NVRTC is missing.
        """
        return self.launcher.compiler.attributes(self._signature_or_latest(signature), arch)

    def occupancy(
        self,
        block: Dims,
        shared: int | None = None,
        signature: object = None,
        arch: str | None = None,
    ) -> Occupancy:
        """Return how many blocks of a shape a multiprocessor holds, and what limits them.

        Returns
        -------
        Occupancy
            Resident blocks and warps, and the resource that limits them.

        Raises
        ------
        ToolchainError
            If NVRTC is missing, or the limits of the architecture are not known.
        """
        threads = math.prod(extent(block, "block", self.name))
        size = shared_size(self.shared_memory if shared is None else shared, self.name)
        return occupancies.occupancy(self.attributes(signature, arch), threads, size)

    def _signature_or_latest(self, signature: object) -> Signature:
        """Return a signature; by default that of the last launch, or the declared one."""
        if signature is not None:
            return parse_signature(signature)
        default = self.launcher.latest or next(iter(self.declared), None)
        if default is None:
            raise ValueError(f"{self.name} has no types yet: launch it, or give a signature")
        return default

    def _repr_html_(self) -> str | None:
        """Return the page of ``pycu2c annotate``, which notebooks show; None without types."""
        try:
            signature = self._signature_or_latest(None)
        except ValueError:
            return None
        annotation = import_module("pycu2c.annotate.annotation")
        request = annotation.Request(signature, self.block, annotation.DEFAULT_ARCH)
        text: str = import_module("pycu2c.annotate.page").frame(annotation.annotate(self, request))
        return text

    def explain(self, signature: object = None) -> str:
        """Return the cost of each line on a GPU, and the change that removes it."""
        return self.launcher.compiler.explanation(self._signature_or_latest(signature))

    def tune(
        self,
        arguments: Sequence[object],
        space: Mapping[str, Sequence[Any]] | None = None,
        restrictions: Restrictions = (),
        **options: Any,
    ) -> TuningReport:
        """Measure the kernel with other constants, options and blocks; record the fastest.

        The arguments are copied; they do not change. Candidates run in a process of their own.

        Parameters
        ----------
        arguments : sequence
            The arguments of a launch.
        space : dict, optional
            The values of each constant, option, and of "block", "grid" and "shared_memory"; by
            default those of ``@kernel(tune=…)``.
        restrictions : callable or sequence of callable, optional
            Conditions that a candidate ``c`` fulfils, such as ``lambda c: c.TILE <= c.n``.
        **options : object
            seconds: the time limit, 60. timeout: seconds after which a launch is stopped, 5.
            tolerance: of results relative to the largest one, by default the square root of the
            type's precision. cold_cache: whether caches are flushed before each run, True.
            resume: whether to continue an interrupted search, True.
            strategy: "local", "exhaustive", "optuna", or an object with ``start``, ``ask`` and
            ``tell``. For kernels without ``tune=``: grid, block, shared_memory, tune_for and
            tune_file.

        Returns
        -------
        TuningReport
            The fastest configuration, and all measured candidates.

        Raises
        ------
        OptionError
            If a name of the space or an option is unknown.
        LaunchError
            If no candidate runs.
        """
        tune = import_module("pycu2c.tuning.tuned_kernel").tune
        report: TuningReport = tune(self, arguments, space, restrictions, **options)
        return report


document_parameters(
    globals(),
    """
what : {"cuda", "c", "c-resumable", "ir", "ptx", "sass"} | The language. "c-resumable" is C in which
  each thread is a coroutine. "sass" is machine instructions with the lines of Python; it requires
  nvdisasm.
signature : str, type or sequence | The types of the arguments; by default those of the last launch,
  or the declared ones.
block : int or tuple of int | Threads of a block, along up to three axes.
InspectedKernel.inspect.block : int or tuple of int | The shape of blocks for which C is generated;
  by default the declared one, or any.
shared : int | Bytes of dynamic shared memory; by default those of the decorator.
arch : str | The architecture, such as "sm_80"; by default that of the current GPU, or "sm_90"
  without one. No GPU is required.
""",
)
