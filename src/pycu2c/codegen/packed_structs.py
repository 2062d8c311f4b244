"""Types without alignment for the fields of packed structs in CUDA C.

CUDA aligns its vectors, and its half types are classes. The compiler assumes this alignment for
each access, also in a packed struct. So a packed struct has fields of a struct with the same
bytes; ``aligned(x)`` and ``packed(x)`` convert.
"""

from __future__ import annotations

from string import Template

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType
from pycu2c.codegen.helpers.templates import c_definition


def needs_copy(dtype: DType) -> bool:
    """Return whether a field of a packed struct needs a type without alignment."""
    return dtype.is_half or (bool(dtype.fields) and dtype.alignment > 1)


def packed_name(name: str) -> str:
    """Return the name of the type without alignment."""
    return f"{name.strip('_')}_packed"


_MEMCPY = "$P value;\n    memcpy(&value, &x, sizeof value);"

_BIT_FUNCTIONS = {
    FLOAT16: {"from": "__ushort_as_half", "to": "__half_as_ushort"},
    BFLOAT16: {"from": "__ushort_as_bfloat16", "to": "__bfloat16_as_ushort"},
}


def conversions(dtype: DType, name: str) -> str:
    """Return the functions ``aligned`` and ``packed`` for a type, and the struct for a half.

    The bits of a half pass through a 32-bit register: ptxas 13.0 miscompiles a conversion whose 16
    bits are stored byte by byte as a conversion to an 8-bit integer.
    """
    packed = packed_name(name)
    if dtype.is_half:
        return Template(c_definition("c/packed_half").strip("\n")).substitute(
            T=name, P=packed, **_BIT_FUNCTIONS[dtype]
        )
    text = Template(c_definition("c/packed_struct").strip("\n")).safe_substitute(
        packed=_copy_statements(dtype)
    )
    return Template(text).substitute(T=name, P=packed)


def _copy_statements(dtype: DType) -> str:
    """Return the code that copies a value; fields with halves are converted one by one."""
    if not any(field.dtype.is_half for field in dtype.fields):
        return _MEMCPY
    parts = ", ".join(f"packed(x.{field.name})" for field in dtype.fields)
    return f"const $P value = {{{parts}}};"
