"""Type kernels in Python for their signatures, and check that a library supports them."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.analysis.effects import written_arguments
from pycu2c.aot.exported_library import (
    ExportedArgument,
    ExportError,
    KernelRequest,
    c_name,
    check_arguments,
)
from pycu2c.aot.write_only import write_only_arrays
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Signature, leaf_paths
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import statements
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.launch_configuration import Extent


@dataclass(frozen=True, slots=True)
class KernelWithSignature:
    """A kernel with one signature.

    name: the name of the variant with 32-bit indices. variants: the name and the assumptions of
    each, those with most assumptions first.
    """

    kernel: Kernel[object]
    module: ir.Module
    name: str
    arguments: tuple[ExportedArgument, ...]
    variants: tuple[tuple[str, LaunchAssumptions], ...]


def type_kernel(request: KernelRequest, names: set[str]) -> Iterator[KernelWithSignature]:
    """Yield a kernel with each of its signatures, in the order in which launches try them.

    names: those of all kernels and variants so far; the names of the new variants are added.
    """
    kernel, signatures = request.kernel, sorted(request.signatures, key=_strided_arrays)
    suffixes = [_suffix(signature) for signature in signatures]
    for position, (signature, suffix) in enumerate(zip(signatures, suffixes)):
        module = kernel.launcher.compiler.build(signature).module
        is_unique = suffixes.count(suffix) == 1
        name = kernel.name
        if len(signatures) > 1:
            name = _unused(f"{name}_{suffix if is_unique else position + 1}", names)
        arguments = tuple(_arguments(kernel, signature, module))
        variants = tuple(_variants(name, request.block, names))
        typed = KernelWithSignature(kernel, module, name, arguments, variants)
        _check_supported(typed)
        yield typed


def _variants(
    name: str, block: Extent | None, names: set[str]
) -> Iterator[tuple[str, LaunchAssumptions]]:
    if block is not None:
        yield _unused(f"{name}_block", names), LaunchAssumptions(index32_safe=True, block=block)
    yield name, LaunchAssumptions(index32_safe=True)
    yield _unused(f"{name}_large", names), LaunchAssumptions()


def _unused(name: str, names: set[str]) -> str:
    """Return a name that is not in a set, and add it."""
    while name in names:
        name += "_"
    names.add(name)
    return name


def _strided_arrays(signature: Signature) -> int:
    """Return how many arrays are not C-contiguous. Launches try signatures with fewer first."""
    leaves = (leaf for p in signature.parameters for _, leaf in leaf_paths(p))
    return sum(isinstance(leaf, Array) and leaf.layout != "C" for leaf in leaves)


def _suffix(signature: Signature) -> str:
    """Return the dtypes of the arrays of a signature, each once, such as ``f32_i32``."""
    leaves = (leaf for p in signature.parameters for _, leaf in leaf_paths(p))
    return "_".join(dict.fromkeys(leaf.dtype.short for leaf in leaves if isinstance(leaf, Array)))


def _arguments(
    kernel: Kernel[object], signature: Signature, module: ir.Module
) -> Iterator[ExportedArgument]:
    written, position = written_arguments(module), 0
    write_only = write_only_arrays(kernel.source.tree)
    for name, parameter in zip(kernel.launcher.parameters, signature.parameters):
        for path, leaf in leaf_paths(parameter):
            is_written = position in written
            is_read = not is_written or name not in write_only
            c_argument = c_name("_".join((name, *path)))
            yield ExportedArgument(c_argument, leaf, is_written, is_read=is_read)
            position += 1


def _check_supported(typed: KernelWithSignature) -> None:
    """Check that a library supports a kernel. Raises ExportError."""
    name, options = typed.kernel.name, typed.kernel.options
    check_arguments(name, typed.arguments)
    if options.check:
        raise ExportError(f"{name} is compiled with check=: a library has no checked launches")
    if any(isinstance(s, ir.Print) for f in typed.module.functions for s in statements(f.body)):
        raise ExportError(
            f"{name} calls print, which libraries do not support: remove the call, or call printf "
            "in a cuda.c_function"
        )
