"""Name the record types of array elements, and declare them in C and for NumPy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TypeAlias

import numpy as np

from pycu2c.base.dtypes import UINT8, DType, DTypeKind, from_numpy
from pycu2c.base.types import Scalar
from pycu2c.codegen.names import identifier, unique_name
from pycu2c.codegen.structs import members
from pycu2c.csyntax.keywords import KEYWORDS

RecordNames: TypeAlias = Mapping[DType, str]  # nested records precede those that contain them
_C_TYPES = {DTypeKind.SIGNED: "int{}_t", DTypeKind.UNSIGNED: "uint{}_t", DTypeKind.BOOL: "bool"}
_MACROS = ("complex", "errno", "imaginary")
_FLOATS = {16: "uint16_t", 32: "float", 64: "double"}


def names_of_records(dtype: DType, fallback: str, scope: Mapping[str, object]) -> dict[DType, str]:
    """Return the names of a record and of nested ones.

    scope: the global names of the kernel's module, which may contain the dtypes. fallback: the name
    of a record that is not there.
    """
    if dtype.kind is not DTypeKind.RECORD:
        return {}
    names: dict[DType, str] = {}
    for field in dtype.fields:
        names |= names_of_records(field.dtype.innermost, f"{fallback}_{field.name}", scope)
    global_name = next((n for n, value in scope.items() if _dtype_of(value) is dtype), fallback)
    return {**names, dtype: global_name}


def _dtype_of(value: object) -> DType | None:
    if isinstance(value, np.dtype):
        return from_numpy(value)
    return value.dtype if isinstance(value, Scalar) else None


def unique_names(
    library: str, names: Mapping[DType, str], kernels: Collection[str]
) -> dict[DType, str]:
    """Return unique names with the prefix of the library, different from those of kernels."""
    unique: dict[DType, str] = {}
    for dtype, name in names.items():
        unique[dtype] = unique_name(name, set(unique.values()), kernels)
    return {dtype: identifier(f"{library}_{name}") for dtype, name in unique.items()}


def lane_type(dtype: DType) -> DType:
    """Return the type of the lanes of an element: of a vector's components, or of bytes."""
    if dtype.kind is DTypeKind.RECORD:
        return UINT8
    return dtype.fields[0].dtype if dtype.is_vector else dtype


# ---- C ----


def struct_definition(dtype: DType, names: RecordNames) -> str:
    """Return the definition of a struct with the fields, offsets and size of a record."""
    is_packed = _c_alignment(dtype) == 1 and any(_c_alignment(f.dtype) > 1 for f in dtype.fields)
    fields = members(dtype, lambda d: 1 if is_packed else _c_alignment(d))
    lines: list[str] = []
    for field in fields:
        if isinstance(field, int):
            lines.append(f"    uint8_t unused{len(lines)}[{field}];")
            continue
        c_type, extents = _c_type(field.dtype, names)
        lines.append(f"    {c_type} {_member_name(field.name)}{extents};")
    packed = "__attribute__((packed)) " * is_packed
    return "\n".join((f"struct {packed}{names[dtype]} {{", *lines, "};"))


def _member_name(name: str) -> str:
    """Return the C name of a field. Unlike variables, members may have names of C functions."""
    is_free = name.isidentifier() and name.isascii() and name not in (*KEYWORDS, *_MACROS)
    return name if is_free else identifier(name)


def _c_type(dtype: DType, names: RecordNames) -> tuple[str, str]:
    """Return the C type of a field, and its array extents, such as ``[3]``."""
    extents, inner = "".join(f"[{extent}]" for extent in dtype.extents), dtype.innermost
    if inner.kind is DTypeKind.RECORD:
        return f"struct {names[inner]}", extents
    if inner.fields:  # a vector or a complex number
        return _c_type(inner.fields[0].dtype, names)[0], f"{extents}[{len(inner.fields)}]"
    number = _FLOATS[inner.bits] if inner.is_float else _C_TYPES[inner.kind]
    return number.format(inner.bits), extents


def _c_alignment(dtype: DType) -> int:
    """Return the C alignment of the type of a field; 1 for a packed struct."""
    inner = dtype.innermost
    if inner.kind is not DTypeKind.RECORD:
        return _c_alignment(inner.fields[0].dtype) if inner.fields else inner.size
    alignments = [_c_alignment(field.dtype) for field in inner.fields]
    offsets = (*(field.offset for field in inner.fields), inner.size)
    widest = max(alignments, default=1)
    is_natural = all(o % a == 0 for o, a in zip(offsets, (*alignments, widest)))
    return widest if is_natural else 1


# ---- Python ----


def numpy_dtype(dtype: DType, names: RecordNames) -> str:
    """Return a Python expression for the argument of ``numpy.dtype``."""
    if dtype in names:
        return names[dtype]
    if dtype.element is not None:
        return f"({numpy_dtype(dtype.innermost, names)}, {dtype.extents})"
    return numpy_structure(dtype, names) if dtype.has_fields else f'"{dtype.name}"'


def numpy_structure(dtype: DType, names: RecordNames) -> str:
    """Return a Python dictionary that ``numpy.dtype`` converts to a vector or a record."""
    fields = ", ".join(json.dumps(field.name) for field in dtype.fields)
    formats = ", ".join(numpy_dtype(field.dtype, names) for field in dtype.fields)
    offsets = [field.offset for field in dtype.fields]
    return (
        f'{{"names": [{fields}], "formats": [{formats}], "offsets": {offsets}, '
        f'"itemsize": {dtype.size}}}'
    )
