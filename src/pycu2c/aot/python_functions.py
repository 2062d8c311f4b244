"""Write the Python functions of a library: a declaration for each kernel."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from pycu2c.aot.bindings import parameter_kinds
from pycu2c.aot.c_header import argument_descriptions
from pycu2c.aot.exported_library import ExportedKernel, ExportedLibrary
from pycu2c.aot.line_wrapping import wrapped
from pycu2c.aot.record_types import numpy_dtype, numpy_structure
from pycu2c.base.dtypes import UINT64

_CONFIGURATION = ("*", "grid", "block", "shared_bytes=0", "stream=0")


def python_name(name: str) -> str:
    """Return the Python name of a kernel."""
    return f"{name}_" if keyword.iskeyword(name) else name


def write_functions(library: ExportedLibrary) -> str:
    """Return the declarations of all kernels, with the decorator ``Library.kernel``."""
    return "\n\n\n".join("\n".join(_declaration(library, kernel)) for kernel in library.kernels)


def _declaration(library: ExportedLibrary, kernel: ExportedKernel) -> Iterator[str]:
    kinds = _kinds(kernel)
    arguments = [f'"{kernel.name}"', *(f'{n}="{kind}"' for n, kind in kinds.items())]
    yield wrapped("@_library.kernel(", arguments, ")")
    yield wrapped(f"def {python_name(kernel.name)}(", [*kinds, *_CONFIGURATION], "):")
    doc = [*(kernel.doc or f"Launch {kernel.name}.").splitlines(), ""]
    lines = [*map(str.strip, doc), *argument_descriptions(library, kernel)]
    text = "\n    ".join(lines).replace("\\", "\\\\").replace('"""', r"\"\"\"")
    yield "\n".join(map(str.rstrip, f'    """{text}\n    """'.splitlines()))


def _kinds(kernel: ExportedKernel) -> dict[str, str]:
    """Return the kind of each parameter, as in ``python_package/launch.py``."""
    kinds = parameter_kinds(kernel)
    for position, argument in enumerate(kernel.arguments):
        if all(s.arguments[position].type.dtype is UINT64 for s in kernel.signatures):
            kinds[argument.name] = kinds[argument.name].replace("q", "Q")
    return kinds


def write_structures(library: ExportedLibrary) -> Iterator[str]:
    """Yield assignments of the dtypes of records, and of the structures that parameters accept."""
    names = {d: name.removeprefix(f"{library.name}_") for d, name in library.records.items()}
    for dtype, name in names.items():
        yield f"{name} = {numpy_structure(dtype, names)}"
    for kernel in library.kernels:
        structures: dict[str, dict[str, None]] = {}
        for argument in (a for s in kernel.signatures for a in s.arguments):
            if argument.is_array and argument.type.dtype.has_fields:
                structure = numpy_dtype(argument.type.dtype, names)
                entry = f'("{argument.lane_type}", {structure})'
                structures.setdefault(argument.name, {})[entry] = None
        for parameter, entries in structures.items():
            yield (f'{python_name(kernel.name)}.structures["{parameter}"] = [{", ".join(entries)}]')
