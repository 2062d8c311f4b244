"""Compile kernels into the cache before they are launched, also for GPUs that are not here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import Signature
from pycu2c.codegen.statements import Comments
from pycu2c.compiler import generate
from pycu2c.cuda_driver import driver
from pycu2c.kernels.launcher import Launcher
from pycu2c.kernels.specialization import code_of, target_of
from pycu2c.runtime.launch_configuration import Extent
from pycu2c.runtime.runner import SpecializationKey
from pycu2c.toolchain.nvrtc import nvrtc


def warm(
    launcher: Launcher, signature: Signature, block: Extent | None, archs: Iterable[str]
) -> Iterator[str]:
    """Compile a kernel as its usual launches need it; yield each target.

    Usual launches have arrays that are neither empty nor huge, and do not overlap. C is compiled
    for a block; without one, the kernel is compiled for GPUs only.
    """
    if launcher.backend != "cuda" and block:
        backend = "cpu" if launcher.backend == "auto" else launcher.backend
        on_cpu = Launcher(
            launcher.source, launcher.declared, backend, launcher.cache, launcher.options
        )
        on_cpu.compile(signature, block)
        yield backend
    for arch in archs if launcher.backend in ("auto", "cuda") else ():
        _warm_cuda(launcher, signature, arch)
        yield arch


def _warm_cuda(launcher: Launcher, signature: Signature, arch: str) -> None:
    typed, options = launcher.typed_kernel(signature), launcher.options
    assumptions = LaunchAssumptions(
        index32_safe=True,
        distinct_arrays=typed.metadata.aliasing_matters,
        small_products=typed.metadata.integer_products,
    )
    module = launcher.compiler.build(signature).module
    comments: Comments = "lines" if options.lineinfo else "none"
    generated = generate(module, target_of("cuda", options), assumptions, options, comments)
    code = code_of(generated, module, "cuda")
    target_arch, linked = driver.with_specific_features(arch), options.with_links(code.links)
    nvrtc.compile(code.text, code.entry, target_arch, options=linked)
    if typed.cache_entry and not generated.prints:
        typed.cache_entry.store_code(SpecializationKey("cuda", assumptions), code)
