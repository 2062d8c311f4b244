"""Write the C files with which frameworks call a library: JAX through XLA's FFI, and TVM-FFI."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from pycu2c.aot.c_header import number_type
from pycu2c.aot.exported_library import ExportedKernel, ExportedLibrary
from pycu2c.aot.line_wrapping import wrapped
from pycu2c.base.records import dataclass
from pycu2c.toolchain.toolchain_errors import ToolchainError


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework that calls kernels through the C functions of a binding.

    suffix: the end of the names of the binding's files.
    package: the name of the framework on PyPI. module: the Python module that it installs.
    header: the path of the C header in the folder ``include`` of the module.
    libraries: the libraries in the folder ``lib`` of the module that a binding links.
    """

    suffix: str
    package: str
    module: str
    header: str
    libraries: tuple[str, ...] = ()

    def flags(self) -> tuple[str, ...]:
        """Return the compiler flags for headers and libraries. Raises ToolchainError."""
        spec = importlib.util.find_spec(self.module)
        for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
            if (folder / "include" / self.header).is_file():
                linked = (f"-l{library}" for library in self.libraries)
                return ("-isystem", str(folder / "include"), f"-L{folder / 'lib'}", *linked)
        raise ToolchainError(f"{self.header} is not installed: pip install {self.package}")


JAX = Framework("xla", "jax", "jaxlib", "xla/ffi/api/c_api.h")
TVM_FFI = Framework(
    "tvm_ffi", "apache-tvm-ffi", "tvm_ffi", "tvm/ffi/extra/c_env_api.h", ("tvm_ffi",)
)
FRAMEWORKS = {"jax": JAX, "tvm-ffi": TVM_FFI}  # by the name of the binding

# the enumerators of runtime/bindings.h for the kinds of parameters
_KINDS = {
    **{"r": "READ", "w": "WRITTEN", "u": "WRITTEN"},
    **{"D": "COMPLEX", "d": "REAL", "q": "INTEGER", "?": "INTEGER"},
}
# of union value; "array" for others
_MEMBERS = {"COMPLEX": "complex_number", "REAL": "real", "INTEGER": "integer"}


def parameter_kinds(kernel: ExportedKernel) -> dict[str, str]:
    """Return the kind of each parameter, as ``Library.kernel`` of the Python package takes it."""
    numbers = {"pycu2c_complex": "D", "double": "d", "int64_t": "q", "bool": "?"}
    return {
        a.name: ("r" if not a.is_written else "u" if a.is_read else "w")
        if a.is_array
        else numbers[number_type(kernel, i)]
        for i, a in enumerate(kernel.arguments)
    }


def write_binding(library: ExportedLibrary, framework: Framework) -> str:
    """Return the text of ``NAME_SUFFIX.c``: the functions that the framework calls."""
    lines = [
        f'#include "{library.name}.h"',
        f"#define LAST_ERROR {library.name}_last_error",
        f'#include "runtime/{framework.suffix}_functions.h"',
    ]
    for kernel in library.kernels:
        lines += ["", *_binding(kernel, library.launch_function(kernel))]
    return "\n".join(lines) + "\n"


def _binding(kernel: ExportedKernel, launch_function: str) -> Iterator[str]:
    name, kinds = kernel.name, {n: _KINDS[k] for n, k in parameter_kinds(kernel).items()}
    yield f"/* ---- {name} ---- */"
    yield f"static const struct parameter {name}_parameters[] = {{"
    yield wrapped("    ", [f'{{"{parameter}", {kind}}}' for parameter, kind in kinds.items()], "};")
    values = [f"c->values[{i}].{_MEMBERS.get(k, 'array')}" for i, k in enumerate(kinds.values())]
    values += ["c->grid", "c->block", "c->shared_bytes"]
    yield f"static pycu2c_status {name}_call(const struct call *c) {{"
    yield wrapped(f"    return {launch_function}(", (*values, "c->stream"), ");")
    yield "}"
    fields = (f'"{name}"', f"{name}_parameters", str(len(kinds)), f"{name}_call")
    yield f"static const struct kernel {name}_kernel = {{"
    yield wrapped("    ", fields, "};")
    yield f"EXPORT({name})"
