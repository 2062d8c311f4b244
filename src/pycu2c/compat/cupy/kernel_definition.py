"""Generate the C++ definition of a kernel function from its parameters and body.

On the CPU, a kernel is a function of a pointer to a struct of its arguments, and of the range of
blocks to run.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pycu2c.codegen.reserved_names import is_reserved
from pycu2c.compat.cupy.bound_parameters import KernelField

EXPORTED = 'extern "C" __attribute__((visibility("default")))'
_LINE_WIDTH = 84

UNPACK_ARGUMENTS = "const {struct} &_arguments = *(const {struct} *)_packed_arguments;"


def as_statement(text: str) -> str:
    """Return the user's text with a final semicolon."""
    text = textwrap.dedent(text).strip()
    return text if not text or text[-1] in ";}" else f"{text};"


def indented(lines: Sequence[str], depth: int = 1) -> str:
    """Indent lines; ``#pragma`` lines stay in column 0, also those of an indented inner block."""
    joined = "\n".join(line for line in lines if line)
    shifted = textwrap.indent(joined, "    " * depth, lambda line: not line.startswith("#"))
    return shifted.replace("\n    #pragma", "\n#pragma")


def block(head: str, lines: Sequence[str]) -> str:
    """Return ``head {``, the indented lines, and ``}``."""
    return f"{head} {{\n{indented(lines)}\n}}"


def join_sections(sections: Sequence[str]) -> str:
    """Return the sections that are not empty as one text, with blank lines between them."""
    return "\n\n".join(s.strip("\n") for s in sections if s.strip()) + "\n"


def cuda_kernel(
    name: str, fields: Sequence[KernelField], body: Sequence[str], max_threads: int = 0
) -> str:
    """Return a CUDA kernel; ``max_threads``: the maximum block size, 0 if it is unknown."""
    limits = f" __launch_bounds__({max_threads})" if max_threads else ""
    parameters = _wrap_parameters([field.declaration for field in fields])
    return block(f'extern "C" __global__ void{limits} {cuda_name(name)}({parameters})', body)


def _wrap_parameters(parameters: Sequence[str]) -> str:
    """Join parameters to a list, in lines of at most ``_LINE_WIDTH`` characters."""
    lines = [""]
    for parameter in parameters:
        line = f"{lines[-1]}, {parameter}" if lines[-1] else parameter
        if len(line) <= _LINE_WIDTH:
            lines[-1] = line
        else:
            lines.append(parameter)
    return lines[0] if len(lines) == 1 else "\n    " + ",\n    ".join(lines) + "\n"


def cuda_name(name: str) -> str:
    """Return the user's name, or another one if C or CUDA reserves it."""
    return f"{name}_kernel" if is_reserved(name) else name


def cpu_name(name: str) -> str:
    """Return a name that does not clash with C library functions such as ``index``."""
    return f"pycu2c_{name}"


def cpu_kernel(name: str, fields: Sequence[KernelField], body: Sequence[str]) -> list[str]:
    """Return the struct of the arguments, and the function that runs a range of blocks."""
    struct = f"_arguments_of_{name}"
    members = ["int32_t grid[3], block[3];", "int64_t shared_bytes;"]
    members += [f"{_struct_member(field)};" for field in fields]
    unpacked = [UNPACK_ARGUMENTS.format(struct=struct)]
    unpacked += [f"{field.declaration} = _arguments.{field.parameter.name};" for field in fields]
    parameters = "const void *_packed_arguments, int64_t _first_block, int64_t _last_block"
    head = f"{EXPORTED} void {cpu_name(name)}({parameters})"
    return [block(f"struct {struct}", members) + ";", block(head, [*unpacked, *body])]


def _struct_member(field: KernelField) -> str:
    """Return a struct member, which must not be const."""
    if field.ctype.endswith("*"):
        return field.declaration
    return field.declaration.removeprefix("const ")
