"""What stands around the body of a kernel: its head, and on the CPU the struct that it is given.
Knows no operation."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from pycu2c.codegen.reserved_names import is_reserved
from pycu2c.compat.cupy.bound_parameters import Field
from pycu2c.compat.cupy.parameter_declarations import names_in

SEEN = 'extern "C" __attribute__((visibility("default")))'
_WIDTH = 84  # of a line of parameters

UNPACKED = "const {struct} &_given = *(const {struct} *)_packed;"


def statement(text: str) -> str:
    """What a user has written with its last semicolon."""
    plain = textwrap.dedent(text).strip()
    return plain if not plain or plain[-1] in ";}" else f"{plain};"


def indented(lines: Sequence[str], depth: int = 1) -> str:
    """Lines, each of which may be several; directives stay where they begin."""
    joined = "\n".join(line for line in lines if line)
    shifted = textwrap.indent(joined, "    " * depth, lambda line: not line.startswith("#"))
    return shifted.replace("\n    #pragma", "\n#pragma")


def block(head: str, lines: Sequence[str]) -> str:
    """``head {``, the lines, ``}``."""
    return f"{head} {{\n{indented(lines)}\n}}"


def text_of(parts: Sequence[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def cuda_kernel(name: str, passed: Sequence[Field], body: Sequence[str], bounds: int = 0) -> str:
    """``bounds``: the most threads of a block, if that is known."""
    limits = f" __launch_bounds__({bounds})" if bounds else ""
    parameters = _wrapped([field.declaration for field in passed])
    return block(f'extern "C" __global__ void{limits} {cuda_name(name)}({parameters})', body)


def _wrapped(parameters: Sequence[str]) -> str:
    """On one line, or on lines of their own."""
    lines = [""]
    for parameter in parameters:
        grown = f"{lines[-1]}, {parameter}" if lines[-1] else parameter
        if len(grown) <= _WIDTH:
            lines[-1] = grown
        else:
            lines.append(parameter)
    return lines[0] if len(lines) == 1 else "\n    " + ",\n    ".join(lines) + "\n"


def used(passed: Sequence[Field], body: Sequence[str]) -> list[Field]:
    """The parameters that a body mentions."""
    names = names_in(*body)
    return [field for field in passed if field.parameter.name in names]


def cuda_name(name: str) -> str:
    """The user's name, or one that neither C nor CUDA has a use for."""
    return f"{name}_kernel" if is_reserved(name) else name


def cpu_name(name: str) -> str:
    """What the C library has no function of: kernels may be called ``index``."""
    return f"pycu2c_{name}"


def cpu_kernel(name: str, passed: Sequence[Field], body: Sequence[str]) -> list[str]:
    """The struct of its arguments, and the function that does blocks of the work."""
    struct = f"_arguments_of_{name}"
    members = ["int32_t grid[3], block[3];", "int64_t shared_bytes;"]
    members += [f"{_plain(field)};" for field in passed]
    taken = [UNPACKED.format(struct=struct)]
    taken += [f"{field.declaration} = _given.{field.parameter.name};" for field in passed]
    head = f"{SEEN} void {cpu_name(name)}(const void *_packed, int64_t _first, int64_t _last)"
    return [block(f"struct {struct}", members) + ";", block(head, [*taken, *body])]


def _plain(field: Field) -> str:
    """A member of a struct, which is not const by itself."""
    if field.ctype.endswith("*"):
        return field.declaration
    return field.declaration.removeprefix("const ")
